"""Implicit steps of the core: their order, long steps where motion is stiff, and when they act."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import stiction
from stiction import Compliant, InputError, Solver, find_contacts, simulate
from stiction.control import HarmonicControl
from stiction.laws import HuntCrossley

DRIVEN = """<mujoco><option gravity="0 0 0"/><worldbody><body>
  <joint name="z" type="slide" axis="1 0 0" damping="{damping}"/><geom size=".1" mass="0.45"/>
  </body></worldbody><actuator><position joint="z" kp="350"/></actuator></mujoco>"""


def driven(solver, until=2.0):
    mechanism = stiction.load(DRIVEN.format(damping=0.0))
    control = HarmonicControl(jnp.zeros(1), jnp.array([0.02]), jnp.array([2.0]), jnp.zeros(1))
    run = simulate(
        mechanism, jnp.zeros(1), jnp.zeros(1), until=until, control=control, solver=solver
    )
    w, K, m = 4 * np.pi, 350.0, 0.45
    W, t = np.sqrt(K / m), np.asarray(run.time)
    exact = 0.02 * K / (K - m * w**2) * (np.sin(w * t) - w / W * np.sin(W * t))
    return np.abs(np.asarray(run.q[:, 0]) - exact).max(), int(run.steps)


@pytest.mark.parametrize("method", ["tsit5", "dopri5", "kvaerno5"])
def test_the_order_is_five(method):
    """Of a driven spring, by error against steps: what a step is asked for is met by its length."""
    errors, steps = zip(
        *(driven(Solver(10.0**-n, 10.0 ** -(n + 3), method)) for n in (6, 10)), strict=True
    )
    order = np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0])
    assert 4.3 < order < 6.0


def test_what_is_not_stiff_is_left_to_explicit_steps():
    """ "auto" is "tsit5" there, to the last bit."""
    assert driven(Solver(method="auto")) == driven(Solver(method="tsit5"))


def test_long_steps_follow_what_a_damper_of_any_size_is_dragged_along_by():
    """q̇ = K (u - q) / C once the mass no longer matters, however much C is: L-stability."""
    mechanism = stiction.load(DRIVEN.format(damping=1e8).replace('kp="350"', 'kp="1e8"'))
    control = HarmonicControl(jnp.array([0.1]), jnp.zeros(1), jnp.zeros(1), jnp.zeros(1))
    run = simulate(
        mechanism, jnp.zeros(1), jnp.zeros(1), until=5.0, control=control,
        solver=Solver(1e-8, 1e-9, "kvaerno5", max_steps=1000),
    )  # fmt: skip
    assert_allclose(run.q[:, 0], 0.1 * (1 - np.exp(-np.asarray(run.time))), atol=1e-7)


def test_a_turning_body_on_a_spring_is_the_same_by_all_methods():
    """Quaternions, tangential forces and several contacts in the equations of a stage."""
    mechanism = stiction.load("""<mujoco><option gravity="0 0 -9.81"/><worldbody>
      <geom name="floor" type="plane" size="1 1 .1"/><body name="egg" pos="0 0 .2"><freejoint/>
      <geom name="egg" type="ellipsoid" size=".1 .08 .06" mass="2"/></body></worldbody></mujoco>""")
    contacts = find_contacts(mechanism)
    law = Compliant(
        HuntCrossley.from_alpha(stiffness=1e4, alpha=0.5),
        stiction.laws.Stribeck(mu_static=0.6, mu_dynamic=0.4, slip_speed=1e-2),
    )
    q = jnp.array([0.0, 0.0, 0.12, 1.0, 0.2, 0.1, 0.0])
    v = jnp.array([0.5, 0.1, 0.0, 1.0, 2.0, 3.0])
    ends = [
        simulate(
            mechanism, q, v, until=0.4, contacts=contacts, law=law, samples=2,
            solver=Solver(1e-10, 1e-11, method),
        )
        for method in ("tsit5", "kvaerno5")
    ]  # fmt: skip
    assert int(ends[0].n_events) > 1
    assert_allclose(ends[1].q[-1], ends[0].q[-1], atol=1e-7)
    assert_allclose(ends[1].v[-1], ends[0].v[-1], atol=1e-6)


def test_the_method_that_was_is_named():
    with pytest.raises(InputError, match="kvaerno5"):
        Solver(method="rodas5p")
