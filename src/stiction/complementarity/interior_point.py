"""A predictor-corrector interior-point method for monotone linear complementarity problems."""

import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import lu_factor, lu_solve

from stiction._base.arrays import Array, Bool, Float, Int, Scalar

# Share of the way to the boundary that a step may go.
FRACTION_TO_BOUNDARY = 0.995

# z, w, steps, residual, length of the last step
_Carry = tuple[Float[Array, " n"], Float[Array, " n"], Int[Array, ""], Scalar, Scalar]


def interior_point(
    M: Float[Array, "n n"],
    q: Float[Array, " n"],
    z: Float[Array, " n"],
    target: Scalar,
    max_steps: Int[Array, ""],
) -> tuple[Float[Array, " n"], Int[Array, ""], Bool[Array, ""]]:
    r"""Follow the central path $z_i w_i = \tau$, $w = M z + q$, to $\tau = 0$ [Mehrotra1992].

    One linear system $(M + Z^{-1} W)\,\delta z = r$ a step, solved for two right-hand sides.
    Converges for every positive semidefinite M (symmetric or not) whose problem has a solution.
    Interior points do not start well from a boundary: z is not used.
    """
    del z

    def step(carry: _Carry) -> _Carry:
        z, w, steps, _, _ = carry
        defect = M @ z + q - w
        tau = jnp.mean(z * w)
        factors = lu_factor(M + jnp.diag(w / z))

        def direction(product: Float[Array, " n"]) -> tuple[Array, Array]:
            """Newton's step towards z w = product with the equation satisfied."""
            dz = lu_solve(factors, -defect - w + product / z)
            return dz, (product - w * dz) / z - w

        dz, dw = direction(jnp.zeros_like(z))
        length = jnp.minimum(_to_boundary(z, dz), _to_boundary(w, dw))
        tau_affine = jnp.mean((z + length * dz) * (w + length * dw))
        centering = jnp.clip((tau_affine / tau) ** 3, 1e-8, 1)
        dz, dw = direction(centering * tau - dz * dw)
        length = jnp.minimum(_to_boundary(z, dz), _to_boundary(w, dw))
        z_next, w_next = z + length * dz, w + length * dw
        finite = jnp.all(jnp.isfinite(z_next)) & jnp.all(jnp.isfinite(w_next))
        z, w = jnp.where(finite, z_next, z), jnp.where(finite, w_next, w)
        residual = jnp.max(jnp.abs(jnp.minimum(z, M @ z + q)))
        return z, w, steps + 1, residual, jnp.where(finite, length, 0)

    def unfinished(carry: _Carry) -> Bool[Array, ""]:
        _, _, steps, residual, length = carry
        return (residual > target) & (steps < max_steps) & (length > 1e-10)

    one = jnp.ones_like(q)
    big = jnp.array(jnp.inf, q.dtype)
    start = (one, one, jnp.zeros((), jnp.int32), big, jnp.ones((), q.dtype))
    z, _, steps, _, _ = lax.while_loop(unfinished, step, start)
    return z, steps, steps >= max_steps


def _to_boundary(x: Float[Array, " n"], dx: Float[Array, " n"]) -> Scalar:
    """The largest step of at most 1 that keeps x positive, less a little."""
    ratio = jnp.where(dx < 0, -x / jnp.where(dx < 0, dx, -1), jnp.inf)
    return jnp.minimum(1, FRACTION_TO_BOUNDARY * jnp.min(ratio, initial=jnp.inf))
