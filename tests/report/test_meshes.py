"""Triangles in reports: meshes of models, thinned out, and height fields."""

import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

from stiction.report.meshes import field_mesh, model_meshes, thinned
from stiction.scenes import scene
from stiction.surfaces import height_field


def volume(vertices, faces):
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return np.sum(a * np.cross(b, c)) / 6


def ball(n=6000):
    """A ball of radius 1, as fine as scanned meshes are; faces look outwards."""
    k = np.arange(n) + 0.5
    z, turn = 1 - 2 * k / n, np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    points = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
    faces = ConvexHull(points).simplices
    a, b, c = (points[faces[:, i]] for i in range(3))
    inwards = np.sum(a * np.cross(b - a, c - a), axis=1) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return points, faces


def test_a_fine_mesh_is_thinned_out_and_stays_the_same_body():
    points, faces = ball()
    vertices, fewer = thinned(points, faces, most=3000)
    assert len(fewer) <= 3000 < len(faces)
    assert volume(vertices, fewer) == pytest.approx(volume(points, faces), rel=0.03)
    edges = np.sort(np.concatenate([fewer[:, [0, 1]], fewer[:, [1, 2]], fewer[:, [2, 0]]]), axis=1)
    _, count = np.unique(edges, axis=0, return_counts=True)
    assert np.all(count % 2 == 0)  # no holes


def test_a_coarse_mesh_stays_as_it_is():
    points, faces = ball(50)
    vertices, same = thinned(points, faces)
    assert_allclose(vertices, points)
    assert_allclose(same, faces)


WEDGE = """<mujoco><asset>
  <mesh name="wedge" vertex="0 0 0  1 0 0  0 0.5 0  0 0 0.2"/>
  <material name="gold" rgba="1 0.8 0.2 1"/></asset>
  <worldbody><body name="flyer" pos="0 0 2"><freejoint/>
    <geom name="shown" type="mesh" mesh="wedge" pos="3 0 0" material="gold"/>
    <geom name="simple" size="0.1" group="3"/>
  </body></worldbody></mujoco>"""


def test_a_model_is_drawn_with_its_meshes(tmp_path):
    """In place, in the material's colour, without what is meant for collisions."""
    from stiction.report.animate import animation

    (tmp_path / "wedge.xml").write_text(WEDGE)
    (tmp_path / "scene.toml").write_text(
        'until = 0.1\nsamples = 3\n[mechanism]\nfile = "wedge.xml"\n[contact]\nlaw = "none"\n'
    )
    run = scene(tmp_path / "scene.toml").run()
    drawn = animation(run, model_meshes(run.mechanism.compiled.model)).shapes
    (mesh,) = (s for s in drawn if s.kind == "mesh")
    assert not any(s.kind == "sphere" for s in drawn)
    assert_allclose(mesh.rgba, [1, 0.8, 0.2, 1], atol=1e-4)
    # MuJoCo turns and shifts a mesh to its own axes; in the body's frame it is where it was put.
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, mesh.quaternion)
    corners = mesh.vertices @ R.reshape(3, 3).T + mesh.position
    expected = np.array([[3, 0, 0], [4, 0, 0], [3, 0.5, 0], [3, 0, 0.2]])
    assert_allclose(np.sort(corners, axis=0), np.sort(expected, axis=0), atol=1e-6)


def test_models_without_meshes_have_none():
    model = mujoco.MjModel.from_xml_string(WEDGE.replace('type="mesh" mesh="wedge"', 'size="1"'))
    assert model_meshes(model) == {}


def test_a_height_field_is_drawn_where_it_is_touched():
    heights = np.array([[0.0, 0.1, 0.0], [0.2, 0.5, 0.1], [0.0, 0.0, 0.3]])
    field = height_field(heights, np.array([0.5, 1.0]), position=np.array([1.0, 2.0, 0.25]))
    mesh = field_mesh(field)
    x, y, z = mesh.vertices.T
    assert_allclose([x.min(), x.max(), y.min(), y.max()], [0.5, 1.5, 1.0, 3.0])
    middle = np.argmin((x - 1) ** 2 + (y - 2) ** 2)
    assert z[middle] == pytest.approx(0.75, abs=1e-12)
    for i in (0, len(z) // 3, len(z) - 1):
        assert z[i] == pytest.approx(float(field.elevation(jnp.asarray(x[i]), jnp.asarray(y[i]))))
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    assert np.all(np.cross(b - a, c - a)[:, 2] > 0)  # seen from above
