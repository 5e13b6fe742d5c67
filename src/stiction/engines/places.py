"""Where bodies and contacts are in the world along a run.

In NumPy, link by link and all instants at once: a program of JAX would have to be compiled for
every mechanism, which takes longer than this ever does.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from stiction._base.arrays import AnyArray, Float, Int
from stiction._base.errors import InputError
from stiction.engines.contact_places import ContactPlaces
from stiction.engines.result import Trajectory
from stiction.mechanism import BALL, FREE, HINGE, Mechanism


class _Links(NamedTuple):
    """Links in the world at n instants, the world itself first. Shapes (n, n_links, ...)."""

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray


def places_along(
    run: Trajectory, sample: Int[AnyArray, " n"], event: Int[AnyArray, " n"] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contacts in the world at given samples, or at events where `event` is not negative.

    Returns:
        Their points, their directions (tangents, then normal) and their forces, or at events their
        impulses. Shapes (n, n_contacts, 3), (n, n_contacts, dim, 3) and (n, n_contacts, 3).
    """
    places = _required(run.places)
    rows = [places.point[sample], places.frame[sample], places.force[sample]]
    if event is not None and np.any(np.asarray(event) >= 0):
        at = np.flatnonzero(np.asarray(event) >= 0)
        assert run.log is not None
        told = _required(run.log.places)
        which = np.asarray(event)[at]
        for row, values in zip(rows, (told.point, told.frame, told.force), strict=True):
            row[at] = values[which]
    planar = run.contacts is not None and run.contacts.planar
    return rows[0], rows[1][:, :, [0, 2] if planar else [0, 1, 2]], rows[2]


def _required(places: ContactPlaces | None) -> ContactPlaces:
    if places is None:
        raise InputError("where contacts are is known of one run, not of a batch; take `scene.run`")
    return places


def poses_at(mechanism: Mechanism, q: Float[AnyArray, "n nq"]) -> tuple[np.ndarray, np.ndarray]:
    """Positions of all bodies in the world and their rotations: (n, nb, 3) and (n, nb, 3, 3)."""
    q = np.asarray(q, float)
    return _bodies(mechanism, _links(mechanism, q, np.zeros((len(q), mechanism.nv))))


def center_and_momentum(
    mechanism: Mechanism, q: Float[np.ndarray, "n nq"], v: Float[np.ndarray, "n nv"]
) -> tuple[np.ndarray, np.ndarray]:
    """The centre of mass [m] and the momentum [N·s] of everything that moves. Shapes (n, 3)."""
    links = _links(mechanism, np.asarray(q, float), np.asarray(v, float))
    position, rotation = _bodies(mechanism, links)
    carried = np.array(mechanism.tree.body_links)
    center = position + np.einsum("nbij,bj->nbi", rotation, np.asarray(mechanism.bodies.center))
    arm = center - links.position[:, carried]
    velocity = links.velocity[:, carried] + np.cross(links.spin[:, carried], arm)
    mass = np.asarray(mechanism.bodies.mass) * (carried != 0)
    whole = np.einsum("b,nbi->ni", mass, center) / mass.sum()
    return whole, np.einsum("b,nbi->ni", mass, velocity)


def _bodies(mechanism: Mechanism, links: _Links) -> tuple[np.ndarray, np.ndarray]:
    carried, bodies = np.array(mechanism.tree.body_links), mechanism.bodies
    R, p = links.rotation[:, carried], links.position[:, carried]
    position = p + np.einsum("nbij,bj->nbi", R, np.asarray(bodies.position))
    return position, R @ np.asarray(bodies.rotation)


def _links(
    mechanism: Mechanism, q: Float[np.ndarray, "n nq"], v: Float[np.ndarray, "n nv"]
) -> _Links:
    """As `mechanism.kinematics` has it: each joint on its parent, turned about its anchor."""
    tree, joints = mechanism.tree, mechanism.joints
    n, count = len(q), tree.n_joints + 1
    p, u, w = (np.zeros((n, count, 3)) for _ in range(3))
    R = np.tile(np.eye(3), (n, count, 1, 1))
    reference = np.asarray(mechanism.q_reference)
    fixed = [np.asarray(x) for x in (joints.position, joints.rotation, joints.anchor, joints.axis)]
    for j, kind in enumerate(tree.joint_types):
        up, me, at, dof = tree.joint_parents[j], j + 1, tree.q_address[j], tree.v_address[j]
        place, turn, anchor, axis = (x[j] for x in fixed)
        if kind == FREE:
            p[:, me], R[:, me] = q[:, at : at + 3], _turned(q[:, at + 3 : at + 7])
            u[:, me] = v[:, dof : dof + 3]
            w[:, me] = np.einsum("nij,nj->ni", R[:, me], v[:, dof + 3 : dof + 6])
            continue
        base = p[:, up] + R[:, up] @ place  # the joint's frame before it moves
        frame = R[:, up] @ turn
        along = frame @ axis
        way = (q[:, at] - reference[at])[:, None]
        w[:, me] = w[:, up]
        own = np.zeros((n, 3))  # velocity of the anchor along a slide
        if kind == BALL:
            R[:, me] = frame @ _turned(q[:, at : at + 4])
            w[:, me] += np.einsum("nij,nj->ni", R[:, me], v[:, dof : dof + 3])
        elif kind == HINGE:
            R[:, me] = frame @ Rotation.from_rotvec(way * axis).as_matrix()
            w[:, me] += along * v[:, dof, None]
        else:
            R[:, me] = frame
            base = base + way * along
            own = along * v[:, dof, None]
        pivot = base + frame @ anchor
        p[:, me] = pivot - R[:, me] @ anchor
        # The pivot is carried along by the parent, and the link turns about it.
        u[:, me] = u[:, up] + np.cross(w[:, up], pivot - p[:, up]) + own
        u[:, me] += np.cross(w[:, me], p[:, me] - pivot)
    return _Links(p, R, u, w)


def _turned(quaternion: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()
