"""Friction that falls from static to dynamic as sliding begins.

symbol  name              meaning                              unit
μ_s     mu_static         friction at rest                     -
μ_d     mu_dynamic        friction when sliding fast           -
v_s     stribeck_speed    speed over which it falls            m/s
a       stribeck_power    how it falls: 1, or 2 (Gaussian)     -
"""

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, ArrayLike, Float, Numbers, ScalarLike
from stiction._base.checks import known, require_at_least, require_positive, to_float
from stiction._base.errors import InputError
from stiction.laws.tangential.base import AbstractSlidingLaw, FrictionLaw, State, Tangent


def stribeck_coefficient(
    speed: Numbers,
    *,
    mu_static: Numbers,
    mu_dynamic: Numbers,
    stribeck_speed: Numbers,
    stribeck_power: Numbers,
) -> Float[Array, "..."]:
    r"""Coefficient of friction at a sliding speed [-], entry by entry:

    $$ \mu(|v|) = \mu_d + (\mu_s - \mu_d) \exp\big( -(|v|/v_s)^a \big) , $$

    flickinger (4.10) with $\mu_{min} = \mu_d$; there it is called the Karnopp model.
    """
    moving = jnp.asarray(speed) > 0
    ratio = jnp.where(moving, speed, 1.0) / jnp.asarray(stribeck_speed)
    fall = jnp.where(moving, jnp.exp(-(ratio ** jnp.asarray(stribeck_power))), 1.0)
    mu_d = jnp.asarray(mu_dynamic)
    return mu_d + (jnp.asarray(mu_static) - mu_d) * fall


def require_friction_pair(mu_static: ArrayLike, mu_dynamic: ArrayLike) -> None:
    """Both coefficients not negative, the dynamic one not above the static one."""
    require_at_least("mu_static", mu_static, 0.0)
    require_at_least("mu_dynamic", mu_dynamic, 0.0)
    s, d = known(mu_static), known(mu_dynamic)
    if s is not None and d is not None and (d > s).any():
        raise InputError(
            f"`mu_dynamic` must not exceed `mu_static`, got {d.max():g} and {s.min():g}"
        )


class Stribeck(AbstractSlidingLaw):
    r"""Coulomb friction with a Stribeck curve, smooth at rest:

    $$ f = -\mu\big(|v|_\epsilon\big) \, N \, \frac{v}{\sqrt{|v|^2 + \epsilon^2}}, \qquad
       |v|_\epsilon = \sqrt{|v|^2 + \epsilon^2} - \epsilon . $$

    Valid for sliding, where $v_s \gg \epsilon$; with $v_s$ near $\epsilon$ the static peak is never
    reached. Creeps at rest, as `RegularizedCoulomb` does. Where the coefficient falls with speed,
    sliding can be unstable (stick-slip): that is the law, not the integrator.

    Attributes:
        mu_static: Friction at rest $\mu_s$ [-].
        mu_dynamic: Friction when sliding fast $\mu_d \le \mu_s$ [-].
        stribeck_speed: Speed $v_s > 0$ [m/s] over which the one falls to the other.
        stribeck_power: Power $a \ge 1$ [-].
        slip_speed: Regularization speed $\epsilon > 0$ [m/s].
    """

    mu_static: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    mu_dynamic: Float[Array, "..."] = eqx.field(converter=to_float, kw_only=True)
    stribeck_speed: Float[Array, "..."] = eqx.field(converter=to_float, default=1e-2, kw_only=True)
    stribeck_power: Float[Array, "..."] = eqx.field(converter=to_float, default=1.0, kw_only=True)
    slip_speed: Float[Array, "..."] = eqx.field(converter=to_float, default=1e-4, kw_only=True)

    def __check_init__(self):
        require_friction_pair(self.mu_static, self.mu_dynamic)
        require_positive("stribeck_speed", self.stribeck_speed, "m/s")
        require_at_least("stribeck_power", self.stribeck_power, 1.0)
        require_positive("slip_speed", self.slip_speed, "m/s")

    def force(self, state: State, velocity: Tangent, normal_force: ScalarLike) -> Tangent:
        del state
        squared = velocity @ velocity
        speed = jnp.sqrt(squared + jnp.square(self.slip_speed))
        mu = stribeck_coefficient(
            squared / (speed + self.slip_speed),  # speed - slip_speed, without cancellation
            mu_static=self.mu_static,
            mu_dynamic=self.mu_dynamic,
            stribeck_speed=self.stribeck_speed,
            stribeck_power=self.stribeck_power,
        )
        return -mu * jnp.asarray(normal_force) / speed * velocity

    def friction_law(self) -> FrictionLaw:
        return FrictionLaw(
            self.mu_static,
            self.mu_dynamic,
            self.stribeck_speed,
            self.stribeck_power,
            slip_speed=self.slip_speed,
        )
