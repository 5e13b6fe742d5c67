"""The list of what is reproduced, and what every item gives."""

import re
from pathlib import Path

import numpy as np
import pytest

from stiction._base.errors import InputError
from stiction.report.figures import new_figure
from stiction.reproduce import DOCUMENTS, Check, Reproduction, entries, registry


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_is_listed_is_made_and_what_is_made_is_listed(document):
    listed = registry._LIST[document]
    assert [e.item for e in entries(document)] == list(listed["titles"])
    absent = set(listed.get("absent", {}))  # of which something may be shown all the same
    assert set(registry._MAKERS[document]) | absent == set(listed["titles"])
    for part in ("notes", "differs", "absent"):
        assert set(listed.get(part, {})) <= set(listed["titles"])


def test_a_verdict_is_what_the_checks_say():
    holds, fails = Check("a", True), Check("b", False, 2.0, 1.0)
    assert Reproduction(checks=[holds]).verdict == "agrees"
    both = Reproduction(checks=[holds, fails], note="Decided so.", why="Because.")
    assert (both.verdict, both.text) == ("differs", "Because. Decided so.")
    assert Reproduction(checks=[fails]).text == "The reason is not known."
    assert Reproduction(note="Lost.").verdict == "not reproduced"


def test_the_manual_lists_every_item_with_its_verdict():
    page = (Path(__file__).parents[2] / "docs" / "documents.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith(("| Figure", "| Table"))]
    listed = [e for d in DOCUMENTS if d != "studies" for e in entries(d)]
    alone = {True: ", with mechanics", False: ""}
    assert rows == [f"| {e.item} | {e.title} | {e.listed}{alone[e.silent]} |" for e in listed]


def test_parts_that_no_figure_shows_have_the_tests_that_are_named():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "documents.md").read_text(encoding="utf-8")
    rows = page.split("## Parts that no figure shows")[1].split("##")[0]
    found = re.findall(r"^\| (\w+) \| .* \| (`.*`) \|$", rows, re.MULTILINE)
    assert len(found) >= 14
    for document, files in found:
        for file in re.findall(r"`([^`]+)`", files):
            text = (root / "tests" / file).read_text(encoding="utf-8")
            assert re.search(rf"\b{document}\b", text), file  # cited, with a number


def test_items_are_found_by_name_by_slug_and_by_chapter():
    assert [e.item for e in entries("marhefka", only="figure-3")] == ["Figure 3"]
    appendix = entries("flickinger", chapter="A")
    assert [e.item for e in appendix if e.item.startswith("Figure")] == [
        "Figure A.1", "Figure A.2", "Figure A.3"
    ]  # fmt: skip
    assert [e.item for e in appendix if e.item.startswith("Table")] == ["Table A.1", "Table A.2"]
    assert entries("flickinger", chapter="a") == appendix
    assert {e.chapter for e in entries("flickinger", chapter=6)} == {"6"}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"only": "Figure 33"}, "did you mean 'Figure 3'"),
        ({"chapter": "2"}, "no chapter of 'marhefka' '2'"),
    ],
)
def test_what_there_is_not_is_said(choice, message):
    with pytest.raises(InputError, match=message):
        entries("marhefka", **choice)


def test_the_data_of_a_figure_are_what_it_draws():
    figure, (left, right) = new_figure(1, 2)
    x = np.linspace(0, 1, 5)
    left.plot(x, x**2, label="square")
    left.plot(x, x**3)
    left.set(xlabel="x [m]", ylabel="y [m]")
    left.set_title("(a) powers", loc="left")
    right.scatter(x, 2 * x, c=3 * x)
    right.contour(x, x, x[:, None] + 0 * x, levels=[0.6])  # the line y = 0.6
    square, cube, dots, contour = Reproduction(figure).data
    assert (square.panel, square.name, square.axes) == ("(a) powers", "square", ("x [m]", "y [m]"))
    np.testing.assert_array_equal(square.points, np.stack([x, x**2], axis=1))
    np.testing.assert_array_equal(cube.points[:, 1], x**3)
    assert dots.panel == "2"
    np.testing.assert_array_equal(dots.points, np.stack([x, 2 * x, 3 * x], axis=1))
    assert contour.name == "contour at 0.6"
    np.testing.assert_allclose(contour.points[:, 1], 0.6)
    assert Reproduction().data == []


def test_areas_arrows_bars_and_fields_are_data_too():
    figure, (one, two) = new_figure(1, 2)
    x = np.array([0.0, 1.0, 2.0])
    one.fill_between(x, x - 1, x + 1, label="band")
    one.quiver([1.0], [2.0], [3.0], [4.0])
    two.bar([0, 1], [5.0, 6.0], label="bars")
    two.pcolormesh([0, 1], [0, 1, 2], np.arange(6.0).reshape(3, 2), shading="nearest")
    found = {curve.name: curve.points for curve in Reproduction(figure).data}
    assert {(0.0, -1.0), (2.0, 3.0)} <= set(map(tuple, found["band"]))
    np.testing.assert_array_equal(found["arrows 2"], [[1, 2, 3, 4]])
    np.testing.assert_array_equal(found["bars"], [[0, 5], [1, 6]])
    at = [[i, j, 2 * j + i] for j in range(3) for i in range(2)]
    np.testing.assert_allclose(found["field 1"], at)


def test_erdmanns_figures_give_their_data():
    for entry in entries("erdmann"):
        made = entry.make()
        assert made.note == registry._LIST["erdmann"]["notes"].get(entry.item, "")
        assert made.data
        assert all(np.isfinite(curve.points).any() or not len(curve.points) for curve in made.data)
