"""Exact friction cones: Coulomb's law on many random contact problems, and on hard ones."""

import inspect

import jax
import jax.numpy as jnp
import lcp_problems
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stiction._base.errors import InputError, RunError
from stiction.complementarity import (
    SOLVE_RESULTS,
    cone_errors,
    cone_residual,
    project_to_cone,
    project_to_dual_cone,
    solve_cone,
)

# Velocities are of about 1 m/s and masses of about 1 kg in all problems here.
SOLVED = 1e-8

# Tests of single problems have four contacts, so that the solver is compiled once for them.
solve_batch = jax.jit(jax.vmap(lambda W, b, mu: solve_cone(W, b, mu, throw=False)))


def coulomb_errors(W, b, mu, impulse):
    """Largest violation of each part of Coulomb's law, written out apart from the package."""
    count, n_contacts = mu.shape
    u = (np.einsum("bij,bj->bi", W, impulse) + b).reshape(count, n_contacts, 3)
    g = impulse.reshape(count, n_contacts, 3)
    size_g, size_u = np.linalg.norm(g[..., :2], axis=-1), np.linalg.norm(u[..., :2], axis=-1)
    limit = mu * g[..., 2]
    return {
        "signs": np.maximum(-g[..., 2], -u[..., 2]),
        "complementarity": np.abs(g[..., 2] * u[..., 2]),
        "cone": size_g - limit,
        # Friction takes the most power that the disc allows: γt·ut = -μ γn |ut|.
        "dissipation": np.abs(np.sum(g[..., :2] * u[..., :2], axis=-1) + limit * size_u),
    }


@pytest.mark.slow
@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize(
    ("n_contacts", "count"), [(1, 100), (2, 100), (4, 100), (8, 100), (16, 60), (32, 40)]
)
def test_random_contacts_obey_coulombs_law(rng, n_contacts, count, redundant):
    freedoms = max(3, 2 * n_contacts) if redundant else None
    W, b, mu = lcp_problems.contacts(rng, count, n_contacts, freedoms=freedoms)
    solution = solve_batch(W, b, mu)
    assert np.all(np.asarray(solution.result == SOLVE_RESULTS.successful))
    for name, error in coulomb_errors(W, b, mu, np.asarray(solution.value)).items():
        assert error.max() <= SOLVED, name


def test_residual_says_what_is_wrong(rng):
    """Nought at the solution, and about as large as a fault that is put in."""
    W, b, mu = (a[0] for a in lcp_problems.contacts(rng, 1, 4, mu=(0.3, 0.6)))
    gamma = np.asarray(solve_cone(W, b, mu).value)
    assert cone_residual(W, b, mu, gamma) < 1e-9
    for i in range(12):
        spoilt = gamma.copy()
        spoilt[i] += 1e-3
        assert 1e-5 < cone_residual(W, b, mu, spoilt) < 1


def test_errors_tell_pressing_from_sliding():
    """W = I, a point pressed with γ_n = 1 and sliding: without friction only dissipation fails."""
    W, b, mu = np.eye(3), np.array([3.0, 4.0, -1.0]), np.array([0.5])
    errors = cone_errors(W, b, mu, np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(errors.complementarity, [0], atol=1e-15)
    np.testing.assert_allclose(errors.dissipation, [0.5])  # the friction that is missing
    assert cone_residual(W, b, mu, np.array([0.0, 0.0, 1.0])) == pytest.approx(0.5)
    assert cone_residual(W, b, mu, np.array([-0.3, -0.4, 1.0])) == pytest.approx(0, abs=1e-15)
    # Friction across the sliding is on the rim, but does not dissipate the most.
    assert cone_errors(W, b, mu, np.array([-0.4, 0.3, 1.0])).dissipation[0] > 0.4


def test_contacts_that_separate_get_no_impulse(rng):
    W, b, mu = (a[0] for a in lcp_problems.contacts(rng, 1, 4))
    b.reshape(4, 3)[:, 2] = 1 + np.abs(b.reshape(4, 3)[:, 2])
    np.testing.assert_allclose(solve_cone(W, b, mu).value, 0, atol=1e-12)


@pytest.mark.parametrize("mu", [0.0, 0.3, 5.0])
def test_a_box_that_lands_flat_and_slides_obeys_coulombs_law(mu):
    """Redundant corners; without friction the normal impulses share the momentum m v_n."""
    W, b, mus = lcp_problems.box_on_floor(mass=2.0, velocity=[2, 0, -1, 0, 0, 0], mu=mu)
    gamma = np.asarray(solve_cone(W, b, mus).value).reshape(4, 3)
    errors = coulomb_errors(*(a[None] for a in (W, b, mus, gamma.reshape(-1))))
    assert max(error.max() for error in errors.values()) < 1e-8
    if mu == 0:
        np.testing.assert_allclose(gamma[:, 2].sum(), 2.0, rtol=1e-9)  # m v_n
        np.testing.assert_allclose(gamma[:, :2], 0, atol=1e-9)


def test_in_the_plane_the_cone_is_an_interval(rng):
    """Point mass: rows (t, n), W = I / m; slides with γ_t = -μ γ_n, or sticks."""
    W = jnp.eye(2) / 2.0
    sliding = solve_cone(W, jnp.array([3.0, -1.0]), jnp.array([0.5])).value
    np.testing.assert_allclose(sliding, [-1, 2], atol=1e-10)
    sticking = solve_cone(W, jnp.array([0.3, -1.0]), jnp.array([0.5])).value
    np.testing.assert_allclose(sticking, [-0.6, 2], atol=1e-10)


@pytest.mark.parametrize("mu", [0.0, 0.5, 5.0])
@pytest.mark.parametrize("heaviest", [1.0, 1e4, 1e-4])
def test_mass_ratios_of_ten_thousand_are_solved_or_said(mu, heaviest):
    """Four spheres on one another, the top 10,000 times heavier (or lighter) than the bottom."""
    W, b, mus, mass = lcp_problems.stack_of_spheres(4, heaviest=heaviest, mu=mu)
    solution = solve_cone(W, b, mus, throw=False)
    gamma = np.asarray(solution.value).reshape(4, 3)
    assert np.all(np.isfinite(gamma))
    assert np.isclose(solution.residual, cone_residual(W, b, mus, solution.value), atol=1e-15)
    assert solution.result == SOLVE_RESULTS.successful
    assert float(solution.residual) <= 1e-10 * np.abs(b).max()
    # Each contact stops all that stands on it; friction cannot change that in a straight stack.
    np.testing.assert_allclose(gamma[:, 2], 0.01 * np.cumsum(mass[::-1])[::-1], rtol=1e-6)


@pytest.mark.slow
def test_a_hundred_contacts_in_a_stack():
    W, b, mus, mass = lcp_problems.stack_of_spheres(100, mu=0.5)
    solution = solve_cone(W, b, mus, throw=False)
    assert np.all(np.isfinite(solution.value))
    assert solution.result == SOLVE_RESULTS.successful
    normal = np.asarray(solution.value).reshape(100, 3)[:, 2]
    np.testing.assert_allclose(normal, 0.01 * np.cumsum(mass[::-1])[::-1], rtol=1e-6)


def test_admm_comes_to_the_same_velocities(rng):
    W, b, mu = lcp_problems.contacts(rng, 100, 4, mu=(0.1, 1.0))
    exact = solve_batch(W, b, mu)
    admm = jax.vmap(
        lambda W, b, mu: solve_cone(W, b, mu, method="admm", tolerance=1e-8, throw=False)
    )(W, b, mu)
    solved = np.asarray(admm.result == SOLVE_RESULTS.successful)
    assert solved.mean() >= 0.9
    for name, error in coulomb_errors(W, b, mu, np.asarray(admm.value)).items():
        assert error[solved].max() <= 1e-6, name
    assert np.all(np.asarray(admm.residual)[~solved] > 1e-8)
    difference = np.asarray(admm.value - exact.value)[solved]
    # μ ≤ 1 and no redundancy: nearly every problem has one solution, which both find.
    assert np.median(np.abs(difference).max(axis=1)) < 1e-6


def test_fixed_number_of_steps_is_reported_with_its_residual(rng):
    W, b, mu = (a[0] for a in lcp_problems.contacts(rng, 1, 4))
    few, many = (
        solve_cone(W, b, mu, method="admm", tolerance=None, max_iterations=n) for n in (5, 200)
    )
    assert int(few.iterations) == 5
    assert float(many.residual) < 1e-2 * float(few.residual)


def test_a_good_guess_saves_work(rng):
    W, b, mu = (a[0] for a in lcp_problems.contacts(rng, 1, 4))
    cold = solve_cone(W, b, mu, guess=np.zeros(12))
    warm = solve_cone(W, b, mu, guess=cold.value)
    assert int(warm.iterations) < int(cold.iterations)
    np.testing.assert_allclose(warm.value, cold.value, atol=1e-8)


def test_failures_are_said():
    W, b, mu = np.eye(12), np.tile([1.0, 0, -1], 4), np.full(4, 0.5)
    assert solve_cone(W, b * np.nan, mu, throw=False).result == SOLVE_RESULTS.nonfinite
    # The floor cannot be moved and the point cannot stop: no solution exists.
    with pytest.raises(RunError, match="residual"):
        solve_cone(np.zeros((12, 12)), b, mu)
    unchecked = inspect.unwrap(solve_cone)  # without the type check of tests
    with pytest.raises(InputError, match="no method 'sor'"):
        unchecked(W, b, mu, method="sor")
    with pytest.raises(InputError, match="n = 3 n_contacts"):
        unchecked(np.eye(11), np.ones(11), mu)
    with pytest.raises(InputError, match="`tolerance` may be None only"):
        solve_cone(W, b, mu, tolerance=None)


vectors = st.lists(st.floats(-100, 100), min_size=3, max_size=3).map(np.array)
frictions = st.floats(0, 5)
_project = jax.jit(lambda v, mu: (project_to_cone(v, mu), project_to_dual_cone(v, mu)))


@given(vectors, frictions)
def test_projection_is_the_nearest_point(v, mu):
    """Moreau: v - P_K(v) is orthogonal to P_K(v) and lies in the polar cone."""
    p, dual = (np.asarray(a) for a in _project(v, mu))
    tolerance = 1e-12 * (1 + np.abs(v).max()) ** 2 * (1 + mu)
    rest = v - p
    assert np.linalg.norm(p[:2]) <= mu * p[2] + tolerance
    assert abs(rest @ p) <= tolerance
    assert mu * np.linalg.norm(rest[:2]) <= -rest[2] + tolerance
    assert mu * np.linalg.norm(dual[:2]) <= dual[2] + tolerance
