r"""What motors can do to one point of a mechanism while it stands.

symbol  meaning                                                            shape
τ       efforts of the motors, within τ_lower ≤ τ ≤ τ_upper                (nu,)
f       forces of the stance contacts, tangents then normal of each        (m,)
a       acceleration of the point that is to be moved (the task)           (k,)
B       joint forces are Bᵀ τ                                              (nu, nv)

With $M \dot v = B^T \tau + J^T f + k$ (k: springs, dampers, gravity, velocities) everything is
affine in τ and f:

$$ \dot u = W f + C \tau + \dot u_0 = 0 , \qquad a = P f + Q \tau + a_0 . $$

The first says that stance contacts neither move nor slip. In the plane the task has two rows, x and
z; in space three.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction._base.linear import solve_lower, solve_redundant
from stiction.engines.contact_dynamics import contact_dynamics
from stiction.mechanism import (
    Mechanism,
    actuator_effort,
    center_of_mass,
    momentum,
    passive_force,
    point_bias_acceleration,
    point_jacobian,
    point_position,
    rate,
    total_mass,
)
from stiction.surfaces import Contacts, find_contacts, model_planes, planes

CENTER_OF_MASS = -1


class Motors(eqx.Module):
    """What drives the joints: the actuators of a model, or its joints' effort limits (URDF)."""

    moment: Float[Array, "nu nv"]  # joint forces = momentᵀ τ
    joint_range: Float[Array, "nu 2"]  # ±inf where only the actuator's own limits count
    names: tuple[str, ...] = eqx.field(static=True)
    are_actuators: bool = eqx.field(static=True)


class Stance(eqx.Module):
    """A mechanism, the contacts on which it stands, and the point that is to be accelerated."""

    mechanism: Mechanism  # what stands
    contacts: Contacts  # all of them touch and stick
    mu: Float[Array, "n"]  # coefficient of static friction of each contact
    motors: Motors  # what drives it
    offset: Float[Array, "3"]  # the point in the frame of its body [m]
    # the body of the point, or `CENTER_OF_MASS` for that of the whole mechanism
    body: int = eqx.field(static=True)

    @property
    def rows(self) -> np.ndarray:
        """The rows of the world that the task has: x and z in the plane, all in space."""
        return np.array([0, 2]) if self.contacts.planar else np.arange(3)

    @property
    def is_determined(self) -> bool:
        """Whether an acceleration leaves no choice of efforts: as many motors as rows."""
        return len(self.motors.names) == len(self.rows)

    def position(self, q: Float[Array, "nq"]) -> Float[Array, "3"]:
        """Where the point is [m]."""
        if self.body == CENTER_OF_MASS:
            return center_of_mass(self.mechanism, q)
        return point_position(self.mechanism, q, self.body, self.offset)

    def velocity(self, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> Float[Array, "3"]:
        """How fast the point moves [m/s]."""
        return self.jacobian(q) @ v

    def jacobian(self, q: Float[Array, "nq"]) -> Float[Array, "3 nv"]:
        """The matrix J with (velocity of the point) = J v."""
        if self.body == CENTER_OF_MASS:
            still = jnp.zeros(self.mechanism.nv, q.dtype)
            linear = jax.jacfwd(lambda v: momentum(self.mechanism, q, v)[0])(still)
            return linear / total_mass(self.mechanism)
        return point_jacobian(self.mechanism, q, self.body, self.offset)

    def bias(self, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> Float[Array, "3"]:
        """The acceleration of the point when v does not change [m/s²]."""
        if self.body == CENTER_OF_MASS:
            moving = rate(self.mechanism, q, v)
            return jax.jvp(lambda q: self.velocity(q, v), (q,), (moving,))[1]
        return point_bias_acceleration(self.mechanism, q, v, self.body, self.offset)


class Maps(eqx.Module):
    """Contact and task accelerations as affine functions of forces and efforts, at a state."""

    W: Float[Array, "m m"]
    C: Float[Array, "m nu"]
    u0: Float[Array, "m"]
    P: Float[Array, "k m"]
    Q: Float[Array, "k nu"]
    a0: Float[Array, "k"]
    lower: Float[Array, "nu"]
    upper: Float[Array, "nu"]
    gap: Float[Array, "n"]  # of the stance contacts [m]

    def without_forces(self) -> "Reduced":
        """The forces that keep the contacts at rest put in: a and f by τ alone.

        Where contacts are redundant the accelerations are unique; of the forces the least is taken.
        """
        right = -jnp.concatenate([self.u0[:, None], self.C], axis=1)
        f = solve_redundant(self.W, right, jnp.max(jnp.diag(self.W)))
        f0, F = f[:, 0], f[:, 1:]
        return Reduced(self.a0 + self.P @ f0, self.Q + self.P @ F, f0, F)


class Reduced(eqx.Module):
    """a = a0 + D τ and f = f0 + F τ."""

    a0: Float[Array, "k"]
    D: Float[Array, "k nu"]
    f0: Float[Array, "m"]
    F: Float[Array, "m nu"]


def make_stance(
    mechanism: Mechanism,
    *,
    contacts: Contacts | Sequence[str] | None = None,
    mu: float | Sequence[float] | Float[Array, "n"] = 0.5,
    point: str = "",
    offset: Sequence[float] = (0.0, 0.0, 0.0),
) -> Stance:
    """A stance.

    Args:
        mechanism: The mechanism that stands.
        contacts: The contacts that it stands on, or the names of their sites, geoms or bodies (on
            the plane z = 0 if the model has no ground); by default all that may touch the ground.
        mu: Coefficient of static friction, one or one for each contact.
        point: A body, a site, or `com` for the centre of mass of all; by default the first body.
        offset: Place of the point in the frame of its body [m].
    """
    if not isinstance(contacts, Contacts):
        ground = model_planes(mechanism)
        if contacts is not None and not ground.names:
            ground = planes([np.zeros(3)], [np.eye(3)], ["ground"])
        names, contacts = contacts, None
        contacts = find_contacts(mechanism, points=names, ground=ground, pairs=False)
    if contacts is None:
        raise InputError("nothing in this model can touch the ground; name sites or geoms as feet")
    n = contacts.count
    friction = np.asarray(mu, float)
    if friction.shape not in ((), (n,)) or not np.all(friction >= 0):
        raise InputError(f"`mu` must be one number or {n}, none negative, got {mu}")
    body, place = _point(mechanism, point)
    return Stance(
        mechanism,
        contacts,
        jnp.asarray(np.broadcast_to(friction, (n,)).copy()),
        find_motors(mechanism),
        jnp.asarray(place + np.asarray(offset, float)),
        body,
    )


def find_motors(mechanism: Mechanism) -> Motors:
    """The motors of a mechanism: its actuators; of a model without any, its joints' effort limits.

    A URDF names no actuators, but every joint with a limit of effort is driven.
    """
    limits = np.asarray(mechanism.actuators.joint_range)
    if mechanism.nu:
        free = jnp.asarray(np.tile([-np.inf, np.inf], (mechanism.nu, 1)))
        return Motors(mechanism.actuators.moment, free, mechanism.actuators.names, True)
    driven = np.flatnonzero(np.isfinite(limits).all(axis=1))
    if not driven.size:
        raise InputError(
            "the mechanism has no actuators and no effort limits: nothing can accelerate it; add"
            " motors to the model"
        )
    names = tuple(mechanism.tree.freedom_names[i] for i in driven)
    moment = jnp.asarray(np.eye(mechanism.nv)[driven])
    return Motors(moment, jnp.asarray(limits[driven]), names, False)


def effort_range(
    stance: Stance, q: Float[Array, "nq"], v: Float[Array, "nv"]
) -> tuple[Float[Array, "nu"], Float[Array, "nu"]]:
    """The least and the largest effort of each motor at a state [N or N·m]."""
    m = stance.mechanism
    if not stance.motors.are_actuators:
        return stance.motors.joint_range[:, 0], stance.motors.joint_range[:, 1]
    ends = m.actuators.control_range
    one, two = (actuator_effort(m, q, v, ends[:, i]) for i in (0, 1))
    return jnp.minimum(one, two), jnp.maximum(one, two)


def stance_maps(stance: Stance, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> Maps:
    """How efforts and contact forces accelerate the contacts and the point."""
    m, rows = stance.mechanism, stance.rows
    zero = jnp.zeros((), q.dtype)
    d = contact_dynamics(m, stance.contacts, q, v, zero, passive_force(m, q, v))
    J = stance.jacobian(q)[rows]
    both = solve_lower(d.L, jnp.concatenate([stance.motors.moment.T, J.T], axis=1))
    Y_B, Y_P = both[:, : len(stance.motors.names)], both[:, len(stance.motors.names) :]
    lower, upper = effort_range(stance, q, v)
    return Maps(
        W=d.W,
        C=d.Y.T @ Y_B,
        u0=d.a0,
        P=Y_P.T @ d.Y,
        Q=Y_P.T @ Y_B,
        a0=J @ d.free + stance.bias(q, v)[rows],
        lower=lower,
        upper=upper,
        gap=d.contacts.gap,
    )


def _point(mechanism: Mechanism, name: str) -> tuple[int, np.ndarray]:
    """The body of a point and its place there."""
    tree, sites = mechanism.tree, mechanism.sites
    moving = [i for i in range(mechanism.n_bodies) if tree.body_links[i] != 0]
    if not moving:
        raise InputError("nothing in the mechanism can move")
    if not name:
        return moving[0], np.zeros(3)
    if name == "com":
        return CENTER_OF_MASS, np.zeros(3)
    if name in sites.names:
        i = sites.names.index(name)
        return sites.bodies[i], np.array(sites.position[i])
    return mechanism.body(name), np.zeros(3)
