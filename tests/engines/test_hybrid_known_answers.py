"""The hybrid engine against motions that are known in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_models import (
    BALL_ON_A_RAIL,
    PLANAR_SPHERE,
    WEIGHTLESS_BALL,
    planar_block,
    row_of_balls,
    woodpecker,
)

import stiction
from stiction import Hybrid, Solver, find_contacts, simulate
from stiction.engines import rest_time
from stiction.scenes.contact import build_ground
from stiction.scenes.scenario import GroundFields

G = 9.81
SOLVER = Solver(max_steps=4000)


def on_slope(mechanism, degrees, points=None):
    ground = build_ground(GroundFields(slope_deg=degrees), mechanism, False)
    return find_contacts(mechanism, ground=ground, points=points)


@pytest.fixture(scope="module")
def ball():
    mechanism = stiction.load(BALL_ON_A_RAIL)
    return mechanism, find_contacts(mechanism)


@pytest.fixture(scope="module")
def sphere():
    mechanism = stiction.load(PLANAR_SPHERE)
    return mechanism, find_contacts(mechanism)


def test_a_ball_hits_when_it_should_and_comes_to_rest(ball):
    mechanism, contacts = ball
    e, t1 = 0.9, np.sqrt(2 / G)
    run = simulate(
        mechanism, jnp.ones(1), jnp.zeros(1), until=10.0, contacts=contacts,
        law=Hybrid(restitution=e, impact="no-slip"), solver=SOLVER,
    )  # fmt: skip
    events = run.events()
    hits = np.array([x.time for x in events if x.kind == "impact"])
    expected = t1 * (1 + 2 * np.cumsum(e ** np.arange(80)) - 2)
    assert len(hits) >= 44
    np.testing.assert_allclose(hits, expected[: len(hits)], rtol=0, atol=1e-10)
    (end,) = [x for x in events if x.kind == "zeno"]
    # What is left of an endless sequence is a geometric series; the last impact had 1e-3 m/s.
    assert end.limit == pytest.approx(8.578949178728887, abs=1e-9)
    assert rest_time(run) == end.time
    assert abs(run.q[-1, 0]) < 1e-15
    assert run.v[-1, 0] == 0
    assert np.abs(run.ledger_error).max() < 1e-10 * G


def test_an_elastic_floor_mirrors(ball):
    mechanism = stiction.load(WEIGHTLESS_BALL)
    contacts = find_contacts(mechanism)

    def final_height(height, e):
        run = simulate(
            mechanism, height[None], jnp.array([-2.0]), until=1.0, contacts=contacts, samples=2,
            law=Hybrid(restitution=e, impact="no-slip"), solver=SOLVER,
        )  # fmt: skip
        return run.q[-1, 0]

    height, e = jnp.asarray(0.7), jnp.asarray(1.0)
    value = final_height(height, e)
    assert value == pytest.approx(2.0 - 0.7, abs=1e-12)
    by_height, by_e = jax.jacfwd(final_height, argnums=(0, 1))(height, e)
    assert by_height == pytest.approx(-1.0, abs=1e-10)
    assert by_e == pytest.approx(2.0 - 0.7, abs=1e-10)  # h = e (v T - h0)


@pytest.mark.parametrize(("e", "expected"), [(1.0, (-1 / 3, 2 / 3, 2 / 3)), (0.5, (0.0, 0.5, 0.5))])
def test_three_balls_in_a_row_at_once(e, expected):
    mechanism = stiction.load(row_of_balls([1.0] * 3, [0.0] * 3))
    contacts = find_contacts(mechanism)
    run = simulate(
        mechanism, jnp.zeros(3), jnp.array([1.0, 0.0, 0.0]), until=0.1, contacts=contacts,
        law=Hybrid(restitution=e, impact="no-slip"), solver=SOLVER, samples=2,
    )  # fmt: skip
    np.testing.assert_allclose(run.v[-1], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("ratio", "collisions"), [(1, 3), (100, 31), (10_000, 314), (1_000_000, 3141)]
)
def test_two_blocks_and_a_wall_count_pi(ratio, collisions):
    mechanism = stiction.load(row_of_balls([1.0, float(ratio)], [0.5, 0.5], wall=True))
    contacts = find_contacts(mechanism, points=["b0"])
    run = simulate(
        mechanism, jnp.zeros(2), jnp.array([0.0, -1.0]), until=30.0, contacts=contacts,
        law=Hybrid(restitution=1.0, impact="no-slip", rest_speed=0.0, mu_static=0.0,
                   mu_dynamic=0.0),
        solver=Solver(max_steps=40_000), samples=2, max_events=4000,
    )  # fmt: skip
    assert int(run.n_events) == collisions


def test_a_woodpecker_pecks_its_way_down():
    """[PfeifferGlocker1996]: a period of 0.146 s, and 19.5 mm lower each time."""
    small = 1e-2
    mechanism = stiction.load(woodpecker(small))
    contacts = find_contacts(mechanism, points=["beak", "low", "high"])
    run = simulate(
        mechanism, small * jnp.array([0.0, -0.103, -0.1758]),
        small * jnp.array([-0.3411, 0.0, -7.4583]), until=2.0, contacts=contacts,
        law=Hybrid(restitution=jnp.array([0.5, 0.0, 0.0]), mu_static=0.3, mu_dynamic=0.3,
                   rest_speed=1e-4 * small),
        solver=Solver(1e-8, 1e-11, max_steps=20_000), samples=2001,
    )  # fmt: skip
    events = run.events()
    pecks = [x.time for x in events if x.kind == "impact" and x.contact == "beak"]
    height = np.interp(pecks, run.time, run.q[:, 0]) / small
    assert np.mean(np.diff(pecks[-6:])) == pytest.approx(0.146, rel=0.01)
    assert np.mean(np.diff(height[-6:])) == pytest.approx(-0.0195, rel=0.03)
    # Every cycle: the sleeve jams below, comes to rest, slips and lets go, then jams above.
    cycle = [x.kind for x in events if x.contact == "low" and pecks[-2] < x.time < pecks[-1]]
    assert cycle[-3:] == ["stick", "slip", "lift-off"]
    assert [x for x in events if x.contact == "high" and x.kind == "impact"]


def test_a_rocking_block_keeps_seven_tenths_of_its_spin():
    w, h = 0.5, 1.0
    mechanism = stiction.load(planar_block(w, h))
    contacts = find_contacts(mechanism, points=["left", "right"])
    tilt = 0.05  # counter-clockwise: it stands on its left corner
    # Centre of mass relative to the left corner, turned by the tilt.
    c, s = np.cos(tilt), np.sin(tilt)
    dx, dz = w / 2 * c - h / 2 * s, w / 2 * s + h / 2 * c
    q = jnp.array([dx, dz - h / 2, tilt])
    run = simulate(
        mechanism, q, jnp.zeros(3), until=1.0, contacts=contacts, solver=SOLVER,
        law=Hybrid(restitution=0.0, impact="no-slip", mu_static=10.0, mu_dynamic=10.0),
    )  # fmt: skip
    hit = next(x for x in run.events() if x.kind == "impact")
    # Pure rotation about a corner before and after: kinetic energies are as spins squared.
    assert hit.kinetic_after / hit.kinetic_before == pytest.approx(0.7**2, rel=1e-9)
    assert rest_time(run) is not None  # after rocks without end, cut short


def test_a_sliding_sphere_comes_to_roll(sphere):
    mechanism, contacts = sphere
    v0, mu = 2.0, 0.3
    run = simulate(
        mechanism, jnp.zeros(3), jnp.array([v0, 0.0, 0.0]), until=1.0, contacts=contacts,
        law=Hybrid(mu_static=0.4, mu_dynamic=mu), solver=SOLVER,
    )  # fmt: skip
    (stick,) = [x for x in run.events() if x.kind == "stick"]
    assert stick.time == pytest.approx(2 * v0 / (7 * mu * G), abs=1e-9)
    assert run.v[-1, 0] == pytest.approx(5 / 7 * v0, abs=1e-9)
    assert float(run.v[-1, 2]) == pytest.approx(-float(run.v[-1, 0]) / 0.1, abs=1e-8)  # rolls


@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_an_oblique_impact_slips_or_sticks(sphere, mu):
    mechanism, contacts = sphere
    e, v_n, v_t = 0.6, 3.0, 2.0
    run = simulate(
        mechanism, jnp.array([0.0, 1e-3, 0.0]), jnp.array([v_t, -v_n, 0.0]), until=2e-3,
        contacts=contacts, solver=SOLVER,
        law=Hybrid(restitution=e, mu_static=mu, mu_dynamic=mu, stribeck_speed=1e-9),
    )  # fmt: skip
    (hit,) = run.events()
    v_n = -hit.velocity_before[-1]  # gravity has added a little
    sticks = mu * (1 + e) * v_n >= 2 / 7 * v_t
    expected = 5 / 7 * v_t if sticks else v_t - mu * (1 + e) * v_n
    assert sticks == (mu == 0.3)
    assert float(run.v[-1, 0]) == pytest.approx(expected, abs=1e-12)
    assert hit.velocity_after[-1] == pytest.approx(e * v_n, abs=1e-12)


@pytest.mark.parametrize(("degrees", "moves"), [(25.0, False), (35.0, True)])
def test_a_block_on_an_incline_stays_or_slides_as_it_should(degrees, moves):
    mechanism = stiction.load(planar_block(0.5, 0.2))
    contacts = on_slope(mechanism, degrees, ["left", "right"])
    a = np.deg2rad(degrees)
    mu_s, mu_d = 0.6, 0.5
    up = np.array([np.sin(a), np.cos(a)])  # the slope's normal in (x, z)
    place = up * 0.1 - np.array([0.0, 0.1])
    start = jnp.array([*place, -a])  # lies flat on the slope
    run = simulate(
        mechanism, start, jnp.zeros(3), until=10.0, contacts=contacts, solver=SOLVER,
        law=Hybrid(mu_static=mu_s, mu_dynamic=mu_d),
    )  # fmt: skip
    way = np.asarray(run.q[-1] - start)
    if moves:
        along = way[0] / np.cos(a)
        expected = G * (np.sin(a) - mu_d * np.cos(a)) * 10.0**2 / 2
        assert along == pytest.approx(expected, rel=1e-9)
    else:
        assert np.abs(way).max() <= 1e-12  # rounding: 1e-13
    assert run.drift < 1e-9
    assert np.asarray(run.force)[1:, :, -1].min() >= 0
    assert np.abs(run.ledger_error).max() < 1e-6


def test_a_block_that_rocks_to_rest_is_never_pulled():
    """The last impact, too slow to matter, throws its other corner off; what brings it back is its
    weight, and that is none of the ground's: impulses push, and the books of the event close."""
    w, h, tilt = 0.1, 0.4, 0.05  # slender: each impact at one corner lifts the other
    mechanism = stiction.load(planar_block(w, h))
    contacts = find_contacts(mechanism, points=["left", "right"])
    c, s = np.cos(tilt), np.sin(tilt)
    q = jnp.array([w / 2 * c - h / 2 * s, w / 2 * s + h / 2 * c - h / 2, tilt])
    run = simulate(
        mechanism, q, jnp.zeros(3), until=3.0, contacts=contacts, solver=SOLVER,
        law=Hybrid(restitution=0.0, mu_static=0.9, mu_dynamic=0.9),
    )  # fmt: skip
    assert rest_time(run) is not None
    hits = [x for x in run.events() if x.kind == "impact"]
    impulses = [x.impulse[-1] for x in hits]
    assert len(hits) > 20
    assert min(impulses) > -1e-12 * max(impulses)
    last, i = hits[-1], hits[-1].index
    assert 0 < last.removed < last.kinetic_before  # the other corner flies no more
    left = last.kinetic_before + np.asarray(run.log.work)[i].sum() - last.removed
    assert left == pytest.approx(last.kinetic_after, abs=1e-15)
    assert np.abs(run.log.velocity_after[i]).max() < 1e-12
