"""Units of a table's columns: what they are worth in SI, and how labels spell them."""

import math
from typing import Literal

from stiction._base.errors import InputError
from stiction._base.files import Fields

SI = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "length": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254},
    "angle": {"rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180},
    "force": {"N": 1.0, "mN": 1e-3, "uN": 1e-6, "kN": 1e3, "lbf": 4.4482216152605, "kgf": 9.80665},
    "moment": {
        "N*m": 1.0,
        "N*mm": 1e-3,
        "mN*m": 1e-3,
        "kN*m": 1e3,
        "lbf*in": 0.1129848290276167,
        "lbf*ft": 1.3558179483314004,
        "kgf*m": 9.80665,
    },
}
# unit -> its quantity and its size in SI
_KNOWN = {unit: (kind, size) for kind, units in SI.items() for unit, size in units.items()}
_SPELLINGS = {"µ": "u", "μ": "u", "·": "*", ".": "*", " ": "", "Nm": "N*m"}
# Capitals are forgiven only here: elsewhere they tell mega from milli.
_ANY_CASE = {
    **{u.lower(): u for u in ("deg", "rad", "m", "cm", "mm", "s", "ms", "N", "kN", "N*m", "N*mm")},
    **{"°": "deg", "degree": "deg", "degrees": "deg", "nm": "N*m", "nmm": "N*mm"},
}


class Units(Fields):
    """Units of the log's columns."""

    time: Literal["s", "ms", "us", "ns"] = "s"
    length: Literal["m", "cm", "mm", "um", "in"] = "m"
    angle: Literal["rad", "mrad", "deg"] = "rad"
    force: Literal["N", "mN", "uN", "kN", "lbf", "kgf"] = "N"
    moment: Literal["N*m", "N*mm", "mN*m", "kN*m", "lbf*in", "lbf*ft", "kgf*m"] = "N*m"


def split_label(label: str) -> tuple[str, str | None]:
    """A label without its unit, and the unit in the spelling of `SI`: 'x (MM)' is 'x' in 'mm'.

    Where no known unit stands in brackets at the end, the label stays whole.
    """
    text = label.strip()
    start = max(text.rfind("["), text.rfind("("))
    if start < 0 or text[-1] not in "])":
        return label, None
    unit = text[start + 1 : -1]
    for old, new in _SPELLINGS.items():
        unit = unit.replace(old, new)
    unit = unit if unit in _KNOWN else _ANY_CASE.get(unit.lower())
    return (label, None) if unit is None else (text[:start].strip(), unit)


def quantity_of(unit: str) -> tuple[str, float]:
    """What a unit measures, and its size in SI."""
    return _KNOWN[unit]


def size_of(unit: str, allowed: tuple[str, ...], what: str) -> float:
    """The size in SI of a unit that a file gives by itself; `what` is in it, for the message."""
    found = split_label(f"[{unit}]")[1]
    if found not in allowed:
        listed = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise InputError(f"{what} must be in {listed}, got '{unit}'")
    return _KNOWN[found][1]
