"""The two ways a request can fail, and the one way to say so.

Every message has one form, on one line:
*name in backticks, what it must be, what it was, what to do*.
"""


class InputError(ValueError):
    """The request cannot be carried out as written. The command line exits with status 2."""


class RunError(RuntimeError):
    """The request was sound but the computation failed on the way. Exit status 1."""


class IgnoredWarning(UserWarning):
    """Something in a model file has no part in the computation and was passed over."""


def unknown(kind: str, name: object, known: object) -> InputError:
    """An error for a name that does not exist, listing those that do (with the nearest first)."""
    import difflib

    names = sorted(str(k) for k in known)  # type: ignore[attr-defined]
    near = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    listing = ", ".join(f"'{k}'" for k in names) if names else "none"
    return InputError(f"no {kind} '{name}'{hint} (known: {listing})")
