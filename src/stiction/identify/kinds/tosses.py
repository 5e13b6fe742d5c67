r"""Tosses of a cube, poses only: friction while it slides on a face.

Flat on the ground and not turning, a sliding body is slowed by friction alone:
$\mu = -\hat v \cdot a / (a_z + g)$ with the recording's own g, seen in free flight, so that a wrong
length or clock scale cancels. The ratio is taken of sums over all such samples, and its error by
resampling whole tosses, since the samples of one toss are not independent.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction._base.spatial import CORNERS
from stiction.identify.columns import number, pieces, unit_quaternions
from stiction.identify.fields import Columns3, Columns4, Fraction, Positive, Setup
from stiction.identify.result import Identification, parameter
from stiction.tables import Table

_RESAMPLES = 1000
_CLEAR = 0.2  # half widths above ground: surely in flight
_LOWEST = 4  # corners of a face


class TossSetup(Setup):
    """Columns of many tosses in one table, and the cube."""

    kind: Literal["tosses"]
    half_width: Annotated[Positive, Field(description="of the cube [m]")]
    position: Columns3
    quaternion: Annotated[Columns4, Field(description="wxyz, body to world")]
    velocity: Annotated[Columns3, Field(description="world axes")]
    angular_velocity: Annotated[Columns3, Field(description="body axes")]
    start: Annotated[str, Field(description="column: first row of each toss, from 0")]
    length: Annotated[str, Field(description="column: rows of each toss")]
    rate: Annotated[float | str, Field(description="[Hz], or a column holding it")]
    flat: Annotated[Positive, Field(description="spread of the lowest face's heights [m]")] = 0.003
    max_turning: Annotated[Positive, Field(description="[rad/s]")] = 0.5
    min_speed: Annotated[Positive, Field(description="[m/s]")] = 0.15
    confidence: Fraction = 0.95

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        rate = [self.rate] if isinstance(self.rate, str) else []
        vectors = self.position + self.quaternion + self.velocity + self.angular_velocity
        return [*vectors, self.start, self.length, *rate]


def corner_heights(
    position: Float[np.ndarray, "n 3"], quaternion: Float[np.ndarray, "n 4"], half: Positive
) -> Float[np.ndarray, "n 8"]:
    """Heights of a cube's corners above z = 0 [m]."""
    from scipy.spatial.transform import Rotation

    up = Rotation.from_quat(quaternion, scalar_first=True).as_matrix()[:, 2]
    return position[:, 2:] + half * up @ CORNERS.T


def identify(table: Table, setup: TossSetup) -> Identification:
    """Friction of a cube from the phases in which it slides on a face."""
    p = table.vectors(setup.position, "length")
    q = unit_quaternions(table, setup.quaternion, "quaternion")
    v = table.vectors(setup.velocity, "length")
    w = table.plain(setup.angular_velocity)
    rate = number(table, setup.rate)
    toss = np.full(len(p), -1)
    cuts = pieces(table, setup.start, setup.length, len(p), "toss")
    for i, (a, n) in enumerate(cuts):
        toss[a : a + n] = i
    same = (toss[1:] == toss[:-1]) & (toss[1:] >= 0)
    a = np.diff(v, axis=0) * rate
    heights = np.sort(corner_heights(p, q, setup.half_width), axis=1)[:-1]
    flying = same & (heights[:, 0] > _CLEAR * setup.half_width)
    if flying.sum() < 10:
        raise InputError("no free flight in the log: gravity cannot be read from it")
    g = -float(np.median(a[flying, 2]))
    speed = np.linalg.norm(v[:-1, :2], axis=1)
    lying = heights[:, _LOWEST - 1] - heights[:, 0] < setup.flat
    down = heights[:, 0] < setup.flat
    still = np.linalg.norm(w[:-1], axis=1) < setup.max_turning
    slides = same & lying & down & still & (speed > setup.min_speed)
    if slides.sum() < 10:
        raise InputError(
            "no contact at all that slides on a face: lower `min_speed` or check units.length"
            f" (row {int(np.argmin(heights[:, 0])) + 1} comes nearest to the ground)"
        )
    slowing = -np.sum(a[slides, :2] * v[:-1][slides, :2], axis=1) / speed[slides]
    load = a[slides, 2] + g
    labels = toss[:-1][slides]
    tosses, labels = np.unique(labels, return_inverse=True)
    top = np.bincount(labels, weights=slowing)
    bottom = np.bincount(labels, weights=load)
    mu = float(top.sum() / bottom.sum())
    random = np.random.default_rng(0)
    pick = random.integers(len(tosses), size=(_RESAMPLES, len(tosses)))
    spread = float(np.std(top[pick].sum(axis=1) / bottom[pick].sum(axis=1)))
    residual = slowing - mu * load
    return Identification(
        parameters={"mu": parameter(mu, spread, "", setup.confidence)},
        covariance=np.array([[spread**2]]),
        residual_rms=float(np.sqrt(np.mean(residual**2))),
        residuals={"deceleration_rms": float(np.sqrt(np.mean(residual**2)))},
        condition=1.0,
        warnings=[],
        method="ratio of impulses while sliding on a face",
        confidence=setup.confidence,
        notes={
            "gravity_of_the_recording": g,
            "tosses": len(tosses),
            "samples": {"used": int(slides.sum())},
        },
        curves={
            "speed": speed[slides],
            "slowing": slowing,
            "load": load,
            "mu_by_toss": top / bottom,
        },
    )
