"""Least forces that do the work of an impact (flickinger 3.25)."""

import jax
import numpy as np
import pytest
from impact_problems import batch_of_problems
from scipy.optimize import minimize

from stiction._base.compile import quick_jit
from stiction.impacts import impact_forces, impact_law


@pytest.mark.parametrize(("n", "dim"), [(1, 2), (3, 2), (2, 3)])
def test_forces_are_the_least_that_do_the_work(n, dim):
    p = batch_of_problems(np.random.default_rng(0), 20, n, dim, coupling=0.5)

    def forces(problem):
        s = impact_law("no-slip", "off")(problem)
        after = problem.velocity_after(s.impulse)
        change = problem.work(s.impulse).sum()
        mean = (problem.velocity + after).reshape(-1) / 2
        return impact_forces(problem, after, change, 1.0), s.impulse, mean, change

    found = map(np.asarray, quick_jit(jax.vmap(forces))(p))
    for F, impulse, mean, change, W in zip(*found, np.asarray(p.W), strict=True):
        flat, size = F.reshape(-1), F.reshape(-1) @ W @ F.reshape(-1)
        assert F[:, -1].min() >= -1e-9
        assert mean @ flat == pytest.approx(change, abs=1e-9)
        # What the law itself did is one way to do that work; SLSQP from there finds none better.
        best = minimize(
            lambda x: x @ W @ x,  # noqa: B023
            impulse.reshape(-1),
            jac=lambda x: 2 * W @ x,  # noqa: B023
            method="SLSQP",
            bounds=[(None, None) if (i + 1) % dim else (0, None) for i in range(n * dim)],
            constraints={"type": "eq", "fun": lambda x: mean @ x - change},  # noqa: B023
            options={"ftol": 1e-12, "maxiter": 300},
        )
        assert size == pytest.approx(best.fun, rel=1e-5, abs=1e-9)
