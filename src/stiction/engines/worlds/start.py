"""A start that rigid bodies can have: loops closed, limits kept, nothing inside of anything.

Keyframes of real robots are a little off: soft constraints forgive what rigid ones do not. MuJoCo
tells, at a configuration, by how much every constraint is missed, and how it changes with the
freedoms. The nearest start that misses none is found in rounds, each the shortest way by these
rows. First only bodies that float are moved, and not turned; where that does not do, everything is.
"""

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

from stiction._base.errors import InputError
from stiction._base.least_distance import shortest_way_with

_ROUNDS = 50
_MET = 1e-13  # what may be missed [m or rad]
OPEN = 1e-6  # a loop or limit that misses by more is told [m or rad]
_NEAR = 0.005  # what is nearer than twice this is looked at [m]
_C = mujoco.mjtConstraint
_LIMITS = (int(_C.mjCNSTR_LIMIT_JOINT), int(_C.mjCNSTR_LIMIT_TENDON))


@dataclass(frozen=True)
class Missed:
    """By how much a configuration misses the constraints of a model."""

    loops: float  # the largest [m or rad]
    limits: float
    depth: float  # of the deepest contact [m]
    bodies: tuple[str, str]  # that contact's

    @property
    def what(self) -> str:
        """What rigid bodies cannot have of it; empty if they can."""
        if self.depth > OPEN:
            return f"{self.bodies[0]} is {self.depth:.3g} m inside of {self.bodies[1]}"
        if self.loops > OPEN:
            return f"a loop or coupling is open by {self.loops:.3g} m or rad"
        if self.limits > OPEN:
            return f"a joint or tendon is {self.limits:.3g} m or rad beyond its limit"
        return ""

    def refuse(self) -> None:
        """Raise an `InputError` if rigid bodies cannot have it."""
        if self.what:
            raise InputError(
                f"`qpos` is no state of rigid bodies: {self.what}; change it, or let"
                " `stiction.mujoco.settle_start(model, data)` find the nearest"
            )


@dataclass(frozen=True)
class _Rows:
    equal: np.ndarray  # Jacobian, then what is missed
    equal_gap: np.ndarray
    limit: np.ndarray
    limit_gap: np.ndarray
    touch: np.ndarray
    touch_gap: np.ndarray


def missed(model: mujoco.MjModel, data: mujoco.MjData) -> Missed:
    """By how much `data.qpos` misses the constraints."""
    rows = _rows(model, data)
    deepest, names = 0.0, ("", "")
    for c in data.contact[: data.ncon]:
        if -c.dist > deepest:
            deepest = float(-c.dist)
            # What moves is inside of what does not.
            geoms = sorted(c.geom, key=lambda g: model.body_weldid[model.geom_bodyid[g]] == 0)
            names = tuple(_named(model, int(g)) for g in geoms)
    return Missed(
        float(np.abs(rows.equal_gap).max(initial=0.0)),
        float(-rows.limit_gap.min(initial=0.0)),
        deepest,
        (names[0], names[1]),
    )


def _named(model: mujoco.MjModel, geom: int) -> str:
    body = model.body(int(model.geom_bodyid[geom])).name
    return model.geom(geom).name or f"a geom of {body or 'a body without a name'}"


def _rows(model: mujoco.MjModel, data: mujoco.MjData) -> _Rows:
    mujoco.mj_fwdPosition(model, data)
    J = np.zeros((data.nefc, model.nv))
    if data.nefc and mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(
            J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        )
    elif data.nefc:
        J = data.efc_J.reshape(data.nefc, model.nv).copy()
    kind, gap = data.efc_type, data.efc_pos.copy()
    touch, touch_gap = _contact_rows(model, data)
    equal, limit = kind == int(_C.mjCNSTR_EQUALITY), np.isin(kind, _LIMITS)
    return _Rows(J[equal], gap[equal], J[limit], gap[limit], touch, touch_gap)


def _contact_rows(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """Of contacts the normal rows, whatever cone MuJoCo has."""
    J, gaps = [], []
    one, two = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    for c in data.contact[: data.ncon]:
        if c.exclude >= 2:
            continue
        a, b = (int(model.geom_bodyid[g]) for g in c.geom)
        mujoco.mj_jac(model, data, one, None, c.pos, a)
        mujoco.mj_jac(model, data, two, None, c.pos, b)
        J.append(c.frame[:3] @ (two - one))
        gaps.append(c.dist)
    return np.reshape(J, (-1, model.nv)), np.array(gaps, float)


def settle_start(model: mujoco.MjModel, data: mujoco.MjData) -> Missed:
    """Change `data.qpos` to the nearest configuration that misses nothing; what was missed before.

    Raises an `InputError` where none is near.
    """
    before = missed(model, data)
    start = data.qpos.copy()
    model = copy.copy(model)
    # What is near counts too: else it would be walked into, and out of, by turns.
    model.geom_margin[:] = model.body_margin[:] = max(_NEAR, before.depth)
    model.jnt_margin[:] = model.tendon_margin[:] = _NEAR
    everything = np.ones(model.nv, bool)
    # Limits last: one that a coupling does not let a joint keep is left to `widen_limits`.
    for movable, limits in ((_floats(model), True), (everything, True), (everything, False)):
        if _project(model, data, start, movable, limits):
            return before
    data.qpos[:] = start
    what = f"{before.bodies[0]} is {before.depth:.3g} m inside of {before.bodies[1]}"
    if before.depth == 0:
        what = f"loops miss by {before.loops:.3g}, limits by {before.limits:.3g} m or rad"
    raise InputError(f"no start is near that fulfils all constraints: {what}; give another")


def _floats(model: mujoco.MjModel) -> np.ndarray:
    """The freedoms that shift a whole mechanism without turning it."""
    floats = np.zeros(model.nv, bool)
    for j in range(model.njnt):
        first, body = model.jnt_dofadr[j], model.jnt_bodyid[j]
        if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE and model.body_parentid[body] == 0:
            floats[first : first + 3] = True
    return floats


def _project(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    start: np.ndarray,
    movable: np.ndarray,
    limits: bool,
) -> bool:
    """Loops and limits are mended by all joints, contacts opened by what is movable.

    The first rounds ask for the shortest way from the start, the later ones, if there are any, only
    for the shortest from where it is: where constraints are curved the former need not end.
    """
    way = np.zeros(model.nv)
    data.qpos[:] = start
    for i in range(_ROUNDS):
        rows = _rows(model, data)
        unequal, gaps = np.where(movable, rows.touch, 0.0), rows.touch_gap
        if limits:
            unequal = np.concatenate([rows.limit, unequal])
            gaps = np.concatenate([rows.limit_gap, gaps])
        if max(np.abs(rows.equal_gap).max(initial=0.0), -gaps.min(initial=0.0)) <= _MET:
            return True
        come = way if i < _ROUNDS // 5 else 0 * way
        y = shortest_way_with(
            rows.equal, rows.equal @ come - rows.equal_gap, unequal, unequal @ come - gaps
        )
        if y is None or not np.isfinite(y).all():
            return False
        way = y + way - come
        data.qpos[:] = start
        mujoco.mj_integratePos(model, data.qpos, way, 1.0)
    return False


def widen_limits(model: mujoco.MjModel, data: mujoco.MjData) -> list[str]:
    """Move limits of joints and tendons that the start misses to where it is; which these are.

    Coupled joints may not be able to keep a limit that was rounded.
    """
    mujoco.mj_fwdPosition(model, data)
    moved = []
    for ranges, limited, values, named in (
        (model.jnt_range, model.jnt_limited, _coordinates(model, data), model.joint),
        (model.tendon_range, model.tendon_limited, data.ten_length, model.tendon),
    ):
        for i in np.flatnonzero(limited):
            low, high = ranges[i]
            if not low <= values[i] <= high:
                moved.append(
                    f"{named(int(i)).name} by {max(low - values[i], values[i] - high):.2g}"
                )
                ranges[i] = min(low, values[i]), max(high, values[i])
    return moved


def _coordinates(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Of each joint the number that its range limits: of a ball joint its turn."""
    values = np.zeros(model.njnt)
    for j in range(model.njnt):
        at = model.jnt_qposadr[j]
        values[j] = data.qpos[at]
        if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
            turn = np.zeros(3)
            mujoco.mju_quat2Vel(turn, data.qpos[at : at + 4], 1.0)
            values[j] = np.linalg.norm(turn)
    return values
