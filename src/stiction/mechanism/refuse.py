"""What a model file may hold that no engine here can honour.

Each is refused when the file is loaded, by name, with what to do; nothing is simulated wrongly.
"""

import mujoco

from stiction._base.errors import InputError

_FLEX = (mujoco.mjtEq.mjEQ_FLEX, mujoco.mjtEq.mjEQ_FLEXVERT, mujoco.mjtEq.mjEQ_FLEXSTRAIN)


def refuse(spec: mujoco.MjSpec) -> None:
    """Raise an `InputError` for the first thing found that cannot be simulated."""
    for flex in spec.flexes:
        raise _error("flex", flex.name, "a deformable body", "only rigid bodies are simulated")
    for plugin in spec.plugins:
        raise _error("plugin", plugin.name, "a plugin", "remove it")
    for body in spec.bodies:
        if body.plugin.active:
            raise _error("body", body.name, "a plugin", "remove it")
    for equality in spec.equalities:
        if equality.type in _FLEX:
            raise _error("equality constraint", equality.name, "a deformable body", "remove it")
    for actuator in spec.actuators:
        if actuator.trntype == mujoco.mjtTrn.mjTRN_BODY:
            raise _error("actuator", actuator.name, "adhesion", "remove it")
        if getattr(actuator, "delay", 0) > 0:  # not in older versions of MuJoCo
            raise _error("actuator", actuator.name, "a delay", "remove `delay`")
        if actuator.plugin.active:
            raise _error("actuator", actuator.name, "a plugin", "remove it")


def _error(kind: str, name: str, what: str, cure: str) -> InputError:
    return InputError(f"{kind} `{name or '(unnamed)'}` has {what}, which is not supported; {cure}")
