r"""One planar contact, in closed form, for batches (erdmann 4.4 and beyond).

The document's two projections hold for a body at rest whose friction cone lies above the tangent
plane. Here all four modes are tried, so that sliding and the cones that dip below the tangent plane
(Painlevé) are answered too. Written for one contact; `jax.vmap` serves millions.
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Bool, Float, Int, ScalarLike
from stiction.motions._tolerance import ZERO
from stiction.motions.kinematics import ContactTerms
from stiction.motions.result import BREAK, SLIP_LEFT, SLIP_RIGHT, STICK, Verdict
from stiction.motions.state import VELOCITY_TOLERANCE

MODES = (BREAK, STICK, SLIP_LEFT, SLIP_RIGHT)


class SingleContactMotions(eqx.Module):
    """The answer for one contact: one entry for each of `MODES`.

    Entries that are not `valid` hold finite numbers without meaning.
    """

    verdict: Int[Array, ""]  # a `Verdict`
    valid: Bool[Array, "4"]
    acceleration: Float[Array, "4 3"]  # (a_x, a_y, α) [m/s², m/s², rad/s²]
    normal_force: Float[Array, "4"]  # [N]
    tangential_force: Float[Array, "4"]  # [N], along (n_y, -n_x)


def single_contact_motions(
    contact: ContactTerms,
    *,
    mass: ScalarLike,
    gyration_radius: ScalarLike,
    mu: ScalarLike,
    velocity: Float[Array, "3"],
    force: Float[Array, "2"],
    torque: ScalarLike,
    velocity_tolerance: ScalarLike = VELOCITY_TOLERANCE,
) -> SingleContactMotions:
    r"""Every motion of a body with one contact.

    With $R = f_n\,\Delta_n n + f_t v_f$ the gap accelerates by $a\cdot\Delta_n n + h$ (5) and the
    contact slides with $a\cdot v_f + g$ (8). Breaking needs $f = 0$ and a gap that opens; sticking
    solves both for zero; slipping has $f_t = \mp\mu f_n$ and needs $f_n \ge 0$, where the divisor
    $\Delta_n^2 \mp \mu\, n\cdot v_f$ may vanish or be negative: there Painlevé's paradoxes live. On
    its zero the motions may be a continuum, and the verdict is ambiguous.

    Args:
        contact: Where and how the body touches, from `contact_terms`.
        mass: m [kg].
        gyration_radius: ρ [m].
        mu: Friction coefficient [-].
        velocity: $(v_x, v_y, \omega)$ of the center of mass [m/s, m/s, rad/s].
        force: Applied force, weight included [N].
        torque: Applied torque about the center of mass [N·m].
        velocity_tolerance: Relative speed below which a contact velocity counts as zero.
    """
    rho = gyration_radius
    nq, tq = contact.normal[2], contact.tangent[2]
    nn, tt, nt = 1 + nq**2, 1 + tq**2, nq * tq  # products of Δ_n n and v_f
    fx, fy, fq = force[0] / mass, force[1] / mass, torque / (rho * mass)

    speed_squared = velocity[0] ** 2 + velocity[1] ** 2 + (rho * velocity[2]) ** 2
    slow = velocity_tolerance * jnp.sqrt(jnp.where(speed_squared > 0, speed_squared, 1.0))
    v_n, v_t = contact.normal_velocity, contact.tangent_velocity
    colliding = (v_n < -slow * jnp.sqrt(nn)) & (speed_squared > 0)
    separating = (v_n > slow * jnp.sqrt(nn)) & (speed_squared > 0)
    at_rest = (jnp.abs(v_t) <= slow * jnp.sqrt(tt)) | (speed_squared == 0)

    # What the contact must add to the free acceleration to keep the gap and to stop the sliding.
    free_n = fx * contact.normal[0] + fy * contact.normal[1] + fq * nq + contact.h
    free_t = fx * contact.tangent[0] + fy * contact.tangent[1] + fq * tq + contact.g
    scale = jnp.sqrt(fx**2 + fy**2 + fq**2) + jnp.abs(contact.h) + jnp.abs(contact.g)
    small = ZERO * scale

    # Stick: both rows zero. The determinant is at least 1: the rows' first parts are orthonormal.
    det = nn * tt - nt**2
    stick_n = (-free_n * tt + free_t * nt) / det
    stick_t = (-free_t * nn + free_n * nt) / det
    sticks = at_rest & (stick_n > small) & (jnp.abs(stick_t) <= mu * stick_n + small)

    # Slip left (friction along +v_f) and right (along -v_f).
    friction = jnp.array([1.0, -1.0], velocity.dtype) * mu
    divisor = nn + friction * nt
    singular = jnp.abs(divisor) <= ZERO * nn
    slip_n = -free_n / jnp.where(singular, 1.0, divisor)
    slides = free_t + slip_n * (nt + friction * tt)  # its sliding acceleration, or
    slides = jnp.where(at_rest, slides, v_t)  # its sliding velocity
    right_way = slides * jnp.array([-1.0, 1.0], velocity.dtype) > 0
    same_as_stick = sticks & (jnp.abs(slides) <= jnp.maximum(small, ZERO * jnp.abs(slip_n)))
    slips = ~singular & (slip_n > small) & right_way & ~same_as_stick
    # With a vanishing divisor and nothing to balance, any normal force will do: a continuum.
    touching = jnp.abs(free_n) <= small
    continuum = jnp.any(singular & touching & jnp.where(at_rest, True, right_way))

    breaks = separating | (free_n >= -small)
    valid = jnp.stack([breaks, sticks & ~separating, *(slips & ~separating)]) & ~colliding
    normal_force = jnp.stack([jnp.zeros_like(stick_n), stick_n, *slip_n])
    tangential_force = jnp.stack([jnp.zeros_like(stick_t), stick_t, *(friction * slip_n)])
    acceleration = jnp.stack(
        [
            fx + normal_force * contact.normal[0] + tangential_force * contact.tangent[0],
            fy + normal_force * contact.normal[1] + tangential_force * contact.tangent[1],
            (fq + normal_force * nq + tangential_force * tq) / rho,
        ],
        axis=-1,
    )
    count = jnp.sum(valid) + jnp.where(continuum & ~separating, 2, 0)
    verdict = jnp.where(colliding, int(Verdict.COLLISION), jnp.minimum(count, 2))
    return SingleContactMotions(
        verdict=verdict,
        valid=valid,
        acceleration=acceleration,
        normal_force=normal_force * mass,
        tangential_force=tangential_force * mass,
    )
