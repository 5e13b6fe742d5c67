"""What every engine returns: a trajectory of arrays, and its labelled form for people and disks."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import numpy as np

from stiction._base.arrays import Array, ArrayLike, Float, Int, is_traced
from stiction._base.described import Described
from stiction._base.errors import InputError, RunError
from stiction.engines.contact_places import ContactPlaces as ContactPlaces
from stiction.mechanism import BALL, FREE, HINGE, Mechanism
from stiction.surfaces import Contacts, Penetration, WorldContacts, find_inside

if TYPE_CHECKING:
    import xarray as xr

    from stiction.engines.events import Event


# As the CF conventions mark whole numbers that stand for words.
MODE_FLAGS = {"flag_values": [0, 1, 2], "flag_meanings": "open stick slip", "long_name": "mode"}


# Of contacts, in world axes.
_PLACES = {
    "point": ("where a contact is", "m"),
    "tangent": ("first tangent of a contact", "1"),
    "normal": ("normal of a contact", "1"),
    "force": ("force on the first body", "N"),
    "torque": ("torque of spin and rolling friction on the first body", "N m"),
}


class RESULTS(eqx.Enumeration):
    """How a run ended. The text is the message."""

    successful = ""
    max_steps_reached = "The maximum number of steps was reached. Try increasing `max_steps`."
    not_finite = (
        "The motion became infinite or undefined. Check masses and forces, or tighten the"
        " tolerances."
    )
    events_used_up = "The maximum number of events was reached. Try increasing `max_events`."
    too_many_contacts = (
        "More contacts touch at once than the 400 (1,200 rows) that there is room for. Name those"
        " that matter in `contact.points`."
    )
    cascade = (
        "Events follow each other without time going on. The contact problem may have no"
        " solution here; try another impact law."
    )
    penetrated = "Bodies went through each other."
    energy_gained = (
        "The motion gained energy that nothing gave it: steps are too long for it. Shorten"
        " `solver.dt`, or take exact events (contact.law = hybrid)."
    )
    began_inside = "The start is inside of what it touches."


class Compliance(eqx.Module):
    """What compliant contacts show besides their force, for each of them."""

    depth: Float[Array, "*batch n_samples n"]  # [m]; < 0 where open, -inf: not near
    stored: Float[Array, "*batch n_samples n"]  # elastic energy [J]
    normal_loss: Float[Array, "*batch n_samples n"]  # lost along the normal since the start [J]
    friction_loss: Float[Array, "*batch n_samples n"]  # lost by friction since the start [J]


class Signals(eqx.Module):
    """What actuators were told, and what a model's sensors tell."""

    control: Float[Array, "*batch n_samples nu"]
    activation: Float[Array, "*batch n_samples na"]
    sensor: Float[Array, "*batch n_samples n_sensor"]


@dataclass(frozen=True, eq=False)
class Origin:
    """What a trajectory came from: it goes through `jit`, `vmap` and `tree.map` as it is.

    Two are equal if everything in them is the same object, arrays included. Arrays that JAX is
    tracing are left out (None).
    """

    mechanism: Mechanism  # what moved
    contacts: Contacts | WorldContacts | None = None  # what might touch; None in free motion
    law: Any = None  # what contacts did
    control: Any = None  # what the actuators were told
    scene: Any = None  # the scene that was run, if it was one
    # what more is known about events, by their index, if somebody asks
    notes: Callable[[], dict[int, str]] | None = None
    # where bodies went through each other, if that was looked for
    penetrations: tuple[Penetration, ...] = ()

    def known(self) -> "Origin":
        """The same without arrays that are being traced."""

        def known(part: Any) -> Any:
            if not is_traced(part):
                return part
            return jax.tree.map(lambda x: None if is_traced(x) else x, part)

        parts = (self.mechanism, self.contacts, self.law, self.control)
        mechanism, *others = map(known, parts)
        return Origin(mechanism, *others)

    def _parts(self) -> tuple[list[Any], Any]:
        return jax.tree.flatten((self.mechanism, self.contacts, self.law, self.control))

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Origin):
            return self is other
        (mine, tree), (others, other_tree) = self._parts(), other._parts()
        same = tree == other_tree and all(a is b for a, b in zip(mine, others, strict=True))
        return same and (self.scene, self.notes) == (other.scene, other.notes)

    def __hash__(self) -> int:
        return hash(self._parts()[1])


class Trajectory(eqx.Module):
    """A simulated motion, sampled at `time`. Arrays may have leading batch axes.

    It knows what it came from: `mechanism`, `contacts`, `law` and `control`.

    Energies close: kinetic + potential (+ what compliant contacts store) = their initial sum
    + actuator_work + support_work - damping_loss - friction_loss - impact_loss. In free motion
    there are no contacts (n = 0).
    """

    time: Float[Array, "*batch n_samples"]  # [s]
    q: Float[Array, "*batch n_samples nq"]
    v: Float[Array, "*batch n_samples nv"]
    kinetic: Float[Array, "*batch n_samples"]  # [J]
    potential: Float[Array, "*batch n_samples"]  # gravity and springs [J]
    actuator_work: Float[Array, "*batch n_samples"]  # done since the start [J]
    damping_loss: Float[Array, "*batch n_samples"]  # lost in joint dampers since the start [J]
    friction_loss: Float[Array, "*batch n_samples"]  # lost in sliding contacts [J]
    impact_loss: Float[Array, "*batch n_samples"]  # in impacts, or by damping along the normal [J]
    support_work: Float[Array, "*batch n_samples"]  # done by moving supports [J]
    effort: Float[Array, "*batch n_samples nu"]  # of actuators [N or N·m]
    force: Float[Array, "*batch n_samples n dim"]  # of contacts [N]
    modes: Int[Array, "*batch n_samples n"]  # 0 open, 1 stick, 2 slip
    log: Any  # what happened: an `EventLog`, or None if it is not wanted
    n_events: Int[Array, "*batch"]
    drift: Float[Array, "*batch"]  # largest gap that a kept contact had after a step [m]
    steps: Int[Array, "*batch"]  # accepted and rejected
    result: RESULTS  # type: ignore[valid-type]
    # The largest residual of the contact problems since the sample before [m/s], if any are solved.
    residual: Float[Array, "*batch n_samples"] | None = None
    compliance: Compliance | None = None  # of compliant contacts
    acceleration: Float[Array, "*batch n_samples nv"] | None = None  # dv/dt
    places: ContactPlaces | None = None  # of contacts, at the samples; of one run, not of a batch
    signals: Signals | None = None
    origin: Origin | None = eqx.field(static=True, default=None)

    @property
    def mechanism(self) -> Mechanism:
        """What moved."""
        return self._origin.mechanism

    @property
    def contacts(self) -> Contacts | WorldContacts | None:
        """What might touch, or what was found to touch; None in free motion."""
        return self._origin.contacts

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Names of the contacts, in order; none in free motion."""
        return () if self.contacts is None else self.contacts.names

    @property
    def law(self) -> Any:
        """What contacts did."""
        return self._origin.law

    @property
    def control(self) -> Any:
        """What the actuators were told: a function of (t, q, v, modes), or a switching control."""
        return self._origin.control

    @property
    def scene(self) -> Any:
        """The scene that was run; None if it was none."""
        return self._origin.scene

    @property
    def penetrations(self) -> tuple[Penetration, ...]:
        """Where bodies went through each other, if a scene was run."""
        return self._origin.penetrations

    @property
    def _origin(self) -> Origin:
        assert self.origin is not None
        return self.origin

    @property
    def success(self) -> bool:
        """Whether the run, or every run of a batch, ended well."""
        return not np.any(np.asarray(self.result._value) != RESULTS.successful._value)

    @property
    def message(self) -> str:
        """Why a run did not end well, in a sentence; empty if it did."""
        if self.success:
            return ""
        words = str(RESULTS[self.result])
        if np.any(self.result == RESULTS.began_inside):
            return f"{words} {self._inside()}"
        deepest = "".join(f" {p}." for p in self.penetrations[:1])
        return words + deepest if np.any(self.result == RESULTS.penetrated) else words

    def _inside(self) -> str:
        """What began inside of what it touches: the deepest pair of the first such run."""
        inside = np.ravel(np.asarray(self.result == RESULTS.began_inside))
        starts = np.reshape(np.asarray(self.q)[..., 0, :], (-1, self.mechanism.nq))
        if not isinstance(self.contacts, Contacts):
            return ""
        deepest = find_inside(self.mechanism, self.contacts, starts[np.argmax(inside)], 0.0)[0]
        where = f" in run {np.argmax(inside)} of the batch" if inside.size > 1 else ""
        return (
            f"{deepest.first} is {deepest.depth:.3g} m inside of {deepest.second}{where}; change"
            " the start, or let `start.resolve = true` (`stiction.surfaces.move_out`) move it out."
        )

    @property
    def energy(self) -> Float[ArrayLike, "*batch n_samples"]:
        """Kinetic and potential energy, and what compliant contacts store [J]."""
        energy = self.kinetic + self.potential
        return energy if self.compliance is None else energy + self.compliance.stored.sum(axis=-1)

    def to_numpy(self) -> "Trajectory":
        """The same with NumPy arrays: nothing more is compiled when it is looked at."""
        return jax.device_get(self)

    @property
    def ledger_error(self) -> Float[ArrayLike, "*batch n_samples"]:
        """How far the energies are from closing [J]: the integration's error, and nothing else."""
        gained = self.actuator_work + self.support_work
        lost = self.damping_loss + self.friction_loss + self.impact_loss
        account = self.energy - gained + lost
        return account - account[..., :1]

    @property
    def energy_from_nowhere(self) -> float:
        """The most energy of a run that nothing accounts for, part of what was exchanged."""
        given = (self.actuator_work, self.support_work, self.potential)
        exchanged = np.max(self.kinetic) + sum(np.ptp(np.asarray(x)) for x in given)
        return float(np.max(self.ledger_error) / max(exchanged, 1e-9))

    def check(self) -> "Trajectory":
        """Raise a `RunError` unless the run ended well; an `InputError` if it could not begin."""
        if np.any(self.result == RESULTS.began_inside):
            raise InputError(self.message)
        if not self.success:
            raise RunError(self.message)
        return self

    def events(self) -> "list[Event]":
        """What happened, in order: impacts, slip, stick, rest and others; see `Event`."""
        from stiction.engines.events import list_events

        if np.ndim(self.time) > 1:
            raise InputError(
                "`events` are of one run; take a run of the batch first:"
                " `jax.tree.map(lambda x: x[i], batch)`"
            )
        return list_events(self)

    def to_dataset(self) -> "xr.Dataset":
        """The trajectory as an xarray dataset with names and units."""
        return self.described().to_xarray()

    def described(self) -> Described:
        """The trajectory with names and units, before it is a dataset or a file."""
        return _described(self)

    def save(self, path: str | Path) -> None:
        """Write the dataset into a NetCDF file."""
        Path(path).write_bytes(self.described().to_netcdf())


def _described(trajectory: Trajectory) -> Described:
    import stiction

    mechanism, contacts = trajectory.mechanism, trajectory.contact_names
    tree = mechanism.tree
    batch = tuple(f"batch{i}" for i in range(np.ndim(trajectory.time) - 1))
    sampled = (*batch, "time") if not batch else (*batch, "sample")

    def variable(value, long_name, units, *more):
        return ((*sampled, *more), np.asarray(value), {"long_name": long_name, "units": units})

    variables = {
        "q": variable(trajectory.q, "configuration", "m, rad, or unit quaternion", "coordinate"),
        "v": variable(trajectory.v, "velocity", "m/s or rad/s", "freedom"),
        "kinetic_energy": variable(trajectory.kinetic, "kinetic energy", "J"),
        "potential_energy": variable(trajectory.potential, "energy of gravity and springs", "J"),
        "actuator_work": variable(trajectory.actuator_work, "work of the actuators", "J"),
        "damping_loss": variable(trajectory.damping_loss, "energy lost in joint dampers", "J"),
        "ledger_error": variable(trajectory.ledger_error, "energy unaccounted for", "J"),
        "effort": variable(trajectory.effort, "actuator effort", "N or N m", "actuator"),
    }
    if contacts:
        for name, what in (
            ("friction_loss", "energy lost in sliding contacts"),
            ("impact_loss", "energy lost in impacts"),
            ("support_work", "work of moving supports"),
        ):
            variables[name] = variable(getattr(trajectory, name), what, "J")
        variables["contact_force"] = variable(
            trajectory.force, "force on the body, tangents and normal", "N", "contact", "direction"
        )
        if trajectory.residual is not None:
            what = "largest residual of contact problems since the sample before"
            variables["contact_residual"] = variable(trajectory.residual, what, "m/s")
        modes = ((*sampled, "contact"), np.asarray(trajectory.modes, np.int8), MODE_FLAGS)
        variables["mode"] = modes
    if trajectory.acceleration is not None:
        what = "rate of the velocity"
        variables["acceleration"] = variable(
            trajectory.acceleration, what, "m/s2 or rad/s2", "freedom"
        )
    if trajectory.places is not None:
        for name, (what, units) in _PLACES.items():
            value = getattr(trajectory.places, name)
            variables[f"world_{name}"] = variable(value, what, units, "contact", "axis")
    if trajectory.signals is not None:
        variables["control"] = variable(
            trajectory.signals.control, "command of the actuators", "1", "actuator"
        )
        for name, what in (("activation", "activation of actuators"), ("sensor", "sensors")):
            if np.shape(value := getattr(trajectory.signals, name))[-1]:
                variables[name] = variable(value, what, "1", name)
    if isinstance(trajectory.contacts, WorldContacts):
        touches = [list(touch) for touch in trajectory.contacts.touches]
        variables["contact_touch"] = (
            ("contact", "touch"),
            np.reshape(touches, (-1, 5)).astype(str),
        )
        variables["contact_bodies"] = (("contact", "side"), trajectory.contacts.bodies)
    if trajectory.compliance is not None:
        for name, what, unit in (
            ("depth", "depth of a contact", "m"),
            ("stored", "elastic energy of a contact", "J"),
            ("normal_loss", "energy lost along the normal of a contact", "J"),
            ("friction_loss", "energy lost by friction at a contact", "J"),
        ):
            value = getattr(trajectory.compliance, name)
            variables[f"contact_{name}"] = variable(value, what, unit, "contact")
    coordinates = {
        "coordinate": ("coordinate", list(tree.coordinate_names)),
        "coordinate_unit": ("coordinate", _units(mechanism, speeds=False)),
        "freedom": ("freedom", list(tree.freedom_names)),
        "freedom_unit": ("freedom", _units(mechanism, speeds=True)),
        "actuator": ("actuator", list(mechanism.actuators.names)),
        "time": (sampled, np.asarray(trajectory.time), {"units": "s", "long_name": "time"}),
    }
    if contacts:
        coordinates["contact"] = ("contact", list(contacts))
        coordinates["axis"] = ("axis", ["x", "y", "z"])
        rows = np.shape(trajectory.force)[-1]
        coordinates["direction"] = ("direction", [*("t", "s")[: rows - 1], "n"])
    attributes = {
        "title": mechanism.name,
        "source": f"stiction {stiction.__version__}",
        "result": str(np.unique(np.asarray(trajectory.result._value)).tolist()),
        "steps": np.asarray(trajectory.steps),
    }
    return Described(variables, coordinates, attributes)


def _units(mechanism: Mechanism, *, speeds: bool) -> list[str]:
    units = []
    per = "/s" if speeds else ""
    for kind in mechanism.tree.joint_types:
        turn = ["rad/s"] * 3 if speeds else ["1"] * 4
        if kind == FREE:
            units += ["m" + per] * 3 + turn
        elif kind == BALL:
            units += turn
        else:
            units.append(("rad" if kind == HINGE else "m") + per)
    return units
