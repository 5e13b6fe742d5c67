"""Carry a scenario out."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array
from stiction._errors import InputError, unknown
from stiction.engines import (
    Event,
    HarmonicControl,
    Hybrid,
    Solver,
    Stepping,
    Trajectory,
    events_of,
    simulate,
)
from stiction.engines.runge_kutta import TABLEAUS
from stiction.mechanism import Mechanism, load_mechanism
from stiction.mechanism.tree import COORDINATES, FREEDOMS
from stiction.scenes.contact import build_contacts, build_law, build_stepping
from stiction.scenes.scenario import Scenario
from stiction.surfaces import Contacts

_MOST_TOLD = 20  # suspicious events of a run for which all possible motions are looked for


@dataclass(frozen=True)
class Run:
    """A scenario and what came of it."""

    scenario: Scenario
    mechanism: Mechanism
    contacts: Contacts | None  # None in free motion
    trajectory: Trajectory

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Names of the contacts, in order; none in free motion."""
        return () if self.contacts is None else self.contacts.names

    @cached_property
    def events(self) -> list[Event]:
        """The events, in order; those of which other motions may have come say which."""
        events = events_of(self.trajectory, self.contact_names)
        log, contacts = self.trajectory.events, self.contacts
        if log is None or contacts is None:
            return events
        told: dict[int, str] = {}
        for i in sorted({e.index for e in events if log.suspicious[e.index]})[:_MOST_TOLD]:
            v = log.v_before[i] if log.tangential[i] else log.v_after[i]
            told[i] = self._possible(contacts, log.q[i], v, float(log.time[i]))
        return [
            replace(e, note=f"{e.note}; {told[e.index]}") if e.index in told else e for e in events
        ]

    def _possible(self, contacts: Contacts, q: np.ndarray, v: np.ndarray, time: float) -> str:
        """Which motions rigid bodies allow at a state, in words."""
        from stiction.motions import motions_of_mechanism

        law = build_law(self.scenario.contact, contacts)
        control = build_control(self.scenario, self.mechanism)
        no_modes = jnp.zeros(contacts.count, int)
        try:
            answer = motions_of_mechanism(
                self.mechanism,
                contacts,
                jnp.asarray(q),
                jnp.asarray(v),
                time=time,
                command=control(jnp.asarray(time), jnp.asarray(q), jnp.asarray(v), no_modes),
                mu_static=law.mu_static,
                mu_dynamic=law.mu_dynamic,
            )
        except InputError as error:  # too many contacts
            return str(error)
        modes = [
            ", ".join(f"{n} {m}" for n, m in zip(contacts.names, motion.modes, strict=True))
            for motion in answer.motions
        ]
        return f"{answer.verdict}: {' | '.join(modes) or 'no motion is possible'}"


def run_scenario(scenario: Scenario, folder: Path) -> Run:
    """Simulate a scenario whose files are relative to `folder`."""
    mechanism = build_mechanism(scenario, folder)
    q, v = initial_state(scenario, mechanism)
    contacts = build_contacts(scenario, mechanism, folder)
    solver = scenario.solver
    if contacts is not None and solver.method not in TABLEAUS:
        raise InputError(
            f"`solver.method` must be one of {', '.join(TABLEAUS)} where things touch,"
            f" got {solver.method}"
        )
    trajectory = simulate(
        mechanism,
        q,
        v,
        until=scenario.until,
        contacts=contacts,
        law=_law(scenario, contacts),
        control=build_control(scenario, mechanism),
        samples=scenario.samples,
        solver=Solver(solver.rtol, solver.atol, solver.method, solver.max_steps),
        max_events=scenario.contact.max_events,
        throw=False,
    )
    return Run(scenario, mechanism, contacts, trajectory.to_numpy())


def _law(scenario: Scenario, contacts: Contacts | None) -> Hybrid | Stepping | None:
    if contacts is None:
        return None
    if scenario.contact.law == "stepping":
        return build_stepping(scenario, contacts)
    return build_law(scenario.contact, contacts)


def build_mechanism(scenario: Scenario, folder: Path) -> Mechanism:
    """The mechanism that a scenario names."""
    fields = scenario.mechanism
    source = model_source(scenario, folder)
    return load_mechanism(source, base=fields.base, edits=fields.edits)


def model_source(scenario: Scenario, folder: Path) -> Path | str:
    """The model file of a scenario, or the MJCF text of a human of the size that it asks for."""
    fields = scenario.mechanism
    if fields.human is None:
        return folder / str(fields.file)
    from stiction.biped.human import human

    return human(height=fields.human.height, mass=fields.human.mass, sex=fields.human.sex)


def initial_state(scenario: Scenario, mechanism: Mechanism) -> tuple[Array, Array]:
    """q and v at time zero."""
    start, tree = scenario.start, mechanism.tree
    q, v = np.array(mechanism.q_reference), np.zeros(mechanism.nv)
    if start.keyframe is not None:
        frames = {name: (q, v) for name, q, v in mechanism.keyframes}
        if start.keyframe not in frames:
            raise unknown("keyframe", start.keyframe, frames)
        q, v = (np.array(x) for x in frames[start.keyframe])
    q = _fill("start.q", q, start.q, mechanism, tree.q_address, COORDINATES)
    v = _fill("start.v", v, start.v, mechanism, tree.v_address, FREEDOMS)
    return jnp.asarray(q), jnp.asarray(v)


def _fill(field: str, values, given, mechanism: Mechanism, address, sizes):
    """Overwrite `values` by what a scenario gives: all of it, or some joints by name."""
    if given is None:
        return values
    tree = mechanism.tree
    if isinstance(given, list):
        if len(given) != len(values):
            names = tree.coordinate_names if field.endswith("q") else tree.freedom_names
            raise InputError(
                f"`{field}` must have {len(values)} entries ({', '.join(names[:8])}"
                f"{', …' if len(names) > 8 else ''}), got {len(given)}"
            )
        return np.array(given, float)
    for name, value in given.items():
        joint = mechanism.joint(name)
        size = sizes[tree.joint_types[joint]]
        entries = np.atleast_1d(np.array(value, float))
        if entries.size != size:
            raise InputError(f"`{field}.{name}` must have {size} entries, got {entries.size}")
        values[address[joint] : address[joint] + size] = entries
    return values


def build_control(scenario: Scenario, mechanism: Mechanism) -> HarmonicControl:
    """The commands of all actuators."""
    table = np.zeros((4, mechanism.nu))
    for name, fields in scenario.control.items():
        i = mechanism.actuator(name)
        table[:, i] = fields.offset, fields.amplitude, fields.frequency, fields.phase
    return HarmonicControl(*(jnp.asarray(row) for row in table))
