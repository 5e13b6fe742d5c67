"""MuJoCo's warnings are Python's, and leave no file MUJOCO_LOG.TXT where the user is."""

import subprocess
import sys
import warnings

import mujoco
import numpy as np
import pytest

import stiction
from stiction._base.mujoco_warnings import MujocoWarning

BALL = """<mujoco><worldbody><body><joint type="slide" axis="1 0 0"/>
<geom size=".1" mass="1"/></body></worldbody></mujoco>"""


def _step_from_nowhere() -> None:
    """One step from a velocity that is not a number: MuJoCo warns of it."""
    model = mujoco.MjModel.from_xml_string(BALL)
    data = mujoco.MjData(model)
    data.qvel[0] = np.nan
    mujoco.mj_step(model, data)


def test_a_warning_is_a_python_warning_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stiction.load(BALL)
    with pytest.warns(MujocoWarning, match="MuJoCo: Nan, Inf or huge value in QVEL at DOF 0"):
        _step_from_nowhere()
    assert list(tmp_path.iterdir()) == []


def test_where_warnings_are_errors_the_process_goes_on(tmp_path, monkeypatch, capsys):
    """An exception cannot pass through MuJoCo's C code: it would end the process."""
    monkeypatch.chdir(tmp_path)
    stiction.load(BALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _step_from_nowhere()
    assert "huge value in QVEL" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_handler_of_a_user_stays(tmp_path):
    program = """
import mujoco
heard = []
mujoco.set_mju_user_warning(heard.append)
import stiction
stiction.load("box")
assert mujoco.get_mju_user_warning() == heard.append
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
