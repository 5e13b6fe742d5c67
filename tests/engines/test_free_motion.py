"""Free motion: conservation, derivatives, compilation, and agreement with closed forms."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import stiction
from helpers import jit_once, quiet_load
from stiction.control import HarmonicControl

TIGHT = stiction.Solver(rtol=1e-10, atol=1e-12, method="dopri8")


@pytest.mark.parametrize(("name", "speed"), [("double-pendulum", 0.0), ("human", 1.0)])
def test_energy_drifts_less_than_a_billionth_in_ten_seconds(name, speed):
    mechanism = quiet_load(name)
    q, v = stiction.random_state(mechanism, jax.random.key(1), spread=0.3, speed=speed)
    # In free fall the kinetic energy swamps the inner motion; let the human float.
    if name == "human":
        mechanism = eqx.tree_at(lambda m: m.gravity, mechanism, jnp.zeros(3))
    run = stiction.simulate(mechanism, q, v, until=10.0, solver=TIGHT)
    energy = run.kinetic + run.potential
    scale = float(jnp.max(run.kinetic))
    assert np.max(abs(energy - energy[0])) <= 1e-9 * scale
    # Quaternions stay unit.
    if name == "human":
        np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:7], axis=1), 1, atol=1e-14)


def test_floating_human_keeps_its_angular_momentum():
    """About its centre of mass, in world axes, in free fall."""
    mechanism = quiet_load("human")
    q, v = stiction.random_state(mechanism, jax.random.key(2), spread=0.3)
    run = stiction.simulate(mechanism, q, v, until=1.0, solver=TIGHT, samples=20)
    _, L = jit_once(jax.vmap(lambda q, v: stiction.momentum(mechanism, q, v)))(run.q, run.v)
    np.testing.assert_allclose(L, np.tile(L[0], (20, 1)), atol=1e-9 * np.max(abs(L)))


def test_thrown_ball_follows_its_parabola():
    mechanism = quiet_load("bouncing-ball")
    v = jnp.array([1.0, -2.0, 3.0, 0.5, 0.6, 0.7])
    run = stiction.simulate(mechanism, mechanism.q_reference, v, until=0.7, samples=8)
    t = run.time[:, None]
    q0, g = mechanism.q_reference[:3], mechanism.gravity
    expected = q0[None] + v[None, :3] * t + g[None] * t**2 / 2
    np.testing.assert_allclose(run.q[:, :3], expected, atol=1e-11)


def test_driven_spring_follows_the_closed_form():
    """m z̈ = K (A sin ωt - z) from rest: z = A K/(K - m ω²) (sin ωt - (ω/Ω) sin Ωt), Ω² = K/m."""
    mechanism = stiction.load("""<mujoco><worldbody><body>
        <joint name="z" type="slide" axis="1 0 0"/><geom size=".1" mass="0.45"/></body></worldbody>
        <actuator><position joint="z" kp="350"/></actuator></mujoco>""")
    A, f = 0.0254, 2.0
    control = HarmonicControl(jnp.zeros(1), jnp.array([A]), jnp.array([f]), jnp.zeros(1))
    run = stiction.simulate(
        mechanism, jnp.zeros(1), jnp.zeros(1), until=2.0, control=control, solver=TIGHT
    )
    m = float(mechanism.bodies.mass[1])
    K = float(mechanism.actuators.gain[0])
    w, W = 2 * np.pi * f, np.sqrt(K / m)
    t = np.asarray(run.time)
    expected = A * K / (K - m * w**2) * (np.sin(w * t) - w / W * np.sin(W * t))
    np.testing.assert_allclose(run.q[:, 0], expected, atol=1e-9)
    assert np.max(abs(run.ledger_error)) < 1e-9 * np.max(run.actuator_work)
    assert np.max(run.actuator_work) > 1e-3


def test_damping_is_booked_as_a_loss():
    xml = """<mujoco><worldbody><body><joint name="a" damping="0.3" stiffness="4"/>
        <geom size=".1" pos=".5 0 0"/></body></worldbody></mujoco>"""
    mechanism = stiction.load(xml)
    run = stiction.simulate(mechanism, jnp.ones(1), jnp.zeros(1), until=5.0)
    assert run.damping_loss[-1] > 1.0
    assert np.all(np.diff(run.damping_loss) >= -1e-12)
    assert np.max(abs(run.ledger_error)) < 1e-6


@pytest.mark.parametrize("name", ["double-pendulum", "jumping-leg"])
def test_derivative_of_the_final_state_agrees_with_finite_differences(name):
    mechanism = quiet_load(name)
    q, v = stiction.random_state(mechanism, jax.random.key(3), spread=0.3)

    def final(dq, v):
        start = stiction.add_velocity(mechanism, q, dq)
        run = stiction.simulate(mechanism, start, v, until=0.1, samples=2, solver=TIGHT)
        return jnp.concatenate([stiction.difference(mechanism, q, run.q[-1]), run.v[-1]])

    zero = jnp.zeros(mechanism.nv)
    direction = jnp.asarray(np.random.default_rng(0).normal(size=(2, mechanism.nv)))
    weights = jnp.asarray(np.random.default_rng(1).normal(size=2 * mechanism.nv))
    h = 1e-5
    ahead = final(h * direction[0], v + h * direction[1])
    behind = final(-h * direction[0], v - h * direction[1])
    expected = weights @ (ahead - behind) / (2 * h)
    final = jax.jit(final)
    gradient = jit_once(jax.grad(lambda a, b: weights @ final(a, b), argnums=(0, 1)))(zero, v)
    np.testing.assert_allclose(
        gradient[0] @ direction[0] + gradient[1] @ direction[1], expected, rtol=1e-6
    )


def test_derivative_by_a_mass_agrees_with_finite_differences():
    mechanism = quiet_load("double-pendulum")
    q, v = jnp.array([0.3, -0.2]), jnp.array([0.1, 0.4])

    def final(mass):
        heavier = eqx.tree_at(lambda m: m.bodies.mass, mechanism, mass)
        return stiction.simulate(heavier, q, v, until=1.0, samples=2, solver=TIGHT).q[-1, 0]

    mass = mechanism.bodies.mass
    h = 1e-5
    step = jnp.zeros_like(mass).at[2].set(h)
    expected = (final(mass + step) - final(mass - step)) / (2 * h)
    # Finite differences of a motion that is exact to about 1e-11 are exact to about 1e-6.
    np.testing.assert_allclose(jax.grad(final)(mass)[2], expected, rtol=1e-6)


def test_changing_numbers_does_not_trace_again():
    """Masses, lengths, state, gravity, duration and tolerances are data, not program."""
    mechanism = quiet_load("double-pendulum")
    traces = []

    @eqx.filter_jit
    def run(mechanism, q, until, rtol):
        traces.append(1)
        solver = stiction.Solver(rtol=rtol, atol=1e-7, max_steps=4321)
        return stiction.simulate(
            mechanism, q, jnp.zeros(2), until=until, solver=solver, samples=11
        ).q[-1]

    first = run(mechanism, jnp.zeros(2), jnp.asarray(1.0), jnp.asarray(1e-6))
    changed = eqx.tree_at(
        lambda m: (m.bodies.mass, m.joints.position, m.gravity),
        mechanism,
        (2 * mechanism.bodies.mass, 0.5 * mechanism.joints.position, -mechanism.gravity),
    )
    second = run(changed, jnp.array([0.1, 0.2]), jnp.asarray(1.5), jnp.asarray(1e-8))
    third = run(quiet_load("double-pendulum"), jnp.ones(2), jnp.asarray(0.5), jnp.asarray(1e-7))
    assert len(traces) == 1
    assert not np.allclose(first, second)
    assert not np.allclose(first, third)


def test_a_batch_is_the_same_as_one_by_one():
    mechanism = quiet_load("double-pendulum")
    q = jnp.asarray(np.random.default_rng(0).normal(size=(5, 2)))

    def final(q):
        return stiction.simulate(mechanism, q, jnp.zeros_like(q), until=2.0, samples=3).q

    alone = np.stack([final(x) for x in q])
    np.testing.assert_array_equal(final(q), alone)
    # Inside `vmap` the steps are others.
    np.testing.assert_allclose(jax.vmap(final)(q), alone, atol=1e-6)


@pytest.mark.parametrize("method", ["auto", "kvaerno5"])
def test_stiff_joints_take_long_steps(method):
    """A hinge with 1e6 N·m·s/rad and a servo of 1e9 N·m/rad that follows 0.1 sin t.

    m l² q̈ = K (u - q) - C q̇: after a few 1/K of C it lags by C/K, and explicit steps of some
    1e-7 s would be needed for the rates C/I of 1e7 1/s.
    """
    mechanism = stiction.load("""<mujoco><compiler angle="radian"/><option gravity="0 0 0"/>
        <worldbody><body><joint name="a" damping="1e6"/>
          <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody>
        <actuator><position joint="a" kp="1e9"/></actuator></mujoco>""")
    control = HarmonicControl(
        jnp.zeros(1), jnp.array([0.1]), jnp.array([0.5 / np.pi]), jnp.zeros(1)
    )
    run = stiction.simulate(
        mechanism, jnp.zeros(1), jnp.zeros(1), until=3.0, control=control,
        solver=stiction.Solver(1e-8, 1e-9, method, max_steps=2000),
    )  # fmt: skip
    t, lag = np.asarray(run.time)[100:], 1e-3
    # (1 + lag d/dt) q = 0.1 sin t, but for the mass, which is 1e-10 of the damping's effect.
    expected = 0.1 * (np.sin(t) - lag * np.cos(t)) / (1 + lag**2)
    np.testing.assert_allclose(run.q[100:, 0], expected, atol=1e-8)
    assert int(run.steps) < 1500


def test_too_few_steps_is_said_and_keeps_what_was_computed():
    mechanism = quiet_load("double-pendulum")
    short = stiction.Solver(max_steps=20)
    with pytest.raises(stiction.RunError, match="max_steps"):
        stiction.simulate(mechanism, jnp.zeros(2), jnp.zeros(2), until=10.0, solver=short)
    run = stiction.simulate(
        mechanism, jnp.zeros(2), jnp.zeros(2), until=10.0, solver=short, throw=False
    )
    kept = np.isfinite(run.q[:, 0])
    assert kept[0]
    assert 0 < kept.sum() < kept.size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": jnp.zeros(3)}, "`q` has shape"),
        ({"v": jnp.zeros(1)}, "`v` has shape"),
        ({"samples": 1}, "`samples` must be at least 2"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    mechanism = quiet_load("double-pendulum")
    request = {"q": jnp.zeros(2), "v": jnp.zeros(2), "until": 1.0} | arguments
    with pytest.raises(stiction.InputError, match=message):
        stiction.simulate(mechanism, request.pop("q"), request.pop("v"), **request)
