"""Runs whose commands come from outside the core: any function of (t, q, v, modes).

The core goes one pass, or one fixed step, at a time. Before each, the control is asked what it
commands at the state that is to be evaluated, and how far its guards are from zero; at a guard's
event its memory changes. A control that JAX can trace is compiled, and asked by all worlds of a
batch at once; any other is called as it is, for one world after the other. One with a `period` is
asked at its multiples only: the core stops there, and goes on with new commands.
"""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from stiction._base.errors import InputError
from stiction._base.waiting import Pace
from stiction.control import AbstractSwitchingControl
from stiction.control.switching import period_of
from stiction.engines.blueprint import Run
from stiction.engines.result import Trajectory
from stiction.engines.watching import glances

_SELDOM = 100  # passes after which people are told how far it is


def go_with_control(
    run: Run,
    kernel: Any,
    control: AbstractSwitchingControl,
    so_far: Callable[[Run], Trajectory],
) -> None:
    """Carry every world to its end; `so_far` makes a trajectory of what a run has."""
    M, lay = run.design.machine, run.design.core.layout
    fixed = kernel is run.design.core.kernel("stepping")
    x, k = run.x.numpy(), run.k.numpy()
    asked = _Asked(control, run.batch)
    if period := period_of(control):
        if fixed:
            raise InputError(
                "`track.rate` is for hybrid and compliant laws, got stepping, whose control looks"
                " in every step; choose `solver.dt` instead"
            )
        _go_holding(run, kernel, asked, period, glances(run, so_far))
        return
    first_guard = 2 * M.pairs.count + M.act.count
    one_pass, glance, pace = run.prepare(kernel, 1), glances(run, so_far), Pace()
    if fixed:  # the control is told what touches at the start
        one_pass()
    for count in itertools.count():
        if not np.any(running := k[:, M.z.status] == lay.RUNNING):
            break
        if count % _SELDOM == 0:
            pace.reached(run.part_done())
        modes = k[:, M.c.mode : M.c.mode + M.pairs.count].astype(int)
        state = (*(_step_state if fixed else _pass_state)(run, x, k), modes)
        which = k[:, M.z.target] - first_guard
        fresh = (k[:, M.z.after_impact] == 0) & (k[:, M.z.jammed] == 0)
        if not fixed:
            at_event = (k[:, M.z.phase] == lay.EVENT) & (which >= 0) & fresh
            asked.switch(running & at_event, which, state)
        command, guards = asked.ask(state)
        if fixed and np.min(guards, initial=0.0) < 0:  # they came to zero within the last step
            fallen, which = running & (guards.min(axis=1) < 0), guards.argmin(axis=1)
            asked.switch(fallen, which, state)
            command, guards = asked.ask(state)
            k[fallen, M.z.target] = first_guard + which[fallen]
        x[running, M.motors.command : M.motors.command + M.act.count] = command[running]
        x[running, M.motors.guard : M.motors.guard + M.act.guards] = guards[running]
        one_pass()
        if glance is not None:
            glance()


def _go_holding(
    run: Run, kernel: Any, asked: "_Asked", period: float, glance: Callable[[], None] | None
) -> None:
    """Commands are those of the last multiple of the period."""
    M, lay = run.design.machine, run.design.core.layout
    x, k = run.x.numpy(), run.k.numpy()
    looks = 0
    while np.any(running := np.isin(k[:, M.z.status], (lay.RUNNING, lay.WAITING))):
        modes = k[:, M.c.mode : M.c.mode + M.pairs.count].astype(int)
        command, _ = asked.ask((*_pass_state(run, x, k), modes))
        x[running, M.motors.command : M.motors.command + M.act.count] = command[running]
        looks += 1
        x[running, M.z.stop] = looks * period
        k[running, M.z.status] = lay.RUNNING
        run.go(kernel, between=glance)


def _pass_state(run: Run, x: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, ...]:
    """(t, q, v) that the next pass evaluates."""
    del k
    M = run.design.machine
    q, v = (x[:, at : at + n] for at, n in ((M.at.q, M.tree.nq), (M.at.v, M.tree.nv)))
    return x[:, M.z.now], q, v


def _step_state(run: Run, x: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, ...]:
    """(t, q, v) at the beginning of the next fixed step, v extrapolated."""
    M = run.design.machine
    t = k[:, M.fixed.k] * (run.until / int(run.options.last))
    v, change = (x[:, at : at + M.tree.nv] for at in (M.fixed.v, M.fixed.change))
    return t.astype(x.dtype), x[:, M.fixed.q : M.fixed.q + M.tree.nq], v + change / 2


class _Asked:
    """A control, and what it remembers of each world.

    Its numbers are handed to a compiled program as plain arrays: a run asks tens of thousands of
    times.
    """

    def __init__(self, control: AbstractSwitchingControl, batch: int):
        self.control, self.batch = control, batch
        self.compiles = True
        numbers, rest = eqx.partition(control, eqx.is_array)
        leaves, tree = jax.tree.flatten(numbers)  # once, not at every call
        self.numbers, self.rest = tuple(leaves), _Static(rest, tree)
        self.memory = jax.tree.map(
            lambda m: np.repeat(np.asarray(m)[None], batch, axis=0), control.memory()
        )

    def ask(self, state: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Commands and guards of every world."""
        if self.batch > 1 and self.compiles:
            return jax.tree.map(np.asarray, self._call(_ask_all, state, self.memory))
        each = [self._call(_ask, *self._world(w, state)) for w in range(self.batch)]
        command, guards = zip(*each, strict=True)
        return np.stack(command), np.stack(guards)

    def switch(self, these: np.ndarray, which: np.ndarray, state: tuple[np.ndarray, ...]) -> None:
        """Change the memory of worlds in which the guard of an index has come to zero."""
        for w in np.flatnonzero(these).tolist():
            after = self._call(_switch, *self._world(w, state), which[w])
            jax.tree.map(lambda old, new, w=w: old.__setitem__(w, new), self.memory, after)

    def _world(self, w: int, state: tuple[np.ndarray, ...]) -> tuple[Any, Any]:
        return tuple(x[w] for x in state), jax.tree.map(lambda m: m[w], self.memory)

    def _call(self, f: Any, *inputs: Any) -> Any:
        if self.compiles:
            try:
                return _compiled(self.rest, f, self.numbers, inputs)
            except (TypeError, jax.errors.JAXTypeError, jax.errors.JAXIndexError):
                self.compiles = False  # written for numbers, not for JAX
                if f is _ask_all:
                    return self.ask(inputs[0])
        return f(self.control, *inputs)


class _Static:
    """What of a control is no array, told apart by what it is equal to, and where its arrays go."""

    def __init__(self, rest: Any, numbers: Any):
        self.rest, self.numbers = rest, numbers
        leaves, tree = jax.tree.flatten(rest)
        self.key = (tuple(leaves), tree, numbers)
        self.hash = hash(self.key)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Static) and self.key == other.key)

    def with_numbers(self, numbers: tuple[Any, ...]) -> Any:
        """The control again."""
        return eqx.combine(jax.tree.unflatten(self.numbers, numbers), self.rest)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _compiled(rest: _Static, f: Any, numbers: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
    return f(rest.with_numbers(numbers), *inputs)


def _ask(control: AbstractSwitchingControl, state: Any, memory: Any) -> tuple[Any, Any]:
    t, q, v, modes = state
    return control.command(t, q, v, modes, memory), control.guards(t, q, v, modes, memory)


def _ask_all(control: AbstractSwitchingControl, state: Any, memory: Any) -> tuple[Any, Any]:
    return jax.vmap(lambda s, m: _ask(control, s, m))(state, memory)


def _switch(control: AbstractSwitchingControl, state: Any, memory: Any, which: Any) -> Any:
    t, q, v, modes = state
    return control.switch(which, t, q, v, modes, memory)
