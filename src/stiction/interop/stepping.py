"""What a fixed-step engine makes of an impact, and the parameter that makes it right on average.

A fixed step sees the ball first somewhere inside the floor, up to one step deep, and what comes out
depends on how deep. So everything is averaged over instants of touch spread over one step.
"""

from collections.abc import Callable

import numpy as np

PHASES = (np.arange(8) + 0.5) / 8  # of a step still to go when the ball is let go
LONGEST = 20  # durations of a free impact after which the ball has not come back
HALVINGS = 40

# One step of an engine: depth and its rate before -> after, for a ball of speed 1.
Step = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def stepped_restitution(step: Step, time_step: float, duration: float) -> np.ndarray:
    """Restitution of a ball for every instant of touch; 0 where it does not come back."""
    x, v = -PHASES * time_step, np.ones_like(PHASES)
    out, parted = np.zeros_like(x), np.zeros(x.shape, bool)
    for _ in range(int(LONGEST * duration / time_step) + LONGEST):
        x, v = step(x, v)
        leaving = ~parted & (x < 0) & (v < 0)
        out[leaving] = -v[leaving]
        parted |= leaving
        if parted.all():
            break
    return out


def adjust(restitution: Callable[[float], np.ndarray], wanted: float, high: float) -> float:
    """The damping in [0, high] whose mean restitution is the one wanted; else the nearer end."""
    low = 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if restitution(middle).mean() > wanted else (low, middle)
    return 0.5 * (low + high)
