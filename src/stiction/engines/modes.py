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
# How far a slip may begin from the direction of its acceleration [rad]. Little: its velocity is so
# small that the stages of a step make the error larger.
_STRAIGHT = Tolerance(1e-8, 1e-4)
_MOST_TURNS = 20


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
    last_direction: Float[Array, "n k"]
    last_turn: Float[Array, "n k"]
    turns: Bool[Array, ""]  # whether a slip that begins turns out to go another way
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
        opens: Contacts known to part (their normal force has just come to zero), or to have parted.
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
        last_direction=jnp.zeros_like(slip_velocity),
        last_turn=jnp.zeros_like(slip_velocity),
        turns=jnp.asarray(False),
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
        # A slip that begins goes where it is accelerated, and friction acts against that.
        size = jnp.sqrt(jnp.sum(a_t**2, axis=1, keepdims=True))
        begins = (
            (s.modes == SLIP) & at_rest & (size[:, 0] > rounding * acceleration_scale) & ~needed
        )
        heading = a_t / jnp.where(size > 0, size, 1.0)
        turn = jnp.where(begins[:, None], heading - s.direction, 0.0)
        direction = jnp.where(begins[:, None], _turned(s, turn), direction)
        turns = (k > 1) & jnp.any(jnp.sum(turn**2, axis=1) > _STRAIGHT.of(W) ** 2)
        return _Search(modes, direction, worst, s.direction, turn, turns, s.passes + 1)

    limit = 4 * n + 4 + (k > 1) * _MOST_TURNS
    found = jax.lax.while_loop(
        lambda s: ((s.worst > rounding) | s.turns) & (s.passes < limit), mend, start
    )
    consistent = found.worst <= rounding
    push = jnp.diag(W @ force_basis(found.modes, found.direction, mu_dynamic))[k :: k + 1]
    jams = jnp.any((found.modes == SLIP) & (push <= 0))
    return Modes(found.modes, found.direction, forces(found), consistent, jams | ~consistent)


def _turned(s: _Search, turn: Float[Array, "n k"]) -> Float[Array, "n k"]:
    """Directions of slip that are nearer to those of the accelerations they lead to.

    Friction of one contact turns another, so that turning all the way may lead further off: half
    the way first, then where the last two turns would vanish together (Anderson's mixing).
    """
    step, change = s.direction - s.last_direction, turn - s.last_turn
    again = jnp.any(s.last_turn != 0)
    part = jnp.sum(change * turn) / (jnp.sum(change**2) + TINY.of(turn))
    new = s.direction + turn / 2 - jnp.where(again, part, 0.0) * (step + change / 2)
    return new / jnp.sqrt(jnp.sum(new**2, axis=1, keepdims=True) + TINY.of(turn))
