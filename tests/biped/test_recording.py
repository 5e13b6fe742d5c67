"""Files of motion: what they say is understood, what is wrong is mended or refused by name."""

import numpy as np
import pytest
from helpers_biped import EVERY_JOINT, person
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.biped import read_osim
from stiction.biped.subject.coordinates import coordinates_of
from stiction.biped.subject.markers import read_markers
from stiction.tables import Table, make_even, read_table

HEADER = "Coordinates\nversion=1\nnRows={rows}\nnColumns=3\ninDegrees={degrees}\nendheader\n"


def storage(path, rows, degrees="yes", labels="time\ta\tb"):
    text = HEADER.format(rows=len(rows), degrees=degrees)
    path.write_text(text + labels + "\n" + "\n".join("\t".join(map(str, r)) for r in rows) + "\n")
    return path


def test_storage_files_say_their_unit(tmp_path):
    rows = [(0.0, 1.0, 2.0), (0.1, 3.0, 4.0)]
    table = read_table(storage(tmp_path / "a.mot", rows)).by_time()
    assert table.degrees is True
    assert table.names == ("a", "b")
    assert_allclose(table.time, [0, 0.1])
    assert_allclose(table.column("b"), [2, 4])
    assert read_table(storage(tmp_path / "b.sto", rows, degrees="no")).degrees is False


def test_older_headers_are_understood(tmp_path):
    path = tmp_path / "old.mot"
    path.write_text(
        "name old.mot\ndatacolumns 2\ndatarows 2\nrange 0 1\nAngles are in degrees.\nendheader\n\n"
        "   time \t a\n 0\t1\n 1\t2\n"
    )
    table = read_table(path).by_time()
    assert table.degrees is True
    assert table.names == ("a",)


def test_a_wrong_row_count_is_noted(tmp_path):
    path = storage(tmp_path / "a.mot", [(0, 1, 2), (1, 2, 3)])
    path.write_text(path.read_text().replace("nRows=2", "nRows=9"))
    assert "says 9 rows, there are 2" in read_table(path).by_time().notes[0]


def test_csv_labels_carry_units(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("# a comment\nTime [ms],knee (deg),x [mm],plain\n0,90,1500,7\n10,180,500,8\n")
    table = read_table(path).by_time()
    assert_allclose(table.time, [0, 0.01])
    assert_allclose(table.column("knee"), [np.pi / 2, np.pi])
    assert_allclose(table.column("x"), [1.5, 0.5])
    assert_allclose(table.column("plain"), [7, 8])
    assert table.degrees is False


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_separators(tmp_path, separator):
    path = tmp_path / "a.csv"
    path.write_text(f"time{separator}a\n0{separator}1\n1{separator}\n2{separator}3\n")
    column = read_table(path).by_time().column("a")
    assert np.isnan(column[1])
    assert_allclose(column[[0, 2]], [1, 3])


BROKEN = {
    "absent.mot": None,
    "no-header.mot": "time a\n0 1\n",
    "no-labels.mot": "x\nendheader\n",
    "no-time.csv": "a,b\n1,2\n",
    "no-labels.csv": "0,1\n1,2\n",
    "empty.csv": "",
    "ragged.csv": "time,a,b\n0,1,2\n1,2\n",
    "twice.csv": "time,a,a\n0,1,2\n1,2,3\n",
    "binary.mot": b"\xff\xfe\x00\x80",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_in_one_line(name, tmp_path):
    path, content = tmp_path / name, BROKEN[name]
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as error:
        read_table(path).by_time()
    assert "\n" not in str(error.value)
    assert name in str(error.value)


def table(time, *columns, names="abc", degrees=None):
    values = np.stack(columns, axis=1).astype(float)
    return Table.recording(
        "t.mot", np.asarray(time, float), tuple(names[: len(columns)]), values, degrees=degrees
    )


def test_even_recordings_stay_as_they_are():
    t = np.arange(20) / 60
    even = make_even(table(np.round(t, 5), np.sin(t)))  # stamps rounded to five digits
    assert not even.notes
    assert_allclose(even.values[:, 0], np.sin(t), atol=0)
    assert_allclose(np.diff(even.time), even.time[1] - even.time[0], rtol=1e-9)


def test_repeated_stamps_are_averaged_and_noted():
    t = np.array([0.0, 0.1, 0.1, 0.2, 0.3])
    even = make_even(table(t, [0.0, 1.0, 3.0, 4.0, 5.0]), max_gap=1.0)
    assert "1 repeated time stamps" in even.notes[0]
    assert "0.1 s" in even.notes[0]
    assert_allclose(even.values[:, 0], [0, 2, 4, 5])


def test_uneven_stamps_are_resampled():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 2, 400))
    t[[0, -1]] = 0, 2
    even = make_even(table(t, np.sin(3 * t)))
    assert "uneven" in even.notes[-1]
    assert np.ptp(np.diff(even.time)) < 1e-12
    assert_allclose(even.values[:, 0], np.sin(3 * even.time), atol=1e-3)


def test_short_gaps_are_bridged_and_long_ones_refused():
    t = np.arange(200) / 100
    wave = np.sin(4 * t)
    short, long = wave.copy(), wave.copy()
    short[50:55], long[50:80] = np.nan, np.nan
    even = make_even(table(t, short))
    assert "5 missing values in 'a'" in even.notes[0]
    assert_allclose(even.values[:, 0], wave, atol=1e-4)
    with pytest.raises(InputError, match=r"column 'a' of `t.mot` has no values for 0.31 s from"):
        make_even(table(t, long))
    with pytest.raises(InputError, match=r"gap of 0.51 s at 0.49 s"):
        make_even(table(np.concatenate([t[:50], t[100:]]), np.concatenate([wave[:50], wave[100:]])))


def test_ends_without_values_are_left_out():
    t = np.arange(100) / 100
    late = t.copy()
    late[:10] = np.nan
    even = make_even(table(t, t, late))
    assert_allclose(even.time[0], 0.1)
    assert "from 0.1 s" in even.notes[0]


@pytest.mark.parametrize(
    ("time", "values", "message"),
    [
        ([0, 1, 0.5], [1, 2, 3], "must not go back"),
        ([0, np.nan, 1], [1, 2, 3], "row 2"),
        ([0, 0, 0], [1, 2, 3], "all time stamps"),
        ([0], [1], "at least two rows"),
        ([0, 1, 2], [np.nan] * 3, "column 'a' of `t.mot` has no values"),
    ],
)
def test_impossible_times_are_refused(time, values, message):
    with pytest.raises(InputError, match=message):
        make_even(table(time, values))


def columns_of(subject, n=20, **changes):
    names = [c.name for c in subject.coordinates]
    values = np.tile(subject.defaults, (n, 1))
    for name, column in changes.items():
        values[:, names.index(name)] = column
    return names, values


def motion(subject, degrees, drop=(), rename=None, **changes):
    names, values = columns_of(subject, **changes)
    kept = [i for i, n in enumerate(names) if n not in drop]
    labels = tuple((rename or {}).get(names[i], names[i]) for i in kept)
    return Table.recording(
        "m.mot", np.arange(len(values)) / 60, labels, values[:, kept], degrees=degrees
    )


SUBJECT = read_osim(EVERY_JOINT)
INDEX = {c.name: i for i, c in enumerate(SUBJECT.coordinates)}


def test_degrees_become_radians_and_lengths_stay():
    q, _ = coordinates_of(motion(SUBJECT, True, hinge=90.0, tx=1.5), SUBJECT)
    assert_allclose(q[:, INDEX["hinge"]], np.pi / 2)
    assert_allclose(q[:, INDEX["tx"]], 1.5)
    q, _ = coordinates_of(motion(SUBJECT, False, hinge=1.2), SUBJECT)
    assert_allclose(q[:, INDEX["hinge"]], 1.2)


def test_paths_of_opensim_are_understood():
    paths = {n: f"/jointset/some_joint/{n}/value" for n in INDEX}
    recording = motion(SUBJECT, False, rename=paths, hinge=0.7)
    speed = Table.recording(
        "m.mot",
        recording.time,
        (*recording.names, "/jointset/some_joint/hinge/speed"),
        np.concatenate([recording.values, np.full((20, 1), 9.0)], axis=1),
        degrees=False,
    )
    q, notes = coordinates_of(speed, SUBJECT)
    assert_allclose(q[:, INDEX["hinge"]], 0.7)
    assert not any("speed" in n for n in notes)


def test_angles_that_cannot_be_radians_are_refused():
    with pytest.raises(InputError, match=r"`hinge` reaches 60 .*says radians.*--angles degrees"):
        coordinates_of(motion(SUBJECT, False, hinge=60.0), SUBJECT)
    q, _ = coordinates_of(motion(SUBJECT, False, hinge=60.0), SUBJECT, angles="degrees")
    assert_allclose(q[:, INDEX["hinge"]], np.pi / 3)


@pytest.mark.parametrize("way", [1.0, 0.05])
def test_a_walk_with_stiff_joints_is_refused_as_mislabelled(way):
    """Radians under a header that says degrees: on a floor, or bobbing by 5 cm on a treadmill."""
    swing = 0.6 + 0.6 * np.sin(np.arange(20))
    walk = motion(SUBJECT, True, hinge=swing, tx=np.linspace(0, way, 20))
    with pytest.raises(InputError, match=r"while the body moves by .*--angles radians"):
        coordinates_of(walk, SUBJECT)
    q, _ = coordinates_of(walk, SUBJECT, angles="radians")
    assert_allclose(q[:, INDEX["hinge"]], swing)


def test_swaying_by_degrees_is_no_mistake():
    """An ankle that turns by 2° carries a body of one metre by 3.5 cm."""
    sway = 1 + np.sin(np.arange(20))
    q, _ = coordinates_of(motion(SUBJECT, True, hinge=sway, tx=np.radians(sway)), SUBJECT)
    assert_allclose(q[:, INDEX["hinge"]], np.radians(sway))


@pytest.mark.parametrize(("value", "unit"), [(50.0, "degrees"), (0.9, "radians")])
def test_a_unit_that_is_not_said_is_guessed_and_noted(value, unit):
    q, notes = coordinates_of(motion(SUBJECT, None, hinge=value), SUBJECT)
    expected = np.radians(value) if unit == "degrees" else value
    assert_allclose(q[:, INDEX["hinge"]], expected)
    assert any(f"taken as {unit}" in n for n in notes)


def test_missing_columns_are_named():
    q, notes = coordinates_of(motion(SUBJECT, False, drop=("hinge",)), SUBJECT)
    assert_allclose(q[:, INDEX["hinge"]], SUBJECT.defaults[INDEX["hinge"]])
    assert any("no column in 'm.mot' for 'hinge' at 0.1" in n for n in notes)
    with pytest.raises(InputError, match=r"floating base, but 'ty' is missing; is it 't_y'\?"):
        coordinates_of(motion(SUBJECT, False, rename={"ty": "t_y"}), SUBJECT)
    with pytest.raises(InputError, match=r"no column of `m.mot` is a coordinate"):
        coordinates_of(motion(SUBJECT, False, rename={n: f"{n}_old" for n in INDEX}), SUBJECT)


def test_columns_that_the_model_gives_itself_are_not_used():
    _, notes = coordinates_of(motion(SUBJECT, False, follower=56.0), SUBJECT)
    assert any("'follower' follows 'knee'" in n for n in notes)


def test_a_wrong_sign_is_suspected():
    subject = person()
    recording = motion(subject, False, left_knee_flexion=-0.8)
    _, notes = coordinates_of(recording, subject)
    assert any("'left_knee_flexion' is mostly outside" in n and "sign" in n for n in notes)


def test_roll_pitch_and_yaw_stand_for_a_quaternion():
    """(1) of rodic: roll about x, then pitch about y, then yaw about z, fixed in space."""
    subject = person()
    names, values = columns_of(subject)
    kept = [i for i, n in enumerate(names) if not n.startswith("base.q")]
    turns = np.tile([10.0, 20.0, 30.0], (20, 1))
    recording = Table.recording(
        "m.csv",
        np.arange(20) / 60,
        (*(names[i] for i in kept), "base.roll", "base.pitch", "base.yaw"),
        np.concatenate([values[:, kept], turns], axis=1),
        degrees=True,
    )
    q, _ = coordinates_of(recording, subject)
    at = names.index("base.qw")
    from scipy.spatial.transform import Rotation

    roll, pitch, yaw = (
        Rotation.from_euler(a, v, degrees=True) for a, v in zip("xyz", turns[0], strict=True)
    )
    expected = (yaw * pitch * roll).as_quat(scalar_first=True)
    assert_allclose(np.abs(q[0, at : at + 4] @ expected), 1, atol=1e-12)


def test_quaternions_that_flip_are_the_same_turn():
    subject = person()
    names, values = columns_of(subject)
    at = names.index("base.qw")
    values[10:, at : at + 4] *= -1
    q, _ = coordinates_of(
        Table.recording("m", np.arange(20) / 60, tuple(names), values, degrees=False), subject
    )
    assert_allclose(np.diff(q[:, at : at + 4], axis=0), 0, atol=0)


TRC = (
    "PathFileType\t4\t(X/Y/Z)\ta.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\n"
    "100\t100\t2\t2\tmm\t100\n"
    "Frame#\tTime\tHeel\t\t\tToe\t\t\n"
    "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
    "1\t0.00\t1000\t2000\t3000\t4000\t5000\t6000\n"
    "2\t0.01\t1001\t2001\t3001\t\t\t\n"
)


def test_trc_files_give_metres_and_gaps(tmp_path):
    path = tmp_path / "a.trc"
    path.write_text(TRC)
    markers = read_markers(path)
    assert markers.names == ("Heel", "Toe")
    assert_allclose(markers.position[0], [[1, 2, 3], [4, 5, 6]])
    assert np.isnan(markers.position[1, 1]).all()
    path.write_text(TRC.replace("\tmm\t", "\tinch\t"))
    with pytest.raises(InputError, match="mm, cm or m, got 'inch'"):
        read_markers(path)
    path.write_text("nothing")
    with pytest.raises(InputError, match="five header lines"):
        read_markers(path)
