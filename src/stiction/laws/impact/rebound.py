r"""Rebound of a free Hunt-Crossley impact, exactly and without integration.

symbol  name         meaning                                              unit
v_i     speed        speed of approach, > 0                               m/s
v_o     -            speed of rebound, > 0                                m/s
d       dissipation  Hunt-Crossley dissipation                            s/m
u, w    -            scaled speeds, u = d v_i and w = d v_o               -
a       -            scaled impulse, a = (u + w)/2 = d × impulse / (2 m)  -
e       restitution  e = v_o / v_i = w / u                                -

marhefka (19) at zero depth says $u - \ln(1 + u) = -w - \ln(1 - w)$, that is
$w = 1 + W_0(-(1+u) e^{-(1+u)})$ with Lambert's W. Evaluated as it stands this loses all digits
for small $u$. In terms of the scaled impulse both speeds have a closed form (docs/compliant.md,
HC.8), with $L$ the Langevin function:

$$ u = a \, (1 + L(a)), \qquad w = a \, (1 - L(a)), \qquad e = \frac{1 - L(a)}{1 + L(a)} , $$

in which nothing cancels, whatever the speed. What is left is to find $a$ from $u$, a nearly
linear equation (the slope lies between 1 and 2).
"""

import jax
import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike
from stiction.laws.impact.langevin import SWITCH, langevin
from stiction.laws.impact.newton import newton_root

# e ≈ (1 + p u + q u²)/(1 + (p + 2/3) u + r u² + q u³) has the right slope at 0 and the right limit
# 1/u at infinity; p, q, r were fitted so that a is right to 1.3e-4 everywhere. Two Newton steps
# then reach rounding: 1.3e-4, 1e-9, 1e-18.
GUESS_P, GUESS_Q, GUESS_R = 0.1210919, 0.04584033, 0.13198756
NEWTON_STEPS = 2
INVERSE_NEWTON_STEPS = 4  # from a guess that is right to 5 %


def restitution(speed: ScalarLike, dissipation: ScalarLike) -> Scalar:
    r"""Restitution $e = v_o / v_i$ of a free impact; 1 for no speed or no dissipation.

    Independent of mass, stiffness and exponent, marhefka Sec. 4.2. Falls as
    $1 - \tfrac23 d v_i$ at low speed, marhefka (5), and as $1/(d v_i)$ at high speed.

    Args:
        speed: Speed of approach $v_i \ge 0$ [m/s].
        dissipation: Dissipation $d \ge 0$ [s/m]; $d = \tfrac32 \alpha$.

    Returns:
        Restitution in (0, 1], right to about 1e-15 of its value.
    """
    low, rest = _at_impact(speed, dissipation)
    return rest / (1.0 + low)


def rebound_speed(speed: ScalarLike, dissipation: ScalarLike) -> Scalar:
    """Speed of rebound $v_o = e v_i$ [m/s]; tends to $1/d$ at high speed (arguments as above)."""
    return jnp.asarray(speed) * restitution(speed, dissipation)


def energy_lost_fraction(speed: ScalarLike, dissipation: ScalarLike) -> Scalar:
    r"""$1 - e^2 = 4 L / (1 + L)^2$ [-], without cancellation for nearly elastic impacts."""
    low, _ = _at_impact(speed, dissipation)
    return 4.0 * low / jnp.square(1.0 + low)


def energy_lost(speed: ScalarLike, dissipation: ScalarLike, mass: ScalarLike) -> Scalar:
    r"""Energy lost [J], the loop area of marhefka (23): $\tfrac12 m v_i^2 (1 - e^2)$."""
    kinetic = 0.5 * jnp.asarray(mass) * jnp.square(speed)
    return kinetic * energy_lost_fraction(speed, dissipation)


def dissipation_for_restitution(restitution: ScalarLike, speed: ScalarLike) -> Scalar:
    r"""The dissipation that gives a wanted restitution at one speed, exactly:

    $$ L(a) = \frac{1 - e}{1 + e}, \qquad d = \frac{2 a}{(1 + e) \, v_i} . $$

    Args:
        restitution: Wanted restitution $e$ in (0, 1]; for 0 the dissipation is infinite.
        speed: Speed of approach $v_i > 0$ [m/s].

    Returns:
        Dissipation $d$ [s/m]; $\alpha = \tfrac23 d$.
    """
    positive = jnp.asarray(restitution) > 0
    e = jnp.where(positive, restitution, 1.0)
    d = 2.0 * _impulse_from_restitution(e) / ((1.0 + e) * jnp.asarray(speed))
    return jnp.where(positive, d, jnp.inf)


def sticky_speed(dissipation: ScalarLike) -> Scalar:
    r"""The parting speed $1/d = 2/(3 \alpha)$ [m/s] above which the law pulls, marhefka (22).

    Also the limit of the rebound speed as the speed of approach grows. Free impacts never exceed
    it; it takes an external pull.
    """
    return 1.0 / jnp.asarray(dissipation)


def _at_impact(speed: ScalarLike, dissipation: ScalarLike) -> tuple[Scalar, Scalar]:
    """L(a) and 1 - L(a) at the scaled impulse of this impact."""
    return langevin(_impulse(jnp.asarray(speed) * jnp.asarray(dissipation)))


@jax.custom_jvp
def _impulse(u: Scalar) -> Scalar:
    """The scaled impulse: a with a (1 + L(a)) = u."""
    e = (1.0 + u * (GUESS_P + u * GUESS_Q)) / (
        1.0 + u * ((GUESS_P + 2 / 3) + u * (GUESS_R + u * GUESS_Q))
    )
    a = 0.5 * u * (1.0 + e)
    for _ in range(NEWTON_STEPS):
        low, rest = langevin(a)
        a_u = a * (1.0 + low)
        a = a - (a_u - u) / _impulse_slope(rest, a_u)
    return a


@_impulse.defjvp
def _impulse_jvp(primals: tuple, tangents: tuple) -> tuple[Scalar, Scalar]:
    (u,), (u_dot,) = primals, tangents
    a = _impulse(u)
    _, rest = langevin(a)
    return a, u_dot / _impulse_slope(rest, u)


def _impulse_slope(rest: Scalar, u: Scalar) -> Scalar:
    """du/da = (1 - L)(1 + u), from L' = 1 - L² - 2 L / a."""
    return rest * (1.0 + u)


@jax.jit  # once for all calls: the loop inside would else be traced, and stored, by each
def _impulse_from_restitution(e: Scalar) -> Scalar:
    """The scaled impulse: a with (1 - L(a))/(1 + L(a)) = e."""
    low_wanted = (1.0 - e) / (1.0 + e)
    rest_wanted = 2.0 * e / (1.0 + e)  # 1 - low_wanted, without cancellation as e -> 0

    def residual(a: Scalar) -> Scalar:
        low, rest = langevin(a)
        # For large a the difference goes as 1/a, so that a times it is nearly linear.
        return jnp.where(a < SWITCH, low - low_wanted, a * (rest_wanted - rest))

    # Cohen's approximation of the inverse Langevin function, right to 5 %.
    guess = low_wanted * (3.0 - low_wanted**2) / (rest_wanted * (1.0 + low_wanted))
    return newton_root(residual, guess, steps=INVERSE_NEWTON_STEPS)
