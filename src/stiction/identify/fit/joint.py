"""Parameters and paths of contact tests fitted together, with knots as dense as the data demand."""

from collections.abc import Sequence
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from stiction.identify.contact.along import bristles_along
from stiction.identify.contact.model import Bristles
from stiction.identify.contact.parameters import jacobian_of_wanted
from stiction.identify.fit.averaging import average
from stiction.identify.fit.errors_in_variables import (
    JointFit,
    JointProblem,
    fit,
    information,
    smooth,
)
from stiction.identify.fit.estimate import Estimate
from stiction.identify.fit.least_squares import triangle
from stiction.identify.fit.nuisances import OWN
from stiction.identify.fit.samples import ContactProblem, Samples
from stiction.identify.fit.touches import touch_rows
from stiction.identify.path.motion import SmoothPath
from stiction.identify.path.segments import Track, one_of, stack
from stiction.identify.path.splines import DEGREE, segment_count

_LEAST_SAMPLES = 4  # poses for each knot
# Times the noise above which the residual needs another cause than noise levels a little off.
MISFIT = 1.1


def estimate_jointly(
    problem: ContactProblem, tests: Sequence[Samples], first: Estimate, spacing: float
) -> tuple[Estimate, float]:
    """Fit paths, parameters and those nuisances that the data demand, with knots of one spacing.

    Fit with the nuisances thought to be off, ask the data which truly are, and repeat until the two
    agree; then average over what remains in doubt.

    Args:
        problem: What is asked.
        tests: The samples.
        first: Where the parameters and nuisances start.
        spacing: Of the knots [s].

    Returns:
        The estimate, and Akaike's criterion, by which spacings are compared.
    """
    model, nuisances = problem.model, problem.nuisances
    # Anew: which samples the tests have may have changed since the first estimate.
    bristles = None
    if model.has_bristles:
        bristles = [
            bristles_along(model, first.theta, s.motion, first.stretch_limit) for s in tests
        ]
    joint, track = _laid_out(problem, tests, bristles, spacing)
    places = nuisances.places
    p, linear = len(model.names), len(model.linear_names)
    size = np.linalg.norm(first.root, axis=0)
    seen = size > 0  # the others move nothing
    tolerance = nuisances.tolerance
    usual = np.where(np.isfinite(tolerance) & (tolerance > 0), tolerance, 1e-3)
    scale = np.concatenate([1 / np.where(seen, size, 1.0), usual])
    with np.errstate(divide="ignore"):
        prior = np.append(np.zeros(p), np.where(tolerance > 0, 1 / tolerance, 0.0))
    theta, path = np.concatenate([first.theta, first.nuisances]), smooth(track)
    poses = sum(len(s.recording.pose_time) for s in tests)
    wrenches = sum(float(np.sum(s.use)) for s in tests)
    knots = sum(segment_count(s.recording.pose_time, spacing) + DEGREE for s in tests)
    off, tried = first.off, []
    while True:
        free = np.append(seen, nuisances.mask(off))
        theta[p:] *= free[p:]
        while True:
            # Where no nuisance is free, a smaller program does.
            n = p if not free[p:].any() else len(theta)
            at = _of_all(joint, p, places)
            if n == p:
                at = replace(joint, nuisances=jnp.asarray(theta[p:][places]))
            known = (jnp.asarray(a[:n]) for a in (theta, free, scale, prior))
            found = fit(at, track, path, *known)
            theta[:n], path = np.array(found.theta), found.coefficients
            wrong = problem.signs & free[:linear] & (theta[:linear] < 0)
            if not wrong.any():
                break
            # Hold at zero what came out furthest below it, in standard errors; fit the rest.
            worst = int(np.argmin(np.where(wrong, theta[:linear] / scale[:linear], 0)))
            free[worst], theta[worst] = False, 0.0
        cost = float(found.wrench_cost + found.pose_cost)
        freedom = max(6 * (poses + wrenches - knots) - free.sum(), 1)
        # Good poses must not hide bad wrenches.
        of_wrench = float(found.wrench_cost) / max(6 * wrenches, 1.0)
        whitened = float(np.sqrt(max(cost / freedom, of_wrench)))
        misfit = whitened**2 if whitened > MISFIT else 1.0
        root, rhs = (
            np.asarray(a)
            for a in information(
                _of_all(joint, p, places), track, path, jnp.asarray(theta), jnp.asarray(scale)
            )
        )
        paths = [SmoothPath(one_of(track, i), c) for i, c in enumerate(path)]
        J, r = touch_rows(problem, tests, paths, theta[:p], theta[p:], spacing)
        both = triangle(np.concatenate([np.column_stack([root, rhs]), np.column_stack([J, r])]))
        root, rhs = both[: len(root), :-1], both[: len(root), -1]
        asked = jacobian_of_wanted(model, theta[:p], np.ones(len(model.materials)))
        told = average(root, rhs, theta[p:], nuisances, free[:p], misfit, asked)
        tried.append(off)
        if told.best in tried:
            break
        off = told.best
    theta = theta + told.change
    spread = told.covariance
    if not np.array_equal(free[:p], seen):
        # What is held at zero has an error bar all the same: that of the fit that held nothing.
        hints = told.hinted
        spread = average(root, rhs, theta[p:], nuisances, seen, misfit, asked, hints).covariance
        told = replace(told, hypotheses=())
    unseen = np.flatnonzero(~seen)
    spread[unseen, unseen] = np.inf
    estimate = replace(
        first,
        theta=theta[:p],
        covariance=spread[:p, :p],
        root=root[:p, :p],
        tests=tuple(replace(s, path=x) for s, x in zip(tests, paths, strict=True)),
        whitened=whitened,
        bristles=bristles,
        # In units of the noise: the regression had scaled it by its own residuals.
        stretch_limit_std=first.stretch_limit_std / first.whitened,
        nuisances=theta[p:],
        nuisance_std=np.sqrt(np.diag(spread)[p:]),
        told=told,
        spacing=spacing,
        converged=bool(found.converged),
    )
    return estimate, cost + 2 * 6 * knots


def one_test(
    problem: ContactProblem, found: Estimate, test: int | None
) -> tuple[ContactProblem, Estimate]:
    """Problem and estimate as of one of several tests; of another (None), its sensors are right."""
    nuisances = problem.nuisances
    mine = nuisances.places[test or 0]
    z = found.nuisances[mine].copy()
    single = nuisances.of_one()
    for g in single.groups if test is None else []:
        if g.name in OWN:
            z[g.place] = 0.0
    return replace(problem, nuisances=single), replace(
        found, nuisances=z, nuisance_std=found.nuisance_std[mine]
    )


def _of_all(joint: JointProblem, p: int, places: np.ndarray) -> JointProblem:
    """The problem over p parameters and the nuisances of all logs."""
    if len(places) == 1:
        return joint
    mine = np.concatenate([np.tile(np.arange(p), (len(places), 1)), p + places], axis=1)
    return replace(joint, places=jnp.asarray(mine))


def _laid_out(
    problem: ContactProblem,
    tests: Sequence[Samples],
    bristles: list[Bristles] | None,
    spacing: float,
) -> tuple[JointProblem, Track]:
    """What is fitted, and the samples along splines with knots of one spacing."""
    measured = all(s.recording.acceleration is not None for s in tests)
    inertia = None if measured else problem.inertia
    noise = problem.noise
    track = stack(
        [s.poses(spacing) for s in tests],
        noise,
        [s.by_segment(b) for s, b in zip(tests, bristles or [None] * len(tests), strict=True)],
    )
    return JointProblem(problem.model, jnp.asarray(noise.wrench), inertia, loss=problem.loss), track


class HeldFit:
    """Paths fitted to poses and wrenches with the parameters held, for densities and predictions.

    Args:
        problem: What is asked.
        tests: The samples; `use` says which wrenches count.
        bristles: Of each test; none if the law has none.
        spacing: Of the knots [s].
    """

    def __init__(
        self,
        problem: ContactProblem,
        tests: Sequence[Samples],
        bristles: list[Bristles] | None,
        spacing: float,
    ):
        self.joint, self.track = _laid_out(problem, tests, bristles, spacing)
        self.places = problem.nuisances.places
        self.start = smooth(self.track)
        # Where the tests' own paths were fitted along the same knots, that is nearer.
        own = [s.path.coefficients for s in tests if isinstance(s.path, SmoothPath)]
        if [np.shape(c) for c in own] == [np.shape(c) for c in self.start]:
            self.start = jnp.stack([jnp.asarray(c) for c in own])

    def __call__(self, theta: np.ndarray, nuisances: np.ndarray) -> JointFit:
        """The paths that go with these parameters and nuisances."""
        p = len(theta)
        at = replace(self.joint, nuisances=jnp.asarray(nuisances[self.places]))
        held, nothing = jnp.zeros(p, dtype=bool), jnp.zeros(p)
        return fit(at, self.track, self.start, jnp.asarray(theta), held, jnp.ones(p), nothing)

    def smooth_paths(self, found: JointFit) -> list[SmoothPath]:
        """The paths of a fit."""
        return [SmoothPath(one_of(self.track, i), c) for i, c in enumerate(found.coefficients)]

    def information(
        self, theta: np.ndarray, nuisances: np.ndarray, path: JointFit
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the data say of parameters and nuisances: their residual is R δ + rhs."""
        both = jnp.asarray(np.concatenate([theta, nuisances]))
        joint = _of_all(self.joint, len(theta), self.places)
        R, rhs = information(joint, self.track, path.coefficients, both, jnp.ones(len(both)))
        return np.asarray(R), np.asarray(rhs)


def estimate_with_chosen_knots(
    problem: ContactProblem, tests: Sequence[Samples], first: Estimate, widest: float
) -> Estimate:
    """Halve the knots until Akaike's criterion rises, and keep the last, finer ones.

    One level finer than the data demand, because intervals are right only where the path's own
    stiffness no longer biases the parameters: what the criterion cannot see can be as large as the
    standard errors.
    """
    densest = max(_LEAST_SAMPLES * float(np.median(np.diff(s.recording.pose_time))) for s in tests)
    spacing = max(widest / 2, densest)
    best, score = estimate_jointly(problem, tests, first, spacing)
    while spacing / 2 >= densest:
        spacing /= 2
        before = score
        best, score = estimate_jointly(problem, tests, first, spacing)
        if score > before:
            break
    return best
