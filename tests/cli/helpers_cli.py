"""Run the command line in this process, as a user would see it."""

import json

import pytest

import stiction
from stiction.cli.app import main

# A mass of 3 kg on a leg that a motor stretches; its foot weighs 1 kg.
POINT_MASS = """
<mujoco model="hopper"><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <body name="top" pos="0 0 .5"><joint name="z" type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".05" mass="3" contype="0" conaffinity="0"/>
    <body name="foot" pos="0 0 -.5"><joint name="leg" type="slide" axis="0 0 1" range="-.2 .2"/>
      <geom type="sphere" size=".01" mass="1" contype="0" conaffinity="0"/><site name="toe"/></body>
  </body></worldbody>
  <actuator><motor name="push" joint="leg" {limit}/></actuator></mujoco>
"""

NEWTON_HOPPER = POINT_MASS.format(limit='ctrlrange="-100 100"')


class Outcome:
    """Status and what was printed."""

    def __init__(self, status: int, out: str, err: str):
        self.status, self.out, self.err = status, out, err

    @property
    def json(self):
        return json.loads(self.out)


def assert_envelope(answer: dict, command: str) -> None:
    """The JSON of a command that succeeded says first what it is; then comes the answer."""
    head = ["schema", "command", "version", "success"]
    assert list(answer)[:4] == head
    assert [answer[k] for k in head] == [
        f"stiction.{command}/1",
        command,
        stiction.__version__,
        True,
    ]
    assert len(answer) > 4


@pytest.fixture
def cli(capfd, tmp_path, monkeypatch):
    """A function that runs `stiction ARGUMENTS` in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as exit_:
            main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return Outcome(exit_.value.code or 0, out, err)

    return run
