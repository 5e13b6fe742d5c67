"""MuJoCo's equality constraints as bonds of the core: loops, welds, coupled joints and tendons."""

from typing import Any

import mujoco
import numpy as np

from stiction._base.errors import InputError
from stiction.engines.blueprint import Core
from stiction.engines.core import part

_EQ = mujoco.mjtEq


def bonds_of(core: Core, model: mujoco.MjModel) -> Any:
    """The bonds of a model: those of its equality constraints that are switched on."""
    kinds = part("bonds")
    rows: list[dict[str, Any]] = []

    def bond(kind: Any, **given: Any) -> None:
        blank = {
            "first": 0, "second": 0, "point": np.zeros(3), "on": np.zeros(3),
            "turn": np.array([0, 0, 0, 1.0]), "curve": np.zeros(5),
        }  # fmt: skip
        rows.append(blank | {"kind": int(kind)} | given)

    for i in range(model.neq):
        off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EQUALITY
        if off or not model.eq_active0[i]:
            continue
        one, two = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        numbers = model.eq_data[i]
        match model.eq_type[i]:
            case _EQ.mjEQ_CONNECT:
                a, b, p, q, _ = _places(model, i, one, two, numbers[:3], numbers[3:6], None)
                bond(kinds.POINTS, first=a, second=b, point=p, on=q)
            case _EQ.mjEQ_WELD:
                # relpose is of the second as the first sees it; the anchor is in the second.
                a, b, p, q, turn = _places(model, i, one, two, numbers[3:6], numbers[:3], numbers)
                bond(kinds.POINTS, first=a, second=b, point=p, on=q)
                bond(kinds.TURNS, first=a, second=b, turn=turn)
            case _EQ.mjEQ_JOINT:
                zero = [model.qpos0[model.jnt_qposadr[one]], 0.0, 0.0]
                if two >= 0:
                    zero[1] = model.qpos0[model.jnt_qposadr[two]]
                bond(kinds.JOINTS, first=one + 1, second=two + 1, point=zero, curve=numbers[:5])
            case _EQ.mjEQ_TENDON:
                zero = [model.tendon_length0[one], 0.0, 0.0]
                if two >= 0:
                    zero[1] = model.tendon_length0[two]
                bond(kinds.TENDONS, first=one, second=two, point=zero, curve=numbers[:5])
            case other:
                name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, i) or f"number {i}"
                raise InputError(
                    f"equality '{name}' is of the kind {_EQ(other).name[5:].lower()}, which rigid"
                    " bodies here do not have; take it out of the model"
                )
    a, B = core.arrays, core.layout.Bonds()
    B.count = n = len(rows)

    def column(name: str, width: int) -> np.ndarray:
        return np.array([r[name] for r in rows], float).reshape(n, width)

    for name in ("kind", "first", "second"):
        setattr(B, name, a.whole([r[name] for r in rows]))
    B.point, B.on = (a.vec(column(x, 3), core.reals.vec3) for x in ("point", "on"))
    B.turn, B.curve = a.vec(column("turn", 4), core.reals.quat), a.real(column("curve", 5))
    return B


def _places(model, i, one, two, first, second, weld) -> tuple[int, int, Any, Any, Any]:
    """Bodies and the points that meet, in the frames of their bodies; sites are moved there."""
    if model.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        a, b = int(model.site_bodyid[one]), int(model.site_bodyid[two])
        p, q = model.site_pos[one], model.site_pos[two]
        turn = _times(model.site_quat[two], _inverse(model.site_quat[one]))
        return a, b, p, q, turn[[1, 2, 3, 0]]
    a, b = one, max(two, 0)
    if weld is None:
        return a, b, first, second, None
    # The anchor, in the second, meets the point that the first's pose puts it to.
    relative, place = weld[6:10], weld[3:6]
    point = np.zeros(3)
    mujoco.mju_rotVecQuat(point, second, relative)
    return a, b, place + point, second, _inverse(relative)[[1, 2, 3, 0]]


def _inverse(q: np.ndarray) -> np.ndarray:
    made = np.zeros(4)
    mujoco.mju_negQuat(made, q)
    return made


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    made = np.zeros(4)
    mujoco.mju_mulQuat(made, a, b)
    return made
