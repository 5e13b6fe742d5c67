"""Derivatives by the implicit function theorem against finite differences; jit and vmap."""

import jax
import jax.numpy as jnp
import lcp_problems
import numpy as np
import pytest
from jax.test_util import check_grads

from stiction.complementarity import lcp_residual, solve_cone, solve_lcp
from stiction.impacts import solve_impact

# Central differences with the step of `check_grads` (1e-5) of functions with curvatures up to 1e3.
NEAR = {"atol": 1e-5, "rtol": 1e-5}


@pytest.mark.parametrize("method", ["lemke", "newton", "interior"])
def test_lcp_derivatives_agree_with_finite_differences(rng, method):
    M, q = (a[0] for a in lcp_problems.positive_definite(rng, 1, 6))

    @jax.jit
    def value(M, q):
        return solve_lcp(M, q, method=method, throw=False).value

    assert 0 < np.sum(value(M, q) > 1e-6) < 6
    check_grads(value, (M, q), order=1, modes=("fwd", "rev"), **NEAR)


def value_and_jacobian(function):
    """Both in one compiled program: the solver is most of it."""

    @jax.jit
    def both(*args):
        value, pull = jax.vjp(function, *args)
        return value, jax.vmap(pull)(jnp.eye(value.size))

    return both


def check_jacobian(function, args, rng):
    """Along random directions, by central differences of O(1) functions: good to 1e-9 or so."""
    both = value_and_jacobian(function)
    _, jacobians = both(*args)
    step = 1e-6
    for _ in range(5):
        along = [rng.normal(size=np.shape(a)) for a in args]
        ahead, behind = (
            both(*(a + s * step * d for a, d in zip(args, along, strict=True)))[0] for s in (1, -1)
        )
        slope = sum(
            np.reshape(J, (len(J), -1)) @ d.ravel() for J, d in zip(jacobians, along, strict=True)
        )
        np.testing.assert_allclose((ahead - behind) / (2 * step), slope, atol=1e-5, rtol=1e-5)


@pytest.mark.slow
def test_derivative_of_a_sliding_and_a_sticking_contact_is_known():
    """One contact with W = I, u_n = -1: γ_n = 1; sliding, γ_t = -μ γ_n u_t / |u_t|."""
    W = jnp.eye(3)
    mu = jnp.array([0.4])
    both = value_and_jacobian(lambda b, mu: solve_cone(W, b, mu, throw=False).value)
    value, (_, by_mu) = both(jnp.array([3.0, 4.0, -1.0]), mu)
    np.testing.assert_allclose(value, [-0.24, -0.32, 1], atol=1e-12)
    np.testing.assert_allclose(by_mu[:, 0], [-0.6, -0.8, 0], atol=1e-10)
    _, (by_b, by_mu) = both(jnp.array([0.03, 0.04, -1.0]), mu)
    np.testing.assert_allclose(by_mu[:, 0], 0, atol=1e-10)
    np.testing.assert_allclose(by_b, -np.eye(3), atol=1e-10)


@pytest.mark.slow
def test_cone_derivatives_agree_with_finite_differences(rng):
    W, b, mu = (a[0] for a in lcp_problems.contacts(rng, 1, 3, mu=(0.2, 0.8)))
    b[2::3] = -np.abs(b[2::3])  # all approach

    def value(W, b, mu):
        # W stays symmetric, as the definition asks.
        W = (W + W.T) / 2
        return solve_cone(W, b, mu, tolerance=1e-14, throw=False).value

    gamma = np.asarray(solve_cone(W, b, mu).value)
    u = (W @ gamma + b).reshape(3, 3)
    slips = np.linalg.norm(u[:, :2], axis=1) > 1e-6
    assert np.any(slips & (gamma[2::3] > 1e-6))
    check_jacobian(value, (W, b, mu), rng)


@pytest.mark.slow
def test_impact_derivatives_pass_through_both_phases(rng):
    W, b, mu = (a[0] for a in lcp_problems.contacts(rng, 1, 2, mu=(0.2, 0.8)))
    b[2::3] = -np.abs(b[2::3])  # both approach

    def velocity(b, e):
        return solve_impact(W, b, mu, restitution=e, law="poisson", throw=False).velocity

    check_jacobian(velocity, (b, np.array([0.3, 0.6])), rng)


@pytest.mark.slow
def test_redundant_contacts_have_finite_derivatives():
    """Four legs of a table: γ is not unique, the derivative of u is, and nothing is nan."""
    W, b, mu = lcp_problems.box_on_floor(mass=2.0, velocity=[0.3, 0, -1, 0, 0, 0], mu=0.5)
    value = jax.jit(lambda b: W @ solve_cone(W, b, mu, throw=False).value + b)
    jacobian = np.asarray(jax.jacrev(value)(jnp.asarray(b)))
    assert np.all(np.isfinite(jacobian))


@pytest.mark.parametrize("method", ["lemke", "newton", "interior", "pgs"])
def test_a_batch_gives_what_its_lanes_give(rng, method):
    """Lanes that stop at different times do not disturb each other."""
    M, q = lcp_problems.positive_definite(rng, 7, 6)
    M = (M + M.swapaxes(1, 2)) / 2
    q[3] = np.abs(q[3])  # a lane with nothing to do
    one = jax.jit(lambda M, q: solve_lcp(M, q, method=method, throw=False))
    batch = jax.jit(jax.vmap(one))(M, q)
    lanes = [one(m, v) for m, v in zip(M, q, strict=True)]
    np.testing.assert_array_equal(batch.iterations, [lane.iterations for lane in lanes])
    np.testing.assert_allclose(batch.value, np.stack([lane.value for lane in lanes]), atol=1e-12)


def test_the_form_for_accelerators_pivots_all_lanes_together(rng):
    """`lemke` under a plain `vmap`, as a GPU runs it: finished lanes stay as they are."""
    from stiction.complementarity.lemke import lemke

    M, q = lcp_problems.positive_definite(rng, 16, 6)
    target, most = jnp.array(1e-10), jnp.array(1000, jnp.int32)
    z, pivots, _ = jax.jit(jax.vmap(lambda M, q: lemke(M, q, target, most)))(M, q)
    assert len(set(np.asarray(pivots))) > 2
    assert jnp.max(jax.vmap(lcp_residual)(M, q, z)) < 1e-12
