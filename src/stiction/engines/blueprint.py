"""A machine of the core: its arrays, the slots of its worlds, and a run of it.

`Blueprint` is what does not change from run to run: a mechanism, what it may touch, how it is
controlled, and where its worlds keep their numbers. A `Run` fills in the numbers of the law, the
start and the time. Nothing here needs JAX.
"""

import ctypes
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from stiction._base.waiting import Pace
from stiction.engines.core import part
from stiction.engines.device_arrays import Arrays
from stiction.engines.kernels import core_kernel
from stiction.engines.tableaus import TABLEAUS, Tableau, methods_of

IMPACTS = (
    "no-slip", "dissipation", "newton", "poisson", "stronge", "lcp", "lcp-poisson", "lcp-pyramid",
    "lcp-cone", "lcp-cone-poisson",
)  # fmt: skip
ENERGY_METHODS = ("off", "scale", "constrain")
_PARTS = ("reals", "contacts", "coordinates", "layout", "mujoco_layout")
_EVER = 1e30  # stands for infinity: longer than any run
_PLAIN, _OTHERS = 64, 32  # passes of a turn
_BREATH = 0.02  # about as long as a launch lasts on a processor [s]


class Slots:
    """Places in the row of a world, handed out one after the other."""

    def __init__(self):
        self.size = 0

    def give(self, struct: Any, **counts: int) -> None:
        """Give each name so many places."""
        for name, count in counts.items():
            setattr(struct, name, self.size)
            self.size += int(count)

    def give_one(self, struct: Any, *names: str) -> None:
        self.give(struct, **dict.fromkeys(names, 1))


class Core:
    """The files of the core in one precision, and arrays for them on one device."""

    reals: Any
    contacts: Any
    coordinates: Any
    layout: Any
    mujoco_layout: Any

    def __init__(self, *, single: bool = False, device: str = "cpu"):
        self.precision, self.device = "single" if single else "double", device
        for name in _PARTS:
            setattr(self, name, part(name, self.precision))
        self.arrays = Arrays(self.reals, device)

    def kernel(self, file: str, name: str = "run") -> Any:
        """A kernel of one of the core's files, compiled if it is not on disk."""
        return core_kernel(file, name, self.precision, self.device)


class Blueprint:
    """What does not change from run to run.

    Args:
        core: Precision and device.
        machine: With its tree, its actuators and its pairs (and MuJoCo's arrays, if it is that).
        size_M: Numbers of the mass matrix.
        rows: The most rows of contacts that there can be at once.
        stages: Of the Runge-Kutta method.
        unknowns: Of each contact in linear complementarity problems; 0 for round cones.
        quaternions: Where they begin in q.
        soft: Whether contacts are compliant, or there are none.
    """

    def __init__(self, core, machine, size_M, rows, stages, unknowns, quaternions, soft=False):
        self.core, self.arrays, self.device = core, core.arrays, core.device
        self.quaternions = quaternions
        M, lay = machine, core.layout
        self.machine = M
        self.numbers, self.wholes = Slots(), Slots()
        self._tree(M, lay, size_M, stages, soft)
        self._contacts(M, lay, rows, unknowns)
        self._soft(M, lay, soft)
        self._stepping(M, lay, rows)
        n, nq, nv, nu = M.pairs.count, M.tree.nq, M.tree.nv, M.act.count
        signals = nv + nu + M.outer.na
        self.sample_size = nq + nv + 5 + 2 + nu + 4 * n + 1 + (4 * n if soft else 0) + signals
        self.event_size = lay.EVENT_NUMBERS + lay.PAIR_NUMBERS * n + nq + 2 * nv
        self.handed: Any = None

    def _tree(self, M: Any, lay: Any, size_M: int, stages: int, soft: bool) -> None:
        give, whole = self.numbers.give, self.wholes
        nq, nv, nu, n, links = M.tree.nq, M.tree.nv, M.act.count, M.pairs.count, M.tree.n_links
        z, at, motors = lay.StepSlots(), lay.TreeSlots(), lay.ActuatorSlots()
        z.gaps = nq + nv + 5 + (4 * n if soft else 0)
        z.n = z.gaps + n + M.outer.na
        give(z, y=z.n)
        at.q, at.v = z.y, z.y + nq
        give(
            at,
            acceleration=nv, position=3 * links, rotation=4 * links, velocity=6 * links,
            rate=6 * links, force=6 * links, inertia=10 * links, motion=6 * nv, bias=nv, M=size_M,
            D=nv, tendon_bias=int(M.outer.n_tendons),
        )  # fmt: skip
        at.origin = at.position
        if M.outer.model:
            give(at, origin=3 * links)
        give(z, start=z.n, end=z.n, error=z.n, k=stages * z.n, half=nv, shift=nv, slip_rate=n)
        self.numbers.give_one(
            z, "t", "now", "t_end", "h", "longest", "stride", "low", "high", "f_low", "f_high",
            "slope", "drift", "excess", "stop", "damped", "margin", "spent_at", "speed", "rise",
            "looked", "missed", "slack", "unsolved", "leap", "leaped_to", "account", "crowd_since",
        )  # fmt: skip
        whole.give_one(
            z, "phase", "stage", "status", "steps", "events", "cascade", "blows", "next_sample",
            "target", "side", "passes", "after_impact", "jammed", "landed", "last", "inside",
            "anew", "crowd", "leaps", "in_leap", "hard",
        )  # fmt: skip
        give(motors, command=nu, effort=nu, drive=nv, begin=nu, origin=nu, guard=M.act.guards)
        whole.give(motors, phase=nu)
        if M.push.count:
            held = 3 * M.push.count
            give(
                motors,
                rows=(held + 2 * nu) * nv, still=held + nu, passive=nv, gram=held * held,
                beta=held, right=held, answer=held,
            )  # fmt: skip
            whole.give(motors, push_phase=1, order=held)
        M.z, M.at, M.motors = z, at, motors

    def _contacts(self, M: Any, lay: Any, rows: int, unknowns: int) -> None:
        c = lay.ContactSlots()
        n, nv = M.pairs.count, M.tree.nv
        c.capacity, c.most_held = cap, held = rows, 3 * M.bonds.count
        values = 2 * n + M.act.count + M.act.guards + (n if M.shapes.count else 0)
        lemke = unknowns * min(n, rows // 2)  # every contact has two rows or more
        self.numbers.give(
            c,
            gap=n, closing=n, direction=5 * n, heading=5 * n, value=values, value_low=values,
            value_start=values, earlier=6 * n, shared=6 * n, Y=cap * nv, W=cap * cap,
            velocity=cap, free=cap, ground=cap, force=cap, impulse=cap, mu=n, floor=n,
            restitution=n, link=6 * nv, A=cap * cap, lever=6 * cap, own=3 * cap, V=cap, V_old=cap,
            V_way=cap,
            scratch=4 * cap * cap + 16 * cap, beta=cap, wanted=cap, unknown=cap, work=4 * cap,
            lemke=lemke * (2 * lemke + 2), held=held * nv, held_gap=held, held_velocity=held,
            held_bias=held,
        )  # fmt: skip
        self.wholes.give(
            c,
            mode=n, mode_before=n, mark=n, active=n, first=n + 1, order=cap, fixed=n, equation=cap,
            n_active=1, n_held=1, n_links=1, link_first=n + 1, basis=lemke,
        )  # fmt: skip
        M.c = c

    def _soft(self, M: Any, lay: Any, soft: bool) -> None:
        f = lay.SoftSlots()
        n, nv = (M.pairs.count, M.tree.nv) if soft else (0, 0)
        self.numbers.give(
            f,
            rate=4 * n, power=3, stored=n, margin=n, change=M.z.n, turn=nv, row=nv,
            A=nv * nv, right=nv, rho=n, size=1, stiffness=1,
        )  # fmt: skip
        self.wholes.give_one(f, "iteration", "implicit", "streak", "node")
        M.soft = f

    def _stepping(self, M: Any, lay: Any, rows: int) -> None:
        f = lay.FixedSteps()
        n, nq, nv = M.pairs.count, M.tree.nq, M.tree.nv
        self.numbers.give(
            f,
            q=nq, v=nv, change=nv, unpressed=nv, booked=5, books=5, force=nv, implicit=nv, servo=nv,
            bias=rows, slow=rows, pull=rows, after=rows, ahead_gap=n, ahead_velocity=n,
            ahead_acceleration=n, pressed=6 * n, residual=1,
        )  # fmt: skip
        self.wholes.give(f, k=1, collides=n, resting=1)
        M.fixed = f

    def hand_over(self) -> Any:
        """The machine as kernels take it: an array of one."""
        kind = self.core.layout.Machine
        if self.handed is None or self.device != "cpu":
            self.handed = wp.array([self.machine], dtype=kind, device=self.device)
        else:  # the same place in memory: making the array costs more than a short run
            made = self.machine._ctype
            ctypes.memmove(self.handed.ptr, ctypes.addressof(made), ctypes.sizeof(made))
        return self.handed


class Run:
    """Worlds of one design on their way."""

    def __init__(self, design: Blueprint, batch: int, until: np.ndarray, samples: int, events: int):
        self.design, self.batch, self.until = design, batch, until
        a, lay = design.arrays, design.core.layout
        self.options = o = lay.Options()
        o.until = a.real(until)
        o.max_steps, o.max_events, o.deepest = 10**9, 10**9, _EVER
        self.samples = a.zeros((batch, samples, design.sample_size))
        self.log = a.zeros((batch, events, design.event_size))
        self.law = self.impulses = a.nothing
        self.places = self.event_places = a.no_places
        o.energetic = a.one
        self.part = 16  # passes of a launch
        self.plain: Any = None  # the kernel of plain passes, if they take turns with all others
        design.machine.chosen = a.whole([])

    def integrate(self, method: str, rtol: float, atol: float, *, stiff: bool = False) -> None:
        """By which method, and how exactly; whether rigid contacts may be stiff too."""
        M, a, o = self.design.machine, self.design.arrays, self.options
        names = methods_of(method, bool(o.compliant) or stiff)
        M.a, M.b_error, M.nodes, M.guess = _tableaus(a, names)
        o.method = 2 if len(names) == 2 else int(names == ("kvaerno5",))
        order = TABLEAUS[names[0]].order
        o.power, o.on_samples = -1 / order, int(order > 5)
        o.rtol, o.atol = rtol, atol

    def take_turns(self) -> None:
        """Make plain passes by a program of their own: see `core.plain`."""
        design, o = self.design, self.options
        if o.compliant or o.method != 0 or design.machine.push.count or design.machine.shapes.count:
            return
        self.plain = design.core.kernel("plain")
        design.machine.chosen = design.arrays.whole(np.zeros(self.batch + 2))

    def start(self, q: np.ndarray, v: np.ndarray) -> None:
        """Every world at its start."""
        d, M, a = self.design, self.design.machine, self.design.arrays
        lay = d.core.layout
        for at in d.quaternions:
            q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
        ever = np.full((self.batch, 1), _EVER)
        numbers = {
            M.at.q: q,
            M.at.v: v,
            M.fixed.q: q,
            M.fixed.v: v,
            M.z.stride: np.minimum(1e-4, self.until)[:, None],
            M.z.longest: ever,
            M.z.stop: ever,
        }
        wholes = {
            M.z.phase: int(lay.BEGIN),
            M.z.target: -1,
            M.soft.implicit: int(self.options.method == 1),
        }
        filled = {at: np.full((self.batch, 1), value) for at, value in wholes.items()}
        self.x = a.worlds(self.batch, d.numbers.size, a.reals.real, numbers)
        self.k = a.worlds(self.batch, d.wholes.size, wp.int32, filled)

    def numbers(self, first: int, count: int = 1) -> np.ndarray:
        """Some of the numbers of every world."""
        return self.design.arrays.columns(self.x, self.batch, first, count)

    def wholes(self, first: int, count: int = 1) -> np.ndarray:
        """Some of the whole numbers of every world."""
        return self.design.arrays.columns(self.k, self.batch, first, count)

    def record_places(self) -> None:
        """Where contacts are, at every sample and event."""
        size = (self.design.machine.pairs.count, self.design.core.layout.PLACE_NUMBERS)
        zeros = self.design.arrays.zeros
        self.places = zeros((self.batch, self.samples.shape[1], *size))
        self.event_places = zeros((self.batch, self.log.shape[1], *size))

    def record_impulses(self, room: int) -> None:
        """Of fixed steps, so many of them."""
        lay = self.design.core.layout
        size = lay.STEP_NUMBERS + lay.STEP_PAIR_NUMBERS * self.design.machine.pairs.count
        self.impulses = self.design.arrays.zeros((self.batch, room, size))

    def hand_over(self) -> Any:
        """The machine with what this run adds to it."""
        M = self.design.machine
        M.opt, M.law = self.options, self.law
        M.samples, M.log, M.impulses = self.samples, self.log, self.impulses
        M.places, M.event_places = self.places, self.event_places
        return self.design.hand_over()

    def let_go(self) -> None:
        """The design, which lives on, holds nothing of what this run has written."""
        M = self.design.machine
        M.samples = M.log = M.impulses = self.design.arrays.nothing
        M.places = M.event_places = self.design.arrays.no_places
        M.chosen = self.design.arrays.whole([])

    def go(
        self, kernel: Any, passes: int = 2**31 - 1, between: Callable[[], None] | None = None
    ) -> None:
        """So many passes, or steps, of every world that has not ended.

        On a processor in parts of some `_BREATH`; after each, Ctrl-C is heard, people are told if
        it takes long, and `between` is called.
        """
        if self.plain is not None:
            self._go_by_turns(kernel)
            return
        if self.design.device != "cpu" or passes == 1:
            self.prepare(kernel, passes)()
            return
        launch, pace = self._launch(kernel, 1), Pace()
        z, running = self.design.machine.z, int(self.design.core.layout.RUNNING)
        while passes > 0:
            some = min(self.part, passes)
            launch.set_param_at_index(3, some)
            begun = time.monotonic()
            launch.launch()
            spent = time.monotonic() - begun
            if not np.any(self.wholes(z.status) == running):
                break
            if between is not None:
                between()
            pace.reached(self.part_done())
            passes -= some
            if spent < _BREATH / 8:
                self.part = 8 * some
            elif spent > _BREATH:
                self.part = max(some // 2, 1)

    def _go_by_turns(self, kernel: Any) -> None:
        """Plain passes of all worlds, then all others of those that need them, until all ended."""
        chosen = self.design.machine.chosen
        plain, others = self._launch(self.plain, _PLAIN), self._launch(kernel, _OTHERS)
        counts = chosen[:2]
        while True:
            counts.zero_()
            plain.launch()
            others.launch()
            if counts.numpy()[1] == 0:
                return

    def part_done(self) -> float:
        """How far all worlds are together, of 1."""
        M, o = self.design.machine, self.options
        if o.last > 0:  # fixed steps
            return float(self.wholes(M.fixed.k).mean()) / o.last
        return float(np.mean(self.numbers(M.z.t)[:, 0] / self.until))

    def prepare(self, kernel: Any, passes: int) -> Callable[[], None]:
        """A function that makes so many passes, to be called again and again."""
        return self._launch(kernel, passes).launch

    def _launch(self, kernel: Any, passes: int) -> Any:
        return wp.launch(
            kernel,
            dim=self.batch,
            inputs=[self.hand_over(), self.x, self.k, passes],
            device=self.design.device,
            record_cmd=True,
        )


_made: dict[Any, Any] = {}


def _tableaus(a: Arrays, names: tuple[str, ...]) -> tuple[Any, ...]:
    """The numbers of methods: a, error weights, nodes, and guesses of the rates of stages."""
    key = (names, a.reals.__name__, a.device)
    if key not in _made:
        tables = [_columns(TABLEAUS[name]) for name in names]
        _made[key] = tuple(a.real(np.stack(column)) for column in zip(*tables, strict=True))
    return _made[key]


def _columns(t: Tableau) -> tuple[np.ndarray, ...]:
    return t.a, t.b_error, t.nodes, t.guess
