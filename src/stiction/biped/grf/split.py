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
primal, which is larger, and are not batched over frames.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

from stiction._base.arrays import Array, Bool, Float, Int, Scalar
from stiction._base.spatial import cross
from stiction.complementarity import cone_projection_derivative, project_to_cone

MAX_STEPS = 60
TOLERANCE = 1e-13  # of the dual's gradient, forces counted in body weights
_CONVERGED = 1e-9  # of the same gradient: what rounding may leave in a badly placed problem
SLACK = 1e-4  # m²: a moment is matched to about a centimetre times body weight
PIVOT_SLACK = 0.3  # τ [m²]: as strong as the norm of forces half a metre from the pivot
_DAMPING = 1e-12  # of the Hessian: never quite singular
_TRIALS = 8  # step lengths 1, 1/4, 1/16, … tried at once


class Split(eqx.Module):
    """Forces at the points.

    Attributes:
        force: At each point; tangents, then normal.
        moment_error: Moment of the forces less the moment asked for.
        steps: Newton steps taken.
        converged: Whether the forces are the solution.
    """

    force: Float[Array, "*n n_points 3"]
    moment_error: Float[Array, "*n 3"]
    steps: Int[Array, "*n"]
    converged: Bool[Array, "*n"]


def split_reaction(
    force: Float[Array, "3"],
    moment: Float[Array, "3"],
    points: Float[Array, "n_points 3"],
    nearness: Float[Array, "n_points"],
    mu: Scalar,
    *,
    slack: Float[Array, "3"] | None = None,
    pivot: Float[Array, "3"] | None = None,
    feet: Float[Array, "n_points n_feet"] | None = None,
) -> Split:
    """Share one reaction among points.

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
    slack = jnp.full(3, SLACK, force.dtype) if slack is None else slack
    # Rows of A_i: the force itself, its moment r × f, and its moment about the pivot by feet.
    unit = jnp.broadcast_to(jnp.eye(3, dtype=force.dtype), (len(points), 3, 3))
    rows, soft = [unit, _cross_matrix(points)], [jnp.zeros(3, force.dtype), slack]
    if pivot is not None and feet is not None:
        turned = feet[:, :, None, None] * _cross_matrix(points - pivot[None])[:, None]
        rows.append(turned.reshape(len(points), -1, 3))
        # What is not known of the total moment is not known of a foot's either.
        soft.append(jnp.tile(PIVOT_SLACK + slack, feet.shape[1]))
    soft = jnp.concatenate(soft)
    b = jnp.zeros_like(soft).at[:6].set(jnp.concatenate([force, moment]))
    f, size, steps = _solve(jnp.concatenate(rows, axis=1), b, soft, nearness, mu)
    all_points = jnp.ones((len(points), 1), force.dtype)
    f = _exactly(f, force[None], all_points)
    return Split(f, jnp.sum(cross(points, f), 0) - moment, steps, size < _CONVERGED)


def split_shares(
    forces: Float[Array, "n_feet 3"],
    moment: Float[Array, "3"],
    points: Float[Array, "n_points 3"],
    nearness: Float[Array, "n_points"],
    mu: Scalar,
    *,
    feet: Float[Array, "n_points n_feet"],
    slack: Float[Array, "3"] | None = None,
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
    slack = jnp.full(3, SLACK, forces.dtype) if slack is None else slack
    unit = jnp.eye(3, dtype=forces.dtype)[None, None]
    by_foot = (feet[:, :, None, None] * unit).reshape(len(points), -1, 3)
    soft = jnp.concatenate([jnp.zeros(forces.size, forces.dtype), slack])
    b = jnp.concatenate([forces.ravel(), moment])
    A = jnp.concatenate([by_foot, _cross_matrix(points)], axis=1)
    f, size, steps = _solve(A, b, soft, nearness, mu)
    f = _exactly(f, forces, feet)
    return Split(f, jnp.sum(cross(points, f), 0) - moment, steps, size < _CONVERGED)


def _exactly(
    f: Float[Array, "n_points 3"],
    forces: Float[Array, "n_groups 3"],
    groups: Float[Array, "n_points n_groups"],
) -> Float[Array, "n_points 3"]:
    """What is left of the groups' force errors is rounding; it goes where the load is."""
    load = groups @ (groups.T @ f[:, 2])
    share = f[:, 2] / jnp.maximum(load, 1e-300)
    return f + share[:, None] * (groups @ (forces - groups.T @ f))


def _solve(
    A: Float[Array, "n_points m 3"],
    b: Float[Array, "m"],
    soft: Float[Array, "m"],
    a: Float[Array, "n_points"],
    mu: Scalar,
) -> tuple[Float[Array, "n_points 3"], Scalar, Int[Array, ""]]:
    """Minimise the dual: forces, the largest entry of its gradient, Newton steps."""
    G = jnp.swapaxes(A, 0, 1).reshape(len(b), -1)  # from all forces at once
    problem = (G, b, soft, a, jnp.broadcast_to(mu, a.shape))
    y, size, steps = _minimum(problem)
    return _dual(y, problem)[2], size, steps


def _dual(y: Float[Array, "m"], problem):
    """Value and gradient of the dual, the forces, and the projections' derivatives."""
    G, b, soft, a, mu = problem
    pushed = (y @ G).reshape(-1, 3)
    P, D = project_to_cone(pushed, mu), cone_projection_derivative(pushed, mu)
    f = a[:, None] * P
    value = jnp.sum(f * P) / 2 + jnp.sum((soft * y / 2 - b) * y)
    return value, G @ f.ravel() + soft * y - b, f, D


def _hessian(problem, D: Float[Array, "n_points 3 3"], damping: Scalar) -> Float[Array, "m m"]:
    G, _, soft, a, _ = problem
    parts = G.reshape(len(soft), -1, 3)
    GD = jnp.sum(parts[..., None] * (a[:, None, None] * D)[None], axis=2)
    return GD.reshape(G.shape) @ G.T + jnp.diag(soft + damping)


@jax.custom_jvp
def _minimum(problem) -> tuple[Float[Array, "m"], Scalar, Int[Array, ""]]:
    """Where the dual is least, by damped Newton steps."""
    _, b, soft, a, _ = problem

    def improve(state):
        y, size, damping, step = state
        value, g, _, D = _dual(y, problem)
        H = _hessian(problem, D, damping)
        direction = -jsl.cho_solve((jnp.linalg.cholesky(H, symmetrize_input=False), True), g)
        lengths = 0.25 ** jnp.arange(_TRIALS, dtype=y.dtype)
        trials = y[None] + lengths[:, None] * direction[None]
        values, gradients, _, _ = jax.vmap(_dual, (0, None))(trials, problem)
        sizes = jnp.max(jnp.abs(gradients), axis=-1)
        # Near the solution the values differ by rounding alone: there the gradient decides.
        best = jnp.argmin(jnp.where(size < 1e-6, sizes, values))
        progress = (values[best] < value) | (sizes[best] < size)
        keep = jnp.where(progress, trials[best], y)
        # Where no point resists, the Hessian is singular; then damping keeps the step finite.
        damping = jnp.where(progress, jnp.maximum(damping / 10, _DAMPING), 1e3 * damping)
        return keep, jnp.where(progress, sizes[best], size), damping, step + 1

    def unfinished(state):
        _, size, damping, step = state
        return (size > TOLERANCE) & (step < MAX_STEPS) & (damping < 1.0)

    # Start where the forces alone would be, spread evenly.
    start = jnp.where(soft == 0, b / jnp.maximum(jnp.sum(a), 1e-3), 0.0)
    state = (start, jnp.asarray(jnp.inf, b.dtype), jnp.asarray(1e-6, b.dtype), jnp.asarray(0))
    y, size, _, steps = jax.lax.while_loop(unfinished, improve, state)
    return y, size, steps


@_minimum.defjvp  # pyright: ignore[reportArgumentType]  # float0 is a type of NumPy's
def _minimum_jvp(problems, changes):
    """The gradient stays zero: H dy + its change at fixed y = 0."""
    (problem,), (change,) = problems, changes
    y, size, steps = _minimum(problem)
    _, moved = jax.jvp(lambda p: _dual(y, p)[1], (problem,), (change,))
    H = _hessian(problem, _dual(y, problem)[3], jnp.asarray(_DAMPING, y.dtype))
    dy = -jnp.linalg.solve(H, moved)
    return (y, size, steps), (dy, jnp.zeros_like(size), np.zeros(steps.shape, jax.dtypes.float0))


def _cross_matrix(r: Float[Array, "n 3"]) -> Float[Array, "n 3 3"]:
    """[r]ₓ, with [r]ₓ f = r × f."""
    x, y, z = r[:, 0], r[:, 1], r[:, 2]
    o = jnp.zeros_like(x)
    return jnp.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(-1, 3, 3)
