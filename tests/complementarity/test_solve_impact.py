"""Impacts: the document's square as printed, pyramids, cones, and the two laws of restitution."""

import inspect

import jax
import lcp_problems
import numpy as np
import pytest

from stiction._base.errors import InputError
from stiction.complementarity import pyramid_lcp, solve_lcp, square_lcp
from stiction.impacts import compare_friction, solve_impact

SHAPES = ["cone", "pyramid", "square"]


@pytest.fixture
def problem(rng):
    """Two contacts of an elastic-free mechanism, sliding and pressed: b_n < 0."""
    W, b, mu = (a[0] for a in lcp_problems.contacts(rng, 1, 2, mu=(0.2, 0.6)))
    b = b.reshape(2, 3)
    b[:, 2] = -np.abs(b[:, 2])
    return W, b.reshape(-1), mu


def test_square_has_the_blocks_of_the_document(problem):
    """rodic (52): [[W_Sᵀ H⁻¹ W_S, I_Sᵀ], [N_S - I_S, 0]], nine unknowns a contact."""
    W, b, mu = problem
    lcp = square_lcp(W, b, mu)
    M, q = np.asarray(lcp.M), np.asarray(lcp.q)
    n = 2
    assert M.shape == (9 * n, 9 * n)
    E, Z = np.eye(n), np.zeros((n, n))
    I_S_T = np.block([[Z] * 4, [E, Z, Z, Z], [Z, E, Z, Z], [Z, Z, E, Z], [Z, Z, Z, E]])
    N_S_minus_I_S = np.block(
        [[np.diag(mu)] + [-E if j == i else Z for j in range(4)] for i in range(4)]
    )
    np.testing.assert_array_equal(M[: 5 * n, 5 * n :], I_S_T)
    np.testing.assert_array_equal(M[5 * n :, : 5 * n], N_S_minus_I_S)
    np.testing.assert_array_equal(M[5 * n :, 5 * n :], 0)
    # The blocks of W_Sᵀ H⁻¹ W_S: normal with normal, and each tangent against its opposite.
    t1, t2, normal = (W[i::3][:, i::3] for i in range(3))
    np.testing.assert_allclose(M[:n, :n], normal)
    np.testing.assert_allclose(M[n : 2 * n, n : 2 * n], t1)
    np.testing.assert_allclose(M[2 * n : 3 * n, 4 * n : 5 * n], -t2)
    np.testing.assert_allclose(q[:n], b[2::3])
    np.testing.assert_allclose(q[n : 2 * n], -q[3 * n : 4 * n])
    np.testing.assert_array_equal(q[5 * n :], 0)


def test_square_obeys_the_documents_own_law(problem):
    """rodic (39), (41), (42): each tangent direction has a Coulomb law of its own."""
    W, b, mu = problem
    lcp = square_lcp(W, b, mu)
    gamma = np.asarray(lcp.impulse(solve_lcp(lcp.M, lcp.q).value))
    u = (W @ gamma + b).reshape(2, 3)
    gamma = gamma.reshape(2, 3)
    assert np.abs(np.minimum(gamma[:, 2], u[:, 2])).max() < 1e-10
    for t in (0, 1):
        limit = mu * gamma[:, 2]
        assert np.all(np.abs(gamma[:, t]) <= limit + 1e-10)
        slides = np.abs(u[:, t]) > 1e-9
        np.testing.assert_allclose(
            gamma[slides, t], (-np.sign(u[:, t]) * limit)[slides], atol=1e-10
        )


@pytest.mark.slow
def test_pyramids_come_to_the_cone_and_the_square_does_not(rng):
    """A point mass sliding askew: the direction of friction is off by at most π/k."""
    W, mu = np.eye(3) / 2, np.array([0.5])
    b = np.array([3 * np.cos(0.3), 3 * np.sin(0.3), -1.0])
    sides = (4, 8, 16, 32)
    compared = compare_friction(W, b, mu, n_sides=sides)
    assert compared.shapes == ("square", *(f"pyramid {k}" for k in sides), "cone")
    difference = compared.impulse_difference
    for k, error in zip(sides, difference[1:-1], strict=True):
        assert error <= np.pi / k
    assert difference[-2] < 0.3 * difference[1]
    assert difference[0] > 0.05  # corners of the square: friction is not opposed to sliding
    np.testing.assert_allclose(compared.friction_used[-1], 1, atol=1e-9)
    assert compared.friction_used[0] == pytest.approx(np.sqrt(2), abs=1e-9)
    assert np.all(compared.energy_change <= 1e-12)
    assert "square" in str(compared)
    assert len(compared.rows()) == 6


def test_pyramid_lies_in_the_cone(rng):
    W, b, mu = lcp_problems.contacts(rng, 50, 2)

    @jax.jit
    @jax.vmap
    def impulses(W, b, mu):
        problem = pyramid_lcp(W, b, mu, n_sides=6)
        return problem.impulse(solve_lcp(problem.M, problem.q, throw=False).value)

    gamma = np.asarray(impulses(W, b, mu)).reshape(50, 2, 3)
    size = np.linalg.norm(gamma[..., :2], axis=-1)
    assert np.all(size <= mu * gamma[..., 2] + 1e-9)
    assert size.max() > 0.1


@pytest.mark.parametrize("friction", SHAPES)
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_a_ball_bounces_with_its_coefficient(law, friction):
    """One point without friction: u_n⁺ = -e u_n⁻ and γ = m (1 + e) |u_n⁻| under both laws."""
    W = np.kron(np.eye(2), np.diag([1.0, 1.0, 0.5]))
    b = np.array([0.3, 0.1, -2.0, 0, 0, -2.0])
    impact = solve_impact(
        W, b, np.zeros(2), restitution=np.array([0.6, 0.2]), law=law, friction=friction
    )
    u = np.asarray(impact.velocity).reshape(2, 3)
    np.testing.assert_allclose(u, [[0.3, 0.1, 1.2], [0, 0, 0.4]], atol=1e-10)
    np.testing.assert_allclose(np.asarray(impact.impulse)[2::3], [6.4, 4.8], atol=1e-9)
    share = 1 / 1.6 if law == "poisson" else 1
    np.testing.assert_allclose(impact.compression[2], share * 6.4, atol=1e-9)


@pytest.mark.parametrize("friction", SHAPES)
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_separating_points_are_left_alone(law, friction, problem):
    W, _, mu = problem
    b = np.array([1.0, 0, 0.5, 0, 1.0, 0.2])
    impact = solve_impact(W, b, mu, restitution=0.5, law=law, friction=friction)
    np.testing.assert_allclose(impact.velocity, b, atol=1e-12)


def test_poissons_expansion_gives_back_its_share(problem):
    """γ_n^E ≥ e γ_n^C, with equality where the point separates; friction stays in the cone."""
    W, b, mu = problem
    e = np.array([0.5, 0.8])
    impact = solve_impact(W, b, mu, restitution=e, law="poisson")
    compression = np.asarray(impact.compression).reshape(2, 3)
    expansion = np.asarray(impact.impulse).reshape(2, 3) - compression
    u = np.asarray(impact.velocity).reshape(2, 3)
    beyond = expansion[:, 2] - e * compression[:, 2]
    assert np.abs(np.minimum(beyond, u[:, 2])).max() < 1e-9
    for phase in (compression, expansion):
        assert np.all(np.linalg.norm(phase[:, :2], axis=1) <= mu * phase[:, 2] + 1e-9)
    # Momentum balance: W γ is exactly the change of velocity.
    change = W @ np.asarray(impact.impulse)
    np.testing.assert_allclose(change, np.asarray(impact.velocity) - b, atol=1e-12)


def test_kinetic_energy_falls_without_restitution_and_by_poissons_law(rng):
    """½ γ·(u⁺ + u⁻) is the energy gained. Poisson's law with one e never gains any."""
    W, b, mu = lcp_problems.contacts(rng, 40, 2, mu=(0.0, 0.8))

    @jax.jit
    @jax.vmap
    def gains(W, b, mu):
        out = []
        for e in (0.0, 0.7):
            impact = solve_impact(W, b, mu, restitution=e, law="poisson", throw=False)
            out.append(0.5 * impact.impulse @ (impact.velocity + b))
        return out

    plastic, elastic = (np.asarray(g) for g in gains(W, b, mu))
    assert plastic.max() <= 1e-9
    assert elastic.max() <= 1e-9


def test_three_balls_in_a_row_share_as_poisson_says():
    """Equal balls (1, 0, 0), e = 1, both contacts at once: (-1/3, 2/3, 2/3), as is known."""
    J = np.array([[-1.0, 1, 0], [0, -1, 1]])
    rows = np.zeros((4, 3))
    rows[1::2] = J  # plane contacts (t, n) without tangential motion
    W, v = rows @ rows.T, np.array([1.0, 0, 0])
    impact = solve_impact(W, rows @ v, np.zeros(2), restitution=1.0, law="newton")
    after = v + rows.T @ np.asarray(impact.impulse)
    np.testing.assert_allclose(after, [-1 / 3, 2 / 3, 2 / 3], atol=1e-9)


def test_wrong_requests_name_the_argument(problem):
    W, b, mu = problem
    unchecked = inspect.unwrap(solve_impact)  # without the type check of tests
    with pytest.raises(InputError, match="no friction 'round'"):
        unchecked(W, b, mu, friction="round")
    with pytest.raises(InputError, match="no law 'moreau'"):
        unchecked(W, b, mu, law="moreau")
    with pytest.raises(InputError, match="`n_sides` must be even"):
        pyramid_lcp(W, b, mu, n_sides=5)
    with pytest.raises(InputError, match="3 rows a contact"):
        square_lcp(W[:4, :4], b[:4], mu)
