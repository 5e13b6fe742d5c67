"""The hybrid engine with impacts as complementarity problems, on moving ground."""

import jax.numpy as jnp
import numpy as np
from known_models import planar_block

import stiction
from stiction import Hybrid, find_contacts, simulate
from stiction.engines import index_sets
from stiction.surfaces import planes
from stiction.surfaces.supports import SupportMotion


def test_a_block_lands_flat_on_a_belt():
    """In the hybrid engine: both corners are struck, kept, dragged, and stick at last."""
    mechanism = stiction.load(planar_block(0.4, 0.2))
    still = jnp.zeros((1, 3))
    motion = SupportMotion(still, still, jnp.zeros(1), jnp.zeros(1), jnp.array([[1.0, 0.0]]))
    ground = planes([np.zeros(3)], [np.eye(3)], ["belt"], motion)
    contacts = find_contacts(mechanism, points=["left", "right"], ground=ground)
    law = Hybrid(restitution=0.0, mu_static=0.5, mu_dynamic=0.5, impact="lcp")
    done = simulate(
        mechanism, jnp.array([0.0, 0.05, 0.0]), jnp.zeros(3), until=0.6, contacts=contacts,
        law=law, max_events=30, samples=11,
    )  # fmt: skip
    first, *_, last = index_sets(done, contacts.names)
    both = ("left", "right")
    assert first.before.closed == first.before.struck == both
    assert first.before.lasting == ()
    assert first.after.lasting == both
    assert first.after.held == ((),)
    assert last.after.held == (both,)
    hit = next(e for e in done.events() if e.kind == "impact")
    fall = np.sqrt(2 * 9.81 * 0.05)
    np.testing.assert_allclose(hit.time, fall / 9.81, rtol=1e-9)
    # Friction drags at its limit while the block is slower than the belt, then not at all.
    np.testing.assert_allclose(done.v[-1], [1.0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(done.ledger_error, 0, atol=1e-7)
