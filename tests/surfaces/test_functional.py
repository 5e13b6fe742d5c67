"""rodic (4)-(17): functional coordinates, reactions with torques, supports that are bodies."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction._base.errors import InputError
from stiction.mechanism import add_velocity, kinetic_energy, load_mechanism
from stiction.surfaces.functional import NAMES, Frame, FunctionalContact, held_contact, held_impact

FOOT = """<body name="foot" pos="{x} 0 {z}"><freejoint/>
  <geom type="box" size=".1 .05 .02" mass="2"/></body>"""
TROLLEY = """<body name="trolley"><joint type="slide" axis="1 0 0"/>
  <geom type="box" size=".5 .3 .1" mass="6" contype="0" conaffinity="0"/></body>"""
SEESAW = """<body name="seesaw"><joint type="hinge" axis="0 1 0"/>
  <geom type="box" size="1 .2 .02" mass="5" contype="0" conaffinity="0"/></body>"""


def model(support="", x=0.0, z=0.3):
    body = FOOT.format(x=x, z=z)
    return load_mechanism(
        f"<mujoco><option gravity='0 0 -9.81'/><worldbody>{support}{body}</worldbody></mujoco>"
    )


@pytest.mark.parametrize("support", ["", TROLLEY, SEESAW], ids=["world", "trolley", "seesaw"])
def test_rates_and_bias_equal_differences_along_the_motion(support, rng):
    m = model(support)
    name = {"": "world", TROLLEY: "trolley", SEESAW: "seesaw"}[support]

    def boat(t):
        c, s = jnp.cos(0.3 * jnp.sin(2 * t)), jnp.sin(0.3 * jnp.sin(2 * t))
        R = jnp.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 0]]) + jnp.stack(
            [jnp.zeros(3), jnp.stack([0 * t, c, -s]), jnp.stack([0 * t, s, c])]
        )
        return Frame(jnp.stack([0.1 * t**2, 0 * t, 0.05 * jnp.sin(t)]), R)

    contact = FunctionalContact.of(
        m, "foot", name, point=(0.1, 0.0, -0.02), motion=None if support else boat
    )
    q, v = m.q_reference, jnp.asarray(rng.normal(size=m.nv) * 0.5)
    t, h = 0.7, 1e-4
    at = contact.at(m, q, v, t)

    def along(s):
        return np.asarray(contact.value(m, add_velocity(m, q, s * v), jnp.asarray(t + s, q.dtype)))

    assert_allclose(at.rate, (along(h) - along(-h)) / (2 * h), atol=1e-6)
    # q ⊕ s v moves with v constant in the child's axes: v̇ = 0.
    assert_allclose(at.bias, (along(h) - 2 * along(0) + along(-h)) / h**2, atol=1e-4)
    moved = jnp.asarray(rng.normal(size=m.nv))
    change = contact.at(m, q, v + moved, t).rate - at.rate
    assert_allclose(at.jacobian @ moved, change, atol=1e-10)


def test_a_foot_at_rest_is_held_by_its_weight_and_the_torque_of_its_arm():
    m = model(z=0.02)
    contact = FunctionalContact.of(m, "foot", point=(0.06, 0.0, -0.02)).at(
        m, m.q_reference, jnp.zeros(m.nv)
    )
    found = held_contact(m, m.q_reference, jnp.zeros(m.nv), jnp.zeros(m.nv), contact)
    weight = 2 * 9.81
    assert_allclose(found.acceleration, 0, atol=1e-10)
    # Held at a point 6 cm in front of the middle, the weight's moment is a torque about y.
    assert_allclose(found.reaction, [0, 0, weight, 0, 0.06 * weight, 0], atol=1e-8)
    # A contact along an edge (z and roll) leaves the pitch free: the foot tips over it.
    tips = held_contact(m, m.q_reference, jnp.zeros(m.nv), jnp.zeros(m.nv), contact,
                        held=("x", "y", "z", "roll", "yaw"))  # fmt: skip
    inertia = 2 * (0.2**2 + 0.04**2) / 12 + 2 * (0.06**2 + 0.02**2)
    assert_allclose(np.asarray(contact.jacobian @ tips.acceleration + contact.bias)[4],
                    -weight * 0.06 / inertia, rtol=1e-9)  # fmt: skip
    assert tips.reaction[4] == 0


def test_a_foot_that_lands_on_a_trolley_moves_on_with_it():
    m = model(TROLLEY, z=0.12)
    v = jnp.zeros(m.nv).at[1].set(3.0).at[3].set(-1.0)  # forward and down; the trolley stands
    contact = FunctionalContact.of(m, "foot", "trolley", ground=(0.0, 0.0, 0.1)).at(
        m, m.q_reference, v
    )
    after = held_impact(m, m.q_reference, v, contact)
    common = 2 * 3.0 / (2 + 6)  # momentum along the rails
    assert_allclose(after.velocity[:2], [common, common], atol=1e-9)
    assert_allclose(after.impulse[:3], [2 * (common - 3.0), 0, 2.0], atol=1e-9)


def test_a_foot_that_lands_on_a_seesaw_turns_it():
    arm = 0.8
    m = model(SEESAW, x=arm, z=0.04)
    v = jnp.zeros(m.nv).at[3].set(-2.0)
    contact = FunctionalContact.of(
        m, "foot", "seesaw", point=(0.0, 0.0, -0.02), ground=(arm, 0.0, 0.02)
    ).at(m, m.q_reference, v)
    after = held_impact(m, m.q_reference, v, contact)
    board = 5 * (2**2 + 0.04**2) / 12
    foot = 2 * (0.2**2 + 0.04**2) / 12 + 2 * (arm**2 + 0.04**2)
    # Angular momentum about the pivot; turning about y by ω moves the end down.
    assert_allclose(after.velocity[0], 2 * arm * 2.0 / (board + foot), rtol=1e-9)
    g = FunctionalContact.of(
        m, "foot", "seesaw", point=(0.0, 0.0, -0.02), ground=(arm, 0.0, 0.02)
    ).at(m, m.q_reference, after.velocity)
    assert_allclose(g.rate, 0, atol=1e-10)


def test_energy_is_lost_and_never_won_by_holding(rng):
    m = model(TROLLEY)
    for held in (("z", "roll"), NAMES):
        v = jnp.asarray(rng.normal(size=m.nv))
        contact = FunctionalContact.of(m, "foot", "trolley").at(m, m.q_reference, v)
        after = held_impact(m, m.q_reference, v, contact, held).velocity
        assert (
            kinetic_energy(m, m.q_reference, after) <= kinetic_energy(m, m.q_reference, v) + 1e-12
        )


def test_names_that_are_not_there_are_refused():
    m = model()
    with pytest.raises(InputError, match="boat"):
        FunctionalContact.of(m, "foot", "boat")
    contact = FunctionalContact.of(m, "foot").at(m, m.q_reference, jnp.zeros(m.nv))
    with pytest.raises(InputError, match="twist"):
        held_impact(m, m.q_reference, jnp.zeros(m.nv), contact, held=("twist",))
