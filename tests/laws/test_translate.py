"""Translations: each is checked against the engine's own formula, or against the engine itself."""

import dataclasses
import importlib.util
import math

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.interop import ENGINES, CompliantContact
from stiction.interop.drake import lagged_restitution
from stiction.interop.exudyn import coefficient_for, damping_factor
from stiction.interop.linear import Oscillator, to_oscillator
from stiction.interop.mujoco import check_mujoco, euler_restitution, from_mujoco, to_mujoco
from stiction.laws import LinearSpringDamper, impact

CONTACT = CompliantContact(
    stiffness=1e5, dissipation=0.6, mass=2.0, speed=1.5, mu_static=0.6, mu_dynamic=0.5, radius=0.1
)
HERTZ = dataclasses.replace(CONTACT, stiffness=5e6, exponent=1.5)
contacts = pytest.mark.parametrize("contact", [CONTACT, HERTZ], ids=["flat", "hertz"])


@contacts
@pytest.mark.parametrize("name", ENGINES)
def test_there_and_back_keeps_restitution_and_peak_depth(name, contact):
    engine = ENGINES[name]
    there = engine.to(contact)
    parameters = {k: v for k, v in there.parameters.items() if k in engine.parameters}
    if "radius" in engine.parameters:
        parameters["radius"] = contact.radius
    back, _ = engine.back(parameters, mass=contact.mass, speed=contact.speed)
    # MuJoCo's damping is adjusted for its time step, which the way back does not know.
    rtol = 2e-3 if name == "mujoco" else 1e-12
    assert_allclose(back.restitution, contact.restitution, rtol=rtol)
    assert_allclose(back.peak_depth, contact.peak_depth, rtol=rtol)
    assert back.mu_dynamic == contact.mu_dynamic


@pytest.mark.parametrize("name", ENGINES)
def test_every_translation_says_what_it_cannot(name):
    there = ENGINES[name].to(HERTZ)
    assert there.limits
    assert all("\n" not in line for line in there.limits)
    assert any("creep" in line for line in there.limits)


def test_oscillator_has_the_restitution_and_peak_depth_of_the_contact():
    o = to_oscillator(CONTACT)
    law = LinearSpringDamper(
        stiffness=CONTACT.mass * o.frequency**2,
        damping=2 * CONTACT.mass * o.damping_ratio * o.frequency,
    )
    got = impact.integrate_impact(law, mass=CONTACT.mass, speed=CONTACT.speed)
    course = impact.impact_course(
        law, mass=CONTACT.mass, speed=CONTACT.speed, duration=o.duration, samples=4001
    )
    assert_allclose(got.rebound_speed / CONTACT.speed, CONTACT.restitution, rtol=1e-8)
    assert_allclose(np.max(course.depth), CONTACT.peak_depth, rtol=1e-6)
    assert abs(float(course.force[-1])) < 1e-6 * float(np.max(course.force))  # its duration


class TestMujoco:
    @contacts
    def test_a_dropped_ball_comes_back_as_asked(self, contact):
        """Mean over the instants of touch; the spread is what a fixed step leaves."""
        free, weighed = check_mujoco(contact, to_mujoco(contact)).drops
        assert abs(free.error) < 1e-8
        assert free.highest - free.lowest < 0.01
        assert abs(weighed.error) < 0.02  # stiff: the weight hardly matters

    def test_the_copy_of_its_euler_step_is_its_euler_step(self):
        there = to_mujoco(CONTACT)
        omega = math.sqrt(-there.parameters["solref"][0])
        o = Oscillator(omega, -there.parameters["solref"][1] / (2 * omega))
        copy = euler_restitution(o, there.time_step)
        free = check_mujoco(CONTACT, there).drops[0]
        assert_allclose(
            [free.lowest, free.got, free.highest], [copy.min(), copy.mean(), copy.max()]
        )

    @pytest.mark.parametrize("impedance", [0.01, 0.5, 0.99])
    def test_impedance_has_no_part_in_a_free_impact(self, impedance):
        free = check_mujoco(CONTACT, to_mujoco(CONTACT, impedance=impedance)).drops[0]
        assert abs(free.error) < 1e-8

    def test_its_restitution_does_not_depend_on_speed(self):
        """The limit that the translation states; the law's own does."""
        there = to_mujoco(CONTACT)
        slow = dataclasses.replace(CONTACT, speed=0.5 * CONTACT.speed)
        got = check_mujoco(slow, there).drops[0]
        assert_allclose(got.got, CONTACT.restitution, atol=1e-6)
        assert abs(got.error) > 0.05

    def test_its_numbers_hold_for_one_mass(self):
        """Per unit of mass: a heavier ball bounces the same, where the law says the same too, but
        its contact is stiffer."""
        there = to_mujoco(CONTACT)
        heavy = dataclasses.replace(CONTACT, mass=10 * CONTACT.mass)
        back, _ = from_mujoco(there.parameters, mass=heavy.mass, speed=heavy.speed)
        assert_allclose(back.stiffness, 10 * CONTACT.stiffness, rtol=1e-2)
        assert abs(check_mujoco(heavy, there).drops[0].error) < 1e-8

    def test_both_formats_of_solref_say_the_same(self):
        omega, zeta = 300.0, 0.2
        formats = ((1 / (zeta * omega), zeta), (-(omega**2), -2 * zeta * omega))
        one, other = (from_mujoco({"solref": f}, mass=1.0, speed=1.0)[0] for f in formats)
        assert_allclose(one.restitution, other.restitution, rtol=1e-14)
        assert_allclose(one.stiffness, other.stiffness, rtol=1e-12)
        assert_allclose(one.restitution, impact.spring_damper_restitution(zeta), rtol=1e-14)

    def test_text_as_in_mjcf(self):
        there, _ = from_mujoco({"solref": "-1000 -10", "friction": "0.7"}, mass=1.0, speed=1.0)
        assert there.mu_static == 0.7

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: to_mujoco(CONTACT, time_step=1.0), "`time_step` must be below"),
            (lambda: to_mujoco(CONTACT, impedance=1.0), "`impedance` must lie in (0, 1), got 1"),
            (lambda: from_mujoco({"solref": "1 -1"}, mass=1.0, speed=1.0), "`solref` must be two"),
            (lambda: from_mujoco({"solref": "a b"}, mass=1.0, speed=1.0), "`solref` must be up to"),
        ],
    )
    def test_bad_input(self, call, message):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value).startswith(message)


@pytest.mark.skipif(importlib.util.find_spec("pydrake") is None, reason="Drake is not installed")
def test_a_ball_dropped_in_drake_comes_back_as_asked():
    """The copy of its discrete step is its discrete step, or the mean would not be met."""
    check = ENGINES["drake"].check(CONTACT, ENGINES["drake"].to(CONTACT))
    for drop in check.drops:
        if drop.how == "continuous":
            assert abs(drop.error) < 1e-6
        elif drop.how.startswith("lagged"):
            assert abs(drop.error) < (5e-3 if drop.gravity else 1e-8)
        else:  # 'sap', a linear law
            assert abs(drop.error) < 0.05


def test_drakes_discrete_step_tends_to_the_law():
    """First order in the step."""
    flat = ENGINES["drake"].to(CONTACT)
    errors = [
        lagged_restitution(CONTACT, CONTACT.dissipation, dt).mean() - CONTACT.restitution
        for dt in (4e-5, 2e-5)
    ]
    assert_allclose(errors[0] / errors[1], 2.0, rtol=0.05)
    assert flat.parameters["hunt_crossley_dissipation_discrete"] < CONTACT.dissipation


def test_drake_says_when_its_step_alone_loses_too_much():
    bouncy = dataclasses.replace(CONTACT, dissipation=1e-4)
    limits = ENGINES["drake"].to(bouncy, time_step=1e-3).limits
    assert any("take a smaller step" in line for line in limits)


def grid():
    x, v = np.meshgrid(np.linspace(1e-4, 5e-3, 5), np.linspace(-1.0, 1.5, 5))
    return x.ravel(), v.ravel()


def law_force(contact):
    x, v = grid()
    return np.asarray(jax.vmap(contact.law.force)(x, v))


def test_drake_force_is_the_law():
    """k x (1 + d v)₊ with k = k_a k_b/(k_a + k_b) of two equal surfaces."""
    p = ENGINES["drake"].to(CONTACT).parameters
    x, v = grid()
    k = 0.5 * p["point_contact_stiffness"]
    force = k * x * np.maximum(1 + p["hunt_crossley_dissipation"] * v, 0)
    assert_allclose(force, law_force(CONTACT), rtol=1e-12)


def test_simbody_force_is_the_law():
    """Its calcForce: k = E^(2/3)/2 for equal surfaces, f = (4/3) k x sqrt(R k x)(1 + 3/2 c v)."""
    p = ENGINES["simbody"].to(HERTZ).parameters
    x, v = grid()
    k = 0.5 * p["stiffness"] ** (2 / 3)
    hertz = 4 / 3 * k * x * np.sqrt(HERTZ.radius * k * x)
    force = np.maximum(hertz * (1 + 1.5 * p["dissipation"] * v), 0)
    assert_allclose(force, law_force(HERTZ), rtol=1e-12)


def test_chrono_multicore_force_is_the_law():
    """Flores without material properties: kn = R sqrt(x) k, gn = R sqrt(x) m g x."""
    p = ENGINES["chrono"].to(HERTZ).parameters["multicore"]
    x, v = grid()
    scale = HERTZ.radius * np.sqrt(x)
    force = np.maximum(scale * p["kn"] * x + scale * HERTZ.mass * p["gn"] * x * v, 0)
    assert_allclose(force, law_force(HERTZ), rtol=1e-12)


def test_exudyn_force_is_the_law_below_its_minimum_speed():
    """k x^n (1 + u(e) v / v_min), u of Carvalho-Martins above e = 1/3 and of Gonthier below."""
    p = ENGINES["exudyn"].to(HERTZ).parameters
    x, v = grid()
    e = p["restitutionCoefficient"]
    u = 1.5 * (1 - e) * (11 - e) / (1 + 9 * e) if e > 1 / 3 else (1 - e * e) / e
    elastic = p["contactStiffness"] * x ** p["contactStiffnessExponent"]
    force = elastic * (1 + u * v / p["minimumImpactVelocity"])
    assert_allclose(np.maximum(force, 0), law_force(HERTZ), rtol=1e-12)


@pytest.mark.parametrize("factor", [1e-3, 0.5, 2.6, 2.7, 40.0])
def test_exudyn_coefficient_is_the_inverse_of_its_formula(factor):
    assert_allclose(damping_factor(coefficient_for(factor)), factor, rtol=1e-12)
    assert 0 < coefficient_for(factor) <= 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stiffness": -1.0}, "`stiffness` must be positive [N/m^n], got -1"),
        ({"exponent": 0.5}, "`exponent` must be at least 1, got 0.5"),
        ({"mass": math.nan}, "`mass` must be positive [kg], got nan"),
        ({"mu_dynamic": 0.9}, "`mu_dynamic` must not exceed `mu_static`, got 0.9 and 0.6"),
    ],
)
def test_bad_contacts_are_one_clear_line(change, message):
    with pytest.raises(InputError) as caught:
        dataclasses.replace(CONTACT, **change)
    assert str(caught.value) == message


def test_simbody_needs_a_radius():
    with pytest.raises(InputError, match="`radius` is needed for simbody"):
        ENGINES["simbody"].to(dataclasses.replace(CONTACT, radius=None))
