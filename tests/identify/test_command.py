"""`stiction identify` as a user meets it: logs made, identified, followed, designed, exported."""

import io

import pandas as pd
import pytest
import xarray as xr
import yaml
from rigs import NOISE, star_setup

from stiction.identify import virtual_test, write_log

TRUTH = {"steel.k": 8389.6, "steel.c": 1299.6, "steel.mu": 0.0652}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A setup with sensors of 200 Hz, and two logs of it, in the working directory."""
    monkeypatch.chdir(tmp_path)
    setup = star_setup(
        {"bottom": "steel"},
        noise=NOISE,
        bed={"motion_rate": 200.0, "wrench_rate": 200.0},
        method__knot_spacing=0.1,
    )
    (tmp_path / "setup.yaml").write_text(yaml.safe_dump(setup.model_dump(exclude_none=True)))
    for i in range(2):
        write_log(virtual_test(setup, number=i).recording, setup, tmp_path / f"log-{i}.csv")
    return tmp_path


def test_logs_in_parameters_out(files, cli):
    done = cli("identify", "log-0.csv", "log-1.csv", "--setup", "setup.yaml", "--json",
               "--out", "res", "--export", "mujoco", "--mass", "2")  # fmt: skip
    assert done.status == 0, done.err
    result = done.json
    for name, truth in TRUTH.items():
        p = result["parameters"][name]
        assert abs(p["value"] - truth) < 5 * p["std"]
        assert p["interval"][0] < p["value"] < p["interval"][1]
    assert {"parameters", "residual_rms", "condition", "warnings"} <= set(result)
    assert result["method"] == "errors-in-variables"
    assert result["residuals"]["in_noise"] == pytest.approx(1.0, abs=0.15)
    assert [t["test"] for t in result["tests"]] == ["log-0", "log-1"]
    rows = result["touched"]["log-0"]["bottom"]["rows"]
    assert sum(b - a + 1 for a, b in rows) == result["touched"]["log-0"]["bottom"]["samples"]
    solref = result["export"]["surfaces"]["steel"]["parameters"]["solref"]
    assert solref[0] == pytest.approx(-result["parameters"]["steel.k"]["value"] / 2, rel=1e-6)
    written = {p.name for p in (files / "res").iterdir()}
    figures = {f"{n}.{s}" for n in ("wrench", "depth", "loop", "residuals") for s in ("png", "svg")}
    assert figures | {"report.html", "parameters.csv", "samples.nc", "export.xml"} <= written
    samples = xr.open_dataset(files / "res" / "samples.nc", engine="h5netcdf")
    assert int((samples.touched > 0).sum()) > 100
    assert "solref=" in (files / "res" / "report.html").read_text()


def test_a_table_for_people(files, cli):
    done = cli("identify", "log-0.csv", "--setup", "setup.yaml", "--export", "urdf")
    assert done.status == 0
    assert "steel.mu" in done.out
    assert "N/m " in done.out
    assert "<lateral_friction value=" in done.out
    assert "Log replayed by stiction, with urdf's law: force" in done.out
    assert {p.name for p in files.iterdir()} == {"setup.yaml", "log-0.csv", "log-1.csv"}


def test_estimates_while_rows_arrive(files, cli):
    done = cli("identify", "log-0.csv", "--setup", "setup.yaml", "--online", "--json")
    history = done.json["history"]
    assert done.json["samples"] > 0
    last = done.json["parameters"]["steel.k"]
    assert last["value"] == history[-1]["steel.k"]
    assert abs(last["value"] - TRUTH["steel.k"]) < 4 * last["std"]
    lines = cli("identify", "log-0.csv", "--setup", "setup.yaml", "--online").out.splitlines()
    assert "steel.mu" in lines[0]
    assert len(lines) == 1 + len(history) + 1
    assert "±" in lines[-1]


def test_a_stream_gives_what_its_log_gives(files, cli, monkeypatch):
    """Rows from standard input, as they arrive, end near the estimates of the file.

    Not at the same: which contacts carry force is judged by the estimate at hand, row by row or
    chunk by chunk.
    """
    log = cli("identify", "log-0.csv", "--setup", "setup.yaml", "--online", "--json").json
    with open("log-0.csv") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        streamed = cli("identify", "-", "--setup", "setup.yaml", "--online", "--json").json
    assert streamed["samples"] == pytest.approx(log["samples"], rel=0.05)
    for name in TRUTH:
        one, other = (r["parameters"][name] for r in (streamed, log))
        assert abs(one["value"] - other["value"]) < other["std"]


def test_a_broken_stream_is_named_with_its_row(files, cli, monkeypatch):
    lines = (files / "log-0.csv").read_text().splitlines()
    cells = lines[40].split(",")
    cells[0] = "0.0"
    spoilt = [*lines[:40], ",".join(cells)]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(spoilt)))
    done = cli("identify", "-", "--setup", "setup.yaml", "--online", "--json")
    assert done.status == 2
    assert "goes backwards" in done.err
    assert "row 40 of 'stream' (line 41)" in done.err


def test_virtual_logs_are_those_of_the_testbed(files, cli):
    done = cli("identify", "--setup", "setup.yaml", "--simulate", "2", "--out", "logs", "--json")
    assert done.json["truth"] == TRUTH
    for i in range(2):
        made = pd.read_csv(files / "logs" / f"test-0{i + 1}.csv")
        pd.testing.assert_frame_equal(made, pd.read_csv(files / f"log-{i}.csv"))
    assert (files / "logs" / "setup.yaml").read_text() == (files / "setup.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["log-0.csv"], "`--setup` is required"),
        (["--setup", "setup.yaml"], "`LOG` is required"),
        (["log-0.csv", "--setup", "setup.yaml", "--design"], "take no LOG, got 'log-0.csv'"),
        (["log-0.csv", "--setup", "setup.yaml", "--online", "--design"], "exclude each other"),
        (["log-0.csv", "--setup", "setup.yaml", "--mass", "2"], "add --export ENGINE"),
        (["log-0.csv", "--setup", "setup.yaml", "--export", "bulet"], "no engine to export to"),
        (["log-0.csv", "--setup", "setup.yaml", "--export", "drake", "--mass", "-1"], "`mass`"),
        (["log-0.csv", "--setup", "setup.yaml", "--export", "drake", "--online"], "`--export`"),
        (["log-0.csv", "--setup", "emps", "--export", "drake"], "of kind 'contact' or 'rollouts'"),
        (["nothing.csv", "--setup", "setup.yaml"], "no log 'nothing.csv'"),
        (["log-0.csv", "--setup", "single-pint"], "did you mean 'single-point'?"),
        (["log-0.csv", "log-1.csv", "--setup", "setup.yaml", "--online"], "follows one LOG, got 2"),
    ],
)  # fmt: skip
def test_contradictions_are_refused_in_one_line(arguments, message, files, cli):
    done = cli("identify", *arguments, "--out", "res")
    assert done.status == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (files / "res").exists()
