"""All rollouts in one call, and their derivatives by the numbers of the contact's law."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction.engines import Compliant, Hybrid, Solver, Stepping, simulate
from stiction.identify.kinds.rollouts.flight import distance_roots
from stiction.identify.kinds.rollouts.parameters import PARAMETERS, with_values
from stiction.identify.kinds.rollouts.record import Rollouts
from stiction.mechanism import Mechanism, difference
from stiction.surfaces import Contacts

# Part of a number by which it is changed to see what changes with it, and the least number that
# counts: far above what steps get wrong, and so small that hardly a rollout bounces another way.
_CHANGE, _LEAST = 1e-5, 0.1


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


class RolloutEngine(eqx.Module):
    """What carries a rollout out."""

    mechanism: Mechanism
    contacts: Contacts
    law: Hybrid | Stepping | Compliant
    solver: Solver
    rate: Float[Array, ""]
    max_events: int = eqx.field(static=True)
    wanted: tuple[str, ...] = eqx.field(static=True)

    def paths(self, theta: Float[np.ndarray, " p"], lanes: Lanes) -> Float[np.ndarray, "n rows nq"]:
        """Configurations at the rows of rollouts; not numbers where one did not get to."""
        rows = lanes.measured.shape[-2]
        run = simulate(
            self.mechanism,
            lanes.q,
            lanes.v,
            until=(rows - 1) / self.rate,
            contacts=self.contacts,
            law=with_values(self.law, list(self.wanted), jnp.asarray(theta)),
            samples=rows,
            solver=self.solver,
            max_events=self.max_events,
            keep_events=False,
            throw=False,
        )
        return np.asarray(run.q)


def make_lanes(
    rollouts: Rollouts,
    mechanism: Mechanism,
    q: Float[np.ndarray, "n nq"],
    v: Float[np.ndarray, "n nv"],
) -> Lanes:
    """Rollouts and their starts, ready to be compared."""
    measured = jnp.asarray(rollouts.q)
    return Lanes(jnp.asarray(q), jnp.asarray(v), measured, distance_roots(mechanism, measured))


def distances(
    engine: RolloutEngine, lanes: Lanes, theta: Float[np.ndarray, " p"]
) -> tuple[Float[np.ndarray, "n rows nv"], Float[np.ndarray, "n rows nv p"]]:
    """r and its derivative by θ, by differences; not numbers where a rollout did not get to.

    All rollouts go together, once for each changed number: that costs less than derivatives along
    each of them.
    """
    r = _distances(engine.mechanism, lanes, engine.paths(theta, lanes))
    J = np.empty((*r.shape, len(theta)))
    for i, name in enumerate(engine.wanted):
        bound, change = PARAMETERS[name], _CHANGE * max(abs(theta[i]), _LEAST)
        ends = []
        for value in (theta[i] - change, theta[i] + change):
            there = theta.copy()
            there[i] = np.clip(value, bound.lower, bound.upper)
            ends.append(_distances(engine.mechanism, lanes, engine.paths(there, lanes)))
        low, high = np.clip([theta[i] - change, theta[i] + change], bound.lower, bound.upper)
        J[..., i] = (ends[1] - ends[0]) / (high - low)
    return r, J


def _distances(mechanism: Mechanism, lanes: Lanes, q: np.ndarray) -> Float[np.ndarray, "n rows nv"]:
    return np.asarray(_from_measured(mechanism, lanes.measured, lanes.roots, jnp.asarray(q)))


@quick_jit
def _from_measured(mechanism: Mechanism, measured: Array, roots: Array, q: Array):
    step = jax.vmap(jax.vmap(lambda a, b: difference(mechanism, a, b)))(measured, q)
    return jnp.einsum("nrij,nrj->nri", roots, step)
