"""The way of a run through its events, against the closed form of a bouncing ball."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import stiction
from stiction.engines.given import changed
from stiction.report.run_path import through_events, world_impulses

HEIGHT, RADIUS, GRAVITY = 1.0, 0.05, 9.81


@pytest.fixture(scope="module")
def ball():
    """A ball that falls a metre, with few samples: none of them is at the floor."""
    return stiction.scene("bouncing-ball").run(until=2.0, samples=37, contact={"restitution": 0.8})


def test_a_bounce_reaches_the_floor(ball):
    path = through_events(ball)
    sampled = np.asarray(ball.q)[:, 2].min()
    assert sampled > RADIUS + 1e-3  # samples alone end above it
    assert path.q[:, 2].min() == pytest.approx(RADIUS, abs=1e-9)
    at = path.time[np.argmin(path.q[:, 2])]
    falls = np.sqrt(2 * HEIGHT / GRAVITY) * np.array([1.0, 1 + 2 * 0.8, 1 + 2 * 0.8 + 2 * 0.64])
    assert np.abs(falls - at).min() < 1e-8


def test_an_event_that_no_sample_follows_is_left_out(ball):
    """A run that is looked at while it goes on has such events, and one that failed."""
    first = np.asarray(ball.log.time)[0]
    kept = np.flatnonzero(ball.time < first)
    names = ("time", "q", "v", "kinetic", "potential")
    cut = changed(ball, n_events=1, **{name: getattr(ball, name)[kept] for name in names})
    path = through_events(cut)
    assert_allclose(path.time, ball.time[kept])
    assert (path.event == -1).all()


def test_speeds_jump_at_an_impact(ball):
    path = through_events(ball)
    twice = np.flatnonzero((np.diff(path.time) == 0) & (np.abs(np.diff(path.v[:, 2])) > 0.1))
    first = twice[0]
    speed = np.sqrt(2 * GRAVITY * HEIGHT)
    assert_allclose(path.v[first : first + 2, 2], [-speed, 0.8 * speed], rtol=1e-7)


def test_time_never_goes_back_and_every_sample_is_there(ball):
    path = through_events(ball)
    assert (np.diff(path.time) >= 0).all()
    assert set(np.asarray(ball.time)) <= set(path.time)


def test_impulses_are_the_changes_of_momentum(ball):
    """m (1 + e) v upwards, at the lowest point of the ball."""
    found = world_impulses(ball)
    mass = float(ball.mechanism.bodies.mass.sum())
    speed = np.sqrt(2 * GRAVITY * HEIGHT)
    assert_allclose(found[0, 4:], [0, 0, mass * 1.8 * speed], rtol=1e-7, atol=1e-12)
    assert_allclose(found[0, 1:4], [0, 0, 0], atol=1e-9)
    assert_allclose(found[1, 6] / found[0, 6], 0.8, rtol=1e-7)
