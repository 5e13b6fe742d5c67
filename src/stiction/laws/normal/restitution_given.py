"""What the laws have in common that take a restitution instead of a dissipation.

symbol  name             meaning                                    unit
e       restitution      the restitution that is asked for          -
v_i     impact_speed     the speed at which it is asked for         m/s
u       damping_factor   dissipation made dimensionless, u = d v_i  -
"""

import abc

import equinox as eqx

from stiction._base.arrays import Array, Float, Scalar, ScalarLike
from stiction._base.checks import (
    require_at_least,
    require_positive,
    require_restitution,
    to_float,
)
from stiction.laws.normal.hunt_crossley import AbstractHuntCrossley


class AbstractRestitutionLaw(AbstractHuntCrossley):
    r"""Hunt-Crossley with $d = u(e) / v_i$: each law of the literature is one formula $u(e)$.

    The exact $u(e)$ has no closed form; it is `impact.dissipation_for_restitution` (take
    `HuntCrossley.from_restitution`). The formulas approximate it, so the restitution that comes out
    is not the one that went in; docs/compliant.md shows by how much. All are Hunt-Crossley laws
    otherwise: at another speed than $v_i$ the restitution is another.

    Attributes:
        stiffness: Elastic coefficient $k > 0$ [N/m^n].
        restitution: Restitution $e$ asked for, in (0, 1].
        impact_speed: Impact speed $v_i > 0$ [m/s] at which it is asked for.
        exponent: Elastic exponent $n \ge 1$ [-]; the papers take Hertz's 3/2.
        clamp: Whether the force is kept from pulling.
    """

    stiffness: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    restitution: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    impact_speed: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    exponent: Float[Array, "..."] = eqx.field(converter=to_float, default=1.5, kw_only=True)
    clamp: bool = eqx.field(static=True, default=True, kw_only=True)

    def __check_init__(self):
        require_positive("stiffness", self.stiffness, "N/m^n")
        require_restitution("restitution", self.restitution, zero=False)
        require_positive("impact_speed", self.impact_speed, "m/s")
        require_at_least("exponent", self.exponent, 1.0)

    @staticmethod
    @abc.abstractmethod
    def damping_factor(restitution: ScalarLike) -> Scalar:
        """The law's formula $u(e)$, the dissipation times the impact speed [-]."""

    @property
    def dissipation(self) -> Float[Array, "..."]:
        """$d = u(e) / v_i$ [s/m]."""
        return self.damping_factor(self.restitution) / self.impact_speed
