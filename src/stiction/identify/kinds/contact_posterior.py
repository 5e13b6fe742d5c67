"""Draws of a contact test's parameters where what the data leave open is not normal."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stiction.identify.contact.parameters import jacobian_of_wanted, wanted_names, wanted_values
from stiction.identify.fit.estimate import Estimate
from stiction.identify.fit.joint import MISFIT, HeldFit
from stiction.identify.fit.posterior import NOT_NORMAL, not_normal, sample
from stiction.identify.fit.samples import ContactProblem
from stiction.identify.kinds.contact_result import breakaway_of, traces_of, wanted_of
from stiction.identify.result import Identification, Parameter

_SURELY_NORMAL = 0.1  # relative standard error below which a linear parameter needs no test
_DRAWS = 1500


def with_posterior(
    out: Identification, problem: ContactProblem, found: Estimate, tell: Callable[[str], None]
) -> Identification:
    """The identification, with intervals by sampling where Laplace's test fails.

    The test costs as much as the fit, so it is left out where nothing can come of it: with linear
    parameters that are all well known and off their bounds; and where the residual is larger than
    the noise, so that the density is not that of the data.
    """
    model = problem.model
    if found.spacing is None or found.whitened > MISFIT:
        return out
    traces = traces_of(problem, found)
    values, spread = wanted_of(model, found, traces)  # without what only a tolerance adds
    loose = np.isfinite(np.diag(spread)) & (
        np.sqrt(np.diag(spread)) > _SURELY_NORMAL * np.abs(values)
    )
    if not (any(loose) or model.nonlinear_names):
        return out
    tell("testing the shape of what is left open")
    p = len(found.theta)
    seen = np.isfinite(np.diag(found.covariance))
    free = np.concatenate([seen, problem.nuisances.mask(found.off)])
    if not free.any():
        return out
    tolerance = problem.nuisances.tolerance
    prior = np.divide(1.0, tolerance, out=np.zeros(len(tolerance)), where=tolerance > 0)
    everything = np.concatenate([found.theta, found.nuisances])
    held = HeldFit(problem, found.tests, found.bristles, found.spacing)
    positive = np.append(problem.signs, np.zeros(len(everything) - len(problem.signs), dtype=bool))

    def possible(y: np.ndarray) -> float:
        return -np.inf if np.any(y[positive[free]] < 0) else density(y)

    def density(y: np.ndarray) -> float:
        full = everything.copy()
        full[free] = y
        path = held(full[:p], full[p:])
        cost = float(path.wrench_cost + path.pose_cost)
        return -0.5 * (cost + float(np.sum((prior * full[p:]) ** 2)))

    R, rhs = held.information(found.theta, found.nuisances, held(found.theta, found.nuisances))
    believed = np.append(np.zeros(p), prior**2)
    H = (R.T @ R + np.diag(believed))[np.ix_(free, free)]
    size = 1 / np.sqrt(np.diag(H))
    values, vectors = np.linalg.eigh(H * size * size[:, None])
    root = size[:, None] * vectors / np.sqrt(np.maximum(values, 1e-12))
    mean = everything[free]
    # Where it would be largest without bounds: a normal density that a bound cuts off is known
    # without draws.
    uphill = -(R.T @ rhs + believed * everything)[free]
    spread = root @ root.T
    asked = spread[:, : seen.sum()] / np.sqrt(np.diag(spread))[: seen.sum()]
    shape = not_normal(density, mean + spread @ uphill, asked)
    out = replace(out, notes={**out.notes, "not_normal": shape})
    if shape < NOT_NORMAL:
        return out
    tell("drawing from what is left open")
    inside = np.where(positive[free] & (mean <= 0), 0.5 * size, mean)
    draws = np.tile(everything, (_DRAWS, 1))
    draws[:, free] = sample(possible, inside, root, count=_DRAWS)
    breakaway, _ = breakaway_of(model, found, traces)
    drawn = np.array([wanted_values(model, d[:p], breakaway) for d in draws])
    # What a fit with a poor residual, or several hypotheses, widened before is widened here too.
    J = jacobian_of_wanted(model, found.theta, breakaway)[:, seen]
    laplace = np.sqrt(np.diag(J @ spread[: seen.sum(), : seen.sum()] @ J.T))
    alpha = (1 - out.confidence) / 2
    parameters, samples = dict(out.parameters), {}
    for i, name in enumerate(wanted_names(model)):
        known = out.parameters[name]
        if known.std is None or known.interval is None or not np.all(np.isfinite(drawn[:, i])):
            continue
        wider = max(known.std / laplace[i], 1.0) if laplace[i] > 0 else 1.0
        middle = np.median(drawn[:, i])
        x = middle + wider * (drawn[:, i] - middle)
        samples[name] = np.maximum(x, 0.0) if known.interval[0] >= 0 else x
        low, high = np.quantile(samples[name], [alpha, 1 - alpha])
        parameters[name] = Parameter(
            known.value, float(np.std(samples[name])), (float(low), float(high)), known.unit
        )
    said = (
        f"what the data leave open is not normal (ends of intervals off by"
        f" {100 * min(shape, 9.99):.0f} %): intervals are from {_DRAWS} draws"
    )
    return replace(out, parameters=parameters, samples=samples, warnings=[*out.warnings, said])
