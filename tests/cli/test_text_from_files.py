"""Text from a user's file is text: it is neither markup nor does it steer the terminal."""

import pytest

NASTY = "[/red] x"
BALL = """<mujoco model="[/red] x"><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="[bold]" pos="0 0 .2"><freejoint name="base"/>
    <geom name="[/] geom" size=".1" mass="1"/></body></worldbody></mujoco>"""


@pytest.fixture
def ball(tmp_path):
    (tmp_path / "ball.xml").write_text(BALL)
    (tmp_path / "ball.toml").write_text(
        f'title = "{NASTY}"\nuntil = 0.02\nsamples = 5\n[mechanism]\nfile = "ball.xml"\n'
        '[contact]\nlaw = "none"\n'
    )
    return tmp_path


def test_info_prints_names_as_they_are(cli, ball):
    outcome = cli("info", "ball.xml")
    assert outcome.status == 0, outcome.err
    assert f"{NASTY}: 7 coordinates" in outcome.out
    assert "[bold]" in outcome.out


def test_run_prints_its_title_as_it_is(cli, ball):
    outcome = cli("run", "ball.toml")
    assert outcome.status == 0, outcome.err
    assert NASTY in outcome.out
    page = (ball / "out" / "ball" / "report.html").read_text()
    assert f"<h1>{NASTY}</h1>" in page


def test_grf_prints_its_subject_as_it_is(cli, ball):
    columns = ",".join(f"base.{a}" for a in ("x", "y", "z", "qw", "qx", "qy", "qz"))
    rows = [f"{k / 60:.5f},0,0,0.2,1,0,0,0" for k in range(40)]
    (ball / "m.csv").write_text("\n".join([f"time,{columns}", *rows]))
    outcome = cli("grf", "m.csv", "--model", "ball.xml")
    assert outcome.status == 0, outcome.err
    assert f"{NASTY}, 1 kg" in outcome.out


def test_motions_prints_titles_and_names_as_they_are(cli, tmp_path):
    (tmp_path / "block.toml").write_text(
        f'title = "{NASTY}"\nmass = 1.0\ninertia = 0.2\nforce = [0.0, -9.81]\n'
        '[[contacts]]\npoint = [-0.5, -0.5]\nnormal = [0, 1]\nfriction = 0.5\nname = "[bold]"\n'
        '[[contacts]]\npoint = [0.5, -0.5]\nnormal = [0, 1]\nfriction = 0.5\nname = ":smile:"\n'
    )
    outcome = cli("motions", "block.toml")
    assert outcome.status == 0, outcome.err
    for text in (NASTY, "[bold]", ":smile:", "[m/s²,"):
        assert text in " ".join(outcome.out.split())


def test_text_does_not_steer_the_terminal(cli, ball):
    (ball / "ball.toml").write_text(
        (ball / "ball.toml").read_text().replace(NASTY, r"\u001b[31mred\u0007")
    )
    outcome = cli("run", "ball.toml")
    assert outcome.status == 0, outcome.err
    assert "\x1b" not in outcome.out
    assert "\x07" not in outcome.out
    outcome = cli("run", "\x1b[2Jnowhere")
    assert outcome.status == 2
    assert "\x1b" not in outcome.err
