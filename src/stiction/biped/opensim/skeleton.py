"""The kinematics of an OpenSim model: poses of all bodies as a function of the coordinates."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.spatial import multiply, rotate
from stiction.biped.opensim.functions import CoordinateFunctions
from stiction.mechanism import Pose, axis_angle


class Skeleton(eqx.Module):
    """Joints in a tree, each three turns and three shifts by functions of the coordinates.

    Body 0 is the ground; the joint of body b is entry b - 1 of every table.
    """

    # coordinates that follow others (CoordinateCouplerConstraint)
    couplings: CoordinateFunctions | None
    amounts: CoordinateFunctions  # the six functions of every joint, one joint after the other
    axes: Float[Array, "n_joints 6 3"]  # axes of three turns and three shifts
    parent_rotation: Float[Array, "n_joints 3 3"]  # rotation of the joint's frame on the parent
    parent_position: Float[Array, "n_joints 3"]  # position of the joint's frame on the parent [m]
    # rotation of the child, seen from the joint's frame on it
    child_rotation: Float[Array, "n_joints 3 3"]
    # position of the child, seen from the joint's frame on it [m]
    child_position: Float[Array, "n_joints 3"]
    coupled: tuple[int, ...] = eqx.field(static=True)  # which coordinates the couplings give
    # joints whose transform runs from child to parent
    reverse: tuple[int, ...] = eqx.field(static=True)
    parents: tuple[int, ...] = eqx.field(static=True)  # the body that carries each joint

    def __call__(self, q: Float[Array, "nq"]) -> Pose:
        """World poses of ground and bodies."""
        if self.couplings is not None:
            q = q.at[np.array(self.coupled, int)].set(self.couplings(q))
        amounts = self.amounts(q).reshape(-1, 6)
        turns = axis_angle(self.axes[:, :3].reshape(-1, 3), amounts[:, :3].reshape(-1))
        turns = turns.reshape(-1, 3, 3, 3)
        turn = multiply(multiply(turns[:, 0], turns[:, 1]), turns[:, 2])
        shift = jnp.sum(self.axes[:, 3:] * amounts[:, 3:, None], axis=1)
        if self.reverse:
            back = np.array(self.reverse, int)
            inverse = jnp.swapaxes(turn[back], 1, 2)
            shift = shift.at[back].set(-rotate(inverse, shift[back]))
            turn = turn.at[back].set(inverse)
        # Parent, joint on the parent, joint on the child, child.
        R, p = self.parent_rotation, self.parent_position
        p = p + rotate(R, shift + rotate(turn, self.child_position))
        R = multiply(multiply(R, turn), self.child_rotation)
        R = jnp.concatenate([jnp.eye(3, dtype=q.dtype)[None], R])
        p = jnp.concatenate([jnp.zeros((1, 3), q.dtype), p])
        # Pointer jumping, as for mechanisms: log2(depth) rounds of one batched product.
        pointer = np.array([0, *self.parents])
        while pointer.any():
            p = p[pointer] + rotate(R[pointer], p)
            R = multiply(R[pointer], R)
            pointer = pointer[pointer]
        return Pose(p, R)
