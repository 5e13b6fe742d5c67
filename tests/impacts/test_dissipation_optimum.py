"""The dissipation principle (flickinger 4.4-4.10) against a general optimiser from many starts."""

import itertools

import jax
import numpy as np
import pytest
from impact_problems import batch_of_problems
from scipy.optimize import minimize

from stiction._base.compile import quick_jit
from stiction.impacts import impact_law
from stiction.impacts.no_slip import stick_impulse
from stiction.impacts.tangential import tangential_problem

COUNTS = {1: 200, 2: 150, 3: 100, 4: 50}  # by contacts, in the plane and in space: 1000 problems


class Principle:
    """(4.4)-(4.10) for one problem, in the tangential impulses, with derivatives, in NumPy."""

    def __init__(self, maps, problem, stick):
        self.a, self.B, self.c, self.D = (np.asarray(x) for x in (maps.a, maps.B, maps.c, maps.D))
        self.n, s = self.B.shape
        self.k = s // self.n
        self.mu_s, self.v_s = np.asarray(problem.mu_static), np.asarray(problem.stribeck_speed)
        tangential = np.linalg.norm(stick[:, :-1], axis=1)
        needed = np.where(stick[:, -1] > 0, tangential / np.abs(stick[:, -1]), np.inf)
        self.mu_min = np.minimum(np.asarray(problem.mu_dynamic), needed)

    def friction(self, p):
        """μ and its derivative by p."""
        u = (self.c + self.D @ p).reshape(self.n, self.k)
        speed = np.linalg.norm(u, axis=1)
        fade = (self.mu_s - self.mu_min) * np.exp(-speed / self.v_s)
        way = u / np.maximum(speed, 1e-300)[:, None]
        slope = np.einsum("nk,nks->ns", way, self.D.reshape(self.n, self.k, -1))
        return self.mu_min + fade, -(fade / self.v_s)[:, None] * slope

    def cost(self, p):
        mu, dmu = self.friction(p)
        u = self.c + self.D @ p
        short = self.mu_s - mu
        return short @ short + u @ u, -2 * short @ dmu + 2 * u @ self.D

    def cones(self, p):
        """(μ p_n)² - |p_t|² and p_n, all ≥ 0."""
        mu, _ = self.friction(p)
        p_n = self.a + self.B @ p
        rub = np.sum(p.reshape(self.n, self.k) ** 2, axis=1)
        return np.concatenate([(mu * p_n) ** 2 - rub, p_n])

    def cones_slope(self, p):
        mu, dmu = self.friction(p)
        p_n = self.a + self.B @ p
        rub = np.zeros_like(self.B)
        for i in range(self.n):
            rub[i, i * self.k : (i + 1) * self.k] = 2 * p.reshape(self.n, self.k)[i]
        first = 2 * (mu * p_n**2)[:, None] * dmu + 2 * (mu**2 * p_n)[:, None] * self.B - rub
        return np.concatenate([first, self.B])

    def descend(self, start, sticks):
        """SLSQP from a start; contacts that `sticks` are held at zero slip."""
        held = np.repeat(sticks, self.k)
        constraints = [{"type": "ineq", "fun": self.cones, "jac": self.cones_slope}]
        if held.any():
            constraints.append(
                {
                    "type": "eq",
                    "fun": lambda p: (self.c + self.D @ p)[held],
                    "jac": lambda p: self.D[held],
                }
            )
        done = minimize(
            self.cost, start, jac=True, method="SLSQP", constraints=constraints,
            options={"maxiter": 200, "ftol": 1e-12},
        )  # fmt: skip
        within = np.min(self.cones(done.x)) > -1e-9 and np.all(
            np.abs((self.c + self.D @ done.x)[held]) < 1e-7
        )
        return done.fun if within else np.inf

    def best(self, rng):
        """The least cost that SLSQP finds: from many starts, with every choice of who sticks."""
        starts = [
            0 * self.c,
            -0.5 * np.linalg.solve(self.D, self.c),
            0.1 * rng.normal(size=self.c.size),
        ]
        starts = starts if self.n <= 2 else starts[:1]  # each is tried for 2ⁿ choices
        choices = itertools.product([False, True], repeat=self.n)
        return min(self.descend(p, np.array(s)) for s in choices for p in starts)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "dim"), [(n, dim) for n in (1, 2, 3, 4) for dim in (2, 3)])
def test_no_start_finds_a_lower_cost(n, dim, rng, cases):
    per_shape = cases(COUNTS[n])
    problems = batch_of_problems(rng, 4 * per_shape, n, dim, coupling=0.25, mu=(0.1, 1.0))
    law = impact_law("dissipation", "off")

    @quick_jit
    @jax.vmap
    def solved(p):
        found = law(p)
        stick = stick_impulse(p, p.active)
        return tangential_problem(p), stick, found, p.velocity_after(found.impulse)

    maps, stick, solution, after = jax.tree.map(np.asarray, solved(problems))
    # Only oblique ones, in which nothing is released, are optimisation problems at all.
    rub = np.linalg.norm(stick[..., :-1], axis=-1)
    oblique = np.any(rub > np.asarray(problems.mu_static) * stick[..., -1], axis=1)
    chosen = np.flatnonzero(oblique & np.all(np.asarray(maps.active), axis=1))[:per_shape]
    assert len(chosen) > 0.5 * per_shape
    lower, higher = [], []
    for b in chosen:
        one = jax.tree.map(lambda x: np.asarray(x)[b], (maps, problems))  # noqa: B023
        principle = Principle(*one, stick[b])
        p = solution.impulse[b, :, :-1].reshape(-1)
        u_t = after[b, :, :-1].reshape(-1)
        ours = principle.cost(p)[0]
        assert solution.feasible[b]
        # Inside the cones, and with the restitution asked for.
        size = np.max(np.abs(solution.impulse[b]))
        assert np.min(principle.cones(p)) > -2e-5 * size**2
        np.testing.assert_allclose(principle.c + principle.D @ p, u_t, atol=1e-9)
        best = principle.best(np.random.default_rng(b))
        if best < ours - 1e-5 * (1 + ours):
            lower.append((b, ours, best))
        if best > ours + 1e-5 * (1 + ours):
            higher.append((b, ours, best))
    assert not lower
    # Now and then SLSQP does not get there; if it often did not, this would test nothing.
    assert len(higher) <= 0.1 * len(chosen)
