"""What rigid contacts of a model of MuJoCo's do: restitution, friction, the law of impacts."""

from dataclasses import dataclass

from stiction._base import defaults
from stiction._base.errors import InputError, unknown
from stiction.engines.blueprint import ENERGY_METHODS, IMPACTS


@dataclass(frozen=True)
class RigidLaw:
    """How contacts rebound and rub.

    Attributes:
        restitution: Normal restitution, in [0, 1].
        mu_static: Static coefficient of friction; None takes the model's, as MuJoCo mixes it for
            each pair of geoms.
        mu_dynamic: Dynamic coefficient of friction; None takes the static one.
        rest_speed: Slower collisions do not rebound [m/s].
        impact: The impact law, one of `stiction.impacts.IMPACT_LAWS`.
        energetic: The most of the kinetic energy that an impact may leave.
        energy_method: How that is kept: "off", "scale" or "constrain".
    """

    restitution: float = defaults.RESTITUTION
    mu_static: float | None = None
    mu_dynamic: float | None = None
    rest_speed: float = defaults.REST_SPEED
    impact: str = defaults.IMPACT
    energetic: float = 1.0
    energy_method: str = "off"

    def __post_init__(self) -> None:
        if not 0 <= self.restitution <= 1:
            raise InputError(f"`restitution` must be in [0, 1], got {self.restitution:g}")
        for name in ("mu_static", "mu_dynamic", "rest_speed", "energetic"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"`{name}` must be >= 0, got {value:g}")
        if self.impact not in IMPACTS:
            raise unknown("`impact`", self.impact, IMPACTS)
        if self.energy_method not in ENERGY_METHODS:
            raise unknown("`energy_method`", self.energy_method, ENERGY_METHODS)
