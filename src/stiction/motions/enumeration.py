r"""All possible accelerations of any mechanism, by enumerating contact modes.

The body of `planar` has three degrees of freedom, and its acceleration space is cut exactly. A
mechanism has more, and a spatial contact slides in a plane, so here contacts are assigned modes
(break, stick, or slip with the friction-cone edge that opposes it) step by step, and a partial
assignment is given up as soon as no acceleration and no forces satisfy it: a search tree of linear
programs. Where a spatial contact does not slide yet, its circular friction cone is replaced by a
pyramid with `directions` edges, as [StewartTrinkle1996] do; a contact that slides has its exact
direction.

Deciding whether any motion exists is NP-hard in the number of contacts (erdmann 5, citing
[Baraff1990]), so the tree can grow like (2 directions + 2)^k. In practice most branches end early:
eight contacts at rest in space take a second, twelve ten seconds or more, twenty in the plane a
tenth of a second, and sliding contacts, with two modes each, cost little.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog, nnls

from stiction._base.errors import InputError, RunError
from stiction.motions._tolerance import SAME
from stiction.motions.modes import Branch, ContactMode, MechanismContacts, reachable
from stiction.motions.pieces import Piece, maximal, motion_of
from stiction.motions.result import Motions

REST_SPEED = 1e-9  # m/s
STRICT = 1e-8  # of the acceleration scale: what a breaking gap or a slipping point must exceed
FEASIBLE = 1e-10  # of the same scale: residual of an assignment that holds
SPREAD = 1e-7  # of the same scale: less variation than this is rounding of the programs
_LP = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def possible_accelerations(
    *,
    mass_matrix: Float[np.ndarray, "nv nv"],
    applied: Float[np.ndarray, " nv"],
    jacobian: Float[np.ndarray, "k d nv"],
    bias: Float[np.ndarray, "k d"],
    slip_velocity: Float[np.ndarray, "k nt"],
    mu: Float[np.ndarray, " k"],
    directions: int = 8,
    rest_speed: float = REST_SPEED,
) -> Motions:
    r"""Every acceleration $\dot v$ that the contacts of a mechanism allow.

    $M\dot v = \tau + J_n^T f_n + J_t^T f_t$, and for each contact $J_n\dot v + \dot J_n v \ge 0$,
    $f_n \ge 0$, one of them zero; $|f_t| \le \mu f_n$, opposed to the sliding velocity, or if there
    is none to the sliding acceleration $J_t\dot v + \dot J_t v$. The contacts given must touch, and
    neither approach nor separate.

    Args:
        mass_matrix: M.
        applied: $\tau$: all generalized forces but those of the contacts (so minus the bias force).
        jacobian: J of each contact: the rows of $J_t$ (one in the plane, two in space), then $J_n$.
        bias: $\dot J v$, in the same order [m/s²].
        slip_velocity: $J_t v$ [m/s].
        mu: Friction coefficients [-].
        directions: Edges of the friction pyramid of a spatial contact at rest; at least 3.
        rest_speed: Sliding speed below which a contact does not slide [m/s].

    Returns:
        The motions; `acceleration` has nv components, `forces` are tangential, then normal.
    """
    if directions < 3:
        raise InputError(f"`directions` must be at least 3, got {directions}")
    slides = np.linalg.norm(slip_velocity, axis=1, keepdims=True) > rest_speed
    slip = np.where(slides, slip_velocity, 0.0)
    contacts = MechanismContacts.of(mass_matrix, applied, jacobian, bias, slip, mu, directions)
    programs = [_Program.of(contacts, modes, []) for modes in _assignments(contacts)]
    found = maximal([(program, _piece(program)) for program in programs], _contains)
    return Motions.of(
        tuple(
            motion_of(piece, contacts.scale, at=contacts.explain, physical=contacts.physical)
            for _, piece in found
        ),
        zero_reaction=contacts.allows(contacts.free),
        zero_net_force=contacts.allows(np.zeros_like(contacts.free)),
    )


def _assignments(contacts: MechanismContacts) -> Iterator[list[ContactMode]]:
    """Depth first, giving up as soon as nothing satisfies what is assigned.

    First it is decided which contacts are kept; then, contact after contact, whether it sticks, and
    the direction in which it slips, by halves: what moves on two slides that are known can hardly
    move in any other way on the rest.
    """

    def explore(nodes: list[Branch], depth: list[int]) -> Iterator[list[ContactMode]]:
        leaves = [n.mode for n in nodes if not n.below]
        if not _Program.of(contacts, leaves, [n.mode for n in nodes if n.below]).feasible():
            return
        open_ = [i for i, n in enumerate(nodes) if n.below]
        if not open_:
            yield [n.mode for n in nodes]
            return
        i = next((i for i in open_ if depth[i] == 0), max(open_, key=lambda i: depth[i]))
        for branch in nodes[i].below:
            new, deeper = nodes.copy(), depth.copy()
            new[i], deeper[i] = branch, depth[i] + 1
            yield from explore(new, deeper)

    k = len(contacts.mu)
    yield from explore([contacts.branches(i) for i in range(k)], [0] * k)


@dataclass(frozen=True)
class _Program:
    """The forces f >= 0 of an assignment: A f = a and B f >= b, its first rows strictly."""

    contacts: MechanismContacts
    columns: np.ndarray  # (nv, e), unit
    A: np.ndarray
    a: np.ndarray
    B: np.ndarray
    b: np.ndarray
    n_strict: int  # the first rows of B belong to assigned modes and must not hold with equality
    equal: tuple[np.ndarray, np.ndarray]  # the same conditions on the acceleration: rows, constants
    above: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(
        cls, contacts: MechanismContacts, chosen: list[ContactMode], rest: list[ContactMode]
    ) -> "_Program":
        modes = [*chosen, *rest]
        used = [e for mode in modes for e in mode.edges]
        columns = contacts.edges[used].T
        columns = columns / np.linalg.norm(columns, axis=0)
        equal = _rows([r for m in modes for r in m.equal], contacts)
        above = _rows([r for m in modes for r in m.above], contacts)
        n_strict = sum(len(m.above) for m in chosen)
        return cls(
            contacts,
            columns,
            equal[0] @ columns,
            -(equal[0] @ contacts.free / contacts.scale + equal[1]),
            above[0] @ columns,
            -(above[0] @ contacts.free / contacts.scale + above[1]),
            n_strict,
            equal,
            above,
        )

    def feasible(self) -> bool:
        """Whether some forces satisfy it all, the strict rows with room to spare.

        Least squares with forces and slacks >= 0 answer this a hundred times quicker than a linear
        program, and more sharply.
        """
        n = len(self.b)
        matrix = np.block([[self.A, np.zeros((len(self.a), n))], [self.B, -np.eye(n)]])
        wanted = np.concatenate([self.a, self.b])
        wanted[len(self.a) : len(self.a) + self.n_strict] += STRICT
        if matrix.size == 0:
            return bool(np.all(np.abs(wanted) <= FEASIBLE))
        return bool(nnls(matrix, wanted, maxiter=100 * matrix.shape[1])[1] <= FEASIBLE)

    def farthest(self, direction: np.ndarray) -> tuple[np.ndarray, bool]:
        """The acceleration farthest along a direction; or a ray, and True, if there is none."""
        cost = -(direction @ self.columns)
        if not len(cost):  # nothing presses
            return self.contacts.free, False
        answer = linprog(cost, -self.B, -self.b, self.A, self.a, options=_LP)
        if answer.status == 0:
            return self.acceleration(answer.x), False
        # Unbounded: the farthest among changes of unit size that violate nothing.
        unit = np.concatenate([-self.B, np.ones((1, len(cost)))])
        room = np.append(0 * self.b, 1.0)
        ray = self.columns @ linprog(cost, unit, room, self.A, 0 * self.a, options=_LP).x
        if not np.any(ray):  # neither bounded nor unbounded: the program gave up
            raise RunError("the possible motions cannot be told: the problem is too badly scaled")
        return ray / np.linalg.norm(ray), True

    def allows(self, b: np.ndarray) -> bool:
        """Whether an acceleration satisfies the assignment (borders included)."""
        x = b / self.contacts.scale
        slack = SPREAD * (1.0 + float(np.linalg.norm(x)))
        return bool(
            np.all(np.abs(self.equal[0] @ x + self.equal[1]) <= slack)
            and np.all(self.above[0] @ x + self.above[1] >= -slack)
            and reachable(self.columns, x - self.contacts.free / self.contacts.scale, slack)
        )

    def allows_ray(self, ray: np.ndarray) -> bool:
        """Whether one may go without end along a direction."""
        return bool(
            np.all(np.abs(self.equal[0] @ ray) <= SPREAD)
            and np.all(self.above[0] @ ray >= -SPREAD)
            and reachable(self.columns, ray, SPREAD)
        )

    def acceleration(self, f: np.ndarray) -> np.ndarray:
        """b of given forces, after removing what the solver's tolerance left in the equations."""
        on = f > SAME
        f = np.where(on, f, 0.0)
        f[on] += np.linalg.lstsq(self.A[:, on], self.a - self.A @ f, rcond=None)[0]
        return self.contacts.free + self.contacts.scale * (self.columns @ f)


def _rows(pairs, contacts: MechanismContacts) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit length and their constants relative to the scale."""
    if not pairs:
        return np.zeros((0, len(contacts.free))), np.zeros(0)
    rows = np.array([row for row, _ in pairs])
    length = np.linalg.norm(rows, axis=1)
    length = np.where(length > 0, length, 1.0)
    constants = np.array([constant for _, constant in pairs])
    return rows / length[:, None], constants / length / contacts.scale


def _piece(program: _Program) -> Piece:
    """The accelerations of one assignment of modes: a convex polyhedron, known by some extremes.

    Look both ways across what is known to vary, until nothing more varies. A direction with no
    simple ratios sees every variation there is across the known ones.
    """
    nv, scale = len(program.contacts.free), program.contacts.scale
    corners, rays = [program.farthest(np.zeros(nv))[0]], []
    known = np.zeros((0, nv))
    while len(known) < nv:
        across = np.linalg.svd(known)[2][len(known) :]
        generic = np.sin(np.arange(1.0, len(across) + 1)) @ across
        ends = [program.farthest(way * generic) for way in (1.0, -1.0)]
        far = [b for b, endless in ends if not endless]
        endless = [b for b, endless in ends if endless]
        spans = endless or [(far[0] - far[1]) / scale]
        if abs(spans[0] @ generic) <= SPREAD:
            break
        corners, rays = corners + far, rays + endless
        known = np.linalg.qr(np.concatenate([known, spans[:1]]).T)[0].T
    if len(known) == 0:
        corners = corners[:1]
    elif len(corners) > 1:
        corners = corners[1:]
    return Piece(np.array(corners), np.array(rays).reshape(-1, nv), len(known))


def _contains(whole: tuple[_Program, Piece], part: tuple[_Program, Piece]) -> bool:
    """Whether the extremes of one piece satisfy the conditions of another."""
    return all(whole[0].allows(b) for b in part[1].corners) and all(
        whole[0].allows_ray(r) for r in part[1].rays
    )
