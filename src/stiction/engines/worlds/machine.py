"""A machine of the core whose evaluator is MuJoCo: any model that it compiles."""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from stiction.engines.blueprint import Blueprint, Core
from stiction.engines.pair_arrays import BLANK, commands_of, ground_of, pair_rows, pairs_of
from stiction.engines.worlds.equality import bonds_of
from stiction.engines.worlds.joints import rows_of_numbers
from stiction.engines.worlds.library import address_of
from stiction.engines.worlds.shapes import shapes_of

# What MuJoCo is asked at every state, in this order: positions; then, under commands, velocities
# and forces.
_FUNCTIONS = (
    "mj_kinematics", "mj_comPos", "mj_tendon", "mj_makeM", "mj_factorM", "mj_transmission",
)  # fmt: skip
_FORCE_FUNCTIONS = ("mj_fwdVelocity", "mj_fwdActuation", "mj_fwdAcceleration")
_ARRAYS = (
    "qpos", "qvel", "act", "act_dot", "ctrl", "actuator_length", "xpos", "xquat", "subtree_com",
    "cvel", "cdof", "cdof_dot", "M", "qfrc_smooth", "qfrc_bias", "qfrc_spring", "qfrc_damper",
    "qfrc_fluid", "actuator_force", "energy",
)  # fmt: skip


class Extras(NamedTuple):
    """What a run adds to a model: commands, ground that moves, points that were chosen."""

    control: Any = None  # harmonic or phased; None: commands come from outside
    guards: int = 0  # of a control from outside
    mechanism: Any = None  # whose points `contacts` are
    contacts: Any = None  # `surfaces.Contacts` that MuJoCo does not know
    planes: Any = None  # `surfaces.Planes` of the model, and their geoms
    plane_geoms: tuple[int, ...] = ()


class WorldDesign(NamedTuple):
    """A blueprint with what its first pairs are called: points, limits, dry friction."""

    blueprint: Blueprint
    names: tuple[str, ...]
    n_points: int


def make_design(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    room: int = 64,
    stages: int = 7,
    unknowns: int = 0,
    soft: bool = False,
    extras: Extras | None = None,
) -> WorldDesign:
    """The design of a model, with room for so many contacts at once."""
    core, extras = Core(), extras or Extras()
    a, M = core.arrays, core.layout.Machine()
    M.tree, size_M, row, depth = _tree(core, model)
    M.act = core.layout.MotorArrays()
    M.act.count, M.act.guards = model.nu, extras.guards
    commands_of(a, M.act, extras.control)
    _servos(core, M.act, model)
    M.outer = _outer(core, model, data, size_M, row, depth)
    points, names = [], []
    if extras.contacts is not None:
        points = pair_rows(core.contacts, extras.mechanism, extras.contacts, None)
        first = 0 if extras.planes is None else len(extras.planes.names)
        for pair in points:  # their planes come after those that MuJoCo knows
            pair["motion"] += first if pair["motion"] >= 0 else 0
        names = list(extras.contacts.names)
    numbers, more = rows_of_numbers(core, model)
    fixed = points + numbers
    if soft:  # the law is told of two tangents and a normal
        fixed = [pair | {"rows": 3} for pair in fixed]
    free = BLANK | {"kind": int(core.contacts.NOTHING)}
    M.pairs = pairs_of(a, core.layout.Pairs(), fixed + [free] * room)
    grounds = [extras.planes, None if extras.contacts is None else extras.contacts.planes]
    if any(planes is not None for planes in grounds):
        field = None if extras.contacts is None else extras.contacts.field
        ground_of(a, M.pairs, [planes for planes in grounds if planes is not None], field)
    M.shapes = shapes_of(core, model, data, len(fixed), extras.plane_geoms)
    M.bonds = bonds_of(core, model)
    turns = [
        int(model.jnt_qposadr[j]) + (3 if model.jnt_type[j] == 0 else 0)
        for j in range(model.njnt)
        if model.jnt_type[j] < 2
    ]
    widest = 3 if soft else max([3, *model.geom_condim.tolist(), *model.pair_dim.tolist()])
    rows = widest * room + sum(pair["rows"] for pair in fixed)
    made = Blueprint(core, M, size_M, rows, stages, unknowns, turns, soft)
    return WorldDesign(made, (*names, *more), len(points))


def _tree(core: Core, model: mujoco.MjModel) -> tuple[Any, int, np.ndarray, np.ndarray]:
    a, T = core.arrays, core.layout.Links()
    T.nq, T.nv, T.n_links, T.n_joints = model.nq, model.nv, model.nbody, model.njnt
    before = np.asarray(model.dof_parentid)
    depth = np.zeros(model.nv, int)
    for d, b in enumerate(before):
        depth[d] = 0 if b < 0 else depth[b] + 1
    row = np.cumsum([0, *(depth + 1)])[:-1]
    first = np.where(model.body_dofnum > 0, model.body_dofadr, -1)
    last = np.full(model.nbody, -1)
    for b in range(1, model.nbody):
        own = model.body_dofadr[b] + model.body_dofnum[b] - 1
        last[b] = own if model.body_dofnum[b] else last[model.body_parentid[b]]
    T.parent, T.root = a.whole(model.body_parentid), a.whole(model.body_rootid)
    T.first_freedom, T.last_freedom = a.whole(first), a.whole(last)
    T.kind = a.whole([0, *model.jnt_type])
    T.at_q, T.at_v = a.whole([0, *model.jnt_qposadr]), a.whole([0, *model.jnt_dofadr])
    T.before, T.depth, T.row = a.whole(before), a.whole(depth), a.whole(row)
    T.gravity = core.reals.vec3(*map(float, model.opt.gravity))
    T.stiffness = a.real([0.0, *np.reshape(model.jnt_stiffness, (model.njnt, -1))[:, 0]])
    T.damping = a.real(np.reshape(model.dof_damping, (model.nv, -1))[:, 0])
    T.spring_zero = a.real(np.zeros(model.nq))
    return T, int(np.sum(depth + 1)), row, depth


def _servos(core: Core, act: Any, model: mujoco.MjModel) -> None:
    """Stiffness and damping that actuators give joints of their own, for fixed steps."""
    a, big = core.arrays, 1e30
    on = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    first, at_q, at_v, gear = [0], [], [], []
    for i in range(model.nu):
        joint = int(model.actuator_trnid[i, 0])
        on_joint = int(model.actuator_trntype[i]) in on
        if on_joint and model.jnt_type[joint] >= int(mujoco.mjtJoint.mjJNT_SLIDE):
            at_q.append(int(model.jnt_qposadr[joint]))
            at_v.append(int(model.jnt_dofadr[joint]))
            gear.append(float(model.actuator_gear[i, 0]))
        first.append(len(at_q))
    affine = (model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE))[:, None]
    limited = model.actuator_forcelimited[:, None] > 0
    act.first = a.whole(first)
    # One more than there are: of an actuator without a joint the entry after it is looked at.
    act.entry_q, act.entry_v = a.whole([*at_q, 0]), a.whole([*at_v, 0])
    act.gear = a.real([*gear, 0.0])
    act.bias = a.real(np.where(affine, model.actuator_biasprm[:, :3], 0.0))
    act.force_range = a.real(np.where(limited, model.actuator_forcerange, [[-big, big]]))


def _tendons(core: Core, o: Any, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """What constraints of tendons need, if there are any."""
    ties = np.any(model.eq_type[model.eq_active0 > 0] == mujoco.mjtEq.mjEQ_TENDON)
    if not (ties or model.tendon_limited.any() or model.tendon_frictionloss.any()):
        return
    a = core.arrays
    o.n_tendons, o.integrate = model.ntendon, address_of("mj_integratePos")
    o.tendon_functions = a.addresses([address_of(name) for name in _FUNCTIONS[:3]])
    o.tendon_first = a.whole([*model.ten_J_rowadr, model.nJten])
    o.tendon_freedom = a.whole(model.ten_J_colind)
    o.ten_J, o.ten_length = data.ten_J.ctypes.data, data.ten_length.ctypes.data


def _outer(core: Core, model, data, size_M: int, row: np.ndarray, depth: np.ndarray) -> Any:
    a, o = core.arrays, core.mujoco_layout.Outer()
    o.model, o.data = model._address, data._address
    o.functions = a.addresses([address_of(name) for name in _FUNCTIONS])
    o.force_functions = a.addresses([address_of(name) for name in _FORCE_FUNCTIONS])
    o.energy_function = address_of("mj_energyPos")
    for name in _ARRAYS:
        setattr(o, name, getattr(data, name).ctypes.data)
    o.na, o.size_M = model.na, size_M
    _tendons(core, o, model, data)
    # An entry (d, b) of M lies so many places after the diagonal as there are freedoms between.
    to = np.zeros(model.nC, int)
    for d in range(model.nv):
        for e in range(model.M_rowadr[d], model.M_rowadr[d] + model.M_rownnz[d]):
            to[e] = row[d] + depth[d] - depth[model.M_colind[e]]
    o.M_to = a.whole(to)
    return o
