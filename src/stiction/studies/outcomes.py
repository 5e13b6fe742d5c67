"""One number of every case, by name: to be mapped, counted or split into what matters."""

from typing import TYPE_CHECKING

import numpy as np

from stiction.studies.ask import ALIASES, look_up
from stiction.studies.design import StudyDesign
from stiction.studies.store import DONE, MESSAGE, STATUS, Schema

if TYPE_CHECKING:
    import xarray as xr

NOTHING = 1e-7  # relative; what differs by less does not: the usual tolerance of runs is 1e-8
# Drawn if the user names nothing, as many as differ from case to case.
_USUAL = ("rest_time", "energy_final", "friction_loss", "impact_loss", "n_impacts")


def outcome_of(dataset: "xr.Dataset", name: str) -> "xr.DataArray":
    """An outcome of every case that is done and did not fail, nan for the others.

    Args:
        dataset: Of a study.
        name: A variable, or an entry of one: `rest_time`, `final.z`, `final_v.q1`.
    """
    import xarray as xr

    status = dataset[STATUS]
    dims, shape = status.dims, status.shape
    count = int(np.prod(shape))
    head = name.partition(".")[0]
    head = head if head in dataset else ALIASES.get(head, head)
    wanted = [n for n in (name, head) if n in dataset.data_vars][:1]
    values = {
        n: dataset[n].transpose(*dims, ...).values.reshape(count, *dataset[n].shape[len(dims) :])
        for n in wanted or map(str, dataset.data_vars)
    }
    labels = {
        str(d): [str(x) for x in dataset[d].values]
        for d in dataset.dims
        if d not in dims and d in dataset.coords
    }
    found = np.asarray(look_up(name, values, labels, "--show"), float)
    found = np.where(status.values.ravel() == DONE, found, np.nan)
    units = dataset[wanted[0]].attrs.get("units", "")
    return xr.DataArray(
        found.reshape(shape),
        {d: dataset[d] for d in dims if d in dataset.coords},
        dims,
        name=name,
        attrs={"units": "" if " or " in units else units, "scale": _scale(found, units, dataset)},
    )


def _scale(values: np.ndarray, units: str, dataset: "xr.Dataset") -> float:
    """The largest of the values and, of energies, of those at the start: what is nothing beside it
    is rounding, though it may differ from case to case.
    """
    among = [values]
    if units == "J" and "energy_initial" in dataset:
        among.append(np.ravel(dataset["energy_initial"].values))
    return max(np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in among)


def require_outcomes(schema: Schema, names: list[str]) -> None:
    """Refuse names that are no outcome of a study, before it is done."""
    values = {n: np.zeros((1, *v.shape), v.dtype) for n, v in schema.variables.items()}
    for name in names:
        look_up(name, values, schema.labels, "--show")


def usual_outcomes(dataset: "xr.Dataset", most: int = 3) -> list[str]:
    """Names of outcomes worth a picture: they differ from case to case. Single numbers first."""
    dims = dataset[STATUS].dims
    numeric = {
        str(n): v
        for n, v in dataset.data_vars.items()
        if n not in (STATUS, MESSAGE) and v.dtype.kind in "fiu"
    }
    single = [n for n, v in numeric.items() if v.dims == dims]
    entries = [
        f"{n}.{entry}"
        for n, v in numeric.items()
        for d in v.dims
        if len(v.dims) == len(dims) + 1 and d not in dims and d in dataset.coords
        for entry in dataset[d].values
    ]
    if "rest_time" in single:  # of runs
        return _that_differ(dataset, [n for n in _USUAL if n in single], most)
    return _that_differ(dataset, single, most) or _that_differ(dataset, entries, most)


def _that_differ(dataset: "xr.Dataset", names: list[str], most: int) -> list[str]:
    found = []
    for name in names:
        outcome = outcome_of(dataset, name)
        values = outcome.values[np.isfinite(outcome.values)]
        if values.size and np.ptp(np.quantile(values, [0.05, 0.95])) > NOTHING * outcome.scale:
            found.append(name)
        if len(found) == most:
            break
    return found


def numbers_of(design: StudyDesign, dataset: "xr.Dataset") -> list[str]:
    """The varied numbers, not words, in the order of the design."""
    return [n for n in design.targets if n in dataset and dataset[n].dtype.kind in "fiu"]
