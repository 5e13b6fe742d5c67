"""Capability over postures, and what it has to do with jumping: flickinger 6.3."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base import defaults
from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError
from stiction.agility.capability import both_capabilities
from stiction.agility.jump import JumpControl, JumpOutcome, jump_outcome
from stiction.agility.postures import (
    PostureLimits,
    configuration,
    coordinates,
    place,
    random_posture,
    stands,
)
from stiction.agility.stance import Stance
from stiction.engines import RESULTS, Hybrid, Solver, Trajectory, simulate
from stiction.mechanism import FREE

LANES = 250  # jumps in one batch
SHORT = 1e-4  # a stance shorter than this is none [s]
_TRIES = 50  # postures drawn for each that is wanted, at most
_EVENTS = 20
# Tolerances of flickinger Table 6.1. A stance takes some fifty steps; a run of more than 300
# is held up: a timeout.
_SOLVER = Solver(1e-3, 1e-4, max_steps=300)


@dataclass(frozen=True)
class CapabilityField:
    """Capability over two joints, the rest of a posture held."""

    names: tuple[str, str]
    first: np.ndarray  # values of the two joints
    second: np.ndarray
    motors: np.ndarray  # capability by the limits of the motors alone (6.6) [m/s²]
    exact: np.ndarray  # with the contacts' limits too


@dataclass(frozen=True)
class JumpStudy:
    """Random postures, and the jump from each."""

    q: np.ndarray
    motors: np.ndarray  # capability by the limits of the motors alone [m/s²]
    exact: np.ndarray  # with the contacts' limits too [m/s²]
    outcome: JumpOutcome
    timeout: np.ndarray  # whether the run used up its steps or events before it left

    @property
    def jumped(self) -> np.ndarray:
        """Jumps that left the ground at once, without a stance."""
        return self.outcome.left & ~self.stood

    @property
    def stood(self) -> np.ndarray:
        """Jumps that left the ground after a stance (the document's "filtered")."""
        return self.outcome.left & (self.outcome.stance_duration > SHORT)


@dataclass(frozen=True)
class JumpSettings:
    """How each jump of a study is made."""

    distance: float = 5.0  # of the goal, from the mean of the starts: one goal for all [m]
    frequency: float = defaults.JUMP_FREQUENCY  # how hard the push is, see `JumpControl` [rad/s]
    until: float = 0.03  # how long each is followed [s]
    solver: Solver = _SOLVER


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation with its confidence interval, and Spearman's."""

    pearson: float
    low: float
    high: float
    spearman: float
    count: int
    level: float = 0.95


def hold(
    stance: Stance, limits: PostureLimits, q: Float[Array, "nq"], vary: Sequence[str]
) -> PostureLimits:
    """Limits that hold a posture but for the named joints; a free body may rise and sink."""
    tree = stance.mechanism.tree
    joints = [stance.mechanism.joint(name) for name in vary]
    free = [int(tree.v_address[j]) for j in joints]
    heights = {int(tree.v_address[j]) + 2 for j in tree.joints_of_type(FREE)}
    xi = coordinates(stance, q)
    keep = np.array([i in free or i in heights for i in range(stance.mechanism.nv)])
    return eqx.tree_at(
        lambda p: (p.lower, p.upper),
        limits,
        (jnp.where(keep, limits.lower, xi), jnp.where(keep, limits.upper, xi)),
    )


def capability_field(
    stance: Stance,
    limits: PostureLimits,
    q: Float[Array, "nq"],
    direction: Float[Array, "3"],
    names: tuple[str, str],
    *,
    points: int = 161,
) -> CapabilityField:
    """Capability over a grid of two joints within their limits; nan where a posture cannot stand.

    Args:
        stance: What stands, on what, and the point that counts.
        limits: Bounds on the posture.
        q: The posture that the other joints keep.
        direction: Unit vector in the world.
        names: The two joints.
        points: Grid points along each.
    """
    at = [int(stance.mechanism.tree.v_address[stance.mechanism.joint(n)]) for n in names]
    lower, upper = (np.asarray(b)[at] for b in (limits.lower, limits.upper))
    if not np.isfinite([lower, upper]).all():
        raise InputError(f"`field` needs joints with limits, and {' or '.join(names)} has none")
    axes = [np.linspace(lo, hi, points) for lo, hi in zip(lower, upper, strict=True)]
    xi = np.asarray(coordinates(stance, q))
    rows = []
    for value in axes[0]:  # a row of the grid at a time: batches of one size, and little memory
        grid = np.tile(xi, (points, 1))
        grid[:, at[0]], grid[:, at[1]] = value, axes[1]
        rows.append(jax.device_get(_both(stance, limits, jnp.asarray(grid), direction)))
    motors, exact = (np.stack(column) for column in zip(*rows, strict=True))
    reference = np.asarray(stance.mechanism.q_reference)
    zero = [reference[stance.mechanism.tree.q_address[stance.mechanism.joint(n)]] for n in names]
    return CapabilityField(names, axes[0] + zero[0], axes[1] + zero[1], motors, exact)


@quick_jit
def _both(stance, limits, xi, direction):
    def one(xi):
        q = place(stance, configuration(stance, xi))[0]
        ok = stands(stance, limits, q)
        values = (found.value for found in both_capabilities(stance, q, direction))
        return tuple(jnp.where(ok & jnp.isfinite(v), v, jnp.nan) for v in values)

    return jax.vmap(one)(xi)


def jump_study(
    stance: Stance,
    limits: PostureLimits,
    direction: Float[Array, "3"],
    count: int,
    *,
    law: Hybrid,
    settings: JumpSettings | None = None,
    seed: int = 0,
    each: Callable[[range], Iterable[int]] = iter,
) -> JumpStudy:
    """Jumps from random postures, `LANES` in one call of `simulate`.

    Args:
        stance: What stands, on what, and the point that is pushed.
        limits: Bounds within which postures are drawn.
        direction: Unit vector from the start to the goal.
        count: Number of postures.
        law: The contact law.
        settings: Goal, push and duration; by default those of `JumpSettings`.
        seed: Seed of the random postures.
        each: Called with the batches, to show progress.
    """
    settings = settings or JumpSettings()
    q, by_motors, by_all = _standing(stance, limits, direction, count, seed)
    lanes = min(LANES, count)
    batches = -(-count // lanes)
    padded = np.concatenate([q, np.repeat(q[:1], batches * lanes - count, axis=0)])
    start = np.asarray(jax.jit(jax.vmap(stance.position))(jnp.asarray(q))).mean(axis=0)
    numbers = (jnp.asarray(float(x)) for x in (settings.frequency, 1e-4, 5e-3))
    goal = jnp.asarray(start) + settings.distance * direction
    control = JumpControl(stance, goal, *numbers)
    outcomes, timeouts = [], []
    for batch in each(range(batches)):
        part = jnp.asarray(padded[batch * lanes : (batch + 1) * lanes])
        run: Trajectory = simulate(
            stance.mechanism, part, jnp.zeros((lanes, stance.mechanism.nv)), until=settings.until,
            contacts=stance.contacts, law=law, control=control, solver=settings.solver, samples=2,
            max_events=_EVENTS, throw=False,
        ).to_numpy()  # fmt: skip
        outcome = jump_outcome(control, run)
        ended = np.asarray(run.result._value) == RESULTS.successful._value
        outcomes.append(outcome)
        timeouts.append(~ended & ~outcome.left)
    outcome = JumpOutcome(*(np.concatenate(x)[:count] for x in zip(*outcomes, strict=True)))
    return JumpStudy(q, by_motors, by_all, outcome, np.concatenate(timeouts)[:count])


def _standing(stance, limits, direction, count, seed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random postures that stand and can accelerate by (6.6), with both capabilities."""
    found, key, tries = [], jax.random.key(seed), 0
    while sum(len(f[0]) for f in found) < count:
        if tries > _TRIES * (1 + count // 1000):
            raise InputError("`posture`: hardly any random posture stands; widen the limits")
        keys = jax.random.split(jax.random.fold_in(key, tries), 1000)
        q, ok, motors, exact = jax.device_get(_draw(stance, limits, direction, keys))
        good = ok & np.isfinite(motors)
        found.append((q[good], motors[good], exact[good]))
        tries += 1
    q, motors, exact = (np.concatenate(x)[:count] for x in zip(*found, strict=True))
    return q, motors, exact


@quick_jit
def _draw(stance, limits, direction, keys):
    def one(key):
        q = random_posture(stance, limits, key)
        motors, exact = both_capabilities(stance, q, direction)
        return q, stands(stance, limits, q), motors.value, exact.value

    return jax.vmap(one)(keys)


def correlation(x: np.ndarray, y: np.ndarray, *, level: float = 0.95) -> Correlation:
    """Pearson's r with the interval of Fisher's transformation, and Spearman's rank correlation."""
    from scipy import stats

    good = np.isfinite(x) & np.isfinite(y)
    x, y = x[good], y[good]
    if x.size < 4:
        nan = float("nan")
        return Correlation(nan, nan, nan, nan, int(x.size), level)
    r: Any = stats.pearsonr(x, y)
    interval = r.confidence_interval(level)
    rank: Any = stats.spearmanr(x, y)
    low, high = float(interval.low), float(interval.high)
    return Correlation(float(r.statistic), low, high, float(rank.statistic), int(x.size), level)
