"""Array programs written out in scalars.

A program on arrays of a handful of entries spends its time between operations, not in them, and
multiplies mostly by zeros and ones: most axes of a mechanism lie along x, y or z. Written out in
scalars, with the products that are known to vanish left out, the equations of a small mechanism are
what one would have written by hand, and a compiler makes one loop of them: ten to thirty times as
fast on a processor, and one kernel instead of fifty on a GPU.

XLA does not do this, for to it an array is a whole. `write_out` evaluates a function's jaxpr with
arrays held as NumPy object arrays of scalars, each a tracer or a number that is known. Operations
that only move entries are carried out on indices. What it does not know it leaves as it is.

Which entries are known must not depend on numbers that people change between runs: only 0, 1 and -1
are taken as known (`Pattern`), so that a program serves all mechanisms of the same structure.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from stiction._arrays import is_traced

_MOVES = {
    "slice", "squeeze", "broadcast_in_dim", "reshape", "transpose", "concatenate", "stack", "pad",
    "rev", "expand_dims", "split", "copy", "copy_p",
}  # fmt: skip
_ELEMENTWISE = {
    "add", "add_any", "sub", "mul", "div", "neg", "max", "min", "abs", "sign", "sqrt", "rsqrt",
    "square", "integer_pow", "pow", "exp", "log", "log1p", "expm1", "sin", "cos", "tan", "asin",
    "acos", "atan", "atan2", "tanh", "floor", "ceil", "is_finite", "eq", "ne", "lt", "le", "gt",
    "ge", "and", "or", "not", "xor", "select_n", "convert_element_type", "stop_gradient", "clamp",
}  # fmt: skip
_CALLS = {"jit", "pjit", "closed_call"}
# Where both were measured, scalars are faster up to three thousand operations or so, and compile
# faster; beyond that they are slower in both.
MOST_OPERATIONS = 3200
_MAX_PRODUCTS = 600  # a matrix product with more is left to the library
_REDUCTIONS = {"reduce_sum": "add", "reduce_max": "max", "reduce_min": "min"}


class Pattern:
    """Which entries of a tree of arrays are 0, 1 or -1. Hashable: part of a program's identity."""

    def __init__(self, tree: Any):
        self.leaves = tuple(_signs(leaf) for leaf in jax.tree.leaves(tree))
        self._key = tuple((leaf.shape, leaf.tobytes()) for leaf in self.leaves)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._key == other._key


def pattern_of(tree: Any) -> Pattern | None:
    """The pattern of a tree, or None while JAX is tracing it: nothing is known then."""
    return None if is_traced(tree) else Pattern(tree)


def write_out(
    f: Callable, patterns: tuple[Pattern | None, ...], most: int = MOST_OPERATIONS
) -> Callable:
    """The same function, written out in scalars if they are not too many.

    Args:
        f: A function of positional arguments, pytrees of arrays, without side effects.
        patterns: What is known of each argument; None for nothing.
        most: Operations beyond which the function is left as it is.
    """

    @functools.wraps(f)
    def written(*args: Any) -> Any:
        program, shape = jax.make_jaxpr(f, return_shape=True)(*args)
        known = []
        for arg, pattern in zip(args, patterns, strict=True):
            known += pattern.leaves if pattern else [None] * len(jax.tree.leaves(arg))

        def in_scalars(*leaves: Any) -> list[jax.Array]:
            scalars = [_take_apart(x, k) for x, k in zip(leaves, known, strict=True)]
            out = _evaluate(program.jaxpr, program.consts, scalars)
            ends = zip(out, program.jaxpr.outvars, strict=True)
            return [_put_together(o, v.aval) for o, v in ends]

        leaves = jax.tree.leaves(args)
        scalars = jax.make_jaxpr(in_scalars)(*leaves)
        chosen = scalars if len(scalars.jaxpr.eqns) <= most else program
        out = core.jaxpr_as_fun(chosen)(*leaves)
        return jax.tree.unflatten(jax.tree.structure(shape), out)

    return written


def _signs(leaf: Any) -> np.ndarray:
    """0, 1 and -1 where an array has them, 2 elsewhere."""
    array = np.asarray(leaf)
    if not np.issubdtype(array.dtype, np.floating):
        return np.full(array.shape, 2, np.int8)
    special = (array == 0) | (np.abs(array) == 1)
    return np.where(special, array, 2).astype(np.int8)


def _known(x: Any) -> bool:
    return not isinstance(x, jax.core.Tracer)


def _objects(array: np.ndarray) -> np.ndarray:
    """An object array of NumPy scalars."""
    out = np.empty(array.shape, object)
    for index in np.ndindex(*array.shape):
        out[index] = array[index]
    return out


def _take_apart(x: Any, signs: np.ndarray | None) -> np.ndarray:
    if isinstance(x, np.ndarray | np.generic | float | int):
        return _objects(np.asarray(x))
    out = np.empty(x.shape, object)
    flat = jnp.reshape(x, (-1,))
    for i, index in enumerate(np.ndindex(*x.shape)):
        if signs is not None and signs[index] != 2:
            out[index] = np.asarray(signs[index], x.dtype)[()]
        else:
            out[index] = flat[i]
    return out


def _put_together(scalars: np.ndarray, aval: Any) -> jax.Array:
    entries = [jnp.asarray(x, aval.dtype) for x in scalars.reshape(-1)]
    if not entries:
        return jnp.zeros(aval.shape, aval.dtype)
    return entries[0] if scalars.ndim == 0 else jnp.stack(entries).reshape(aval.shape)


def _evaluate(jaxpr: core.Jaxpr, consts: Any, args: list[np.ndarray]) -> list[np.ndarray]:
    values: dict[Any, np.ndarray] = {}

    def read(v: Any) -> np.ndarray:
        return _objects(np.asarray(v.val)) if isinstance(v, core.Literal) else values[v]

    values.update(zip(jaxpr.invars, args, strict=True))
    constants = [_take_apart(_concrete(c), None) for c in consts]
    values.update(zip(jaxpr.constvars, constants, strict=True))
    for eqn in jaxpr.eqns:
        out = _equation(jaxpr, eqn, [read(v) for v in eqn.invars])
        values.update(zip(eqn.outvars, out, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _concrete(x: Any) -> Any:
    """A constant as a NumPy array, unless it is traced."""
    return np.asarray(x) if _known(x) else x


def _equation(jaxpr: core.Jaxpr, eqn: Any, args: list[np.ndarray]) -> list[np.ndarray]:
    name, params = eqn.primitive.name, eqn.params
    if name in _ELEMENTWISE:
        return [_elementwise(eqn, args)]
    if name in _MOVES:
        return _move(eqn, args)
    if name == "gather" and _all_known(args[1]) and not _has_batch(params):
        return [_gather(eqn, *args)]
    if name in _REDUCTIONS:
        return [_reduce(eqn, args[0])]
    if name == "dot_general" and _products(eqn, args[0], args[1]) <= _MAX_PRODUCTS:
        return [_dot(eqn, *args)]
    if name == "iota":
        shape = [1] * len(params["shape"])
        shape[params["dimension"]] = -1
        count = np.arange(params["shape"][params["dimension"]], dtype=params["dtype"])
        return [_objects(np.broadcast_to(count.reshape(shape), params["shape"]))]
    if name in _CALLS:
        inner = params["jaxpr"]
        return _evaluate(inner.jaxpr, inner.consts, args)
    if name == "scatter" and _all_known(args[1]) and not _has_batch(params):
        return [_scatter(eqn, *args)]
    if name == "platform_index" and None in params["platforms"]:
        return [_objects(np.asarray(_this_platform(params["platforms"])))]
    if name == "cond" and _all_known(args[0]):
        inner = params["branches"][int(args[0][()])]
        return _evaluate(inner.jaxpr, inner.consts, args[1:])
    return _as_it_is(jaxpr, eqn, args)


def _has_batch(params: dict) -> bool:
    return bool(params["dimension_numbers"].operand_batching_dims)


def _all_known(scalars: np.ndarray) -> bool:
    return all(_known(x) for x in scalars.reshape(-1))


def _as_it_is(jaxpr: core.Jaxpr, eqn: Any, args: list[np.ndarray]) -> list[np.ndarray]:
    """An operation that is not written out: on arrays, as a jaxpr of its own."""
    given = {
        v: _put_together(a, v.aval)
        for a, v in zip(args, eqn.invars, strict=True)
        if not isinstance(v, core.Literal)
    }
    used = [v for v in eqn.outvars if type(v) is core.Var]
    alone = jaxpr.replace(
        constvars=[],
        invars=list(given),
        outvars=used,
        eqns=[eqn],
        effects=eqn.effects,
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    out = core.jaxpr_as_fun(core.ClosedJaxpr(alone, []))(*given.values())
    found = dict(zip(used, (_take_apart(x, None) for x in out), strict=True))
    return [found.get(v, np.empty(v.aval.shape, object)) for v in eqn.outvars]


def _move(eqn: Any, args: list[np.ndarray]) -> list[np.ndarray]:
    """Entries that change places: NumPy does on objects what XLA does on numbers.

    Not JAX itself on indices: it would compile a small program for every shape it meets.
    """
    name, p = eqn.primitive.name, eqn.params
    x = args[0]
    if name == "slice":
        strides = p["strides"] or (1,) * x.ndim
        cut = zip(p["start_indices"], p["limit_indices"], strides, strict=True)
        return [x[tuple(slice(*c) for c in cut)]]
    if name in ("reshape", "squeeze", "expand_dims"):
        return [x.reshape(eqn.outvars[0].aval.shape)]
    if name == "broadcast_in_dim":
        shape = [1] * len(p["shape"])
        for axis, size in zip(p["broadcast_dimensions"], x.shape, strict=True):
            shape[axis] = size
        return [np.broadcast_to(x.reshape(shape), p["shape"])]
    if name == "transpose":
        return [x.transpose(p["permutation"])]
    if name == "concatenate":
        return [np.concatenate(args, axis=p["dimension"])]
    if name == "stack":
        return [np.stack(args, axis=p["axis"])]
    if name == "split":
        places = np.cumsum(p["sizes"])[:-1]
        return list(np.split(x, places, axis=p["axis"]))
    if name == "rev":
        return [np.flip(x, p["dimensions"])]
    if name == "pad":
        return [_pad(x, args[1][()], p["padding_config"])]
    return [x]  # copy


def _pad(x: np.ndarray, value: Any, config: Any) -> np.ndarray:
    for axis, (low, high, inner) in enumerate(config):
        size = x.shape[axis]
        long = size + max(size - 1, 0) * inner
        spread = np.full((*x.shape[:axis], long, *x.shape[axis + 1 :]), value, object)
        spread[(slice(None),) * axis + (slice(None, None, inner + 1),)] = x
        keep = slice(max(-low, 0), long - max(-high, 0))
        spread = spread[(slice(None),) * axis + (keep,)]
        edges = [(0, 0)] * x.ndim
        edges[axis] = (max(low, 0), max(high, 0))
        x = np.pad(spread, edges, constant_values=value)
    return x


def _gather(eqn: Any, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Entries from known places: the definition of XLA's gather, without its batching axes."""
    d, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    starts = np.array(indices.tolist(), int).reshape(indices.shape)
    out = np.empty(eqn.outvars[0].aval.shape, object)
    kept = [i for i in range(x.ndim) if i not in d.collapsed_slice_dims]
    batch_axes = [i for i in range(out.ndim) if i not in d.offset_dims]
    for place in np.ndindex(*out.shape):
        start = starts[tuple(place[i] for i in batch_axes)]
        corner = np.zeros(x.ndim, int)
        corner[list(d.start_index_map)] = start
        corner = np.clip(corner, 0, np.array(x.shape) - np.array(sizes))
        corner[kept] += np.array([place[i] for i in d.offset_dims], int)
        out[place] = x[tuple(corner)]
    return out


def _scatter(eqn: Any, x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """Entries put into known places: the definition of XLA's scatter, without batching axes."""
    d = eqn.params["dimension_numbers"]
    starts = np.array(indices.tolist(), int).reshape(indices.shape)
    out = x.copy()
    kept = [i for i in range(x.ndim) if i not in d.inserted_window_dims]
    batch_axes = [i for i in range(updates.ndim) if i not in d.update_window_dims]
    for place in np.ndindex(*updates.shape):
        corner = np.zeros(x.ndim, int)
        corner[list(d.scatter_dims_to_operand_dims)] = starts[tuple(place[i] for i in batch_axes)]
        corner[kept] += np.array([place[i] for i in d.update_window_dims], int)
        if np.all((corner >= 0) & (corner < x.shape)):
            out[tuple(corner)] = updates[place]
    return out


def _this_platform(platforms: tuple) -> int:
    """Which case of a choice by platform is ours; None stands for all others."""
    ours = jax.default_backend()
    names = [i for i, names in enumerate(platforms) if names is not None and ours in names]
    return names[0] if names else platforms.index(None)


def _elementwise(eqn: Any, args: list[np.ndarray]) -> np.ndarray:
    name, dtype = eqn.primitive.name, eqn.outvars[0].aval.dtype
    dtypes = [v.aval.dtype for v in eqn.invars]
    shortcut, numbers = _SHORTCUTS.get(name), _NUMBERS.get(name)
    whole = np.broadcast_arrays(*args)
    out = np.empty(whole[0].shape, object)
    for index in np.ndindex(*out.shape):
        scalars = [w[index] for w in whole]
        done = shortcut(*scalars) if shortcut else None
        if done is None and numbers and all(_known(x) for x in scalars):
            done = numbers(*scalars)
        if done is None:
            operands = (jnp.asarray(x, d) for x, d in zip(scalars, dtypes, strict=True))
            done = eqn.primitive.bind(*operands, **eqn.params)
        out[index] = np.asarray(done, dtype)[()] if _known(done) else done
    return out


def _add(a: Any, b: Any) -> Any:
    if _known(a) and a == 0:
        return b
    if _known(b) and b == 0:
        return a
    return a + b if _known(a) and _known(b) else None


def _sub(a: Any, b: Any) -> Any:
    if _known(b) and b == 0:
        return a
    if _known(a) and a == 0:
        return -b
    return a - b if _known(a) and _known(b) else None


def _mul(a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        if _known(x):
            if x == 0:
                return x  # nan and infinity are no numbers that a mechanism has
            if x == 1:
                return y
            if x == -1:
                return -y
    return a * b if _known(a) and _known(b) else None


def _div(a: Any, b: Any) -> Any:
    if _known(b) and b == 1:
        return a
    return a if _known(a) and a == 0 else None


def _select(which: Any, *cases: Any) -> Any:
    return cases[int(which)] if _known(which) else None


_SHORTCUTS: dict[str, Callable] = {
    "add": _add, "add_any": _add, "sub": _sub, "mul": _mul, "div": _div, "select_n": _select,
    "square": lambda a: _mul(a, a) if _known(a) else None,
    "stop_gradient": lambda a: a if _known(a) else None,
}  # fmt: skip


# On numbers that are known.
_NUMBERS: dict[str, Callable] = {
    "div": np.true_divide, "neg": np.negative, "max": np.maximum, "min": np.minimum,
    "abs": np.abs, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "exp": np.exp,
    "sign": np.sign, "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal, "and": np.logical_and, "or": np.logical_or,
    "not": np.logical_not, "convert_element_type": lambda a: a,
}  # fmt: skip


def _product(a: Any, b: Any) -> Any:
    done = _mul(a, b)
    return a * b if done is None else done


def _sum(a: Any, b: Any) -> Any:
    done = _add(a, b)
    return a + b if done is None else done


_FOLDS: dict[str, Callable] = {"add": _sum, "max": jnp.maximum, "min": jnp.minimum}


def _reduce(eqn: Any, a: np.ndarray) -> np.ndarray:
    axes = eqn.params["axes"]
    kept = [i for i in range(a.ndim) if i not in axes]
    count = int(np.prod([a.shape[i] for i in axes]))
    rows = a.transpose(kept + list(axes)).reshape((*(a.shape[i] for i in kept), count))
    out = np.empty(rows.shape[:-1], object)
    fold = _FOLDS[_REDUCTIONS[eqn.primitive.name]]
    zero = np.zeros((), eqn.outvars[0].aval.dtype)[()]
    for index in np.ndindex(*out.shape):
        entries = list(rows[index])
        out[index] = functools.reduce(fold, entries) if entries else zero
    return out


def _products(eqn: Any, a: np.ndarray, b: np.ndarray) -> int:
    (a_sum, _), (a_batch, _) = eqn.params["dimension_numbers"]
    shared = int(np.prod([a.shape[i] for i in (*a_sum, *a_batch)]))
    return a.size * b.size // max(shared, 1)


def _dot(eqn: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (a_sum, b_sum), (a_batch, b_batch) = eqn.params["dimension_numbers"]
    zero = np.zeros((), eqn.outvars[0].aval.dtype)[()]
    shared = int(np.prod([a.shape[i] for i in a_sum]))
    a_free = [i for i in range(a.ndim) if i not in (*a_sum, *a_batch)]
    b_free = [i for i in range(b.ndim) if i not in (*b_sum, *b_batch)]
    batch = [a.shape[i] for i in a_batch]
    A = a.transpose([*a_batch, *a_free, *a_sum])
    B = b.transpose([*b_batch, *b_free, *b_sum])
    rows = [a.shape[i] for i in a_free]
    columns = [b.shape[i] for i in b_free]
    A = A.reshape(*batch, int(np.prod(rows)), shared)
    B = B.reshape(*batch, int(np.prod(columns)), shared)
    out = np.empty((*batch, A.shape[-2], B.shape[-2]), object)
    for index in np.ndindex(*out.shape):
        *k, i, j = index
        terms = [_product(x, y) for x, y in zip(A[(*k, i)], B[(*k, j)], strict=True)]
        out[index] = functools.reduce(_sum, terms, zero)
    return out.reshape((*batch, *rows, *columns))
