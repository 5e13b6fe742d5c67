r"""The free motion at the beginning of each rollout, and what it tells: the start, and the scale.

Recorded velocities are differences of poses: late, or smoothed across an impact. So the state at
the first row is the one from which free motion passes the poses best, up to the first touch.

Distances between configurations are those of the bodies' mass points, in the mean:
$d^2 = \delta^T M(q) \delta / m$ with $\delta$ the step from one to the other. So metres and radians
need no weights.
"""

from typing import NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Bool, Float, Int
from stiction._base.compile import quick_jit
from stiction.identify.kinds.rollouts.record import Rollouts, lengths_of
from stiction.mechanism import (
    Mechanism,
    add_velocity,
    difference,
    forward_dynamics,
    mass_matrix,
    passive_force,
    rate,
    total_mass,
    world_poses,
)
from stiction.surfaces import Contacts, contact_places

LEAST_ROWS = 3  # of flight: two fix a state, the third says how well
_ROUNDS = 6
_ROWS = 16
_RESTING, _STILL = 10, 2e-3  # rows at the end that differ by less [m, rad]: at rest
_CLOSE = 1e-5  # m, m/s: steps of Gauss and Newton shrink to their squares, far below any noise
_RTOL, _ATOL = 1e-7, 1e-9  # well below the noise of any camera


class FlightStart(NamedTuple):
    """Where the rollouts begin.

    Attributes:
        q: Configurations.
        v: Velocities.
        touch: The first row at which something may touch.
        noise: Size of what free motion leaves of the poses before that, each rollout's [m].
        fall: Gravity, in parts of the model's; 1 if it was not looked for.
    """

    q: Float[np.ndarray, "n nq"]
    v: Float[np.ndarray, "n nv"]
    touch: Int[np.ndarray, " n"]
    noise: Float[np.ndarray, " n"]
    fall: float

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
    gaps = np.asarray(_least_gaps(mechanism, contacts, rollouts.q.reshape(-1, nq), times))
    near = (gaps.reshape(n, rows) < clearance) & rollouts.seen
    return np.where(near.any(axis=1), near.argmax(axis=1), rollouts.seen.sum(axis=1))


def resting_gaps(
    rollouts: Rollouts, mechanism: Mechanism, contacts: Contacts
) -> Float[np.ndarray, "n points"]:
    """Gaps at the end of those rollouts that end at rest, the least first [m]."""
    ends = rollouts.seen.sum(axis=1)
    q, times = [], []
    for path, end in zip(rollouts.q, ends, strict=True):
        last = path[max(end - _RESTING, 0) : end]
        if len(last) == _RESTING and np.ptp(last, axis=0).max() < _STILL:
            q.append(last.mean(axis=0))
            times.append((end - 1) / rollouts.rate)
    if not q:
        return np.zeros((0, 0))
    return np.sort(np.asarray(_gaps(mechanism, contacts, np.array(q), np.array(times))), axis=1)


@quick_jit
def _gaps(mechanism, contacts, q, times):
    def all_of(q: Array, t: Array) -> Array:
        return contact_places(contacts, world_poses(mechanism, q), t).gap.reshape(-1)

    return jax.vmap(all_of)(q, times)


def approach_speed(
    rollouts: Rollouts, mechanism: Mechanism, contacts: Contacts, touch: Int[np.ndarray, " n"]
) -> float:
    """How fast the least gap closes just before the first touch, the median [m/s]."""
    rows = touch[:, None] - np.array([2, 1])
    q = np.take_along_axis(rollouts.q, rows[..., None], axis=1).reshape(-1, rollouts.q.shape[2])
    times = rows.ravel() / rollouts.rate
    before, after = np.asarray(_least_gaps(mechanism, contacts, q, times)).reshape(-1, 2).T
    return float(np.median(before - after)) * rollouts.rate


@quick_jit
def _least_gaps(mechanism, contacts, q, times):
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

    Gauss-Newton. What belongs to one rollout is eliminated by orthogonal factors, so that only the
    factor of gravity, which all have in common, is left.

    Args:
        rollouts: What was measured.
        mechanism: What moves.
        touch: The first row of each that is not free.
        fall: Whether gravity is unknown too.
    """
    n, nv = len(rollouts), mechanism.nv
    # Compiled for few numbers of rows.
    rows = min(-(-int(touch.max()) // _ROWS) * _ROWS, rollouts.q.shape[1])
    flying = (np.arange(rows) < touch[:, None]) & rollouts.seen[:, :rows]
    measured = jnp.asarray(rollouts.q[:, :rows])
    roots = distance_roots(mechanism, measured)
    last = jnp.asarray((rows - 1) / rollouts.rate)
    steps = np.asarray(_steps(mechanism, measured[:, 0], measured[:, 1]))
    x = np.concatenate([np.zeros((n, nv)), steps * rollouts.rate], axis=1)
    factor, r = 1.0, np.zeros((n, 0))
    lost = np.zeros(n, dtype=bool)
    for _ in range(_ROUNDS):
        (Jx, Jf), r = _free_motion(mechanism, measured, roots, last, x, jnp.asarray(factor))
        # A start from which no free motion can be followed is none; it must not spoil the others.
        lost |= ~np.all(np.isfinite(np.asarray(r)) | ~flying[..., None], axis=(1, 2))
        known = (flying & ~lost[:, None])[..., None]
        r = np.where(known, r, 0.0).reshape(n, -1)
        Jx = np.where(known[..., None], Jx, 0.0).reshape(n, -1, 2 * nv)
        Jx[lost] = np.eye(Jx.shape[1], 2 * nv)
        Jf = np.where(known, Jf, 0.0).reshape(n, -1)
        Q, R = np.linalg.qr(Jx)
        step = 0.0
        if fall:
            rest = Jf - np.einsum("nij,nkj,nk->ni", Q, Q, Jf)
            each, weight = np.sum(rest * r, axis=1), np.sum(rest * rest, axis=1)
            told = weight > 0
            # The median of rollouts: those that were held or pushed have no say.
            step = -float(np.median(each[told] / weight[told])) if told.any() else 0.0
            factor += step
        dx = -np.linalg.solve(R, np.einsum("nij,ni->nj", Q, r + step * Jf)[..., None])[..., 0]
        x = x + dx
        if max(np.max(np.abs(dx)), abs(step)) < _CLOSE:
            break
    q = _moved(mechanism, measured[:, 0], x[:, :nv])
    # Two rows' worth of numbers were fitted.
    noise = np.where(lost, np.inf, np.sqrt(np.sum(r**2, axis=1) / (nv * (touch - 2))))
    return FlightStart(np.asarray(q), x[:, nv:], touch, noise, factor)


def scaled(rollouts: Rollouts, mechanism: Mechanism, scale: float) -> Rollouts:
    """The rollouts with true lengths."""
    factor = np.where(lengths_of(mechanism), scale, 1.0)
    return Rollouts(rollouts.q * factor, rollouts.seen, rollouts.rate, rollouts.names)


@quick_jit
def _steps(mechanism, start, end):
    return jax.vmap(lambda a, b: difference(mechanism, a, b))(start, end)


@quick_jit
def _moved(mechanism, start, step):
    return jax.vmap(lambda a, b: add_velocity(mechanism, a, b))(start, step)


@quick_jit
def _free_motion(mechanism, measured, roots, last, x, factor):
    """Derivatives by the starts and by gravity's factor, and the distances themselves."""
    nv, rows = mechanism.nv, measured.shape[1]

    def one(x: Array, factor: Array, measured: Array, roots: Array):
        falling = eqx.tree_at(lambda m: m.gravity, mechanism, factor * mechanism.gravity)
        q = add_velocity(mechanism, measured[0], x[:nv])
        path = _free_path(falling, q, x[nv:], jnp.linspace(0, 1, rows) * last)
        step = jax.vmap(lambda a, b: difference(mechanism, a, b))(measured, path)
        r = jnp.einsum("rij,rj->ri", roots, step)
        return r, r

    def lane(x, measured, roots):
        return jax.jacfwd(one, argnums=(0, 1), has_aux=True)(x, factor, measured, roots)

    return jax.vmap(lane)(x, measured, roots)


def _free_path(
    mechanism: Mechanism, q: Float[Array, "nq"], v: Float[Array, "nv"], times: Float[Array, " rows"]
) -> Float[Array, "rows nq"]:
    """Free motion. `simulate` has it too, for derivatives backwards; here they go forwards."""

    def field(t, state, _):
        q, v = state
        force = passive_force(mechanism, q, v)
        return rate(mechanism, q, v), forward_dynamics(mechanism, q, v, force)

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Tsit5(),
        t0=times[0],
        t1=times[-1],
        dt0=None,
        y0=(q, v),
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=_RTOL, atol=_ATOL),
        adjoint=diffrax.ForwardMode(),
        throw=False,
    )
    assert solution.ys is not None
    return solution.ys[0]
