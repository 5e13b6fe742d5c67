"""A translation, and how it fared when a ball was dropped in the engine, as plain data."""

from typing import Any

from stiction.interop import ENGINES, CompliantContact


def translation_summary(
    engine: str, contact: CompliantContact, *, drop: bool = False, **options: float
) -> dict[str, Any]:
    """A contact in an engine's words.

    With `drop` a ball is dropped in the engine, to compare the restitutions.
    """
    known = ENGINES[engine]
    translation = known.to(contact, **options)
    result = {
        "engine": engine,
        "parameters": dict(translation.parameters),
        "limits": list(translation.limits),
        "snippet": translation.snippet,
        "time_step": translation.time_step,
    }
    if drop and known.check is not None:
        checked = known.check(contact, translation)
        result["check"] = {
            "engine": checked.engine,
            "version": checked.version,
            "drops": [{**vars(d), "error": d.error} for d in checked.drops],
        }
    return result
