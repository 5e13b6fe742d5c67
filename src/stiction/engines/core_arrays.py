"""From a mechanism, its contacts and a law to the arrays that the core works on."""

from typing import Any

import jax
import numpy as np

from stiction.engines.device_arrays import Arrays
from stiction.mechanism.tree import FREEDOMS, HINGE, SLIDE


def _quat(R: np.ndarray) -> np.ndarray:
    """(x, y, z, w) of rotation matrices."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(np.asarray(R).reshape(-1, 3, 3)).as_quat()


def tree_of(a: Arrays, T: Any, mechanism: Any) -> Any:
    """The links of a mechanism: bodies that ride on a link are merged into it."""
    t, j, b = mechanism.tree, mechanism.joints, mechanism.bodies
    n = t.n_joints + 1
    T.nq, T.nv, T.n_links, T.n_joints = t.nq, t.nv, n, n - 1
    T.gravity = a.reals.vec3(*np.asarray(mechanism.gravity, float).tolist())
    parent = np.array([0, *t.joint_parents])
    root = np.zeros(n, int)
    for i in range(1, n):
        root[i] = i if parent[i] == 0 else root[parent[i]]
    at_v = np.array([0, *t.v_address])
    freedoms = np.array([0, *(FREEDOMS[k] for k in t.joint_types)])
    last = np.full(n, -1)
    before, depth = np.full(t.nv, -1), np.zeros(t.nv, int)
    for i in range(1, n):
        previous = last[parent[i]]
        for d in range(at_v[i], at_v[i] + freedoms[i]):
            before[d] = previous
            depth[d] = 0 if previous < 0 else depth[previous] + 1
            previous = d
        last[i] = previous
    mass, center, inertia = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
    links = np.array(t.body_links)
    R, p = np.asarray(b.rotation), np.asarray(b.position)
    m = np.asarray(b.mass)
    c = p + np.einsum("bij,bj->bi", R, np.asarray(b.center))
    np.add.at(mass, links, m)
    np.add.at(center, links, m[:, None] * c)
    center = center / np.where(mass > 0, mass, 1.0)[:, None]
    arm = c - center[links]
    turned = R @ np.asarray(b.inertia) @ np.swapaxes(R, 1, 2)
    square = (
        np.einsum("bi,bi->b", arm, arm)[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None]
    )
    np.add.at(inertia, links, turned + m[:, None, None] * square)

    def first(x: Any, shape: tuple) -> np.ndarray:
        return np.concatenate([np.zeros((1, *shape)), np.asarray(x).reshape(-1, *shape)])

    rotation = np.concatenate([[[0, 0, 0, 1.0]], _quat(np.asarray(j.rotation))])
    T.parent, T.root = a.whole(parent), a.whole(root)
    T.kind = a.whole([0, *t.joint_types])
    T.at_q, T.at_v = a.whole([0, *t.q_address]), a.whole(at_v)
    T.last_freedom = a.whole(last)
    vec3 = a.reals.vec3
    T.position, T.rotation = a.vec(first(j.position, (3,)), vec3), a.vec(rotation, a.reals.quat)
    T.anchor, T.axis = a.vec(first(j.anchor, (3,)), vec3), a.vec(first(j.axis, (3,)), vec3)
    T.mass, T.center = a.real(mass), a.vec(center, vec3)
    T.inertia = a.vec(inertia, a.reals.mat33)
    T.stiffness = a.real(first(j.stiffness, ()))
    T.reference, T.spring_zero = a.real(mechanism.q_reference), a.real(j.spring_zero)
    T.before, T.depth = a.whole(before), a.whole(depth)
    T.row = a.whole(np.cumsum([0, *(depth + 1)])[:-1])
    T.damping, T.armature = a.real(j.damping), a.real(j.armature)
    return T, int(np.sum(depth + 1)), links


def actuators_of(a: Arrays, A: Any, mechanism: Any, control: Any) -> Any:
    x = mechanism.actuators
    length, moment = np.asarray(x.length_of_q), np.asarray(x.moment)
    nu = moment.shape[0]
    first, at_q, at_v, gear = [0], [], [], []
    address = {int(d): int(q) for d, q in _scalars(mechanism.tree)}
    for i in range(nu):
        for d in np.flatnonzero(moment[i]):
            q = address.get(int(d), -1)
            at_q.append(q if q >= 0 and length[i, q] else -1)
            at_v.append(d)
            gear.append(moment[i, d])
        first.append(len(gear))
    A.count = nu
    A.first, A.entry_q, A.entry_v = a.whole(first), a.whole(at_q), a.whole(at_v)
    A.gear, A.gain = a.real(gear), a.real(x.gain)
    big = 1e30
    A.bias = a.real(np.asarray(x.bias).reshape(nu, 3))
    for name in ("control_range", "force_range", "joint_range"):
        setattr(A, name, a.real(np.clip(np.asarray(getattr(x, name)).reshape(-1, 2), -big, big)))
    harmonic = getattr(control, "harmonic", control)
    table = np.zeros((nu, 4))
    if harmonic is not None:
        for i, name in enumerate(("offset", "amplitude", "frequency", "phase")):
            table[:, i] = np.asarray(getattr(harmonic, name))
    A.harmonic = a.real(table)
    if hasattr(control, "desired"):
        parts = [
            np.asarray(getattr(control, n))[..., None]
            for n in ("end", "offset", "gain", "relative")
        ]
        parts.append(np.asarray(control.desired))
        phases = np.clip(np.concatenate(parts, axis=-1), -big, big)
        A.n_phases, A.n_powers = phases.shape[1], phases.shape[2] - 4
        A.phases = a.real(phases)
    return A


def _scalars(tree: Any) -> list:
    return [
        (tree.v_address[j], tree.q_address[j])
        for j, k in enumerate(tree.joint_types)
        if k in (HINGE, SLIDE)
    ]


def pairs_of(a: Arrays, P: Any, C: Any, mechanism: Any, contacts: Any, links: np.ndarray) -> Any:
    reals = a.reals
    rows: list[dict] = []
    bodies = mechanism.bodies
    R, p = np.asarray(bodies.rotation), np.asarray(bodies.position)

    def on_link(body: int, x: Any) -> np.ndarray:
        return p[body] + R[body] @ np.asarray(x, float)

    dim = 3 if contacts is None else contacts.dim

    def pair(**given: Any) -> None:
        blank = dict(
            first=0,
            second=0,
            point=np.zeros(3),
            turn=np.eye(3),
            axes=np.zeros(3),
            on=np.zeros(3),
            facing=np.eye(3),
            radius=0.0,
            twist=np.zeros(2),
            along=np.zeros(3),
            reach=0.0,
            motion=-1,
            rows=dim,
        )
        rows.append(blank | given)

    if contacts is not None:
        contacts = jax.tree.map(np.asarray, contacts)
        planes = contacts.planes
        origin, frame = np.asarray(planes.position), np.asarray(planes.rotation)
        g = contacts.point_plane
        for k, (b, on) in enumerate(zip(g.bodies, g.planes, strict=True)):
            pair(
                kind=int(C.POINT_PLANE),
                first=links[b],
                point=on_link(b, g.point[k]),
                on=origin[on],
                facing=frame[on],
                motion=on,
            )
        g = contacts.round_plane
        for k, (b, on) in enumerate(zip(g.bodies, g.planes, strict=True)):
            pair(
                kind=int(C.ROUND_PLANE),
                first=links[b],
                point=on_link(b, g.center[k]),
                turn=R[b] @ np.asarray(g.rotation[k]),
                axes=np.asarray(g.semi_axes[k]),
                on=origin[on],
                facing=frame[on],
                motion=on,
            )
        g = contacts.ball_field
        for k, b in enumerate(g.bodies):
            pair(
                kind=int(C.BALL_FIELD),
                first=links[b],
                point=on_link(b, g.center[k]),
                axes=np.full(3, float(g.radius[k])),
            )
        g = contacts.ball_ball
        for k, (b, c) in enumerate(g.bodies):
            pair(
                kind=int(C.BALL_BALL),
                first=links[b],
                second=links[c],
                point=on_link(b, g.center[k, 0]),
                on=on_link(c, g.center[k, 1]),
                axes=np.full(3, float(g.radius[k, 0])),
                radius=float(g.radius[k, 1]),
            )
        motion = planes.motion
        P.velocity = a.vec(motion.velocity, reals.vec3)
        P.amplitude = a.vec(motion.amplitude, reals.vec3)
        P.swing = a.vec(
            np.stack([np.asarray(motion.frequency), np.asarray(motion.phase)], 1), reals.vec2
        )
        b = np.asarray(motion.belt)
        P.belt = a.vec(frame[:, :, 0] * b[:, :1] + frame[:, :, 1] * b[:, 1:], reals.vec3)
        if contacts.field is not None:
            P.field = a.real(contacts.field.coefficients)
            P.middle = reals.vec3(*np.asarray(contacts.field.position, float).tolist())
            P.spacing = reals.vec2(*np.asarray(contacts.field.spacing, float).tolist())
    P.count = len(rows)
    n = len(rows)

    def column(name: str) -> np.ndarray:
        return np.array([r[name] for r in rows])

    P.twist = a.vec(column("twist"), reals.vec2)
    for name in ("rows", "kind", "first", "second", "motion"):
        setattr(P, name, a.whole(column(name)))
    for name in ("point", "axes", "on", "along"):
        setattr(P, name, a.vec(column(name), reals.vec3))
    turn = _quat(column("turn")) if n else np.zeros((0, 4))
    facing = _quat(column("facing")) if n else np.zeros((0, 4))
    P.turn, P.facing = a.vec(turn, reals.quat), a.vec(facing, reals.quat)
    P.radius, P.reach = a.real(column("radius")), a.real(column("reach"))
    return P, dim
