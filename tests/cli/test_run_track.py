"""`track` in scenarios: what is refused, and that any mechanism can follow."""

import pytest

SLED = """
<mujoco model="sled"><worldbody>
  <body><joint name="x" type="slide" axis="1 0 0"/><geom name="g" size=".1" mass="2"/></body>
</worldbody>{motor}</mujoco>
"""
MOTOR = '<actuator><motor name="push" joint="x"/></actuator>'
SCENE = """
until = 1.0
samples = 101
[mechanism]
file = "sled.xml"
[contact]
law = "none"
"""


@pytest.fixture
def write(tmp_path):
    def files(more: str, motor: str = MOTOR) -> str:
        (tmp_path / "sled.xml").write_text(SLED.format(motor=motor))
        (tmp_path / "scene.toml").write_text(SCENE + more)
        return str(tmp_path / "scene.toml")

    return files


@pytest.mark.parametrize(
    ("more", "motor", "named"),
    [
        ("[[track.postures]]\ntime = 1.0\nq = { y = 1.0 }", MOTOR, "track.postures.0.q"),
        ("[[track.postures]]\ntime = 1.0\nkeyframe = 'home'", MOTOR, "keyframe"),
        ("[track]\nfile = 'a.csv'\npostures = [{ time = 1.0 }]", MOTOR, "track"),
        ("[track]\npostures = [{ time = 1.0 }, { time = 1.0 }]", MOTOR, "postures"),
        ("[track]\nfile = 'absent.csv'", MOTOR, "absent.csv"),
        ("[track]\nfrequency = 0.0", MOTOR, "track.frequency"),
        ("[track]\n[control.push]\noffset = 1.0", MOTOR, "control"),
        ("[track]", "", "actuators"),
    ],
)
def test_bad_tracks_are_refused_in_one_line(cli, write, tmp_path, more, motor, named):
    done = cli("run", write(more, motor), "--out", str(tmp_path / "out"))
    assert done.status == 2
    assert named in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_sled_follows_a_file(cli, write, tmp_path):
    """A parabola, which splines hold exactly; the start takes over its velocity."""
    rows = "\n".join(f"{t / 10},{0.2 * t / 10 + 0.5 * (t / 10) ** 2}" for t in range(11))
    (tmp_path / "motion.csv").write_text("time,x\n" + rows + "\n")
    result = cli("run", write("[track]\nfile = 'motion.csv'"), "--json").json
    assert result["final"]["q"] == pytest.approx([0.7], abs=1e-6)
    # Given as work: the kinetic energy at 1.2 m/s less that at 0.2 m/s.
    work = (1.2**2 - 0.2**2) * 2 / 2
    assert result["energy"]["booked"]["actuator_work"] == pytest.approx(work, rel=1e-5)
