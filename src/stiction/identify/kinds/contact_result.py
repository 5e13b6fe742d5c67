"""What a contact test comes out as: the wanted parameters, intervals, verdicts and caveats."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stiction.identify.contact.along import inertial_along
from stiction.identify.contact.mapped import sample_jit
from stiction.identify.contact.model import ContactModel, carrying, find_contacts, wrench
from stiction.identify.contact.parameters import (
    LETTERS,
    jacobian_of_wanted,
    wanted_names,
    wanted_values,
)
from stiction.identify.contact.plates import compound_stiffness
from stiction.identify.fit.averaging import mixture_quantile
from stiction.identify.fit.estimate import (
    Estimate,
    corrections,
    far_warnings,
    hints,
    nuisance_notes,
    other_causes,
)
from stiction.identify.fit.least_squares import scaled_condition
from stiction.identify.fit.nuisances import WORDS, added_reading
from stiction.identify.fit.residuals import judge_residuals
from stiction.identify.fit.samples import (
    ContactProblem,
    calibrated,
    noise_of_a_point,
    on_pose_clock,
)
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.path.noise import Noise
from stiction.identify.result import (
    Identification,
    Parameter,
    Trace,
    parameter,
    quantile,
    rms_under_load,
)
from stiction.identify.verdicts import excitation, misfit_warnings, verdict

_CLEAR = 1.5  # noise levels of a point: further away is free air, smoothing counted
_TAKEN_FOR_GRANTED = 1.5  # times the standard error that a doubt would give: worth a sentence


@sample_jit(2)
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


def traces_of(problem: ContactProblem, found: Estimate) -> list[Trace]:
    """The tests sample by sample, as fitted."""
    traces = []
    problem, nuisances = calibrated(problem, found.nuisances), problem.nuisances
    model, inertia, theta = problem.model, problem.inertia, jnp.asarray(found.theta)
    k, c, h, exponent = (
        np.asarray(model.plate_values(n, found.theta)) for n in ("k", "c", "h", "lambda")
    )
    every = zip(
        found.tests,
        found.bristles or [None] * len(found.tests),
        found.nuisances[nuisances.places],
        strict=True,
    )
    for s, bristles, z in every:
        time = on_pose_clock(s.recording, z[-2:])
        motion = s.path(time)
        predicted, depth, rate, slip, touched = (
            np.asarray(a) for a in _along(model, theta, motion, bristles)
        )
        age = (s.recording.wrench_time - time.mean()) / np.ptp(s.recording.pose_time)
        way = np.asarray(motion.position) - s.recording.position[0]
        measured = s.wrench - added_reading(z, age, way)
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


def wanted_of(model: ContactModel, found: Estimate, traces) -> tuple[np.ndarray, np.ndarray]:
    """The parameters asked for, and their covariance."""
    breakaway, spread = breakaway_of(model, found, traces)
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


def _ends(
    model: ContactModel, found: Estimate, traces, wider: float, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of intervals where several hypotheses were averaged: their sum is not normal."""
    several = () if found.told is None else found.told.hypotheses
    ends = np.full((2, len(wanted_names(model))), np.nan)
    if found.told is None or len(several) < 2:
        return ends[0], ends[1]
    p = len(found.theta)
    values, stds = [], []
    for h in several:
        theta = found.theta + (h.change - found.told.change)[:p]
        one = replace(found, theta=theta, covariance=h.covariance[:p, :p])
        value, cov = wanted_of(model, one, traces)
        values.append(value)
        stds.append(np.sqrt(wider * np.diag(cov)))
    weight = np.array([h.weight for h in several])
    tail = (1 - confidence) / 2
    for i, (mean, std) in enumerate(zip(np.transpose(values), np.transpose(stds), strict=True)):
        if np.all(np.isfinite(mean) & np.isfinite(std) & (std > 0)):
            ends[:, i] = [mixture_quantile(q, weight, mean, std) for q in (tail, 1 - tail)]
    return ends[0], ends[1]


def breakaway_of(model: ContactModel, found: Estimate, traces) -> tuple[np.ndarray, np.ndarray]:
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


def identification_of(
    problem: ContactProblem,
    setup: ContactSetup,
    found: Estimate,
    alone: list[dict[str, Any]],
    delay: float,
    said: list[str],
    *,
    plain: bool,
) -> Identification:
    """Parameters with intervals, residuals judged, and what there is to say."""
    model, method = problem.model, setup.method
    traces = traces_of(problem, found)
    clearance = noise_of_a_point(problem)
    tests = judge_residuals(
        [t.residual / problem.noise.wrench for t in traces],
        [t.used for t in traces],
        [np.all(t.depth < -_CLEAR * clearance, axis=1) for t in traces],
    )
    values, cov = wanted_of(model, found, traces)
    wider = 1.0 if plain else max(tests.inflation / max(found.whitened**2, 1.0), 1.0)
    cov = cov * wider
    low, high = _ends(model, found, traces, wider, method.confidence)
    z = quantile(method.confidence)
    parameters, warnings = {}, []
    for i, (name, value, std) in enumerate(
        zip(wanted_names(model), values.tolist(), np.sqrt(np.diag(cov)).tolist(), strict=True)
    ):
        surface, _, letter = name.rpartition(".")
        may_be_negative = letter == "offset" or surface == "bias" or not method.positive
        unit = _unit(model, surface, letter)
        parameters[name] = Parameter(None, None, None, unit)
        if np.isfinite(std):
            least = -np.inf if may_be_negative else 0.0
            parameters[name] = parameter(value, std, unit, method.confidence, least=least)
            if np.isfinite(low[i]):
                ends = float(max(low[i], least)), float(high[i])
                parameters[name] = replace(parameters[name], interval=ends)
        own = [s for s, j in enumerate(model.material_of) if model.materials[j].name == surface]
        excited = excitation(traces, own or list(range(len(model.material_of))))
        warnings.append(verdict(name, excited, std, value, value + z * std))
    used = np.concatenate([t.used for t in traces])
    force, moment = rms_under_load(traces, [t.residual for t in traces])
    if not found.converged:
        warnings.append("the fit stopped before it settled; treat the values with care")
    if not plain:
        warnings += misfit_warnings(found.whitened) + tests.warnings
        warnings += far_warnings(problem.nuisances, found)
        warnings += hints(problem.nuisances, found)
        warnings += other_causes(problem.nuisances, found)
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
        caveats=_caveats(problem, setup, found, parameters, traces),
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


def _caveats(
    problem: ContactProblem, setup: ContactSetup, found: Estimate, parameters, traces
) -> list[str]:
    """What each parameter takes for granted and this test could not tell, one sentence each."""
    if found.told is None:
        return []

    def errors(covariance: np.ndarray) -> np.ndarray:
        _, cov = wanted_of(problem.model, replace(found, covariance=covariance), traces)
        return np.sqrt(np.diag(cov))

    clean, alone = errors(found.told.clean), found.told.alone
    doubts = {name: errors(spread) for name, spread in alone.items() if name not in found.off}
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
