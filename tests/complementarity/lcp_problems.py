"""Random linear complementarity and contact problems, in batches of one size."""

import jax
import numpy as np

from stiction.complementarity import pyramid_lcp, solve_lcp

SIDES = 6


CHUNK = 100


@jax.jit
@jax.vmap
def _solve_chunk(M, q):
    return solve_lcp(M, q, throw=False)


def solve_all(M, q):
    """Lemke's method on a batch, a hundred at a time so that each size compiles once."""
    count = len(q)
    full = np.minimum(np.arange(-(-count // CHUNK) * CHUNK), count - 1).reshape(-1, CHUNK)
    chunks = [_solve_chunk(M[rows], q[rows]) for rows in full]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *chunks)


def positive_definite(rng, count, n):
    """Unsymmetric too: a positive definite symmetric part and any skew part."""
    A, S = rng.normal(size=(2, count, n, n))
    skew = (S - S.swapaxes(1, 2)) * rng.integers(0, 2, (count, 1, 1)) / np.sqrt(n)
    M = A @ A.swapaxes(1, 2) / n + 0.05 * np.eye(n) + skew
    return M, rng.normal(size=(count, n))


def semidefinite(rng, count, n):
    """M = A Aᵀ of half rank, q such that a solution exists (it is usually not unique)."""
    A = rng.normal(size=(count, n, max(n // 2, 1)))
    M = A @ A.swapaxes(1, 2)
    positive = rng.random((count, n)) < 0.5
    z, w = rng.exponential(size=(2, count, n))
    return M, np.where(positive, 0, w) - np.einsum("bij,bj->bi", M, np.where(positive, z, 0))


def degenerate(rng, count, n):
    """Small whole numbers: equal rows, ratios that tie, and pairs with z = w = 0."""
    A = rng.integers(-1, 2, (count, n, n)).astype(float)
    M = A @ A.swapaxes(1, 2)
    kind = rng.integers(0, 3, (count, n))
    z = np.where(kind == 0, rng.integers(1, 3, (count, n)), 0.0)
    w = np.where(kind == 1, rng.integers(1, 3, (count, n)), 0.0)
    return M, w - np.einsum("bij,bj->bi", M, z)


def unsolvable(rng, count, n):
    """M v = 0 and vᵀ q < 0 for a v ≥ 0: no z makes vᵀ (M z + q) ≥ 0 if M is symmetric."""
    v = rng.random((count, n)) + 0.1
    A = rng.normal(size=(count, n, n))
    A -= A @ v[:, :, None] * v[:, None, :] / np.sum(v**2, axis=1)[:, None, None]
    M = A.swapaxes(1, 2) @ A
    q = rng.normal(size=(count, n))
    q -= v * ((np.sum(v * q, axis=1) + 1) / np.sum(v**2, axis=1))[:, None]
    return M, q


def contacts(rng, count, n_contacts, *, freedoms=None, mu=(0.0, 2.0)):
    """W = J H⁻¹ Jᵀ, b = J v and μ. Fewer degrees of freedom than rows make contacts redundant."""
    freedoms = freedoms or 3 * n_contacts + 3
    J = rng.normal(size=(count, 3 * n_contacts, freedoms))
    J /= np.sqrt(rng.uniform(0.2, 5, (count, 1, freedoms)))
    v = rng.normal(size=(count, freedoms))
    return (
        J @ J.swapaxes(1, 2),
        np.einsum("bij,bj->bi", J, v),
        rng.uniform(*mu, (count, n_contacts)),
    )


@jax.jit
@jax.vmap
def _pyramids(W, b, mu):
    problem = pyramid_lcp(W, b, mu, n_sides=SIDES)
    return problem.M, problem.q


def friction(rng, count, n):
    """Stewart and Trinkle's form, n / 8 contacts with six-sided pyramids; half are redundant."""
    n_contacts = n // (SIDES + 2)
    halves = [
        contacts(rng, count // 2, n_contacts, freedoms=f)
        for f in (3 * n_contacts + 3, max(2 * n_contacts, 3))
    ]
    problems = [_pyramids(*half) for half in halves]
    return tuple(np.concatenate(parts) for parts in zip(*problems, strict=True))


def residuals(M, q, z):
    """max |min(z, w)| and how far complementarity fails, worked out apart from the package."""
    w = np.einsum("bij,bj->bi", M, z) + q
    natural = np.abs(np.minimum(z, w)).max(axis=1)
    return np.maximum(natural, np.maximum(-z, 0).max(axis=1)) / np.abs(q).max(axis=1)


def box_on_floor(*, mass, half=(0.5, 0.4, 0.3), velocity, mu):
    """Four corners of a box on the floor: three rows each, and one redundant normal."""
    hx, hy, hz = half
    corners = [(sx * hx, sy * hy, -hz) for sx in (-1, 1) for sy in (-1, 1)]
    inertia = mass / 3 * np.array([hy**2 + hz**2, hx**2 + hz**2, hx**2 + hy**2])
    H = np.diag([mass] * 3 + list(inertia))
    J = np.concatenate([_point_rows(r) for r in corners])
    W = J @ np.linalg.inv(H) @ J.T
    return W, J @ np.asarray(velocity, float), np.full(4, float(mu))


def _point_rows(r):
    """Velocity of a point at r: v + ω × r, rows x, y, z of (v, ω)."""
    x, y, z = r
    return np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])


def stack_of_spheres(n_contacts, *, heaviest=1.0, mu=0.5, dt_g=0.01):
    """Spheres on one another, masses from 1 to `heaviest`, falling for one step: many in a row."""
    n = n_contacts
    mass = np.geomspace(1, heaviest, n)
    J = np.zeros((3 * n, 3 * n))
    for i in range(n):
        J[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = np.eye(3)
        if i > 0:
            J[3 * i : 3 * i + 3, 3 * i - 3 : 3 * i] = -np.eye(3)
    W = J @ np.diag(np.repeat(1 / mass, 3)) @ J.T
    v = np.tile([0.001, 0.0, -dt_g], n)
    return W, J @ v, np.full(n, float(mu)), mass
