"""Pairs of a world: limits and dry friction of joints and tendons, and room for what will touch."""

from typing import Any

import mujoco
import numpy as np

from stiction.engines.blueprint import Core


def room_for(core: Core, model: mujoco.MjModel, room: int) -> tuple[Any, int]:
    """The list of pairs: those of joints and tendons, then free places. How many are the former."""
    a, P = core.arrays, core.layout.Pairs()
    fixed = _of_numbers(model, core.coordinates)
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


def _of_numbers(model: mujoco.MjModel, kinds: Any) -> list[dict[str, Any]]:
    """Limits and dry friction of joints and tendons."""
    made: list[dict[str, Any]] = []

    def limit(kind: Any, first: int, bounds: np.ndarray) -> None:
        for bound, sign in zip(bounds, (1.0, -1.0), strict=True):
            pair = {"kind": int(kind), "axes": (sign, 0, 0), "radius": bound}
            made.append(pair | {"first": first, "rows": 1})

    def dry(kind: Any, first: int, load: float) -> None:
        pair = {"kind": int(kind), "axes": (1.0, 0, 0), "radius": load, "first": first}
        made.append(pair | {"rows": 2})

    for j in np.flatnonzero(model.jnt_limited):
        if model.jnt_type[j] >= int(mujoco.mjtJoint.mjJNT_SLIDE):
            limit(kinds.JOINT_LIMIT, int(j) + 1, model.jnt_range[j])
        else:
            pair = {"kind": int(kinds.BALL_LIMIT), "axes": (-1.0, 0, 0)}
            made.append(pair | {"radius": model.jnt_range[j, 1], "first": int(j) + 1, "rows": 1})
    for d in np.flatnonzero(model.dof_frictionloss):
        dry(kinds.FREEDOM_FRICTION, int(d), model.dof_frictionloss[d])
    for i in np.flatnonzero(model.tendon_limited):
        limit(kinds.TENDON_LIMIT, int(i), model.tendon_range[i])
    for i in np.flatnonzero(model.tendon_frictionloss):
        dry(kinds.TENDON_FRICTION, int(i), model.tendon_frictionloss[i])
    return made
