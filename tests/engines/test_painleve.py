"""A rod that slides on its end: where there is no motion with friction, or two (Painlevé)."""

import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction import Hybrid, Solver, find_contacts, simulate

STEEP = np.arctan(2.0)  # where the least friction does it: 4/3


@pytest.fixture(scope="module")
def slide():
    mechanism = stiction.load("rod")
    contacts = find_contacts(mechanism, points=["end_a", "end_b"])

    def run(mu, speed=-1.0, spin=0.0, tilt=STEEP):
        """From the instant at which the end slides along the ground at a speed."""
        c, s = 0.5 * np.cos(tilt), 0.5 * np.sin(tilt)
        trajectory = simulate(
            mechanism, jnp.array([c, s, tilt]), jnp.array([speed - s * spin, c * spin, spin]),
            until=0.1, contacts=contacts, law=Hybrid(mu_static=mu, mu_dynamic=mu),
            solver=Solver(max_steps=2000), max_events=100,
        )  # fmt: skip
        return trajectory, trajectory.events()

    return run


def least_friction(tilt):
    """erdmann's rod: (1 + 3 cos²θ) / (3 sin θ cos θ)."""
    return (1 + 3 * np.cos(tilt) ** 2) / (3 * np.sin(tilt) * np.cos(tilt))


@pytest.mark.parametrize("tilt", [STEEP, 0.9, 1.3])
def test_it_jams_just_where_no_motion_is_consistent(slide, tilt):
    mu = least_friction(tilt)
    below, above = (slide(factor * mu, tilt=tilt)[1] for factor in (1 - 1e-6, 1 + 1e-6))
    assert not [e for e in below if e.kind == "jam"]
    assert above[0].kind == "jam"
    assert above[0].time == 0
    assert "no consistent motion" in above[0].note


def test_a_jam_stops_the_slide_and_loses_energy(slide):
    run, events = slide(1.6)
    jam = events[0]
    assert jam.kind == "jam"
    assert np.abs(jam.velocity_after).max() < 1e-12
    assert jam.kinetic_after < jam.kinetic_before
    assert jam.impulse[-1] > 0
    assert abs(jam.impulse[0]) <= 1.6 * jam.impulse[-1]
    assert np.abs(run.ledger_error).max() < 1e-5


def test_sliding_the_other_way_is_harmless(slide):
    _, events = slide(1.6, speed=1.0)
    assert not [e for e in events if e.kind in ("jam", "ambiguous")]


def test_two_motions_are_said_to_be_two(slide):
    """Spinning fast enough the end may lift or slide: both are consistent."""
    _, events = slide(1.6, spin=6.0)
    assert events[0].kind == "ambiguous"
    assert "other motions" in events[0].note
