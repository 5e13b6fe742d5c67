"""A run on disk: written so that it can be read again as the same `Trajectory`, events and all.

A run's directory holds its `trajectory.nc` and its `scenario.yaml`. The dataset is that of
`Trajectory.to_dataset` with the list of events: a variable `event.NAME` for each field of the log.
"""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import yaml

from stiction._base.described import Described
from stiction._base.errors import InputError
from stiction.engines import RESULTS, Compliance, ContactPlaces, Origin, Signals, Trajectory
from stiction.engines.event_log import EventLog
from stiction.engines.given import unchecked
from stiction.scenes.library import LIBRARY
from stiction.scenes.read import read_scenario
from stiction.scenes.run import Scene
from stiction.surfaces import Touch, WorldContacts

if TYPE_CHECKING:
    import xarray as xr

DATA, SCENARIO = "trajectory.nc", "scenario.yaml"  # the files of a run
_LOG = "event."  # begins the names of the log's variables
_SAME = {  # fields of a trajectory by the names of their variables
    "time": "time", "q": "q", "v": "v", "effort": "effort", "kinetic": "kinetic_energy",
    "potential": "potential_energy", "actuator_work": "actuator_work",
    "damping_loss": "damping_loss",
}  # fmt: skip
_OF_CONTACT = {
    "friction_loss": "friction_loss", "impact_loss": "impact_loss", "support_work": "support_work",
    "force": "contact_force", "modes": "mode",
}  # fmt: skip


def scenario_text(scene: Scene) -> str:
    """The scenario as YAML that means the same wherever it lies.

    A built-in model is written out; other files are named by their full path.
    """
    data = scene.scenario.model_dump(mode="json", exclude_unset=True)
    folder = scene.folder.resolve()

    def anchor(table: dict[str, Any] | None, key: str) -> None:
        name = (table or {}).get(key)
        if not isinstance(name, str) or name.lstrip().startswith("<"):
            return
        path = folder / name
        inside = path.parent == LIBRARY and path.suffix == ".xml"
        assert table is not None
        table[key] = path.read_text("utf-8") if inside else str(path)

    anchor(data["mechanism"], "file")
    anchor(data.get("track"), "file")
    anchor((data.get("ground") or {}).get("field"), "heights")
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)


def run_dataset(run: Trajectory) -> Described:
    """The run with names and units, and its list of events."""
    dataset = run.described()
    ending = {"drift": np.asarray(run.drift), "result_number": np.asarray(run.result._value)}
    dataset = dataset._replace(attributes={**dataset.attributes, **ending})
    if run.log is None:
        return dataset
    count = min(int(run.n_events), len(run.log.time) - 1)
    found = {}
    for path, values in jax.tree_util.tree_flatten_with_path(run.log)[0]:
        name = _LOG + ".".join(key.name for key in path)
        array = np.asarray(values)[: count + 1]  # one more: the list of events ends with its room
        array = array.astype("int8") if array.dtype == bool else array
        axes = [f"{name}.{i}" for i in range(1, array.ndim)]
        found[name] = (("event", *axes), array)
    return dataset._replace(variables={**dataset.variables, **found})


def read_run(directory: str | Path) -> Trajectory:
    """The run that a directory holds, as `stiction run --out DIRECTORY` wrote it."""
    import xarray as xr

    folder = Path(directory)
    if not (folder / DATA).is_file() or not (folder / SCENARIO).is_file():
        raise InputError(
            f"`{folder}` must be the directory of a run, with {DATA} and {SCENARIO};"
            f" make one: stiction run SCENE --out {folder}"
        )
    scene = Scene(*read_scenario(folder / SCENARIO))
    with xr.open_dataset(folder / DATA, engine="h5netcdf") as dataset:
        try:
            return _trajectory(dataset.load(), scene)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"`{folder / DATA}` was written by another version of stiction ({error});"
                " run the scene again"
            ) from None


def _trajectory(data: "xr.Dataset", scene: Scene) -> Trajectory:
    values = {name: data[variable].values for name, variable in _SAME.items()}
    n = len(values["time"])
    none = {name: np.zeros(n) for name in _OF_CONTACT}
    none |= {"force": np.zeros((n, 0, 3)), "modes": np.zeros((n, 0), int)}
    values |= {k: data[v].values if v in data else none[k] for k, v in _OF_CONTACT.items()}
    log, events = None, data.sizes.get("event", 1) - 1
    if "event" in data.sizes:
        log = _log(EventLog, {str(k)[len(_LOG) :]: v.values for k, v in data.items()
                               if str(k).startswith(_LOG)})  # fmt: skip
    contacts = scene.contacts
    if isinstance(contacts, WorldContacts) and "contact_touch" in data:
        contacts = dataclasses.replace(
            contacts,
            names=tuple(data["contact"].values.tolist()),
            touches=tuple(Touch(*row) for row in data["contact_touch"].values.tolist()),
            couples=tuple(map(tuple, data["contact_bodies"].values.tolist())),
        )
    signals = None
    if "control" in data:
        nothing = np.zeros((n, 0))
        parts = {
            f.name: data[f.name].values if f.name in data else nothing
            for f in dataclasses.fields(Signals)
        }
        signals = unchecked(Signals, **parts)
    results = {int(item._value): item for item in RESULTS._name_to_item.values()}
    return unchecked(
        Trajectory,
        **values | {"modes": values["modes"].astype(int)},
        log=log,
        n_events=np.asarray(events),
        drift=np.asarray(data.attrs["drift"]),
        steps=np.asarray(data.attrs["steps"]),
        result=results[int(data.attrs["result_number"])],
        residual=data["contact_residual"].values if "contact_residual" in data else None,
        compliance=_part(Compliance, data, "contact") if "contact_depth" in data else None,
        acceleration=data["acceleration"].values if "acceleration" in data else None,
        places=_part(ContactPlaces, data, "world") if "world_point" in data else None,
        signals=signals,
        origin=Origin(scene.mechanism, contacts, scene.law, scene.control, scene, None, ()),
    )


def _part(kind: type, data: "xr.Dataset", head: str) -> Any:
    """A module of arrays, each from the variable with its name after `head`."""
    fields = (f.name for f in dataclasses.fields(kind))
    return unchecked(kind, **{name: data[f"{head}_{name}"].values for name in fields})


def _log(kind: type, values: dict[str, np.ndarray]) -> Any:
    """A module of arrays, and of other modules of arrays, from values by their paths."""
    fields = {}
    for field in dataclasses.fields(kind):
        inner = {
            k.partition(".")[2]: v for k, v in values.items() if k.startswith(f"{field.name}.")
        }
        if field.name == "places":
            fields["places"] = _log(ContactPlaces, inner) if inner else None
        elif inner:
            fields[field.name] = _log(field.type, inner)  # type: ignore[arg-type]
        else:
            array = values[field.name]
            fields[field.name] = array.astype(bool) if array.dtype == np.int8 else array
    return unchecked(kind, **fields)
