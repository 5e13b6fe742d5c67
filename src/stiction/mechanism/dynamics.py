r"""The equations of motion, $M \dot v + c = \tau + J^T f$.

symbol  name             meaning                                              unit
M       mass_matrix      inertia in joint space, armature included            kg, kg·m²
c       bias_force       Coriolis and centrifugal forces and gravity          N, N·m
τ       force            everything else along the joints: springs, motors …  N, N·m

This is (2.1) of flickinger and (13) of rodic without contact; MuJoCo calls c `qfrc_bias`.
Composite inertias and forces accumulate by products with the constant masks of `Tree`.
"""

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.linear import cholesky, solve_factored
from stiction._base.spatial import cross, force_cross, multiply, rotate
from stiction.mechanism.kinematics import (
    LinkKinematics,
    as_mask,
    body_poses,
    link_kinematics,
    link_velocities,
    subspace_rate,
)
from stiction.mechanism.mechanism import Mechanism


def mass_matrix(mechanism: Mechanism, q: Float[Array, "nq"]) -> Float[Array, "nv nv"]:
    """M(q), symmetric positive definite."""
    state = link_kinematics(mechanism, q)
    return _mass_matrix(mechanism, state, body_inertias(mechanism, state))


def bias_force(
    mechanism: Mechanism, q: Float[Array, "nq"], v: Float[Array, "nv"]
) -> Float[Array, "nv"]:
    """c(q, v): the joint forces that hold v constant, gravity included (MuJoCo's `qfrc_bias`)."""
    state = link_kinematics(mechanism, q)
    return bias_force_at(mechanism, state, body_inertias(mechanism, state), v)


def forward_dynamics(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    force: Float[Array, "nv"],
) -> Float[Array, "nv"]:
    """Acceleration under joint forces: solves M v̇ = force - c."""
    state = link_kinematics(mechanism, q)
    inertias = body_inertias(mechanism, state)
    M_lower = lower_mass_matrix(mechanism, state, inertias)  # all that the factors need
    c = bias_force_at(mechanism, state, inertias, v)
    return solve_mass_matrix(M_lower, force - c)


def inverse_dynamics(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    acceleration: Float[Array, "nv"],
) -> Float[Array, "nv"]:
    """The joint forces M v̇ + c that give an acceleration."""
    state = link_kinematics(mechanism, q)
    inertias = body_inertias(mechanism, state)
    inertial = _inertial_force(mechanism, state, inertias, v, acceleration)
    return inertial + mechanism.joints.armature * acceleration


def solve_mass_matrix(
    M: Float[Array, "nv nv"], force: Float[Array, "nv *k"]
) -> Float[Array, "nv *k"]:
    """M⁻¹ force, by Cholesky factors of the lower triangle of M."""
    return solve_factored(cholesky(M), force)


def body_inertias(mechanism: Mechanism, state: LinkKinematics) -> Float[Array, "n_bodies 10"]:
    """Mass, first moment and second moment (6) of each body about the reference point.

    The second moment is Σ m (|r|² 1 - r rᵀ), the rotational inertia, as (xx, yy, zz, xy, xz, yz).
    """
    bodies = mechanism.bodies
    poses = body_poses(mechanism, state.links)
    r = poses.position + rotate(poses.rotation, bodies.center) - state.reference[None]
    m = bodies.mass
    I = multiply(multiply(poses.rotation, bodies.inertia), jnp.swapaxes(poses.rotation, -1, -2))
    x, y, z = r[:, 0], r[:, 1], r[:, 2]
    moments = [
        m,
        m * x,
        m * y,
        m * z,
        I[:, 0, 0] + m * (y * y + z * z),
        I[:, 1, 1] + m * (x * x + z * z),
        I[:, 2, 2] + m * (x * x + y * y),
        I[:, 0, 1] - m * x * y,
        I[:, 0, 2] - m * x * z,
        I[:, 1, 2] - m * y * z,
    ]
    return jnp.stack(moments, axis=-1)


def spatial_momentum(I: Float[Array, "*n 10"], V: Float[Array, "*n 6"]) -> Float[Array, "*n 6"]:
    """Spatial momentum (angular about the reference point, then linear) of inertias in motion."""
    m, h = I[..., :1], I[..., 1:4]
    xx, yy, zz, xy, xz, yz = (I[..., k] for k in range(4, 10))
    w, v = V[..., :3], V[..., 3:]
    w0, w1, w2 = w[..., 0], w[..., 1], w[..., 2]
    turned = jnp.stack(
        [xx * w0 + xy * w1 + xz * w2, xy * w0 + yy * w1 + yz * w2, xz * w0 + yz * w1 + zz * w2],
        axis=-1,
    )
    return jnp.concatenate([turned + cross(h, v), m * v - cross(h, w)], axis=-1)


def _mass_matrix(
    mechanism: Mechanism, state: LinkKinematics, inertias: Float[Array, "n_bodies 10"]
) -> Float[Array, "nv nv"]:
    # Freedoms of one joint couple both ways; keep each pair once.
    lower = jnp.tril(lower_mass_matrix(mechanism, state, inertias))
    return lower + jnp.tril(lower, -1).T


def lower_mass_matrix(
    mechanism: Mechanism, state: LinkKinematics, inertias: Float[Array, "n_bodies 10"]
) -> Float[Array, "nv nv"]:
    """A matrix whose lower triangle is that of M; what is above the diagonal means nothing."""
    tree = mechanism.tree
    # Freedom d accelerates everything beyond it: its composite inertia, times its motion.
    composite = as_mask(tree.moves_body.T, inertias) @ inertias
    F = spatial_momentum(composite, state.S)
    coupled = (F @ state.S.T) * as_mask(tree.coupled, F)
    return coupled + jnp.diag(mechanism.joints.armature)


def _inertial_force(
    mechanism: Mechanism,
    state: LinkKinematics,
    inertias: Float[Array, "n_bodies 10"],
    v: Float[Array, "nv"],
    acceleration: Float[Array, "nv"] | None,
) -> Float[Array, "nv"]:
    """Newton-Euler for every body, projected on the joints; gravity as an upward acceleration."""
    tree = mechanism.tree
    links = np.array(tree.body_links, int)
    V = link_velocities(tree, state, v)
    rate = subspace_rate(tree, state, V) * v[:, None]
    if acceleration is not None:
        rate = rate + state.S * acceleration[:, None]
    A = as_mask(tree.moves_body, v) @ rate
    A = A - jnp.concatenate([jnp.zeros(3, v.dtype), mechanism.gravity])[None, :]
    V = V[links]
    f = spatial_momentum(inertias, A) + force_cross(V, spatial_momentum(inertias, V))
    carried = as_mask(tree.moves_body.T, v) @ f
    return jnp.sum(state.S * carried, axis=-1)


def bias_force_at(
    mechanism: Mechanism,
    state: LinkKinematics,
    inertias: Float[Array, "n_bodies 10"],
    v: Float[Array, "nv"],
) -> Float[Array, "nv"]:
    return _inertial_force(mechanism, state, inertias, v, None)
