r"""Whether rollouts tell a number at all: other values far from the fitted one, tried outright.

A standard error is the curvature at the minimum. Where bodies stick, friction may be anything from
some value on, and the curvature is that of chance. So each wanted number is set to values some
standard errors away, and further and further out. With $D_i$ the change of rollout i's loss, and
rollouts independent of each other, a loss that is quadratic has at z standard errors

$$ \sum_i D_i = \frac z2 \sqrt{\textstyle\sum_i (D_i - \bar D)^2} , $$

since the standard errors are those of whole rollouts too [Liang1986]. A value at which the sum is
less than that, z being that of the interval, follows the recordings as well as the fitted one.
"""

from collections.abc import Callable

import numpy as np

from stiction._base.arrays import Bool, Float
from stiction.identify.fit import robust

_AWAY = 2.0  # half-widths of the interval: there it is surely left, if it is right at all
_FURTHER = 2.0  # times as far each time
_TRIALS = 6
_HALVINGS = 6
_LOST = 1e3  # σ: of a row that a rollout did not get to

Sizes = Callable[[Float[np.ndarray, " p"]], Float[np.ndarray, "n rows"]]


def as_good(
    sizes: Sizes,
    theta: Float[np.ndarray, " p"],
    half: Float[np.ndarray, " w"],
    reach: tuple[Float[np.ndarray, " w"], Float[np.ndarray, " w"]],
    scale: Float[np.ndarray, "n rows"],
    compared: Bool[np.ndarray, "n rows"],
    loss: robust.Loss,
    z: float,
) -> Float[np.ndarray, "w 2"]:
    """The least and the greatest value of each wanted number that follow the recordings as well.

    Args:
        sizes: |r| of every row [m]; not numbers where a rollout did not get to.
        theta: As fitted, the wanted numbers first.
        half: Half-widths of their intervals.
        reach: Between which values they are looked for.
        scale: σ of every row [m].
        compared: Which rows count.
        loss: "squares", "huber" or "tukey".
        z: Standard errors that a half-width is.
    """

    def losses(theta: np.ndarray) -> np.ndarray:
        r = np.where(compared, sizes(theta) / scale, 0.0)
        return np.sum(robust.cost(np.nan_to_num(r, nan=_LOST), loss), axis=1)

    best = losses(theta)

    def follows(i: int, value: float) -> bool:
        """Whether this value of number i follows the recordings as well."""
        trial = theta.copy()
        trial[i] = value
        D = losses(trial) - best
        return not D.any() or bool(D.sum() < z / 2 * np.sqrt(np.sum((D - D.mean()) ** 2)))

    out = np.empty((len(half), 2))
    for i, width in enumerate(half):
        for side, end in enumerate((reach[0][i], reach[1][i])):
            room = end - theta[i]
            if not _AWAY * width < abs(room):  # the interval says nothing on this side
                out[i, side] = _last(follows, i, theta[i], end)
                continue
            out[i, side] = theta[i]
            for distance in [*_AWAY * width * _FURTHER ** np.arange(_TRIALS), np.inf]:
                value = theta[i] + np.sign(room) * min(distance, abs(room))
                if not follows(i, value):
                    break
                out[i, side] = value
                if distance >= abs(room):
                    break
    return out


def _last(follows: Callable[[int, float], bool], i: int, good: float, end: float) -> float:
    """The furthest value on the way to `end` that follows as well, by halving."""
    if follows(i, end):
        return end
    bad = end
    for _ in range(_HALVINGS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if follows(i, middle) else (good, middle)
    return bad
