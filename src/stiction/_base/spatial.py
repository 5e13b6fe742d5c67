"""Rotations and spatial vectors: the algebra under everything, with no physics in it.

Quaternions are wxyz and rotate body vectors into the world. Spatial vectors put the angular part
first; a motion `(w, v)` gives the velocity of the body's point that passes the reference point.
Products are written out over the last axis so that they batch over links as a few large operations.
"""

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float

# Below this angle [rad] sin(x/2)/x is taken from its series, whose next term is then < 1e-16.
_SMALL_ANGLE = 1e-3
# Of a box with half sides 1.
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def cross(a: Float[Array, "*n 3"], b: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
    """a × b over the last axis (`jnp.cross` builds a far larger program)."""
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    return jnp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def rotate(R: Float[Array, "*n 3 3"], x: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
    """R x."""
    return jnp.sum(R * x[..., None, :], axis=-1)


def multiply(A: Float[Array, "*n 3 3"], B: Float[Array, "*n 3 3"]) -> Float[Array, "*n 3 3"]:
    """A B, as sums of products: a batch of 3 × 3 calls to a matrix library costs more."""
    return jnp.sum(A[..., :, :, None] * B[..., None, :, :], axis=-2)


def quat_multiply(a: Float[Array, "*n 4"], b: Float[Array, "*n 4"]) -> Float[Array, "*n 4"]:
    """Hamilton product a b: first rotate by b, then by a."""
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    return jnp.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def quat_conjugate(a: Float[Array, "*n 4"]) -> Float[Array, "*n 4"]:
    """The inverse rotation of a unit quaternion."""
    return jnp.concatenate([a[..., :1], -a[..., 1:]], axis=-1)


def quat_normalize(a: Float[Array, "*n 4"]) -> Float[Array, "*n 4"]:
    """The unit quaternion along `a`."""
    return a / jnp.sqrt(jnp.sum(a * a, axis=-1, keepdims=True))


def quat_to_matrix(a: Float[Array, "*n 4"]) -> Float[Array, "*n 3 3"]:
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(r, axis=-1) for r in rows], axis=-2)


def quat_exp(rotation: Float[Array, "*n 3"]) -> Float[Array, "*n 4"]:
    """The unit quaternion that turns by |rotation| [rad] about the direction of `rotation`."""
    square = jnp.sum(rotation * rotation, axis=-1, keepdims=True)
    small = square < _SMALL_ANGLE**2
    # The root of zero has no derivative: take it of one where the series is used instead.
    angle = jnp.sqrt(jnp.where(small, jnp.ones_like(square), square))
    scale = jnp.where(small, 0.5 - square / 48 + square**2 / 3840, jnp.sin(angle / 2) / angle)
    cosine = jnp.where(small, 1 - square / 8 + square**2 / 384, jnp.cos(angle / 2))
    return jnp.concatenate([cosine, scale * rotation], axis=-1)


def quat_log(a: Float[Array, "*n 4"]) -> Float[Array, "*n 3"]:
    """The rotation vector of a unit quaternion, |rotation| ≤ π: the inverse of `quat_exp`."""
    a = jnp.where(a[..., :1] < 0, -a, a)
    w, xyz = a[..., :1], a[..., 1:]
    square = jnp.sum(xyz * xyz, axis=-1, keepdims=True)
    small = square < _SMALL_ANGLE**2
    sine = jnp.sqrt(jnp.where(small, jnp.ones_like(square), square))
    # 2 asin(s)/s = 2 + s²/3 + 3 s⁴/20 + … with s = sin(angle/2)
    scale = jnp.where(small, 2 + square / 3 + 3 * square**2 / 20, 2 * jnp.arctan2(sine, w) / sine)
    return scale * xyz


def motion_cross(a: Float[Array, "*n 6"], b: Float[Array, "*n 6"]) -> Float[Array, "*n 6"]:
    """Rate of change of the motion `b` when it is carried along with velocity `a`."""
    w, v = a[..., :3], a[..., 3:]
    angular = cross(w, b[..., :3])
    linear = cross(w, b[..., 3:]) + cross(v, b[..., :3])
    return jnp.concatenate([angular, linear], axis=-1)


def force_cross(a: Float[Array, "*n 6"], f: Float[Array, "*n 6"]) -> Float[Array, "*n 6"]:
    """Rate of change of the force `f` (moment first) when it is carried along with velocity `a`."""
    w, v = a[..., :3], a[..., 3:]
    moment = cross(w, f[..., :3]) + cross(v, f[..., 3:])
    return jnp.concatenate([moment, cross(w, f[..., 3:])], axis=-1)
