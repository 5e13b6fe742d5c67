"""Compliant contact through the engine: exact impacts, rolling, slopes, rest, stiff ground."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known_models import planar_block, row_of_balls
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import stiction
from stiction import Compliant, Solver, find_contacts, simulate
from stiction.engines import RESULTS
from stiction.engines.forces import OPEN, SLIP, STICK
from stiction.laws import (
    AsymmetricHuntCrossley,
    Bristle,
    HuntCrossley,
    LinearSpringDamper,
    RegularizedCoulomb,
    Stribeck,
    impact,
)
from stiction.surfaces import SupportMotion, planes, slope_rotation

G = 9.81

# A weight of 1e-300 m/s² is none; being no zero, it leaves the program that of a ball with weight.
BALL = """
<mujoco><option gravity="0 0 -1e-300"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <body name="ball" pos="0 0 0.05"><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="ball" type="sphere" size="0.05" mass="2"/></body>
</worldbody></mujoco>
"""
OPTIONS = {
    "samples": 81,
    "max_events": 40,
    "throw": False,
    "solver": Solver(1e-10, 1e-11, max_steps=4000),
}


@pytest.fixture(scope="module")
def ball():
    mechanism = stiction.load(BALL)
    return mechanism, find_contacts(mechanism)


def heavier(mechanism, mass):
    return eqx.tree_at(lambda m: m.bodies.mass, mechanism, jnp.array([0.0, mass]))


def thrown(ball, law, speed, until, **options):
    """A ball 1 mm above the floor, on its way down."""
    mechanism, contacts = ball
    speed = jnp.asarray(speed)
    q, v = jnp.full((*speed.shape, 1), 1e-3), -speed[..., None]
    return simulate(mechanism, q, v, until=until, contacts=contacts, law=law, **OPTIONS | options)


@pytest.fixture(scope="module")
def lanes(ball):
    """Impacts of many exponents, stiffnesses, dampings and speeds in one batch."""
    n = jnp.array([1.0, 1.5, 2.0, 1.0, 1.5, 1.0])
    k = jnp.array([1e4, 1e5, 1e6, 1e6, 1e8, 3e3])
    alpha = jnp.array([0.4, 0.2, 0.5, 0.04, 0.5, 10.0])
    speed = jnp.array([1.0, 5.0, 1.0, 5.0, 0.3, 1.0])
    at = dict(speed=speed, dissipation=1.5 * alpha, mass=2.0, stiffness=k, exponent=n)

    def lasting(speed, dissipation, stiffness, exponent):
        return impact.contact_duration(
            speed=speed,
            dissipation=dissipation,
            mass=2.0,
            stiffness=stiffness,
            exponent=exponent,
        )

    lasts = jax.vmap(lasting)(speed, 1.5 * alpha, k, n)
    until = 1e-3 / speed + 1.2 * lasts
    law = Compliant(HuntCrossley.from_alpha(stiffness=k, alpha=alpha, exponent=n))
    return at, lasts, until, law, thrown(ball, law, speed, until)


def test_rebound_is_the_exact_relations_for_every_exponent(lanes):
    at, lasts, _, _, run = lanes
    exact = jax.vmap(impact.rebound_speed)(at["speed"], at["dissipation"])
    assert_allclose(run.v[:, -1, 0], exact, rtol=1e-8)
    # The instants of touch and parting are found, not stepped over.
    times = run.log.time[:, :2]
    assert_allclose(times[:, 0], 1e-3 / at["speed"], rtol=1e-12)
    assert_allclose(times[:, 1] - times[:, 0], lasts, rtol=1e-8)
    assert_array_equal(run.n_events, 2)


@pytest.mark.parametrize("mass", [0.1, 100.0])
def test_rebound_does_not_depend_on_mass(ball, lanes, mass):
    at, _, until, law, run = lanes
    scaled = (heavier(ball[0], mass), ball[1])
    other = thrown(scaled, law, at["speed"], until * max(1.0, np.sqrt(mass / 2.0)) * 1.5)
    assert_allclose(other.v[:, -1], run.v[:, -1], rtol=1e-8)


def test_force_is_continuous_and_never_pulls(lanes):
    *_, run = lanes
    force, depth = np.asarray(run.force[..., 0, 1]), np.asarray(run.compliance.depth[..., 0])
    assert force.min() >= 0
    # It begins and ends with the depth: where one is small so is the other.
    shallow = depth < 0.01 * depth.max(axis=1, keepdims=True)
    assert (np.where(shallow, force, 0.0) < 0.05 * force.max(axis=1, keepdims=True)).all()
    assert_array_equal(np.asarray(run.modes[..., 0] == OPEN), depth <= 0)


def test_ledger_closes_and_loss_is_the_loop_area(lanes):
    at, *_, run = lanes
    kinetic = np.asarray(run.kinetic[:, 0])
    assert (np.abs(run.ledger_error).max(axis=1) < 1e-8 * kinetic).all()
    exact = jax.vmap(impact.energy_lost)(at["speed"], at["dissipation"], jnp.full(6, 2.0))
    assert_allclose(run.compliance.normal_loss[:, -1, 0], exact, rtol=1e-8)
    assert_allclose(run.impact_loss[:, -1], exact, rtol=1e-8)
    # While pressed, energy is stored: the law's own, at the depth that is shown.
    x, k, n = run.compliance.depth[..., 0], at["stiffness"], at["exponent"]
    stored = np.asarray(k)[:, None] * np.maximum(x, 0.0) ** (n[:, None] + 1) / (n[:, None] + 1)
    assert_allclose(run.compliance.stored[..., 0], stored, rtol=1e-12, atol=1e-14)


def test_a_lane_of_a_batch_is_the_same_as_alone(ball, lanes):
    at, _, until, _, together = lanes
    for i in (1, 5):
        one = HuntCrossley(
            stiffness=at["stiffness"][i],
            dissipation=at["dissipation"][i],
            exponent=at["exponent"][i],
        )
        alone = thrown(ball, Compliant(one), at["speed"][i], until[i])
        lane = jax.tree.map(lambda x, i=i: x[i], together)
        assert_allclose(lane.q, alone.q, atol=1e-12)
        assert_allclose(lane.force, alone.force, rtol=1e-7, atol=1e-6)
        assert_array_equal(lane.modes, alone.modes)
        kinds = [e.kind for e in alone.events()]
        assert kinds == ["touch", "lift-off"]


@pytest.mark.slow
def test_derivatives_of_the_rebound_are_those_of_the_exact_relation(ball):
    """By speed and damping; by stiffness and exponent there are none; and by differences.

    For 1 < n < 2 the force's slope is not smooth at touch: its derivatives by the numbers are then
    less exact than the motion, whose error alone the steps keep small.
    """

    @jax.jit
    @lambda f: jax.jacfwd(f, argnums=0, has_aux=True)
    def derivatives_and_value(x, n):
        law = HuntCrossley(stiffness=1e4 * (1 + x[1]), dissipation=0.6 + x[2], exponent=n + x[3])
        run = thrown(ball, Compliant(law), 1.0 + x[0], 0.5, samples=2, keep_events=False)
        return run.v[-1, 0], run.v[-1, 0]

    by_speed, by_damping = jax.grad(impact.rebound_speed, (0, 1))(1.0, 0.6)
    for n, atol in ((1.0, 1e-5), (1.5, 1e-4), (2.0, 1e-5)):
        by_engine, _ = derivatives_and_value(jnp.zeros(4), n)
        assert_allclose(by_engine, [by_speed, 0.0, by_damping, 0.0], atol=atol)
    h = 1e-3
    values = [[derivatives_and_value(s * h * e, 2.0)[1] for s in (1, -1)] for e in jnp.eye(4)]
    assert_allclose(by_engine, np.diff(values)[:, 0] / (-2 * h), atol=1e-5)


def test_derivatives_do_not_stop_where_a_linear_contact_parts(ball):
    """The slope of the force jumps there; stages of the last step in contact lie on either side."""
    mechanism, contacts = ball
    heavy = eqx.tree_at(lambda m: m.gravity, mechanism, jnp.array([0.0, 0.0, -9.81]))

    @jax.jit
    def end(k):
        law = Compliant(HuntCrossley(stiffness=k, dissipation=0.3))
        run = thrown((heavy, contacts), law, 1.0, 0.05, samples=2, keep_events=False)
        return jnp.stack([run.q[-1, 0], run.v[-1, 0]])

    k, h = jnp.asarray(2e4), 10.0
    _, along = jax.jvp(end, (k,), (jnp.ones_like(k),))
    assert_allclose(along, (end(k + h) - end(k - h)) / (2 * h), rtol=1e-5)


def test_stiff_damped_contact_is_finished_by_implicit_steps(ball):
    """k = 1e8 N/m, α = 1e5 s/m: explicit steps would be some 1e-6 s long for ten seconds."""
    mechanism = eqx.tree_at(lambda m: m.gravity, ball[0], jnp.array([0.0, 0.0, -G]))
    law = Compliant(HuntCrossley.from_alpha(stiffness=1e8, alpha=1e5))
    run = thrown((mechanism, ball[1]), law, 0.5, 10.0)
    assert run.result == RESULTS.successful
    assert int(run.steps) < 1000
    assert_allclose(run.compliance.depth[-1, 0], 2 * G / 1e8, rtol=1e-8)
    assert_allclose(run.force[-1, 0, 1], 2 * G, rtol=1e-8)
    assert np.abs(run.ledger_error).max() < 1e-8 * float(run.energy[0])


def test_a_ball_on_a_belt_comes_to_roll(ball):
    """Whatever the law of friction, 5/7 of the first slip is left, and 2/7 of its energy is lost.

    The angular momentum about the point of contact does not change. Seen from the belt the ball
    comes at -1 m/s; the ground's work is booked.
    """
    del ball
    mechanism = stiction.load("""
      <mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
      <geom name="floor" type="plane" size="1 1 .1"/>
      <body name="ball" pos="0 0 0.1">
        <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
        <joint name="spin" axis="0 -1 0"/>
        <geom name="ball" type="sphere" size="0.1" mass="2"/></body></worldbody></mujoco>""")
    zero = np.zeros((1, 3))
    belt = SupportMotion(*map(jnp.asarray, (zero, zero, zero[:, 0], zero[:, 0], [[1.5, 0.0]])))
    ground = planes([np.zeros(3)], [np.eye(3)], ["belt"], belt)
    contacts = find_contacts(mechanism, ground=ground)
    k = 2e4
    law = Compliant(
        HuntCrossley.from_alpha(stiffness=k, alpha=0.5),
        Bristle(mu_static=0.3, stiffness=1e4, damping=100.0),
    )
    q = jnp.array([0.0, -2 * G / k, 0.0])  # at its static depth
    run = simulate(mechanism, q, jnp.zeros(3), until=1.0, contacts=contacts, law=law, **OPTIONS)
    assert run.result == RESULTS.successful
    assert_allclose(run.v[-1, 0], 1.5 * 2 / 7, rtol=1e-9)
    assert_allclose(run.v[-1, 1], 0.0, atol=1e-9)
    lost = 0.5 * 2 * 1.5**2 * 2 / 7
    assert_allclose(run.friction_loss[-1], lost, rtol=1e-8)
    assert_allclose(run.compliance.friction_loss[-1, 0], lost, rtol=1e-8)
    assert_allclose(run.support_work[-1], run.kinetic[-1] + lost, rtol=1e-8)
    assert np.abs(run.ledger_error).max() < 1e-8 * lost
    # Dynamic friction until it rolls, then none.
    assert [e.kind for e in run.events()] == ["stick"]
    assert int(run.modes[0, 0]) == SLIP
    assert int(run.modes[-1, 0]) == STICK
    assert_allclose(run.force[10, 0], [0.3 * 2 * G, 2 * G], rtol=1e-6)
    assert_allclose(run.force[-1, 0, 0], 0.0, atol=1e-8)


@pytest.fixture(scope="module")
def slope():
    """A block without turning on a slope of any angle, from rest at its static depth."""
    mechanism = stiction.load("""
      <mujoco><option gravity="0 0 -9.81"/><worldbody><body name="block">
        <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
        <geom type="box" size=".1 .1 .05" mass="2" contype="0" conaffinity="0"/>
        <site name="sole"/></body></worldbody></mujoco>""")

    usual = Bristle(mu_static=0.5, stiffness=1e5, damping=900.0)

    def run(angle, until, tangential=usual, **options):
        ground = planes([np.zeros(3)], [slope_rotation(angle)], ["slope"])
        contacts = find_contacts(mechanism, points=["sole"], ground=ground)
        law = Compliant(HuntCrossley.from_alpha(stiffness=1e5, alpha=0.5), tangential)
        depth = 2 * G * np.cos(angle) / 1e5
        q = -depth * jnp.array([np.sin(angle), np.cos(angle)])
        done = simulate(
            mechanism, q, jnp.zeros(2), until=until, contacts=contacts, law=law,
            **OPTIONS | options,
        )  # fmt: skip
        along = np.array([np.cos(angle), -np.sin(angle)])
        return done, np.asarray(done.q) @ along, np.asarray(done.v) @ along

    return run


def test_below_the_cone_a_block_does_not_creep(slope):
    """Ten seconds, after one in which the bristle takes up the load."""
    angle = 0.8 * np.arctan(0.5)
    run, x, v = slope(angle, 11.0)
    settled = np.asarray(run.time) >= 1.0
    assert np.ptp(x[settled]) <= 1e-12
    assert np.abs(v[-1]) <= 1e-12
    assert_allclose(x[-1], 2 * G * np.sin(angle) / 1e5, rtol=1e-8)
    assert_allclose(run.force[-1, 0], 2 * G * np.array([-np.sin(angle), np.cos(angle)]), rtol=1e-8)


def test_above_the_cone_a_block_slides_as_coulomb_says(slope):
    angle = 1.3 * np.arctan(0.5)
    run, _, v = slope(angle, 2.0)
    time = np.asarray(run.time)
    acceleration = (v[-1] - v[40]) / (time[-1] - time[40])
    assert_allclose(acceleration, G * (np.sin(angle) - 0.5 * np.cos(angle)), rtol=1e-8)
    assert int(run.modes[-1, 0]) == SLIP
    assert np.abs(run.ledger_error).max() < 1e-8 * float(run.kinetic[-1])


def test_a_block_let_fall_on_two_corners_rests_at_the_static_depth():
    """Dropped askew; forces of the corners are their springs', one for each."""
    mechanism = stiction.load(planar_block(0.4, 0.2, mass=3.0))
    contacts = find_contacts(mechanism, points=["left", "right"])
    k = jnp.array([2e4, 4e4])
    law = Compliant(
        HuntCrossley.from_alpha(stiffness=k, alpha=2.0),
        Bristle(mu_static=0.6, stiffness=2e4, damping=200.0),
    )
    q = jnp.array([0.0, 0.05, 0.1])
    run = simulate(
        mechanism, q, jnp.array([0.3, 0.0, 0.0]), until=4.0, contacts=contacts, law=law,
        **OPTIONS | {"max_events": 200},
    )  # fmt: skip
    assert run.result == RESULTS.successful
    assert stiction.engines.rest_time(run.to_numpy()) < 4.0
    assert_allclose(run.force[-1, :, 1].sum(), 3 * G, rtol=1e-9)
    # Its middle is over the middle of the corners, but for the tilt of unequal springs.
    assert_allclose(run.compliance.depth[-1], np.array(run.force[-1, :, 1]) / k, rtol=1e-9)
    assert_allclose(run.force[-1, :, 1], 1.5 * G, rtol=2e-3)
    assert_allclose(run.force[-1, :, 0].sum(), 0.0, atol=1e-8)
    assert np.abs(run.ledger_error).max() < 1e-8 * float(run.energy[0])
    assert_array_equal(np.asarray(run.force[..., 1]) >= 0, True)
    # Losses of the contacts are the whole.
    assert_allclose(run.compliance.friction_loss.sum(-1), run.friction_loss, atol=1e-9)
    assert_allclose(run.compliance.normal_loss.sum(-1), run.impact_loss, atol=1e-9)


def test_two_balls_part_as_their_reduced_mass_would():
    """Momentum is kept; on a spring and damper, whose force jumps at touch, the relative speed is
    that of (HC.16) of docs/compliant.md.
    """
    mechanism = stiction.load(row_of_balls([2.0, 3.0], [0.0, 0.1]))
    contacts = find_contacts(mechanism)
    k, b, reduced = 1e4, 50.0, 2.0 * 3.0 / 5.0
    run = simulate(
        mechanism, jnp.zeros(2), jnp.array([1.2, -0.3]), until=0.2, contacts=contacts,
        law=Compliant(LinearSpringDamper(stiffness=k, damping=b)), **OPTIONS,
    )  # fmt: skip
    v = np.asarray(run.v[-1])
    assert_allclose(v @ [2.0, 3.0], 1.5, rtol=1e-10)
    e = impact.spring_damper_restitution(impact.damping_ratio(stiffness=k, damping=b, mass=reduced))
    assert_allclose(v[1] - v[0], 1.5 * e, rtol=1e-8)
    assert np.asarray(run.force)[..., -1].min() >= 0


@pytest.mark.parametrize("offset", [0.0, 1.7e-17, -1.7e-17])
def test_ten_touching_balls_struck_by_one_of_them(offset):
    """What touches exactly, without load, neither opens nor closes by turns.

    Against scipy's integration of the chain of springs that only push.
    """
    mechanism = stiction.load(row_of_balls([1.0] * 10, [0.0] * 10))
    contacts = find_contacts(mechanism)
    k = 1e6
    q = jnp.array([-1e-3] + [offset * i for i in range(1, 10)])
    v = jnp.array([1.0] + [0.0] * 9)
    run = simulate(
        mechanism, q, v, until=0.03, contacts=contacts,
        law=Compliant(HuntCrossley(stiffness=k, dissipation=0.0)), **OPTIONS,
    )  # fmt: skip
    assert run.result == RESULTS.successful

    def rate(_, y):
        force = k * np.maximum(y[:9] - y[1:10], 0.0)
        return np.concatenate([y[10:], np.append(-force, 0.0) + np.append(0.0, force)])

    y0 = np.concatenate([q, v])
    exact = solve_ivp(rate, (0, 0.03), y0, method="DOP853", rtol=1e-10, atol=1e-13, max_step=5e-5)
    assert_allclose(run.v[-1], exact.y[10:, -1], atol=1e-7)
    assert_allclose(0.5 * (run.v[-1] ** 2).sum(), 0.5, rtol=1e-9)
    kinds = [e.kind for e in run.events()]
    assert kinds == ["touch"] + ["lift-off"] * 9


@pytest.mark.parametrize("method", ["auto", "kvaerno5"])
@pytest.mark.parametrize("stiffness", [1e5, 1e6])
@pytest.mark.parametrize("pressed", [False, True])
def test_a_box_on_an_incline_comes_to_stick(method, stiffness, pressed):
    """Four corners, touching exactly or at the static depth; then gravity alone is carried."""
    mechanism = stiction.load("""
      <mujoco><option gravity="0 0 -9.81"/><worldbody><body name="box"><freejoint/>
        <geom type="box" size=".1 .1 .05" mass="2" contype="0" conaffinity="0"/>
        <site name="a" pos=".1 .1 -.05"/><site name="b" pos=".1 -.1 -.05"/>
        <site name="c" pos="-.1 .1 -.05"/><site name="d" pos="-.1 -.1 -.05"/>
      </body></worldbody></mujoco>""")
    angle = np.radians(15)
    turn = np.asarray(slope_rotation(angle))
    ground = planes([np.zeros(3)], [turn], ["slope"])
    contacts = find_contacts(mechanism, points=list("abcd"), ground=ground)
    law = Compliant(
        HuntCrossley.from_alpha(stiffness=stiffness, alpha=50.0),
        Bristle(mu_static=0.5, stiffness=stiffness, damping=1e-3 * stiffness),
    )
    height = 0.05 - (2 * G * np.cos(angle) / (4 * stiffness) if pressed else 0.0)
    q = np.concatenate([height * turn[:, 2], Rotation.from_matrix(turn).as_quat(scalar_first=True)])
    run = simulate(
        mechanism, jnp.asarray(q), jnp.zeros(6), until=2.0, contacts=contacts, law=law,
        **OPTIONS | {"solver": Solver(1e-10, 1e-11, method, max_steps=600)},
    )  # fmt: skip
    assert run.result == RESULTS.successful
    assert int(run.n_events) <= 12
    assert_array_equal(run.modes[-1], STICK)
    total = np.asarray(run.force[-1]).sum(axis=0)
    assert_allclose(total, 2 * G * np.array([-np.sin(angle), 0.0, np.cos(angle)]), atol=1e-7)
    assert np.abs(run.v[-1]).max() < 1e-10
    assert np.abs(run.ledger_error).max() < 1e-9


@pytest.mark.parametrize("method", ["auto", "tsit5", "dopri5", "dopri8", "kvaerno5"])
def test_every_method_finds_the_rebound(ball, method):
    law = AsymmetricHuntCrossley(
        stiffness=1e5, compression_dissipation=0.6, restitution_dissipation=0.2, exponent=1.5
    )
    solver = Solver(1e-10, 1e-11, method, max_steps=4000)
    run = thrown(ball, Compliant(law), 1.0, 0.05, solver=solver)
    assert_allclose(run.v[-1, 0], impact.asymmetric_rebound_speed(1.0, 0.6, 0.2), rtol=1e-8)


@pytest.mark.parametrize("method", ["auto", "kvaerno5"])
@pytest.mark.parametrize(
    "friction",
    [
        RegularizedCoulomb(mu=0.5, slip_speed=1e-5),
        Stribeck(mu_static=0.5, mu_dynamic=0.4, slip_speed=1e-5, stribeck_speed=1e-4),
    ],
    ids=["coulomb", "stribeck"],
)
def test_a_body_on_viscous_friction_creeps_as_fast_as_its_law_says(slope, method, friction):
    """Near rest the law is a damper of 1e6 N·s/m: explicit steps would have to follow its rate of
    5e5 1/s for two seconds.
    """
    angle = 0.6 * np.arctan(0.5)
    run, _, v = slope(
        angle, 2.0, tangential=friction, solver=Solver(1e-10, 1e-11, method, max_steps=2000)
    )
    assert run.result == RESULTS.successful
    carried = -friction.force(None, jnp.asarray(v[-1:]), 2 * G * np.cos(angle))
    assert_allclose(carried, 2 * G * np.sin(angle), rtol=1e-7)
    assert 0 < v[-1] < 2e-5


def test_laws_say_which_member_of_the_family_they_are():
    """What `power_law` and `friction_law` say is the law itself."""
    law = AsymmetricHuntCrossley(
        stiffness=2e4, compression_dissipation=0.6, restitution_dissipation=0.2, exponent=1.5
    )
    for one in (law, LinearSpringDamper(stiffness=2e4, damping=30.0)):
        p = one.power_law()
        for x, rate in ((1e-3, 0.4), (2e-3, -0.3)):
            d = p.closing if rate > 0 else p.parting
            force = p.stiffness * x**p.exponent * (1 + d * rate) + p.damping * rate
            assert_allclose(one.force(x, rate), force, rtol=1e-14)
