"""Studies of scenes: each case is the run that its command does, to the bit."""

import shlex

import numpy as np
import pytest

import stiction
from stiction import InputError
from stiction.scenes import parse_settings
from stiction.studies import basins, make_design, outcome_of, study
from stiction.studies.block import _state
from stiction.studies.measures import KINDS

PENDULUM = ["contact.restitution=0.2,0.8", "contact.mu_static,contact.mu_dynamic=0.3,0.6"]


def run_again(command: str) -> stiction.Trajectory:
    """The run that a command does."""
    words = shlex.split(command)
    assert words[:2] == ["stiction", "run"]
    settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    return stiction.scene(words[2], parse_settings(settings)).run()


@pytest.fixture(scope="module")
def pendulum():
    return study("double-pendulum", make_design(PENDULUM), keep="events", workers=1, block=4)


def test_a_case_is_the_run_of_its_command(pendulum):
    found = pendulum.dataset()
    for number in range(4):
        values = pendulum.design.case(number)
        run = run_again(pendulum.subject.command(pendulum._case(values)))
        case = found.sel({n: values[n] for n in ("restitution", "mu_static")})
        assert np.array_equal(case["final_q"], run.q[-1])
        assert np.array_equal(case["final_v"], run.v[-1])
        assert int(case["n_events"]) == int(run.n_events)
        events = run.events()
        assert np.array_equal(case["event_time"][: len(events)], [e.time for e in events])
        kinds = [KINDS[int(k)] for k in case["event_kind"][: len(events)]]
        assert kinds == [e.kind for e in events]
        assert int(case["n_impacts"]) == len([e for e in events if e.kind in ("impact", "zeno")])


def test_energy_of_every_case_is_booked(pendulum):
    d = pendulum.dataset()
    lost = d["friction_loss"] + d["impact_loss"] + d["damping_loss"]
    account = d["energy_final"] + lost - d["energy_initial"]
    assert np.abs(account).max() < 1e-5 * np.abs(d["energy_initial"]).max()


@pytest.mark.parametrize(
    ("scene", "vary", "fixed"),
    [
        ("bicycle", ["ground.slope_deg=0,20"], {"until": 0.5}),  # not a number of one call
        ("foot", ["contact.stiffness=2e4,1e5"], {"until": 0.2}),  # compliant
        (
            "rod",
            ["start.q.tilt=0.2,0.4", "start.v[1]=-1,0"],
            {"until": 1.0},
        ),  # entries of the start
        ("mass-spring-friction", ["mechanism.edits.body.mass.mass=1,2"], {"until": 0.5}),
    ],
)
def test_whatever_varies_the_case_is_the_run(scene, vary, fixed):
    described = stiction.scene(scene, fixed)
    made = study(described, make_design(vary), workers=1, block=2)
    found = made.dataset()
    for number in range(made.design.count):
        values = made.design.case(number)
        changes = made.subject.varied.changes(made._case(values))
        run = described.run(changes)
        case = found.sel(dict(zip(made.design.dims, values.values(), strict=True)))
        assert np.array_equal(case["final_q"], run.q[-1])


def test_trajectories_are_kept_whole():
    described = stiction.scene("rod", until=0.5, samples=21)
    made = study(described, {"contact.restitution": "0,0.5"}, keep="trajectories", workers=1)
    run = described.run({"contact.restitution": 0.5})
    case = made.dataset().sel(restitution=0.5)
    assert np.array_equal(case["q"], run.q)
    assert np.array_equal(case["time"], run.time)


def test_numbers_that_a_law_refuses_fail_alone():
    made = study("rod", {"contact.restitution": "-0.5,0.5,1.5,0.9"}, workers=1, block=4)
    assert made.dataset()["status"].values.tolist() == [2, 1, 2, 1]
    messages = [f["message"] for f in made.failures()]
    assert all("contact.restitution` must be in [0, 1]" in m for m in messages)
    assert "got -0.5" in messages[0]


def test_runs_with_more_events_than_there_is_room_for_at_first_are_whole(monkeypatch):
    from stiction.studies import block

    whole = study("double-pendulum", make_design(PENDULUM), workers=1, block=4).dataset().load()
    monkeypatch.setattr(block, "_EVENTS", 9)
    cut = study("double-pendulum", make_design(PENDULUM), workers=1, block=4).dataset().load()
    assert (whole["n_events"] > 9).any()
    assert (whole["n_events"] <= 9).any()
    assert whole.equals(cut)


def test_a_run_that_fails_says_why():
    described = stiction.scene("double-pendulum", contact={"max_events": 5})
    made = study(described, {"contact.restitution": "0.5,0.9"}, workers=1)
    assert made.failures()[0]["message"].startswith("The maximum number of events was reached")


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"contact.restituton": "0,1"}, "no field `contact.restituton`"),
        ({"start.q[9]": "0,1"}, "must be an entry of 2"),
        ({"start.q.elbow": "0,1"}, "no entry of `start.q` 'elbow'"),
        ({"ground.slope_deg[0]": "0,1"}, "has no entries"),
        ({"contact.restitution": "2,3"}, "must be in [0, 1]"),
        ({"until": "-1,0"}, "`until` must be greater than 0"),
    ],
)
def test_a_field_that_cannot_vary_is_refused(vary, words, tmp_path):
    with pytest.raises(InputError) as error:
        study("double-pendulum", vary, out=tmp_path / "out", workers=1)
    assert words in str(error.value)
    assert not (tmp_path / "out").exists()


def test_basins_are_what_a_box_lies_on():
    vary = ["start.v.wx=-9..9", "start.v.wy=-9..9"]
    found = study("box", make_design(vary, cases=48), workers=1).dataset()
    kinds, rows = basins(found)
    height = outcome_of(found, "final.z")
    halves = {0.05, 0.075, 0.1}  # half the sides of the box
    for row in rows:
        if row["what"].startswith("rests on"):
            heights = height.values[kinds.values == row["basin"]]
            assert min(abs(heights[0] - h) for h in halves) < 1e-6
            assert np.allclose(heights, heights[0], atol=1e-6)  # one face, one height
            assert row["what"].count("box[") == 4
    assert sum(row["cases"] for row in rows) == int((found["status"] == 1).sum())


def test_without_a_gpu_one_is_refused_and_nothing_is_written(tmp_path):
    import warp

    if warp.is_cuda_available():
        pytest.skip("there is a GPU here")
    out = tmp_path / "out"
    with pytest.raises(InputError, match="needs an NVIDIA GPU") as told:
        study("rod", {"contact.restitution": "0.1,0.5"}, device="gpu", out=out)
    assert "\n" not in str(told.value)
    assert not out.exists()
    with pytest.raises(InputError, match="is for runs of a scene"):
        study(lambda a: a, {"a": "0,1"}, device="gpu", out=out)


def test_a_gpu_gets_all_cases_of_a_block_in_one_call(monkeypatch):
    """With an engine that says where it was asked to run, and runs here."""
    import warp

    from stiction.studies import block

    asked, here = [], block.simulate

    def simulate(*args, device="cpu", **options):
        asked.append((device, len(args[1])))
        return here(*args, **options)

    monkeypatch.setattr(warp, "is_cuda_available", lambda: True)
    monkeypatch.setattr(block, "simulate", simulate)
    vary = {"contact.restitution": "0.1:0.9:5"}
    there = study("rod", vary, device="gpu", workers=1, block=5).dataset()
    assert ("gpu", 5) in asked
    assert np.array_equal(there.final_q, study("rod", vary, workers=1).dataset().final_q)
    with pytest.raises(InputError, match="another program"):
        study("rod", {"ground.slope_deg": "0,5"}, device="gpu", workers=1)


@pytest.mark.parametrize("field", ["start.q", "start.v"])
def test_a_start_that_varies_in_part_is_not_worked_out_case_by_case(field):
    """That took 4 ms a case, for starts of which only q or only v was given."""
    scene = stiction.scene("rod")
    given = np.asarray(scene.q if field == "start.q" else scene.v) + 0.1
    case = scene.change({field: given.tolist()})
    q, v = _state(scene, case)
    assert "_start" not in vars(case)
    assert np.array_equal(q, case.q)
    assert np.array_equal(v, case.v)
