"""The driver: a world of MuJoCo's on its way."""

import copy
from typing import Any

import mujoco
import numpy as np

from stiction.engines.assemble import ENERGY_METHODS, IMPACTS, Run
from stiction.mujoco.machine import make_design
from stiction.mujoco.start import widen_limits

_STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")


class Driver:
    """One world on its way, whose model is MuJoCo's."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, law: Any, *, until: float,
                 samples: int, rtol: float = 1e-8, atol: float = 1e-9, room: int = 64,
                 max_events: int = 1000, max_steps: int = 100_000):  # fmt: skip
        # A model and data of its own: how far MuJoCo looks for contacts is changed on the way.
        self.model = copy.copy(model)
        self.data = mujoco.MjData(self.model)
        for name in _STATE:
            getattr(self.data, name)[:] = getattr(data, name)
        self.widened = widen_limits(self.model, self.data)
        self.design = make_design(self.model, self.data, room, 7, 0)
        self.run = Run(self.design, 1, np.array([until]), samples, max_events)
        self.run.integrate("tsit5", rtol, atol)
        o = self.run.options
        o.max_steps, o.max_events = max_steps, max_events
        o.impact, o.energy_method = (
            IMPACTS.index(law.impact),
            ENERGY_METHODS.index(law.energy_method),
        )
        o.energetic = self.design.arrays.real([float(law.energetic)])
        n = self.design.machine.pairs.count
        table = np.zeros((1, n, 6))
        for i, name in enumerate(("restitution", "mu_static", "mu_dynamic", "rest_speed",
                                  "stribeck_speed", "stribeck_exponent")):  # fmt: skip
            table[:, :, i] = float(getattr(law, name))
        kinds = self.design.core.coordinates
        dry = np.isin(
            self.design.machine.pairs.kind.numpy(),
            [int(kinds.FREEDOM_FRICTION), int(kinds.TENDON_FRICTION)],
        )
        table[:, dry, 1:3] = 1.0
        self.run.law = self.design.arrays.real(table)
        self.run.start(data.qpos[None].copy(), data.qvel[None].copy())
        self.x, self.k = self.run.x.numpy()[0], self.run.k.numpy()[0]
        M = self.design.machine
        if M.shapes.count:
            self.k[M.z.phase], self.k[M.z.anew] = self.design.core.layout.LOOK, 1
            self.x[M.z.looked] = -1.0
        if model.na:
            self.x[self.y_end - model.na : self.y_end] = data.act

    @property
    def y_end(self) -> int:
        return self.design.machine.z.y + self.design.machine.z.n

    @property
    def q(self) -> np.ndarray:
        """Where it is now."""
        M = self.design.machine
        return self.x[M.at.q : M.at.q + M.tree.nq]

    @property
    def v(self) -> np.ndarray:
        """How it moves now."""
        M = self.design.machine
        return self.x[M.at.v : M.at.v + M.tree.nv]

    def events(self) -> np.ndarray:
        """Numbers of all events until now, as `core.layout` lays them out."""
        return self.run.log.numpy()[0, : self.k[self.design.machine.z.events]]

    def ledger_error(self) -> float:
        """Energy at the last sample that the ledger does not explain [J]."""
        M = self.design.machine
        n = M.tree.nq + M.tree.nv
        rows = self.run.samples.numpy()[0][[0, -1]]
        work, damping, friction, support, impact = (rows[1] - rows[0])[n : n + 5]
        gained = float(np.diff(rows[:, n + 5] + rows[:, n + 6])[0])
        return gained - work - support + damping + friction + impact

    def go(self) -> int:
        """To the end; how it ended."""
        self.run.go(self.design.core.machine.run)
        return int(self.k[self.design.machine.z.status])
