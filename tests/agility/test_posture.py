"""The best posture of a planar leg; the jumping leg's own optimum is in the reproduction."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stiction._base.errors import InputError
from stiction.agility import (
    best_posture,
    capability,
    check_posture,
    clearances,
    make_stance,
    place,
    posture_limits,
    sample_postures,
)
from stiction.agility.nonlinear import minimize
from stiction.agility.postures import coordinates, stance_gaps


@pytest.fixture(scope="module")
def found(planar_leg, forward):
    limits = posture_limits(planar_leg)
    return limits, best_posture(planar_leg, limits, forward, seed=1, samples=2000, starts=16)


def test_at_least_the_best_of_ten_thousand_others(found, planar_leg, forward):
    limits, search = found
    _, others = sample_postures(planar_leg, limits, forward, seed=99, samples=10_000)
    assert np.isfinite(others.value).sum() > 100
    assert search.optima[0].capability >= others.value.max()


def test_kkt_conditions_hold(found):
    _, search = found
    assert search.converged >= search.starts // 2
    assert max(o.residual for o in search.optima) <= 1e-6


def test_no_small_step_is_better(found, planar_leg, forward):
    """A thousand feasible neighbours: none above the optimum by more than second order."""
    limits, search = found
    best = search.optima[0]
    rng = np.random.default_rng(0)
    xi = coordinates(planar_leg, jnp.asarray(best.q))
    steps = jnp.asarray(1e-4 * rng.normal(size=(1000, planar_leg.mechanism.nv)))

    @jax.jit
    @jax.vmap
    def value(step):
        near = jnp.clip(xi + step, limits.lower, limits.upper)
        return capability(planar_leg, place(planar_leg, planar_leg.mechanism.q_reference + near)[0],
                          forward).value  # fmt: skip

    assert np.max(value(steps)) <= best.capability * (1 + 1e-6)


def test_it_stands_where_it_may(found, planar_leg):
    limits, search = found
    for o in search.optima:
        q = jnp.asarray(o.q)
        check_posture(planar_leg, q)
        xi = coordinates(planar_leg, q)
        assert bool(jnp.all((xi >= limits.lower - 1e-9) & (xi <= limits.upper + 1e-9)))
        assert o.binding


def test_the_same_seed_gives_the_same_answer(found, planar_leg, forward):
    limits, search = found
    again = best_posture(planar_leg, limits, forward, seed=1, samples=2000, starts=16)
    np.testing.assert_array_equal(again.optima[0].q, search.optima[0].q)


def test_nothing_moves_its_centre_of_mass_sideways_on_ice(planar_leg):
    ice = make_stance(planar_leg.mechanism, contacts=["foot"], mu=0.0, point="com")
    sideways = jnp.array([1.0, 0.0, 0.0])
    _, found = sample_postures(ice, posture_limits(ice), sideways, seed=0, samples=1000)
    assert np.max(found.value) < 1e-6


def test_minimize_meets_a_known_optimum():
    """Hock and Schittkowski's problem 71: f* = 17.0140173 at (1, 4.743, 3.8211, 1.3794)."""

    def program(x):
        f = x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]
        g = jnp.concatenate([jnp.prod(x)[None] - 25.0, x - 1.0, 5.0 - x])
        return f, jnp.sum(x**2)[None] - 40.0, g

    start = jnp.array([1.0, 5.0, 5.0, 1.0])
    end = jax.jit(lambda x: minimize(program, x, tolerance=1e-9, max_steps=200))(start)
    assert float(end.residual) <= 1e-9
    assert float(program(end.x)[0]) == pytest.approx(17.0140173, abs=1e-6)
    np.testing.assert_allclose(end.x, [1.0, 4.7429994, 3.8211503, 1.3794082], atol=1e-6)


def test_placed_postures_touch_and_those_below_ground_are_named(planar_leg):
    m = planar_leg.mechanism
    q, left = place(planar_leg, m.q_reference.at[4].set(1.0))
    assert float(left) < 1e-9
    assert float(jnp.abs(stance_gaps(planar_leg, q)[0])) < 1e-9
    bent, _ = place(planar_leg, m.q_reference.at[3].set(-1.2).at[4].set(2.2).at[2].set(3.0))
    assert float(jnp.min(clearances(planar_leg, bent))) < 0
    with pytest.raises(InputError, match="above the ground"):
        check_posture(planar_leg, bent)
    with pytest.raises(InputError, match="'foot' is"):
        check_posture(planar_leg, q.at[1].add(0.1))
