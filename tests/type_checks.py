"""How arguments and results are checked in tests: by beartype, called by jaxtyping's hook."""

from collections.abc import Callable
from typing import Any

from beartype import BeartypeConf, BeartypeStrategy, beartype

_every_entry = beartype(conf=BeartypeConf(strategy=BeartypeStrategy.On))
_made: dict[Any, Callable] = {}


def checked(f: Callable) -> Callable:
    """The check that goes with an empty function of some signature.

    A function inside of a function is defined anew at every call of the outer one, thousands of
    times. Its signature is that of the last time, and so is its check.
    """
    if "<locals>" not in f.__qualname__:
        return _every_entry(f)
    key = f.__code__, f.__module__, f.__qualname__, *f.__annotations__.items()
    try:
        known = _made.get(key)
    except TypeError:  # an annotation without a hash
        return _every_entry(f)
    if known is None:
        known = _made[key] = _every_entry(f)
    return known
