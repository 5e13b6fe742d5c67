"""`stiction run`, `info` and `scenes` as a user meets them."""

import json

import numpy as np
import pytest
import xarray as xr

QUICK = ("--set", "until=0.2", "--set", "samples=11")


def test_run_writes_data_figures_and_a_report(cli, tmp_path):
    outcome = cli("run", "double-pendulum", *QUICK, "--out", "here", "--json")
    assert outcome.status == 0
    answer = outcome.json  # one object and nothing else
    assert answer["success"]
    assert answer["t_end"] == pytest.approx(0.2)
    assert answer["energy"]["ledger_error"] < 1e-6
    folder = tmp_path / "here"
    for name in ("trajectory.nc", "motion.png", "motion.svg", "energy.png", "report.html"):
        assert (folder / name).stat().st_size > 500
    page = (folder / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    credit = "https://github.com/leeoniya/uPlot"  # a comment; nothing is fetched
    assert "https://" not in page.replace(credit, "")
    with xr.open_dataset(folder / "trajectory.nc") as data:
        assert data.q.sel(coordinate="q1").shape == (11,)
        assert data.kinetic_energy.attrs["units"] == "J"
        np.testing.assert_allclose(data.q.values[-1], answer["final"]["q"])
    assert json.loads((folder / "stiction.json").read_text())["made_by"].startswith("stiction")


def test_people_see_a_table_and_where_the_report_is(cli):
    outcome = cli("run", "rod", *QUICK)
    assert outcome.status == 0
    assert "energy unaccounted for" in outcome.out
    assert "report: out/rod/report.html" in outcome.out


def test_a_directory_that_is_not_ours_is_left_alone(cli, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    outcome = cli("run", "rod", *QUICK, "--out", "precious")
    assert outcome.status == 2
    assert "--force" in outcome.err
    assert [p.name for p in (tmp_path / "precious").iterdir()] == ["thesis.txt"]
    assert cli("run", "rod", *QUICK, "--out", "precious", "--force").status == 0
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "years of work"
    assert cli("run", "rod", *QUICK, "--out", "precious").status == 0  # now it is ours too


def test_a_run_that_fails_on_the_way_keeps_what_it_has(cli, tmp_path):
    outcome = cli(
        "run", "double-pendulum", "--set", "samples=21", "--set", "solver.max_steps=40", "--json"
    )
    assert outcome.status == 1
    assert "max_steps" in outcome.err
    assert "out/double-pendulum" in outcome.err
    answer = outcome.json
    assert not answer["success"]
    assert 0 < answer["t_end"] < 10
    assert (tmp_path / "out" / "double-pendulum" / "report.html").exists()


def test_scenarios_of_ones_own(cli, tmp_path):
    """YAML, a model beside it, a keyframe, an edit, a driven servo, starts by joint name."""
    (tmp_path / "arm.xml").write_text(
        """<mujoco model="arm"><worldbody><body name="arm"><joint name="elbow" axis="0 1 0"/>
        <geom name="rod" type="capsule" size=".02 .2" mass="1"/></body></worldbody>
        <actuator><position name="servo" joint="elbow" kp="5" kv="1"/></actuator>
        <keyframe><key name="bent" qpos="0.5"/></keyframe></mujoco>"""
    )
    (tmp_path / "own.yaml").write_text(
        "title: my arm\nuntil: 0.5\nsamples: 11\nmechanism:\n  file: arm.xml\n"
        "start:\n  keyframe: bent\n  v: {elbow: 0.25}\n"
        "control:\n  servo: {offset: 0.5, amplitude: 0.1, frequency: 2.0}\n"
    )
    outcome = cli("run", "own.yaml", "--json")
    assert outcome.status == 0, outcome.err
    with xr.open_dataset(tmp_path / "out" / "own" / "trajectory.nc") as data:
        assert data.q.values[0, 0] == pytest.approx(0.5)
        assert data.v.values[0, 0] == pytest.approx(0.25)
        assert np.ptp(data.effort.values) > 0
    heavier = ("--set", "mechanism.edits.geom.rod.mass=100.0")
    slow = cli("run", "own.yaml", *heavier, "--json").json
    assert slow["final"]["q"] != outcome.json["final"]["q"]


def test_info_tells_what_a_model_consists_of(cli):
    answer = cli("info", "jumping-leg", "--json").json
    assert (answer["nq"], answer["nv"], answer["nu"]) == (10, 9, 3)
    assert answer["mass"] == pytest.approx(0.1 + 0.012 + 0.018 + 0.024 + 0.022)
    assert [j["name"] for j in answer["joints"]] == ["body", "coxa", "femur", "tibia"]
    assert answer["actuators"][0]["control_range"] == [-2.5, 2.5]
    box = cli("info", "box", "--json").json
    assert len(box["contact_points"]) == 8
    assert "degrees of freedom" in cli("info", "box").out


@pytest.mark.shared
def test_info_says_what_was_left_out(cli, shared_data):
    path = shared_data / "robot_models" / "talos_reduced.urdf"
    outcome = cli("info", path, "--base", "free", "--json")
    assert outcome.json["nv"] == 38
    assert any("mesh files" in note for note in outcome.json["ignored"])
    assert outcome.err.startswith("stiction: note: ")
    assert len(outcome.err.strip().splitlines()) == 1


@pytest.mark.shared
def test_closed_loops_are_named(cli, shared_data):
    outcome = cli("info", shared_data / "robot_models" / "agility_cassie.mjcf.xml", "--json")
    assert "4 equality constraints (loops, welds and couplings)" in outcome.json["beyond"]


def test_scenes_lists_the_built_in_ones(cli):
    names = [s["name"] for s in cli("scenes", "--json").json["scenes"]]
    for name in ("double-pendulum", "bicycle", "jumping-leg", "mass-spring-friction", "human"):
        assert name in names
    assert "double-pendulum" in cli("scenes").out
