"""More than six contacts at rest in space: the search ends, and its motions are the known ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction.motions import SpatialBody, possible_spatial_motions, spatial_state

HEIGHT, MU = 0.3, 0.5


def ring(count):
    angle = 2 * np.pi * np.arange(count) / count
    points = np.stack([np.cos(angle), np.sin(angle), np.full(count, -HEIGHT)], axis=1)
    return spatial_state(
        SpatialBody(1.0, (0.3, 0.3, 0.5)), points=points, normals=[[0, 0, 1.0]] * count, mu=MU,
        kinds=["vertex-on-face"] * count,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("force", "acceleration"),
    [((1.0, 0.0, -10.0), 0.0), ((7.0, 0.0, -10.0), 7.0 - MU * 10.0)],
    ids=["rests", "slides"],
)
def test_eight_points_on_a_table_rest_or_slide_as_coulomb_says(force, acceleration):
    found = possible_spatial_motions(ring(8), force=force, directions=4)
    assert str(found.verdict) == "unique"
    expected = np.array([acceleration, 0, 0, 0, 0, 0])
    assert_allclose(found.motions[0].acceleration, expected, atol=1e-8)
    # Eight points share the weight in many ways.
    assert found.motions[0].forces_unique is False
    assert_allclose(found.motions[0].forces[:, 2].sum(), 10.0, atol=1e-8)


@pytest.mark.slow
def test_eight_points_tip_about_the_outermost():
    found = possible_spatial_motions(
        ring(8), force=(0.0, 0.0, -10.0), torque=(0.0, 12.0, 0.0), directions=4
    )
    assert str(found.verdict) == "unique"
    kept = [i for i, mode in enumerate(found.motions[0].modes) if mode != "break"]
    assert kept == [0]  # the torque about y presses on +x
