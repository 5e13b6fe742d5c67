"""Handles to drag the start: free bodies move and turn, hinges turn and slides slide."""

from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stiction.studio.bench import Bench

MOST = 12  # handles: more hide the mechanism
_FREE, _SLIDE, _HINGE = (
    int(kind)  # NumPy's numbers are not found among MuJoCo's names
    for kind in (
        mujoco.mjtJoint.mjJNT_FREE,
        mujoco.mjtJoint.mjJNT_SLIDE,
        mujoco.mjtJoint.mjJNT_HINGE,
    )
)


class Gizmos:
    """The handles of one bench in one browser.

    Args:
        scene: The browser's own scene.
        bench: What is dragged.
        ask: Called with "start" and the new configuration while a handle is dragged.
    """

    def __init__(self, scene: Any, bench: Bench, ask: Callable[[str, Any], None]):
        self.scene, self.bench, self.ask = scene, bench, ask
        self._handles: dict[int, Any] = {}
        self._at: dict[int, _Place] = {}
        self._held = -1  # the joint that is dragged

    def show(self, wanted: bool) -> None:
        """Put handles on the joints at the start, or take them away."""
        for handle in self._handles.values():
            handle.remove()
        self._handles, self._at, self._held = {}, {}, -1
        if not wanted:
            return
        model, data = self._start()
        for joint in range(min(model.njnt, MOST)):
            if int(model.jnt_type[joint]) in (_FREE, _SLIDE, _HINGE):
                self._at[joint] = _place(model, data, joint)
                self._add(model, joint)

    def follow(self) -> None:
        """Bring the handles that are not dragged to where their joints have gone."""
        if not self._handles:
            return
        model, data = self._start()
        for joint, handle in self._handles.items():
            if joint != self._held:
                self._at[joint] = place = _place(model, data, joint)
                handle.position, handle.wxyz = place.position, place.turn

    def _start(self) -> tuple[mujoco.MjModel, mujoco.MjData]:
        model = self.bench.scene.mechanism.compiled.model
        data = mujoco.MjData(model)
        data.qpos[:] = np.asarray(self.bench.scene.q)
        mujoco.mj_kinematics(model, data)
        return model, data

    def _add(self, model: mujoco.MjModel, joint: int) -> None:
        kind, place = int(model.jnt_type[joint]), self._at[joint]
        look: dict[str, Any] = {"depth_test": False, "disable_sliders": True}
        if kind != _FREE:  # an arrow needs its own axis, a ring the two across it
            hinge = kind == _HINGE
            look |= {"active_axes": (hinge, hinge, not hinge)}
            look |= {"disable_rotations": not hinge, "disable_axes": hinge}
        scale = max(2 * float(model.stat.meansize), 0.05)
        handle = self.scene.add_transform_controls(
            f"/drag/{joint}", scale, position=place.position, wxyz=place.turn, **look
        )

        def moved(_: Any) -> None:
            q, at = np.array(self.bench.aim.q), int(model.jnt_qposadr[joint])
            new = self._at[joint].entries(kind, np.asarray(handle.position), np.array(handle.wxyz))
            if not np.allclose(q[at : at + len(new)], new, rtol=0, atol=1e-9):
                q[at : at + len(new)] = new
                self._held = joint
                self.ask("start", q.tolist())

        handle.on_update(moved)
        self._handles[joint] = handle


class _Place(NamedTuple):
    """Where a joint is: its point, its frame with the axis as z (wxyz), and its coordinate."""

    position: np.ndarray
    turn: np.ndarray
    axis: np.ndarray
    first: float

    def entries(self, kind: int, position: np.ndarray, wxyz: np.ndarray) -> np.ndarray:
        """The joint's entries of q with its handle at another place."""
        if kind == _FREE:
            return np.concatenate([position, wxyz])
        if kind == _SLIDE:
            return np.array([self.first + self.axis @ (position - self.position)])
        return np.array([self.first + turned_about_z(self.turn, wxyz.astype(float))])


def _place(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> _Place:
    body, first = int(model.jnt_bodyid[joint]), float(data.qpos[model.jnt_qposadr[joint]])
    axis = data.xaxis[joint].copy()
    if int(model.jnt_type[joint]) == _FREE:
        return _Place(data.xpos[body].copy(), data.xquat[body].copy(), axis, first)
    turn = np.zeros(4)
    mujoco.mju_quatZ2Vec(turn, axis)
    return _Place(data.xanchor[joint].copy(), turn, axis, first)


def turned_about_z(before: np.ndarray, after: np.ndarray) -> float:
    """By which angle about its own z a frame was turned [rad], quaternions wxyz."""
    back, turned = np.zeros(4), np.zeros(4)
    mujoco.mju_negQuat(back, before)
    mujoco.mju_mulQuat(turned, back, after)
    return float(2 * np.arctan2(turned[3], turned[0]))
