r"""A slip in space ends: a ball on a slope, which slides, turns and at last rolls.

The velocity u of its lowest point obeys $\dot u = A - c\,\hat u$ with $A$ the pull down the slope
and $c = \tfrac72 \mu g \cos\theta$. As u vanishes its direction turns towards A, ever faster: an
engine that steps across would miss zero, and the slip would begin anew.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import stiction
from stiction import Hybrid, Solver, find_contacts, simulate
from stiction.surfaces import planes, slope_rotation

G, RADIUS, SLOPE = 9.81, 0.12, np.deg2rad(15.0)
BALL = f"""<mujoco><option gravity="0 0 -{G}"/><worldbody><body name="ball"><freejoint name="ball"/>
<geom name="ball" type="sphere" size="{RADIUS}" mass="1"/></body></worldbody></mujoco>"""
CASES = 20


@pytest.fixture(scope="module")
def slide():
    mechanism = stiction.load(BALL)
    R = slope_rotation(SLOPE)
    contacts = find_contacts(mechanism, ground=planes([np.zeros(3)], [R], ["slope"]))

    def run(v, w, mu, until=2.0):
        """From a velocity and a spin in the slope's axes."""
        q = np.array([*(RADIUS * R[:, 2]), 1.0, 0.0, 0.0, 0.0])
        trajectory = simulate(
            mechanism, jnp.asarray(q), jnp.asarray([*(R @ v), *(R @ w)]), until=until,
            contacts=contacts, law=Hybrid(restitution=0.0, mu_static=mu, mu_dynamic=mu),
            samples=101, solver=Solver(1e-9, 1e-10),
        )  # fmt: skip
        return trajectory, trajectory.events(), R

    return run


def starts():
    rng = np.random.default_rng(0)
    for _ in range(CASES):
        v = np.append(rng.normal(size=2), 0.0)
        yield v, rng.choice([0.5, 5.0, 20.0]) * rng.normal(size=3), rng.uniform(0.15, 0.9)


def end_of_slip(v, w, mu):
    """When the slip ends, and the centre's velocity then, along the slope."""
    A = np.array([G * np.sin(SLOPE), 0.0])
    rub = mu * G * np.cos(SLOPE)
    u = v[:2] + RADIUS * np.array([-w[1], w[0]])

    def rate(t, y):
        e = y[:2] / np.linalg.norm(y[:2])
        return np.concatenate([A - 3.5 * rub * e, A - rub * e])

    slow = lambda t, y: np.linalg.norm(y[:2]) - 1e-8  # noqa: E731
    slow.terminal = True
    end = solve_ivp(
        rate, (0.0, 5.0), np.concatenate([u, v[:2]]), "DOP853", events=slow, rtol=1e-12, atol=1e-13
    )
    return end.t[-1], end.y[2:, -1]


def test_a_slip_that_turns_ends_once_and_for_all(slide):
    for v, w, mu in starts():
        trajectory, events, R = slide(v, w, mu)
        assert [e.kind for e in events] == ["stick"]
        time, velocity = end_of_slip(v, w, mu)
        assert events[0].time == pytest.approx(time, abs=2e-7)
        # From then on it rolls, and gains 5/7 of what a slide without friction would.
        after = np.asarray(trajectory.time) > time
        rolled = (np.asarray(trajectory.time)[after] - time)[:, None]
        pull = np.array([5 / 7 * G * np.sin(SLOPE), 0.0])
        along = (np.asarray(trajectory.v)[after, :3] @ R)[:, :2]
        assert_allclose(along, velocity + pull * rolled, atol=1e-6)
        assert np.abs(trajectory.ledger_error).max() < 1e-6


def test_where_friction_is_too_small_it_slides_on(slide):
    """Below 2/7 tan θ a ball cannot roll: one that rolls at first begins to slide, down."""
    mu = 0.5 * 2 / 7 * np.tan(SLOPE)
    trajectory, events, R = slide(np.zeros(3), np.zeros(3), mu, until=0.5)
    assert not [e for e in events if e.kind in ("stick", "reversal")]
    end = np.asarray(trajectory.v)[-1, :3] @ R
    assert_allclose(end, [0.5 * G * (np.sin(SLOPE) - mu * np.cos(SLOPE)), 0, 0], atol=1e-8)
