"""A folder of trials in one go: each analysed as `stiction gait` would, resumable, one table.

Of a folder (a subject's) the model is its only .osim file unless one is given, the static trial is
the marker file with 'static' or 'standing' in its name, and the plates of a trial that holds none
are the file of the same name with '_grf', '_forces' or '_loads' before its suffix.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stiction._base.errors import InputError, RunError
from stiction.cli.trial import TrialOptions
from stiction.report import OutputDirectory

_TRIALS = (".c3d", ".trc", ".mot", ".sto")
_PLATES = tuple(
    f"_{word}{s}" for word in ("grf", "forces", "loads") for s in (".xml", ".mot", ".sto")
)
_STATIC = ("static", "standing")
ANSWER = "gait.json"


def find_trials(folder: Path, options: TrialOptions) -> list[TrialOptions]:
    """The trials under a folder, each with its model, static trial and plates."""
    trials = []
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in _TRIALS):
        own = path.name.lower()
        if own.endswith(_PLATES) or any(word in own for word in _STATIC):
            continue
        trials.append(
            replace(
                options,
                motion=path,
                model=_model(path, options.model),
                static=options.static or _static(path),
                plates=options.plates or _plates(path),
            )
        )
    if not trials:
        raise InputError(f"no trials ({', '.join(_TRIALS)}) under '{folder}'; check the folder")
    return trials


def _model(path: Path, given: str) -> str:
    models = sorted(path.parent.glob("*.osim"))
    if given != "human" or not models:
        return given
    if len(models) > 1:
        names = ", ".join(m.name for m in models)
        raise InputError(f"'{path.parent}' holds several models ({names}); say which by --model")
    return str(models[0])


def _static(path: Path) -> Path | None:
    found = [
        p
        for p in sorted(path.parent.iterdir())
        if p.suffix.lower() in (".c3d", ".trc") and any(w in p.name.lower() for w in _STATIC)
    ]
    return found[0] if found else None


def _plates(path: Path) -> Path | None:
    found = [path.with_name(path.stem + ending) for ending in _PLATES]
    return next((p for p in found if p.is_file()), None)


def run_trials(
    folder: Path,
    trials: list[TrialOptions],
    out: Path,
    settings: dict[str, Any],
    analyse: Callable[[TrialOptions, Path], tuple[dict[str, Any], OutputDirectory]],
) -> Iterator[dict[str, Any]]:
    """Analyse trials one after the other; what was done before with the same input is kept.

    Yields:
        A row for each trial: its name, what came of it, and a few numbers.
    """
    for trial in trials:
        name = trial.motion.relative_to(folder).with_suffix("")
        place = out / name
        key = _key(trial, settings)
        summary = _earlier(place, key)
        row: dict[str, Any] = {"trial": str(name), "outcome": "kept" if summary else "done"}
        try:
            if summary is None:
                summary, directory = analyse(trial, place)
                directory.json(ANSWER, {"key": key, "summary": summary})
            row |= _numbers(summary)
        except (InputError, RunError) as error:
            row |= {"outcome": "failed", "why": str(error)}
        yield row


def _key(trial: TrialOptions, settings: dict[str, Any]) -> str:
    """What an answer depends on: the options, and the files as they are."""
    files = [trial.motion, trial.static, trial.plates, trial.contacts, trial.weights]
    model = Path(trial.model)
    files.append(model if model.is_file() else None)
    stamps = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files if f is not None]
    text = json.dumps([asdict(trial), settings, stamps], default=str, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _earlier(place: Path, key: str) -> dict[str, Any] | None:
    """The answer to the same question of an earlier run, if there is one."""
    try:
        found = json.loads((place / ANSWER).read_text())
        return found["summary"] if found["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _numbers(summary: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "subject": summary["subject"],
        "gait": summary["kind"],
        "usable": bool(summary["residual"]["usable"]),
        "residual force [%]": 100 * float(summary["residual"]["force_rms"]),
        "residual moment [%]": 100 * float(summary["residual"]["moment_rms"]),
    }
    for line in summary["strides"]:
        for foot in ("left", "right"):
            if foot in line:
                row[f"{foot} {line['quantity']}"] = line[foot]
    for line in summary["peaks"]:
        row[f"{line['joint']} moment from [N m/kg]"] = line["moment from [N m/kg]"]
        row[f"{line['joint']} moment to [N m/kg]"] = line["to [N m/kg]"]
    return row
