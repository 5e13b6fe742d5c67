"""Many virtual tests at once: how far estimates scatter, and whether their intervals are honest."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stiction._base.arrays import Float
from stiction.identify import identify, testbed_of, virtual_test
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.result import quantile


@dataclass(frozen=True)
class VirtualStudy:
    """Estimates of many tests, each on its own.

    Attributes:
        names: Of the parameters.
        truth: Their true values.
        estimates: Test by test.
        std: Standard errors, test by test.
        confidence: Of the intervals.
    """

    names: tuple[str, ...]
    truth: Float[np.ndarray, " w"]
    estimates: Float[np.ndarray, "n w"]
    std: Float[np.ndarray, "n w"]
    confidence: float

    @property
    def bias(self) -> Float[np.ndarray, " w"]:
        """Mean error, relative to the truth."""
        return self.estimates.mean(axis=0) / self.truth - 1

    @property
    def scatter(self) -> Float[np.ndarray, " w"]:
        """Standard deviation, relative to the truth."""
        return self.estimates.std(axis=0, ddof=1) / np.abs(self.truth)

    @property
    def coverage(self) -> Float[np.ndarray, " w"]:
        """The part of the intervals that hold the truth."""
        half = quantile(self.confidence) * self.std
        return np.mean(np.abs(self.estimates - self.truth) <= half, axis=0)


def repeat(setup: ContactSetup, count: int, folder: Path = Path()) -> VirtualStudy:
    """Run and identify `count` virtual tests of a setup with a `testbed`, each on its own."""
    truth = testbed_of(setup).truth
    estimates, spread = [], []
    for i in range(count):
        found = identify([virtual_test(setup, folder, number=i).recording], setup, folder)
        estimates.append([found.parameters[n].value for n in truth])
        spread.append([found.parameters[n].std for n in truth])
    return VirtualStudy(
        tuple(truth),
        np.array(list(truth.values())),
        np.array(estimates),
        np.array(spread),
        setup.method.confidence,
    )
