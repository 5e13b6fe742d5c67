r"""The free motion at the beginning of each rollout, and what it tells: the start, and the scale.

Recorded velocities are differences of poses: late, or smoothed across an impact. So the state at
the first row is the one from which free motion passes the poses best, up to the first touch.

Distances between configurations are those of the bodies' mass points, in the mean:
$d^2 = \delta^T M(q) \delta / m$ with $\delta$ the step from one to the other. So metres and radians
need no weights.
"""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import AnyArray, Array, Bool, Float, Int
from stiction._base.compile import quick_jit
from stiction.engines import Solver, simulate
from stiction.identify.kinds.rollouts.record import Rollouts, lengths_of
from stiction.mechanism import (
    Mechanism,
    add_velocity,
    difference,
    mass_matrix,
    total_mass,
    world_poses,
)
from stiction.surfaces import Contacts, contact_places

LEAST_ROWS = 3  # of flight: two fix a state, the third says how well
_ROUNDS = 10
_CLOSE = 1e-5  # m, m/s: steps of Gauss and Newton shrink to their squares, far below any noise
_CHANGE = 1e-5  # m, m/s, rad, rad/s: of a difference; free motion is smooth
_SOLVER = Solver(rtol=1e-9, atol=1e-11)


class FlightStart(NamedTuple):
    """Where the rollouts begin."""

    q: Float[np.ndarray, "n nq"]  # configurations
    v: Float[np.ndarray, "n nv"]  # velocities
    touch: Int[np.ndarray, " n"]  # the first row at which something may touch
    # size of what free motion leaves of the poses before that, each rollout's [m]
    noise: Float[np.ndarray, " n"]
    fall: float  # gravity, in parts of the model's; 1 if it was not looked for

    def part(self, which: Bool[np.ndarray, " n"]) -> "FlightStart":
        """The starts of some of the rollouts."""
        return FlightStart(
            self.q[which], self.v[which], self.touch[which], self.noise[which], self.fall
        )


def first_touch(
    rollouts: Rollouts, mechanism: Mechanism, contacts: Contacts, clearance: float
) -> Int[np.ndarray, " n"]:
    """The first row at which a gap is less than `clearance`; the number of rows if none is."""
    n, rows, nq = rollouts.q.shape
    times = np.tile(np.arange(rows) / rollouts.rate, n)
    gaps = np.asarray(least_gaps(mechanism, contacts, rollouts.q.reshape(-1, nq), times))
    near = (gaps.reshape(n, rows) < clearance) & rollouts.seen
    return np.where(near.any(axis=1), near.argmax(axis=1), rollouts.seen.sum(axis=1))


def approach_speed(
    rollouts: Rollouts, mechanism: Mechanism, contacts: Contacts, touch: Int[np.ndarray, " n"]
) -> float:
    """How fast the least gap closes just before the first touch, the median [m/s]."""
    rows = touch[:, None] - np.array([2, 1])
    q = np.take_along_axis(rollouts.q, rows[..., None], axis=1).reshape(-1, rollouts.q.shape[2])
    times = rows.ravel() / rollouts.rate
    before, after = np.asarray(least_gaps(mechanism, contacts, q, times)).reshape(-1, 2).T
    return float(np.median(before - after)) * rollouts.rate


@quick_jit
def least_gaps(mechanism, contacts, q, times):
    """The least gap of each configuration."""

    def least(q: Array, t: Array) -> Array:
        return jnp.min(contact_places(contacts, world_poses(mechanism, q), t).gap)

    return jax.vmap(least)(q, times)


@quick_jit
def distance_roots(
    mechanism: Mechanism, q: Float[Array, "n rows nq"]
) -> Float[Array, "n rows nv nv"]:
    """R with |R δ| the distance of q ⊕ δ from q [m]."""

    def root(q: Array) -> Array:
        M = mass_matrix(mechanism, q) / total_mass(mechanism)
        return jnp.linalg.cholesky(M).T

    return jax.vmap(jax.vmap(root))(q)


def fit_start(
    rollouts: Rollouts, mechanism: Mechanism, touch: Int[np.ndarray, " n"], *, fall: bool = False
) -> FlightStart:
    """The states from which free motion passes best through the rows before the first touch.

    Gauss-Newton, derivatives by differences: free motion is smooth, and all rollouts go through the
    engine together. What belongs to one rollout is eliminated by orthogonal factors, so that only
    the factor of gravity, which all have in common, is left.

    `touch` is the first row of each that is not free; with `fall` gravity is unknown too.
    """
    n, nv = len(rollouts), mechanism.nv
    rows = int(min(touch.max(), rollouts.q.shape[1]))
    flying = (np.arange(rows) < touch[:, None]) & rollouts.seen[:, :rows]
    measured = jnp.asarray(rollouts.q[:, :rows])
    roots = distance_roots(mechanism, measured)
    steps = np.asarray(_steps(mechanism, measured[:, 0], measured[:, 1]))
    x = np.concatenate([np.zeros((n, nv)), steps * rollouts.rate], axis=1)
    factor, lost = 1.0, np.zeros(n, dtype=bool)

    def missed(x: np.ndarray, factor: float) -> np.ndarray:
        """Distances from the measured rows, of starts `x` along leading axes."""
        falling = eqx.tree_at(lambda m: m.gravity, mechanism, factor * mechanism.gravity)
        many = x.reshape(-1, n, 2 * nv)
        q = np.stack([_moved(mechanism, measured[:, 0], each[:, :nv]) for each in many])
        path = simulate(
            falling,
            q.reshape(-1, q.shape[-1]),
            many[..., nv:].reshape(-1, nv),
            until=(rows - 1) / rollouts.rate,
            samples=rows,
            solver=_SOLVER,
            throw=False,
        ).q
        r = [
            distances_from(mechanism, measured, roots, p)
            for p in path.reshape(len(many), n, rows, -1)
        ]
        return np.stack(r).reshape(*x.shape[:-2], n, rows * nv)

    known = np.repeat(flying, nv, axis=1)
    for _ in range(_ROUNDS):
        around = _CHANGE * np.eye(2 * nv)[:, None]
        r, *moved = missed(np.concatenate([x[None], x + around, x - around]), factor)
        # A start from which no free motion can be followed is none; it must not spoil the others.
        lost |= ~np.all(np.isfinite(r) | ~known, axis=1)
        told = known & ~lost[:, None]
        ahead, back = np.array(moved[: 2 * nv]), np.array(moved[2 * nv :])
        Jx = np.where(told, (ahead - back) / (2 * _CHANGE), 0.0).transpose(1, 2, 0)
        Jx[lost] = np.eye(Jx.shape[1], 2 * nv)
        Q, R = np.linalg.qr(Jx)
        r, step, Jf = np.where(told, r, 0.0), 0.0, np.zeros_like(r)
        if fall:
            ends = [missed(x, factor + h) for h in (_CHANGE, -_CHANGE)]
            Jf = np.where(told, (ends[0] - ends[1]) / (2 * _CHANGE), 0.0)
            rest = Jf - np.einsum("nij,nkj,nk->ni", Q, Q, Jf)
            each, weight = np.sum(rest * r, axis=1), np.sum(rest * rest, axis=1)
            # The median of rollouts: those that were held or pushed have no say.
            step = -float(np.median(each[weight > 0] / weight[weight > 0])) if weight.any() else 0.0
            factor += step
        dx = -np.linalg.solve(R, np.einsum("nij,ni->nj", Q, r + step * Jf)[..., None])[..., 0]
        x = x + dx
        if max(np.max(np.abs(dx)), abs(step)) < _CLOSE:
            break
    q = _moved(mechanism, measured[:, 0], x[:, :nv])
    # Two rows' worth of numbers were fitted.
    noise = np.where(lost, np.inf, np.sqrt(np.sum(r**2, axis=1) / (nv * (touch - 2))))
    return FlightStart(np.array(q), x[:, nv:], touch.copy(), noise, factor)


def scaled(rollouts: Rollouts, mechanism: Mechanism, scale: float) -> Rollouts:
    """The rollouts with true lengths."""
    return replace(rollouts, q=rollouts.q * np.where(lengths_of(mechanism), scale, 1.0))


@quick_jit
def _steps(mechanism, start, end):
    return jax.vmap(lambda a, b: difference(mechanism, a, b))(start, end)


@quick_jit
def _moved(mechanism, start, step):
    return jax.vmap(lambda a, b: add_velocity(mechanism, a, b))(start, step)


def distances_from(
    mechanism: Mechanism,
    measured: Float[Array, "n rows nq"],
    roots: Float[Array, "n rows nv nv"],
    q: Float[AnyArray, "n rows nq"],
) -> Float[np.ndarray, "n rows nv"]:
    """How far configurations are from measured ones, as vectors whose length is the distance."""
    return np.asarray(_from_measured(mechanism, measured, roots, jnp.asarray(q)))


@quick_jit
def _from_measured(mechanism: Mechanism, measured: Array, roots: Array, q: Array):
    step = jax.vmap(jax.vmap(lambda a, b: difference(mechanism, a, b)))(measured, q)
    return jnp.einsum("nrij,nrj->nri", roots, step)
