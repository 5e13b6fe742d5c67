"""Coulomb friction made smooth at rest."""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, ScalarLike
from stiction._base.checks import require_at_least, require_positive, to_float
from stiction.laws.tangential.base import AbstractSlidingLaw, FrictionLaw, State, Tangent


class RegularizedCoulomb(AbstractSlidingLaw):
    r"""Coulomb friction with the direction $v/|v|$ replaced by a smooth one:

    $$ f = -\mu N \frac{v}{\sqrt{|v|^2 + \epsilon^2}} . $$

    Valid for sliding much faster than $\epsilon$. Near rest it is a viscous force of coefficient
    $\mu N / \epsilon$: a body on a slope below the cone creeps, at the speed $\epsilon
    r / \sqrt{1 - r^2}$ where $r$ is load over $\mu N$; a smaller $\epsilon$ makes it creep less
    and the motion stiffer. The state of the art in many engines; for true stick take `Bristle`.

    Attributes:
        mu: Coefficient of friction $\mu \ge 0$ [-].
        slip_speed: Regularization speed $\epsilon > 0$ [m/s].
    """

    mu: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    slip_speed: Float[Array, "..."] = eqx.field(converter=to_float, default=1e-4, kw_only=True)

    def __check_init__(self):
        require_at_least("mu", self.mu, 0.0)
        require_positive("slip_speed", self.slip_speed, "m/s")

    def force(self, state: State, velocity: Tangent, normal_force: ScalarLike) -> Tangent:
        del state
        speed = jnp.sqrt(velocity @ velocity + jnp.square(self.slip_speed))
        return -self.mu * jnp.asarray(normal_force) / speed * velocity

    def friction_law(self) -> FrictionLaw:
        return FrictionLaw(self.mu, self.mu, slip_speed=self.slip_speed)
