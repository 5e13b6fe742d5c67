"""Random worlds in short runs; `python -m benchmarks worlds` tries a thousand."""

import numpy as np
import pytest

from stiction.engines.worlds.shapes import _of_mesh

from .worlds import start_of, try_world, worlds


def test_random_worlds_come_to_their_end(cases):
    """Nothing is inside of anything, no energy comes from nowhere, every ledger closes."""
    count = cases(400)
    found = worlds(count)
    assert found["right"] >= 0.98 * count, found


@pytest.mark.parametrize("number", [0, 72, 178, 192, 256, 341, 414, 508, 575, 615, 670])
def test_worlds_in_which_something_was_inside_of_something(number):
    """Normals from steps that were tried (0, 178, 256); ends on edges and capsules (72, 192, 414,
    615, 670); corners before edges, which are no pair (341, 508, 575).
    """
    assert try_world(number).what == "right"


def test_a_normal_impulse_below_zero_by_rounding_is_none():
    """Poisson's law took a part of it for the least impulse: friction became 0 / 0."""
    assert try_world(706).what == "right"


@pytest.mark.parametrize("number", [16, 66, 92])
def test_a_mesh_has_no_corner_outside_of_its_faces(number):
    """MuJoCo merges faces that are nearly in one plane; these meshes have such."""
    model, _, _ = start_of(number)
    for mesh in range(model.nmesh):
        solid = _of_mesh(model, mesh)
        size = np.ptp(solid.vertices, axis=0).max()
        for face, normal in zip(solid.faces, solid.normals, strict=True):
            above = (solid.vertices - solid.vertices[face].mean(axis=0)) @ normal
            assert above.max() < 1e-6 * size


def test_a_world_is_the_same_every_time():
    assert try_world(3) == try_world(3)
