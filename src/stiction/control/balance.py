r"""Balance: where the ground should push, and what the body must do for it.

symbol  meaning                                              unit
c, L    centre of mass, angular momentum about it            m, kg·m²/s
p       point of pressure, where the ground pushes           m
h       height of c above p                                  m
ω_b     frequency of the error of c                          rad/s
e       error of c against where it should be                m

A body on its feet is a pendulum upside down [Kajita2001]. Its centre of mass follows a way c_r(t)
that needs the pressure p_r(t), with an error that dies as $\ddot e = -ω_b^2 e - 2 ω_b \dot e$, if

$$ p = p_r + e + \frac{h}{g} (ω_b^2 e + 2 ω_b \dot e) . $$

The ground pushes only where something touches: p is brought to the nearest point of the hull of
what does. The body does what makes the ground push there: forces of inertia and weight have no
level moment about p,

$$ \dot L + (c - p) \times m (\ddot c - g) = 0 . $$
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from stiction._base.arrays import TINY, Array, Float, Scalar
from stiction._base.spatial import cross
from stiction.mechanism import (
    LinkKinematics,
    Mechanism,
    as_mask,
    center_of_mass,
    momentum,
    rate,
    spatial_momentum,
    total_mass,
)


class Momenta(NamedTuple):
    """Linear and angular momentum as the freedoms give them: rate = matrix · a + drift."""

    mass: Scalar
    center: Float[Array, "3"]
    center_rate: Float[Array, "3"]
    push: Float[Array, "3 nv"]
    push_drift: Float[Array, "3"]
    spin: Float[Array, "3 nv"]
    spin_drift: Float[Array, "3"]


def momenta(
    mechanism: Mechanism, state: LinkKinematics, inertias: Array, q: Array, v: Array
) -> Momenta:
    """At a state."""
    m = mechanism
    (push, _), (push_drift, spin_drift) = jax.jvp(
        lambda q: momentum(m, q, v), (q,), (rate(m, q, v),)
    )
    # A freedom gives the whole body the momentum of everything beyond it.
    composite = as_mask(m.tree.moves_body.T, q) @ inertias
    H = spatial_momentum(composite, state.S)
    center = center_of_mass(m, q)
    arm = jnp.broadcast_to((center - state.reference)[None], (m.nv, 3))
    spin = H[:, :3] - cross(arm, H[:, 3:])
    mass = total_mass(m)
    return Momenta(mass, center, push / mass, H[:, 3:].T, push_drift, spin.T, spin_drift)


def moment_about(
    body: Momenta, p: Float[Array, "3"], gravity: Float[Array, "3"]
) -> tuple[Float[Array, "3 nv"], Float[Array, "3"]]:
    """The moment about p of inertia and weight, as matrix · a + rest."""
    arm = body.center - p
    columns = jnp.broadcast_to(arm[None], body.push.T.shape)
    matrix = body.spin + cross(columns, body.push.T).T
    return matrix, body.spin_drift + cross(arm, body.push_drift - body.mass * gravity)


def nearest_in_hull(
    p: Float[Array, "2"], x: Float[Array, "n 2"], there: Float[Array, "n"]
) -> Array:
    """The point nearest to p of the convex hull of those points x that are there (> 0).

    Outside, it lies on a segment between two of them: all are tried. p is inside if no segment has
    all points on one side and p on the other. If none is there, p itself.
    """
    tiny = TINY.of(p)
    are = there > 0
    both = are[:, None] & are[None, :]
    d = x[None, :] - x[:, None]
    length = jnp.sum(d * d, axis=-1)
    along = jnp.sum((p[None] - x)[:, None] * d, axis=-1) / jnp.where(length > 0, length, 1.0)
    foot = x[:, None] + jnp.clip(along, 0.0, 1.0)[..., None] * d
    far = jnp.where(both, jnp.sum((p[None, None] - foot) ** 2, axis=-1), jnp.inf)
    best = foot.reshape(-1, 2)[jnp.argmin(far)]

    def side(y):  # of each segment: positive on its left
        r = y[None, None] - x[:, None]
        return d[..., 0] * r[..., 1] - d[..., 1] * r[..., 0]

    others = jax.vmap(side)(x)  # (point, i, j)
    scale = tiny + 1e-9 * jnp.max(length)
    bounds = jnp.all((others >= -scale) | ~are[:, None, None], axis=0) & both & (length > scale)
    outside = jnp.any(bounds & (side(p) < 0)) | ~jnp.any(bounds)
    return jnp.where(jnp.any(are) & outside, best, p)
