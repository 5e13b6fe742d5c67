"""The player's JavaScript by itself: the same numbers as NumPy, meshes that are the solids."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from stiction.report.player import Shape
from stiction.report.player.markup import PROGRAM
from stiction.report.player.payload import half_sides, payload

from .browser import needs_node, node

pytestmark = needs_node
SCENE = ("maths", "shapes", "scene", "camera")


def test_all_files_are_sound_together():
    """Read as one program, with nothing drawn."""
    assert node(PROGRAM[:-1], "return 1") == 1


CORNERS = np.array([[-1.0, -1, -1], [1, -1, -1], [0, 2, -1], [0, 0, 1]])
PYRAMID = Shape(
    "mesh", vertices=CORNERS, faces=np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
)
SOLIDS = [
    (PYRAMID, abs(np.linalg.det(CORNERS[:3] - CORNERS[3])) / 6),
    (Shape("sphere", [0.7]), 4 / 3 * np.pi * 0.7**3),
    (Shape("ellipsoid", [0.7, 0.4, 0.2]), 4 / 3 * np.pi * 0.7 * 0.4 * 0.2),
    (Shape("capsule", [0.3, 0.5]), np.pi * 0.3**2 * 1.0 + 4 / 3 * np.pi * 0.3**3),
    (Shape("cylinder", [0.3, 0.5]), np.pi * 0.3**2 * 1.0),
    (Shape("box", [0.3, 0.5, 0.2]), 8 * 0.3 * 0.5 * 0.2),
]


@pytest.mark.parametrize(("shape", "volume"), SOLIDS, ids=lambda s: getattr(s, "kind", ""))
def test_meshes_are_closed_look_outwards_and_have_the_solids_volume(shape, volume):
    given = {"kind": shape.kind, "size": list(shape.size)}
    if shape.kind == "mesh":
        given |= {
            "vertices": shape.vertices.ravel().tolist(),
            "faces": shape.faces.ravel().tolist(),
        }
    given = json.dumps(given)
    mesh = node(("maths", "shapes"), f"return meshOf({given}, 40)")
    points = np.reshape(mesh["positions"], (-1, 3))
    normals = np.reshape(mesh["normals"], (-1, 3))
    triangles = np.reshape(mesh["indices"], (-1, 3))
    a, b, c = (points[triangles[:, i]] for i in range(3))
    area = np.cross(b - a, c - a) / 2
    # Divergence theorem. Facets lie inside the solid, edges are rounded off: a little less volume.
    found = np.sum(a * area) / 3
    assert 0.97 * volume < found <= volume * (1 + 1e-12)
    assert_allclose(area.sum(axis=0), 0, atol=1e-12)  # closed
    real = np.linalg.norm(area, axis=1) > 1e-12
    mean = normals[triangles].sum(axis=1)
    assert (np.sum(mean * area, axis=1)[real] > 0).all()
    assert_allclose(np.abs(points).max(axis=0), half_sides(shape), rtol=1e-9)


def test_bodies_are_where_they_should_be_between_frames(make_animation):
    a = make_animation(n=300)
    times = [0.0, 0.123, 0.7777, 1.5, 2.0, 99.0]
    code = f"""
      const scene = new Scene({json.dumps(payload(a))});
      return {times}.map((t) => [0, 1].map((b) => scene.bodyPose(b, scene.locate(t))));"""
    found = np.reshape(node(SCENE, code), (len(times), 2, 4, 4)).swapaxes(-1, -2)
    t = np.minimum(np.array(times), 2.0)
    turn = 3 * t
    assert_allclose(found[:, 0, 0, 3], np.cos(turn), atol=2e-3)  # chords of an arc
    assert_allclose(found[:, 0, 2, 3], 1 + np.sin(turn), atol=2e-3)
    expected = Rotation.from_rotvec(turn[:, None] * [0, 1, 0]).as_matrix()
    assert_allclose(found[:, 0, :3, :3], expected, atol=1e-5)
    assert_allclose(found[:, 1, :3, :3], np.tile(np.eye(3), (len(t), 1, 1)), atol=1e-6)


def test_the_first_view_holds_everything_that_moves(make_animation):
    """All corners of all that moves, at all times, on wide and on narrow screens."""
    code = f"""
      const scene = new Scene({json.dumps(payload(make_animation(n=40)))}), out = [];
      for (const aspect of [0.5, 1, 2.5]) {{
        const camera = new Camera(scene, aspect), view = camera.matrix(aspect);
        for (const t of scene.time) for (const {{ shape, model }} of scene.items(t).solids)
          for (let k = 0; k < (shape.body < 0 ? 0 : 8); k++) {{
            const half = shape.kind === "box" ? shape.size : [0.1, 0.1, 0.1];
            const p = moved(model, half.map((h, i) => ((k >> i) & 1 ? h : -h)));
            const q = moved(view, p), depth = [3, 7, 11].map((i) => view[i]);
            const w = dot(depth, p) + view[15];
            out.push(Math.abs(q[0] / w), Math.abs(q[1] / w));
          }}
      }}
      return [Math.max(...out), out.length];"""
    largest, count = node(SCENE, code)
    assert count > 5_000
    assert 0.7 < largest < 1.0  # inside the picture, and filling it


def test_arrows_have_the_length_that_the_legend_says(make_animation):
    a = make_animation()
    data = payload(a)
    code = f"""
      const scene = new Scene({json.dumps(data)});
      return [0.1, 1.9].map((t) => scene.arrows(t, []).map((i) => i.model));"""
    before, after = node(SCENE, code)
    assert before == []
    shaft, tip = np.reshape(after, (2, 4, 4))
    length = tip[3, 2] + np.linalg.norm(tip[2, :3])
    assert_allclose(length, 100 * data["metresPerNewton"], rtol=1e-6)
    assert_allclose(tip[2, :3] / np.linalg.norm(tip[2, :3]), [0, 0, 1], atol=1e-9)
    assert_allclose(shaft[3, 2] * 2, tip[3, 2], rtol=1e-6)  # from the contact to the head
