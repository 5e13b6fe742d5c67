"""A trajectory knows what it came from, inside and outside of JAX's transformations."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import stiction
from stiction import InputError, simulate
from stiction.engines.events import pushed

ARM = """<mujoco model="arm"><worldbody><body name="arm"><joint name="elbow" axis="0 1 0"/>
<geom type="capsule" size=".02 .2" mass="1"/></body></worldbody></mujoco>"""
QUICK = {"until": 0.1, "samples": 3}


@pytest.fixture(scope="module")
def arm():
    return stiction.load(ARM)


def test_a_trajectory_names_its_coordinates_and_is_saved(arm, tmp_path):
    run = simulate(arm, jnp.ones(1), jnp.zeros(1), **QUICK)
    assert run.mechanism is arm
    assert run.events() == []
    run.save(tmp_path / "arm.nc")
    with xr.open_dataset(tmp_path / "arm.nc") as data:
        assert data.q.sel(coordinate="elbow").shape == (3,)


def test_it_goes_through_jit_vmap_grad_and_tree_map(arm):
    def run(q, mass):
        heavier = eqx.tree_at(lambda m: m.bodies.mass, arm, arm.bodies.mass * mass)
        return simulate(heavier, q[None], jnp.zeros(1), **QUICK)

    def end(q):
        return simulate(arm, q[None], jnp.zeros(1), **QUICK).q[-1, 0]

    # What is known outside of the transformation is kept whole, what is traced only by its names.
    plain = jax.jit(lambda q: simulate(arm, q[None], jnp.zeros(1), **QUICK))(jnp.asarray(0.5))
    assert plain.mechanism is arm
    traced = jax.jit(run)(jnp.asarray(0.5), jnp.asarray(2.0))
    assert list(traced.to_dataset().coordinate.values) == ["elbow"]
    lanes = jax.vmap(run)(jnp.asarray([0.5, 1.0]), jnp.asarray([1.0, 2.0]))
    one = jax.tree.map(lambda x: x[0], lanes)
    np.testing.assert_allclose(one.q, plain.q, rtol=1e-12)
    with pytest.raises(InputError, match="one run"):
        lanes.events()
    both = jax.tree.map(lambda a, b: jnp.stack([a, b]), plain, plain)
    assert both.mechanism is arm
    slope = jax.grad(end)(jnp.asarray(0.5))
    step = 1e-6
    difference = (end(jnp.asarray(0.5 + step)) - end(jnp.asarray(0.5 - step))) / (2 * step)
    assert float(slope) == pytest.approx(float(difference), rel=1e-5)


def test_another_mechanism_is_never_taken_for_the_first(arm):
    """A function of a trajectory is compiled anew for a mechanism of another mass."""
    heavier = eqx.tree_at(lambda m: m.bodies.mass, arm, 2 * arm.bodies.mass)
    mass = jax.jit(lambda run: jnp.sum(run.mechanism.bodies.mass) + 0 * run.q[0, 0])
    runs = [simulate(m, jnp.ones(1), jnp.zeros(1), **QUICK) for m in (arm, heavier)]
    assert [float(mass(run)) for run in runs] == pytest.approx([1.0, 2.0])


def test_whole_numbers_are_numbers(arm):
    whole = simulate(arm, jnp.asarray([1]), np.array([0]), **QUICK)
    exact = simulate(arm, jnp.ones(1), jnp.zeros(1), **QUICK)
    np.testing.assert_array_equal(whole.q, exact.q)


def test_a_zero_quaternion_is_refused_by_name():
    box = stiction.load("box")
    with pytest.raises(InputError, match="joint 'box' in `q` must not be zero"):
        simulate(box, jnp.zeros(7), jnp.zeros(6), **QUICK)
    with pytest.raises(InputError, match=r"joint 'box' in `start\.q` must not be zero"):
        _ = stiction.scene("box", start={"q": [0, 0, 1, 0, 0, 0, 0]}).q


def test_impulses_at_rounding_level_are_no_impacts():
    """Beside a real impact one of 2e-25 N s seemed to use eighty times the friction there is."""
    run = stiction.scene("box", until=1.2, samples=13).run()
    used = [event.mu for event in run.events() if event.kind in ("impact", "zeno")]
    assert len(used) > 20
    assert np.nanmax(used) <= 0.4 + 1e-6  # contact.mu_dynamic of the scene


def test_an_impulse_counts_by_the_largest_of_its_event():
    impulses = np.zeros((2, 3, 3))
    impulses[0, :2, 2] = 2.0, 1e-13
    assert pushed(impulses).tolist() == [[True, False, False], [False, False, False]]
