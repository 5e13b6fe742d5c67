"""Runs whose commands come from outside the core: any function of (t, q, v, modes).

The core goes one pass, or one fixed step, at a time. Before each, the control is asked what it
commands at the state that is to be evaluated, and how far its guards are from zero; at a guard's
event its memory changes. A control that JAX can trace is compiled; any other is called as it is.
"""

import functools
from typing import Any

import equinox as eqx
import jax
import numpy as np

from stiction.control import AbstractSwitchingControl
from stiction.engines.blueprint import Run


def go_with_control(run: Run, kernel: Any, control: AbstractSwitchingControl) -> None:
    """Carry every world to its end, one after the other."""
    M, lay = run.design.machine, run.design.core.layout
    fixed = kernel is run.design.core.stepping.run
    x, k = run.x.numpy(), run.k.numpy()
    asked = _Asked(control)
    first_guard = 2 * M.pairs.count + M.act.count
    memories: list[Any] = [control.memory() for _ in range(run.batch)]
    one_pass = run.prepare(kernel, 1)
    if fixed:  # the control is told what touches at the start
        one_pass()
    while np.any(running := k[:, M.z.status] == lay.RUNNING):
        for w in np.flatnonzero(running).tolist():
            modes = k[w, M.c.mode : M.c.mode + M.pairs.count].astype(int)
            state = (*(_step_state if fixed else _pass_state)(run, x[w], k[w], w), modes)
            which = int(k[w, M.z.target]) - first_guard
            fresh = k[w, M.z.after_impact] == 0 and k[w, M.z.jammed] == 0
            if not fixed and k[w, M.z.phase] == lay.EVENT and which >= 0 and fresh:
                memories[w] = asked.switch(np.asarray(which), *state, memories[w])
            command, guards = asked.ask(*state, memories[w])
            if fixed and np.min(guards, initial=0.0) < 0:  # it came to zero within the last step
                which = np.argmin(guards)
                memories[w] = asked.switch(which, *state, memories[w])
                command, guards = asked.ask(*state, memories[w])
                k[w, M.z.target] = first_guard + which
            x[w, M.motors.command : M.motors.command + M.act.count] = command
            x[w, M.motors.guard : M.motors.guard + M.act.guards] = guards
        one_pass()


def _pass_state(run: Run, x: np.ndarray, k: np.ndarray, w: int) -> tuple[Any, ...]:
    """(t, q, v) that the next pass evaluates."""
    M = run.design.machine
    return x[M.z.now], x[M.at.q : M.at.q + M.tree.nq], x[M.at.v : M.at.v + M.tree.nv]


def _step_state(run: Run, x: np.ndarray, k: np.ndarray, w: int) -> tuple[Any, ...]:
    """(t, q, v) at the beginning of the next fixed step, v extrapolated."""
    M = run.design.machine
    t = k[M.fixed.k] * x.dtype.type(run.until[w] / int(run.options.last))
    v, change = (x[at : at + M.tree.nv] for at in (M.fixed.v, M.fixed.change))
    return t, x[M.fixed.q : M.fixed.q + M.tree.nq], v + change / 2


class _Asked:
    """A control, compiled if it can be: its numbers are handed to the program as plain arrays, for
    a run asks tens of thousands of times.
    """

    def __init__(self, control: AbstractSwitchingControl):
        self.numbers, self.rest = eqx.partition(control, eqx.is_array)
        self.control, self.plain = control, False
        self.rest = _Static(self.rest)

    def ask(self, *state: Any) -> Any:
        """Commands and guards."""
        return self._call(_ask, state)

    def switch(self, *state: Any) -> Any:
        """The memory after the guard of an index has come to zero."""
        return self._call(_switch, state)

    def _call(self, f: Any, state: tuple[Any, ...]) -> Any:
        if not self.plain:
            try:
                return _compiled(self.rest, f, self.numbers, state)
            except (TypeError, jax.errors.JAXTypeError, jax.errors.JAXIndexError):
                self.plain = True  # written for numbers, not for JAX
        return f(self.control, *state)


class _Static:
    """What of a control is no array, told apart by what it is equal to."""

    def __init__(self, rest: Any):
        self.rest = rest
        self.leaves, self.tree = jax.tree.flatten(rest)
        self.leaves = tuple(self.leaves)

    def __hash__(self) -> int:
        return hash((self.leaves, self.tree))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and (self.leaves, self.tree) == (other.leaves, other.tree)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _compiled(rest: _Static, f: Any, numbers: Any, state: tuple[Any, ...]) -> Any:
    return f(eqx.combine(numbers, rest.rest), *state)


def _ask(control: AbstractSwitchingControl, *state: Any) -> tuple[Any, Any]:
    return control.command(*state), control.guards(*state)


def _switch(control: AbstractSwitchingControl, *state: Any) -> Any:
    return control.switch(*state)
