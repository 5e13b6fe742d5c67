"""Identified contacts in engines' words: against the engines' own forces and combination rules."""

import mujoco
import numpy as np
import pytest
from rigs import BASE, REACH, record, star_setup
from scipy.integrate import solve_ivp

from stiction._base.errors import InputError
from stiction.identify import export, identify
from stiction.identify.exporting.export import engine_contact
from stiction.interop import FORMATS

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


def pasted(text: str) -> mujoco.MjModel:
    """A ball over a plane with the exported lines pasted in, without gravity."""
    option, _, contact = text.partition("<contact>")
    contact = contact.replace("BODY", "ball").replace("SURFACE", "plane")
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco>{option.replace("<option", '<option gravity="0 0 0"')}<worldbody>
        <geom name="plane" type="plane" size="1 1 1" contype="0" conaffinity="0"/>
        <body><freejoint/>
          <inertial pos="0 0 0" mass="{MASS}" diaginertia="0.1 0.1 0.1"/>
          <geom name="ball" size="0.1" contype="0" conaffinity="0"/></body></worldbody>
        <contact>{contact}</mujoco>"""
    )


def contact_force(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    force = np.zeros(6)
    mujoco.mj_contactForce(model, data, 0, force)
    return force[:3]


@pytest.mark.parametrize("moves", ["freely", "held by a robot"])
@pytest.mark.parametrize(("depth", "rate"), [(0.004, 0.0), (0.004, 0.02), (0.006, -0.01)])
def test_mujoco_pushes_as_the_identified_contact_does(linear, depth, rate, moves):
    """Whatever else pushes: the force of a body that flies is that of one that is held."""
    setup, found = linear
    model = pasted(export(found, setup, "mujoco", mass=MASS).text)
    data = mujoco.MjData(model)
    data.qpos[2], data.qvel[2] = 0.1 - depth, -rate
    if moves == "freely":
        mujoco.mj_forward(model, data)
    else:
        mujoco.mj_inverse(model, data)  # with an acceleration of zero
    k, c = (found.parameters[f"steel.{n}"].value for n in "kc")
    assert contact_force(model, data)[0] == pytest.approx(k * depth + c * rate, rel=2e-4)


@pytest.mark.parametrize("slip", [1.0, 0.1])
def test_mujoco_rubs_as_the_identified_contact_does(linear, slip):
    """Down to a tenth of the fastest slip; its cone raises the normal force by a percent."""
    setup, found = linear
    contact = engine_contact(found, setup.surfaces[0], MASS)
    model = pasted(export(found, setup, "mujoco", mass=MASS).text)
    data = mujoco.MjData(model)
    depth = contact.load / contact.linear[0]
    data.qpos[2], data.qvel[0] = 0.1 - depth, slip * contact.slip
    mujoco.mj_forward(model, data)
    normal, *across = contact_force(model, data)
    assert normal == pytest.approx(contact.load, rel=0.011)
    assert np.linalg.norm(across) == pytest.approx(contact.mu * normal, rel=1e-3)


def test_mujoco_steps_the_contact_as_it_was_identified(linear):
    """A ball that lands and slides, simulated by MuJoCo with its own lines, against the law."""
    setup, found = linear
    made = export(found, setup, "mujoco", mass=MASS)
    k, c = (found.parameters[f"steel.{n}"].value for n in "kc")
    model = pasted(made.text)
    data = mujoco.MjData(model)
    data.qpos[2], data.qvel[2], speed = 0.1 + 1e-6, -0.3, 0.3
    steps = int(0.01 / model.opt.timestep)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    law = solve_ivp(
        lambda t, y: [y[1], -max(k * y[0] + c * y[1], 0.0) / MASS],
        (0.0, steps * model.opt.timestep - 1e-6 / speed),
        [0.0, speed],
        rtol=1e-10,
        atol=1e-12,
    )
    depth, rate = law.y[:, -1]
    assert 0.1 - data.qpos[2] == pytest.approx(depth, rel=0.01)
    assert -data.qvel[2] == pytest.approx(rate, abs=0.01 * speed)


def test_the_engine_itself_replays_the_log(linear, hunt_crossley):
    """MuJoCo has the law but for its cone; Drake, where it is installed, has Hunt-Crossley's."""
    setup, found = linear
    made = export(found, setup, "mujoco")
    load = engine_contact(found, setup.surfaces[0], 1.0).load
    assert made.replay.by.startswith("MuJoCo")
    assert 0 < made.replay.residuals["force_rms"] < 0.02 * load
    setup, found = hunt_crossley
    made = export(found, setup, "drake")
    load = engine_contact(found, setup.surfaces[0], 1.0).load
    assert made.replay.residuals["force_rms"] < 0.005 * load
    parameters = made.surfaces["steel"].parameters
    assert parameters["point_contact_stiffness"] == pytest.approx(2 * 9e3, rel=1e-6)
    assert parameters["hunt_crossley_dissipation"] == pytest.approx(1.5 * 0.4, rel=1e-6)
    assert parameters["mu_dynamic"] == pytest.approx(0.3, rel=1e-6)


@pytest.mark.parametrize("engine", ["mujoco", "drake"])
@pytest.mark.parametrize("body", ["star", "cylinder", "sphere", "two spheres"])
@pytest.mark.parametrize("axes", ["world", "body"])
def test_an_engine_and_its_law_agree_on_every_wrench(engine, body, axes):
    """Several plates, moments, sensors that move along: the engine's replay against stiction's."""
    if engine == "drake":
        pytest.importorskip("pydrake", reason="Drake is not installed")
    side = REACH / np.sqrt(2)
    shapes = {
        "star": BASE["body"],
        "sphere": [{"shape": "sphere", "radius": REACH}],
        # On edge: where one stands flat, engines find more points.
        "cylinder": [{"shape": "cylinder", "radius": side, "half_length": side, "axis": [1, 0, 1]}],
        # The second hangs down beside the bottom plate.
        "two spheres": [
            {"shape": "sphere", "radius": REACH},
            {"shape": "sphere", "radius": 0.01, "center": [-0.1, 0.0, -0.08]},
        ],
    }
    law = ("k", "c", "mu") if engine == "mujoco" else ("k", "alpha", "mu")
    truth = {
        "steel.k": 9e3, "steel.c": 300.0, "steel.alpha": 0.4, "steel.mu": 0.1,
        "brass.k": 15e3, "brass.c": 200.0, "brass.alpha": 0.2, "brass.mu": 0.2,
    }  # fmt: skip
    setup = star_setup(
        {"right": "steel", "bottom": "brass"},
        wanted=law,
        truth={n: v for n, v in truth.items() if n.rpartition(".")[2] in law},
        body=shapes[body],
        wrench__frame=axes,
    )
    surfaces = [s.model_copy(update={"friction_of": "normal"}) for s in setup.surfaces]
    setup = setup.model_copy(update={"surfaces": surfaces})
    found = identify([record(setup)], setup)
    left = export(found, setup, engine).replay.residuals
    load = np.concatenate([t.wrench for t in found.traces])
    force, moment = (np.sqrt(np.mean(np.sum(w**2, axis=1))) for w in np.split(load, 2, axis=1))
    assert left["force_rms"] < 0.03 * force
    assert left["moment_rms"] < 0.03 * moment


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
    replayed = export(found, setup, "drake").replay.residuals["force_rms"]
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
