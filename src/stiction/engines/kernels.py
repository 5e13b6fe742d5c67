"""Kernels of the core: compiled once, kept on disk, and found there by what they were made from.

A kernel calls some 450 functions. Warp reads them all whenever a process wants to know whether a
compiled program is still theirs, which takes a while. Here the program lies in a folder named by a
checksum of the core's files, and what is launched is a kernel with the same arguments and no body,
bound to that program. The functions are read only to compile them.

The folders are where Warp keeps its own, under `~/.cache/warp` (`WARP_CACHE_PATH` names another
place). Each has the checksums of its programs beside them: a changed byte could end the process or
change numbers, so a damaged folder is made anew. It appears whole or not at all: it is filled under
another name and renamed.
"""

import contextlib
import functools
import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

import warp as wp

from stiction._base.waiting import announced
from stiction.engines import core

_SUMS = "stiction.sha256"


@functools.cache
def core_kernel(file: str, name: str, precision: str, device: str) -> Any:
    """A kernel of a file of the core, ready to be launched."""
    stub = core.part("entry", precision).kernel
    module = wp.Module(_name_of(file, precision, device))
    wp.set_module_options(_options(precision, device), module)
    kernel = wp.Kernel(stub, key=name, module=module)
    load_programs(file, precision, device, module)
    return kernel


def load_programs(file: str, precision: str, device: str, module: Any) -> None:
    """Load the programs of a file of the core, compiled if they are not there or not whole."""
    name = f"{_name_of(file, precision, device)}_{_identity()}"
    folder = Path(wp.config.kernel_cache_dir or "") / name
    if _is_whole(folder):
        with contextlib.suppress(FileNotFoundError):  # made for another device or processor
            wp.load_aot_module(module, device, module_dir=folder, strip_hash=True)
            return
    folder = _compile(file, precision, device, folder)
    wp.load_aot_module(module, device, module_dir=folder, strip_hash=True)


def _name_of(file: str, precision: str, device: str) -> str:
    return f"{core.package_of(precision, **_kind_of(file, device))}.{file}"


def _kind_of(file: str, device: str) -> dict[str, bool]:
    """How a program is made. Fixed steps wait for memory, not for instructions."""
    return {"short": device != "cpu" and file != "stepping", "plain": file == "plain"}


def _options(precision: str, device: str) -> dict[str, Any]:
    compiled = core.part("reals", precision).COMPILED
    return compiled | ({"block_dim": 1} if device == "cpu" else {})


@functools.cache
def _identity() -> str:
    """A checksum of all that programs are made from."""
    found = hashlib.sha256(wp.__version__.encode())
    for path in sorted((Path(__file__).parent / "core").glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def _compile(file: str, precision: str, device: str, folder: Path) -> Path:
    """Compile a file of the core into a folder; the one where the programs are now.

    Programs for other devices that lie there already, and are whole, stay.
    """
    aside = Path(tempfile.mkdtemp(prefix="stiction-kernels-", dir=_place_for(folder)))
    if folder.is_dir() and _is_whole(folder):
        shutil.copytree(folder, aside, dirs_exist_ok=True)
    module = wp.get_module(core.part(file, precision, **_kind_of(file, device)).__name__)
    wp.set_module_options(_options(precision, device), module)
    with announced():
        wp.compile_aot_module(module, device, module_dir=aside, strip_hash=True)
    (aside / _SUMS).write_text(_sums(aside), encoding="utf-8")
    if aside.parent != folder.parent:
        return aside
    shutil.rmtree(folder, ignore_errors=True)
    try:
        return aside.rename(folder)
    except OSError:  # another process was quicker: what it compiled is the same
        if not _is_whole(folder):
            return aside
        shutil.rmtree(aside, ignore_errors=True)
        return folder


def _place_for(folder: Path) -> Path | None:
    """Where to compile: beside the folder, or, if nothing can be written there, any place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder.parent):
            return folder.parent
    except OSError:
        return None


def _sums(folder: Path) -> str:
    """The checksum of every program in a folder, a line each."""
    files = sorted(p for p in folder.iterdir() if p.suffix in (".o", ".meta", ".cubin", ".ptx"))
    return "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files)


def _is_whole(folder: Path) -> bool:
    """Whether a folder is as it was when its kernels were compiled."""
    try:
        return (folder / _SUMS).read_text(encoding="utf-8") == _sums(folder)
    except (OSError, UnicodeDecodeError):
        return False
