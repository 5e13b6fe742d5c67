"""The rows of all samples at once, and the parameters that are not linear by variable projection.

For given nonlinear parameters z (λ, offsets, …) the best linear ones are a linear least-squares
fit, so only z is searched for: minimise |b - A(z) x(z)| [GolubPereyra1973]. The step is Gauss and
Newton's on (x, z) together, of which only z is kept, since x is then solved for exactly
(Ruhe and Wedin's second algorithm).
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Float
from stiction.identify.contact.along import columns_along, contacts_along, loaded_along
from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import Bristles, ContactModel
from stiction.identify.fit import least_squares, robust
from stiction.identify.fit.samples import ContactProblem

MAX_STEPS = 60
_ACTIVE_ROUNDS = 30
TOLERANCE = 1e-9  # of z, relative to its size
# Bounds of nonlinear parameters.
BOUNDS = {"lambda": (0.5, 3.0), "mu": (0.0, np.inf), "offset": (-np.inf, np.inf)}


@dataclass(frozen=True)
class Rows:
    """Samples for a regression: motion and wrench at the same times, in the order of time."""

    motion: BodyState  # pose and velocity at the samples
    wrench: Float[np.ndarray, "n 6"]  # measured, without inertia [N, N·m]
    noise: Float[np.ndarray, "6"]  # standard deviation of each of its entries
    use: Float[np.ndarray, " n"]  # weight of each sample


@dataclass(frozen=True)
class Regression:
    """Outcome: parameters as in `ContactModel.names`, and the information on them."""

    theta: Float[np.ndarray, " p"]
    root: Float[np.ndarray, "p p"]
    squares: float


def regress(problem: ContactProblem, rows: Rows, bristles: Bristles | None = None) -> Regression:
    """Least squares of the wrench on the contact columns.

    Which contacts carry force depends on the parameters (a contact does not pull): start with all
    that touch while the wrench is there, and repeat until the set stays the same.
    """
    model = problem.model
    found = contacts_along(model, model.unloaded(), rows.motion)
    pressed = np.linalg.norm(rows.wrench[:, :3] / rows.noise[:3], axis=1) > 4.0
    loaded = np.asarray(found.touching) & pressed[:, None, None]
    result = _solve(problem, rows, np.asarray(model.unloaded()), loaded, bristles)
    for _ in range(_ACTIVE_ROUNDS):
        theta = jnp.asarray(result.theta)
        now = np.asarray(loaded_along(model, theta, contacts_along(model, theta, rows.motion)))
        if np.array_equal(now, loaded):
            break
        loaded = now
        result = _solve(problem, rows, result.theta, loaded, bristles)
    return result


def _solve(problem: ContactProblem, rows: Rows, theta, loaded, bristles) -> Regression:
    """The best parameters for a given set of loaded contacts."""
    model, loss = problem.model, problem.loss
    n_linear = len(model.linear_names)
    weight = np.sqrt(rows.use)[:, None] / rows.noise
    b = (rows.wrench * weight).reshape(-1)
    on = jnp.asarray(loaded)

    def project(z: np.ndarray) -> tuple[least_squares.LeastSquaresFit, np.ndarray, np.ndarray]:
        """The best linear parameters; rows over all parameters there, and what they miss."""
        A, dA = columns_along(model, jnp.asarray(z), rows.motion, on, bristles)
        A, dA = ((np.asarray(M).T * weight.T).T for M in (A, dA))
        A = A.reshape(len(b), n_linear)
        found = least_squares.solve(A, b, loss=loss, positive=problem.signs)
        r = b - A @ found.x
        w = np.sqrt(robust.weight(r, loss))
        D = np.einsum("nilz,l->niz", dA, found.x).reshape(len(b), len(z))
        return found, np.concatenate([A, D], axis=1) * w[:, None], r * w

    z = theta[n_linear:]
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
