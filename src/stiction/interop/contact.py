"""A contact in this project's words, its translation, and what an engine tells of itself."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stiction._base.checks import require_at_least, require_positive, require_restitution
from stiction._base.errors import InputError
from stiction.laws import HuntCrossley, alpha_from_dissipation, impact

if TYPE_CHECKING:
    from stiction.interop.drop import DropCheck

STEPS_PER_CONTACT = 100  # of a fixed-step engine, recommended


@dataclass(frozen=True)
class CompliantContact:
    """A Hunt-Crossley contact with friction, of a body of one mass, hit at one speed.

    Mass and speed are part of it because most engines have another law: what they can keep, they
    can keep for one mass, and often at one speed only.
    """

    stiffness: float  # k [N/m^n], of the pair
    dissipation: float  # d [s/m], of the pair
    exponent: float = 1.0  # n
    mass: float = 1.0  # of the body, the reduced mass of two [kg]
    speed: float = 1.0  # of approach [m/s]
    mu_static: float = 0.0
    mu_dynamic: float = 0.0
    radius: float | None = None  # relative radius of curvature [m]; only some engines ask for it

    def __post_init__(self):
        require_positive("stiffness", self.stiffness, "N/m^n")
        require_at_least("dissipation", self.dissipation, 0.0, "s/m")
        require_at_least("exponent", self.exponent, 1.0)
        require_positive("mass", self.mass, "kg")
        require_positive("speed", self.speed, "m/s")
        require_at_least("mu_static", self.mu_static, 0.0)
        require_at_least("mu_dynamic", self.mu_dynamic, 0.0)
        if self.mu_dynamic > self.mu_static:
            raise InputError(
                f"`mu_dynamic` must not exceed `mu_static`, got {self.mu_dynamic:g} and"
                f" {self.mu_static:g}"
            )
        if self.radius is not None:
            require_positive("radius", self.radius, "m")

    @property
    def law(self) -> HuntCrossley:
        """The normal law."""
        return HuntCrossley(
            stiffness=self.stiffness, dissipation=self.dissipation, exponent=self.exponent
        )

    @cached_property
    def restitution(self) -> float:
        """Restitution of a free impact at the contact's speed [-]."""
        return float(impact.restitution(self.speed, self.dissipation))

    @property
    def alpha(self) -> float:
        """The document's slope of restitution at low speed [s/m]."""
        return float(alpha_from_dissipation(self.dissipation))

    @cached_property
    def peak_depth(self) -> float:
        """Greatest depth of a free impact at the contact's speed [m]."""
        return float(impact.peak_depth(**self._impact()))

    @cached_property
    def duration(self) -> float:
        """Duration of a free impact at the contact's speed [s]."""
        return float(impact.contact_duration(**self._impact()))

    def to_json(self) -> dict[str, float]:
        """The contact in this project's words, with what follows from it, as plain data."""
        names = ("stiffness", "exponent", "dissipation", "alpha", "restitution", "speed", "mass")
        names += ("mu_static", "mu_dynamic", "peak_depth", "duration")
        return {name: getattr(self, name) for name in names}

    def with_restitution(self, restitution: float) -> "CompliantContact":
        """The same contact with the dissipation that gives a restitution at its speed."""
        require_restitution("restitution", restitution, zero=False)
        d = float(impact.dissipation_for_restitution(float(restitution), float(self.speed)))
        return replace(self, dissipation=d)

    def with_peak_depth(self, depth: float, exponent: float) -> "CompliantContact":
        """The contact of another exponent with the same restitution, and this peak depth."""
        require_positive("depth", depth, "m")
        n, v = float(exponent), self.speed
        energy = self.mass * v * v * float(impact.log_excess(self.dissipation * v))
        return replace(self, exponent=n, stiffness=(n + 1.0) * energy / depth ** (n + 1.0))

    def _impact(self) -> dict[str, float]:
        return {
            "speed": float(self.speed),
            "dissipation": float(self.dissipation),
            "mass": float(self.mass),
            "stiffness": float(self.stiffness),
            "exponent": float(self.exponent),
        }


@dataclass(frozen=True)
class Translation:
    """A contact in an engine's words."""

    engine: str
    parameters: Mapping[str, Any]  # by the engine's own names
    limits: tuple[str, ...]  # what the engine cannot express, plainly
    snippet: str  # to paste
    time_step: float | None = None  # recommended for a fixed-step engine [s]


@dataclass(frozen=True)
class ForeignEngine:
    """Another engine: its parameters by name and meaning, and the functions that speak with it.

    Attributes:
        title: Its name as its makers write it.
        parameters: What `back` reads, by the engine's own names: meaning and unit of each.
        to: From a contact to the engine's parameters; takes `options` by keyword.
        back: From the engine's parameters, for one mass and speed, to a contact and what was lost.
        options: What `to` takes beside the contact: meaning and unit of each.
        check: Drops a ball in the engine, where it can be run.
    """

    title: str
    parameters: Mapping[str, str]
    to: Callable[..., Translation]
    back: Callable[..., tuple[CompliantContact, tuple[str, ...]]]
    options: Mapping[str, str] = field(default_factory=dict)
    check: "Callable[[CompliantContact, Translation], DropCheck] | None" = None


TIME_STEP = {"time_step": "the engine's time step [s]"}  # an option of engines with fixed steps


def recommended_step(duration: float) -> float:
    """A hundredth of a contact's duration, rounded [s]."""
    return round_step(duration / STEPS_PER_CONTACT)


def round_step(step: float) -> float:
    """A time step rounded down to 1, 2 or 5 times a power of ten [s]."""
    power = 10.0 ** math.floor(math.log10(step))
    return max(f for f in (1.0, 2.0, 5.0) if f * power <= step * (1 + 1e-12)) * power


def number(parameters: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """One of an engine's parameters as a number, or its default."""
    value = parameters.get(name, default)
    if value is None:
        raise InputError(f"`{name}` is needed, got only: {', '.join(parameters) or 'nothing'}")
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be a number, got '{value}'") from None
    if not math.isfinite(result):
        raise InputError(f"`{name}` must be finite, got {value}")
    return result
