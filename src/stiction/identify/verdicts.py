"""Plain sentences on what a test could and could not tell."""

import numpy as np

from stiction.identify.contact.parameters import LETTERS
from stiction.identify.fit.joint import MISFIT
from stiction.identify.result import Trace, under_load

_POOR = 0.2  # relative standard error above which a parameter is called poorly determined


def excitation(traces: list[Trace], columns: list[int]) -> dict[str, float]:
    """How strongly some surfaces were loaded: depths, rates and slip while they carried force."""
    depth, rate, slip = under_load(traces, columns, "depth", "depth_rate", "slip")
    if len(depth) == 0:
        return {"samples": 0.0, "depth": 0.0, "shallowest": 0.0, "rate": 0.0, "slip": 0.0}
    return {
        "samples": float(len(depth)),
        "depth": float(depth.max()),
        "shallowest": float(depth.min()),
        "rate": float(np.abs(rate).max()),
        "slip": float(slip.max()),
    }


def verdict(name: str, excited: dict[str, float], std: float, value: float, bound: float) -> str:
    """A sentence on one parameter, or nothing if it is well determined.

    Args:
        name: `surface.k`, ….
        excited: From `excitation`, of its surfaces.
        std: Standard error, infinite if not determined at all.
        value: Estimate.
        bound: Upper end of the confidence interval.
    """
    surface, _, letter = name.rpartition(".")
    what = f"{LETTERS[letter][0]} of '{surface}'" if surface else letter
    if excited["samples"] == 0:
        return f"{what}: not identifiable, the surface was never touched"
    cause = {
        "k": f"the depth never exceeded {excited['depth']:.3g} m",
        "c": f"the depth rate never exceeded {excited['rate']:.3g} m/s",
        "alpha": f"the depth rate never exceeded {excited['rate']:.3g} m/s",
        "mu": f"the slip speed never exceeded {excited['slip']:.3g} m/s",
        "k_f": "the contact hardly ever stuck",
        "mu_s": "the contact hardly ever stuck and slipped in turn",
        "lambda": (
            f"the depth only ranged from {excited['shallowest']:.3g} to {excited['depth']:.3g} m"
        ),
        "offset": f"the depth never exceeded {excited['depth']:.3g} m",
    }.get(letter, "the test did not excite it")
    if not np.isfinite(std):
        return f"{what}: not identifiable, {cause}"
    if letter in ("offset",) or name.startswith("bias"):
        return ""
    if abs(value) < 2 * std:
        return f"{what}: not identifiable beyond being less than {bound:.3g}, {cause}"
    if std > _POOR * abs(value):
        return f"{what}: poorly determined (±{100 * std / abs(value):.0f} %), {cause}"
    return ""


def misfit_warnings(whitened: float) -> list[str]:
    """A sentence if the residual is larger than the sensors' noise explains."""
    if whitened <= MISFIT:
        return []
    return [
        f"the wrench residual is {whitened:.3g} times what the sensor noise explains: the model"
        " (exponent, friction, plate positions), the frames or the noise levels do not fit;"
        " standard errors are enlarged accordingly"
    ]
