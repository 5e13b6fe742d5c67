"""Gait cycles on a common scale: every stride from 0 to 100 per cent, their mean and band."""

from dataclasses import dataclass

import numpy as np

from stiction.biped.gait.events import GaitStride
from stiction.tables import interpolate

PERCENT = np.arange(101.0)


@dataclass(frozen=True)
class Cycles:
    """Series of one foot's strides."""

    foot: str  # whose strides
    strides: tuple[GaitStride, ...]  # from when to when
    # name -> values by stride and per cent, shape (n_strides, 101, …)
    values: dict[str, np.ndarray]

    def mean(self, name: str) -> np.ndarray:
        """The mean over the strides, nan where there are none."""
        x = self.values[name]
        return x.mean(axis=0) if len(x) else np.full(x.shape[1:], np.nan)

    def band(self, name: str) -> np.ndarray:
        """The standard deviation over the strides; 0 for a single one."""
        x = self.values[name]
        return x.std(axis=0, ddof=1) if len(x) > 1 else np.zeros(x.shape[1:])


def make_cycles(
    time: np.ndarray, strides: list[GaitStride], foot: str, series: dict[str, np.ndarray]
) -> Cycles:
    """The strides of one foot on 101 points."""
    own = tuple(s for s in strides if s.foot == foot)
    values = {}
    for name, x in series.items():
        flat = x.reshape(len(x), -1)
        at = [s.start + (s.end - s.start) * PERCENT / 100 for s in own]
        cut = [interpolate(t, time, flat) for t in at]
        shape = (len(own), len(PERCENT), *x.shape[1:])
        values[name] = np.array(cut).reshape(shape)
    return Cycles(foot, own, values)
