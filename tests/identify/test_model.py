"""The regression's columns against the document's own matrices and against the law itself."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rigs import star_setup

from stiction.identify.contact.calibration import Calibration
from stiction.identify.contact.from_setup import contact_model
from stiction.identify.contact.geometry import BodyState, candidates
from stiction.identify.contact.inertia import CarriedInertia, inertial_wrench
from stiction.identify.contact.model import ContactModel, Material, columns, find_contacts, wrench
from stiction.identify.contact.parameters import (
    jacobian_of_wanted,
    model_values,
    wanted_names,
    wanted_values,
)
from stiction.identify.contact.plates import plates
from stiction.identify.contact.shapes import Corners

K, C, MU = 9000.0, 700.0, 0.3


def point_model(**options) -> ContactModel:
    """One corner at the body's origin over the ground."""
    material = Material("floor", **options)
    return ContactModel(
        body=(Corners(jnp.zeros((1, 3))),),
        plates=plates([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]]),
        allowed=jnp.ones((1, 1), bool),
        exponent=jnp.array([1.5]),
        slip_floor=jnp.array(1e-9),
        reference=jnp.array([0.1, 0.2, -0.3]),
        calibration=Calibration.none(1),
        materials=(material,),
        material_of=(0,),
    )


def moving(z=-0.004, v=(0.02, -0.01, -0.03)) -> BodyState:
    return BodyState(jnp.array([0.01, 0.02, z]), jnp.eye(3), jnp.array(v), jnp.zeros(3))


def test_force_of_one_contact_is_the_documents():
    """(2), (3), (6): f = k d^λ n + c ḋ n + μ k d^λ t, and the moment r × f (5)."""
    model = point_model()
    w = np.asarray(wrench(model, jnp.array([K, C, K * MU]), moving()))
    elastic = K * 0.004**1.5
    t = -np.array([0.02, -0.01, 0.0]) / np.hypot(0.02, 0.01)
    f = np.array([0, 0, elastic + C * 0.03]) + MU * elastic * t
    arm = np.array([0.01, 0.02, -0.004]) - [0.1, 0.2, -0.3]
    np.testing.assert_allclose(w, np.concatenate([f, np.cross(arm, f)]), rtol=1e-9)


def test_columns_of_two_surfaces_are_those_of_equation_20():
    """A side plate to the right and a bottom plate; wrench on the plates, as (17) writes it."""
    setup = star_setup({"right": "brass", "bottom": "steel"})
    model = contact_model(setup)
    model = eqx.tree_at(lambda m: m.slip_floor, model, jnp.array(1e-12))
    # Downwards along the side plate, to the right along the bottom plate, as in (20).
    d1, d2, rate1, rate2 = 0.006, 0.0065, 0.01, 0.02
    motion = BodyState(
        jnp.array([0.0, 0.0, -0.0005]), jnp.eye(3), jnp.array([rate1, 0.0, -rate2]), jnp.zeros(3)
    )
    theta = model_values(model, setup.testbed.truth)
    found = find_contacts(model, theta, motion)
    A = -np.asarray(columns(model, theta, motion, found, found.touching))  # on the plates
    origin = np.asarray(model.reference)
    (r1, r2) = (np.asarray(found.point)[i][np.asarray(found.touching)[i]][0] for i in (0, 1))
    (x1, y1, z1), (x2, y2, z2) = r1 - origin, r2 - origin
    # The zeros and arms of (20); the signs are those that (17) gives for these normals and slips.
    expected = np.array(
        [
            [d1, rate1, 0, 0, 0, d2],
            [0, 0, 0, 0, 0, 0],
            [0, 0, -d1, -d2, -rate2, 0],
            [0, 0, -d1 * y1, -d2 * y2, -rate2 * y2, 0],
            [d1 * z1, rate1 * z1, d1 * x1, d2 * x2, rate2 * x2, d2 * z2],
            [-d1 * y1, -rate1 * y1, 0, 0, 0, -d2 * y2],
        ]
    )
    assert model.names == ("brass.k", "brass.c", "brass.kmu", "steel.k", "steel.c", "steel.kmu")
    np.testing.assert_allclose(A, expected, atol=1e-12)


@settings(max_examples=30)
@given(st.floats(-0.01, 0.01), st.floats(-0.1, 0.1), st.floats(-0.05, 0.05), st.floats(0.0, 5000.0))
def test_force_never_pulls(depth, rate, slip, damping):
    w = wrench_jit(jnp.array([K, damping, K * MU]), -depth, slip, -rate)
    assert float(w[2]) >= 0.0
    if depth <= 0:
        assert not np.any(w)


@jax.jit
def wrench_jit(theta, z, vx, vz):
    motion = BodyState(
        jnp.stack([jnp.zeros(()), jnp.zeros(()), z]),
        jnp.eye(3),
        jnp.stack([vx, jnp.zeros(()), vz]),
        jnp.zeros(3),
    )
    return wrench(point_model(), theta, motion)


def test_the_documents_law_may_pull():
    """(2, 3) have no clamp; `may_pull` gives it as printed."""
    model = eqx.tree_at(lambda m: m.exponent, point_model(), jnp.ones(1))
    free = ContactModel(
        **{f: getattr(model, f) for f in model.__dataclass_fields__ if f != "may_pull"},
        may_pull=True,
    )
    leaving = moving(v=(0.0, 0.01, 0.2))
    theta = jnp.array([K, C, 0.0])
    assert float(wrench(model, theta, leaving)[2]) == 0.0
    assert float(wrench(free, theta, leaving)[2]) == pytest.approx(K * 0.004 - C * 0.2)


@pytest.mark.parametrize("z", [-0.004, 0.0, 0.003])
def test_derivatives_are_finite_to_second_order(z):
    """Touching, at the brink and apart; a slip speed of zero too."""
    theta = jnp.array([K, C, K * MU])

    def force(y):
        motion = BodyState(y[:3], jnp.eye(3), y[3:], jnp.zeros(3))
        return jnp.sum(wrench(point_model(), theta, motion))

    curvature = jax.jit(jax.hessian(force))
    for v in ((0.02, 0.0, -0.01), (0.0, 0.0, 0.0)):
        assert np.all(np.isfinite(curvature(jnp.array([0.0, 0.0, z, *v]))))


def test_output_parameters_and_back():
    setup = star_setup(
        {"bottom": "steel"},
        wanted=("k", "alpha", "mu", "lambda"),
        truth={"steel.k": 9e3, "steel.alpha": 0.4, "steel.mu": 0.3, "steel.lambda": 1.5},
    )
    model = contact_model(setup)
    theta = model_values(model, setup.testbed.truth)
    back = wanted_values(model, theta, np.zeros(1))
    values = dict(zip(wanted_names(model), np.asarray(back).tolist(), strict=True))
    assert values == pytest.approx(setup.testbed.truth)
    by_hand = jacobian_of_wanted(model, np.asarray(theta), np.zeros(1))
    traced = jax.jacfwd(lambda t: wanted_values(model, t, np.zeros(1)))(theta)
    np.testing.assert_allclose(by_hand, traced, rtol=1e-12)


def test_inertial_wrench_is_newtons_and_eulers(rng):
    """The reading without contact is the rate of momentum, with the sign of a reaction (24)."""
    mass, center = 2.0, rng.normal(size=3)
    half = rng.normal(size=(3, 3))
    I = half @ half.T
    inertia = CarriedInertia(*(jnp.asarray(a) for a in (mass, center, I, [0.0, 0.0, -9.81])))
    a, v, alpha, w, p = (rng.normal(size=3) for _ in range(5))
    reference = rng.normal(size=3)
    h = 1e-5

    def momentum(t):
        from scipy.spatial.transform import Rotation

        turn = w * t + 0.5 * alpha * t**2
        R = Rotation.from_rotvec(turn).as_matrix()
        omega = w + alpha * t + 0.5 * np.cross(turn, w + alpha * t) * 0
        arm = R @ center
        v_c = v + a * t + np.cross(omega, arm)
        at = p + v * t + 0.5 * a * t**2 + arm - reference
        return mass * v_c, R @ I @ R.T @ omega + np.cross(at, mass * v_c)

    motion = BodyState(*(jnp.asarray(x) for x in (p, np.eye(3), v, w)))
    got = inertial_wrench(inertia, motion, *(jnp.asarray(x) for x in (a, alpha, reference)))
    (fp, lp), (fm, lm) = momentum(h), momentum(-h)
    arm = p + center - reference
    weight = mass * np.array([0, 0, -9.81])
    force = weight - (fp - fm) / (2 * h)
    moment = np.cross(arm, weight) - (lp - lm) / (2 * h)
    np.testing.assert_allclose(got, np.concatenate([force, moment]), rtol=1e-6, atol=1e-6)


def test_contacts_of_all_plates_come_in_one_call():
    model = contact_model(star_setup({"right": "brass", "far": "rubber", "bottom": "steel"}))
    motion = BodyState(jnp.zeros(3), jnp.eye(3), jnp.zeros(3), jnp.zeros(3))
    found = candidates(model.body, model.plates, model.allowed, motion)
    assert np.sum(np.asarray(found.touching), axis=1).tolist() == [1, 1, 1]
    np.testing.assert_allclose(np.asarray(found.depth)[np.asarray(found.touching)], 0.006)
