"""A recorded stride on planned footsteps, followed forward in time (rodic, Figures 8 and 11)."""

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from scipy.optimize import minimize, nnls

import stiction
from stiction._base.errors import InputError
from stiction.biped import (
    FootLoads,
    ground_reactions,
    human,
    joint_loads,
    read_motion,
    read_plates,
    stairs_to_climb,
    subject_of_mechanism,
    walk_to_follow,
    with_soles,
)
from stiction.biped.subject.coordinates import coordinates_of
from stiction.biped.walk.footsteps import flat_if_small, plan_walk
from stiction.biped.walk.stride import recorded_stride
from stiction.control.balance import nearest_in_hull
from stiction.control.ground import push_of
from stiction.mechanism import center_of_mass, load_mechanism, momentum, total_mass
from stiction.scenes import scene
from stiction.tables import Table, read_table

HERE = Path(stiction.__file__).parent
RECORDING = HERE / "reproduce" / "walk"
HEIGHT, MASS = 1.80, 72.6  # of the man in the recording
PERIOD = 1.2205  # of a stride [s]
LIBRARY = HERE / "scenes" / "library"
CLIMB = {"step": 0.42, "rise": 0.12}  # [m]


@pytest.fixture(scope="module")
def walk():
    return walk_to_follow(RECORDING / "motion.mot", height=HEIGHT, mass=MASS)


@pytest.fixture(scope="module")
def climb():
    return walk_to_follow(RECORDING / "motion.mot", height=HEIGHT, mass=MASS, **CLIMB)


def test_scenes_follow_what_is_made_of_the_recording(walk, climb):
    for name, made in (("human-walk", walk), ("human-stairs", climb)):
        shipped = read_table(LIBRARY / f"{name}.csv").by_time()
        assert shipped.names == made.names
        np.testing.assert_allclose(shipped.values, made.values, atol=2e-5)  # rounded


def test_stairs_are_flat_under_the_feet_and_as_high_as_they_should(climb):
    ground, fields = stairs_to_climb(**CLIMB, height=HEIGHT), scene("human-stairs").scenario.ground
    np.testing.assert_array_equal(
        np.loadtxt(LIBRARY / "human-stairs-ground.csv", delimiter=","), ground["heights"]
    )
    np.testing.assert_allclose(fields.field.position, ground["position"], atol=1e-12)
    way = scene("human-stairs").control.reference
    gap = np.asarray(jax.jit(jax.vmap(way.gaps))(jnp.asarray(climb.time)))
    assert gap.min() > -1e-4  # no foot goes through an edge; splines between frames of 10 ms
    standing = (gap[:, :6] < 1e-5).all(axis=1) | (gap[:, 6:] < 1e-5).all(axis=1)
    z = climb.values[:, climb.names.index("base.z")]
    assert z[-1] - z[0] == pytest.approx(6 * CLIMB["rise"], abs=5e-3)
    assert standing.mean() > 0.5  # all points of a sole lie on a tread


def test_the_walk_starts_and_ends_at_rest_and_goes_as_fast_as_recorded(walk):
    x = walk.values[:, walk.names.index("base.x")]
    speed = np.gradient(x, walk.time)
    assert abs(speed[0]) < 0.04
    assert abs(speed[-1]) < 0.04
    steady = (walk.time > 2.65) & (walk.time < 2.65 + PERIOD)  # the stride in the middle
    assert speed[steady].mean() == pytest.approx(1.09, abs=0.03)


def test_a_hastened_walk_has_the_recorded_steps_in_less_time(walk):
    speed = 1.25
    fast = walk_to_follow(RECORDING / "motion.mot", height=HEIGHT, mass=MASS, speed=speed)
    ways = [table.values[[0, -1], table.names.index("base.x")] for table in (walk, fast)]
    assert np.ptp(ways[0]) == pytest.approx(np.ptp(ways[1]), abs=0.02)
    moving = [table.time[-1] - 2.0 for table in (walk, fast)]  # a second of rest at each end
    assert moving[0] / moving[1] == pytest.approx(speed / 1.088, rel=5e-3)
    with pytest.raises(InputError, match="`speed` must be positive, not -1"):
        walk_to_follow(RECORDING / "motion.mot", height=HEIGHT, mass=MASS, speed=-1.0)


def test_small_pitches_are_flat_and_large_ones_are_kept():
    pitch = np.radians([-30.0, -0.5, 0.0, 0.9, 40.0])
    flat = flat_if_small(pitch)
    assert not np.any(flat[1:4])
    np.testing.assert_allclose(flat[[0, 4]], pitch[[0, 4]], atol=np.radians(2.1))


def test_nearest_point_of_a_hull_is_that_of_a_quadratic_program():
    rng = np.random.default_rng(3)
    for _ in range(40):
        x, p = rng.normal(size=(6, 2)), 2 * rng.normal(size=2)
        there = (rng.random(6) < 0.7).astype(float)
        there[0] = 1.0
        some = x[there > 0]
        n = len(some)
        best = minimize(
            lambda w, some=some, p=p: np.sum((w @ some - p) ** 2), np.full(n, 1 / n),
            jac=lambda w, some=some, p=p: 2 * some @ (w @ some - p),
            bounds=[(0, 1)] * n, constraints={"type": "eq", "fun": lambda w: np.sum(w) - 1},
            method="SLSQP", options={"ftol": 1e-14},
        )  # fmt: skip
        found = np.asarray(nearest_in_hull(*map(jnp.asarray, (p, x, there))))
        np.testing.assert_allclose(found, best.x @ some, atol=1e-5)


def test_the_push_is_the_least_squares_one_within_cones():
    rng = np.random.default_rng(4)
    J = rng.normal(size=(5, 3, 6))
    g = 500 * rng.normal(size=6)
    # Without friction the cones are half-lines, and the problem is one of non-negative numbers.
    f = np.asarray(push_of(jnp.asarray(J), jnp.asarray(g), jnp.zeros(5)))
    assert not np.any(f[:, :2])
    rows = np.vstack([J[:, 2].T, np.sqrt(1e-4) * np.eye(5)])
    np.testing.assert_allclose(f[:, 2], nnls(rows, np.r_[g, np.zeros(5)])[0], atol=1e-4)
    # A push that forces inside the cones give is given.
    inside = np.abs(rng.normal(size=(5, 3))) * [10, 10, 300]
    g = np.einsum("kdn,kd->n", J, inside)
    f = np.asarray(push_of(jnp.asarray(J), jnp.asarray(g), jnp.full(5, 0.8)))
    assert np.all(np.linalg.norm(f[:, :2], axis=1) <= 0.8 * f[:, 2] + 1e-9)
    np.testing.assert_allclose(np.einsum("kdn,kd->n", J, f), g, atol=1e-3 * np.abs(g).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("human-walk", {}),
        ("human-walk", {"solver.dt": 2e-3}),
        ("human-walk", {"solver.dt": 5e-4}),
        ("human-walk", {"mechanism.human.mass": 1.05 * MASS}),
        ("human-walk", {"contact.solver": "lcp"}),
        ("human-platform", {}),
        ("human-platform-free", {}),
        ("human-platform-free", {"mechanism.human.platform": 80.0}),
        ("human-platform-free", {"mechanism.human.platform": 1e5}),
        ("human-stairs", {}),
    ],
)
def test_the_human_walks_and_does_not_fall(name, changes):
    run = walked(name, tuple(changes.items()))
    assert run.success, run.message
    hips = np.asarray(run.q)[:, 2]
    if name == "human-stairs":
        assert hips[-1] - hips[0] == pytest.approx(6 * CLIMB["rise"], abs=0.01)
    assert hips.min() > 0.8  # of a man who walks
    force = np.asarray(run.force)
    tangential = np.linalg.norm(force[..., :2], axis=-1)
    assert np.all(tangential <= 0.7 * force[..., 2] + 1e-2)
    # Steps are content with 1e-7 of the largest impulse where redundant contacts contradict each
    # other; as a velocity 1.6e-4 m/s were seen.
    assert np.nanmax(run.residual) < 2e-4  # [m/s]
    # Of 100 J that move: of first order in the step across impacts.
    assert np.abs(run.ledger_error).max() < 0.5
    platform = changes.get("mechanism.human.platform", 300.0)
    if name == "human-walk" or platform == 1e5:  # which is as firm as the ground
        feet_press_as_on_the_plates(run)
    elif name == "human-platform-free":
        nothing_pushes_from_outside(run, platform)


HELD = {"contact.law": "hybrid", "solver.max_steps": 200_000, "contact.max_events": 20_000}


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"track.rate": 1000.0},
        {"track.rate": 500.0},
        {"track.rate": 1000.0, "mechanism.human.mass": 1.05 * MASS},
    ],
)
def test_the_human_walks_by_the_hybrid_law(changes):
    """Exact modes and events, its control at a rate of its own: nothing is left to the step."""
    run = walked("human-walk", tuple((HELD | changes).items()))
    assert run.success, run.message  # nothing penetrates
    assert np.asarray(run.q)[:, 2].min() > 0.8
    force = np.asarray(run.force)
    assert np.all(np.linalg.norm(force[..., :2], axis=-1) <= 0.7 * force[..., 2] + 1e-6)
    assert np.abs(run.ledger_error).max() < 1e-4  # of 100 J; 5e-7 were reached
    feet_press_as_on_the_plates(run)


@pytest.mark.slow
def test_the_human_walks_on_springs_too():
    """The first half-step on compliant contacts; adaptive steps close the ledger."""
    law = {"law": "compliant", "restitution": 0.1}
    changes = {f"contact.{k}": v for k, v in law.items()} | {"solver.rtol": 1e-5, "until": 1.7}
    walk = scene("human-walk", {"samples": 3401, **changes})
    run, way = walk.run(), walk.control.reference
    assert run.success, run.message
    np.testing.assert_array_equal(walk.control.mu, 0.6)  # the friction of the springs
    comes_back_from_its_motion(run, walk.control)
    q = np.asarray(run.q)
    wanted = np.asarray(jax.vmap(way.coordinates.evaluate)(jnp.asarray(run.time)))
    assert np.abs(q[:, :3] - wanted[:, :3]).max() < 0.03  # [m]: it goes where it should
    force = np.asarray(run.force)
    assert np.all(np.linalg.norm(force[..., :2], axis=-1) <= 0.7 * force[..., 2] + 1e-9)
    assert np.abs(run.ledger_error).max() < 1e-2
    heel = force[:, [n.startswith("left_heel") for n in run.contacts.names], 2].sum(axis=1)
    off = np.flatnonzero(heel > 0)
    assert np.diff(run.time[off]).max() > 0.3  # it was in the air, and struck again


def comes_back_from_its_motion(run, control):
    """Motion alone gives back the forces of the ground, motion and forces those of the joints.

    Within 0.5 % of body weight in 98 frames of a hundred, and of each joint's peak in 19 of 20:
    heels on springs strike faster than frames at 2 kHz can tell, and so do motors when feet touch
    or leave (at 10 kHz all joints were within 0.5 % in 199 frames of 200).
    """
    m, time = run.mechanism, np.asarray(run.time)
    subject = with_soles(subject_of_mechanism(m), None, m)
    names = tuple(c.name for c in subject.coordinates)
    table = Table.recording("forward", time, names, np.asarray(run.q), degrees=False)
    found = ground_reactions(table, subject)
    assert np.isinf(found.motion.cutoff)  # it is smooth already
    force, inner = np.asarray(run.force), slice(40, -40)
    apart = (found.force - force.sum(axis=1))[inner] / subject.weight
    assert np.sqrt(np.mean(apart**2, axis=0)).max() < 0.005
    assert np.mean(np.abs(apart).max(axis=1) < 0.005) > 0.98
    every = slice(40, -40, 10)
    loads, at = loads_of_points(run, subject, every)
    bodies = jax.tree.map(lambda x: x[every], found.bodies)
    motion = found.motion
    joints = joint_loads(subject, motion.q[every], motion.rate[every], bodies, loads)
    states = (jnp.asarray(x)[every] for x in (time, run.q, run.v))
    driven = np.asarray(jax.jit(jax.vmap(control.joint_forces))(*states))
    for i in at:  # toes have an armature, which is no part of a body
        theirs = driven[:, i - 1]
        near = np.abs(joints.moment[:, i] - theirs) < 0.005 * np.abs(theirs).max()
        assert near.mean() > 0.95, subject.coordinates[i].name


def loads_of_points(run, subject, every):
    """The forces of the contact points on feet and toes, and which joints are to be compared."""
    model = mujoco.MjModel.from_xml_string(human(HEIGHT, MASS, sole="hinged"))
    data = mujoco.MjData(model)
    sites = [model.site(n).id for n in run.contacts.names]
    places = []
    for data.qpos in np.asarray(run.q)[every]:
        mujoco.mj_kinematics(model, data)
        places.append(data.site_xpos[sites].copy())
    force = np.asarray(run.force)[every]
    moment = np.cross(places, force)
    carriers = [model.body(int(model.site_bodyid[i])).name for i in sites]
    bodies = sorted(set(carriers))
    sums = [
        np.stack([x[:, [c == b for c in carriers]].sum(axis=1) for b in bodies], axis=1)
        for x in (force, moment)
    ]
    known = np.ones(sums[0].shape[:2], bool)
    on = tuple(subject.body(b) for b in bodies)
    loads = FootLoads(tuple(bodies), on, sums[0], np.zeros_like(sums[0]), sums[1], known)
    joints = [
        i
        for i, c in enumerate(subject.coordinates)
        if c.name not in subject.base and "toe" not in c.name
    ]
    return loads, joints


def nothing_pushes_from_outside(run, platform):
    """A platform that glides freely: man and platform together go on as they began, on the level.

    Of 80 N s and of metres that they exchange; steps are of second order.
    """
    m, time = run.mechanism, np.asarray(run.time)
    both = jax.jit(jax.vmap(lambda q, v: (center_of_mass(m, q), momentum(m, q, v)[0])))
    center, moved = (np.asarray(x)[:, :2] for x in both(jnp.asarray(run.q), jnp.asarray(run.v)))
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=0.1)
    drift = np.outer(time, moved[0]) / float(total_mass(m))
    np.testing.assert_allclose(center - drift, np.broadcast_to(center[0], drift.shape), atol=2e-3)
    # As in a boat: he comes ahead on it by 3.7 m, and it goes back by his part of that.
    back = run.q[:, m.tree.coordinate_names.index("platform_x")]
    gone = run.q[-1, 0] - back[-1] - run.q[0, 0]
    assert back[-1] == pytest.approx(-gone * MASS / (MASS + platform), abs=0.05)


@functools.cache
def walked(name, changes=()):
    return scene(name).run({"samples": 1201, **dict(changes)})


def feet_press_as_on_the_plates(run):
    """The vertical force of each foot, at the same phases of the recorded stride.

    Each in weights of its own body: the man of the record has no 5 % more mass.
    """
    m = run.mechanism
    own = sum(np.asarray(m.bodies.mass)[[n != "platform" for n in m.tree.body_names]])
    force = np.asarray(run.force) / (own * 9.81)
    plates = read_plates(RECORDING / "plates.mot", axes="x,-z,y")
    time, weight = np.asarray(run.time), MASS * 9.81
    at = np.arange(2.1, 4.5, 0.01)  # four half-steps
    when = at - shift()
    when = when - PERIOD * np.maximum(np.ceil((when - 3.9) / PERIOD), 0)
    for side, plate in (("right", plates.plates[0]), ("left", plates.plates[1])):
        index = [i for i, n in enumerate(run.contacts.names) if n.startswith(side)]
        load = np.interp(at, time, force[:, index, 2].sum(axis=1))
        measured = np.interp(when, plates.time, plate.force[:, 2]) / weight
        assert np.sqrt(np.mean((load - measured) ** 2)) < 0.15
    # Two peaks of a stance with a valley between them, and heels that strike.
    stance = force[:, [n.startswith("left") for n in run.contacts.names], 2].sum(axis=1)
    stance = stance[(time > 2.85) & (time < 3.3)]
    early, late = stance[: len(stance) // 3].max(), stance[-len(stance) // 3 :].max()
    assert min(early, late) > 0.95  # of the weight: a slow walk, whose first peak is about that
    assert np.median(stance[len(stance) // 3 : len(stance) // 2]) < 0.9
    struck = [e for e in run.events() if e.kind == "impact" and "heel" in e.contact]
    assert len({round(e.time, 1) for e in struck}) >= 4


@functools.cache
def shift():
    """From the time of the record to that of the scene: right heels strike at the same time."""
    text = human(HEIGHT, MASS, sole="hinged")
    subject = subject_of_mechanism(load_mechanism(text))
    table = read_motion(RECORDING / "motion.mot", subject)
    model = mujoco.MjModel.from_xml_string(text)
    stride = recorded_stride(model, table.time, coordinates_of(table, subject)[0])
    plan = plan_walk(stride, 6)
    return next(s.strike for s in plan.stances[1] if np.isfinite(s.strike)) - stride.origin
