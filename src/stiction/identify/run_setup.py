"""From a log on disk and a setup to an identification, whatever the setup's kind."""

from collections.abc import Callable, Sequence
from pathlib import Path

from stiction._errors import InputError
from stiction.identify.axis import AxisSetup, identify_axis
from stiction.identify.export import Export, check_engine, export
from stiction.identify.identify import identify
from stiction.identify.impacts import ImpactSetup, identify_impacts
from stiction.identify.read_setup import Setup
from stiction.identify.recording import Recording, recording
from stiction.identify.result import Identification
from stiction.identify.rollouts import RolloutSetup, identify_rollouts
from stiction.identify.rollouts.export import export_rollouts
from stiction.identify.rollouts.identify import identify_prepared, prepare
from stiction.identify.setup import ContactSetup
from stiction.identify.sliding import SlidingSetup, identify_sliding
from stiction.identify.tables import Table, read_table
from stiction.identify.tosses import identify_tosses


def identify_and_export(
    logs: Sequence[str | Path],
    setup: Setup,
    engine: str,
    folder: Path = Path(),
    *,
    mass: float | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[Identification, Export]:
    """Identify from logs on disk, and tell it in an engine's words.

    Args:
        logs: As for `identify_logs`.
        setup: Of kind "contact" or "rollouts".
        engine: One of `export.FORMATS`.
        folder: As for `identify_logs`.
        mass: Of the body in the engine [kg].
        tell: Called with what is being done.
    """
    check_engine(engine, mass)
    if isinstance(setup, ContactSetup):
        found = identify_logs(logs, setup, folder, tell=tell)
        tell(f"replaying in {engine}")
        return found, export(found, setup, engine, mass=mass, folder=folder)
    if isinstance(setup, RolloutSetup):
        prepared = prepare(_tables(logs, setup), setup, folder, tell=tell)
        found = identify_prepared(prepared, setup, tell=tell)
        tell(f"replaying in {engine}")
        made = export_rollouts(found, prepared, setup, engine, mass=mass, folder=folder)
        return found, made
    raise InputError(
        f"`--export` needs a setup of kind 'contact' or 'rollouts', got '{setup.kind}'"
    )


def identify_logs(
    logs: Sequence[str | Path],
    setup: Setup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> Identification:
    """Identify from logs on disk.

    Args:
        logs: Files, or directories that hold the files named in the setup. Of a contact setup each
            is one test, of rollouts one or more of them; other kinds take one log.
        setup: From `read_setup`.
        folder: The setup's folder, for files of meshes and mechanisms.
        tell: Called with what is being done.
    """
    if isinstance(setup, ContactSetup):
        tell("reading")
        return identify([read_recording(log, setup) for log in logs], setup, folder, tell=tell)
    if isinstance(setup, RolloutSetup):
        return identify_rollouts(_tables(logs, setup), setup, folder, tell=tell)
    if len(logs) != 1:
        raise InputError(f"a setup of kind '{setup.kind}' takes one LOG, got {len(logs)}")
    log = Path(logs[0])
    if isinstance(setup, ImpactSetup):
        if not log.is_dir():
            raise InputError(f"`LOG` must be the directory of the tables, got '{log}'")
        tables = {n: read_table(log / t.file, setup.units) for n, t in setup.tables.items()}
        return identify_impacts(tables, setup)
    table = read_table(log, setup.units, setup.columns)
    if isinstance(setup, AxisSetup):
        return identify_axis(table, setup)
    if isinstance(setup, SlidingSetup):
        return identify_sliding(table, setup)
    return identify_tosses(table, setup)


def _tables(logs: Sequence[str | Path], setup: RolloutSetup) -> list[Table]:
    return [read_table(Path(log), setup.units, setup.columns) for log in logs]


def read_recording(log: str | Path, setup: ContactSetup) -> Recording:
    """One test from a file, or from a directory with one file for poses and one for wrenches."""
    log = Path(log)
    p, w = setup.pose, setup.wrench
    pose_columns = [p.time, *p.position]
    for names in (p.quaternion, p.rotation_vector, p.euler, p.velocity, p.angular_velocity,
                  p.acceleration, p.angular_acceleration):  # fmt: skip
        pose_columns += names or []
    wrench_columns = [w.time, *w.force, *w.moment]
    if log.is_dir() and p.file is not None and w.file is not None:
        poses = read_table(log / p.file, setup.units, pose_columns)
        wrenches = read_table(log / w.file, setup.units, wrench_columns)
    elif p.file is not None or w.file is not None:
        raise InputError(
            f"`LOG` must be a directory that holds '{p.file}' and '{w.file}', as `pose.file` and"
            f" `wrench.file` say, got '{log}'"
        )
    else:
        poses = wrenches = read_table(log, setup.units, pose_columns + wrench_columns)
    return recording(log.stem, poses, wrenches, setup)
