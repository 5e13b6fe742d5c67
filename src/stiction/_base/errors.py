"""The two ways a request can fail, and the one way to say so.

Every message has one form, on one line:
*name in backticks, what it must be, what it was, what to do*.
"""

from collections.abc import Iterable

_LONGEST = 1000  # letters of a message: what a file holds may be longer than anybody reads


class InputError(ValueError):
    """The request cannot be carried out as written. The command line exits with status 2."""

    def __init__(self, message: str = ""):
        if len(message) > _LONGEST:
            message = f"{message[: _LONGEST - 300]} … {message[-280:]}"
        super().__init__(message)


class RunError(RuntimeError):
    """The request was sound but the computation failed on the way. Exit status 1."""


class IgnoredWarning(UserWarning):
    """Something in a user's file has no part in the computation and was passed over."""


def nearest(name: object, known: Iterable[object]) -> str:
    """The known name that was probably meant, as a question; empty if none is near."""
    import difflib

    near = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def unknown(kind: str, name: object, known: Iterable[object]) -> InputError:
    """An error for a name that does not exist, listing those that do (with the nearest first)."""
    names = sorted(str(k) for k in known)
    listing = ", ".join(f"'{k}'" for k in names) if names else "none"
    return InputError(f"no {kind} '{name}'{nearest(name, names)} (known: {listing})")
