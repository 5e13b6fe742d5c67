"""How late the wrench's clock is against the pose's.

The lag at which the wrench correlates best with the contact columns, all of them together: the
multiple correlation, since damping alone shifts force against depth and must not be taken for a
late clock. A coarse grid finds the valley, a parabola through its floor the fraction of a sample.
"""

from collections.abc import Callable

import numpy as np

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction.identify.contact.along import columns_along, contacts_along
from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import ContactModel
from stiction.identify.fit import least_squares
from stiction.identify.recording import Recording

_FARTHEST = 0.25  # the largest delay looked for, either way [s]
_GRID = 41  # lags tried in each round
_ROUNDS = 4  # each round narrows the search twentyfold
_FEWEST = 20  # samples under load


def estimate_delay(
    model: ContactModel,
    recording: Recording,
    path: Callable[[np.ndarray], BodyState],
    noise: Float[np.ndarray, "6"],
) -> float:
    """Seconds to take off the wrench's times so that they agree with the pose's.

    Args:
        model: What may touch what.
        recording: The test, its wrench on a clock of its own.
        path: The motion at any time of the pose's clock.
        noise: Standard deviation of the wrench's entries.
    """
    wrench_time, wrench = recording.wrench_time, recording.wrench
    first, last = recording.pose_time[[0, -1]]
    pressed = np.linalg.norm(wrench[:, :3] / noise[:3], axis=1) > 6.0
    keep = pressed & (wrench_time - _FARTHEST >= first) & (wrench_time + _FARTHEST <= last)
    if keep.sum() < _FEWEST:
        raise InputError(
            f"`wrench.delay` cannot be estimated: {int(keep.sum())} samples under load lie"
            f" {_FARTHEST:g} s inside the log, at least {_FEWEST} are needed; give a number [s]"
        )
    time, w = wrench_time[keep], (wrench[keep] / noise).reshape(-1)

    def misfit(lag: float) -> float:
        motion = path(time - lag)
        loaded = contacts_along(model, model.unloaded(), motion).touching
        A, _ = columns_along(model, model.nonlinear_start(), motion, loaded, None)
        A = (np.asarray(A) / noise[:, None]).reshape(len(w), -1)
        return least_squares.solve(A, w).squares

    middle, reach = 0.0, _FARTHEST
    for _ in range(_ROUNDS):
        lags = middle + reach * np.linspace(-1, 1, _GRID)
        costs = np.array([misfit(lag) for lag in lags])
        i = int(np.clip(np.argmin(costs), 1, _GRID - 2))
        middle, reach = float(lags[i]), 2 * reach / (_GRID - 1)
        if reach < 0.2 * float(np.median(np.diff(wrench_time))):
            break
    left, here, right = costs[i - 1 : i + 2]
    curvature = left - 2 * here + right
    return middle + (0.5 * reach * (left - right) / curvature if curvature > 0 else 0.0)
