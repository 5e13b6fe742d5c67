"""What a mechanism consists of, for people and for JSON."""

from dataclasses import dataclass

import numpy as np

from stiction._base.arrays import Array
from stiction.mechanism.mechanism import Mechanism
from stiction.mechanism.tree import COORDINATES, FREEDOMS, JOINT_NAMES


@dataclass(frozen=True)
class Summary:
    """Counts, names and numbers; every field is plain data."""

    name: str
    nq: int
    nv: int
    nu: int
    n_bodies: int
    mass: float
    gravity: list[float]
    coordinates: list[str]
    freedoms: list[str]
    bodies: list[dict]
    joints: list[dict]
    actuators: list[dict]
    shapes: list[dict]
    sites: list[dict]
    keyframes: list[dict]
    beyond: list[str]
    bounds: list[str]
    ignored: list[str]


def summarize(mechanism: Mechanism) -> Summary:
    """A summary of a mechanism."""
    tree, bodies, joints = mechanism.tree, mechanism.bodies, mechanism.joints
    moving = [b for b in range(1, tree.n_bodies) if tree.body_links[b] != 0]
    return Summary(
        name=mechanism.name,
        nq=mechanism.nq,
        nv=mechanism.nv,
        nu=mechanism.nu,
        n_bodies=tree.n_bodies - 1,
        mass=float(np.sum(np.asarray(bodies.mass)[moving])),
        gravity=np.asarray(mechanism.gravity).tolist(),
        coordinates=list(tree.coordinate_names),
        freedoms=list(tree.freedom_names),
        bodies=[
            {
                "name": tree.body_names[b],
                "mass": float(bodies.mass[b]),
                "moves": tree.body_links[b] != 0,
            }
            for b in range(1, tree.n_bodies)
        ],
        joints=[
            {
                "name": name,
                "type": JOINT_NAMES[kind],
                "body": _body_beyond(mechanism, j),
                "coordinates": COORDINATES[kind],
                "freedoms": FREEDOMS[kind],
                "range": _finite(joints.range[j]),
                "stiffness": float(joints.stiffness[j]),
                "damping": float(joints.damping[tree.v_address[j]]),
                "armature": float(joints.armature[tree.v_address[j]]),
            }
            for j, (name, kind) in enumerate(zip(tree.joint_names, tree.joint_types, strict=True))
        ],
        actuators=[
            {
                "name": name,
                "control_range": _finite(mechanism.actuators.control_range[i]),
                "force_range": _finite(mechanism.actuators.force_range[i]),
                "servo": bool(np.any(np.asarray(mechanism.actuators.bias[i]) != 0)),
            }
            for i, name in enumerate(mechanism.actuators.names)
        ],
        shapes=[
            {
                "name": name,
                "kind": kind,
                "body": tree.body_names[body],
                "touches": contype != 0 or conaffinity != 0,
            }
            for name, kind, body, (contype, conaffinity) in zip(
                mechanism.shapes.names,
                mechanism.shapes.kinds,
                mechanism.shapes.bodies,
                mechanism.shapes.types,
                strict=True,
            )
        ],
        sites=[
            {"name": name, "body": tree.body_names[body]}
            for name, body in zip(mechanism.sites.names, mechanism.sites.bodies, strict=True)
        ],
        keyframes=[key._asdict() for key in mechanism.keyframes],
        beyond=list(mechanism.beyond),
        bounds=list(mechanism.bounds),
        ignored=list(mechanism.ignored),
    )


def _body_beyond(mechanism: Mechanism, joint: int) -> str:
    """The body that a joint moves: of a chain of joints, the body at its end."""
    tree = mechanism.tree
    carried = tree.link_ancestors[list(tree.body_links), joint + 1]
    return tree.body_names[int(np.argmax(carried))]


def _finite(limits: Array) -> list[float] | None:
    values = np.asarray(limits).tolist()
    return values if np.all(np.isfinite(values)) else None
