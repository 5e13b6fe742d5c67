"""Batches, derivatives, repetition: the same answer however it is asked for."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction import Hybrid, Solver, find_contacts, simulate

SOLVER = Solver(max_steps=2000)
UNTIL = 2.0


@pytest.fixture(scope="module")
def pendulum():
    mechanism = stiction.load("double-pendulum")
    return mechanism, find_contacts(mechanism, points=["tip"])


def run(pendulum, q, law, **options):
    mechanism, contacts = pendulum
    q = jnp.asarray(q)
    options = {"until": UNTIL, "solver": SOLVER, "max_events": 60, **options}
    return simulate(mechanism, q, jnp.zeros_like(q), contacts=contacts, law=law, **options)


@pytest.fixture(scope="module")
def lanes():
    rng = np.random.default_rng(1)
    q = np.stack([rng.uniform(-0.3, 0.3, 5), rng.uniform(-1.0, 1.0, 5)], axis=1)
    return q, np.array([0.0, 0.3, 0.5, 0.8, 1.0])


def test_a_lane_of_a_batch_is_the_same_as_alone(pendulum, lanes):
    q, e = lanes
    law = Hybrid(restitution=jnp.asarray(e), energetic=0.8, energy_method="scale")
    together = run(pendulum, q, law)
    for i in range(len(q)):
        one = Hybrid(restitution=float(e[i]), energetic=0.8, energy_method="scale")
        alone = run(pendulum, q[i], one)
        lane = jax.tree.map(lambda x, i=i: x[i], together)
        assert int(lane.n_events) == int(alone.n_events) > 0
        for a, b in zip(lane.events(), alone.events(), strict=True):
            assert (a.kind, a.contact) == (b.kind, b.contact)
            assert a.time == pytest.approx(b.time, abs=1e-11)
        np.testing.assert_array_equal(lane.modes, alone.modes)
        np.testing.assert_allclose(lane.q, alone.q, atol=1e-9)


def test_repetition_gives_the_same_bits(pendulum, lanes):
    q, e = lanes
    first, second = (run(pendulum, q[1], Hybrid(restitution=float(e[1]))) for _ in range(2))
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_array_equal(a, b)


def test_ends_alone_are_the_ends_of_the_whole(pendulum, lanes):
    q, _ = lanes
    law = Hybrid(restitution=0.4)
    whole, ends = run(pendulum, q[2], law), run(pendulum, q[2], law, samples=2, keep_events=False)
    np.testing.assert_allclose(ends.q[-1], whole.q[-1], atol=1e-12)
    np.testing.assert_allclose(ends.impact_loss[-1], whole.impact_loss[-1], atol=1e-12)
    assert int(ends.n_events) == int(whole.n_events)


def ends(mechanism, contacts, x):
    """The end of 0.9 s: four impacts, the end of their sequence, sliding."""
    law = Hybrid(restitution=0.1 + x[1], mu_static=0.3, mu_dynamic=0.2 + x[2])
    done = simulate(
        mechanism, jnp.array([0.05, 0.1]) + jnp.array([1.0, 0.0]) * x[0], jnp.zeros(2), until=0.9,
        contacts=contacts, law=law, samples=2, keep_events=False, max_events=60,
        solver=Solver(rtol=1e-11, atol=1e-12, max_steps=4000),
    )  # fmt: skip
    return jnp.concatenate([done.q[-1], done.v[-1]])


def agree(f, size, h=1e-5):
    """Whether derivatives at zero are those of central differences."""
    exact = jax.jit(jax.jacfwd(f))(jnp.zeros(size))
    f = jax.jit(f)
    steps = jnp.eye(size) * h
    differences = np.stack([(f(s) - f(-s)) / (2 * h) for s in steps], axis=1)
    assert (np.abs(exact).max(axis=0) > 1e-2).all()
    np.testing.assert_allclose(exact, differences, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_derivatives_by_state_law_and_mass_agree_with_differences(pendulum):
    """In one program: each takes half a minute to compile."""
    mechanism, contacts = pendulum

    def f(x):
        mass = mechanism.bodies.mass.at[2].add(x[3])
        heavier = eqx.tree_at(lambda m: m.bodies.mass, mechanism, mass)
        return ends(heavier, contacts, x)

    agree(f, 4)
