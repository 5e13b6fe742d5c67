"""What a push is given: see `push_off`."""

import warp as wp

from .reals import real, vec3


@wp.struct
class PushArrays:
    """What draws a point to a goal while contacts hold: see `push_off`."""

    count: int  # of the contacts that it stands on, 0 if there is no push
    pairs: wp.array(dtype=int)
    link: int  # of the point, and its place there
    point: vec3
    goal: vec3
    frequency: real  # [rad/s]
    lifted: real  # heights that end phases [m]
    away: real
