"""The jump: computed-torque control of a point while its mechanism stands, nothing in flight.

The point (the body's centre) is drawn to a goal as if by a critically damped spring,

    a = ω² (goal - x) - 2 ω dx/dt ,

and the motors are told the efforts that would give this acceleration on feet that hold, within
their limits: computed torque, flickinger 6.2 and 6.4. In flight the robot is passive. So that a
foot that leaves, and for that reason is let go, and for that reason comes down again, does not do
so without end, the control has three phases:

    PUSH    until a foot is `lifted` above the ground
    LEAVE   passive, until the foot is `away` from the ground
    FLY     passive, until a foot touches; then PUSH again

A mechanism that never comes away stays passive: the jump has failed.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float, Int, Scalar
from stiction.agility.capability import effort_map
from stiction.agility.postures import stance_gaps
from stiction.agility.stance import Stance, stance_maps
from stiction.engines import AbstractSwitchingControl

PUSH, LEAVE, FLY = range(3)


class JumpControl(AbstractSwitchingControl):
    """Pushes a point towards a goal while the stance contacts touch.

    Attributes:
        stance: What stands, on what, and the point that is moved. All contacts push together.
        goal: Where the point is drawn to [m].
        frequency: ω, how hard: the acceleration asked for is ω² times the distance [rad/s].
        lifted: Height of the highest... of the lowest contact at which the push ends [m].
        away: Height at which the mechanism counts as flying [m].
    """

    stance: Stance
    goal: Float[Array, "3"]
    frequency: Scalar
    lifted: Scalar
    away: Scalar

    def memory(self) -> Int[Array, ""]:
        """It begins with a push."""
        return jnp.asarray(PUSH)

    def command(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Array) -> Array:
        """What the motors are told."""
        del t, modes
        return jnp.where(memory == PUSH, self.push(q, v), 0.0)

    def push(self, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> Float[Array, "nu"]:
        """Computed torque, within the limits of the motors."""
        w = self.frequency
        wanted = w**2 * (self.goal - self.stance.position(q)) - 2 * w * self.stance.velocity(q, v)
        maps = stance_maps(self.stance, q, v)
        reduced = maps.without_forces()
        E, start = effort_map(maps, reduced)
        effort = start + E(wanted[self.stance.rows] - reduced.a0)
        effort = jnp.clip(effort, maps.lower, maps.upper)
        a = self.stance.mechanism.actuators
        bias = a.bias[:, 0] + a.bias[:, 1] * (a.length_of_q @ q) + a.bias[:, 2] * (a.moment @ v)
        return (effort - bias) / a.gain

    def guards(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Array) -> Array:
        """One, which falls to zero when the phase ends."""
        del t, v, modes
        height = jnp.min(stance_gaps(self.stance, q))
        ends = (self.lifted - height, self.away - height, height - 1e-7)
        return jnp.stack(ends)[memory][None]

    def switch(self, which: Array, t: Scalar, q: Array, v: Array, modes: Array, memory: Array):
        """The next phase."""
        del which, t, q, v, modes
        return jnp.mod(memory + 1, 3)
