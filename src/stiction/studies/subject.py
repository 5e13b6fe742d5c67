"""What a study does in every case, whatever it is: the interface, and Python functions."""

import abc
import functools
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction._base.errors import InputError, RunError
from stiction.studies.store import Schema, Variable

_MOST_WORDS = 300  # characters of an error that nobody foresaw
Case = Mapping[str, Any]  # what varies in a case, by field


class AbstractSubject(abc.ABC):
    """What is done in every case."""

    device = "cpu"  # what runs the cases of a block

    @abc.abstractmethod
    def about(self) -> dict[str, Any]:
        """As plain data: two subjects do the same if these are the same."""

    @abc.abstractmethod
    def schema(self, case: Case, seed: np.random.SeedSequence) -> Schema:
        """What is kept of every case; raises `InputError` if this one cannot even begin."""

    @abc.abstractmethod
    def outcomes(
        self, cases: Sequence[Case], seeds: Sequence[np.random.SeedSequence], schema: Schema
    ) -> tuple[dict[str, np.ndarray], list[str]]:
        """The values of cases, each with a leading axis of cases, and why those failed that did."""

    def command(self, case: Case) -> str:
        """What to type to do one case again; empty if there is no command for it."""
        return ""


@dataclass(frozen=True)
class FunctionSubject(AbstractSubject):
    """A function of what varies.

    Attributes:
        call: Called with the case and its seed. It gives a number, an array, a mapping from names
            to these, or an xarray dataset.
        name: Of the function.
        identity: Plain data that differ if the function does something else.
        repeat: Gives the command that does a case again.
    """

    call: Callable[[Case, np.random.SeedSequence], Any]
    name: str
    identity: Any = None
    repeat: Callable[[Case], str] | None = None

    def about(self) -> dict[str, Any]:
        """As plain data."""
        return {"of": self.name, "identity": self.identity}

    def schema(self, case: Case, seed: np.random.SeedSequence) -> Schema:
        """The shapes of what the function gives."""
        try:
            given = self.call(case, seed)
            found = _arrays(given)
        except (InputError, RunError):
            raise
        except Exception as error:
            raise InputError(f"`{self.name}` failed: {in_words(error)}") from error
        variables, labels = {}, {}
        described = getattr(given, "data_vars", {})
        for name, (dims, value, own) in found.items():
            kind = value.dtype.kind
            if kind not in "fiub":
                raise InputError(f"`{self.name}` must give numbers, got {value.dtype} in '{name}'")
            dtype = {"f": "float64", "b": "bool"}.get(kind, "int64")
            about = dict(described[name].attrs) if name in described else {}
            variables[name] = Variable(dims, value.shape, dtype, about)
            labels |= own
        return Schema(variables, labels)

    def outcomes(
        self, cases: Sequence[Case], seeds: Sequence[np.random.SeedSequence], schema: Schema
    ) -> tuple[dict[str, np.ndarray], list[str]]:
        """Case after case; whatever the function raises is the case's message."""
        kept = empty(schema, len(cases))
        messages = [""] * len(cases)
        for i, (case, seed) in enumerate(zip(cases, seeds, strict=True)):
            try:
                found = _arrays(self.call(case, seed))
                if set(found) != set(kept):
                    raise InputError(f"gave {sorted(found)} instead of {sorted(kept)}")
                for name, (_, value, _) in found.items():
                    wanted = schema.variables[name].shape
                    if value.shape != wanted:
                        raise InputError(f"'{name}' has the shape {value.shape}, not {wanted}")
                    kept[name][i] = value
            except Exception as error:
                messages[i] = in_words(error)
        return kept, messages

    def command(self, case: Case) -> str:
        """What to type to do one case again."""
        return self.repeat(case) if self.repeat else ""


def function_subject(function: Callable[..., Any]) -> FunctionSubject:
    """A function whose arguments vary; `rng` or `seed`, if it has one, is that of the case."""
    if not callable(function):
        raise InputError(f"`subject` must be a scene or a function, got {function!r}")
    name = getattr(function, "__qualname__", type(function).__name__)
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = repr(getattr(getattr(function, "__code__", None), "co_code", name))
    identity = hashlib.sha256(text.encode()).hexdigest()
    return FunctionSubject(functools.partial(_by_name, function), name, identity)


def _by_name(function: Callable[..., Any], case: Case, seed: np.random.SeedSequence) -> Any:
    signature = inspect.signature(function)
    given = dict(case)
    if "rng" in signature.parameters:
        given["rng"] = np.random.default_rng(seed)
    elif "seed" in signature.parameters:
        given["seed"] = int(seed.generate_state(1)[0])
    try:
        signature.bind(**given)
    except TypeError as error:
        raise InputError(f"the function cannot be called so: {error}") from None
    return function(**given)


def empty(schema: Schema, count: int) -> dict[str, np.ndarray]:
    """Arrays of so many cases, none of which has a value yet."""
    return {
        name: np.full((count, *variable.shape), variable.missing, variable.dtype)
        for name, variable in schema.variables.items()
    }


def _arrays(given: Any) -> dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, list]]]:
    """What a function gave: dimensions, values and labels by name."""
    if hasattr(given, "data_vars"):
        return {
            str(name): (
                tuple(map(str, variable.dims)),
                np.asarray(variable.values),
                {str(d): variable[d].values.tolist() for d in variable.dims if d in given.coords},
            )
            for name, variable in given.data_vars.items()
        }
    values = given if isinstance(given, Mapping) else {"value": given}
    found = {}
    for name, value in values.items():
        array = np.asarray(value)
        dims = tuple(f"{name}_{k}" for k in range(array.ndim))
        found[str(name)] = (dims, array, {})
    return found


def in_words(error: Exception) -> str:
    """Why a case failed: our own messages as they are, others with their kind."""
    text = " ".join(str(error).split())
    known = isinstance(error, InputError | RunError)
    return text if known else f"{type(error).__name__}: {text[:_MOST_WORDS]}"
