"""`stiction translate` as a user meets it."""

import json

import pytest
from numpy.testing import assert_allclose

from stiction.cli.app import main

ASK = ("--stiffness", 1e5, "--alpha", 0.2, "--mass", 2, "--speed", 1.5, "--mu", 0.6)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["translate", *map(str, arguments)])
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


@pytest.mark.parametrize("engine", ["mujoco", "drake", "simbody", "chrono", "exudyn"])
def test_every_engine_prints_its_parameters(capsys, engine):
    status, out, _ = run(capsys, "--to", engine, *ASK, "--radius", 0.1)
    assert status == 0
    assert f"what {engine} cannot express" in out


def test_json_and_check_in_mujoco(capsys):
    status, out, _ = run(capsys, "--to", "mujoco", *ASK, "--check", "mujoco", "--json")
    result = json.loads(out)
    assert status == 0
    assert set(result["parameters"]) == {"solref", "solimp", "friction", "timestep"}
    free = result["check"]["drops"][0]
    assert abs(free["error"]) < 1e-8
    assert_allclose(free["asked"], result["contact"]["restitution"])


def test_from_one_engine_to_another(capsys):
    given = ("--set", "hunt_crossley_dissipation=20", "--set", "point_contact_stiffness=2e5")
    _, out, _ = run(capsys, "--from", "drake", *given, "--to", "exudyn", "--json")
    result = json.loads(out)
    assert result["contact"]["stiffness"] == 1e5
    assert result["parameters"]["contactStiffness"] == 1e5
    _, out, _ = run(capsys, "--from", "drake", *given, "--json")
    assert "engine" not in json.loads(out)


def test_out_keeps_what_was_printed(capsys, tmp_path):
    run(capsys, "--to", "drake", *ASK, "--out", tmp_path / "o")
    made = {p.name for p in (tmp_path / "o").iterdir()}
    assert {"report.html", "snippet.txt", "translation.json"} <= made


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "bullet", *ASK), "no engine for --to 'bullet'"),
        (ASK, "give `--to` or `--from`"),
        (("--to", "mujoco"), "`--stiffness` is needed"),
        (("--to", "mujoco", "--stiffness", 1), "give exactly one of `--alpha`"),
        (("--to", "simbody", *ASK), "`radius` is needed for simbody"),
        (("--to", "chrono", *ASK, "--check", "chrono"), "`--check` can drop a ball in: mujoco"),
        (("--to", "drake", *ASK, "--check", "mujoco"), "`--check mujoco` must name the engine of"),
        (("--to", "drake", *ASK, "--impedance", 0.5), "`--impedance` is MuJoCo's"),
        (("--to", "exudyn", *ASK, "--time-step", 0.1), "`--time-step` has no part"),
        (("--from", "drake"), "`--from drake` needs `--set FIELD=VALUE`"),
        (("--from", "drake", "--set", "k=1"), "no parameter of drake 'k'"),
        (("--from", "drake", "--set", "mu_static"), "`--set` must be FIELD=VALUE"),
        (("--from", "drake", "--set", "mu_static=1"), "`point_contact_stiffness` is needed"),
        (("--to", "drake", *ASK, "--set", "a=1"), "`--set` names an engine's parameters"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(capsys, tmp_path, arguments, message):
    status, out, err = run(capsys, *arguments, "--out", tmp_path / "o")
    assert status == 2
    assert out == ""
    assert err.startswith(f"stiction: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "o").exists()
