"""The shapes of a model as the machine knows them: vertices, edges and faces of every geom.

A sphere is a vertex with a radius, a capsule an edge with one; boxes and meshes have all three.
What MuJoCo finds near is told by these parts (see `engines.core.near`).
"""

import ctypes
import functools
from typing import Any

import mujoco
import numpy as np

from stiction.engines.blueprint import Core
from stiction.engines.core import part
from stiction.engines.worlds.library import address_of

_G = mujoco.mjtGeom
# How near to a part a point lies on it, over the size of its shape. Those of meshes are found to
# MuJoCo's tolerance only, and stored in single precision.
_NEAR, _NEAR_MESH = 1e-6, 2e-5
_FLAT = 1e-6  # over the size of a mesh, by which a face of it may be bent
_AROUND = 512  # bytes


class _Solid:
    """The parts of one geom, in its own frame."""

    def __init__(self, vertices: Any = (), edges: Any = (), faces: Any = (), normals: Any = ()):
        self.vertices = np.reshape(np.array(vertices, float), (-1, 3))
        self.faces = [list(map(int, f)) for f in faces]
        self.normals = np.reshape(np.array(normals, float), (-1, 3))
        self.edges = [tuple(e) for e in edges]
        self.middles = np.array([self.vertices[f].mean(0) for f in self.faces]).reshape(-1, 3)
        self.discs = [0.0] * len(self.faces)
        self.sides: dict[tuple, list[int]] = {}
        for k, face in enumerate(self.faces):
            for i, j in zip(face, face[1:] + face[:1], strict=True):
                self.sides.setdefault((min(i, j), max(i, j)), []).append(k)
        if self.faces:
            self.edges = list(self.sides)

    def into(self, edge: tuple) -> np.ndarray:
        """From an edge into its faces, along them."""
        made = np.zeros((2, 3))
        p, q = self.vertices[list(edge)]
        along = (q - p) / np.linalg.norm(q - p)
        for k, face in enumerate(self.sides.get(edge, [])[:2]):
            d = self.middles[face] - p
            d = d - along * (along @ d)
            made[k] = d / np.linalg.norm(d)
        return made


def _solid(model: mujoco.MjModel, g: int) -> tuple[int, int, _Solid]:
    """Family of a geom, whether its parts are rounded, and its parts."""
    near = part("parts")
    size, kind = model.geom_size[g], model.geom_type[g]
    up = np.array([0, 0, 1.0])
    if kind == _G.mjGEOM_PLANE:
        solid = _Solid()
        solid.faces, solid.normals, solid.middles, solid.discs = [[]], up[None], up[None] * 0, [0.0]
        return int(near.PLANE), 0, solid
    if kind == _G.mjGEOM_SPHERE:
        return int(near.PARTS), 1, _Solid(np.zeros((1, 3)))
    if kind == _G.mjGEOM_CAPSULE:
        return int(near.PARTS), 1, _Solid([-up * size[1], up * size[1]], [(0, 1)])
    if kind == _G.mjGEOM_BOX:
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size
        sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
        out = [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]]
        return int(near.PARTS), 0, _Solid(corners, (), sides, out)
    if kind == _G.mjGEOM_MESH:
        return int(near.PARTS), 0, _of_mesh(model, int(model.geom_dataid[g]))
    if kind == _G.mjGEOM_CYLINDER:
        solid = _Solid([-up * size[1], up * size[1]], [(0, 1)])
        solid.faces, solid.normals = [[], []], np.array([-up, up])
        solid.middles, solid.discs = np.array([-up, up]) * size[1], [size[0], size[0]]
        return int(near.CYLINDER), 0, solid
    if kind == _G.mjGEOM_ELLIPSOID:
        return int(near.ELLIPSOID), 0, _Solid()
    return int(near.OTHER), 0, _Solid()


def _of_mesh(model: mujoco.MjModel, mesh: int) -> _Solid:
    first = model.mesh_polyadr[mesh]
    rows = range(first, first + model.mesh_polynum[mesh])
    rings = [
        model.mesh_polyvert[a : a + n]
        for a, n in ((model.mesh_polyvertadr[r], model.mesh_polyvertnum[r]) for r in rows)
    ]
    used = np.unique(np.concatenate(rings)) if rings else np.zeros(0, int)
    start = model.mesh_vertadr[mesh]
    vertices = model.mesh_vert[start + used].astype(float)
    size = np.ptp(vertices, axis=0).max() if len(vertices) else 0.0
    faces = [f for ring in rings for f in _flat(vertices, np.searchsorted(used, ring), size)]
    normals = np.array([_normal(vertices[face]) for face in faces]).reshape(-1, 3)
    return _Solid(vertices, (), faces, normals)


def _flat(vertices: np.ndarray, face: np.ndarray, size: float) -> list[np.ndarray]:
    """A polygon as it is, or, if it is not flat, the triangles of the convex hull that it stands
    for: MuJoCo merges faces that are nearly in one plane.
    """
    ring = vertices[face]
    n = _normal(ring)
    heights = (ring - ring.mean(axis=0)) @ n
    bend = np.abs(heights).max()
    if bend <= _FLAT * size:
        return [face]
    from scipy.spatial import ConvexHull  # few need it

    hull = ConvexHull(ring + np.outer(heights, n) * (size / bend))  # stretched along its normal
    rings = [s if _normal(ring[s]) @ n > 0 else s[::-1] for s in hull.simplices]
    return [face[s] for s, plane in zip(rings, hull.equations, strict=True) if plane[:3] @ n > 0]


def _normal(ring: np.ndarray) -> np.ndarray:
    """Outward normal of a polygon whose corners go round counter-clockwise (Newell)."""
    n = np.sum(np.cross(ring, np.roll(ring, -1, axis=0)), axis=0)
    return n / np.linalg.norm(n)


def shapes_of(
    core: Core,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    first_pair: int,
    moving: tuple[int, ...] = (),
) -> Any:
    """The machine's table of a model's shapes.

    Args:
        core: Precision and device.
        model: The model.
        data: Its data.
        first_pair: From which on pairs are found.
        moving: Geoms with a prescribed motion, in the order of these.
    """
    a, S = core.arrays, core.mujoco_layout.Geoms()
    S.count, S.first_pair = model.ngeom, first_pair
    family, rounded, solids = [], [], []
    for g in range(model.ngeom):
        f, r, solid = _solid(model, g)
        family.append(f)
        rounded.append(r)
        solids.append(solid)
    counts = {"vertex": [0], "edge": [0], "face": [0]}
    vertices, edges, into, normals, middles, discs, corners = [], [], [], [], [], [], []
    first_corner = [0]
    for g, solid in enumerate(solids):
        R, c = np.zeros(9), model.geom_pos[g]
        mujoco.mju_quat2Mat(R, model.geom_quat[g])
        R = R.reshape(3, 3)
        base = counts["vertex"][-1]
        vertices += list(solid.vertices @ R.T + c)
        edges += [(base + i, base + j) for i, j in solid.edges]
        into += [solid.into(e) @ R.T for e in solid.edges]
        normals += list(solid.normals @ R.T)
        middles += list(solid.middles @ R.T + c)
        discs += solid.discs
        for face in solid.faces:
            corners += [base + i for i in face]
            first_corner.append(len(corners))
        for name, size in (("vertex", vertices), ("edge", edges), ("face", normals)):
            counts[name].append(len(size))
    near = np.where(model.geom_type == _G.mjGEOM_MESH, _NEAR_MESH, _NEAR)
    into = np.array(into).reshape(-1, 2, 3)
    three = core.reals.vec3
    S.family, S.rounded = a.whole(family), a.whole(rounded)
    S.body, S.near = a.whole(model.geom_bodyid), a.real(near * model.geom_rbound)
    S.position, S.size = a.vec(model.geom_pos, three), a.vec(model.geom_size, three)
    S.rotation = a.vec(model.geom_quat[:, [1, 2, 3, 0]], core.reals.quat)
    S.bound = a.real(model.geom_rbound)
    motion = np.full(model.ngeom, -1)
    motion[list(moving)] = np.arange(len(moving))
    S.motion = a.whole(motion)
    for name, first in counts.items():
        setattr(S, f"first_{name}", a.whole(first))
    S.vertex = a.vec(np.reshape(vertices, (-1, 3)), three)
    S.edge = a.couples(edges)
    S.into_one, S.into_other = (a.vec(into[:, k], three) for k in (0, 1))
    S.normal = a.vec(np.reshape(normals, (-1, 3)), three)
    S.middle = a.vec(np.reshape(middles, (-1, 3)), three)
    S.disc = a.real(discs)
    S.first_corner, S.corner = a.whole(first_corner), a.whole(corners)
    _where(S, model, data)
    return S


def _where(S: Any, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Where MuJoCo is told how far to look, and where it writes what it finds."""
    S.collision, S.geom_xpos = address_of("mj_collision"), data.geom_xpos.ctypes.data
    S.geom_margin, S.body_margin = model.geom_margin.ctypes.data, model.body_margin.ctypes.data
    S.n_contacts = data.energy.ctypes.data + _contact_count()
    # The list is where it always is; it can be seen only while there is something in it.
    model.geom_margin[:] = model.body_margin[:] = 1e6
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    c = data.contact
    if data.ncon == 0:  # nothing may ever touch
        S.count = 0
        return
    S.contacts, S.contact_size = c.dist.ctypes.data, c.dist.strides[0]
    for name in ("pos", "frame", "friction", "dim", "geom", "exclude"):
        setattr(S, f"at_{name}", getattr(c, name).ctypes.data - c.dist.ctypes.data)


@functools.cache
def _contact_count() -> int:
    """How far from the energy, in `mjData`, the number of contacts is: the one place near by that
    is right for 0, 1 and 4 of them.
    """
    body = '<body><freejoint/><geom type="{}" size=".1 .1 .1"/></body>'
    text = '<mujoco><worldbody><geom type="plane" size="1 1 1"/>{}</worldbody></mujoco>'
    places = set(range(-_AROUND, _AROUND, 4))
    for shape, height in (("box", 0.05), ("sphere", 1.0), ("sphere", 0.05), ("box", 0.05)):
        model = mujoco.MjModel.from_xml_string(text.format(body.format(shape)))
        data = mujoco.MjData(model)
        for z in (height, 9.0, height):  # it comes and goes: a maximum would not
            data.qpos[2] = z
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            start = data.energy.ctypes.data - _AROUND
            raw = np.array((ctypes.c_int32 * (_AROUND // 2)).from_address(start))
            places &= {int(4 * i) - _AROUND for i in np.flatnonzero(raw == data.ncon)}
    assert len(places) == 1, f"this version of MuJoCo keeps its contacts elsewhere: {places}"
    return places.pop()
