"""The exact relations of a free impact, against many digits, against integration, and at limits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_under_test import (
    assert_derivatives_match_differences,
    exact_restitution,
    integrated,
    patient,
    relative_error,
)
from numpy.testing import assert_allclose

from stiction.laws import AsymmetricHuntCrossley, HuntCrossley, impact

# αv from 1e-12 to 1e6, the range that is promised, denser where formulas switch.
ALPHA_V = np.concatenate([np.logspace(-12, 6, 180), np.linspace(0.05, 2.0, 120)])
RTOL = 5e-15  # promised 1e-10; a few roundings is what it is

BODY = {"mass": 1.3, "stiffness": 2.1, "exponent": 1.5}


def scaled(function):
    """A function of (speed, dissipation) as one of u = d v, over many u."""
    return jax.jit(jax.vmap(lambda u: function(1.0, u)))


@pytest.mark.parametrize(
    ("alpha", "speed", "e"),
    [
        (0.1, 1.0, 0.909016),
        (0.2, 5.0, 0.487741),
        (0.5, 1.0, 0.662962),
        (0.5, 5.0, 0.255228),
        (0.04, 5.0, 0.832870),
    ],
)
def test_restitution_of_the_reference(alpha, speed, e):
    assert_allclose(impact.restitution(speed, 1.5 * alpha), e, rtol=0, atol=1e-6)


def test_peaks_and_duration_of_the_reference():
    """marhefka Figure 4, α = 0.4."""
    at = {"speed": 1.0, "dissipation": 0.6, "mass": 1.0, "stiffness": 10e3}
    assert_allclose(impact.peak_depth(**at), 8.49825e-3, rtol=1e-6)
    assert_allclose(impact.peak_force(**at), 94.871, rtol=1e-5)
    assert_allclose(impact.contact_duration(**at), 31.757e-3, rtol=1e-5)
    assert_allclose(impact.energy_lost(1.0, 0.6, 1.0), 0.246563, rtol=2e-6)


def test_restitution_has_no_cancellation_anywhere():
    u = 1.5 * ALPHA_V
    e = scaled(impact.restitution)(u)
    lost = scaled(impact.energy_lost_fraction)(u)
    exact = [exact_restitution(x) for x in u]
    assert max(map(relative_error, e, exact)) < RTOL
    with mp.workdps(60):
        assert max(relative_error(a, 1 - b * b) for a, b in zip(lost, exact, strict=True)) < RTOL


def test_derivative_of_restitution_has_no_cancellation_either():
    """e' = (w' - e)/u with w' = u (1 - w)/((1 + u) w), from the first integral."""
    u = 1.5 * ALPHA_V
    slope = jax.jit(jax.vmap(jax.grad(lambda x: impact.restitution(1.0, x))))(u)
    with mp.workdps(60):

        def exact(x):
            e, x = exact_restitution(x), mp.mpf(float(x))
            w = x * e
            return (x * (1 - w) / ((1 + x) * w) - e) / x

        assert max(relative_error(a, exact(x)) for a, x in zip(slope, u, strict=True)) < 3 * RTOL


def test_taylor_series_at_no_speed():
    """e = 1 - 2u/3 + 4u²/9 - 44u³/135 + ..., with every derivative finite at 0."""
    f = lambda u: impact.restitution(1.0, u)  # noqa: E731
    derivatives = []
    for _ in range(4):
        derivatives.append(float(jax.jit(f)(0.0)))
        f = lambda u, g=f: jax.jvp(g, (u,), (1.0,))[1]  # noqa: E731
    assert_allclose(derivatives, [1, -2 / 3, 2 * 4 / 9, -6 * 44 / 135], rtol=1e-14)


def test_dissipation_for_restitution_is_the_exact_inverse():
    e = np.concatenate([np.logspace(-12, -0.001, 100), 1 - np.logspace(-12, -1, 60)])
    d = jax.jit(jax.vmap(lambda x: impact.dissipation_for_restitution(x, 1.0)))(e)
    back = [exact_restitution(x) for x in d]
    assert max(map(relative_error, e, back)) < RTOL
    with mp.workdps(40):  # also in what is lost, which matters near e = 1
        errors = [abs((1 - b) / (1 - mp.mpf(float(x))) - 1) for x, b in zip(e, back, strict=True)]
        assert max(errors) < RTOL


def test_inverse_at_its_ends():
    assert float(impact.dissipation_for_restitution(1.0, 2.0)) == 0.0
    assert float(impact.dissipation_for_restitution(0.0, 2.0)) == np.inf
    slope = jax.grad(impact.dissipation_for_restitution)(1.0, 1.0)
    assert_allclose(slope, -1.5, rtol=1e-14)  # e ≈ 1 - 2u/3


@patient
@given(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3))
def test_first_integral_holds(speed, d):
    """u - ln(1+u) = -w - ln(1-w), marhefka (19) at zero depth; |u|, |w| decide the tolerance."""
    u, w = d * speed, d * float(impact.rebound_speed(speed, d))
    if w > 0.999:  # 1 - w has no digits left in a float
        return
    left, right = u - np.log1p(u), -w - np.log1p(-w)
    assert abs(left - right) <= 1e-12 * (1 + abs(left)) + 4e-16 * u / max(1 - w, 1e-3)


@patient
@given(st.floats(0.0, 1e6), st.floats(0.0, 1e6))
def test_rebound_is_slower_than_approach_and_than_the_sticky_speed(speed, d):
    v = float(impact.rebound_speed(speed, d))
    assert 0 <= v <= speed
    assert v * d <= 1 + 1e-15


@jax.jit
def both_ways(mass, speed, exponent):
    """Impacts by integration, and exactly; compiled once for all exponents."""
    k, d = 5e4, 0.6

    def one(m, v):
        law = HuntCrossley(stiffness=k, dissipation=d, exponent=exponent)
        at = {"dissipation": d, "stiffness": k, "exponent": exponent}
        return impact.integrate_impact(law, mass=m, speed=v), (
            impact.rebound_speed(v, d),
            impact.energy_lost(v, d, m),
            impact.contact_duration(mass=m, speed=v, **at),
        )

    return jax.vmap(one)(mass, speed)


@pytest.mark.parametrize("n", [1.0, 1.5, 2.0])
def test_exact_equals_integrated_whatever_mass_and_exponent(n):
    """Rebound, energy, duration and peak depth to 1e-8, for masses 0.1 to 100, in one call."""
    mass, speed = jnp.array([0.1, 1.0, 10.0, 100.0]), jnp.array([0.2, 1.0, 3.0, 8.0])
    m, v = (a.ravel() for a in jnp.meshgrid(mass, speed))
    got, exact = both_ways(m, v, jnp.asarray(n))
    assert_allclose((got.rebound_speed, got.energy_lost, got.duration), exact, rtol=1e-8)
    e = np.asarray(got.rebound_speed / v).reshape(speed.size, mass.size)
    assert_allclose(e, np.broadcast_to(e[:, :1], e.shape), rtol=1e-8)  # the same for all masses


def test_energy_ledger_of_an_impact_closes():
    """Kinetic energy before = after + lost, with the loss as the loop area of marhefka (23)."""
    law = HuntCrossley(stiffness=5e4, dissipation=0.6, exponent=1.5)
    got = integrated(law, 2.0, 1.5)
    before, after = 0.5 * 2.0 * 1.5**2, 0.5 * 2.0 * float(got.rebound_speed) ** 2
    assert abs(before - after - float(got.energy_lost)) < 1e-8 * before


def test_an_impact_that_never_parts_says_so():
    """A heavy load on a soft, slow contact; the failure is a value."""
    law = HuntCrossley(stiffness=100.0, dissipation=2.0)
    got = impact.integrate_impact(law, mass=1.0, speed=0.1, load=9.81, throw=False, max_steps=300)
    assert np.isnan(got.rebound_speed)
    assert "maximum number of solver steps" in str(got.result)


@jax.jit
def depth_of_body(velocity, speed, dissipation):
    at = {"speed": speed, "dissipation": dissipation, **BODY}
    return jax.vmap(lambda v: impact.depth_at_velocity(v, **at))(velocity)


class TestPhasePlane:
    D, V = 0.6, 1.4

    def depth(self, v, d=None):
        d = self.D if d is None else d
        return depth_of_body(jnp.asarray(v), jnp.asarray(self.V), jnp.asarray(d))

    @pytest.mark.parametrize("d", [1e-9, 1e-3, 0.6, 5.0, 200.0])
    def test_is_equation_19_in_many_digits(self, d):
        v_out = float(impact.rebound_speed(self.V, d))
        share = np.concatenate([np.logspace(-9, -0.5, 12), [0.7, 0.9]])
        velocities = np.concatenate([self.V * (1 - share), -v_out * (1 - share)])
        with mp.workdps(60):
            m, k, n = (mp.mpf(BODY[x]) for x in ("mass", "stiffness", "exponent"))
            a, v_i = mp.mpf(d) / mp.mpf(1.5), mp.mpf(self.V)
            v_o = exact_restitution(d * self.V) * v_i
            for v, x in zip(velocities, self.depth(velocities, d), strict=True):
                v = mp.mpf(float(v))
                bracket = 3 * a * (v - v_i) + 2 * mp.log((2 + 3 * a * v_i) / (2 + 3 * a * v))
                exact = (-2 * m * (n + 1) / (9 * k * a**2) * bracket) ** (1 / (n + 1))
                # How well x is determined by a rounded v: close to an end, where x goes as a root
                # of the distance, and where the logarithm of 1 + d v is close to its pole.
                end = abs((v - (v_i if v >= 0 else -v_o)) / v)
                condition = 1 / end + 1 / abs(1 + 1.5 * a * v)
                assert relative_error(x, exact) < 1e-14 + 4e-16 * float(condition)

    def test_is_zero_at_touch_and_at_separation_and_beyond(self):
        v_out = float(impact.rebound_speed(self.V, self.D))
        assert_allclose(self.depth([self.V, -v_out, 2 * self.V, -2 * v_out]), 0.0, atol=1e-9)

    def test_gradients_are_finite_where_the_rebound_has_reached_its_limit(self):
        """d v_i = 90: 1 - d v_o is 1e-38, and 0 in floats."""
        at = lambda v, d: impact.depth_at_velocity(v, speed=self.V, dissipation=d, **BODY)  # noqa: E731
        by = jax.jit(jax.vmap(jax.grad(at, argnums=(0, 1)), in_axes=(0, None)))
        assert np.all(np.isfinite(by(np.linspace(-0.999 / 64.0, 0.01, 101), 64.0)))

    def test_without_damping_it_is_the_energy_integral(self):
        v = np.linspace(-self.V, self.V, 31)[1:-1]
        m, k, n = BODY["mass"], BODY["stiffness"], BODY["exponent"]
        exact = ((n + 1) * m * (self.V**2 - v**2) / (2 * k)) ** (1 / (n + 1))
        assert_allclose(self.depth(v, 0.0), exact, rtol=1e-13)

    def test_follows_an_integrated_course(self):
        law = HuntCrossley(stiffness=BODY["stiffness"], dissipation=self.D, exponent=1.5)
        at = {"speed": self.V, "dissipation": self.D, **BODY}
        course = impact.impact_course(
            law, mass=BODY["mass"], speed=self.V, duration=impact.contact_duration(**at)
        )
        got, peak = self.depth(course.velocity[2:-2]), float(impact.peak_depth(**at))
        assert_allclose(got, course.depth[2:-2], rtol=0, atol=1e-8 * peak)

    def test_peaks_are_the_peaks_of_the_loop(self):
        at = {"speed": self.V, "dissipation": self.D, **BODY}
        v = np.linspace(0.0, self.V, 20001)[:-1]
        x = np.asarray(self.depth(v))
        f = BODY["stiffness"] * x ** BODY["exponent"] * (1 + self.D * v)
        assert_allclose(impact.peak_depth(**at), x.max(), rtol=1e-12)
        assert_allclose(impact.peak_force(**at), f.max(), rtol=1e-8)

    @pytest.mark.parametrize("d", [0.0, 1e-8, 0.1, 10.0, 1e6])
    def test_force_is_stationary_at_its_peak(self, d):
        """f(peak) from the loop, a little before and after, is not larger."""
        at = {"speed": self.V, "dissipation": d, **BODY}
        peak = float(impact.peak_force(**at))
        v = self.V * np.linspace(0.0, 0.999, 2001)
        x = np.asarray(self.depth(v, d))
        f = BODY["stiffness"] * x ** BODY["exponent"] * (1 + d * v)
        assert f.max() <= peak * (1 + 1e-12)
        assert f.max() > peak * (1 - 1e-4)


class TestDuration:
    def test_elastic_flat_is_half_a_period(self):
        T = impact.contact_duration(speed=0.7, dissipation=0.0, mass=2.0, stiffness=3.0)
        assert_allclose(T, np.pi * np.sqrt(2.0 / 3.0), rtol=1e-14)

    def test_elastic_hertz(self):
        """T = 2 x_m/v ∫ dξ/sqrt(1 - ξ^(5/2)) = (4 √π Γ(2/5))/(5 Γ(9/10)) x_m/v, as Hertz found."""
        at = {"speed": 0.7, "dissipation": 0.0, "mass": 2.0, "stiffness": 3.0, "exponent": 1.5}
        constant = 4 * mp.sqrt(mp.pi) * mp.gamma(mp.mpf(2) / 5) / (5 * mp.gamma(mp.mpf(9) / 10))
        exact = float(constant) * float(impact.peak_depth(**at)) / 0.7
        assert_allclose(impact.contact_duration(**at), exact, rtol=1e-13)

    @pytest.mark.parametrize("n", [1, 1.5, 3])
    @pytest.mark.parametrize("u", [1e-3, 1.0, 30.0, 1e4, 1e6])
    def test_against_quadrature_in_many_digits(self, u, n):
        """T = (1/u) ∫ dl / x^n over l = ln(1 + u v), with m = k = v_i = 1."""
        got = impact.contact_duration(
            speed=1.0, dissipation=u, mass=1.0, stiffness=1.0, exponent=float(n)
        )
        with mp.workdps(25):
            u, n = mp.mpf(u), mp.mpf(n)
            w = 1 + mp.lambertw(-(1 + u) * mp.exp(-1 - u)).real

            def side(end):
                def integrand(t):
                    D = end * t ** (n + 1)
                    G = mp.expm1(end - D) * mp.expm1(D) + mp.expm1(D) - D
                    return (
                        abs(end) * (n + 1) / ((((n + 1) / u**2 * G) ** (1 / (n + 1)) / t) ** n) / u
                    )

                near = 1 - 30 / (abs(end) + 60)  # the exponential lives within 30 of the turn
                return mp.quad(integrand, [0, near / 2, near, (1 + near) / 2, 1])

            up = mp.log1p(u)
            exact = side(up) + side(up - u - w)
        assert relative_error(got, exact) < 1e-12


class TestAsymmetric:
    def test_equal_parts_are_the_symmetric_law(self):
        for d in (0.0, 1e-9, 0.6, 50.0, 1e6):
            got = impact.asymmetric_rebound_speed(1.3, d, d)
            assert_allclose(got, impact.rebound_speed(1.3, d), rtol=1e-13)

    def test_equals_integrated_whatever_mass_stiffness_and_exponent(self):
        pairs = [(0.6, 0.0), (0.0, 0.6), (3.0, 0.5), (0.2, 8.0)]
        bodies = [(1.0, 1e4, 1.0), (30.0, 2e5, 1.5)]
        d_c, d_r, m, k, n = np.array([(*p, *b) for p in pairs for b in bodies]).T

        def integrated(d_c, d_r, m, k, n):
            law = AsymmetricHuntCrossley(
                stiffness=k, compression_dissipation=d_c, restitution_dissipation=d_r, exponent=n
            )
            return impact.integrate_impact(law, mass=m, speed=1.3).rebound_speed

        exact = jax.vmap(lambda c, r: impact.asymmetric_rebound_speed(1.3, c, r))(d_c, d_r)
        assert_allclose(jax.jit(jax.vmap(integrated))(d_c, d_r, m, k, n), exact, rtol=1e-8)

    def test_gradients_are_finite_without_speed_and_without_damping(self):
        g = jax.grad(impact.asymmetric_rebound_speed, argnums=(0, 1, 2))
        assert_allclose(g(0.0, 0.0, 0.0), [1.0, 0.0, 0.0], atol=1e-15)
        assert_allclose(g(1.0, 0.0, 0.0), [1.0, -1 / 3, -1 / 3], rtol=1e-14)


EXACT = {
    "rebound": lambda v, d, m, k, n: impact.rebound_speed(v, d),
    "dissipation": lambda v, d, m, k, n: impact.dissipation_for_restitution(0.3 * d, v),
    "asymmetric": lambda v, d, m, k, n: impact.asymmetric_rebound_speed(v, d, 0.4 * d),
    "lost": lambda v, d, m, k, n: impact.energy_lost(v, d, m),
    "phase": lambda v, d, m, k, n: impact.depth_at_velocity(
        0.3 * v, speed=v, dissipation=d, mass=m, stiffness=k, exponent=n
    ),
    "depth": lambda v, d, m, k, n: impact.peak_depth(
        speed=v, dissipation=d, mass=m, stiffness=k, exponent=n
    ),
    "force": lambda v, d, m, k, n: impact.peak_force(
        speed=v, dissipation=d, mass=m, stiffness=k, exponent=n
    ),
    "duration": lambda v, d, m, k, n: impact.contact_duration(
        speed=v, dissipation=d, mass=m, stiffness=k, exponent=n
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_gradients_by_every_parameter(name):
    """Speed, dissipation, mass, stiffness, exponent; the rebound to second order too."""
    second = name in ("rebound", "dissipation", "lost")
    assert_derivatives_match_differences(EXACT[name], 1.2, 0.9, 1.5, 2.0, 1.4, second=second)


@pytest.mark.parametrize("name", ["rebound", "asymmetric", "lost", "depth", "duration"])
def test_gradients_without_damping_are_the_limit(name):
    """d -> 0 is a removable 0/0 in every one of them."""
    f = lambda d: EXACT[name](1.2, d, 1.5, 2.0, 1.4)  # noqa: E731
    h = 1e-4
    one_sided = (-3 * f(0.0) + 4 * f(h) - f(2 * h)) / (2 * h)
    assert_allclose(jax.jit(jax.grad(f))(0.0), one_sided, rtol=1e-5)


@pytest.mark.slow
def test_integrated_rebound_differentiates_like_the_exact_one():
    """Through the event, by the implicit function theorem."""

    def integrated(v, d, k):
        law = HuntCrossley(stiffness=k, dissipation=d, exponent=1.5)
        return impact.integrate_impact(law, mass=1.5, speed=v).rebound_speed

    got = jax.grad(integrated, argnums=(0, 1, 2))(1.2, 0.9, 2.0)
    exact = jax.grad(impact.rebound_speed, argnums=(0, 1))(1.2, 0.9)
    assert_allclose(got[:2], exact, rtol=1e-7)
    assert abs(got[2]) < 1e-8


def test_nothing_recompiles_when_only_numbers_change():
    traces = []

    @jax.jit
    def run(v, d):
        traces.append(1)
        return impact.rebound_speed(v, d)

    for v, d in ((1.0, 0.1), (2.0, 30.0), (1e-9, 0.0)):
        run(v, d)
    assert len(traces) == 1


def test_single_precision_stays_single():
    law = HuntCrossley(
        stiffness=np.float32(3.0), dissipation=np.float32(0.5), exponent=np.float32(1)
    )
    x = jnp.asarray(0.1, jnp.float32)
    assert law.force(x, x).dtype == jnp.float32
    assert impact.restitution(x, x).dtype == jnp.float32
    assert eqx.tree_equal(law.stiffness.dtype, jnp.dtype("float32"))
