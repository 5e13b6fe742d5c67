"""What varies in a study, and how it is written: on a grid, or drawn from a distribution.

contact.restitution=0.1:0.9:17             17 equal steps from 0.1 to 0.9
contact.restitution=0.1,0.5,0.9            these values; words too: contact.impact=newton,poisson
contact.restitution=0.1..0.9               drawn, equally likely between the two
contact.restitution~normal(0.5, 0.05)      drawn from a distribution
contact.mu_static,contact.mu_dynamic=…     two fields that always have the same value
start.q[1]=…, start.v.tilt=…               one entry of a list; of the start, also by name
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from stiction._base.errors import InputError, unknown

_CALL = re.compile(r"([a-z_]+)\s*\((.*)\)", re.DOTALL)
_SPLIT = re.compile(r"\s*(=|~)\s*")
_MOST = 1_000_000  # values on one axis
# name: what its arguments are
DISTRIBUTIONS = {
    "uniform": ("low, high",),
    "loguniform": ("low, high",),
    "normal": ("mean, std", "mean, std, low, high"),
    "lognormal": ("mean of the logarithm, std of the logarithm",),
    "triangular": ("low, mode, high",),
    "choice": ("value, …",),
}


@dataclass(frozen=True)
class Axis:
    """Fields that take given values, one after the other: a dimension of the results."""

    name: str
    paths: tuple[str, ...]
    values: tuple[Any, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"paths": list(self.paths), "values": list(self.values)}


@dataclass(frozen=True)
class Distribution:
    """How an uncertain number is distributed.

    Attributes:
        kind: One of `DISTRIBUTIONS`.
        arguments: What they mean is in the same table.
    """

    kind: str
    arguments: tuple[Any, ...]

    def __post_init__(self):
        if self.kind not in DISTRIBUTIONS:
            raise unknown("distribution", self.kind, DISTRIBUTIONS)
        if self.kind == "choice":
            if len(self.arguments) < 2:
                raise InputError(f"`{self}` must have at least two values to choose from")
            return
        forms = DISTRIBUTIONS[self.kind]
        counts = [form.count(",") + 1 for form in forms]
        good = all(isinstance(a, int | float) and np.isfinite(a) for a in self.arguments)
        if len(self.arguments) not in counts or not good:
            wanted = " or ".join(f"{self.kind}({form})" for form in forms)
            raise InputError(f"`{self}` must be {wanted}, in finite numbers")
        if fault := self._fault():
            raise InputError(f"`{self}` {fault}")

    def _fault(self) -> str:
        a = self.arguments
        if self.kind in ("uniform", "loguniform") and not a[0] < a[1]:
            return f"is an empty range: low must be below high, got {a[0]:g} and {a[1]:g}"
        if self.kind == "loguniform" and not a[0] > 0:
            return f"must begin above 0, got {a[0]:g}"
        if self.kind in ("normal", "lognormal") and not a[1] > 0:
            return f"must have a standard deviation above 0, got {a[1]:g}"
        if self.kind == "normal" and len(a) == 4 and not a[2] < a[3]:
            return f"is an empty range: low must be below high, got {a[2]:g} and {a[3]:g}"
        if self.kind == "triangular" and not (a[0] <= a[1] <= a[2] and a[0] < a[2]):
            return "must have low <= mode <= high, and low < high"
        return ""

    def at(self, u: Float[np.ndarray, " n"]) -> np.ndarray:
        """The values below which a share u of all draws lies."""
        if self.kind == "choice":
            values = np.asarray(self.arguments)
            return values[np.minimum((u * len(values)).astype(int), len(values) - 1)]
        return self._frozen.ppf(u)

    @cached_property
    def _frozen(self) -> Any:
        from scipy import stats

        a = self.arguments
        if self.kind == "uniform":
            return stats.uniform(a[0], a[1] - a[0])
        if self.kind == "loguniform":
            return stats.loguniform(*a)
        if self.kind == "lognormal":
            return stats.lognorm(a[1], scale=np.exp(a[0]))
        if self.kind == "triangular":
            return stats.triang((a[1] - a[0]) / (a[2] - a[0]), a[0], a[2] - a[0])
        if len(a) == 4:
            return stats.truncnorm((a[2] - a[0]) / a[1], (a[3] - a[0]) / a[1], a[0], a[1])
        return stats.norm(*a)

    def __str__(self) -> str:
        inside = ", ".join(f"{a:g}" if isinstance(a, float) else str(a) for a in self.arguments)
        return f"{self.kind}({inside})"


@dataclass(frozen=True)
class Draw:
    """Fields that take a value drawn from a distribution."""

    name: str
    paths: tuple[str, ...]
    distribution: Distribution

    @property
    def targets(self) -> dict[str, tuple[str, ...]]:
        """The fields of each name."""
        return {self.name: self.paths}

    def at(self, u: Float[np.ndarray, "n 1"]) -> dict[str, np.ndarray]:
        """Values from numbers that are equally likely in [0, 1)."""
        return {self.name: self.distribution.at(u[:, 0])}

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"paths": list(self.paths), "drawn": str(self.distribution)}


@dataclass(frozen=True, eq=False)
class JointDraw:
    """Numbers drawn together, normally distributed: what an identification's covariance says.

    Attributes:
        names: Of the fields; several with commas between them have the same value.
        mean: Of each.
        covariance: Of all; it may be singular.
    """

    names: tuple[str, ...]
    mean: Float[np.ndarray, " n"]
    covariance: Float[np.ndarray, "n n"]

    def __post_init__(self):
        n = len(self.names)
        if np.shape(self.mean) != (n,) or np.shape(self.covariance) != (n, n):
            raise InputError(
                f"`mean` and `covariance` must have the shapes ({n},) and ({n}, {n}), got"
                f" {np.shape(self.mean)} and {np.shape(self.covariance)}"
            )
        self._root  # noqa: B018  refuses a covariance that is none

    @property
    def targets(self) -> dict[str, tuple[str, ...]]:
        """The fields of each name."""
        fields = (tuple(path.strip() for path in name.split(",")) for name in self.names)
        return {short_name(paths): paths for paths in fields}

    @cached_property
    def _root(self) -> np.ndarray:
        """S with S Sᵀ = covariance."""
        covariance = np.asarray(self.covariance, float)
        if not np.all(np.isfinite(covariance)) or not np.allclose(covariance, covariance.T):
            raise InputError("`covariance` must be symmetric and finite")
        values, vectors = np.linalg.eigh(covariance)
        if values.min(initial=0.0) < -1e-9 * max(values.max(initial=0.0), 1e-300):
            raise InputError(f"`covariance` has a negative variance, {values.min():g}")
        return vectors * np.sqrt(np.maximum(values, 0.0))

    def at(self, u: Float[np.ndarray, "n d"]) -> dict[str, np.ndarray]:
        """Values from numbers that are equally likely in [0, 1)."""
        from scipy.special import ndtri

        drawn = np.asarray(self.mean) + ndtri(u) @ self._root.T
        return dict(zip(self.targets, drawn.T, strict=True))

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        spread = np.asarray(self.covariance).tolist()
        return {"paths": list(self.names), "mean": list(map(float, self.mean)), "cov": spread}


def parse_variation(text: str) -> Axis | Draw:
    """What `--vary` says: fields, then = or ~, then values."""
    parts = _SPLIT.split(text.strip(), maxsplit=1)
    if len(parts) != 3 or not parts[0] or not parts[2]:
        raise InputError(f"`--vary` must read path=values or path~distribution, got '{text}'")
    return vary(parts[0], parts[2])


def vary(fields: str, how: Any) -> Axis | Draw:
    """An axis or a draw: how fields vary, as text, as a list of values or as a distribution."""
    paths = tuple(path.strip() for path in fields.split(","))
    if not all(paths):
        raise InputError(f"`--vary` must name fields, got '{fields}'")
    name = short_name(paths)
    if isinstance(how, Distribution):
        return Draw(name, paths, how)
    if isinstance(how, str):
        return _parse(name, paths, how.strip())
    values = np.ravel(np.asarray(how)).tolist()
    return _axis(name, paths, values)


def _parse(name: str, paths: tuple[str, ...], text: str) -> Axis | Draw:
    if call := _CALL.fullmatch(text):
        arguments = tuple(map(_value, call[2].split(",")))
        return Draw(name, paths, Distribution(call[1], arguments))
    if ".." in text:
        low, _, high = text.partition("..")
        return Draw(name, paths, Distribution("uniform", (_value(low), _value(high))))
    if text.count(":") == 2:
        return _axis(name, paths, _steps(paths[0], text))
    return _axis(name, paths, [_value(word) for word in text.split(",")])


def _steps(path: str, text: str) -> list[float]:
    """START:STOP:COUNT."""
    try:
        first, last, number = text.split(":")
        low, high, count = float(first), float(last), int(number)
    except ValueError:
        raise InputError(f"`{path}` must be START:STOP:COUNT in numbers, got '{text}'") from None
    if not 1 <= count <= _MOST:
        raise InputError(f"`{path}` must have 1 to {_MOST} values, got COUNT {count} in '{text}'")
    if count > 1 and not (np.isfinite([low, high]).all() and low != high):
        raise InputError(f"`{path}` is an empty range, '{text}': START and STOP must differ")
    return np.linspace(low, high, count).tolist()


def _axis(name: str, paths: tuple[str, ...], values: list[Any]) -> Axis:
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if not values or not np.isfinite(numbers).all() or "" in values:
        raise InputError(f"`{paths[0]}` must have finite values, at least one, got {values}")
    if len(set(values)) != len(values):
        raise InputError(f"`{paths[0]}` must have each value once, got {values}")
    if len(numbers) == len(values):
        values = [float(v) for v in values]
    elif numbers:
        raise InputError(f"`{paths[0]}` must have numbers or words, not both, got {values}")
    return Axis(name, paths, tuple(values))


def _value(text: str) -> Any:
    """A number, true or false as TOML has them; else a word."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def short_name(paths: tuple[str, ...]) -> str:
    """What a dimension is called: the field without its table, or all of it within `start`."""
    path = paths[0]
    if path.startswith("start."):
        return path
    return path.removeprefix("mechanism.edits.") if "edits" in path else path.rpartition(".")[2]
