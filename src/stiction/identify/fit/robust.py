"""Loss functions of whitened residuals, and the weights by which they are minimised.

Both are quadratic near zero. A bad sample weighs at most linearly (Huber) or not at all (Tukey).
The tuning constants give 95 % efficiency on normal residuals [HollandWelsch1977]. SciPy's losses
live inside its `least_squares`, know no Tukey and give no weights; these serve NumPy and JAX alike.
"""

from stiction._base.arrays import AnyArray, Float
from stiction.identify.fields import RobustLoss

Loss = RobustLoss
HUBER, TUKEY = 1.345, 4.685


def cost(residual: Float[AnyArray, "*n"], loss: Loss) -> Float[AnyArray, "*n"]:
    r"""$\rho(r)$, normalised to $r^2$ near zero."""
    xp = residual.__array_namespace__()
    if loss == "squares":
        return xp.square(residual)
    size = xp.abs(residual)
    if loss == "huber":
        return xp.where(size <= HUBER, xp.square(residual), HUBER * (2 * size - HUBER))
    inside = xp.minimum(xp.square(size / TUKEY), 1.0)
    return TUKEY**2 / 3 * (1 - (1 - inside) ** 3)


def weight(residual: Float[AnyArray, "*n"], loss: Loss) -> Float[AnyArray, "*n"]:
    r"""$\rho'(r) / 2r$: the weight of $r^2$ in iteratively reweighted least squares."""
    xp = residual.__array_namespace__()
    if loss == "squares":
        return xp.ones_like(residual)
    size = xp.abs(residual)
    if loss == "huber":
        return xp.where(size <= HUBER, 1.0, HUBER / xp.maximum(size, HUBER))
    return xp.square(xp.maximum(1 - xp.square(size / TUKEY), 0.0))


def slope(residual: Float[AnyArray, "*n"], loss: Loss) -> Float[AnyArray, "*n"]:
    """Derivative of the weight by the size of the residual."""
    xp = residual.__array_namespace__()
    size = xp.abs(residual)
    if loss == "squares":
        return xp.zeros_like(residual)
    if loss == "huber":
        return xp.where(size <= HUBER, 0.0, -HUBER / xp.maximum(size, HUBER) ** 2)
    return -4 * size / TUKEY**2 * xp.maximum(1 - xp.square(size / TUKEY), 0.0)
