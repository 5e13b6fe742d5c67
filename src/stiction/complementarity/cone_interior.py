"""Interior-point paths to Coulomb friction, for problems where pivoting and Newton do not meet.

Works on a `UnitProblem`: cones Q = { |x_t| ≤ x_n }. With y = u + |u_t| e_n (De Saxcé and Feng's
change of variable [DeSaxce1998]) Coulomb's law is Q ∋ x ⟂ y ∈ Q, and since y_t = u_t,

    y_n - |y_t| = u_n,   y_t = u_t,   u = W x + b.                                          (C)

(C) is not monotone: with |y_t| kept at a given slip speed s it is, and its central path leads to
the solution of a convex problem [Acary2011]; iterating s = |u_t| is their fixed point. Both are
offered: `coupling` 1 follows (C), `coupling` 0 the convex problem for s.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import lu_factor, lu_solve

from stiction._base.arrays import Array, Bool, Int, Scalar
from stiction.complementarity.alart_curnier import block_diagonal
from stiction.complementarity.friction_cone import (
    Blocks,
    PerContact,
    UnitProblem,
    Vectors,
    norm,
    raise_normals,
)

# |y_t| is smoothed by this share of the distance to the end of the path.
SMOOTHING = 0.01
# A path whose steps are shorter than this has run into a fold.
LEAST_STEP = 1e-4


class PathOptions(NamedTuple):
    """How to follow the path: numbers, so that attempts differ without compiling anew."""

    coupling: Scalar
    least_centering: Scalar
    to_boundary: Scalar
    max_steps: Int[Array, ""]


class PathState(NamedTuple):
    x: Vectors
    y: Vectors
    best: Vectors
    residual: Scalar
    length: Scalar
    steps: Int[Array, ""]


def central_path(
    problem: UnitProblem, slip: PerContact, target: Scalar, options: PathOptions
) -> PathState:
    r"""Follow $x \circ y = \tau e$ towards τ = 0 with Nesterov-Todd steps.

    With H the scaling that takes x to y, T the derivative of (C) in y and r its defect, one step
    solves $(W + T H)\,\delta x = T (\sigma\tau x^{-1} - y) - r$ [NesterovTodd1998].
    """
    identity = jnp.eye(problem.b.shape[1], dtype=problem.b.dtype)

    def step(state: PathState) -> PathState:
        x, y = state.x, state.y
        tau = jnp.mean(jnp.sum(x * y, axis=1))
        smooth = SMOOTHING * jnp.minimum(tau, 1)
        speed = jnp.sqrt(jnp.sum(y[:, :-1] ** 2, axis=1) + smooth**2)
        lift = options.coupling * speed + (1 - options.coupling) * slip
        u = problem.velocity(x)
        defect = u - raise_normals(y, -lift)
        slope = jnp.pad(-options.coupling * y[:, :-1] / speed[:, None], ((0, 0), (0, 1)))
        T = identity[None] + identity[-1][None, :, None] * slope[:, None, :]
        H = scaling(x, y)
        factors = lu_factor(problem.W + block_diagonal(T @ H))
        # Short steps mean a point near the boundary: centre more.
        centering = jnp.clip((1 - state.length) ** 2, options.least_centering, 0.8)
        goal = centering * tau * cone_inverse(x) - y
        right = jnp.einsum("ijk,ik->ij", T, goal) - defect
        dx = lu_solve(factors, right.reshape(-1)).reshape(x.shape)
        dy = goal - jnp.einsum("ijk,ik->ij", H, dx)
        length = jnp.minimum(to_boundary(x, dx), to_boundary(y, dy))
        length = jnp.minimum(options.to_boundary * length, 1)
        x_next, y_next = x + length * dx, y + length * dy
        inside = jnp.all(_determinant(x_next) > 0) & jnp.all(_determinant(y_next) > 0)  # not nan
        x, y = jnp.where(inside, x_next, x), jnp.where(inside, y_next, y)
        residual = problem.residual(x, problem.velocity(x))
        better = residual < state.residual
        return PathState(
            x=x,
            y=y,
            best=jnp.where(better, x, state.best),
            residual=jnp.where(better, residual, state.residual),
            length=jnp.where(inside, length, 0),
            steps=state.steps + 1,
        )

    def unfinished(state: PathState) -> Bool[Array, ""]:
        going = (state.length > LEAST_STEP) & (state.steps < options.max_steps)
        return (state.residual > target) & going

    # Far enough inside both cones that the first steps are long.
    start = jnp.zeros_like(problem.b).at[:, -1].set(10)
    big = jnp.array(jnp.inf, problem.b.dtype)
    half = jnp.array(0.5, problem.b.dtype)
    state = PathState(start, start, start, big, half, jnp.zeros((), jnp.int32))
    return lax.while_loop(unfinished, step, state)


def _determinant(x: Vectors) -> PerContact:
    """x_n² - |x_t|², positive in the cone's interior."""
    size = norm(x[:, :-1])
    return (x[:, -1] - size) * (x[:, -1] + size)


def _reflect(x: Vectors) -> Vectors:
    return jnp.concatenate([-x[:, :-1], x[:, -1:]], axis=1)


def cone_inverse(x: Vectors) -> Vectors:
    """Jordan inverse: x ∘ x⁻¹ = e."""
    return _reflect(x) / _determinant(x)[:, None]


def scaling(x: Vectors, y: Vectors) -> Blocks:
    """The Nesterov-Todd matrix H of each contact: symmetric, positive, H x = y."""
    size_x, size_y = jnp.sqrt(_determinant(x)), jnp.sqrt(_determinant(y))
    unit_x, unit_y = x / size_x[:, None], y / size_y[:, None]
    root = jnp.sqrt((1 + jnp.sum(unit_x * unit_y, axis=1)) / 2)
    w = (unit_y + _reflect(unit_x)) / (2 * root[:, None])
    mirror = jnp.diag(-jnp.ones(x.shape[1], x.dtype)).at[-1, -1].set(1)
    return (size_y / size_x)[:, None, None] * (2 * w[:, :, None] * w[:, None, :] - mirror[None])


def to_boundary(x: Vectors, dx: Vectors) -> Scalar:
    """The longest step that keeps every contact in its cone."""
    a, c = _determinant(dx), _determinant(x)
    b = x[:, -1] * dx[:, -1] - jnp.sum(x[:, :-1] * dx[:, :-1], axis=1)
    discriminant = b**2 - a * c
    below = jnp.sqrt(jnp.maximum(discriminant, 0)) - b
    meets = (discriminant >= 0) & (below > 0)
    return jnp.min(jnp.where(meets, c / jnp.where(meets, below, 1), jnp.inf))
