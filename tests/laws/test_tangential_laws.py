"""What must hold for every friction law."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree
from laws_under_test import BRISTLES, SLIDING_LAWS, TANGENTIAL_LAWS, patient
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.laws import Bristle, RegularizedCoulomb, Stribeck, stribeck_coefficient

every_law = pytest.mark.parametrize("law", TANGENTIAL_LAWS.values(), ids=TANGENTIAL_LAWS)
sliding_law = pytest.mark.parametrize("law", SLIDING_LAWS.values(), ids=SLIDING_LAWS)
bristle = pytest.mark.parametrize("law", BRISTLES.values(), ids=BRISTLES)
vectors = st.tuples(st.floats(-3, 3), st.floats(-3, 3)).map(np.array)
loads = st.floats(0.0, 10.0)


def largest_mu(law) -> float:
    return float(law.mu if isinstance(law, RegularizedCoulomb) else law.mu_static)


@every_law
@patient
@given(vectors, vectors, loads)
def test_force_stays_in_the_cone(law, v, z, load):
    state = None if law.init_state(2) is None else jnp.asarray(z)
    f = np.linalg.norm(law.force(state, jnp.asarray(v), load))
    # Squares of forces below 1e-154 N underflow.
    assert f <= largest_mu(law) * load * (1 + 1e-12) + 1e-150


@sliding_law
@patient
@given(vectors, loads)
def test_sliding_friction_opposes_motion(law, v, load):
    f = np.asarray(law.force(None, jnp.asarray(v), load))
    assert f @ v <= 0
    assert abs(f[0] * v[1] - f[1] * v[0]) < 1e-12 * (1 + load)  # along the velocity


@bristle
@patient
@given(vectors, vectors, loads)
def test_bristle_never_creates_energy(law, v, z, load):
    """Power put in, less what is stored, is what is lost."""
    v, z = jnp.asarray(v), jnp.asarray(z)
    put_in = -law.force(z, v, load) @ v
    stored = jax.grad(law.energy)(z) @ law.state_rate(z, v, load)
    assert float(put_in - stored) >= -1e-12 * (1 + abs(float(put_in)) + abs(float(stored)))


@every_law
@patient
@given(vectors, vectors, loads, st.floats(0, 2 * np.pi))
def test_friction_has_no_preferred_direction(law, v, z, load, angle):
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    state = None if law.init_state(2) is None else jnp.asarray(z)
    turned = None if state is None else jnp.asarray(R @ z)
    f = np.asarray(law.force(state, jnp.asarray(v), load))
    assert_allclose(law.force(turned, jnp.asarray(R @ v), load), R @ f, atol=1e-9 * (1 + load))


@every_law
def test_one_tangent_is_the_line_in_the_plane(law):
    v, load = 0.07, 3.0
    z1, z2 = (
        (None, None) if law.init_state(1) is None else (jnp.array([0.02]), jnp.array([0.02, 0]))
    )
    f1 = law.force(z1, jnp.array([v]), load)
    f2 = law.force(z2, jnp.array([v, 0.0]), load)
    assert_allclose(f2, [float(f1[0]), 0.0], rtol=1e-14, atol=1e-300)


@every_law
def test_derivatives_are_finite_to_second_order(law):
    """At rest, sliding, without load, with the bristle slack and at the cone, by everything."""
    parameters, unravel = ravel_pytree(law)
    rest = np.zeros(2)
    cases = [
        (v, z, load)
        for v in (rest, np.array([0.3, -0.1]), np.array([1e-6, 0.0]))
        for z in (rest, np.array([0.05, 0.02]))
        for load in (0.0, 2.0)
    ]
    points = np.array([np.concatenate([v, z, [load], parameters]) for v, z, load in cases])

    def total(p):
        made, v, z, load = unravel(p[5:]), p[:2], p[2:4], p[4]
        state = None if made.init_state(2) is None else z
        out = made.force(state, v, load)
        if state is not None:
            out = out + made.state_rate(state, v, load)
        return out[0] + 2.0 * out[1] + made.energy(state)

    assert np.all(np.isfinite(jax.jit(jax.vmap(jax.hessian(total)))(points)))


def test_sliding_fast_is_coulomb():
    law = SLIDING_LAWS["coulomb"]
    f = np.asarray(law.force(None, jnp.array([30.0, 40.0]), 2.0))
    assert_allclose(f, -0.5 * 2.0 * np.array([0.6, 0.8]), rtol=1e-7)


def test_stribeck_curve():
    """flickinger (4.10): static at rest, dynamic far above v_s, 1/e of the way at v_s."""
    pair = {"mu_static": 0.7, "mu_dynamic": 0.4, "stribeck_speed": 0.1}
    for power in (1.0, 2.0):
        mu = lambda v, a=power: float(stribeck_coefficient(v, **pair, stribeck_power=a))  # noqa: E731
        assert mu(0.0) == 0.7
        assert_allclose(mu(0.1), 0.4 + 0.3 / np.e, rtol=1e-15)
        assert_allclose(mu(10.0), 0.4, rtol=1e-12)


def test_sliding_laws_remember_nothing():
    law = SLIDING_LAWS["coulomb"]
    assert law.init_state(2) is None
    assert law.state_rate(None, jnp.zeros(2), 1.0) is None
    assert float(law.energy(None)) == 0


@bristle
def test_bristle_sticks_exactly_inside_the_cone(law):
    """All of the motion is deflection: the rate of the state is the velocity itself, bit by bit."""
    v, z = jnp.array([1e-3, -2e-3]), jnp.array([0.01, 0.005])
    assert np.array_equal(law.state_rate(z, v, 5.0), v)
    assert np.array_equal(law.state_rate(z, jnp.zeros(2), 5.0), np.zeros(2))


@bristle
def test_bristle_springs_back_without_load(law):
    z = jnp.array([0.01, 0.005])
    rate = law.state_rate(z, jnp.zeros(2), 0.0)
    assert_allclose(rate, -law.stiffness / law.damping * z, rtol=1e-13)
    assert_allclose(law.force(z, jnp.zeros(2), 0.0), 0.0)


@pytest.mark.parametrize(
    ("law", "arguments", "message"),
    [
        (RegularizedCoulomb, {"mu": -0.1}, "`mu` must be at least 0, got -0.1"),
        (RegularizedCoulomb, {"mu": 0.1, "slip_speed": 0.0}, "`slip_speed` must be positive"),
        (
            Stribeck,
            {"mu_static": 0.4, "mu_dynamic": 0.7},
            "`mu_dynamic` must not exceed `mu_static`",
        ),
        (
            Stribeck,
            {"mu_static": 1, "mu_dynamic": 1, "stribeck_power": 0.5},
            "`stribeck_power` must",
        ),
        (Bristle, {"mu_static": 0.5, "stiffness": 0.0, "damping": 1.0}, "`stiffness` must be pos"),
        (Bristle, {"mu_static": 0.5, "stiffness": 1.0, "damping": np.nan}, "`damping` must be pos"),
    ],
)
def test_bad_input_is_one_clear_line(law, arguments, message):
    with pytest.raises(InputError) as caught:
        law(**arguments)
    assert str(caught.value).startswith(message)


def test_margin_tells_stick_from_slip(rng):
    """Inside the cone a bristle moves with the body; outside it its force is on the cone."""
    law = BRISTLES["bristle"]
    z, v = 0.05 * rng.normal(size=(200, 2)), 0.5 * rng.normal(size=(200, 2))
    N = rng.uniform(0.0, 10.0, 200)
    margin, force, rate = (
        np.asarray(jax.vmap(f)(z, v, N)) for f in (law.margin, law.force, law.state_rate)
    )
    size = np.linalg.norm(force, axis=1)
    sticks = margin >= 0
    assert 20 < sticks.sum() < 180
    np.testing.assert_array_equal(rate[sticks], v[sticks])
    np.testing.assert_allclose(margin[sticks], (0.5 * N - size)[sticks], atol=1e-12)
    np.testing.assert_allclose(size[~sticks], 0.5 * N[~sticks], rtol=1e-12)
    for sliding in SLIDING_LAWS.values():
        assert sliding.margin(None, jnp.asarray(v[0]), jnp.asarray(N[0])) < 0
