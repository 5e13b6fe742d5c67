"""What a run keeps: its steps, from which it can be sampled at any time, or only its end."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Bool, Float, Int, Scalar
from stiction.engines.flow import State
from stiction.mechanism import Mechanism, normalize, rate, velocity_of_rate


class Row(eqx.Module):
    """A state that was kept."""

    time: Scalar
    y: State
    k: State  # dy/dt
    force: Float[Array, "n dim"]
    modes: Int[Array, "n"]
    memory: Any  # of the control
    segment: Int[Array, ""]  # how many events there have been before


class Packing:
    """A pytree of arrays as one vector and back: one write for a row, not one for each array.

    Whole numbers and truth values become numbers of the vector's type, and come back as they were.
    """

    def __init__(self, template: Any):
        leaves, self.structure = jax.tree.flatten(template)
        self.kinds = [(leaf.shape, leaf.dtype) for leaf in leaves]
        self.sizes = [int(np.prod(shape)) for shape, _ in self.kinds]

    @property
    def size(self) -> int:
        """Length of the vector."""
        return sum(self.sizes)

    def pack(self, tree: Any, dtype: Any) -> Float[Array, "size"]:
        """The vector."""
        return jnp.concatenate([jnp.ravel(x).astype(dtype) for x in jax.tree.leaves(tree)])

    def unpack(self, vector: Float[Array, "*batch size"]) -> Any:
        """The tree of a vector, or of many."""
        parts = jnp.split(vector, np.cumsum(self.sizes)[:-1].tolist(), axis=-1)
        leaves = [
            part.reshape(*vector.shape[:-1], *shape).astype(dtype)
            for part, (shape, dtype) in zip(parts, self.kinds, strict=True)
        ]
        return jax.tree.unflatten(self.structure, leaves)


class Records(eqx.Module):
    """Vectors in order, with one more place for what is not wanted; empty to keep nothing."""

    vectors: Float[Array, "places size"]
    count: Int[Array, ""]


def no_records(length: int, size: int, dtype: Any) -> Records:
    """Room for `size` vectors."""
    return Records(jnp.zeros((size + 1 if size else 0, length), dtype), jnp.asarray(0))


def add(records: Records, vector: Float[Array, "size"], wanted: Bool[Array, ""]) -> Records:
    """Write a vector, if it is wanted: in the program's memory, without a copy or a branch."""
    places = records.vectors.shape[0]
    if places == 0:
        return records
    place = jnp.where(wanted, jnp.minimum(records.count, places - 1), places - 1)
    vectors = jax.lax.dynamic_update_index_in_dim(records.vectors, vector, place, 0)
    return Records(vectors, records.count + wanted.astype(int))


# Gauss's three points and weights on [0, 1].
_NODES = 0.5 + np.array([-0.5, 0.0, 0.5]) * np.sqrt(0.6)
_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18


def sample(
    mechanism: Mechanism,
    rows: Row,
    count: Int[Array, ""],
    times: Float[Array, "s"],
    rate_of: Callable[[Row], State] | None = None,
) -> Row:
    """The motion at given times, between kept steps, by quintic interpolation.

    Position, velocity and acceleration are known at both ends of a step: the quintic through them
    is of sixth order, beyond the steps' own. At the time of an event the state after it is taken.

    What is booked has only its value and rate at both ends, which is of fourth order. Where much is
    booked within a step (compliant contact), `rate_of` gives the rate at any state, and what has
    been booked since the step's beginning is a sum over three states in between.
    """
    index = jnp.arange(rows.time.shape[0])
    known = jnp.where(index < count, rows.time, jnp.inf)
    after = jnp.clip(
        jnp.searchsorted(known, times, side="right").astype(int), 1, jnp.maximum(count - 1, 1)
    )

    slopes = _slopes(known, rows.force, rows.segment)

    def between(t: Scalar, i: Int[Array, ""], a: Row, b: Row) -> Row:
        h = b.time - a.time
        s = jnp.where(h > 0, (t - a.time) / jnp.where(h > 0, h, 1.0), 1.0)
        q, q_dot = _quintic(
            s, h, a.y.q, b.y.q, a.k.q, b.k.q, _curvature(mechanism, a), _curvature(mechanism, b)
        )
        v = velocity_of_rate(mechanism, q, q_dot)
        ledger, inner = jax.tree.map(
            lambda x0, x1, k0, k1: _cubic(s, h, x0, x1, k0, k1),
            *((y.ledger, y.inner) for y in (a.y, b.y, a.k, b.k)),
        )
        return Row(
            t,
            State(normalize(mechanism, q), v, ledger, (1 - s) * a.y.gap + s * b.y.gap, inner),
            jax.tree.map(lambda x, y: (1 - s) * x + s * y, a.k, b.k),
            _cubic(s, h, a.force, b.force, slopes[i - 1], slopes[i]),
            a.modes,
            a.memory,
            a.segment,
        )

    def booked(t: Scalar, i: Int[Array, ""], a: Row, b: Row, rate_of: Callable) -> tuple:
        h = t - a.time
        inside = a.time + h * jnp.asarray(_NODES, times.dtype)
        rates = jax.vmap(lambda t: rate_of(between(t, i, a, b)))(inside)
        return jax.tree.map(
            lambda x, k: x + h * jnp.tensordot(jnp.asarray(_WEIGHTS, times.dtype), k, axes=1),
            (a.y.ledger, a.y.inner),
            (rates.ledger, rates.inner),
        )

    def at(t: Scalar, i: Int[Array, ""]) -> Row:
        a = jax.tree.map(lambda x: x[i - 1], rows)
        b = jax.tree.map(lambda x: x[i], rows)
        mixed = between(t, i, a, b)
        if rate_of is not None:
            mixed = eqx.tree_at(
                lambda r: (r.y.ledger, r.y.inner), mixed, booked(t, i, a, b, rate_of)
            )
        ended = Row(t, b.y, b.k, b.force, b.modes, b.memory, b.segment)
        return jax.tree.map(lambda x, y: jnp.where(t >= b.time, y, x), mixed, ended)

    return jax.vmap(at)(times, after)


def _slopes(
    time: Float[Array, "r"], force: Float[Array, "r n dim"], segment: Int[Array, "r"]
) -> Float[Array, "r n dim"]:
    """Rates of the forces at the kept steps, from their neighbours between the same events.

    Unlike those of the motion they are not known: parabolas through three neighbours give them.
    """
    h = jnp.diff(time)
    joined = (h > 0) & jnp.isfinite(h) & (segment[1:] == segment[:-1])
    wide = jnp.where(joined, h, 1.0)[:, None, None]
    chord = jnp.where(joined[:, None, None], jnp.diff(force, axis=0) / wide, 0.0)

    def shifted(x: Array, by: int) -> Array:
        """The same row's chord to the right (0), to the left (1), or next to these (-1, 2)."""
        padded = jnp.concatenate([jnp.zeros_like(x[:2]), x, jnp.zeros_like(x[:2])])
        return padded[2 - by : 2 - by + x.shape[0] + 1]

    d_r, d_l, d_rr, d_ll = (shifted(chord, k) for k in (0, 1, -1, 2))
    h_r, h_l, h_rr, h_ll = (shifted(wide, k) for k in (0, 1, -1, 2))
    o_r, o_l, o_rr, o_ll = (shifted(joined, k)[:, None, None] for k in (0, 1, -1, 2))

    def outward(d1: Array, d2: Array, h1: Array, h2: Array, two: Array) -> Array:
        both = jnp.where(two, h1 + h2, 1.0)
        return jnp.where(two, d1 - (d2 - d1) * h1 / both, d1)

    middle = (h_r * d_l + h_l * d_r) / jnp.where(o_l & o_r, h_l + h_r, 1.0)
    right = outward(d_r, d_rr, h_r, h_rr, o_rr)
    left = outward(d_l, d_ll, h_l, h_ll, o_ll)
    return jnp.where(o_l & o_r, middle, jnp.where(o_r, right, jnp.where(o_l, left, 0.0)))


def _curvature(mechanism: Mechanism, row: Row) -> Array:
    """d²q/dt², quaternions included."""
    return jax.jvp(lambda q, v: rate(mechanism, q, v), (row.y.q, row.y.v), (row.k.q, row.k.v))[1]


def _quintic(s, h, x0, x1, v0, v1, a0, a1) -> tuple[Array, Array]:
    """Value and rate at fraction s of the quintic with given values, rates and curvatures."""
    d = x1 - x0
    p, r = h * v0, h * v1
    c0, c1 = h * h * a0 / 2, h * h * a1 / 2
    c3 = 10 * d - 6 * p - 4 * r - 3 * c0 + c1
    c4 = -15 * d + 8 * p + 7 * r + 3 * c0 - 2 * c1
    c5 = 6 * d - 3 * p - 3 * r - c0 + c1
    x = x0 + s * (p + s * (c0 + s * (c3 + s * (c4 + s * c5))))
    slope = p + s * (2 * c0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))
    return x, slope / jnp.where(h > 0, h, 1.0)


def _cubic(s, h, x0, x1, v0, v1) -> Array:
    d = x1 - x0
    p, r = h * v0, h * v1
    return x0 + s * (p + s * (3 * d - 2 * p - r + s * (p + r - 2 * d)))
