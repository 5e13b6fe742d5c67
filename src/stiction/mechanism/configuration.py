"""The configuration manifold: q has unit quaternions in it, v does not.

A step of velocity v from q is q ⊕ v: sums for hinges, slides and translations, a quaternion product
for turns (angular velocity in the child's axes). As MuJoCo's `mj_integratePos`.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.spatial import quat_conjugate, quat_exp, quat_log, quat_multiply
from stiction.mechanism.mechanism import Mechanism
from stiction.mechanism.tree import BALL, FREE, Tree


def add_velocity(
    mechanism: Mechanism, q: Float[Array, "nq"], v: Float[Array, "nv"]
) -> Float[Array, "nq"]:
    """q ⊕ v: where the mechanism is after moving with v for one second."""
    layout = _Layout.of(mechanism.tree)
    turned = quat_multiply(q[layout.quat_q], quat_exp(v[layout.quat_v]))
    return layout.join(q[layout.plain_q] + v[layout.plain_v], turned)


def difference(
    mechanism: Mechanism, start: Float[Array, "nq"], end: Float[Array, "nq"]
) -> Float[Array, "nv"]:
    """The v with start ⊕ v = end (turns of at most π)."""
    layout = _Layout.of(mechanism.tree)
    turn = quat_log(quat_multiply(quat_conjugate(start[layout.quat_q]), end[layout.quat_q]))
    plain = end[layout.plain_q] - start[layout.plain_q]
    v = jnp.zeros(mechanism.nv, plain.dtype)
    return v.at[layout.plain_v].set(plain).at[layout.quat_v].set(turn)


def rate(mechanism: Mechanism, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> Float[Array, "nq"]:
    """dq/dt: v itself, and half the product with the angular velocity for quaternions."""
    layout = _Layout.of(mechanism.tree)
    w = v[layout.quat_v]
    spin = jnp.concatenate([jnp.zeros_like(w[:, :1]), w], axis=-1)
    return layout.join(v[layout.plain_v], quat_multiply(q[layout.quat_q], spin) / 2)


def velocity_of_rate(
    mechanism: Mechanism, q: Float[Array, "nq"], q_dot: Float[Array, "nq"]
) -> Float[Array, "nv"]:
    """The v whose `rate` is `q_dot`: its inverse."""
    layout = _Layout.of(mechanism.tree)
    spin = 2 * quat_multiply(quat_conjugate(q[layout.quat_q]), q_dot[layout.quat_q])
    v = jnp.zeros(mechanism.nv, q.dtype)
    return v.at[layout.plain_v].set(q_dot[layout.plain_q]).at[layout.quat_v].set(spin[:, 1:])


def normalize(mechanism: Mechanism, q: Float[Array, "nq"]) -> Float[Array, "nq"]:
    """q with its quaternions brought back to unit length."""
    layout = _Layout.of(mechanism.tree)
    quat = q[layout.quat_q]
    return layout.join(q[layout.plain_q], quat / jnp.linalg.norm(quat, axis=-1, keepdims=True))


def random_state(
    mechanism: Mechanism, key: Array, *, spread: float = 1.0, speed: float = 1.0
) -> tuple[Float[Array, "nq"], Float[Array, "nv"]]:
    """A random q around the reference configuration and a random v, both normally distributed."""
    one, two = jax.random.split(key)
    dtype = mechanism.q_reference.dtype
    step = spread * jax.random.normal(one, (mechanism.nv,), dtype)
    v = speed * jax.random.normal(two, (mechanism.nv,), dtype)
    return add_velocity(mechanism, mechanism.q_reference, step), v


class _Layout:
    """Which entries of q and v are plain numbers and which belong to quaternions."""

    def __init__(self, tree: Tree):
        quat_q, quat_v = [], []
        for joint, kind in enumerate(tree.joint_types):
            if kind in (FREE, BALL):
                skip = 3 if kind == FREE else 0
                quat_q.append(tree.q_address[joint] + skip + np.arange(4))
                quat_v.append(tree.v_address[joint] + skip + np.arange(3))
        self.quat_q = np.array(quat_q, int).reshape(-1, 4)
        self.quat_v = np.array(quat_v, int).reshape(-1, 3)
        self.plain_q = np.setdiff1d(np.arange(tree.nq), self.quat_q)
        self.plain_v = np.setdiff1d(np.arange(tree.nv), self.quat_v)
        self._order = np.argsort(np.concatenate([self.plain_q, self.quat_q.ravel()]))

    @staticmethod
    @functools.cache
    def of(tree: Tree) -> "_Layout":
        return _Layout(tree)

    def join(self, plain: Array, quaternions: Array) -> Array:
        """The entries of q in order."""
        if not self.quat_q.size:
            return plain
        return jnp.concatenate([plain, quaternions.ravel()])[self._order]
