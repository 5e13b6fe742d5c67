"""All cases of the gallery, and their errors as a table."""

from collections.abc import Iterator

from . import bodies, collisions, oscillators, sameness, springs, surfaces
from .case import Case, error_of

CASES: list[Case] = [
    case
    for part in (collisions, surfaces, sameness, springs, oscillators, bodies)
    for case in part.cases()
]


def errors() -> Iterator[tuple[str, str, str, float]]:
    """Group, case, engine or law, error."""
    for case in CASES:
        for engine in case.claims:
            yield case.group, case.name, engine, error_of(case, engine)
