"""`stiction capability` and `stiction posture`: answers, and bad questions."""

import pytest
from helpers_cli import NEWTON_HOPPER, POINT_MASS


@pytest.fixture
def hopper(tmp_path):
    path = tmp_path / "hopper.xml"
    path.write_text(NEWTON_HOPPER)
    return path


def test_a_hopper_accelerates_by_newton(cli, hopper):
    """Top mass 3 kg, pushed off a foot at rest by 100 N: a = 100/3 - g. Nothing is written."""
    answer = cli("capability", hopper, "--feet", "toe", "--direction", "0,0,1", "--json").json
    assert answer["capability"] == pytest.approx(100 / 3 - 9.81, rel=1e-9)
    assert answer["limits"] == ["motor push"]
    assert answer["effort"]["push"] == pytest.approx(-100)
    # The foot carries itself, and what the motor pushes.
    assert answer["force"]["toe"][-1] == pytest.approx(100 + 9.81, rel=1e-9)
    assert "files" not in answer
    assert not list(hopper.parent.glob("out"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("capability", "jumping-leg", "--direction", "0,0,0"), "`--direction`"),
        (("capability", "jumping-leg", "--direction", "1,2"), "`--direction`"),
        (("capability", "jumping-leg", "--direction", "up"), "`--direction`"),
        (("capability", "double-pendulum", "--direction", "0,0,1"), "no actuators"),
        (("capability", "jumping-leg", "--direction", "0,0,1", "--posture", "bent"), "keyframe"),
        (("capability", "jumping-leg", "--direction", "0,0,1", "--posture", "a=b"), "`--posture`"),
        (("capability", "jumping-leg", "--direction", "0,0,1", "--posture", "hip=1"), "hip"),
        (("capability", "jumping-leg", "--direction", "0,0,1", "--feet", "hand"), "hand"),
        (("capability", "jumping-leg", "--direction", "0,0,1", "--point", "head"), "head"),
        (("capability", "jumping-leg", "--direction", "0,0,1", "--mu", "-1"), "`mu`"),
        (("capability", "jumping-leg", "--direction", "0,0,1", "--posture", "femur=3"), "ground"),
        (("posture", "jumping-leg", "--direction", "0,0,1", "--samples", "0"), "`--samples`"),
        (("posture", "jumping-leg", "--direction", "0,0,1", "--study", "-1"), "`--study`"),
        (("posture", "jumping-leg", "--direction", "0,0,1", "--study", "9", "--vary", "x"), "vary"),
    ],
)  # fmt: skip
def test_bad_questions_end_in_one_line(cli, tmp_path, arguments, says):
    outcome = cli(*arguments)
    assert outcome.status == 2
    assert says in outcome.err
    assert outcome.err.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_an_endless_motor_is_named(cli, tmp_path):
    (tmp_path / "endless.xml").write_text(POINT_MASS.format(limit=""))
    outcome = cli("capability", "endless.xml", "--feet", "toe", "--direction", "0,0,1")
    assert outcome.status == 2
    assert "'push' has no limit" in outcome.err


def test_an_impossible_direction_is_one_clear_line(cli, tmp_path):
    """A motor that cannot carry the weight: the top falls, whichever way it is asked to go."""
    (tmp_path / "weak.xml").write_text(POINT_MASS.format(limit='ctrlrange="-10 10"'))
    outcome = cli("capability", "weak.xml", "--feet", "toe", "--direction", "1,0,0")
    assert outcome.status == 2
    assert "`--direction`" in outcome.err
    assert "another direction" in outcome.err
