"""Ground reactions of motions whose answer is known beforehand."""

import jax.numpy as jnp
import numpy as np
import pytest
from helpers_biped import person, recording
from numpy.testing import assert_allclose
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import ConvexHull

import stiction
from stiction import InputError
from stiction.biped import foot_loads, ground_reactions, subject_of_mechanism, with_soles
from stiction.biped.grf.plates import read_plates
from stiction.biped.grf.touch import Ground
from stiction.mechanism import load_mechanism
from stiction.report.grf_files import write_external_loads

TIME = np.arange(121) / 60
HALF = 84.0728 * 9.81 / 2


def load(reactions):
    return reactions.shares.foot_force @ reactions.axes.up


@pytest.mark.parametrize("split", ["pivot", "least-norm", "smooth"])
def test_standing_still_each_foot_bears_half_the_weight(split):
    """rodic's G ≅ 412 N, to 1e-6 and better, on all four points of each foot alike."""
    subject = person()
    reactions = ground_reactions(recording(subject, TIME), subject, split=split)
    assert_allclose(load(reactions), HALF, rtol=1e-9)
    sideways = reactions.shares.foot_force[:, :, :2]
    assert_allclose(sideways.sum(axis=1), 0, atol=1e-6 * HALF)
    if split == "least-norm":  # the feet do not push against each other
        assert_allclose(sideways, 0, atol=1e-6 * HALF)
    assert reactions.shares.down.all()


def test_raising_the_body_adds_its_acceleration():
    """F = m (a - g) for a known heave, shared equally; inner frames, whose splines are exact."""
    subject = person()
    heave = 0.02 * np.sin(2 * np.pi * TIME)
    motion = recording(subject, TIME, {"base.z": subject.defaults[2] + heave})
    reactions = ground_reactions(
        motion, subject, filter="none", ground=Ground(level=0.0, gap_tolerance=0.1)
    )
    expected = subject.mass * (9.81 - 0.02 * (2 * np.pi) ** 2 * np.sin(2 * np.pi * TIME))
    inner = slice(5, -5)
    assert_allclose(reactions.force[inner, 2], expected[inner], rtol=1e-5)
    assert_allclose(load(reactions)[inner], np.stack([expected, expected], 1)[inner] / 2, rtol=1e-5)


def test_leaning_moves_the_load_and_the_center_of_pressure_under_the_center_of_mass():
    subject = person()
    lean = 0.08 * np.sin(np.pi * TIME)  # slow: quasi-static, to the left and back
    legs = {"left_hip_adduction": 0.0, "right_hip_adduction": 0.0}
    motion = recording(subject, TIME, {"waist_bending": -lean, **legs})
    reactions = ground_reactions(motion, subject, filter="none")
    left, right = (load(reactions)[:, reactions.feet.index(f)] for f in ("left", "right"))
    middle = 30
    assert left[middle] > right[middle] + 1
    # The total centre of pressure is where force and moment put it.
    shares, up = reactions.shares, reactions.axes.up
    total = (
        np.einsum("nf,nfi->ni", load(reactions), shares.pressure) / load(reactions).sum(1)[:, None]
    )
    expected = np.cross(up, reactions.moment) / (reactions.force @ up)[:, None]
    assert_allclose(total[:, :2], expected[:, :2], atol=1e-3)


def test_feet_always_sum_to_the_total_and_never_pull():
    """On a lively motion: swinging limbs, a hop, both feet now and then in the air."""
    subject = person()
    rng = np.random.default_rng(0)
    names = [c.name for c in subject.coordinates if not c.name.startswith("base")]
    changes = {
        n: 0.2 * np.sin(2 * np.pi * rng.uniform(0.3, 1.5) * TIME + rng.uniform(0, 6)) for n in names
    }
    hop = 0.15 - 9.81 / 2 * (TIME % 0.5 - 0.25) ** 2
    changes["base.z"] = subject.defaults[2] + np.maximum(hop, 0)
    reactions = ground_reactions(recording(subject, TIME, changes), subject, cutoff=6.0)
    shares = reactions.shares
    down = shares.down.any(axis=1)
    assert 10 < down.sum() < len(TIME)
    assert_allclose(shares.foot_force.sum(axis=1)[down], reactions.force[down], atol=1e-8)
    assert_allclose(shares.foot_force[~down], 0, atol=0)
    normal = shares.point_force @ reactions.axes.up
    tangential = np.linalg.norm(shares.point_force[..., :2], axis=-1)
    assert (normal >= 0).all()
    mu = np.maximum(reactions.friction, 1.001 * shares.needed_friction)
    assert (tangential <= mu[:, None] * normal + 1e-8).all()


def test_what_a_runner_needs_is_always_borne_and_flight_is_free_fall():
    """Bouncing on the left and right leg in turn, landing at 1.5 m/s: faster than what rests.

    In flight, at the true frames of it, feet bear next to nothing; in every other frame the feet
    bear all of the force, also while the sole still comes down.
    """
    subject = person()
    rate, flight, stance = 1000, 0.12, 0.22
    time = np.arange(2 * rate) / rate
    phase = time % (flight + stance)
    speed = 9.81 * flight / 2
    height = np.where(
        phase < flight,
        speed * phase - 9.81 / 2 * phase**2,
        -speed * stance / np.pi * np.sin(np.pi * (phase - flight) / stance),
    )
    side = (time // (flight + stance)).astype(int) % 2
    changes = {"base.z": subject.defaults[2] + height}
    for k, name in enumerate(("left", "right")):
        # A standing leg shortens as the hip comes down; the other is drawn up.
        standing = (side == k) & (phase >= flight)
        thigh = 0.45  # m, about
        bend = np.arccos(np.clip(1 + np.minimum(height, 0) / (2 * thigh), -1, 1))
        lift = np.where(standing, bend, 1.0)
        lift = gaussian_filter1d(lift, 0.004 * rate)
        changes |= {f"{name}_hip_flexion": lift, f"{name}_knee_flexion": 2 * lift}
        changes |= {f"{name}_ankle_flexion": lift}
    reactions = ground_reactions(recording(subject, time, changes), subject)
    shares = reactions.shares
    needs = reactions.force @ reactions.axes.up > 0.005 * subject.weight
    assert 0.3 < needs.mean() < 0.95
    assert_allclose(shares.foot_force.sum(axis=1)[needs], reactions.force[needs], atol=1e-8)
    assert (shares.foot_force[~needs] == 0).all()
    by_tolerance = reactions.touch.nearness.max(axis=1) > 0
    assert (needs & ~by_tolerance).sum() > 10  # what was borne by nobody before


def test_pressure_is_inside_the_foot_and_moments_close():
    """Forces at the points, forces at the centres of pressure with free moments: one wrench."""
    subject = person()
    changes = {"waist_flexion": 0.1 * np.sin(3 * TIME), "base.x": 0.02 * np.sin(2 * TIME)}
    reactions = ground_reactions(recording(subject, TIME, changes), subject, filter="none")
    shares, touch = reactions.shares, reactions.touch
    feet = np.array(subject.soles.feet)
    for k, foot in enumerate(reactions.feet):
        hull = ConvexHull(touch.position[0, feet == foot][:, :2])
        inside = shares.pressure[:, k, :2] @ hull.equations[:, :2].T + hull.equations[:, 2]
        # The feet slide by centimetres; the hull of the first frame moves with them.
        moved = touch.position[:, feet == foot].mean(1) - touch.position[0, feet == foot].mean(0)
        inside -= moved[:, :2] @ hull.equations[:, :2].T
        assert (inside < 1e-9).all()
    by_points = np.cross(touch.position * [1, 1, 0], shares.point_force).sum(1)
    by_feet = np.cross(shares.pressure, shares.foot_force).sum(1)
    by_feet += shares.free_moment.sum(1)[:, None] * reactions.axes.up
    assert_allclose(by_feet, by_points, atol=1e-8)
    assert_allclose(by_points - reactions.moment, shares.moment_error, atol=1e-8)


def test_two_feet_are_never_determined_by_mechanics_alone_and_one_always_is():
    subject = person()
    both = ground_reactions(recording(subject, TIME), subject).shares
    assert not both.determined.any()
    # One leg lifted: knee and hip bent by sixty degrees.
    lifted = recording(subject, TIME, {"right_hip_flexion": 1.0, "right_knee_flexion": 1.0})
    one = ground_reactions(lifted, subject, ground=Ground(level=0.0))
    assert one.shares.determined.all()
    assert_allclose(load(one)[:, one.feet.index("right")], 0, atol=0)
    assert_allclose(load(one)[:, one.feet.index("left")], 2 * HALF, rtol=1e-9)


def test_a_force_beyond_the_friction_cone_is_carried_and_reported():
    subject = person()
    push = 0.05 * np.sin(8 * TIME)
    motion = recording(subject, TIME, {"base.x": push})
    reactions = ground_reactions(motion, subject, ground=Ground(friction=0.1), filter="none")
    assert any("more friction than 0.1" in n for n in reactions.notes)
    assert reactions.shares.needed_friction.max() > 0.1
    assert_allclose(reactions.shares.foot_force.sum(1), reactions.force, atol=1e-8)


QUADRUPED = """
<mujoco><worldbody><body name="trunk" pos="0 0 0.5"><freejoint name="base"/>
  <inertial pos="0.05 0 0" mass="10" diaginertia="1 1 1"/>
  {legs}
</body></worldbody></mujoco>
"""
LEG = """
<body name="foot{k}" pos="{x} {y} -0.5"><joint name="leg{k}" type="slide" axis="0 0 1"/>
 <inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>
 <geom name="pad{k}" type="sphere" size="0.02" pos="0 0 0.02"/></body>
"""


def test_robots_on_four_feet_stand_too():
    """Spheres at the ends of legs: the load follows the lever rule along each axis."""
    legs = "".join(
        LEG.format(k=k, x=x, y=y)
        for k, (x, y) in enumerate([(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)])
    )
    mechanism = load_mechanism(QUADRUPED.format(legs=legs))
    subject = with_soles(subject_of_mechanism(mechanism), mechanism=mechanism)
    assert set(subject.soles.feet) == {"foot0", "foot1", "foot2", "foot3"}
    reactions = ground_reactions(recording(subject, TIME), subject, split="least-norm")
    total = load(reactions)[0]
    front = total[:2].sum() / total.sum()
    center = float(stiction.center_of_mass(mechanism, jnp.asarray(subject.defaults))[0])
    assert_allclose(front, 0.5 + center / 0.6, atol=1e-3)
    with pytest.raises(InputError, match="for two feet"):
        ground_reactions(recording(subject, TIME), subject, split="smooth")


def test_a_model_without_feet_gives_the_total_and_says_so():
    mechanism = load_mechanism(QUADRUPED.format(legs=""))
    subject = with_soles(subject_of_mechanism(mechanism), mechanism=mechanism)
    reactions = ground_reactions(recording(subject, TIME), subject)
    assert reactions.feet == ()
    assert reactions.shares.foot_force.shape == (len(TIME), 0, 3)
    assert any("no feet are known" in n for n in reactions.notes)
    assert_allclose(reactions.force[:, 2], 98.1, rtol=1e-9)


def test_points_of_soles_may_be_given_in_a_table(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("foot,body,x,y,z,radius\nonly,left_foot,0,0,-0.07,0.01\n")
    mechanism = person().bodies.poses.mechanism
    subject = with_soles(subject_of_mechanism(mechanism), path, mechanism)
    assert subject.soles.feet == ("only",)
    assert_allclose(subject.soles.radius, 0.01)
    reactions = ground_reactions(recording(subject, TIME), subject)
    assert_allclose(load(reactions)[:, 0], 2 * HALF, rtol=1e-9)
    path.write_text("foot,body,x,y\nonly,left_foot,0,0\n")
    with pytest.raises(InputError, match="foot, body, x, y, z"):
        with_soles(subject_of_mechanism(mechanism), path, mechanism)
    path.write_text("foot,body,x,y,z\nonly,hoof,0,0,0\n")
    with pytest.raises(InputError, match="no body 'hoof'"):
        with_soles(subject_of_mechanism(mechanism), path, mechanism)


def test_results_are_written_for_others_to_read(tmp_path):
    subject = person()
    reactions = ground_reactions(recording(subject, TIME), subject)
    data = reactions.to_dataset()
    assert_allclose(data.foot_force.sel(foot="left", axis="z"), HALF, rtol=1e-9)
    assert data.q.sizes == {"time": 121, "coordinate": 39}
    loads = foot_loads(reactions, None, "motion")
    write_external_loads(reactions, loads, tmp_path / "grf.mot", tmp_path / "grf.xml")
    plates = read_plates(tmp_path / "grf.xml")
    assert [p.body for p in plates.plates] == ["left_foot", "right_foot"]
    assert_allclose(plates.plates[0].force[:, 2], HALF, rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "halves"}, "no split 'halves'"),
        ({"angles": "turns"}, "`angles` must be 'degrees' or 'radians'"),
    ],
)
def test_impossible_options_are_refused(options, message):
    subject = person()
    with pytest.raises(InputError, match=message):
        ground_reactions(recording(subject, TIME), subject, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"friction": 0.0}, "`friction` must be a positive number"),
        ({"gap_tolerance": -1.0}, "`gap_tolerance`"),
        ({"speed_tolerance": float("nan")}, "`speed_tolerance`"),
    ],
)
def test_impossible_ground_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Ground(**options)


def test_a_part_without_rows_is_refused():
    subject = person()
    with pytest.raises(InputError, match="at least two rows"):
        ground_reactions(recording(subject, TIME).between(5.0, None), subject)
