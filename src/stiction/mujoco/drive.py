"""The driver: a world of MuJoCo's on its way."""

import copy

import mujoco
import numpy as np
import warp as wp

from stiction._base.errors import RunError
from stiction.engines.blueprint import ENERGY_METHODS, IMPACTS, Run
from stiction.engines.worlds.laws import give_laws, law_table
from stiction.engines.worlds.machine import make_design
from stiction.engines.worlds.start import widen_limits
from stiction.mujoco.law import RigidLaw

# What a user may change between two steps, and what the machine changes.
GIVEN = ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "eq_active")
STATE = ("qpos", "qvel", "act")
ENDS = {
    2: "the maximum number of steps was reached",
    3: "the maximum number of events was reached",
    4: "events follow each other without time going on",
    5: "the motion became infinite or undefined",
    6: "more contacts touch at once than there is room for; raise `room`",
    7: "the start is inside of what it touches",
}
_EVER = 1e30


class Driver:
    """One world on its way, whose model is MuJoCo's.

    It has a model and data of its own: how far MuJoCo looks for contacts is changed on the way.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        law: RigidLaw | None = None,
        *,
        until: float = _EVER,
        samples: int = 2,
        rtol: float = 1e-8,
        atol: float = 1e-9,
        room: int = 64,
        max_events: int = 1000,
        max_steps: int = 10**9,
    ):
        self.law = RigidLaw() if law is None else law
        self.model = copy.copy(model)
        self.data = mujoco.MjData(self.model)
        self.take(data)
        self.data.time = data.time
        self.widened = widen_limits(self.model, self.data)
        self.design = make_design(self.model, self.data, room=room).blueprint
        self.machine = self.design.machine
        self.run = Run(self.design, 1, np.array([until]), samples, max_events)
        self.run.record_places()
        self.run.integrate("auto", rtol, atol, stiff=True)
        self.run.options.max_steps = max_steps
        self.run.options.max_events = max_events if until < _EVER else 2**31 - 1
        self._collide()
        self._start(data.time)

    def _collide(self) -> None:
        law, o, a = self.law, self.run.options, self.design.arrays
        o.impact = IMPACTS.index(law.impact)
        o.energy_method = ENERGY_METHODS.index(law.energy_method)
        o.energetic = a.real([law.energetic])
        mu = 0.0 if law.mu_static is None else law.mu_static
        slides = mu if law.mu_dynamic is None else law.mu_dynamic
        numbers = [law.restitution, mu, slides, law.rest_speed, 1.0, 1.0]
        self.run.law = law_table(self.design, numbers)
        give_laws(self.design, numbers, {}, own_friction=law.mu_static is None)

    def _start(self, time: float) -> None:
        """Begin where the data are."""
        z = self.machine.z
        self.run.start(self.data.qpos[None].copy(), self.data.qvel[None].copy())
        self.x, self.k = self.run.x.numpy()[0], self.run.k.numpy()[0]
        self.x[z.t] = time
        if self.machine.shapes.count:
            self.k[z.phase], self.k[z.anew] = self.design.core.layout.LOOK, 1
            self.x[z.looked] = time - 1.0
        if self.model.na:
            self.x[self.y_end - self.model.na : self.y_end] = self.data.act
        self._command()

    def _command(self) -> None:
        """Hand the commands over: the core tells MuJoCo's actuators."""
        at = self.machine.motors.command
        self.x[at : at + self.model.nu] = self.data.ctrl

    def restart(self, data: mujoco.MjData) -> None:
        """Begin anew from another state."""
        self.take(data)
        self.machine.pairs.kind.numpy()[self.machine.shapes.first_pair :] = int(
            self.design.core.contacts.NOTHING
        )
        self._start(data.time)

    def take(self, data: mujoco.MjData) -> None:
        """Everything that acts, and the state."""
        for name in (*STATE, *GIVEN):
            getattr(self.data, name)[:] = getattr(data, name)

    @property
    def y_end(self) -> int:
        return self.machine.z.y + self.machine.z.n

    @property
    def time(self) -> float:
        return float(self.x[self.machine.z.t])

    @property
    def q(self) -> np.ndarray:
        """Where it is now."""
        return self.x[self.machine.at.q : self.machine.at.q + self.model.nq]

    @property
    def v(self) -> np.ndarray:
        """How it moves now."""
        return self.x[self.machine.at.v : self.machine.at.v + self.model.nv]

    @property
    def act(self) -> np.ndarray:
        """Activations of its actuators."""
        return self.x[self.y_end - self.model.na : self.y_end]

    def events(self) -> np.ndarray:
        """Numbers of all events until now, as `core.layout` lays them out."""
        return self.run.log.numpy()[0, : self.k[self.machine.z.events]]

    def ledger_error(self) -> float:
        """Energy at the last sample that the ledger does not explain [J]."""
        n = self.model.nq + self.model.nv
        rows = self.run.samples.numpy()[0][[0, -1]]
        work, damping, friction, support, impact = (rows[1] - rows[0])[n : n + 5]
        gained = float(np.diff(rows[:, n + 5] + rows[:, n + 6])[0])
        return gained - work - support + damping + friction + impact

    def go(self) -> int:
        """To the end; how it ended."""
        self.run.go(self.design.core.kernel("machine"))
        return int(self.k[self.machine.z.status])

    def go_until(self, time: float) -> None:
        """To an instant; from there it can go on, with other commands."""
        self._command()
        self.x[self.machine.z.stop] = time
        self.k[self.machine.z.status] = 0
        status = self.go()
        if status != int(self.design.core.layout.WAITING):
            raise RunError(f"at {self.time:.6g} s: {ENDS.get(status, 'it ended')}")

    def look(self) -> np.ndarray:
        """Everything where it is now, contact forces included: the places of closed contacts, as
        `core.layout` numbers them; rows of others are zero.
        """
        kernel = self.design.core.kernel("machine", "look_at")
        wp.launch(kernel, dim=1, inputs=[self.run.hand_over(), self.run.x, self.run.k, 0])
        return self.run.places.numpy()[0, 0]

    @property
    def acceleration(self) -> np.ndarray:
        """v̇ where one looked last."""
        at = self.machine.at.acceleration
        return self.x[at : at + self.model.nv]
