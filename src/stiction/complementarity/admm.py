"""Alternating directions for Coulomb friction: a fixed, small program of large operations."""

import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, Bool, Int, Scalar
from stiction.complementarity.friction_cone import (
    UnitProblem,
    Vectors,
    norm,
    project_to_cone,
    raise_normals,
)

# Weight of the agreement between the two copies of the impulse, in a problem whose contacts are
# scaled to 1, and over-relaxation: the best of a scan over feet, stacks and random mechanisms.
PENALTY = 1.0
RELAXATION = 1.6

_Carry = tuple[Vectors, Vectors, Int[Array, ""], Scalar]  # x, y, steps, residual


def admm(
    problem: UnitProblem,
    x: Vectors,
    target: Scalar | None,
    max_iterations: Int[Array, ""] | int,
) -> tuple[Vectors, Int[Array, ""]]:
    r"""Alternate between the equation of motion and the cones, after [Carpentier2024],

    $$ \hat x = (W + \rho I)^{-1} (\rho x + y - b - |y_t| e_n), \quad
       x \leftarrow P_Q(\hat x - y / \rho), \quad y \leftarrow y - \rho (\hat x - x) , $$

    y being the velocity with De Saxcé's shift. Two products a step; (W + ρ I)⁻¹ is made once. The
    paper adapts ρ; here the problem is scaled instead and ρ is fixed, so that nothing is factored
    again.

    Args:
        problem: Friction problem scaled to unit cones.
        x: Where to start.
        target: Stop when the residual is at most this; None makes exactly `max_iterations` steps,
            and reads nothing back: the form for a GPU.
        max_iterations: The number of steps.

    Returns:
        x and the number of steps.
    """
    count, dim = problem.b.shape
    n = count * dim
    inverse = jnp.linalg.inv(problem.W + PENALTY * jnp.eye(n, dtype=problem.W.dtype))

    def step(x: Vectors, y: Vectors) -> tuple[Vectors, Vectors]:
        shifted = raise_normals(problem.b, norm(y[:, :-1]))
        x_hat = (inverse @ (PENALTY * x + y - shifted).reshape(-1)).reshape(count, dim)
        x_hat = RELAXATION * x_hat + (1 - RELAXATION) * x
        x = project_to_cone(x_hat - y / PENALTY, 1.0)
        return x, y - PENALTY * (x_hat - x)

    u = problem.velocity(x)
    y = raise_normals(u, norm(u[:, :-1]))
    if target is None:
        x, _ = lax.fori_loop(0, max_iterations, lambda _, xy: step(*xy), (x, y))
        return x, jnp.asarray(max_iterations, jnp.int32)

    def checked(carry: _Carry) -> _Carry:
        x, y, steps, _ = carry
        x, y = step(x, y)
        return x, y, steps + 1, problem.residual(x, problem.velocity(x))

    def unfinished(carry: _Carry) -> Bool[Array, ""]:
        _, _, steps, residual = carry
        return (residual > target) & (steps < max_iterations)

    start = (x, y, jnp.zeros((), jnp.int32), problem.residual(x, u))
    x, _, steps, _ = lax.while_loop(unfinished, checked, start)
    return x, steps
