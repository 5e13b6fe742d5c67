"""The directory that a command writes into: owned, never torn, and described by a manifest."""

import contextlib
import csv
import io
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stiction._base.errors import InputError, RunError

if TYPE_CHECKING:
    import xarray as xr

    from stiction._base.described import Described
    from stiction.report.page import Report

MANIFEST = "stiction.json"  # marks a directory as ours, and says what made it
_ASIDE = ".stiction-"  # begins the names of the folders in which files are written first


class OutputDirectory:
    """A directory for results: checked when named, made when first written to.

    A directory that stiction did not make is never written into, unless `force`. Every file is
    written aside, under its own name in a hidden folder, and moved into place when it is whole. The
    manifest lists the files that are in place, each with the command that wrote it; the files that
    the same command left there before are removed when the first new one is written.

    Attributes:
        path: Where it is.
        files: What has been written, in order.
    """

    def __init__(self, path: str | Path, *, command: str = "", force: bool = False):
        self.path = Path(path)
        self.files: list[Path] = []
        self._command = command
        self._others: dict[str, str] = {}  # files of other commands in the same directory
        self._begun = False
        try:
            self._check_place(force)
        except OSError as error:
            raise InputError(
                f"`--out` must name a directory that can be written, got '{path}'"
                f" ({error.strerror or error}); choose another"
            ) from None

    def _check_place(self, force: bool) -> None:
        """Refuse what is no directory, is not ours, or cannot be written."""
        with contextlib.suppress(FileNotFoundError):
            self.path.stat()  # a name that is too long, or a file among the parents
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"`--out` must name a directory, got the file '{self.path}'; choose another"
            )
        taken = self.path.is_dir() and any(self.path.iterdir())
        if taken and not force and _read_manifest(self.path) is None:
            raise InputError(
                f"`--out` names '{self.path}', which stiction did not make;"
                " choose another directory or add --force"
            )
        parent = self.path.absolute()
        while not parent.exists():
            parent = parent.parent
        with tempfile.TemporaryFile(prefix=_ASIDE, dir=parent) as file:
            file.write(b" " * 4096)

    @contextlib.contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """A place to write the file `name`; when the block ends the file is moved to its own.

        A failure to write ends in a `RunError` that names the files that are kept.
        """
        final = self.path / name
        try:
            self._begin()
            with self._aside(name) as path:
                yield path
            if final not in self.files:
                self.files.append(final)
            self._write_manifest()
        except OSError as error:
            kept = ", ".join(f.name for f in self.files) or "nothing"
            raise RunError(
                f"'{final}' could not be written ({error.strerror or error});"
                f" kept in '{self.path}': {kept}"
            ) from None

    @contextlib.contextmanager
    def _aside(self, name: str) -> Iterator[Path]:
        folder = tempfile.mkdtemp(prefix=_ASIDE, dir=self.path)
        try:
            yield Path(folder) / name
            os.replace(Path(folder) / name, self.path / name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def text(self, name: str, text: str) -> Path:
        """Write a text file."""
        with self.file(name) as path:
            path.write_text(text, encoding="utf-8")
        return self.path / name

    def json(self, name: str, value: Any) -> Path:
        """Write a JSON file."""
        return self.text(name, json_text(value) + "\n")

    def csv(
        self, name: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()
    ) -> Path:
        """Write a table as CSV: one mapping a row; cells that a row lacks stay empty.

        Args:
            name: Name of the file.
            rows: The rows.
            columns: Those of a table that may have no rows; else what the rows have.
        """
        columns = list(dict.fromkeys(key for row in rows for key in row)) or list(columns)
        text = io.StringIO(newline="")
        table = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        return self.text(name, text.getvalue())

    def netcdf(self, name: str, dataset: "Described | xr.Dataset") -> Path:
        """Write a dataset as NetCDF."""
        from stiction._base.described import Described, described

        content = (dataset if isinstance(dataset, Described) else described(dataset)).to_netcdf()
        with self.file(name) as path:
            path.write_bytes(content)
        return self.path / name

    def page(self, report: "Report") -> Path:
        """Write a report as `report.html`."""
        with self.file("report.html") as path:
            report.write(path)
        return self.path / "report.html"

    def _begin(self) -> None:
        """Make the directory ours, and remove what this command left there before."""
        if self._begun:
            return
        self.path.mkdir(parents=True, exist_ok=True)
        for name, command in (_read_manifest(self.path) or {}).items():
            if command != self._command:
                self._others[name] = command
            elif Path(name).name == name:  # nothing outside this directory
                (self.path / name).unlink(missing_ok=True)
        for folder in self.path.glob(f"{_ASIDE}*"):  # of a command that was killed
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)
        self._begun = True
        self._write_manifest()

    def _write_manifest(self) -> None:
        import stiction

        ours = {file.name: self._command for file in self.files}
        others = {name: c for name, c in self._others.items() if (self.path / name).exists()}
        content = {
            "made_by": f"stiction {stiction.__version__}",
            "command": sys.argv[1:],
            "files": dict(sorted((others | ours).items())),
        }
        with self._aside(MANIFEST) as path:
            path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _read_manifest(folder: Path) -> dict[str, str] | None:
    """The files that stiction wrote into a directory, each with its command; None if not ours."""
    path = folder / MANIFEST
    if path.is_symlink() or not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or not str(content.get("made_by")).startswith("stiction "):
        return None
    files = content.get("files")
    if isinstance(files, list):  # of version 0.1: all of one command
        files = dict.fromkeys(map(str, files), str(next(iter(content.get("command") or []), "")))
    return files if isinstance(files, dict) else None


def json_text(value: Any) -> str:
    """One JSON object as text. Numbers that JSON lacks (nan, inf) become null."""
    return json.dumps(jsonable(value), indent=2, allow_nan=False)


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
