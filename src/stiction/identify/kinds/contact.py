"""Contact tests (ma): stiffness, damping and friction of plates from a body's pose and a wrench.

The walk of an identification: recordings are checked; their noise is given or read from them; the
poses become a path, through the samples or smoothed; clocks are aligned; the path is taken at the
times of the wrenches, and samples that cannot be judged are left out; a regression on the path as
it is gives parameters, which with a noisy motion start the fit of path and parameters together;
from its covariance come intervals, and from what the test excited the verdicts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from threadpoolctl import threadpool_limits

from stiction._base.errors import InputError
from stiction.identify.contact.along import contacts_along
from stiction.identify.contact.from_setup import carried_inertia, contact_model
from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import ContactModel
from stiction.identify.contact.parameters import (
    wanted_names,
)
from stiction.identify.contact.prune import prune
from stiction.identify.detective import investigate, noise_warnings, suspicions
from stiction.identify.faults import check_recording, check_touch, clean, lost_frames
from stiction.identify.fit.estimate import (
    Estimate,
    estimate_on_paths,
)
from stiction.identify.fit.joint import (
    MISFIT,
    estimate_jointly,
    estimate_with_chosen_knots,
    one_test,
)
from stiction.identify.fit.nuisances import nuisances_of
from stiction.identify.fit.residuals import outliers
from stiction.identify.fit.samples import (
    ContactProblem,
    Samples,
    calibrated,
    take_samples,
    without_idle_friction,
    without_letting_go,
)
from stiction.identify.kinds.contact_posterior import with_posterior
from stiction.identify.kinds.contact_result import identification_of, traces_of, wanted_of
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.path.clocks import estimate_delay
from stiction.identify.path.motion import ExactPath, smooth_path, widest_spacing
from stiction.identify.path.noise import Noise, as_scattering, sensor_noise
from stiction.identify.path.readings import shifts_of
from stiction.identify.path.segments import lay_out_poses
from stiction.identify.recording import Recording
from stiction.identify.result import Identification, Trace

_FAR = 2.5  # tolerances beyond which a nuisance is no small correction
_WORTH_A_WORD = 3  # samples left out alone: one or two are chance
_POOR_FIT = 1.5  # times the noise
_REFUSED = 40.0  # times the noise: neither small corrections nor wide intervals help
_HOPELESS = 8.0  # times the noise, on the path as it is; smoothing alone leaves 2 to 4
_FELT = 20.0  # noise levels of a force that something must have caused
_ROUNDS = 3  # of choosing samples by where things were found to be


@dataclass(frozen=True)
class ContactFit:
    """A fit and what it came from."""

    problem: ContactProblem  # what was asked
    found: Estimate  # the estimate
    # fits a problem's samples in the same way, with knots of a given spacing, from an estimate
    solve: Callable[[ContactProblem, list[Samples], float | None, Estimate | None], Estimate]
    recordings: list[Recording]  # the tests, cleaned and on one clock
    said: list[str]  # what was found odd about them
    delay: float  # of the wrench's clock [s]
    plain: bool  # whether the paths were taken for exact


@threadpool_limits.wrap(limits=1, user_api="blas")
def identify(
    recordings: Sequence[Recording],
    setup: ContactSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> Identification:
    """Identify the contact parameters of one or several tests.

    Args:
        recordings: Tests of the same setup. Several are fitted together, and each alone.
        setup: Shapes, frames, what is wanted, and how.
        folder: Where mesh files of the setup lie.
        tell: Called with what is being done.

    Returns:
        Parameters with standard errors and confidence intervals, residuals, and verdicts.
    """
    fit = fit_contact(recordings, setup, folder, tell=tell)
    problem, found = fit.problem, fit.found
    alone = []
    for i, s in enumerate(found.tests if len(found.tests) > 1 else []):
        tell(f"fitting test {i + 1} of {len(found.tests)} alone")
        single, start = one_test(problem, found, i)
        one = fit.solve(single, [s], found.spacing, None if fit.plain else start)
        values, cov = wanted_of(problem.model, one, traces_of(single, one))
        values = np.where(np.isfinite(np.diag(cov)), values, np.nan)
        names = wanted_names(problem.model)
        alone.append({"test": s.recording.name, **dict(zip(names, values, strict=True))})
    out = identification_of(problem, setup, found, alone, fit.delay, fit.said, plain=fit.plain)
    return out if fit.plain else with_posterior(out, problem, found, tell)


def fit_contact(
    recordings: Sequence[Recording],
    setup: ContactSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
    investigating: bool = True,
) -> ContactFit:
    """All of `identify` but the words: arguments are the same.

    `investigating` says whether to look for a mistake in reading, if the fit is poor.
    """
    if not recordings:
        raise InputError("`recordings` must hold at least one test, got none")
    whole = contact_model(setup, folder)
    model = prune(whole, recordings)
    for r in recordings:
        check_recording(r, setup)
        _check_touch(model, r, setup, max(shape.size for shape in whole.body))
    tell("smoothing the motion")
    noise = sensor_noise(recordings, setup)
    cleaned = [clean(r, noise) for r in recordings]
    recordings = [r for r, _ in cleaned]
    said = [sentence for _, sentences in cleaned for sentence in sentences]
    said += noise_warnings(recordings, setup)
    noise = as_scattering(noise, recordings)
    problem = ContactProblem(
        model,
        noise,
        nuisances_of(setup, noise, len(recordings)),
        carried_inertia(setup),
        loss=setup.method.loss,
        positive=setup.method.positive,
    )
    widest, paths = None, [ExactPath(r) for r in recordings]
    poses = [cache(partial(lay_out_poses, r, noise)) for r in recordings]
    if not noise.exact_motion:
        widest = setup.method.knot_spacing or min(widest_spacing(r, noise) for r in recordings)
        shifts = [shifts_of(r, noise, widest, in_body=model.axes == "body") for r in recordings]
        both = zip(recordings, shifts, strict=True)
        poses = [cache(partial(lay_out_poses, r, noise, shifts=s)) for r, s in both]
        paths = [smooth_path(p(widest), noise) for p in poses]
    tell("aligning the clocks")
    delays, recordings = _align(problem, recordings, paths, setup)

    def taken(problem: ContactProblem, clocks: np.ndarray, paths: Sequence) -> list[Samples]:
        tests = zip(recordings, paths, poses, strict=True)
        return [take_samples(problem, *t, widest, c) for t, c in zip(tests, clocks, strict=True)]

    places = problem.nuisances.places
    right = np.zeros((len(recordings), 2))
    tests = taken(problem, right, paths)
    if widest is not None:
        sliding = without_idle_friction(problem, tests, widest)
        if sliding.model.materials != model.materials:
            problem, tests = sliding, taken(sliding, right, paths)
    _check_judged(tests)
    by_name = setup.method.name
    plain = by_name == "least-squares" or (by_name == "auto" and noise.exact_motion)

    def solve(
        problem: ContactProblem, tests: list[Samples], spacing: float | None, first: Estimate | None
    ) -> Estimate:
        first = first or estimate_on_paths(problem, tests)
        if plain or widest is None:
            return first
        sure = [without_letting_go(problem, s, first.theta, widest) for s in tests]
        if spacing is None:
            return estimate_with_chosen_knots(problem, sure, first, widest)
        return estimate_jointly(problem, sure, first, spacing)[0]

    tell("fitting")
    first = estimate_on_paths(problem, tests)
    if investigating and first.whitened > _HOPELESS:  # no use in fitting long
        _investigate(replace(problem, model=whole), setup, recordings[0], widest, None)
    if not plain and first.whitened > _REFUSED:
        raise InputError(
            f"'{recordings[0].name}' does not fit its setup: what is left is"
            f" {first.whitened:.3g} times the noise, and no one mistake of units, signs or axes"
            " explains it; check frames, shapes, surfaces, `wrench.point` and the stated noise"
        )
    found, trimmed = solve(problem, tests, setup.method.knot_spacing, first), 0
    for _ in range(_ROUNDS if found.off else 0):
        # Which samples touch surely depends on where things are.
        before, problem = found, calibrated(problem, found.nuisances)
        tests = taken(problem, found.nuisances[places[:, -2:]], [s.path for s in found.tests])
        _check_judged(tests)
        found = solve(problem, tests, found.spacing, found)
        if np.all(np.abs(found.theta - before.theta) < 0.1 * np.sqrt(np.diag(found.covariance))):
            break
    for _ in range(0 if plain else _ROUNDS):
        bad = [outliers(t.residual / noise.wrench, t.used) for t in traces_of(problem, found)]
        if not any(b.any() for b in bad):
            break
        tests = [replace(s, use=s.use * ~b) for s, b in zip(found.tests, bad, strict=True)]
        trimmed += sum(int(b.sum()) for b in bad)
        found = solve(problem, tests, found.spacing, found)
    if trimmed >= _WORTH_A_WORD:
        said.append(f"{trimmed} wrench samples stand out alone; left out")
    if investigating and _is_doubtful(problem, found):
        unpruned, at = replace(problem, model=whole), found.spacing or widest
        poor = found.whitened > _POOR_FIT and not plain
        again = partial(_residual_of, setup, folder) if poor else None
        _investigate(unpruned, setup, recordings[0], at, again)
    _check_carried(traces_of(problem, found), noise)
    if found.whitened > MISFIT or found.off & {"delay", "rate"}:
        for r, rate in zip(recordings, found.nuisances[places[:, -1]].tolist(), strict=True):
            said += lost_frames(r, rate)
    delay = float(np.mean(delays) + np.mean(found.nuisances[places[:, -2]]))
    return ContactFit(problem, found, solve, list(recordings), said, delay, plain)


def _is_doubtful(problem: ContactProblem, found: Estimate) -> bool:
    """Whether a fit is so poor, or a surface was never felt, that the log may be read wrongly."""
    k = [found.theta[i] for i, n in enumerate(problem.model.names) if n.endswith(".k")]
    far = [
        np.any(np.abs(found.nuisances[g.place]) > _FAR * g.tolerance)
        for g in problem.nuisances.groups
        if np.all(g.tolerance > 0)
    ]
    return bool(found.whitened > _POOR_FIT or min(k) <= 0 or any(far))


def _investigate(
    problem: ContactProblem,
    setup: ContactSetup,
    r: Recording,
    spacing: float | None,
    again: Callable[[Recording], float] | None,
) -> None:
    """Refuse a log that one mistake in reading it explains far better.

    `problem` has all points of the body: with the mistake undone, others may touch than as read.
    `again` fits a log in full, where that may still decide.
    """
    noise, suspected = problem.noise, list(suspicions(r, setup))
    model = prune(problem.model, [r, *(other for _, other in suspected)])

    def misfit(r: Recording, force: float, moment: float) -> float:
        louder = replace(noise, force=force * noise.force, moment=moment * noise.moment)
        try:
            path = ExactPath(r) if spacing is None else _smooth(r, noise, spacing)
            judged = replace(problem, model=model, noise=louder)
            s = take_samples(judged, r, path, lambda _: None, None, np.zeros(2))  # type: ignore[arg-type, return-value]
            return estimate_on_paths(judged, [s]).whitened
        except InputError:
            return np.inf

    investigate(r, suspected, misfit, again)


def _residual_of(setup: ContactSetup, folder: Path, r: Recording) -> float:
    """Of a full fit, in units of the noise."""
    try:
        return fit_contact([r], setup, folder, investigating=False).found.whitened
    except InputError:
        return np.inf


def _smooth(r: Recording, noise: Noise, spacing: float):
    return smooth_path(lay_out_poses(r, noise, spacing), noise)


def _check_touch(model: ContactModel, r: Recording, setup: ContactSetup, size: float) -> None:
    still = jnp.zeros((len(r.pose_time), 3))
    motion = BodyState(jnp.asarray(r.position), jnp.asarray(r.rotation), still, still)
    found = contacts_along(model, model.unloaded(), motion)
    check_touch(r, setup, np.asarray(found.depth), np.asarray(found.near), size)


def _check_judged(tests: list[Samples]) -> None:
    for s in tests:
        if not np.any(s.use):
            raise InputError(
                f"no sample of '{s.recording.name}' can be judged (row 1 on): some contact is at"
                " the brink of touching, within the sensor's noise, throughout; press harder, or"
                " leave that surface out"
            )


def _check_carried(traces: Sequence[Trace], noise: Noise) -> None:
    """Refuse tests with forces that no surface could carry."""
    if any(t.touched.any() for t in traces):
        return
    largest = max(float(np.abs(t.wrench[:, :3]).max()) for t in traces)
    if largest > _FELT * noise.force:
        raise InputError(
            f"no surface carries any force in '{traces[0].name}', yet {largest:.3g} N were read"
            " (row 1 on); check frames, angles, shapes, surfaces and the wrench's sign"
        )


def _align(problem: ContactProblem, recordings, paths, setup: ContactSetup):
    """The delays of the wrenches' clocks, and recordings without those that had to be found."""
    if setup.wrench.delay != "estimate":
        return [float(setup.wrench.delay)], list(recordings)
    tests = list(zip(recordings, paths, strict=True))
    delays = [estimate_delay(problem.model, r, p, problem.noise.wrench) for r, p in tests]
    aligned = [
        replace(r, wrench_time=r.wrench_time - late)
        for r, late in zip(recordings, delays, strict=True)
    ]
    return delays, aligned
