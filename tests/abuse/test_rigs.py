"""Random rigs: none fails, no force leaves its cone; `python -m benchmarks rigs` tries them all."""

import pytest

from .rigs import LAWS, RIGS

# Of the largest force of a run. Exact events share forces to 1e-9 of them; fixed steps solve their
# problems to 1e-7.
OUTSIDE = {"hybrid": 2e-9, "stepping": 1e-7}


@pytest.mark.parametrize("engine", LAWS)
@pytest.mark.parametrize("rig", RIGS)
def test_nothing_fails_and_no_force_leaves_its_cone(rig, engine, rng, cases):
    held = RIGS[rig](rng, cases(100), engine)
    assert not held.ended
    assert held.outside <= OUTSIDE[engine]
