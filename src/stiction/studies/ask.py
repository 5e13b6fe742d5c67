"""Questions to the cases of a study, and the probability of a yes with its interval.

A question is an expression in the names of what is kept and of what varies, such as
`at_rest and final.z > 0.1`. Names: `at_rest`, `rest_time`, `energy_final`, …; an entry of the end
as `final.z` or `final.box.z`, a velocity there as `final_v.z`, a mode as `final_mode.tip`; the
varied numbers by the names of their dimensions.
"""

import ast
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.studies.store import Schema

_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.Mod: operator.mod, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: np.logical_not,
    ast.And: np.logical_and, ast.Or: np.logical_or,
}  # fmt: skip
_FUNCTIONS = {
    "abs": np.abs, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "min": np.minimum,
    "max": np.maximum, "hypot": np.hypot, "isnan": np.isnan,
}  # fmt: skip
ALIASES = {"final": "final_q"}
_LARGEST = 10**300  # beyond it whole numbers are no others


@dataclass(frozen=True)
class Question:
    """A question to every case.

    Attributes:
        text: The expression.
    """

    text: str

    @cached_property
    def _tree(self) -> ast.expr:
        try:
            return ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # nesting, null bytes
            raise InputError(
                f"`--ask` must be an expression as 'at_rest and final.z > 0.1', got '{self.text}'"
            ) from None

    def check(self, schema: Schema, varied: Sequence[str]) -> None:
        """Refuse a question that no case of a study could answer."""
        values: dict[str, np.ndarray] = {
            name: np.zeros((1, *v.shape), v.dtype) for name, v in schema.variables.items()
        }
        values |= {name: np.zeros(1) for name in varied}
        with np.errstate(all="ignore"):
            self.answers(values, schema.labels)

    def variables(self, schema: Schema) -> list[str]:
        """Those that the question needs."""
        heads = {_dotted(node) for node in ast.walk(self._tree)}
        heads = {h.partition(".")[0] for h in heads if h}
        return [n for n in schema.variables if n in heads | {ALIASES.get(h, h) for h in heads}]

    def answers(
        self, values: Mapping[str, np.ndarray], labels: Mapping[str, Sequence[Any]]
    ) -> np.ndarray:
        """Yes or no for every case; values have a leading axis of cases."""
        found = np.asarray(self._value(self._tree, values, labels))
        if found.dtype.kind != "b" or found.ndim > 1:
            raise InputError(f"`--ask` must be yes or no in every case, got '{self.text}'")
        return found

    def _value(self, node: ast.expr, values: Mapping, labels: Mapping) -> Any:
        def inner(part: ast.expr) -> Any:
            return self._value(part, values, labels)

        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | bool | str):
            if isinstance(node.value, int) and abs(node.value) > _LARGEST:
                raise InputError(f"`--ask` must have numbers below {_LARGEST:.0e}")
            return node.value
        if isinstance(node, ast.BoolOp):
            parts = [inner(part) for part in node.values]
            result = parts[0]
            for part in parts[1:]:
                result = _OPERATORS[type(node.op)](result, part)
            return result
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](inner(node.operand))
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](inner(node.left), inner(node.right))
        if isinstance(node, ast.Compare):
            return self._compared(node, inner)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id not in _FUNCTIONS:
                raise unknown("function in `--ask`", node.func.id, _FUNCTIONS)
            try:
                return _FUNCTIONS[node.func.id](*map(inner, node.args))
            except TypeError:
                raise InputError(
                    f"`--ask` must give {node.func.id} the values that it takes, got"
                    f" '{ast.unparse(node)}'"
                ) from None
        if name := _dotted(node):
            return look_up(name, values, labels)
        raise InputError(f"`--ask` cannot have '{ast.unparse(node)}' in it, got '{self.text}'")

    @staticmethod
    def _compared(node: ast.Compare, inner: Any) -> Any:
        left, result = inner(node.left), np.True_
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = inner(part)
            if type(op) not in _OPERATORS:
                raise InputError(f"`--ask` cannot compare so: '{ast.unparse(node)}'")
            result = np.logical_and(result, _OPERATORS[type(op)](left, right))
            left = right
        return result


def _dotted(node: ast.AST) -> str:
    """A name with dots and indices, as `start.q[1]`; empty if it is none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (head := _dotted(node.value)):
        return f"{head}.{node.attr}"
    whole = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    if whole and (head := _dotted(node.value)):  # type: ignore[attr-defined]
        return f"{head}[{node.slice.value}]"  # type: ignore[attr-defined]
    return ""


def look_up(
    name: str,
    values: Mapping[str, np.ndarray],
    labels: Mapping[str, Sequence[Any]],
    option: str = "--ask",
) -> np.ndarray:
    """What a name means, for every case: a variable, or an entry of one."""
    if name in values:
        if values[name].ndim > 1:
            raise InputError(f"`{option}` must say which entry of '{name}': write {name}.NAME")
        return values[name]
    head, _, rest = name.partition(".")
    head = ALIASES.get(head, head)
    if head not in values or not rest:
        raise unknown(f"name in `{option}`", name, values)
    array = values[head]
    for names in labels.values():
        if array.ndim == 2 and len(names) == array.shape[1]:
            found = [
                i for i, n in enumerate(map(str, names)) if n == rest or n.endswith(f".{rest}")
            ]
            if len(found) == 1:
                return array[:, found[0]]
    fits = (names for names in labels.values() if array.shape[1:] == (len(names),))
    listed = list(dict.fromkeys(str(n) for names in fits for n in names))
    raise unknown(f"entry of `{head}` in `{option}`", rest, listed)


@dataclass(frozen=True)
class Probability:
    """How probable a yes is.

    Attributes:
        cases: How many were asked.
        yes: How many say yes.
        failed: How many failed, and cannot say: they count as no in `low`, as yes in `high`.
        low: Of the interval.
        high: Of the interval.
        confidence: That it covers the true probability.
        method: How it was found.
    """

    cases: int
    yes: int
    failed: int
    low: float
    high: float
    confidence: float
    method: str

    @property
    def estimate(self) -> float:
        """The share of yes among the cases that did not fail."""
        known = self.cases - self.failed
        return self.yes / known if known else float("nan")

    @property
    def width(self) -> float:
        """Of the interval."""
        return self.high - self.low

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"probability": self.estimate, **vars(self)}


def probability(
    cases: int, yes: int, failed: int = 0, *, confidence: float = 0.95, watched: bool = False
) -> Probability:
    """The probability of a yes from a count of independent cases.

    Args:
        cases: How many, failed ones too.
        yes: How many say yes.
        failed: How many cannot say.
        confidence: That the interval covers the truth.
        watched: Whether one looks at the interval again and again and stops when it is narrow. It
            then has to cover the truth at all instants at once, and is wider.
    """
    limits = _always if watched else _exact
    low = limits(yes, cases, confidence)[0]
    high = limits(yes + failed, cases, confidence)[1]
    method = "beta-binomial mixture, valid at every stop" if watched else "Clopper-Pearson"
    return Probability(cases, yes, failed, low, high, confidence, method)


def _exact(yes: int, cases: int, confidence: float) -> tuple[float, float]:
    """The interval of Clopper and Pearson [ClopperPearson1934]."""
    from scipy.stats import beta

    tail = (1 - confidence) / 2
    low = beta.ppf(tail, yes, cases - yes + 1) if yes else 0.0
    high = beta.ppf(1 - tail, yes + 1, cases - yes) if yes < cases else 1.0
    return float(low), float(high)


def _always(yes: int, cases: int, confidence: float) -> tuple[float, float]:
    """All p that Robbins' mixture has not ruled out at this instant [Robbins1970].

    For the true p the ratio B(yes + 1, no + 1) / (p^yes (1 - p)^no) is a martingale that begins at
    1; by Ville's inequality it ever comes above 1 / (1 - confidence) with at most 1 - confidence.
    """
    from scipy.optimize import brentq
    from scipy.special import betaln, xlog1py, xlogy

    no = cases - yes
    most = betaln(yes + 1, no + 1) + np.log(1 - confidence)

    def above(p: float) -> float:
        return xlogy(yes, p) + xlog1py(no, -p) - most

    if cases == 0:
        return 0.0, 1.0
    best = yes / cases
    tiny = 1e-12  # the ends themselves are infinitely unlikely once both answers were seen
    low: Any = brentq(above, tiny * best, best) if yes else 0.0
    high: Any = brentq(above, best, 1 - tiny * (1 - best)) if no else 1.0
    return float(low), float(high)
