"""From recorded rollouts to the numbers of a contact's law, judged on rollouts kept aside."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from stiction._errors import InputError
from stiction.identify.result import Identification, parameter
from stiction.identify.rollouts.engine import Engine, make_lanes, roll_out
from stiction.identify.rollouts.errors import rollout_errors
from stiction.identify.rollouts.fit import Fit, fit
from stiction.identify.rollouts.flight import (
    LEAST_ROWS,
    Start,
    first_touch,
    fit_start,
    scaled,
)
from stiction.identify.rollouts.parameters import PARAMETERS, law_values
from stiction.identify.rollouts.record import Rollouts, lengths_of, record
from stiction.identify.rollouts.setup import RolloutSetup
from stiction.identify.tables import Table
from stiction.mechanism import Mechanism
from stiction.surfaces import Contacts

_LEAST_ROLLOUTS = 2  # for a standard error
_ROUGH = 10  # times the usual noise: no free motion
_EXACT = 1e-9  # m: of a motion that was simulated


def identify_rollouts(
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
    return identify_prepared(prepare(tables, setup, folder, tell=tell), setup, tell=tell)


def identify_prepared(
    prepared: "Prepared", setup: RolloutSetup, *, tell: Callable[[str], None] = lambda text: None
) -> Identification:
    """The same from rollouts whose starts are known."""
    theta = law_values(prepared.engine.law, setup.wanted)
    aside = prepared.aside
    tell("rolling out")
    # No row is simulated that the fit does not look at.
    rows = int(prepared.fitted.any(axis=0).nonzero()[0].max()) + 1
    found = fit(
        prepared.engine,
        prepared.lanes.part(~aside, rows),
        theta,
        compared=prepared.fitted[~aside, :rows],
        since_touch=prepared.since_touch[~aside, :rows],
        loss=setup.loss,
        tell=tell,
    )
    tell("judging the fit")
    return _identification(prepared, setup, found)


class Prepared:
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

    def __init__(
        self,
        engine: Engine,
        rollouts: Rollouts,
        start: Start,
        scale: float,
        left_out: tuple[str, ...],
        setup: RolloutSetup,
    ):
        self.engine, self.rollouts, self.start = engine, rollouts, start
        self.scale, self.left_out = scale, left_out
        self.lanes = make_lanes(rollouts, engine.mechanism, start.q, start.v)
        rows = rollouts.q.shape[1]
        self.since_touch = np.arange(rows) - start.touch[:, None]
        horizon = np.inf if setup.horizon is None else setup.horizon * rollouts.rate
        self.fitted = rollouts.seen & (self.since_touch >= 0) & (self.since_touch <= horizon)
        order = np.random.default_rng(setup.seed).permutation(len(rollouts))
        self.aside = np.zeros(len(rollouts), dtype=bool)
        self.aside[order[: round(setup.kept_aside * len(rollouts))]] = True


def prepare(
    tables: Sequence[Table],
    setup: RolloutSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> Prepared:
    """Read the rollouts, scale them, and find where they begin and touch."""
    from stiction.scenes.run import build_scene, build_solver

    scene = build_scene(setup.scenario, folder)
    mechanism, contacts, law = scene.mechanism, scene.contacts, scene.law
    if contacts is None or law is None:
        raise InputError("nothing can touch: set `contact.points`, or give the model a plane")
    rollouts = record(tables, setup, mechanism)
    names = rollouts.names
    tell("finding the flights")
    unknown_scale = setup.scale == "gravity"
    if unknown_scale and not (lengths_of(mechanism).any() and np.any(mechanism.gravity)):
        raise InputError("`scale` 'gravity' needs bodies that move freely and fall; give a number")
    scale = 1.0 if setup.scale == "gravity" else setup.scale
    rollouts, start = _flights(
        scaled(rollouts, mechanism, scale), mechanism, contacts, setup, fall=unknown_scale
    )
    if unknown_scale:
        scale = 1 / start.fall
        if not scale > 0:
            raise InputError("no free fall in the log: `scale` cannot be read; give a number")
        rollouts, start = _flights(
            scaled(rollouts, mechanism, scale), mechanism, contacts, setup, fall=False
        )
    left_out = tuple(n for n in names if n not in rollouts.names)
    engine = Engine(
        mechanism=mechanism,
        contacts=contacts,
        law=law,
        solver=build_solver(setup.solver, law),
        rate=jnp.asarray(rollouts.rate),
        max_events=setup.contact.max_events,
        wanted=tuple(setup.wanted),
    )
    return Prepared(engine, rollouts, start, scale, left_out, setup)


def _flights(
    rollouts: Rollouts,
    mechanism: Mechanism,
    contacts: Contacts,
    setup: RolloutSetup,
    *,
    fall: bool,
) -> tuple[Rollouts, Start]:
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


def _identification(prepared: Prepared, setup: RolloutSetup, found: Fit) -> Identification:
    std = np.sqrt(np.diag(found.covariance))
    aside, rollouts, start = prepared.aside, prepared.rollouts, prepared.start
    mechanism = prepared.engine.mechanism
    simulated = roll_out(prepared.engine, prepared.lanes, found.values)
    compared = rollouts.seen & np.isfinite(simulated).all(axis=-1)
    errors = rollout_errors(mechanism, simulated, rollouts.q, compared)
    rms = float(np.sqrt(np.nanmean(found.size**2)))
    residuals = {"distance_rms": rms, "distance_median": float(np.nanmedian(found.size))}
    notes: dict[str, Any] = {
        "rollouts": {
            "fitted": int((~aside).sum()),
            "kept_aside": int(aside.sum()),
            "left_out": len(prepared.left_out),
        },
        "flight_noise_m": float(np.median(start.noise)),
        "length_scale": prepared.scale,
        "rounds": found.rounds,
    }
    for name, which in (("fitted", ~aside), ("kept_aside", aside)):
        if which.any():
            notes[f"errors_{name}"] = errors.part(which).summary()
    return Identification(
        parameters={
            n: parameter(x, s, PARAMETERS[n].unit, setup.confidence)
            for n, x, s in zip(setup.wanted, found.values, std, strict=True)
        },
        covariance=found.covariance,
        residual_rms=rms,
        residuals=residuals,
        condition=found.condition,
        warnings=_warnings(prepared, setup, found, std),
        method=f"rollouts by the {type(prepared.engine.law).__name__.lower()} engine",
        confidence=setup.confidence,
        notes=notes,
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


def _warnings(prepared: Prepared, setup: RolloutSetup, found: Fit, std: np.ndarray) -> list[str]:
    warnings = []
    if prepared.left_out:
        warnings.append(
            f"{len(prepared.left_out)} rollouts were left out: they do not begin in free motion, or"
            f" never touch (the first: {prepared.left_out[0]})"
        )
    if found.early.any():
        warnings.append(
            f"{int(found.early.sum())} of {len(found.early)} fitted rollouts ended early; more"
            " `solver.max_steps` or `contact.max_events`, or contact.law = 'stepping', may help"
        )
    for name, value, s in zip(setup.wanted, found.values, std, strict=True):
        bounds = PARAMETERS[name]
        if not np.isfinite(s):
            warnings.append(f"{name}: not identifiable, no rollout depends on it")
        elif value in (bounds.lower, bounds.upper):
            warnings.append(f"{name}: at its bound, {value:g}")
    return warnings
