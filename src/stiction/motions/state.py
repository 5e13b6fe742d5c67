r"""A planar body in contact: everything that does not depend on the applied force."""

from dataclasses import dataclass
from functools import cached_property
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
from stiction.motions._tolerance import PARALLEL
from stiction.motions.cells import ContactRows, cells
from stiction.motions.cone import PolyhedralCone, friction_edges
from stiction.motions.kinematics import ContactTerms, contact_terms, curvature_term
from stiction.motions.section import Cell

# Relative speed below which a contact neither approaches, separates nor slides.
VELOCITY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class PlanarBody:
    """A rigid body in the plane and how it moves."""

    mass: float  # m [kg]
    inertia: float  # about the center of mass, m ρ² [kg·m²]
    center: Any = (0.0, 0.0)  # center of mass [m]
    velocity: Any = (0.0, 0.0, 0.0)  # (v_x, v_y, ω) of the center of mass [m/s, m/s, rad/s]

    def __post_init__(self):
        positive("mass", self.mass, "kg")
        positive("inertia", self.inertia, "kg·m²")
        object.__setattr__(self, "center", finite_array("center", self.center, (2,)))
        object.__setattr__(self, "velocity", finite_array("velocity", self.velocity, (3,)))

    @property
    def gyration_radius(self) -> float:
        """ρ [m]."""
        return float(np.sqrt(self.inertia / self.mass))


@dataclass(frozen=True)
class ContactState:
    """A planar rigid body, its velocity, and its contacts with fixed obstacles.

    Make one with `contact_state`, which checks the values. Generalized vectors are those of
    configuration space: $(x, y, q = \\rho\\theta)$.
    """

    mass: float  # m [kg]
    gyration_radius: float  # ρ [m]
    center: Float[np.ndarray, "2"]  # [m]
    points: Float[np.ndarray, "k 2"]  # [m]
    unit_normals: Float[np.ndarray, "k 2"]  # from the obstacle into the body
    velocity: Float[np.ndarray, "3"]  # (v_x, v_y, ω), less what the tolerance ignores
    active: Bool[np.ndarray, " k"]  # neither approaching nor separating
    normal_speed: Float[np.ndarray, " k"]  # [m/s], exactly 0 where active
    rows: ContactRows  # of all contacts

    @property
    def colliding(self) -> Bool[np.ndarray, " k"]:
        """The contacts whose velocity points into the obstacle."""
        return ~self.active & (self.normal_speed < 0)

    @cached_property
    def active_rows(self) -> ContactRows:
        """The rows of the contacts that can press."""
        r, a = self.rows, self.active
        return ContactRows(r.tangents[a], r.normals[a], r.g[a], r.h[a], r.slip[a], r.mu[a], r.scale)

    @cached_property
    def cells(self) -> list[Cell]:
        """Acceleration space cut by the contacts (made once, used for every force)."""
        return cells(self.active_rows)

    @cached_property
    def sheets(self) -> Float[np.ndarray, "k 2 3"]:
        r"""The two edges $\Delta_n n \pm \mu v_f$ of each contact's friction cone (4.3)."""
        return friction_edges(self.rows.tangents, self.rows.normals, self.rows.mu)

    @cached_property
    def cone(self) -> PolyhedralCone:
        """The composite friction cone (5.2) of the active contacts.

        A contact that slides takes part with the edge that opposes it.
        """
        r = self.active_rows
        return PolyhedralCone.from_edges(r.edges(r.slip <= 0, r.slip >= 0))

    def generalized_force(self, force: Values, torque: Values) -> Float[np.ndarray, "... 3"]:
        """$(F_x, F_y, \\tau/\\rho)$ of forces [N] and torques about the center of mass [N·m]."""
        force, torque = np.asarray(force, float), np.asarray(torque, float)
        return np.concatenate([force, torque[..., None] / self.gyration_radius], axis=-1)


def contact_state(
    body: PlanarBody,
    *,
    points: Values,
    normals: Values,
    mu: Values,
    curvature_body: Values = np.inf,
    curvature_obstacle: Values = 0.0,
    velocity_tolerance: float = VELOCITY_TOLERANCE,
) -> ContactState:
    r"""A planar body in contact, checked.

    Args:
        body: The body and how it moves.
        points: Contact points, (k, 2) [m].
        normals: Normals from the obstacle into the body, (k, 2); made unit [-].
        mu: Friction coefficients, (k,) or one for all [-].
        curvature_body: Curvature of the body at each contact, > 0 where convex [1/m]. Infinite
            (the default) is a vertex, 0 a straight edge.
        curvature_obstacle: Curvature of the obstacle at each contact [1/m]. 0 (the default) is a
            straight edge.
        velocity_tolerance: Relative speed below which a contact velocity counts as zero.

    Raises:
        InputError: If a value cannot be; the message names it.
    """
    points = finite_array("points", points, (-1, 2))
    k = len(points)
    unit = unit_vectors("normals", normals, (k, 2))
    mu = friction_coefficients("mu", mu, k)
    kb, ko = _curvatures(curvature_body, curvature_obstacle, k)
    if not 0 <= velocity_tolerance < 1:
        raise InputError(f"`velocity_tolerance` must lie in [0, 1), got {velocity_tolerance!r}")

    rho, arm = body.gyration_radius, body.center - points
    in_configuration_space = np.array([1.0, 1.0, rho])

    def terms(v: Float[np.ndarray, "3"]) -> ContactTerms:
        return contact_terms(
            normal=(unit[:, 0], unit[:, 1]),
            arm=(arm[:, 0], arm[:, 1]),
            gyration_radius=rho,
            velocity=tuple(v),
            curvature_body=kb,
            curvature_obstacle=ko,
        )

    given = terms(body.velocity)
    tangents, normals = np.stack(given.tangent, axis=1), np.stack(given.normal, axis=1)
    velocity = body.velocity * in_configuration_space
    speed = velocity_tolerance * float(np.linalg.norm(velocity))
    active = np.abs(given.normal_velocity) <= speed * np.linalg.norm(normals, axis=1)
    # What the tolerance ignores is removed, so that kept contacts are kept exactly.
    velocity = _tangential(velocity, normals[active], speed) / in_configuration_space
    kept = terms(velocity)
    sliding = np.abs(kept.tangent_velocity) > speed * np.linalg.norm(tangents, axis=1)
    slip = np.where(sliding, np.sign(kept.tangent_velocity), 0.0)
    spin = np.abs(velocity[2])
    reach = np.linalg.norm(arm, axis=1)
    sizes = spin * (np.linalg.norm(velocity[:2]) + spin * np.maximum(reach, rho))
    sizes = sizes + np.abs(curvature_term(kb, ko, kept.tangent_velocity, 0.0 * velocity[2]))
    scale = float(np.max(sizes, where=active, initial=0.0))
    return ContactState(
        mass=float(body.mass),
        gyration_radius=rho,
        center=body.center,
        points=points,
        unit_normals=unit,
        velocity=velocity,
        active=active,
        normal_speed=np.where(active, 0.0, kept.normal_velocity),
        rows=ContactRows(tangents, normals, kept.g, kept.h, slip, mu, scale),
    )


def _tangential(velocity, rows: Float[np.ndarray, "m 3"], negligible: float):
    """The velocity without its component along the rows; what is left but negligible is zero."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    _, singular, basis = np.linalg.svd(unit)
    free = basis[int(np.sum(singular > PARALLEL)) :]
    left = free.T @ (free @ velocity)
    spin = left[2] if abs(left[2]) > negligible else 0.0
    moving = np.linalg.norm(left) > negligible
    return np.array([left[0], left[1], spin]) if moving else np.zeros(3)


def _curvatures(body, obstacle, k: int) -> tuple[np.ndarray, np.ndarray]:
    kb, ko = (np.broadcast_to(np.asarray(x, float), (k,)).copy() for x in (body, obstacle))
    if np.any(np.isnan(kb)) or np.any(np.isnan(ko)):
        raise InputError("`curvature_body` and `curvature_obstacle` must be numbers, got nan")
    if np.any(np.isinf(kb) & np.isinf(ko)):
        raise InputError(
            "`curvature_body` and `curvature_obstacle` are both infinite: a vertex on a vertex has"
            " no normal; round one of them"
        )
    if np.any(kb + ko <= 0):
        raise InputError(
            "`curvature_body` + `curvature_obstacle` must be > 0 for a point contact;"
            " describe contact along a line by the vertices at its ends"
        )
    return kb, ko
