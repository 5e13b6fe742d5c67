"""The whole way: a synthetic walk comes back, events are found, bands cover the truth."""

import functools
import json
from dataclasses import replace

import numpy as np
import pytest
from helpers_biped import WALKS, person, recording, walker
from numpy.testing import assert_allclose

from stiction import InputError
from stiction.biped import (
    GaitNoise,
    Markers,
    analyze,
    compare,
    fit_markers,
    ground_reactions,
    measured_on_frames,
    moment_bands,
    read_markers,
    read_motion,
    read_plates,
    read_weights,
    scale_to_markers,
    scaled_subject,
    side_of,
    summarize_gait,
    with_marker_sets,
)
from stiction.biped.gait.events import spatiotemporal
from stiction.biped.gait.uncertainty import wobble
from stiction.biped.grf.plates import ForcePlate, ForcePlates
from stiction.biped.subject.markers import coordinates_from_markers
from stiction.biped.subject.subject import carried
from stiction.report.gait_figures import bends, joints_of_sheet
from stiction.tables import Table

UP = np.array([0.0, 0.0, 1.0])


@functools.cache
def walked(folder):
    """A real walk, low-passed: from here on it is the truth."""
    subject = walker(folder, "walk23")
    motion = read_motion(folder / WALKS["walk23"]["motion"], subject)
    rough = ground_reactions(motion, subject, cutoff=6.0)
    names = tuple(c.name for c in subject.coordinates)
    table = Table.recording("truth", rough.time, names, rough.motion.q, degrees=False)
    reactions = ground_reactions(table, subject, filter="none")
    return subject, table, reactions, analyze(reactions)


@pytest.fixture
def truth(shared_data):
    return walked(shared_data)


def markers_of(subject, q, time):
    x = carried(subject.poses(q), subject.markers.bodies, subject.markers.position)
    return Markers("synthetic", time, subject.markers.names, x)


def plates_of(gait):
    """Two plates that feel what the feet bear."""
    loads = gait.loads
    plates = tuple(
        ForcePlate(
            foot,
            loads.force[:, k],
            np.nan_to_num(loads.point[:, k]),
            gait.reactions.subject.body_names[loads.bodies[k]],
            loads.moment[:, k],
        )
        for k, foot in enumerate(loads.feet)
    )
    return ForcePlates("synthetic", gait.reactions.time, plates)


@pytest.mark.shared
def test_a_synthetic_walk_comes_back(truth):
    """Markers and plates made from a walk give its angles, reactions and moments to 0.5 %."""
    subject, _, reactions, gait = truth
    seen = markers_of(subject, reactions.motion.q, reactions.time)
    found = ground_reactions(coordinates_from_markers(seen, subject), subject)
    inner = slice(8, -8)
    free = [i for i, c in enumerate(subject.coordinates) if not (c.locked or c.follows)]
    q, expected = found.motion.q[inner][:, free], reactions.motion.q[inner][:, free]
    assert_allclose(q, expected, atol=0.005 * np.ptp(expected, axis=0).max())
    assert_allclose(found.force[inner], reactions.force[inner], atol=0.005 * subject.weight)
    # Plates are averaged over a frame; at 60 Hz that alone moves forces by more than 0.5 %.
    measured = measured_on_frames(plates_of(gait), found)
    exact = replace(
        measured,
        feet=gait.loads.force[measured.frames],
        pressure=gait.loads.point[measured.frames],
        free_moment=gait.loads.moment[measured.frames] @ reactions.axes.up,
    )
    again = analyze(found, exact, loads="plates")
    for i in again.coordinates:
        theirs = gait.joints.moment[inner, i]
        limit = 0.005 * max(np.abs(theirs).max(), 1.0)
        name = subject.coordinates[i].name
        assert_allclose(again.joints.moment[inner, i], theirs, atol=limit, err_msg=name)


@pytest.mark.shared
def test_loads_come_from_plates_where_a_foot_stands_on_one(truth):
    _, _, reactions, gait = truth
    plates = plates_of(gait)
    # The right foot's plate has no second step: that stance goes by the motion.
    force = plates.plates[0].force.copy()
    stances = [s for s in gait.stances if s.foot == gait.loads.feet[0] and np.isfinite(s.strike)]
    beside = (reactions.time > stances[0].strike - 0.1) & (reactions.time < stances[0].off + 0.1)
    force[beside] = 0.0
    plates = replace(plates, plates=(replace(plates.plates[0], force=force), plates.plates[1]))
    mixed = analyze(reactions, measured_on_frames(plates, reactions))
    k = mixed.loads.feet.index(gait.loads.feet[0])
    middle = (reactions.time > stances[0].strike + 0.1) & (reactions.time < stances[0].off - 0.1)
    assert not mixed.loads.measured[middle, k].any()
    assert mixed.loads.measured.mean() > 0.5
    assert_allclose(mixed.loads.force[middle, k], gait.loads.force[middle, k], atol=1e-6)
    with pytest.raises(InputError, match="need plates"):
        analyze(reactions, loads="plates")
    with pytest.raises(InputError, match="source of the loads"):
        analyze(reactions, loads="guess")


@pytest.mark.shared
def test_a_plate_of_one_foot_says_nothing_of_the_other(truth):
    """Joints of the measured leg are as with both plates; those above the other are not known."""
    subject, _, reactions, gait = truth
    both = plates_of(gait)
    one = replace(both, plates=both.plates[:1])
    own, other = gait.loads.feet
    full, half, mixed = (
        analyze(reactions, measured_on_frames(plates, reactions), loads=loads)
        for plates, loads in ((both, "plates"), (one, "plates"), (one, "auto"))
    )
    assert half.kind == "walking"
    assert {s.foot for s in half.strides} == {own}
    # Not mixed within a stance: what is known of the foot is known all the time.
    assert half.loads.known[:, 0].all()
    assert mixed.loads.measured[:, 0].all()
    names = [c.name for c in subject.coordinates]
    for joint, side in ((j, s) for j in ("hip_flexion", "knee_angle", "ankle_angle") for s in "rl"):
        i = names.index(f"{joint}_{side}")
        expected = full.joints.moment[:, i].copy()
        if not own.startswith(side):
            expected[~half.loads.known[:, 1]] = np.nan
        assert_allclose(half.joints.moment[:, i], expected, atol=1e-9)
    assert_allclose(np.isnan(half.joints.residual_force[:, 0]), ~half.loads.known[:, 1])
    rows, as_full = ({r["quantity"]: r for r in summarize_gait(g)["strides"]} for g in (half, full))
    assert_allclose(rows["stance [%]"][own], as_full["stance [%]"][own], rtol=1e-12)
    assert other not in rows["stance [%]"]
    assert np.isnan(rows["double support [%]"][own])


@pytest.mark.shared
def test_frames_whose_loads_come_from_the_motion_do_not_count_as_agreeing(truth):
    """Plates that read a tenth too much, under one foot or both: the residual is that tenth."""
    _, _, reactions, gait = truth
    both = plates_of(gait)
    both = replace(both, plates=tuple(replace(p, force=1.1 * p.force) for p in both.plates))
    for plates in (both, replace(both, plates=both.plates[:1])):
        found = analyze(reactions, measured_on_frames(plates, reactions))
        felt = np.linalg.norm(found.loads.force, axis=-1)
        alone = np.where(found.loads.measured, 0.0, felt).sum(axis=1) < 0.01 * felt.max()
        use = alone & found.loads.measured.any(axis=1) & reactions.motion.settled
        assert 0.2 < use.mean() < 1.0
        pushed = np.linalg.norm(found.joints.residual_force, axis=1)[use]
        largest = np.linalg.norm(found.loads.force.sum(axis=1), axis=1)[reactions.motion.settled]
        expected = np.sqrt(np.mean(pushed**2)) / largest.max()
        assert_allclose(found.residual.force_rms, expected, rtol=1e-12)
        assert 0.06 < found.residual.force_rms < 0.1  # of the mean, which is less than the largest
        assert not found.residual.usable


@pytest.mark.shared
def test_the_treadmill_walk_in_numbers(shared_data):
    """Speed 1.14 m/s as published; both sides alike; moments within what walking needs."""
    _, _, reactions, _ = walked(shared_data)
    measured = measured_on_frames(read_plates(shared_data / WALKS["walk23"]["loads"]), reactions)
    gait = analyze(reactions, measured)
    summary = summarize_gait(gait, compare(reactions, measured))
    rows = {row["quantity"]: row for row in summary["strides"]}
    assert gait.kind == "walking"
    assert len(gait.strides) == 4
    for foot in ("left", "right"):
        assert_allclose(rows["speed [m/s]"][foot], 1.14, atol=0.01)
        assert_allclose(rows["stance [%]"][foot], 64, atol=2)
        assert_allclose(rows["double support [%]"][foot], 28, atol=3)
        step = rows["step length [m]"][foot]
        assert_allclose(step, rows["stride length [m]"][foot] / 2, rtol=0.06)
    peaks = {row["joint"]: row for row in summary["peaks"]}
    assert -1.9 < peaks["ankle_angle_r"]["moment from [N m/kg]"] < -1.5
    assert 1.5 < peaks["ankle_angle_r"]["to [W/kg]"] < 3.0
    assert 0.03 < gait.residual.force_rms < 0.05
    assert json.dumps(summary["residual"])


@pytest.mark.shared
def test_bands_cover_the_truth(truth):
    """A walk disturbed by the declared noise: its moments are within 1.96 bands of the truth.

    In at least 85 % of frames of every joint that does something, as a mean over three disturbed
    walks; 95 % is what normal numbers give in the long run.
    """
    subject, table, reactions, gait = truth
    noise = GaitNoise(cutoff=0.0, mass=0.0, pressure=0.0, turn=0.0)
    bands = moment_bands(gait, noise, draws=24, seed=1)
    assert (bands >= 0).all()
    joints = [
        i for i in gait.coordinates if np.abs(gait.joints.moment[:, i]).max() > 0.1 * subject.mass
    ]
    assert len(joints) >= 10
    covered = []
    for seed in (11, 12, 13):
        rng = np.random.default_rng(seed)
        q = reactions.motion.q + wobble(gait, noise, rng)
        dirty = Table.recording("dirty", table.time, table.names, q, degrees=False)
        found = analyze(ground_reactions(dirty, subject, filter="none"))
        apart = np.abs(found.joints.moment - gait.joints.moment)[:, joints]
        covered.append(np.mean(apart < 1.96 * bands[:, joints], axis=0))
    assert np.mean(covered) > 0.85, np.mean(covered, axis=0)


def test_noise_that_is_none_is_refused():
    with pytest.raises(InputError, match="`mass` of the noise"):
        GaitNoise(mass=-1.0)


@pytest.mark.shared
def test_factors_of_a_scaled_model_come_back(shared_data):
    """Segments with many markers to 1.5 %; those with few lean on the mean factor."""
    subject = walker(shared_data, "rajagopal")
    path = shared_data / "gait_rajagopal_walk/markers_walk.trc"
    q = fit_markers(read_markers(path), subject).q[:60:6]
    rng = np.random.default_rng(0)
    groups = [side_of(n)[1] for n in subject.body_names]
    true = {g: 1 + 0.04 * rng.standard_normal() for g in dict.fromkeys(groups)}
    other = scaled_subject(subject, np.array([true[g] for g in groups]), 70.0)
    assert_allclose(other.mass, 70.0)
    markers = markers_of(other, q, np.arange(len(q)) / 10)
    found = scale_to_markers(subject, markers, mass=70.0)
    for row in found.rows:
        if row["segment"] in ("pelvis", "femur", "tibia", "torso"):
            assert_allclose(row["factor"], true[row["segment"]], rtol=0.015)
            assert row["marker error [mm]"] < 3
    # With its own markers placed, the walk is tracked to less than the skin moves.
    assert np.sqrt(np.nanmean(fit_markers(markers, found.subject).error ** 2)) < 2e-3


SET = tuple(  # of Plug-in Gait
    f"{side}{name}"
    for name in ["ASI", "PSI", "THI", "KNE", "TIB", "ANK", "HEE", "TOE", "SHO", "ELB", "WRA"]
    for side in "LR"
)


def other_side(name):
    return f"{'LR'[name[0] == 'L']}{name[1:]}" if name in SET else name


@pytest.mark.parametrize(
    ("turn", "renamed", "message"),
    [
        ([1, 1, 1], other_side, "mirror image: left and right are swapped"),
        ([1, -1, 1], str, "mirror image"),
        (
            [1, 1, 1],
            lambda n: {"LKNE": "LANK", "LANK": "LKNE"}.get(n, n),
            r"two names swapped \(the worst is '(LKNE|LANK|LTIB)'",
        ),
    ],
)
def test_nobody_is_scaled_to_markers_that_cannot_be_his(turn, renamed, message):
    """To scale moves markers to where they are seen, so what is wrong must be seen before."""
    subject = with_marker_sets(person(1.8, 75.0), (*SET, "C7", "CLAV"))
    q = np.tile(subject.defaults, (8, 1))
    names = [c.name for c in subject.coordinates]
    for side, way in (("left", 1), ("right", -1)):
        q[:, names.index(f"{side}_hip_flexion")] = 0.4 * way * np.sin(np.arange(8))
        q[:, names.index(f"{side}_knee_flexion")] = 0.3 + 0.2 * np.cos(np.arange(8))
    seen = markers_of(subject, q, np.arange(8) / 100)
    assert "marker error 0.0 mm" in scale_to_markers(subject, seen, mass=75.0).notes[0]
    bad = Markers("bad", seen.time, tuple(map(renamed, seen.names)), seen.position * turn)
    with pytest.raises(InputError, match=message):
        scale_to_markers(subject, bad, mass=75.0)


def test_the_human_wears_the_common_sets():
    sets = ("LASI", "RASI", "SACR", "R.Knee", "l_ankle", "RHEE", "LTOE", "C7", "RELB", "nonsense")
    subject = with_marker_sets(person(1.8, 75.0), sets)
    assert set(subject.markers.names) == set(sets) - {"nonsense"}
    assert "not used: nonsense" in subject.notes[-1]
    at = carried(
        subject.poses(subject.defaults[None]), subject.markers.bodies, subject.markers.position
    )
    place = dict(zip(subject.markers.names, at[0], strict=True))
    assert place["LASI"][1] > 0.1 > -0.1 > place["RASI"][1]  # the left is y
    assert place["SACR"][0] < place["LASI"][0]  # behind
    assert 0 < place["RHEE"][2] < place["l_ankle"][2] < place["R.Knee"][2] < place["C7"][2]


def test_ranges_and_weights_are_kept():
    """A marker pulls a knee beyond its range: it stays at the end. Without weight it is free."""
    names = ("LASI", "RASI", "SACR", "RKNE", "RANK", "LKNE", "LANK", "RHEE")
    subject = with_marker_sets(person(1.8, 75.0), names)
    q = subject.defaults[None].copy()
    i = [c.name for c in subject.coordinates].index("right_knee_flexion")
    q[0, i] = -0.3  # bent the wrong way
    seen = markers_of(subject, np.repeat(q, 8, axis=0), np.arange(8) / 100)
    bent = fit_markers(seen, subject)
    assert_allclose(bent.q[:, i], 0, atol=1e-9)
    assert "right_knee_flexion" in bent.notes[1]
    loose = fit_markers(seen, subject, {"RANK": 0.0, "RHEE": 0.0})
    heavy = [k for k, n in enumerate(loose.names) if n not in ("RANK", "RHEE")]
    assert np.nanmax(loose.error[:, heavy]) < 1e-5 < np.nanmax(bent.error[:, heavy])


def test_weights_are_read(tmp_path):
    tasks = tmp_path / "ik.xml"
    tasks.write_text(
        '<OpenSimDocument Version="40000"><IKTaskSet><objects>'
        '<IKMarkerTask name="a"><apply>true</apply><weight>5</weight></IKMarkerTask>'
        '<IKMarkerTask name="b"><apply>false</apply><weight>5</weight></IKMarkerTask>'
        "</objects></IKTaskSet></OpenSimDocument>"
    )
    assert read_weights(tasks) == {"a": 5.0, "b": 0.0}
    table = tmp_path / "w.csv"
    table.write_text("marker,weight\na,2\nb,-1\n")
    with pytest.raises(InputError, match="0 or more"):
        read_weights(table)


@pytest.mark.shared
def test_the_sheet_draws_flexion_and_extensors_upwards(truth):
    """Whichever way a model counts: a walker's knee bends, and calves push at the end of stance."""
    _, _, _, gait = truth
    for joint in joints_of_sheet(gait):
        for cycles in gait.cycles:
            found = bends(gait, joint, cycles.foot)
            assert found is not None
            k, sign = found
            angle, moment = sign * cycles.mean("angle")[:, k], -sign * cycles.mean("moment")[:, k]
            if joint.title == "knee":
                assert angle.max() > 50 > -10 < angle.min()
                assert moment[10:20].max() > 0.2  # loading response
            if joint.title == "ankle":
                assert moment[40:60].max() > 1
            if joint.name == "hip_adduction":
                assert moment[20:50].mean() > 0.3


def test_nothing_is_claimed_without_strides():
    subject = person()
    time = np.arange(60) / 60
    gait = analyze(ground_reactions(recording(subject, time), subject, filter="none"))
    assert gait.strides == []
    assert gait.summary_rows == []
    assert np.isnan(gait.to_dataset()["cycle_moment_mean"].values).all()
    assert spatiotemporal([], time, {}, 0.0, gait.reactions.axes) == []
