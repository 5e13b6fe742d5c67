"""What must hold for every normal law, and what sets them apart."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree
from laws_under_test import NORMAL_LAWS, assert_derivatives_match_differences, patient
from numpy.testing import assert_allclose

from helpers import jit_once
from stiction import InputError
from stiction.laws import (
    AsymmetricHuntCrossley,
    CarvalhoMartins,
    Flores,
    Gonthier,
    HuntCrossley,
    LankaraniNikravesh,
    LinearSpringDamper,
    impact,
)

every_law = pytest.mark.parametrize("law", NORMAL_LAWS.values(), ids=NORMAL_LAWS)
depths = st.floats(-1.0, 2.0)
rates = st.floats(-20.0, 20.0)
continuous = {k: v for k, v in NORMAL_LAWS.items() if k != "linear"}


@every_law
@patient
@given(depths, rates)
def test_never_pulls_and_is_zero_apart(law, depth, rate):
    f = float(law.force(depth, rate))
    assert f >= 0
    if depth <= 0:
        assert f == 0
        assert float(law.energy(depth)) == 0


@every_law
@patient
@given(depths, rates)
def test_never_creates_energy(law, depth, rate):
    assert float(law.dissipated_power(depth, rate)) >= 0


@every_law
@pytest.mark.parametrize("depth", [1e-3, 0.1, 1.5])
def test_energy_is_the_work_of_the_elastic_force(law, depth):
    assert_allclose(jax.grad(law.energy)(depth), law.elastic_force(depth), rtol=1e-14)
    assert_allclose(law.depth_at_energy(law.energy(depth)), depth, rtol=1e-14)


@every_law
def test_derivatives_are_finite_to_second_order(law):
    """By depth, rate and every parameter; apart, at touch and in contact, closing and parting."""
    parameters, rest = eqx.partition(law, eqx.is_inexact_array)
    depth, rate = (a.ravel() for a in np.meshgrid([-0.1, 0.0, 1e-8, 0.5], [-5.0, -0.1, 0.0, 2.0]))

    flat, unravel = ravel_pytree(parameters)

    def total(point):
        made, x, v = eqx.combine(unravel(point[2:]), rest), point[0], point[1]
        return made.force(x, v) + made.energy(x) + made.dissipated_power(x, v)

    points = np.column_stack([depth, rate, np.tile(flat, (depth.size, 1))])
    assert np.all(np.isfinite(jit_once(jax.vmap(jax.hessian(total)))(points)))


@every_law
def test_gradients_agree_with_finite_differences(law):
    parameters, rest = eqx.partition(law, eqx.is_inexact_array)

    def force(depth, rate, parameters):
        return eqx.combine(parameters, rest).force(depth, rate)

    # Small rates: a check across the clamp or the turn would compare different branches.
    for rate in (-0.3, 0.4):
        assert_derivatives_match_differences(force, 0.7, rate, parameters)


@pytest.mark.parametrize("law", continuous.values(), ids=continuous)
def test_force_is_continuous_at_touch(law):
    for rate in (-3.0, 3.0):
        assert float(law.force(1e-12, rate)) < 1e-10


def test_linear_force_jumps_at_touch_and_pulls_before_separation():
    """The faults of marhefka Sec. 2, which the other laws mend."""
    law = LinearSpringDamper(stiffness=3.0, damping=0.7, clamp=False)
    assert_allclose(law.force(1e-300, 2.0), 0.7 * 2.0)
    assert float(law.force(1e-3, -1.0)) < 0
    assert float(LinearSpringDamper(stiffness=3.0, damping=0.7).force(1e-3, -1.0)) == 0


def test_hunt_crossley_is_the_formula():
    x, v = np.meshgrid(np.linspace(0.01, 1, 7), np.linspace(-1, 2, 9))
    for n in (1.0, 1.5, 2.0):
        law = HuntCrossley.from_alpha(stiffness=3.0, alpha=0.4, exponent=n)
        got = jax.vmap(law.force)(x.ravel(), v.ravel())
        k, lam = 3.0, 1.5 * 0.4 * 3.0
        assert_allclose(got, (lam * x**n * v + k * x**n).ravel(), rtol=1e-14)  # marhefka (6, 7)


def test_pulls_only_beyond_the_sticky_speed_and_only_unclamped():
    law = HuntCrossley.from_alpha(stiffness=3.0, alpha=0.4, clamp=False)
    limit = -2 / (3 * 0.4)  # marhefka (22)
    assert float(law.force(0.1, limit - 1e-6)) < 0 < float(law.force(0.1, limit + 1e-6))
    assert float(HuntCrossley.from_alpha(stiffness=3.0, alpha=0.4).force(0.1, limit - 1)) == 0


def test_asymmetric_law_with_equal_parts_is_the_symmetric_one():
    same = AsymmetricHuntCrossley(
        stiffness=3.0, compression_dissipation=0.5, restitution_dissipation=0.5, exponent=1.5
    )
    for v in (-0.7, 0.0, 1.2):
        assert_allclose(same.force(0.3, v), NORMAL_LAWS["hertz"].force(0.3, v))


@patient
@given(st.floats(1e-3, 1.0), st.floats(-1e3, 0.0))
def test_without_damping_in_restitution_it_never_pulls_at_any_speed(depth, rate):
    law = AsymmetricHuntCrossley(
        stiffness=3.0, compression_dissipation=2.0, restitution_dissipation=0.0, clamp=False
    )
    assert float(law.force(depth, rate)) > 0


def test_several_contacts_one_of_them_apart():
    """A law is written for one contact; a separating neighbour must not matter."""
    law = NORMAL_LAWS["hertz"]
    depth, rate = jnp.array([0.1, -0.2, 0.3]), jnp.array([1.0, 1.0, -0.5])
    together = jax.vmap(law.force)(depth, rate)
    alone = [float(law.force(d, r)) for d, r in zip(depth, rate, strict=True)]
    assert_allclose(together, alone, rtol=1e-15)
    assert together[1] == 0


def test_a_batch_of_laws():
    laws = HuntCrossley(stiffness=jnp.array([1.0, 2.0]), dissipation=0.5)
    axes = HuntCrossley(stiffness=1.0, dissipation=1.0)
    axes = eqx.tree_at(lambda x: (x.stiffness, x.dissipation, x.exponent), axes, (0, None, None))
    got = eqx.filter_vmap(lambda x: x.force(0.1, 0.0), in_axes=(axes,))(laws)
    assert_allclose(got, [0.1, 0.2])


# The restitution that results, against the one asked for: the bounds stated in the docstrings.
@pytest.mark.parametrize(
    ("law", "low", "high", "bound"),
    [
        (LankaraniNikravesh, 0.92, 1.0, 0.01),
        (Flores, 0.01, 1.0, 0.046),
        (Flores, 0.84, 1.0, 0.01),
        (Gonthier, 0.01, 1.0, 0.033),
        (Gonthier, 0.01, 0.47, 0.01),
        (Gonthier, 0.97, 1.0, 0.01),
        (CarvalhoMartins, 0.22, 1.0, 0.01),
        (CarvalhoMartins, 0.5, 1.0, 0.0002),
        (HuntCrossley, 0.01, 1.0, 1e-14),
    ],
)
def test_restitution_asked_for_and_got(law, low, high, bound):
    v = 1.7
    e = np.linspace(low, high, 200)

    def got(e):
        if law is HuntCrossley:
            made = HuntCrossley.from_restitution(stiffness=1.0, restitution=e, impact_speed=v)
        else:
            made = law(stiffness=1.0, restitution=e, impact_speed=v)
        return impact.restitution(v, made.dissipation)

    assert np.max(np.abs(np.asarray(jax.vmap(got)(e)) - e)) <= bound


def test_lankarani_nikravesh_cannot_give_low_restitution():
    made = LankaraniNikravesh(stiffness=1.0, restitution=1e-6, impact_speed=1.0)
    assert float(impact.restitution(1.0, made.dissipation)) > 0.66


HC = {"stiffness": 1.0, "dissipation": 0.1}
GIVEN = {"stiffness": 1.0, "restitution": 0.5, "impact_speed": 1.0}


@pytest.mark.parametrize(
    ("law", "arguments", "message"),
    [
        (HuntCrossley, HC | {"stiffness": -1.0}, "`stiffness` must be positive [N/m^n], got -1"),
        (HuntCrossley, HC | {"stiffness": np.nan}, "`stiffness` must be positive [N/m^n], got nan"),
        (HuntCrossley, HC | {"dissipation": -1}, "`dissipation` must be at least 0 [s/m], got -1"),
        (HuntCrossley, HC | {"exponent": 0.5}, "`exponent` must be at least 1, got 0.5"),
        (HuntCrossley, HC | {"stiffness": np.inf}, "`stiffness` must be positive [N/m^n], got inf"),
        (Flores, GIVEN | {"restitution": 1.2}, "`restitution` must be in (0, 1], got 1.2"),
        (Flores, GIVEN | {"restitution": 0.0}, "`restitution` must be in (0, 1], got 0"),
        (Flores, GIVEN | {"impact_speed": 0.0}, "`impact_speed` must be positive [m/s], got 0"),
        (HuntCrossley.from_alpha, {"stiffness": 1.0, "alpha": -0.1}, "`alpha` must be at least 0"),
        (HuntCrossley.from_restitution, GIVEN | {"restitution": 2.0}, "`restitution` must be in"),
        (LinearSpringDamper, {"stiffness": 1.0, "damping": -2.0}, "`damping` must be at least 0"),
    ],
)
def test_bad_input_is_one_clear_line(law, arguments, message):
    with pytest.raises(InputError) as caught:
        law(**arguments)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_laws_are_made_inside_jit_too():
    make = jit_once(lambda k: HuntCrossley(stiffness=k, dissipation=0.5).force(0.1, 1.0))
    assert_allclose(make(3.0), 3.0 * 0.1 * 1.5)
