"""`stiction reproduce` for a user: one verdict everywhere, the data, and what was misspelt."""

import xarray as xr


def test_terminal_json_and_report_say_the_same(cli, tmp_path):
    options = ("reproduce", "flickinger", "--only", "Figure 5.2")
    answer = cli(*options, "--json", "--out", str(tmp_path / "a"))
    (found,) = answer.json["items"]
    assert answer.status == 0
    assert found["verdict"] == "differs"
    assert answer.json["verdicts"] == {"agrees": 0, "differs": 1, "not reproduced": 0}
    shown = cli(*options, "--out", str(tmp_path / "b"))
    page = (tmp_path / "a" / "report.html").read_text(encoding="utf-8")
    wrong = [c["claim"] for c in found["checks"] if not c["passed"]]
    assert wrong
    for words in (found["text"], "differs", *wrong):
        assert words in " ".join(shown.out.split())
        assert words in page.replace("&#x27;", "'")
    data = xr.load_dataset(tmp_path / "a" / "figure-5-2.nc")
    assert len(data.data_vars) > 3
    assert all(v.attrs["axes"] for v in data.data_vars.values())


def test_chapters_by_letter_and_what_is_absent(cli, tmp_path):
    answer = cli("reproduce", "ma", "--only", "figure-1", "--json", "--out", "a")
    (found,) = answer.json["items"]
    assert answer.status == 0
    assert found["verdict"] == "not reproduced"
    assert "nothing in them can be computed" in found["text"]
    assert cli("reproduce", "flickinger", "--chapter", "B", "--out", "b").status == 2
    assert not (tmp_path / "b").exists()
