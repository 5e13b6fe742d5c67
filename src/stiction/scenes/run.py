"""Carry a scenario out."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import mujoco
import numpy as np

from stiction._arrays import Array
from stiction._errors import InputError, unknown
from stiction.engines import (
    AbstractSwitchingControl,
    Compliant,
    Event,
    HarmonicControl,
    Hybrid,
    PhasedControl,
    Solver,
    Stepping,
    Trajectory,
    default_solver,
    events_of,
    simulate,
)
from stiction.mechanism import Mechanism, load_mechanism
from stiction.mechanism.load import parse_model
from stiction.mechanism.tree import COORDINATES, FREEDOMS
from stiction.scenes.contact import build_contacts, build_law, hybrid_law
from stiction.scenes.reactions import Reactions, reactions
from stiction.scenes.scenario import PhaseFields, Scenario, SolverFields
from stiction.scenes.track import build_track
from stiction.surfaces import Contacts, find_contacts

if TYPE_CHECKING:
    from stiction.agility import JumpControl
    from stiction.motions import Motions

_MOST_TOLD = 20  # suspicious events of a run for which all possible motions are looked for


@dataclass(frozen=True)
class Run:
    """A scenario and what came of it."""

    scenario: Scenario
    mechanism: Mechanism
    contacts: Contacts | None  # None in free motion
    trajectory: Trajectory
    control: Any = None
    folder: Path = Path()  # that files of the scenario are relative to

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

    @cached_property
    def reactions(self) -> Reactions | None:
        """What the ground does to each body; None where a body touches at one point alone."""
        return reactions(self)

    def _possible(self, contacts: Contacts, q: np.ndarray, v: np.ndarray, time: float) -> str:
        """Which motions rigid bodies allow at a state, in words."""
        law = hybrid_law(self.scenario.contact, contacts)
        try:
            answer = motions_at_state(self.mechanism, contacts, law, self.control, q, v, time)
        except InputError as error:  # too many contacts, or a control that remembers
            return str(error)
        modes = [
            ", ".join(f"{n} {m}" for n, m in zip(contacts.names, motion.modes, strict=True))
            for motion in answer.motions
        ]
        return f"{answer.verdict}: {' | '.join(modes) or 'no motion is possible'}"


def motions_at_state(
    mechanism: Mechanism, contacts: Contacts, law: Hybrid, control: Any, q: Any, v: Any, time: float
) -> "Motions":
    """Every motion that rigid bodies allow at a state under a control."""
    from stiction.motions import motions_of_mechanism

    if isinstance(control, AbstractSwitchingControl):
        raise InputError(
            "all motions can be told only where commands do not depend on what was before:"
            " leave `jump` and the phases of `control` out"
        )
    q, v, no_modes = jnp.asarray(q), jnp.asarray(v), jnp.zeros(contacts.count, int)
    return motions_of_mechanism(
        mechanism,
        contacts,
        q,
        v,
        time=time,
        command=control(jnp.asarray(time), q, v, no_modes),
        mu_static=law.mu_static,
        mu_dynamic=law.mu_dynamic,
    )


def run_scenario(scenario: Scenario, folder: Path) -> Run:
    """Simulate a scenario whose files are relative to `folder`."""
    scene = build_scene(scenario, folder)
    trajectory = scene.simulate(scenario.until, scenario.samples).to_numpy()
    return Run(scenario, scene.mechanism, scene.contacts, trajectory, scene.control, folder)


@dataclass(frozen=True)
class Scene:
    """Everything that a scenario names, ready to be simulated."""

    scenario: Scenario
    mechanism: Mechanism
    contacts: Contacts | None  # None in free motion
    law: Hybrid | Stepping | Compliant | None
    control: Any
    q: Array
    v: Array

    def simulate(self, until: float, samples: int) -> Trajectory:
        """The motion from the start, as far as it comes."""
        return simulate(
            self.mechanism,
            self.q,
            self.v,
            until=until,
            contacts=self.contacts,
            law=self.law,
            control=self.control,
            samples=samples,
            solver=build_solver(self.scenario.solver, self.law),
            max_events=self.scenario.contact.max_events,
            throw=False,
        )


def build_scene(scenario: Scenario, folder: Path, *, rigid: bool = False) -> Scene:
    """What a scenario names. Files are relative to `folder`; `rigid` overrules its contact law."""
    mechanism = build_mechanism(scenario, folder)
    q, v = initial_state(scenario, mechanism)
    contacts = build_contacts(scenario, mechanism, folder)
    control: Any = build_control(scenario, mechanism)
    if scenario.jump is not None:
        q, control = build_jump(scenario, mechanism, contacts, q)
    law = None
    if contacts is not None:
        law = hybrid_law(scenario.contact, contacts) if rigid else build_law(scenario, contacts)
    if scenario.track is not None:
        q, v, control = build_track(scenario, folder, mechanism, contacts, law, q, v)
    return Scene(scenario, mechanism, contacts, law, control, q, v)


def build_mechanism(scenario: Scenario, folder: Path) -> Mechanism:
    """The mechanism that a scenario names."""
    fields = scenario.mechanism
    source = model_source(scenario, folder)
    return load_mechanism(source, base=fields.base, edits=fields.edits)


def build_spec(scenario: Scenario, folder: Path) -> mujoco.MjSpec:
    """The same in MuJoCo's own form."""
    fields = scenario.mechanism
    source = model_source(scenario, folder)
    return parse_model(source, base=fields.base, edits=fields.edits)[0]


def model_source(scenario: Scenario, folder: Path) -> Path | str:
    """The model file of a scenario, or the MJCF text of a human of the size that it asks for."""
    fields = scenario.mechanism
    if fields.human is None:
        return folder / str(fields.file)
    from stiction.biped.human import human

    size = fields.human
    return human(height=size.height, mass=size.mass, sex=size.sex, sole=size.sole)


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


def build_jump(
    scenario: Scenario, mechanism: Mechanism, contacts: Contacts | None, q: Array
) -> tuple[Array, "JumpControl"]:
    """The start put on the ground, and the control of the jump."""
    from stiction.agility import check_posture, jump_control, make_stance, place

    fields = scenario.jump
    if contacts is None or fields is None:
        raise InputError(
            "`jump` needs contacts to push with; set `contact.law` and `contact.points`"
        )
    if scenario.control:
        raise InputError("`jump` commands all actuators; leave `control` out")
    if not mechanism.nu:
        raise InputError(
            "`jump` needs actuators, and the mechanism has none; add motors to the model"
        )
    feet = contacts
    if fields.feet is not None:
        feet = find_contacts(mechanism, points=fields.feet, ground=contacts.planes, pairs=False)
    stance = make_stance(mechanism, contacts=feet, point=fields.point)
    q, _ = place(stance, q)
    check_posture(stance, q)
    control = jump_control(
        stance,
        q,
        fields.direction,
        distance=fields.distance,
        frequency=fields.frequency,
        lifted=fields.lifted,
        away=fields.away,
    )
    return q, control


def build_solver(fields: SolverFields, law: Any) -> Solver:
    """Method and tolerances; where a scenario has none, those that suit the law."""
    default = default_solver(law)
    rtol = default.rtol if fields.rtol is None else fields.rtol
    atol = rtol / 10 if fields.atol is None else fields.atol
    return Solver(rtol, atol, fields.method, fields.max_steps)


def build_control(scenario: Scenario, mechanism: Mechanism) -> HarmonicControl | PhasedControl:
    """The commands of all actuators."""
    table = np.zeros((4, mechanism.nu))
    phases: list[list[PhaseFields]] = [[] for _ in range(mechanism.nu)]
    for name, fields in scenario.control.items():
        i = mechanism.actuator(name)
        table[:, i] = fields.offset, fields.amplitude, fields.frequency, fields.phase
        phases[i] = fields.phases
    harmonic = HarmonicControl(*(jnp.asarray(row) for row in table))
    return _phased(harmonic, phases, mechanism) if any(phases) else harmonic


def _phased(
    harmonic: HarmonicControl, phases: list[list[PhaseFields]], mechanism: Mechanism
) -> PhasedControl:
    """Tables of all phases of all actuators, the shorter ones filled up with nothing."""
    most = max(map(len, phases))
    powers = max(len(p.desired) for row in phases for p in row)
    end = np.full((mechanism.nu, most), np.inf)
    offset, gain, relative = (np.zeros_like(end) for _ in range(3))
    desired = np.zeros((*end.shape, max(powers, 1)))
    for i, row in enumerate(phases):
        for j, p in enumerate(row):
            end[i, j] = np.inf if p.until is None else p.until
            offset[i, j], gain[i, j], relative[i, j] = p.offset, p.gain, p.relative
            desired[i, j, : len(p.desired)] = p.desired
    length_of_q = mechanism.actuators.length_of_q
    tables = (jnp.asarray(x) for x in (end, offset, gain, relative, desired))
    return PhasedControl(harmonic, length_of_q, *tables)
