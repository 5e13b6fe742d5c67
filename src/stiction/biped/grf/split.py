r"""The reaction of one instant, shared among the points that touch.

Given are the force F and the moment N that all contacts together exert, the points r_i, and how
near each is to touching, $a_i \in [0, 1]$. Wanted are forces $f_i$ that

- add up to the force: $\sum_i f_i = F$, exactly;
- push and stay inside the friction cone: $f_i \in K = \{ |f_t| \le \mu f_n \}$;
- match the moment in least squares, and among such forces have the least norm:

$$ \min_f \; \tfrac12 \sum_i \frac{|f_i|^2}{a_i}
   + \frac{1}{2\sigma} \Big| \sum_i r_i \times f_i - N \Big|^2
   + \frac{1}{2\tau} \sum_\text{feet} \Big| \sum_{i \in \text{foot}} (r_i - p) \times f_i
   \Big|^2 . $$

A point that does not touch ($a_i = 0$) carries nothing. The last sum is optional. Two feet on the
ground can push against each other along the line between them, and no measurement of the body's
motion shows it; the plain norm makes that push zero, while people walk with each foot's force
directed near a point p above the centre of mass ([Maus2010], [Wagner2024]).

This is a cone complementarity problem ($f_i \in K$, $f_i / a_i - A_i^T y \in K^*$, and the two
orthogonal), and its dual has six unknowns, and three more a foot, however many points there are.
With $A_i$ the matrix from $f_i$ to all of these, b what they should be, and $\Sigma$ the slacks,

$$ \min_y \; \tfrac12 \sum_i a_i \, |P_K(A_i^T y)|^2 + \tfrac12 y^T \Sigma y - b \cdot y ,
   \qquad f_i = a_i \, P_K(A_i^T y) . $$

It is convex and once differentiable, so Newton's method on its piecewise smooth gradient solves it
in a few steps, and every f_i lies in its cone by construction. General cone solvers factor the
primal, which is larger, and are not batched over frames; here all frames go at once, in NumPy,
which is done before a compiler would have begun.
"""

from typing import NamedTuple

import numpy as np

from stiction._base.arrays import Float

MAX_STEPS = 60
TOLERANCE = 1e-13  # of the dual's gradient, forces counted in body weights
_CONVERGED = 1e-9  # of the same gradient: what rounding may leave in a badly placed problem
SLACK = 1e-4  # m²: a moment is matched to about a centimetre times body weight
PIVOT_SLACK = 0.3  # τ [m²]: as strong as the norm of forces half a metre from the pivot
_DAMPING = 1e-12  # of the Hessian: never quite singular
_TRIALS = 8  # step lengths 1, 1/4, 1/16, … tried at once


class Split(NamedTuple):
    """Forces at the points, of one instant or of many."""

    force: Float[np.ndarray, "*n n_points 3"]  # at each point; tangents, then normal
    moment_error: Float[np.ndarray, "*n 3"]  # moment of the forces less the moment asked for
    steps: np.ndarray  # Newton steps taken
    converged: np.ndarray  # whether the forces are the solution


def split_reaction(
    force: Float[np.ndarray, "*n 3"],
    moment: Float[np.ndarray, "*n 3"],
    points: Float[np.ndarray, "*n n_points 3"],
    nearness: Float[np.ndarray, "*n n_points"],
    mu: np.ndarray | float,
    *,
    slack: Float[np.ndarray, "3"] | None = None,
    pivot: Float[np.ndarray, "*n 3"] | None = None,
    feet: Float[np.ndarray, "n_points n_feet"] | None = None,
) -> Split:
    """Share the reactions of one or more instants among points.

    The force must lie inside the friction cone, and some point must touch. Axes are two tangents,
    then the normal; forces should be counted in body weights and lengths in metres, so that the
    tolerances mean something.

    Args:
        force: Force of all contacts together, F [body weights].
        moment: About the point that `points` are counted from, N [body weights · m].
        points: Where the points are, r_i [m].
        nearness: How near each point is to touching, a_i: 1 touches, 0 does not.
        mu: Coefficient of friction.
        slack: How much moment error is worth how much norm, σ [m²], about each axis; large where
            the moment is not known.
        pivot: The point p that each foot's force is directed near [m]; none for the plain norm.
        feet: 1 where a point belongs to a foot. Needed with `pivot`.
    """
    slack = np.full(3, SLACK) if slack is None else slack
    # Rows of A_i: the force itself, its moment r × f, and its moment about the pivot by feet.
    unit = np.broadcast_to(np.eye(3), (*points.shape, 3))
    rows, soft = [unit, cross_matrix(points)], [np.zeros(3), slack]
    if pivot is not None and feet is not None:
        about = cross_matrix(points - pivot[..., None, :])[..., None, :, :]
        turned = feet[:, :, None, None] * about
        rows.append(turned.reshape(*points.shape[:-1], -1, 3))
        # What is not known of the total moment is not known of a foot's either.
        soft.append(np.tile(PIVOT_SLACK + slack, feet.shape[1]))
    soft = np.concatenate(soft)
    b = np.zeros((*force.shape[:-1], len(soft)))
    b[..., :6] = np.concatenate([force, moment], axis=-1)
    every = np.ones((points.shape[-2], 1))
    groups = (force[..., None, :], every)
    return _solved(np.concatenate(rows, axis=-2), b, soft, nearness, mu, points, moment, groups)


def split_shares(
    forces: Float[np.ndarray, "*n n_feet 3"],
    moment: Float[np.ndarray, "*n 3"],
    points: Float[np.ndarray, "*n n_points 3"],
    nearness: Float[np.ndarray, "*n n_points"],
    mu: np.ndarray | float,
    *,
    feet: Float[np.ndarray, "n_points n_feet"],
    slack: Float[np.ndarray, "3"] | None = None,
) -> Split:
    """Share forces that are known for each foot among the foot's points.

    As `split_reaction`, with every foot's force kept exactly and the moment of all feet together
    matched in least squares. A foot with a force needs a point that touches.

    Args:
        forces: Force of each foot, inside the friction cone [body weights].
        moment: Moment of all feet together [body weights · m].
        points: Where the points are, r_i [m].
        nearness: How near each point is to touching, a_i.
        mu: Coefficient of friction.
        feet: 1 where a point belongs to a foot.
        slack: As for `split_reaction`.
    """
    slack = np.full(3, SLACK) if slack is None else slack
    by_foot = (feet[:, :, None, None] * np.eye(3)).reshape(len(feet), -1, 3)
    by_foot = np.broadcast_to(by_foot, (*points.shape[:-1], *by_foot.shape[1:]))
    flat = forces.reshape(*forces.shape[:-2], -1)
    soft = np.concatenate([np.zeros(flat.shape[-1]), slack])
    A = np.concatenate([by_foot, cross_matrix(points)], axis=-2)
    b = np.concatenate([flat, moment], axis=-1)
    return _solved(A, b, soft, nearness, mu, points, moment, (forces, feet))


def _solved(A, b, soft, near, mu, points, moment, groups) -> Split:
    """All instants in one list, solved, and in their shape again."""
    shape, (forces, members) = b.shape[:-1], groups

    def listed(x: np.ndarray | float, own: int) -> np.ndarray:
        """The axes of instants as one; `own` axes are those of an instant."""
        x = np.asarray(x, float)
        x = np.broadcast_to(x, (*shape, *x.shape[x.ndim - own :]))
        return x.reshape(-1, *x.shape[len(shape) :])

    A = np.swapaxes(listed(A, 3), 1, 2)  # (n, m, points, 3): from all forces at once
    G = A.reshape(*A.shape[:2], -1)
    problem = _Problem(G, listed(b, 1), soft, listed(near, 1), listed(mu, 0)[:, None])
    y, size, steps = _minimum(problem)
    f = _exactly(_dual(y, problem)[2], listed(forces, 2), members)
    error = np.cross(listed(points, 2), f).sum(axis=1) - listed(moment, 1)
    found = (f, error, steps, size < _CONVERGED)
    return Split(*(x.reshape((*shape, *x.shape[1:])) for x in found))


def _exactly(f: np.ndarray, forces: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """What is left of the groups' force errors is rounding; it goes where the load is."""
    load = f[..., 2] @ groups @ groups.T
    share = f[..., 2] / np.maximum(load, 1e-300)
    return f + share[..., None] * (groups @ (forces - groups.T @ f))


class _Problem(NamedTuple):
    """The dual of every instant: A by rows, b, Σ, a and μ."""

    G: np.ndarray
    b: np.ndarray
    soft: np.ndarray
    a: np.ndarray
    mu: np.ndarray

    def only(self, which: np.ndarray) -> "_Problem":
        """Some of the instants, by number."""
        G, b, soft, a, mu = self
        return _Problem(G[which], b[which], soft, a[which], mu[which])

    def repeated(self, times: int) -> "_Problem":
        """Every instant so many times."""
        return self.only(np.repeat(np.arange(len(self.b)), times))


def _project(x: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest points of K, and how: the size of the tangential part, and whether x is in K."""
    size = np.hypot(x[..., 0], x[..., 1])
    normal = np.maximum(x[..., 2] + mu * size, 0.0) / (1 + mu**2)
    inside = size <= mu * x[..., 2]
    normal = np.where(inside, x[..., 2], normal)
    part = np.where(inside, 1.0, mu * normal / np.maximum(size, 1e-300))
    P = np.concatenate([part[..., None] * x[..., :2], normal[..., None]], axis=-1)
    return P, size, inside


def _dual(y: np.ndarray, problem: _Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value and gradient of the dual, and the forces."""
    G, b, soft, a, mu = problem
    pushed = (y[:, None] @ G).reshape(*a.shape, 3)
    P, _, _ = _project(pushed, mu)
    f = a[..., None] * P
    value = np.sum(f * P, axis=(1, 2)) / 2 + np.sum((soft * y / 2 - b) * y, axis=1)
    gradient = (G @ f.reshape(len(f), -1, 1))[..., 0] + soft * y - b
    return value, gradient, f


def _hessian(y: np.ndarray, problem: _Problem, damping: np.ndarray) -> np.ndarray:
    """Of the dual. Beside the cone, with t = x_t / |x_t| and c = (μ t, 1),

    P' = c cᵀ / (1 + μ²) + μ P_n / |x_t| (1 - t tᵀ)_t; the identity inside of it.
    """
    G, _, soft, a, mu = problem
    x = (y[:, None] @ G).reshape(*a.shape, 3)
    P, size, inside = _project(x, mu)
    t = x[..., :2] / np.maximum(size, 1e-300)[..., None]
    c = np.concatenate([mu[..., None] * t, np.ones((*size.shape, 1))], axis=-1)
    across = np.stack([-t[..., 1], t[..., 0], np.zeros_like(size)], axis=-1)
    turn = mu * P[..., 2] / np.maximum(size, 1e-300)
    D = c[..., :, None] * c[..., None, :] / (1 + mu**2)[..., None, None]
    D = D + turn[..., None, None] * across[..., :, None] * across[..., None, :]
    D = np.where(inside[..., None, None], np.eye(3), D * (P[..., 2] > 0)[..., None, None])
    parts = G.reshape(*G.shape[:2], -1, 3)
    GD = np.einsum("nmkx,nkxy->nmky", parts, a[..., None, None] * D)
    return GD.reshape(G.shape) @ np.swapaxes(G, 1, 2) + (soft + damping[:, None])[..., None] * (
        np.eye(len(soft))
    )


def _minimum(problem: _Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the dual is least, by damped Newton steps; the largest entry of its gradient, steps."""
    n, m = problem.b.shape
    # Start where the forces alone would be, spread evenly.
    load = np.maximum(problem.a.sum(axis=1), 1e-3)[:, None]
    y = np.where(problem.soft == 0, problem.b / load, 0.0)
    size, damping, steps = np.full(n, np.inf), np.full(n, 1e-6), np.zeros(n, int)
    lengths = 0.25 ** np.arange(_TRIALS)
    for _ in range(MAX_STEPS):
        at = np.flatnonzero((size > TOLERANCE) & (damping < 1.0))
        if not at.size:
            break
        here = problem.only(at)
        value, g, _ = _dual(y[at], here)
        H = _hessian(y[at], here, damping[at])
        direction = -np.linalg.solve(H, g[..., None])[..., 0]
        trials = y[at][:, None] + lengths[:, None] * direction[:, None]
        values, gradients, _ = _dual(trials.reshape(-1, m), here.repeated(_TRIALS))
        values = values.reshape(-1, _TRIALS)
        sizes = np.abs(gradients).max(axis=1).reshape(-1, _TRIALS)
        # Near the solution the values differ by rounding alone: there the gradient decides.
        measure = np.where(size[at, None] < 1e-6, sizes, values)
        best = np.argmin(measure, axis=1)[:, None]
        lowest, smallest = (np.take_along_axis(x, best, 1)[:, 0] for x in (values, sizes))
        progress = (lowest < value) | (smallest < size[at])
        # Where no point resists, the Hessian is singular; then damping keeps the step finite.
        more = np.where(progress, np.maximum(damping[at] / 10, _DAMPING), 1e3 * damping[at])
        chosen = np.take_along_axis(trials, best[..., None], 1)[:, 0]
        y[at] = np.where(progress[:, None], chosen, y[at])
        size[at] = np.where(progress, smallest, size[at])
        damping[at], steps[at] = more, steps[at] + 1
    return y, size, steps


def cross_matrix(r: np.ndarray) -> np.ndarray:
    """[r]ₓ, with [r]ₓ f = r × f."""
    x, y, z = r[..., 0], r[..., 1], r[..., 2]
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*r.shape, 3)
