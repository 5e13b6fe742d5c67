r"""Logarithm and exponential less their leading terms: what the impact integrals are made of.

$$ \phi(u) = \frac{u - \ln(1 + u)}{u^2}, \qquad \psi(z) = \frac{e^z - 1 - z}{z^2} , $$

both 1/2 at 0. Written plainly they lose every digit there; no library gives them, nor their
derivatives, without that loss.
"""

import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike

LOG_SWITCH = 0.25
LOG_TERMS = 10  # at the switch |q| <= 1/7: the first term left out is below 1e-18
EXP_SWITCH = 0.5
EXP_TERMS = 13  # at the switch the first term left out is below 1e-17


def log_excess(u: ScalarLike) -> Scalar:
    r"""$\phi(u)$ for $u > -1$, by $\ln(1+u) = 2\,\mathrm{artanh}\, q$ with $q = u/(2+u)$ near 0."""
    u = jnp.asarray(u)
    is_small = jnp.abs(u) < LOG_SWITCH
    small = jnp.where(is_small, u, 0.0)
    large = jnp.where(is_small, 1.0, u)
    q = small / (2.0 + small)
    tail = jnp.zeros_like(q)
    for k in reversed(range(LOG_TERMS)):
        tail = tail * q * q + 1.0 / (2 * k + 3)
    near = (1.0 - 2.0 * q * tail / (2.0 + small)) / (2.0 + small)
    return jnp.where(is_small, near, (large - jnp.log1p(large)) / jnp.square(large))


def exp_excess(z: ScalarLike) -> Scalar:
    r"""$\psi(z)$ for any $z$."""
    z = jnp.asarray(z)
    is_small = jnp.abs(z) < EXP_SWITCH
    small = jnp.where(is_small, z, 0.0)
    large = jnp.where(is_small, 1.0, z)
    near = jnp.ones_like(small)
    for k in reversed(range(3, 3 + EXP_TERMS)):  # 1/2 (1 + z/3 (1 + z/4 (1 + ...)))
        near = 1.0 + near * small / k
    return jnp.where(is_small, 0.5 * near, (jnp.expm1(large) - large) / jnp.square(large))


def exp_ratio(z: ScalarLike) -> Scalar:
    r"""$(e^z - 1)/z = 1 + z \psi(z)$, 1 at 0, with derivatives that keep their digits."""
    z = jnp.asarray(z)
    is_small = jnp.abs(z) < EXP_SWITCH
    small = jnp.where(is_small, z, 0.0)
    large = jnp.where(is_small, 1.0, z)
    return jnp.where(is_small, 1.0 + small * exp_excess(small), jnp.expm1(large) / large)


def log_ratio(u: ScalarLike) -> Scalar:
    r"""$\ln(1 + u)/u = 1 - u \phi(u)$ for $u > -1$, 1 at 0, likewise."""
    u = jnp.asarray(u)
    is_small = jnp.abs(u) < LOG_SWITCH
    small = jnp.where(is_small, u, 0.0)
    large = jnp.where(is_small, 1.0, u)
    return jnp.where(is_small, 1.0 - small * log_excess(small), jnp.log1p(large) / large)
