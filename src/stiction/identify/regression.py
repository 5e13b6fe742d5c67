"""The rows of all samples at once, and the parameters that are not linear by variable projection.

For given nonlinear parameters z (λ, offsets, …) the best linear ones are a linear least-squares
fit, so only z is searched for: minimise |b - A(z) x(z)| [GolubPereyra1973]. The step is Gauss and
Newton's on (x, z) together, of which only z is kept, since x is then solved for exactly
(Ruhe and Wedin's second algorithm).
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Array, Bool, Float
from stiction.identify import least_squares, robust
from stiction.identify.contacts import Contacts, Motion
from stiction.identify.model import (
    Bristles,
    ContactModel,
    carrying,
    columns,
    find_contacts,
)

MAX_STEPS = 60
_ACTIVE_ROUNDS = 30
TOLERANCE = 1e-9  # of z, relative to its size
# Bounds of nonlinear parameters.
BOUNDS = {"lambda": (0.5, 3.0), "mu": (0.0, np.inf), "offset": (-np.inf, np.inf)}


@eqx.filter_jit
def contacts_of(model: ContactModel, theta: Float[Array, " p"], motion: Motion) -> Contacts:
    """The candidates of many samples."""
    return jax.vmap(lambda m: find_contacts(model, theta, m))(motion)


@eqx.filter_jit
def loaded_of(
    model: ContactModel, theta: Float[Array, " p"], found: Contacts
) -> Bool[Array, "n n_plates n_points"]:
    """Which candidates of many samples carry force."""
    return jax.vmap(lambda c: carrying(model, theta, c))(found)


@eqx.filter_jit
def rows_of(
    model: ContactModel,
    z: Float[Array, " n_nonlinear"],
    motion: Motion,
    loaded: Bool[Array, "n n_plates n_points"],
    bristles: Bristles | None,
) -> tuple[Float[Array, "n 6 n_linear"], Float[Array, "n 6 n_linear n_nonlinear"]]:
    """A of many samples, and its derivative by the nonlinear parameters."""

    def one(motion, loaded, bristles):
        def A(z):
            theta = jnp.concatenate([jnp.zeros(len(model.linear_names)), z])
            found = find_contacts(model, theta, motion)
            return columns(model, theta, motion, found, loaded, bristles)

        return A(z), jax.jacfwd(A)(z)

    return jax.vmap(one, (0, 0, None if bristles is None else 0))(motion, loaded, bristles)


@dataclass(frozen=True)
class Rows:
    """Samples for a regression: motion and wrench at the same times, in the order of time.

    Attributes:
        motion: Pose and velocity at the samples.
        wrench: Measured, without inertia [N, N·m].
        noise: Standard deviation of each of its entries.
        use: Weight of each sample.
    """

    motion: Motion
    wrench: Float[np.ndarray, "n 6"]
    noise: Float[np.ndarray, "6"]
    use: Float[np.ndarray, " n"]


@dataclass(frozen=True)
class Regression:
    """Outcome: parameters as in `ContactModel.names`, and the information on them."""

    theta: Float[np.ndarray, " p"]
    root: Float[np.ndarray, "p p"]
    squares: float


def regress(
    model: ContactModel,
    rows: Rows,
    *,
    bristles: Bristles | None = None,
    loss: robust.Loss = "squares",
    positive: bool = True,
) -> Regression:
    """Least squares of the wrench on the contact columns.

    Which contacts carry force depends on the parameters (a contact does not pull): start with all
    that touch while the wrench is there, and repeat until the set stays the same.
    """
    n_linear = len(model.linear_names)
    z = np.asarray(model.nonlinear_start())
    theta = np.concatenate([np.zeros(n_linear), z])
    found = contacts_of(model, jnp.asarray(theta), rows.motion)
    pressed = np.linalg.norm(rows.wrench[:, :3] / rows.noise[:3], axis=1) > 4.0
    loaded = np.asarray(found.touching) & pressed[:, None, None]
    result = _solve(model, rows, theta, loaded, bristles, loss, positive)
    for _ in range(_ACTIVE_ROUNDS):
        found = contacts_of(model, jnp.asarray(result.theta), rows.motion)
        now = np.asarray(loaded_of(model, jnp.asarray(result.theta), found))
        if np.array_equal(now, loaded):
            break
        loaded = now
        result = _solve(model, rows, result.theta, loaded, bristles, loss, positive)
    return result


def _solve(model, rows: Rows, theta, loaded, bristles, loss, positive) -> Regression:
    """The best parameters for a given set of loaded contacts."""
    n_linear = len(model.linear_names)
    weight = np.sqrt(rows.use)[:, None] / rows.noise
    b = (rows.wrench * weight).reshape(-1)
    signs = np.array([positive and not n.startswith("bias.") for n in model.linear_names])

    def project(z: np.ndarray) -> tuple[least_squares.Solution, np.ndarray, np.ndarray]:
        """The best linear parameters; rows over all parameters there, and what they miss."""
        A, dA = rows_of(model, jnp.asarray(z), rows.motion, on, bristles)
        A, dA = ((np.asarray(M).T * weight.T).T for M in (A, dA))
        A = A.reshape(len(b), n_linear)
        found = least_squares.solve(A, b, loss=loss, positive=signs)
        r = b - A @ found.x
        w = np.sqrt(robust.weight(r, loss))
        D = np.einsum("nilz,l->niz", dA, found.x).reshape(len(b), len(z))
        return found, np.concatenate([A, D], axis=1) * w[:, None], r * w

    on, z = jnp.asarray(loaded), theta[n_linear:]
    found, full, r = project(z)
    lower, upper = _bounds(model)
    fraction = 1.0
    for _ in range(MAX_STEPS if len(z) else 0):
        step = least_squares.solve(full, r).x[n_linear:]
        new = np.clip(z + fraction * step, lower, upper)
        trial = project(new)
        if trial[0].squares > found.squares and fraction > 1e-6:
            fraction *= 0.3
            continue
        moved = np.max(np.abs(new - z) / np.maximum(np.abs(z), 1e-3))
        z, (found, full, r), fraction = new, trial, min(1.0, 2 * fraction)
        if moved < TOLERANCE:
            break
    root, _ = least_squares.orthogonal_factor(full, r)
    return Regression(np.concatenate([found.x, z]), root, found.squares)


def _bounds(model: ContactModel) -> tuple[np.ndarray, np.ndarray]:
    pairs = [BOUNDS[name.rpartition(".")[2]] for name in model.nonlinear_names]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
