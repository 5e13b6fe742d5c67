"""Commands that go through phases, each with an end of its own."""

from typing import Any

import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Scalar
from stiction.control.harmonic import HarmonicControl
from stiction.control.switching import AbstractSwitchingControl


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
