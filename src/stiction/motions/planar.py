r"""Every possible motion of a planar body in frictional contact (erdmann 5.4, 5.5)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import nnls

from stiction.motions._tolerance import SAME, ZERO
from stiction.motions.cells import ContactRows
from stiction.motions.checks import Values
from stiction.motions.forces import least_norm_forces
from stiction.motions.result import (
    BREAK,
    SLIP_LEFT,
    SLIP_RIGHT,
    STICK,
    End,
    Family,
    Motion,
    Motions,
    Verdict,
)
from stiction.motions.state import VELOCITY_TOLERANCE, ContactState, contact_state

# Accelerations are known somewhat less well than the matrices that they were solved from.
_TOUCHING = 10 * ZERO
_ROUNDING = 1e-13  # components smaller than this are shown as zero


def possible_motions(
    *,
    mass: float,
    inertia: float,
    points: Values,
    normals: Values,
    mu: Values,
    velocity: Values = (0.0, 0.0, 0.0),
    force: Values = (0.0, 0.0),
    torque: float = 0.0,
    center: Values = (0.0, 0.0),
    curvature_body: Values = np.inf,
    curvature_obstacle: Values = 0.0,
    velocity_tolerance: float = VELOCITY_TOLERANCE,
) -> Motions:
    r"""Every acceleration that Newton, Coulomb and the contacts allow: none, one, several, a range.

    Args:
        force: Applied force, weight included [N].
        torque: Applied torque about the center of mass [N·m].

    The other arguments are those of `contact_state`. To ask about many forces on one contact state,
    make the state once and call `motions_of` or `classify_forces`.
    """
    state = contact_state(
        mass=mass,
        inertia=inertia,
        points=points,
        normals=normals,
        mu=mu,
        velocity=velocity,
        center=center,
        curvature_body=curvature_body,
        curvature_obstacle=curvature_obstacle,
        velocity_tolerance=velocity_tolerance,
    )
    return motions_of(state, force=force, torque=torque)


def motions_of(state: ContactState, *, force: Values, torque: float = 0.0) -> Motions:
    """Every possible motion of a contact state under an applied force [N] and torque [N·m]."""
    if np.any(state.colliding):
        inward = {int(i): float(-state.normal_speed[i]) for i in np.flatnonzero(state.colliding)}
        return Motions(Verdict.COLLISION, collisions=inward)
    applied = state.generalized_force(force, torque) / state.mass
    scale = max(float(np.linalg.norm(applied)), state.active_rows.scale) or 1.0
    pieces, names = [], set()
    for cell in state.cells:
        section = cell.section(applied[None], np.array([scale]))
        corners = section.corners[0][section.valid[0]]
        if len(corners):
            names.add(cell.name)
            pieces.append(_Piece.of(corners, section.rays, scale))
    teller = _Teller(state, applied, scale)
    motions = sorted((teller.motion(p) for p in _maximal(pieces, scale)), key=_order)
    several = len(motions) > 1 or any(m.family for m in motions)
    verdict = Verdict.AMBIGUOUS if several else Verdict(len(motions))
    return Motions(
        verdict,
        tuple(motions),
        zero_reaction="zero reaction" in names,
        zero_net_force="zero net force" in names,
    )


def _order(motion: Motion):
    """Rest first, then by how many contacts are kept, then by size."""
    kept = sum(mode != BREAK for mode in motion.modes)
    return (-kept, float(np.linalg.norm(motion.acceleration)), motion.modes)


@dataclass(frozen=True)
class _Piece:
    """A convex set of accelerations of dimension 0, 1 or 2."""

    corners: Float[np.ndarray, "n 3"]
    rays: Float[np.ndarray, "r 3"]
    dimension: int

    @classmethod
    def of(cls, corners, rays, scale: float) -> "_Piece":
        size = scale + np.max(np.linalg.norm(corners, axis=1))
        corners = np.where(np.abs(corners) <= _ROUNDING * size, 0.0, corners)
        distance = np.linalg.norm(corners[:, None] - corners[None], axis=-1)
        corners = corners[~np.any(np.tril(distance <= SAME * size, -1), axis=1)]
        directions = np.concatenate([(corners[1:] - corners[0]) / size, rays])
        return cls(corners, rays, int(np.linalg.matrix_rank(directions, tol=SAME)))

    def inside(self, scale: float) -> Float[np.ndarray, "3"]:
        """An acceleration in the relative interior."""
        return self.corners.mean(axis=0) + scale * self.rays.sum(axis=0)

    def contains(self, other: "_Piece", scale: float) -> bool:
        """Whether every corner and ray of the other is a mixture of this one's."""
        size = scale + np.max(np.linalg.norm(other.corners, axis=1))
        weights = np.concatenate([np.ones(len(self.corners)), np.zeros(len(self.rays))])
        mixture = np.concatenate(
            [np.concatenate([self.corners / size, self.rays]).T, weights[None]]
        )
        wanted = [np.append(c / size, 1.0) for c in other.corners]
        wanted += [np.append(r, 0.0) for r in other.rays]
        return all(nnls(mixture, w)[1] <= SAME for w in wanted)


def _maximal(pieces: list[_Piece], scale: float) -> list[_Piece]:
    """The pieces that are not part of another (cells are closed and share their borders)."""
    found: list[_Piece] = []
    for piece in pieces:
        if any(other.contains(piece, scale) for other in found):
            continue
        found = [other for other in found if not piece.contains(other, scale)]
        found.append(piece)
    return found


class _Teller:
    """Says in words and forces what an acceleration means for each contact."""

    def __init__(self, state: ContactState, applied: Float[np.ndarray, "3"], scale: float):
        self.state, self.applied, self.scale = state, applied, scale

    def motion(self, piece: _Piece) -> Motion:
        inside = piece.inside(self.scale)
        modes, forces, unique = self._at(inside)
        family = self._family(piece) if piece.dimension else None
        return Motion(self._physical(inside), modes, forces, unique, family)

    def _family(self, piece: _Piece) -> Family:
        corners, rays = self._physical(piece.corners), self._physical(piece.rays)
        if piece.dimension > 1:
            return Family(piece.dimension, corners, rays)
        span = piece.rays if len(piece.rays) else np.diff(piece.corners[[0, -1]], axis=0)
        t = self._forward(span[0] / np.linalg.norm(span[0]))
        base = piece.corners[0] - (piece.corners[0] @ t) * t
        c = np.sort(piece.corners @ t)
        low = -np.inf if np.any(piece.rays @ t < 0) else c[0]
        high = np.inf if np.any(piece.rays @ t > 0) else c[-1]
        m = self.state.mass
        return Family(
            1,
            corners,
            rays,
            interval=(float(m * low), float(m * high)),
            tangent=self._physical(t),
            base=self._physical(base),
            ends=tuple(self._end(float(x), base, t) for x in (low, high)),
        )

    def _end(self, c: float, base, tangent) -> End | None:
        if not np.isfinite(c):
            return None
        acceleration = base + c * tangent
        modes, forces, _ = self._at(acceleration)
        return End(self.state.mass * c, self._physical(acceleration), modes, forces)

    def _forward(self, t: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        """The tangent pointing the way the body moves, or if it rests, with its first part > 0."""
        ahead = float((self.state.velocity * [1.0, 1.0, self.state.gyration_radius]) @ t)
        first = t[np.flatnonzero(np.abs(t) > SAME)[0]]
        return -t if (ahead or first) < 0 else t

    def _physical(self, a):
        """From configuration space to (a_x, a_y, α)."""
        return a / np.array([1.0, 1.0, self.state.gyration_radius])

    def _at(self, a: Float[np.ndarray, "3"]) -> tuple[tuple[str, ...], np.ndarray, bool]:
        """Modes of all contacts, the smallest forces, and whether they are the only ones."""
        state, rows = self.state, self.state.rows
        kept, plus, minus = usable_edges(rows, a, self.scale)
        kept, plus, minus = kept & state.active, plus & state.active, minus & state.active
        right = minus & ~plus
        left = plus & ~minus
        words = np.select([~kept, right, left], [BREAK, SLIP_RIGHT, SLIP_LEFT], STICK)
        one_edge = rows.mu == 0  # both edges are the normal
        plus, minus = np.flatnonzero(plus), np.flatnonzero(minus & ~(plus & one_edge))
        edges = np.concatenate([state.sheets[plus, 0], state.sheets[minus, 1]])
        owner = np.concatenate([plus, minus])
        friction = np.concatenate([rows.mu[plus], -rows.mu[minus]])
        components = np.zeros((len(rows.mu), 2, len(owner)))
        columns = np.arange(len(owner))
        components[owner, 0, columns] = 1.0
        components[owner, 1, columns] = friction
        forces, unique = least_norm_forces(
            edges.T,
            components.reshape(2 * len(rows.mu), len(owner)),
            state.mass * (a - self.applied),
        )
        return tuple(words.tolist()), forces.reshape(-1, 2), unique


def usable_edges(
    rows: ContactRows, a: Float[np.ndarray, "*n 3"], scale: Float[np.ndarray, "*n"] | float
) -> tuple[Bool[np.ndarray, "*n k"], Bool[np.ndarray, "*n k"], Bool[np.ndarray, "*n k"]]:
    """At an acceleration: which contacts are kept, and which positive and negative edges press."""
    slack = np.expand_dims(_TOUCHING * (scale + np.linalg.norm(a, axis=-1)), -1)
    gap = (a @ rows.normals.T + rows.h) / np.linalg.norm(rows.normals, axis=1)
    sliding = (a @ rows.tangents.T + rows.g) / np.linalg.norm(rows.tangents, axis=1)
    sliding = np.where(np.abs(sliding) <= slack, 0.0, sliding)
    direction = np.where(rows.slip != 0, rows.slip, sliding)
    kept = gap <= slack
    return kept, kept & (direction <= 0), kept & (direction >= 0)
