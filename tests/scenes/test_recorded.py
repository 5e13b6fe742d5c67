"""A run that was written and read again is the same run."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import stiction
from stiction._base.errors import InputError
from stiction.engines import rest_time
from stiction.report import OutputDirectory
from stiction.scenes import read_run, run_dataset, scenario_text, scene
from stiction.scenes.recorded import DATA, SCENARIO


def written(run, folder):
    directory = OutputDirectory(folder, command="run")
    directory.netcdf(DATA, run_dataset(run))
    directory.text(SCENARIO, scenario_text(run.scene))
    return read_run(folder)


@pytest.mark.parametrize(
    "changes",
    [{}, {"contact.law": "stepping"}, {"contact.law": "compliant"}, {"contact.law": "none"}],
    ids=["hybrid", "stepping", "compliant", "none"],
)
def test_a_run_comes_back_as_it_was(tmp_path, changes):
    run = stiction.scene("bouncing-ball", changes).run(until=1.0, samples=51)
    back = written(run, tmp_path / "run")
    for name in ("time", "q", "v", "kinetic", "potential", "friction_loss", "force", "modes"):
        assert_array_equal(getattr(back, name), getattr(run, name))
    assert str(back.events()) == str(run.events())
    assert rest_time(back) == rest_time(run)
    assert back.success == run.success
    assert_array_equal(back.energy, run.energy)
    assert len(jax.tree.leaves(back.log)) == len(jax.tree.leaves(run.log))


def test_the_scenario_of_a_run_runs_again(tmp_path):
    run = stiction.scene("bouncing-ball").run(until=0.9, contact={"restitution": 0.7})
    written(run, tmp_path / "run")
    again = scene(tmp_path / "run" / "scenario.yaml").run()
    assert_array_equal(again.q, run.q)


def test_files_beside_a_scenario_are_found_from_elsewhere(tmp_path):
    (tmp_path / "a").mkdir()
    model = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    (tmp_path / "a" / "ball.xml").write_text(model)
    (tmp_path / "a" / "ball.toml").write_text("[mechanism]\nfile = 'ball.xml'\n")
    text = scenario_text(scene(tmp_path / "a" / "ball.toml"))
    (tmp_path / "moved.yaml").write_text(text)
    assert scene(tmp_path / "moved.yaml").mechanism.nq == 7


def test_a_directory_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must be the directory of a run, with trajectory\.nc"):
        read_run(tmp_path)


def test_a_file_of_another_version_says_so(tmp_path):
    run = stiction.scene("bouncing-ball").run(until=0.5, samples=11)
    written(run, tmp_path / "run")
    import xarray as xr

    with xr.open_dataset(tmp_path / "run" / "trajectory.nc", engine="h5netcdf") as data:
        less = data.load().drop_vars("event.impulse")
    less.to_netcdf(tmp_path / "run" / "trajectory.nc", engine="h5netcdf")
    with pytest.raises(InputError, match="another version"):
        read_run(tmp_path / "run")


def test_gravity_can_be_edited():
    moon = stiction.scene("bouncing-ball", {"mechanism.edits.option.gravity": [0, 0, -1.62]})
    run = moon.run(until=2.0)
    assert run.events()[0].time == pytest.approx(np.sqrt(2 * 1.0 / 1.62), rel=1e-8)
