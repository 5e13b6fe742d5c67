"""The jump: computed-torque control of a point while its mechanism stands, nothing in flight.

The point (the body's centre) is drawn to a goal as if by a critically damped spring,

    a = ω² (goal - x) - 2 ω dx/dt ,

and the motors are told the efforts that would give this acceleration on feet that hold, or as much
of it as their limits allow: computed torque, flickinger 6.2 and 6.4. In flight the robot is
passive. So that a foot that leaves, and for that reason is let go, and for that reason comes down
again, does not do so without end, the control has three phases:

    PUSH    until a foot is `lifted` above the ground
    LEAVE   passive, until the foot is `away` from the ground
    FLY     passive, until a foot touches; then PUSH again

A mechanism that never comes away stays passive: the jump has failed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base import defaults
from stiction._base.arrays import TINY, Array, Float, Int, Scalar
from stiction._base.errors import InputError
from stiction.agility.capability import box_interval, efforts_along
from stiction.agility.postures import stance_gaps
from stiction.agility.stance import CENTER_OF_MASS, Stance, stance_maps
from stiction.control import AbstractSwitchingControl, PushOff
from stiction.engines import Trajectory
from stiction.engines.event_log import GUARD
from stiction.engines.forces import OPEN, SLIP
from stiction.mechanism import momentum, total_mass

PUSH, LEAVE, FLY = range(3)
_TOUCHES = 1e-7  # the push begins again this little above the ground [m]


class JumpControl(AbstractSwitchingControl):
    """Pushes a point towards a goal while the stance contacts touch."""

    stance: Stance  # what stands, on what, and the point that is moved. All contacts push together.
    goal: Float[Array, "3"]  # where the point is drawn to [m]
    frequency: Scalar  # ω, how hard: the acceleration asked for is ω² times the distance [rad/s]
    lifted: Scalar  # height of the lowest contact at which the push ends [m]
    away: Scalar  # height at which the mechanism counts as flying [m]

    def memory(self) -> Int[Array, ""]:
        """It begins with a push."""
        return jnp.asarray(PUSH)

    def command(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Array) -> Array:
        """What the motors are told."""
        del t, modes
        return jnp.where(memory == PUSH, self.push(q, v), 0.0)

    def push(self, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> Float[Array, "nu"]:
        """Computed torque, within the limits of the motors.

        The acceleration is brought within what the motors can give along its direction (6.6), so
        that the direction stays; where they can give none, each motor gives what it can.
        """
        w = self.frequency
        wanted = w**2 * (self.goal - self.stance.position(q)) - 2 * w * self.stance.velocity(q, v)
        wanted = wanted[self.stance.rows]
        size = jnp.sqrt(jnp.sum(wanted**2) + TINY.of(q))
        maps = stance_maps(self.stance, q, v)
        slope, offset = efforts_along(maps, maps.without_forces(), wanted / size)
        low, high = box_interval(slope, offset, maps.lower, maps.upper)
        s = jnp.minimum(jnp.maximum(size, jnp.max(low)), jnp.min(high))
        effort = jnp.clip(slope * s + offset, maps.lower, maps.upper)
        a = self.stance.mechanism.actuators
        return (effort - a.offset(q, v)) / a.gain

    def guards(self, t: Scalar, q: Array, v: Array, modes: Array, memory: Array) -> Array:
        """One, which falls to zero when the phase ends."""
        del t, v, modes
        height = jnp.min(stance_gaps(self.stance, q))
        ends = (self.lifted - height, self.away - height, height - _TOUCHES)
        return jnp.stack(ends)[memory][None]

    def switch(self, which: Array, t: Scalar, q: Array, v: Array, modes: Array, memory: Array):
        """The next phase."""
        del which, t, q, v, modes
        return jnp.mod(memory + 1, 3)

    def push_off(self) -> PushOff | None:
        """The same for the engines: of a body's point, by as many actuators as it has rows."""
        s = self.stance
        known = s.is_determined and s.motors.are_actuators and s.body != CENTER_OF_MASS
        if not known:
            return None
        numbers = (self.goal, self.frequency, self.lifted, self.away)
        return PushOff(s.contacts, s.body, s.offset, *numbers)


def jump_control(
    stance: Stance,
    q: Float[Array, "nq"],
    direction: Sequence[float | int] | Float[Array, "3"],
    *,
    distance: float = defaults.JUMP_DISTANCE,
    frequency: float = defaults.JUMP_FREQUENCY,
    lifted: float = defaults.JUMP_LIFTED,
    away: float = defaults.JUMP_AWAY,
) -> JumpControl:
    """The control of a jump from the posture q towards a goal `distance` away [m]."""
    d = unit_vector("direction", direction)
    goal = stance.position(jnp.asarray(q)) + distance * d
    return JumpControl(stance, goal, *(jnp.asarray(float(x)) for x in (frequency, lifted, away)))


def unit_vector(name: str, vector: Sequence[float | int] | Float[Array, "3"]) -> Float[Array, "3"]:
    """A direction of length one."""
    x = np.asarray(vector, float)
    if x.shape != (3,) or not np.isfinite(x).all() or not np.any(x):
        raise InputError(f"`{name}` must be three numbers, not all zero, got {vector}")
    return jnp.asarray(x / np.linalg.norm(x))


class JumpOutcome(NamedTuple):
    """What became of a jump. Arrays may have a leading axis of jumps."""

    left: np.ndarray  # whether the feet came away from the ground
    stance_duration: np.ndarray  # from the start to the last touch before that [s], or nan
    rise: np.ndarray  # of the point, above its start [m]
    # velocity of the centre of mass at the end of the push, by the flight [m/s]
    take_off: np.ndarray
    off_course: np.ndarray  # angle between that and the direction [rad]
    sideways: np.ndarray  # of the point at its highest: away from the plane of the direction [m]
    slips: np.ndarray  # times that a foot began to slip before it left
    slipped: np.ndarray  # how long feet slipped before they left [s]
    nearest: np.ndarray  # least distance to the goal [m]


def jump_outcome(control: JumpControl, run: Trajectory) -> JumpOutcome:
    """The outcome of one run, or of a batch with one axis."""
    if np.ndim(run.time) == 1:
        batch = jump_outcome(control, jax.tree.map(lambda x: np.asarray(x)[None], run))
        return JumpOutcome(*(x[0] for x in batch))
    stance = control.stance
    points = jax.jit(jax.vmap(jax.vmap(stance.position)))(jnp.asarray(run.q))
    x = np.asarray(points)
    height = x[..., 2] - x[:, :1, 2]
    distance = np.linalg.norm(x - np.asarray(control.goal), axis=-1)
    toward = np.asarray(control.goal) - x[:, 0]
    toward = toward / np.linalg.norm(toward, axis=-1, keepdims=True)
    rows = [_one(run, i) for i in range(len(x))]
    left, duration, slips, slipped, when = (np.array(c) for c in zip(*rows, strict=True))
    time, m = np.asarray(run.time), stance.mechanism
    lanes = np.arange(len(x))
    at = np.array(
        [np.searchsorted(t, w) if np.isfinite(w) else 0 for t, w in zip(time, when, strict=True)]
    )
    at = np.minimum(at, time.shape[1] - 1)
    # One sample of the flight is enough: only gravity changes the velocity of the centre of mass.
    # The body's own velocity swings about it by as much again.
    q, v = (jnp.asarray(np.asarray(a)[lanes, at]) for a in (run.q, run.v))
    momenta = np.asarray(jax.jit(jax.vmap(lambda q, v: momentum(m, q, v)[0]))(q, v))
    flown = np.nan_to_num(time[lanes, at] - when)[:, None]
    take_off = momenta / float(total_mass(m)) - flown * np.asarray(m.gravity)
    cosine = np.sum(take_off * toward, axis=1) / (np.linalg.norm(take_off, axis=1) + 1e-300)
    across = np.stack([-toward[:, 1], toward[:, 0]], axis=1)
    across = across / (np.linalg.norm(across, axis=1, keepdims=True) + 1e-300)
    top = x[lanes, np.argmax(np.nan_to_num(height, nan=-np.inf), axis=1)]
    nothing = np.where(left, 0.0, np.nan)
    return JumpOutcome(
        left=left,
        stance_duration=duration,
        rise=np.nanmax(height, axis=1),
        take_off=take_off + nothing[:, None],
        off_course=np.arccos(np.clip(cosine, -1, 1)) + nothing,
        sideways=np.sum((top - x[:, 0])[:, :2] * across, axis=1) + nothing,
        slips=slips,
        slipped=slipped,
        nearest=np.nanmin(distance, axis=1),
    )


def _one(run: Trajectory, i: int) -> tuple[bool, float, int, float, float]:
    """From the list of events of lane i: left?, stance duration, slips, time slipping, when."""
    h = jax.tree.map(lambda x: np.asarray(x)[i], run.log)
    n = int(np.asarray(run.n_events)[i])
    switches = np.flatnonzero(np.asarray(h.cause.contact)[:n] == GUARD)
    # The second switch is the one by which the mechanism is away.
    left = switches.size >= 2
    end = int(switches[1]) if left else n
    times = np.asarray(h.time)[:end]
    after = np.asarray(h.modes_after)[:end]
    before = np.asarray(h.modes_before)[:end]
    closes = np.flatnonzero((before != OPEN).any(axis=1) & (after == OPEN).all(axis=1))
    duration = float(times[closes[-1]]) if closes.size else 0.0
    # Before the first event the modes are those that it ended.
    starts = ((after == SLIP) & (before != SLIP)).sum() + (before[:1] == SLIP).sum()
    edges = np.concatenate([[0.0], times])
    during = np.concatenate([before, after[-1:]])[: len(edges) - 1]
    slipping = float(np.sum(np.diff(edges)[(during == SLIP).any(axis=1)]))
    when = float(np.asarray(h.time)[switches[0]]) if switches.size else np.nan
    return left, duration if left else np.nan, int(starts), slipping, when
