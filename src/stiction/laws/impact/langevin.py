r"""The Langevin function $L(a) = \coth a - 1/a$ and what is missing from it to 1.

It appears because the exact impact relation has a closed form in the scaled impulse (see
`rebound`). Written here because no library gives it without cancellation at both ends.
"""

import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike

# L(a)/a in powers of a²: 2^(2k) B_2k / (2k)! for k = 1, 2, ... (B_2k the Bernoulli numbers). The
# series converges for a < π; at the switch the first term left out is below 1e-17.
SWITCH = 0.5
SERIES = (
    1 / 3,
    -1 / 45,
    2 / 945,
    -1 / 4725,
    2 / 93555,
    -1382 / 638512875,
    4 / 18243225,
    -3617 / 162820783125,
    87734 / 38979295480125,
    -349222 / 1531329465290625,
    310732 / 13447856940643125,
)


def langevin(a: ScalarLike) -> tuple[Scalar, Scalar]:
    r"""$L(a)$ and $1 - L(a)$ for $a \ge 0$, both to rounding; all derivatives are finite.

    $$ L(a) = \coth a - \frac1a, \qquad
       1 - L(a) = \frac1a - \frac{2 e^{-2a}}{1 - e^{-2a}} . $$
    """
    a = jnp.asarray(a)
    # Each branch gets an argument from its own side, so that the other cannot spoil derivatives.
    small = jnp.minimum(a, SWITCH)
    large = jnp.maximum(a, SWITCH)
    low = small * _horner(SERIES, small * small)
    decay = jnp.exp(-2.0 * large)
    rest = 1.0 / large - 2.0 * decay / (1.0 - decay)
    is_small = a < SWITCH
    return jnp.where(is_small, low, 1.0 - rest), jnp.where(is_small, 1.0 - low, rest)


def _horner(coefficients: tuple[float, ...], x: Scalar) -> Scalar:
    """A polynomial by Horner's rule, lowest power first."""
    total = jnp.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total
