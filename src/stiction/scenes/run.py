"""Carry a scenario out."""

from dataclasses import dataclass
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array
from stiction._errors import InputError, unknown
from stiction.engines import HarmonicControl, Hybrid, Solver, Stepping, Trajectory, simulate
from stiction.engines.runge_kutta import TABLEAUS
from stiction.mechanism import Mechanism, load_mechanism
from stiction.mechanism.tree import COORDINATES, FREEDOMS
from stiction.scenes.contact import build_contacts, build_law, build_stepping
from stiction.scenes.scenario import Scenario
from stiction.surfaces import Contacts


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
