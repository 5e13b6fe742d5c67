"""`stiction grf` and `stiction jump` as users call them."""

import numpy as np
import pytest
from test_bad_input import assert_refused, files_below

HUMAN = ("--model", "human")
STANDING = "time," + ",".join(f"base.{a}" for a in ("x", "y", "z", "qw", "qx", "qy", "qz"))


def standing(path, rows=40, height="0.9957589", change=lambda cells: cells):
    lines = [STANDING]
    lines += [
        ",".join(change([f"{k / 60:.5f}", "0", "0", height, "1", "0", "0", "0"]))
        for k in range(rows)
    ]
    path.write_text("\n".join(lines))
    return path


def plates(path, vertical="z", force=824.75, start=0.0):
    order = {"z": ("0", "0", "{}"), "y": ("0", "{}", "0")}[vertical]
    cells = ",".join(order).format(force)
    lines = ["time,ground_force_vx,ground_force_vy,ground_force_vz"]
    lines += [f"{start + k / 600:.5f},{cells}" for k in range(420)]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.slow
def test_standing_end_to_end(cli, tmp_path):
    motion, forces = standing(tmp_path / "m.csv"), plates(tmp_path / "p.csv")
    outcome = cli("grf", motion, *HUMAN, "--plates", forces, "--out", "out", "--json")
    assert outcome.status == 0, outcome.err
    answer = outcome.json
    assert answer["feet"]["left"]["largest_vertical"] == pytest.approx(824.754 / 2, rel=1e-4)
    total = [r for r in answer["comparison"]["components"] if r["of"] == "total"]
    assert all(r["RMSE [% BW]"] < 0.1 for r in total)
    made = {p.name for p in files_below(tmp_path / "out")}
    assert {
        "grf.nc",
        "feet.csv",
        "grf.mot",
        "grf.xml",
        "report.html",
        "feet.png",
        "feet.svg",
    } <= made
    page = (tmp_path / "out" / "report.html").read_text()
    assert "stiction-player" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    table = np.genfromtxt(tmp_path / "out" / "feet.csv", delimiter=",", names=True)
    assert np.allclose(table["ground_force_l_vz"], 824.754 / 2, rtol=1e-4)
    # The same for people, without plates, on a human of another size.
    outcome = cli("grf", motion, *HUMAN, "--set", "mechanism.human.mass=60", "--out", "out2")
    assert outcome.status == 0, outcome.err
    assert "60 kg" in outcome.out
    assert "report: " in outcome.out


def broken(tmp_path):
    """What is asked wrongly -> the arguments, and a word of the answer."""
    good = standing(tmp_path / "good.csv")
    no_base = standing(tmp_path / "no-base.csv")
    no_base.write_text(no_base.read_text().replace("base.z", "height"))
    back = standing(tmp_path / "back.csv", change=lambda c: [str(-float(c[0])), *c[1:]])
    gap = standing(tmp_path / "gap.csv")
    lines = gap.read_text().splitlines()
    gap.write_text("\n".join(lines[:10] + lines[30:]))
    holes = standing(tmp_path / "holes.csv")
    rows = holes.read_text().splitlines()
    holes.write_text(
        "\n".join(
            r if i < 10 or i > 30 else r.replace("0.9957589", "nan") for i, r in enumerate(rows)
        )
    )
    (tmp_path / "words.csv").write_text("hello\nworld\n")
    (tmp_path / "model.osim").write_text("<OpenSimDocument/>")
    return {
        "no motion": ((tmp_path / "absent.mot", *HUMAN), "no file"),
        "unknown scene": ((good, "--model", "robot"), "no scene or file 'robot'"),
        "broken osim": ((good, "--model", tmp_path / "model.osim"), "<Model>"),
        "absent osim": ((good, "--model", "absent.osim"), "no file"),
        "set on osim": ((good, "--model", tmp_path / "model.osim", "--set", "a=1"), "--set"),
        "wrong suffix": ((tmp_path / "model.osim", *HUMAN), ".osim"),
        "no columns": ((tmp_path / "words.csv", *HUMAN), "time"),
        "no base": ((no_base, *HUMAN), "base.z"),
        "time backwards": ((back, *HUMAN), "must not go back"),
        "gap": ((gap, *HUMAN), "gap of"),
        "holes": ((holes, *HUMAN), "has no values for"),
        "filter": ((good, *HUMAN, "--filter", "kalman"), "no filter 'kalman'"),
        "cutoff": ((good, *HUMAN, "--cutoff", "-1"), "`cutoff`"),
        "split": ((good, *HUMAN, "--split", "coin"), "no split 'coin'"),
        "friction": ((good, *HUMAN, "--mu", "0"), "`friction`"),
        "angles": ((good, *HUMAN, "--angles", "turns"), "`angles`"),
        "start": ((good, *HUMAN, "--start", "99"), "at least two rows"),
        "contacts": ((good, *HUMAN, "--contacts", "absent.csv"), "no file"),
        "plates": ((good, *HUMAN, "--plates", "absent.mot"), "no file"),
    }


CASES = [
    "no motion", "unknown scene", "broken osim", "absent osim", "set on osim",
    "wrong suffix", "no columns", "no base", "time backwards", "gap", "holes", "filter", "cutoff",
    "split", "friction", "angles", "start", "contacts", "plates",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_done_is_refused_in_one_line(cli, tmp_path, case):
    arguments, word = broken(tmp_path)[case]
    before = files_below(tmp_path)
    outcome = cli("grf", *arguments)
    assert_refused(outcome)
    assert word in outcome.err
    assert files_below(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "more", "word"),
    [
        ({"vertical": "y"}, (), "--plate-axes x,-z,y"),
        ({"force": 0.8}, (), "is its unit newton"),
        ({"start": 50.0}, (), "must overlap"),
        ({}, ("--plate-axes", "x,y"), "three different letters"),
    ],
)
def test_plates_that_do_not_fit_are_refused_with_the_fix(cli, tmp_path, options, more, word):
    motion, forces = standing(tmp_path / "m.csv"), plates(tmp_path / "p.csv", **options)
    before = files_below(tmp_path)
    outcome = cli("grf", motion, *HUMAN, "--plates", forces, *more)
    assert_refused(outcome)
    assert word in outcome.err
    assert files_below(tmp_path) == before


def test_jumps_on_the_command_line(cli, tmp_path):
    force = np.concatenate(
        [np.full(600, 700.0), np.full(60, 1700.0), np.zeros(300), np.full(600, 700.0)]
    )
    (tmp_path / "f.txt").write_text("\n".join(f"{f:g}" for f in force))
    outcome = cli("jump", "f.txt", "--rate", "600", "--json")
    assert outcome.status == 0, outcome.err
    (found,) = outcome.json["jumps"]
    assert found["flight_time"] == pytest.approx(0.5, abs=0.01)
    assert found["height"] == pytest.approx(9.81 * 0.5**2 / 8, rel=0.02)
    assert not (tmp_path / "out").exists()
    outcome = cli("jump", "f.txt", "--rate", "600", "--out", "out")
    assert "0.3" in outcome.out
    assert {"report.html", "force.png"} <= {p.name for p in files_below(tmp_path / "out")}
    assert_refused(cli("jump", "f.txt"))
    assert_refused(cli("jump", "f.txt", "--rate", "-5"))
    assert_refused(cli("jump", "absent.txt", "--rate", "600"))
