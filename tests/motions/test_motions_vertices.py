"""A vertex on a vertex (erdmann, footnote 1): every motion, and each of them lawful."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction._base.errors import InputError
from stiction.motions import load_problem, parse_problem
from stiction.motions.vertices import ways_of_vertices

SHARP = {
    "mass": 2.0, "inertia": 0.08, "force": (0.0, -19.62),
    "contacts": [{"point": (0.0, -0.3), "friction": 0.3, "kind": "vertex-on-vertex",
                  "body_edges": [[0.25, 0.4], [-0.25, 0.4]],
                  "obstacle_edges": [[0.4, -0.2], [-0.4, -0.2]]}],
}  # fmt: skip


def problem(**changes):
    contact = SHARP["contacts"][0] | changes.pop("contact", {})
    return parse_problem(SHARP | changes | {"contacts": [contact]})


def lawful(p, motion):
    """Newton's law, no penetration and the cone of friction, without looking at modes."""
    contact = p.contacts[0]
    one, two = contact.ways
    middle = (one.normal + two.normal) / np.linalg.norm(one.normal + two.normal)
    force = motion.forces[0, 0] * np.array([middle[1], -middle[0]]) + motion.forces[0, 1] * middle
    arm = np.array(contact.point) - np.array(p.center)
    torque = p.torque + arm[0] * force[1] - arm[1] * force[0]
    a = motion.acceleration
    assert_allclose(p.mass * a[:2], np.array(p.force) + force, atol=1e-9)
    assert_allclose(p.inertia * a[2], torque, atol=1e-9)
    # At rest the vertex accelerates as its body turns: a + α × arm.
    vertex = a[:2] + a[2] * np.array([-arm[1], arm[0]])
    assert max(one.normal @ vertex, two.normal @ vertex) >= -1e-9
    if motion.modes[0] == "break":
        assert_allclose(force, 0, atol=1e-12)
    else:
        # Some normal between the two has the force in its cone.
        wide = np.arctan(contact.friction)
        angles = [np.arctan2(n[1], n[0]) for n in (one.normal, two.normal)]
        at = np.arctan2(force[1], force[0])
        assert min(angles) - wide - 1e-9 <= at <= max(angles) + wide + 1e-9
        assert abs(np.linalg.norm(vertex) * min(abs(one.normal @ vertex), abs(two.normal @ vertex))
                   ) <= 1e-7  # fmt: skip


def test_a_tip_on_a_tip_balances_or_falls_off_either_side():
    answer = load_problem("tip-on-tip").motions()
    assert str(answer.verdict) == "ambiguous"
    words = sorted(m.modes[0] for m in answer.motions)
    assert words.count("stick") == 1
    assert len(words) == 3
    still = next(m for m in answer.motions if m.modes[0] == "stick")
    assert_allclose(still.acceleration, 0, atol=1e-9)
    assert_allclose(still.forces[0], [0, 19.62], atol=1e-9)
    left, right = (m for m in answer.motions if m.modes[0] != "stick")
    mirror = np.array([-1, 1, -1])
    assert_allclose(left.acceleration, mirror * right.acceleration, atol=1e-9)
    for motion in answer.motions:
        lawful(load_problem("tip-on-tip"), motion)


@pytest.mark.parametrize("seed", range(30))
def test_every_motion_of_random_tips_is_lawful(seed):
    rng = np.random.default_rng(seed)
    turn, half = rng.uniform(-0.4, 0.4), rng.uniform(0.2, 0.7, 2)
    up, down = np.pi / 2 + turn, -np.pi / 2 + turn + rng.uniform(-0.3, 0.3)
    edge = lambda angle: [float(np.cos(angle)), float(np.sin(angle))]  # noqa: E731
    p = problem(
        force=tuple(rng.normal(size=2) * 10 - [0, 10]),
        torque=float(rng.normal()),
        contact={"friction": float(rng.uniform(0, 0.8)),
                 "body_edges": [edge(up + half[0]), edge(up - half[0])],
                 "obstacle_edges": [edge(down + half[1]), edge(down - half[1])]},
    )  # fmt: skip
    answer = p.motions()
    assert answer.motions
    for motion in answer.motions:
        if motion.family is None:
            lawful(p, motion)


def test_pulled_up_it_parts_and_only_that():
    answer = problem(force=(0.0, 5.0)).motions()
    assert [m.modes for m in answer.motions] == [("break",)]
    assert_allclose(answer.motions[0].acceleration, [0, 2.5, 0], atol=1e-12)


def test_a_nearly_flat_obstacle_is_a_vertex_on_an_edge():
    """As the obstacle's corner opens to half a turn, sliding forces tend to those of its edge."""
    flat = parse_problem(
        SHARP | {"force": (12.0, -19.62),
                 "contacts": [{"point": (0.0, -0.3), "normal": (0.0, 1.0), "friction": 0.3}]}
    ).motions()  # fmt: skip
    tip = problem(
        force=(12.0, -19.62),
        contact={"body_edges": [[0.01, 1.0], [-0.01, 1.0]],
                 "obstacle_edges": [[1.0, -1e-6], [-1.0, -1e-6]]},
    ).motions()  # fmt: skip
    assert len(flat.motions) == 1
    near = [np.abs(m.acceleration - flat.motions[0].acceleration).max() for m in tip.motions]
    assert min(near) < 1e-3


def test_edges_of_k_tell_which_body_owns_them():
    blunt = [[1.0, 0.2], [-1.0, 0.2]]
    sharp = [[0.1, -1.0], [-0.1, -1.0]]
    one, two = ways_of_vertices(np.array(blunt), np.array(sharp))
    assert not one.on_obstacle_edge  # the body's flat edges slide on the sharp vertex
    assert not two.on_obstacle_edge
    one, two = ways_of_vertices(-np.array(sharp), -np.array(blunt))
    assert one.on_obstacle_edge
    assert two.on_obstacle_edge
    for way in (one, two):
        assert_allclose(way.normal @ way.along, 0, atol=1e-12)


def test_corners_that_overlap_are_refused():
    with pytest.raises(InputError, match="more than half a turn"):
        problem(contact={"obstacle_edges": [[1.0, 0.5], [-1.0, 0.5]]})
    with pytest.raises(InputError, match="`normal` must be left out"):
        problem(contact={"normal": (0.0, 1.0)})


def test_off_the_tip_there_is_nothing_to_press_on():
    """Pushed along the line of an edge, but away from it: the line goes on, the edge does not."""
    along, normal = np.array([2.0, -1.0]) / np.sqrt(5), np.array([1.0, 2.0]) / np.sqrt(5)
    push = -10.0 * along - 1.0 * normal
    answer = problem(force=tuple(push.tolist()), contact={"friction": 0.0}).motions()
    assert [m.modes for m in answer.motions] == [("break",)]
    assert_allclose(answer.motions[0].acceleration[:2], push / 2.0, atol=1e-12)
