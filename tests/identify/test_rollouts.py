"""Rollouts with known truth, by event-driven engines: a particle thrown at the ground in a plane.

Its bounces have a closed form: $v_z \\to -e v_z$ and $v_x \\to v_x - \\mu (1 + e) |v_z|$ while it
slides. So friction and restitution can be told from positions alone, and the engine has an oracle.
"""

import elbow
import numpy as np
import pytest

from stiction._base.errors import InputError
from stiction.identify import export
from stiction.identify.kinds import rollouts
from stiction.identify.kinds.rollouts.engine import make_lanes
from stiction.identify.kinds.rollouts.export import nearest_contact
from stiction.identify.kinds.rollouts.fit import _region, covariance_of_rollouts
from stiction.identify.kinds.rollouts.identify import prepare
from stiction.identify.kinds.rollouts.record import Rollouts
from stiction.identify.kinds.rollouts.rest import at_rest, levelled, upwards
from stiction.identify.result import Identification, Parameter
from stiction.identify.setups import KINDS
from stiction.scenes import Scene
from stiction.scenes.scenario import Scenario
from stiction.tables import Table

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
    "compliant": {"stiffness": 2e4, "dissipation": 0.3, "mu": 0.21},
}
GUESS = {
    "hybrid": {"restitution": 0.45},
    "compliant": {"stiffness": 1.4e4, "alpha": 0.13, "tangential": "coulomb", "slip_speed": 0.01},
}
# Relative, so that a difference is well above the solvers' tolerances and below its own curvature.
STEP = {"hybrid": 1e-5, "compliant": 1e-4}


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
    return KINDS["rollouts"].setup.model_validate(data)


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
    setup = make_setup("compliant")
    prepared = prepare(exact, setup, folder)
    lanes = make_lanes(prepared.rollouts, prepared.engine.mechanism, *throws())
    paths = prepared.engine.simulate(np.array(list(TRUTH["compliant"].values())), lanes)
    return {
        "hybrid": (make_setup("hybrid"), exact),
        "compliant": (setup, tables(folder, paths)),
    }


@pytest.mark.parametrize("name", TRUTH)
def test_the_truth_comes_back(worlds, folder, name):
    """From noise-free logs; of the hybrid engine they are in closed form."""
    setup, logs = worlds[name]
    found = rollouts.identify(logs, setup, folder)
    for parameter, truth in TRUTH[name].items():
        assert found.parameters[parameter].value == pytest.approx(truth, rel=1e-6)
    aside = found.notes["errors_kept_aside"]
    assert found.notes["rollouts"]["kept_aside"] == 2
    assert aside["position_mean_m"] < 1e-6
    assert found.warnings == []


@pytest.mark.parametrize("name", TRUTH)
def test_a_narrow_region_has_the_derivatives(worlds, folder, name):
    """Rows regressed over a region, against central differences."""
    setup, logs = worlds[name]
    prepared = prepare(logs, setup, folder)
    lanes = prepared.lanes.part(~prepared.aside, ROWS)
    truth = np.array(list(TRUTH[name].values()))
    wide = STEP[name] * truth

    def at(theta, more=()):
        assert len(more) == 0  # all turns were seen
        return prepared.engine.distances(theta, lanes)

    region = _region(at, truth, wide, 0 * truth, np.full(len(truth), np.inf))
    for i, value in enumerate(truth):
        h = wide[i] * np.eye(len(truth))[i]
        expected = (at(truth + h) - at(truth - h)) / (2 * wide[i])
        assert np.abs(expected).max() * value > 1e-3  # it moves by millimetres
        off = region.J[..., i] - expected
        assert np.abs(off).max() < 3e-3 * np.abs(expected).max()


def positions(folder, scale=1.0, noise=0.0, seed=0):
    """Logs in closed form, recorded by a camera that is not perfect."""
    rng = np.random.default_rng(seed)
    paths = np.array([bounces(*x, *RIGID.values()) for x in zip(*throws(seed), strict=True)])
    return tables(folder, scale * paths + noise * rng.standard_normal(paths.shape))


def test_lengths_are_scaled_by_how_bodies_fall(folder):
    found = rollouts.identify(
        positions(folder, 0.97), make_setup("hybrid", scale="gravity"), folder
    )
    assert found.notes["length_scale"] == pytest.approx(1 / 0.97, rel=1e-7)
    for name, truth in RIGID.items():
        assert found.parameters[name].value == pytest.approx(truth, rel=1e-6)


def test_standard_errors_are_of_the_size_of_the_errors(folder):
    """Over 3 recordings with 0.1 mm of noise: of 6 errors in units of their standard error the root
    mean square is 1, give or take; that is estimated from 6 rollouts, which leaves it wide.
    """
    setup = make_setup("hybrid")
    off = []
    for seed in range(3):
        found = rollouts.identify(positions(folder, noise=1e-4, seed=seed), setup, folder)
        assert found.notes["flight_noise_m"] == pytest.approx(1e-4, rel=0.5)
        for name, truth in RIGID.items():
            p = found.parameters[name]
            assert p.value == pytest.approx(truth, rel=0.02)
            off.append((p.value - truth) / p.std)
    assert 0.3 < np.sqrt(np.mean(np.square(off))) < 3


def test_covariance_is_that_of_whole_rollouts(rng):
    """A linear model, written out; and a number that nothing depends on has none."""
    J = rng.normal(size=(20, 5, 2, 3)) * [1.0, 10.0, 0.0]
    r = rng.normal(size=(20, 5, 2)) + rng.normal(size=(20, 1, 1))
    cov = covariance_of_rollouts(r, J, np.ones((20, 5)), np.zeros(3), "squares")
    A = J[..., :2].reshape(20, -1, 2)
    g = np.einsum("nrp,nr->np", A, r.reshape(20, -1))
    H = np.einsum("nrp,nrq->pq", A, A)
    expected = np.linalg.inv(H) @ (g.T @ g) @ np.linalg.inv(H) * 20 / 17
    np.testing.assert_allclose(cov[:2, :2], expected, rtol=1e-10)
    assert np.isinf(cov[2, 2])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"wanted": ["stiffness"]}, r"`wanted` must name numbers of the law 'hybrid' \(mu, "),
        ({"coordinates": ["x"]}, r"`coordinates` must name 2 columns, one for each of x, z, got 1"),
        ({"coordinates": ["x", "height"]}, "height"),
        ({"clearance": 1.0}, "at least 3 rollouts must begin with 3 rows of free motion"),
    ],
)
def test_bad_logs_and_setups_are_refused(folder, exact, fields, message):
    with pytest.raises(InputError, match=message):
        rollouts.identify(exact, make_setup("hybrid", **fields), folder)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rate": None}, "exactly one of 'time' and 'rate'"),
        ({"start": "start"}, "both or neither of 'start' and 'length'"),
        ({"wanted": ["color"]}, "must want some of mu, "),
    ],
)
def test_bad_fields_are_named(fields, message):
    with pytest.raises(ValueError, match=message):
        make_setup("hybrid", **fields)


def test_a_rollout_begins_where_it_is_free(folder, exact):
    """One was held, and let go: it counts from there on. One that never flies is left out."""
    held, pushed = (
        Table(folder / f"{name}.csv", {n: c.copy() for n, c in exact[i].columns.items()})
        for i, name in enumerate(("held", "pushed"))
    )
    held.columns["z"][:3] = held.columns["z"][3]
    pushed.columns["z"][:] += 0.004 * np.sin(np.arange(ROWS))
    prepared = prepare([held, pushed, *exact[2:]], make_setup("hybrid"), folder)
    assert prepared.left_out == ("pushed",)
    np.testing.assert_allclose(prepared.start.v[1:], throws()[1][2:], atol=1e-7)
    q, v = (x[0] for x in throws())
    late = prepared.rollouts.q[0, 0]
    t = (late[0] - q[0]) / v[0]
    assert t > 2.9 / RATE
    np.testing.assert_allclose(prepared.start.v[0], v - [0, GRAVITY * t], atol=1e-6)


@pytest.mark.parametrize("lift", [0.0, 0.001])
def test_tosses_of_two_links(tmp_path, lift):
    """μ and e within three standard errors, which are small; a hundred tosses: benchmarks."""
    logs = elbow.tosses(tmp_path, 24, seed=4, lift=lift)
    found = rollouts.identify(logs, elbow.elbow_setup(tmp_path), tmp_path)
    for name, truth in elbow.TRUTH.items():
        p = found.parameters[name]
        assert abs(p.value - truth) < 3 * p.std
        assert p.std < 0.02 * truth


SQUARE = """<mujoco><worldbody><geom name="ground" type="plane" size="5 5 1"/>
  <body name="square">
    <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <joint name="turn" type="hinge" axis="0 -1 0"/>
    <geom type="box" size="0.03 0.01 0.03" mass="0.1"/>
    <site name="p1" pos="0.03 0 0.03"/><site name="p2" pos="-0.03 0 0.03"/>
    <site name="p3" pos="0.03 0 -0.03"/><site name="p4" pos="-0.03 0 -0.03"/>
  </body></worldbody></mujoco>"""


def test_bodies_at_rest_level_the_ground(tmp_path, rng):
    """Squares that lie on each of their sides, recorded 2° turned and 1.5 mm too high."""
    (tmp_path / "square.xml").write_text(SQUARE)
    scenario = Scenario.model_validate(
        {
            "mechanism": {"file": "square.xml"},
            "contact": {"law": "hybrid", "points": ["p1", "p2", "p3", "p4"]},
        }
    )
    scene = Scene(scenario, tmp_path)
    count, rows, tilt, high = 12, 30, np.radians(2.0), 1.5e-3
    q = np.zeros((count, rows, 3))
    q[..., 0] = rng.uniform(-1, 1, (count, 1))
    q[..., 1] = 0.03 + high
    q[..., 2] = tilt + np.pi / 2 * rng.integers(-3, 4, (count, 1))
    q += 5e-5 * rng.standard_normal(q.shape)
    seen = np.ones((count, rows), dtype=bool)
    recorded = Rollouts(q, seen, 200.0, tuple(f"{i}" for i in range(count)))
    rest = at_rest(recorded, scene.mechanism, scene.contacts)
    assert rest.count == count
    assert rest.tilt == pytest.approx(tilt, abs=4 * rest.tilt_std)
    assert rest.height == pytest.approx(high, abs=4 * rest.height_std)
    assert max(rest.tilt_std, rest.height_std) < 2e-4
    up = upwards(recorded, scene.mechanism)
    np.testing.assert_allclose(up, [0, 1, 0], atol=1e-12)
    level, said = levelled(recorded, scene.mechanism, rest, up)
    assert "lowered by 1.5" in said[0]
    again = at_rest(level, scene.mechanism, scene.contacts)
    assert abs(again.tilt) < 1e-4
    assert levelled(level, scene.mechanism, again, up)[1] == []


def test_the_command_reports_rollouts_kept_aside(folder, exact, cli, tmp_path):
    """One log a rollout; parameters, errors, figures and data."""
    logs = []
    for table in exact:
        logs.append(tmp_path / table.path.name)
        rows = np.column_stack(list(table.columns.values()))
        np.savetxt(logs[-1], rows, delimiter=",", header="x,z", comments="")
    setup = folder / "throws.yaml"
    setup.write_text(make_setup("hybrid").model_dump_json(exclude_unset=True))
    done = cli("identify", *logs, "--setup", setup, "--out", tmp_path / "o", "--json")
    assert (done.status, done.err) == (0, "")
    answer = done.json
    assert answer["parameters"]["mu"]["value"] == pytest.approx(RIGID["mu"], rel=1e-6)
    assert answer["errors_kept_aside"]["position_mean_m"] < 1e-6
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert {"report.html", "rollouts.nc", "rollouts.png", "errors.svg", "parameters.csv"} <= names


def known(prepared, **values: float) -> Identification:
    """As if these had been identified from the prepared rollouts."""
    return Identification(
        parameters={n: Parameter(v, None, None) for n, v in values.items()},
        covariance=np.zeros((len(values), len(values))),
        residual_rms=0.0,
        residuals={},
        condition=1.0,
        warnings=[],
        method="",
        notes={"errors_kept_aside": {"position_mean_m": 0.0, "rotation_mean_deg": 0.0}},
        fitted_to=prepared,
    )


@pytest.fixture(scope="module")
def rigid(folder, exact):
    """A rigid particle's rollouts, prepared."""
    setup = make_setup("hybrid")
    return setup, prepare(exact, setup, folder)


def test_mujoco_bounces_as_the_identified_particle_does(rigid, folder):
    """With a contact of 5 ms instead of none; other numbers lead elsewhere."""
    setup, prepared = rigid

    def error(**values):
        made = export(known(prepared, **values), setup, "mujoco", folder=folder)
        assert made.replay.by.startswith("MuJoCo")
        return made.replay.residuals["position_mean_m"]

    right = error(**RIGID)
    assert right < 0.006
    assert error(mu=RIGID["mu"], restitution=0.4) > 3 * right
    assert error(mu=0.35, restitution=RIGID["restitution"]) > 3 * right


def test_a_rigid_contact_lasts_a_frame_and_bounces_as_identified(rigid):
    _, prepared = rigid
    contact, limits = nearest_contact(known(prepared, **RIGID), mass=None)
    assert contact.duration == pytest.approx(1 / prepared.rollouts.rate, rel=1e-9)
    assert contact.restitution == pytest.approx(RIGID["restitution"], rel=1e-9)
    assert contact.mass == pytest.approx(0.4)
    falling = np.sqrt(prepared.start.v[:, 1] ** 2 + 2 * 9.81 * prepared.start.q[:, 1])
    assert contact.speed == pytest.approx(np.median(falling), rel=0.1)
    assert "rigid" in limits[0]


def test_the_law_of_drake_is_told_as_it_was_identified(worlds, folder):
    setup, logs = worlds["compliant"]
    found = known(prepare(logs, setup, folder), **TRUTH["compliant"])
    made = export(found, setup, "drake", folder=folder)
    parameters = made.surfaces["contact"].parameters
    assert parameters["point_contact_stiffness"] == pytest.approx(2 * 2e4, rel=1e-6)
    assert parameters["hunt_crossley_dissipation"] == pytest.approx(0.3, rel=1e-6)
    assert parameters["mu_dynamic"] == pytest.approx(0.21, rel=1e-6)
    # Friction is whole at another speed; the rest is the same law.
    assert made.replay.residuals["position_mean_m"] < 1e-3


def test_what_engines_do_not_have_is_refused(worlds, rigid, folder):
    _, logs = worlds["compliant"]
    contact = {**make_setup("compliant").contact.model_dump(exclude_unset=True)}
    setup = make_setup("compliant", contact={**contact, "normal": "asymmetric"})
    with pytest.raises(InputError, match=r"knows contact\.normal 'hunt-crossley' and"):
        export(
            known(prepare(logs, setup, folder), **TRUTH["compliant"]), setup, "json", folder=folder
        )
    setup = make_setup("hybrid", ground={"belt": [0.1, 0.0]})
    with pytest.raises(InputError, match="planes that stand still"):
        export(known(prepare(logs, setup, folder), **RIGID), setup, "mujoco", folder=folder)
