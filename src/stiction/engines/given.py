"""What a run is made of, and how much of it is recorded."""

import dataclasses
from typing import Any, NamedTuple


class Given(NamedTuple):
    """All that a run is made of. Without contacts there is no law."""

    mechanism: Any
    contacts: Any
    control: Any
    solver: Any
    q: Any  # (*batch, nq)
    v: Any  # (*batch, nv)
    until: Any  # (*batch,)
    law: Any  # with a number for each lane of the batch and each contact


class Extent(NamedTuple):
    """How much of a run is recorded, and where it runs. Static: it shapes what comes out."""

    samples: int  # 2 for the ends only
    events: bool  # whether the list of events is wanted
    max_events: int
    device: str = "cpu"  # as Warp names it


def unchecked(kind: type, **fields: Any) -> Any:
    """A module of arrays that are known to be right: to check and convert them takes a while."""
    made = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def changed(module: Any, **fields: Any) -> Any:
    """The same module with other fields, likewise known to be right."""
    names = [field.name for field in dataclasses.fields(module)]
    return unchecked(type(module), **{n: getattr(module, n) for n in names} | fields)
