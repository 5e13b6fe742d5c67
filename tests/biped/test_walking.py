"""Open recordings of walking, against their force plates and against OpenSim.

Nobody knows the true forces of these steps: plates, markers and models each have errors. Bounds
are therefore of two kinds. Where another program was run on the same recording its error is the
bound, with a margin. Elsewhere the bound is what was reached (the tables of docs/grf.md) with a
margin of a fifth to a half: room for another cut-off or another SciPy, none for a lost foot, a
wrong sign or a wrong unit, which cost far more.
"""

import functools
from pathlib import Path

import numpy as np
import pytest
from helpers_biped import WALKS, person, walker
from numpy.testing import assert_allclose

from stiction.biped import (
    compare,
    ground_reactions,
    measured_on_frames,
    read_motion,
    read_plates,
)
from stiction.tables import make_even, read_table

pytestmark = pytest.mark.shared

# Root mean square errors of OpenSim's own body kinematics on walk23, per cent of body weight.
OPENSIM = {"forward": 2.4, "vertical": 3.5, "lateral": 1.8}


@functools.cache
def walked(folder: Path, name: str, plates: str = "plates", **options):
    files, subject = WALKS[name], walker(folder, name)
    reactions = ground_reactions(read_motion(folder / files["motion"], subject), subject, **options)
    measured = measured_on_frames(read_plates(folder / files[plates]), reactions)
    return reactions, measured, compare(reactions, measured)


def errors(comparison, of, key="RMSE [% BW]"):
    return {r["direction"]: r[key] for r in comparison.components if r["of"] == of}


def test_walk23_total_force_is_near_what_opensim_reaches(shared_data):
    """The honest recording: kinematics that never saw a force. 2.5, 3.7 and 1.8 were reached."""
    _, _, comparison = walked(shared_data, "walk23")
    for direction, error in errors(comparison, "total").items():
        assert error < OPENSIM[direction] + 0.4, (direction, error)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        # Kinematics adjusted to the forces: near by construction, 1.25, 0.95 and 0.62 were reached.
        ("rajagopal", {"forward": 1.5, "vertical": 1.2, "lateral": 0.8}),
        # A planar model knows no lateral force. 0.68 and 1.24 were reached.
        ("walk10", {"forward": 1.0, "vertical": 1.5}),
    ],
)
def test_other_walks_total_force(shared_data, name, limits):
    _, _, comparison = walked(shared_data, name)
    found = errors(comparison, "total")
    assert set(found) == set(limits)
    for direction, limit in limits.items():
        assert found[direction] < limit, (direction, found)


@pytest.mark.parametrize("name", WALKS)
def test_each_foots_vertical_force(shared_data, name):
    """In single support within 8 % of body weight; correlated in all frames.

    3.7 % was reached; the 38-DOF human, whose masses are nobody's, shares the bound below. Over all
    frames the split counts too: 4.6 % and a correlation of 0.995 at worst were reached.
    """
    _, _, comparison = walked(shared_data, name)
    for foot in ("left", "right"):
        assert errors(comparison, foot, "single support [% BW]")["vertical"] < 8
        assert errors(comparison, foot)["vertical"] < 6
        assert errors(comparison, foot, "correlation")["vertical"] > 0.98


@pytest.mark.parametrize("name", WALKS)
def test_whole_steps_are_m_shaped_as_the_plates_say(shared_data, name):
    _, _, comparison = walked(shared_data, name)
    assert comparison.stances
    for row in comparison.stances:
        for peak in ("first peak", "valley", "second peak"):
            # 85 N, an eighth of body weight, and a twentieth of a second were reached: three frames
            # of walk23, whose low-pass cannot place a peak better.
            assert abs(row[f"{peak} computed [N]"] - row[f"{peak} measured [N]"]) < 95
            assert abs(row[f"{peak} computed [s]"] - row[f"{peak} measured [s]"]) < 0.051
        # An M and no plateau: 0.76 at most was reached.
        assert row["valley computed [N]"] < 0.9 * row["first peak computed [N]"]
        assert row["valley computed [N]"] < 0.9 * row["second peak computed [N]"]


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("split", ["pivot", "least-norm", "smooth"])
def test_feet_sum_to_the_total_push_and_stay_in_their_cones(shared_data, name, split):
    reactions, _, _ = walked(shared_data, name, split=split)
    shares, up = reactions.shares, reactions.axes.up
    down = shares.down.any(axis=1)
    assert down.all()
    assert_allclose(shares.foot_force.sum(axis=1), reactions.force, atol=1e-8)
    normal = shares.point_force @ up
    tangential = np.linalg.norm(shares.point_force - normal[..., None] * up, axis=-1)
    assert normal.min() >= 0
    assert (tangential <= reactions.friction * normal + 1e-8).all()


@pytest.mark.parametrize("name", WALKS)
def test_pressure_is_inside_the_foot_whenever_loaded(shared_data, name):
    """In no direction, of one every degree, is it farther out than the foot's outermost point."""
    reactions, _, comparison = walked(shared_data, name)
    feet = np.array(reactions.subject.soles.feet)
    angles = np.radians(np.arange(360))
    outwards = np.stack([np.cos(angles), np.sin(angles)])
    level = np.stack([reactions.axes.forward, reactions.axes.left], axis=1) @ outwards
    for k, foot in enumerate(reactions.feet):
        down = reactions.shares.down[:, k]
        reach = (reactions.touch.position[down][:, feet == foot] @ level).max(axis=1)
        assert (reactions.shares.pressure[down, k] @ level <= reach + 1e-9).all()
    # Less than half the breadth of a foot, 10 cm; 33 mm at worst was reached.
    for row in comparison.pressure:
        assert row["forward RMSE [mm]"] < 45
        assert row["lateral RMSE [mm]"] < 45


def test_the_pivot_is_the_best_split_of_the_forward_force(shared_data):
    """Why it is the default: against the plates, over all frames of both feet, all directions."""
    for name in ("walk23", "rajagopal"):
        total = {}
        for split in ("pivot", "least-norm", "smooth"):
            _, _, comparison = walked(shared_data, name, split=split)
            rows = [errors(comparison, foot) for foot in ("left", "right")]
            total[split] = {d: np.mean([r[d] for r in rows]) for d in rows[0]}
        # Better by nearly half at least, or the default would not be worth its assumption: 0.50 and
        # 0.42 of the others' errors were reached. The vertical force it leaves as it is.
        assert total["pivot"]["forward"] < 0.6 * total["least-norm"]["forward"]
        assert total["pivot"]["vertical"] < 0.6 * total["smooth"]["vertical"]
        assert abs(total["pivot"]["vertical"] - total["least-norm"]["vertical"]) < 0.3


def test_published_residuals_of_walk23_are_met(shared_data):
    """OpenSim's regression reference: the pelvis' residual force is our force less the plates'.

    The reference filters at 6 Hz with another filter and rounds the ends otherwise: within two per
    cent of body weight away from the start of the motion at 0.5 s.
    """
    reactions, _, _ = walked(shared_data, "walk23", filter="butterworth", cutoff=6.0)
    folder = shared_data / "gait_subject01_walk23"
    reference = read_table(folder / "std_subject01_InverseDynamics.sto").by_time()
    plates = make_even(read_table(folder / "subject01_walk1_grf.mot").by_time())
    inside = (reference.time > 0.7) & (reference.time < 1.59)
    for axis, name in enumerate(("pelvis_tx_force", "pelvis_ty_force", "pelvis_tz_force")):
        residual = reference.column(name)[inside]
        measured = sum(plates.column(f"{p}ground_force_v{'xyz'[axis]}") for p in ("", "l_"))
        time = reference.time[inside]
        ours = np.interp(time, reactions.time, reactions.force[:, axis])
        ours = ours - np.interp(time, plates.time, measured)
        rms = np.sqrt(np.mean((ours - residual) ** 2))
        assert rms < 0.02 * reactions.subject.weight, (name, rms)


def test_plates_by_name_and_by_place_agree(shared_data):
    """The ExternalLoads file names the feet; without it, where the pressure is tells."""
    for name in WALKS:
        _, by_place, _ = walked(shared_data, name)
        _, by_name, _ = walked(shared_data, name, plates="loads")
        loaded = np.abs(by_name.feet).sum(-1) > 40
        assert_allclose(by_place.feet[loaded], by_name.feet[loaded], atol=1e-9)


def test_odd_recordings_are_said_to_be_so(shared_data):
    reactions, _, _ = walked(shared_data, "walk10")
    notes = " ".join(reactions.notes)
    for words in ("repeated time stamps", "uneven", "planar", "18 muscles play no part"):
        assert words in notes
    notes = " ".join(walked(shared_data, "rajagopal")[0].notes)
    # Its header says radians, its patellar columns are degrees, and the model gives them anyway.
    for words in ("knee_angle_r_beta", "no column in 'coordinates.sto' for 'mtp_angle_r'"):
        assert words in notes


def test_treadmill_and_floor_are_told_apart(shared_data):
    assert_allclose(
        walked(shared_data, "walk23")[0].touch.support_velocity, [-1.14, 0, 0], atol=0.05
    )
    assert_allclose(walked(shared_data, "rajagopal")[0].touch.support_velocity, 0, atol=0)


def test_the_human_of_38_degrees_of_freedom_walks_as_well(shared_data):
    """De Leva's segments instead of the scaled model: errors of the same size, the same bounds."""
    subject, files = person(1.80, 72.6, "hinged"), WALKS["walk23"]
    motion = read_motion(shared_data / files["motion"], subject)
    reactions = ground_reactions(motion, subject)
    plates = read_plates(shared_data / files["plates"], axes="x,-z,y")
    comparison = compare(reactions, measured_on_frames(plates, reactions))
    for direction, error in errors(comparison, "total").items():
        assert error < OPENSIM[direction] + 1.0
    for foot in ("left", "right"):
        assert errors(comparison, foot, "single support [% BW]")["vertical"] < 8


def test_markers_alone_give_the_forces(shared_data):
    """From the .trc of Rajagopal's walk: plain inverse kinematics, no forces used anywhere."""
    files, subject = WALKS["rajagopal"], walker(shared_data, "rajagopal")
    motion = read_motion(shared_data / "gait_rajagopal_walk" / "markers_walk.trc", subject)
    assert "41 markers" in motion.notes[0]
    reactions = ground_reactions(motion.between(0.45, 1.8), subject)
    measured = measured_on_frames(read_plates(shared_data / files["plates"]), reactions)
    found = errors(compare(reactions, measured), "total")
    # Unadjusted markers: 2.7, 4.4 and 3.3 were reached, twice to five times the adjusted errors.
    assert found["vertical"] < 6
    assert found["forward"] < 5
    assert found["lateral"] < 4
