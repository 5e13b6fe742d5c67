"""A start inside of what it touches: refused by every law with the pair and the depth, or moved."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction import InputError
from stiction.engines import RESULTS
from stiction.surfaces import find_contacts, find_inside, move_out

LAWS = ("hybrid", "stepping", "compliant")
SHORT = {"until": 0.02, "samples": 3}
DEEP = {"start.q": [0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0], **SHORT}

TWO_BALLS = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="a" pos="0 0 .1"><freejoint/><geom name="ball a" size=".1" mass="1"/></body>
  <body name="b" pos=".15 0 .1"><freejoint/><geom name="ball b" size=".1" mass="1"/></body>
</worldbody></mujoco>"""

# An arm whose hand is in the floor: nothing floats, so joints must turn.
ARM = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body pos="0 0 .5"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02"
    contype="0" conaffinity="0"/>
    <body pos=".5 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02"
      contype="0" conaffinity="0"/><geom name="hand" pos=".5 0 0" size=".05"/></body></body>
</worldbody></mujoco>"""

BETWEEN_WALLS = """<mujoco><worldbody><geom name="left" type="plane" size="5 5 .1" zaxis="1 0 0"/>
  <geom name="right" type="plane" size="5 5 .1" pos=".1 0 0" zaxis="-1 0 0"/>
  <body pos=".05 0 0"><freejoint/><geom name="ball" size=".1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("law", LAWS)
def test_every_law_refuses_a_start_below_the_floor_with_pair_and_depth(law):
    with pytest.raises(InputError, match=r"`start.q`: .*box\[\d\] is 1.05 m inside of floor"):
        stiction.scene("box", {"contact.law": law, **DEEP}).run()


@pytest.mark.parametrize("law", LAWS)
def test_resolve_moves_it_out_and_says_so(law):
    """A box of 1.2 kg is lifted by 1.05 m straight: that takes m g h, and nothing else happens."""
    scene = stiction.scene("box", {"contact.law": law, "start.resolve": True, **DEEP})
    with pytest.warns(UserWarning, match="moved out of what it touches: box"):
        run = scene.run()
    assert run.success
    moved = scene.moved_out
    assert moved is not None
    assert moved.distance == pytest.approx(1.05)
    assert not moved.turned
    mass = float(stiction.total_mass(scene.mechanism))
    weight = mass * np.linalg.norm(scene.mechanism.gravity)
    assert moved.energy == pytest.approx(weight * 1.05)
    np.testing.assert_allclose(run.q[0], [0, 0, 0.05, 1, 0, 0, 0], atol=1e-12)
    assert np.max(run.energy) - run.energy[0] < 1e-9 * moved.energy  # and none from nowhere
    from stiction.report.run import story, summarize_run

    summary = summarize_run(run)
    assert summary["start_moved"]["energy"] == moved.energy
    assert "start moved out" in dict(story(summary))


def test_a_start_that_touches_is_not_moved():
    q = [0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0]
    scene = stiction.scene("box", {"start.q": q, "start.resolve": True, **SHORT})
    assert scene.moved_out is None
    assert scene.run().success


@pytest.mark.parametrize("law", ["hybrid", "stepping"])
def test_a_start_within_the_tolerance_is_taken(law):
    q = [0.0, 0.0, 0.05 - 9e-7, 1.0, 0.0, 0.0, 0.0]
    run = stiction.scene("box", {"start.q": q, "contact.law": law, **SHORT}).run()
    assert run.success
    with pytest.raises(InputError, match="inside"):
        stiction.scene("box", {"start.q": [0, 0, 0.0498, 1, 0, 0, 0], "contact.law": law}).run()


def test_two_balls_part_by_half_their_overlap_each():
    scene = stiction.scene(TWO_BALLS, {"start.resolve": True, **SHORT})
    moved = scene.moved_out
    assert moved is not None
    assert moved.inside[0].depth == pytest.approx(0.05)
    a, b = np.asarray(moved.q)[[0, 7]]
    assert (a, b) == (pytest.approx(-0.025), pytest.approx(0.175))
    with pytest.raises(InputError, match=r"ball a is 0.05 m inside of ball b"):
        stiction.scene(TWO_BALLS, SHORT).run()


def test_where_nothing_floats_joints_turn_as_little_as_they_must():
    scene = stiction.scene(ARM, {"start.q": [0.3, 0.6], "start.resolve": True, **SHORT})
    moved = scene.moved_out
    assert moved is not None
    assert moved.turned
    assert scene.contacts is not None
    depth = -(0.5 - 0.5 * np.sin(0.3) - 0.5 * np.sin(0.9) - 0.05)
    assert moved.inside[0].depth == pytest.approx(depth)
    q = np.asarray(moved.q)
    height = 0.5 - 0.5 * np.sin(q[0]) - 0.5 * np.sin(q.sum())
    assert height == pytest.approx(0.05, abs=1e-11)
    # The shortest way: the change is along the gradient of the height.
    slope = -0.5 * np.array([np.cos(q[0]) + np.cos(q.sum()), np.cos(q.sum())])
    change = q - [0.3, 0.6]
    along = change @ slope / np.linalg.norm(change) / np.linalg.norm(slope)
    assert along == pytest.approx(1, abs=1e-9)


def test_where_there_is_no_way_out_it_says_so():
    with pytest.raises(InputError, match=r"`start.resolve` finds no way out: ball is 0.05 m"):
        stiction.scene(BETWEEN_WALLS, {"start.resolve": True, **SHORT}).run()


def test_springs_may_begin_compressed_where_one_says_so():
    """A spring that pushes with a few times the weight is a state; with many times, only if meant:
    then all that it holds is in the books.
    """
    q = [0.0, 0.0, 0.05 - 1e-4, 1.0, 0.0, 0.0, 0.0]  # 4 corners, 10 N each at 1e5 N/m
    soft = {"start.q": q, "contact.law": "compliant", **SHORT}
    assert stiction.scene("box", soft).run().success
    deep = {**soft, "start.q": [0.0, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0]}
    with pytest.raises(InputError, match=r"times the weight; .* `start.resolve = false`"):
        stiction.scene("box", deep).run()
    run = stiction.scene("box", {**deep, "start.resolve": False}).run()
    assert run.compliance is not None
    assert run.compliance.stored[0].sum() == pytest.approx(4 * 1e5 * 0.01**2 / 2)
    assert np.abs(run.ledger_error).max() < 1e-6 * run.energy[0]


def test_in_a_batch_only_the_lane_that_is_inside_fails():
    scene = stiction.scene("box", SHORT)
    heights = np.array([0.05, 0.01, 0.2])
    q = np.tile([0, 0, 0, 1.0, 0, 0, 0], (3, 1))
    q[:, 2] = heights
    given = {"until": 0.02, "contacts": scene.contacts, "law": scene.law, "samples": 3}
    batch = stiction.simulate(scene.mechanism, q, np.zeros((3, 6)), throw=False, **given)
    inside = np.asarray(batch.result == RESULTS.began_inside)
    np.testing.assert_array_equal(inside, [False, True, False])
    assert np.isfinite(batch.q[0]).all()
    assert np.isnan(batch.q[1, 1:]).all()
    with pytest.raises(InputError, match=r"0.04 m inside of floor in run 1 of the batch"):
        stiction.simulate(scene.mechanism, q, np.zeros((3, 6)), **given)


def test_under_jit_it_is_a_result():
    scene = stiction.scene("box", SHORT)
    mechanism, contacts, law = scene.mechanism, scene.contacts, scene.law

    @jax.jit
    def end(q):
        run = stiction.simulate(
            mechanism, q, jnp.zeros(6), until=0.02, contacts=contacts, law=law, samples=3,
            throw=False,
        )  # fmt: skip
        return run.result == RESULTS.began_inside

    assert end(jnp.array([0.0, 0, 0.01, 1, 0, 0, 0]))
    assert not end(jnp.array([0.0, 0, 0.05, 1, 0, 0, 0]))


def test_random_bodies_in_the_ground_come_out(rng):
    """Boxes turned at random and sunk in a slope: none is inside after, none moved too far."""
    model = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1" zaxis="1 0 3"/>
      <body><freejoint/><geom type="box" size=".1 .2 .3"/></body></worldbody></mujoco>"""
    mechanism = stiction.load(model)
    contacts = find_contacts(mechanism)
    assert contacts is not None
    for _ in range(20):
        q = np.concatenate([rng.normal(size=2), [-1.0], rng.normal(size=4)])
        q[3:] /= np.linalg.norm(q[3:])
        before = find_inside(mechanism, contacts, q, 0.0)
        moved = move_out(mechanism, contacts, q)
        assert (moved is not None) == bool(before)
        if moved is not None:
            assert not find_inside(mechanism, contacts, moved.q, 1e-11)
            assert moved.distance == pytest.approx(before[0].depth, rel=1e-9)


ROBOTS = {
    "unitree_go2": ("home", 18.37), "boston_dynamics_spot": ("home", 3.458),
    "unitree_h1": ("home", 1.049), "anybotics_anymal_c": (None, 10.47),
}  # fmt: skip


@pytest.mark.shared
@pytest.mark.parametrize("robot", ROBOTS)
def test_real_robots_start_from_their_own_keyframes(robot, shared_data):
    keyframe, depth = ROBOTS[robot]
    file = shared_data / "menagerie" / robot / "scene.xml"
    changes = {"contact.law": "stepping", "start.keyframe": keyframe, **SHORT}
    if keyframe is None:
        del changes["start.keyframe"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError, match="inside of floor"):
            stiction.scene(file, changes).run()
        scene = stiction.scene(file, {**changes, "start.resolve": True})
        assert scene.run().success
    moved = scene.moved_out
    assert moved is not None
    assert 1e3 * moved.distance == pytest.approx(depth, rel=0.05)
    assert not moved.turned
