"""The share of each point: what it must satisfy, and another solver's answer."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from stiction.biped.grf.split import (
    PIVOT_SLACK,
    SLACK,
    split_reaction,
    split_shares,
)
from stiction.complementarity import cone_projection_derivative, project_to_cone

N_POINTS = 6
FEET = np.repeat(np.eye(2), N_POINTS // 2, axis=0)
CORNERS = np.array(
    [[0.1, 0.05, 0], [0.1, -0.05, 0], [-0.15, 0, 0], [0.6, 0.2, 0], [0.6, 0.1, 0], [0.35, 0.15, 0]]
)
# Sums and cones hold to rounding: forces are body weights, so 1e-11 is a billionth of a newton.
EXACT = 1e-11

plain = split_reaction
aimed = functools.partial(split_reaction, feet=FEET)
shares = functools.partial(split_shares, feet=FEET)


@st.composite
def problems(draw):
    """A force inside the cone, a moment, points on the ground and how near they are."""
    number = functools.partial(draw, st.floats(-1, 1))
    mu = draw(st.floats(0.1, 1.5))
    load = draw(st.floats(0.02, 2.0))
    angle, size = np.pi * number(), draw(st.floats(0, 0.98))
    force = load * np.array([mu * size * np.cos(angle), mu * size * np.sin(angle), 1.0])
    points = np.array([[0.5 * number(), 0.3 * number(), 0.0] for _ in range(N_POINTS)])
    near = np.array([max(0.0, number()) for _ in range(N_POINTS)])
    near[draw(st.integers(0, N_POINTS - 1))] = 0.5 + 0.5 * abs(number())
    moment = load * np.array([0.2 * number(), 0.3 * number(), 0.05 * number()])
    return force, moment, points, near, mu


def arrays(problem):
    return tuple(np.asarray(x, float) for x in problem)


@settings(max_examples=150)
@given(problems())
def test_forces_add_up_stay_in_their_cones_and_never_pull(problem):
    force, _, _, near, mu = problem
    for solve, more in ((plain, {}), (aimed, {"pivot": np.array([0.1, 0.0, 1.2])})):
        split = solve(*arrays(problem), **more)
        f = np.asarray(split.force)
        assert split.converged
        assert split.steps < 40
        assert_allclose(f.sum(0), force, atol=EXACT)
        assert (np.linalg.norm(f[:, :2], axis=1) <= mu * f[:, 2] + EXACT).all()
        assert (f[:, 2] >= 0).all()
        assert (f[near == 0] == 0).all()


def cross_matrix(r):
    x, y, z = r
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def quadratic(problem, pivot=None):
    """What is minimised, fᵀ H f / 2 - cᵀ f + constant, written out from the docstring."""
    _, moment, points, near, _ = problem
    turn = np.concatenate([cross_matrix(r) for r in points], axis=1)
    H = np.diag(np.repeat(1 / near, 3)) + turn.T @ turn / SLACK
    c = turn.T @ moment / SLACK
    if pivot is not None:
        for foot in FEET.T:
            about = np.concatenate(
                [w * cross_matrix(r - pivot) for w, r in zip(foot, points, strict=True)], axis=1
            )
            H += about.T @ about / (PIVOT_SLACK + SLACK)
    return H, c


@pytest.mark.parametrize("aim", [False, True])
def test_no_other_forces_are_better(aim):
    """Against SciPy's SLSQP on the same problem: it finds nothing lower."""
    problem = (
        np.array([0.1, -0.05, 1.0]),
        np.array([0.06, -0.1, 0.03]),
        CORNERS,
        np.array([1.0, 0.3, 0.8, 0.5, 1.0, 0.2]),
        0.3,
    )
    pivot = np.array([0.2, 0.05, 1.2]) if aim else None
    more = {"pivot": pivot} if aim else {}
    ours = np.asarray((aimed if aim else plain)(*arrays(problem), **more).force).ravel()
    H, c = quadratic(problem, pivot)
    force, mu = problem[0], problem[4]

    def room(f):
        f = f.reshape(-1, 3)
        return (mu * f[:, 2]) ** 2 - (f[:, :2] ** 2).sum(1)

    theirs = minimize(
        lambda f: f @ H @ f / 2 - c @ f,
        np.tile(force / N_POINTS, N_POINTS),
        jac=lambda f: H @ f - c,
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda f: f.reshape(-1, 3).sum(0) - force},
            {"type": "ineq", "fun": lambda f: f.reshape(-1, 3)[:, 2]},
            {"type": "ineq", "fun": room},
        ],
        options={"maxiter": 500, "ftol": 1e-14},
    )
    value = ours @ H @ ours / 2 - c @ ours
    assert value <= theirs.fun + 1e-7 * (1 + abs(theirs.fun))
    assert_allclose(ours, theirs.x, atol=5e-3)  # SLSQP stalls at the tips of cones
    assert (np.abs(room(ours)) < 1e-9).any()  # the cones matter here


def test_a_moment_that_can_be_matched_is_matched():
    """Forces under the centre of pressure: error of the order of the slack."""
    f = np.array(
        [[0.02, 0, 0.3], [0, 0.01, 0.2], [0, 0, 0.1], [0, 0, 0.2], [0.01, 0, 0.1], [0, 0, 0.1]]
    )
    problem = (f.sum(0), np.cross(CORNERS, f).sum(0), CORNERS, np.ones(6), 0.8)
    split = plain(*arrays(problem))
    assert np.abs(split.moment_error).max() < 20 * SLACK


def test_where_nothing_limits_the_forces_they_are_the_least_norm_ones():
    """Inside all cones: the weighted pseudo-inverse, in the limit of no slack."""
    near = np.array([1.0, 0.5, 0.8, 1.0, 0.7, 0.9])
    f = np.array([[0.01, 0.02, 0.2]] * 6)
    wrench = np.concatenate([f.sum(0), np.cross(CORNERS, f).sum(0)])
    A = np.zeros((6, 18))
    for k, (x, y, z) in enumerate(CORNERS):
        A[:3, 3 * k : 3 * k + 3] = np.eye(3)
        A[3:, 3 * k : 3 * k + 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    weights = np.repeat(near, 3)
    expected = weights * (A.T @ np.linalg.solve(A * weights @ A.T, wrench))
    split = plain(*arrays((wrench[:3], wrench[3:], CORNERS, near, 2.0)), slack=np.full(3, 1e-12))
    assert_allclose(np.asarray(split.force).ravel(), expected, atol=1e-8)


def test_one_point_bears_all():
    near = np.zeros(6)
    near[4] = 0.3
    force = np.array([0.1, -0.2, 0.9])
    split = plain(*arrays((force, np.ones(3), CORNERS, near, 0.5)))
    assert_allclose(split.force[4], force, atol=EXACT)


def test_the_feet_mirror_each_other():
    """A symmetric stance shares equally."""
    points = np.array([[0.1, s * (0.1 + d), 0] for s in (1, -1) for d in (0, 0.05, 0.1)])
    problem = (np.array([0, 0, 1.0]), np.zeros(3), points, np.ones(6), 0.8)
    for split in (plain(*arrays(problem)), aimed(*arrays(problem), pivot=np.array([0, 0, 1.2]))):
        f = np.asarray(split.force)
        assert_allclose(f[:3].sum(0)[2], 0.5, atol=1e-12)
        assert_allclose(f[:3, 2], f[3:, 2], atol=1e-12)


def test_aimed_forces_point_near_the_pivot():
    """Two feet apart, nothing else to decide: each force leans towards the pivot."""
    points = np.array([[-0.3, 0.1, 0], [-0.3, 0.05, 0], [-0.3, 0.15, 0]] * 2)
    points[3:, 0] = 0.3
    problem = (np.array([0, 0, 1.0]), np.zeros(3), points, np.ones(6), 0.8)
    height = 1.2
    pivot = np.array([0, 0.1, height])
    behind = np.asarray(aimed(*arrays(problem), pivot=pivot).force)[:3].sum(0)
    lean, towards = behind[0] / behind[2], 0.3 / height
    assert 0.5 * towards < lean <= towards
    assert_allclose(np.asarray(plain(*arrays(problem)).force)[:3].sum(0)[0], 0, atol=1e-9)


@settings(max_examples=60)
@given(problems(), st.floats(0.1, 0.9))
def test_shares_keep_each_foots_force(problem, part):
    force, moment, points, near, mu = problem
    near = np.maximum(near, 0.1)
    forces = np.stack([part * force, (1 - part) * force])
    split = shares(*arrays((forces, moment, points, near, mu)))
    f = np.asarray(split.force)
    assert split.converged
    assert_allclose(FEET.T @ f, forces, atol=EXACT)
    assert (np.linalg.norm(f[:, :2], axis=1) <= mu * f[:, 2] + EXACT).all()


@settings(max_examples=100)
@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.floats(0.05, 2.0))
def test_projection_is_the_nearest_point_of_the_cone(x, mu):
    x = np.array(x)
    p = np.asarray(project_to_cone(jnp.asarray(x), jnp.asarray(mu)))
    r, tolerance = x - p, 1e-12 * (1 + np.abs(x).max())
    assert np.linalg.norm(p[:2]) <= mu * p[2] + tolerance
    assert abs(r @ p) <= 10 * tolerance
    assert mu * np.linalg.norm(r[:2]) <= -r[2] + 10 * tolerance  # the rest, in the polar cone


@pytest.mark.parametrize("x", [[0.1, 0.2, 1.0], [1.0, -0.5, 0.3], [0.5, 0.1, -0.2]])
def test_the_projections_derivative_is_its_derivative(x):
    """Of the closed form: beside the cone with u = x_t / |x_t|, c = (μ u, 1), s = c·x / (1 + μ²),

    P' = c cᵀ / (1 + μ²) + μ s / |x_t| (1 - u uᵀ)_t; the identity inside.
    """
    x, mu = np.array(x), 0.6
    size = np.hypot(*x[:2])
    u = x[:2] / size
    c = np.array([*(mu * u), 1.0])
    across = np.array([-u[1], u[0], 0.0])
    s = c @ x / (1 + mu**2)
    beside = np.outer(c, c) / (1 + mu**2) + mu * s / size * np.outer(across, across)
    expected = np.eye(3) if size <= mu * x[2] else beside
    D = cone_projection_derivative(jnp.asarray(x), jnp.asarray(mu))
    assert_allclose(D, expected, atol=1e-12)


def test_instants_together_are_instants_alone():
    rng = np.random.default_rng(5)
    n = 7
    force = np.array([0.1, 0.05, 1.0]) * rng.uniform(0.5, 1, (n, 3))
    moment, points = 0.05 * rng.normal(size=(n, 3)), CORNERS + 0.01 * rng.normal(size=(n, 6, 3))
    near, mu = rng.uniform(0, 1, (n, 6)), rng.uniform(0.3, 0.9, n)
    pivot = np.array([0.1, 0.0, 1.2]) + 0.1 * rng.normal(size=(n, 3))
    together = aimed(force, moment, points, near, mu, pivot=pivot)
    assert together.converged.all()
    for k in range(n):
        alone = aimed(force[k], moment[k], points[k], near[k], mu[k], pivot=pivot[k])
        assert_allclose(together.force[k], alone.force, atol=1e-12)
