"""What a model file may hold that would change the physics and that stiction does not simulate.

Each is refused when the file is loaded, by name, with what to do; nothing is simulated wrongly.
"""

from typing import Any

import mujoco
import numpy as np

from stiction._base.errors import InputError

_FLAGS = {
    mujoco.mjtDisableBit.mjDSBL_SPRING: "spring",
    mujoco.mjtDisableBit.mjDSBL_DAMPER: "damper",
    mujoco.mjtDisableBit.mjDSBL_ACTUATION: "actuation",
}


def refuse(spec: mujoco.MjSpec) -> None:
    """Raise an `InputError` for the first thing found that cannot be simulated."""
    _refuse_couplings(spec)
    _refuse_options(spec)
    for body in spec.bodies:
        if body.gravcomp:
            raise _error("body", body.name, "`gravcomp`", "apply the force through an actuator")
        if body.plugin.active:
            raise _error("body", body.name, "a plugin", "remove it")
    for joint in spec.joints:
        _refuse_joint(joint)
    for actuator in spec.actuators:
        _refuse_actuator(actuator)


def _refuse_couplings(spec: mujoco.MjSpec) -> None:
    for equality in spec.equalities:
        kind = equality.type.name.removeprefix("mjEQ_").lower()
        raise _error(
            "equality constraint",
            equality.name or f"{equality.name1}-{equality.name2}",
            f"a closed loop or coupling ({kind})",
            "only trees of joints are simulated: remove it, or replace the loop by a spring",
        )
    for tendon in spec.tendons:
        raise _error("tendon", tendon.name, "a tendon", "drive the joints directly")
    for flex in spec.flexes:
        raise _error("flex", flex.name, "a deformable body", "only rigid bodies are simulated")
    for plugin in spec.plugins:
        raise _error("plugin", plugin.name, "a plugin", "remove it")


def _refuse_options(spec: mujoco.MjSpec) -> None:
    option = spec.option
    for field in ("density", "viscosity", "wind"):
        if np.any(np.asarray(getattr(option, field)) != 0):
            raise InputError(
                f"`option {field}` must be 0, got {getattr(option, field)}:"
                " fluid forces are not simulated; remove it"
            )
    for bit, name in _FLAGS.items():
        if option.disableflags & bit:
            raise InputError(f"`option flag {name}` must not be disabled; set its values to 0")


def _refuse_joint(joint: Any) -> None:
    for field in ("stiffness", "damping"):
        if np.any(np.atleast_1d(getattr(joint, field))[1:] != 0):
            raise _error("joint", joint.name, f"a nonlinear `{field}`", "give one number")
    if getattr(joint, "springyield", 0) > 0:  # MuJoCo has it from 4.0 on
        raise _error("joint", joint.name, "a yielding spring", "remove `springyield`")
    scalar = joint.type in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    if not scalar and np.any(np.atleast_1d(joint.stiffness) != 0):
        raise _error("joint", joint.name, "a spring on a free or ball joint", "use hinges")
    if joint.actgravcomp:
        raise _error("joint", joint.name, "`actuatorgravcomp`", "remove it")


def _refuse_actuator(actuator: Any) -> None:
    name = actuator.name
    if actuator.trntype != mujoco.mjtTrn.mjTRN_JOINT:
        kind = actuator.trntype.name.removeprefix("mjTRN_").lower()
        raise _error("actuator", name, f"a transmission to a {kind}", "act on a joint")
    if actuator.dyntype != mujoco.mjtDyn.mjDYN_NONE:
        kind = actuator.dyntype.name.removeprefix("mjDYN_").lower()
        raise _error("actuator", name, f"activation dynamics ({kind})", "use a motor or a position")
    if actuator.gaintype != mujoco.mjtGain.mjGAIN_FIXED:
        kind = actuator.gaintype.name.removeprefix("mjGAIN_").lower()
        raise _error("actuator", name, f"a gain of type {kind}", "use a motor or a position")
    if actuator.biastype not in (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE):
        kind = actuator.biastype.name.removeprefix("mjBIAS_").lower()
        raise _error("actuator", name, f"a bias of type {kind}", "use a motor or a position")
    # Fields that older versions of MuJoCo do not have are not set there either.
    if getattr(actuator, "delay", 0) > 0:
        raise _error("actuator", name, "a delay", "remove `delay`")
    for field in ("armature", "damping"):
        if np.any(np.atleast_1d(getattr(actuator, field, 0)) != 0):
            raise _error("actuator", name, f"`{field}`", "give it to the joint")


def _error(kind: str, name: str, what: str, cure: str) -> InputError:
    return InputError(f"{kind} `{name or '(unnamed)'}` has {what}, which is not supported; {cure}")
