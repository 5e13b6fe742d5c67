"""Following a stream, and designing a test."""

import numpy as np
import pandas as pd
import pytest
from rigs import record, star_setup

from stiction._base.errors import InputError
from stiction.identify import OnlineIdentifier, design_test, follow, identify, read_setup
from stiction.identify.bench.testbed import virtual_test


def test_stream_ends_at_the_batch_estimate():
    """Noise-free: a cubic over nine samples is off by its own error alone."""
    setup = star_setup({"right": "brass", "bottom": "steel"}, bed={"wrench_rate": 1000.0})
    online = OnlineIdentifier(setup)
    history = list(follow(online, record(setup)))
    for name, truth in setup.testbed.truth.items():
        assert online.parameters[name] == pytest.approx(truth, rel=2e-3)
    times = [t for t, *_ in history]
    assert np.all(np.diff(times) > 0)
    assert set(online.std) == set(online.parameters)


def test_stream_follows_a_plate_that_softens():
    """With forgetting, the stiffness of the second half is found, not the mean of both."""
    hard = star_setup({"bottom": "steel"}, method__forgetting=0.98)
    soft = star_setup(
        {"bottom": "steel"}, truth={"steel.k": 5000.0, "steel.c": 1299.6, "steel.mu": 0.0652}
    )
    first, second = record(hard), record(soft)
    online = OnlineIdentifier(hard)
    for recording, shift in ((first, 0.0), (second, 10.0)):
        for i in range(len(recording.pose_time)):
            online.update(
                recording.pose_time[i] + shift,
                recording.position[i],
                recording.rotation[i],
                recording.wrench[i],
            )
    assert online.parameters["steel.k"] == pytest.approx(5000.0, rel=0.02)


def test_stream_refuses_what_it_cannot_follow():
    with pytest.raises(InputError, match="leave out 'lambda'"):
        OnlineIdentifier(
            star_setup(
                {"bottom": "steel"},
                wanted=("k", "lambda"),
                truth={"steel.k": 1e4, "steel.lambda": 1.5},
            )
        )
    online = OnlineIdentifier(star_setup({"bottom": "steel"}))
    online.update(1.0, np.zeros(3), np.eye(3), np.zeros(6))
    with pytest.raises(InputError, match="time must rise"):
        online.update(0.5, np.zeros(3), np.eye(3), np.zeros(6))


@pytest.fixture(scope="module")
def designed():
    setup, folder = read_setup("single-point")
    # As slow as the built-in scene is sampled: a small problem for the fit that checks it.
    slow = setup.design.model_copy(update={"motion_rate": 50.0, "wrench_rate": 50.0})
    setup = setup.model_copy(update={"design": slow})
    return setup, design_test(setup, folder)


@pytest.mark.slow
def test_design_keeps_within_its_limits(designed):
    setup, found = designed
    d = setup.design
    slack = 1 + 3e-3
    assert np.all(found.depth <= d.max_depth * slack)
    assert np.all(found.depth > 0)
    assert np.linalg.norm(found.velocity, axis=1).max() <= d.max_speed * slack
    assert found.force <= d.max_force * slack * np.hypot(1, 0.07)
    acceleration = np.gradient(found.velocity, found.time, axis=0)[2:-2]
    assert np.linalg.norm(acceleration, axis=1).max() <= d.max_acceleration * 1.05
    rate = np.gradient(found.position, found.time, axis=0)
    np.testing.assert_allclose(rate[2:-2], found.velocity[2:-2], atol=2e-4)


@pytest.mark.slow
def test_design_tells_more_than_a_plain_test(designed):
    _, found = designed
    assert np.prod(list(found.gain.values())) > 2.0
    assert found.seconds >= found.time[-1]


@pytest.mark.slow
def test_design_is_written_for_the_robot_and_for_people(designed, cli, tmp_path, monkeypatch):
    _, found = designed
    monkeypatch.setattr("stiction.identify.design_test", lambda setup, folder: found)
    done = cli("identify", "--setup", "single-point", "--design", "--out", "plan", "--json")
    assert done.status == 0, done.err
    plan = done.json
    assert plan["seconds"] >= plan["cycle"] == pytest.approx(4.0)
    for p in plan["parameters"].values():
        after = p["relative"] * np.sqrt(plan["cycle"] / plan["seconds"])
        assert after <= 1.001 * plan["wanted_error"]
    motion = pd.read_csv(tmp_path / "plan" / "motion.csv")
    np.testing.assert_allclose(motion[["x", "y", "z"]], found.position, atol=1e-12)
    written = {p.name for p in (tmp_path / "plan").iterdir()}
    assert {"motion.csv", "design.json", "motion.png", "motion.svg", "report.html"} <= written


@pytest.mark.slow
def test_design_keeps_its_promise(designed):
    """The standard errors foreseen are those that a fit of the designed motion reports."""
    setup, found = designed
    every = 6
    t = np.append(found.time[::every], found.time[-1] + found.time[1])
    position = np.concatenate([found.position[::every], found.position[:1]])
    turn = np.zeros((len(t), 3))
    waypoints = np.column_stack([t, position, turn]).tolist()
    bed = setup.testbed.model_copy(
        update={
            "waypoints": waypoints,
            "truth": setup.design.guess,
            "repeatability": 0.0,
        }
    )
    test = setup.model_copy(update={"testbed": bed})
    result = identify([virtual_test(test).recording], test)
    for name, promised in found.std.items():
        # The path through waypoints, at rest at both ends, is not quite the designed one.
        assert result.parameters[name].std == pytest.approx(promised, rel=0.35)


def test_design_needs_independent_normals():
    setup = star_setup(
        {"right": "brass", "left": "brass"},
        design={"guess": {"brass.k": 1e4, "brass.c": 500.0, "brass.mu": 0.2}},
    )
    with pytest.raises(InputError, match="normals are independent"):
        design_test(setup)
