"""Carvalho and Martins 2019."""

import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike
from stiction.laws.normal.restitution_given import AbstractRestitutionLaw


class CarvalhoMartins(AbstractRestitutionLaw):
    r"""A rational approximation of the exact relation:

    $$ f = k x^n \left( 1 + \frac32 \frac{(1 - e)(11 - e)}{1 + 9 e} \frac{\dot x}{v_i} \right),
       \qquad u = \frac32 \frac{(1 - e)(11 - e)}{1 + 9 e} . $$

    [CarvalhoMartins2019], as used by EXUDYN [Gerstmayr2023] for $e > 1/3$. The restitution that
    results is within 0.0002 of the one asked for where $e > 0.5$, within 0.01 where $e > 0.22$, and
    too high below ($u$ stays at 16.5 where it should grow as $1/e$).
    """

    @staticmethod
    def damping_factor(restitution: ScalarLike) -> Scalar:
        e = jnp.asarray(restitution)
        return 1.5 * (1.0 - e) * (11.0 - e) / (1.0 + 9.0 * e)
