r"""Logarithm and exponential less their leading terms: what the impact integrals are made of.

$$ \phi(u) = \frac{u - \ln(1 + u)}{u^2}, \qquad \psi(z) = \frac{e^z - 1 - z}{z^2} , $$

both 1/2 at 0. Written plainly they lose every digit there; no library gives them, nor their
derivatives, without that loss.
"""

import jax.numpy as jnp

from stiction._base.arrays import Array, Scalar, ScalarLike

LOG_SWITCH = 0.25
LOG_TERMS = 10  # at the switch |q| <= 1/7: the first term left out is below 1e-18
EXP_SWITCH = 0.5
EXP_TERMS = 13  # at the switch the first term left out is below 1e-17


def _apart(x: ScalarLike, switch: float) -> tuple[Array, Scalar, Scalar]:
    """Whether |x| is small, x where it is (else 0), and x where it is not (else 1)."""
    x = jnp.asarray(x)
    is_small = jnp.abs(x) < switch
    return is_small, jnp.where(is_small, x, 0.0), jnp.where(is_small, 1.0, x)


def log_excess(u: ScalarLike) -> Scalar:
    r"""$\phi(u)$ for $u > -1$, by $\ln(1+u) = 2\,\mathrm{artanh}\, q$ with $q = u/(2+u)$ near 0."""
    is_small, small, large = _apart(u, LOG_SWITCH)
    q = small / (2.0 + small)
    tail = jnp.zeros_like(q)
    for k in reversed(range(LOG_TERMS)):
        tail = tail * q * q + 1.0 / (2 * k + 3)
    near = (1.0 - 2.0 * q * tail / (2.0 + small)) / (2.0 + small)
    return jnp.where(is_small, near, (large - jnp.log1p(large)) / jnp.square(large))


def exp_excess(z: ScalarLike) -> Scalar:
    r"""$\psi(z)$ for any $z$."""
    is_small, small, large = _apart(z, EXP_SWITCH)
    near = jnp.ones_like(small)
    for k in reversed(range(3, 3 + EXP_TERMS)):  # 1/2 (1 + z/3 (1 + z/4 (1 + ...)))
        near = 1.0 + near * small / k
    return jnp.where(is_small, 0.5 * near, (jnp.expm1(large) - large) / jnp.square(large))


def exp_ratio(z: ScalarLike) -> Scalar:
    r"""$(e^z - 1)/z = 1 + z \psi(z)$, 1 at 0, with derivatives that keep their digits."""
    is_small, small, large = _apart(z, EXP_SWITCH)
    return jnp.where(is_small, 1.0 + small * exp_excess(small), jnp.expm1(large) / large)


def log_ratio(u: ScalarLike) -> Scalar:
    r"""$\ln(1 + u)/u = 1 - u \phi(u)$ for $u > -1$, 1 at 0; its derivatives keep their digits."""
    is_small, small, large = _apart(u, LOG_SWITCH)
    return jnp.where(is_small, 1.0 - small * log_excess(small), jnp.log1p(large) / large)
