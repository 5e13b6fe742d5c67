"""From recordings and a setup to parameters with error bars."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._errors import InputError
from stiction.identify.build import (
    build_inertia,
    build_model,
    jacobian_of_wanted,
    wanted_names,
    wanted_values,
)
from stiction.identify.clocks import estimate_delay
from stiction.identify.contacts import Motion
from stiction.identify.faults import check_recording, check_touch
from stiction.identify.least_squares import covariance, scaled_condition
from stiction.identify.model import Bristles, ContactModel, carrying, find_contacts, wrench
from stiction.identify.paths import (
    ExactPath,
    Noise,
    SmoothPath,
    sensor_noise,
    smooth_path,
    widest_spacing,
)
from stiction.identify.plates import compound_stiffness
from stiction.identify.prune import prune
from stiction.identify.recording import Recording
from stiction.identify.regression import contacts_of
from stiction.identify.result import (
    UNITS,
    Identification,
    Parameter,
    Trace,
    quantile,
    rms_under_load,
)
from stiction.identify.setup import ContactSetup
from stiction.identify.stages import (
    Case,
    JointFit,
    bristles_of,
    inertial,
    joint,
    joint_with_chosen_knots,
    make_case,
    start,
    without_idle_friction,
    without_letting_go,
)
from stiction.identify.trajectory import one_of
from stiction.identify.verdicts import MISFIT, excitation, misfit_warnings, verdict


@dataclass(frozen=True)
class _Outcome:
    """Parameters of the model and what goes with them, however they were found."""

    theta: np.ndarray
    covariance: np.ndarray
    root: np.ndarray
    paths: list[Any]
    bristles: list[Bristles] | None
    stretch_limit: np.ndarray
    stretch_limit_std: np.ndarray
    whitened: float
    delay: float = 0.0
    delay_std: float = 0.0
    spacing: float | None = None
    cases: tuple[Case, ...] = ()
    converged: bool = True


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
    method, inertia = setup.method, build_inertia(setup)
    whole = build_model(setup, folder)
    model = prune(whole, list(recordings))
    for r in recordings:
        check_recording(r, setup)
        _check_touch(model, r, setup, max(shape.size for shape in whole.body))
    tell("smoothing the motion")
    noise = sensor_noise(list(recordings), setup)
    plain = method.name == "least-squares" or (method.name == "auto" and noise.exact_motion)
    if noise.exact_motion:
        widest = None
        paths = [ExactPath(r) for r in recordings]
    else:
        widest = method.knot_spacing or min(widest_spacing(r, noise) for r in recordings)
        paths = [smooth_path(r, noise, widest) for r in recordings]
    tell("aligning the clocks")
    delays, recordings = _align(model, recordings, paths, noise, setup)

    def cases_of(model: ContactModel) -> list[Case]:
        return [
            make_case(r, path, model, noise, inertia, widest)
            for r, path in zip(recordings, paths, strict=True)
        ]

    cases = cases_of(model)
    if widest is not None:
        sliding = without_idle_friction(model, cases, noise, widest)
        if sliding.materials != model.materials:
            model, cases = sliding, cases_of(sliding)
    for case in cases:
        if not np.any(case.use):
            raise InputError(
                f"no sample of '{case.recording.name}' can be judged (row 1 on): some contact is at"
                " the brink of touching, within the sensor's noise, throughout; press harder, or"
                " leave that surface out"
            )

    def solve(cases: list[Case], spacing: float | None) -> _Outcome:
        options = {"loss": method.loss, "positive": method.positive}
        first, limit, limit_std = start(model, cases, noise, inertia, **options)
        bristles = bristles_of(model, cases, first.theta, limit) if model.has_bristles else None
        if plain or widest is None:
            return _of_regression(first, cases, bristles, limit, limit_std)
        cases = [without_letting_go(model, c, noise, first.theta, widest) for c in cases]
        options |= {"inertia": inertia, "first": first, "bristles": bristles}
        options["delay"] = setup.wrench.delay == "estimate"
        if spacing is not None:
            found = joint(model, cases, noise, spacing=spacing, **options)
        else:
            found = joint_with_chosen_knots(model, cases, noise, widest, **options)
        return _of_joint(found, cases, bristles, limit, limit_std)

    tell("fitting")
    outcome = solve(cases, method.knot_spacing)
    traces = _traces(model, outcome, inertia)
    tests = []
    for i, case in enumerate(cases if len(cases) > 1 else []):
        tell(f"fitting test {i + 1} of {len(cases)} alone")
        alone = solve([case], outcome.spacing)
        values, cov = _wanted(model, alone, _traces(model, alone, inertia))
        values = np.where(np.isfinite(np.diag(cov)), values, np.nan)
        names = wanted_names(model)
        tests.append({"test": case.recording.name, **dict(zip(names, values, strict=True))})
    return _result(model, setup, noise, outcome, traces, tests, plain, delays)


def _check_touch(model: ContactModel, r: Recording, setup: ContactSetup, size: float) -> None:
    still = jnp.zeros((len(r.pose_time), 3))
    motion = Motion(jnp.asarray(r.position), jnp.asarray(r.rotation), still, still)
    theta = jnp.concatenate([jnp.zeros(len(model.linear_names)), model.nonlinear_start()])
    found = contacts_of(model, theta, motion)
    check_touch(r, setup, np.asarray(found.depth), np.asarray(found.near), size)


def _align(model, recordings, paths, noise: Noise, setup: ContactSetup):
    """Recordings with the wrench on the pose's clock, and the delays taken off."""
    if setup.wrench.delay != "estimate":
        return [float(setup.wrench.delay)] * len(recordings), list(recordings)
    delays, aligned = [], []
    for r, path in zip(recordings, paths, strict=True):
        late = estimate_delay(model, path, r.pose_time, r.wrench_time, r.wrench, noise.wrench)
        delays.append(late)
        aligned.append(replace(r, wrench_time=r.wrench_time - late))
    return delays, aligned


def _of_regression(first, cases, bristles, limit, limit_std) -> _Outcome:
    used = sum(6 * int(np.sum(c.use > 0)) for c in cases)
    variance = first.squares / max(used - len(first.theta), 1)
    # Rows in units of the noise: their own scatter says how large that truly was.
    spread = covariance(first.root)
    return _Outcome(
        first.theta,
        np.where(np.isinf(spread), spread, spread * variance),
        first.root,
        [c.path for c in cases],
        bristles,
        limit,
        limit_std * np.sqrt(variance),
        float(np.sqrt(variance)),
        cases=tuple(cases),
    )


def _of_joint(found: JointFit, cases, bristles, limit, limit_std) -> _Outcome:
    f = found.fit
    theta, root = np.asarray(f.theta), np.asarray(f.root)
    paths = [SmoothPath(one_of(found.track, i), f.coefficients[i]) for i in range(len(cases))]
    poses = sum(len(c.recording.pose_time) for c in cases)
    wrenches = sum(float(np.sum(c.use)) for c in cases)
    knots = sum(
        np.ceil((c.recording.pose_time[-1] - c.recording.pose_time[0]) / found.spacing) + 5
        for c in cases
    )
    freedom = max(6 * (poses + wrenches - knots) - found.free.sum(), 1)
    whitened = float(np.sqrt(float(f.wrench_cost + f.pose_cost) / freedom))
    spread = covariance(root) * (whitened**2 if whitened > MISFIT else 1.0)
    unseen = np.flatnonzero(~found.seen)
    spread[unseen, unseen] = np.inf
    return _Outcome(
        theta[:-1],
        spread[:-1, :-1],
        root[:-1, :-1],
        paths,
        bristles,
        limit,
        limit_std,
        whitened,
        delay=float(theta[-1]),
        delay_std=float(np.sqrt(spread[-1, -1])) if found.free[-1] else 0.0,
        spacing=found.spacing,
        cases=tuple(cases),
        converged=bool(f.converged),
    )


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


def _traces(model, outcome: _Outcome, inertia) -> list[Trace]:
    traces = []
    theta = jnp.asarray(outcome.theta)
    value = lambda name: model.plate_values(name, outcome.theta)  # noqa: E731
    for i, (c, path) in enumerate(zip(outcome.cases, outcome.paths, strict=True)):
        time = c.recording.wrench_time - outcome.delay
        motion = path(time)
        bristles = None if outcome.bristles is None else outcome.bristles[i]
        predicted, depth, rate, slip, touched = (
            np.asarray(a) for a in _along(model, theta, motion, bristles)
        )
        measured = c.wrench
        if inertia is not None and c.recording.acceleration is None:
            measured = measured - inertial(model, inertia, motion, path.acceleration(time))
        elastic = np.where(touched > 0, np.maximum(depth, 0.0), 0.0) ** value("lambda")
        damping = value("c") + value("h") * elastic
        normal = value("k") * elastic + damping * np.where(touched > 0, rate, 0.0)
        traces.append(
            Trace(
                c.recording.name,
                time,
                measured,
                predicted,
                depth,
                rate,
                slip,
                normal,
                touched,
                c.use > 0,
                motion,
            )
        )
    return traces


def _wanted(model, outcome: _Outcome, traces) -> tuple[np.ndarray, np.ndarray]:
    """The parameters asked for, and their covariance."""
    breakaway, spread = _breakaway(model, outcome, traces)
    values = np.asarray(wanted_values(model, outcome.theta, breakaway))
    J = jacobian_of_wanted(model, outcome.theta, breakaway)
    lost = np.isinf(np.diag(outcome.covariance))
    cov = J @ np.where(np.isinf(outcome.covariance), 0.0, outcome.covariance) @ J.T
    unknown_ = np.any((np.abs(J) > 0) & lost[None, :], axis=1) | ~np.isfinite(values)
    for i, name in enumerate(wanted_names(model)):
        if name.endswith(".mu_s"):
            j = [m.name for m in model.materials].index(name.rpartition(".")[0])
            cov[i, i] += (values[i] * spread[j]) ** 2
    cov[unknown_, unknown_] = np.inf
    return values, cov


def _breakaway(model, outcome: _Outcome, traces) -> tuple[np.ndarray, np.ndarray]:
    """s_max / d^λ where bristles let go, by material, and the relative error of s_max."""
    out, spread = np.zeros(len(model.materials)), np.zeros(len(model.materials))
    for i, m in enumerate(model.materials):
        if not m.bristle or outcome.bristles is None or outcome.stretch_limit[i] == 0:
            continue
        plates = [p for p, j in enumerate(model.material_of) if j == i]
        exponent = model.plate_values("lambda", outcome.theta)
        loads = []
        for trace, b in zip(traces, outcome.bristles, strict=True):
            held = np.any(np.asarray(b.sticking), axis=-1)
            lets_go = held[:-1] & ~held[1:] & (trace.touched[1:] > 0)
            loads += [
                np.maximum(trace.depth[1:, p], 0)[lets_go[:, p]] ** exponent[p] for p in plates
            ]
        load = np.concatenate(loads)
        if len(load):
            out[i] = outcome.stretch_limit[i] / np.mean(load)
            spread[i] = outcome.stretch_limit_std[i] / outcome.stretch_limit[i]
    return out, spread


def _unit(model: ContactModel, surface: str, letter: str) -> str:
    """The unit of a parameter: plain N/m where the exponent is known to be 1."""
    if letter != "k":
        return UNITS[letter]
    i = [m.name for m in model.materials].index(surface)
    return "N/m" if model.exponent[i] == 1 and not model.materials[i].exponent else UNITS["k"]


def _result(
    model, setup: ContactSetup, noise, outcome: _Outcome, traces, tests, plain, delays
) -> Identification:
    names = wanted_names(model)
    values, cov = _wanted(model, outcome, traces)
    z = quantile(setup.method.confidence)
    parameters, warnings = {}, []
    for i, name in enumerate(names):
        surface, _, letter = name.rpartition(".")
        std, value = float(np.sqrt(cov[i, i])), float(values[i])
        plates = [
            p for p, j in enumerate(model.material_of) if model.materials[j].name == surface
        ] or list(range(len(model.material_of)))
        excited = excitation(traces, plates)
        bound = value + z * std
        floor = (
            0.0 if setup.method.positive and letter != "offset" and surface != "bias" else -np.inf
        )
        warnings.append(verdict(name, excited, std, value, bound))
        if np.isfinite(std):
            interval = (max(value - z * std, floor), bound)
            parameters[name] = Parameter(value, std, interval, _unit(model, surface, letter))
        else:
            parameters[name] = Parameter(None, None, None, _unit(model, surface, letter))
    used = np.concatenate([t.used for t in traces])
    force, moment = rms_under_load(traces, [t.residual for t in traces])
    notes: dict[str, Any] = {
        "noise": {k: v for k, v in vars(noise).items() if k != "exact_motion" and v > 0},
        "samples": {"used": int(used.sum()), "left_out": int((~used).sum())},
        "delay": float(np.mean(delays) + outcome.delay),
    }
    if setup.wrench.delay == "estimate" and not plain:
        notes["delay_std"] = outcome.delay_std
    if outcome.spacing is not None:
        notes["knot_spacing"] = outcome.spacing
    springs = {s.name: compound_stiffness(s.springs) for s in setup.surfaces if s.springs}
    if springs:
        notes["compound_stiffness"] = springs
    if not outcome.converged:
        warnings.append("the fit stopped before it settled; treat the values with care")
    found = Identification(
        parameters=parameters,
        covariance=cov,
        residual_rms=force,
        residuals={"force_rms": force, "moment_rms": moment, "in_noise": outcome.whitened},
        condition=scaled_condition(outcome.root),
        warnings=[],
        method="least-squares" if plain else "errors-in-variables",
        confidence=setup.method.confidence,
        surfaces=tuple(s.name for s in setup.surfaces),
        traces=traces,
        tests=tests,
        notes=notes,
    )
    warnings += [] if plain else misfit_warnings(found, outcome.whitened)
    return replace(found, warnings=[w for w in warnings if w])
