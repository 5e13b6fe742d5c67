"""A ball dropped in another engine: does it come back as fast as the law says?

A drop is repeated for instants of touch spread over one step (see `stepping`); the mean and the
extremes are reported.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Scalar
from stiction._base.compile import quick_jit
from stiction.interop.contact import CompliantContact
from stiction.interop.stepping import LONGEST, PHASES
from stiction.laws import HuntCrossley, impact

GRAVITY = 9.81  # [m/s²]


@dataclass(frozen=True)
class Drop:
    """What one way of running an engine made of the contact."""

    how: str  # 'Euler, 0.1 ms'
    gravity: bool
    asked: float  # restitution of the law itself (0: the ball stays)
    got: float  # mean over the instants of touch
    lowest: float
    highest: float

    @property
    def error(self) -> float:
        """Got less asked."""
        return self.got - self.asked


@dataclass(frozen=True)
class DropCheck:
    """A translation tried in its engine."""

    engine: str
    version: str
    drops: tuple[Drop, ...]


def drop_ball(
    contact: CompliantContact,
    how: str,
    start: Callable[[float, float, float], None],
    step: Callable[[], tuple[float, float]],
    time_step: float,
) -> tuple[Drop, ...]:
    """Drop the ball without gravity, which shows the law itself, and with it.

    Args:
        contact: What was asked for.
        how: The way of running the engine, in words.
        start: Puts the ball a gap above the floor [m], falling at a speed [m/s], under a gravity
            [m/s²].
        step: Takes one step; returns the gap [m] and its rate [m/s].
        time_step: The engine's step [s].
    """
    drops = []
    most_steps = int(LONGEST * contact.duration / time_step) + LONGEST
    for gravity in (0.0, GRAVITY):
        results = []
        for phase in PHASES:
            gap = float(phase) * time_step * contact.speed
            falling = math.sqrt(max(contact.speed**2 - 2 * gravity * gap, 0.0))
            start(gap, falling, gravity)
            results.append(_rebound(step, gravity, most_steps) / contact.speed)
        asked = restitution_under(contact, gravity)
        got = float(np.mean(results))
        drops.append(Drop(how, gravity > 0, asked, got, min(results), max(results)))
    return tuple(drops)


def restitution_under(contact: CompliantContact, gravity: float) -> float:
    """Restitution of the contact's own law when the weight presses on it too; 0 if it stays."""
    if gravity == 0:
        return contact.restitution
    numbers = (contact.mass, contact.speed, contact.mass * gravity)
    speed = float(_rebound_under(contact.law, *map(jnp.asarray, numbers)))
    return speed / contact.speed if math.isfinite(speed) else 0.0


@quick_jit
def _rebound_under(law: HuntCrossley, mass: Scalar, speed: Scalar, load: Scalar) -> Scalar:
    return impact.integrate_impact(
        law, mass=mass, speed=speed, load=load, throw=False
    ).rebound_speed


def _rebound(step: Callable[[], tuple[float, float]], gravity: float, most_steps: int) -> float:
    """The speed with which the ball leaves the floor; 0 if it does not."""
    touched = False
    for _ in range(most_steps):
        gap, rate = step()
        touched = touched or gap < 0
        if touched and gap > 0:
            return math.sqrt(rate * rate + 2 * gravity * gap)  # what it was at the floor
    return 0.0
