"""`stiction study` as a user sees it."""

import json

import numpy as np
import pytest
import xarray as xr

from stiction.studies import running

PENDULUM = ("study", "double-pendulum", "--set", "until=2", "--workers", "1")
FRICTION = "contact.mu_static,contact.mu_dynamic=0.3,0.6"
GRID = ("--vary", "contact.restitution=0.2:0.8:3", "--vary", FRICTION)


def test_a_grid_leaves_results_figures_and_a_page(cli, tmp_path):
    out = tmp_path / "out"
    found = cli(*PENDULUM, *GRID, "--out", str(out), "--json")
    assert found.status == 0
    answer = found.json
    assert (answer["command"], answer["done"], answer["failed"]) == ("study", 6, 0)
    assert answer["dims"] == {"restitution": 3, "mu_static": 2}
    data = xr.open_zarr(out / "results.zarr", chunks=None)
    assert np.allclose(data["restitution"], [0.2, 0.5, 0.8])
    assert np.all(data["status"] == 1)
    for name in ("report.html", "summary.json", "study.json", "map-energy_final.png"):
        assert (out / name).exists()
    before = {p: p.stat().st_mtime_ns for p in (out / "results.zarr").rglob("*")}
    again = cli(*PENDULUM, *GRID, "--out", str(out), "--json").json  # nothing is done twice
    assert {p: p.stat().st_mtime_ns for p in (out / "results.zarr").rglob("*")} == before
    assert again["outcomes"] == answer["outcomes"]


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(cli, tmp_path, monkeypatch):
    whole = running.run_here

    def interrupted(task, work):
        yield next(whole(task, work))
        raise KeyboardInterrupt

    command = (*PENDULUM, *GRID, "--out", str(tmp_path / "out"), "--json")
    with monkeypatch.context() as patch:
        patch.setattr(running, "run_here", interrupted)
        found = cli(*command)
    assert found.status == 130
    done = found.json["done"]
    assert 0 < done < 6
    kept = f"interrupted: {done} of 6 cases are kept in '{tmp_path / 'out'}'"
    assert found.err.splitlines()[-1] == f"stiction: {kept}; the same command does the others"
    assert (tmp_path / "out" / "report.html").exists()
    again = cli(*command)
    assert (again.status, again.json["done"]) == (0, 6)


@pytest.mark.slow
def test_a_cluster_at_an_address_gives_what_one_process_does(cli, tmp_path):
    distributed = pytest.importorskip("distributed")
    alone = cli(*PENDULUM, *GRID, "--out", str(tmp_path / "alone"), "--json").json
    command = [word for word in PENDULUM if word not in ("--workers", "1")]
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as c:
        there = (*command, *GRID, "--scheduler", c.scheduler_address, "--out")
        found = cli(*there, str(tmp_path / "there"), "--json")
    assert found.status == 0, found.err
    assert found.json["outcomes"] == alone["outcomes"]


def test_a_question_is_answered_with_an_interval(cli, tmp_path):
    question = ("--vary", "contact.restitution=0..1", "--cases", "40", "--ask", "final.q1 < -1")
    found = cli(*PENDULUM, *question, "--out", str(tmp_path / "out"), "--json").json
    data = xr.open_zarr(tmp_path / "out" / "results.zarr", chunks=None)
    yes = int((data["final_q"].sel(coordinate="q1") < -1).sum())
    assert found["ask"]["yes"] == yes
    assert found["ask"]["low"] <= yes / 40 <= found["ask"]["high"]


def test_failed_cases_come_with_the_command_that_runs_them(cli, tmp_path):
    out = str(tmp_path / "out")
    vary = ("--vary", "contact.restitution=0.5,1.5", "--out", out)
    found = cli(*PENDULUM, *vary)
    assert found.status == 0
    assert "must be in [0, 1], got 1.5" in found.out
    assert "stiction run double-pendulum --set until=2 --set contact.restitution=1.5" in found.out
    assert "1.5" in (tmp_path / "out" / "failures.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--vary", "contact.restituton=0,1"), "no field `contact.restituton`"),
        (("--vary", "contact.restitution=1:1:3"), "empty range"),
        (("--vary", "contact.restitution~normal(0,-1)", "--cases", "4"), "deviation above 0"),
        (("--vary", "contact.restitution=0..1"), "`cases` is needed"),
        (("--vary", "until=1,2", "--keep", "all"), "--keep"),
        (("--vary", "until=1,2", "--of", "walk"), "--of"),
        (("--vary", "until=1,2", "--of", "posture"), "--direction"),
        (("--vary", "until=1,2", "--width", "0.1"), "--ask"),
        (("--vary", "until=1,2", "--ask", "at_rest"), "independent random cases"),
        (("--vary", "until=1..2", "--cases", "4", "--ask", "at_reast"), "at_reast"),
        (("--vary", "until=1..2", "--cases", "4", "--ask", "at_rest", "--width", "2"), "--width"),
        (("--vary", "until=1,2", "--workers", "0"), "--workers"),
        (("--vary", "until~identified(k)"), "--identified"),
        (("--table", "nowhere.csv"), "no file 'nowhere.csv'"),
    ],
)
def test_a_bad_design_is_one_line_and_nothing_is_written(cli, tmp_path, arguments, words):
    out = tmp_path / "out"
    found = cli("study", "double-pendulum", *arguments, "--out", str(out))
    assert found.status == 2
    assert words in found.err
    assert found.err.count("\n") == 1
    assert not out.exists()


def test_models_are_written_for_other_engines(cli, tmp_path):
    out = tmp_path / "out"
    vary = ("--vary", "mechanism.edits.geom.box.density=300..500", "--cases", "3")
    found = cli("study", "box", *vary, "--models", "--out", str(out), "--json")
    assert found.status == 0
    assert found.json["arrays"]["body_mass"] == [3, 2]
    assert len(list(out.glob("model-*.xml"))) == 3
    assert np.load(out / "models.npz")["body_mass"].shape == (3, 2)


def test_draws_from_an_identification(cli, tmp_path):
    answer = {"parameters": {"plate.mu": {"value": 0.5}}, "covariance": [[0.0001]]}
    (tmp_path / "found.json").write_text(json.dumps(answer))
    vary = ("--vary", "contact.mu_static,contact.mu_dynamic~identified(plate.mu)", "--cases", "3")
    files = ("--identified", str(tmp_path / "found.json"), "--out", str(tmp_path / "out"))
    assert cli(*PENDULUM, *vary, *files).status == 0
    drawn = xr.open_zarr(tmp_path / "out" / "results.zarr", chunks=None)["mu_static"]
    assert np.all(np.abs(drawn - 0.5) < 0.05)


def test_what_is_nothing_beside_the_largest_is_told_as_zero():
    from stiction.report.study import story

    spread = {"5 %": -7e-10, "median": 4e-61, "95 %": 0.0466, "scale": 0.05}
    summary = {
        "dims": {"tilt": 8}, "done": 8, "cases": 8, "failed": 0, "results": "r.zarr",
        "outcomes": {"friction_loss": {"cases": 8} | spread},
    }  # fmt: skip
    assert ("friction_loss", "0 (0 to 0.0466 in 90 %)") in story(summary)
