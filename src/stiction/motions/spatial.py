r"""Every possible motion of a spatial rigid body in frictional contact, by contact modes.

The planar method's question and verdicts in three dimensions, answered by `possible_accelerations`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from stiction._base.checks import (
    Values,
    finite_array,
    friction_coefficients,
    positive,
    unit_vectors,
)
from stiction._base.errors import InputError
from stiction.motions.enumeration import possible_accelerations
from stiction.motions.result import Motions
from stiction.motions.state import VELOCITY_TOLERANCE

KINDS = ("vertex-on-face", "face-on-vertex", "edge-on-edge")


@dataclass(frozen=True)
class SpatialBody:
    """A rigid body in space and how it moves."""

    mass: float  # m [kg]
    inertia: Any  # about the center of mass in world axes, (3, 3), or its diagonal (3,) [kg·m²]
    center: Any = (0.0, 0.0, 0.0)  # center of mass [m]
    velocity: Any = (0.0, 0.0, 0.0)  # of the center of mass [m/s]
    angular_velocity: Any = (0.0, 0.0, 0.0)  # [rad/s]

    def __post_init__(self):
        positive("mass", self.mass, "kg")
        J = np.asarray(self.inertia, float)
        J = np.diag(J) if J.shape == (3,) else finite_array("inertia", J, (3, 3))
        if not np.allclose(J, J.T) or np.linalg.eigvalsh(J).min() <= 0:
            given = np.asarray(self.inertia).tolist()
            raise InputError(
                f"`inertia` must be symmetric with principal values > 0 [kg·m²], got {given}"
            )
        object.__setattr__(self, "inertia", J)
        for name in ("center", "velocity", "angular_velocity"):
            object.__setattr__(self, name, finite_array(name, getattr(self, name), (3,)))


@dataclass(frozen=True)
class SpatialState:
    """A spatial body and its contacts: everything that does not depend on the applied force."""

    body: SpatialBody
    jacobian: Float[np.ndarray, "k 3 6"]  # of each contact: two tangents, then the normal
    bias: Float[np.ndarray, "k 3"]  # its acceleration when v does not change [m/s²]
    contact_velocity: Float[np.ndarray, "k 3"]  # [m/s]
    mu: Float[np.ndarray, " k"]
    active: Bool[np.ndarray, " k"]  # neither approaching nor separating
    colliding: Bool[np.ndarray, " k"]
    rest_speed: float  # what counts as not sliding [m/s]


def spatial_state(
    body: SpatialBody,
    *,
    points: Values,
    normals: Values,
    mu: Values,
    kinds: list[str] | tuple[str, ...] | None = None,
    body_edges: Values | None = None,
    obstacle_edges: Values | None = None,
    velocity_tolerance: float = VELOCITY_TOLERANCE,
) -> SpatialState:
    r"""A spatial body that touches fixed obstacles, checked.

    The gap of a contact accelerates by $n\cdot\ddot p + 2\dot n\cdot\dot p$, with p the body's
    point in contact and the normal n turning with what defines it: with nothing (a body vertex on a
    fixed face), with the body (a body face on a fixed vertex), or with the body's edge
    ($n \propto u_b \times u_o$, edge on edge).

    Args:
        body: The body and how it moves.
        points: Contact points, (k, 3) [m].
        normals: From the obstacle into the body, (k, 3); made unit [-].
        mu: Friction coefficients, (k,) or one for all [-].
        kinds: One of `KINDS` for each contact; by default all vertex-on-face.
        body_edges: Direction of the body's edge at each contact, (k, 3); used by edge-on-edge.
        obstacle_edges: Direction of the obstacle's edge at each contact, in the same way.
        velocity_tolerance: Relative speed below which a contact velocity counts as zero.
    """
    p = finite_array("points", points, (-1, 3))
    k = len(p)
    n = unit_vectors("normals", normals, (k, 3))
    v, omega, arm = body.velocity, body.angular_velocity, p - body.center
    kinds = ("vertex-on-face",) * k if kinds is None else tuple(kinds)
    n_dot = _normal_rates(kinds, body_edges, obstacle_edges, n, omega)
    frame = np.concatenate([contact_tangents(n), n[:, None]], axis=1)
    v_p = v + np.cross(omega, arm)
    bias = np.einsum("kdx,kx->kd", frame, np.cross(omega, np.cross(omega, arm)))
    bias[:, -1] += 2 * np.sum(n_dot * v_p, axis=1)
    size = np.sqrt(np.linalg.eigvalsh(body.inertia).max() / body.mass)
    speed = velocity_tolerance * np.hypot(np.linalg.norm(v), size * np.linalg.norm(omega))
    slow = speed * np.hypot(1.0, np.linalg.norm(arm, axis=1) / size)
    u = np.einsum("kdx,kx->kd", frame, v_p)
    return SpatialState(
        body=body,
        jacobian=np.concatenate([frame, np.cross(arm[:, None], frame)], axis=2),
        bias=bias,
        contact_velocity=u,
        mu=friction_coefficients("mu", mu, k),
        active=np.abs(u[:, -1]) <= slow,
        colliding=u[:, -1] < -slow,
        rest_speed=float(speed),
    )


def possible_spatial_motions(
    state: SpatialState,
    *,
    force: Values = (0.0, 0.0, 0.0),
    torque: Values = (0.0, 0.0, 0.0),
    directions: int = 8,
) -> Motions:
    r"""Every acceleration $(a, \alpha)$ of a rigid body that touches fixed obstacles.

    Args:
        state: The body and its contacts, from `spatial_state`.
        force: Applied force, weight included [N].
        torque: Applied torque about the center of mass [N·m].
        directions: Edges of the friction pyramid of a contact that does not slide.

    Returns:
        The motions; `acceleration` is $(a_x, a_y, a_z, \alpha_x, \alpha_y, \alpha_z)$ and `forces`
        are along two tangents and the normal [N].
    """
    if np.any(state.colliding):
        return Motions.collision(state.colliding, state.contact_velocity[:, -1])
    J, omega, on = state.body.inertia, state.body.angular_velocity, state.active
    mass_matrix = np.zeros((6, 6))
    mass_matrix[:3, :3], mass_matrix[3:, 3:] = state.body.mass * np.eye(3), J
    moment = finite_array("torque", torque, (3,)) - np.cross(omega, J @ omega)
    answer = possible_accelerations(
        mass_matrix=mass_matrix,
        applied=np.concatenate([finite_array("force", force, (3,)), moment]),
        jacobian=state.jacobian[on],
        bias=state.bias[on],
        slip_velocity=state.contact_velocity[on, :-1],
        mu=state.mu[on],
        directions=directions,
        rest_speed=state.rest_speed,
    )
    return answer.with_separated(on)


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
