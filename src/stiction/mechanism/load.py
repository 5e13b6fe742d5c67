"""Read MJCF and URDF, through MuJoCo's compiler, into a `Mechanism`.

The steps: find and parse the file; refuse by name what would change the physics and is not
supported (`refuse`); tidy what real files leave untidy (`tidy`); compile; copy the compiled arrays
(`read`).
"""

import re
import warnings
from pathlib import Path
from typing import Literal

import mujoco

from stiction._base.errors import IgnoredWarning, InputError, unknown
from stiction._base.files import MODEL_SUFFIXES, read_text
from stiction.mechanism.mechanism import Mechanism
from stiction.mechanism.read import read
from stiction.mechanism.refuse import refuse
from stiction.mechanism.tidy import Tidied, free_root, tidy

Base = Literal["fixed", "free"]
_ROOT_TAG = re.compile(r"<\s*(mujoco|robot)\b")
_ENCODING = re.compile(r"""\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]*)["']""")
# An attribute that holds numbers, at least one of them nan or inf.
_UNDEFINED = re.compile(
    r"""(?<!\w)(\w+)\s*=\s*["']((?:[-+.\deE]+\s+)*[-+]?(?:nan|inf|infinity)(?:\s+[-+.\w]+)*)\s*["']""",
    re.I,
)


def load_mechanism(
    source: str | Path, *, base: Base | None = None, edits: dict[str, object] | None = None
) -> Mechanism:
    """A mechanism from an MJCF or URDF file, or from their text.

    Args:
        source: A path ending in .xml, .mjcf or .urdf, or the XML itself.
        base: How a URDF's root is held: "fixed" to the world (as the format has it) or "free".
            An MJCF file says that itself.
        edits: Attributes to change before compiling, as `{"geom.wheel.size": [0.5, 0.1, 0.25]}`:
            kind, name and attribute of an element as MuJoCo's `MjSpec` has them.

    Raises:
        InputError: The file is absent, broken, or holds what stiction cannot simulate.
    """
    spec, tidied, name = parse_model(source, base=base, edits=edits)
    model = _compile(spec, name)
    mechanism = read(model, tidied, name=spec.modelname or name)
    for note in tidied.warnings:
        warnings.warn(note, IgnoredWarning, stacklevel=2)
    return mechanism


def parse_model(
    source: str | Path, *, base: Base | None = None, edits: dict[str, object] | None = None
) -> tuple[mujoco.MjSpec, Tidied, str]:
    """The same before it is compiled: MuJoCo's own form, what was put aside, a name."""
    text, path, name = _text_of(source)
    tag = _ROOT_TAG.search(text)
    if tag is None:
        raise InputError(
            f"`{name}` must hold a <mujoco> or a <robot> element, found neither;"
            " give an MJCF or a URDF file"
        )
    _refuse_other_encodings(text, name)
    _refuse_undefined_numbers(text, name)
    urdf = tag.group(1) == "robot"
    if base not in (None, "fixed", "free"):
        raise InputError(f"`base` must be 'fixed' or 'free', got '{base}'")
    if base is not None and not urdf:
        raise InputError("`base` applies to URDF; an MJCF file has a <freejoint> or has none")
    spec = _parse(text, path, name)
    spec.compiler.fusestatic = False  # bodies keep their names; we merge what is welded ourselves
    _apply(edits or {}, spec)
    refuse(spec)
    if base == "free":
        free_root(spec)
    return spec, tidy(spec, urdf=urdf), name


def _text_of(source: str | Path) -> tuple[str, Path | None, str]:
    """The XML, the file it comes from, and a name for messages."""
    if isinstance(source, str) and source.lstrip().startswith("<"):
        return source, None, "text"
    path = Path(source)
    if path.suffix.lower() not in MODEL_SUFFIXES:
        raise InputError(
            f"`{path}` must end in {', '.join(MODEL_SUFFIXES)}, got '{path.suffix}';"
            " give an MJCF or a URDF file"
        )
    return read_text(path, most=1e8), path, path.stem


def _refuse_other_encodings(text: str, name: str) -> None:
    """MuJoCo reads UTF-8 whatever a file says of itself: names would come out as other ones."""
    said = _ENCODING.match(text)
    if said is None:
        return
    try:
        same = text.encode(said.group(1)) == text.encode()
    except (LookupError, ValueError):  # no encoding of that name, or not one of this text
        same = False
    if not same:
        raise InputError(
            f"`encoding` of `{name}` must be UTF-8, in which models are read, got"
            f" '{said.group(1)[:40]}'; save the file in UTF-8 and say so in its first line"
        )


def _refuse_undefined_numbers(text: str, name: str) -> None:
    for attribute, value in _UNDEFINED.findall(text):
        if attribute not in ("name", "class"):
            raise InputError(f"`{attribute}` in `{name}` must be finite, got '{value}'")


def _parse(text: str, path: Path | None, name: str) -> mujoco.MjSpec:
    try:
        # Included files and meshes are relative to the file: let MuJoCo open it.
        return (
            mujoco.MjSpec.from_string(text) if path is None else mujoco.MjSpec.from_file(str(path))
        )
    except (ValueError, RuntimeError) as error:
        raise InputError(f"`{name}` is not a valid model: {_one_line(error)}") from None


def _compile(spec: mujoco.MjSpec, name: str) -> mujoco.MjModel:
    try:
        return spec.compile()
    except (ValueError, RuntimeError) as error:
        raise InputError(f"`{name}` does not compile: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    text = re.sub(r"^Error:?\s*", "", str(error).strip())
    return " ".join(text.replace("\n", ", ").split()).strip(", ")


def _apply(edits: dict[str, object], spec: mujoco.MjSpec) -> None:
    """Set attributes of named elements."""
    for path, value in edits.items():
        kind, _, rest = path.partition(".")
        name, _, attribute = rest.rpartition(".")
        if path == "option.gravity":
            spec.option.gravity = value
            continue
        if kind not in ("body", "joint", "geom", "site", "actuator") or not name:
            raise InputError(
                f"`{path}` must read KIND.NAME.ATTRIBUTE with KIND one of body, joint, geom, site,"
                " actuator, for example geom.wheel.size"
            )
        element = getattr(spec, kind)(name)
        if element is None:
            names = [e.name for e in getattr(spec, {"body": "bodies"}.get(kind, kind + "s"))]
            raise unknown(kind, name, [n for n in names if n])
        if attribute.startswith("_") or not hasattr(element, attribute):
            raise InputError(f"`{path}`: a {kind} has no attribute '{attribute}'")
        try:
            current = getattr(element, attribute)
            if hasattr(current, "__len__") and not isinstance(current, str):
                current[: len(value)] = value  # type: ignore[arg-type]
            else:
                setattr(element, attribute, value)
        except (TypeError, ValueError) as error:
            raise InputError(f"`{path}` does not take the value {value!r}: {error}") from None
