"""All rollouts in one call, and how far they are from what was measured."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction.engines import Compliant, Hybrid, Solver, Stepping, simulate
from stiction.identify.kinds.rollouts.flight import distance_roots, distances_from
from stiction.identify.kinds.rollouts.parameters import with_values
from stiction.identify.kinds.rollouts.record import Rollouts
from stiction.mechanism import Mechanism
from stiction.surfaces import Contacts


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
    """What carries a rollout out.

    Its numbers θ are the wanted ones of the law and then, where `up` says how coordinates change
    when all is lifted, by how much everything is recorded too low (none if left out).
    Velocities `unobserved` were not observed: each rollout has its own at the start, and what was
    measured of those turns is not compared.
    """

    mechanism: Mechanism
    contacts: Contacts
    law: Hybrid | Stepping | Compliant
    solver: Solver
    rate: Float[Array, ""]
    max_events: int = eqx.field(static=True)
    wanted: tuple[str, ...] = eqx.field(static=True)
    up: Float[Array, " nq"] | None = None
    unobserved: tuple[int, ...] = eqx.field(static=True, default=())

    def simulate(
        self,
        theta: Float[np.ndarray, " p"],
        lanes: Lanes,
        own: Float[np.ndarray, "n u"] | None = None,
    ) -> Float[np.ndarray, "n rows nq"]:
        """Configurations at the rows of rollouts; not numbers where one did not get to."""
        rows, wanted = lanes.measured.shape[-2], len(self.wanted)
        lifted = self.up is not None and len(theta) > wanted
        lift = theta[wanted] * np.asarray(self.up) if lifted else 0.0
        v = np.array(lanes.v)
        if own is not None:
            v[:, self.unobserved] += own
        run = simulate(
            self.mechanism,
            np.asarray(lanes.q) + lift,
            v,
            until=(rows - 1) / self.rate,
            contacts=self.contacts,
            law=with_values(self.law, list(self.wanted), jnp.asarray(theta[:wanted])),
            samples=rows,
            solver=self.solver,
            max_events=self.max_events,
            keep_events=False,
            throw=False,
        )
        return np.asarray(run.q) - lift

    def distances(
        self,
        theta: Float[np.ndarray, " p"],
        lanes: Lanes,
        own: Float[np.ndarray, "n u"] | None = None,
    ) -> Float[np.ndarray, "n rows nv"]:
        """From what was measured; not numbers where a rollout did not get to."""
        path = self.simulate(theta, lanes, own)
        return distances_from(self.mechanism, lanes.measured, lanes.roots, path)


def make_lanes(
    rollouts: Rollouts,
    mechanism: Mechanism,
    q: Float[np.ndarray, "n nq"],
    v: Float[np.ndarray, "n nv"],
    unobserved: tuple[int, ...] = (),
) -> Lanes:
    """Rollouts and their starts, ready to be compared."""
    measured = jnp.asarray(rollouts.q)
    roots = distance_roots(mechanism, measured)
    roots = roots.at[..., np.array(unobserved, dtype=int)].set(0.0)  # these turns count for nothing
    return Lanes(jnp.asarray(q), jnp.asarray(v), measured, roots)
