"""Configurations of a mechanism from points of its bodies that were seen, row by row."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError, unknown
from stiction.mechanism import Mechanism, add_velocity, random_state, world_poses
from stiction.tables import Table

if TYPE_CHECKING:
    from stiction.identify.kinds.rollouts.setup import Marker

_STARTS = 16  # configurations from which a row is looked for, beside that of the row before
_STEPS = 12  # of Gauss and Newton, a row
_TELLS = 1e-3  # of the best told direction: less is not told at all
_SAME = 0.05  # m: markers that miss by more, in the mean, are others than the setup says


def by_markers(
    table: Table, markers: Sequence["Marker"], mechanism: Mechanism
) -> Float[np.ndarray, "n nq"]:
    """The q with which the markers are nearest to where they were seen, in least squares."""
    bodies = list(mechanism.tree.body_names)
    for m in markers:
        if m.body not in bodies:
            raise unknown("body of a marker", m.body, bodies)
    body = jnp.asarray([bodies.index(m.body) for m in markers])
    point = jnp.asarray([m.point for m in markers])
    seen = jnp.asarray(np.stack([table.vectors(m.position, "length") for m in markers], axis=1))
    key = jax.random.key(0)
    keys = jax.random.split(key, _STARTS)
    starts = jax.vmap(lambda k: random_state(mechanism, k, spread=2.0)[0])(keys)
    q, missed, told = _register(mechanism, body, point, seen, starts)
    values = np.linalg.eigvalsh(np.asarray(told))
    if np.median(values[:, 0] / values[:, -1]) < _TELLS**2:
        raise InputError(
            f"`markers` must tell all of {', '.join(mechanism.tree.coordinate_names)}, and these"
            f" {len(markers)} do not: add a marker, or leave the orientation of a ball open with"
            " '' in `coordinates`"
        )
    if float(np.median(missed)) > _SAME:
        raise InputError(
            f"`markers` miss by {float(np.median(missed)):.3g} m where they were seen: check their"
            " bodies, points, columns and units.length"
        )
    return np.asarray(q)


@quick_jit
def _register(mechanism: Mechanism, body: Array, point: Array, seen: Array, starts: Array):
    """q of every row, how far its markers are off, and JᵀJ."""

    def residual(q: Array, y: Array) -> Array:
        at = world_poses(mechanism, q)
        return (at.position[body] + jnp.einsum("mij,mj->mi", at.rotation[body], point) - y).ravel()

    def by_step(q: Array, y: Array) -> Array:
        zero = jnp.zeros(mechanism.nv)
        return jax.jacfwd(lambda d: residual(add_velocity(mechanism, q, d), y))(zero)

    def solved(q: Array, y: Array) -> Array:
        def step(_, q):
            J, r = by_step(q, y), residual(q, y)
            damped = J.T @ J + 1e-9 * jnp.trace(J.T @ J) * jnp.eye(mechanism.nv)
            return add_velocity(mechanism, q, -jnp.linalg.solve(damped, J.T @ r))

        return jax.lax.fori_loop(0, _STEPS, step, q)

    def row(before: Array, y: Array):
        many = jax.vmap(lambda q: solved(q, y))(jnp.concatenate([before[None], starts]))
        cost = jax.vmap(lambda q: jnp.sum(residual(q, y) ** 2))(many)
        cost = jnp.where(jnp.isfinite(cost), cost, jnp.inf).at[0].multiply(0.5)  # if in doubt
        q = many[jnp.argmin(cost)]
        J = by_step(q, y)
        return q, (q, jnp.sqrt(jnp.mean(residual(q, y) ** 2)), J.T @ J)

    _, (q, missed, told) = jax.lax.scan(row, starts[0], seen)
    return q, missed, told
