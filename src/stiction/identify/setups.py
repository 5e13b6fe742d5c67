"""The kinds of setups: how each is read, and how its logs are read, identified and exported."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from stiction._base.errors import InputError, unknown
from stiction._base.files import explain, read_fields
from stiction.identify.exporting import Export, check_engine, export_contact
from stiction.identify.fields import Setup
from stiction.identify.fit.ranking import Ranking
from stiction.identify.kinds import (
    axis,
    contact,
    impact_pairs,
    impacts,
    robot,
    rollouts,
    sliding,
    tosses,
)
from stiction.identify.kinds.contact_laws import rank_laws as rank_contact_laws
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.kinds.impacts import ImpactSetup
from stiction.identify.kinds.rollouts.export import export_rollouts
from stiction.identify.recording import Recording, read_recording
from stiction.identify.result import Identification, Parameter
from stiction.tables import Table, read_table

_APART = 3.5  # standard errors between two records that are more than chance
LIBRARY = Path(__file__).parent / "library"

Logs = Sequence[str | Path]


def _recordings(logs: Logs, setup: ContactSetup) -> list[Recording]:
    return [read_recording(log, setup) for log in logs]


def _tables(logs: Logs, setup: Any) -> list[Table]:
    return [read_table(Path(log), setup.units, setup.columns) for log in logs]


def _only_log(logs: Logs, setup: Setup) -> Path:
    if len(logs) != 1:
        raise InputError(f"a setup of kind '{setup.kind}' takes one LOG, got {len(logs)}")
    return Path(logs[0])


def _one_table(logs: Logs, setup: Any) -> Table:
    return read_table(_only_log(logs, setup), setup.units, setup.columns)


def _tables_of_directory(logs: Logs, setup: ImpactSetup) -> dict[str, Table]:
    log = _only_log(logs, setup)
    if not log.is_dir():
        raise InputError(f"`LOG` must be the directory of the tables, got '{log}'")
    return {n: read_table(log / t.file, setup.units) for n, t in setup.tables.items()}


class Kind(NamedTuple):
    """A kind of setup."""

    setup: type[Setup]  # its fields
    read: Callable[[Logs, Any], Any]  # from logs on disk and a setup to what `identify` takes
    identify: Callable[..., Identification]  # from that and the setup to an `Identification`
    # from an `Identification` to an engine's words, where there are any
    export: Callable[..., Export] | None = None
    # from other data, the setup, its folder and an `Identification` to how well those data are
    # foretold, where there is such a thing
    validate: Callable[..., dict[str, float]] | None = None
    # from data, the setup, its folder and who is told to laws ranked by what they foretell
    laws: Callable[..., Ranking] | None = None
    # whether `identify` also takes the setup's folder and says what it does
    has_folder: bool = False


KINDS = {
    "contact": Kind(
        ContactSetup,
        _recordings,
        contact.identify,
        export_contact,
        laws=rank_contact_laws,
        has_folder=True,
    ),
    "axis": Kind(axis.AxisSetup, _one_table, axis.identify, validate=axis.validate),
    "sliding": Kind(sliding.SlidingSetup, _one_table, sliding.identify),
    "impacts": Kind(ImpactSetup, _tables_of_directory, impacts.identify),
    "impact-pairs": Kind(impact_pairs.ImpactPairSetup, _tables, impact_pairs.identify),
    "tosses": Kind(tosses.TossSetup, _one_table, tosses.identify),
    "rollouts": Kind(
        rollouts.RolloutSetup,
        _tables,
        rollouts.identify,
        export_rollouts,
        rollouts.validate,
        rollouts.rank_laws,
        has_folder=True,
    ),
    "robot": Kind(
        robot.RobotSetup,
        _tables,
        robot.identify,
        robot.export_robot,
        robot.validate,
        has_folder=True,
    ),
}


def setup_names() -> list[str]:
    """The names of the built-in setups."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def read_setup(source: str | Path) -> tuple[Any, Path]:
    """The setup of a TOML or YAML file or of a built-in name, and the folder it lies in."""
    path = _find(source)
    data = read_fields(path)
    kind = str(data.get("kind", "contact"))
    if kind not in KINDS:
        raise unknown("kind of setup", kind, KINDS)
    model = KINDS[kind].setup
    try:
        return model.model_validate(data), path.resolve().parent
    except ValidationError as error:
        raise InputError(explain(error, model)) from None


def setup_text(source: str | Path) -> str:
    """A setup as it is written."""
    return _find(source).read_text(encoding="utf-8")


def _find(source: str | Path) -> Path:
    path = Path(source)
    if path.suffix.lower() in (".toml", ".yaml", ".yml"):
        return path
    if str(source) not in setup_names():
        raise unknown("setup or file", source, setup_names())
    return LIBRARY / f"{source}.toml"


def identify_logs(
    logs: Logs,
    setup: Setup,
    folder: Path = Path(),
    *,
    laws: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> Identification:
    """Identify from logs on disk.

    Args:
        logs: Files, or directories that hold the files named in the setup. Of a contact setup each
            is one test, of rollouts, robots and impact pairs one or more of them; other kinds take
            one log.
        setup: From `read_setup`.
        folder: The setup's folder, for files of meshes and mechanisms.
        laws: Whether to rank laws too, by what they foretell of data kept aside.
        tell: Called with what is being done.
    """
    kind = KINDS[setup.kind]
    tell("reading")
    data = kind.read(logs, setup)
    if not kind.has_folder:
        return kind.identify(data, setup)
    found = kind.identify(data, setup, folder, tell=tell)
    if laws and kind.laws is not None:
        found = replace(found, laws=kind.laws(data, setup, folder, tell=tell))
    return found


def check_laws(setup: Setup) -> None:
    """Refuse a ranking of laws that there is no choice of, before anything is computed."""
    if KINDS[setup.kind].laws is None and setup.kind != "impact-pairs":
        raise InputError(
            "`--laws` needs a setup of kind 'contact', 'rollouts' or 'impact-pairs', got"
            f" '{setup.kind}'"
        )


class Validation(NamedTuple):
    """What other records say of fitted numbers."""

    foretold: dict[str, float]  # errors of predictions of the other records, by name
    refitted: dict[str, Parameter]  # parameters of the other records alone
    # difference of the two fits, in standard errors of both together, by parameter
    apart: dict[str, float]
    warnings: list[str]  # plain sentences

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        refitted = {n: p.to_json() for n, p in self.refitted.items()}
        return {**self._asdict(), "refitted": refitted}


def validate(
    found: Identification,
    logs: Logs,
    setup: Setup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> Validation:
    """Judge fitted numbers on records of their own: foretell them, and fit them alone.

    Args:
        found: From `identify_logs`, with the same setup.
        logs: Other records.
        setup: From `read_setup`.
        folder: The setup's folder.
        tell: Called with what is being done.
    """
    kind = KINDS[setup.kind]
    foretold = {}
    if kind.validate is not None:
        tell("foretelling other records")
        foretold = kind.validate(kind.read(logs, setup), setup, folder, found)
    tell("fitting other records alone")
    other = identify_logs(logs, setup, folder, tell=tell).parameters
    apart = {}
    for name, p in found.parameters.items():
        q = other.get(name)
        if q is None or not p.std or not q.std or p.value is None or q.value is None:
            continue
        apart[name] = float((q.value - p.value) / np.hypot(p.std, q.std))
    far = {n: z for n, z in apart.items() if abs(z) > _APART}
    said = [
        f"{name} differs between the records by {abs(z):.1f} standard errors: something changes"
        " from record to record that the intervals do not hold"
        for name, z in far.items()
    ]
    return Validation(foretold, other, apart, said)


def export(
    found: Identification,
    setup: Setup,
    engine: str,
    *,
    mass: float | None = None,
    folder: Path = Path(),
) -> Export:
    """What was identified in an engine's words, and the log replayed there.

    Args:
        found: From `identify_logs` or `identify`, with the same setup.
        setup: Of kind "contact" or "rollouts".
        engine: One of `FORMATS`.
        mass: Of the body in the engine [kg]; if left out, that of the setup's inertia or 1 kg, of
            rollouts that of the whole mechanism.
        folder: The setup's folder, for files of meshes and mechanisms.
    """
    check_engine(engine, mass)
    return _exporter(setup)(found, setup, engine, mass=mass, folder=folder)


def check_export(setup: Setup, engine: str, mass: float | None) -> None:
    """Refuse an export that cannot be made, before anything is computed."""
    check_engine(engine, mass)
    _exporter(setup)


def _exporter(setup: Setup) -> Callable[..., Export]:
    exporter = KINDS[setup.kind].export
    if exporter is None:
        kinds = " or ".join(f"'{name}'" for name, kind in KINDS.items() if kind.export)
        raise InputError(f"`--export` needs a setup of kind {kinds}, got '{setup.kind}'")
    return exporter
