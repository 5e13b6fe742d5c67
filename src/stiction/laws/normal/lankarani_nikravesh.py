"""Lankarani and Nikravesh 1990: the law most multibody texts quote."""

import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike
from stiction.laws.normal.restitution_given import AbstractRestitutionLaw


class LankaraniNikravesh(AbstractRestitutionLaw):
    r"""Damping from the energy lost, with the loop taken as that of an elastic impact:

    $$ f = k x^n \left( 1 + \frac{3 (1 - e^2)}{4} \frac{\dot x}{v_i} \right),
       \qquad u = \tfrac34 (1 - e^2) . $$

    [LankaraniNikravesh1990], as given in [Flores2011]. Valid for restitution near 1 (stiff, nearly
    elastic impacts): the restitution that results is within 0.01 of the one asked for where
    $e > 0.91$, and never below 0.66 however little is asked for.
    """

    @staticmethod
    def damping_factor(restitution: ScalarLike) -> Scalar:
        return 0.75 * (1.0 - jnp.square(restitution))
