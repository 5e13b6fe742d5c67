"""Controls with events of their own: a falling mass that fires its thruster at a height."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction import AbstractSwitchingControl, Hybrid, Solver, events_of, find_contacts, simulate

G, MASS, THRUST = 9.81, 2.0, 3.0  # thrust in weights

ROCKET = f"""
<mujoco><option gravity="0 0 {-G}"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <body name="rocket" pos="0 0 0.1"><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="rocket" type="sphere" size="0.1" mass="{MASS}"/></body>
</worldbody><actuator><motor joint="z"/></actuator></mujoco>
"""


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
    run, contacts = fall
    done = run(0.5)
    (event,) = events_of(done, contacts.names)
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
