"""Impact problems to try laws on."""

import jax
import jax.numpy as jnp
import numpy as np

from stiction.impacts import ImpactProblem


def batch_of_problems(
    rng, count, n, dim, *, coupling=1.0, energetic=1.0, mu=(0.0, 1.2), restitution=(0.0, 1.0)
) -> ImpactProblem:
    """Random impacts of full rank, a batch along the first axis of every field.

    W = J Jᵀ with unit masses; the velocities are those of v with u = J v, and T⁻ = ½ |v|².
    """
    m = n * dim
    eye = np.concatenate([np.eye(m), np.zeros((m, 2))], axis=1)
    J = eye + coupling * rng.normal(size=(count, m, m + 2))
    u = rng.normal(size=(count, n, dim))
    u[..., -1] = -np.abs(u[..., -1]) - 0.05
    W = J @ J.transpose(0, 2, 1)
    flat = u.reshape(count, m)
    # The least v that has these contact velocities, and some motion that no contact sees.
    kinetic = 0.5 * np.einsum("bi,bi->b", flat, np.linalg.solve(W, flat[..., None])[..., 0])
    kinetic += rng.uniform(0, 0.5, count)
    static = rng.uniform(*mu, (count, n))

    def each(value):
        return jnp.full((count, n), float(value))

    # One problem has no batch: its fields are checked for that, so the batch is made by vmap.
    return jax.vmap(ImpactProblem)(
        jnp.asarray(W),
        jnp.asarray(u),
        jnp.ones((count, n), bool),
        jnp.asarray(rng.uniform(*restitution, (count, n))),
        jnp.asarray(static),
        jnp.asarray(static * rng.uniform(0.4, 1.0, (count, n))),
        each(1e-4),
        each(1.0),
        jnp.asarray(kinetic),
        jnp.full(count, float(energetic)),
    )
