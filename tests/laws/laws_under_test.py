"""Every law in one list: a law added here is run through every test of its kind.

Stiffness and the rest are of order 1, so that derivatives and finite differences are not spoilt by
rounding.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
from hypothesis import settings
from jax.flatten_util import ravel_pytree
from numpy.testing import assert_allclose

from helpers import jit_once
from stiction.laws import (
    AsymmetricHuntCrossley,
    Bristle,
    CarvalhoMartins,
    Flores,
    Gonthier,
    HuntCrossley,
    LankaraniNikravesh,
    LinearSpringDamper,
    RegularizedCoulomb,
    Stribeck,
    impact,
)

# The first example compiles; later ones are fast.
patient = settings(max_examples=50)

_GIVEN = {"stiffness": 3.0, "restitution": 0.6, "impact_speed": 1.3}

NORMAL_LAWS = {
    "linear": LinearSpringDamper(stiffness=3.0, damping=0.7),
    "hunt-crossley": HuntCrossley(stiffness=3.0, dissipation=0.5),
    "hertz": HuntCrossley(stiffness=3.0, dissipation=0.5, exponent=1.5),
    "square": HuntCrossley(stiffness=3.0, dissipation=0.5, exponent=2.0),
    "marhefka": HuntCrossley.from_alpha(stiffness=3.0, alpha=0.4, exponent=1.2),
    "exact restitution": HuntCrossley.from_restitution(**_GIVEN),
    "asymmetric": AsymmetricHuntCrossley(
        stiffness=3.0, compression_dissipation=0.2, restitution_dissipation=0.9, exponent=1.5
    ),
    "lankarani-nikravesh": LankaraniNikravesh(**_GIVEN),
    "flores": Flores(**_GIVEN),
    "gonthier": Gonthier(**_GIVEN),
    "carvalho-martins": CarvalhoMartins(**_GIVEN),
}

SLIDING_LAWS = {
    "coulomb": RegularizedCoulomb(mu=0.5, slip_speed=0.01),
    "stribeck": Stribeck(mu_static=0.7, mu_dynamic=0.4, stribeck_speed=0.1, slip_speed=0.01),
    "gaussian": Stribeck(
        mu_static=0.7, mu_dynamic=0.4, stribeck_speed=0.1, stribeck_power=2.0, slip_speed=0.01
    ),
}
BRISTLES = {
    "bristle": Bristle(mu_static=0.5, stiffness=30.0, damping=2.0),
    "stribeck bristle": Bristle(
        mu_static=0.7, mu_dynamic=0.4, stribeck_speed=0.1, stiffness=30.0, damping=2.0
    ),
}
TANGENTIAL_LAWS = SLIDING_LAWS | BRISTLES


@eqx.filter_jit
def _integrate(law, mass, speed):
    return impact.integrate_impact(law, mass=mass, speed=speed)


def integrated(law, mass: float, speed: float) -> impact.Rebound:
    """One impact by integration; compiled once for all laws of a kind."""
    return _integrate(law, jnp.asarray(mass), jnp.asarray(speed))


def exact_restitution(u) -> mp.mpf:
    """e(d v) by Lambert's W, in as many digits as it takes (the plain form loses 2 per decade)."""
    with mp.workdps(80):
        u = mp.mpf(float(u))
        w = 1 + mp.lambertw(-(1 + u) * mp.exp(-(1 + u))).real
        return w / u


def relative_error(value, exact) -> float:
    """Of a float against a number of mpmath, formed there."""
    return float(abs(mp.mpf(float(value)) / exact - 1))


def assert_derivatives_match_differences(function, *arguments, second=True, h=1e-4, rtol=1e-6):
    """The gradient by every argument (reverse mode), against central differences; with `second`
    also the second derivative along a direction that mixes them all (forward over reverse).

    Cheaper to compile than `jax.test_util.check_grads`, which compiles every operation by itself.
    """
    x, unravel = ravel_pytree(arguments)
    flat = lambda y: function(*unravel(y))  # noqa: E731
    mixed = jnp.asarray(np.linspace(0.5, 1.0, x.size) / np.sqrt(x.size))
    along = jnp.outer(jnp.arange(-1.0, 2.0), mixed)
    steps = jnp.concatenate([jnp.eye(x.size), -jnp.eye(x.size), along])
    values = np.asarray(jit_once(jax.vmap(flat))(x[None] + h * steps))
    above, below, (under, here, over) = np.split(values, [x.size, 2 * x.size])
    size = 1 + abs(here)
    gradient = jit_once(jax.grad(flat))(x)
    assert_allclose(gradient, (above - below) / (2 * h), rtol=rtol, atol=rtol * size)
    if second:
        _, curved = jit_once(lambda y: jax.jvp(jax.grad(flat), (y,), (mixed,)))(x)
        # Rounding of the second difference is eps/h², 2e-8 here.
        difference = (over - 2 * here + under) / h**2
        assert_allclose(mixed @ curved, difference, rtol=1e-4, atol=1e-5 * size)
