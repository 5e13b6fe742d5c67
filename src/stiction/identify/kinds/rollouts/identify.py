"""From recorded rollouts to the numbers of a contact's law, judged on rollouts kept aside."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Bool, Int
from stiction._base.errors import InputError
from stiction.identify.kinds.rollouts.engine import Lanes, RolloutEngine, make_lanes
from stiction.identify.kinds.rollouts.errors import rollout_errors
from stiction.identify.kinds.rollouts.fit import RolloutFit, fit
from stiction.identify.kinds.rollouts.flight import (
    LEAST_ROWS,
    FlightStart,
    first_touch,
    fit_start,
    resting_gaps,
    scaled,
)
from stiction.identify.kinds.rollouts.parameters import PARAMETERS, law_values
from stiction.identify.kinds.rollouts.record import Rollouts, lengths_of, record
from stiction.identify.kinds.rollouts.setup import RolloutSetup
from stiction.identify.result import Identification, Parameter, parameters
from stiction.mechanism import Mechanism
from stiction.surfaces import Contacts
from stiction.tables import Table

_LEAST_ROLLOUTS = 2  # for a standard error
_ROUGH = 10  # times the usual noise: no free motion
_RESTS_AT = 5e-4  # m off the ground that is worth a word
_PLANAR = 3  # degrees of freedom
_EXACT = 1e-9  # m: of a motion that was simulated


@dataclass(frozen=True)
class RolloutProblem:
    """Rollouts that begin in flight, their starts, and the engine that is to follow them.

    Attributes:
        engine: What carries a rollout out.
        rollouts: In true lengths.
        start: Where they begin.
        lanes: Both, ready to be compared.
        since_touch: Rows since the first touch.
        fitted: Rows that a fit looks at: from the first touch to the horizon.
        aside: Rollouts that only judge the fit.
        scale: True lengths for each recorded one.
        left_out: Names of rollouts that do not begin in free motion, or never touch.
    """

    engine: RolloutEngine
    rollouts: Rollouts
    start: FlightStart
    lanes: Lanes
    since_touch: Int[np.ndarray, "n rows"]
    fitted: Bool[np.ndarray, "n rows"]
    aside: Bool[np.ndarray, " n"]
    scale: float
    left_out: tuple[str, ...]


def identify(
    tables: Sequence[Table],
    setup: RolloutSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> Identification:
    """The wanted numbers of a contact's law, from motion alone.

    Args:
        tables: One rollout each, or many in one.
        setup: Mechanism, contact, columns.
        folder: The setup's, for the mechanism's file.
        tell: Called with what is being done.
    """
    problem = prepare(tables, setup, folder, tell=tell)
    tell("rolling out")
    # No row is simulated that the fit does not look at.
    rows = int(np.flatnonzero(problem.fitted.any(axis=0)).max()) + 1
    chosen = ~problem.aside
    found = fit(
        problem.engine,
        problem.lanes.part(chosen, rows),
        law_values(problem.engine.law, setup.wanted),
        compared=problem.fitted[chosen, :rows],
        since_touch=problem.since_touch[chosen, :rows],
        loss=setup.loss,
        prior=np.full(len(setup.wanted), np.inf),
        tell=tell,
    )
    tell("judging the fit")
    return _identification(problem, setup, found)


def prepare(
    tables: Sequence[Table],
    setup: RolloutSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> RolloutProblem:
    """Read the rollouts, scale them, and find where they begin and touch."""
    from stiction.scenes import Scene

    scene = Scene(setup.scenario, folder)
    mechanism, contacts, law = scene.mechanism, scene.contacts, scene.law
    if contacts is None or law is None:
        raise InputError("nothing can touch: set `contact.points`, or give the model a plane")
    recorded = record(tables, setup, mechanism)
    tell("finding the flights")
    by_gravity = setup.scale == "gravity"
    if by_gravity and not (lengths_of(mechanism).any() and np.any(mechanism.gravity)):
        raise InputError("`scale` 'gravity' needs bodies that move freely and fall; give a number")
    scale = 1.0 if setup.scale == "gravity" else setup.scale
    rollouts, start = _flights(
        scaled(recorded, mechanism, scale), mechanism, contacts, setup, fall=by_gravity
    )
    if by_gravity:
        scale = 1 / start.fall
        if not scale > 0:
            raise InputError("no free fall in the log: `scale` cannot be read; give a number")
        rollouts, start = _flights(
            scaled(rollouts, mechanism, scale), mechanism, contacts, setup, fall=False
        )
    engine = RolloutEngine(
        mechanism=mechanism,
        contacts=contacts,
        law=law,
        solver=scene.solver,
        rate=jnp.asarray(rollouts.rate),
        max_events=setup.contact.max_events,
        wanted=tuple(setup.wanted),
    )
    since_touch = np.arange(rollouts.q.shape[1]) - start.touch[:, None]
    horizon = np.inf if setup.horizon is None else setup.horizon * rollouts.rate
    order = np.random.default_rng(setup.seed).permutation(len(rollouts))
    return RolloutProblem(
        engine=engine,
        rollouts=rollouts,
        start=start,
        lanes=make_lanes(rollouts, mechanism, start.q, start.v),
        since_touch=since_touch,
        fitted=rollouts.seen & (since_touch >= 0) & (since_touch <= horizon),
        aside=np.isin(np.arange(len(order)), order[: round(setup.kept_aside * len(order))]),
        scale=scale,
        left_out=tuple(n for n in recorded.names if n not in rollouts.names),
    )


def _flights(
    rollouts: Rollouts,
    mechanism: Mechanism,
    contacts: Contacts,
    setup: RolloutSetup,
    *,
    fall: bool,
) -> tuple[Rollouts, FlightStart]:
    """The rollouts that begin in free motion and then touch, and where they begin."""
    touch = first_touch(rollouts, mechanism, contacts, setup.clearance)
    kept = (touch >= LEAST_ROWS) & (touch < rollouts.seen.sum(axis=1))
    needed = _LEAST_ROLLOUTS / (1 - setup.kept_aside)
    if kept.sum() < needed:
        raise InputError(
            f"at least {int(np.ceil(needed))} rollouts must begin with {LEAST_ROWS} rows of free"
            f" motion (gaps above `clearance` = {setup.clearance:g} m) and then touch, got"
            f" {int(kept.sum())} of {len(rollouts)}; check units, `clearance` and the ground"
            f" (the first gap below it: row {int(touch[0]) + 1} of '{rollouts.names[0]}')"
        )
    rollouts, touch = rollouts.part(kept), touch[kept]
    start = fit_start(rollouts, mechanism, touch, fall=fall)
    # What does not move as free bodies do was held, or touched something else.
    free = start.noise <= max(_ROUGH * float(np.median(start.noise)), _EXACT)
    rollouts = rollouts.part(free)
    if fall and not free.all():  # they had a say in how all fall
        return rollouts, fit_start(rollouts, mechanism, touch[free], fall=True)
    return rollouts, start.part(free)


def _identification(
    problem: RolloutProblem, setup: RolloutSetup, found: RolloutFit
) -> Identification:
    aside, rollouts, start = problem.aside, problem.rollouts, problem.start
    mechanism = problem.engine.mechanism
    simulated = problem.engine.paths(found.values, problem.lanes)
    compared = rollouts.seen & np.isfinite(simulated).all(axis=-1)
    errors = rollout_errors(mechanism, simulated, rollouts.q, compared)
    rms = float(np.sqrt(np.nanmean(found.size**2)))
    units = {n: PARAMETERS[n].unit for n in setup.wanted}
    estimated = parameters(units, found.values, found.covariance, setup.confidence)
    residuals = {"distance_rms": rms, "distance_median": float(np.nanmedian(found.size))}
    notes: dict[str, Any] = {
        "rollouts": {
            "fitted": int((~aside).sum()),
            "kept_aside": int(aside.sum()),
            "left_out": len(problem.left_out),
        },
        "flight_noise_m": float(np.median(start.noise)),
        "length_scale": problem.scale,
        "rounds": found.rounds,
    }
    for name, which in (("fitted", ~aside), ("kept_aside", aside)):
        if which.any():
            notes[f"errors_{name}"] = errors.part(which).summary()
    return Identification(
        parameters=estimated,
        covariance=found.covariance,
        residual_rms=rms,
        residuals=residuals,
        condition=found.condition,
        warnings=_warnings(problem, estimated, found),
        method=f"rollouts by the {type(problem.engine.law).__name__.lower()} engine",
        confidence=setup.confidence,
        notes=notes,
        fitted_to=problem,
        curves={
            "rollout.time": np.arange(rollouts.q.shape[1]) / rollouts.rate,
            "rollout.measured": np.where(rollouts.seen[..., None], rollouts.q, np.nan),
            "rollout.simulated": np.where(compared[..., None], simulated, np.nan),
            "rollout.position_error": errors.position,
            "rollout.rotation_error": errors.rotation,
            "rollout.aside": aside,
            "rollout.names": np.array(rollouts.names),
            "rollout.coordinates": np.array(mechanism.tree.coordinate_names),
            "rollout.is_length": lengths_of(mechanism),
        },
    )


def _warnings(
    problem: RolloutProblem, estimated: dict[str, Parameter], found: RolloutFit
) -> list[str]:
    warnings = []
    if problem.left_out:
        warnings.append(
            f"{len(problem.left_out)} rollouts were left out: they do not begin in free motion, or"
            f" never touch (the first: {problem.left_out[0]})"
        )
    warnings += _rest_warnings(problem)
    if found.early.any():
        warnings.append(
            f"{int(found.early.sum())} of {len(found.early)} fitted rollouts ended early; more"
            " `solver.max_steps` or `contact.max_events`, or contact.law = 'stepping', may help"
        )
    for name, p in estimated.items():
        if p.std is None:
            warnings.append(f"{name}: not identifiable, no rollout depends on it")
        elif p.value in (PARAMETERS[name].lower, PARAMETERS[name].upper):
            warnings.append(f"{name}: at its bound, {p.value:g}")
    return warnings


def _rest_warnings(problem: RolloutProblem) -> list[str]:
    """Bodies that rest above, below or aslant the ground: frames or sizes are off."""
    engine = problem.engine
    gaps = resting_gaps(problem.rollouts, engine.mechanism, engine.contacts)
    if len(gaps) < _LEAST_ROLLOUTS:
        return []
    out = []
    height = float(np.median(gaps[:, 0]))
    if abs(height) > _RESTS_AT:
        out.append(
            f"{len(gaps)} rollouts come to rest {1e3 * abs(height):.2g} mm"
            f" {'above' if height > 0 else 'below'} the ground: its place, the body's size or"
            " `scale` is off; rebounds are misjudged by as much"
        )
    # What lies on a face touches with several points: two in a plane, three in space.
    count = 2 if engine.mechanism.nv <= _PLANAR else 3
    if gaps.shape[1] >= count:
        aslant = float(np.median(gaps[:, count - 1] - gaps[:, 0]))
        if aslant > _RESTS_AT:
            out.append(
                f"{len(gaps)} rollouts come to rest aslant: one point of the face"
                f" {1e3 * aslant:.2g} mm higher than another; the frame of the poses is turned"
            )
    return out
