"""Computed torque on mechanisms that stand and fly: joints accelerate as they are told to."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from stiction._base.errors import InputError
from stiction.biped import human
from stiction.control import TrackingControl, make_reference
from stiction.engines.contact_dynamics import contact_dynamics
from stiction.engines.forces import OPEN, STICK, contact_forces
from stiction.mechanism import actuator_force, passive_force
from stiction.mechanism.forces import scalar_entries
from stiction.surfaces import find_contacts, planes

CORNERS = [f"{side}_{end}_{edge}" for side in ("left", "right") for end in ("heel", "toe")
           for edge in ("inner", "outer")]  # fmt: skip
MU = 0.6


def test_reference_goes_through_its_postures_and_rests_at_its_ends():
    rng = np.random.default_rng(1)
    time, values = np.array([0.0, 0.4, 0.5, 1.1]), rng.normal(size=(4, 3))
    reference = jax.jit(jax.vmap(make_reference(time, values)))
    r, r_dot, _ = reference(jnp.asarray(time))
    np.testing.assert_allclose(r, values, atol=1e-12)
    np.testing.assert_allclose(r_dot[jnp.array([0, -1])], 0, atol=1e-12)
    # Velocity and acceleration are derivatives: central differences, whose error is of order h².
    t, h = jnp.linspace(0.01, 1.09, 57), 1e-4
    (before, v0, _), (_, v, a), (after, v1, _) = (reference(x) for x in (t - h, t, t + h))
    np.testing.assert_allclose(v, (after - before) / (2 * h), atol=1e-4)
    smooth = np.min(np.abs(np.asarray(t)[:, None] - time[None]), axis=1) > h  # a has kinks there
    np.testing.assert_allclose(a[smooth], ((v1 - v0) / (2 * h))[smooth], atol=1e-6)
    # Held before and after.
    early, late = reference(jnp.array([-1.0, -0.1])), reference(jnp.array([1.2, 9.0]))
    np.testing.assert_allclose(early[0], values[[0, 0]], atol=1e-12)
    np.testing.assert_allclose(late[0], values[[3, 3]], atol=1e-12)
    assert not np.any(np.asarray(late[1]))
    assert not np.any(np.asarray(early[2]))


def test_times_of_a_reference_must_increase():
    with pytest.raises(InputError, match="must increase"):
        make_reference([0.0, 0.5, 0.5], np.zeros((3, 2)))


@pytest.fixture(scope="module")
def told():
    """The human told to move its joints, in flight and on the ground: one compiled program.

    At a state: accelerations wanted, and those that the efforts give where contacts that touch
    hold (forces inside their cones show that they do).
    """
    m = stiction.load(human())
    ground = planes([np.zeros(3)], [np.eye(3)], ["floor"])
    contacts = find_contacts(m, points=CORNERS, ground=ground)
    _, at_v = scalar_entries(m.tree)
    zero = jnp.zeros(())
    mu = jnp.full(contacts.count, MU)

    @jax.jit
    def answer(q, v, goal, balance):
        curve = make_reference([0.0], np.zeros((1, at_v.size)))
        # The reference is a number, too: its constant part is what is wanted.
        d, c, b, a = curve.curve.coeffs
        reference = type(curve)(type(curve.curve)(curve.curve.ts, (d, c, b, a + goal[None])))
        numbers = (jnp.asarray(20.0), jnp.asarray(1.0))
        control = TrackingControl(m, contacts, mu, reference, *numbers, balance)
        u = control(zero, q, v, jnp.zeros(contacts.count, int))
        drive = actuator_force(m, q, v, u) + passive_force(m, q, v)
        dyn = contact_dynamics(m, contacts, q, v, zero, drive)
        modes = jnp.where(dyn.contacts.gap < 1e-6, STICK, OPEN)
        none = jnp.zeros((contacts.count, 2))
        f = contact_forces(dyn.W, dyn.a0, modes, none, mu)
        return control.wanted(zero, q, v), dyn.acceleration(f)[at_v], f.reshape(-1, 3)

    return m, answer


def test_joints_follow_exactly_in_flight(told):
    m, answer = told
    rng = np.random.default_rng(2)
    q = np.array(m.q_reference)
    q[2] += 1.0
    q[7:] += rng.normal(0, 0.4, m.nv - 6)
    v, goal = rng.normal(0, 1, m.nv), rng.normal(0, 0.3, m.nv - 6)
    wanted, has, force = answer(*map(jnp.asarray, (q, v, goal)), jnp.asarray(3.0))
    assert not np.any(np.asarray(force))
    np.testing.assert_allclose(has, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())


def test_joints_follow_on_the_ground_and_feet_carry_the_weight(told):
    """Bending both knees with flat feet: a motion that the ground allows.

    To within the softness of contacts in the control, a thousandth of what they feel.
    """
    m, answer = told
    names = [n for n in m.tree.joint_names if n != "base"]
    goal = np.zeros(len(names))
    for side in ("left", "right"):
        goal[names.index(f"{side}_hip_flexion")] = 0.004
        goal[names.index(f"{side}_knee_flexion")] = 0.008
        goal[names.index(f"{side}_ankle_flexion")] = 0.004
    still = jnp.zeros(m.nv)
    wanted, has, force = answer(m.q_reference, still, jnp.asarray(goal), jnp.asarray(0.0))
    np.testing.assert_allclose(has, wanted, rtol=0, atol=0.05 * np.abs(wanted).max())
    assert np.all(force[:, 2] > 0)
    assert np.all(np.linalg.norm(force[:, :2], axis=1) < MU * np.asarray(force[:, 2]))
    held, _, force = answer(m.q_reference, still, jnp.zeros(len(names)), jnp.asarray(0.0))
    assert not np.any(np.asarray(held))
    np.testing.assert_allclose(np.sum(force[:, 2]), 84.0728 * 9.81, rtol=1e-3)


def test_balance_pushes_the_centre_of_mass_over_the_feet(told):
    """Upright the centre of mass is behind the middle of the soles, so it is pushed forward."""
    m, answer = told
    still, goal = jnp.zeros(m.nv), jnp.zeros(m.nv - 6)
    pushes = [float(jnp.sum(answer(m.q_reference, still, goal, jnp.asarray(b))[2][:, 0]))
              for b in (0.0, 2.0, 4.0)]  # fmt: skip
    # Both gains ask for more than the edge of the feet allows, and get the same, to rounding.
    assert abs(pushes[0]) < 0.3 * pushes[1]
    assert pushes[2] == pytest.approx(pushes[1], rel=1e-9)
