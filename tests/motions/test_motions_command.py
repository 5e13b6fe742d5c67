"""`stiction motions`, its file format, and `stiction reproduce erdmann`."""

import json

import numpy as np
import pytest
import yaml

from stiction._base.errors import InputError
from stiction.cli.app import main
from stiction.motions import examples, load_problem, parse_problem

BLOCK = {
    "mass": 1.0,
    "inertia": 0.2,
    "force": [0.0, -9.81],
    "contacts": [
        {"point": [-0.5, -0.5], "normal": [0, 1], "friction": 0.5},
        {"point": [0.5, -0.5], "normal": [0, 1], "friction": 0.5, "name": "heel"},
    ],
}

VERDICTS = {
    "block-in-corner": "ambiguous",
    "block-on-slope": "unique",
    "box-on-table": "unique",
    "painleve-ambiguous": "ambiguous",
    "painleve-inconsistent": "inconsistent",
    "peg-jamming": "unique",
    "peg-wedging": "ambiguous",
    "stacked-points": "ambiguous",
    "three-points": "unique",
    "tip-on-tip": "ambiguous",
    "two-fingers": "ambiguous",
    "uneven-friction": "ambiguous",
}


def run(capsys, *arguments):
    """Exit status, standard output, standard error."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    captured = capsys.readouterr()
    return end.value.code, captured.out, captured.err


def with_contact(**fields):
    return BLOCK | {"contacts": [BLOCK["contacts"][0] | fields]}


def test_every_example_has_its_verdict():
    assert {name: str(load_problem(name).motions().verdict) for name in examples()} == VERDICTS


def test_json_has_the_promised_keys(capsys):
    status, out, _ = run(capsys, "motions", "uneven-friction", "--json")
    content = json.loads(out)
    assert status == 0
    assert content["verdict"] == "ambiguous"
    motion = content["motions"][0]
    assert {"acceleration", "modes", "forces", "family"} <= set(motion)
    assert motion["family"]["c"] == pytest.approx([-4.379464285714286, -0.981])
    assert [end["c"] for end in motion["family"]["ends"]] == motion["family"]["c"]
    assert len(content["cone"]["sheets"]) == 3
    assert {tuple(d["response"]) for d in content["directions"]} == {("slide",), ("lift",)}


def test_an_interval_without_end_is_null():
    """A body that slides between parallel walls: any squeeze, so any braking."""
    problem = parse_problem(
        {
            "mass": 1.0,
            "inertia": 1.0,
            "velocity": [1.0, 0.0, 0.0],
            "contacts": [
                {"point": [0, -1], "normal": [0, 1], "friction": 0.5},
                {"point": [0, 1], "normal": [0, -1], "friction": 0.5},
            ],
        }
    )
    family = problem.motions().as_dict()["motions"][0]["family"]
    assert family["c"] == [None, 0.0]
    assert family["ends"][0] is None


def test_collision_names_its_contact(capsys, tmp_path):
    file = tmp_path / "falling.yaml"
    file.write_text(yaml.safe_dump(BLOCK | {"velocity": [0.0, 0.0, -0.4]}))
    status, out, _ = run(capsys, "motions", str(file))
    assert status == 0
    assert "collision" in out
    assert "contact heel closes at 0.2 m/s" in out


def test_out_holds_data_figures_and_a_report(capsys, tmp_path):
    status, _, _ = run(capsys, "motions", "three-points", "--out", str(tmp_path / "o"))
    assert status == 0
    names = {path.name for path in (tmp_path / "o").iterdir()}
    figures = {f"{n}.{s}" for n in ("motions", "cone", "directions") for s in ("png", "svg")}
    assert names == figures | {"motions.json", "motions.csv", "report.html", "stiction.json"}


def test_spatial_files_work_too(capsys, tmp_path):
    status, out, _ = run(capsys, "motions", "box-on-table", "--json", "--out", str(tmp_path / "o"))
    assert status == 0
    assert len(json.loads(out)["motions"][0]["acceleration"]) == 6
    assert {"report.html", "motions.png"} <= {path.name for path in (tmp_path / "o").iterdir()}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BLOCK | {"mass": 0}, "`mass` must be greater than 0, got 0"),
        (BLOCK | {"inertia": None}, "give one of `inertia` and `radius_of_gyration`"),
        (BLOCK | {"radius_of_gyration": 1.0}, "give one of `inertia` and `radius_of_gyration`"),
        ({k: v for k, v in BLOCK.items() if k != "mass"}, "`mass` is required but absent"),
        (BLOCK | {"weight": 3}, "no field `weight` (known here: title, note, mass,"),
        (BLOCK | {"dimension": 4}, "`dimension` must be 2 (the default) or 3"),
        (BLOCK | {"force": [1, 2, 3]}, "`force` must be a list of 2 numbers, got [1, 2, 3]"),
        (BLOCK | {"force": [float("nan"), 0]}, "`force.0` must be a finite number, got nan"),
        (with_contact(friction=-1), "`contacts.0.friction` must be greater than or equal to 0"),
        (with_contact(normal=[0, 0]), "`contacts.0`: `normal` must not be zero"),
        (with_contact(kind="curved"), "`body_curvature` and `obstacle_curvature` are needed"),
        (with_contact(body_curvature=1.0), "curvatures belong to kind 'curved'"),
        (with_contact(kind="round"), "`contacts.0.kind` must be 'vertex-on-edge'"),
        (
            with_contact(kind="curved", body_curvature=1, obstacle_curvature=-1),
            "`body_curvature` + `obstacle_curvature` must be > 0, got 0.0",
        ),
        ([1, 2], "must hold a table of fields, got list"),
    ],
)
def test_bad_files_are_refused_in_one_line(capsys, tmp_path, content, message):
    file = tmp_path / "problem.yaml"
    file.write_text(yaml.safe_dump(content))
    status, out, err = run(capsys, "motions", str(file), "--out", str(tmp_path / "o"))
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [("three-point", "did you mean 'three-points'?"), ("gone.toml", "no file 'gone.toml'")],
)
def test_unknown_sources_say_what_exists(capsys, source, message):
    status, _, err = run(capsys, "motions", source)
    assert status == 2
    assert message in err


def test_broken_syntax_is_told(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text("mass = = 1")
    with pytest.raises(InputError, match="not valid TOML"):
        load_problem(file)


def test_curved_contacts_reach_the_answer():
    """A wheel that rolls needs no force; the same wheel taken for a vertex would be flung off."""
    wheel = {
        "mass": 1.0,
        "inertia": 0.5,
        "velocity": [2.0, 0.0, -2.0],
        "contacts": [
            {
                "point": [0, -1],
                "normal": [0, 1],
                "friction": 0.5,
                "kind": "curved",
                "body_curvature": 1.0,
                "obstacle_curvature": 0.0,
            }
        ],
    }
    rolling = parse_problem(wheel).motions()
    np.testing.assert_allclose(rolling.motions[0].acceleration, 0, atol=1e-12)
    assert rolling.motions[0].modes == ("stick",)
