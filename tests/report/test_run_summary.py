"""Summaries of runs say only what is so, and a run that failed has a report too."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from stiction.engines import Trajectory, reactions_of
from stiction.report.output import OutputDirectory
from stiction.report.run import story, summarize_run, write_run
from stiction.scenes import parse_settings, scene

# A bar that lies on the floor on its two ends; it moves in a plane.
BAR = """<mujoco model="bar"><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="bar" pos="0 0 .05"><joint name="x" type="slide" axis="1 0 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><joint name="turn" axis="0 1 0"/>
    <geom name="bar" type="capsule" fromto="-.2 0 0 .2 0 0" size=".05" mass="1"/></body>
  </worldbody></mujoco>"""
# The same on a wall, 1 m above the floor, where a hinge lets it swing.
ARM = """<mujoco model="arm"><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
    <geom name="bar" type="capsule" fromto="0 0 0 .4 0 0" size=".05" mass="1"/></body>
  </worldbody></mujoco>"""


def run_model(folder, model: str, *settings: str) -> Trajectory:
    (folder / "model.xml").write_text(model)
    usual = ["samples=21", "until=0.2"]
    return scene(folder / "model.xml", parse_settings([*usual, *settings])).run()


def words(summary) -> dict[str, str]:
    return dict(story(summary))


@pytest.fixture(scope="module")
def bar(tmp_path_factory):
    """A bar at rest on the floor."""
    return run_model(tmp_path_factory.mktemp("bar"), BAR)


def broken(run: Trajectory, first: int, number: float = np.nan) -> Trajectory:
    """The same run, as if all numbers from a sample on were not finite, or beyond all measure."""
    import equinox as eqx
    import jax

    t = run
    n = len(t.time)

    def spoil(x):
        x = np.asarray(x)
        if x.ndim == 0 or x.shape[0] != n or not np.issubdtype(x.dtype, np.floating):
            return x
        return np.where(np.arange(n).reshape(-1, *[1] * (x.ndim - 1)) < first, x, number)

    kept = t.time
    spoilt = jax.tree.map(lambda x: spoil(x) if eqx.is_array_like(x) else x, t)
    return eqx.tree_at(lambda t: t.time, spoilt, kept)


def test_a_bar_at_rest_neither_gains_energy_nor_flies(bar):
    summary = summarize_run(bar)
    told = words(summary)
    assert summary["success"]
    assert "unexplained energy gain" not in told
    assert "flight" not in told
    assert any(what.startswith("peak force on") for what in told)


@pytest.mark.parametrize(("first", "number"), [(0, np.nan), (1, 1e300), (7, np.nan)])
def test_a_run_without_finite_energy_has_a_summary_and_a_report(bar, tmp_path, first, number):
    """As after a zero quaternion, where a solver gave nan, or under a gravity of 1e300 m/s²."""
    run = broken(bar, first, number)
    summary = summarize_run(run)
    assert not summary["success"]
    if first == 0:
        assert "Not all numbers are finite at 0 s" in summary["message"]
        assert summary["energy"] is None
    else:
        assert np.isfinite(summary["energy"]["final"])
    told = words(summary)
    assert not any("nan" in value.split() for value in told.values())
    page = write_run(run, summary, OutputDirectory(tmp_path / "out", command="run"))
    assert "In numbers" in page.read_text()


def test_a_reaction_that_is_not_finite_is_drawn_as_far_as_it_is(bar):
    """The axes took their limits from nan."""
    import matplotlib.pyplot as plt

    from stiction.report.charts.draw import draw
    from stiction.report.run_charts import reaction_chart

    carried = reactions_of(bar)
    assert carried is not None
    force = np.array(carried.force)
    force[3:] = np.nan
    plt.close(draw(reaction_chart(replace(carried, force=force, mean=force))))


def test_energy_that_appears_without_an_impact_is_not_told_of_one(bar):
    import equinox as eqx

    t = bar
    more = np.asarray(t.kinetic) + np.linspace(0.0, 1.0, len(t.time))
    run = eqx.tree_at(lambda t: t.kinetic, t, jnp.asarray(more))
    summary = summarize_run(run)
    assert not [e for e in summary["events"] if e["kind"] == "impact"]
    assert summary["energy"]["max_increase"] == pytest.approx(1.0, abs=1e-6)
    assert words(summary)["unexplained energy gain"] == "1 J"


def test_what_hangs_on_a_wall_does_not_fly(tmp_path):
    """Its momentum is not that of a fall, and the wall has its part in the balance."""
    summary = summarize_run(run_model(tmp_path, ARM, "until=0.1"))
    assert summary["reactions"]["flights"] == []
    assert summary["reactions"]["momentum_error"] is None
    assert not {"flight", "impulse less change of momentum"} & set(words(summary))


def test_what_falls_flies(tmp_path):
    summary = summarize_run(run_model(tmp_path, BAR, "start.q=[0,0.5,0]", "until=0.1"))
    (flight,) = summary["reactions"]["flights"]
    assert flight["duration"] == pytest.approx(0.1)
    assert summary["reactions"]["momentum_error"] < 1e-6


def test_of_many_flights_the_longest_are_told():
    from stiction.report.run import _reaction_lines

    flights = [
        {"duration": d, "start": s, "rise": 0.0}
        for d, s in ((0.7, 0.0), (0.01, 1.0), (0.2, 2.0), (0.03, 3.0), (0.1, 4.0))
    ]
    lines = _reaction_lines({"bodies": {}, "flights": flights, "momentum_error": None})
    assert [text.split(",")[0] for _, text in lines] == [
        "0.7 s from 0 s",
        "0.2 s from 2 s",
        "0.1 s from 4 s",
        "2 more",
    ]
    assert lines[-1][1].endswith("up to 0.03 s")
