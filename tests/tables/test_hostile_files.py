"""Files that a killed logger, a hostile hand or the file system left: one line, in no time."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from stiction import InputError
from stiction._base.files import read_fields
from stiction.biped import read_osim, read_plates
from stiction.mechanism.load import parse_model
from stiction.tables import Table, make_even, read_table

SECONDS = 2.0  # the promise of the threat page for any one file
ROWS = np.random.default_rng(0).normal(size=(12, 4))
LABELS = ("t", "x", "y", "fz")


def written(path: Path, kind: str) -> bytes:
    """A small log as bytes, ending in a line end."""
    rows = np.concatenate([np.arange(12.0)[:, None] / 10, ROWS[:, 1:]], axis=1)
    if kind == "two clocks":  # the last cells of the shorter stream are empty
        lines = [",".join("" if i > 8 and k > 1 else repr(float(v)) for k, v in enumerate(row))
                 for i, row in enumerate(rows)]  # fmt: skip
        text = ",".join(LABELS) + "\n" + "\n".join(lines) + "\n"
    elif kind == "csv":
        text = (
            ",".join(LABELS) + "\n" + "".join(",".join(f"{v:.6f}" for v in r) + "\n" for r in rows)
        )
    elif kind == "spaces":
        text = (
            " ".join(LABELS) + "\n" + "".join(" ".join(f"{v:.6f}" for v in r) + "\n" for r in rows)
        )
    else:
        text = "log\nnRows=12\nendheader\n" + "\t".join(LABELS) + "\n"
        text += "".join("\t".join(f"{v:.6f}" for v in r) + "\n" for r in rows)
    path.write_text(text)
    return path.read_bytes()


KINDS = {"csv": "log.csv", "spaces": "log.txt", "storage": "log.mot", "two clocks": "two.csv"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_cut_off_anywhere_in_its_last_row_loses_that_row_or_nothing(kind, tmp_path):
    """Every cut of the last row: either its numbers stand as written, or the row is left out and
    a note names its line. No column is longer than another, and no number is half of one.
    """
    path = tmp_path / KINDS[kind]
    whole = written(path, kind)
    truth = read_table(path)
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(start, len(whole)):
        path.write_bytes(whole[:end])
        table = read_table(path)
        noted = any("left out" in note and "(line" in note for note in table.notes)
        kept = {len(c) for c in table.columns.values()}
        assert len(kept) == 1
        rows = kept.pop()
        assert rows == (12 if end > start and not noted else 11)
        for label, column in table.columns.items():
            np.testing.assert_allclose(column, truth.columns[label][:rows], rtol=1e-15)


def test_a_whole_last_row_without_a_line_end_is_kept(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(written(path, "csv").rstrip(b"\n"))
    table = read_table(path)
    assert table.rows == 12
    assert not table.notes
    path.write_text("time,count\n0,12\n1,11\n2,9")  # integers may become shorter
    assert read_table(path).rows == 3


def test_a_short_row_in_the_middle_is_named(tmp_path):
    path = tmp_path / "log.csv"
    lines = written(path, "csv").splitlines(keepends=True)
    lines[5] = lines[5][:8] + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(InputError, match=r"line 6 of `.*log.csv` must have 4 values .* got 1"):
        read_table(path)


def hostile(tmp_path: Path) -> dict[str, tuple[Path, bytes | None]]:
    digits = b"9" * 5000
    rows = b"".join(b"%d,%d\n" % (i, i) for i in range(5))
    return {
        "long comment": ("a.csv", b"#" + b"a" * 40_000 + b"\ntime,a\n" + rows),
        "long first line": ("a.csv", b"a" * 40_000 + b"\n1\n2\n"),
        "long label": ("a.csv", b"time," + b"(" * 40_000 + b"\n" + rows),
        "long label of spaces": ("a.csv", b"time,a" + b" " * 40_000 + b"[\n" + rows),
        "long force": ("plates.csv", b"time," + b"force" * 8_000 + b"\n" + rows),
        "integer": ("a.csv", b"time,a\n0," + digits + b"\n1,2\n"),
        "integer and a word": ("a.csv", b"time,a\n0," + digits + b"\n1,word\n"),
        "rows of a header": ("a.mot", b"a\nnRows=" + digits + b"\nendheader\ntime a\n0 1\n1 2\n"),
        "rows in superscript": ("a.mot", "a\nnRows=²\nendheader\ntime a\n0 1\n1 2\n".encode()),
        "pipe.csv": ("pipe.csv", None),
        "pipe.mot": ("pipe.mot", None),
        "pipe.trc": ("pipe.trc", None),
        "pipe.xml": ("pipe.xml", None),
        "pipe.osim": ("pipe.osim", None),
        "pipe.npz": ("pipe.npz", None),
        "pipe.toml": ("pipe.toml", None),
        "zero.csv": ("/dev/zero", None),
        "setup integer": ("setup.toml", b"a = " + digits),
        "setup nesting": ("setup.toml", b"a = " + b"[" * 3000 + b"]" * 3000),
        "model version": (
            "a.osim",
            b'<OpenSimDocument Version="' + digits + b'"><Model/></OpenSimDocument>',
        ),
        "model encoding": ("a.osim", b'<?xml version="1.0" encoding="martian"?><OpenSimDocument/>'),
    }  # fmt: skip


@pytest.mark.parametrize("case", hostile(Path()))
def test_hostile_files_are_read_or_refused_in_one_line_at_once(case, tmp_path):
    name, content = hostile(tmp_path)[case]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    elif name.startswith("pipe"):
        os.mkfifo(path)
    if case == "zero.csv":
        (tmp_path / case).symlink_to("/dev/zero")
        path = tmp_path / case
    begin = time.monotonic()
    refusal = None
    try:
        if path.suffix == ".toml":
            read_fields(path)
        elif path.suffix == ".osim":
            read_osim(path)
        elif "plates" in path.name or path.suffix == ".xml":
            read_plates(path)
        else:
            make_even(read_table(path).by_time())
    except InputError as error:
        refusal = str(error)
    assert refusal is not None or content is not None
    assert "\n" not in (refusal or "")
    assert time.monotonic() - begin < SECONDS


def test_a_model_that_says_it_is_not_in_utf_8_is_refused(tmp_path):
    """MuJoCo reads UTF-8 whatever it says; another encoding of the same bytes is as good."""
    body = "<body name='{}'><freejoint/><geom size='1'/></body>"
    body = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
    path = tmp_path / "a.xml"
    for said, name, fits in (
        ("UTF-8", "ä", True), ("us-ascii", "a", True), ("ISO-8859-1", "a", True),
        ("ISO-8859-1", "ä", False), ("UTF-16", "a", False), ("martian", "a", False),
    ):  # fmt: skip
        text = f'<?xml version="1.0" encoding="{said}"?>\n' + body.format(name)
        path.write_text(text, encoding="utf-8")
        if fits:
            assert parse_model(path)[0].bodies[1].name == name
            continue
        with pytest.raises(InputError, match=f"`encoding` of `a` must be UTF-8.*{said}"):
            parse_model(path)


def test_an_integer_beyond_all_numbers_is_not_finite(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t,a\n0," + "9" * 5000 + "\n1,2\n")
    with pytest.raises(InputError, match=r"column `a` must be finite, got inf in row 1"):
        read_table(path).plain(["t", "a"])


def test_labels_that_occur_twice_are_refused_when_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t,a,a\n0,1,2\n1,2,3\n")
    table = read_table(path)
    np.testing.assert_array_equal(table.column("t"), [0, 1])
    with pytest.raises(InputError, match="column 'a' occurs twice"):
        table.column("a")
    path.write_text("time,a,a [mm]\n0,1,2\n1,2,3\n")
    with pytest.raises(InputError, match="column 'a' occurs twice"):
        read_table(path).by_time()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# t, x\n0, 1\n1, 2\n", {"t": [0, 1], "x": [1, 2]}),  # NumPy's savetxt
        ("% t\tx\n0\t1\n1\t2\n", {"t": [0, 1], "x": [1, 2]}),  # MATLAB
        ("# made by hand\nt;x\n0;1;\n1;2;\n", {"t": [0, 1], "x": [1, 2]}),  # a last separator
        ('"t, s";"x"\n0;1\n1;NA\n', {"t, s": [0, 1], "x": [1, np.nan]}),
        ("t,on\n0,True\n1,false\n", {"t": [0, 1], "on": [1, 0]}),
    ],
)
def test_dialects_of_csv(text, expected, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(text)
    table = read_table(path)
    assert list(table.columns) == list(expected)
    for label, values in expected.items():
        np.testing.assert_array_equal(table.column(label), values)


@pytest.mark.parametrize(
    ("label", "size"),
    [
        ("x [mm]", 1e-3),
        ("x (MM)", 1e-3),
        ("x [µm]", 1e-6),
        ("x [deg]", np.pi / 180),
        ("x [°]", np.pi / 180),
        ("x [mN]", 1e-3),
        ("x [N·m]", 1.0),
        ("x [N mm]", 1e-3),
        ("x [KN]", 1e3),
    ],
)
def test_one_parser_of_units(label, size):
    table = Table(Path("a.csv"), {"time": np.arange(2.0), label: np.ones(2)}).by_time()
    np.testing.assert_allclose(table.column("x"), size, rtol=1e-15)


def test_a_mega_newton_is_not_a_milli_newton():
    table = Table(Path("a.csv"), {"time": np.arange(2.0), "x [MN]": np.ones(2)}).by_time()
    assert table.names == ("x [MN]",)
