"""The 38-DOF human lands and stands: rodic's multi-point impact and regular contact."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stiction
from stiction import Stepping, find_contacts, simulate
from stiction.biped import human
from stiction.engines.contact_dynamics import contact_dynamics, kinetic
from stiction.engines.forces import STICK, contact_forces
from stiction.impacts import ImpactProblem, impact_law
from stiction.mechanism import bias_force, mass_matrix, momentum
from stiction.surfaces import planes
from stiction.surfaces.supports import SupportMotion

G, MASS, MU = 9.81, 84.0728, 0.7
CORNERS = [f"{side}_{end}_{edge}" for side in ("left", "right") for end in ("heel", "toe")
           for edge in ("inner", "outer")]  # fmt: skip


@pytest.fixture(scope="module")
def body():
    mechanism = stiction.load(human())
    ground = planes([np.zeros(3)], [np.eye(3)], ["floor"])
    return mechanism, find_contacts(mechanism, points=CORNERS, ground=ground)


# Roll and pitch of the whole body [degrees], and the velocity of the platform [m/s].
LANDINGS = {
    "flat feet": (0, 0, (0, 0, 0)),
    "one heel": (5, -8, (0, 0, 0)),
    "an edge": (6, 0, (0, 0, 0)),
    "a moving platform": (0, 0, (0.5, -0.2, 0.3)),
}


@pytest.fixture(scope="module")
def landings(body):
    """Dropped from 0.2 m, at the instant of the impact, in one batch: states and platforms."""
    mechanism, contacts = body
    q, v, platform = [], [], []
    for roll, pitch, speed in LANDINGS.values():
        x = np.array(mechanism.q_reference)
        x[3:7] = np.roll(Rotation.from_euler("xy", [roll, pitch], degrees=True).as_quat(), 1)
        q.append(x)
        fall = np.zeros(mechanism.nv)
        fall[2] = -np.sqrt(2 * G * 0.2)
        v.append(fall)
        platform.append(speed)
    q, v, platform = (jnp.asarray(np.array(a, float)) for a in (q, v, platform))

    @jax.jit
    @jax.vmap
    def gaps(q, v):
        zero = jnp.zeros(())
        return contact_dynamics(mechanism, contacts, q, v, zero, jnp.zeros_like(v)).contacts.gap

    return q.at[:, 2].add(-jnp.min(gaps(q, v), axis=1)), v, platform


@pytest.mark.parametrize("law", ["lcp", "lcp-cone"])
def test_landing(body, landings, law):
    """No penetration after the impact, impulses in their cones, no energy gained, momentum kept."""
    mechanism, contacts = body
    resolve = impact_law(law, "off")

    @jax.jit
    @jax.vmap
    def land(q, v, speed, restitution):
        zero, n = jnp.zeros(1), contacts.count
        motion = SupportMotion(speed[None], jnp.zeros((1, 3)), zero, zero, jnp.zeros((1, 2)))
        moving = eqx.tree_at(lambda c: c.planes.motion, contacts, motion)
        d = contact_dynamics(mechanism, moving, q, v, zero[0], jnp.zeros_like(v))
        same = jnp.ones(n)
        problem = ImpactProblem(
            W=d.W, velocity=d.contacts.velocity, active=d.contacts.gap <= 1e-9,
            restitution=restitution * same, mu_static=MU * same, mu_dynamic=MU * same,
            stribeck_speed=1e-4 * same, stribeck_exponent=same, kinetic=kinetic(d.L, v),
            energetic=jnp.asarray(jnp.inf),
        )  # fmt: skip
        s = resolve(problem)
        after = v + d.change(s.impulse.reshape(-1))
        J = d.contacts.jacobian.reshape(-1, mechanism.nv)
        balance = mass_matrix(mechanism, q) @ (after - v) - J.T @ s.impulse.reshape(-1)
        given = momentum(mechanism, q, after)[0] - momentum(mechanism, q, v)[0]
        return problem, s, problem.velocity_after(s.impulse), balance, given

    q, v, platform = landings
    e = jnp.array([0.0, 0.3])
    lanes = [jnp.repeat(x, 2, axis=0) for x in (q, v, platform)]
    problem, s, after, balance, given = land(*lanes, jnp.tile(e, len(LANDINGS)))
    p, struck = np.asarray(s.impulse), np.asarray(problem.active)
    assert np.all(s.feasible)
    assert [int(k) for k in struck[::2].sum(axis=1)] == [8, 1, 2, 8]
    assert np.all(np.asarray(after)[..., -1][struck] >= -1e-9)
    assert np.all(p[..., -1] >= -1e-10)
    limit = MU * p[..., -1] + 1e-9
    friction = np.abs(p[..., :2]).max(-1) if law == "lcp" else np.linalg.norm(p[..., :2], axis=-1)
    assert np.all(friction <= limit)
    work = np.sum(p * (np.asarray(problem.velocity) + np.asarray(after)) / 2, axis=(1, 2))
    assert np.all(work[::2] < 0)  # e = 0, relative to the platform
    assert np.all(work[1::2] < 0)
    np.testing.assert_allclose(balance, 0, atol=1e-10)
    # On a level floor the rows of a contact are x, y and z of the world.
    np.testing.assert_allclose(given, p.sum(axis=1), atol=1e-9)
    # Rebound: Newton's law on every point that was struck and pressed.
    pressed = struck & (p[..., -1] > 1e-6)
    before, e_lane = np.asarray(problem.velocity)[..., -1], np.tile([0.0, 0.3], 4)[:, None]
    rebound = (np.asarray(after)[..., -1] + e_lane * before)[pressed]
    np.testing.assert_allclose(rebound, 0, atol=1e-9)


@pytest.fixture(scope="module")
def standing(body):
    """The human held in its joints by springs that balance its weight, and by dampers."""
    mechanism, contacts = body
    q = mechanism.q_reference
    c = np.asarray(bias_force(mechanism, q, jnp.zeros(mechanism.nv)))
    M = np.diag(np.asarray(mass_matrix(mechanism, q)))
    d = contact_dynamics(mechanism, contacts, q, jnp.zeros(mechanism.nv), jnp.zeros(()),
                         jnp.zeros(mechanism.nv))  # fmt: skip
    J = np.asarray(d.contacts.jacobian)
    # The least normal forces that carry the weight: the same on both sides.
    push = np.linalg.lstsq(J[:, -1, :6].T, c[:6], rcond=1e-9)[0]
    assert np.all(push > 0)
    torque = (c - J[:, -1].T @ push)[6:]
    k = np.minimum(3000.0, M[6:] * 450.0**2)
    stiffness = np.concatenate([[0.0], k])
    damping = np.concatenate([np.zeros(6), np.minimum(60.0, 60 * M[6:])])
    zero = np.asarray(q).copy()
    zero[7:] += torque / k
    held = eqx.tree_at(
        lambda m: (m.joints.stiffness, m.joints.spring_zero, m.joints.damping),
        mechanism,
        tuple(jnp.asarray(x) for x in (stiffness, zero, damping)),
    )
    law = Stepping(dt=2e-3, mu_static=MU, mu_dynamic=MU)

    def stand(until):
        v = jnp.zeros(mechanism.nv)
        return simulate(
            held, q, v, until=until, contacts=contacts, law=law, samples=11, keep_events=False
        )

    return stand


def test_standing_carries_half_the_weight_on_each_foot(standing):
    done = standing(0.2)
    feet = np.asarray(done.force[1:, :, -1]).reshape(-1, 2, 4).sum(axis=2)
    np.testing.assert_allclose(feet, MASS * G / 2, rtol=1e-6)
    assert round(MASS * G / 2) == 412


@pytest.mark.slow
def test_standing_for_a_minute_without_creep(standing):
    done = standing(60.0)
    moved = np.asarray(done.q) - np.asarray(done.q[0])
    np.testing.assert_allclose(moved, 0, atol=1e-9)
    assert float(done.drift) < 1e-9


def test_regular_contact(body):
    """rodic (13), (14): H Q̈ + h = τ + Jᵀ F and J Q̈ + A = 0, with all soles on the ground."""
    mechanism, contacts = body
    q = mechanism.q_reference
    rng = np.random.default_rng(3)
    torque = jnp.asarray(np.concatenate([np.zeros(6), rng.normal(0, 5, mechanism.nv - 6)]))
    # A motion of the joints above the ankles, which leaves the soles where they are.
    v = np.zeros(mechanism.nv)
    v[-14:] = rng.normal(0, 1, 14)
    v = jnp.asarray(v)

    @jax.jit
    def forces(q, v):
        d = contact_dynamics(mechanism, contacts, q, v, jnp.zeros(()), torque)
        modes = jnp.full(contacts.count, STICK)
        none = jnp.zeros((contacts.count, 2))
        f = contact_forces(d.W, d.a0, modes, none, jnp.zeros(contacts.count))
        J = d.contacts.jacobian.reshape(-1, mechanism.nv)
        a = d.acceleration(f)
        motion = mass_matrix(mechanism, q) @ a + bias_force(mechanism, q, v) - torque - J.T @ f
        return motion, J @ a + d.contacts.bias.reshape(-1), f.reshape(-1, 3)

    motion, constraint, force = forces(q, v)
    np.testing.assert_allclose(motion, 0, atol=1e-8)
    np.testing.assert_allclose(constraint, 0, atol=1e-8)
    assert float(jnp.sum(force[:, -1])) > 0.5 * MASS * G
