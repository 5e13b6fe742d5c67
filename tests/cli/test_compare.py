"""`stiction compare`: runs from scenes, from directories, and what cannot be compared."""

import pytest

QUICK = ("--set", "until=1", "--set", "samples=21")


def test_runs_that_differ_in_one_number_part_at_the_first_impact(cli, tmp_path):
    vary = ("--vary", "contact.restitution=0.5,0.8")
    outcome = cli("compare", "bouncing-ball", *QUICK, *vary, "--out", "out", "--json")
    assert outcome.status == 0, outcome.err
    runs = outcome.json["runs"]
    assert list(runs) == ["restitution=0.5", "restitution=0.8"]
    other = runs["restitution=0.8"]
    assert other["largest_difference"][2] > 0.1  # the height
    assert other["largest_difference"][0] == 0
    lost = [run["energy"]["impact_loss"] for run in runs.values()]
    assert lost[0] > lost[1] > 0
    assert other["final_difference"] == pytest.approx(
        [b - a for a, b in zip(*(run["final_q"] for run in runs.values()), strict=True)]
    )
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Differences from restitution=0.5" in page
    assert (tmp_path / "out" / "differences.png").exists()


def test_a_run_differs_in_nothing_from_itself_read_again(cli):
    assert cli("run", "bouncing-ball", *QUICK, "--out", "kept").status == 0
    outcome = cli("compare", "kept", "bouncing-ball", *QUICK, "--out", "out", "--json")
    assert outcome.status == 0, outcome.err
    again = outcome.json["runs"]["bouncing-ball"]
    assert max(again["largest_difference"]) == 0
    assert again["first_different_event"] is None


ARM = """
<robot name="arm"><link name="root"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tip"><inertial><origin xyz="0 0 -.2"/><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="root"/><child link="tip"/>
<axis xyz="0 1 0"/></joint></robot>
"""


@pytest.mark.parametrize(("base", "coordinates"), [("fixed", 1), ("free", 8)])
def test_the_base_of_a_model_is_held_or_free(cli, tmp_path, base, coordinates):
    (tmp_path / "arm.urdf").write_text(ARM)
    vary = ("--vary", "until=0.1,0.2")
    outcome = cli("compare", "arm.urdf", "--base", base, *vary, "--out", "out", "--json")
    assert outcome.status == 0, outcome.err
    assert {len(run["final_q"]) for run in outcome.json["runs"].values()} == {coordinates}


def test_a_directory_of_a_run_is_run_again_where_numbers_vary(cli):
    """A directory that bears a scene's name, too, is no reason to leave the numbers alone."""
    for name in ("bouncing-ball", "kept"):
        assert cli("run", "bouncing-ball", *QUICK, "--out", name).status == 0
        vary = ("--vary", "contact.restitution=0.5,0.8")
        outcome = cli("compare", name, *QUICK, *vary, "--out", "out", "--json")
        assert outcome.status == 0, outcome.err
        assert outcome.json["runs"]["restitution=0.8"]["largest_difference"][2] > 0.1


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("box",), "two or more"),
        (("box", "--vary", "contact.restitution"), "FIELD=V1,V2"),
        (("box", "double-pendulum", *QUICK), "same coordinates"),
        (("box", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_compared_is_refused(cli, tmp_path, arguments, word):
    outcome = cli("compare", *arguments, "--out", "out")
    assert outcome.status == 2
    assert word in outcome.err
    assert not (tmp_path / "out").exists()
