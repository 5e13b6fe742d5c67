"""What a run notes of itself: all that a replay has to know of it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Int
from stiction.engines.event_log import START
from stiction.engines.forces import OPEN, SLIP
from stiction.engines.replay_rigid import EventRow


class Record(eqx.Module):
    """What a run noted: its events with their beginning before them, and how many there are."""

    rows: EventRow  # with a leading axis
    count: Int[Array, ""]
    first: Int[Array, ""]  # 0, or 1 if the log itself begins with the start


def record_of(run: Any) -> Record:
    """What a replay has to know of a trajectory with its list of events."""
    log = run.log
    force, u = run.force[0], jnp.zeros_like(run.force[0])
    slips = run.modes[0] == SLIP
    size = jnp.sqrt(jnp.sum(force[:, :-1] ** 2, axis=1, keepdims=True))
    against = jnp.where(slips[:, None], -force[:, :-1] / jnp.where(size > 0, size, 1.0), 0.0)
    no, zero = jnp.asarray(False), jnp.zeros_like(run.time[0])
    begins = EventRow(
        zero, jnp.asarray(START), jnp.asarray(0), no, no, jnp.full_like(run.modes[0], OPEN),
        run.modes[0], against, against, u[:, 0], u, run.q[0], run.v[0],
    )  # fmt: skip
    if log is None:  # nothing can happen
        alone = jax.tree.map(lambda x: x[None], begins)
        return Record(alone, jnp.asarray(1), jnp.asarray(0))
    noted = [
        log.time, log.cause.contact, log.cause.function, log.impact, log.tangential,
        log.modes_before, log.modes_after, log.direction_before, log.direction_after, log.gap,
        log.velocity_before, log.q, log.v_after,
    ]  # fmt: skip
    noted = jax.tree.unflatten(jax.tree.structure(begins), noted)
    rows = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), begins, noted)
    own = (run.n_events > 0) & (log.cause.contact[0] == START)
    return Record(rows, run.n_events + 1, own.astype(int))
