"""Capability against linear programs with every unknown of the equations of motion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from helpers import quiet_load
from stiction.agility import capability, effort_range, make_stance, random_posture
from stiction.agility.capability import _by_program
from stiction.agility.postures import posture_limits
from stiction.agility.stance import stance_maps
from stiction.mechanism import bias_force, link_kinematics, mass_matrix, passive_force, random_state
from stiction.surfaces import contact_kinematics

STATES = 1000


def equations(stance, q, v, d):
    """Rows over (s, τ, f, v̇) of: the law of motion, contacts at rest, a = s d."""
    m, rows = stance.mechanism, stance.rows
    seen = contact_kinematics(m, stance.contacts, link_kinematics(m, q), v, jnp.zeros(()))
    J = seen.jacobian.reshape(-1, m.nv)
    P = stance.jacobian(q)[rows]
    nu, k, n = len(stance.motors.names), len(rows), J.shape[0]
    law = jnp.concatenate(
        [jnp.zeros((m.nv, 1)), stance.motors.moment.T, J.T, -mass_matrix(m, q)], 1
    )
    rest = jnp.concatenate([jnp.zeros((n, 1 + nu + n)), J], 1)
    task = jnp.concatenate([-d[rows][:, None], jnp.zeros((k, nu + n)), P], 1)
    right = jnp.concatenate([
        bias_force(m, q, v) - passive_force(m, q, v),
        -seen.bias.reshape(-1),
        -stance.bias(q, v)[rows],
    ])  # fmt: skip
    return jnp.concatenate([law, rest, task]), right, *effort_range(stance, q, v)


def solve_all(A, b, low, high, feasible):
    """The largest s of every state in one program (they do not touch each other)."""
    A, b, low, high = (x[feasible] for x in (A, b, low, high))
    count, _, size = A.shape
    unit = np.abs(A).max(axis=1)  # columns in units of their size
    unit = np.where(unit > 0, unit, 1.0)
    scale = np.abs(A / unit[:, None]).max(axis=2)
    A, b = A / unit[:, None] / scale[:, :, None], b / scale
    lower, upper = np.full((count, size), -np.inf), np.full((count, size), np.inf)
    nu = low.shape[1]
    lower[:, 1 : 1 + nu], upper[:, 1 : 1 + nu] = (
        low * unit[:, 1 : 1 + nu],
        high * unit[:, 1 : 1 + nu],
    )
    cost = np.zeros((count, size))
    cost[:, 0] = -1 / unit[:, 0]
    done = linprog(
        cost.ravel(), A_eq=sp.block_diag(A, format="csr"), b_eq=b.ravel(),
        bounds=np.stack([lower.ravel(), upper.ravel()], axis=1), method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    assert done.status == 0, done.message
    return done.x.reshape(count, size)[:, 0] / unit[:, 0]


@pytest.mark.parametrize("leg", ["jumping_leg", "planar_leg", "quadruped_leg"])
def test_closed_form_is_the_linear_program_without_contact_limits(leg, forward, request):
    """HiGHS on all unknowns, 1,000 random states with random velocities. Seen to fail with a sign
    of the bias changed."""
    stance = request.getfixturevalue(leg)

    @jax.jit
    @jax.vmap
    def both(key):
        q, v = random_state(stance.mechanism, key, spread=0.4)
        found = capability(stance, q, forward, v=v, contact_limits=False)
        return found.value, equations(stance, q, v, forward)

    value, rows = jax.device_get(both(jax.random.split(jax.random.key(3), STATES)))
    feasible = np.isfinite(value)
    assert feasible.sum() > 50
    expected = solve_all(*rows, feasible)
    # 1e-9 of the accelerations that a state has without any motor working against them.
    size = 1 + np.abs(expected)
    assert np.max(np.abs(value[feasible] - expected) / size) < 1e-9


@pytest.fixture(scope="module")
def standing(jumping_leg, forward):
    """A thousand postures of the leg with both answers, and that of the program."""
    limits = posture_limits(jumping_leg)

    def one(key):
        q = random_posture(jumping_leg, limits, key)
        maps = stance_maps(jumping_leg, q, jnp.zeros(jumping_leg.mechanism.nv))
        return (
            q,
            capability(jumping_leg, q, forward),
            capability(jumping_leg, q, forward, contact_limits=False),
            _by_program(maps, forward, jumping_leg.mu),
        )

    return jax.device_get(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), 1000)))


def test_intervals_and_cone_program_agree(standing):
    """Two methods for one answer: also on which postures have none."""
    _, exact, _, program = standing
    feasible = np.isfinite(exact.value)
    assert feasible.sum() > 10
    np.testing.assert_array_equal(np.isfinite(program.value), feasible)
    for name in ("value", "lowest"):
        a, b = (getattr(x, name)[feasible] for x in (exact, program))
        # The program's own target: 1e-12 of numbers scaled to one, over its conditioning.
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-6)


def test_the_answer_obeys_its_limits_and_one_of_them_binds(standing, jumping_leg):
    _, exact, motors, _ = standing
    feasible = np.isfinite(exact.value)
    effort, force = exact.effort[feasible], exact.force[feasible][:, 0]
    assert np.abs(effort).max() <= 2.5 * (1 + 1e-12)
    size = np.abs(force).max(axis=1)
    room = (0.5 * force[:, 2] - np.linalg.norm(force[:, :2], axis=1)) / size
    assert room.min() > -1e-9
    left = np.minimum((2.5 - np.abs(effort)).min(axis=1) / 2.5, room)
    assert left.max() < 1e-9
    assert np.all(exact.value[feasible] <= motors.value[feasible] * (1 + 1e-12) + 1e-9)


def test_an_acceleration_is_what_forward_dynamics_gives(standing, jumping_leg, forward):
    """Efforts and forces put into M v̇ = …: the foot stays, the body accelerates along d."""
    q, exact, _, _ = standing
    i = int(np.argmax(np.where(np.isfinite(exact.value), exact.value, -1)))
    m, q, still = jumping_leg.mechanism, jnp.asarray(q[i]), jnp.zeros(9)
    seen = contact_kinematics(m, jumping_leg.contacts, link_kinematics(m, q), still, jnp.zeros(()))
    J = seen.jacobian.reshape(3, 9)
    force = m.actuators.moment.T @ exact.effort[i] + J.T @ exact.force[i].reshape(-1)
    force = force + passive_force(m, q, still) - bias_force(m, q, still)
    v_dot = jnp.linalg.solve(mass_matrix(m, q), force)
    s = float(exact.value[i])
    np.testing.assert_allclose(J @ v_dot, np.zeros(3), atol=1e-9 * s)
    np.testing.assert_allclose(jumping_leg.jacobian(q) @ v_dot, s * forward, atol=1e-9 * s)


def test_more_motors_than_rows(shared_data):
    """A quadruped on four feet: the program beats the closed form, and both obey their limits."""
    mechanism = quiet_load(shared_data / "robot_models" / "solo12.urdf", "free")
    feet = [f"{leg}_FOOT" for leg in ("FL", "FR", "HL", "HR")]
    stance = make_stance(mechanism, contacts=feet, mu=0.7)
    q = mechanism.q_reference
    q = q.at[7 + np.array([1, 4, 7, 10])].set(0.7).at[7 + np.array([2, 5, 8, 11])].set(-1.4)
    both = jax.jit(lambda q: [capability(stance, q, jnp.array([0, 0, 1.0]), contact_limits=c)
                              for c in (True, False)])  # fmt: skip
    exact, alone = both(q)
    assert np.isfinite(exact.value)
    force = np.asarray(exact.force)
    assert np.all(0.7 * force[:, 2] - np.linalg.norm(force[:, :2], axis=1) > -1e-5)
    assert np.abs(exact.effort).max() <= 1000 * (1 + 1e-6)
    # By symmetry no foot slips going up, so that only the motors limit it, which share better.
    assert float(exact.value) >= float(alone.value) * (1 - 1e-8)


def test_gradient_of_the_program_by_the_envelope_theorem(jumping_leg, forward, standing):
    q, exact, _, _ = standing
    i = int(np.argmax(np.where(np.isfinite(exact.value), exact.value, -1)))

    def value(turn, how):
        posture = jnp.asarray(q[i]).at[8].add(turn)
        maps = stance_maps(jumping_leg, posture, jnp.zeros(9))
        if how:
            return _by_program(maps, forward, jumping_leg.mu).value
        return capability(jumping_leg, posture, forward).value

    by_program, by_intervals = (jax.jit(jax.grad(lambda x, h=h: value(x, h)))(0.0) for h in (1, 0))
    h = 1e-6
    differences = (value(h, 0) - value(-h, 0)) / (2 * h)
    assert float(by_intervals) == pytest.approx(float(differences), rel=1e-5)
    assert float(by_program) == pytest.approx(float(by_intervals), rel=1e-5)
