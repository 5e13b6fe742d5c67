"""Contact geometry of one sample: where the body touches which plate, how deep, how fast.

symbol  name         meaning                                             unit
d       depth        reach of a point behind the plate, > 0 touching     m
ḋ       depth_rate   its rate, > 0 while closing                         m/s
n       normal       out of the plate                                    -
v_t     slip         velocity of the body's point along the plate        m/s

Every pair of a plate and a point of the body is a candidate; `near` says whether the pair is
allowed and the point lies over the plate. Depths come by rigid geometry, as in ma Sec. 2.1.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import AnyArray, Array, Bool, Float, ScalarLike
from stiction.identify.contact.plates import FlatPlates
from stiction.identify.contact.shapes import Body

# ε with (a × b)ᵢ = εᵢⱼₖ aⱼ bₖ. Products with constants keep compiled programs small: written out
# over components, the Jacobians below took four times as long to compile.
_EPSILON = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _EPSILON[_i, _j, _k], _EPSILON[_i, _k, _j] = 1.0, -1.0


def skew(a: Float[AnyArray, "*n 3"]) -> Float[AnyArray, "*n 3 3"]:
    """The matrix of a ×."""
    xp = a.__array_namespace__()
    return xp.einsum("ijk,...j->...ik", xp.asarray(_EPSILON), a)


class BodyState(eqx.Module):
    """Where the body is and how it moves: one sample, or any number along leading axes."""

    position: Float[Array, "*n 3"]  # of the body's origin in the world [m]
    rotation: Float[Array, "*n 3 3"]  # body to world
    velocity: Float[Array, "*n 3"]  # of the body's origin, world axes [m/s]
    angular_velocity: Float[Array, "*n 3"]  # world axes [rad/s]


class Candidates(eqx.Module):
    """Pairs that may touch at one sample: plates along the first axis, points along the next."""

    depth: Float[Array, "*n n_plates n_points"]  # [m], > 0 behind the plate
    depth_rate: Float[Array, "*n n_plates n_points"]  # [m/s], > 0 closing
    # velocity of the body's point along the plate, world axes [m/s]
    slip: Float[Array, "*n n_plates n_points 3"]
    point: Float[Array, "*n n_plates n_points 3"]  # world position [m]
    normal: Float[Array, "*n n_plates 3"]  # of the plate, out of it
    # whether the pair may touch and the point lies over the plate
    near: Bool[Array, "*n n_plates n_points"]

    @property
    def touching(self) -> Bool[Array, "*n n_plates n_points"]:
        """Whether the point is over the plate and behind its surface."""
        return self.near & (self.depth > 0)


def candidates(
    body: Body,
    plates: FlatPlates,
    allowed: Bool[Array, "n_plates n_points"],
    motion: BodyState,
    size: ScalarLike = 1.0,
) -> Candidates:
    """All candidates of one sample.

    `size` is that of the body, in parts of what its shapes say.
    """
    R, p = motion.rotation, motion.position
    spin = skew(motion.angular_velocity)

    def against(origin, axes, half, pairs):
        arms = [shape.touch_points(R, jnp.zeros(3), axes[:, 2]) for shape in body]
        x = p[None] + size * jnp.concatenate(arms)
        along = (x - origin[None]) @ axes
        over = jnp.all(jnp.abs(along[:, :2]) <= half[None], axis=-1)
        v = (motion.velocity[None] + (x - p[None]) @ spin.T) @ axes
        return -along[:, 2], -v[:, 2], v[:, :2] @ axes[:, :2].T, x, pairs & over

    depth, rate, slip, point, near = jax.vmap(against)(
        plates.origin, plates.axes, plates.half_size, allowed
    )
    return Candidates(depth, rate, slip, point, plates.normal, near)
