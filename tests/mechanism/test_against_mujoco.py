"""MuJoCo is the oracle: the same state in, every quantity compared, on random states."""

import warnings

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import stiction
from helpers import EVERY_JOINT, jit_once, quiet_load, relative_error
from stiction.mechanism.tidy import tidy

STATES = 200
TOLERANCE = 1e-10  # relative; both engines agree to rounding, about 1e-14

BUILT_IN = [name for name in stiction.scene_names()]


def oracle(source, edits=None) -> mujoco.MjModel:
    text = str(source)
    if text.lstrip().startswith("<"):
        spec = mujoco.MjSpec.from_string(text)
    else:
        spec = mujoco.MjSpec.from_file(text)
    tidy(spec, urdf=False)  # absent meshes
    spec.compiler.fusestatic = False
    for path, value in (edits or {}).items():
        kind, name, attribute = path.split(".")
        setattr(getattr(spec, kind)(name), attribute, value)
    return spec.compile()


def compare(mechanism, model, n_states=STATES):
    rng = np.random.default_rng(1)
    data = mujoco.MjData(model)
    nv, nu = model.nv, model.nu
    body = model.nbody - 1

    @jit_once
    @jax.vmap
    def ours(q, v, u, point):
        return {
            "mass matrix": stiction.mass_matrix(mechanism, q),
            "bias force": stiction.bias_force(mechanism, q, v),
            "kinetic energy": stiction.kinetic_energy(mechanism, q, v),
            "potential energy": stiction.potential_energy(mechanism, q),
            "passive force": stiction.passive_force(mechanism, q, v),
            "actuator force": stiction.actuator_force(mechanism, q, v, u),
            "position": stiction.point_position(mechanism, q, body, point),
            "jacobian": stiction.point_jacobian(mechanism, q, body, point),
            "bias acceleration": stiction.point_bias_acceleration(mechanism, q, v, body, point),
            "body positions": stiction.world_poses(mechanism, q).position,
            "body rotations": stiction.world_poses(mechanism, q).rotation,
            "center of mass": stiction.center_of_mass(mechanism, q),
        }

    states, theirs = [], {}
    for _ in range(n_states):
        q, v = model.qpos0.copy(), rng.normal(size=nv)
        mujoco.mj_integratePos(model, q, rng.normal(size=nv), 1.0)
        u, point = 2 * rng.normal(size=nu), rng.normal(size=3)
        states.append((q, v, u, point))
        data.qpos, data.qvel, data.ctrl = q, v, u
        mujoco.mj_forward(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        M = np.zeros((nv, nv))
        try:
            mujoco.mj_fullM(model, data, M)
        except TypeError:  # older versions of MuJoCo take the sparse matrix itself
            mujoco.mj_fullM(model, M, data.qM)
        world = data.xpos[body] + data.xmat[body].reshape(3, 3) @ point
        J, J_dot = np.zeros((3, nv)), np.zeros((3, nv))
        mujoco.mj_jac(model, data, J, None, world, body)
        mujoco.mj_jacDot(model, data, J_dot, None, world, body)
        moving = model.body_weldid != 0
        mass = np.where(moving, model.body_mass, 0)
        expected = {
            "mass matrix": M,
            "bias force": data.qfrc_bias,
            "kinetic energy": data.energy[1],
            "potential energy": data.energy[0],
            "passive force": data.qfrc_passive,
            "actuator force": data.qfrc_actuator,
            "position": world,
            "jacobian": J,
            "bias acceleration": J_dot @ v,
            "body positions": data.xpos,
            "body rotations": data.xmat.reshape(-1, 3, 3),
            "center of mass": mass @ data.xipos / mass.sum(),
        }
        for key, value in expected.items():
            theirs.setdefault(key, []).append(np.array(value))
    got = ours(*(np.array(x) for x in zip(*states, strict=True)))
    errors = {k: relative_error(got[k], np.array(x)) for k, x in theirs.items() if x[0].size}
    assert max(errors.values()) < TOLERANCE, errors


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_mechanisms_agree_with_mujoco(name):
    scene = stiction.scene(name)
    compare(quiet_load(name), oracle(scene.model_source, scene.scenario.mechanism.edits))


def test_every_type_of_joint_agrees_with_mujoco():
    compare(stiction.load(EVERY_JOINT), oracle(EVERY_JOINT))


@pytest.mark.shared
def test_g1_agrees_with_mujoco(shared_data):
    path = shared_data / "robot_models" / "unitree_g1.mjcf.xml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(stiction.load(path), oracle(path))


def test_states_travel_unchanged():
    """A step along v on the manifold is MuJoCo's."""
    model, mechanism = oracle(EVERY_JOINT), stiction.load(EVERY_JOINT)
    rng = np.random.default_rng(2)
    q = model.qpos0.copy()
    for _ in range(20):
        v = rng.normal(size=model.nv)
        mine = stiction.add_velocity(mechanism, jnp.asarray(q), jnp.asarray(v))
        mujoco.mj_integratePos(model, q, v, 1.0)
        np.testing.assert_allclose(mine, q, atol=1e-14)
        back = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, back, 1.0, model.qpos0, q)
        np.testing.assert_allclose(
            stiction.difference(mechanism, mechanism.q_reference, mine), back, atol=1e-12
        )
