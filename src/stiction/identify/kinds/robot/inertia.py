r"""Inertial parameters that are always those of a real body.

A body of any density has a pseudo-inertia $J = \begin{bmatrix} \Sigma & h \\ h^T & m \end{bmatrix}
\succ 0$ with $\Sigma = \tfrac12 \mathrm{tr}(I)\,1 - I$ [Wensing2018]. Written as $J = U U^T$ with

$$ U = e^{\alpha} \begin{bmatrix} e^{d_1} & s_{12} & s_{13} & t_1 \\ & e^{d_2} & s_{23} & t_2 \\
   & & e^{d_3} & t_3 \\ & & & 1 \end{bmatrix} $$

every ten numbers give such a body, and every such body has its ten numbers [RuckerWensing2022].
"""

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError

COUNT = 10  # α, d (3), s_12, s_23, s_13, t (3)


def body_parameters(x: Float[Array, "10"]) -> Float[Array, "10"]:
    """π = (m, m c, I about the origin) of log-Cholesky numbers."""
    alpha, d, s, t = x[0], jnp.exp(x[1:4]), x[4:7], x[7:10]
    zero, one = jnp.zeros(()), jnp.ones(())
    U = jnp.exp(alpha) * jnp.stack(
        [
            jnp.stack([d[0], s[0], s[2], t[0]]),
            jnp.stack([zero, d[1], s[1], t[1]]),
            jnp.stack([zero, zero, d[2], t[2]]),
            jnp.stack([zero, zero, zero, one]),
        ]
    )
    J = U @ U.T
    S = J[:3, :3]
    I = jnp.trace(S) * jnp.eye(3) - S
    inertia = jnp.stack([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
    return jnp.concatenate([J[3:, 3], J[:3, 3], inertia])


def pseudo_inertia(pi: Float[np.ndarray, "10"]) -> Float[np.ndarray, "4 4"]:
    """J of π."""
    m, h = pi[0], pi[1:4]
    xx, yy, zz, xy, xz, yz = pi[4:]
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    J = np.zeros((4, 4))
    J[:3, :3] = 0.5 * np.trace(I) * np.eye(3) - I
    J[:3, 3] = J[3, :3] = h
    J[3, 3] = m
    return J


def log_cholesky(pi: Float[np.ndarray, "10"], body: str) -> Float[np.ndarray, "10"]:
    """The numbers of π, which must be that of a real body."""
    J = pseudo_inertia(pi)
    flip = np.eye(4)[::-1]
    try:
        U = flip @ np.linalg.cholesky(flip @ J @ flip) @ flip
    except np.linalg.LinAlgError:
        raise InputError(
            f"`mechanism` must give body '{body}' an inertia of a real body: positive, each moment"
            " at most the sum of the two others; correct its mass or inertia"
        ) from None
    alpha = np.log(U[3, 3])
    U = U / U[3, 3]
    d = np.log(np.diag(U)[:3])
    return np.array([alpha, *d, U[0, 1], U[1, 2], U[0, 2], *U[:3, 3]])


def widths(x: Float[np.ndarray, "10"], doubt: float) -> Float[np.ndarray, "10"]:
    """Prior standard deviations: relative for sizes, of the body's own extent for lengths."""
    reach = float(np.mean(np.exp(x[1:4])))
    return doubt * np.array([1.0] * 4 + [reach] * 6)
