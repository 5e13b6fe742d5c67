"""Hunt-Crossley: a power-law spring whose damping grows with depth.

symbol  name         meaning                                        unit
k       stiffness    elastic coefficient                            N/m^n
n       exponent     1 flat faces, 3/2 Hertz (spheres)              -
d       dissipation  damping per unit of elastic force and speed    s/m
λ       -            the document's damping coefficient, λ = k d    N·s/m^(n+1)
α       alpha        slope of restitution at low speed, d = 3 α/2   s/m
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Numbers, Scalar, ScalarLike
from stiction._base.checks import (
    require_at_least,
    require_positive,
    require_restitution,
    to_float,
)
from stiction.laws.normal.base import AbstractPowerSpring, PowerLaw


def dissipation_from_alpha(alpha: Numbers) -> Float[Array, "..."]:
    r"""$d = \tfrac32 \alpha$ [s/m], from $\lambda = \tfrac32 \alpha k$, marhefka (7, 18)."""
    return 1.5 * jnp.asarray(alpha)


def alpha_from_dissipation(dissipation: Numbers) -> Float[Array, "..."]:
    r"""$\alpha = \tfrac23 d$ [s/m]: at low speed $e \approx 1 - \alpha v_i$, marhefka (5)."""
    return jnp.asarray(dissipation) / 1.5


class AbstractHuntCrossley(AbstractPowerSpring):
    r"""The family $f = k x^n (1 + d \dot x)$, [HuntCrossley1975]; marhefka (6), $\lambda = k d$.

    The force is continuous at touch and at separation, and pulls only if something else parts the
    bodies faster than $1/d$, marhefka (22). Members differ in where $d$ comes from.
    """

    dissipation: eqx.AbstractVar[Float[Array, "..."]]

    def damping_force(self, depth: ScalarLike, depth_rate: ScalarLike) -> Scalar:
        return self.elastic_force(depth) * self.dissipation * jnp.asarray(depth_rate)

    def power_law(self) -> PowerLaw:
        d = self.dissipation
        return PowerLaw(self.stiffness, self.exponent, closing=d, parting=d)


class HuntCrossley(AbstractHuntCrossley):
    r"""The Hunt-Crossley law with its dissipation given:

    $$ f = k \, x^n \, (1 + d \, \dot x) . $$

    The restitution of a free impact depends on $d v_i$ alone, not on mass, stiffness or exponent
    (`impact.rebound`). Valid where the loss is viscous and small enough for the bodies to part
    again: not for plastic flow, and not where restitution rises with speed.

    Attributes:
        stiffness: Elastic coefficient $k > 0$ [N/m^n].
        dissipation: Dissipation $d \ge 0$ [s/m]. 0 is elastic; 20 is common in robotics.
        exponent: Elastic exponent $n \ge 1$ [-].
        clamp: Whether the force is kept from pulling.

    Note:
        $d$ is Drake's `hunt_crossley_dissipation` and 3/2 of Simbody's dissipation.
    """

    stiffness: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    dissipation: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    exponent: Float[Array, "..."] = eqx.field(converter=to_float, default=1.0, kw_only=True)
    clamp: bool = eqx.field(static=True, default=True, kw_only=True)

    def __check_init__(self):
        require_positive("stiffness", self.stiffness, "N/m^n")
        require_at_least("dissipation", self.dissipation, 0.0, "s/m")
        require_at_least("exponent", self.exponent, 1.0)

    @classmethod
    def from_alpha(
        cls,
        *,
        stiffness: Numbers,
        alpha: Numbers,
        exponent: Numbers = 1.0,
        clamp: bool = True,
    ) -> "HuntCrossley":
        r"""The document's form, $\lambda = \tfrac32 \alpha k$, marhefka (6, 7).

        Args:
            stiffness: Elastic coefficient $k$ [N/m^n].
            alpha: Slope of the restitution at low speed, $e \approx 1 - \alpha v_i$ [s/m].
            exponent: Elastic exponent $n$ [-].
            clamp: Whether the force is kept from pulling.
        """
        require_at_least("alpha", alpha, 0.0, "s/m")
        d = dissipation_from_alpha(alpha)
        return cls(stiffness=stiffness, dissipation=d, exponent=exponent, clamp=clamp)

    @classmethod
    def from_restitution(
        cls,
        *,
        stiffness: Numbers,
        restitution: Numbers,
        impact_speed: Numbers,
        exponent: Numbers = 1.0,
        clamp: bool = True,
    ) -> "HuntCrossley":
        """The law that gives a wanted restitution at one impact speed, exactly.

        Args:
            stiffness: Elastic coefficient $k$ [N/m^n].
            restitution: Wanted restitution $e$ in (0, 1].
            impact_speed: The speed at which it is wanted [m/s].
            exponent: Elastic exponent $n$ [-].
            clamp: Whether the force is kept from pulling.
        """
        from stiction.laws.impact.rebound import dissipation_for_restitution

        require_restitution("restitution", restitution, zero=False)
        require_positive("impact_speed", impact_speed, "m/s")
        d = jnp.vectorize(dissipation_for_restitution)(restitution, impact_speed)
        return cls(stiffness=stiffness, dissipation=d, exponent=exponent, clamp=clamp)
