"""Hunt-Crossley with one damping while the bodies close and another while they part."""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Scalar, ScalarLike
from stiction._base.checks import require_at_least, require_positive, to_float
from stiction.laws.normal.base import AbstractPowerSpring, PowerLaw


class AsymmetricHuntCrossley(AbstractPowerSpring):
    r"""Separate damping in compression and restitution, the document's continuing work:

    $$ f = k \, x^n \, (1 + d \, \dot x), \qquad
       d = d_c \text{ while } \dot x > 0, \quad d_r \text{ while } \dot x < 0 . $$

    The force is continuous, at the turn too, where the damping force is zero. As the document
    expects, the restitution still does not depend on mass, stiffness or exponent (it depends on
    $d_c v_i$ and $d_r / d_c$), and with $d_r = 0$ the law never pulls, however fast the bodies are
    parted. The document gives no equation; this one is the project's.

    Attributes:
        stiffness: Elastic coefficient $k > 0$ [N/m^n].
        compression_dissipation: Dissipation $d_c \ge 0$ [s/m] while closing.
        restitution_dissipation: Dissipation $d_r \ge 0$ [s/m] while parting.
        exponent: Elastic exponent $n \ge 1$ [-].
        clamp: Whether the force is kept from pulling.
    """

    stiffness: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    compression_dissipation: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    restitution_dissipation: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    exponent: Float[Array, "..."] = eqx.field(converter=to_float, default=1.0, kw_only=True)
    clamp: bool = eqx.field(static=True, default=True, kw_only=True)

    def __check_init__(self):
        require_positive("stiffness", self.stiffness, "N/m^n")
        require_at_least("compression_dissipation", self.compression_dissipation, 0.0, "s/m")
        require_at_least("restitution_dissipation", self.restitution_dissipation, 0.0, "s/m")
        require_at_least("exponent", self.exponent, 1.0)

    def damping_force(self, depth: ScalarLike, depth_rate: ScalarLike) -> Scalar:
        x_dot = jnp.asarray(depth_rate)
        d = jnp.where(x_dot > 0, self.compression_dissipation, self.restitution_dissipation)
        return self.elastic_force(depth) * d * x_dot

    def power_law(self) -> PowerLaw:
        closing, parting = self.compression_dissipation, self.restitution_dissipation
        return PowerLaw(self.stiffness, self.exponent, closing=closing, parting=parting)
