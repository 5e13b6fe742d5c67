"""An identified contact in the words that engines share: stiffness, dissipation, friction."""

from dataclasses import dataclass

import numpy as np

from stiction._errors import InputError, unknown
from stiction.identify.result import Identification


@dataclass(frozen=True)
class ContactParameters:
    """f = k xⁿ (1 + d ẋ) and Coulomb friction, as Hunt-Crossley engines take them.

    Attributes:
        stiffness: k [N/m^n].
        dissipation: d [s/m].
        friction: μ, kinetic.
        exponent: n.
        static_friction: μ_s, where identified.
    """

    stiffness: float
    dissipation: float
    friction: float
    exponent: float = 1.0
    static_friction: float | None = None


def engine_parameters(
    found: Identification, surface: str, *, exponent: float = 1.0
) -> ContactParameters:
    r"""The contact with one surface in engines' words.

    Hunt-Crossley's d is $\tfrac32 \alpha$ where α was identified. A linear damper c has no d of its
    own: taken is the one that gives the damper's force best over the samples of the log, in least
    squares, $d = c \sum \dot x^2 x^n / (k \sum \dot x^2 x^{2n})$.

    Args:
        found: From `identify`.
        surface: Its name (its material's, if it shares parameters).
        exponent: n, where it was not identified.
    """
    known = list(dict.fromkeys(n.rpartition(".")[0] for n in found.parameters))
    if surface not in known:
        raise unknown("surface", surface, [k for k in known if k and k != "bias"])
    value = {
        n.rpartition(".")[2]: p.value
        for n, p in found.parameters.items()
        if n.rpartition(".")[0] == surface
    }
    k = value["k"]
    if k is None or k <= 0:
        raise InputError(f"`{surface}.k` must be positive to be exported, got {k}")
    n = value.get("lambda") or exponent
    if value.get("alpha") is not None:
        d = 1.5 * value["alpha"]
    elif value.get("c"):
        d = value["c"] / k * _damper_ratio(found, surface, n)
    else:
        d = 0.0
    return ContactParameters(k, d, value.get("mu") or 0.0, n, value.get("mu_s"))


def _damper_ratio(found: Identification, surface: str, n: float) -> float:
    """Σ ẋ² xⁿ / Σ ẋ² x²ⁿ over the samples that touched [1/m^n]."""
    column = found.surfaces.index(surface) if surface in found.surfaces else 0
    parts = [
        (t.depth[on, column], t.depth_rate[on, column])
        for t in found.traces
        if (on := (t.touched[:, column] > 0) & t.used).any()
    ]
    x, rate = (np.concatenate(p) for p in zip(*parts, strict=True))
    return float(np.sum(rate**2 * x**n) / np.sum(rate**2 * x ** (2 * n)))
