"""Modes that contacts go into: what begins to slip goes where it is accelerated."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import stiction
from stiction import Hybrid, find_contacts, simulate
from stiction.engines.contact_dynamics import contact_dynamics
from stiction.engines.forces import SLIP

DUMBBELL = """<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>
<body name="dumbbell" pos="0 0 0.1"><freejoint/>
<geom name="left" type="sphere" size="0.1" pos="-0.3 0.1 0" mass="1"/>
<geom name="right" type="sphere" size="0.1" pos="0.5 0 0" mass="0.4"/></body>
</worldbody></mujoco>"""


def test_slip_begins_along_its_acceleration(rng):
    """Two contacts of a body at rest that a slanting weight pulls away: friction against a_t."""
    mechanism = stiction.load(DUMBBELL)
    contacts = find_contacts(mechanism)
    still = jnp.zeros(6)

    @eqx.filter_jit
    def acceleration(pulled, q, force):
        d = contact_dynamics(pulled, contacts, q, still, jnp.asarray(0.0), still)
        return (d.a0 + d.W @ force.reshape(-1)).reshape(force.shape)

    turned, both = [], 0
    for pull in rng.normal(size=(60, 2)) * 6:
        weight = jnp.asarray([*pull, -9.81])
        pulled = eqx.tree_at(lambda m: m.gravity, mechanism, weight)
        run = simulate(
            pulled, mechanism.q_reference, still, until=1e-9, contacts=contacts, samples=3,
            law=Hybrid(mu_static=0.3, mu_dynamic=0.15),
        )  # fmt: skip
        force, slips = np.asarray(run.force[0]), np.asarray(run.modes[0]) == SLIP
        both += slips.all()
        a_t = np.asarray(acceleration(pulled, run.q[0], jnp.asarray(force)))[slips, :-1]
        along = a_t / np.linalg.norm(a_t, axis=1, keepdims=True)
        against = -force[slips, :-1] / (0.15 * force[slips, -1:])
        turned += np.linalg.norm(along - against, axis=1).tolist()
    assert both > 20
    assert np.quantile(turned, 0.99) < 1e-6, np.sort(turned)[-10:]
