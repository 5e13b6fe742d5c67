r"""Parameters and the true path together: least squares when the motion is noisy too.

Plain least squares (ma 15) takes the columns A for exact. With errors E in them it solves
$(A + E)^T (A + E) p = (A + E)^T w$ and, as samples grow, $p \to (Q + \Sigma)^{-1} Q\, p_0$ with
$Q$ the mean of $A^T A$ and $\Sigma$ that of $E^T E$: every parameter is drawn towards zero and
leaks into the others, most of all damping, whose column is a derivative of noise. More samples do
not help. Here the path x(t) is unknown too, and

$$ \min_{x, p} \sum_i \Big| \frac{y_i - x(t_i)}{\sigma_x} \Big|^2
   + \sum_j \Big| \frac{w_j - A(x(t_j), \dot x(t_j))\, p}{\sigma_w} \Big|^2 $$

is solved by Gauss-Newton: maximum likelihood, hence consistent, and its curvature gives standard
errors. No derivative is ever taken of noise: velocity is that of the spline x, and the wrench, the
better sensor, says most about it.

Each step is one orthogonal sweep along the spline's segments (a square-root information smoother
[Bierman1977]): QR of the rows that know a segment, whose first coefficient is then set aside, the
rest carried on with the parameters. Linear in the number of samples; no normal equations.
"""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Bool, Float, Int
from stiction._base.compile import quick_jit
from stiction.identify.contact.inertia import CarriedInertia, inertial_wrench
from stiction.identify.contact.model import ContactModel, wrench
from stiction.identify.fit import robust
from stiction.identify.fit.nuisances import N_ADDED, added_basis, added_reading, calibration_of
from stiction.identify.path.coordinates import acceleration_of, motion_of
from stiction.identify.path.readings import N_SHIFTS
from stiction.identify.path.segments import WINDOW, Track
from stiction.identify.path.splines import ORDER, basis

MAX_STEPS = 40
# Converged when a step would move no parameter by more than this many standard errors.
TOLERANCE = 1e-3
_GAINED = 1e-3  # of the cost, in a step of the path alone: enough
_SHORTER = 0.3  # a step that does not lower the cost is tried again, this much shorter
_CARRIED = WINDOW - 6
_SHIFTS = slice(-2 - N_SHIFTS, -2)  # among the nuisances: before the two of the clock


class JointProblem(eqx.Module):
    """What is being fitted, apart from the data."""

    model: ContactModel  # candidates and their terms
    wrench_noise: Float[Array, "6"]  # standard deviation of each entry of the wrench [N, N·m]
    # of what hangs on a moving sensor, unless its wrench was taken off beforehand
    inertia: CarriedInertia | None = None
    # what the setup has wrong, log by log, where the parameters hold none; else None
    nuisances: Float[Array, "*tests q"] | None = None
    # of several logs, where the parameters and nuisances of each stand among all
    places: Int[Array, "tests n"] | None = None
    loss: robust.Loss = eqx.field(static=True, default="squares")  # of the wrench residuals


class JointFit(eqx.Module):
    """Outcome of the fit."""

    theta: Float[Array, "*r p"]  # parameters as in `ContactModel.names`, then the nuisances
    # upper triangular R with covariance (Rᵀ R)⁻¹; 1 on the diagonal of what was held
    root: Float[Array, "*r p p"]
    coefficients: Float[Array, "*r tests k 6"]  # the path of each test
    wrench_cost: Float[Array, "*r"]  # sum of the whitened wrench residuals' losses
    pose_cost: Float[Array, "*r"]  # sum of the whitened pose residuals' squares
    steps: Array  # Gauss-Newton steps taken
    converged: Array  # whether the last step was small


def predicted_wrench(problem: JointProblem, track: Track, x, v, a, theta, age, bristles=None):
    """What the sensor would read at one sample of the path (coordinates x, rates v and a)."""
    center = jnp.asarray(track.center)
    model = problem.model
    theta, z = theta[: len(model.names)], theta[len(model.names) :]
    calibration = calibration_of(z, len(model.material_of))
    model = eqx.tree_at(lambda m: m.calibration, model, calibration)
    motion = motion_of(center, x, v)
    w = wrench(model, theta, motion, bristles) + added_reading(z, age, x[:3] - track.home)
    if problem.inertia is None:
        return w
    accelerations = acceleration_of(center, x, v, a)
    point = model.reference_point(motion)
    extra = inertial_wrench(problem.inertia, motion, *accelerations, point)
    return w + model.in_sensor_axes(motion, extra)


def _wrench_rows(problem: JointProblem, segment: Track, window, theta):
    """Rows of a segment's wrench samples over (coefficients, parameters, residual), and the cost.

    The clock's delay theta[-2] and rate theta[-1] shift the samples along the path, so their
    columns follow from the path's rates.
    """
    # A track of poses alone has no such rows.
    assert segment.wrench_on is not None
    assert segment.wrench_age is not None
    assert segment.wrench_u is not None
    h, p = segment.spacing, len(problem.model.names)
    if problem.nuisances is not None:  # a third of the work, where they are known
        theta = jnp.concatenate([theta, problem.nuisances])
    since = segment.wrench_age * segment.length
    late, fast = theta[-2] - segment.clock[0], theta[-1] - segment.clock[1]
    late = segment.wrench_u - (late + fast * since) / h
    B = [basis(late, d) / h**d for d in range(4)]
    x, v, a, jerk = (b @ window for b in B)

    def residual(z, measured, age, bristles):
        x, v, a = z[:6], z[6:12], z[12:18]
        parameters = jnp.concatenate([z[18:][:p], added, z[18:][p:], fixed])
        predicted = predicted_wrench(problem, segment, x, v, a, parameters, age, bristles)
        r = (predicted - measured) / problem.wrench_noise
        return r, r

    # The added readings are linear with known columns; the rest is differentiated.
    added, frames = theta[p : p + N_ADDED], theta[p + N_ADDED : _SHIFTS.start]
    own, fixed = (theta[:p], frames) if problem.nuisances is not None else (
        jnp.concatenate([theta[:p], frames]), jnp.zeros(0))  # fmt: skip
    z = jnp.concatenate([x, v, a, jnp.broadcast_to(own, (len(late), len(own)))], axis=1)
    per_sample = 0 if segment.bristles is not None else None
    # Backwards: six entries of the wrench, of up to fifty unknowns.
    J, r = jax.vmap(jax.jacrev(residual, has_aux=True), (0, 0, 0, per_sample))(
        z, segment.wrench, segment.wrench_age, segment.bristles
    )
    by_rate = J[..., :18].reshape(-1, 6, 3, 6)  # over x, v, a
    path = jnp.einsum("sirj,rsk->sikj", by_rate, jnp.stack(B[:3])).reshape(-1, 6, WINDOW)
    delay = -jnp.einsum("sirj,rsj->si", by_rate, jnp.stack([v, a, jerk]))
    columns = [path, J[..., 18 : 18 + p]]
    if problem.nuisances is None:
        basis_of = added_basis(segment.wrench_age, x[:, :3] - segment.home[None])
        reading = jnp.einsum("sb,ij->sibj", basis_of, jnp.diag(1 / problem.wrench_noise))
        clock = jnp.stack([delay, delay * since[:, None]], axis=-1)
        nothing = jnp.zeros((len(late), 6, N_SHIFTS))
        columns += [reading.reshape(len(late), 6, N_ADDED), J[..., 18 + p :], nothing, clock]
    rows = jnp.concatenate([*columns, r[..., None]], axis=-1)
    on = segment.wrench_on[:, None]
    weight = jnp.sqrt(on * robust.weight(r, problem.loss))
    return (rows * weight[..., None]).reshape(-1, rows.shape[-1]), jnp.sum(
        on * robust.cost(r, problem.loss)
    )


def _windows(coefficients):
    """The six coefficients of each segment."""
    count = coefficients.shape[0] - ORDER + 1
    return jnp.stack([coefficients[i : i + count] for i in range(ORDER)], axis=1)


def _by_segment(track: Track) -> Track:
    """The track with what is common to all segments repeated, to scan over."""

    def common(t: Track):
        return t.spacing, t.start, t.center, t.home, t.misfit, t.length, t.clock

    count = track.known.shape[0]
    spread = tuple(jnp.broadcast_to(c, (count, *c.shape)) for c in common(track))
    return eqx.tree_at(common, track, spread)


def _sweep(problem: JointProblem | None, track: Track, coefficients, theta, scale):
    """Eliminate the path of one test (`problem` None: from the poses alone).

    Returns the triangular rows of each segment and of the last coefficients, those left for the
    parameters alone (in units of `scale`, right-hand side last), and the two costs.
    """
    p = theta.shape[0]
    columns = jnp.concatenate([jnp.ones(WINDOW), scale, jnp.ones(1)])

    def step(carried, inputs):
        segment, window = inputs
        R, by_shift = segment.known[:, :WINDOW], segment.known[:, WINDOW:-1]
        off = R @ window.reshape(-1) - segment.known[:, -1]
        by_theta = jnp.zeros((len(R), p))
        cost = jnp.zeros(())
        if problem is not None:
            z = theta if problem.nuisances is None else problem.nuisances
            off = off + by_shift @ z[_SHIFTS]
            if problem.nuisances is None:
                by_theta = by_theta.at[:, _SHIFTS].set(by_shift) * scale[None]
        blocks = [jnp.concatenate([R, by_theta, off[:, None]], axis=1)]
        if problem is not None:
            rows, cost = _wrench_rows(problem, segment, window, theta)
            blocks.append(rows * columns[None, :])
        new = jnp.zeros((carried.shape[0], 6))
        old = jnp.concatenate([carried[:, :_CARRIED], new, carried[:, _CARRIED:]], axis=1)
        R = jnp.linalg.qr(jnp.concatenate([old, *blocks]), mode="r")
        return R[6 : WINDOW + p, 6:], (R[:6], jnp.stack([cost, off @ off]))

    start = jnp.zeros((_CARRIED + p, _CARRIED + p + 1))
    carried, (kept, costs) = jax.lax.scan(step, start, (_by_segment(track), _windows(coefficients)))
    cost = jnp.sum(costs, axis=0) + jnp.stack([jnp.zeros(()), track.misfit])
    return kept, carried[:_CARRIED], carried[_CARRIED:, _CARRIED:], cost


def _sweep_all(problem: JointProblem, track: Track, coefficients, theta, scale):
    """`_sweep` of all tests, the rows that are left over the parameters of all."""
    if problem.places is None:
        z = problem.nuisances
        by_test = 0 if z is not None and z.ndim == 2 else None
        each = lambda z, *of: _sweep(replace(problem, nuisances=z), *of)  # noqa: E731
        sweep = jax.vmap(each, (by_test, 0, 0, None, None))
        return sweep(z, track, coefficients, theta, scale)
    sweep = jax.vmap(partial(_sweep, problem))
    kept, tail, rows, cost = sweep(
        track, coefficients, theta[problem.places], scale[problem.places]
    )
    place = jnp.concatenate(
        [problem.places, jnp.full((len(problem.places), 1), len(theta))], axis=1
    )
    wide = jnp.zeros((*rows.shape[:2], len(theta) + 1))
    wide = jax.vmap(lambda w, i, r: w.at[:, i].set(r))(wide, place, rows)
    return kept, tail, wide, cost


def _path_step(kept, tail, delta):
    """The path's change that goes with the parameters' change, from the last segment backwards."""
    solve = partial(jax.scipy.linalg.solve_triangular, lower=False)
    last = solve(tail[:, :_CARRIED], -tail[:, -1] - tail[:, _CARRIED:-1] @ delta)

    def step(following, row):
        rhs = -row[:, -1] - row[:, 6:WINDOW] @ following - row[:, WINDOW:-1] @ delta
        first = solve(row[:, :6], rhs)
        return jnp.concatenate([first, following[:-6]]), first

    _, firsts = jax.lax.scan(step, last, kept, reverse=True)
    return jnp.concatenate([firsts, last.reshape(-1, 6)])


@quick_jit
def smooth(track: Track) -> Float[Array, "tests k 6"]:
    """The path of each test from its motion sensor alone: where the fit starts."""
    nothing = jnp.zeros(0)
    count = track.known.shape[1] + ORDER - 1

    def one(track):
        kept, tail, _, _ = _sweep(None, track, jnp.zeros((count, 6)), nothing, nothing)
        return _path_step(kept, tail, nothing)

    return jax.vmap(one)(track)


def _linearize(problem: JointProblem, track: Track, coefficients, theta, scale, free, prior):
    """The Gauss-Newton step of all tests together, its triangular root and the two costs."""
    kept, tail, rows, cost = _sweep_all(problem, track, coefficients, theta, scale * free)
    p = theta.shape[0]
    believed = jnp.concatenate([jnp.diag(prior * scale * free), (prior * theta)[:, None]], axis=-1)
    pins = jnp.concatenate([jnp.diag(1 - free), jnp.zeros((p, 1))], axis=-1)
    R = jnp.linalg.qr(jnp.concatenate([rows.reshape(-1, p + 1), believed, pins]), mode="r")
    cost = cost.at[0, 1].add(jnp.sum((prior * theta) ** 2))
    delta = jax.scipy.linalg.solve_triangular(R[:p, :p], -R[:p, p], lower=False)
    own = delta[None] if problem.places is None else delta[problem.places]
    own = jnp.broadcast_to(own, (len(kept), own.shape[1]))
    path = jax.vmap(_path_step)(kept, tail, own)
    return path, delta * scale, R[:p, :p] / scale[None, :], jnp.sum(cost, axis=0)


@quick_jit
def information(
    problem: JointProblem,
    track: Track,
    coefficients: Float[Array, "tests k 6"],
    theta: Float[Array, " p"],
    scale: Float[Array, " p"],
) -> tuple[Float[Array, "p p"], Float[Array, " p"]]:
    """What the data alone say of all parameters near `theta`: their residual is R δ + rhs."""
    _, _, rows, _ = _sweep_all(problem, track, coefficients, theta, scale)
    p = theta.shape[0]
    padding = jnp.zeros((p + 1, p + 1))
    R = jnp.linalg.qr(jnp.concatenate([rows.reshape(-1, p + 1), padding]), mode="r")
    return R[:p, :p] / scale[None, :], R[:p, p]


@quick_jit
def fit(
    problem: JointProblem,
    track: Track,
    coefficients: Float[Array, "tests k 6"],
    theta: Float[Array, " p"],
    free: Bool[Array, " p"],
    scale: Float[Array, " p"],
    prior: Float[Array, " p"],
) -> JointFit:
    """Fit one set of parameters to one or several tests.

    Args:
        problem: Model, noise, loss.
        track: The tests, along the leading axis.
        coefficients: Where their paths start, from `smooth`.
        theta: Where the parameters and the nuisances start.
        free: Which of them are fitted.
        scale: The magnitude of each, to balance columns.
        prior: Inverse standard deviation of each about zero; 0 where nothing is believed.
    """
    linearize = partial(
        _linearize, problem, track, scale=scale, free=free.astype(theta.dtype), prior=prior
    )

    # Linearise where the last step leads. If the cost fell, go on from there; else go back and
    # try a shorter step. One copy of the model in the program, and one sweep for each trial.
    def step(state):
        best, path, delta, fraction, count, _ = state
        coefficients = best.coefficients + fraction * path
        theta = best.theta + fraction * delta
        new_path, new_delta, root, cost = linearize(coefficients, theta)
        lower = jnp.sum(cost) < best.wrench_cost + best.pose_cost
        count += 1
        moved = jnp.max(jnp.abs(root @ new_delta))
        # Where no parameter is free, the path alone has to settle.
        gained = best.wrench_cost + best.pose_cost - jnp.sum(cost)
        still = (moved < TOLERANCE) & (jnp.any(free) | (gained < _GAINED))
        found = JointFit(theta, root, coefficients, cost[0], cost[1], count, still)
        old = eqx.tree_at(lambda f: f.steps, best, count)
        best = jax.tree.map(partial(jnp.where, lower), found, old)
        path, delta = (
            jnp.where(lower, new, previous)
            for new, previous in ((new_path, path), (new_delta, delta))
        )
        fraction = jnp.where(lower, 1.0, fraction * _SHORTER)
        # A last step too short to matter: the cost is flat to rounding.
        small = jnp.max(jnp.abs(best.root @ (fraction * delta))) < TOLERANCE
        done = best.converged | (small & (jnp.any(free) | (fraction < _SHORTER**4)))
        best = eqx.tree_at(lambda f: f.converged, best, done)
        return best, path, delta, fraction, count, done

    infinite = jnp.asarray(jnp.inf)
    p = theta.shape[0]
    start = JointFit(
        theta, jnp.zeros((p, p)), coefficients, infinite, infinite, jnp.array(0), jnp.array(False)
    )
    state = (
        start,
        jnp.zeros_like(coefficients),
        jnp.zeros_like(theta),
        jnp.ones(()),
        jnp.array(0),
        jnp.array(False),
    )
    state = jax.lax.while_loop(lambda s: ~s[5] & (s[4] < MAX_STEPS), step, state)
    return state[0]
