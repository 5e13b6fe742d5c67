"""Identified contacts in engines' words: against the engines' own forces and combination rules."""

import mujoco
import numpy as np
import pytest
from rigs import record, star_setup

from stiction._errors import InputError
from stiction.identify import export, identify
from stiction.identify.export import FORMATS, engine_contact

MASS = 2.5


@pytest.fixture(scope="module")
def linear():
    """A spring and damper, noise-free, friction on the whole normal force: MuJoCo's own law."""
    setup = star_setup({"bottom": "steel"})
    surface = setup.surfaces[0].model_copy(update={"friction_of": "normal"})
    setup = setup.model_copy(update={"surfaces": [surface]})
    return setup, identify([record(setup)], setup)


@pytest.fixture(scope="module")
def hunt_crossley():
    truth = {"steel.k": 9e3, "steel.alpha": 0.4, "steel.mu": 0.3}
    setup = star_setup({"bottom": "steel"}, wanted=("k", "alpha", "mu"), truth=truth)
    surface = setup.surfaces[0].model_copy(update={"friction_of": "normal"})
    setup = setup.model_copy(update={"surfaces": [surface]})
    return setup, identify([record(setup)], setup)


def mujoco_normal_force(snippet: str, depth: float, rate: float) -> float:
    """What MuJoCo itself makes of the pasted text: a free ball in a plane, without gravity."""
    geom = snippet.partition("<geom ")[2].partition("/>")[0]
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 0" cone="elliptic"/><worldbody>
        <geom type="plane" size="1 1 1" {geom}/>
        <body><freejoint/><geom size="0.1" mass="{MASS}" {geom}/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qpos[2], data.qvel[2] = 0.1 - depth, -rate
    mujoco.mj_forward(model, data)
    force = np.zeros(6)
    mujoco.mj_contactForce(model, data, 0, force)
    return force[0]


@pytest.mark.parametrize(("depth", "rate"), [(0.004, 0.0), (0.004, 0.02), (0.006, -0.01)])
def test_mujoco_pushes_as_the_identified_contact_does(linear, depth, rate):
    setup, found = linear
    made = export(found, setup, "mujoco", mass=MASS)
    k, c = (found.parameters[f"steel.{n}"].value for n in "kc")
    force = mujoco_normal_force(made.surfaces["steel"].snippet, depth, rate)
    assert force == pytest.approx(k * depth + c * rate, rel=1e-6)


def test_an_engine_with_the_identified_law_replays_the_log(linear, hunt_crossley):
    setup, found = linear
    assert export(found, setup, "mujoco").replay_rms < 1e-4
    setup, found = hunt_crossley
    drake = export(found, setup, "drake")
    assert drake.replay_rms < 1e-4
    parameters = drake.surfaces["steel"].parameters
    assert parameters["point_contact_stiffness"] == pytest.approx(2 * 9e3, rel=1e-6)
    assert parameters["hunt_crossley_dissipation"] == pytest.approx(1.5 * 0.4, rel=1e-6)
    assert parameters["mu_dynamic"] == pytest.approx(0.3, rel=1e-6)


def test_another_law_is_the_best_over_the_log_and_the_replay_tells_its_cost(linear):
    """No other k and d give the damper's force better; and friction on top of it is replayed."""
    setup, found = linear
    contact = engine_contact(found, setup.surfaces[0], MASS)
    k, d = contact.hunt_crossley
    trace = found.traces[0]
    on = trace.touched[:, 0] > 0
    x, rate, force = trace.depth[on, 0], trace.depth_rate[on, 0], trace.normal_force[on, 0]

    def misfit(k, d):
        return np.sqrt(np.mean((force - k * x * (1 + d * rate)) ** 2))

    least = misfit(k, d)
    for a, b in ((1.001, 1.0), (0.999, 1.0), (1.0, 1.001), (1.0, 0.999)):
        assert misfit(a * k, b * d) > least
    replayed = export(found, setup, "drake").replay_rms
    mu = found.parameters["steel.mu"].value
    # Drake's law does not pull either, so a few samples at touch differ from the plain product.
    assert replayed == pytest.approx(least * np.sqrt(1 + mu**2), rel=0.02)


def test_urdf_speaks_three_dialects_of_one_contact(linear):
    """Two equal surfaces in series, as Bullet and ODE combine them, are the identified contact."""
    setup, found = linear
    made = export(found, setup, "urdf").surfaces["steel"]
    k, c, mu = (found.parameters[f"steel.{n}"].value for n in ("k", "c", "mu"))
    bullet, gazebo = made.parameters["bullet"], made.parameters["gazebo"]
    for stiffness, damping in (
        (bullet["stiffness"], bullet["damping"]),
        (gazebo["kp"], gazebo["kd"]),
    ):
        assert 1 / (2 / stiffness) == pytest.approx(k, rel=1e-6)
        assert 2 * damping == pytest.approx(c, rel=1e-6)
    assert bullet["lateral_friction"] ** 2 == pytest.approx(mu, rel=1e-6)
    assert min(gazebo["mu1"], gazebo["mu2"]) == pytest.approx(mu, rel=1e-6)
    for tag in ("<lateral_friction value=", "<gazebo reference=", "<drake:mu_static>"):
        assert tag in made.snippet


def test_friction_of_the_spring_alone_is_named_as_a_departure(hunt_crossley):
    setup, found = hunt_crossley
    exact = export(found, setup, "json")
    assert exact.surfaces["steel"].limits == ()
    surface = setup.surfaces[0].model_copy(update={"friction_of": "spring"})
    departing = export(found, setup.model_copy(update={"surfaces": [surface]}), "json")
    assert "the spring's force alone" in departing.surfaces["steel"].limits[0]


def test_what_cannot_be_exported_is_named(linear):
    setup, found = linear
    with pytest.raises(InputError, match="no engine to export to 'mujco'; did you mean 'mujoco'"):
        export(found, setup, "mujco")
    with pytest.raises(InputError, match="`mass` must be positive"):
        export(found, setup, "mujoco", mass=0.0)
    assert set(FORMATS) == {"mujoco", "drake", "urdf", "json"}
