"""The stepping engine: closed forms, order, rest, hard problems, batches.

Steps are of first order across impacts and where sliding ends, so answers are right to about a
step's length; where nothing of that kind happens they are right to rounding.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import warp
from known_models import PLANAR_SPHERE, row_of_balls

import stiction
from stiction import Hybrid, Solver, Stepping, find_contacts, simulate
from stiction.surfaces import HeightField, planes, slope_rotation
from stiction.surfaces.contacts import BallBall
from stiction.surfaces.supports import SupportMotion

G = 9.81


def run(model, law, q=None, v=None, *, until=1.0, contacts=None, **options):
    mechanism, found = model
    q = mechanism.q_reference if q is None else jnp.asarray(q)
    v = jnp.zeros((*q.shape[:-1], mechanism.nv)) if v is None else jnp.asarray(v)
    options = {"samples": 11, "max_events": 60, **options}
    chosen = found if contacts is None else contacts
    return simulate(mechanism, q, v, until=until, contacts=chosen, law=law, **options)


def load(text):
    mechanism = stiction.load(text)
    return mechanism, find_contacts(mechanism)


@pytest.fixture(scope="module")
def sphere():
    return load(PLANAR_SPHERE)


@pytest.fixture(scope="module")
def box():
    return load("box")


@pytest.fixture(scope="module")
def pendulum():
    mechanism = stiction.load("double-pendulum")
    return mechanism, find_contacts(mechanism, points=["tip"])


def test_what_is_left_of_a_pyramid_is_held_against_its_own_law(box):
    """Between two of eight edges friction of a pyramid is not against the slip; yet it is solved.

    Held against a round cone, μ g h sin(angle) would be left, 1e-3 m/s.
    """
    v = np.zeros(6)
    v[:2] = 2 * np.cos(0.2), 2 * np.sin(0.2)
    law = Stepping(dt=1e-3, mu_static=0.5, mu_dynamic=0.5, solver="lcp")
    done = run(box, law, [0, 0, 0.05, 1.0, 0, 0, 0], v, until=0.1)
    assert done.residual.max() < 1e-9
    turned = np.arctan2(*np.asarray(done.v[-1, 1::-1]))
    assert abs(turned - 0.2) > 1e-3  # pyramids drive what slides towards an edge


TOP = """<mujoco><worldbody><geom type="plane" size="9 9 1"/><body><freejoint/>
<inertial pos="0 0 0" mass=".5" diaginertia="{}"/><geom type="sphere" size=".01" pos="0 0 -.09"/>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize("inertia", ["1e-4 1.5e-4 4e-4", "2e-4 2e-4 4e-4"])
def test_what_turns_by_a_third_of_a_radian_in_a_step_neither_spins_up_nor_down(inertia):
    """In flight: energy and angular momentum stay. With extrapolated gyroscopic forces the first
    goes to infinity within 0.5 s, the second gains 1e-3 of its energy.
    """
    mechanism, contacts = load(TOP.format(inertia))
    q = [0, 0, 3.0, 1, 0, 0, 0]
    done = run(
        (mechanism, contacts),
        Stepping(dt=1e-3),
        q,
        [0, 0, 0, 5.0, 0, 300.0],
        until=0.5,
        samples=501,
    )
    energy = np.asarray(done.kinetic + done.potential)
    assert np.ptp(energy[1:]) < 2e-5 * energy[0]
    w = np.asarray(done.v)[:, 3:]
    L = np.linalg.norm(w * np.array(inertia.split(), float), axis=1)
    assert np.ptp(L[1:]) < 2e-5 * L[0]


def test_a_top_of_300_rad_per_s_stands_and_gains_nothing():
    """It precesses about the vertical, on its tip that sticks; steps are of second order."""
    mechanism, contacts = load(TOP.format("4e-4 4e-4 2e-4"))
    lean = 0.1
    q = [0, 0, 0.01 + 0.09 * np.cos(lean), np.cos(lean / 2), np.sin(lean / 2), 0, 0]
    start = {"q": q, "v": [0, 0, 0, 0, 0, 300.0], "until": 0.2, "samples": 201}
    rub = {"mu_static": 0.5, "mu_dynamic": 0.5}
    exact = run((mechanism, contacts), Hybrid(**rub), **start)
    off = []
    for dt in (1e-3, 5e-4):
        done = run((mechanism, contacts), Stepping(dt=dt, **rub), **start)
        energy = np.asarray(done.kinetic + done.potential)
        assert np.all(energy <= energy[0] * (1 + 1e-9))
        off.append(np.abs(done.q - exact.q)[:, :3].max())
    assert off[0] < 2e-4
    assert off[1] < 0.6 * off[0]


def test_a_ball_bounces_when_it_should(sphere):
    """Dropped from 1 m with e = 0.9: impacts at t1 (1 + 2 e + 2 e² + …)."""
    law = Stepping(dt=1e-3, restitution=0.9)
    done = run(sphere, law, [0.0, 1.0, 0.0], until=2.5)
    hits = [e for e in done.events() if e.kind == "impact"]
    t1 = np.sqrt(2 / G)
    expected = t1 * (1 + 2 * np.cumsum([0.0, 0.9, 0.81]))
    # Impacts are placed inside their steps: their times are of second order.
    np.testing.assert_allclose([e.time for e in hits], expected, atol=1e-5)
    assert float(jnp.max(jnp.abs(done.ledger_error))) < 1e-3 * 2 * G
    assert float(done.drift) < 1e-12


def test_an_impact_tells_its_energies_and_what_was_removed(sphere):
    """Dropped from 1 m with e = 0.9, of which energy control leaves half: T⁺ = T⁻/2, and so on."""
    law = Stepping(dt=1e-3, restitution=0.9, energetic=0.5)
    done = run(sphere, law, [0.0, 1.0, 0.0], until=2.0)
    hits = [e for e in done.events() if e.kind == "impact"][:3]
    expected = 2 * G * 0.5 ** np.arange(3)
    # Energies are those of the middles of steps.
    np.testing.assert_allclose([e.kinetic_before for e in hits], expected, rtol=3e-2)
    np.testing.assert_allclose([e.kinetic_after / e.kinetic_before for e in hits], 0.5, rtol=1e-12)
    np.testing.assert_allclose([e.removed / e.kinetic_before for e in hits], 0.31, atol=1e-2)
    v = [(e.velocity_after[-1] / e.velocity_before[-1]) ** 2 for e in hits]
    np.testing.assert_allclose(v, 0.5, atol=1e-2)


def test_what_comes_to_rest_says_so(sphere):
    law = Stepping(dt=1e-3, restitution=0.3)
    done = run(sphere, law, [0.0, 0.2, 0.0], until=2.0)
    last = done.events()[-1]
    assert last.kind == "rest"
    # The flights of a dropped ball end at t1 (1 + e) / (1 - e); steps end them a little earlier.
    assert last.time == pytest.approx(np.sqrt(0.4 / G) * 1.3 / 0.7, abs=5e-3)


def test_a_sliding_sphere_comes_to_roll(sphere):
    """v = 5/7 v0 from t = 2 v0 / (7 μ g), at the place that Coulomb's law gives."""
    v0, mu = 2.0, 0.3
    law = Stepping(dt=1e-3, mu_static=mu, mu_dynamic=mu)
    done = run(sphere, law, v=[v0, 0.0, 0.0], until=0.5)
    t1 = 2 * v0 / (7 * mu * G)
    x = v0 * t1 - mu * G * t1**2 / 2 + 5 / 7 * v0 * (0.5 - t1)
    np.testing.assert_allclose(done.v[-1, 0], 5 / 7 * v0, rtol=1e-10)
    np.testing.assert_allclose(done.q[-1, 0], x, atol=mu * G * 1e-3**2 / 8)
    (stick,) = [e for e in done.events() if e.kind == "stick"]
    assert abs(stick.time - t1) <= 1e-3
    rubbed = 2 * (v0**2 - (5 / 7 * v0) ** 2 * 7 / 5) / 2
    np.testing.assert_allclose(done.friction_loss[-1], rubbed, rtol=1e-6)


def test_a_belt_on_a_lift_carries_a_sphere_away(sphere):
    """On a belt of speed w a sphere ends rolling at 2/7 w; on a lift it presses with m (g + a)."""
    w, mu, f, A = 1.4, 0.4, 2.0, 0.02
    swing, still = jnp.array([[0.0, 0.0, A]]), jnp.zeros((1, 3))
    motion = SupportMotion(still, swing, jnp.array([f]), jnp.zeros(1), jnp.array([[w, 0.0]]))
    ground = planes([np.zeros(3)], [np.eye(3)], ["floor"], motion)
    contacts = find_contacts(sphere[0], ground=ground)
    law = Stepping(dt=1e-3, mu_static=mu, mu_dynamic=mu)
    done = run(sphere, law, v=[0.0, 2 * np.pi * f * A, 0.0], contacts=contacts, until=0.9)
    np.testing.assert_allclose(done.v[-1, 0], 2 / 7 * w, rtol=1e-9)
    a = -A * (2 * np.pi * f) ** 2 * np.sin(2 * np.pi * f * np.asarray(done.time))
    # The first sample has half a step behind it; the others are of second order.
    np.testing.assert_allclose(done.force[1:, 0, -1], 2 * (G + a)[1:], rtol=1e-4)
    assert float(done.drift) < 1e-7
    # Both do work, and it is booked: what is left over is of second order.
    assert float(done.support_work[-1]) > 0.1
    np.testing.assert_allclose(done.ledger_error, 0, atol=2e-4)


def test_nothing_creeps_on_a_slope(box):
    """A box on 20 degrees with μ > tan 20° does not move at all."""
    tilt = slope_rotation(np.deg2rad(20))
    contacts = find_contacts(box[0], ground=planes([np.zeros(3)], [tilt], ["floor"]))
    half = np.deg2rad(20) / 2
    q = jnp.asarray([*(tilt @ [0, 0, 0.05]), np.cos(half), 0, np.sin(half), 0])
    done = run(
        box, Stepping(dt=2e-3, mu_static=0.5, mu_dynamic=0.5), q, contacts=contacts, until=2.0
    )
    np.testing.assert_allclose(done.q[-1], q, atol=1e-11)
    weight = 0.2 * 0.15 * 0.1 * 400 * G
    # Forces are computed to a share of 1e-8.
    total = np.asarray(done.force[-1]).sum(axis=0)
    np.testing.assert_allclose(total, [-weight * np.sin(2 * half), 0, weight * np.cos(2 * half)],
                               atol=1e-6)  # fmt: skip


def test_a_box_rests_for_a_minute(box):
    """60 s on eight corners, four of them redundant: no drift, no creep."""
    q = jnp.asarray([0, 0, 0.05, 1, 0, 0, 0.0])
    done = run(box, Stepping(dt=5e-3, mu_static=0.5, mu_dynamic=0.5), q, until=60.0)
    np.testing.assert_allclose(done.q, np.tile(q, (11, 1)), atol=1e-9)
    assert float(done.drift) < 1e-9


@pytest.fixture(scope="module")
def swinging(pendulum):
    """Double pendulums that hit the floor and slide: the hybrid engine's end, and that of steps."""
    rng = np.random.default_rng(2)
    q = jnp.asarray(np.stack([rng.uniform(-0.1, 0.2, 6), rng.uniform(0.1, 0.5, 6)], axis=1))
    options = {"until": 0.9, "samples": 2, "keep_events": False}
    exact = run(
        pendulum, Hybrid(mu_static=0.4, mu_dynamic=0.4, restitution=0.3), q,
        solver=Solver(1e-10, 1e-11), **options,
    )  # fmt: skip
    dts = 1e-3 / 2.0 ** np.arange(5)
    ends = [
        run(pendulum, Stepping(dt=dt, mu_static=0.4, mu_dynamic=0.4, restitution=0.3), q, **options)
        for dt in dts
    ]
    return exact, dts, ends


def test_steps_converge_to_the_hybrid_engine(swinging):
    """At first order: the slope of log error over log dt, errors averaged over starts."""
    exact, dts, ends = swinging
    assert int(jnp.min(exact.n_events)) >= 1
    errors = [float(jnp.mean(jnp.linalg.norm(e.q[:, -1] - exact.q[:, -1], axis=1))) for e in ends]
    order = np.polyfit(np.log(dts), np.log(errors), 1)[0]
    assert 0.8 < order < 2.2
    assert errors[-1] < 2e-3


def test_energy_closes_as_steps_shrink(swinging):
    _, dts, ends = swinging
    errors = [float(jnp.mean(jnp.abs(e.ledger_error[:, -1]))) for e in ends]
    assert np.polyfit(np.log(dts), np.log(errors), 1)[0] > 0.7
    assert errors[-1] < 1e-2


def test_nothing_compiles_again_for_other_numbers(sphere, box, monkeypatch):
    """Nor for another mechanism, another duration or another number of samples."""
    one = run(sphere, Stepping(dt=1e-3, restitution=0.2), until=0.1)

    def build(*args, **kwargs):
        raise AssertionError("a kernel is built")

    monkeypatch.setattr(warp._src.build, "build_cpu", build)
    other = Stepping(dt=7e-4, restitution=0.5, mu_static=0.9, mu_dynamic=0.1)
    changed = eqx.tree_at(lambda m: m.bodies.mass, sphere[0], 2 * sphere[0].bodies.mass)
    two = run((changed, sphere[1]), other, [0.0, 0.3, 0.0], until=0.35)
    assert int(two.steps) > int(one.steps)
    assert run(box, other, until=0.01, samples=3).success


def test_a_lane_of_a_batch_is_the_same_as_alone(sphere):
    """States, restitution, friction and durations, in one call."""
    q = jnp.array([[0.0, 0.1, 0.0], [0.0, 0.2, 0.0], [0.0, 0.3, 0.0]])
    v = jnp.broadcast_to(jnp.array([1.0, 0.0, 0.0]), q.shape)
    e, mu = jnp.array([0.0, 0.5, 0.9]), jnp.array([0.1, 0.3, 0.0])
    until = jnp.array([0.5, 0.5, 0.5])
    law = Stepping(restitution=e, mu_static=mu, mu_dynamic=mu)
    together = run(sphere, law, q, v, until=until)
    for i in range(3):
        one = Stepping(restitution=e[i], mu_static=mu[i], mu_dynamic=mu[i])
        alone = run(sphere, one, q[i], v[i], until=until[i])
        np.testing.assert_allclose(together.q[i], alone.q, atol=1e-12)
        assert int(together.n_events[i]) == int(alone.n_events) > 0


def test_single_precision(sphere):
    """The same motion to single precision's digits."""

    def single(tree):
        real = jnp.floating
        return jax.tree.map(
            lambda x: x.astype(jnp.float32) if jnp.issubdtype(x.dtype, real) else x, tree
        )

    law = Stepping(restitution=0.5, mu_static=0.3, mu_dynamic=0.3)
    double = run(sphere, law, [0.0, 0.2, 0.0], [1.0, 0.0, 0.0])
    q, v = (jnp.asarray(x, jnp.float32) for x in ([0.0, 0.2, 0.0], [1.0, 0.0, 0.0]))
    other = run(single(sphere), law, q, v)
    assert other.q.dtype == jnp.float32
    np.testing.assert_allclose(other.q, double.q, atol=2e-4)
    assert float(other.residual[-1]) < 1e-5


def test_solvers_agree(sphere):
    """The cone, and in the plane the pyramid, which is its cone."""
    ends = []
    for solver in ("newton", "lcp"):
        law = Stepping(restitution=0.5, mu_static=0.2, mu_dynamic=0.2, solver=solver)
        ends.append(run(sphere, law, [0.0, 0.2, 0.0], [1.5, 0.0, 3.0]))
        assert float(jnp.max(ends[-1].residual)) < 1e-8
    np.testing.assert_allclose(ends[1].q, ends[0].q, atol=1e-8)


def test_three_balls_in_a_row():
    """At once, e = 1: (-1/3, 2/3, 2/3), here by Poisson's law; Newton's gives the same."""
    model = load(row_of_balls([1.0, 1.0, 1.0], [0.3, 0.0, 0.0]))
    near = [n in ("b0-b1", "b1-b2") for n in model[1].names]
    contacts = some_pairs(model[1], np.flatnonzero(near))
    law = Stepping(restitution=1.0, restitution_law="poisson")
    done = run(model, law, v=[1.0, 0.0, 0.0], contacts=contacts, until=0.1)
    np.testing.assert_allclose(done.v[-1], [-1 / 3, 2 / 3, 2 / 3], atol=1e-9)


def some_pairs(contacts, which):
    """Only some of the pairs of balls."""
    group = contacts.ball_ball
    some = BallBall(group.center[which], group.radius[which], tuple(group.bodies[i] for i in which))
    first = len(contacts.names) - len(group.bodies)
    names = contacts.names[:first] + tuple(contacts.names[first + i] for i in which)
    return dataclasses.replace(contacts, ball_ball=some, names=names)


@pytest.mark.slow
def test_a_tower_of_a_hundred_contacts():
    """100 balls on each other, one of them 10,000 times as heavy: finite, held, weight carried."""
    n, r = 100, 0.05
    masses = np.ones(n)
    masses[-1] = 1e4
    bodies = "".join(
        f"""<body name="b{i}" pos="0 0 {(2 * i + 1) * r!r}"><joint type="slide" axis="0 0 1"/>
        <geom name="b{i}" type="sphere" size="{r}" mass="{float(m)!r}"/></body>"""
        for i, m in enumerate(masses)
    )
    text = f"""<mujoco><option gravity="0 0 -9.81"/><worldbody>
      <geom name="floor" type="plane" size="1 1 .1"/>{bodies}</worldbody></mujoco>"""
    mechanism = stiction.load(text)
    whole = find_contacts(mechanism)
    pairs = whole.ball_ball.bodies
    neighbours = [k for k, (a, b) in enumerate(pairs) if abs(a - b) == 1]
    contacts = some_pairs(whole, np.array(neighbours))
    rp = whole.round_plane
    bottom = type(rp)(
        rp.center[:1], rp.rotation[:1], rp.semi_axes[:1], rp.bodies[:1], rp.planes[:1]
    )
    names = (contacts.names[0], *contacts.names[n:])
    one = dataclasses.replace(contacts, round_plane=bottom, names=names)
    assert one.count == n
    done = run((mechanism, one), Stepping(), until=0.006, samples=3, keep_events=False)
    assert bool(jnp.all(jnp.isfinite(done.q)))
    carried = np.cumsum(masses[::-1])[::-1] * G
    np.testing.assert_allclose(np.asarray(done.force[-1, :, -1]), carried, rtol=1e-6)
    np.testing.assert_allclose(done.q[-1], done.q[0], atol=1e-9)
    assert float(jnp.max(done.residual)) < 1e-8


@pytest.mark.parametrize("mu", [0.0, 5.0])
def test_extreme_friction(box, mu):
    """Thrown flat at 2 m/s: without friction it glides on for ever, with μ = 5 it tumbles."""
    q = jnp.asarray([0, 0, 0.05, 1, 0, 0, 0.0])
    law = Stepping(dt=2e-3, mu_static=mu, mu_dynamic=mu)
    done = run(box, law, q, [2.0, 0, 0, 0, 0, 0], until=1.0)
    assert bool(jnp.all(jnp.isfinite(done.q)))
    assert float(jnp.max(done.residual)) < 1e-7
    energy = np.asarray(done.kinetic + done.potential)
    assert np.all(np.diff(energy) < 1e-3)
    if mu == 0:
        np.testing.assert_allclose(done.q[-1, :3], [2.0, 0, 0.05], atol=1e-9)
        np.testing.assert_allclose(done.friction_loss, 0, atol=1e-12)
    else:
        assert float(jnp.max(done.q[:, 2])) > 0.06  # it rose on its front edge


@pytest.mark.slow
def test_a_sphere_settles_in_a_hollow():
    """On a height field, with friction, to rest at the bottom; never deeper than steps allow."""
    x = np.linspace(-1, 1, 21)
    heights = 0.4 * (x[:, None] ** 2 + x[None, :] ** 2)
    ground = HeightField(jnp.zeros(3), jnp.array([0.1, 0.1]), jnp.asarray(heights), "bowl")
    mechanism = stiction.load("sphere")
    bare = planes([], [], [])
    contacts = find_contacts(mechanism, ground=bare, field=ground)
    start = jnp.array([0.3, 0.1, 0.25, 1, 0, 0, 0.0])
    law = Stepping(dt=2e-3, restitution=0.3)
    done = run((mechanism, contacts), law, start, keep_events=False)
    energy = np.asarray(done.kinetic + done.potential + done.friction_loss + done.impact_loss)
    np.testing.assert_allclose(energy, energy[0], rtol=5e-3)
    assert float(done.drift) < 1e-4
    assert np.all(np.abs(done.q[:, :2]) < 0.4)
