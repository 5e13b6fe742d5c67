"""What a command leaves behind: a directory it owns, a line for people, an object for programs."""

import json
import math
import sys
from pathlib import Path
from typing import Any

from stiction._errors import InputError

MANIFEST = "stiction.json"  # marks a directory as ours, and says what made it


class OutputDirectory:
    """A directory for results. Checked when named, made when first written to.

    A directory that stiction did not make is never written into, unless `force`.
    """

    def __init__(self, path: str | Path, *, force: bool = False):
        self.path = Path(path)
        self.files: list[Path] = []
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"`--out` must name a directory, got the file '{path}'; choose another"
            )
        foreign = self.path.is_dir() and any(self.path.iterdir())
        if foreign and not (self.path / MANIFEST).exists() and not force:
            raise InputError(
                f"`--out` names '{path}', which stiction did not make;"
                " choose another directory or add --force"
            )

    def file(self, name: str) -> Path:
        """The path of a file to be written, its directory made and the manifest kept."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path not in self.files:
            self.files.append(path)
        self._write_manifest()
        return path

    def _write_manifest(self) -> None:
        import stiction

        content = {
            "made_by": f"stiction {stiction.__version__}",
            "command": sys.argv[1:],
            "files": sorted(str(f.relative_to(self.path)) for f in self.files),
        }
        (self.path / MANIFEST).write_text(json.dumps(content, indent=2) + "\n")


def print_json(value: Any) -> None:
    """Print one JSON object on standard output. Numbers that JSON lacks (nan, inf) become null."""
    print(json.dumps(jsonable(value), indent=2, allow_nan=False))


def jsonable(value: Any) -> Any:
    """Arrays, NumPy scalars, paths and nested containers as plain JSON values."""
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set):
        return [jsonable(v) for v in value]
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # NumPy and JAX arrays and scalars
        return jsonable(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value
    raise TypeError(f"no JSON form for {type(value)}")


def text_table(*columns: str, **options: Any):
    """A table for the terminal that folds what does not fit, and cuts nothing off."""
    from rich.table import Column, Table

    return Table(*(Column(name, overflow="fold") for name in columns), **options)
