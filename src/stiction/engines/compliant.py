"""The compliant engine: contacts are springs, dampers and bristles; the motion is smooth."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array, Float, Scalar
from stiction.engines.by_contact import spread_by_contact
from stiction.engines.compliant_flow import CompliantFlow, compliant_events
from stiction.engines.control import AbstractSwitchingControl
from stiction.engines.flow import LEDGER, Mode, Patterns, State
from stiction.engines.records import Row
from stiction.engines.result import Compliance, Trajectory
from stiction.engines.sampling import Keep, run_and_sample
from stiction.engines.solver import Solver
from stiction.laws import AbstractNormalLaw, AbstractTangentialLaw, RegularizedCoulomb
from stiction.mechanism import Mechanism, normalize
from stiction.mechanism.kinematics import motion
from stiction.surfaces import Contacts, gaps_and_velocities


class Compliant(eqx.Module):
    """How contacts give way and rub: one law along the normal, one across it.

    The numbers of both are one for all contacts or one for each, and may have batch axes.

    Attributes:
        normal: Any law of `stiction.laws` along the normal.
        tangential: Any tangential law; no friction by default.
    """

    normal: AbstractNormalLaw
    tangential: AbstractTangentialLaw

    def __init__(self, normal: AbstractNormalLaw, tangential: AbstractTangentialLaw | None = None):
        self.normal = normal
        self.tangential = RegularizedCoulomb(mu=0.0) if tangential is None else tangential

    def spread(
        self, contacts: Contacts, batch: tuple[int, ...], dtype: Any
    ) -> tuple["Compliant", tuple[int, ...]]:
        """The same with one value for each lane of a batch and each contact, and the batch."""
        with_paths, structure = jax.tree.flatten_with_path(self)
        given = {jax.tree_util.keystr(path)[1:]: leaf for path, leaf in with_paths}
        values, batch = spread_by_contact(given, contacts, batch, dtype)
        shape = (*batch, contacts.count)
        leaves = [jnp.broadcast_to(x, shape) for x in values.values()]
        return jax.tree.unflatten(structure, leaves), batch


def simulate_compliant(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    *,
    until: Scalar,
    contacts: Contacts,
    law: Compliant,
    control: AbstractSwitchingControl,
    solver: Solver,
    keep: Keep,
    patterns: Patterns,
) -> Trajectory:
    """The motion with compliant contacts, from event to event."""
    flow = CompliantFlow(
        mechanism=mechanism,
        contacts=contacts,
        control=control,
        normal=law.normal,
        tangential=law.tangential,
        patterns=patterns,
    )
    booked, gap = jnp.zeros(len(LEDGER), q.dtype), jnp.zeros(contacts.count, q.dtype)
    start = State(normalize(mechanism, q), v, booked, gap, flow.no_inner(q.dtype))

    def account(rows: Row) -> dict[str, Any]:
        """Forces and energies of the sampled states by the laws, not between those of the steps."""

        def at(row: Row) -> tuple[Array, Array, Array]:
            links = motion(mechanism, row.y.q)
            gap, u = gaps_and_velocities(mechanism, contacts, links, row.y.v, row.time)
            r = flow.reactions(row.y, gap, u, row.modes)
            return r.force, -gap, r.stored

        force, depth, stored = jax.vmap(at)(rows)
        lost = rows.y.inner
        compliance = Compliance(depth, stored, lost.normal_loss, lost.friction_loss)
        return {"force": force, "compliance": compliance}

    def rate_of(row: Row) -> State:
        direction = jnp.zeros((contacts.count, contacts.dim - 1), q.dtype)
        mode = Mode(row.modes, direction, row.memory)
        return flow.look(row.time, row.y, mode)[0]

    done = run_and_sample(
        flow,
        compliant_events(flow),
        start,
        until,
        solver=solver,
        keep=keep,
        account=account,
        rate_of=rate_of,
    )
    # Depth is no drift: nothing is kept closed here.
    return eqx.tree_at(lambda t: t.drift, done, jnp.zeros_like(done.drift))
