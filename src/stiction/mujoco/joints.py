"""Pairs of a world: limits and dry friction of its joints, and room for what will touch."""

from typing import Any

import mujoco
import numpy as np

from stiction.engines.assemble import Core


def room_for(core: Core, model: mujoco.MjModel, room: int) -> tuple[Any, int]:
    """The list of pairs: those of joints, then free places. And how many are of joints."""
    a, P = core.arrays, core.layout.Pairs()
    fixed = _of_joints(model, core.contacts)
    P.count = n = len(fixed) + room
    whole = {name: np.zeros(n) for name in ("kind", "first", "second", "rows", "motion")}
    whole["kind"][:], whole["rows"][:], whole["motion"][:] = int(core.contacts.NOTHING), 1, -1
    axes, radius = np.zeros((n, 3)), np.zeros(n)
    for i, pair in enumerate(fixed):
        for name in ("kind", "first", "rows"):
            whole[name][i] = pair[name]
        axes[i], radius[i] = pair["axes"], pair["radius"]
    for name, value in whole.items():
        setattr(P, name, a.whole(value))
    P.axes, P.radius, P.reach = a.vec(axes, core.reals.vec3), a.real(radius), a.real(np.zeros(n))
    for name in ("point", "on", "along"):
        setattr(P, name, a.vec(np.zeros((n, 3)), core.reals.vec3))
    for name in ("turn", "facing"):
        setattr(P, name, a.vec(np.tile([0, 0, 0, 1.0], (n, 1)), core.reals.quat))
    P.twist = a.vec(np.zeros((n, 2)), core.reals.vec2)
    for name in ("geoms", "parts"):
        setattr(P, name, a.couples(np.full((n, 2), -1)))
    return P, len(fixed)


def _of_joints(model: mujoco.MjModel, kinds: Any) -> list[dict[str, Any]]:
    """Limits and dry friction of hinges and slides."""
    made = []
    for j in range(model.njnt):
        if model.jnt_type[j] < 2:
            continue
        if model.jnt_limited[j]:
            for bound, sign in zip(model.jnt_range[j], (1.0, -1.0), strict=True):
                limit = {"kind": int(kinds.JOINT_LIMIT), "axes": (sign, 0, 0), "radius": bound}
                made.append(limit | {"first": j + 1, "rows": 1})
        load = model.dof_frictionloss[model.jnt_dofadr[j]]
        if load > 0:
            dry = {"kind": int(kinds.JOINT_FRICTION), "axes": (1.0, 0, 0), "radius": load}
            made.append(dry | {"first": j + 1, "rows": 2})
    return made
