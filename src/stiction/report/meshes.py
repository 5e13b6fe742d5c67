"""Triangles to look at: the meshes of a model, thinned out, and ground that is not flat."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from stiction._base.arrays import Float, Int
from stiction.mechanism import Mechanism
from stiction.report.player import Shape
from stiction.surfaces import HeightField

Triangles = tuple[Float[np.ndarray, "_ 3"], Int[np.ndarray, "_ 3"]]  # vertices and faces

MOST_FACES = 3000  # of a mesh in a page: more cannot be told apart there
_HIDDEN_GROUPS = 3  # from here on MuJoCo's viewer hides geoms: simplified ones for collisions
_COARSER = 1.3  # times, from one try to the next
_EARTH = (0.66, 0.70, 0.64, 1.0)
_PATCHES = 100  # along the longer side of a height field


def drawn(mechanism: Mechanism) -> list[bool]:
    """Which shapes are drawn: MuJoCo's groups 0 to 2, and the others of bodies that lack these."""
    shapes = mechanism.shapes
    usual = [group < _HIDDEN_GROUPS for group in shapes.groups]
    seen = {body for body, shown in zip(shapes.bodies, usual, strict=True) if shown}
    return [shown or body not in seen for body, shown in zip(shapes.bodies, usual, strict=True)]


def model_meshes(model: mujoco.MjModel) -> dict[int, Triangles]:
    """The triangles of those geoms of a compiled model that are meshes."""
    found = {}
    for g in np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_MESH):
        i = model.geom_dataid[g]
        vertices = slice(model.mesh_vertadr[i], model.mesh_vertadr[i] + model.mesh_vertnum[i])
        faces = slice(model.mesh_faceadr[i], model.mesh_faceadr[i] + model.mesh_facenum[i])
        found[int(g)] = thinned(
            np.array(model.mesh_vert[vertices], float), np.array(model.mesh_face[faces], int)
        )
    return found


def thinned(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"], most: int = MOST_FACES
) -> Triangles:
    """The same surface with fewer triangles: vertices that share a cell become their mean."""
    size = float(np.ptp(vertices, axis=0).max())
    cell = size / np.sqrt(most)
    while len(faces) > most:
        keys = np.floor((vertices - vertices.min(axis=0)) / cell).astype(int)
        _, merged, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        merged = merged.reshape(-1)
        means = np.zeros((len(count), 3))
        np.add.at(means, merged, vertices)
        corners = merged[faces]
        flat = np.any(corners == np.roll(corners, 1, axis=1), axis=1)
        vertices, faces = means / count[:, None], corners[~flat]
        cell *= _COARSER
    return vertices, faces


def field_mesh(field: HeightField) -> Shape:
    """A height field as triangles."""
    half = np.asarray(field.spacing) * (np.array(field.coefficients.shape) - 1) / 2
    step = 2 * half.max() / _PATCHES
    along = [np.linspace(-h, h, max(int(np.ceil(2 * h / step)), 1) + 1) for h in half]
    x, y = (
        np.asarray(field.position)[i] + a for i, a in enumerate(np.meshgrid(*along, indexing="ij"))
    )
    z = jax.jit(jax.vmap(field.elevation))(jnp.asarray(x.ravel()), jnp.asarray(y.ravel()))
    corner = np.arange(x.size).reshape(x.shape)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    faces = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    vertices = np.stack([x.ravel(), y.ravel(), np.asarray(z)], axis=1)
    return Shape("mesh", rgba=_EARTH, vertices=vertices, faces=faces)
