"""World poses and the motion that each degree of freedom gives.

There is no recursion over the tree. World poses come by pointer jumping (`Tree.jumps`); everything
that accumulates along a chain is a product with a constant mask of ancestors. The program is a few
large operations, whatever the mechanism: quick to compile, quick on a CPU and on a GPU.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.spatial import (
    cross,
    motion_cross,
    multiply,
    quat_normalize,
    quat_to_matrix,
    rotate,
)
from stiction.mechanism.mechanism import Mechanism
from stiction.mechanism.tree import BALL, FREE, HINGE, SLIDE, Tree


class Pose(eqx.Module):
    """Positions and rotations of a set of frames in the world."""

    position: Float[Array, "n 3"]
    rotation: Float[Array, "n 3 3"]


class LinkKinematics(eqx.Module):
    """Poses of the links and the motion subspace: what dynamics and contacts are computed from."""

    links: Pose
    reference: Float[Array, "3"]  # the point that spatial vectors are taken about
    S: Float[Array, "nv 6"]  # row d: motion of what lies beyond freedom d, per unit speed


def world_poses(mechanism: Mechanism, q: Float[Array, "nq"]) -> Pose:
    """Position [m] and rotation of every body's frame in the world."""
    return body_poses(mechanism, _link_poses(mechanism, q))


def link_kinematics(mechanism: Mechanism, q: Float[Array, "nq"]) -> LinkKinematics:
    """Link poses and the motion subspace at q."""
    tree = mechanism.tree
    links = _link_poses(mechanism, q)
    # Far from the world's origin, moments about it would lose digits. The result does not depend
    # on the point, so neither do its derivatives.
    c = jax.lax.stop_gradient(jnp.mean(links.position[1:], axis=0))
    R, p = links.rotation[1:], links.position[1:]
    anchor = p + rotate(R, mechanism.joints.anchor) - c[None]
    axis = rotate(R, mechanism.joints.axis)

    kinds = np.array(tree.joint_types, int)
    hinge = jnp.asarray((kinds == HINGE)[:, None], q.dtype)
    S_scalar = jnp.concatenate([hinge * axis, hinge * cross(anchor, axis) + (1 - hinge) * axis], -1)
    rows = [S_scalar[np.flatnonzero((kinds == HINGE) | (kinds == SLIDE))]]
    order = [_freedoms(tree, HINGE, SLIDE)]

    # A turning free or ball joint: three axes fixed in the child, the columns of its rotation.
    turning = np.flatnonzero((kinds == FREE) | (kinds == BALL))
    if turning.size:
        axes = jnp.swapaxes(R[turning], 1, 2)
        arm = jnp.broadcast_to(anchor[turning][:, None, :], axes.shape)
        turns = jnp.concatenate([axes, cross(arm, axes)], -1)
        rows.append(turns.reshape(-1, 6))
        last = [tree.v_address[j] + (3 if kinds[j] == FREE else 0) for j in turning]
        order.append(np.concatenate([a + np.arange(3) for a in last]))
    free = tree.joints_of_type(FREE)
    if free.size:  # translation along world axes
        rows.append(jnp.tile(jnp.eye(3, 6, 3, dtype=q.dtype), (free.size, 1)))
        order.append(np.concatenate([tree.v_address[j] + np.arange(3) for j in free]))
    S = jnp.concatenate(rows)[np.argsort(np.concatenate(order))]
    return LinkKinematics(links, c, S)


def link_velocities(
    tree: Tree, state: LinkKinematics, v: Float[Array, "nv"]
) -> Float[Array, "n_links 6"]:
    """Spatial velocity of every link about the reference point."""
    return as_mask(tree.moves_link, v) @ (state.S * v[:, None])


def subspace_rate(
    tree: Tree, state: LinkKinematics, V: Float[Array, "n_links 6"]
) -> Float[Array, "nv 6"]:
    """dS/dt: every joint axis is carried along with its link (free translation is not)."""
    rate = motion_cross(V[tree.freedom_joints + 1], state.S)
    still = np.zeros((tree.nv, 1), bool)
    for joint in tree.joints_of_type(FREE):
        still[tree.v_address[joint] + np.arange(3)] = True
    return rate * as_mask(~still, rate) if still.any() else rate


def point_position(
    mechanism: Mechanism, q: Float[Array, "nq"], body: int, point: Float[Array, "3"]
) -> Float[Array, "3"]:
    """World position [m] of a point given in a body's frame."""
    poses = world_poses(mechanism, q)
    return poses.position[body] + rotate(poses.rotation[body], point)


def point_velocity(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    body: int,
    point: Float[Array, "3"],
) -> Float[Array, "3"]:
    """World velocity [m/s] of a point given in a body's frame."""
    return point_jacobian(mechanism, q, body, point) @ v


def point_jacobian(
    mechanism: Mechanism, q: Float[Array, "nq"], body: int, point: Float[Array, "3"]
) -> Float[Array, "3 nv"]:
    """The matrix J with (velocity of the point) = J v."""
    state = link_kinematics(mechanism, q)
    p = point_position(mechanism, q, body, point) - state.reference
    w, u = state.S[:, :3], state.S[:, 3:]
    moves = as_mask(mechanism.tree.moves_body, q)[body]
    rows = u + cross(w, jnp.broadcast_to(p, w.shape))
    return rows.T * moves[None, :]


def rotation_jacobian(
    mechanism: Mechanism, q: Float[Array, "nq"], body: int
) -> Float[Array, "3 nv"]:
    """The matrix J with (angular velocity of the body, world axes) = J v."""
    moves = as_mask(mechanism.tree.moves_body, q)[body]
    return link_kinematics(mechanism, q).S[:, :3].T * moves[None, :]


def point_bias_acceleration(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    body: int,
    point: Float[Array, "3"],
) -> Float[Array, "3"]:
    """The part dJ/dt v of a point's acceleration [m/s²]: what it has when v does not change."""
    tree = mechanism.tree
    state = link_kinematics(mechanism, q)
    V = link_velocities(tree, state, v)
    moves = as_mask(tree.moves_body, v)[body]
    velocity = moves @ (state.S * v[:, None])
    rate = moves @ (subspace_rate(tree, state, V) * v[:, None])
    p = point_position(mechanism, q, body, point) - state.reference
    w, u = velocity[:3], velocity[3:]
    # The reference point is fixed in space, the material point moves: d/dt(u + w × p).
    return rate[3:] + cross(rate[:3], p) + cross(w, u + cross(w, p))


def _link_poses(mechanism: Mechanism, q: Float[Array, "nq"]) -> Pose:
    tree, joints = mechanism.tree, mechanism.joints
    kinds = np.array(tree.joint_types, int)
    dtype = q.dtype
    # Hinges and slides: a turn about the axis, or a shift along it.
    scalar = (kinds == HINGE) | (kinds == SLIDE)
    first = tree.q_address
    displacement = (q - mechanism.q_reference)[first]
    angle = displacement * jnp.asarray(kinds == HINGE, dtype)
    turn = axis_angle(joints.axis, angle)
    shift = joints.axis * (displacement * jnp.asarray(kinds == SLIDE, dtype))[:, None]
    if not scalar.all():
        turning = np.flatnonzero(~scalar)
        start = first[turning] + np.where(kinds[turning] == FREE, 3, 0)
        quaternion = quat_normalize(q[start[:, None] + np.arange(4)])
        turn = turn.at[turning].set(quat_to_matrix(quaternion))
        shift = shift.at[turning].set(0)
    local = shift + joints.anchor - rotate(turn, joints.anchor)
    R = multiply(joints.rotation, turn)
    p = joints.position + rotate(joints.rotation, local)
    free = tree.joints_of_type(FREE)
    if free.size:  # a free joint gives the pose in the world directly
        R = R.at[free].set(turn[free])
        p = p.at[free].set(q[first[free][:, None] + np.arange(3)])
    # Link 0 is the world.
    R = jnp.concatenate([jnp.eye(3, dtype=dtype)[None], R])
    p = jnp.concatenate([jnp.zeros((1, 3), dtype), p])
    for pointer in tree.jumps:
        R_up, p_up = R[pointer], p[pointer]
        p = p_up + rotate(R_up, p)
        R = multiply(R_up, R)
    return Pose(p, R)


def body_poses(mechanism: Mechanism, links: Pose) -> Pose:
    index = np.array(mechanism.tree.body_links, int)
    R, p = links.rotation[index], links.position[index]
    bodies = mechanism.bodies
    return Pose(p + rotate(R, bodies.position), multiply(R, bodies.rotation))


def axis_angle(axis: Float[Array, "n 3"], angle: Float[Array, "n"]) -> Float[Array, "n 3 3"]:
    """Rodrigues' formula: I + sin θ [a]ₓ + (1 - cos θ) [a]ₓ²."""
    x, y, z = axis[:, 0], axis[:, 1], axis[:, 2]
    o = jnp.zeros_like(x)
    K = jnp.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(-1, 3, 3)
    s = jnp.sin(angle)[:, None, None]
    # 1 - cos θ = 2 sin²(θ/2): no cancellation at small angles.
    c1 = 2 * jnp.square(jnp.sin(angle / 2))[:, None, None]
    return jnp.eye(3, dtype=axis.dtype)[None] + s * K + c1 * multiply(K, K)


def _freedoms(tree: Tree, *kinds: int) -> np.ndarray:
    """The entries in v of the scalar joints of the given types."""
    types = np.array(tree.joint_types, int)
    return tree.v_address[np.isin(types, kinds)]


def as_mask(mask: np.ndarray, like: Array) -> Array:
    """A constant 0/1 matrix in the precision of `like`."""
    return jnp.asarray(mask, like.dtype)
