"""Coordinates from markers, and OpenSim's motion on the 38-DOF human."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_biped import EVERY_JOINT, person
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.biped import axes_of_markers, fit_markers, read_markers, read_osim
from stiction.biped.axes import axes_matrix
from stiction.biped.subject.coordinates import coordinates_of
from stiction.biped.subject.markers import Markers, coordinates_from_markers
from stiction.biped.subject.retarget import TRUNK_LEAN
from stiction.biped.subject.subject import Points, Subject
from stiction.cli import trial
from stiction.tables import Table


@pytest.fixture(scope="module")
def marked():
    """The model of every joint with four markers on each body, and a motion seen through them."""
    subject = read_osim(EVERY_JOINT)
    rng = np.random.default_rng(0)
    bodies = np.repeat(np.arange(1, len(subject.body_names)), 4)
    position = 0.2 * rng.standard_normal((len(bodies), 3))
    names = tuple(f"m{i}" for i in range(len(bodies)))
    points = Points(names, bodies, position, np.zeros(len(bodies)))
    subject = replace(subject, markers=points)
    time = np.arange(25) / 50
    q = subject.defaults + 0.3 * np.sin(
        time[:, None] * rng.uniform(1, 3, len(subject.coordinates))
        + rng.uniform(0, 6, len(subject.coordinates))
    )
    names_of = [c.name for c in subject.coordinates]
    q[:, names_of.index("follower")] = 0.5 * q[:, names_of.index("knee")] + 0.1
    return subject, time, q, _seen(subject, q)


def _seen(subject: Subject, q):
    poses, points = subject.poses(q), subject.markers
    turned = np.einsum("nkij,kj->nki", poses.rotation[:, points.bodies], points.position)
    return poses.position[:, points.bodies] + turned


def test_markers_give_back_the_coordinates(marked):
    subject, time, q, seen = marked
    seen = seen.copy()
    seen[5, 7] = np.nan  # one marker is out of sight for a frame
    table = coordinates_from_markers(Markers("m.trc", time, subject.markers.names, seen), subject)
    free = [i for i, c in enumerate(subject.coordinates) if not c.follows]
    assert table.names == tuple(subject.coordinates[i].name for i in free)
    assert_allclose(table.values, q[:, free], atol=1e-6)
    assert "root mean square error 0.0 mm" in table.notes[0]


def test_markers_in_another_frame_are_refused_with_the_fix(marked):
    subject, time, _, seen = marked
    z_up = seen @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T
    with pytest.raises(InputError, match=r"up along z, the model along y.*--marker-axes x,z,-y"):
        coordinates_from_markers(Markers("m.trc", time, subject.markers.names, z_up), subject)


def test_files_with_another_axis_up_are_turned_by_the_commands(marked, tmp_path):
    """Most laboratories have z up, OpenSim's models y: the axes found give the markers back."""
    subject, time, _, seen = marked
    z_up = seen @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T
    n, names = len(time), subject.markers.names
    head = (f"50\t50\t{n}\t{len(names)}\tm\t50\t1\t{n}", "Frame#\tTime\t" + "\t\t\t".join(names))
    axes = "\t\t" + "\t".join(f"{a}{k}" for k in range(1, len(names) + 1) for a in "XYZ")
    rows = [
        "\t".join([str(k + 1), f"{t:.4f}", *(f"{x:.9g}" for x in frame.ravel())])
        for k, (t, frame) in enumerate(zip(time, z_up, strict=True))
    ]
    keys = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigStart\tOrigN"
    path = tmp_path / "m.trc"
    text = ["PathFileType\t4\t(X/Y/Z)\tm.trc", keys, head[0], head[1], axes, "", *rows]
    path.write_text("\n".join(text) + "\n")
    found = trial.marker_axes_of(path, trial.TrialOptions(motion=path), subject)
    assert found == "x,z,-y"
    assert_allclose(read_markers(path, axes=found).position, seen, atol=1e-8)
    asked = trial.TrialOptions(motion=path, marker_axes="y,z,x")
    assert trial.marker_axes_of(path, asked, subject) == "y,z,x"


def test_what_is_upside_down_is_turned_and_not_mirrored(marked):
    """Frames with z down are right-handed too: half a turn about a level axis gives them back."""
    subject, time, _, seen = marked
    for about in ([1, -1, -1], [-1, -1, 1]):  # half turns about the level axes x and z
        down = Markers("m.c3d", time, subject.markers.names, seen * about)
        axes = axes_matrix(axes_of_markers(down, subject)[2])
        assert np.linalg.det(axes) == 1
        assert_allclose(axes @ np.diag(about) @ subject.up, subject.up)


def test_mirrored_and_unseen_markers_are_refused_as_such(marked):
    """An axis turned round is what left and right swapped would be; who is never seen is absent."""
    subject, time, _, seen = marked
    names = subject.markers.names
    assert axes_of_markers(Markers("m.c3d", time, names, seen), subject) is None
    with pytest.raises(InputError, match="mirror image: left and right are swapped"):
        fit_markers(Markers("m.c3d", time, names, seen * [1, 1, -1]), subject)
    with pytest.raises(InputError, match=r"share at least four.*0 were ever seen"):
        fit_markers(Markers("m.c3d", time, names, np.full_like(seen, np.nan)), subject)


def test_markers_of_someone_else_are_refused(marked):
    subject, time, _, seen = marked
    other = tuple(f"x{i}" for i in range(len(subject.markers)))
    with pytest.raises(InputError, match="share at least four names of markers"):
        coordinates_from_markers(Markers("m.trc", time, other, seen), subject)
    with pytest.raises(InputError, match="has no markers"):
        coordinates_from_markers(Markers("m.trc", time, other, seen), person())


def opensim_motion(degrees=True, **angles) -> Table:
    names = ("pelvis_tilt", "pelvis_list", "pelvis_rotation", "pelvis_tx", "pelvis_ty", "pelvis_tz")
    values = dict.fromkeys(names, 0.0) | {"pelvis_ty": 0.95} | angles
    row = np.array(list(values.values()))
    return Table.recording(
        "walk.mot", np.arange(20) / 60, tuple(values), np.tile(row, (20, 1)), degrees=degrees
    )


def human_pose(table):
    subject = person(1.8, 72.6)
    q, notes = coordinates_of(table, subject)
    assert any("carried over to the human" in n for n in notes)
    return subject, q, subject.poses(q[:1])


def test_opensims_pelvis_carries_the_humans_base():
    """x forward, y up, z right there; x forward, y left, z up here."""
    subject, _, pose = human_pose(
        opensim_motion(pelvis_tx=1.0, pelvis_tz=0.3, pelvis_rotation=30.0)
    )
    pelvis = subject.body("pelvis")
    ahead = pose.rotation[0, pelvis] @ [1, 0, 0]
    # A turn to the left about the vertical, by thirty degrees.
    assert_allclose(ahead, [np.cos(np.pi / 6), np.sin(np.pi / 6), 0], atol=1e-12)
    assert abs(pose.position[0, pelvis, 1] + 0.3) < 0.06
    assert 0.8 < pose.position[0, pelvis, 2] < 0.95


@pytest.mark.parametrize("sign", [1, -1])
def test_limbs_bend_the_way_they_do_in_opensim(sign):
    """Hip and knee flexion bring the thigh forward and the shank back, old models or new."""
    angles = {"hip_flexion_r": 40.0, "knee_angle_r": sign * 60.0, "ankle_angle_r": 10.0}
    subject, _, pose = human_pose(opensim_motion(**angles))
    at = {
        n: pose.position[0, subject.body(n)] for n in ("right_thigh", "right_shank", "right_foot")
    }
    thigh, shank = at["right_shank"] - at["right_thigh"], at["right_foot"] - at["right_shank"]
    assert_allclose(np.degrees(np.arctan2(thigh[0], -thigh[2])), 40, atol=1e-9)
    assert_allclose(np.degrees(np.arctan2(shank[0], -shank[2])), -20, atol=1e-9)


def test_the_trunk_is_brought_over_the_hips():
    subject, q, _ = human_pose(opensim_motion(lumbar_extension=-10.0))
    names = [c.name for c in subject.coordinates]
    assert_allclose(q[0, names.index("waist_flexion")], np.radians(10) - TRUNK_LEAN)


def test_a_pelvis_without_height_is_refused():
    table = opensim_motion()
    columns = {name: c for name, c in table.columns.items() if name != "pelvis_ty"}
    table = replace(table, columns=columns)
    with pytest.raises(InputError, match="floating base, but 'pelvis_ty' is missing"):
        coordinates_of(table, person())
