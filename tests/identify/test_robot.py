"""Whole robots from joint logs: the regressor, bodies that stay real, and virtual logs."""

from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import mujoco
import numpy as np
import pandas as pd
import pytest

from stiction._base.errors import InputError
from stiction.identify import Identification, export, identify_logs, read_setup
from stiction.identify.kinds import robot as robots
from stiction.identify.kinds.robot.identify import _base_parameters
from stiction.identify.kinds.robot.inertia import body_parameters, log_cholesky, pseudo_inertia
from stiction.identify.kinds.robot.regressor import chain_of, parameters_of, regressor
from stiction.identify.kinds.robot.setup import RobotSetup
from stiction.tables import read_table

LEG = """
<mujoco>
  <worldbody>
    <body name="hip" pos="0 0 0.5">
      <joint name="abduction" axis="1 0 0"/>
      <inertial pos="0.01 0.02 0" mass="0.7" diaginertia="0.0012 0.0009 0.0011"/>
      <body name="thigh" pos="0 0.08 0" euler="0 0 10">
        <joint name="hip" axis="0 1 0" pos="0.002 0 0"/>
        <inertial pos="0.005 -0.02 -0.03" mass="1.1" diaginertia="0.006 0.0055 0.0012"/>
        <body name="shank" pos="0 0 -0.21">
          <joint name="knee" axis="0 1 0"/>
          <inertial pos="0.006 0 -0.12" mass="0.24" diaginertia="0.003 0.0029 0.0003"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
SLIDER = LEG.replace('name="hip" axis="0 1 0"', 'name="hip" type="slide" axis="0 1 0"')
TERMS = ("armature", "viscous", "coulomb", "offset")


def arm(joints: int = 7) -> str:
    """A serial arm with axes in turn about z and y, links of falling mass."""
    text, end = "", ""
    for i in range(joints):
        axis, m = ("0 0 1" if i % 2 == 0 else "0 1 0"), 4.0 * 0.75**i
        text += (
            f'<body name="link{i + 1}" pos="0 0 {0.16 if i else 0.3}">'
            f'<joint name="joint{i + 1}" axis="{axis}"/>'
            f'<inertial pos="{0.02 - 0.004 * i:.4f} {0.01 * (-1) ** i} 0.07" mass="{m:.4f}"'
            f' fullinertia="{0.02 * m:.5f} {0.018 * m:.5f} {0.006 * m:.5f} {0.0006 * m:.6f}'
            f' {-0.0008 * m:.6f} {0.0005 * m:.6f}"/>'
        )
        end += "</body>"
    return f'<mujoco><compiler inertiafromgeom="false"/><worldbody>{text}{end}</worldbody></mujoco>'


def inverse(model, q, v, a) -> np.ndarray:
    """Torques of inertia and gravity by MuJoCo."""
    data, out = mujoco.MjData(model), np.zeros_like(q)
    for i in range(len(q)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[i], v[i], a[i]
        mujoco.mj_inverse(model, data)
        out[i] = data.qfrc_inverse
    return out


@pytest.mark.parametrize("text", [LEG, SLIDER, arm()], ids=["leg", "slider", "arm"])
def test_the_regressor_is_mujocos_inverse_dynamics(text, rng):
    model = mujoco.MjModel.from_xml_string(text)
    q, v, a = rng.standard_normal((3, 20, model.nv))
    chain = chain_of(model)
    tau = regressor(chain, q, v, a) @ parameters_of(chain).ravel()
    np.testing.assert_allclose(tau, inverse(model, q, v, a), rtol=1e-9, atol=1e-11)


def test_every_ten_numbers_are_a_real_body(rng):
    """Pseudo-inertia positive definite, and there and back again."""
    for _ in range(50):
        x = np.concatenate([rng.uniform(-2, 2, 4), rng.uniform(-0.5, 0.5, 6)])
        pi = np.asarray(body_parameters(jnp.asarray(x)))
        assert np.linalg.eigvalsh(pseudo_inertia(pi)).min() > 0
        np.testing.assert_allclose(log_cholesky(pi, "b"), x, atol=1e-9)


def test_a_body_that_cannot_be_is_refused():
    with pytest.raises(InputError, match="inertia of a real body"):
        log_cholesky(np.array([1.0, 0, 0, 0, 1.0, 1.0, 3.0, 0, 0, 0]), "link")


def test_base_parameters_leave_no_torque_unexplained(rng):
    """Bodies with equal base parameters have equal torques, however else they differ."""
    model = mujoco.MjModel.from_xml_string(arm(3))
    chain = chain_of(model)
    setup = robot_setup(3, "arm.xml")
    pi = parameters_of(chain).ravel()
    phi = np.concatenate([pi, np.zeros(3 * len(TERMS))])
    _, combine = _base_parameters(chain, setup, phi)
    hidden = np.linalg.svd(combine[:, : len(pi)])[2][len(combine) :]
    assert len(hidden) > 0
    q, v, a = rng.standard_normal((3, 30, 3))
    Y = regressor(chain, q, v, a).reshape(-1, len(pi))
    own = np.einsum("nj,jk->njk", a, np.eye(3)).reshape(-1, 3)
    for direction in hidden:
        # What is left of it is an armature.
        left = Y @ direction
        left -= own @ np.linalg.lstsq(own, left, rcond=None)[0]
        assert np.abs(left).max() < 1e-9 * np.abs(Y).max()


def robot_setup(joints: int, file: str, **more) -> RobotSetup:
    fields = {
        "kind": "robot",
        "mechanism": {"file": file},
        "time": "t",
        "position": [f"q{j}" for j in range(joints)],
        "torque": [f"tau{j}" for j in range(joints)],
    }
    return RobotSetup.model_validate(fields | more)


def virtual_log(text: str, truth: dict, *, seconds: float, seed: int, noise: float = 0.005):
    """Positions and torques of an exciting motion: five sines a joint, 1 kHz."""
    model = mujoco.MjModel.from_xml_string(text)
    random, n = np.random.default_rng(seed), model.nv
    t = np.arange(0, seconds, 1e-3)
    q, v, a = np.zeros((3, len(t), n))
    for j in range(n):
        for f in random.uniform(0.1, 1.2, 5):
            size, phase = random.uniform(0.1, 0.35) / max(f, 0.5), random.uniform(0, 2 * np.pi)
            w = 2 * np.pi * f
            q[:, j] += size * np.sin(w * t + phase)
            v[:, j] += size * w * np.cos(w * t + phase)
            a[:, j] -= size * w**2 * np.sin(w * t + phase)
    chain = chain_of(model)
    tau = regressor(chain, q, v, a) @ parameters_of(chain).ravel()
    own = {"armature": a, "viscous": v, "coulomb": np.sign(v), "offset": 1.0}
    tau = tau + sum(truth[name] * own[name] for name in TERMS)
    scale = noise * np.sqrt(np.mean(tau**2, axis=0))
    tau = tau + scale * random.standard_normal(tau.shape)
    q = q + 1e-6 * random.standard_normal(q.shape)
    columns = {f"q{j}": q[:, j] for j in range(n)} | {f"tau{j}": tau[:, j] for j in range(n)}
    return pd.DataFrame({"t": t, **columns})


def guess(text: str, seed: int = 5) -> str:
    """The model as drawn: masses, centres and inertias each up to 25 % off."""
    spec = mujoco.MjSpec.from_string(text)
    random = np.random.default_rng(seed)
    for body in spec.bodies:
        if body.mass > 0:
            by = random.uniform(0.75, 1.25)
            body.mass *= by
            body.inertia *= by
            if np.isfinite(body.fullinertia[0]):
                body.fullinertia *= by
            body.ipos *= random.uniform(0.8, 1.2)
    return spec.to_xml()


ROBOTS = {"leg": (LEG, 20.0), "arm": (arm(), 40.0)}


class Found(NamedTuple):
    """A virtual robot, its logs and what was identified from the first."""

    text: str
    truth: dict
    setup: RobotSetup
    folder: Path
    identified: Identification


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request, tmp_path_factory) -> Found:
    folder = tmp_path_factory.mktemp(request.param)
    text, seconds = ROBOTS[request.param]
    n, random = mujoco.MjModel.from_xml_string(text).nv, np.random.default_rng(3)
    truth = {
        "armature": random.uniform(0.02, 0.1, n),
        "viscous": random.uniform(0.1, 0.5, n),
        "coulomb": random.uniform(0.2, 0.8, n),
        "offset": random.uniform(-0.2, 0.2, n),
    }
    (folder / "robot.xml").write_text(guess(text))
    virtual_log(text, truth, seconds=seconds, seed=1).to_csv(folder / "log.csv", index=False)
    virtual_log(text, truth, seconds=10.0, seed=2).to_csv(folder / "other.csv", index=False)
    setup = robot_setup(n, "robot.xml")
    return Found(text, truth, setup, folder, identify_logs([folder / "log.csv"], setup, folder))


def test_a_virtual_robot_is_found(robot):
    """Base parameters within 2 % of their reach, friction within 5 %.

    Of a base parameter the reach is that of the largest of its kind: a small one beside large ones
    is judged by what its error does to the torques.
    """
    found, chain = robot.identified, chain_of(mujoco.MjModel.from_xml_string(robot.text))
    for name in ("viscous", "coulomb"):
        for j, joint in enumerate(chain.joints):
            value = found.parameters[f"{joint}.{name}"].value
            assert value == pytest.approx(robot.truth[name][j], rel=0.05)
    phi = np.concatenate([parameters_of(chain).ravel(), *(robot.truth[t] for t in TERMS)])
    base, _ = _base_parameters(chain, robot.setup, phi)
    largest = {}
    for name, value in base.items():
        kind = name.rpartition(".")[2][0]  # a mass, a first moment, an inertia
        largest[kind] = max(largest.get(kind, 0.0), abs(value))
    held = []
    for name, value in base.items():
        p = found.parameters[name]
        assert abs(p.value - value) < 0.02 * largest[name.rpartition(".")[2][0]]
        held.append(p.interval[0] <= value <= p.interval[1])
    assert np.mean(held) > 0.85
    for body in found.notes["bodies"].values():
        assert np.linalg.eigvalsh(pseudo_inertia(np.array(list(body.values())))).min() > 0
    assert found.notes["kept_aside_relative_error"] < 0.03


def test_another_motion_is_foretold(robot):
    """Within 3 % rms, by the validation; and its own fit agrees."""
    table = read_table(robot.folder / "other.csv", robot.setup.units, robot.setup.columns)
    missed = robots.validate([table], robot.setup, robot.folder, robot.identified)
    assert missed["torque_relative"] < 0.03
    assert max(missed.values()) < 0.06


def test_the_exported_model_moves_as_the_robot_does(robot):
    """MuJoCo's inverse dynamics of the model that is written, at random states."""
    made = export(robot.identified, robot.setup, "mujoco", folder=robot.folder)
    assert made.replay.residuals["torque_rms"] == pytest.approx(
        robot.identified.residual_rms, rel=1e-3
    )
    assert any("offset" in line for line in made.limits)
    written = mujoco.MjModel.from_xml_string(made.text)
    true = mujoco.MjModel.from_xml_string(robot.text)
    true.dof_armature[:], true.dof_damping[:] = robot.truth["armature"], robot.truth["viscous"]
    written.dof_frictionloss[:] = 0
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, 50, true.nv))
    expected, got = inverse(true, q, v, a), inverse(written, q, v, a)
    assert np.linalg.norm(got - expected) < 0.02 * np.linalg.norm(expected)
    urdf = export(robot.identified, robot.setup, "urdf", folder=robot.folder).text
    assert urdf.count("<inertial>") == written.nbody - 1
    with pytest.raises(InputError, match="exported as mujoco or urdf"):
        export(robot.identified, robot.setup, "drake", folder=robot.folder)


def test_a_designed_motion_tells_more_within_its_limits(tmp_path):
    (tmp_path / "robot.xml").write_text(LEG)
    limits = {"max_position": 0.8, "max_speed": 3.0, "max_acceleration": 20.0, "seconds": 6.0}
    found = robots.design_robot(robot_setup(3, "robot.xml", design=limits), tmp_path)
    assert found.gain > 1.2  # in the mean over all directions
    assert found.condition < found.usual_condition
    assert np.abs(found.position).max() <= 0.8
    assert np.abs(found.velocity).max() <= 3.0
    assert np.abs(found.acceleration).max() <= 20.0
    rate = np.gradient(found.position, found.time, axis=0)
    np.testing.assert_allclose(rate[2:-2], found.velocity[2:-2], atol=0.02)
    with pytest.raises(InputError, match=r"set `design\.max_position`"):
        robots.design_robot(
            robot_setup(3, "robot.xml", design={"max_speed": 1.0, "max_acceleration": 1.0}),
            tmp_path,
        )


def test_a_joint_that_never_moved_is_named(tmp_path):
    (tmp_path / "robot.xml").write_text(LEG)
    table = virtual_log(LEG, {t: np.zeros(3) for t in TERMS}, seconds=3.0, seed=0)
    table["q1"] = 0.1
    table.to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(InputError, match="joint 'hip' did not move"):
        identify_logs([tmp_path / "log.csv"], robot_setup(3, "robot.xml"), tmp_path)


def test_loops_are_refused():
    closed = LEG.replace(
        "</worldbody>",
        '</worldbody><equality><connect body1="shank" anchor="0 0 0"/></equality>',
    )
    with pytest.raises(InputError, match="tree without loops"):
        chain_of(mujoco.MjModel.from_xml_string(closed))


def test_setups_of_robots_are_read(tmp_path):
    text = (
        'kind = "robot"\ntime = "t"\nposition = ["q0"]\ntorque = ["u0"]\n'
        '[mechanism]\nfile = "robot.xml"\n'
    )
    (tmp_path / "robot.toml").write_text(text)
    setup, folder = read_setup(tmp_path / "robot.toml")
    assert setup.kind == "robot"
    assert folder == tmp_path.resolve()
