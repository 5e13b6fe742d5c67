"""The event machine: dynamics, contact, impacts and events in NVIDIA Warp, compiled once.

Everything here is a loop over the arrays that describe a mechanism, so that another mechanism is
another set of numbers, not another program. One thread carries one world from its start to its end;
what it works on lies in one row of numbers (`layout` says where) and one row of whole numbers.

The files are written for a type `real`, which they import from their package. `part` imports them
once for each precision, into a package of that precision: `stiction_double` and `stiction_single`.
"""

import importlib
import os
import sys
import tempfile
import types
from types import ModuleType
from typing import Any

import warp as wp


def _start_warp() -> None:
    """Start Warp without its greeting: standard output belongs to the command, and that there is no
    GPU is no news. The library itself writes the latter, to the standard error of the process.
    """
    wp.config.log_level = wp.LOG_ERROR
    try:
        _init_quietly()
    except OSError:  # no home, or none that can be written: kernels are made for this process
        wp.config.kernel_cache_dir = tempfile.mkdtemp(prefix="stiction-kernels-")
        _init_quietly()


def _init_quietly() -> None:
    try:
        stderr = os.dup(2)
    except OSError:  # closed: nothing can be written there
        wp.init()
        return
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 2)
        try:
            wp.init()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


_start_warp()

real: Any = wp.float64
# How programs are made: short ones call what many of their functions use instead of writing it out
# again and again (a GPU waits for the instructions of a long program, a processor does not);
# plain ones have only what plain passes need, see `plain`.
SHORT, PLAIN = False, False
PRECISIONS = {"double": wp.float64, "single": wp.float32}


def package_of(precision: str, *, short: bool = False, plain: bool = False) -> str:
    """The package of the core's files, written for a precision and a kind of program."""
    return f"stiction_{precision}" + "_short" * short + "_plain" * plain


def part(
    name: str, precision: str = "double", *, short: bool = False, plain: bool = False
) -> ModuleType:
    """One file of the core, in double or single precision."""
    package = package_of(precision, short=short, plain=plain)
    if package not in sys.modules:
        made = types.ModuleType(package, __doc__)
        made.__path__ = __path__
        made.real = PRECISIONS[precision]  # type: ignore[attr-defined]
        made.SHORT, made.PLAIN = short, plain  # type: ignore[attr-defined]
        sys.modules[package] = made
    return importlib.import_module(f"{package}.{name}")
