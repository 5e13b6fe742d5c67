"""Known motions, the equations they satisfy, and what must not change them."""

import numpy as np
import pytest
from agreement import answer
from brute_force import Problem, linear_parts
from problems import planar, planar_state
from random_problems import random_problem

from stiction.motions import (
    Response,
    classify_forces,
    direction_ranges,
    load_problem,
    possible_motions,
)

G = 9.81
EXACT = 1e-12


def three_points(force, torque=0.0, mu=0.25):
    return planar(
        mass=1.0,
        inertia=1.0,
        points=[[-1, -1], [1, -1], [0, -1]],
        normals=[[0, 1]] * 3,
        mu=mu,
        force=force,
        torque=torque,
    )


def test_a_push_slides_the_body_of_the_example():
    """5.3: a horizontal force causes pure sliding, and that is the only motion."""
    result = three_points((5.0, -G))
    assert str(result.verdict) == "unique"
    assert result.motions[0].modes == ("slip right",) * 3
    np.testing.assert_allclose(result.motions[0].acceleration, [5 - 0.25 * G, 0, 0], atol=EXACT)
    assert not result.zero_reaction
    assert not result.zero_net_force


def test_a_push_inside_the_cone_does_not_move_it():
    result = three_points((0.2 * G, -G))
    assert result.zero_net_force
    assert result.motions[0].modes == ("stick",) * 3
    np.testing.assert_allclose(result.motions[0].acceleration, 0, atol=EXACT)
    assert not result.motions[0].forces_unique


@pytest.mark.parametrize(("torque", "point"), [(30.0, 0), (-30.0, 1)])
def test_a_large_torque_turns_it_about_an_extreme_point(torque, point):
    """5.3: the reaction comes from one exterior contact alone."""
    result = three_points((0.0, -G), torque)
    assert str(result.verdict) == "unique"
    kept = [i for i, mode in enumerate(result.motions[0].modes) if mode != "break"]
    assert kept == [point]
    alone = planar(
        mass=1.0,
        inertia=1.0,
        points=[[-1, -1] if point == 0 else [1, -1]],
        normals=[[0, 1]],
        mu=0.25,
        force=(0.0, -G),
        torque=torque,
    )
    np.testing.assert_allclose(
        result.motions[0].acceleration, alone.motions[0].acceleration, atol=EXACT
    )


def test_lifting_needs_no_reaction():
    result = three_points((1.0, 2.0))
    assert result.zero_reaction
    assert result.motions[0].modes == ("break",) * 3
    np.testing.assert_allclose(result.motions[0].acceleration, [1, 2, 0], atol=EXACT)


def test_block_on_slope_slides_with_g_sin_minus_mu_g_cos():
    result = load_problem("block-on-slope").motions()
    slope, mu = np.radians(20), 0.3
    a = G * (np.sin(slope) - mu * np.cos(slope))
    expected = [a * np.cos(slope), -a * np.sin(slope), 0]
    np.testing.assert_allclose(result.motions[0].acceleration, expected, atol=1e-12)


def test_peg_jams_at_the_moment_that_friction_can_hold():
    """Two-point contact: P <= 2 μ M / l, so with P = 1, μ = 0.3, l = 1 from M = 1/0.6 on."""
    state = load_problem("peg-jamming").state()
    for excess, jams in ((1e-9, True), (-1e-9, False)):
        torque = -(1 + excess) / 0.6
        result = possible_motions(state, force=(0.0, -1.0), torque=torque)
        assert result.zero_net_force == jams


def test_uneven_friction_gives_the_range_between_the_extreme_load_shares():
    """Sliding on three points with μ = 0.1, 0.5, 0.1: all load in the middle, or none.

    Deceleration μ̄ g with μ̄ the load-weighted friction. No load in the middle gives 0.1 g. The most
    braking has no load on the left: N_middle + N_right = m g and the moment about the center
    of mass of braking (at depth 0.3) and of N_right (at 1 m) cancel.
    """
    result = load_problem("uneven-friction").motions()
    family = result.motions[0].family
    x = np.linalg.solve([[1, 1], [-0.3 * 0.5, 1 - 0.3 * 0.1]], [G, 0])
    # The braking at depth 0.3 turns the body forward, so it is the right point that stays loaded.
    most = 0.5 * x[0] + 0.1 * x[1]
    np.testing.assert_allclose(family.interval, (-most, -0.1 * G), atol=1e-12)
    assert family.dimension == 1
    assert [end.modes for end in family.ends] == [("slip right",) * 3] * 2


def test_grasp_holds_any_force_but_its_squeeze_is_unknown():
    problem = load_problem("two-fingers")
    assert problem.state().cone.everything
    family = problem.motions().motions[0].family
    np.testing.assert_allclose(family.interval, (-0.2 * G, 0), atol=1e-12)


# ------------------------------------------------------------------ the equations of motion


def residuals(p: Problem, a, forces) -> dict[str, float]:
    """Newton, Coulomb and the second variation, in physical coordinates, relative to the scale."""
    n_row, t_row, h, g, v_n, v_t = linear_parts(p)
    touching = np.abs(v_n) <= 1e-9 * np.linalg.norm(p.velocity)
    f_t, f_n = forces.T
    mass = np.array([p.mass, p.mass, p.inertia])
    load = np.array([*p.force, p.torque])
    size = 1.0 + np.abs(a).max() + np.abs(forces).max(initial=0.0)
    gap, slide = n_row @ a + h, t_row @ a + g
    at_rest = np.abs(v_t) <= 1e-9 * np.linalg.norm(p.velocity)
    sense = np.where(at_rest, np.where(np.abs(slide) > 1e-9 * size, slide, 0.0), v_t)
    slipping = np.where(sense != 0, np.abs(f_t + p.mu * f_n * np.sign(sense)), 0.0)
    return {
        "newton": np.abs(mass * a - load - n_row.T @ f_n - t_row.T @ f_t).max() / size,
        "second variation": max(0.0, (-gap[touching]).max(initial=0.0)) / size,
        "complementarity": np.abs(f_n * gap).max(initial=0.0) / size**2,
        "no pull": max(0.0, (-f_n).max(initial=0.0)) / size,
        "cone": max(0.0, (np.abs(f_t) - p.mu * f_n).max(initial=0.0)) / size,
        "slip": slipping.max(initial=0.0) / size,
        "apart": np.abs(forces[~touching]).max(initial=0.0),
    }


@pytest.mark.parametrize("n_contacts", [1, 2, 3, 4, 7])
def test_every_motion_satisfies_newton_coulomb_and_the_second_variation(n_contacts):
    worst: dict[str, float] = {}
    for seed in range(40):
        p = random_problem(np.random.default_rng(seed), n_contacts)
        for m in answer(p).motions:
            told = [(m.acceleration, m.forces)]
            if m.family:
                told += [(e.acceleration, e.forces) for e in m.family.ends if e is not None]
            for a, forces in told:
                for name, value in residuals(p, a, forces).items():
                    worst[name] = max(worst.get(name, 0.0), value)
    assert {name: v for name, v in worst.items() if v > 1e-10} == {}


# ------------------------------------------------------------------ invariance


def rotated(p: Problem, angle: float) -> Problem:
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    velocity = np.append(R @ p.velocity[:2], p.velocity[2])
    return Problem(
        p.mass,
        p.inertia,
        p.points @ R.T,
        p.normals @ R.T,
        p.mu,
        velocity,
        R @ p.force,
        p.torque,
        p.curvature_body,
        p.curvature_obstacle,
    )


def mirrored(p: Problem) -> Problem:
    flip = np.array([-1.0, 1.0])
    return Problem(
        p.mass,
        p.inertia,
        p.points * flip,
        p.normals * flip,
        p.mu,
        p.velocity * [-1, 1, -1],
        p.force * flip,
        -p.torque,
        p.curvature_body,
        p.curvature_obstacle,
    )


def scaled(p: Problem, length: float, time: float, mass: float) -> Problem:
    return Problem(
        p.mass * mass,
        p.inertia * mass * length**2,
        p.points * length,
        p.normals * 3.0,
        p.mu,
        p.velocity * np.array([length, length, 1.0]) / time,
        p.force * mass * length / time**2,
        p.torque * mass * length**2 / time**2,
        p.curvature_body / length,
        p.curvature_obstacle / length,
    )


def reordered(p: Problem) -> Problem:
    back = slice(None, None, -1)
    return Problem(
        p.mass,
        p.inertia,
        p.points[back],
        p.normals[back],
        p.mu[back],
        p.velocity,
        p.force,
        p.torque,
        p.curvature_body[back],
        p.curvature_obstacle[back],
    )


SWAP = {"slip left": "slip right", "slip right": "slip left"}
ANGLE = 0.7
TURN = np.array([[np.cos(ANGLE), -np.sin(ANGLE), 0], [np.sin(ANGLE), np.cos(ANGLE), 0], [0, 0, 1]])
CHANGES = {
    "rotation": (lambda p: rotated(p, ANGLE), lambda m: m, lambda a: a @ TURN.T),
    "mirror": (
        mirrored,
        lambda m: tuple(SWAP.get(x, x) for x in m),
        lambda a: a * np.array([-1, 1, -1]),
    ),
    "scale": (
        lambda p: scaled(p, 1e-3, 20.0, 50.0),
        lambda m: m,
        lambda a: a * np.array([1e-3, 1e-3, 1.0]) / 400.0,
    ),
    "order": (reordered, lambda m: m[::-1], lambda a: a),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_answer_does_not_depend_on(change):
    transform, modes_of, acceleration_of = CHANGES[change]
    for seed in range(48):
        p = random_problem(np.random.default_rng(seed), 1 + seed % 4)
        before, after = answer(p), answer(transform(p))
        assert before.verdict == after.verdict, seed
        told = {m.modes: m for m in after.motions}
        assert {modes_of(m.modes) for m in before.motions} == set(told), seed
        for m in before.motions:
            other = told[modes_of(m.modes)]
            if m.family is None:
                expected = acceleration_of(m.acceleration)
                np.testing.assert_allclose(
                    other.acceleration, expected, rtol=0, atol=1e-8 * np.abs(expected).max()
                )
            else:
                assert m.family.dimension == other.family.dimension
                assert len(m.family.rays) == len(other.family.rays)
                corners = acceleration_of(m.family.corners)
                apart = np.abs(corners[:, None] - other.family.corners[None]).max(axis=-1)
                assert apart.min(axis=1).max() <= 1e-8 * np.abs(corners).max(), seed
                assert len(corners) == len(other.family.corners)


# ------------------------------------------------------------------ many forces at once


def test_classes_of_many_forces_are_those_of_single_answers():
    rng = np.random.default_rng(0)
    for seed in range(12):
        p = random_problem(rng, 1 + seed % 4)
        state = planar_state(
            mass=p.mass, inertia=p.inertia, points=p.points, normals=p.normals, mu=p.mu
        )
        forces, torques = rng.normal(size=(20, 2)), rng.normal(size=20)
        classes = classify_forces(state, forces, torques)
        for force, torque, flags in zip(forces, torques, classes, strict=True):
            result = possible_motions(state, force=force, torque=torque)
            told = {response(m.acceleration, m.modes) for m in result.motions}
            families = [m.family for m in result.motions if m.family]
            ends = {response(e.acceleration, e.modes) for f in families for e in f.ends if e}
            assert told <= set(Response(int(flags)).words)
            if all(f.dimension == 1 for f in families):
                assert set(Response(int(flags)).words) <= told | ends
            assert bool(flags & Response.JAM) == result.zero_net_force


def response(acceleration, modes) -> str:
    if np.abs(acceleration).max() < 1e-9:
        return "jam"
    if set(modes) == {"break"}:
        return "lift"
    return "slide" if set(modes) <= {"slip left", "slip right"} else "tip"


def test_directions_of_the_three_point_example_end_at_the_friction_angle():
    state = load_problem("three-points").state()
    ranges = {r.response.words[0]: r for r in direction_ranges(state, magnitude=1.0)}
    half = np.arctan(0.25)
    jam = ranges["jam"]
    np.testing.assert_allclose(
        [jam.start, jam.end], [1.5 * np.pi - half, 1.5 * np.pi + half], atol=1e-9
    )
    covered = sum(r.end - r.start for r in direction_ranges(state, magnitude=1.0))
    assert covered == pytest.approx(2 * np.pi)
