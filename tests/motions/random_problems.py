"""Random planar problems: in general position, and with every kind of coincidence."""

import numpy as np
from brute_force import Problem


def random_problem(rng: np.random.Generator, n_contacts: int) -> Problem:
    """One of six kinds, with sizes of order one."""
    kind = rng.integers(6)
    make = (_at_rest, _lattice, _sliding, _translating, _turning, _on_one_line)[kind]
    points, normals, velocity = make(rng, n_contacts)
    shapes = rng.integers(3, size=n_contacts)
    if kind == 3:
        shapes[:] = 0  # straight edges: all contacts stay while the body translates
    kb, ko = rng.uniform(0.2, 3.0, n_contacts), rng.uniform(-0.1, 3.0, n_contacts)
    kb = np.choose(shapes, [np.inf, 0.0, kb])
    ko = np.choose(shapes, [0.0, np.inf, ko])
    mu = (
        rng.uniform(0.0, 2.0, n_contacts)
        if rng.random() < 0.5
        else np.full(n_contacts, rng.random())
    )
    mu = np.where(rng.random(n_contacts) < 0.1, 0.0, mu)
    if rng.random() < 0.4:
        force, torque = rng.integers(-2, 3, 2).astype(float), float(rng.integers(-2, 3))
    else:
        force, torque = rng.normal(size=2), rng.normal()
    return Problem(
        mass=float(rng.uniform(0.5, 2.0)),
        inertia=float(rng.uniform(0.2, 2.0)),
        points=points,
        normals=normals,
        mu=mu,
        velocity=velocity,
        force=force,
        torque=float(torque),
        curvature_body=kb,
        curvature_obstacle=ko,
    )


def _unit(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _at_rest(rng, k):
    return rng.uniform(-1, 1, (k, 2)), _unit(rng.uniform(0, 2 * np.pi, k)), np.zeros(3)


def _lattice(rng, k):
    """Small whole numbers: parallel and opposite normals, common points, common lines of action."""
    normals = np.array([(1, 0), (0, 1), (-1, 0), (0, -1), (0, 1), (0, 1), (1, 1)])
    points = rng.integers(-1, 2, (k, 2)).astype(float)
    return points, normals[rng.integers(len(normals), size=k)].astype(float), np.zeros(3)


def _across(rng, points, velocity):
    """Normals across the velocity of each point, either way; any where the point is still."""
    v = velocity[:2] + velocity[2] * np.stack([-points[:, 1], points[:, 0]], axis=1)
    way = rng.choice([-1.0, 1.0], len(points))
    normals = way[:, None] * np.stack([-v[:, 1], v[:, 0]], axis=1)
    still = np.linalg.norm(v, axis=1) < 1e-12
    return np.where(still[:, None], _unit(rng.uniform(0, 2 * np.pi, len(points))), normals)


def _sliding(rng, k):
    points, velocity = rng.uniform(-1, 1, (k, 2)), rng.normal(size=3)
    return points, _across(rng, points, velocity), velocity


def _translating(rng, k):
    points = rng.integers(-2, 3, (k, 2)).astype(float)
    velocity = np.array([*rng.normal(size=2), 0.0])
    return points, _across(rng, points, velocity), velocity


def _turning(rng, k):
    """Turning about the first contact point, which does not slide."""
    points, omega = rng.integers(-2, 3, (k, 2)) / 2.0, rng.choice([-1.0, 1.0, 2.0])
    velocity = np.array([omega * points[0, 1], -omega * points[0, 0], omega])
    return points, _across(rng, points, velocity), velocity


def _on_one_line(rng, k):
    """Contacts with one line of action: parallel configuration-space normals (5.4.5)."""
    angle = rng.choice([0.0, np.pi / 2, rng.uniform(0, 2 * np.pi)])
    n = _unit(angle)
    points = rng.uniform(-1, 1, (1, 2)) + rng.choice([-1.0, -0.5, 0.5, 1.0, 2.0], (k, 1)) * n
    return points, rng.choice([-1.0, 1.0, 1.0, 1.0], (k, 1)) * n, np.zeros(3)
