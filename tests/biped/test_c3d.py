"""C3D: files written by ezc3d, every plate type and unit, and bad ones.

The truth is a force at a known place of a known plate; `channels_of` makes of it what the sensors
of each type would have read, by statics. ezc3d's own reading is the second witness.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.biped import read_markers, read_plates
from stiction.tables import has_plates, read_c3d_events

ezc3d = pytest.importorskip("ezc3d")

# A plate turned about the vertical, somewhere in the laboratory; z of its axes points down.
MIDDLE = np.array([0.7, -0.2, 0.0])
TURN = np.radians(30)
X = np.array([np.cos(TURN), np.sin(TURN), 0.0])
Z = np.array([0.0, 0.0, -1.0])
Y = np.cross(Z, X)
R = np.stack([X, Y, Z], axis=1)
CORNERS = MIDDLE[:, None] + R @ np.array(
    [[0.2, -0.2, -0.2, 0.2], [0.3, 0.3, -0.3, -0.3], [0.0, 0, 0, 0]]
)
DEPTH = 0.04
A, B = 0.12, 0.2  # distances of a Kistler plate's sensors
CROSSTALK = np.eye(6) + 0.02 * np.arange(36).reshape(6, 6) / 36

# In the laboratory: force of the person's foot on the plate, where, and the free moment.
FORCE = np.array([30.0, -20.0, -700.0])
PLACE = MIDDLE + R @ np.array([0.05, -0.08, 0.0])
FREE = 3.0 * Z


def wrench():
    """Force and moment about the middle of the face, in the plate's axes."""
    f, p, n = R.T @ FORCE, R.T @ (PLACE - MIDDLE), R.T @ FREE
    return f, np.cross(p, f) + n, p, n


def channels_of(kind):
    f, m, p, n = wrench()
    if kind == 1:
        return np.array([*f, p[0], p[1], n[2]])
    r = np.array([0, 0, -DEPTH])  # from the sensors' origin to the face
    about_origin = m + np.cross(r, f)
    if kind == 2:
        return np.array([*f, *about_origin])
    if kind == 4:
        return np.linalg.solve(CROSSTALK, np.array([*f, *about_origin]))
    # Four sensors at (±A, ±B): statics leaves one number open in each direction; spread evenly.
    mx, my, mz = about_origin
    x12, x34 = f[0] / 2 - mz / (4 * B), f[0] / 2 + mz / (4 * B)
    y14, y23 = f[1] / 2 + mz / (4 * A), f[1] / 2 - mz / (4 * A)
    z = f[2] / 4 + mx / (4 * B) * np.array([1, 1, -1, -1]) + my / (4 * A) * np.array([-1, 1, 1, -1])
    return np.array([x12, x34, y14, y23, *z])


def origin_of(kind):
    return [A, B, -DEPTH] if kind == 3 else [0.0, 0.0, -DEPTH]


UNITS = {1: "NNNLLM", 2: "NNNMMM", 3: "NNNNNNNN", 4: "VVVVVV"}


def write(path, kind, length="mm", force="N", moment=None, change=None):
    """A trial with one plate; `change` breaks it."""
    scale = {"mm": 1e3, "cm": 1e2, "m": 1.0}[length]
    moment = moment or f"N{length}"
    sizes = {"N": {"N": 1.0, "kN": 1e-3}[force], "M": {"Nmm": 1e3, "Nm": 1.0}[moment]}
    sizes |= {"L": scale, "V": 1.0}
    words = {"N": force, "M": moment, "L": length, "V": "V"}
    file = ezc3d.c3d()
    parameters = file["parameters"]
    parameters["POINT"]["RATE"]["value"] = [100]
    parameters["POINT"]["LABELS"]["value"] = ["heel", "toe"]
    parameters["POINT"]["UNITS"]["value"] = [length]
    points = np.ones((4, 2, 20))
    points[:3] = scale * np.arange(1, 4)[:, None, None]
    file["data"]["points"] = points
    n = len(UNITS[kind])
    values = channels_of(kind) * [sizes[u] for u in UNITS[kind]]
    matrix = CROSSTALK.copy()
    matrix[3:] *= scale
    parameters["ANALOG"]["RATE"]["value"] = [1000]
    parameters["ANALOG"]["LABELS"]["value"] = [f"c{k}" for k in range(n)]
    parameters["ANALOG"]["UNITS"]["value"] = [words[u] for u in UNITS[kind]]
    file["data"]["analogs"] = np.repeat(values[None, :, None], 200, axis=2)
    plate = parameters["FORCE_PLATFORM"]
    for name, value in (("USED", [1]), ("TYPE", [kind]), ("ZERO", [1, 0])):
        plate[name]["value"] = value
    plate["CHANNEL"]["value"] = np.arange(1, n + 1)[:, None]
    plate["CORNERS"]["value"] = scale * CORNERS[:, :, None]
    plate["ORIGIN"]["value"] = scale * np.array(origin_of(kind))[:, None]
    file.add_parameter("FORCE_PLATFORM", "CAL_MATRIX", matrix[:, :, None])
    if change:
        change(file)
    file.write(str(path))
    return path


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("length", ["mm", "cm", "m"])
def test_every_type_of_plate_gives_force_place_and_free_moment(tmp_path, kind, length):
    moment = "Nmm" if length == "cm" else None  # nobody writes N·cm
    path = write(tmp_path / "t.c3d", kind, length, moment=moment)
    assert has_plates(path)
    (plate,) = read_plates(path).plates
    assert_allclose(plate.force[5], FORCE, rtol=1e-4, atol=1e-2)
    assert_allclose(plate.point[5], PLACE, atol=2e-5)
    assert_allclose(plate.torque[5], FREE, atol=2e-2)


def test_units_of_channels_are_believed(tmp_path):
    """Markers in mm, moments in N·m, forces in kN: what the file says of each channel holds."""
    (plate,) = read_plates(write(tmp_path / "t.c3d", 2, "mm", "kN", "Nm")).plates
    assert_allclose(plate.force[5], FORCE, rtol=1e-4, atol=1e-2)
    assert_allclose(plate.point[5], PLACE, atol=2e-5)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_ezc3d_reads_the_same(tmp_path, kind):
    path = write(tmp_path / "t.c3d", kind)
    theirs = ezc3d.c3d(str(path), extract_forceplat_data=True)["data"]["platform"][0]
    (ours,) = read_plates(path).plates
    assert_allclose(ours.force[5], theirs["force"][:, 5], rtol=1e-6)
    assert_allclose(ours.point[5], 1e-3 * theirs["center_of_pressure"][:, 5], atol=1e-6)


def remove(group, name):
    def change(file):
        del file["parameters"][group][name]

    return change


def put(group, name, value):
    def change(file):
        file["parameters"][group][name]["value"] = value

    return change


MISSING = ("TYPE", "CHANNEL", "CORNERS", "ORIGIN", "CAL_MATRIX")


@pytest.mark.parametrize("name", MISSING)
def test_missing_parameters_are_refused_by_name(tmp_path, name):
    path = write(tmp_path / "t.c3d", 4, change=remove("FORCE_PLATFORM", name))
    with pytest.raises(InputError, match=f"`FORCE_PLATFORM:{name}` is missing"):
        read_plates(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("FORCE_PLATFORM", "TYPE", [6]), "TYPE.*must be 1, 2, 3 or 4, got 6"),
        (put("FORCE_PLATFORM", "CHANNEL", np.arange(2, 8)[:, None]), "CHANNEL.*must name 6"),
        (put("FORCE_PLATFORM", "CORNERS", np.zeros((3, 4, 1))), "lie on one line"),
        (put("FORCE_PLATFORM", "USED", [2]), "must be given for plate 2"),
        (put("FORCE_PLATFORM", "USED", [0]), "no force plates"),
        (put("ANALOG", "UNITS", ["N", "N", "N", "furlong", "Nmm", "Nmm"]), "furlong"),
        (put("POINT", "UNITS", ["furlong"]), "must be in mm, cm or m, got 'furlong'"),
    ],
)
def test_bad_plates_are_refused_by_name(tmp_path, change, message):
    path = write(tmp_path / "t.c3d", 2, change=change)
    with pytest.raises(InputError, match=message):
        read_plates(path)


def test_markers_not_seen_are_missing(tmp_path):
    def hide(file):
        points = file["data"]["points"]
        points[:3, 0, 3] = 0.0
        points[:3, 1, 4] = np.nan

    markers = read_markers(write(tmp_path / "t.c3d", 2, change=hide))
    assert np.isnan(markers.position[3, 0]).all()
    assert np.isnan(markers.position[4, 1]).all()
    assert np.isfinite(markers.position[5]).all()


def test_two_subjects_are_told_apart(tmp_path):
    labels = put("POINT", "LABELS", ["Ann:heel", "Bob:heel"])
    path = write(tmp_path / "t.c3d", 2, change=labels)
    with pytest.raises(InputError, match=r"two subjects.*'Ann', 'Bob'.*--subject"):
        read_markers(path)
    assert read_markers(path, subject="Bob").names == ("heel",)
    with pytest.raises(InputError, match="Carl"):
        read_markers(path, subject="Carl")
    one = put("POINT", "LABELS", ["Ann:heel", "Ann:toe"])
    assert read_markers(write(tmp_path / "u.c3d", 2, change=one)).names == ("heel", "toe")


def test_events_are_read(tmp_path):
    def mark(file):
        file.add_parameter("EVENT", "USED", [2])
        file.add_parameter("EVENT", "CONTEXTS", ["Right", "Left"])
        file.add_parameter("EVENT", "LABELS", ["Foot Strike", "Foot Off"])
        file.add_parameter("EVENT", "TIMES", np.array([[0.0, 1.0], [0.05, 0.12]]))

    events = read_c3d_events(write(tmp_path / "t.c3d", 2, change=mark))
    assert [e[1] for e in events] == ["Right Foot Strike", "Left Foot Off"]
    assert_allclose([e[0] for e in events], [0.05, 60.12], atol=1e-5)


def test_files_that_are_none_are_refused(tmp_path):
    path = tmp_path / "a.c3d"
    path.write_text("not a c3d file")
    for read in (read_markers, read_plates):
        with pytest.raises(InputError, match="readable"):
            read(path)
        with pytest.raises(InputError, match="no file"):
            read(tmp_path / "absent.c3d")
