"""Convex bodies that both move: the region of overlap, and parameters found through it (ma 2.1)."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from stiction._base.errors import InputError
from stiction.identify.contact.convex import ConvexBody, RigidMotion, contact_region
from stiction.identify.contact.convex_fit import fit_regions, region_columns

CUBE = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))


def still(position, rotation=None):
    R = np.eye(3) if rotation is None else rotation.as_matrix()
    return RigidMotion(np.array(position, float), R, np.zeros(3), np.zeros(3))


def test_two_cubes_overlap_in_a_box():
    one, two = ConvexBody(CUBE), ConvexBody(CUBE)
    found = contact_region(one, still([0.1, 0.2, 0.97]), two, still([0, 0, 0]))
    assert_allclose(found.volume, 0.9 * 0.8 * 0.03, rtol=1e-9)
    assert_allclose(found.point, [0.05, 0.1, 0.485], atol=1e-9)
    # Two sides of the lower cube bound the box too; the normal points into the upper one, body 1.
    areas = np.array([0.8 * 0.03, 0.9 * 0.03, 0.9 * 0.8])
    assert_allclose(found.normal, areas / np.linalg.norm(areas), atol=1e-9)
    assert_allclose(found.depth, 0.03 / found.normal[2], rtol=1e-9)
    inner = contact_region(ConvexBody(0.5 * CUBE), still([0.1, 0.0, 0.72]), two, still([0, 0, 0]))
    assert_allclose(inner.normal, [0, 0, 1], atol=1e-9)
    assert_allclose(inner.depth, 0.03, rtol=1e-9)
    assert contact_region(one, still([0, 0, 1.01]), two, still([0, 0, 0])) is None
    assert contact_region(one, still([0, 0, 1.0]), two, still([0, 0, 0])) is None


def test_a_corner_in_a_face_is_as_deep_as_its_vertex_and_has_the_faces_normal():
    turn = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0]  # a corner points down
    corner = still([0, 0, 0.5 * np.sqrt(3) - 0.02], turn)
    plate = ConvexBody(CUBE * [4, 4, 1])
    found = contact_region(ConvexBody(CUBE), corner, plate, still([0, 0, -0.5]))
    assert_allclose(found.normal, [0, 0, 1], atol=1e-9)
    assert_allclose(found.depth, 0.02, rtol=1e-6)
    assert_allclose(found.point, [0, 0, -0.02 / 4], atol=1e-9)  # centroid of a pyramid
    assert found.weights[1] == pytest.approx({"body": 1.0})


@pytest.mark.parametrize("seed", range(5))
def test_regions_are_the_same_wherever_one_looks_from(seed):
    """Exchange of the bodies turns the normal round; a common motion moves all along."""
    rng = np.random.default_rng(seed)
    one, two = (ConvexBody(rng.normal(size=(12, 3))) for _ in range(2))
    poses = [
        RigidMotion(np.array([i / 10, 0.2, 0]), Rotation.random(random_state=seed + i).as_matrix(),
                    rng.normal(size=3), rng.normal(size=3)) for i in (10, 26)
    ]  # fmt: skip
    found = contact_region(one, poses[0], two, poses[1])
    other = contact_region(two, poses[1], one, poses[0])
    assert_allclose(other.normal, -found.normal, atol=1e-7)
    for name in ("depth", "volume", "depth_rate"):
        assert_allclose(getattr(other, name), getattr(found, name), rtol=1e-6, atol=1e-9)
    assert_allclose(other.slip, -found.slip, atol=1e-6)
    assert_allclose(sum(found.weights[0].values()), 1.0)
    # The volume by counting points.
    lots = rng.uniform(-3, 3, size=(200_000, 3))
    planes = np.concatenate([poses[0].planes(one), poses[1].planes(two)])
    inside = np.all(lots @ planes[:, :3].T + planes[:, 3] <= 0, axis=1)
    assert_allclose(found.volume, inside.mean() * 6**3, rtol=0.1, atol=0.02)
    turn = Rotation.random(random_state=seed + 30)
    R, shift = turn.as_matrix(), rng.normal(size=3)
    moved = [
        RigidMotion(R @ p.position + shift, R @ p.rotation, R @ p.velocity, R @ p.angular_velocity)
        for p in poses
    ]
    again = contact_region(one, moved[0], two, moved[1])
    assert_allclose(again.point, R @ found.point + shift, atol=1e-7)
    assert_allclose(again.normal, R @ found.normal, atol=1e-7)
    assert_allclose(again.depth_rate, found.depth_rate, atol=1e-7)


def _pushes(rng, count=60):
    """A wedge that is pressed on both slopes of a roof, both of them moving."""
    roof = ConvexBody(
        np.array([[-1, -1, -0.5], [1, -1, -0.5], [-1, 1, -0.5], [1, 1, -0.5], [0, -1, 0.3],
                  [0, 1, 0.3]])
    )  # fmt: skip
    normals = roof.faces[:, :3]
    names = ["left" if n[0] < -0.1 else "right" if n[0] > 0.1 else "other" for n in normals]
    roof = ConvexBody(roof.vertices, tuple(names))
    cube = ConvexBody(0.4 * CUBE)
    out = []
    for _ in range(count):
        base = RigidMotion(rng.normal(size=3) * 0.1, Rotation.from_rotvec(
            rng.normal(size=3) * 0.2).as_matrix(), rng.normal(size=3) * 0.1,
            rng.normal(size=3) * 0.1)  # fmt: skip
        x = rng.uniform(-0.6, 0.6)
        height = 0.47 - 0.8 * max(abs(x) - 0.2, 0)
        place = np.array([x, rng.uniform(-0.3, 0.3), height])
        turn = Rotation.from_rotvec(rng.normal(size=3) * 0.3).as_matrix()
        tool = RigidMotion(
            base.position + base.rotation @ place, base.rotation @ turn,
            base.velocity + rng.normal(size=3) * 0.2, rng.normal(size=3) * 0.3,
        )  # fmt: skip
        out.append(contact_region(cube, tool, roof, base))
    return out


TRUTH = {"left": {"k": 8000.0, "c": 150.0, "mu": 0.3}, "right": {"k": 3000.0, "c": 40.0, "mu": 0.1}}


def _wrench(region, truth):
    """The law written out, not by the columns."""
    if region is None:
        return np.zeros(6)
    speed = np.linalg.norm(region.slip)
    f = np.zeros(3)
    for name, weight in region.weights[1].items():
        if name in truth:
            k, c, mu = truth[name].values()
            push = k * region.depth
            f += weight * ((push + c * region.depth_rate) * region.normal
                           - mu * push * region.slip / speed)  # fmt: skip
    return np.concatenate([f, np.cross(region.point, f)])


def test_both_slopes_come_back_exactly_and_corners_over_the_ridge_have_both(rng):
    regions = [r for r in _pushes(rng) if r is not None and "other" not in r.weights[1]]
    both = [r for r in regions if len(r.weights[1]) == 2]
    assert len(both) > 5
    assert len(regions) - len(both) > 5
    wrench = np.array([_wrench(r, TRUTH) for r in regions])
    fit = fit_regions(regions, wrench, ("left", "right"))
    for name, values in TRUTH.items():
        for key, value in values.items():
            assert_allclose(fit.values[name][key], value, rtol=1e-8)


def test_noise_is_covered_by_the_errors_that_are_told(rng):
    regions = [r for r in _pushes(rng, 80) if r is not None and "other" not in r.weights[1]]
    clean = np.array([_wrench(r, TRUTH) for r in regions])
    pulls = []
    for _ in range(40):
        noise = rng.normal(size=clean.shape) * np.repeat([2.0, 0.2], 3)
        fit = fit_regions(regions, clean + noise, ("left", "right"))
        pulls += [(fit.values[m][n] - TRUTH[m][n]) / fit.errors[m][n] for m in TRUTH for n in "kc"]
    assert 0.8 < np.std(pulls) < 1.25


def test_what_was_never_touched_is_named(rng):
    regions = [r for r in _pushes(rng, 20) if r is not None]
    with pytest.raises(InputError, match="never touched"):
        fit_regions(regions, np.zeros((len(regions), 6)), ("left", "bottom"))
    with pytest.raises(InputError, match="wholly inside"):
        contact_region(ConvexBody(0.1 * CUBE), still([0, 0, 0]), ConvexBody(CUBE), still([0, 0, 0]))
    with pytest.raises(InputError, match="never overlap"):
        fit_regions([None], np.zeros((1, 6)), ("left",))
    columns = region_columns(regions[0], ("left", "right"))
    assert columns.shape == (6, 6)
