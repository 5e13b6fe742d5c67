"""Handles that drag the start, moved without a browser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import stiction
from stiction.studio import Bench
from stiction.studio.gizmos import Gizmos


class FakeHandle:
    def __init__(self, position, wxyz, **look):
        self.position, self.wxyz, self.look = np.array(position), np.array(wxyz), look

    def on_update(self, moved):
        self.moved = moved

    def remove(self):
        self.removed = True


class FakeScene:
    def __init__(self):
        self.handles = []

    def add_transform_controls(self, name, scale, **options):
        self.handles.append(FakeHandle(**options))
        return self.handles[-1]


def dragged(name, whole=False):
    asked, scene = {}, FakeScene()
    bench = Bench(stiction.scene(name, until=0.1, samples=3))
    gizmos = Gizmos(scene, bench, asked.__setitem__)
    gizmos.show(True)
    return (bench, scene.handles, asked, gizmos) if whole else (bench, scene.handles, asked)


def test_a_free_body_goes_where_it_is_dragged():
    bench, (handle,), asked = dragged("box")
    handle.position, handle.wxyz = np.array([0.3, 0.2, 1.0]), np.array([0.6, 0.8, 0.0, 0.0])
    handle.moved(None)
    assert_allclose(asked["start"], [0.3, 0.2, 1.0, 0.6, 0.8, 0.0, 0.0])
    assert bench.change({"start.q": asked["start"]})
    assert_allclose(bench.run.q[0], asked["start"])


@pytest.mark.parametrize("angle", [-0.7, 0.4])
def test_a_hinge_turns_about_its_axis(angle):
    bench, handles, asked = dragged("double-pendulum")
    before = np.array(bench.scene.q)
    second = handles[1]
    turn = Rotation.from_quat(second.wxyz, scalar_first=True)
    turned = turn * Rotation.from_euler("z", angle)
    second.wxyz = turned.as_quat(scalar_first=True)
    second.moved(None)
    assert_allclose(asked["start"], before + np.array([0, angle]), atol=1e-12)
    assert second.look["disable_axes"]
    assert second.look["active_axes"] == (True, True, False)  # or the ring is not drawn at all


def test_handles_follow_the_joints_that_carry_them():
    """The elbow goes with the upper arm; where it is put by the program nothing runs again."""
    bench, (first, second), asked, gizmos = dragged("double-pendulum", whole=True)
    start, elbow = np.array(bench.scene.q), second.position.copy()
    turn = Rotation.from_quat(first.wxyz, scalar_first=True) * Rotation.from_euler("z", 0.5)
    first.wxyz = turn.as_quat(scalar_first=True)
    first.moved(None)
    assert bench.change({"start.q": asked.pop("start")})
    gizmos.follow()
    arm = np.linalg.norm(elbow - first.position)
    assert_allclose(np.linalg.norm(second.position - elbow), 2 * arm * np.sin(0.25), rtol=1e-9)
    second.moved(None)
    assert not asked
    wrist = Rotation.from_quat(second.wxyz, scalar_first=True) * Rotation.from_euler("z", 0.2)
    second.wxyz = wrist.as_quat(scalar_first=True)
    second.moved(None)
    assert_allclose(asked["start"], start + np.array([0.5, 0.2]), atol=1e-12)
