r"""The six functional coordinates of a contact, and reactions that are forces and torques.

rodic (4)-(17): where a link is relative to what it touches, as three distances and three angles,

$$ g = (x, y, z, \varphi, \theta, \psi), \qquad \dot g = J \dot Q + (\text{support's part}),
   \qquad \ddot g = J \ddot Q + A . $$

A contact holds some of them at zero, $g^c$; the rest, $g^f$, are free. Along each that is held acts
one reaction, a force for a distance and a torque for an angle.

symbol  name       meaning
g       value      distances in the support's axes [m]; roll, pitch and yaw about them [rad]
ġ       rate       [m/s, rad/s]
J       jacobian   J_g,TOT of (11), (12): (6, nv)
A       bias       A_g,TOT of (11), (12): g̈ = J v̇ + A
F_r     reaction   of the held coordinates [N, N·m]

The support may be the world, a body of the same mechanism (a trolley, a seesaw, a boat that
floats), or a frame whose motion is prescribed, turning too. A support that is a body of its own
feels the reactions: its rows of J are part of the same matrix.

Departure: the document's (17), $J \Delta\dot Q = 0$, would let the held coordinates keep the speed
with which they came. Taken here is what its text says, that the link complies with the object:
$\dot g^c = 0$ after the impact, so $J \Delta \dot Q = -\dot g^c$.
"""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Scalar, ScalarLike
from stiction._base.compile import quick_jit
from stiction._base.errors import unknown
from stiction._base.linear import solve_redundant
from stiction.mechanism import (
    Mechanism,
    Pose,
    bias_force,
    mass_matrix,
    rate,
    solve_mass_matrix,
    world_poses,
)

NAMES = ("x", "y", "z", "roll", "pitch", "yaw")


class Frame(eqx.Module):
    """A point and axes, in those of a body."""

    position: Float[Array, "3"]
    rotation: Float[Array, "3 3"]


class FunctionalCoordinates(eqx.Module):
    """Where a link is relative to a support, and how that changes."""

    value: Float[Array, "6"]
    rate: Float[Array, "6"]
    jacobian: Float[Array, "6 nv"]
    bias: Float[Array, "6"]


class HeldContact(eqx.Module):
    """The motion of a mechanism whose contact holds some coordinates."""

    acceleration: Float[Array, "nv"]
    reaction: Float[Array, "6"]  # zero along what is free


class HeldImpact(eqx.Module):
    """An impact after which a contact holds some coordinates."""

    velocity: Float[Array, "nv"]
    impulse: Float[Array, "6"]  # [N·s, N·m·s]


class FunctionalContact(eqx.Module):
    """A link, what it touches, and where on both."""

    link: int = eqx.field(static=True)  # the body that comes into contact
    support: int = eqx.field(static=True)  # the body that is touched; 0 is the world
    place: Frame  # point and axes on the link
    ground: Frame  # point and axes on the support
    # pose of a frame in the support's, as a function of time; for supports that move as prescribed
    motion: Callable[[Scalar], Frame] | None = eqx.field(static=True, default=None)

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        link: str,
        support: str = "world",
        *,
        point: Sequence[float] = (0.0, 0.0, 0.0),
        ground: Sequence[float] = (0.0, 0.0, 0.0),
        motion: Callable[[Scalar], Frame] | None = None,
    ) -> "FunctionalContact":
        """By the names of bodies.

        Args:
            mechanism: Has the link, and the support if that is a body.
            link: Its body.
            support: The body that is touched.
            point: On the link, in its axes [m].
            ground: Where on the support the coordinates are zero, in its axes [m].
            motion: Of a prescribed frame in the support's.
        """
        names = ("world", *mechanism.tree.body_names[1:])
        for which, name in (("link", link), ("support", support)):
            if name not in names:
                raise unknown(which, name, names)
        eye = jnp.eye(3)
        return cls(
            names.index(link), names.index(support), Frame(jnp.asarray(point, float), eye),
            Frame(jnp.asarray(ground, float), eye), motion,
        )  # fmt: skip

    def value(self, mechanism: Mechanism, q: Float[Array, "nq"], t: Scalar) -> Float[Array, "6"]:
        """g(q, t), (8)."""
        poses = world_poses(mechanism, q)
        p, R = _placed(poses, self.link, self.place)
        p_b, R_b = _placed(poses, self.support, self.ground)
        if self.motion is not None:
            moved = self.motion(t)
            p_b, R_b = p_b + R_b @ moved.position, R_b @ moved.rotation
        return jnp.concatenate([R_b.T @ (p - p_b), roll_pitch_yaw(R_b.T @ R)])

    @quick_jit
    def at(
        self,
        mechanism: Mechanism,
        q: Float[Array, "nq"],
        v: Float[Array, "nv"],
        t: ScalarLike = 0.0,
    ) -> FunctionalCoordinates:
        """g, ġ, J and A at a state, (9)-(12)."""
        time = jnp.asarray(t, q.dtype)

        def rates(q: Array, v: Array, t: Scalar) -> Array:
            along = (rate(mechanism, q, v), jnp.ones_like(t))
            return jax.jvp(lambda q, t: self.value(mechanism, q, t), (q, t), along)[1]

        now = (q, v, time)
        J = jax.jacfwd(rates, argnums=1)(*now)
        still = (rate(mechanism, q, v), jnp.zeros_like(v), jnp.ones_like(time))
        g_dot, bias = jax.jvp(rates, now, still)
        return FunctionalCoordinates(self.value(mechanism, q, time), g_dot, J, bias)


@quick_jit
def held_contact(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    force: Float[Array, "nv"],
    contact: FunctionalCoordinates,
    held: Sequence[str] = NAMES,
) -> HeldContact:
    r"""Accelerations and reactions while a contact lasts, (13), (14).

    $H \ddot Q + h = \tau + J_c^T F_r$ and $J_c \ddot Q + A_c = 0$. Of redundant reactions the
    least ones.

    Args:
        mechanism: What moves.
        q: Configuration.
        v: Velocity, with the held coordinates at rest.
        force: τ, joint forces.
        contact: From `FunctionalContact.at`.
        held: Names of the coordinates that the contact holds.
    """
    M, rows = mass_matrix(mechanism, q), _rows(held)
    J, A = contact.jacobian[rows], contact.bias[rows]
    free = solve_mass_matrix(M, force - bias_force(mechanism, q, v))
    F = _reaction(M, J, -(J @ free + A))
    return HeldContact(free + solve_mass_matrix(M, J.T @ F), jnp.zeros(6, F.dtype).at[rows].set(F))


@quick_jit
def held_impact(
    mechanism: Mechanism,
    q: Float[Array, "nq"],
    v: Float[Array, "nv"],
    contact: FunctionalCoordinates,
    held: Sequence[str] = NAMES,
) -> HeldImpact:
    r"""Velocities after an impact that brings some coordinates to rest, (15), (16).

    $H \Delta \dot Q = J_c^T P$ with $\dot g^c = 0$ afterwards (arguments as above).
    """
    M, rows = mass_matrix(mechanism, q), _rows(held)
    J = contact.jacobian[rows]
    P = _reaction(M, J, -contact.rate[rows])
    return HeldImpact(v + solve_mass_matrix(M, J.T @ P), jnp.zeros(6, P.dtype).at[rows].set(P))


def roll_pitch_yaw(R: Float[Array, "3 3"]) -> Float[Array, "3"]:
    """Angles with R = R_z(ψ) R_y(θ) R_x(φ)."""
    pitch = jnp.arctan2(-R[2, 0], jnp.sqrt(R[0, 0] ** 2 + R[1, 0] ** 2))
    return jnp.stack([jnp.arctan2(R[2, 1], R[2, 2]), pitch, jnp.arctan2(R[1, 0], R[0, 0])])


def _placed(poses: Pose, body: int, place: Frame) -> tuple[Array, Array]:
    R = poses.rotation[body]
    return poses.position[body] + R @ place.position, R @ place.rotation


def _rows(held: Sequence[str]) -> np.ndarray:
    for name in held:
        if name not in NAMES:
            raise unknown("held coordinate", name, NAMES)
    return np.array([NAMES.index(name) for name in held])


def _reaction(M: Array, J: Array, wanted: Array) -> Array:
    """F with J M⁻¹ Jᵀ F = wanted."""
    W = J @ jax.vmap(lambda row: solve_mass_matrix(M, row), out_axes=1)(J)
    return solve_redundant(W, wanted, jnp.max(jnp.diag(W)))
