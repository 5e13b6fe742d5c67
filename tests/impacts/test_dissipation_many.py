"""The dissipation principle (flickinger 4.5) by changes of one contact at a time: all choices."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from impact_problems import batch_of_problems

from stiction._base.compile import quick_jit
from stiction.impacts import impact_law
from stiction.impacts.problem import ImpactProblem, ImpactSolution
from stiction.scenes import past_impact, scene

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
        found = quick_jit(jax.vmap(lambda p: module.dissipation(p)))(problems)
        assert bool(jnp.all(found.feasible))
        return np.asarray(jax.vmap(cost)(problems, found))

    by_all = costs()
    monkeypatch.setattr(module, "_MAX_CHOICES", 1)
    by_changes = costs()
    worse = by_changes > by_all * (1 + 1e-6) + 1e-9
    assert worse.mean() <= 0.05
    assert np.all(by_changes >= by_all * (1 - 1e-6) - 1e-9)
    assert (by_all > 1e-6).sum() > 12  # most of them slide


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_body_that_rests_elsewhere_takes_no_friction_away(order):
    """Two balls on a floor, of which one lands and one slides: the impulses are those of each."""
    u = jnp.asarray([[-0.007, -0.146, 0.0], [-1.99, 1.43, -0.91]])[jnp.asarray(order)]
    W = jnp.asarray(np.kron(np.diag(np.asarray([1.0, 2.0])[order]), np.diag([3.5, 3.5, 1.0])))
    ones = jnp.ones(2)
    problem = ImpactProblem(
        W, u, ones > 0, 0.5 * ones, 0.3 * ones, 0.3 * ones, 1e-3 * ones, ones,
        jnp.asarray(10.0), jnp.asarray(1e9),
    )  # fmt: skip
    impulse = np.asarray(quick_jit(impact_law("dissipation", "off"))(problem).impulse)[order]
    normal = 1.5 * 0.91 / 2
    known = np.append(-0.3 * normal * np.array([-1.99, 1.43]) / np.hypot(1.99, 1.43), normal)
    np.testing.assert_allclose(impulse, [np.zeros(3), known], atol=1e-9)


FEET = 7
AXES = ("1 0 0", "0 1 0", "0 0 1")
SLIDES = "".join(f'<joint type="slide" axis="{axis}" armature=".3"/>' for axis in AXES)  # coupled
STAR = f"""<mujoco><worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 1"><freejoint/><geom size=".2" mass="1" contype="0" conaffinity="0"/>
{
    "".join(
        f'<body pos="{np.cos(k):.3f} {np.sin(k):.3f} -.9">{SLIDES}<site name="foot{k}"/>'
        '<geom size=".05" mass=".3" contype="0" conaffinity="0"/></body>'
        for k in range(FEET)
    )
}
</body></worldbody></mujoco>"""


def lands(seed: int):
    """A hub with seven feet, all of which strike at once, each sliding in a way of its own."""
    rng = np.random.default_rng(seed)
    v = np.zeros(6 + 3 * FEET)
    v[2] = -1.0
    v[6:] = rng.normal(scale=0.5, size=3 * FEET)
    v[8::3] = 0.0  # they come down alike
    run = scene(
        STAR,
        until=0.1,
        start={"v": v.tolist()},
        contact={"points": [f"foot{k}" for k in range(FEET)], "restitution": 0.0,
                 "mu_static": 0.5, "mu_dynamic": 0.3, "impact": "dissipation",
                 "energy_method": "off"},
    ).run()  # fmt: skip
    return run


@pytest.mark.slow
def test_runs_find_the_cheapest_choice_of_seven_contacts_that_strike_at_once(monkeypatch):
    """Every one of 128 choices, tried in JAX, against what the run found by changing sides."""
    monkeypatch.setattr(module, "_MAX_CHOICES", 2**FEET)
    best_of_all = quick_jit(lambda p: module.dissipation(p))
    sliding = 0
    for seed in range(6):
        run = lands(seed)
        problem = past_impact(run, 0).problem
        assert int(problem.active.sum()) == FEET
        best = best_of_all(problem)
        taken = jnp.asarray(run.log.impulse[0])
        costs, speeds = [], []
        for impulse in (taken, best.impulse):
            after = np.asarray(problem.velocity_after(impulse))
            speeds.append(np.linalg.norm(after[:, :-1], axis=1))
            stuck = jnp.asarray(speeds[-1] <= 1e-6)
            found = ImpactSolution.of(impulse, stuck, jnp.asarray(True))
            costs.append(float(cost(problem, found)))
        assert costs[0] <= costs[1] * (1 + 1e-6) + 1e-9
        sliding += int((speeds[0] > 1e-6).sum())
    assert 4 < sliding < 6 * FEET - 6  # some stick, some slide
