r"""Contact forces that make a given reaction: one choice when there are many.

With redundant contacts the acceleration can be unique while the forces are not (a table on four
legs). Then the forces of least norm are returned, and the caller is told that they are a choice.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import nnls

# Weight of the norm against the reaction while the set of loaded edges is sought. Its square, the
# error that it leaves, is removed afterwards.
_RIDGE = 1e-6
_ZERO_FORCE = 1e-9  # relative


def least_norm_forces(
    edges: Float[np.ndarray, "e n"],
    pull: Float[np.ndarray, "e nt"],
    owner: Int[np.ndarray, " e"],
    count: int,
    reaction: Float[np.ndarray, " n"],
) -> tuple[Float[np.ndarray, "k d"], bool]:
    r"""The smallest contact forces $W f$ with $C f = R$, $f \ge 0$, and whether they are unique.

    Args:
        edges: Rows of Cᵀ, the generalized force of each friction-cone edge that may press.
        pull: The friction of each edge for a unit normal force; with it and the 1 of the normal
            come the rows of Wᵀ.
        owner: The contact of each edge.
        count: Number of contacts.
        reaction: R, the generalized reaction. It must lie in the cone of the edges.

    Returns:
        The contact forces (tangential, then normal), and whether no others make the same reaction.
    """
    d = pull.shape[1] + 1
    if not len(edges):  # (SciPy's nnls must not be asked about no columns)
        return np.zeros((count, d)), True
    components = np.zeros((count, d, len(edges)))
    components[owner, :-1, np.arange(len(edges))] = pull
    components[owner, -1, np.arange(len(edges))] = 1.0
    # Unit columns and a unit reaction, so that one ridge suits all.
    length = np.linalg.norm(edges, axis=1)
    size = float(np.linalg.norm(reaction)) or 1.0
    C, W, R = edges.T / length, components.reshape(count * d, -1) / length, reaction / size
    f, _ = nnls(np.concatenate([C, _RIDGE * W]), np.concatenate([R, np.zeros(len(W))]))
    f = _exact_on_support(C, W, R, f)
    return (W @ f * size).reshape(count, d), _is_unique(C, W, f)


def _exact_on_support(C, W, R, f) -> Float[np.ndarray, " e"]:
    """Minimise |W f| subject to C f = R over the edges that are loaded."""
    on = f > _ZERO_FORCE
    some = np.linalg.lstsq(C[:, on], R, rcond=None)[0]
    _, singular, V = np.linalg.svd(C[:, on])
    null = V[int(np.sum(singular > _ZERO_FORCE)) :].T
    shift = np.linalg.lstsq(W[:, on] @ null, -W[:, on] @ some, rcond=None)[0]
    refined = np.zeros_like(f)
    refined[on] = some + null @ shift
    if np.all(refined >= -_ZERO_FORCE) and np.linalg.norm(C @ refined - R) <= _ZERO_FORCE:
        return np.maximum(refined, 0.0)
    return nnls(C, R)[0]  # some forces, if not the smallest


def _is_unique(C, W, f) -> bool:
    """Whether no change of the loads leaves the reaction as it is and pulls at no unloaded edge.

    A change z has C z = 0, z >= 0 where f = 0, and W z not zero. Almost every linear functional of
    W z sees it; one with no simple ratios is used, and must not reach +1 or -1.
    """
    weights = np.sin(np.arange(1.0, len(W) + 1)) @ W
    loaded = f > _ZERO_FORCE
    changes = np.concatenate([C, -C[:, loaded]], axis=1)
    seen = np.concatenate([weights, -weights[loaded]])
    target = np.append(np.zeros(len(C)), 1.0)
    misses = [nnls(np.concatenate([changes, way * seen[None]]), target)[1] for way in (1.0, -1.0)]
    return bool(min(misses) > _ZERO_FORCE)
