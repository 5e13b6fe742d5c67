"""Controls: what the actuators are told to do.

A control is any function of (t, q, v, modes) that gives every actuator its command; `modes` holds 0
(open), 1 (stick) or 2 (slip) for each contact and is empty in free motion. A control that goes
through phases of its own is an `AbstractSwitchingControl`: it has a memory, and guards whose fall
below zero is an event at which the memory changes. Between events nothing that it does may jump,
unless it has a `period`: then it looks at its multiples only, and its commands are held between.
"""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Int, Scalar, is_traced
from stiction.control.push_off import PushOff


class AbstractSwitchingControl(eqx.Module):
    """A control with a memory that changes at its own events."""

    @abc.abstractmethod
    def memory(self) -> Any:
        """What is remembered at the start: a pytree of arrays."""

    @abc.abstractmethod
    def command(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Any) -> Array:
        """The command of each actuator. Shape (nu,)."""

    @abc.abstractmethod
    def guards(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Any) -> Array:
        """Numbers that are positive until it is time to switch. Any fixed length."""

    @abc.abstractmethod
    def switch(
        self, which: Int[Array, ""], t: Scalar, q: Array, v: Array, modes: Array, memory: Any
    ) -> Any:
        """The memory after the guard of index `which` has come to zero.

        After it the guard must be positive again; otherwise it switches once more at once.
        """

    def push_off(self) -> PushOff | None:
        """The push that this control is, if the engines know it: they need not ask then."""
        return None


class _Plain(AbstractSwitchingControl):
    """A function of (t, q, v, modes), which remembers nothing."""

    function: Callable

    def memory(self) -> Any:
        return ()

    def command(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Any) -> Array:
        del memory
        return self.function(t, q, v, modes)

    def guards(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Any) -> Array:
        del t, v, modes, memory
        return jnp.zeros(0, q.dtype)

    def switch(self, which: Array, t: Scalar, q: Array, v: Array, modes: Array, memory: Any) -> Any:
        del which, t, q, v, modes
        return memory


def as_switching(control: Callable | AbstractSwitchingControl) -> AbstractSwitchingControl:
    """Any control in the form that the engines work with."""
    return control if isinstance(control, AbstractSwitchingControl) else _Plain(control)


def plain_of(control: AbstractSwitchingControl) -> Callable | AbstractSwitchingControl:
    """The function that a control was made of, if it remembers nothing."""
    return control.function if isinstance(control, _Plain) else control


def period_of(control: AbstractSwitchingControl) -> float:
    """How long a control holds its commands (the `period` of a function) [s]; 0 for never."""
    return getattr(plain_of(control), "period", 0.0)


def with_own_numbers(
    control: AbstractSwitchingControl, q: Any, v: Any, contacts: Any
) -> AbstractSwitchingControl:
    """A control whose traced numbers are its leaves, also those that a function has from around."""
    function = plain_of(control)
    if isinstance(function, eqx.Module):
        return control
    q, v = (x.reshape(-1, x.shape[-1])[0] for x in (q, v))
    n = 0 if contacts is None else contacts.count
    own = eqx.filter_closure_convert(function, jnp.zeros((), q.dtype), q, v, jnp.zeros(n, int))
    return as_switching(own) if is_traced(own) else control
