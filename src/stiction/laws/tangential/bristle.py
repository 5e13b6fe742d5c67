"""A bristle: friction with a memory, and so with true stick.

symbol  name          meaning                                        unit
z       state         deflection of the bristle                      m
k       stiffness     stiffness of the bristle                       N/m
c       damping       damping of the bristle                         N·s/m
μ       mu_*          friction, static and dynamic                   -
"""

import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Numbers, Scalar, ScalarLike
from stiction._base.checks import require_at_least, require_positive, to_float
from stiction.laws.tangential.base import AbstractTangentialLaw, FrictionLaw, Tangent
from stiction.laws.tangential.stribeck import require_friction_pair, stribeck_coefficient


class Bristle(AbstractTangentialLaw):
    r"""A spring and damper in series with a Coulomb slider: elastic inside the cone, slip at it.

    The force is that of the bristle, brought back to the friction disc:

    $$ f = -P_{\mu N}(k z + c v), \qquad c \, \dot z = P_{\mu N}(k z + c v) - k z , $$

    with $P_r$ the nearest point of the disc of radius $r$. Inside the cone $\dot z = v$: all of the
    motion is elastic, none of it is slip. So a body under a constant load below the cone comes to
    rest with $k z$ equal to the load, and stays: $v = 0$ gives $\dot z = 0$ exactly, and it does
    not creep at all. At the cone the force is $\mu N$ against $k z + c v$, and the slip
    $v - \dot z$ is along it. Without normal force the bristle springs back, in the time $c/k$. The
    power dissipated,

    $$ P(k z + c v) \cdot (v - \dot z) + c |\dot z|^2 \ge 0 , $$

    is never negative. While slipping, $c/k$ is the time scale that an integrator must resolve.

    This is the elasto-plastic idea of [Dupont2002], with the plastic part by projection instead of
    a transition function: there is no presliding hysteresis to fit, and no drift. The LuGre model
    [CanudasDeWit1995], its forerunner, creeps under a load that oscillates.

    Args:
        mu_static: Friction at rest $\mu_s$ [-].
        mu_dynamic: Friction when sliding fast [-]; the static one if left out.
        stiffness: Bristle stiffness $k > 0$ [N/m].
        damping: Bristle damping $c > 0$ [N·s/m]. Critical for a mass $m$ is $2 \sqrt{k m}$.
        stribeck_speed: Speed [m/s] over which static friction falls to dynamic.
        stribeck_power: Power of that fall, at least 1 [-].
    """

    mu_static: Float[Array, "..."]
    mu_dynamic: Float[Array, "..."]
    stiffness: Float[Array, "..."]
    damping: Float[Array, "..."]
    stribeck_speed: Float[Array, "..."]
    stribeck_power: Float[Array, "..."]

    def __init__(
        self,
        *,
        mu_static: Numbers,
        stiffness: Numbers,
        damping: Numbers,
        mu_dynamic: Numbers | None = None,
        stribeck_speed: Numbers = 1e-2,
        stribeck_power: Numbers = 1.0,
    ):
        self.mu_static = to_float(mu_static)
        self.mu_dynamic = to_float(mu_static if mu_dynamic is None else mu_dynamic)
        self.stiffness = to_float(stiffness)
        self.damping = to_float(damping)
        self.stribeck_speed = to_float(stribeck_speed)
        self.stribeck_power = to_float(stribeck_power)

    def __check_init__(self):
        require_friction_pair(self.mu_static, self.mu_dynamic)
        require_positive("stiffness", self.stiffness, "N/m")
        require_positive("damping", self.damping, "N·s/m")
        require_positive("stribeck_speed", self.stribeck_speed, "m/s")
        require_at_least("stribeck_power", self.stribeck_power, 1.0)

    def init_state(self, n_tangents: int) -> Tangent:
        return jnp.zeros(n_tangents)

    def state_rate(self, state: Tangent, velocity: Tangent, normal_force: ScalarLike) -> Tangent:
        z, k, c = state, self.stiffness, self.damping
        trial = k * z + c * velocity
        # Written around v, so that sticking gives the velocity itself: no rounding, no drift.
        return velocity + (self._scale(trial, velocity, normal_force) - 1.0) * trial / c

    def force(self, state: Tangent, velocity: Tangent, normal_force: ScalarLike) -> Tangent:
        trial = self.stiffness * state + self.damping * velocity
        return -self._scale(trial, velocity, normal_force) * trial

    def margin(self, state: Tangent, velocity: Tangent, normal_force: ScalarLike) -> Scalar:
        trial = self.stiffness * state + self.damping * velocity
        squared = trial @ trial
        loaded = squared > 0
        size = jnp.where(loaded, jnp.sqrt(jnp.where(loaded, squared, 1.0)), 0.0)
        return self._coefficient(velocity) * jnp.asarray(normal_force) - size

    def energy(self, state: Tangent) -> Scalar:
        return 0.5 * self.stiffness * (state @ state)

    def friction_law(self) -> FrictionLaw:
        return FrictionLaw(
            self.mu_static,
            self.mu_dynamic,
            self.stribeck_speed,
            self.stribeck_power,
            stiffness=self.stiffness,
            damping=self.damping,
        )

    def _scale(self, trial: Tangent, velocity: Tangent, normal_force: ScalarLike) -> Scalar:
        """How much of the trial force the cone lets through: 1 when sticking."""
        cone = self._coefficient(velocity) * jnp.asarray(normal_force)
        squared = trial @ trial
        slipping = squared > jnp.square(cone)
        size = jnp.sqrt(jnp.where(slipping, squared, 1.0))
        return jnp.where(slipping, cone / size, 1.0)

    def _coefficient(self, velocity: Tangent) -> Scalar:
        squared = velocity @ velocity
        moving = squared > 0
        speed = jnp.where(moving, jnp.sqrt(jnp.where(moving, squared, 1.0)), 0.0)
        return stribeck_coefficient(
            speed,
            mu_static=self.mu_static,
            mu_dynamic=self.mu_dynamic,
            stribeck_speed=self.stribeck_speed,
            stribeck_power=self.stribeck_power,
        )
