"""The contact model that a setup describes."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from stiction._base.errors import InputError
from stiction.identify.contact.calibration import Calibration
from stiction.identify.contact.inertia import CarriedInertia
from stiction.identify.contact.model import ContactModel, Material
from stiction.identify.contact.plates import plates
from stiction.identify.contact.shapes import (
    AbstractShape,
    Cylinder,
    Sphere,
    box,
    convex_mesh,
    h_peg,
)
from stiction.identify.kinds.contact_setup import ContactSetup, MeshShape, Shape

SLIP_FLOOR = 1e-6  # m/s, where the setup gives none


def contact_model(setup: ContactSetup, folder: Path = Path()) -> ContactModel:
    """The contact model of a setup.

    Args:
        setup: Shapes, surfaces, wanted parameters.
        folder: Where mesh files named in the setup lie.
    """
    body = tuple(_shape(s, folder) for s in setup.body)
    n_points = sum(s.n_points for s in body)
    allowed = np.ones((len(setup.surfaces), n_points), dtype=bool)
    for row, s in zip(allowed, setup.surfaces, strict=True):
        if s.contacts is not None:
            outside = [i for i in s.contacts if not 0 <= i < n_points]
            if outside:
                raise InputError(
                    f"`surfaces.{s.name}.contacts` must number points 0 to {n_points - 1},"
                    f" got {outside[0]}"
                )
            row[:] = np.isin(np.arange(n_points), s.contacts)
    names = list(dict.fromkeys(s.material or s.name for s in setup.surfaces))
    firsts = [next(s for s in setup.surfaces if (s.material or s.name) == n) for n in names]
    materials = tuple(
        Material(
            name=name,
            damping="c" in s.wanted,
            dissipation="alpha" in s.wanted,
            friction=s.friction_of if "mu" in s.wanted else "none",
            bristle=bool({"k_f", "mu_s"} & set(s.wanted)),
            exponent="lambda" in s.wanted,
            offset="offset" in s.wanted,
        )
        for name, s in zip(names, firsts, strict=True)
    )
    extents = [s.half_size or [np.inf, np.inf] for s in setup.surfaces]
    return ContactModel(
        body=body,
        plates=plates(
            [s.point for s in setup.surfaces], [s.normal for s in setup.surfaces], extents
        ),
        allowed=jnp.asarray(allowed),
        exponent=jnp.asarray([s.exponent for s in firsts]),
        slip_floor=jnp.asarray(setup.method.slip_floor or SLIP_FLOOR),
        reference=jnp.asarray(setup.wrench.point, dtype=float),
        calibration=Calibration.none(len(setup.surfaces)),
        axes=setup.wrench.frame,
        materials=materials,
        material_of=tuple(names.index(s.material or s.name) for s in setup.surfaces),
        bias=setup.wrench.bias,
        may_pull=setup.method.may_pull,
    )


def carried_inertia(setup: ContactSetup) -> CarriedInertia | None:
    """Mass properties of what hangs on the sensor, if the setup gives them."""
    i = setup.inertia
    if i is None:
        return None
    return CarriedInertia(
        jnp.asarray(i.mass), jnp.asarray(i.center), jnp.asarray(i.matrix), jnp.asarray(i.gravity)
    )


def _shape(s: Shape, folder: Path) -> AbstractShape:
    if s.shape == "box":
        return box(np.array(s.half_size), np.array(s.center))
    if s.shape == "sphere":
        return Sphere(jnp.asarray(s.center), jnp.asarray(s.radius))
    if s.shape == "cylinder":
        axis = np.array(s.axis) / np.linalg.norm(s.axis)
        return Cylinder(
            jnp.asarray(s.center),
            jnp.asarray(axis),
            jnp.asarray(s.radius),
            jnp.asarray(s.half_length),
        )
    if s.shape == "h-peg":
        return h_peg(s.width, s.height, s.depth, s.leg)
    return convex_mesh(_vertices(s, folder) * s.scale)


def _vertices(s: MeshShape, folder: Path) -> np.ndarray:
    if s.vertices is not None:
        return np.array(s.vertices)
    import mujoco

    path = folder / str(s.file)
    if not path.is_file():
        raise InputError(f"no mesh '{path}' (`body.file`); check the path")
    spec = mujoco.MjSpec()
    spec.add_mesh(name="m", file=str(path.resolve()))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="m")
    try:
        model = spec.compile()
    except ValueError as error:
        raise InputError(f"mesh '{path}' (`body.file`) cannot be read: {error}") from None
    # MuJoCo centres meshes and turns them to their principal axes; turn them back.
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_quat(model.mesh_quat[0], scalar_first=True)
    return turn.apply(model.mesh_vert) + model.mesh_pos[0]
