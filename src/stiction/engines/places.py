"""Where bodies and contacts are in the world along a run, by programs that serve many runs."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from stiction._base.arrays import AnyArray, Array, Float
from stiction._base.compile import quick_jit
from stiction.engines.result import Trajectory
from stiction.mechanism import Mechanism, center_of_mass, momentum, world_poses
from stiction.surfaces import Contacts, contact_places

_ROOM = 512  # states at least that are placed at once


def places_at(
    run: Trajectory, time: Float[AnyArray, "n"], q: Float[AnyArray, "n nq"]
) -> tuple[np.ndarray, np.ndarray]:
    """Points of the contacts at given states, and their directions in the world: tangents, normal.

    Shapes (n, n_contacts, 3) and (n, n_contacts, dim, 3).
    """
    contacts = run.contacts
    assert contacts is not None
    point, frame = _by_rows(_places, (run.mechanism, contacts), time, q)
    return point, frame[:, :, [0, 2] if contacts.planar else [0, 1, 2]]


def poses_at(mechanism: Mechanism, q: Float[AnyArray, "n nq"]) -> tuple[np.ndarray, np.ndarray]:
    """Positions of all bodies in the world and their rotations: (n, nb, 3) and (n, nb, 3, 3)."""
    return _by_rows(_poses, (mechanism,), q)


def center_and_momentum(
    mechanism: Mechanism, q: Float[np.ndarray, "n nq"], v: Float[np.ndarray, "n nv"]
) -> tuple[np.ndarray, np.ndarray]:
    """The centre of mass [m] and the momentum [N·s] of everything. Shapes (n, 3)."""
    return _by_rows(_whole, (mechanism,), q, v)


def _by_rows(f: Callable, parts: tuple, *rows: Any) -> Any:
    """f for every row, filled up to a power of two: one compilation serves many runs."""
    rows = tuple(map(np.asarray, rows))
    n = len(rows[0])
    if n == 0:
        rows = tuple(np.zeros((1, *x.shape[1:]), x.dtype) for x in rows)
    room = max(_ROOM, 1 << max(n - 1, 1).bit_length())
    fill = np.minimum(np.arange(room), max(n, 1) - 1)
    done = f(*parts, *(x[fill] for x in rows))
    return jax.tree.map(lambda x: np.asarray(x)[:n], done)


@quick_jit
def _places(mechanism: Mechanism, contacts: Contacts, time: Array, q: Array) -> Any:
    def at(t: Array, q: Array) -> Any:
        found = contact_places(contacts, world_poses(mechanism, q), t)
        return found.point, found.frame

    return jax.vmap(at)(time, q)


@quick_jit
def _poses(mechanism: Mechanism, q: Array) -> Any:
    poses = jax.vmap(lambda q: world_poses(mechanism, q))(q)
    return poses.position, poses.rotation


@quick_jit
def _whole(mechanism: Mechanism, q: Array, v: Array) -> Any:
    return jax.vmap(lambda q, v: (center_of_mass(mechanism, q), momentum(mechanism, q, v)[0]))(q, v)
