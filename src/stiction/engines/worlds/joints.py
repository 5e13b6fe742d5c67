"""Pairs of a world that have no place: limits and dry friction of joints and tendons."""

from typing import Any

import mujoco
import numpy as np

from stiction.engines.blueprint import Core
from stiction.engines.pair_arrays import BLANK


def rows_of_numbers(core: Core, model: mujoco.MjModel) -> tuple[list[dict[str, Any]], list[str]]:
    """The pairs, and what they are called."""
    kinds = core.coordinates
    made: list[dict[str, Any]] = []
    names: list[str] = []

    def pair(kind: Any, first: int, sign: float, number: float, rows: int, name: str) -> None:
        axes = np.array([sign, 0, 0])
        numbers = {"kind": int(kind), "first": first, "rows": rows, "radius": float(number)}
        made.append(BLANK | numbers | {"axes": axes})
        names.append(name)

    def limit(kind: Any, first: int, bounds: np.ndarray, name: str) -> None:
        pair(kind, first, 1.0, bounds[0], 1, f"{name} at its lower limit")
        pair(kind, first, -1.0, bounds[1], 1, f"{name} at its upper limit")

    def dry(kind: Any, first: int, load: float, name: str) -> None:
        pair(kind, first, 1.0, load, 2, f"dry friction of {name}")

    off = model.opt.disableflags
    limits = not off & mujoco.mjtDisableBit.mjDSBL_LIMIT
    rubs = not off & mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    for j in np.flatnonzero(model.jnt_limited & limits):
        name = model.joint(int(j)).name or f"joint{j}"
        if model.jnt_type[j] >= int(mujoco.mjtJoint.mjJNT_SLIDE):
            limit(kinds.JOINT_LIMIT, int(j) + 1, model.jnt_range[j], name)
        else:
            most = model.jnt_range[j, 1]
            pair(kinds.BALL_LIMIT, int(j) + 1, -1.0, most, 1, f"{name} at its limit")
    for d in np.flatnonzero(model.dof_frictionloss * rubs):
        j = int(model.dof_jntid[d])
        name = model.joint(j).name or f"joint{j}"
        if model.jnt_type[j] < int(mujoco.mjtJoint.mjJNT_SLIDE):
            name = f"{name}[{d - model.jnt_dofadr[j]}]"
        dry(kinds.FREEDOM_FRICTION, int(d), model.dof_frictionloss[d], name)
    for i in np.flatnonzero(model.tendon_limited & limits):
        name = model.tendon(int(i)).name or f"tendon{i}"
        limit(kinds.TENDON_LIMIT, int(i), model.tendon_range[i], name)
    for i in np.flatnonzero(model.tendon_frictionloss * rubs):
        name = model.tendon(int(i)).name or f"tendon{i}"
        dry(kinds.TENDON_FRICTION, int(i), model.tendon_frictionloss[i], name)
    return made, names
