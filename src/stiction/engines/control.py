"""Controls: what the actuators are told to do.

A control is any function of (t, q, v, modes) that gives every actuator its command; `modes` holds 0
(open), 1 (stick) or 2 (slip) for each contact and is empty in free motion. A control that goes
through phases of its own is an `AbstractSwitchingControl`: it has a memory, and guards whose fall
below zero is an event at which the memory changes. Between events nothing that it does may jump.
"""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float, Int, Scalar


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


class HarmonicControl(eqx.Module):
    """u = offset + amplitude sin(2π frequency t + phase), an entry for each actuator."""

    offset: Float[Array, "nu"]
    amplitude: Float[Array, "nu"]
    frequency: Float[Array, "nu"]  # [Hz]
    phase: Float[Array, "nu"]  # [rad]

    def __call__(self, t: Scalar, q: Array, v: Array, modes: Array) -> Float[Array, "nu"]:
        del q, v, modes
        angle = 2 * jnp.pi * self.frequency * t + self.phase
        return self.offset + self.amplitude * jnp.sin(angle)


class PhasedControl(AbstractSwitchingControl):
    """A harmonic control, and phases one after the other: to each actuator

    offset + gain (desired(t) - length)

    is added, t from the phase's beginning and desired a polynomial; where it is `relative`, desired
    counts from the length that the actuator has when the phase begins. Phases of no end last.
    """

    harmonic: HarmonicControl
    length_of_q: Float[Array, "nu nq"]
    end: Float[Array, "nu p"]  # [s]; inf for the last
    offset: Float[Array, "nu p"]
    gain: Float[Array, "nu p"]
    relative: Float[Array, "nu p"]  # 1 or 0
    desired: Float[Array, "nu p c"]  # coefficients, of the power 0 first

    def memory(self) -> Any:
        """The phase of each actuator, when it began, and the length then."""
        zero = jnp.zeros_like(self.end[:, 0])
        return jnp.zeros_like(zero, int), zero, zero

    def command(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Any) -> Array:
        phase, begin, origin = memory
        now = self._now(phase)
        coefficients = jnp.sum(jnp.where(now[:, :, None], self.desired, 0.0), axis=1)
        wanted = jnp.polyval(coefficients.T[::-1], t - begin, unroll=coefficients.shape[1])
        wanted = wanted + self._pick(now, self.relative) * origin
        follow = self._pick(now, self.gain) * (wanted - self.length_of_q @ q)
        return self.harmonic(t, q, v, modes) + self._pick(now, self.offset) + follow

    def guards(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Any) -> Array:
        del q, v, modes
        end = self._pick(self._now(memory[0]), self.end)
        return jnp.where(jnp.isfinite(end), end - t, 1.0)

    def switch(self, which: Array, t: Scalar, q: Array, v: Array, modes: Array, memory: Any) -> Any:
        del v, modes
        phase, begin, origin = memory
        here = jnp.arange(phase.size) == which
        return (
            phase + here.astype(int),
            jnp.where(here, t, begin),
            jnp.where(here, self.length_of_q @ q, origin),
        )

    def _now(self, phase: Array) -> Array:
        return jnp.arange(self.end.shape[1])[None] == phase[:, None]

    def _pick(self, now: Array, table: Array) -> Array:
        return jnp.sum(jnp.where(now, table, 0.0), axis=1)


def no_control(nu: int) -> HarmonicControl:
    """Every command zero: motors are passive, servos hold zero."""
    zero = jnp.asarray(np.zeros(nu))
    return HarmonicControl(zero, zero, zero, zero)
