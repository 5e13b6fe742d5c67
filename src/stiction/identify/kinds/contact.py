"""Contact tests (ma): stiffness, damping and friction of plates from a body's pose and a wrench.

The walk of an identification: recordings are checked; their noise is given or read from them; the
poses become a path, through the samples or smoothed; clocks are aligned; the path is taken at the
times of the wrenches, and samples that cannot be judged are left out; a regression on the path as
it is gives parameters, which with a noisy motion start the fit of path and parameters together;
from its covariance come intervals, and from what the test excited the verdicts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from threadpoolctl import threadpool_limits

from stiction._base.errors import InputError
from stiction.identify.contact.along import contacts_along, inertial_along
from stiction.identify.contact.from_setup import carried_inertia, contact_model
from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import ContactModel, carrying, find_contacts, wrench
from stiction.identify.contact.parameters import (
    LETTERS,
    jacobian_of_wanted,
    wanted_names,
    wanted_values,
)
from stiction.identify.contact.plates import compound_stiffness
from stiction.identify.contact.prune import prune
from stiction.identify.detective import investigate, noise_warnings
from stiction.identify.faults import check_recording, check_touch, clean, lost_frames
from stiction.identify.fit.estimate import (
    Estimate,
    corrections,
    estimate_on_paths,
    far_warnings,
    nuisance_notes,
)
from stiction.identify.fit.joint import (
    MISFIT,
    estimate_jointly,
    estimate_with_chosen_knots,
)
from stiction.identify.fit.least_squares import scaled_condition
from stiction.identify.fit.nuisances import WORDS, added_reading, nuisances_of
from stiction.identify.fit.residuals import judge_residuals, outliers
from stiction.identify.fit.samples import (
    ContactProblem,
    Samples,
    calibrated,
    noise_of_a_point,
    on_pose_clock,
    take_samples,
    without_idle_friction,
    without_letting_go,
)
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.path.clocks import estimate_delay
from stiction.identify.path.motion import ExactPath, smooth_path, widest_spacing
from stiction.identify.path.noise import Noise, sensor_noise
from stiction.identify.path.segments import lay_out_poses
from stiction.identify.recording import Recording
from stiction.identify.result import (
    Identification,
    Parameter,
    Trace,
    parameter,
    quantile,
    rms_under_load,
)
from stiction.identify.verdicts import excitation, misfit_warnings, verdict

_FAR = 4  # tolerances beyond which a nuisance is no small correction
_CLEAR = 1.5  # noise levels of a point: further away is free air, smoothing counted
_WORTH_A_WORD = 3  # samples left out alone: one or two are chance
_TAKEN_FOR_GRANTED = 1.5  # times the standard error that a doubt would give: worth a sentence
_POOR_FIT = 1.5  # times the noise
_REFUSED = 40.0  # times the noise: neither small corrections nor wide intervals help
_HOPELESS = 8.0  # times the noise, on the path as it is; smoothing alone leaves 2 to 4
_ROUNDS = 3  # of choosing samples by where things were found to be


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
    problem = ContactProblem(
        model,
        noise,
        nuisances_of(setup, noise),
        carried_inertia(setup),
        loss=setup.method.loss,
        positive=setup.method.positive,
    )
    poses = [cache(partial(lay_out_poses, r, noise)) for r in recordings]
    widest, paths = None, [ExactPath(r) for r in recordings]
    if not noise.exact_motion:
        widest = setup.method.knot_spacing or min(widest_spacing(r, noise) for r in recordings)
        paths = [smooth_path(p(widest), noise) for p in poses]
    tell("aligning the clocks")
    delays, recordings = _align(problem, recordings, paths, setup)

    def taken(problem: ContactProblem, clock: np.ndarray) -> list[Samples]:
        tests = zip(recordings, paths, poses, strict=True)
        return [take_samples(problem, *test, widest, clock) for test in tests]

    right = np.zeros(2)
    tests = taken(problem, right)
    if widest is not None:
        sliding = without_idle_friction(problem, tests, widest)
        if sliding.model.materials != model.materials:
            problem, tests = sliding, taken(sliding, right)
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
    if first.whitened > _HOPELESS:  # no use in fitting long
        _investigate(problem, setup, recordings[0], widest)
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
        tests = taken(problem, found.nuisances[-2:])
        _check_judged(tests)
        found = solve(problem, tests, found.spacing, found)
        if np.all(np.abs(found.theta - before.theta) < 0.1 * np.sqrt(np.diag(found.covariance))):
            break
    for _ in range(0 if plain else _ROUNDS):
        bad = [outliers(t.residual / noise.wrench, t.used) for t in _traces(problem, found)]
        if not any(b.any() for b in bad):
            break
        tests = [replace(s, use=s.use * ~b) for s, b in zip(found.tests, bad, strict=True)]
        trimmed += sum(int(b.sum()) for b in bad)
        found = solve(problem, tests, found.spacing, found)
    if trimmed >= _WORTH_A_WORD:
        said.append(f"{trimmed} wrench samples stand out alone; left out")
    if _is_doubtful(problem, found):
        plain_problem = calibrated(problem, 0 * found.nuisances)
        _investigate(plain_problem, setup, recordings[0], found.spacing or widest)
    if found.whitened > MISFIT:
        said += [sentence for r in recordings for sentence in lost_frames(r)]
    alone = []
    for i, s in enumerate(tests if len(tests) > 1 else []):
        tell(f"fitting test {i + 1} of {len(tests)} alone")
        one = solve(problem, [s], found.spacing, None if plain else found)
        values, cov = _wanted(problem.model, one, _traces(problem, one))
        values = np.where(np.isfinite(np.diag(cov)), values, np.nan)
        names = wanted_names(problem.model)
        alone.append({"test": s.recording.name, **dict(zip(names, values, strict=True))})
    delay = float(np.mean(delays) + found.nuisances[-2])
    return _identification(problem, setup, found, alone, delay, said, plain=plain)


def _is_doubtful(problem: ContactProblem, found: Estimate) -> bool:
    """Whether a fit is so poor, or a surface was never felt, that the log may be read wrongly."""
    k = [found.theta[i] for i, n in enumerate(problem.model.names) if n.endswith(".k")]
    far = [
        np.any(np.abs(found.nuisances[g.place]) > _FAR * g.tolerance)
        for g in problem.nuisances.groups
        if np.all(g.tolerance > 0)
    ]
    return found.whitened > _POOR_FIT or min(k) <= 0 or any(far)


def _investigate(
    problem: ContactProblem, setup: ContactSetup, r: Recording, spacing: float | None
) -> None:
    """Refuse a log that one mistake in reading it explains far better."""
    noise = problem.noise

    def misfit(r: Recording, force: float, moment: float) -> float:
        louder = replace(noise, force=force * noise.force, moment=moment * noise.moment)
        try:
            path = ExactPath(r) if spacing is None else _smooth(r, noise, spacing)
            s = take_samples(problem, r, path, lambda _: None, None, np.zeros(2))  # type: ignore[arg-type, return-value]
            return estimate_on_paths(replace(problem, noise=louder), [s]).whitened
        except InputError:
            return np.inf

    investigate(r, setup, misfit)


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


@eqx.filter_jit
def _along(model, theta, motion, bristles):
    """Prediction and, for each surface, its deepest candidate at many samples."""

    def one(motion, bristles):
        found = find_contacts(model, theta, motion)
        on = carrying(model, theta, found)
        deep = jnp.where(found.near, found.depth, -jnp.inf)
        i = jnp.argmax(jnp.where(on, found.depth, deep - 1e3), axis=1)[:, None]
        take = lambda values: jnp.take_along_axis(values, i, axis=1)[:, 0]  # noqa: E731
        depth, rate = take(found.depth), take(found.depth_rate)
        slip = take(jnp.sqrt(jnp.sum(found.slip**2, axis=-1)))
        return wrench(model, theta, motion, bristles), depth, rate, slip, jnp.sum(on, axis=1)

    return jax.vmap(one, (0, None if bristles is None else 0))(motion, bristles)


def _traces(problem: ContactProblem, found: Estimate) -> list[Trace]:
    traces = []
    problem = calibrated(problem, found.nuisances)
    model, inertia, theta = problem.model, problem.inertia, jnp.asarray(found.theta)
    k, c, h, exponent = (
        np.asarray(model.plate_values(n, found.theta)) for n in ("k", "c", "h", "lambda")
    )
    for s, bristles in zip(found.tests, found.bristles or [None] * len(found.tests), strict=True):
        time = on_pose_clock(s.recording, found.nuisances[-2:])
        motion = s.path(time)
        predicted, depth, rate, slip, touched = (
            np.asarray(a) for a in _along(model, theta, motion, bristles)
        )
        age = (s.recording.wrench_time - time.mean()) / np.ptp(s.recording.pose_time)
        measured = s.wrench - added_reading(found.nuisances, age)
        if inertia is not None and s.recording.acceleration is None:
            measured = measured - inertial_along(model, inertia, motion, s.path.acceleration(time))
        elastic = np.where(touched > 0, np.maximum(depth, 0.0), 0.0) ** exponent
        normal = k * elastic + (c + h * elastic) * np.where(touched > 0, rate, 0.0)
        traces.append(
            Trace(
                name=s.recording.name,
                time=time,
                wrench=measured,
                predicted=predicted,
                depth=depth,
                depth_rate=rate,
                slip=slip,
                normal_force=normal,
                touched=touched,
                used=s.use > 0,
                motion=motion,
            )
        )
    return traces


def _wanted(model: ContactModel, found: Estimate, traces) -> tuple[np.ndarray, np.ndarray]:
    """The parameters asked for, and their covariance."""
    breakaway, spread = _breakaway(model, found, traces)
    values = np.asarray(wanted_values(model, found.theta, breakaway))
    J = jacobian_of_wanted(model, found.theta, breakaway)
    lost = np.isinf(np.diag(found.covariance))
    cov = J @ np.where(np.isinf(found.covariance), 0.0, found.covariance) @ J.T
    undetermined = np.any((np.abs(J) > 0) & lost[None, :], axis=1) | ~np.isfinite(values)
    for i, name in enumerate(wanted_names(model)):
        if name.endswith(".mu_s"):
            j = [m.name for m in model.materials].index(name.rpartition(".")[0])
            cov[i, i] += (values[i] * spread[j]) ** 2
    cov[undetermined, undetermined] = np.inf
    return values, cov


def _breakaway(model: ContactModel, found: Estimate, traces) -> tuple[np.ndarray, np.ndarray]:
    """s_max / d^λ where bristles let go, by material, and the relative error of s_max."""
    out, spread = np.zeros((2, len(model.materials)))
    exponent = model.plate_values("lambda", found.theta)
    for i, m in enumerate(model.materials):
        if not m.bristle or found.bristles is None or found.stretch_limit[i] == 0:
            continue
        loads = []
        for trace, b in zip(traces, found.bristles, strict=True):
            held = np.any(np.asarray(b.sticking), axis=-1)
            lets_go = held[:-1] & ~held[1:] & (trace.touched[1:] > 0)
            load = np.maximum(trace.depth[1:], 0) ** exponent
            loads.append(load[lets_go & (np.array(model.material_of) == i)])
        load = np.concatenate(loads)
        if len(load):
            out[i] = found.stretch_limit[i] / np.mean(load)
            spread[i] = found.stretch_limit_std[i] / found.stretch_limit[i]
    return out, spread


def _identification(
    problem: ContactProblem,
    setup: ContactSetup,
    found: Estimate,
    alone: list[dict[str, Any]],
    delay: float,
    said: list[str],
    *,
    plain: bool,
) -> Identification:
    model, method = problem.model, setup.method
    traces = _traces(problem, found)
    clearance = noise_of_a_point(problem)
    tests = judge_residuals(
        [t.residual / problem.noise.wrench for t in traces],
        [t.used for t in traces],
        [np.all(t.depth < -_CLEAR * clearance, axis=1) for t in traces],
    )
    values, cov = _wanted(model, found, traces)
    if not plain:
        cov = cov * max(tests.inflation / max(found.whitened**2, 1.0), 1.0)
    z = quantile(method.confidence)
    parameters, warnings = {}, []
    for name, value, std in zip(
        wanted_names(model), values.tolist(), np.sqrt(np.diag(cov)).tolist(), strict=True
    ):
        surface, _, letter = name.rpartition(".")
        may_be_negative = letter == "offset" or surface == "bias" or not method.positive
        unit = _unit(model, surface, letter)
        parameters[name] = Parameter(None, None, None, unit)
        if np.isfinite(std):
            least = -np.inf if may_be_negative else 0.0
            parameters[name] = parameter(value, std, unit, method.confidence, least=least)
        own = [i for i, j in enumerate(model.material_of) if model.materials[j].name == surface]
        excited = excitation(traces, own or list(range(len(model.material_of))))
        warnings.append(verdict(name, excited, std, value, value + z * std))
    used = np.concatenate([t.used for t in traces])
    force, moment = rms_under_load(traces, [t.residual for t in traces])
    if not found.converged:
        warnings.append("the fit stopped before it settled; treat the values with care")
    if not plain:
        warnings += misfit_warnings(found.whitened) + tests.warnings
        warnings += far_warnings(problem.nuisances, found)
    warnings += said
    return Identification(
        parameters=parameters,
        covariance=cov,
        residual_rms=force,
        residuals={"force_rms": force, "moment_rms": moment, "in_noise": found.whitened},
        condition=scaled_condition(found.root),
        warnings=[w for w in warnings if w],
        method="least-squares" if plain else "errors-in-variables",
        confidence=method.confidence,
        caveats=_caveats(problem, found, parameters, traces),
        corrections=corrections(problem.nuisances, found),
        surfaces=tuple(s.name for s in setup.surfaces),
        traces=traces,
        tests=alone,
        notes={
            "noise": _noise_levels(problem.noise),
            "samples": {"used": int(used.sum()), "left_out": int((~used).sum())},
            "delay": delay,
            **({} if plain else nuisance_notes(problem.nuisances, found)),
            **({"knot_spacing": found.spacing} if found.spacing is not None else {}),
            **_compound_stiffness(setup),
        },
    )


def _caveats(problem: ContactProblem, found: Estimate, parameters, traces) -> list[str]:
    """What each parameter takes for granted and this test could not tell, one sentence each."""
    if found.clean is None:
        return []

    def errors(covariance: np.ndarray) -> np.ndarray:
        _, cov = _wanted(problem.model, replace(found, covariance=covariance), traces)
        return np.sqrt(np.diag(cov))

    clean = errors(found.clean)
    doubts = {name: errors(spread) for name, spread in found.alone.items() if name not in found.off}
    out = []
    for i, (wanted, p) in enumerate(parameters.items()):
        mine = {n: e[i] for n, e in doubts.items() if e[i] > _TAKEN_FOR_GRANTED * clean[i]}
        mine = {n: e for n, e in mine.items() if np.isfinite(e)}
        if not mine or not p.std or not p.value:
            continue
        worst = sorted(mine, key=lambda n: -mine[n])
        named = [f"the {WORDS[n][0]} ({100 * mine[n] / abs(p.value):.2g} %)" for n in worst]
        out.append(
            f"{wanted} takes for right {', '.join(named)}: in brackets its standard error where"
            f" that is in doubt (now {100 * p.std / abs(p.value):.2g} %); declare"
            f" tolerances.{worst[0]}, or to tell them apart {WORDS[worst[0]][2]}"
        )
    return out


def _unit(model: ContactModel, surface: str, letter: str) -> str:
    """The unit of a parameter: plain N/m where the exponent is known to be 1."""
    if letter != "k":
        return LETTERS[letter][1]
    i = [m.name for m in model.materials].index(surface)
    exponent_is_1 = model.exponent[i] == 1 and not model.materials[i].exponent
    return "N/m" if exponent_is_1 else LETTERS["k"][1]


def _noise_levels(noise: Noise) -> dict[str, float]:
    return {k: v for k, v in vars(noise).items() if k != "exact_motion" and v > 0}


def _compound_stiffness(setup: ContactSetup) -> dict[str, dict[str, float]]:
    springs = {s.name: compound_stiffness(s.springs) for s in setup.surfaces if s.springs}
    return {"compound_stiffness": springs} if springs else {}
