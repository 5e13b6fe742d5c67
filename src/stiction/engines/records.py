"""What a run keeps: its steps, from which it can be sampled at any time, or only its end."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

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


class Records(eqx.Module):
    """Rows in order; an event has two, before and after."""

    rows: Row
    count: Int[Array, ""]


def no_records(row: Row, size: int) -> Records:
    """Room for a number of rows like the given one; none for batches whose ends alone matter."""
    return Records(room_for(row, size), jnp.asarray(0))


def add_row(records: Records, row: Row, wanted: Bool[Array, ""]) -> Records:
    """Write a row, if it is wanted."""
    rows = write(records.rows, row, records.count, wanted)
    return Records(rows, records.count + wanted)


def room_for(item: Any, size: int) -> Any:
    """Buffers for `size` items, and one more place for what is not wanted."""
    places = size + 1 if size else 0
    return jax.tree.map(lambda x: jnp.zeros((places, *x.shape), x.dtype), item)


def write(buffers: Any, item: Any, place: Int[Array, ""], wanted: Bool[Array, ""]) -> Any:
    """Put an item into its place: in the program's memory, without a copy and without a branch."""

    def put(b: Array, x: Array) -> Array:
        if b.shape[0] == 0:
            return b
        index = jnp.where(wanted, jnp.minimum(place, b.shape[0] - 1), b.shape[0] - 1)
        return jax.lax.dynamic_update_index_in_dim(b, x, index, 0)

    return jax.tree.map(put, buffers, item)


def sample(mechanism: Mechanism, records: Records, times: Float[Array, "s"]) -> Row:
    """The motion at given times, between kept steps, by quintic interpolation.

    Position, velocity and acceleration are known at both ends of a step: the quintic through them
    is of sixth order, beyond the steps' own. At the time of an event the state after it is taken.
    """
    rows, count = records.rows, records.count
    index = jnp.arange(rows.time.shape[0])
    known = jnp.where(index < count, rows.time, jnp.inf)
    after = jnp.clip(jnp.searchsorted(known, times, side="right"), 1, jnp.maximum(count - 1, 1))

    def at(t: Scalar, i: Int[Array, ""]) -> Row:
        a = jax.tree.map(lambda x: x[i - 1], rows)
        b = jax.tree.map(lambda x: x[i], rows)
        h = b.time - a.time
        s = jnp.where(h > 0, (t - a.time) / jnp.where(h > 0, h, 1.0), 1.0)
        last = s >= 1.0
        q, q_dot = _quintic(
            s, h, a.y.q, b.y.q, a.k.q, b.k.q, _curvature(mechanism, a), _curvature(mechanism, b)
        )
        v = velocity_of_rate(mechanism, q, q_dot)
        ledger = _cubic(s, h, a.y.ledger, b.y.ledger, a.k.ledger, b.k.ledger)
        mixed = Row(
            t,
            State(normalize(mechanism, q), v, ledger),
            jax.tree.map(lambda x, y: (1 - s) * x + s * y, a.k, b.k),
            (1 - s) * a.force + s * b.force,
            a.modes,
        )
        ended = Row(t, b.y, b.k, b.force, b.modes)
        return jax.tree.map(lambda x, y: jnp.where(last, y, x), mixed, ended)

    return jax.vmap(at)(times, after)


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
