"""What goes into the player: arrays are checked, thinned out, framed and packed without loss."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from stiction import InputError
from stiction.report.player import Animation, Mark, Plane, Shape, Trail
from stiction.report.player.framing import camera_axes, frame, is_planar
from stiction.report.player.payload import (
    MOST_FRAMES,
    continuous,
    payload,
    resample,
    round_number,
)


def unpacked(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def tumbling(n, duration, n_bodies=2, seed=0):
    """Smooth rotations and positions, known at any time."""
    rng = np.random.default_rng(seed)
    axes, speeds = rng.normal(size=(n_bodies, 3)), rng.normal(size=(n_bodies, 3))

    def at(time):
        turn = Rotation.from_rotvec((time[:, None, None] * axes).reshape(-1, 3))
        q = turn.as_quat(scalar_first=True).reshape(len(time), n_bodies, 4)
        return np.sin(time[:, None, None] * speeds), q

    time = np.linspace(0, duration, n)
    return time, *at(time), at


def same_rotation(a, b):
    return np.abs(np.sum(a * b, axis=-1))  # 1 where q and ±q agree


# --- round trip ---------------------------------------------------------------------------------


def test_short_motions_arrive_as_they_were_given(make_animation):
    a = make_animation()
    data = payload(a)
    n, b = len(a.time), a.positions.shape[1]
    assert_array_equal(unpacked(data["time"]), np.float32(a.time - a.time[0]))
    pose = unpacked(data["pose"]).reshape(n, b, 7)
    assert_array_equal(pose[..., :3], np.float32(a.positions))
    assert_allclose(same_rotation(pose[..., 3:], a.quaternions), 1, atol=1e-6)
    force = unpacked(data["force"]).reshape(n, 2, 6)
    assert_array_equal(force[:, 0], np.float32(a.forces[:, 0]))
    assert_array_equal(force[:, 1], 0)  # nan: no contact
    events = data["events"]
    assert_allclose(unpacked(events["time"]), [0.5, 0.7, 1.0], rtol=1e-6)
    assert [events["kinds"][i] for i in events["kind"]] == ["impact", "impact", "slip"]
    assert [events["texts"][i] for i in events["text"]] == ["tip <b>", "", ""]
    assert len(set(events["colors"])) == 2


@pytest.mark.parametrize(("n", "duration"), [(5000, 3.0), (50_000, 100.0)])
def test_long_motions_are_thinned_to_60_a_second_and_2000_in_all(n, duration):
    time, p, q, at = tumbling(n, duration)
    forces = np.arange(n)[:, None, None] * np.ones((n, 1, 6))
    t, p2, q2, f2 = resample(time, p, q, forces)
    assert len(t) == min(MOST_FRAMES, round(60 * duration) + 1)
    assert t[0] == time[0]
    assert t[-1] == time[-1]
    # Linear between samples: wrong by at most h²/8 times the second derivative, which is < 10 here.
    bound = 10 * (time[1] - time[0]) ** 2 / 8
    exact_p, exact_q = at(t)
    assert_allclose(p2, exact_p, atol=bound)
    assert_allclose(same_rotation(q2, exact_q), 1, atol=bound)
    # Forces are those of the sample before, never a mixture.
    assert_array_equal(f2[:, 0, 0], np.searchsorted(time, t, side="right") - 1)


def test_two_samples_at_one_time_do_not_spoil_the_others():
    """Before and after an impact: the same time twice."""
    time = np.sort(np.concatenate([np.linspace(0, 1, 500), [0.3, 0.3, 1.0]]))
    p = time[:, None, None] * np.ones((1, 1, 3))
    q = np.tile([1.0, 0, 0, 0], (len(time), 1, 1))
    t, p2, q2, _ = resample(time, p, q, None)
    assert_allclose(p2[:, 0, 0], t, atol=1e-12)
    assert_allclose(q2[:, 0, 0], 1)


def test_quaternions_that_flip_sign_are_interpolated_the_short_way():
    time, p, q, at = tumbling(3000, 5.0)
    flips = np.where(np.random.default_rng(1).random(q.shape[:2]) < 0.5, -1.0, 1.0)[..., None]
    t, _, q2, _ = resample(time, p, q * flips, None)
    assert_allclose(same_rotation(q2, at(t)[1]), 1, atol=1e-5)
    assert (np.sum(continuous(q * flips)[1:] * continuous(q * flips)[:-1], axis=-1) > 0).all()


# --- the world ----------------------------------------------------------------------------------


def test_a_world_with_y_up_is_turned_so_that_z_is_up():
    p, q = np.array([[[1.0, 2.0, 3.0]]]), np.array([[[1.0, 0, 0, 0]]])
    shapes = [
        Shape("box", [1, 1, 1], None, 0),
        Shape("sphere", [1], None, -1, (0, 5, 0)),
    ]
    force = np.array([[[0, 1.0, 0, 0, 9.0, 0]]])
    data = payload(
        Animation(np.array([0.0]), shapes, p, q, [Plane(normal=(0, 1, 0))], forces=force, up="y")
    )
    pose = unpacked(data["pose"])
    assert_allclose(pose[:3], [1, -3, 2], atol=1e-6)
    turn = Rotation.from_quat(pose[3:], scalar_first=True)
    assert_allclose(turn.apply([0, 1, 0]), [0, 0, 1], atol=1e-6)
    assert_allclose(unpacked(data["force"]), [0, 0, 1, 0, 0, 9], atol=1e-6)
    plane, _, ball = data["shapes"]
    up = Rotation.from_quat(plane["quaternion"], scalar_first=True).apply([0, 0, 1])
    assert_allclose(up, [0, 0, 1], atol=1e-6)
    assert_allclose(ball["position"], [0, 0, 5], atol=1e-6)


@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: np.linalg.norm(n) > 0.1))
def test_a_plane_looks_along_its_normal_and_its_grid_along_x(normal):
    shape = Plane((1, 2, 3), normal).as_shape()
    axes = Rotation.from_quat(shape.quaternion, scalar_first=True).as_matrix()
    assert_allclose(axes[:, 2], np.array(normal) / np.linalg.norm(normal), atol=1e-9)
    if abs(axes[0, 2]) < 0.99:
        assert axes[0, 0] > 0
        assert abs(axes[1, 0] * axes[2, 2] - axes[2, 0] * axes[1, 2]) < 1e-9  # no y of its own


# --- framing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["side", "front", "top", "iso"])
def test_everything_that_moves_is_inside_the_box_that_is_framed(view):
    time, p, q, _ = tumbling(80, 4.0, n_bodies=3)
    half = np.array([0.3, 0.1, 0.5])
    turn = Rotation.from_quat(q.reshape(-1, 4), scalar_first=True).as_matrix()
    spans = turn.reshape(80, 3, 3, 3) * half
    framing = frame(time, p, spans, view=view)
    axes = camera_axes(framing.azimuth, framing.elevation)
    signs = np.array([[(k >> i) & 1 for i in range(3)] for k in range(8)]) * 2.0 - 1
    corners = p[..., None, :] + signs @ np.swapaxes(spans, -1, -2)
    seen = (corners - framing.center) @ axes.T
    assert (np.abs(seen) <= framing.box + 1e-12).all()
    assert_allclose(np.abs(seen).max(axis=(0, 1, 2)), framing.box)  # and the box is no larger
    followed = (corners - framing.path[:, None, None]) @ axes.T
    assert (np.abs(followed) <= framing.follow_box + 1e-12).all()


def test_a_long_way_is_followed_and_a_short_one_is_not():
    time = np.linspace(0, 5, 200)
    spans = np.tile(0.5 * np.eye(3), (200, 1, 1, 1))
    bounce = np.abs(np.sin(7 * time))
    for speed, expected in ((0.3, False), (10.0, True)):
        centers = np.stack([speed * time, 0 * time, bounce], axis=1)[:, None]
        framing = frame(time, centers, spans, view="side")
        assert framing.follow is expected
        assert frame(time, centers, spans, view="side", follow=not expected).follow is not expected
    # The followed path keeps to the way but not to the bounces.
    assert_allclose(framing.path[:, 0], speed * time, atol=1e-9)
    assert np.ptp(framing.path[20:-20, 2]) < 0.5 * np.ptp(bounce)


def test_motion_in_the_plane_of_x_and_z_is_seen_from_the_side():
    time = np.linspace(0, 1, 20)
    p = np.stack([time, 0.7 + 0 * time, time**2], axis=1)[:, None]
    about_y = Rotation.from_rotvec(time[:, None] * [0, 5.0, 0])
    tilted = about_y * Rotation.from_euler("x", 0.4)  # its own axes need not lie in the plane
    q = tilted.as_quat(scalar_first=True)[:, None]
    assert is_planar(p, q)
    assert not is_planar(p + time[:, None, None] * [0, 0.01, 0], q)
    for axis in ([0.01, 0, 0], [0, 0, 0.01]):
        other = Rotation.from_rotvec(time[:, None] * axis)
        assert not is_planar(p, other.as_quat(scalar_first=True)[:, None])
    ball = [Shape("sphere", [0.1], None, 0)]
    assert payload(Animation(time, ball, p, q))["azimuth"] == pytest.approx(-np.pi / 2)
    assert payload(Animation(time, ball, p, q, view="front"))["azimuth"] == 0


# --- small things -------------------------------------------------------------------------------


@given(st.floats(1e-6, 1e6))
def test_round_numbers_are_1_2_5_and_not_far_below(x):
    r = round_number(x)
    assert r <= x * (1 + 1e-9)
    assert x < 2.5 * r * (1 + 1e-9)
    mantissa = r / 10 ** np.floor(np.log10(r * (1 + 1e-9)))
    assert min(abs(mantissa - m) for m in (1, 2, 5)) < 1e-6


@pytest.mark.parametrize(
    ("n", "bodies", "shapes"),
    [(1, 1, [Shape("box", [1, 1, 1], None, 0)]), (3, 1, []), (2, 0, [])],
)
def test_hardly_anything_is_also_a_scene(n, bodies, shapes):
    p, q = np.zeros((n, bodies, 3)), np.ones((n, bodies, 4))
    data = payload(Animation(np.arange(float(n)), shapes, p, q))
    assert data["radius"] > 0
    assert np.isfinite(unpacked(data["path"])).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"time": np.array([0.0, 1.0, 0.5])}, "`time` must hold at least one time and never"),
        ({"time": np.zeros(0)}, "`time` must hold at least one time"),
        (
            {"positions": np.zeros((3, 2, 2))},
            "`positions` must have shape (3, n, 3), got (3, 2, 2)",
        ),
        (
            {"positions": np.full((3, 2, 3), np.nan)},
            "`positions` must be finite, but is not at row 0",
        ),
        ({"quaternions": np.ones((3, 1, 4))}, "`quaternions` has 1 bodies, `positions` has 2"),
        ({"quaternions": np.zeros((3, 2, 4))}, "`quaternions` must not be zero"),
        ({"forces": np.zeros((3, 6))}, "`forces` must have shape (3, n, 6), got (3, 6)"),
        ({"shapes": [Shape("sphere", [1], None, 2)]}, "`shapes` names body 2; bodies are 0 to 1"),
        ({"trails": [Trail(-2)]}, "`trails` names body -2"),
        ({"view": "sid"}, "no view 'sid'; did you mean 'side'?"),
        ({"up": "x"}, "`up` must be 'z' or 'y', got 'x'"),
        ({"speed": 3.0}, "`speed` must be one of"),
    ],
)
def test_wrong_arrays_are_refused_in_one_line(change, words):
    good = {
        "time": np.arange(3.0),
        "shapes": [],
        "positions": np.zeros((3, 2, 3)),
        "quaternions": np.ones((3, 2, 4)),
    }
    Animation(**good)
    with pytest.raises(InputError) as error:
        Animation(**(good | change))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Shape("sfere", [1]), "no kind of shape 'sfere'; did you mean 'sphere'?"),
        (
            lambda: Shape("capsule", [1.0]),
            "`size` of a capsule must be 2 positive numbers, got [1.0]",
        ),
        (lambda: Shape("box", [1, -1, 1]), "`size` of a box must be 3 positive numbers"),
        (lambda: Shape("box", [1, 1, 1], (1, 0, 0)), "`rgba` must be 4 numbers, got shape (3,)"),
        (lambda: Shape("box", [1, 1, 1], quaternion=(0, 0, 0, 0)), "`quaternion` must not be zero"),
        (lambda: Plane(normal=(0, 0, 0)).as_shape(), "`normal` must not be zero"),
    ],
)
def test_wrong_shapes_are_refused_in_one_line(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)


def test_events_outside_the_motion_are_left_out(make_animation):
    a = make_animation(events=[Mark(-1.0, "early"), Mark(1.0, "in"), Mark(99.0, "late")])
    assert payload(a)["events"]["kinds"] == ["in"]
