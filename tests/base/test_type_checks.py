"""The checks of tests themselves: what is defined anew at every call is checked every time."""

import numpy as np
import pytest
from jaxtyping import Float, TypeCheckError, jaxtyped

from type_checks import checked


def dot(width):
    @jaxtyped(typechecker=checked)
    def of(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"]) -> float:
        return float(a @ b[: len(a)]) if width else None

    return of


@pytest.mark.parametrize("time", [1, 2])
def test_functions_inside_of_functions_are_checked_however_often_they_are_made(time):
    for _ in range(time):
        assert dot(1)(np.ones(2), np.ones(2)) == 2.0
        with pytest.raises(TypeCheckError):
            dot(1)(np.ones(2), np.ones(3))
        with pytest.raises(TypeCheckError):
            dot(0)(np.ones(2), np.ones(2))
        with pytest.raises(TypeCheckError):
            dot(1)(np.ones(2), 1)
