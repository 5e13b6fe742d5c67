"""A scene: everything that a scenario names, ready to be run."""

import functools
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from stiction._base import defaults
from stiction._base.arrays import Array
from stiction._base.display import displayed
from stiction._base.errors import IgnoredWarning, InputError
from stiction.control import AbstractSwitchingControl, HarmonicControl, PhasedControl
from stiction.engines import (
    RESULTS,
    Compliant,
    Hybrid,
    Solver,
    Stepping,
    Trajectory,
    default_solver,
    simulate,
)
from stiction.engines.tolerances import INSIDE, SUNK
from stiction.mechanism import (
    Mechanism,
    load_mechanism,
    parse_model,
)
from stiction.scenes.contact import build_ground, contacts_of, tree_contacts
from stiction.scenes.laws import as_rigid, law_of
from stiction.scenes.read import Changes, change_fields, read_scenario
from stiction.scenes.scenario import PhaseFields, Scenario, SolverFields
from stiction.scenes.start import (
    StartWarning,
    build_jump,
    initial_state,
    keyframe_of,
    refuse_inside,
)
from stiction.scenes.world_start import world_start
from stiction.surfaces import (
    Contacts,
    MovedOut,
    Pair,
    Planes,
    WorldContacts,
    find_penetrations,
    move_out,
    tell_not_treated,
    touching_table,
    world_table,
)

if TYPE_CHECKING:
    from stiction.motions import Motions

_MOST_GAINED = 0.05  # energy from nowhere in a run, part of what was exchanged
_MOST_TOLD = 20  # suspicious events of a run for which all possible motions are looked for


def scene(source: str | Path, changes: Changes | None = None, /, **fields: Any) -> "Scene":
    """A scene from its name, a scenario or model file, or their text.

    Args:
        source: "box", "my-scene.toml", "robot.xml", TOML text, or MJCF text.
        changes: Fields to change, by their paths: `{"contact.restitution": 0.5}`.
        **fields: Fields to change; of a table those that are named:
            `until=2.0, contact={"restitution": 0.5}`.
    """
    scenario, folder = read_scenario(source, _paths(changes, fields))
    return Scene(scenario, folder)


displayed(Trajectory)  # engines know nothing of what is shown


@displayed
@dataclass(frozen=True)
class Scene:
    """A scenario, and what it means: what moves, from where, what it may touch, under which law."""

    scenario: Scenario  # all fields, checked
    folder: Path = Path()  # files of the scenario are relative to it

    def change(self, changes: Changes | None = None, /, **fields: Any) -> "Scene":
        """The scene with other fields, as `stiction.scene` takes them."""
        new = _paths(changes, fields)
        if not new:
            return self
        scenario = change_fields(self.scenario.model_dump(exclude_unset=True), new)
        other = Scene(scenario, self.folder)
        if "mechanism" in vars(self) and scenario.mechanism == self.scenario.mechanism:
            vars(other)["mechanism"] = self.mechanism  # the same model is loaded once
        return other

    def run(self, changes: Changes | None = None, /, **fields: Any) -> Trajectory:
        """Simulate the scene, with other fields if there are any.

        Pairs of geoms that may touch and that the engines do not treat are named in a warning. A
        run in whose samples anything penetrates, or that gains energy from nowhere, is no success:
        see `Trajectory.message`.
        """
        if changes or fields:
            return self.change(changes, **fields).run()
        left_out = tell_not_treated(self.touching)
        if left_out:
            warnings.warn(left_out, IgnoredWarning, stacklevel=2)
        if self.moved_out is not None:
            warnings.warn(f"{self.moved_out}", StartWarning, stacklevel=2)
        run = self.simulate(self.scenario.until, self.scenario.samples)
        refuse_inside(run, keep=self.scenario.start.resolve is False)
        assert run.origin is not None
        seen = run.to_numpy()
        found = self._penetrations(seen)
        origin = replace(
            run.origin,
            scene=self,
            notes=functools.cache(lambda: self._possible_motions(seen)),
            penetrations=found,
        )
        result = run.result
        if seen.success and found:
            result = RESULTS.penetrated
        elif seen.success and seen.energy_from_nowhere > _MOST_GAINED:
            result = RESULTS.energy_gained
        return replace(run, origin=origin, result=result).to_numpy()

    def simulate(self, until: float, samples: int) -> Trajectory:
        """The motion from the start, as far as it comes, and nothing looked over."""
        return simulate(
            self.mechanism,
            self.q,
            self.v,
            until=until,
            contacts=self.contacts,
            law=self.law,
            control=self.control,
            samples=samples,
            solver=self.solver,
            max_events=self.scenario.contact.max_events,
            throw=False,
        )

    def rigid(self) -> "Scene":
        """The scene with rigid contacts and exact events, whatever its law."""
        if self.scenario.contact.law not in ("stepping", "compliant"):
            return self
        contact = as_rigid(self.scenario.contact)
        return Scene(self.scenario.model_copy(update={"contact": contact}), self.folder)

    def as_tree(self) -> "Scene":
        """The scene with those contacts only that are known beforehand; the others are named.

        What is not a run (one impact, all possible motions, fits through many runs) needs these.
        """
        if not isinstance(self.contacts, WorldContacts):
            return self
        other = Scene(self.scenario, self.folder)
        known = tree_contacts(self.scenario, self.mechanism, self.ground, self.folder)
        vars(other).update(mechanism=self.mechanism, contacts=known)
        if left_out := tell_not_treated(other.touching):
            warnings.warn(left_out, IgnoredWarning, stacklevel=2)
        return other

    @cached_property
    def mechanism(self) -> Mechanism:
        """What moves."""
        fields = self.scenario.mechanism
        return load_mechanism(self.model_source, base=fields.base, edits=fields.edits)

    @property
    def model_source(self) -> Path | str:
        """The model file, or its text: the scenario's own, or a human of the size it asks for."""
        fields = self.scenario.mechanism
        if fields.human is None:
            text = str(fields.file)
            return text if text.lstrip().startswith("<") else self.folder / text
        from stiction.biped.human import human

        return human(**fields.human.model_dump())

    def spec(self) -> mujoco.MjSpec:
        """The model in MuJoCo's own editable form."""
        fields = self.scenario.mechanism
        return parse_model(self.model_source, base=fields.base, edits=fields.edits)[0]

    @cached_property
    def ground(self) -> Planes:
        """The planes that may be touched."""
        fields, points = self.scenario.ground, self.scenario.contact.points
        return build_ground(fields, self.mechanism, fields.field is not None, points is not None)

    @cached_property
    def contacts(self) -> Contacts | WorldContacts | None:
        """What may touch, or is to be found on the way; None in free motion."""
        return contacts_of(self.scenario, self.mechanism, self.ground, self.folder)

    @cached_property
    def touching(self) -> list[Pair]:
        """Every pair that may touch by the model, treated or not; none if the law is "none"."""
        fields = self.scenario.contact
        if fields.law == "none":
            return []
        contacts = self.contacts
        if isinstance(contacts, WorldContacts):
            return world_table(self.mechanism, contacts, self.ground)
        table = touching_table(self.mechanism, contacts, self.ground)
        balls = ("sphere", "sphere")
        return [p for p in table if fields.pairs or (p.first_kind, p.second_kind) != balls]

    @cached_property
    def law(self) -> Hybrid | Stepping | Compliant | None:
        """What contacts do."""
        return None if self.contacts is None else law_of(self.scenario, self.contacts)

    @property
    def solver(self) -> Solver:
        """Method and tolerances of the integration."""
        found = isinstance(self.contacts, WorldContacts)
        usual = defaults.MAX_WORLD_STEPS if found else defaults.MAX_STEPS
        return build_solver(self.scenario.solver, self.law, usual)

    @property
    def posture(self) -> Array:
        """The configuration that `start` gives, before a jump puts it on the ground."""
        return initial_state(self.scenario, self.mechanism)[0]

    @property
    def q(self) -> Array:
        """The configuration at time zero."""
        return self._start[0]

    @property
    def v(self) -> Array:
        """The velocity at time zero."""
        return self._start[1]

    @property
    def control(self) -> Any:
        """What the actuators are told."""
        return self._start[2]

    @cached_property
    def _start(self) -> tuple[Array, Array, Any]:
        """State and control; a jump and a motion to follow have a say in where it begins."""
        scenario, mechanism = self.scenario, self.mechanism
        q, v = initial_state(scenario, mechanism)
        q = q if self.moved_out is None else self.moved_out.q
        control: Any = build_control(scenario, mechanism)
        if scenario.jump is not None:
            q, control = build_jump(scenario, mechanism, self._known_contacts, q)
        if scenario.track is not None:
            from stiction.scenes.track import build_track  # splines take long to import

            known = (mechanism, self._known_contacts, self.law, q, v)
            q, v, control = build_track(scenario, self.folder, *known)
        return q, v, control

    @property
    def _known_contacts(self) -> Contacts | None:
        """Contacts of a scene that jumps or follows a motion: never found on the way."""
        assert not isinstance(self.contacts, WorldContacts)
        return self.contacts

    @cached_property
    def moved_out(self) -> MovedOut | None:
        """How the start was moved out of what it touches; None if it was not."""
        resolve = bool(self.scenario.start.resolve)
        if isinstance(self.contacts, WorldContacts):
            soft = isinstance(self.law, Compliant)
            return world_start(
                self.mechanism, self.contacts, self.posture, resolve=resolve, soft=soft
            )
        if not resolve or self.contacts is None:
            return None
        return move_out(self.mechanism, self.contacts, self.posture)

    def motions(self, q: Any, v: Any, time: float) -> "Motions":
        """Every motion that rigid bodies allow at a state."""
        from stiction.motions import motions_of_mechanism

        rigid = self.rigid()
        contacts, law, control = self.contacts, rigid.law, self.control
        if not isinstance(contacts, Contacts):
            raise InputError(
                "all motions can be told only of contacts that are known beforehand: of a tree of"
                " joints on the ground, or of points (`contact.points`)"
            )
        assert isinstance(law, Hybrid)
        if isinstance(control, AbstractSwitchingControl):
            raise InputError(
                "all motions can be told only where commands do not depend on what was before:"
                " leave `jump` and the phases of `control` out"
            )
        q, v, no_modes = jnp.asarray(q), jnp.asarray(v), jnp.zeros(contacts.count, int)
        return motions_of_mechanism(
            self.mechanism,
            contacts,
            q,
            v,
            law=law,
            time=time,
            command=control(jnp.asarray(time), q, v, no_modes),
        )

    def _possible_motions(self, run: Trajectory) -> dict[int, str]:
        """Which motions rigid bodies allow at the suspicious events of a run, in words."""
        log, contacts, told = run.log, self.contacts, {}
        if log is None or not isinstance(contacts, Contacts):
            return told
        count = min(int(run.n_events), len(log.time) - 1)
        for i in np.flatnonzero(np.asarray(log.suspicious)[:count])[:_MOST_TOLD]:
            v = log.v_before[i] if log.tangential[i] else log.v_after[i]
            try:
                answer = self.motions(log.q[i], v, float(log.time[i]))
            except InputError as error:  # too many contacts, or a control that remembers
                told[int(i)] = str(error)
                continue
            modes = [
                ", ".join(f"{n} {m}" for n, m in zip(contacts.names, motion.modes, strict=True))
                for motion in answer.motions
            ]
            told[int(i)] = f"{answer.verdict}: {' | '.join(modes) or 'no motion is possible'}"
        return told

    def _penetrations(self, run: Trajectory) -> tuple:
        """Where the samples of a run penetrate."""
        path = np.asarray(run.time), np.asarray(run.q)
        looked = (self.mechanism, self.touching, self.ground)
        return tuple(find_penetrations(*looked, *path, self.depths_allowed))

    @property
    def depths_allowed(self) -> dict[bool, float]:
        """How deep a sample may be where the engine does not treat a pair, and where it does: there
        compliant contacts may be deep, by their law.
        """
        treated = np.inf if isinstance(self.law, Compliant) else INSIDE.double
        if isinstance(self.law, Stepping):
            treated = max(treated, SUNK * float(self.law.dt) ** 2)
        return {False: INSIDE.double, True: treated}


def _paths(changes: Changes | None, fields: dict[str, Any]) -> dict[str, Any]:
    """Changes by path: a table that is given as a keyword changes the fields that it names."""
    paths = dict(changes or {})
    for name, value in fields.items():
        if isinstance(value, dict):
            paths |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            paths[name] = value
    return paths


def build_solver(fields: SolverFields, law: Any, max_steps: int = defaults.MAX_STEPS) -> Solver:
    """Method and tolerances; where a scenario has none, those that suit the law."""
    default = default_solver(law)
    rtol = default.rtol if fields.rtol is None else fields.rtol
    atol = rtol / 10 if fields.atol is None else fields.atol
    return Solver(rtol, atol, fields.method, fields.max_steps or max_steps)


def build_control(scenario: Scenario, mechanism: Mechanism) -> HarmonicControl | PhasedControl:
    """The commands of all actuators: those of the scenario, else those of the start's keyframe."""
    table = np.zeros((4, mechanism.nu))
    frame = keyframe_of(scenario, mechanism)
    if frame is not None:
        table[0] = frame.control
    phases: list[list[PhaseFields]] = [[] for _ in range(mechanism.nu)]
    for name, fields in scenario.control.items():
        i = mechanism.actuator(name)
        table[:, i] = fields.offset, fields.amplitude, fields.frequency, fields.phase
        phases[i] = fields.phases
    harmonic = HarmonicControl(*jax.device_put(list(table)))
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
