"""Joint moments against OpenSim, a published analysis, another program's planar leg, and energy.

`opensim/gait_answers.json` was recorded with OpenSim 4.6: its InverseDynamicsTool with the setup of
gait_subject01_walk23 (6 Hz), and its InverseKinematicsTool (all weights 1, accuracy 1e-8) on
markers_walk.trc. The older regression file beside that setup, std_subject01_InverseDynamics.sto, is
not met by OpenSim 4.6 itself: it is off by up to 12 % of a moment's peak, within the 2 N·m that its
own test allows. Here the same file is met within those 2 N·m.
"""

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from helpers_biped import HERE, WALKS, person, walker
from numpy.testing import assert_allclose
from scipy.interpolate import make_interp_spline

from stiction.biped import (
    FootLoads,
    fit_markers,
    joint_loads,
    mechanical_energy,
    read_markers,
    read_motion,
)
from stiction.biped.grf.momentum import total_reaction
from stiction.biped.grf.smoothing import smooth
from stiction.biped.subject.coordinates import coordinates_of
from stiction.tables import make_even, read_table

ANSWERS = json.loads((HERE / "opensim" / "gait_answers.json").read_text())


def loads_of(subject, table, at, labels, torques):
    """Loads of both feet straight from the columns, as OpenSim takes them."""

    def read(label):
        columns = (np.nan_to_num(table.column(label + a)) for a in "xyz")
        return np.stack([np.interp(at, table.time, c) for c in columns], axis=1)

    stack = [
        np.stack([read(label) for label in names], axis=1)
        for names in ([f"{n}v" for n in labels], [f"{n}p" for n in labels], torques)
    ]
    bodies = tuple(subject.body(f"calcn_{side}") for side in "rl")
    known = np.ones((len(at), 2), bool)
    return FootLoads(("right", "left"), bodies, stack[0], stack[1], stack[2], known)


@functools.cache
def moments(folder: Path, name: str):
    """Time and moments of a walk with its plates and OpenSim's 6 Hz filter."""
    subject = walker(folder, name)
    table = make_even(read_motion(folder / WALKS[name]["motion"], subject))
    q, _ = coordinates_of(table, subject)
    motion = smooth(table.time, q, filter="opensim", cutoff=6.0)
    labels = {
        "walk23": (("ground_force_", "l_ground_force_"), ("ground_torque_", "l_ground_torque_")),
        "rajagopal": (
            ("ground_force_r_", "ground_force_l_"),
            ("ground_torque_r_", "ground_torque_l_"),
        ),
    }[name]
    plates = read_table(folder / WALKS[name]["plates"]).by_time()
    loads = loads_of(subject, plates, motion.time, *labels)
    bodies = subject.motion(motion.q, motion.rate, motion.acceleration)
    found = joint_loads(subject, motion.q, motion.rate, bodies, loads)
    names = [c.name for c in subject.coordinates]
    return motion.time, {n: found.moment[:, i] for i, n in enumerate(names)}


def of(label):
    return label.removesuffix("_moment").removesuffix("_force")


@pytest.mark.shared
def test_opensims_moments_are_met(shared_data):
    """Within 1 % of the peak of each moment; 0.24 % was reached, for the residual forces.

    The record's first frame is left out: OpenSim's spline goes on into its padding there.
    """
    time, ours = moments(shared_data, "walk23")
    at = np.array(ANSWERS["inverse_dynamics"]["time"])[1:]
    for label, theirs in ANSWERS["inverse_dynamics"]["moments"].items():
        theirs = np.array(theirs)[1:]
        found = make_interp_spline(time, ours[of(label)], k=3)(at)
        assert_allclose(found, theirs, atol=0.01 * np.abs(theirs).max(), err_msg=label)


@pytest.mark.shared
def test_the_regression_file_is_met_as_well_as_opensim_meets_it(shared_data):
    folder = shared_data / "gait_subject01_walk23"
    table = read_table(folder / "std_subject01_InverseDynamics.sto").by_time()
    time, ours = moments(shared_data, "walk23")
    use = table.time > time[0]
    for label in table.names:
        found = make_interp_spline(time, ours[of(label)], k=3)(table.time[use])
        assert_allclose(found, table.column(label)[use], atol=2.0, err_msg=label)


@pytest.mark.shared
def test_published_moments_of_rajagopals_walk(shared_data):
    """Within 5 % of the peak; 1.8 % of joints' and 3.7 % of the base's were reached."""
    table = read_table(shared_data / "gait_rajagopal_walk" / "id_walk.sto").by_time()
    time, ours = moments(shared_data, "rajagopal")
    for label in table.names:
        if "beta" in label:  # the kneecap's own, which is in the knee's here
            continue
        theirs = np.interp(time, table.time, table.column(label))
        apart = np.abs(ours[of(label)] - theirs)[5:-5].max()
        assert apart < 0.05 * np.abs(theirs).max(), label


@pytest.mark.shared
def test_opensims_inverse_kinematics_is_met(shared_data):
    """Marker error no larger, angles within 0.2° (0.16 was reached, of the forearm's turn)."""
    subject = walker(shared_data, "rajagopal")
    found = fit_markers(read_markers(shared_data / "gait_rajagopal_walk/markers_walk.trc"), subject)
    theirs = ANSWERS["inverse_kinematics"]
    frames = theirs["frames"]
    rms = np.sqrt(np.mean(found.error[frames] ** 2, axis=1))
    assert (rms < np.array(theirs["marker_rms"]) + 1e-6).all()
    for i, c in enumerate(subject.coordinates):
        low, high = c.range
        if c.name not in subject.base and not c.follows:
            assert (found.q[:, i] >= low - 1e-9).all()
            assert (found.q[:, i] <= high + 1e-9).all()
        if c.name in theirs["coordinates"]:
            unit = 180 / np.pi if c.rotational else 1e3
            scale = 1.0 if c.rotational else 1e3
            values = scale * np.array(theirs["coordinates"][c.name])
            assert_allclose(unit * found.q[frames, i], values, atol=0.2, err_msg=c.name)


@pytest.fixture(scope="module")
def wild():
    """The human in a wild motion, pushed at both feet, and what its joints do."""
    subject = person()
    rng = np.random.default_rng(3)
    time = np.arange(400) / 400
    q = np.tile(subject.defaults, (len(time), 1))
    for i, c in enumerate(subject.coordinates):
        if c.name in subject.base and c.name.rpartition(".")[2].startswith("q"):
            continue
        for k in (1, 2, 3):
            q[:, i] += 0.15 / k * np.sin(2 * np.pi * k * time + rng.uniform(0, 6))
    motion = smooth(time, q, filter="none")
    bodies = subject.motion(motion.q, motion.rate, motion.acceleration)
    feet = tuple(subject.body(f"{side}_foot") for side in ("right", "left"))
    shape = (len(time), 2, 3)
    force, moment = 300 * rng.standard_normal(shape), 30 * rng.standard_normal(shape)
    point = bodies.pose.position[:, feet] + 0.1 * rng.standard_normal(shape)
    loads = FootLoads(("right", "left"), feet, force, point, moment, np.ones(shape[:2], bool))
    return subject, motion, bodies, loads, joint_loads(subject, q, motion.rate, bodies, loads)


def test_power_is_the_change_of_mechanical_energy(wild):
    """Joint powers, loads' powers and the residual's add up to dE/dt at every instant."""
    subject, motion, bodies, loads, joints = wild
    energy = make_interp_spline(motion.time, mechanical_energy(subject.bodies, bodies), k=5)
    power = joints.power.sum(axis=1)  # the base's coordinates give the residual's
    for k, foot in enumerate(loads.bodies):
        R, R_rate = bodies.pose.rotation[:, foot], bodies.rate.rotation[:, foot]
        turn = R_rate @ np.swapaxes(R, 1, 2)
        spin = np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=1)
        arm = loads.point[:, k] - bodies.pose.position[:, foot]
        speed = bodies.rate.position[:, foot] + np.cross(spin, arm)
        power = power + np.sum(loads.force[:, k] * speed + loads.moment[:, k] * spin, axis=1)
    inner = slice(20, -20)
    rate = energy(motion.time, 1)
    assert_allclose(power[inner], rate[inner], atol=1e-4 * np.abs(rate).max())


def test_the_residual_is_what_the_loads_leave_of_momentum(wild):
    subject, _, bodies, loads, joints = wild
    total = total_reaction(subject.bodies, bodies)
    assert_allclose(joints.residual_force, total.force - loads.force.sum(axis=1), atol=1e-8)
    about = np.cross(loads.point, loads.force) + loads.moment
    moment = total.moment - about.sum(axis=1)
    moment = moment - np.cross(total.center, joints.residual_force)
    assert_allclose(joints.residual_moment, moment, atol=1e-7)


def test_a_joints_moment_is_its_reaction_along_its_axis(wild):
    """A hinge's generalised force is the part of Newton and Euler's moment along its axis."""
    subject, _, bodies, _, joints = wild
    i = [c.name for c in subject.coordinates].index("right_knee_flexion")
    body = subject.body("right_shank")
    axis = bodies.pose.rotation[:, body] @ [0.0, 1.0, 0.0]
    along = np.sum(joints.reaction_moment[:, body] * axis, axis=1)
    assert_allclose(joints.moment[:, i], along, atol=1e-7)


def test_standing_still_the_joints_hold_the_weight_above_them():
    """On one foot, upright: the hip bears all but the leg, the knee no moment in the plane."""
    subject = person()
    q = np.tile(subject.defaults, (20, 1))
    zero = np.zeros_like(q)
    bodies = subject.motion(q, zero, zero)
    foot = subject.body("right_foot")
    center = total_reaction(subject.bodies, bodies).center
    push = subject.weight * subject.up
    loads = FootLoads(
        ("right",),
        (foot,),
        np.tile(push, (20, 1, 1)),
        center[:, None] * [1, 1, 0],
        np.zeros((20, 1, 3)),
        np.ones((20, 1), bool),
    )
    joints = joint_loads(subject, q, zero, bodies, loads)
    assert_allclose(joints.residual_force, 0, atol=1e-9)
    assert_allclose(joints.residual_moment, 0, atol=1e-9)
    leg = [b for b, n in enumerate(subject.body_names) if n.startswith("right_") and "arm" not in n]
    leg = [b for b in leg if "hand" not in subject.body_names[b]]
    weight = np.asarray(subject.bodies.mass)[leg].sum() * 9.81
    hip = joints.reaction[:, subject.body("right_thigh")] @ subject.up
    assert_allclose(hip, weight - subject.weight, rtol=1e-3)
