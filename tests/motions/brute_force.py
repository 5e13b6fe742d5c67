"""The independent method: every assignment of contact modes, each a linear program.

Written in physical coordinates from Newton's and Coulomb's laws, sharing nothing with the package:
4^k programs for a body at rest, solved by SciPy's HiGHS.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

# Smallest that HiGHS accepts.
OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass
class Problem:
    """A planar body in contact, as numbers."""

    mass: float
    inertia: float
    points: np.ndarray
    normals: np.ndarray
    mu: np.ndarray
    velocity: np.ndarray
    force: np.ndarray
    torque: float
    curvature_body: np.ndarray
    curvature_obstacle: np.ndarray


@dataclass
class ModeSet:
    """The accelerations of one assignment of modes, seen along given directions."""

    modes: tuple[str, ...]
    lowest: np.ndarray  # of direction·a, -inf where unbounded
    highest: np.ndarray
    points: np.ndarray  # accelerations at which those values are reached


def linear_parts(p: Problem):
    """Rows and constants of the normal and tangential accelerations of each contact point.

    Differentiated from the positions of the material points: x = c - r.
    """
    n = p.normals / np.linalg.norm(p.normals, axis=1, keepdims=True)
    t = np.stack([n[:, 1], -n[:, 0]], axis=1)
    lever = p.points  # from the center of mass (at the origin) to the contact
    turned = np.stack([-lever[:, 1], lever[:, 0]], axis=1)  # z × lever
    v = p.velocity[:2] + p.velocity[2] * turned
    omega = p.velocity[2]
    centripetal = -(omega**2) * lever
    n_row = np.concatenate([n, np.sum(n * turned, axis=1, keepdims=True)], axis=1)
    t_row = np.concatenate([t, np.sum(t * turned, axis=1, keepdims=True)], axis=1)
    v_t = np.sum(t * v, axis=1)
    curves = zip(p.curvature_body, p.curvature_obstacle, v_t, strict=True)
    bend = np.array([_bend(kb, ko, v, omega) for kb, ko, v in curves])
    h = np.sum(n * centripetal, axis=1) + bend
    g = np.sum(t * centripetal, axis=1)
    return n_row, t_row, h, g, np.sum(n * v, axis=1), v_t


def _bend(kb, ko, v_t, omega):
    """Rates of the contact point along both curves, from keeping the tangents aligned."""
    if np.isinf(kb):
        along_body, turn = 0.0, ko * v_t  # the obstacle's normal turns as the vertex slides
    elif np.isinf(ko):
        along_body, turn = -v_t, -omega  # the normal turns with the body
    else:
        along_body = -(omega + ko * v_t) / (kb + ko)
        turn = ko * (v_t + along_body)
    return turn * v_t + omega * along_body


def brute_force(p: Problem, directions: np.ndarray) -> list[ModeSet]:
    """All assignments of modes that have a solution."""
    return mode_sets(p, *linear_parts(p), directions)


def mode_sets(p, n_row, t_row, h, g, v_n, v_t, directions, slow: float = 1e-9) -> list[ModeSet]:
    """The same for given rows, constants and velocities of the contacts."""
    k = len(h)
    speed = np.linalg.norm(p.velocity)
    choices = []
    for i in range(k):
        if v_n[i] > slow * speed:
            choices.append(("apart",))
        elif abs(v_t[i]) <= slow * speed:
            choices.append(("break", "stick", "slip left", "slip right"))
        else:
            choices.append(("break", "slip right" if v_t[i] > 0 else "slip left"))
    inverse = np.diag([1 / p.mass, 1 / p.mass, 1 / p.inertia])
    free = inverse @ np.array([*p.force, p.torque])
    scale = max(np.abs(free).max(), np.abs(h).max(initial=0), np.abs(g).max(initial=0)) or 1.0
    # Unknowns: acceleration a / scale, normal forces and tangential forces / (m scale).
    newton = np.concatenate(
        [np.eye(3), -inverse @ n_row.T * p.mass, -inverse @ t_row.T * p.mass], 1
    )
    found = []
    for modes in itertools.product(*choices):
        eq, eq_b, ub, ub_b = [*newton], [*free / scale], [], []
        bounds = [(None, None)] * 3 + [(0, None)] * k + [(None, None)] * k
        for i, mode in enumerate(modes):
            gap = np.concatenate([n_row[i], np.zeros(2 * k)])
            slide = np.concatenate([t_row[i], np.zeros(2 * k)])
            normal = np.eye(3 + 2 * k)[3 + i]
            tangential = np.eye(3 + 2 * k)[3 + k + i]
            if mode in ("break", "apart"):
                bounds[3 + i] = bounds[3 + k + i] = (0, 0)
                if mode == "break":
                    ub.append(-gap)
                    ub_b.append(h[i] / scale)
                continue
            eq.append(gap)
            eq_b.append(-h[i] / scale)
            if mode == "stick":
                eq.append(slide)
                eq_b.append(-g[i] / scale)
                ub += [tangential - p.mu[i] * normal, -tangential - p.mu[i] * normal]
                ub_b += [0.0, 0.0]
                continue
            way = 1.0 if mode == "slip right" else -1.0
            eq.append(tangential + way * p.mu[i] * normal)
            eq_b.append(0.0)
            if abs(v_t[i]) <= slow * speed:
                ub.append(-way * slide)
                ub_b.append(way * g[i] / scale)
        constraints = {
            "A_eq": np.array(eq),
            "b_eq": np.array(eq_b),
            "A_ub": np.array(ub) if ub else None,
            "b_ub": np.array(ub_b) if ub else None,
            "bounds": bounds,
            "options": OPTIONS,
        }
        seen = _extent(directions, constraints, 2 * k)
        if seen is not None:
            low, high, points = seen
            labels = tuple("break" if m == "apart" else m for m in modes)
            found.append(ModeSet(labels, low * scale, high * scale, points * scale))
    return found


def _extent(directions, constraints, n_forces):
    low, high, points = [], [], []
    for direction in directions:
        cost = np.concatenate([direction, np.zeros(n_forces)])
        for way, ends in ((1.0, low), (-1.0, high)):
            answer = linprog(way * cost, **constraints)
            if answer.status == 2:
                return None
            if answer.status in (3, 4):  # unbounded, or unbounded or infeasible
                if linprog(0 * cost, **constraints).status == 2:
                    return None
                ends.append(-way * np.inf)
                continue
            assert answer.status == 0, answer.message
            ends.append(way * answer.fun)
            points.append(answer.x[:3])
        if len(low) == 1 and abs(high[0] - low[0]) <= 1e-8:
            # One generic direction sees a single value: a single acceleration.
            point = np.mean(points, axis=0)
            low = high = directions @ point
            return low, high, point[None]
    return np.array(low), np.array(high), np.array(points).reshape(-1, 3)
