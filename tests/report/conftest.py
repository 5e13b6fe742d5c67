"""A small motion to look at."""

import numpy as np
import pytest

from stiction.report.player import WORLD, Animation, Mark, Plane, Shape, Trail


@pytest.fixture
def make_animation():
    """Two bodies, every kind of shape, a slope, events, forces and a trail."""

    def make(n=50, duration=2.0, **options):
        time = np.linspace(0.5, 0.5 + duration, n)
        turn = 3.0 * (time - time[0])
        positions = np.zeros((n, 2, 3))
        positions[:, 0] = np.stack([np.cos(turn), 0 * turn, 1 + np.sin(turn)], axis=1)
        positions[:, 1, 0] = 0.3 * time
        quaternions = np.zeros((n, 2, 4))
        quaternions[:, 0, 0], quaternions[:, 0, 2] = np.cos(turn / 2), np.sin(turn / 2)
        quaternions[:, 1, 0] = -1.0
        forces = np.zeros((n, 2, 6))
        forces[n // 2 :, 0, 5] = 100.0
        forces[:, 1] = np.nan
        shapes = [
            Shape("box", [0.1, 0.2, 0.3], None, 0),
            Shape("sphere", [0.1, 0, 0], (1, 0, 0, 1), 1, (-1.9, 0, 0.2)),
            Shape("ellipsoid", [0.1, 0.2, 0.3], None, 1),
            Shape("capsule", [0.1, 0.2], None, 0),
            Shape("cylinder", [0.1, 0.2], (0, 1, 0, 0.5), WORLD, (50, 0, 0)),
            Shape("line", [0.4], None, 0),
            Shape("mesh", body=1, vertices=0.1 * np.eye(3), faces=np.array([[0, 1, 2]])),
            Shape("plane", [1.0, 1.0, 0.1], None, WORLD, (0, 0, -1)),
        ]
        given = {
            "ground": [Plane(), Plane((0, 0, 0), (0.2, 0, 1))],
            "events": [Mark(1.0, "impact", "tip <b>"), Mark(1.5, "slip"), Mark(1.2, "impact")],
            "forces": forces,
            "trails": [Trail(0, (0, 0, 0.3))],
        }
        return Animation(time, shapes, positions, quaternions, **(given | options))

    return make
