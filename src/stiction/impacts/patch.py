r"""An impact of a flat patch, with impulses and impulsive moments.

flickinger (2.3) and (3.14) with six rows a contact: $p = W^{-1} (E - I) \vartheta^-$ with
$\vartheta = (v_t, v_n, \omega_t, \omega_n)$ and p its forces and moments times the time. E keeps
the patch flat (no spin about its tangents), sticks it, and has it rebound with e along the normal.
That is the impact as long as the impulse pushes, its centre of pressure is inside the patch and its
tangential impulse and torque are inside the limit surface. `PatchImpact` says which of these does
not hold; then the patch tips or slides, and is to be resolved by the points of its outline.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from stiction.laws.patch import FlatPatch


class PatchImpact(NamedTuple):
    """What a flat and sticking impact of a patch needs."""

    impulse: Float[np.ndarray, "3"]  # tangential (x, y), then normal [N·s]
    moment: Float[np.ndarray, "3"]  # about x, y and the normal [N·m·s]
    center: Float[np.ndarray, "2"]  # of pressure [m]
    margin: float  # how far that is inside the outline [m]
    friction_used: float  # of the limit surface; more than 1 slides
    verdict: Literal["sticks", "slides", "tips", "parts"]


def patch_impact(
    W: Float[np.ndarray, "6 6"],
    velocity: Float[np.ndarray, "6"],
    patch: FlatPatch,
    *,
    mu: float,
    restitution: float = 0.0,
) -> PatchImpact:
    """The impact that leaves a patch flat and sticking, and whether the patch can bear it.

    Args:
        W: J A⁻¹ Jᵀ of the patch's six velocities.
        velocity: Before: v_x, v_y, v_n, ω_x, ω_y, ω_n at the patch's reference point.
        patch: In the plane of x and y.
        mu: Friction coefficient.
        restitution: e of the normal velocity.
    """
    after = np.zeros(6)
    after[2] = -restitution * velocity[2]
    p = np.linalg.solve(W, after - velocity)
    impulse, moment = p[:3], p[3:]
    if impulse[2] <= 0:
        nowhere = np.full(2, np.nan)
        return PatchImpact(impulse, moment, nowhere, -np.inf, np.inf, "parts")
    center = np.array([-moment[1], moment[0]]) / impulse[2]
    margin = patch.margin(moment[:2], float(impulse[2]))
    if margin < 0:
        return PatchImpact(impulse, moment, center, margin, np.inf, "tips")
    wrench = np.array([*impulse[:2], moment[2]])
    strength = mu * float(impulse[2])
    used = patch.pressed(center).used(wrench, strength) if strength > 0 else np.inf
    return PatchImpact(impulse, moment, center, margin, used, "sticks" if used <= 1 else "slides")
