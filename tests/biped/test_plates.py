"""Force plates: columns by name, frames by what they measure, feet by where they stand."""

import numpy as np
import pytest
from helpers_biped import person, recording
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.biped import ground_reactions, read_plates
from stiction.biped.axes import axes_matrix
from stiction.biped.grf.comparison import compare, m_shape
from stiction.biped.grf.measured import measured_on_frames
from stiction.biped.grf.plates import ForcePlate, ForcePlates, in_axes
from stiction.biped.grf.touch import Ground


def write(path, labels, rows=3, rate=100.0):
    time = np.arange(rows) / rate
    values = np.arange(1, len(labels) + 1) + np.zeros((rows, 1))
    lines = [",".join(["time", *labels])]
    lines += [",".join(f"{v:g}" for v in (t, *row)) for t, row in zip(time, values, strict=True)]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("labels", "n"),
    [
        (["ground_force_v{}", "ground_force_p{}", "ground_torque_{}"], 1),
        (["ground_force_v{}", "l_ground_force_v{}"], 2),
        (["1_ground_force_v{}", "2_ground_force_v{}", "1_ground_torque_{}"], 2),
        (["ground_force_r_v{}", "ground_force_r_p{}", "ground_force_l_v{}"], 2),
        (["ground_force1_v{}", "ground_force2_v{}", "ground_torque1_{}"], 2),
        (["F{}", "M{}", "COP{}"], 1),
        (["F{}1", "F{}2"], 2),
        (["right_F{}", "left_F{}", "right_COP{}"], 2),
    ],
)
def test_plates_are_found_by_their_labels(tmp_path, labels, n):
    names = [label.format(axis) for label in labels for axis in "xyz"]
    plates = read_plates(write(tmp_path / "p.csv", names))
    assert len(plates.plates) == n
    forces = [
        i
        for i, label in enumerate(labels)
        if "F" in label or ("force" in label and "_p" not in label)
    ]
    for plate, start in zip(plates.plates, forces, strict=True):
        assert_allclose(plate.force[0], np.arange(1, 4) + 3 * start)


def test_a_file_without_forces_is_refused(tmp_path):
    with pytest.raises(InputError, match="ground_force_vx"):
        read_plates(write(tmp_path / "p.csv", ["knee", "hip"]))


def external_loads(path, datafile, frame="ground"):
    path.write_text(
        '<OpenSimDocument Version="40000"><ExternalLoads><objects><ExternalForce name="right">'
        "<isDisabled>false</isDisabled><applied_to_body>calcn_r</applied_to_body>"
        f"<force_expressed_in_body>ground</force_expressed_in_body>"
        f"<point_expressed_in_body>{frame}</point_expressed_in_body>"
        "<force_identifier>ground_force_v</force_identifier>"
        "<point_identifier>ground_force_p</point_identifier>"
        f"</ExternalForce></objects><datafile>{datafile}</datafile></ExternalLoads>"
        "</OpenSimDocument>"
    )
    return path


@pytest.mark.parametrize("datafile", ["p.csv", r"C:\trials\ann\p.csv", "../elsewhere/p.csv"])
def test_loads_are_found_beside_their_setup(tmp_path, datafile):
    """Setups come from other machines: a path that is not there is tried beside the XML."""
    names = [f"ground_force_{kind}{axis}" for kind in "vp" for axis in "xyz"]
    write(tmp_path / "p.csv", names)
    (plate,) = read_plates(external_loads(tmp_path / "loads.xml", datafile)).plates
    assert plate.body == "calcn_r"
    assert_allclose(plate.force[0], [1, 2, 3])
    assert_allclose(plate.point[0], [4, 5, 6])


def test_loads_in_the_frame_of_a_foot_are_refused(tmp_path):
    write(tmp_path / "p.csv", [f"ground_force_{kind}{axis}" for kind in "vp" for axis in "xyz"])
    with pytest.raises(InputError, match=r"`point_expressed_in_body` of 'right'.*'calcn_r'"):
        read_plates(external_loads(tmp_path / "loads.xml", "p.csv", "calcn_r"))


def test_axes_are_turned():
    plate = ForcePlate("p", np.array([[1.0, 2.0, 3.0]]), np.array([[4.0, 5.0, 6.0]]))
    turned = in_axes(ForcePlates("p", np.zeros(1), (plate,)), "x,z,-y").plates[0]
    assert_allclose(turned.force, [[1, 3, -2]])
    assert_allclose(turned.point, [[4, 6, -5]])


@pytest.mark.parametrize("axes", ["x,y", "x,y,y", "a,b,c", "", "x,y,z,x"])
def test_impossible_axes_are_refused(axes):
    with pytest.raises(InputError, match="three different letters"):
        axes_matrix(axes)


@pytest.fixture(scope="module")
def swaying():
    """The human leans from one foot to the other; z is up."""
    subject = person()
    time = np.arange(181) / 60
    return ground_reactions(
        recording(
            subject, time, {"base.y": 0.02 * np.sin(2 * time), "base.x": 0.01 * np.sin(time)}
        ),
        subject,
        ground=Ground(level=0.0),
        filter="none",
    )


def as_plates(reactions, rate=600.0, swap=None):
    """What perfect plates would have measured."""
    time = np.arange(reactions.time[0], reactions.time[-1] + 1 / rate, 1 / rate)
    plates = []
    for k, foot in enumerate(reactions.feet):
        columns = [reactions.shares.foot_force[:, k], reactions.shares.pressure[:, k]]
        force, point = (
            np.stack([np.interp(time, reactions.time, c[:, i]) for i in range(3)], axis=1)
            for c in columns
        )
        plates.append(ForcePlate(f"plate {foot}", force, point))
    return ForcePlates("plates.mot", time, tuple(plates))


def test_perfect_plates_agree(swaying):
    measured = measured_on_frames(as_plates(swaying), swaying)
    comparison = compare(swaying, measured)
    assert not measured.notes
    for row in comparison.components:
        assert row["RMSE [% BW]"] < 0.05
    for row in comparison.pressure:
        assert row["forward RMSE [mm]"] < 0.5


def test_plates_know_their_foot_whatever_their_order(swaying):
    plates = as_plates(swaying)
    swapped = ForcePlates(plates.source, plates.time, plates.plates[::-1])
    measured = measured_on_frames(swapped, swaying)
    assert_allclose(measured.feet, measured_on_frames(plates, swaying).feet)


def test_two_plates_under_one_foot_are_one_force(swaying):
    plates = as_plates(swaying)
    halves = [
        ForcePlate(f"{p.name} {i}", p.force / 2, p.point) for p in plates.plates for i in (1, 2)
    ]
    measured = measured_on_frames(ForcePlates("p", plates.time, tuple(halves)), swaying)
    assert_allclose(measured.feet, measured_on_frames(plates, swaying).feet, atol=1e-9)


def test_plates_with_another_up_are_refused_with_the_fix(swaying):
    plates = as_plates(swaying)
    y_up = in_axes(plates, "x,z,-y")
    with pytest.raises(InputError, match=r"pushes along y, but up is z.*--plate-axes x,-z,y"):
        measured_on_frames(y_up, swaying)
    back = measured_on_frames(in_axes(y_up, "x,-z,y"), swaying)
    assert_allclose(back.feet, measured_on_frames(plates, swaying).feet, atol=1e-9)


def test_forces_on_the_plates_are_turned_round(swaying):
    plates = as_plates(swaying)
    down = ForcePlates(
        "p", plates.time, tuple(ForcePlate(p.name, -p.force, p.point) for p in plates.plates)
    )
    measured = measured_on_frames(down, swaying)
    assert any("signs were turned round" in n for n in measured.notes)
    assert_allclose(measured.feet, measured_on_frames(plates, swaying).feet, atol=1e-9)


def test_plates_at_another_place_are_noted(swaying):
    plates = as_plates(swaying)
    moved = tuple(
        ForcePlate(p.name, p.force, p.point + np.array([3.0, 0, 0])) for p in plates.plates
    )
    measured = measured_on_frames(ForcePlates("p", plates.time, moved), swaying)
    assert any("nowhere near the feet" in n for n in measured.notes)
    assert np.isnan(measured.pressure).all()
    assert_allclose(measured.total, measured_on_frames(plates, swaying).total, atol=1e-9)


def test_other_units_masses_and_times_are_noticed(swaying):
    plates = as_plates(swaying)
    scaled = [
        ForcePlates(
            "p", plates.time, tuple(ForcePlate(p.name, s * p.force, p.point) for p in plates.plates)
        )
        for s in (1e-3, 1.3)
    ]
    with pytest.raises(InputError, match="is its unit newton"):
        measured_on_frames(scaled[0], swaying)
    assert any("subject's mass" in n for n in measured_on_frames(scaled[1], swaying).notes)
    late = ForcePlates("p", plates.time + 100, plates.plates)
    with pytest.raises(InputError, match="they must overlap"):
        measured_on_frames(late, swaying)


def test_a_step_beside_the_plates_is_not_compared(swaying):
    plates = as_plates(swaying)
    only_first = ForcePlates("p", plates.time, plates.plates[:1])
    measured = measured_on_frames(only_first, swaying)
    assert measured.known[:, 0].all()
    assert not measured.known[:, 1].any()
    assert any("beside the plates" in n for n in measured.notes)


def test_m_shapes():
    t = np.linspace(0, 0.7, 60)
    m = 600 * np.sin(np.pi * t / 0.7) ** 0.5 + 200 * np.sin(2 * np.pi * t / 0.35 - np.pi / 2)
    shape = m_shape(t, m)
    assert shape is not None
    assert shape["first peak"][0] < shape["valley"][0] < shape["second peak"][0]
    assert shape["valley"][1] < min(shape["first peak"][1], shape["second peak"][1])
    assert m_shape(t, np.sin(np.pi * t / 0.7)) is None
