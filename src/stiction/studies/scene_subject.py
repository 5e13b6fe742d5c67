"""Runs of a scene as the subject of a study, and the fields that a study may vary in it."""

import hashlib
import re
import shlex
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stiction._base.errors import IgnoredWarning, InputError, unknown
from stiction.scenes import Scenario, Scene
from stiction.studies.block import require_device, run_block
from stiction.studies.measures import measure, schema_of
from stiction.studies.store import Schema
from stiction.studies.subject import AbstractSubject, Case, FunctionSubject, empty

_ENTRY = re.compile(r"(.+)\[(\d+)\]")
_STATES = ("start.q", "start.v")


@dataclass(frozen=True)
class VariedScene:
    """A scene of which a study varies fields. It is sent to other processes as its fields.

    Attributes:
        scenario: All fields.
        folder: Files of the scenario are relative to it.
        source: The scene's name or file, for commands.
    """

    scenario: Scenario
    folder: Path
    source: str

    @cached_property
    def scene(self) -> Scene:
        """The scene itself."""
        return Scene(self.scenario, self.folder)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("scenario", "folder", "source")}

    def changes(self, case: Case) -> dict[str, Any]:
        """Fields to change in a scene: lists of which entries vary are given as a whole."""
        found: dict[str, Any] = {}
        for path, value in case.items():
            entry = self._entry(path)
            if entry is None:
                found[path] = value
                continue
            owner, place = entry
            if owner not in found:
                found[owner] = self._list(owner)
            if place >= len(found[owner]):
                raise InputError(
                    f"`{path}` must be an entry of {len(found[owner])}, numbered from 0"
                )
            found[owner][place] = value
        return found

    def _entry(self, path: str) -> tuple[str, int] | None:
        """The list that a path means an entry of, and which one; None if it means none."""
        if match := _ENTRY.fullmatch(path):
            return match[1], int(match[2])
        for state in _STATES:
            if path.startswith(f"{state}."):
                return state, self._place(state, path.removeprefix(f"{state}."))
        return None

    def _place(self, state: str, name: str) -> int:
        """Where an entry of q or v is, by its name or by as much of its end as is not ambiguous."""
        tree = self.scene.mechanism.tree
        names = tree.coordinate_names if state == "start.q" else tree.freedom_names
        found = [i for i, n in enumerate(names) if n == name or n.endswith(f".{name}")]
        if len(found) != 1:
            raise unknown(f"entry of `{state}`", name, names)
        return found[0]

    def _list(self, owner: str) -> list[Any]:
        if owner in _STATES:
            return np.asarray(self.scene.q if owner == "start.q" else self.scene.v).tolist()
        value: Any = self.scenario.model_dump()
        keys = owner.split(".")
        if owner.startswith("mechanism.edits."):
            keys = ["mechanism", "edits", owner.removeprefix("mechanism.edits.")]
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, list | tuple):
            raise InputError(f"`{owner}` has no entries to vary: give it as a list by --set first")
        return list(value)

    def check(self, case: Case) -> Scene:
        """The scene of a case, after everything in it was looked at."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IgnoredWarning)
            made = self.scene.change(self.changes(case))
            _ = made.law, made.control, made.solver, made.touching
        return made

    def identity(self) -> dict[str, Any]:
        """As plain data: the fields, and a digest of the model's text."""
        source = self.scene.model_source
        text = source.read_bytes() if isinstance(source, Path) else str(source).encode()
        digest = hashlib.sha256(text).hexdigest()
        return {"scenario": self.scenario.model_dump(mode="json"), "model": digest}

    def settings(self, case: Case) -> str:
        """The changes of a case as `--set` has them, ready for a shell."""
        words = (f"{path}={_toml(value)}" for path, value in self.changes(case).items())
        return " ".join(f"--set {shlex.quote(word)}" for word in words)


@dataclass(frozen=True)
class SceneSubject(AbstractSubject):
    """Runs of a scene.

    Attributes:
        varied: The scene.
        keep: What is kept of each run, of `KEEPS`.
        base: The fields that the command line changed, for commands that run a case again.
        device: What runs them: cpu or gpu.
    """

    varied: VariedScene
    keep: tuple[str, ...] = ("summary",)
    base: str = ""
    device: str = "cpu"

    def about(self) -> dict[str, Any]:
        """As plain data."""
        where = {} if self.device == "cpu" else {"device": self.device}  # it rounds otherwise
        identity = self.varied.identity()
        return {"of": "run", "keep": sorted(self.keep), "identity": identity, **where}

    def schema(self, case: Case, seed: np.random.SeedSequence) -> Schema:
        """What is kept, with the sizes that the scene has in this case."""
        require_device(self.device, self.varied.scene, self.varied.changes(case))
        return schema_of(self.varied.check(case), self.keep)

    def outcomes(
        self, cases: Sequence[Case], seeds: Sequence[np.random.SeedSequence], schema: Schema
    ) -> tuple[dict[str, np.ndarray], list[str]]:
        """All cases, as many in a call of the engine as have one shape."""
        scene = self.varied.scene
        samples = scene.scenario.samples if "trajectories" in self.keep else 2
        changes = [self.varied.changes(case) for case in cases]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IgnoredWarning)  # told once, before the study
            runs, messages = run_block(scene, changes, samples=samples, device=self.device)
        kept = empty(schema, len(cases))
        for run in runs:
            found = measure(run.trajectory, self.keep)
            for name, values in found.items():
                if values.shape[1:] != kept[name].shape[1:]:
                    for i in run.lanes:
                        messages[i] = f"'{name}' has another size than in the first case"
                    break
                kept[name][run.lanes] = values
        return kept, messages

    def command(self, case: Case) -> str:
        """The run of one case, from the command line."""
        parts = ("stiction run", shlex.quote(self.varied.source), self.base)
        return " ".join(filter(None, (*parts, self.varied.settings(case))))


def scene_function(
    varied: VariedScene, what: Callable[[Scene], Any], command: str, base: str = ""
) -> FunctionSubject:
    """Something else that is done with a scene in every case; `command` does it again."""

    def repeat(case: Case) -> str:
        return " ".join(filter(None, (command, base, varied.settings(case))))

    identity = {"command": command, **varied.identity()}
    name = command.split()[1]
    return FunctionSubject(_WithScene(varied, what), name, identity, repeat)


@dataclass(frozen=True)
class _WithScene:
    """A function of a scene, called with a case."""

    varied: VariedScene
    what: Callable[[Scene], Any]

    def __call__(self, case: Case, seed: np.random.SeedSequence) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IgnoredWarning)
            return self.what(self.varied.scene.change(self.varied.changes(case)))


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_toml, value))}]"
    return repr(float(value)) if isinstance(value, float) else str(value)
