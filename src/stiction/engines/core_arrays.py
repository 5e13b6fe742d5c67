"""From a mechanism to the arrays that the core works on: its links and its actuators."""

from typing import Any

import numpy as np

from stiction.engines.device_arrays import Arrays
from stiction.engines.pair_arrays import commands_of, places_among, quaternions
from stiction.mechanism.tree import FREEDOMS, HINGE, SLIDE


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

    rotation = np.concatenate([[[0, 0, 0, 1.0]], quaternions(np.asarray(j.rotation))])
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
    commands_of(a, A, control)
    return A


def push_of(a: Arrays, P: Any, mechanism: Any, contacts: Any, push: Any, links: np.ndarray) -> Any:
    """What draws a point to a goal."""
    pairs = places_among(mechanism, contacts, push.contacts)
    P.pairs, P.count = a.whole(pairs), len(pairs or [])
    b, vec3 = mechanism.bodies, a.reals.vec3
    place = np.asarray(b.position)[push.body]
    place = place + np.asarray(b.rotation)[push.body] @ np.asarray(push.offset, float)
    P.link, P.point = int(links[push.body]), vec3(*place.tolist())
    P.goal = vec3(*np.asarray(push.goal, float).tolist())
    P.frequency, P.lifted, P.away = (float(x) for x in (push.frequency, push.lifted, push.away))
    return P


def _scalars(tree: Any) -> list:
    return [
        (tree.v_address[j], tree.q_address[j])
        for j, k in enumerate(tree.joint_types)
        if k in (HINGE, SLIDE)
    ]
