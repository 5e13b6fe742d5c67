"""Read an OpenSim model: bodies, joints, coordinates, couplings, markers, contact spheres.

Muscles, wrapping, geometry files, controllers and probes play no part in where the ground pushes;
what was passed over is said in the subject's notes.
"""

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.biped.opensim import document
from stiction.biped.opensim.functions import KINDS, Term, read_term, tabulate
from stiction.biped.opensim.joints import Joint, read_motion_of_joint
from stiction.biped.opensim.skeleton import Skeleton
from stiction.biped.subject.subject import NO_POINTS, Coordinate, Points, Subject, SubjectBodies

GROUND = "ground"
JOINTS_BESIDE_BODIES = 40000  # the version from which on joints are not inside bodies


def read_osim(path: str | Path) -> Subject:
    """A subject from an OpenSim model file (.osim), of version 2.x, 3.x or 4.x.

    Raises:
        InputError: The file is absent or broken, or has joints or functions that are not known.
    """
    root = document.parse(path)
    model = root.find("Model")
    if model is None:
        raise InputError(f"`{path}` must hold a <Model>; give the model, not a setup file")
    elements = [e for e in document.objects(model, "BodySet") if e.tag == "Body"]
    elements = [e for e in elements if document.name_of(e) != GROUND]
    if not elements:
        raise InputError(f"`{path}` must hold a model with bodies, it has none")
    if document.version(root) >= JOINTS_BESIDE_BODIES:
        joints = [_read_joint_beside(e) for e in document.objects(model, "JointSet")]
    else:
        joints = [_read_joint_inside(e) for e in elements]
    names, joints = _in_order([document.name_of(e) for e in elements], joints)
    by_name = {document.name_of(e): e for e in elements}
    coordinates = [c for joint in joints for c in joint.coordinates]
    couplings, notes = _read_constraints(model)
    coordinates = _coupled(coordinates, couplings)
    parents = [0, *(names.index(j.parent) for j in joints)]
    skeleton = _skeleton(joints, coordinates, couplings, parents[1:])
    inertias = [_read_inertia(by_name[name]) for name in names[1:]]
    return Subject(
        name=document.name_of(model),
        bodies=SubjectBodies(
            skeleton,
            jax.device_put(np.array([0.0, *(m for m, _, _ in inertias)])),
            jax.device_put(np.array([np.zeros(3), *(c for _, c, _ in inertias)])),
            jax.device_put(np.array([np.zeros((3, 3)), *(i for _, _, i in inertias)])),
            jax.device_put(document.numbers(model, "gravity", 3, (0.0, -9.80665, 0.0))),
        ),
        coordinates=tuple(coordinates),
        body_names=tuple(names),
        parents=tuple(parents),
        joints=np.array([np.zeros(3), *(j.in_child[1] for j in joints)]),
        base=tuple(c.name for j in joints if j.parent == GROUND for c in j.coordinates),
        markers=_read_points(model, "MarkerSet", ("Marker",), names, "markers of the model"),
        soles=read_contact_spheres(model, names),
        notes=(*_left_out(model), *notes),
    )


def read_contact_spheres(parent: ET.Element, body_names: list[str]) -> Points:
    """The ContactSpheres of a model or of a document with a ContactGeometrySet."""
    source = "contact spheres"
    return _read_points(parent, "ContactGeometrySet", ("ContactSphere",), body_names, source)


def _read_points(
    parent: ET.Element, set_name: str, tags: tuple[str, ...], body_names: list[str], source: str
) -> Points:
    found = [e for e in document.objects(parent, set_name) if e.tag in tags]
    if not found:
        return NO_POINTS
    bodies = []
    for e in found:
        body = document.frame_name(e, "socket_parent_frame", "socket_frame", "body", "body_name")
        if body not in body_names:
            raise unknown(f"body of '{document.name_of(e)}'", body, body_names)
        bodies.append(body_names.index(body))
    return Points(
        names=tuple(document.name_of(e) for e in found),
        bodies=np.array(bodies),
        position=np.array([document.numbers(e, "location", 3, np.zeros(3)) for e in found]),
        radius=np.array([document.number(e, "radius", 0.0) for e in found]),
        source=source,
    )


def _read_inertia(body: ET.Element) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass, inertia about it."""
    mass = document.number(body, "mass", 0.0)
    if mass < 0:
        raise InputError(f"`mass` of '{document.name_of(body)}' must not be negative, got {mass}")
    center = document.numbers(body, "mass_center", 3, np.zeros(3))
    if body.find("inertia") is not None:
        xx, yy, zz, xy, xz, yz = document.numbers(body, "inertia", 6)
    else:
        parts = ("xx", "yy", "zz", "xy", "xz", "yz")
        xx, yy, zz, xy, xz, yz = (document.number(body, f"inertia_{p}", 0.0) for p in parts)
    return mass, center, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _read_joint_inside(body: ET.Element) -> Joint:
    """The joint that a body holds, as files before 4.0 have it."""
    inside = body.find("Joint")
    elements = [] if inside is None else list(inside)
    if not elements:
        raise InputError(f"body '{document.name_of(body)}' has no joint; nothing says how it moves")
    element = elements[0]
    axes, terms, coordinates = read_motion_of_joint(element)
    zero = np.zeros(3)

    def frame(location: str, orientation: str):
        angles = document.numbers(element, orientation, 3, zero)
        return document.body_fixed_xyz(angles), document.numbers(element, location, 3, zero)

    return Joint(
        name=document.name_of(element),
        parent=document.text(element, "parent_body"),
        child=document.name_of(body),
        in_parent=frame("location_in_parent", "orientation_in_parent"),
        in_child=frame("location", "orientation"),
        axes=axes,
        terms=terms,
        coordinates=coordinates,
        reverse=document.flag(element, "reverse"),
    )


def _read_joint_beside(element: ET.Element) -> Joint:
    """A joint that points at frames of its bodies, as files from 4.0 on have it."""
    axes, terms, coordinates = read_motion_of_joint(element)
    offsets = {document.name_of(e): e for e in element.iterfind("frames/PhysicalOffsetFrame")}

    def resolve(name: str) -> tuple[str, np.ndarray, np.ndarray]:
        """The body that a frame sits on, and its pose there."""
        if name not in offsets:
            return name, np.eye(3), np.zeros(3)
        offset = offsets.pop(name)  # popped: frames that point at each other end here
        body, R, p = resolve(document.frame_name(offset, "socket_parent"))
        offsets[name] = offset
        turn = document.body_fixed_xyz(document.numbers(offset, "orientation", 3, np.zeros(3)))
        return body, R @ turn, p + R @ document.numbers(offset, "translation", 3, np.zeros(3))

    parent, R_parent, p_parent = resolve(document.frame_name(element, "socket_parent_frame"))
    child, R_child, p_child = resolve(document.frame_name(element, "socket_child_frame"))
    return Joint(
        name=document.name_of(element),
        parent=parent,
        child=child,
        in_parent=(R_parent, p_parent),
        in_child=(R_child, p_child),
        axes=axes,
        terms=terms,
        coordinates=coordinates,
    )


def _in_order(names: list[str], joints: list[Joint]) -> tuple[list[str], list[Joint]]:
    """Bodies and their joints from the ground outwards; the ground is body 0."""
    carrier: dict[str, Joint] = {}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in (*names, GROUND):
                raise unknown(f"body of the joint '{joint.name}'", end, [GROUND, *names])
        if joint.child in carrier:
            raise InputError(
                f"body '{joint.child}' is carried by the joints '{carrier[joint.child].name}' and"
                f" '{joint.name}'; closed loops are not supported"
            )
        carrier[joint.child] = joint
    ordered, waiting = [GROUND], list(names)
    while waiting:
        ready = [n for n in waiting if n in carrier and carrier[n].parent in ordered]
        if not ready:
            raise InputError(f"nothing joins '{waiting[0]}' to the ground; add a joint for it")
        ordered += ready
        waiting = [n for n in waiting if n not in ready]
    return ordered, [carrier[n] for n in ordered[1:]]


def _read_constraints(model: ET.Element) -> tuple[dict[str, Term], list[str]]:
    """Couplings by the coordinate that follows, and notes on the rest."""
    couplings, others = {}, []
    for element in document.objects(model, "ConstraintSet"):
        off = document.flag(element, "isDisabled") or not document.flag(element, "isEnforced", True)
        if off:
            continue
        if element.tag != "CoordinateCouplerConstraint":
            others.append(document.name_of(element))
            continue
        functions = element.find("coupled_coordinates_function")
        inside = [e for e in (functions if functions is not None else []) if e.tag in KINDS]
        if not inside:
            raise InputError(
                f"`coupled_coordinates_function` of '{document.name_of(element)}' is empty"
            )
        term = read_term(inside[0], document.text(element, "independent_coordinate_names").split())
        term = term.scaled(document.number(element, "scale_factor", 1.0))
        couplings[document.text(element, "dependent_coordinate_name")] = term
    notes = []
    if others:
        notes.append(
            f"constraints {', '.join(others)}: the motion is taken to keep them as it is given"
        )
    return couplings, notes


def _coupled(coordinates: list[Coordinate], couplings: dict[str, Term]) -> list[Coordinate]:
    names = [c.name for c in coordinates]
    if twice := {n for n in names if names.count(n) > 1}:
        raise InputError(f"coordinate '{min(twice)}' occurs twice; names must differ")
    for name, term in couplings.items():
        for needed in (name, *term.weights):
            if needed not in names:
                raise unknown("coordinate of a coupling", needed, names)
        if chained := set(term.weights) & set(couplings):
            raise InputError(
                f"coordinate '{name}' follows '{min(chained)}', which itself follows another;"
                " couple it to the first one"
            )
    return [
        replace(c, follows=tuple(couplings[c.name].weights)) if c.name in couplings else c
        for c in coordinates
    ]


def _skeleton(
    joints: list[Joint],
    coordinates: list[Coordinate],
    couplings: dict[str, Term],
    parents: list[int],
) -> Skeleton:
    names = tuple(c.name for c in coordinates)
    inverse = [(R.T, -R.T @ p) for R, p in (j.in_child for j in joints)]
    return Skeleton(
        couplings=tabulate(list(couplings.values()), names) if couplings else None,
        amounts=tabulate([t for j in joints for t in j.terms], names),
        axes=jax.device_put(np.array([j.axes for j in joints])),
        parent_rotation=jax.device_put(np.array([j.in_parent[0] for j in joints])),
        parent_position=jax.device_put(np.array([j.in_parent[1] for j in joints])),
        child_rotation=jax.device_put(np.array([R for R, _ in inverse])),
        child_position=jax.device_put(np.array([p for _, p in inverse])),
        coupled=tuple(names.index(n) for n in couplings),
        reverse=tuple(k for k, j in enumerate(joints) if j.reverse),
        parents=tuple(parents),
    )


def _left_out(model: ET.Element) -> list[str]:
    """What the file holds and ground reactions do not need."""
    forces = document.objects(model, "ForceSet")
    muscles = sum("Muscle" in e.tag or e.find("GeometryPath") is not None for e in forces)
    notes = []
    if muscles:
        notes.append(f"{muscles} muscles play no part")
    if others := len(forces) - muscles:
        notes.append(f"{others} other forces and actuators play no part")
    return notes
