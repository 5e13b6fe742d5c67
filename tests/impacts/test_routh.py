"""Newton's, Poisson's and Stronge's laws for one contact, in the plane and in space."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from impact_problems import batch_of_problems

from stiction._base.compile import quick_jit
from stiction.impacts import ImpactProblem, impact_law

COUNT = 400  # one size for all tests: one compilation for each law and dimension
NAMES = ("newton", "poisson", "stronge")
LAWS = {name: quick_jit(jax.vmap(impact_law(name, "off"))) for name in NAMES}
WORK = quick_jit(jax.vmap(lambda p, i: jnp.sum(p.work(i))))
AFTER = quick_jit(jax.vmap(lambda p, i: p.velocity_after(i)))


def one_contact(W, u, e, mu) -> ImpactProblem:
    """A batch of one-contact problems with one coefficient of friction."""
    count = len(u)
    ones = np.ones((count, 1))
    e, mu = (np.broadcast_to(np.asarray(x, float), count)[:, None] for x in (e, mu))
    fields = (W, np.asarray(u)[:, None, :], ones > 0, e, mu, mu, ones, ones, ones[:, 0], ones[:, 0])
    return jax.vmap(ImpactProblem)(*map(jnp.asarray, fields))


def follow(W, u, e, mu_s, mu_d, law, steps=200_000):
    """The same impact in tiny equal steps of normal impulse, implicit in friction (NumPy)."""
    k = u.size - 1
    u, p, dp = u.copy(), np.zeros(k + 1), 2.0 * abs(u[-1]) / W[-1, -1] / steps * 4
    hold = np.linalg.solve(W[:k, :k], W[:k, k])
    stuck, u_n0, work, p_c, w_c = False, u[-1], 0.0, None, None
    while True:
        speed = np.linalg.norm(u[:k])
        if not stuck and speed < 2 * dp * np.abs(W).sum():
            stuck = np.linalg.norm(hold) <= mu_s
        f = -hold if stuck else -mu_d * u[:k] / max(speed, 1e-300)
        d = np.append(f, 1.0)
        new = u + dp * W @ d
        work += dp * (u[-1] + new[-1]) / 2
        u, p = new, p + dp * d
        if p_c is None and u[-1] >= 0:
            p_c, w_c = p[-1], work
        if p_c is not None:
            ends = {
                "newton": u[-1] >= -e * u_n0,
                "poisson": p[-1] >= (1 + e) * p_c,
                "stronge": work >= (1 - e * e) * w_c,
            }
            if ends[law]:
                return p


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_impulses_are_those_of_tiny_steps(name, dim):
    """The steps find the end of slip only to about ten of them, 1e-2 of the impulse."""
    p = batch_of_problems(np.random.default_rng(3), COUNT, 1, dim, coupling=0.6)
    found = np.asarray(LAWS[name](p).impulse)[:, 0]
    for b in range(5):
        W, u, e, s, d = (
            np.asarray(x)[b] for x in (p.W, p.velocity, p.restitution, p.mu_static, p.mu_dynamic)
        )
        expected = follow(W, u[0], e[0], s[0], d[0], name, steps=8000)
        np.testing.assert_allclose(found[b], expected, atol=1e-2 * np.linalg.norm(expected))


@pytest.mark.parametrize("dim", [2, 3])
def test_each_law_ends_restitution_as_it_says(dim):
    p = batch_of_problems(np.random.default_rng(1), COUNT, 1, dim)
    e = np.asarray(p.restitution)[:, 0]
    u_n = np.asarray(p.velocity)[:, 0, -1]
    solutions = {name: LAWS[name](p) for name in NAMES}
    for s in solutions.values():
        assert np.all(s.feasible)
        # Friction never needs more than it has.
        impulse = np.asarray(s.impulse)[:, 0]
        rub = np.linalg.norm(impulse[:, :-1], axis=1)
        assert np.all(rub <= np.asarray(p.mu_static)[:, 0] * impulse[:, -1] * (1 + 1e-9))
    after = np.asarray(AFTER(p, solutions["newton"].impulse))[:, 0]
    np.testing.assert_allclose(after[:, -1], -e * u_n, rtol=1e-9, atol=1e-12)
    # With e = 0 all three end with compression; Poisson's impulse is (1 + e) times as large.
    plastic = eqx.tree_at(lambda p: p.restitution, p, jnp.zeros_like(p.restitution))
    ends = [np.asarray(LAWS[name](plastic).impulse)[:, 0] for name in NAMES]
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ends[2], ends[0], rtol=1e-9, atol=1e-12)
    normal = np.asarray(solutions["poisson"].impulse)[:, 0, -1]
    np.testing.assert_allclose(normal, (1 + e) * ends[0][:, -1], rtol=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
def test_who_sticks_has_no_slip_left_and_who_slips_rubs_fully_against_it(dim):
    p = batch_of_problems(np.random.default_rng(2), COUNT, 1, dim)
    s = LAWS["stronge"](p)
    slip = np.linalg.norm(np.asarray(AFTER(p, s.impulse))[:, 0, :-1], axis=1)
    sticks = np.asarray(s.sticks)[:, 0]
    assert 20 < sticks.sum() < COUNT - 20
    assert np.all(slip[sticks] < 1e-12)
    assert np.all(slip[~sticks] > 1e-9)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_laws_agree_for_central_impacts(dim):
    """Where friction does not change the normal motion, W_tn = 0, e means the same to all."""
    rng = np.random.default_rng(4)
    p = batch_of_problems(rng, COUNT, 1, dim)
    W = np.asarray(p.W).copy()
    W[:, :-1, -1] = W[:, -1, :-1] = 0
    p = eqx.tree_at(lambda p: p.W, p, jnp.asarray(W))
    impulses = [np.asarray(LAWS[name](p).impulse) for name in NAMES]
    np.testing.assert_allclose(impulses[1], impulses[0], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(impulses[2], impulses[0], rtol=1e-9, atol=1e-11)


def test_the_laws_agree_where_slip_does_not_stop_in_the_plane():
    """In the plane, slip that goes on in its direction makes u_n linear in p: one e for all."""
    p = batch_of_problems(np.random.default_rng(5), COUNT, 1, 2)
    before = np.asarray(p.velocity)[:, 0, 0]
    impulses = [np.asarray(LAWS[name](p).impulse)[:, 0] for name in NAMES]
    full = np.asarray(p.mu_dynamic)[:, 0]
    goes_on = np.all(
        [np.abs(i[:, 0] + np.sign(before) * full * i[:, 1]) < 1e-12 * i[:, 1] for i in impulses],
        axis=0,
    )
    assert 40 < goes_on.sum() < COUNT - 40
    for other in impulses[1:]:
        np.testing.assert_allclose(other[goes_on], impulses[0][goes_on], rtol=1e-10)
    assert np.max(np.abs(impulses[2][~goes_on] - impulses[0][~goes_on])) > 1e-2


@pytest.mark.parametrize("dim", [2, 3])
def test_stronge_and_poisson_never_create_energy_and_newton_does(dim):
    p = batch_of_problems(np.random.default_rng(6), COUNT, 1, dim)
    gain = {name: np.asarray(WORK(p, LAWS[name](p).impulse)) for name in NAMES}
    assert gain["stronge"].max() < 1e-12
    assert gain["poisson"].max() < 1e-12
    assert gain["newton"].max() > 1e-3  # far more than rounding


def test_kane_s_pendulum_gains_energy_by_newton_s_law_only():
    """A double pendulum whose tip strikes the ground while friction reverses its slip."""
    # Two rods of length 1 and mass 1, at 20 and 30 degrees from the vertical.
    a, b = np.deg2rad([20.0, 30.0])
    M = np.array([[4 / 3, np.cos(a - b) / 2], [np.cos(a - b) / 2, 1 / 3]])
    J = np.array([[np.cos(a), np.cos(b)], [np.sin(a), np.sin(b)]])
    W = J @ np.linalg.solve(M, J.T)
    rates = np.stack([np.full(COUNT, -0.1), np.linspace(-0.4, 0.05, COUNT)], axis=1)
    u = rates @ J.T
    assert np.all(u[:, 1] < 0)
    p = one_contact(np.tile(W, (COUNT, 1, 1)), u, 0.7, 0.5)
    gain = {name: np.asarray(WORK(p, LAWS[name](p).impulse)) for name in NAMES}
    kinetic = 0.5 * np.einsum("bi,ij,bj->b", rates, M, rates)
    assert np.max(gain["newton"] / kinetic) > 0.01
    assert np.max(gain["poisson"]) < 1e-12
    assert np.max(gain["stronge"]) < 1e-12


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_an_oblique_sphere_sticks_when_it_should(name, dim):
    """If μ (1 + e) |v_n| >= 2/7 |v_t| it rolls off, v_t⁺ = 5/7 v_t; else it slips all the way."""
    W = np.diag([3.5] * (dim - 1) + [1.0])  # unit mass: 1 + 5/2 along tangents
    mu, e, v_n = 0.3, 0.6, 2.0
    limit = mu * (1 + e) * v_n * 7 / 2
    v_t = (
        np.concatenate([np.linspace(0.1, 0.999, COUNT // 2), np.linspace(1.001, 2, COUNT // 2)])
        * limit
    )
    way = np.array([1.0]) if dim == 2 else np.array([0.6, -0.8])
    u = np.concatenate([v_t[:, None] * way, np.full((COUNT, 1), -v_n)], axis=1)
    s = LAWS[name](one_contact(np.tile(W, (COUNT, 1, 1)), u, e, mu))
    impulse = np.asarray(s.impulse)[:, 0]
    np.testing.assert_array_equal(np.asarray(s.sticks)[:, 0], v_t < limit)
    centre = v_t + impulse[:, :-1] @ way  # the centre's velocity
    expected = np.where(v_t < limit, 5 / 7 * v_t, v_t - mu * (1 + e) * v_n)
    np.testing.assert_allclose(centre, expected, rtol=1e-9)
    np.testing.assert_allclose(impulse[:, -1], (1 + e) * v_n, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "dim"), [("newton", 2), ("poisson", 2), ("stronge", 2), ("stronge", 3)]
)
def test_derivatives_are_those_of_differences(name, dim):
    p = batch_of_problems(np.random.default_rng(8), COUNT, 1, dim)
    law = impact_law(name, "off")

    def impulse(x, problem):
        u, e, mu = x[:dim], x[dim:-1], x[-1:]
        new = ImpactProblem(
            problem.W, u[None], problem.active, e, mu, mu, e, e, problem.kinetic, problem.energetic
        )
        return law(new).impulse[0]

    x = jnp.concatenate([p.velocity[:, 0], p.restitution, p.mu_static], axis=1)
    slope = np.asarray(quick_jit(jax.vmap(jax.jacfwd(impulse)))(x, p))
    value = quick_jit(jax.vmap(impulse))
    h = 1e-6
    for j in range(dim + 2):
        step = jnp.zeros(dim + 2).at[j].set(h)[None]
        difference = np.asarray(value(x + step, p) - value(x - step, p)) / (2 * h)
        # A few have a kink within h: all but the worst are compared.
        error = np.abs(slope[..., j] - difference).max(axis=1) / (1 + np.abs(difference).max())
        assert np.sort(error)[-5] < 1e-6


@pytest.mark.parametrize("dim", [2, 3])
def test_a_batch_is_a_loop(dim):
    p = batch_of_problems(np.random.default_rng(9), COUNT, 1, dim)
    law = quick_jit(impact_law("stronge", "off"))
    together = np.asarray(LAWS["stronge"](p).impulse)
    for b in range(4):
        alone = law(jax.tree.map(lambda x: x[b], p)).impulse  # noqa: B023
        np.testing.assert_allclose(together[b], alone, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("law", NAMES)
@pytest.mark.parametrize("line", [(-0.1, 0.05, 1.0), (-0.1, 1.0)])
def test_a_contact_that_can_move_along_one_line_only_rebounds(law, line, rng):
    """W has rank 1, and slip ends together with compression; without friction all laws agree."""
    w = np.asarray(line) * rng.uniform(0.5, 2.0, (COUNT, 1))
    problems = one_contact(w[:, :, None] * w[:, None, :], -1.7 * w, 0.5, 0.0)
    solution = LAWS[law](problems)
    assert np.all(solution.feasible)
    np.testing.assert_allclose(AFTER(problems, solution.impulse)[:, 0], 0.85 * w, atol=1e-12)
