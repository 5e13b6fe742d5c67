"""Logs of every format read alike; bad ones are named, with the row, and nothing is written."""

import re
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml
from rigs import NOISE, star_setup

from stiction._base.errors import InputError
from stiction.identify import read_recording, setup_text, virtual_test, write_log
from stiction.identify.bench.testbed import log_columns
from stiction.tables import Table, Units, read_table


@pytest.fixture(scope="module")
def setup():
    return star_setup(
        {"bottom": "steel"},
        noise=NOISE,
        bed={"motion_rate": 100.0, "wrench_rate": 130.0},
        units={"length": "mm", "time": "ms", "moment": "N*mm", "force": "N"},
        wrench__acts_on="fixed",
        wrench__rotation=[0.0, 0.0, 0.5],
        pose__body_position=[0.01, 0.0, 0.02],
        pose__body_rotation=[0.1, 0.0, 0.2],
    )


@pytest.fixture(scope="module")
def recording(setup):
    return virtual_test(setup).recording


def same(a, b, tolerance=1e-12):
    for field in ("pose_time", "position", "rotation", "wrench_time", "wrench"):
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), atol=tolerance)


def test_csv_comes_back(setup, recording, tmp_path):
    """Units, frames, the sensor's axes and side, two clocks: all undone on reading."""
    write_log(recording, setup, tmp_path / "log.csv")
    same(read_recording(tmp_path / "log.csv", setup), recording)


@pytest.mark.parametrize("separator", [";", "\t", " "])
def test_other_separators(setup, recording, tmp_path, separator):
    frame = pd.DataFrame({k: pd.Series(v) for k, v in log_columns(recording, setup).items()})
    short = frame.dropna() if separator == " " else frame
    short.to_csv(tmp_path / "log.txt", sep=separator, index=False, float_format="%.17g")
    again = read_recording(tmp_path / "log.txt", setup)
    np.testing.assert_allclose(again.position, recording.position[: len(again.position)], atol=1e-9)


def test_netcdf_comes_back(setup, recording, tmp_path):
    columns = log_columns(recording, setup)
    poses = len(recording.pose_time)
    data = {n: ("pose" if len(v) == poses else "wrench", v) for n, v in columns.items()}
    xr.Dataset(data).to_netcdf(tmp_path / "log.nc", engine="h5netcdf")
    same(read_recording(tmp_path / "log.nc", setup), recording)


def test_numpy_archive_comes_back(setup, recording, tmp_path):
    np.savez(tmp_path / "log.npz", **log_columns(recording, setup))
    same(read_recording(tmp_path / "log.npz", setup), recording)


def test_matlab_comes_back(setup, recording, tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "log.mat", log_columns(recording, setup))
    same(read_recording(tmp_path / "log.mat", setup), recording)


def test_parquet_comes_back(setup, recording, tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet logs need pyarrow")
    frame = pd.DataFrame({k: pd.Series(v) for k, v in log_columns(recording, setup).items()})
    frame.to_parquet(tmp_path / "log.parquet")
    same(read_recording(tmp_path / "log.parquet", setup), recording)


def test_parquet_without_pyarrow_says_what_to_install(setup, tmp_path, monkeypatch):
    def refuse(path):
        raise ImportError

    monkeypatch.setattr(pd, "read_parquet", refuse)
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"pip install 'stiction\[logs\]'"):
        read_table(tmp_path / "log.parquet", Units())


def test_two_files_in_a_directory(setup, recording, tmp_path):
    """Motion and wrench logged by two programs, whose time columns share a name."""
    two = setup.model_copy(
        update={
            "pose": setup.pose.model_copy(update={"file": "motion.csv"}),
            "wrench": setup.wrench.model_copy(update={"file": "wrench.csv", "time": "t"}),
        }
    )
    columns = log_columns(recording, setup)
    n = len(recording.pose_time)
    motion = {k: v for k, v in columns.items() if len(v) == n}
    wrench = {("t" if k == "tw" else k): v for k, v in columns.items() if len(v) != n}
    pd.DataFrame(motion).to_csv(tmp_path / "motion.csv", index=False, float_format="%.17g")
    pd.DataFrame(wrench).to_csv(tmp_path / "wrench.csv", index=False, float_format="%.17g")
    same(read_recording(tmp_path, two), recording)
    with pytest.raises(InputError, match=r"must be a directory that holds 'motion.csv'"):
        read_recording(tmp_path / "motion.csv", two)


def test_ros_bag_comes_back(tmp_path):
    rosbag = pytest.importorskip("rosbags.rosbag2", reason="ROS bags need rosbags")
    from rosbags.typesys import Stores, get_typestore

    setup = star_setup(
        {"bottom": "steel"},
        pose={
            "time": "/pose.stamp",
            "position": [f"/pose.pose.position.{a}" for a in "xyz"],
            "quaternion": [f"/pose.pose.orientation.{a}" for a in "wxyz"],
        },
        wrench={
            "time": "/ft.stamp",
            "force": [f"/ft.wrench.force.{a}" for a in "xyz"],
            "moment": [f"/ft.wrench.torque.{a}" for a in "xyz"],
        },
        bed={"motion_rate": 50.0, "wrench_rate": 80.0},
    )
    recording = virtual_test(setup).recording
    columns = log_columns(recording, setup)
    store = get_typestore(Stores.ROS2_HUMBLE)
    T = store.types

    def stamped(t):
        nanoseconds = round(t * 1e9)
        time = T["builtin_interfaces/msg/Time"](nanoseconds // 10**9, nanoseconds % 10**9)
        return T["std_msgs/msg/Header"](time, "world"), nanoseconds

    with rosbag.Writer(tmp_path / "bag", version=8) as writer:
        pose = writer.add_connection("/pose", "geometry_msgs/msg/PoseStamped", typestore=store)
        ft = writer.add_connection("/ft", "geometry_msgs/msg/WrenchStamped", typestore=store)
        for i, t in enumerate(recording.pose_time):
            header, ns = stamped(t)
            at = {n: float(columns[n][i]) for n in setup.pose.position + setup.pose.quaternion}
            point = T["geometry_msgs/msg/Point"](*(at[n] for n in setup.pose.position))
            w, x, y, z = (at[n] for n in setup.pose.quaternion)
            turn = T["geometry_msgs/msg/Quaternion"](x, y, z, w)
            message = T["geometry_msgs/msg/PoseStamped"](
                header, T["geometry_msgs/msg/Pose"](point, turn)
            )
            writer.write(pose, ns, store.serialize_cdr(message, pose.msgtype))
        for i, t in enumerate(recording.wrench_time):
            header, ns = stamped(t)
            vectors = [
                T["geometry_msgs/msg/Vector3"](*(float(columns[n][i]) for n in names))
                for names in (setup.wrench.force, setup.wrench.moment)
            ]
            message = T["geometry_msgs/msg/WrenchStamped"](
                header, T["geometry_msgs/msg/Wrench"](*vectors)
            )
            writer.write(ft, ns, store.serialize_cdr(message, ft.msgtype))
    same(read_recording(tmp_path / "bag", setup), recording, tolerance=1e-9)


@pytest.mark.parametrize(
    ("orientation", "columns"),
    [
        ({"rotation_vector": ["rx", "ry", "rz"]}, ("rx", "ry", "rz")),
        ({"euler": ["a", "b", "c"], "euler_axes": "ZYX"}, ("a", "b", "c")),
        ({"quaternion": ["x1", "x2", "x3", "w"], "quaternion_order": "xyzw"}, ("x1", "w")),
    ],
    ids=["rotation vector", "Euler angles", "xyzw"],
)
def test_orientations_in_other_words(orientation, columns, tmp_path):
    setup = star_setup(
        {"bottom": "steel"},
        units={"angle": "deg"},
        pose={"time": "t", "position": ["x", "y", "z"], **orientation},
    )
    recording = virtual_test(setup).recording
    assert set(columns) <= set(log_columns(recording, setup))
    write_log(recording, setup, tmp_path / "log.csv")
    same(read_recording(tmp_path / "log.csv", setup), recording)


@pytest.mark.parametrize("rates", [(100.0, 130.0), (100.0, 100.0)], ids=["two clocks", "one"])
def test_a_log_cut_off_in_its_last_row_is_read_without_it(rates, tmp_path):
    """A logger was killed: at every cut of the last row all columns end together, and a warning
    names the line that was left out; what is kept is what was logged.
    """
    motion, wrench = rates
    setup = star_setup(
        {"bottom": "steel"}, noise=NOISE, bed={"motion_rate": motion, "wrench_rate": wrench}
    )
    recording = virtual_test(setup).recording
    write_log(recording, setup, path := tmp_path / "log.csv")
    lines = path.read_bytes().splitlines(keepends=True)[:30]  # enough, and quick to read
    head, last = b"".join(lines[:-1]), lines[-1]
    for end in range(1, len(last), 4):  # the reader itself is tried at every one
        path.write_bytes(head + last[:end])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = read_recording(path, setup)
        rows = 29 - len(told)
        assert rows >= 28
        assert all("log.csv' (line 30)" in str(w.message) for w in told)
        for time, *values in (
            (found.pose_time, found.position, found.rotation),
            (found.wrench_time, found.wrench),
        ):
            assert {len(time), *map(len, values)} == {rows}
        np.testing.assert_allclose(found.wrench, recording.wrench[:rows], atol=1e-9)
        np.testing.assert_allclose(found.position, recording.position[:rows], atol=1e-9)


def test_columns_that_end_before_their_clock_are_refused(setup, recording, tmp_path):
    """A sensor that stopped: its last cells are empty, those of the clock are not."""
    columns = log_columns(recording, setup)
    for name in setup.pose.quaternion:
        columns[name] = columns[name][:-3]
    frame = pd.DataFrame({k: pd.Series(v) for k, v in columns.items()})
    frame.to_csv(tmp_path / "log.csv", index=False, float_format="%.17g")
    with pytest.raises(InputError, match=r"columns of `pose` must end together"):
        read_recording(tmp_path / "log.csv", setup)


def test_units_in_headers_must_agree():
    table = Table(Path("log.csv"), {"x [mm]": np.arange(3.0)}, Units())
    with pytest.raises(InputError, match=r"`x \[mm\]`.*says mm.*units.length = 'm'"):
        table.vectors(["x [mm]"], "length")
    right = Table(Path("log.csv"), {"x [mm]": np.arange(3.0)}, Units(length="mm"))
    np.testing.assert_allclose(right.vectors(["x [mm]"], "length")[:, 0], [0, 1e-3, 2e-3])


# ---- bad logs, through the command line ----------------------------------------------------------

ROWS = 300


def spoil_missing(frame):
    return frame.drop(columns="fz"), r"no column in 'log.csv' 'fz'"


def spoil_nan(frame):
    frame.loc[41, "y"] = np.nan
    return frame, r"column `y` must be finite, got nan in row 42 of 'log.csv' \(line 43\)"


def spoil_word(frame):
    frame["y"] = frame["y"].astype(object)
    frame.loc[41, "y"] = "oops"
    return frame, r"column `y` must hold numbers, got 'oops' in row 42"


def spoil_infinity(frame):
    frame.loc[7, "mx"] = np.inf
    return frame, r"column `mx` must be finite, got inf in row 8"


def spoil_length(frame):
    frame[["x", "y", "z"]] *= 1000  # millimetres where the setup says metres
    return frame, r"units.length \(now 'm'\)"


def spoil_time_unit(frame):
    frame[["t", "tw"]] *= 1000
    return frame, r"`pose.time` of 'log' must step by .* set units.time"


def spoil_angle(frame):
    frame[["qw", "qx", "qy", "qz"]] *= 57.3
    return frame, r"`pose.quaternion` must have length 1, got 57.3 in row 1"


def spoil_no_contact(frame):
    frame["z"] += 0.5
    return frame, r"no contact at all in 'log'.* in row \d+, 0\.\d+ m away"


def spoil_saturation(frame):
    limit = 0.8 * frame["fz"].abs().max()
    frame["fz"] = frame["fz"].clip(-limit, limit)
    return frame, r"force z in 'log' is stuck at its extreme .* from row \d+ on"


def spoil_still(frame):
    for n in ("x", "y", "z", "qw", "qx", "qy", "qz"):
        frame[n] = frame[n].iloc[0]
    return frame, r"the pose in 'log' never changes \(rows 1 to \d+\)"


def spoil_backwards(frame):
    frame.loc[[60, 61], "t"] = frame.loc[[61, 60], "t"].to_numpy()
    return frame, r"column `t` must rise, but time goes backwards from .* at row 62"


def spoil_repeated(frame):
    frame.loc[61, "t"] = frame.loc[60, "t"]
    return frame, r"column `t` must rise, but time repeats .* at row 62"


def spoil_clocks(frame):
    frame["tw"] += 1000.0
    return frame, r"`pose.time` and `wrench.time` of 'log' must overlap"


def spoil_short(frame):
    return frame.iloc[:1], r"must have at least 2 rows, got 1"


SPOILS = {n.removeprefix("spoil_"): f for n, f in globals().items() if n.startswith("spoil_")}


@pytest.fixture(scope="module")
def good_log():
    """A setup as text and a log that works with it."""
    setup = star_setup(
        {"bottom": "steel"}, noise=NOISE, bed={"motion_rate": 200.0, "wrench_rate": 200.0}
    )
    recording = virtual_test(setup).recording
    return setup, pd.DataFrame(log_columns(recording, setup))


@pytest.mark.parametrize("fault", SPOILS)
def test_bad_logs_are_named_with_the_row_and_nothing_is_written(fault, good_log, cli, tmp_path):
    setup, frame = good_log
    bad, message = SPOILS[fault](frame.copy())
    bad.to_csv("log.csv", index=False, float_format="%.17g")
    Path("setup.yaml").write_text(yaml.safe_dump(setup.model_dump(exclude_none=True)))
    done = cli("identify", "log.csv", "--setup", "setup.yaml", "--out", "res")
    assert done.status == 2
    assert done.out == ""
    assert len(done.err.strip().splitlines()) == 1
    assert re.search(message, done.err), done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.csv", "setup.yaml"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("[pose]\ntime = 1", "`pose.time` must be a valid string, got 1"),
        ("nonsense = 3", "no field `nonsense`"),
        ("", "`pose` is required but absent"),
        ("kind = 'magic'", "no kind of setup 'magic'"),
    ],
)
def test_bad_setups_are_named(change, message, cli, tmp_path):
    text = setup_text("single-point")
    if "pose" in change:
        text = text.replace('[pose]\ntime = "t"', change)
    elif change.startswith("kind"):
        text = text.replace('kind = "contact"', change)
    elif change:
        text = change + "\n" + text
    else:
        text = text.replace("[pose]", "[posed]")
    (tmp_path / "s.toml").write_text(text)
    (tmp_path / "log.csv").write_text("a\n1\n")
    done = cli("identify", "log.csv", "--setup", "s.toml")
    assert done.status == 2
    assert message in done.err


def test_every_built_in_setup_is_sound():
    from stiction.identify import read_setup, setup_names

    for name in setup_names():
        setup, _ = read_setup(name)
        assert setup.title
        tomllib.loads(setup_text(name))
