"""From MuJoCo's compiled model to a `Mechanism`: copy arrays, merge welded bodies into links."""

import jax
import mujoco
import numpy as np

from stiction._base.arrays import Array
from stiction._base.checks import require_moderate
from stiction._base.errors import InputError
from stiction._base.mujoco_warnings import hear_mujoco
from stiction.mechanism.beyond import beyond_a_tree, bounds_of_joints
from stiction.mechanism.mechanism import (
    GREY,
    Actuators,
    Bodies,
    CompiledModel,
    Joints,
    Keyframe,
    Mechanism,
    Shapes,
    Sites,
)
from stiction.mechanism.tidy import Tidied
from stiction.mechanism.tree import FREE, FREEDOMS, HINGE, SLIDE, Tree

hear_mujoco()  # whoever loads a model comes by here


def read(model: mujoco.MjModel, tidied: Tidied, *, name: str) -> Mechanism:
    """The mechanism that a compiled model describes, with the inertias that were put aside."""
    if model.nv == 0:
        raise InputError(f"`{name}` has no joints: nothing in it can move; add a joint")
    _put_inertia_back(model, tidied)
    tree, joint_frames, body_frames = _tree(model)
    mechanism = Mechanism(
        joints=_joints(model, tree, joint_frames),
        bodies=_bodies(model, body_frames),
        actuators=_actuators(model),
        shapes=_shapes(model),
        sites=_sites(model),
        gravity=_array(_gravity(model)),
        q_reference=_array(model.qpos0),
        tree=tree,
        name=name,
        ignored=tuple(tidied.ignored),
        keyframes=_keyframes(model),
        beyond=tuple(beyond_a_tree(model)),
        bounds=tuple(bounds_of_joints(model)),
        compiled=CompiledModel(model),
    )
    _check(mechanism)
    if tidied.inertials:  # what the compiler derives from inertias, from the right ones
        mujoco.mj_setConst(model, mujoco.MjData(model))
    return mechanism


def _tree(model: mujoco.MjModel) -> tuple[Tree, list, list]:
    """Links from joints; the fixed pose of each joint on its parent link, of each body on its."""
    identity = (np.zeros(3), np.eye(3))
    names, types, parents, joint_frames = [], [], [], []
    links, body_frames = [0], [identity]
    for body in range(1, model.nbody):
        parent = model.body_parentid[body]
        # The body's frame on the link that carries its parent.
        frame = _compose(
            body_frames[parent], (model.body_pos[body], _matrix(model.body_quat[body]))
        )
        link = links[parent]
        for k in range(model.body_jntnum[body]):
            joint = model.body_jntadr[body] + k
            names.append(_name(model, mujoco.mjtObj.mjOBJ_JOINT, joint) or f"joint{joint}")
            types.append(int(model.jnt_type[joint]))
            parents.append(link)
            joint_frames.append(frame)
            link, frame = len(types), identity  # the next joint hangs on this one's link
        links.append(link)
        body_frames.append(frame)
    body_names = [_name(model, mujoco.mjtObj.mjOBJ_BODY, b) for b in range(model.nbody)]
    tree = Tree(tuple(names), tuple(types), tuple(parents), tuple(body_names), tuple(links))
    assert (tree.nq, tree.nv) == (model.nq, model.nv)
    return tree, joint_frames, body_frames


def _joints(model: mujoco.MjModel, tree: Tree, frames: list) -> Joints:
    limited = np.array(model.jnt_limited, bool)[:, None]
    scalar = np.isin(model.jnt_type, (HINGE, SLIDE))[:, None]
    infinite = np.array([[-np.inf, np.inf]])
    return Joints(
        position=_array(np.array([p for p, _ in frames]).reshape(-1, 3)),
        rotation=_array(np.array([R for _, R in frames]).reshape(-1, 3, 3)),
        anchor=_array(np.where(np.array(model.jnt_type)[:, None] == FREE, 0.0, model.jnt_pos)),
        axis=_array(model.jnt_axis),
        range=_array(np.where(limited & scalar, model.jnt_range, infinite)),
        stiffness=_array(model.jnt_stiffness),
        spring_zero=_array(model.qpos_spring),
        damping=_array(model.dof_damping),
        armature=_array(model.dof_armature),
        friction=_array(model.dof_frictionloss),
    )


def _put_inertia_back(model: mujoco.MjModel, tidied: Tidied) -> None:
    """Give bodies the inertias that were put aside while the model was compiled."""
    for name, given in tidied.inertials.items():
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        moments, axes = np.linalg.eigh(given.inertia)
        axes = axes * np.linalg.det(axes)  # right-handed
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, axes.ravel())
        model.body_mass[body], model.body_ipos[body] = given.mass, given.center
        model.body_inertia[body], model.body_iquat[body] = moments, quaternion
        model.body_sameframe[body] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE


def _bodies(model: mujoco.MjModel, frames: list) -> Bodies:
    turns = np.array([_matrix(q) for q in model.body_iquat])
    with np.errstate(all="ignore"):  # what is not finite is refused below
        inertia = turns @ (np.array(model.body_inertia)[:, :, None] * np.swapaxes(turns, 1, 2))
    return Bodies(
        position=_array(np.array([p for p, _ in frames])),
        rotation=_array(np.array([R for _, R in frames])),
        mass=_array(np.array(model.body_mass)),
        center=_array(np.array(model.body_ipos)),
        inertia=_array(inertia),
    )


def _actuators(model: mujoco.MjModel) -> Actuators:
    count = model.nu
    length = np.zeros((count, model.nq))
    moment = np.zeros((count, model.nv))
    names = []
    for i in range(count):
        name = _name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) or f"actuator{i}"
        names.append(name)
        if model.actuator_trntype[i] != mujoco.mjtTrn.mjTRN_JOINT:
            continue  # MuJoCo's own functions know what it does
        joint = model.actuator_trnid[i, 0]
        kind = model.jnt_type[joint]
        start = model.jnt_dofadr[joint]
        moment[i, start : start + FREEDOMS[kind]] = model.actuator_gear[i, : FREEDOMS[kind]]
        if kind in (HINGE, SLIDE):
            length[i, model.jnt_qposadr[joint]] = model.actuator_gear[i, 0]
    affine = np.array(model.actuator_biastype) == mujoco.mjtBias.mjBIAS_AFFINE
    joint_range = np.tile([-np.inf, np.inf], (model.nv, 1))
    for joint in np.flatnonzero(model.jnt_actfrclimited):
        joint_range[model.jnt_dofadr[joint]] = model.jnt_actfrcrange[joint]
    return Actuators(
        gain=_array(model.actuator_gainprm[:, 0]),
        bias=_array(np.where(affine[:, None], model.actuator_biasprm[:, :3], 0.0)),
        length_of_q=_array(length),
        moment=_array(moment),
        control_range=_array(_limits(model.actuator_ctrllimited, model.actuator_ctrlrange)),
        force_range=_array(_limits(model.actuator_forcelimited, model.actuator_forcerange)),
        joint_range=_array(joint_range),
        names=tuple(names),
    )


def _shapes(model: mujoco.MjModel) -> Shapes:
    kinds = [mujoco.mjtGeom(t).name.removeprefix("mjGEOM_").lower() for t in model.geom_type]
    names = [_name(model, mujoco.mjtObj.mjOBJ_GEOM, g) for g in range(model.ngeom)]
    return Shapes(
        position=_array(model.geom_pos),
        rotation=_array(np.array([_matrix(q) for q in model.geom_quat]).reshape(-1, 3, 3)),
        size=_array(model.geom_size),
        friction=_array(model.geom_friction[:, 0]),
        names=tuple(n or f"geom{i}" for i, n in enumerate(names)),
        kinds=tuple(kinds),
        bodies=tuple(int(b) for b in model.geom_bodyid),
        types=tuple(zip(model.geom_contype.tolist(), model.geom_conaffinity.tolist(), strict=True)),
        colors=tuple(tuple(round(float(c), 4) for c in rgba) for rgba in _colors(model)),
        groups=tuple(model.geom_group.tolist()),
    )


def _colors(model: mujoco.MjModel) -> np.ndarray:
    """Of each geom: its own, or its material's."""
    own, material = model.geom_rgba, model.geom_matid
    plain = np.all(np.isclose(own, GREY), axis=1) & (material >= 0)
    return np.where(plain[:, None], model.mat_rgba[material], own) if model.nmat else own


def _sites(model: mujoco.MjModel) -> Sites:
    names = [_name(model, mujoco.mjtObj.mjOBJ_SITE, s) for s in range(model.nsite)]
    return Sites(
        position=_array(model.site_pos),
        rotation=_array(np.array([_matrix(q) for q in model.site_quat]).reshape(-1, 3, 3)),
        names=tuple(n or f"site{i}" for i, n in enumerate(names)),
        bodies=tuple(int(b) for b in model.site_bodyid),
    )


def _gravity(model: mujoco.MjModel) -> np.ndarray:
    off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    return np.zeros(3) if off else np.array(model.opt.gravity)


def _keyframes(model: mujoco.MjModel) -> tuple[Keyframe, ...]:
    return tuple(
        Keyframe(
            _name(model, mujoco.mjtObj.mjOBJ_KEY, k) or f"key{k}",
            tuple(model.key_qpos[k].tolist()),
            tuple(model.key_qvel[k].tolist()),
            tuple(model.key_ctrl[k].tolist()),
        )
        for k in range(model.nkey)
    )


def _check(mechanism: Mechanism) -> None:
    """Numbers are finite, squares of them too, and everything that moves has mass."""
    for part in ("joints", "bodies", "shapes", "sites"):
        for field, value in vars(getattr(mechanism, part)).items():
            if field != "range" and hasattr(value, "dtype"):
                require_moderate(f"{field}` of the `{part}", value)
    require_moderate("gravity", mechanism.gravity)
    tree, bodies = mechanism.tree, mechanism.bodies
    weight = np.asarray(bodies.mass) + np.trace(np.asarray(bodies.inertia), axis1=1, axis2=2)
    beyond = tree.moves_body.T @ weight + np.asarray(mechanism.joints.armature)
    for freedom in np.flatnonzero(beyond <= 0):
        joint = tree.freedom_joints[freedom]
        carried = [b for b, link in enumerate(tree.body_links) if link == joint + 1]
        named = tree.body_names[carried[-1]] if carried else tree.joint_names[joint]
        raise InputError(
            f"body `{named}` moves by joint '{tree.joint_names[joint]}' but nothing beyond it has"
            " mass; give it an <inertial>, or weld it"
        )


def _limits(limited: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.where(np.array(limited, bool)[:, None], values, np.array([[-np.inf, np.inf]]))


def _name(model: mujoco.MjModel, kind: mujoco.mjtObj, index: int | np.integer) -> str:
    return mujoco.mj_id2name(model, kind, int(index)) or ""


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, np.ascontiguousarray(quaternion, float))
    return R.reshape(3, 3)


def _compose(a: tuple, b: tuple) -> tuple[np.ndarray, np.ndarray]:
    return a[0] + a[1] @ b[0], a[1] @ b[1]


def _array(values: np.ndarray) -> Array:
    # For each shape that it meets `jnp.asarray` compiles a program.
    return jax.device_put(np.array(values, float))
