"""Whether a .c3d file is sound: every count and offset in it stays inside of the file.

ezc3d believes what a file says of itself; a wrong count ends the whole process. The layout is that
of the C3D user guide (c3d.org): blocks of 512 bytes, a header, a section of parameters in groups,
and frames of points and analogue samples.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError

_BLOCK = 512
_KEY = 0x50
_ORDER = {84: "<", 85: "<", 86: ">"}  # Intel, DEC, MIPS
_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}  # bytes of a parameter's entries by its type
_MOST_DIMENSIONS = 7
_MOST_TURNS = 100  # rotations in the time of a frame of points


class _Broken(Exception):
    """What is wrong with a file."""


@dataclass
class _Parameter:
    kind: int
    dimensions: tuple[int, ...]
    data: bytes


def check_c3d(path: Path) -> None:
    """Raise an `InputError` unless the file is sound."""
    content = path.read_bytes()
    try:
        _check(content)
    except _Broken as broken:
        raise InputError(f"`{path}` is not a readable .c3d file: {broken}") from None
    except (struct.error, IndexError):
        raise InputError(f"`{path}` is not a readable .c3d file: it ends too early") from None


def _check(content: bytes) -> None:
    if len(content) < 2 * _BLOCK or content[1] != _KEY:
        raise _Broken("it has no header of the kind")
    start = (content[0] - 1) * _BLOCK
    if content[0] < 2 or start + 4 > len(content):
        raise _Broken("its parameters are not where its header says")
    blocks, processor = content[start + 2], content[start + 3]
    if processor not in _ORDER:
        raise _Broken(f"it is of an unknown kind of processor, {processor}")
    end = start + blocks * _BLOCK
    if blocks == 0 or end > len(content):
        raise _Broken("its parameters do not fit into it")
    order = _ORDER[processor]
    found = _parameters(content, start + 4, end, order)
    _check_counts(content, found, order)


def _parameters(content: bytes, at: int, end: int, order: str) -> dict[tuple[str, str], _Parameter]:
    """All parameters, by the names of their group and their own."""
    groups: dict[int, str] = {}
    found: dict[tuple[int, str], _Parameter] = {}
    while True:
        letters, group = struct.unpack_from("bb", content, at)
        if letters == 0 or group == 0:
            break
        name = content[at + 2 : at + 2 + abs(letters)].decode("latin-1").upper()
        if not name.strip() or not name.isascii() or not name.isprintable():
            raise _Broken("a parameter has no name")
        here = at + 2 + abs(letters)
        (offset,) = struct.unpack_from(order + "H", content, here)
        following, here = here + offset, here + 2
        if group < 0:
            if -group in groups:
                raise _Broken(f"the group of '{name}' is there twice")
            groups[-group] = name
            last = here + 1 + content[here]
        else:
            parameter, last = _parameter(content, here, name)
            found[group, name] = parameter
        if last > end or following > end or (offset and following < last):
            raise _Broken(f"'{name}' does not fit into the parameters")
        if offset == 0:
            break
        at = following
        if at + 2 > end:
            break
    for group, name in found:
        if group not in groups:
            raise _Broken(f"'{name}' is in no group")
    return {(groups[group], name): p for (group, name), p in found.items()}


def _parameter(content: bytes, at: int, name: str) -> tuple[_Parameter, int]:
    """A parameter, and where it ends."""
    kind, count = struct.unpack_from("bB", content, at)
    if kind not in _SIZES or count > _MOST_DIMENSIONS:
        raise _Broken(f"'{name}' is of an unknown kind")
    if kind == -1 and count == 0:
        raise _Broken(f"'{name}' is a text without a length")
    dimensions = tuple(content[at + 2 : at + 2 + count])
    first = at + 2 + count
    last = first + _SIZES[kind] * int(np.prod(dimensions, dtype=np.int64))
    data = content[first:last]
    if last >= len(content) or last - first > 2**16:
        raise _Broken(f"'{name}' does not fit into the parameters")
    return _Parameter(kind, dimensions, data), last + 1 + content[last]


def _check_counts(content: bytes, found: dict[tuple[str, str], _Parameter], order: str) -> None:
    """Frames, points and channels as header and parameters have them, and as the file is long."""
    points, samples, first, last = struct.unpack_from(order + "4H", content, 2)
    (scale,) = struct.unpack_from(order + "f", content, 12)
    data, per_frame = struct.unpack_from(order + "2H", content, 16)
    (rate,) = struct.unpack_from(order + "f", content, 20)
    if not (np.isfinite(scale) and np.isfinite(rate)) or rate < 0:
        raise _Broken("its rate or its scale is no number")
    used = _whole(found, "POINT", "USED", order)
    if used is None or used != points:
        raise _Broken(f"its header has {points} points, its parameters {used}")
    channels = _whole(found, "ANALOG", "USED", order) or 0
    if samples != channels * per_frame and not (samples == 0 and channels == 0):
        raise _Broken(f"its header has {samples} analogue samples a frame, not {channels} channels")
    for name in ("OFFSET", "SCALE", "GEN_SCALE", "RATE") if channels else ():
        if ("ANALOG", name) not in found or found["ANALOG", name].kind not in (2, 4):
            raise _Broken(f"'ANALOG:{name}' is missing, or is no number")
    turns = _whole(found, "ROTATION", "USED", order) or 0
    ratio = _whole(found, "ROTATION", "RATIO", order) or 0
    frames = last - first + 1
    if ratio > _MOST_TURNS or 17 * 4 * turns * max(frames, 0) * max(ratio, 1) > len(content):
        raise _Broken(f"it has no room for its {turns} rotations, {ratio} a frame")
    if frames < 0 or (points and frames > 0 and data < 2):
        raise _Broken("its frames are not where its header says")
    size = 4 if scale < 0 else 2
    needed = max(data - 1, 0) * _BLOCK + frames * (4 * points + samples) * size
    # Counts of two bytes end at 65535 frames: then parameters tell of more.
    if last != 65535 and (points or samples) and needed > len(content):
        raise _Broken(f"it ends before its {frames} frames do")


def _whole(
    found: dict[tuple[str, str], _Parameter], group: str, name: str, order: str
) -> int | None:
    parameter = found.get((group, name))
    if parameter is None:
        return None
    if parameter.kind != 2 or len(parameter.data) < 2:
        raise _Broken(f"'{group}:{name}' is not a number")
    return int(struct.unpack_from(order + "H", parameter.data)[0])
