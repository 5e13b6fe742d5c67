"""Modes that contacts go into: what begins to slip goes where it is accelerated."""

import jax
import jax.numpy as jnp
import numpy as np

from stiction.engines.forces import SLIP
from stiction.engines.modes import select_modes


def edges(rng: np.random.Generator, count: int):
    """Two contacts of a free body each: Delassus matrices, and accelerations that press them on."""
    out = []
    for _ in range(count):
        arms = rng.normal(size=(2, 3))
        arms[:, 2] = -1.0
        J = np.concatenate([np.hstack([np.eye(3), -_cross(r)]) for r in arms])
        inertia = np.diag(np.concatenate([np.ones(3), rng.uniform(0.1, 2.0, 3)]))
        push = np.concatenate([rng.normal(size=2) * 6, [-9.81], rng.normal(size=3)])
        out.append((J @ np.linalg.solve(inertia, J.T), J @ push))
    return (jnp.asarray(np.stack(x)) for x in zip(*out, strict=True))


def _cross(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def test_slip_begins_along_its_acceleration(rng):
    W, a0 = edges(rng, 500)
    still, yes = jnp.zeros((2, 2)), jnp.ones(2, bool)
    mu, no = jnp.full(2, 0.3), jnp.zeros(2, bool)
    found = jax.jit(
        jax.vmap(lambda W, a0: select_modes(W, a0, still, yes, yes, mu, mu / 2, no, no))
    )(W, a0)
    slips = np.asarray((found.modes == SLIP) & found.consistent[:, None])
    assert slips.all(axis=1).sum() > 50  # both contacts of many
    a = np.einsum("nij,nj->ni", W, found.force.reshape(-1, 6)) + a0
    a_t = a.reshape(-1, 2, 3)[:, :, :2][slips]
    heading = a_t / np.linalg.norm(a_t, axis=1, keepdims=True)
    off = np.linalg.norm(heading - np.asarray(found.direction)[slips], axis=1)
    assert np.quantile(off, 0.99) < 1e-6, np.sort(off)[-10:]
