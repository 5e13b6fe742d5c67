"""`stiction gait` as users call it: one trial, a folder of them, and bad input."""

import csv
import json

import pytest
from test_bad_input import assert_refused, files_below
from test_grf import plates, standing


@pytest.mark.slow
def test_standing_end_to_end(cli, tmp_path):
    motion, forces = standing(tmp_path / "m.csv"), plates(tmp_path / "p.csv")
    asked = ("--plates", forces, "--loads", "motion", "--draws", "2", "--mass", "80")
    outcome = cli("gait", motion, *asked, "--out", "out", "--json")
    assert outcome.status == 0, outcome.err
    answer = outcome.json
    assert answer["mass"] == pytest.approx(80)
    assert answer["strides"] == []
    assert answer["residual"]["force_rms"] < 1e-6
    assert "No plate was used" in answer["residual"]["sentence"]
    made = {p.name for p in files_below(tmp_path / "out")}
    assert {
        "gait.nc",
        "kinematics.mot",
        "inverse_dynamics.sto",
        "joint_reactions.sto",
        "grf.mot",
        "grf.xml",
        "events.csv",
        "joints.csv",
        "report.html",
        "moments.png",
    } <= made
    page = (tmp_path / "out/report.html").read_text()
    assert "load [body weight]" in page  # charts on the player's clock


@pytest.mark.slow
def test_a_folder_is_done_once_and_bad_trials_do_not_stop_it(cli, tmp_path):
    folder = tmp_path / "trials"
    folder.mkdir()
    lines = standing(tmp_path / "m.csv").read_text().replace(",", "\t").splitlines()
    head = ["m", "version=1", f"nRows={len(lines) - 1}", "nColumns=8", "inDegrees=no", "endheader"]
    (folder / "stand.mot").write_text("\n".join([*head, *lines]))
    (folder / "bad.mot").write_text("nothing")
    for outcome_word in ("done", "kept"):
        outcome = cli("gait", folder, "--out", "out", "--json")
        assert outcome.status == 1
        rows = {r["trial"]: r for r in csv.DictReader((tmp_path / "out/summary.csv").open())}
        assert rows["stand"]["outcome"] == outcome_word
        assert rows["bad"]["outcome"] == "failed"
        assert "bad.mot" in rows["bad"]["why"]
    assert (tmp_path / "out/stand/report.html").exists()
    manifest = json.loads((tmp_path / "out/stand/stiction.json").read_text())
    assert "gait.json" in manifest["files"]  # written aside, as all files are


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m.csv", "--draws", "1"), "--draws"),
        (("m.csv", "--static", "absent.c3d"), "no file 'absent.c3d'"),
        (("empty",), "no trials"),
    ],
)
def test_bad_input_is_refused(cli, tmp_path, arguments, message):
    standing(tmp_path / "m.csv")
    (tmp_path / "empty").mkdir()
    outcome = cli("gait", *arguments)
    assert_refused(outcome)
    assert message in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--loads", "guess"), "no source of the loads 'guess'"),
        (("--loads", "plates"), "need plates"),
        (("--mass", "-3"), "`mass` must be a positive number"),
    ],
)
def test_bad_options_are_refused(cli, tmp_path, arguments, message):
    outcome = cli("gait", standing(tmp_path / "m.csv"), *arguments)
    assert_refused(outcome)
    assert message in outcome.err
