"""`stiction run` with fixed steps."""

import pytest


def test_a_scene_runs_in_steps(cli):
    """The same summary, files and words as any run, with the residual of the contact problems."""
    steps = ("--set", "contact.law=stepping", "--set", "solver.dt=0.002", "--set", "until=1.0")
    result = cli("run", "bouncing-ball", *steps, "--json").json
    assert result["success"]
    assert result["steps"] == 500
    assert result["contact_residual"] < 1e-7
    assert [e["kind"] for e in result["events"]][:1] == ["impact"]
    assert result["events"][0]["t"] == pytest.approx(0.4515236409857309, abs=1e-5)
    assert result["energy"]["max_increase"] < 1e-2
    assert any(name.endswith("trajectory.nc") for name in result["files"])


@pytest.mark.parametrize(
    ("field", "value"), [("solver.dt", "0"), ("contact.solver", "simplex"), ("contact.sides", "3")]
)
def test_bad_fields_are_named(cli, field, value):
    done = cli("run", "bouncing-ball", "--set", "contact.law=stepping", "--set", f"{field}={value}")
    assert done.status == 2
    assert field in done.err


@pytest.mark.parametrize("field", ["solver=admm", "iterations=100", "tolerance=1e-6"])
def test_fields_that_are_gone_say_so(cli, field):
    steps = ("--set", "contact.law=stepping", "--set", f"contact.{field}")
    done = cli("run", "bouncing-ball", *steps)
    assert done.status == 2
    assert field.split("=")[0] in done.err
    assert "is gone" in done.err
