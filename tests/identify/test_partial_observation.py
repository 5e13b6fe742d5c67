"""Rollouts that were seen in part: markers, a gyro, or positions alone."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stiction._base.errors import InputError
from stiction.engines import simulate
from stiction.identify.kinds import rollouts
from stiction.identify.kinds.rollouts.identify import prepare
from stiction.identify.kinds.rollouts.record import configurations
from stiction.identify.setups import KINDS
from stiction.scenes import Scene
from stiction.tables import Table

BALL = """<mujoco model="ball"><option gravity="0 0 -9.81"/><worldbody>
  <geom name="ground" type="plane" size="5 5 1"/>
  <body name="ball">
    <joint name="x" type="slide" axis="1 0 0"/>
    <joint name="z" type="slide" axis="0 0 1"/>
    <joint name="turn" type="hinge" axis="0 1 0"/>
    <geom name="skin" type="sphere" size="0.03" mass="0.1"/>
  </body></worldbody></mujoco>"""
DICE = """<mujoco model="dice"><option gravity="0 0 -9.81"/><worldbody>
  <geom name="ground" type="plane" size="5 5 1"/>
  <body name="dice"><freejoint/><geom name="box" type="box" size="0.05 0.04 0.03" mass="0.4"/>
  </body></worldbody></mujoco>"""
RATE, ROWS = 250.0, 70
MU, E = 0.25, 0.7


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("partial")
    (path / "ball.xml").write_text(BALL)
    (path / "dice.xml").write_text(DICE)
    return path


def make_setup(file, **fields):
    data = {
        "kind": "rollouts",
        "mechanism": {"file": file},
        "contact": {"law": "hybrid", "mu_static": 0.4, "mu_dynamic": 0.4, "restitution": 0.5},
        "wanted": ["mu", "restitution"],
        "rate": RATE,
        "kept_aside": 0.0,
        **fields,
    }
    return KINDS["rollouts"].setup.model_validate(data)


def ball_logs(folder, tmp_path, count=24, noise=5e-5, speed=(1, 4), spin=30, seed=3):
    """Bounces of a ball thrown with a spin."""
    contact = {"law": "hybrid", "mu_static": MU, "mu_dynamic": MU, "restitution": E}
    true = make_setup("ball.xml", coordinates=["x", "z", "turn"], contact=contact)
    scene = Scene(true.scenario, folder)
    random = np.random.default_rng(seed)
    q = np.stack([np.zeros(count), random.uniform(0.06, 0.1, count), np.zeros(count)], axis=1)
    v = np.stack(
        [random.uniform(*speed, count), random.uniform(-1.5, -0.5, count),
         random.uniform(-spin, spin, count)], axis=1
    )  # fmt: skip
    run = simulate(
        scene.mechanism, q, v, until=(ROWS - 1) / RATE, contacts=scene.contacts, law=scene.law,
        samples=ROWS,
    )  # fmt: skip
    path = np.asarray(run.q) + noise * random.standard_normal((count, ROWS, 3))
    return [
        Table(tmp_path / f"throw-{i}.csv", dict(zip(("x", "z", "turn"), p.T, strict=True)))
        for i, p in enumerate(path)
    ]


def test_friction_of_a_ball_from_positions_alone(folder, tmp_path):
    """Each throw has its own unknown spin, found along with what all have in common."""
    setup = make_setup("ball.xml", coordinates=["x", "z", ""], spin=20.0)
    found = rollouts.identify(ball_logs(folder, tmp_path), setup, folder)
    mu, e = found.parameters["mu"], found.parameters["restitution"]
    assert abs(mu.value - MU) < 3 * mu.std
    assert abs(e.value - E) < 3 * e.std
    assert mu.std < 0.02
    assert e.std < 0.005


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_friction_of_a_ball_that_hardly_slips_is_not_claimed(folder, tmp_path, seed):
    """A ball of e, μ that lands at v rolls on at once if it slips by less than 3.5 μ (1 + e) v.

    Then any larger friction gives the same motion: at 0.5 to 2 m/s nearly all throws do.
    """
    setup = make_setup("ball.xml", coordinates=["x", "z", "turn"])
    logs = ball_logs(folder, tmp_path, speed=(0.5, 2.0), spin=5, seed=seed)
    found = rollouts.identify(logs, setup, folder)
    low, high = found.parameters["mu"].interval
    assert 0.1 < low < MU < high
    # Either all larger values do as well, and that is said; or some throw slipped, and it is wide.
    assert high > 3 * low
    for said in found.warnings:
        assert said.startswith("mu: poorly told, values from 0.")
        assert "friction hardly ever reached its limit" in said
    assert found.warnings or high < 0.8
    # Restitution is told all the same.
    e = found.parameters["restitution"]
    assert abs(e.value - E) < 4 * e.std < 0.002


def test_an_orientation_that_matters_is_not_left_open(folder, tmp_path):
    path = np.linspace(0.2, 0.0, 60)
    columns = {"x": 0 * path, "y": 0 * path, "z": path}
    logs = [Table(tmp_path / f"d{i}.csv", columns) for i in range(3)]
    setup = make_setup("dice.xml", coordinates=["x", "y", "z", "", "", "", ""])
    with pytest.raises(InputError, match="on which it depends what touches"):
        prepare(logs, setup, folder)


def tumble(n=40):
    """A body that moves and turns: positions, rotations, turn rates in its own axes."""
    t = np.arange(n) / RATE
    rate = np.array([8.0, -5.0, 3.0])
    start = Rotation.from_rotvec([0.4, -1.1, 0.7])
    turns = start * Rotation.from_rotvec(np.outer(t, rate))
    position = np.stack([0.5 * t, -0.2 * t, 0.3 - 2 * t**2], axis=1)
    return position, turns, np.tile(rate, (n, 1)), start


def same_rotation(q, turns):
    return (Rotation.from_quat(q, scalar_first=True) * turns.inv()).magnitude().max()


def test_markers_give_the_pose_they_came_from(folder, tmp_path):
    position, turns, _, _ = tumble()
    points = np.array([[0.05, 0, 0], [0, 0.04, 0], [0, 0, 0.03]])
    columns, markers = {}, []
    for i, p in enumerate(points):
        seen = position + turns.apply(p)
        names = [f"m{i}{a}" for a in "xyz"]
        columns |= dict(zip(names, seen.T, strict=True))
        markers.append({"body": "dice", "point": p.tolist(), "position": names})
    setup = make_setup("dice.xml", markers=markers)
    mechanism = Scene(setup.scenario, folder).mechanism
    table = Table(tmp_path / "m.csv", columns)
    q = configurations(table, setup, mechanism, RATE)
    np.testing.assert_allclose(q[:, :3], position, atol=1e-9)
    assert same_rotation(q[:, 3:], turns) < 1e-8
    few = make_setup("dice.xml", markers=markers[:2])
    with pytest.raises(InputError, match="add a marker"):
        configurations(table, few, mechanism, RATE)


def test_a_gyro_gives_the_orientation(folder, tmp_path):
    position, turns, rates, start = tumble()
    names = ["x", "y", "z"]
    columns = dict(zip(names, position.T, strict=True))
    columns |= dict(zip(["a", "b", "c"], rates.T, strict=True))
    setup = make_setup(
        "dice.xml",
        coordinates=[*names, "", "", "", ""],
        gyro=["a", "b", "c"],
        orientation=start.as_quat(scalar_first=True).tolist(),
    )
    mechanism = Scene(setup.scenario, folder).mechanism
    q = configurations(Table(tmp_path / "g.csv", columns), setup, mechanism, RATE)
    np.testing.assert_allclose(q[:, :3], position)
    assert same_rotation(q[:, 3:], turns) < 1e-9  # constant rates are integrated exactly


def test_a_body_among_the_points_stands_for_its_geoms(folder):
    setup = make_setup("dice.xml", coordinates=list("xyzabcd"))
    whole = setup.model_copy(
        update={"contact": setup.contact.model_copy(update={"points": ["dice"]})}
    )
    from stiction.identify.kinds.rollouts.identify import _with_geoms

    assert _with_geoms(whole, folder).contact.points == ["box"]
