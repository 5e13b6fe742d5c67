"""Where a motion went through what it may touch: looked up in its samples, by MuJoCo.

Pairs of geoms come from `mj_collision`. Against planes, which a scenario may tilt and move, the
lowest point of each shape is known: h(n), its support function along the plane's normal n.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from stiction._base.arrays import Float
from stiction.mechanism import Mechanism
from stiction.surfaces.supports import Planes
from stiction.surfaces.touching import Pair, still_planes


class Penetration(NamedTuple):
    """How far one thing went into another."""

    first: str
    second: str
    depth: float  # the largest [m]
    time: float  # when it was first deeper than allowed [s]
    treated: bool  # whether contact between them was looked for

    def __str__(self) -> str:
        return (
            f"{self.first} and {self.second} penetrate by {self.depth:.3g} m"
            f" from {self.time:.6g} s on"
        )


def find_penetrations(
    mechanism: Mechanism,
    pairs: Sequence[Pair],
    ground: Planes,
    time: Float[np.ndarray, " n"],
    q: Float[np.ndarray, "n nq"],
    allowed_depth: dict[bool, float],
) -> list[Penetration]:
    """The pairs that penetrate in samples of a motion, the deepest first.

    Shapes and bodies are taken as the model was loaded.

    Args:
        mechanism: What moved.
        pairs: What may touch, from `touching_table`.
        ground: The planes.
        time: Of each sample [s].
        q: Configuration at each sample.
        allowed_depth: How deep is no fault, of pairs that were treated and of the others [m].
    """
    model = mechanism.compiled.model.__copy__()
    model.geom_contype[still_planes(mechanism)] = 0
    model.geom_conaffinity[still_planes(mechanism)] = 0
    data = mujoco.MjData(model)
    names = mechanism.shapes.names
    on_ground = [p for p in pairs if p.second in ground.names]
    known = {frozenset((p.first, p.second)): p for p in pairs if p.second not in ground.names}
    lowest = {p.first: _support(model, names.index(p.first)) for p in on_ground}
    motion = ground.motion
    if np.asarray(motion.velocity).any() or np.asarray(motion.amplitude).any():
        shift = np.asarray(jax.vmap(motion.shift)(jnp.asarray(time)))  # (n, n_planes, 3)
    else:
        shift = np.zeros((len(time), *np.shape(motion.velocity)))
    origin, normal = np.asarray(ground.position), np.asarray(ground.rotation)[:, :, 2]
    deepest: dict[Pair, Penetration] = {}

    def note(pair: Pair | None, depth: float, t: float) -> None:
        if pair is None or not depth > allowed_depth[pair.treated]:
            return
        before = deepest.get(pair, Penetration(pair.first, pair.second, 0.0, t, pair.treated))
        deepest[pair] = before._replace(depth=max(before.depth, depth))

    for k in np.flatnonzero(np.isfinite(q).all(axis=1)):
        t = float(time[k])
        data.qpos[:] = q[k]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        geoms, distance = data.contact.geom, data.contact.dist
        for i in np.flatnonzero(distance < 0):
            between = frozenset(names[g] for g in geoms[i])
            note(known.get(between), -float(distance[i]), t)
        for pair in on_ground:
            g, plane = names.index(pair.first), ground.names.index(pair.second)
            n = normal[plane]
            height = (data.geom_xpos[g] - origin[plane] - shift[k, plane]) @ n
            note(pair, float(lowest[pair.first](data.geom_xmat[g].reshape(3, 3).T @ n) - height), t)
    return sorted(deepest.values(), key=lambda p: -p.depth)


def _support(model: mujoco.MjModel, geom: int):
    """h(n) of a geom: how far it reaches against a direction n of its own frame [m]."""
    kind, size = mujoco.mjtGeom(model.geom_type[geom]), np.array(model.geom_size[geom])
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return lambda n: size[0]
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return lambda n: size[0] + size[1] * abs(n[2])
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return lambda n: np.linalg.norm(size * n)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return lambda n: size[0] * np.hypot(n[0], n[1]) + size[1] * abs(n[2])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return lambda n: size @ np.abs(n)
    mesh = model.geom_dataid[geom]
    if kind != mujoco.mjtGeom.mjGEOM_MESH:
        return lambda n: -np.inf  # a height field that moves, a signed distance: not looked up
    start = model.mesh_vertadr[mesh]
    vertices = np.array(model.mesh_vert[start : start + model.mesh_vertnum[mesh]], float)
    return lambda n: -np.min(vertices @ n)
