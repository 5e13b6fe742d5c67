"""Nothing that may touch is dropped in silence: `info` and `run` name it, and look for it after."""

import pytest
from helpers_cli import cli

__all__ = ["cli"]

PYRAMIDS = ("--set", "contact.law=stepping", "--set", "contact.solver=lcp")  # on the ground alone
QUICK = ("--set", "until=0.4", "--set", "samples=21", "--json")

# Rigid contacts are found on the way: each rests on what is below it. Springs know points and balls
# only.
DROPPED = {
    "two stacked boxes": (
        """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
        <body name="low" pos="0 0 .1"><joint type="slide" axis="0 0 1"/>
        <geom name="lower" type="box" size=".1 .1 .1"/></body>
        <body name="high" pos="0 0 .35"><joint type="slide" axis="0 0 1"/>
        <geom name="upper" type="box" size=".1 .1 .1"/></body></worldbody></mujoco>""",
        {"lower", "upper"},
    ),
    "a ball on a fixed box": (
        """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
        <geom name="table" type="box" size="1 1 .1" pos="0 0 .5"/>
        <body pos="0 0 .8"><joint type="slide" axis="0 0 1"/>
        <geom name="ball" type="sphere" size=".1"/></body>
        </worldbody></mujoco>""",
        {"ball", "table"},
    ),
    "a cylinder on the floor": (
        """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
        <body pos="0 0 .3"><freejoint/><geom name="can" type="cylinder" size=".1 .1"/></body>
        </worldbody></mujoco>""",
        {"can", "floor"},
    ),
}


def said(outcome) -> list[str]:
    """Lines on standard error, but that something is being compiled."""
    return [line for line in outcome.err.splitlines() if "compiling" not in line]


@pytest.mark.parametrize("case", DROPPED)
def test_what_may_touch_is_found_on_the_way(case, cli, tmp_path):
    model, pair = DROPPED[case]
    (tmp_path / "own.xml").write_text(model)
    told = cli("info", "own.xml", "--json").json
    assert pair in [{p["first"], p["second"]} for p in told["found_on_the_way"]]
    assert told["not_treated"] == []
    outcome = cli("run", "own.xml", *QUICK)
    assert outcome.status == 0, outcome.err
    assert outcome.json["success"]
    touched = {e["contact"] for e in outcome.json["events"] if e["kind"] == "impact"}
    assert any(all(name in contact for name in pair) for contact in touched)


def test_nothing_to_touch_with_is_an_error(cli, tmp_path):
    (tmp_path / "own.xml").write_text(DROPPED["a cylinder on the floor"][0])
    outcome = cli("run", "own.xml", *PYRAMIDS, *QUICK)
    assert outcome.status == 2
    assert "nothing can touch" in outcome.err


@pytest.mark.parametrize("case", ["two stacked boxes", "a ball on a fixed box"])
def test_what_is_not_treated_is_named_and_its_penetration_is_a_failure(case, cli, tmp_path):
    model, pair = DROPPED[case]
    (tmp_path / "own.xml").write_text(model)
    outcome = cli("run", "own.xml", *PYRAMIDS, *QUICK)
    assert outcome.status == 1
    warning, failure = said(outcome)
    for line in (warning, failure):
        assert all(name in line for name in pair)
    assert "not treated" in warning
    answer = outcome.json
    assert answer["success"] is False
    assert [{p["first"], p["second"]} for p in answer["not_treated"]] == [pair]
    (found,) = answer["penetrations"]
    assert {found["first"], found["second"]} == pair
    assert found["depth"] > 0.01
    assert 0 < found["time"] < 0.4
    assert not found["treated"]
    page = (tmp_path / "out" / "own" / "report.html").read_text()  # the results are kept
    assert "not treated" in page
    assert "penetrate" in page


def test_what_the_model_excludes_is_not_missed(cli, tmp_path):
    """Excluded bodies may pass through each other, and so may geoms whose bits do not match."""
    model, _ = DROPPED["two stacked boxes"]
    excluded = '<contact><exclude body1="low" body2="high"/></contact></mujoco>'
    (tmp_path / "own.xml").write_text(model.replace("</mujoco>", excluded))
    outcome = cli("run", "own.xml", *QUICK)
    assert outcome.status == 0, outcome.err
    assert outcome.json["not_treated"] == []
    assert outcome.json["penetrations"] == []


def test_hundreds_of_pairs_are_told_in_one_short_line(cli, tmp_path):
    bodies = "".join(
        f'<body name="b{i}" pos="{i} 0 1"><freejoint/>'
        '<geom type="box" size=".1 .1 .1"/><geom type="box" size=".1 .1 .1" pos="0 0 .1"/></body>'
        for i in range(9)
    )
    floor = '<geom type="plane" size="5 5 .1"/>'
    (tmp_path / "own.xml").write_text(f"<mujoco><worldbody>{floor}{bodies}</worldbody></mujoco>")
    quick = ("--set", "until=0.1", "--set", "samples=3", "--json")
    outcome = cli("run", "own.xml", *PYRAMIDS, *quick)
    assert outcome.status == 0, outcome.err
    (warning,) = said(outcome)
    assert "144 pairs" in warning
    assert "b0 and b1" in warning
    assert len(warning) < 400
    assert len(outcome.json["not_treated"]) == 144


@pytest.mark.parametrize("law", ["hybrid", "stepping", "compliant"])
def test_a_start_below_the_floor_is_refused_or_moved_out(law, cli, tmp_path):
    deep = ("--set", "start.q=[0,0,-1,1,0,0,0]", "--set", f"contact.law={law}")
    outcome = cli("run", "box", *deep, *QUICK)
    assert outcome.status == 2
    assert "is 1.05 m inside of floor" in said(outcome)[0]
    assert not list(tmp_path.iterdir())
    outcome = cli("run", "box", *deep, *QUICK, "--set", "start.resolve=true")
    assert outcome.status == 0, outcome.err
    assert "moved out of what it touches" in said(outcome)[0]
    assert outcome.json["start_moved"]["distance"] == pytest.approx(1.05)


def test_info_of_a_scene_counts_the_contacts_of_that_scene(cli):
    """The pendulum touches with its tip, the leg with the corners of its body and its foot."""
    for scene, count in (("double-pendulum", 1), ("jumping-leg", 9), ("human", 0), ("box", 8)):
        answer = cli("info", scene, "--json").json
        assert len(answer["contact_points"]) == count, scene
        assert answer["not_treated"] == []
    tip = cli("info", "double-pendulum", "--json").json["contact_points"][0]
    assert (tip["name"], tip["kind"]) == ("tip", "site")
