"""Leave out corners that never come near a plate: a mesh has thousands, a test touches with few."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import ContactModel
from stiction.identify.contact.shapes import Corners
from stiction.identify.recording import Recording

_CHUNK = 4_000_000  # numbers at a time
_CLEARANCE = 0.02  # of the body's size: nearer than this may touch


def prune(model: ContactModel, recordings: Sequence[Recording | BodyState]) -> ContactModel:
    """The model with only those corners that come near an allowed plate, and at least one."""
    body, allowed = [], []
    for shape, mine in model.shapes():
        if isinstance(shape, Corners):
            near = _nearness(model, np.asarray(shape.points), mine, recordings)
            chosen = near > -_CLEARANCE * shape.size
            chosen[np.argmax(near)] = True
            shape, mine = Corners(shape.points[chosen]), mine[:, chosen]
        body.append(shape)
        allowed.append(mine)
    kept = tuple(body), jnp.asarray(np.concatenate(allowed, axis=1))
    return eqx.tree_at(lambda m: (m.body, m.allowed), model, kept)


def _nearness(model, points, allowed, recordings) -> np.ndarray:
    """The greatest depth that each corner reaches behind any plate it may touch."""
    best = np.full(len(points), -np.inf)
    step = max(1, _CHUNK // len(points))
    for r in recordings:
        position, rotation = np.asarray(r.position), np.asarray(r.rotation)
        for i in range(0, len(position), step):
            for n, origin, may in zip(
                np.asarray(model.plates.normal),
                np.asarray(model.plates.origin),
                allowed,
                strict=True,
            ):
                depth = (origin - position[i : i + step]) @ n
                depth = depth[:, None] - (n @ rotation[i : i + step]) @ points.T
                best = np.maximum(best, np.where(may, depth.max(axis=0), -np.inf))
    return best
