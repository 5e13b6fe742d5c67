"""Coulomb's law for many contacts as a complementarity problem on second-order cones.

Rows of every contact are ordered tangential then normal: (t1, t2, n), or (t, n) in the plane.

symbol  name        meaning                                                unit
W, b                u = W γ + b, W = J M⁻¹ Jᵀ the Delassus matrix           1/kg, m/s
u                   relative velocities, u_n > 0 separating                m/s
γ       impulse     contact impulses, γ_n ≥ 0 pushing apart                N·s
μ       mu          friction coefficients                                  -
π       preload     normal impulse that acts whatever u_n is               N·s
K       cone        { |γ_t| ≤ μ γ_n }; K* = { μ |u_t| ≤ u_n } its dual
ω                   mean diagonal of a contact's block of W                1/kg
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax

from stiction._base.arrays import Array, ArrayLike, Float, Scalar, ScalarLike

Vectors = Float[Array, "n_contacts dim"]  # impulses or velocities: tangents, then normal
PerContact = Float[Array, " n_contacts"]
Blocks = Float[Array, "n_contacts dim dim"]


def project_to_cone(
    impulse: Float[ArrayLike, "*contacts dim"], mu: Float[ArrayLike, "*contacts"] | ScalarLike
) -> Float[Array, "*contacts dim"]:
    r"""The nearest point of the friction cone $K = \{ |\gamma_t| \le \mu \gamma_n \}$.

    A point of the cone is its own projection, a point of the polar cone $-K^*$ goes to the apex,
    any other to the nearest ray of the surface, where the normal part is
    $(\gamma_n + \mu |\gamma_t|) / (1 + \mu^2)$.

    Args:
        impulse: Impulses, tangential components first, normal last [N·s].
        mu: Friction coefficients ≥ 0 [-].
    """
    impulse, mu = jnp.asarray(impulse), jnp.asarray(mu)
    t, n = impulse[..., :-1], impulse[..., -1]
    size = norm(t)
    on_surface = jnp.maximum((n + mu * size) / (1 + mu**2), 0)
    direction = t / jnp.where(size > 0, size, 1)[..., None]
    surface = jnp.concatenate(
        [(mu * on_surface)[..., None] * direction, on_surface[..., None]], axis=-1
    )
    return jnp.where((size <= mu * n)[..., None], impulse, surface)


def cone_projection_derivative(
    impulse: Float[Array, "*contacts dim"], mu: Float[Array, "*contacts"]
) -> Float[Array, "*contacts dim dim"]:
    r"""The derivative of `project_to_cone` by the impulse, for Newton's method.

    1 inside the cone, 0 in the polar cone; beside them, with $u = \gamma_t / |\gamma_t|$,

    $$ P = s\, c, \qquad c = (\mu u, 1), \qquad s = \frac{c \cdot \gamma}{1 + \mu^2}, \qquad
       P' = \frac{c\, c^T}{1 + \mu^2} + \frac{\mu s}{|\gamma_t|} (1 - u u^T)_t . $$
    """
    t, n = impulse[..., :-1], impulse[..., -1]
    # Never quite zero: the root must have a derivative on the axis too.
    size = jnp.sqrt(jnp.maximum(jnp.sum(t**2, axis=-1), 1e-30))
    u = t / size[..., None]
    c = jnp.concatenate([mu[..., None] * u, jnp.ones_like(u[..., :1])], axis=-1)
    weight = 1 / (1 + mu * mu)
    s = jnp.sum(c * impulse, axis=-1) * weight
    dim = impulse.shape[-1]
    one = jnp.broadcast_to(jnp.eye(dim, dtype=impulse.dtype), (*impulse.shape, dim))
    u = jnp.concatenate([u, jnp.zeros_like(u[..., :1])], axis=-1)
    across = one.at[..., -1, -1].set(0) - u[..., :, None] * u[..., None, :]
    side = weight[..., None, None] * c[..., :, None] * c[..., None, :]
    side = side + (mu * s / size)[..., None, None] * across
    inside, opposite = size <= mu * n, mu * size <= -n
    return jnp.where(inside[..., None, None], one, jnp.where(opposite[..., None, None], 0.0, side))


def project_to_dual_cone(
    velocity: Float[ArrayLike, "*contacts dim"], mu: Float[ArrayLike, "*contacts"] | ScalarLike
) -> Float[Array, "*contacts dim"]:
    r"""The nearest point of $K^* = \{ \mu |u_t| \le u_n \}$: by Moreau, $u + P_K(-u)$."""
    velocity = jnp.asarray(velocity)
    return velocity + project_to_cone(-velocity, mu)


class ConeErrors(NamedTuple):
    """How far a contact is from Coulomb's law, in units of velocity."""

    complementarity: PerContact
    dissipation: PerContact


def cone_errors(
    W: Float[ArrayLike, "n n"],
    b: Float[ArrayLike, " n"],
    mu: Float[ArrayLike, " n_contacts"],
    impulse: Float[ArrayLike, " n"],
    preload: Float[ArrayLike, " n_contacts"] | None = None,
) -> ConeErrors:
    r"""The two parts of Coulomb's law, contact by contact, as distances [m/s],

    $$ |\min(\omega \gamma_n,\, u_n)| , \qquad
       \omega \, | \gamma_t - P_{|\cdot| \le \mu \gamma_n} (\gamma_t - u_t / \omega) | . $$

    The first is zero iff $0 \le \gamma_n \perp u_n \ge 0$. The second is zero iff $\gamma_t$
    dissipates the most that the disc of radius $\mu \gamma_n$ allows: it opposes $u_t$ on the rim
    where the contact slides, and is anywhere in the disc where it sticks. With a preload the
    complement of $u_n$ is $\gamma_n - \pi$.
    """
    W, b, mu, impulse = (jnp.asarray(a) for a in (W, b, mu, impulse))
    dim = b.shape[0] // mu.shape[0]
    u = (W @ impulse + b).reshape(-1, dim)
    gamma = impulse.reshape(-1, dim)
    omega = contact_scale(W, dim)
    beyond = gamma[:, -1] if preload is None else gamma[:, -1] - jnp.asarray(preload)
    complementarity = jnp.abs(jnp.minimum(omega * beyond, u[:, -1]))
    radius = mu * jnp.maximum(gamma[:, -1], 0)
    wanted = project_to_disc(gamma[:, :-1] - u[:, :-1] / omega[:, None], radius)
    return ConeErrors(complementarity, omega * norm(gamma[:, :-1] - wanted))


def cone_residual(
    W: Float[ArrayLike, "n n"],
    b: Float[ArrayLike, " n"],
    mu: Float[ArrayLike, " n_contacts"],
    impulse: Float[ArrayLike, " n"],
    preload: Float[ArrayLike, " n_contacts"] | None = None,
) -> Scalar:
    """The largest of all `cone_errors` [m/s]: zero exactly at the solutions."""
    errors = cone_errors(W, b, mu, impulse, preload)
    return jnp.maximum(jnp.max(errors.complementarity), jnp.max(errors.dissipation))


def coulomb_equations(
    W: Float[Array, "n n"],
    b: Float[Array, " n"],
    mu: PerContact,
    preload: PerContact,
    impulse: Float[Array, " n"],
) -> Float[Array, " n"]:
    """The equations of Alart and Curnier in the original units: zero iff Coulomb's law holds.

    For differentiation; `alart_curnier` has them with their derivative for unit problems.
    """
    dim = b.shape[0] // mu.shape[0]
    u = (W @ impulse + b).reshape(-1, dim)
    gamma = impulse.reshape(-1, dim)
    step = lax.stop_gradient(1 / contact_scale(W, dim))
    beyond = gamma[:, -1] - preload
    pressed = jnp.maximum(beyond - step * u[:, -1], 0)
    wanted = project_to_disc(gamma[:, :-1] - step[:, None] * u[:, :-1], mu * (preload + pressed))
    F = jnp.concatenate([gamma[:, :-1] - wanted, (beyond - pressed)[:, None]], axis=1)
    return F.reshape(-1)


def project_to_disc(
    tangential: Float[Array, "*contacts k"], radius: Float[Array, "*contacts"]
) -> Float[Array, "*contacts k"]:
    """The nearest point of the disc of the given radius (of the interval, in the plane)."""
    size = norm(tangential)
    outside = size > radius
    return jnp.where(outside, radius / jnp.where(outside, size, 1), 1)[..., None] * tangential


def contact_scale(W: Float[Array, "n n"], dim: int) -> PerContact:
    """ω: the mean diagonal entry of each contact's block, 1 for a contact that nothing can move."""
    omega = jnp.mean(jnp.diagonal(W).reshape(-1, dim), axis=1)
    return jnp.where(omega > 0, omega, 1)


def norm(t: Float[Array, "*contacts k"]) -> Float[Array, "*contacts"]:
    """Euclidean norm whose derivative at zero is zero, not nan."""
    square = jnp.sum(t**2, axis=-1)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1)), 0)


def raise_normals(x: Vectors, amount: PerContact) -> Vectors:
    """Add to the normal component of every contact. (`.at[]` is a slow scatter inside loops.)"""
    return jnp.concatenate([x[:, :-1], x[:, -1:] + amount[:, None]], axis=1)


class UnitProblem(NamedTuple):
    r"""The same problem with μ = 1 everywhere and contacts of similar size.

    With $\gamma = s D x$ and $D$ = (μ, μ, 1)/√ω on each contact, $W' = D W D$ and $b' = D b / s$
    have the velocities $u' = D u / s$; cones become $|x_t| \le x_n$. Frictionless contacts need no
    case of their own: their tangential rows are zero.
    """

    W: Float[Array, "n n"]
    b: Vectors
    preload: PerContact
    factors: Vectors
    size: Scalar

    def impulse(self, x: Vectors) -> Float[Array, " n"]:
        """Impulses γ of the original problem."""
        return (self.factors * x).reshape(-1) * self.size

    def unknown(self, impulse: Float[Array, " n"]) -> Vectors:
        """x of the given impulses; zero where friction is."""
        gamma = impulse.reshape(self.factors.shape) / self.size
        return jnp.where(self.factors > 0, gamma / jnp.where(self.factors > 0, self.factors, 1), 0)

    def velocity(self, x: Vectors) -> Vectors:
        """u' = W' x + b' (with the preload's share in b')."""
        return (self.W @ x.reshape(-1)).reshape(x.shape) + self.b

    def residual(self, x: Vectors, u: Vectors) -> Scalar:
        """The largest of the errors of `cone_errors`, in the units of this problem (ω = 1)."""
        normal = jnp.minimum(x[:, -1], u[:, -1])
        radius = self.preload + jnp.maximum(x[:, -1], 0)
        tangential = x[:, :-1] - project_to_disc(x[:, :-1] - u[:, :-1], radius)
        return jnp.maximum(jnp.max(jnp.abs(normal)), jnp.max(norm(tangential)))


def unit_problem(
    W: Float[Array, "n n"], b: Float[Array, " n"], mu: PerContact, preload: PerContact
) -> UnitProblem:
    """Scale a friction problem to unit cones; see `UnitProblem`."""
    dim = b.shape[0] // mu.shape[0]
    root = 1 / jnp.sqrt(contact_scale(W, dim))
    factors = root[:, None] * jnp.concatenate(
        [jnp.broadcast_to(mu[:, None], (mu.shape[0], dim - 1)), jnp.ones_like(mu)[:, None]], axis=1
    )
    flat = factors.reshape(-1)
    b = (b * flat).reshape(-1, dim)
    W = flat[:, None] * W * flat[None, :]
    # x_n counts from the preload: its share of the velocity joins b'. Where compression has stopped
    # everything, b is mere rounding, and the preload alone says how large the problem is.
    loaded = preload / root
    pushed = (W.reshape(-1, mu.shape[0], dim)[:, :, -1] @ loaded).reshape(b.shape)
    size = jnp.maximum(jnp.max(jnp.abs(b)), jnp.max(jnp.abs(pushed)))
    size = jnp.where(size > 0, size, 1)
    return UnitProblem(W, (b + pushed) / size, loaded / size, factors, size)
