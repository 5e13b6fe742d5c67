"""All rollouts in one compiled call, and their derivatives by the numbers of the contact's law."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Float
from stiction._compile import quick_jit
from stiction.engines import Compliant, Hybrid, Solver, Stepping, simulate
from stiction.identify.rollouts.flight import distance_roots
from stiction.identify.rollouts.parameters import with_values
from stiction.identify.rollouts.record import Rollouts
from stiction.mechanism import Mechanism, difference
from stiction.surfaces import Contacts

# Lanes of the stepping engine that go together. Those of event-driven engines go one by one on a
# processor: together each would pay for the events of all, fifty times as much for a cube.
_TOGETHER = 64


class Lanes(eqx.Module):
    """What all rollouts of a fit start from and are compared with."""

    q: Float[Array, "n nq"]
    v: Float[Array, "n nv"]
    measured: Float[Array, "n rows nq"]
    roots: Float[Array, "n rows nv nv"]

    def part(self, which: np.ndarray, rows: int) -> "Lanes":
        """Some of the rollouts, and of them the first rows."""
        chosen = np.flatnonzero(which)
        return Lanes(
            self.q[chosen], self.v[chosen], self.measured[chosen, :rows], self.roots[chosen, :rows]
        )


class Engine(eqx.Module):
    """What carries a rollout out."""

    mechanism: Mechanism
    contacts: Contacts
    law: Hybrid | Stepping | Compliant
    solver: Solver
    rate: Float[Array, ""]
    max_events: int = eqx.field(static=True)
    wanted: tuple[str, ...] = eqx.field(static=True)

    def path(self, theta: Array, q: Array, v: Array, rows: int) -> Float[Array, "rows nq"]:
        """Configurations at the rows of one rollout; not numbers where it did not get to."""
        return simulate(
            self.mechanism,
            q,
            v,
            until=(rows - 1) / self.rate,
            contacts=self.contacts,
            law=with_values(self.law, list(self.wanted), theta),
            samples=rows,
            solver=self.solver,
            max_events=self.max_events,
            keep_events=False,
            throw=False,
        ).q

    def spread(self, lanes: Lanes) -> tuple[Lanes, int]:
        """The lanes in equal groups, the last filled up, and how many there are."""
        n = lanes.q.shape[0]
        alone = jax.default_backend() == "cpu" and not isinstance(self.law, Stepping)
        size = 1 if alone else -(-n // -(-n // _TOGETHER))
        groups = -(-n // size)
        pick = np.minimum(np.arange(groups * size), n - 1).reshape(groups, size)
        return jax.tree.map(lambda x: x[pick[:, 0] if alone else pick], lanes), n


def make_lanes(
    rollouts: Rollouts,
    mechanism: Mechanism,
    q: Float[np.ndarray, "n nq"],
    v: Float[np.ndarray, "n nv"],
) -> Lanes:
    """Rollouts and their starts, ready to be compared."""
    measured = jnp.asarray(rollouts.q)
    return Lanes(jnp.asarray(q), jnp.asarray(v), measured, distance_roots(mechanism, measured))


def roll_out(engine: Engine, lanes: Lanes, theta: np.ndarray) -> Float[np.ndarray, "n rows nq"]:
    """Simulated configurations."""
    groups, n = engine.spread(lanes)
    q = np.asarray(_paths(engine, groups, jnp.asarray(theta)))
    return q.reshape(-1, *q.shape[-2:])[:n]


def distances(
    engine: Engine, lanes: Lanes, theta: np.ndarray
) -> tuple[Float[np.ndarray, "n rows nv"], Float[np.ndarray, "n rows nv p"]]:
    """r and its derivative; not numbers where a rollout did not get to."""
    groups, n = engine.spread(lanes)
    J, r = (np.asarray(x) for x in _distances(engine, groups, jnp.asarray(theta)))
    shape = lanes.roots.shape[1:3]
    return r.reshape(-1, *shape)[:n], J.reshape(-1, *shape, len(theta))[:n]


@quick_jit
def _paths(engine: Engine, groups: Lanes, theta: Array):
    rows = groups.measured.shape[-2]
    return _each(lambda lane: engine.path(theta, lane.q, lane.v, rows), groups)


@quick_jit
def _distances(engine: Engine, groups: Lanes, theta: Array):
    rows = groups.measured.shape[-2]

    def one(lane: Lanes):
        def r_of(theta: Array):
            q = engine.path(theta, lane.q, lane.v, rows)
            step = jax.vmap(lambda a, b: difference(engine.mechanism, a, b))(lane.measured, q)
            r = jnp.einsum("rij,rj->ri", lane.roots, step)
            return r, r

        return jax.jacfwd(r_of, has_aux=True)(theta)

    return _each(one, groups)


def _each(f: Callable, groups: Lanes):
    return jax.lax.map(f if groups.q.ndim == 2 else jax.vmap(f), groups)
