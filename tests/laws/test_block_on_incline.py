"""A block on a slope, integrated directly: true stick below the cone, Coulomb above it.

One tangential degree of freedom, m v̇ = m g sin a + f, with the normal force m g cos a.
"""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction.laws import Bristle, RegularizedCoulomb

G, MASS, MU = 9.81, 2.0, 0.5
CONE = np.arctan(MU)
STIFFNESS = 1e5
BRISTLE = Bristle(mu_static=MU, stiffness=STIFFNESS, damping=2 * np.sqrt(STIFFNESS * MASS))


def slide(law, angle, times, *, state=None, wave=0.0, kick=0.0):
    """Position, velocity and state at the given times, from rest.

    A wave of a given height at 40 rad/s and a kick during 0.05 s may be added to the weight [N].
    """
    state = law.init_state(1) if state is None else state
    loads = (jnp.asarray(MASS * G * f(angle)) for f in (np.cos, np.sin))
    ys = _slide(law, *loads, jnp.asarray(wave), jnp.asarray(kick), state, jnp.asarray(times))
    return jax.tree.map(np.asarray, ys)


@eqx.filter_jit
def _slide(law, normal, pull, wave, kick, state, times):
    def motion(t, y, args):
        _, v, z = y
        push = pull + wave * jnp.sin(40 * t) + jnp.where(t < 0.05, kick, 0.0)
        force = law.force(z, v, normal) + push
        return v, force / MASS, law.state_rate(z, v, normal)

    return diffrax.diffeqsolve(
        diffrax.ODETerm(motion),
        diffrax.Tsit5(),
        t0=0.0,
        t1=times[-1],
        dt0=1e-4,
        y0=(jnp.zeros(1), jnp.zeros(1), state),
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=1e-9, atol=1e-14),
        max_steps=200_000,
    ).ys


def test_below_the_cone_a_loaded_block_does_not_move_at_all():
    angle = 0.99 * CONE
    loaded = jnp.array([MASS * G * np.sin(angle) / STIFFNESS])
    x, v, z = slide(BRISTLE, angle, np.linspace(0, 10, 12), state=loaded)
    assert np.max(np.abs(x)) <= 1e-12
    assert np.max(np.abs(z - np.asarray(loaded))) <= 1e-12
    assert np.max(np.abs(v)) <= 1e-12


def test_below_the_cone_an_unloaded_block_settles_and_then_does_not_creep():
    """It sinks into the bristle by load over stiffness, once; none of that is slip."""
    angle = 0.8 * CONE  # less than the cone by the overshoot of a load put on at once
    times = np.linspace(0, 11, 12)
    x, _, z = slide(BRISTLE, angle, times)
    assert_allclose(x[-1], MASS * G * np.sin(angle) / STIFFNESS, rtol=1e-9)
    assert np.max(np.abs(x[1:] - x[1])) <= 1e-12  # 10 s of creep
    assert np.max(np.abs(x - z)) <= 1e-15  # slip


def test_an_oscillating_load_below_the_cone_does_not_make_it_drift():
    """Where the LuGre bristle creeps."""
    angle = 0.6 * CONE
    x, _, z = slide(BRISTLE, angle, np.linspace(0, 10, 12), wave=0.3 * MU * MASS * G)
    assert np.max(np.abs(x - z)) <= 1e-15


@pytest.mark.parametrize("excess", [1.05, 1.5])
def test_above_the_cone_it_slides_as_coulomb_says(excess):
    angle = excess * CONE
    times = np.linspace(0, 1.1, 12)
    _, v, _ = slide(BRISTLE, angle, times)
    acceleration = float(v[-1, 0] - v[-6, 0]) / 0.5
    assert_allclose(acceleration, G * (np.sin(angle) - MU * np.cos(angle)), rtol=1e-8)


def test_a_law_without_memory_creeps_at_the_speed_it_says():
    """The contrast: RegularizedCoulomb's docstring states v = ε r / sqrt(1 - r²)."""
    law = RegularizedCoulomb(mu=MU, slip_speed=1e-3)
    angle = 0.8 * CONE
    r = np.tan(angle) / MU
    _, v, _ = slide(law, angle, np.array([0.0, 0.5, 1.0]))
    assert_allclose(v[-1, 0], 1e-3 * r / np.sqrt(1 - r**2), rtol=1e-6)


def test_static_friction_holds_more_than_dynamic_friction():
    """Between the two cones a block at rest stays, and a moving one goes on."""
    law = Bristle(
        mu_static=0.6, mu_dynamic=0.4, stribeck_speed=1e-3, stiffness=STIFFNESS, damping=600.0
    )
    angle = np.arctan(0.5)
    loaded = jnp.array([MASS * G * np.sin(angle) / STIFFNESS])
    times = np.linspace(0, 1.1, 12)
    x, _, _ = slide(law, angle, times, state=loaded)
    assert np.max(np.abs(x)) <= 1e-12
    _, v, _ = slide(law, angle, times, kick=20.0)
    acceleration = float(v[-1, 0] - v[-6, 0]) / 0.5
    assert_allclose(acceleration, G * (np.sin(angle) - 0.4 * np.cos(angle)), rtol=1e-5)


def test_energy_ledger_of_a_stick_slip_run_closes():
    """Work of gravity = kinetic + stored + lost, with the loss integrated beside the motion."""
    angle = 1.2 * CONE
    normal = MASS * G * np.cos(angle)

    def motion(t, y, args):
        v, z, _, _ = y
        v, z = v[None], z[None]
        f, z_dot = BRISTLE.force(z, v, normal), BRISTLE.state_rate(z, v, normal)
        pull = MASS * G * np.sin(angle)
        dissipated = -f @ v - jax.grad(BRISTLE.energy)(z) @ z_dot
        return jnp.stack([(f[0] + pull) / MASS, z_dot[0], pull * v[0], dissipated])

    y = diffrax.diffeqsolve(
        diffrax.ODETerm(motion),
        diffrax.Tsit5(),
        t0=0.0,
        t1=1.0,
        dt0=1e-4,
        y0=jnp.zeros(4),
        stepsize_controller=diffrax.PIDController(rtol=1e-10, atol=1e-12),
        max_steps=100_000,
    ).ys[-1]
    v, z, work, lost = np.asarray(y)
    books = 0.5 * MASS * v**2 + 0.5 * STIFFNESS * z**2 + lost - work
    assert abs(books) < 1e-8 * work
