r"""Every possible motion of a planar body in frictional contact (erdmann 5.4, 5.5)."""

from functools import partial

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import nnls

from stiction._base.checks import Values
from stiction.motions._tolerance import SAME, ZERO
from stiction.motions.cells import ContactRows
from stiction.motions.forces import least_norm_forces
from stiction.motions.pieces import Explanation, Piece, maximal, motion_of
from stiction.motions.result import (
    BREAK,
    SLIP_LEFT,
    SLIP_RIGHT,
    STICK,
    Motions,
    PossibleMotion,
)
from stiction.motions.state import ContactState

# Accelerations are known somewhat less well than the matrices that they were solved from.
_TOUCHING = 10 * ZERO
_ROUNDING = 1e-13  # components smaller than this are shown as zero


def possible_motions(state: ContactState, *, force: Values, torque: float = 0.0) -> Motions:
    r"""Every acceleration that Newton, Coulomb and the contacts allow: none, one, several, a range.

    Args:
        state: The body and its contacts, from `contact_state`; one state serves many forces.
        force: Applied force, weight included [N].
        torque: Applied torque about the center of mass [N·m].
    """
    if np.any(state.colliding):
        return Motions.collision(state.colliding, state.normal_speed)
    applied = state.generalized_force(force, torque) / state.mass
    scale = max(float(np.linalg.norm(applied)), state.active_rows.scale) or 1.0
    pieces, names = [], set()
    for cell in state.cells:
        section = cell.section(applied[None], np.array([scale]))
        corners = section.corners[0][section.valid[0]]
        if len(corners):
            names.add(cell.name)
            pieces.append(_piece(corners, section.rays, scale))
    in_configuration_space = np.array([1.0, 1.0, state.gyration_radius])
    motions = [
        motion_of(
            piece,
            scale,
            at=partial(_explain, state, applied, scale),
            physical=lambda a: a / in_configuration_space,
            forward=partial(_forward, state.velocity * in_configuration_space),
            mass=state.mass,
        )
        # Cells are closed and share their borders: what lies on one belongs to both.
        for piece in maximal(pieces, partial(_contains, scale))
    ]
    return Motions.of(
        tuple(sorted(motions, key=_order)),
        zero_reaction="zero reaction" in names,
        zero_net_force="zero net force" in names,
    )


def _order(motion: PossibleMotion):
    """Rest first, then by how many contacts are kept, then by size."""
    kept = sum(mode != BREAK for mode in motion.modes)
    return (-kept, float(np.linalg.norm(motion.acceleration)), motion.modes)


def _piece(corners: Float[np.ndarray, "n 3"], rays: Float[np.ndarray, "r 3"], scale: float):
    """A convex set of accelerations of dimension 0, 1 or 2, with distinct corners."""
    size = scale + np.max(np.linalg.norm(corners, axis=1))
    corners = np.where(np.abs(corners) <= _ROUNDING * size, 0.0, corners)
    distance = np.linalg.norm(corners[:, None] - corners[None], axis=-1)
    corners = corners[~np.any(np.tril(distance <= SAME * size, -1), axis=1)]
    directions = np.concatenate([(corners[1:] - corners[0]) / size, rays])
    return Piece(corners, rays, int(np.linalg.matrix_rank(directions, tol=SAME)))


def _contains(scale: float, whole: Piece, part: Piece) -> bool:
    """Whether every corner and ray of the part is a mixture of the whole's."""
    size = scale + np.max(np.linalg.norm(part.corners, axis=1))
    weights = np.concatenate([np.ones(len(whole.corners)), np.zeros(len(whole.rays))])
    mixture = np.concatenate([np.concatenate([whole.corners / size, whole.rays]).T, weights[None]])
    wanted = [np.append(c / size, 1.0) for c in part.corners]
    wanted += [np.append(r, 0.0) for r in part.rays]
    return all(nnls(mixture, w)[1] <= SAME for w in wanted)


def _forward(velocity: Float[np.ndarray, "3"], t: Float[np.ndarray, "3"]):
    """The tangent pointing the way the body moves, or if it rests, with its first part > 0."""
    first = t[np.flatnonzero(np.abs(t) > SAME)[0]]
    return -t if (float(velocity @ t) or first) < 0 else t


def _explain(
    state: ContactState, applied: Float[np.ndarray, "3"], scale: float, a: Float[np.ndarray, "3"]
) -> Explanation:
    """Modes of all contacts at an acceleration, the smallest forces, whether there are others."""
    rows = state.rows
    kept, plus, minus = (x & state.active for x in usable_edges(rows, a, scale))
    right, left = minus & ~plus, plus & ~minus
    words = np.select([~kept, right, left], [BREAK, SLIP_RIGHT, SLIP_LEFT], STICK)
    one_edge = rows.mu == 0  # both edges are the normal
    plus, minus = np.flatnonzero(plus), np.flatnonzero(minus & ~(plus & one_edge))
    forces, unique = least_norm_forces(
        edges=np.concatenate([state.sheets[plus, 0], state.sheets[minus, 1]]),
        pull=np.concatenate([rows.mu[plus], -rows.mu[minus]])[:, None],
        owner=np.concatenate([plus, minus]),
        count=len(rows.mu),
        reaction=state.mass * (a - applied),
    )
    return tuple(words.tolist()), forces, unique


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
