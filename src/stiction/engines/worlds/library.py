"""MuJoCo's functions by address, for kernels to call."""

import ctypes
import functools
from pathlib import Path

import mujoco


@functools.cache
def _library() -> ctypes.CDLL:
    folder = Path(mujoco.__file__).parent
    return ctypes.CDLL(str(next(folder.glob("libmujoco*"))))


def address_of(name: str) -> int:
    """Where a function of MuJoCo's is."""
    value = ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value
    assert value is not None
    return value
