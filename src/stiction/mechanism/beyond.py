"""What a model file may hold that a tree of joints does not have, in words.

MuJoCo's own functions treat it; runs of such models go through them (`engines.worlds`).
"""

import mujoco
import numpy as np

_OFF = mujoco.mjtDisableBit
_SWITCHES = (
    (_OFF.mjDSBL_SPRING, "springs"),
    (_OFF.mjDSBL_DAMPER, "dampers"),
    (_OFF.mjDSBL_ACTUATION, "actuators"),
)


def beyond_a_tree(model: mujoco.MjModel) -> list[str]:
    """Forces and constraints of a compiled model that the tree's own dynamics do not know."""
    found = [
        (_count(model.eq_active0), "equality constraint", "loops, welds and couplings"),
        (model.ntendon, "tendon", ""),
        (_count(model.body_gravcomp), "body with gravity compensation", ""),
        (_count(model.actuator_dyntype), "actuator with activation", "muscles and filters"),
        (_count(_odd_transmission(model)), "actuator that does not act on a joint", ""),
        (_count(_odd_gain(model)), "actuator whose force is not affine", ""),
        (_count(_odd_joint(model)), "joint with a spring or damper that is not linear", ""),
    ]
    words = [_some(*entry) for entry in found if entry[0]]
    fluid = ("density", "viscosity", "wind")
    if any(np.any(np.asarray(getattr(model.opt, name)) != 0) for name in fluid):
        words.append("forces of a fluid")
    words += [
        f"{what} that are switched off" for bit, what in _SWITCHES if model.opt.disableflags & bit
    ]
    return words


def bounds_of_joints(model: mujoco.MjModel) -> list[str]:
    """Limits and dry friction: constraints on coordinates, which free motion does not have."""
    found = [
        (_count(model.jnt_limited), "joint with limits"),
        (_count(model.dof_frictionloss), "joint with dry friction"),
    ]
    return [_some(count, what, "") for count, what in found if count]


def _count(flags: np.ndarray) -> int:
    return int(np.count_nonzero(flags))


def _some(count: int, what: str, more: str) -> str:
    kind, _, rest = what.partition(" ")
    kinds = {"body": "bodies"}.get(kind, f"{kind}s") if rest else f"{kind}s"
    if what == "equality constraint":
        kinds, rest = "equality constraints", ""
    several = f"{count} {kinds} {rest}".strip() if count > 1 else f"1 {what}"
    return f"{several} ({more})" if more else several


def _odd_transmission(model: mujoco.MjModel) -> np.ndarray:
    return np.asarray(model.actuator_trntype) != int(mujoco.mjtTrn.mjTRN_JOINT)


def _odd_gain(model: mujoco.MjModel) -> np.ndarray:
    gain = np.asarray(model.actuator_gaintype) != int(mujoco.mjtGain.mjGAIN_FIXED)
    kinds = [int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)]
    bias = ~np.isin(model.actuator_biastype, kinds)
    servo = np.asarray(model.actuator_biastype) != kinds[0]
    # A servo's length is that of a hinge or slide.
    scalar = np.isin(
        model.jnt_type[np.maximum(model.actuator_trnid[:, 0], 0) % max(model.njnt, 1)],
        [int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)],
    )
    own = np.zeros(model.nu, bool)
    for name in ("actuator_armature", "actuator_damping", "actuator_damping0"):
        values = getattr(model, name, None)  # newer versions of MuJoCo have these
        if values is not None and np.size(values):
            own |= np.any(np.reshape(values, (model.nu, -1)) != 0, axis=1)
    return gain | bias | (servo & ~scalar) | own


def _odd_joint(model: mujoco.MjModel) -> np.ndarray:
    scalar = np.isin(
        model.jnt_type, [int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)]
    )
    odd = ~scalar & (np.asarray(model.jnt_stiffness) != 0)
    for name in ("jnt_stiffnesspoly", "dof_dampingpoly", "jnt_springyield"):
        values = getattr(model, name, None)
        if values is not None and np.size(values):
            rows = np.any(np.reshape(values, (len(values), -1)) > 0, axis=1)
            if len(rows) == model.nv:
                joints = np.zeros(model.njnt, bool)
                joints[model.dof_jntid[rows]] = True
                rows = joints
            odd |= rows
    return odd | (np.asarray(model.jnt_actgravcomp) != 0)
