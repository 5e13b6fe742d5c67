"""`stiction run` with fixed steps."""

import pytest


def test_a_scene_runs_in_steps(cli):
    """The same summary, files and words as any run, with the residual of the contact problems."""
    steps = ("--set", "contact.law=stepping", "--set", "solver.dt=0.002", "--set", "until=1.0")
    cheap = ("--set", "contact.solver=admm", "--set", "contact.iterations=100")
    result = cli("run", "bouncing-ball", *steps, *cheap, "--json").json
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
