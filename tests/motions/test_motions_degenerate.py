"""Degenerate input: the right answer, or one clear line."""

import numpy as np
import pytest
from agreement import answer, disagreements
from brute_force import Problem
from problems import planar

from stiction._base.errors import InputError

G = 9.81
BODY = {"mass": 1.0, "inertia": 0.5, "force": (0.0, -G)}


def motions(**options):
    return planar(**(BODY | options))


def test_no_contacts_fall_freely():
    result = motions(points=[], normals=[], mu=0.3)
    assert str(result.verdict) == "unique"
    np.testing.assert_allclose(result.motions[0].acceleration, [0, -G, 0])


def test_no_force_at_rest_is_rest():
    result = motions(points=[[0, -1]], normals=[[0, 1]], mu=0.3, force=(0, 0))
    assert str(result.verdict) == "unique"
    assert result.zero_reaction
    assert result.zero_net_force
    np.testing.assert_array_equal(result.motions[0].acceleration, 0)


def test_duplicate_contacts_change_nothing_but_the_forces():
    once = motions(points=[[0.3, -1]], normals=[[0, 1]], mu=0.3)
    twice = motions(points=[[0.3, -1]] * 3, normals=[[0, 1], [0, 2], [0, 5]], mu=0.3)
    assert len(once.motions) == len(twice.motions) == 1
    np.testing.assert_allclose(
        twice.motions[0].acceleration, once.motions[0].acceleration, atol=1e-12
    )
    assert not twice.motions[0].forces_unique
    np.testing.assert_allclose(twice.motions[0].forces.sum(0), once.motions[0].forces[0])


def test_no_friction_is_the_normal_projection():
    """5.4.7: the reaction is the projection of -F_A onto the span of the normals."""
    n = np.array([np.sin(0.4), np.cos(0.4)])
    result = motions(points=[-n, -n + [n[1], -n[0]]], normals=[n, n], mu=0.0)
    expected = np.array([0, -G]) + G * n[1] * n
    # The second support lies downhill; both carry load, or only one if the body would turn.
    assert str(result.verdict) == "unique"
    a = result.motions[0].acceleration
    assert n @ a[:2] == pytest.approx(0, abs=1e-12) or result.motions[0].modes.count("break") == 1
    tangent = np.array([n[1], -n[0]])
    assert tangent @ a[:2] == pytest.approx(tangent @ expected, abs=1e-12)


def test_opposite_normals_hold_between_them():
    """Nothing applied: rest, whatever the squeeze; and a squeeze is possible."""
    result = motions(points=[[-1, 0], [1, 0]], normals=[[1, 0], [-1, 0]], mu=0.5, force=(0, 0))
    assert str(result.verdict) == "unique"
    assert not result.motions[0].forces_unique


def test_a_body_caught_on_all_sides_does_not_move():
    """Form closure without friction: the only acceleration is none, and the load is unknown."""
    points = np.array([[1, 0.2], [1, -0.2], [-1, -0.2], [-1, 0.2], [0.2, 1], [-0.2, -1]])
    normals = -np.where(np.abs(points) == 1, points, 0)
    result = motions(points=points, normals=normals, mu=0.0, torque=3.0)
    assert str(result.verdict) == "unique"
    assert "break" not in result.motions[0].modes
    np.testing.assert_allclose(result.motions[0].acceleration, 0, atol=1e-12)
    assert not result.motions[0].forces_unique


@pytest.mark.parametrize("angle", [1e-3, 1e-6])
def test_nearly_parallel_normals(angle):
    """Two supports on almost one line of action: brute force agrees."""
    p = Problem(
        mass=1.0,
        inertia=0.5,
        points=np.array([[0.0, -1.0], [0.0, -2.0]]),
        normals=np.array([[angle, 1.0], [0.0, 1.0]]),
        mu=np.array([0.2, 0.3]),
        velocity=np.zeros(3),
        force=np.array([1.0, -G]),
        torque=0.4,
        curvature_body=np.full(2, np.inf),
        curvature_obstacle=np.zeros(2),
    )
    assert disagreements(p, answer(p)) == []


def test_tiny_velocities_into_the_obstacle_are_ignored_and_larger_ones_collide():
    contact = {"points": [[0, -1]], "normals": [[0, 1]], "mu": 0.3}
    assert str(motions(**contact, velocity=(1, -1e-12, 0)).verdict) == "unique"
    result = motions(**contact, velocity=(1, -1e-3, 0))
    assert str(result.verdict) == "collision"
    assert result.collisions == {0: pytest.approx(1e-3)}
    assert (
        str(motions(**contact, velocity=(1, -1e-3, 0), velocity_tolerance=0.01).verdict) == "unique"
    )


def test_what_the_velocity_tolerance_ignores_is_removed():
    """A state from a simulation turns a little; its contacts are of two kinds, which would show."""
    sliding = {
        "points": [[-1, -0.3], [0, -0.3], [1, -0.3]],
        "normals": [[0, 1]] * 3,
        "mu": [0.1, 0.5, 0.1],
        "curvature_body": [np.inf, np.inf, 0.0],
        "curvature_obstacle": [0.0, 0.0, np.inf],
    }
    clean = motions(**sliding, velocity=(1, 0, 0))
    noisy = motions(**sliding, velocity=(1, 3e-7, -2e-7), velocity_tolerance=1e-5)
    assert clean.motions[0].modes == noisy.motions[0].modes == ("slip right",) * 3
    np.testing.assert_allclose(
        noisy.motions[0].family.interval, clean.motions[0].family.interval, rtol=1e-9
    )


def test_a_separating_contact_is_no_contact():
    result = motions(points=[[0, -1]], normals=[[0, 1]], mu=0.3, velocity=(0, 1, 0))
    assert result.motions[0].modes == ("break",)
    np.testing.assert_allclose(result.motions[0].acceleration, [0, -G, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mass": 0.0}, "`mass` must be a finite number > 0"),
        ({"mass": np.nan}, "`mass`"),
        ({"inertia": 0.0}, "`inertia`"),
        ({"normals": [[0, 0]]}, "`normals` must not be zero"),
        ({"normals": [[0, 1], [1, 0]]}, "`normals` must have the shape 1 x 2"),
        ({"mu": -0.1}, "`mu` must be >= 0, got -0.1"),
        ({"mu": np.inf}, "`mu` must be finite"),
        ({"velocity": (1, 2)}, "`velocity` must have the shape 3"),
        ({"points": [[np.nan, 0]]}, "`points` must be finite"),
        ({"curvature_body": 0.0}, "must be > 0 for a point contact"),
        ({"curvature_obstacle": np.inf}, "a vertex on a vertex"),
        ({"velocity_tolerance": 2.0}, "`velocity_tolerance`"),
    ],
)
def test_impossible_values_are_named_in_one_line(options, message):
    contact = {"points": [[0, -1]], "normals": [[0, 1]], "mu": 0.3}
    with pytest.raises(InputError) as error:
        motions(**(contact | options))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
