"""Which start comes to which rest: cases sorted by what they rest on at the end."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction._base.errors import InputError
from stiction.studies.store import DONE, STATUS

if TYPE_CHECKING:
    import xarray as xr

MOVING = "moving"
FREE = "at rest in the air"


def basins(dataset: "xr.Dataset") -> tuple["xr.DataArray", list[dict[str, Any]]]:
    """The basin of every case, as a number, and what the numbers mean, the most frequent first.

    A basin is the set of contacts that touch when all has come to rest: of a box the face that it
    lies on. Cases that still move at the end are one more basin; failed ones have the number -1.
    """
    import xarray as xr

    if "final_mode" not in dataset:
        raise InputError("basins are told by contacts, and this study has none")
    names = [str(n) for n in dataset["contact"].values]
    dims = dataset[STATUS].dims
    touching = dataset["final_mode"].transpose(*dims, "contact").values > 0
    flat = touching.reshape(-1, len(names))
    codes = np.packbits(flat, axis=1, bitorder="little")
    rests = dataset["at_rest"].values.ravel()
    done = dataset[STATUS].values.ravel() == DONE
    kinds = [
        (bytes(code) if still else None) if ok else b"-"
        for code, still, ok in zip(codes, rests, done, strict=True)
    ]
    counted = Counter(kind for kind, ok in zip(kinds, done, strict=True) if ok)
    order = {kind: i for i, (kind, _) in enumerate(counted.most_common())}
    numbers = np.array([order[k] if ok else -1 for k, ok in zip(kinds, done, strict=True)], int)
    first = {kind: i for i, kind in reversed(list(enumerate(kinds)))}
    rows = []
    for kind, count in counted.most_common():
        on = [names[j] for j in np.flatnonzero(flat[first[kind]])]
        what = MOVING if kind is None else "rests on " + ", ".join(on) if on else FREE
        rows.append({"basin": order[kind], "what": what, "cases": count})
    coords = {d: dataset[d] for d in dims if d in dataset.coords}
    return xr.DataArray(numbers.reshape(dataset[STATUS].shape), coords, dims, name="basin"), rows
