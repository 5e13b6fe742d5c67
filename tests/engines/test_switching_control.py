"""Controls with events of their own: a falling mass that fires its thruster at a height."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rocket import MASS, ROCKET, G

import stiction
from stiction import (
    AbstractSwitchingControl,
    Hybrid,
    Solver,
    Stepping,
    find_contacts,
    simulate,
)

THRUST = 3.0  # in weights


class FireOnce(AbstractSwitchingControl):
    """Nothing until the height falls to a threshold, then full thrust."""

    height: jax.Array

    def memory(self):
        return jnp.asarray(0)

    def command(self, t, q, v, modes, memory):
        return jnp.where(memory == 1, THRUST * MASS * G, 0.0)[None]

    def guards(self, t, q, v, modes, memory):
        return jnp.where(memory == 0, q - self.height, 1.0)

    def switch(self, which, t, q, v, modes, memory):
        return memory + 1


@pytest.fixture(scope="module")
def fall():
    mechanism = stiction.load(ROCKET)
    contacts = find_contacts(mechanism)

    def run(height):
        return simulate(
            mechanism, jnp.ones(1), jnp.zeros(1), until=0.6, contacts=contacts, law=Hybrid(),
            control=FireOnce(jnp.asarray(height)), solver=Solver(max_steps=500), max_events=20,
        )  # fmt: skip

    return run, contacts


def expected(height, t=0.6):
    t1 = np.sqrt(2 * (1 - height) / G)
    v1 = -G * t1
    a = (THRUST - 1) * G
    return height + v1 * (t - t1) + a * (t - t1) ** 2 / 2, t1


def test_it_fires_at_its_height(fall):
    run, _ = fall
    done = run(0.5)
    (event,) = done.events()
    z, t1 = expected(0.5)
    assert (event.kind, event.contact) == ("switch", "")
    assert event.time == pytest.approx(t1, abs=1e-12)
    assert float(done.q[-1, 0]) == pytest.approx(z, abs=1e-10)
    after = np.asarray(done.time) > t1
    np.testing.assert_allclose(np.asarray(done.effort)[after], THRUST * MASS * G)
    assert not np.asarray(done.effort)[~after].any()
    assert np.abs(done.ledger_error).max() < 1e-8


def test_derivative_by_the_threshold(fall):
    run, _ = fall
    slope = jax.jacfwd(lambda h: run(h).q[-1, 0])(jnp.asarray(0.5))
    h = 1e-6
    assert float(slope) == pytest.approx(
        (expected(0.5 + h)[0] - expected(0.5 - h)[0]) / (2 * h), rel=1e-6
    )


def test_fixed_steps_fire_within_a_step(fall):
    """The guard is looked at once a step, so the event is late by at most that."""
    mechanism, contacts = stiction.load(ROCKET), fall[1]
    done = simulate(
        mechanism, jnp.ones(1), jnp.zeros(1), until=0.6, contacts=contacts, max_events=20,
        law=Stepping(dt=1e-4), control=FireOnce(jnp.asarray(0.5)),
    )  # fmt: skip
    (event,) = done.events()
    z, t1 = expected(0.5)
    assert (event.kind, event.note) == ("switch", "guard 0")
    assert 0 <= event.time - t1 <= 1.001e-4
    assert float(done.q[-1, 0]) == pytest.approx(z, abs=THRUST * G * 0.3 * 1e-4)


class Stages(FireOnce):
    """The same, by the last of three guards."""

    def guards(self, t, q, v, modes, memory):
        return jnp.concatenate([jnp.ones(2), super().guards(t, q, v, modes, memory)])

    def switch(self, which, t, q, v, modes, memory):
        return memory + (which == 2).astype(int)


@pytest.mark.parametrize("law", [Hybrid(), Stepping(dt=1e-3)])
def test_a_guard_is_named_by_its_own_index(fall, law):
    done = simulate(
        stiction.load(ROCKET), jnp.ones(1), jnp.zeros(1), until=0.6, contacts=fall[1], law=law,
        control=Stages(jnp.asarray(0.5)), max_events=20,
    )  # fmt: skip
    assert [event.note for event in done.events()] == ["guard 2"]
    assert float(done.q[-1, 0]) == pytest.approx(expected(0.5)[0], abs=1e-2)


def test_fixed_steps_tell_a_control_what_touches_from_the_start(fall):
    """On the ground, told to push as hard as its mode is numbered: 1, from the first step on."""
    done = simulate(
        stiction.load(ROCKET), jnp.zeros(1), jnp.zeros(1), until=0.003, contacts=fall[1],
        law=Stepping(dt=1e-3), control=lambda t, q, v, modes: modes.astype(float), samples=4,
    )  # fmt: skip
    np.testing.assert_allclose(done.effort, 1.0)
