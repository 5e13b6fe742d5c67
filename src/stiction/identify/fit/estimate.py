"""Parameters of the contact model on paths as they are, and what goes with them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Float
from stiction.identify.contact.along import bristles_along, contacts_along, loaded_along
from stiction.identify.contact.model import Bristles
from stiction.identify.fit.averaging import Average
from stiction.identify.fit.least_squares import covariance
from stiction.identify.fit.nuisances import WORDS, Nuisances, sentence
from stiction.identify.fit.regression import Regression, Rows, regress
from stiction.identify.fit.samples import ContactProblem, Samples

_UNUSUAL = 2.5  # tolerances beyond which a correction is remarked on
_CROWD = 3  # groups that are off at once: an unforeseen cause is as likely
_LIKELY = 0.5  # probability from which a group is said to be off
_GRID = 40  # break-away stretches tried


@dataclass(frozen=True)
class Estimate:
    """Parameters of the model, however they were found."""

    theta: Float[np.ndarray, " p"]  # as in `ContactModel.names`
    covariance: Float[np.ndarray, "p p"]  # of theta; infinite where it is not determined
    root: Float[np.ndarray, "p p"]  # triangular R with Rᵀ R the information
    tests: tuple[Samples, ...]  # the samples, with the paths of the fit
    whitened: float  # size of the residuals in units of the noise
    bristles: list[Bristles] | None  # of each test, along its samples
    # stretch s_max at which bristles let go, by material [m]
    stretch_limit: Float[np.ndarray, " n_materials"]
    stretch_limit_std: Float[np.ndarray, " n_materials"]  # its standard error
    nuisances: Float[np.ndarray, " q"]  # what the setup has slightly wrong, as in `Nuisances`
    nuisance_std: Float[np.ndarray, " q"]  # their standard errors
    told: Average | None = None  # which of them are off, where the data were asked
    spacing: float | None = None  # of the knots, where the paths were fitted too [s]
    converged: bool = True  # whether the fit settled

    @property
    def off(self) -> frozenset[str]:
        """The groups of nuisances that the fit took for off."""
        return frozenset() if self.told is None else self.told.best


def estimate_on_paths(problem: ContactProblem, tests: Sequence[Samples]) -> Estimate:
    """Least squares on the paths as they are."""
    model = problem.model
    rows = Rows(
        _joined([s.motion for s in tests]),
        np.concatenate([s.contact_wrench(problem.inertia, model) for s in tests]),
        problem.noise.wrench,
        np.concatenate([s.use for s in tests]),
    )
    found = regress(problem, rows)
    limit, limit_std = np.zeros((2, len(model.materials)))
    bristles = None
    if model.has_bristles:
        for i, m in enumerate(model.materials):
            if m.bristle:
                limit[i], limit_std[i] = _stretch_limit(problem, tests, rows, found, limit, i)
        found = regress(problem, rows, _bristles(problem, tests, found, limit))
        bristles = [bristles_along(model, found.theta, s.motion, limit) for s in tests]
    used = sum(6 * int(np.sum(s.use > 0)) for s in tests)
    # Rows in units of the noise: their own scatter says how large that truly was.
    variance = found.squares / max(used - len(found.theta), 1)
    spread = covariance(found.root)
    none = np.zeros(len(problem.nuisances.tolerance))
    return Estimate(
        theta=found.theta,
        covariance=np.where(np.isinf(spread), spread, spread * variance),
        root=found.root,
        tests=tuple(tests),
        whitened=float(np.sqrt(variance)),
        bristles=bristles,
        stretch_limit=limit,
        stretch_limit_std=limit_std * np.sqrt(variance),
        nuisances=none,
        nuisance_std=none,
    )


def _joined(parts: list):
    """Samples of several tests one after the other."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)


def _bristles(problem: ContactProblem, tests, found: Regression, limit: np.ndarray) -> Bristles:
    """The bristles of all tests, one after the other."""
    return _joined([bristles_along(problem.model, found.theta, s.motion, limit) for s in tests])


def _stretch_limit(problem, tests, rows, found: Regression, limit, i) -> tuple[float, float]:
    """s_max of one material: where the wrench is explained best (the switch found from data).

    A grid finds the valley; Gauss-Newton on the profile finds its floor, by differences so small
    that no sample changes sides.
    """
    from scipy.optimize import minimize_scalar

    model, theta = problem.model, jnp.asarray(found.theta)
    plates = [p for p, j in enumerate(model.material_of) if j == i]
    slides = []
    for s in tests:
        c = contacts_along(model, theta, s.motion)
        on = np.asarray(loaded_along(model, theta, c))[:, plates]
        path = np.linalg.norm(np.diff(np.asarray(c.point)[:, plates], axis=0), axis=-1)
        slides.append(np.sum(path * on[1:], axis=0).max())

    def cost(s: float) -> float:
        trial = limit.copy()
        trial[i] = s
        bristles = _bristles(problem, tests, found, trial)
        return regress(replace(problem, positive=True), rows, bristles).squares

    grid = np.geomspace(1e-4 * max(slides), max(slides), _GRID)
    costs = np.array([cost(s) for s in grid])
    j = int(np.argmin(costs))
    bounds = grid[max(j - 1, 0)], grid[min(j + 1, len(grid) - 1)]
    best = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    s = float(best.x) if best.fun <= costs[j] else float(grid[j])
    step = 1e-5 * s
    curvature = (cost(s + step) - 2 * cost(s) + cost(s - step)) / step**2
    return s, float(np.sqrt(2 / curvature)) if curvature > 0 else float("inf")


def far_warnings(nuisances: Nuisances, found: Estimate) -> list[str]:
    """Corrections so large that something else is wrong."""
    out = []
    for g in nuisances.groups:
        z, std = found.nuisances[g.place], found.nuisance_std[g.place]
        if g.name in found.off and np.any(np.abs(z) > _UNUSUAL * g.tolerance):
            out.append(f"the fit needs an unusual {sentence(g, z, std)}; check the setup")
    return out


def other_causes(nuisances: Nuisances, found: Estimate) -> list[str]:
    """A sentence where what the fit needs looks like one cause that is not among the nuisances.

    Three of the setup's numbers off at once are rarer than one unforeseen fault; and what lags or
    loses rows makes wrenches late.
    """
    late = next(g for g in nuisances.groups if g.name == "delay")
    unusual = "delay" in found.off and np.any(
        np.abs(found.nuisances[late.place]) > _UNUSUAL * late.tolerance
    )
    if len(found.off) < _CROWD and not unusual:
        return []
    what = "a delay so large" if unusual else f"{len(found.off)} of the setup's numbers off at once"
    return [
        f"{what} may be one other cause that no number of the setup stands for: frames that were"
        " lost, a filter, or plates that move; k, c and friction may be off by more than their"
        " intervals. To tell, press the bare tool on something rigid, and reverse the motion under"
        " load"
    ]


def corrections(nuisances: Nuisances, found: Estimate) -> list[str]:
    """What the data found wrong with the setup, and was allowed for."""
    out = []
    for g in nuisances.groups:
        if found.told is None or g.name not in found.off:
            continue
        others = found.told.instead.get(g.name, [])
        if sum(found.told.probability.get(n, 0.0) for n in (g.name, *others)) < _LIKELY:
            continue
        said = sentence(g, found.nuisances[g.place], found.nuisance_std[g.place])
        if others:
            said += f" (or {', '.join(f'the {WORDS[n][0]}' for n in others)}: the data do not tell)"
        out.append(said)
    return out


def hints(nuisances: Nuisances, found: Estimate) -> list[str]:
    """What may be off, by a hint of the data that is no proof: one sentence for all of it."""
    groups = {g.name: g for g in nuisances.groups}
    hinted = {} if found.told is None else found.told.hinted
    if not hinted:
        return []
    named = [f"the {sentence(groups[n], z, std)}" for n, (z, std) in hinted.items()]
    which = "" if len(named) == 1 else ", and this test does not tell which of them"
    motions = list(dict.fromkeys(WORDS[n][2] for n in hinted))
    declare = ", ".join(f"tolerances.{n}" for n in hinted)
    return [
        f"the data hint that the setup may be off{which}: {'; '.join(named)}. Intervals are widened"
        f" to hold both cases; declare {declare}, or to tell them apart {', and '.join(motions)}"
    ]


def nuisance_notes(nuisances: Nuisances, found: Estimate) -> dict[str, Any]:
    """What was found of the setup's own numbers, and how well the data told them."""
    out = {}
    late = next(g for g in nuisances.groups if g.name == "delay")
    probability = {} if found.told is None else found.told.probability
    for g in nuisances.groups:
        if not np.any(g.tolerance > 0):
            continue
        out[g.name] = {
            "value": found.nuisances[g.place].tolist(),
            "std": found.nuisance_std[g.place].tolist(),
            "tolerance": [t if np.isfinite(t) else None for t in g.tolerance.tolist()],
            "probability_off": 1.0 if g.declared else probability.get(g.name, 0.0),
        }
    return {"nuisances": out, "delay_std": float(found.nuisance_std[late.place][0])}
