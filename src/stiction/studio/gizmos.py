"""Handles to drag the start: free bodies move and turn, hinges turn and slides slide."""

from collections.abc import Callable
from typing import Any

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
        self._handles: list[Any] = []

    def show(self, wanted: bool) -> None:
        """Put handles on the joints at the start, or take them away."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        if not wanted:
            return
        model = self.bench.scene.mechanism.compiled.model
        data = mujoco.MjData(model)
        data.qpos[:] = np.asarray(self.bench.scene.q)
        mujoco.mj_kinematics(model, data)
        for joint in range(min(model.njnt, MOST)):
            kind = int(model.jnt_type[joint])
            if kind in (_FREE, _SLIDE, _HINGE):
                self._add(model, data, joint, kind)

    def _add(self, model: mujoco.MjModel, data: mujoco.MjData, joint: int, kind: int) -> None:
        at, body = int(model.jnt_qposadr[joint]), int(model.jnt_bodyid[joint])
        look = {"depth_test": False, "disable_sliders": True}
        name, scale = f"/drag/{joint}", max(2 * float(model.stat.meansize), 0.05)
        if kind == _FREE:
            handle = self.scene.add_transform_controls(
                name, scale, position=data.xpos[body], wxyz=data.xquat[body], **look
            )

            def entries() -> np.ndarray:
                return np.concatenate([handle.position, handle.wxyz])
        else:
            # The handle's z is the joint's axis.
            turn, anchor, axis = np.zeros(4), data.xanchor[joint].copy(), data.xaxis[joint].copy()
            mujoco.mju_quatZ2Vec(turn, axis)
            first = float(data.qpos[at])
            handle = self.scene.add_transform_controls(
                name, scale, position=anchor, wxyz=turn, active_axes=(False, False, True),
                disable_rotations=kind == _SLIDE, disable_axes=kind == _HINGE, **look,
            )  # fmt: skip

            def entries() -> np.ndarray:
                if kind == _SLIDE:
                    return np.array([first + axis @ (np.asarray(handle.position) - anchor)])
                return np.array([first + turned_about_z(turn, np.asarray(handle.wxyz, float))])

        def moved(_: Any) -> None:
            q, new = np.array(self.bench.scene.q), entries()
            q[at : at + len(new)] = new
            self.ask("start", q.tolist())

        handle.on_update(moved)
        self._handles.append(handle)


def turned_about_z(before: np.ndarray, after: np.ndarray) -> float:
    """By which angle about its own z a frame was turned [rad], quaternions wxyz."""
    back, turned = np.zeros(4), np.zeros(4)
    mujoco.mju_negQuat(back, before)
    mujoco.mju_mulQuat(turned, back, after)
    return float(2 * np.arctan2(turned[3], turned[0]))
