"""The linear spring and damper: the simplest law, and the one whose faults the others mend.

symbol  name       meaning              unit
k       stiffness  spring constant      N/m
b       damping    damping coefficient  N·s/m
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Scalar, ScalarLike
from stiction._base.checks import require_at_least, require_positive, to_float
from stiction.laws.normal.base import AbstractNormalLaw, PowerLaw, positive_power


class LinearSpringDamper(AbstractNormalLaw):
    r"""A linear spring beside a linear damper, marhefka (3):

    $$ f = k x + b \dot x . $$

    Valid for a body that stays in contact and is moved gently. Three faults, marhefka Sec. 2: the
    force jumps to $b v_i$ at touch; unclamped it pulls before separation; the restitution depends
    on the mass and not on the speed (`impact.spring_damper`). Kept because it is what many engines
    use underneath.

    Attributes:
        stiffness: Spring constant $k > 0$ [N/m].
        damping: Damping coefficient $b \ge 0$ [N·s/m].
        clamp: Whether the force is kept from pulling.
    """

    stiffness: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    damping: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    clamp: bool = eqx.field(static=True, default=True, kw_only=True)

    def __check_init__(self):
        require_positive("stiffness", self.stiffness, "N/m")
        require_at_least("damping", self.damping, 0.0, "N·s/m")

    def elastic_force(self, depth: ScalarLike) -> Scalar:
        return self.stiffness * jnp.maximum(depth, 0.0)

    def energy(self, depth: ScalarLike) -> Scalar:
        return 0.5 * self.stiffness * jnp.maximum(depth, 0.0) ** 2

    def depth_at_energy(self, energy: ScalarLike) -> Scalar:
        return positive_power(2.0 * jnp.asarray(energy) / self.stiffness, 0.5)

    def damping_force(self, depth: ScalarLike, depth_rate: ScalarLike) -> Scalar:
        return jnp.where(jnp.asarray(depth) > 0, self.damping * jnp.asarray(depth_rate), 0.0)

    def power_law(self) -> PowerLaw:
        return PowerLaw(self.stiffness, damping=self.damping)
