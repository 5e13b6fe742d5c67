"""Gonthier, McPhee, Lange and Piedboeuf 2004."""

import jax.numpy as jnp

from stiction._base.arrays import Scalar, ScalarLike
from stiction.laws.normal.restitution_given import AbstractRestitutionLaw


class Gonthier(AbstractRestitutionLaw):
    r"""An approximate root of the exact relation:

    $$ f = k x^n \left( 1 + \frac{1 - e^2}{e} \frac{\dot x}{v_i} \right),
       \qquad u = \frac{1 - e^2}{e} . $$

    [Gonthier2004]. The paper states the exact relation between $u$ and $e$ (docs/compliant.md,
    HC.6) and solves it by $e\,u \approx 1 - e^2$. Tends to the exact $u = 1/e$ as
    $e \to 0$. The restitution that results is at most 0.033 below the one asked for ($e = 0.77$),
    and within 0.01 of it where $e < 0.48$ or $e > 0.97$.

    Not the whole of what EXUDYN calls by this name: its mixed model (`impactModel = 2`) takes this
    formula below $e = 1/3$ only, and that of `CarvalhoMartins` above [Gerstmayr2023].
    """

    @staticmethod
    def damping_factor(restitution: ScalarLike) -> Scalar:
        e = jnp.asarray(restitution)
        return (1.0 - e) * (1.0 + e) / e
