"""Every figure of flickinger's chapters 3 to 5 and appendix A shows what it must."""

import numpy as np
import pytest

from stiction.reproduce.flickinger_appendix import MU_STATIC, OMEGA, K, M, fixed_step
from stiction.reproduce.registry import entries

FIGURES = {
    3: [f"Figure 3.{n}" for n in range(1, 16)],
    4: [f"Figure 4.{n}" for n in range(1, 12)],
    5: [f"Figure 5.{n}" for n in range(1, 17)],
    None: [f"Figure A.{n}" for n in (1, 2, 3)],
}
BY_CHAPTER = [e for e in entries("flickinger") if e.chapter in FIGURES]


@pytest.mark.slow
@pytest.mark.parametrize("entry", BY_CHAPTER, ids=lambda e: e.item)
def test_figure(entry):
    made = entry.make()
    assert made.figure is not None
    assert made.checks
    assert [(c.claim, c.value) for c in made.checks if not c.passed] == []


@pytest.mark.parametrize("chapter", FIGURES)
def test_no_figure_is_left_out(chapter):
    assert sorted(e.item for e in BY_CHAPTER if e.chapter == chapter) == sorted(FIGURES[chapter])


def test_fixed_steps_stick_no_longer_than_friction_holds():
    """Where the projected velocity stays zero from step to step, static friction is enough."""
    motion = fixed_step(1e-3)
    t, d = motion.time, motion.deflection
    held = motion.sticks[1:] & motion.sticks[:-1]
    needed = np.abs(-K * d + M * OMEGA**2 * np.sin(OMEGA * t))[:-1][held]
    assert held.sum() > 100
    assert needed.max() <= MU_STATIC
    assert np.abs(np.diff(d)[held]).max() == 0.0
