"""The dissipation principle by changes of one contact at a time: against all choices."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from impact_problems import batch_of_problems

from stiction.impacts.problem import ImpactProblem, ImpactSolution

module = importlib.import_module("stiction.impacts.dissipation")  # the door has the function


def cost(problem: ImpactProblem, found: ImpactSolution):
    """(4.5) with v_s → 0: nothing for what sticks, (μ_s - μ)² + |u_t|² for what slides."""
    speed = jnp.sqrt(jnp.sum(problem.velocity_after(found.impulse)[:, :-1] ** 2, axis=1))
    slides = ~found.sticks & (speed > 1e-9)
    return jnp.sum(jnp.where(slides, (problem.mu_static - found.mu) ** 2 + speed**2, 0.0))


@pytest.mark.slow
def test_five_contacts_come_to_the_cheapest_choice(rng, monkeypatch):
    problems = batch_of_problems(rng, 24, 5, 2, mu=(0.05, 0.6))

    def costs():
        found = jax.jit(jax.vmap(lambda p: module.dissipation(p)))(problems)
        assert bool(jnp.all(found.feasible))
        return np.asarray(jax.vmap(cost)(problems, found))

    by_all = costs()
    monkeypatch.setattr(module, "_MAX_CHOICES", 1)
    by_changes = costs()
    worse = by_changes > by_all * (1 + 1e-6) + 1e-9
    assert worse.mean() <= 0.05
    assert np.all(by_changes >= by_all * (1 - 1e-6) - 1e-9)
    assert (by_all > 1e-6).sum() > 12  # most of them slide
