"""Run the command line in this process, as a user would see it."""

import json

import pytest

from stiction.cli.app import main


class Outcome:
    """Status and what was printed."""

    def __init__(self, status: int, out: str, err: str):
        self.status, self.out, self.err = status, out, err

    @property
    def json(self):
        return json.loads(self.out)


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
