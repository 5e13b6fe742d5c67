"""What every engine returns: a trajectory of arrays, and its labelled form for people and disks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import diffrax
import equinox as eqx
import jax
import numpy as np

from stiction._arrays import Array, ArrayLike, Float, Int
from stiction._errors import RunError
from stiction.mechanism import Mechanism
from stiction.mechanism.tree import BALL, FREE, HINGE

if TYPE_CHECKING:
    import xarray as xr


# As the CF conventions mark whole numbers that stand for words.
MODE_FLAGS = {"flag_values": [0, 1, 2], "flag_meanings": "open stick slip", "long_name": "mode"}


class RESULTS(diffrax.RESULTS):  # pyright: ignore[reportGeneralTypeIssues]
    """How a run ended. The text is the message."""

    not_finite = (
        "The motion became infinite or undefined. Check masses and forces, or tighten the"
        " tolerances."
    )
    events_used_up = "The maximum number of events was reached. Try increasing `max_events`."
    cascade = (
        "Events follow each other without time going on. The contact problem may have no"
        " solution here; try another impact law."
    )


class Compliance(eqx.Module):
    """What compliant contacts show besides their force, for each of them."""

    depth: Float[Array, "*batch n_samples n"]  # [m]; negative where the contact is open
    stored: Float[Array, "*batch n_samples n"]  # elastic energy [J]
    normal_loss: Float[Array, "*batch n_samples n"]  # lost along the normal since the start [J]
    friction_loss: Float[Array, "*batch n_samples n"]  # lost by friction since the start [J]


class Trajectory(eqx.Module):
    """A simulated motion, sampled at `time`. Arrays may have leading batch axes.

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
    events: Any  # a `Happening` with a leading axis of `max_events`, or None
    n_events: Int[Array, "*batch"]
    drift: Float[Array, "*batch"]  # largest gap that a kept contact had after a step [m]
    steps: Int[Array, "*batch"]  # accepted and rejected
    result: RESULTS  # type: ignore[valid-type]
    # The largest residual of the contact problems since the sample before [m/s], if any are solved.
    residual: Float[Array, "*batch n_samples"] | None = None
    compliance: Compliance | None = None  # of compliant contacts

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

    def check(self) -> "Trajectory":
        """Raise a `RunError` unless the run ended well."""
        if np.any(self.result != RESULTS.successful):
            raise RunError(str(RESULTS[self.result]))
        return self

    def to_dataset(self, mechanism: Mechanism, contacts: Sequence[str] = ()) -> "xr.Dataset":
        """The trajectory as an xarray dataset with names and units.

        Args:
            mechanism: What moved.
            contacts: Names of the contacts.
        """
        return _dataset(self, mechanism, contacts)


def _dataset(trajectory: Trajectory, mechanism: Mechanism, contacts: Sequence[str]) -> "xr.Dataset":
    import xarray as xr

    import stiction

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
        rows = np.shape(trajectory.force)[-1]
        coordinates["direction"] = ("direction", [*("t", "s")[: rows - 1], "n"])
    attributes = {
        "title": mechanism.name,
        "source": f"stiction {stiction.__version__}",
        "result": str(np.unique(np.asarray(trajectory.result._value)).tolist()),
        "steps": np.asarray(trajectory.steps),
    }
    return xr.Dataset(variables, coordinates, attributes)


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
