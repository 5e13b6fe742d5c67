"""Compiled kernels on disk: looked over before they are run, and made anew where they are damaged.

Warp keeps them under `~/.cache/warp` (`WARP_CACHE_PATH` names another place). It runs what it finds
there: half a file is an error on every run, a changed byte ends the process or changes numbers. So
each folder of kernels has the checksum of its program beside it.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import warp as wp

from stiction._base.waiting import announced

_SUMS = "stiction.sha256"
_loaded: set[tuple[str, str]] = set()


def load_kernel(kernel: Any, device: str) -> None:
    """Load a kernel's module, if that was not done, from a cache that is whole."""
    module = kernel.module
    if (module.name, device) in _loaded:
        return
    block = 1 if device == "cpu" else module.options["block_dim"]  # as Warp itself has it
    name = module.get_module_identifier(block_dim=block)
    folder = Path(wp.config.kernel_cache_dir or "") / name
    if not _is_whole(folder):
        _remove(folder)
    try:
        with announced():  # after an installation it takes a minute
            module.load(device, block)
    except Exception:  # whatever Warp finds wrong with the files, or the place to write them
        _remove(folder)
        if not _can_write(folder.parent):
            wp.config.kernel_cache_dir = tempfile.mkdtemp(prefix="stiction-kernels-")
            folder = Path(wp.config.kernel_cache_dir) / name
        module.unload()
        module.load(device, block)
    _write_sums(folder)
    _loaded.add((module.name, device))


def _sums(folder: Path) -> str:
    """The checksum of every program in a folder, a line each."""
    files = sorted(p for p in folder.iterdir() if p.suffix in (".o", ".meta", ".cubin", ".ptx"))
    return "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files)


def _is_whole(folder: Path) -> bool:
    """Whether a folder is as it was when its kernels were last loaded; so is what nobody noted."""
    try:
        noted = (folder / _SUMS).read_text(encoding="utf-8")
        return set(noted.splitlines()) <= set(_sums(folder).splitlines())
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, UnicodeDecodeError):
        return False


def _write_sums(folder: Path) -> None:
    """Note the checksums, aside and then renamed; a cache that cannot be written stays as it is."""
    with contextlib.suppress(OSError):
        sums = _sums(folder)
        if (folder / _SUMS).exists() and (folder / _SUMS).read_text(encoding="utf-8") == sums:
            return
        aside = folder / f"{_SUMS}.{os.getpid()}"
        aside.write_text(sums, encoding="utf-8")
        os.replace(aside, folder / _SUMS)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
