r"""The smooth transition assumption of [Ren2008]: how a foot's load fades in double support.

From the other foot's landing on, over a double support of length $2 T$, the force of the foot that
is about to leave is the last one it bore alone, faded by

$$ e^{-(t/T)^3}, \qquad \text{along the direction of travel} \quad
   k_1 e^{-((t - 2T/3)/T)^2} - k_2 \, t/T, \quad
   k_1 = e^{4/9}, \; k_2 = \tfrac12 k_1 e^{-16/9} , $$

which begin at 1 and end at (nearly) 0. The other foot bears the rest. The shapes were drawn from
level walking and know nothing of the moment; here it is an option, beside the splits that use it.
"""

import numpy as np

from stiction.tables import intervals

_HALVINGS = 40  # of the way to a force inside both cones
_INSIDE = 0.99  # of the cone: on its very edge every point's force would be forced


def fade(t: np.ndarray, half: float) -> tuple[np.ndarray, np.ndarray]:
    """Which part of a leaving foot's force is left: forward, and in the other directions.

    Args:
        t: Times since the other foot landed [s].
        half: Half the length of double support, T [s].
    """
    k1 = np.exp(4 / 9)
    k2 = k1 * np.exp(-16 / 9) / 2
    x = t / half
    return k1 * np.exp(-((x - 2 / 3) ** 2)) - k2 * x, np.exp(-(x**3))


def smooth_transition(
    time: np.ndarray, force: np.ndarray, down: np.ndarray, forward: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Force of each of two feet, by the smooth transition assumption.

    Args:
        time: Time of each frame [s].
        force: Force of both feet together [N].
        down: Whether each foot is on the ground, shape (n, 2).
        forward: The direction of travel, a unit vector.

    Returns:
        Forces, shape (n, 2, 3), and whether a frame could be assigned: a double support that is cut
        off by the end of the record, or does not pass from one foot to the other, could not.
    """
    both = np.asarray(down.all(axis=1))
    alone = down & ~both[:, None]
    shares = np.where(alone[:, :, None], force[:, None], 0.0)
    assigned = ~both
    for first, after in intervals(both):
        if first == 0 or after == len(time) or not (alone[first - 1].any() and alone[after].any()):
            continue
        leaving, landing = (int(np.argmax(alone[k])) for k in (first - 1, after))
        if leaving == landing:
            continue
        inside, last = slice(first, after), force[first - 1]
        half = (time[after] - time[first - 1]) / 2
        along, other = fade(time[inside] - time[first - 1], half)
        ahead = (last @ forward) * forward
        left = along[:, None] * ahead + other[:, None] * (last - ahead)
        shares[inside, leaving], shares[inside, landing] = left, force[inside] - left
        assigned[inside] = True
    return shares, assigned


def inside_cones(share: np.ndarray, force: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """A foot's share, moved as little as needed along the way to its part of the total force.

    Both it and what is left for the other foot then lie inside the friction cone, since the part
    and the rest of a force inside the cone do.

    Args:
        share: One foot's force (tangents, then normal).
        force: Force of both feet, inside the cone.
        mu: Coefficient of friction.
    """
    part = np.clip(share[:, 2] / np.maximum(force[:, 2], 1e-300), 0, 1)[:, None] * force

    def inside(f):
        return np.linalg.norm(f[:, :2], axis=1) <= _INSIDE * mu * f[:, 2]

    low, high = np.zeros(len(share)), np.ones(len(share))
    high = np.where(inside(share) & inside(force - share), 0.0, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        f = share + middle[:, None] * (part - share)
        good = inside(f) & inside(force - f)
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return share + high[:, None] * (part - share)
