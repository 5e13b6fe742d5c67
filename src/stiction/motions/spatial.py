r"""Every possible motion of a spatial rigid body in frictional contact, by contact modes.

The planar method's question and verdicts in three dimensions, answered by `possible_accelerations`.
"""

import numpy as np
from jaxtyping import Float

from stiction._errors import InputError
from stiction.motions.checks import (
    Values,
    finite_array,
    friction_coefficients,
    positive,
    unit_vectors,
)
from stiction.motions.enumeration import possible_accelerations
from stiction.motions.result import Motions, Verdict
from stiction.motions.state import VELOCITY_TOLERANCE

KINDS = ("vertex-on-face", "face-on-vertex", "edge-on-edge")


def possible_spatial_motions(
    *,
    mass: float,
    inertia: Values,
    points: Values,
    normals: Values,
    mu: Values,
    velocity: Values = (0.0, 0.0, 0.0),
    angular_velocity: Values = (0.0, 0.0, 0.0),
    force: Values = (0.0, 0.0, 0.0),
    torque: Values = (0.0, 0.0, 0.0),
    center: Values = (0.0, 0.0, 0.0),
    kinds: list[str] | tuple[str, ...] | None = None,
    body_edges: Values | None = None,
    obstacle_edges: Values | None = None,
    directions: int = 8,
    velocity_tolerance: float = VELOCITY_TOLERANCE,
) -> Motions:
    r"""Every acceleration $(a, \alpha)$ of a rigid body that touches fixed obstacles.

    The gap of a contact accelerates by $n\cdot\ddot p + 2\dot n\cdot\dot p$, with p the body's
    point in contact and the normal n turning with what defines it: with nothing (a body vertex on a
    fixed face), with the body (a body face on a fixed vertex), or with the body's edge
    ($n \propto u_b \times u_o$, edge on edge).

    Args:
        mass: m [kg].
        inertia: About the center of mass in world axes, (3, 3), or its diagonal (3,) [kg·m²].
        points: Contact points, (k, 3) [m].
        normals: From the obstacle into the body, (k, 3); made unit [-].
        mu: Friction coefficients, (k,) or one for all [-].
        velocity: Of the center of mass [m/s].
        angular_velocity: [rad/s].
        force: Applied force, weight included [N].
        torque: Applied torque about the center of mass [N·m].
        center: Center of mass [m].
        kinds: One of `KINDS` for each contact; by default all vertex-on-face.
        body_edges: Direction of the body's edge at each contact, (k, 3); used by edge-on-edge.
        obstacle_edges: Likewise of the obstacle's edge.
        directions: Edges of the friction pyramid of a contact that does not slide.
        velocity_tolerance: Relative speed below which a contact velocity counts as zero.

    Returns:
        The motions; `acceleration` is $(a_x, a_y, a_z, \alpha_x, \alpha_y, \alpha_z)$ and `forces`
        are (normal, and along two tangents) [N].
    """
    m, J = positive("mass", mass, "kg"), _inertia(inertia)
    p = finite_array("points", points, (-1, 3))
    k = len(p)
    n = unit_vectors("normals", normals, (k, 3))
    friction = friction_coefficients("mu", mu, k)
    v = finite_array("velocity", velocity, (3,))
    omega = finite_array("angular_velocity", angular_velocity, (3,))
    arm = p - finite_array("center", center, (3,))
    kinds = ("vertex-on-face",) * k if kinds is None else tuple(kinds)
    n_dot = _normal_rates(kinds, body_edges, obstacle_edges, n, omega)

    tangents = contact_tangents(n)
    v_p = v + np.cross(omega, arm)
    centripetal = np.cross(omega, np.cross(omega, arm))
    size = np.sqrt(np.linalg.eigvalsh(J).max() / m)
    speed = velocity_tolerance * np.hypot(np.linalg.norm(v), size * np.linalg.norm(omega))
    reach = np.hypot(1.0, np.linalg.norm(arm, axis=1) / size)
    v_n = np.sum(n * v_p, axis=1)
    inward = v_n < -speed * reach
    if np.any(inward):
        hits = {int(i): float(-v_n[i]) for i in np.flatnonzero(inward)}
        return Motions(Verdict.COLLISION, collisions=hits)
    active = v_n <= speed * reach

    n_jacobian = np.concatenate([n, np.cross(arm, n)], axis=1)
    t_jacobian = np.concatenate([tangents, np.cross(arm[:, None], tangents)], axis=2)
    mass_matrix = np.zeros((6, 6))
    mass_matrix[:3, :3], mass_matrix[3:, 3:] = m * np.eye(3), J
    moment = finite_array("torque", torque, (3,)) - np.cross(omega, J @ omega)
    answer = possible_accelerations(
        mass_matrix=mass_matrix,
        applied=np.concatenate([finite_array("force", force, (3,)), moment]),
        normal_jacobian=n_jacobian[active],
        tangent_jacobian=t_jacobian[active],
        normal_bias=(np.sum(n * centripetal, axis=1) + 2 * np.sum(n_dot * v_p, axis=1))[active],
        tangent_bias=np.einsum("ktx,kx->kt", tangents, centripetal)[active],
        slip_velocity=np.einsum("ktx,kx->kt", tangents, v_p)[active],
        mu=friction[active],
        directions=directions,
        rest_speed=speed,
    )
    return answer.with_separated(active)


def _inertia(value: Values) -> Float[np.ndarray, "3 3"]:
    matrix = np.asarray(value, float)
    matrix = np.diag(matrix) if matrix.shape == (3,) else finite_array("inertia", matrix, (3, 3))
    if not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
        raise InputError(
            "`inertia` must be symmetric with principal values > 0 [kg·m²], got"
            f" {np.asarray(value).tolist()}"
        )
    return matrix


def contact_tangents(n: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k 2 3"]:
    """Two tangents that with the normal make a right-handed frame (t1, t2, n)."""
    aside = np.eye(3)[np.argmin(np.abs(n), axis=1)]
    t1 = np.cross(aside, n)
    t1 /= np.linalg.norm(t1, axis=1, keepdims=True)
    return np.stack([t1, np.cross(n, t1)], axis=1)


def _normal_rates(kinds, body_edges, obstacle_edges, n, omega) -> Float[np.ndarray, "k 3"]:
    """How each contact's normal turns."""
    if len(kinds) != len(n) or any(kind not in KINDS for kind in kinds):
        raise InputError(
            f"`kinds` must be {len(n)} of {', '.join(KINDS)}; got {', '.join(map(str, kinds))}"
        )
    turning = np.array([kind == "face-on-vertex" for kind in kinds])
    crossing = np.array([kind == "edge-on-edge" for kind in kinds])
    rate = np.where(turning[:, None], np.cross(omega, n), 0.0)
    if not crossing.any():
        return rate
    if body_edges is None or obstacle_edges is None:
        raise InputError("`body_edges` and `obstacle_edges` are needed where kind is edge-on-edge")
    u = unit_vectors("body_edges", np.asarray(body_edges, float)[crossing], (-1, 3))
    w = unit_vectors("obstacle_edges", np.asarray(obstacle_edges, float)[crossing], (-1, 3))
    n = n[crossing]
    if np.any(np.abs(np.sum(u * n, axis=1)) > 1e-6) or np.any(np.abs(np.sum(w * n, axis=1)) > 1e-6):
        raise InputError("`body_edges` and `obstacle_edges` must be at right angles to `normals`")
    # n stays at right angles to both edges, of which the body's turns: ṅ·w = 0, ṅ·u = -n·(ω × u).
    across = np.cross(n, w)
    skew = np.sum(across * u, axis=1)
    if np.any(np.abs(skew) < 1e-6):
        raise InputError("`body_edges` must not be parallel to `obstacle_edges`")
    turn = -np.sum(n * np.cross(omega, u), axis=1) / skew
    rate[crossing] = turn[:, None] * across
    return rate
