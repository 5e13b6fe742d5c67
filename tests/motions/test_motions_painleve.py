"""Painlevé's rod: a uniform rod that slides on its lower end, inclined at θ.

With half-length l the divisor of the normal force is 1 + 3cos²θ - 3 μ sinθ cosθ. Where it is
negative no force keeps the contact if the tip would press in (inconsistent), and two motions exist
if the spin lifts the tip (ambiguous). So the verdict changes at μ = (1 + 3cos²θ) / (3 sinθ cosθ).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import planar, single
from scipy.optimize import minimize_scalar

from stiction.motions import Verdict, load_problem

G, L = 9.81, 1.0


def bound(theta):
    return (1 + 3 * np.cos(theta) ** 2) / (3 * np.sin(theta) * np.cos(theta))


def verdict(theta, mu, spin):
    """Of a rod whose tip slides to the left at 1 m/s."""
    arm = L * np.array([np.cos(theta), np.sin(theta)])
    return planar(
        mass=1.0,
        inertia=L**2 / 3,
        center=arm,
        points=[[0, 0]],
        normals=[[0, 1]],
        mu=mu,
        velocity=(-1 - spin * arm[1], spin * arm[0], spin),
        force=(0, -G),
    ).verdict


def change(theta, spin, before):
    """The friction at which the verdict stops being `before`, by bisection."""
    low, high = 0.0, 100.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if verdict(theta, middle, spin) == before else (low, middle)
    return (low + high) / 2


@pytest.mark.parametrize("theta", np.radians([30.0, 50.0, 63.4349488, 75.0]))
@pytest.mark.parametrize(("spin", "after"), [(0.0, Verdict.INCONSISTENT), (6.0, Verdict.AMBIGUOUS)])
def test_verdict_changes_at_painleves_bound(theta, spin, after):
    assert verdict(theta, 0.5 * bound(theta), spin) == Verdict.UNIQUE
    assert verdict(theta, 1.01 * bound(theta), spin) == after
    assert change(theta, spin, Verdict.UNIQUE) == pytest.approx(bound(theta), abs=1e-9)


def test_least_friction_is_four_thirds_at_tangent_two():
    least = minimize_scalar(bound, bounds=(0.3, 1.5), method="bounded", options={"xatol": 1e-12})
    assert np.tan(least.x) == pytest.approx(2.0, abs=1e-6)
    assert change(np.arctan(2.0), 0.0, Verdict.UNIQUE) == pytest.approx(4 / 3, abs=1e-9)


def test_sliding_the_other_way_is_never_paradoxical():
    for mu in (1.0, 5.0, 50.0):
        mirror = planar(
            mass=1.0,
            inertia=L**2 / 3,
            center=(np.cos(1.0), np.sin(1.0)),
            points=[[0, 0]],
            normals=[[0, 1]],
            mu=mu,
            velocity=(1, 0, 0),
            force=(0, -G),
        )
        assert mirror.verdict == Verdict.UNIQUE


def test_batched_verdicts_find_the_same_regions():
    theta, mu = np.meshgrid(np.linspace(0.2, 1.4, 25), np.linspace(0.1, 6.0, 40))
    for spin in (0.0, 6.0):
        arm = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
        velocity = np.stack(
            [-1 - spin * arm[..., 1], spin * arm[..., 0], 0 * theta + spin], axis=-1
        )

        def one(arm, mu, velocity):
            return single(
                arm=arm,
                normal=jnp.array([0.0, 1.0]),
                mass=1.0,
                gyration_radius=L / np.sqrt(3),
                mu=mu,
                velocity=velocity,
                force=jnp.array([0.0, -G]),
                torque=0.0,
            ).verdict

        got = jax.jit(jax.vmap(jax.vmap(one)))(jnp.array(arm), jnp.array(mu), jnp.array(velocity))
        lifts = spin**2 * L * np.sin(theta) > G
        beyond = np.where(lifts, int(Verdict.AMBIGUOUS), int(Verdict.INCONSISTENT))
        np.testing.assert_array_equal(got, np.where(mu > bound(theta), beyond, int(Verdict.UNIQUE)))


def test_ready_examples():
    assert load_problem("painleve-inconsistent").motions().verdict == Verdict.INCONSISTENT
    two = load_problem("painleve-ambiguous").motions()
    assert two.verdict == Verdict.AMBIGUOUS
    assert {m.modes for m in two.motions} == {("slip left",), ("break",)}
