"""Which contacts stick, slip or open: the mode whose forces and accelerations are consistent.

At an instant some contacts touch without approaching. Each of them must then either part (no force,
acceleration outwards), stick (force inside the static cone, no acceleration) or slip (force on the
dynamic cone against the slip, or against the slip that is about to begin). flickinger (3.1), (3.3).

The search starts from all of them closed and mends the worst contradiction, one contact at a time.
So where several modes are consistent, contact is kept rather than given up.

Friction can press a sliding contact into the ground instead of keeping it off (Painlevé): if a
normal force does not push its own contact outwards, (W B)ₙₙ ≤ 0, or if no consistent mode is found,
the instant is suspicious: `stiction.motions` can tell which modes there are.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import TINY, Array, Bool, Float, Int, Scalar, Tolerance
from stiction.engines.forces import OPEN, SLIP, STICK, contact_forces, force_basis

# Contradictions smaller than this, relative to the largest force or acceleration, are rounding.
_ROUNDING = Tolerance(1e-9, 1e-4)


class Modes(eqx.Module):
    """A mode and the forces in it."""

    modes: Int[Array, "n"]
    direction: Float[Array, "n k"]  # of slip
    force: Float[Array, "n dim"]  # [N]
    consistent: Bool[Array, ""]  # whether the search ended without a contradiction
    suspicious: Bool[Array, ""]  # whether there may be no such mode, or several


class _Search(eqx.Module):
    modes: Int[Array, "n"]
    direction: Float[Array, "n k"]
    worst: Scalar
    passes: Int[Array, ""]


def select_modes(
    W: Float[Array, "m m"],
    a0: Float[Array, "m"],
    slip_velocity: Float[Array, "n k"],
    touching: Bool[Array, "n"],
    at_rest: Bool[Array, "n"],
    mu_static: Float[Array, "n"],
    mu_dynamic: Float[Array, "n"],
    opens: Bool[Array, "n"],
    starts_to_slip: Bool[Array, "n"],
) -> Modes:
    """A consistent mode.

    Args:
        W: Delassus matrix.
        a0: Contact acceleration without forces [m/s²].
        slip_velocity: Tangential velocities [m/s].
        touching: Contacts that touch and do not part; the others are open.
        at_rest: Of these, those that do not slide.
        mu_static: Static coefficients of friction.
        mu_dynamic: Dynamic coefficients of friction.
        opens: Contacts known to part (their normal force has just come to zero).
        starts_to_slip: Contacts known to give way (their friction has just reached the cone).
    """
    n, k = slip_velocity.shape
    rounding = _ROUNDING.of(W)
    speed = jnp.sqrt(jnp.sum(slip_velocity**2, axis=1, keepdims=True))
    sliding = slip_velocity / jnp.where(speed > 0, speed, 1.0)
    closed_mode = jnp.where(at_rest, STICK, SLIP)
    start = _Search(
        modes=jnp.where(touching & ~opens, closed_mode, OPEN),
        direction=jnp.where(at_rest[:, None], 0.0, sliding),
        worst=jnp.asarray(jnp.inf, W.dtype),
        passes=jnp.asarray(0),
    )

    def forces(s):
        return contact_forces(W, a0, s.modes, s.direction, mu_dynamic).reshape(n, k + 1)

    def mend(s):
        f = forces(s)
        a = (W @ f.reshape(-1) + a0).reshape(n, k + 1)
        f_t, f_n, a_t, a_n = f[:, :-1], f[:, -1], a[:, :-1], a[:, -1]
        friction = jnp.sqrt(jnp.sum(f_t**2, axis=1))
        force_scale = jnp.maximum(jnp.max(jnp.abs(f)), jnp.max(jnp.abs(a0)) / jnp.max(jnp.diag(W)))
        acceleration_scale = jnp.max(jnp.abs(a0)) + TINY.of(W)
        first = s.passes == 0

        # How far each contact is from its own law, in parts of the largest force or acceleration.
        pulls = jnp.where(s.modes != OPEN, -f_n / force_scale, 0.0)
        overstrained = jnp.where(
            s.modes == STICK, (friction - mu_static * jnp.maximum(f_n, 0.0)) / force_scale, 0.0
        )
        overstrained = jnp.where(first & starts_to_slip & (s.modes == STICK), 1.0, overstrained)
        sinks = jnp.where((s.modes == OPEN) & touching, -a_n / acceleration_scale, 0.0)
        dragged = jnp.where(
            (s.modes == SLIP) & at_rest,
            -jnp.sum(a_t * s.direction, axis=1) / acceleration_scale,
            0.0,
        )
        wrong = jnp.stack([pulls, overstrained, sinks, dragged])
        worst = jnp.max(wrong)
        which = jnp.argmax(wrong)
        kind, contact = which // n, which % n

        # Friction pushes against the slip that it cannot prevent.
        tendency = -f_t[contact] / jnp.where(friction[contact] > 0, friction[contact], 1.0)
        mended = jnp.stack(
            [
                jnp.asarray(OPEN),
                jnp.asarray(SLIP),
                jnp.where(at_rest[contact], STICK, SLIP),
                jnp.asarray(STICK),
            ]
        )[kind]
        needed = worst > rounding
        modes = jnp.where(needed, s.modes.at[contact].set(mended), s.modes)
        direction = jnp.where(
            needed & (kind == 1), s.direction.at[contact].set(tendency), s.direction
        )
        return _Search(modes, direction, worst, s.passes + 1)

    limit = 4 * n + 4
    found = jax.lax.while_loop(lambda s: (s.worst > rounding) & (s.passes < limit), mend, start)
    consistent = found.worst <= rounding
    push = jnp.diag(W @ force_basis(found.modes, found.direction, mu_dynamic))[k :: k + 1]
    jams = jnp.any((found.modes == SLIP) & (push <= 0))
    return Modes(found.modes, found.direction, forces(found), consistent, jams | ~consistent)
