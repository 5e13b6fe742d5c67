"""Make untidy model files compile without changing what they say about motion.

Real robot files lack their meshes, have links without mass between two joints, inertias that no
solid body could have, textures that are nowhere. MuJoCo's compiler refuses these; none of them
touches the equations of motion. Inertias that the compiler would refuse are put aside, replaced by
a placeholder for the compiler's sake, and put back, exact, when the compiled model is read.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from stiction._base.errors import InputError

_MESH_SUFFIXES = (".stl", ".obj", ".msh")  # what MuJoCo's compiler reads
_MIN_INERTIA = 1e-14  # MuJoCo's mjMINVAL is 1e-15


@dataclass
class Inertial:
    """Mass, centre of mass and inertia of a body as the file gives them, in the body's frame."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray


@dataclass
class Tidied:
    """What was put aside, for `read`, and what to tell the user."""

    inertials: dict[str, Inertial] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def free_root(spec: mujoco.MjSpec) -> None:
    """Let a URDF's root move freely."""
    roots = spec.worldbody.bodies
    if len(roots) != 1:
        names = ", ".join(b.name for b in roots)
        raise InputError(f"`base='free'` needs one root link, found {len(roots)}: {names}")
    if roots[0].joints:
        raise InputError(f"`base='free'` but the root '{roots[0].name}' already has a joint")
    joint = roots[0].add_freejoint()
    joint.name = "root"


def tidy(spec: mujoco.MjSpec, *, urdf: bool) -> Tidied:
    """Drop what is absent and serves pictures or contact only; put odd inertias aside."""
    tidied = Tidied()
    _name_bodies(spec)
    spec.compiler.discardvisual = False
    if urdf and spec.compiler.inertiafromgeom != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
        # A URDF link without <inertial> has no mass, whatever shape it has.
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    _drop_materials(spec)
    _drop_absent_meshes(spec, tidied)
    for body in spec.bodies:
        if body.name != "world":
            _put_inertia_aside(spec, body, tidied)
    affine = mujoco.mjtBias.mjBIAS_AFFINE
    servos = (a for a in spec.actuators if a.biastype == affine)
    if tidied.inertials and any(a.biasprm[2] > 0 for a in servos):
        raise InputError(
            "`dampratio` of a position actuator cannot be used in a file with massless bodies;"
            " give `kv` instead"
        )
    if any(body.mocap for body in spec.bodies):
        tidied.ignored.append("mocap bodies: they stand still")
    return tidied


def _name_bodies(spec: mujoco.MjSpec) -> None:
    """Give every body a name, so that what was put aside finds its way back."""
    taken = {body.name for body in spec.bodies}
    count = 0
    for body in spec.bodies:
        while not body.name:
            candidate = f"body{count}"
            count += 1
            if candidate not in taken:
                body.name = candidate


def _drop_materials(spec: mujoco.MjSpec) -> None:
    """Keep the colours, drop materials and textures (whose files may be anywhere)."""
    colors = {material.name: np.array(material.rgba) for material in spec.materials}
    for element in (*spec.geoms, *spec.sites):
        if element.material in colors:
            element.rgba = colors[element.material]
        element.material = ""
    for element in (*spec.materials, *spec.textures, *spec.skins):
        spec.delete(element)


def _drop_absent_meshes(spec: mujoco.MjSpec, tidied: Tidied) -> None:
    """Leave out geoms whose mesh is absent.

    Bodies that take their inertia from them get another, which is a guess and said to be one: a
    ball with the density of water if the mass is given, and nothing if it is not.
    """
    absent = {mesh.name: mesh.file for mesh in spec.meshes if not _readable(spec, mesh)}
    if not absent:
        return
    from_geoms = spec.compiler.inertiafromgeom
    always = from_geoms == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    never = from_geoms == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    dropped, balls, weightless = 0, [], []
    for geom in list(spec.geoms):
        if geom.meshname not in absent:
            continue
        body = geom.parent
        counts = geom.density != 0 and geom.mass != 0
        if (always or not body.explicitinertial) and counts and not never and body.name != "world":
            if np.isfinite(geom.mass):
                balls.append(body.name)
                radius = (3 * geom.mass / (4000 * np.pi)) ** (1 / 3)
                body.add_geom(
                    type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], mass=geom.mass,
                    pos=geom.pos, contype=0, conaffinity=0, rgba=geom.rgba,
                )  # fmt: skip
            else:
                weightless.append(body.name)
        spec.delete(geom)
        dropped += 1
    for mesh in list(spec.meshes):
        if mesh.name in absent:
            spec.delete(mesh)
    note = f"{len(absent)} mesh files are absent or not readable; {dropped} geoms dropped"
    guessed = [
        f"{what}: {_some(names)}"
        for what, names in (
            ("inertia guessed as that of a ball of water", balls),
            ("without mass, as far as it came from a mesh", weightless),
        )
        if names
    ]
    tidied.ignored.append("; ".join([note, *guessed]))
    given = "; ".join(guessed) if guessed else "inertias are given, so the motion is unchanged"
    tidied.warnings.append(f"{note} ({given})")


def _some(names: list[str]) -> str:
    """Names, the first few of them."""
    names = list(dict.fromkeys(names))
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _readable(spec: mujoco.MjSpec, mesh: Any) -> bool:
    if not mesh.file:
        return True  # given by its vertices
    if Path(mesh.file).suffix.lower() not in _MESH_SUFFIXES:
        return False
    if mesh.file in spec.assets:
        return True
    folder = Path(spec.modelfiledir or ".")
    return any((folder / d / mesh.file).is_file() for d in ("", spec.compiler.meshdir or ""))


def _put_inertia_aside(spec: mujoco.MjSpec, body: Any, tidied: Tidied) -> None:
    never = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    if body.explicitinertial:
        given = _explicit_inertial(spec, body)
    elif never or not _weighs(body):
        given = Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    else:
        return  # the compiler computes it from the geoms
    if not np.isfinite(given.mass) or given.mass < 0:
        raise InputError(f"`mass` of body '{body.name}' must be >= 0 [kg], got {given.mass:g}")
    if not np.all(np.isfinite(given.inertia)):
        raise InputError(f"`inertia` of body '{body.name}' must be finite, got nan or inf")
    if _acceptable(given):
        return
    tidied.inertials[body.name] = given
    body.explicitinertial = True
    body.mass = 1.0
    # Off the body's origin: else the compiler takes shortcuts that hold for no other inertia.
    body.ipos = np.ones(3)
    body.iquat = np.array([1.0, 0, 0, 0])
    body.ialt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    body.fullinertia = np.array([np.nan, 0, 0, 0, 0, 0])
    body.inertia = np.ones(3)


def _explicit_inertial(spec: mujoco.MjSpec, body: Any) -> Inertial:
    full = np.array(body.fullinertia, float)
    if np.isnan(full[0]):
        inertia = np.diag(np.array(body.inertia, float))
    else:
        xx, yy, zz, xy, xz, yz = full
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    quaternion = np.array(body.iquat, float)
    if body.ialt.type != mujoco.mjtOrientation.mjORIENTATION_QUAT:
        sequence = spec.compiler.eulerseq
        quaternion = spec.resolve_orientation(
            degree=bool(spec.compiler.degree), sequence=sequence, orientation=body.ialt
        )
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, np.asarray(quaternion, float) / np.linalg.norm(quaternion))
    R = R.reshape(3, 3)
    return Inertial(float(body.mass), np.array(body.ipos, float), R @ inertia @ R.T)


def _weighs(body: Any) -> bool:
    return any(geom.density != 0 and geom.mass != 0 for geom in body.geoms)


def _acceptable(given: Inertial) -> bool:
    """Whether MuJoCo's compiler takes it: massive, and with the moments of a solid body."""
    a, b, c = np.linalg.eigvalsh(given.inertia)
    return bool(given.mass > _MIN_INERTIA and a > _MIN_INERTIA and a + b >= c)
