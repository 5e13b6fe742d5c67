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
    least_gaps,
    scaled,
)
from stiction.identify.kinds.rollouts.parameters import PARAMETERS, law_values, reach
from stiction.identify.kinds.rollouts.record import Rollouts, lengths_of, record, unobserved_turns
from stiction.identify.kinds.rollouts.rest import Rest, at_rest, levelled, upwards
from stiction.identify.kinds.rollouts.setup import RolloutSetup
from stiction.identify.result import Identification, Parameter, parameters, quantile
from stiction.mechanism import Mechanism, add_velocity
from stiction.scenes.scenario import Scenario
from stiction.surfaces import Contacts
from stiction.tables import Table

_LEAST_ROLLOUTS = 2  # for a standard error
_ROUGH, _TOO_ROUGH = 3, 5  # times the usual noise: no free motion at first; none at all
_CUTS = 4  # times that a third of a flight is cut off, to find the part that is free
_FREE_ROWS = 6  # that must be left of it
_POOR = 0.2  # relative standard error above which a number is called poorly told
_UNEXCITED: dict[str, str] = dict.fromkeys(
    ("mu", "mu_static", "mu_dynamic"),
    "friction hardly ever reached its limit, as bodies hardly slid",
)
_EXACT = 1e-9  # m: of a motion that was simulated


@dataclass(frozen=True)
class RolloutProblem:
    """Rollouts that begin in flight, their starts, and the engine that is to follow them."""

    engine: RolloutEngine  # what carries a rollout out
    rollouts: Rollouts  # in true lengths
    start: FlightStart  # where they begin
    lanes: Lanes  # both, ready to be compared
    since_touch: Int[np.ndarray, "n rows"]  # rows since the first touch
    # rows that a fit looks at: from the first touch to the horizon
    fitted: Bool[np.ndarray, "n rows"]
    aside: Bool[np.ndarray, " n"]  # rollouts that only judge the fit
    scale: float  # true lengths for each recorded one
    rest: Rest  # how bodies come to rest, and what was done about it
    corrected: list[str]  # the same in words
    left_out: tuple[str, ...]  # names of rollouts that do not begin in free motion, or never touch


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
    prior = [] if problem.engine.up is None else [max(problem.rest.height_std, _EXACT)]
    found = fit(
        problem.engine,
        problem.lanes.part(chosen, rows),
        np.append(law_values(problem.engine.law, setup.wanted), np.zeros(len(prior))),
        compared=problem.fitted[chosen, :rows],
        since_touch=problem.since_touch[chosen, :rows],
        loss=setup.loss,
        prior=np.append(np.full(len(setup.wanted), np.inf), prior),
        spin=setup.spin,
        half_width=quantile(setup.confidence),
        tell=tell,
    )
    tell("judging the fit")
    return _identification(problem, setup, found)


def validate(
    tables: Sequence[Table], setup: RolloutSetup, folder: Path, found: Identification
) -> dict[str, float]:
    """How well other rollouts are foretold, to their ends."""
    theta = np.array([p.value for p in found.parameters.values()])
    problem = prepare(tables, setup.model_copy(update={"kept_aside": 0.0}), folder)
    lift = [] if problem.engine.up is None else [0.0]
    simulated = problem.engine.simulate(np.append(theta, lift), problem.lanes)
    compared = problem.rollouts.seen & np.isfinite(simulated).all(axis=-1)
    mechanism = problem.engine.mechanism
    return rollout_errors(mechanism, simulated, problem.rollouts.q, compared).summary()


def prepare(
    tables: Sequence[Table],
    setup: RolloutSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> RolloutProblem:
    """Read the rollouts, scale them, and find where they begin and touch."""
    from stiction.scenes import Scene

    scene = Scene(_with_geoms(setup, folder), folder).as_tree()
    mechanism, contacts, law = scene.mechanism, scene.contacts, scene.law
    if not isinstance(contacts, Contacts) or law is None:
        raise InputError("nothing can touch: set `contact.points`, or give the model a plane")
    recorded = record(tables, setup, mechanism)
    tell("finding the flights")
    by_gravity = setup.scale == "gravity"
    if by_gravity and not (lengths_of(mechanism).any() and np.any(mechanism.gravity)):
        raise InputError("`scale` 'gravity' needs bodies that move freely and fall; give a number")
    scale = 1.0 if setup.scale == "gravity" else setup.scale
    if by_gravity:
        _, start = _flights(recorded, mechanism, contacts, setup, fall=True)
        scale = 1 / start.fall
        if not scale > 0:
            raise InputError("no free fall in the log: `scale` cannot be read; give a number")
    rollouts = scaled(recorded, mechanism, scale)
    rest, corrected, up = at_rest(rollouts, mechanism, contacts), [], upwards(rollouts, mechanism)
    if setup.level:
        rollouts, corrected = levelled(rollouts, mechanism, rest, up)
    rollouts, start = _flights(rollouts, mechanism, contacts, setup, fall=False)
    engine = RolloutEngine(
        mechanism=mechanism,
        contacts=contacts,
        law=law,
        solver=scene.solver,
        rate=jnp.asarray(rollouts.rate),
        max_events=setup.contact.max_events,
        wanted=tuple(setup.wanted),
        up=None if up is None or not setup.level else jnp.asarray(up),
        unobserved=tuple(unobserved_turns(setup, mechanism).tolist()),
    )
    _check_unseen(engine, rollouts)
    since_touch = np.arange(rollouts.q.shape[1]) - start.touch[:, None]
    horizon = np.inf if setup.horizon is None else setup.horizon * rollouts.rate
    order = np.random.default_rng(setup.seed).permutation(len(rollouts))
    return RolloutProblem(
        engine=engine,
        rollouts=rollouts,
        start=start,
        lanes=make_lanes(rollouts, mechanism, start.q, start.v, engine.unobserved),
        since_touch=since_touch,
        fitted=rollouts.seen & (since_touch >= 0) & (since_touch <= horizon),
        aside=np.isin(np.arange(len(order)), order[: round(setup.kept_aside * len(order))]),
        scale=scale,
        rest=rest,
        corrected=corrected,
        left_out=tuple(n for n in recorded.names if n not in rollouts.names),
    )


def _check_unseen(engine: RolloutEngine, rollouts: Rollouts) -> None:
    """Refuse orientations left open where what touches depends on them."""
    if not engine.unobserved:
        return
    turn = np.zeros((len(engine.unobserved), engine.mechanism.nv))
    turn[np.arange(len(turn)), list(engine.unobserved)] = 0.7
    first = jnp.asarray(rollouts.q[0, 0])
    moved = [add_velocity(engine.mechanism, first, jnp.asarray(t)) for t in turn]
    gaps = least_gaps(
        engine.mechanism, engine.contacts, jnp.stack([first, *moved]), jnp.zeros(1 + len(moved))
    )
    if float(np.ptp(np.asarray(gaps))) > _EXACT:
        raise InputError(
            "`coordinates` must name the columns of an orientation on which it depends what"
            " touches; only that of a ball about its middle may be left open: give `markers`, a"
            " `gyro`, or the columns"
        )


def _with_geoms(setup: RolloutSetup, folder: Path) -> Scenario:
    """The scenario; a body among the points that may touch stands for all its geoms."""
    from stiction.scenes import Scene

    points = setup.contact.points
    if not points:
        return setup.scenario
    spec = Scene(setup.scenario, folder).spec()
    own = {x.name for x in [*spec.geoms, *spec.sites]}
    named: list[str] = []
    for point in points:
        body = None if point in own else spec.body(point)
        names = [point] if body is None else [g.name for g in body.geoms]
        if not all(names) or not names:
            raise InputError(
                f"`contact.points` must name geoms and sites, got the body '{point}', whose geoms"
                " have no names; name them in the model"
            )
        named += names
    contact = setup.contact.model_copy(update={"points": named})
    return setup.model_copy(update={"contact": contact}).scenario


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
    usual = float(np.median(start.noise))
    for _ in range(0 if fall else _CUTS):
        # What was held, carried or pushed at first may be free later.
        cut = np.where(start.noise > max(_ROUGH * usual, _EXACT), -(-start.touch // 3), 0)
        cut = np.where(start.touch - cut >= _FREE_ROWS, cut, 0)
        again = cut > 0
        if not again.any():
            break
        rollouts, touch = rollouts.later(cut), start.touch - cut
        part = fit_start(rollouts.part(again), mechanism, touch[again])
        for new, old in zip(part[:4], start[:4], strict=True):
            old[again] = new
    free = start.noise <= max(_TOO_ROUGH * usual, _EXACT)
    return rollouts.part(free), start.part(free)


def _identification(
    problem: RolloutProblem, setup: RolloutSetup, found: RolloutFit
) -> Identification:
    aside, rollouts, start = problem.aside, problem.rollouts, problem.start
    mechanism = problem.engine.mechanism
    # Spins that were not seen are known of the rollouts that were fitted alone.
    own = np.zeros((len(aside), found.own.shape[1]))
    own[~aside] = found.own
    simulated = problem.engine.simulate(found.values, problem.lanes, own if own.shape[1] else None)
    compared = rollouts.seen & np.isfinite(simulated).all(axis=-1)
    errors = rollout_errors(mechanism, simulated, rollouts.q, compared)
    rms = float(np.sqrt(np.nanmean(found.size**2)))
    units = {n: PARAMETERS[n].unit for n in setup.wanted}
    wanted = len(units)
    covariance = found.covariance[:wanted, :wanted].copy()
    estimated = parameters(units, found.values[:wanted], covariance, setup.confidence)
    laplace = estimated
    estimated, hardly = _as_told(estimated, found, problem.engine, quantile(setup.confidence))
    for i, (name, p) in enumerate(estimated.items()):
        if p.std != laplace[name].std:  # draws are to be as wide as the interval
            covariance[i, :], covariance[:, i] = 0.0, 0.0
            covariance[i, i] = np.inf if p.std is None else p.std**2
    residuals = {"distance_rms": rms, "distance_median": float(np.nanmedian(found.size))}
    notes: dict[str, Any] = {
        "rollouts": {
            "fitted": int((~aside).sum()),
            "kept_aside": int(aside.sum()),
            "left_out": len(problem.left_out),
        },
        "flight_noise_m": float(np.median(start.noise)),
        "length_scale": problem.scale,
        "rest": problem.rest._asdict(),
        "rounds": found.rounds,
    }
    for name, which in (("fitted", ~aside), ("kept_aside", aside)):
        if which.any():
            notes[f"errors_{name}"] = errors.part(which).summary()
    return Identification(
        parameters=estimated,
        covariance=covariance,
        residual_rms=rms,
        residuals=residuals,
        condition=found.condition,
        warnings=hardly + _warnings(problem, estimated, found),
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


def _as_told(
    estimated: dict[str, Parameter], found: RolloutFit, engine: RolloutEngine, half_width: float
) -> tuple[dict[str, Parameter], list[str]]:
    """The parameters, intervals widened to all values that follow as well; and what to say."""
    out, said = {}, []
    low, high = reach(engine.wanted, law_values(engine.law, list(engine.wanted)))
    for i, (name, p) in enumerate(estimated.items()):
        out[name] = p
        a, b = found.as_good[i]
        if p.std is None or p.interval is None or (a <= low[i] and b >= high[i]):
            out[name] = Parameter(None, None, None, p.unit)
            said.append(f"{name}: not identifiable, {_UNEXCITED.get(name, 'no rollout tells it')}")
            continue
        # Where the interval goes beyond what is looked at, the values that follow say more.
        ends = (
            min(a, p.interval[0]) if p.interval[0] > low[i] else a,
            max(b, p.interval[1]) if p.interval[1] < high[i] else b,
        )
        ends = float(ends[0]), float(ends[1])
        std = p.std if ends == p.interval else (ends[1] - ends[0]) / (2 * half_width)
        out[name] = Parameter(p.value, std, ends, p.unit)
        if std <= _POOR * abs(p.value or 0.0):
            continue
        more = " or more" if b >= high[i] else ""
        said.append(
            f"{name}: poorly told, values from {ends[0]:.3g} to {ends[1]:.3g}{more} follow the"
            f" recordings as well: {_UNEXCITED.get(name, 'few rollouts depend on it')}"
        )
    return out, said


def _warnings(
    problem: RolloutProblem, estimated: dict[str, Parameter], found: RolloutFit
) -> list[str]:
    warnings = []
    if problem.left_out:
        warnings.append(
            f"{len(problem.left_out)} rollouts were left out: they do not begin in free motion, or"
            f" never touch (the first: {problem.left_out[0]})"
        )
    warnings += problem.corrected
    if not found.settled:
        warnings.append("the fit did not settle; treat the values with care")
    if found.early.any():
        warnings.append(
            f"{int(found.early.sum())} of {len(found.early)} fitted rollouts ended early; more"
            " `solver.max_steps` or `contact.max_events`, or contact.law = 'stepping', may help"
        )
    for name, p in estimated.items():
        if p.value in (PARAMETERS[name].lower, PARAMETERS[name].upper):
            warnings.append(f"{name}: at its bound, {p.value:g}")
    return warnings
