"""MuJoCo's warnings as Python's. By itself MuJoCo writes each into a file MUJOCO_LOG.TXT in the
folder in which the user happens to be.
"""

import sys
import warnings

import mujoco


class MujocoWarning(UserWarning):
    """MuJoCo warned: of a mass matrix that is nearly singular, of a state that is not finite."""


def hear_mujoco() -> None:
    """Take MuJoCo's warnings, unless the user has a handler for them already."""
    # MuJoCo's binary module has no stubs.
    if mujoco.get_mju_user_warning() is None:  # pyright: ignore[reportAttributeAccessIssue]
        mujoco.set_mju_user_warning(_pass_on)  # pyright: ignore[reportAttributeAccessIssue]


def _pass_on(text: str) -> None:
    try:
        warnings.warn(f"MuJoCo: {text}", MujocoWarning, stacklevel=1)
    except MujocoWarning as warning:  # warnings are errors here: through C it would end the process
        print(warning, file=sys.stderr)
