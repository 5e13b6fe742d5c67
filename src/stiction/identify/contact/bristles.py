"""Bristle friction (ma 22): how far each bristle is stretched, and whether it holds.

A bristle stands on its plate where it last came to rest. While its stretch |s| is below s_max it
holds, with force -k_f s. Beyond, it slides: its root follows at the distance s_max, so that on a
reversal it holds again at once. The document leaves the root's motion to [Ma1997]; this is the
common reading of that model.
"""

import jax
import jax.numpy as jnp

from stiction._base.arrays import Array, Bool, Float
from stiction.identify.contact.geometry import Candidates
from stiction.identify.contact.model import Bristles

# Samples whose stretch is this near to s_max count as sliding, so that rounding decides nothing.
_AT_LIMIT = 1e-9


@jax.jit
def follow_bristles(
    found: Candidates,
    loaded: Bool[Array, "n n_plates n_points"],
    stretch_limit: Float[Array, " n_plates"],
) -> Bristles:
    """The bristles along a test, samples in the order of time.

    Args:
        found: The candidates at every sample.
        loaded: Which carry force. A bristle is planted anew at every touch.
        stretch_limit: s_max of each plate [m].
    """
    n = found.normal[:, :, None, :]
    limit = stretch_limit[:, None]

    def step(before, now):
        root, was = before
        point, normal, is_loaded = now
        stretch = point - root
        stretch = stretch - jnp.sum(stretch * normal, axis=-1, keepdims=True) * normal
        size = jnp.sqrt(jnp.sum(stretch**2, axis=-1))
        slides = size >= limit * (1 - _AT_LIMIT)
        # A plate without bristles has s_max = 0; where nothing moved there either, nothing follows.
        longest = jnp.maximum(size, limit)
        pulled = jnp.where(
            slides & (longest > 0), 1 - limit / jnp.where(longest > 0, longest, 1), 0
        )
        fresh = is_loaded & ~was
        root = jnp.where(fresh[..., None], point, root + pulled[..., None] * stretch)
        sticking = fresh | (is_loaded & ~slides)
        return (root, is_loaded), Bristles(root, sticking)

    start = (found.point[0], jnp.zeros(loaded.shape[1:], dtype=bool))
    return jax.lax.scan(step, start, (found.point, n, loaded))[1]
