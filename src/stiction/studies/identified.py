"""Draws by what an identification found: its values and their covariance."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction._base.files import read_text
from stiction.identify import Identification
from stiction.studies.variations import Axis, Draw, JointDraw, parse_variation

_IDENTIFIED = re.compile(r"\s*([^=~]+?)\s*[=~]\s*identified\((.+)\)\s*")


def draws_of(found: Identification | Mapping[str, Any], fields: Mapping[str, str]) -> JointDraw:
    """Fields drawn together by an identification's values and covariance.

    Args:
        found: From `identify`, or what `stiction identify --json` printed.
        fields: The parameter that each field is: `{"contact.mu_static": "plate.mu"}`.
    """
    if isinstance(found, Identification):
        names = list(found.parameters)
        values = [p.value for p in found.parameters.values()]
        covariance = np.asarray(found.covariance, float)
    else:
        names, values = (
            list(found["parameters"]),
            [p["value"] for p in found["parameters"].values()],
        )
        matrix = found.get("covariance")
        if matrix is None:
            raise InputError("`--identified` must be the answer of 'stiction identify --json'")
        covariance = np.array(matrix, float)  # null, which is not identifiable, becomes nan
    places = []
    for field, name in fields.items():
        if name not in names:
            raise unknown(f"identified parameter for `{field}`", name, names)
        place = names.index(name)
        if values[place] is None or not np.isfinite(covariance[place, place]):
            raise InputError(f"`{name}` was not identifiable: it cannot be drawn")
        places.append(place)
    mean = np.array([values[p] for p in places], float)
    return JointDraw(tuple(fields), mean, covariance[np.ix_(places, places)])


def parse_variations(
    texts: Sequence[str], identified: Path | None = None
) -> list[Axis | Draw | JointDraw]:
    """What `--vary` says, fields of `identified(NAME)` together."""
    fields: dict[str, str] = {}
    plain: list[Axis | Draw | JointDraw] = []
    for text in texts:
        if match := _IDENTIFIED.fullmatch(text):
            fields[match[1]] = match[2].strip()
        else:
            plain.append(parse_variation(text))
    if not fields:
        if identified is not None:
            raise InputError("`--identified` is for fields that vary as FIELD~identified(NAME)")
        return plain
    if identified is None:
        raise InputError(f"`{next(iter(fields))}` needs --identified FILE, from identify --json")
    text = read_text(identified, most=1e8)
    try:
        answer = json.loads(text)
        known = isinstance(answer, dict) and isinstance(answer.get("parameters"), dict)
    except ValueError:
        known = False
    if not known:
        raise InputError(
            f"`--identified` must be the answer of identify --json, got '{identified}'"
        )
    return [*plain, draws_of(answer, fields)]
