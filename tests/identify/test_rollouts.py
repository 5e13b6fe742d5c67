"""Rollouts with known truth, by all three engines: a particle thrown at the ground in a plane.

Its bounces have a closed form: $v_z \\to -e v_z$ and $v_x \\to v_x - \\mu (1 + e) |v_z|$ while it
slides. So friction and restitution can be told from positions alone, and the engine has an oracle.
"""

import numpy as np
import pytest

from stiction.identify.read_setup import KINDS
from stiction.identify.rollouts import identify_rollouts
from stiction.identify.rollouts.engine import distances, make_lanes, roll_out
from stiction.identify.rollouts.identify import prepare
from stiction.identify.tables import Table

PARTICLE = """<mujoco model="particle"><option gravity="0 0 -9.81"/><worldbody>
  <geom name="ground" type="plane" size="5 5 1"/>
  <body name="particle">
    <joint name="x" type="slide" axis="1 0 0"/>
    <joint name="z" type="slide" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="0.4" diaginertia="1e-4 1e-4 1e-4"/>
    <site name="point"/>
  </body></worldbody></mujoco>"""

RATE, ROWS, ROLLOUTS, GRAVITY = 200.0, 50, 8, 9.81
RIGID = {"mu": 0.21, "restitution": 0.6}
TRUTH = {
    "hybrid": RIGID,
    "stepping": RIGID,
    "compliant": {"stiffness": 2e4, "dissipation": 0.3, "mu": 0.21},
}
GUESS = {
    "hybrid": {"restitution": 0.45},
    "stepping": {"restitution": 0.45},
    "compliant": {"stiffness": 1.4e4, "alpha": 0.13, "tangential": "coulomb", "slip_speed": 0.01},
}
# Relative, so that a difference is well above the solvers' tolerances and below its own curvature.
STEP = {"hybrid": 1e-5, "stepping": 1e-5, "compliant": 1e-4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rollouts")
    (path / "particle.xml").write_text(PARTICLE)
    return path


def make_setup(name, **fields):
    friction = {"mu_static": 0.3, "mu_dynamic": 0.3}
    # At 1e-8 derivatives of events are as exact as the motion.
    data = {
        "kind": "rollouts",
        "mechanism": {"file": "particle.xml"},
        "contact": {"law": name, "points": ["point"], "max_events": 60, **friction, **GUESS[name]},
        "solver": {"max_steps": 2000, "rtol": 1e-8},
        "wanted": list(TRUTH[name]),
        "coordinates": ["x", "z"],
        "rate": RATE,
        "kept_aside": 0.25,
        **fields,
    }
    return KINDS["rollouts"].model_validate(data)


def throws(seed=0):
    """Starts in flight, fast enough to slide through all bounces."""
    rng = np.random.default_rng(seed)
    q = np.stack([rng.uniform(-1, 1, ROLLOUTS), rng.uniform(0.05, 0.09, ROLLOUTS)], axis=1)
    v = np.stack([rng.uniform(2, 3, ROLLOUTS), rng.uniform(-0.6, 0.2, ROLLOUTS)], axis=1)
    return q, v


def bounces(q, v, mu, e):
    """The particle's path in closed form, at the rows of a log."""
    times, path = np.arange(ROWS) / RATE, np.zeros((ROWS, 2))
    start = 0.0
    while start <= times[-1]:
        fall = (v[1] + np.sqrt(v[1] ** 2 + 2 * GRAVITY * q[1])) / GRAVITY
        t = times - start
        here = (t >= 0) & (t <= fall)
        path[here] = q + v * t[here, None] - [0, GRAVITY / 2] * t[here, None] ** 2
        down = v[1] - GRAVITY * fall
        q = np.array([q[0] + v[0] * fall, 0.0])
        v = np.array([v[0] + mu * (1 + e) * down, -e * down])
        start += fall
    return path


def tables(folder, paths):
    return [
        Table(folder / f"throw-{i}.csv", {"x": path[:, 0], "z": path[:, 1]})
        for i, path in enumerate(paths)
    ]


@pytest.fixture(scope="module")
def exact(folder):
    """Logs in closed form."""
    q, v = throws()
    return tables(
        folder, [bounces(*x, RIGID["mu"], RIGID["restitution"]) for x in zip(q, v, strict=True)]
    )


@pytest.fixture(scope="module")
def worlds(folder, exact):
    """For each engine its setup, and logs with its truth: of rigid bodies the closed form's."""
    made = {"hybrid": (make_setup("hybrid"), exact)}
    for name in ("stepping", "compliant"):
        setup = make_setup(name)
        prepared = prepare(exact, setup, folder)
        lanes = make_lanes(prepared.rollouts, prepared.engine.mechanism, *throws())
        paths = roll_out(prepared.engine, lanes, np.array(list(TRUTH[name].values())))
        made[name] = (setup, tables(folder, paths))
    return made


@pytest.mark.parametrize("name", TRUTH)
def test_the_truth_comes_back(worlds, folder, name):
    """From noise-free logs; of the hybrid engine they are in closed form."""
    setup, logs = worlds[name]
    found = identify_rollouts(logs, setup, folder)
    for parameter, truth in TRUTH[name].items():
        assert found.parameters[parameter].value == pytest.approx(truth, rel=1e-6)
    aside = found.notes["errors_kept_aside"]
    assert found.notes["rollouts"]["kept_aside"] == 2
    assert aside["position_mean_m"] < 1e-6
    assert found.warnings == []


@pytest.mark.parametrize("name", TRUTH)
def test_derivatives_agree_with_differences(worlds, folder, name):
    setup, logs = worlds[name]
    prepared = prepare(logs, setup, folder)
    lanes = prepared.lanes.part(~prepared.aside, ROWS)
    truth = np.array(list(TRUTH[name].values()))
    _, J = distances(prepared.engine, lanes, truth)
    for i, value in enumerate(truth):
        h = STEP[name] * value
        ahead, back = (
            distances(prepared.engine, lanes, truth + s * h * np.eye(len(truth))[i])[0]
            for s in (1, -1)
        )
        expected = (ahead - back) / (2 * h)
        assert np.abs(expected).max() * value > 1e-3  # it moves by millimetres
        # A stepping engine's step, or a solver's, changes at some values: differences see that.
        off = np.abs(J[..., i] - expected).max(axis=(1, 2)) / np.abs(expected).max(axis=(1, 2))
        assert np.median(off) < 1e-4
