"""A given restitution of every contact velocity (flickinger (3.15)), and (4.11) of any law."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from stiction.impacts import (
    ImpactProblem,
    given_restitution,
    impact_law,
    no_slip,
    restitution_matrix,
    tangential_ratios,
)

N, DIM, NV = 2, 3, 9
GIVEN = eqx.filter_jit(given_restitution)


@pytest.fixture
def impact(rng):
    """Two contacts in space on a system of nine freedoms: J, A, the velocities and the problem."""
    J = rng.normal(size=(N * DIM, NV))
    A = rng.normal(size=(NV, NV))
    A = A @ A.T + NV * np.eye(NV)
    v = rng.normal(size=NV)
    u = (J @ v).reshape(N, DIM)
    J[DIM - 1 :: DIM] *= -np.sign(u[:, -1])[:, None]  # both approach
    u = (J @ v).reshape(N, DIM)
    each = jnp.full(N, 0.4)
    problem = ImpactProblem(
        W=jnp.asarray(J @ np.linalg.solve(A, J.T)), velocity=jnp.asarray(u),
        active=jnp.ones(N, bool), restitution=each, mu_static=2 * each, mu_dynamic=each,
        stribeck_speed=jnp.full(N, 1e-4), stribeck_exponent=jnp.ones(N),
        kinetic=jnp.asarray(0.5 * v @ A @ v), energetic=jnp.asarray(np.inf),
    )  # fmt: skip
    return J, A, v, problem


def test_velocities_after_are_what_the_matrix_asks_for(impact, rng):
    *_, problem = impact
    E = jnp.asarray(rng.normal(size=problem.W.shape))  # couples contacts, tangents and normals
    after = problem.velocity_after(GIVEN(problem, E).impulse)
    wanted = E @ problem.velocity.reshape(-1)
    np.testing.assert_allclose(after.reshape(-1), wanted, rtol=0, atol=1e-10)


def test_generalized_velocities_are_those_of_3_15(impact):
    """q̇⁺ = [I - J̄ J] q̇⁻ + J̄ E J q̇⁻, by the document's own formula with dense matrices."""
    J, A, v, problem = impact
    E = restitution_matrix(jnp.array([0.3, 0.9]), jnp.array([[0.5, 0.1], [-0.2, 0.0]]))
    bar = np.linalg.solve(A, J.T) @ np.linalg.inv(J @ np.linalg.solve(A, J.T))
    after = (np.eye(NV) - bar @ J) @ v + bar @ np.asarray(E) @ J @ v
    impulse = np.asarray(GIVEN(problem, E).impulse).reshape(-1)
    np.testing.assert_allclose(v + np.linalg.solve(A, J.T @ impulse), after, rtol=0, atol=1e-10)


def test_ratios_zero_are_the_no_slip_law(impact):
    *_, problem = impact
    E = restitution_matrix(problem.restitution, jnp.zeros((N, DIM - 1)))
    found, known = GIVEN(problem, E), eqx.filter_jit(no_slip)(problem)
    assert bool(found.feasible)
    assert bool(jnp.all(found.sticks))
    np.testing.assert_allclose(found.impulse, known.impulse, rtol=0, atol=1e-10)


@pytest.mark.parametrize("law", ["no-slip", "lcp"])
def test_the_ratios_of_any_law_give_its_impulses_back(impact, law):
    """(4.11) and (3.14) are each other's inverse, with the normal ratios read off too."""
    *_, problem = impact
    found = eqx.filter_jit(impact_law(law, "off"))(problem)
    after = problem.velocity_after(found.impulse)
    normal = -after[:, -1] / problem.velocity[:, -1]
    E = restitution_matrix(normal, tangential_ratios(problem.velocity, after))
    again = GIVEN(problem, E).impulse
    np.testing.assert_allclose(again, found.impulse, rtol=0, atol=1e-8)


def test_a_contact_that_is_set_in_motion_has_the_ratio_one():
    before = jnp.array([[0.0, -1.0], [0.0, -1.0], [2.0, -1.0]])
    after = jnp.array([[0.3, 0.5], [0.0, 0.5], [-1.0, 0.5]])
    assert tangential_ratios(before, after)[:, 0].tolist() == [1.0, 0.0, -0.5]


def test_what_would_have_to_pull_is_not_feasible(impact):
    *_, problem = impact
    deeper = restitution_matrix(jnp.full(N, -1.5), jnp.zeros((N, DIM - 1)))  # on into the ground
    assert not bool(GIVEN(problem, deeper).feasible)
