"""What carries a body: ground that stands or moves as it is told, or a platform that is a body of
its own and goes where it is pushed.

A platform is a body that something else touches, and that no actuator moves, neither itself nor
anything on its tree. It may shift but not turn: a body on its way counts from where it is.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Scalar
from stiction._base.errors import InputError
from stiction.mechanism import (
    SLIDE,
    LinkKinematics,
    Mechanism,
    as_mask,
    body_poses,
    link_kinematics,
)
from stiction.surfaces import Contacts


def driven_freedoms(mechanism: Mechanism) -> np.ndarray:
    """Which freedoms an actuator moves, as a mask."""
    return np.any(np.asarray(mechanism.actuators.moment) != 0, axis=0)


def platforms(mechanism: Mechanism, contacts: Contacts | None) -> tuple[int, ...]:
    """The bodies that carry, in the order of their numbers."""
    if contacts is None:
        return ()
    moves = np.asarray(mechanism.tree.moves_body, bool)
    driven = moves[:, driven_freedoms(mechanism)].any(axis=1)
    of_the_driven = moves[driven].any(axis=0)
    found = {int(b) for b in contacts.bodies[:, 1] if b}
    return tuple(
        sorted(b for b in found if moves[b].any() and not (moves[b] & of_the_driven).any())
    )


def check_platforms(mechanism: Mechanism, bodies: tuple[int, ...]) -> None:
    """A body on its way goes with one platform, which does not turn."""
    tree = mechanism.tree
    if len(bodies) > 1:
        names = ", ".join(tree.body_names[b] for b in bodies)
        raise InputError(f"`track.file` leads over one platform; the model has {names}")
    turns = {int(d) for j, d in zip(tree.joint_types, tree.v_address, strict=True) if j != SLIDE}
    for b in bodies:
        if turns & set(np.flatnonzero(tree.moves_body[b]).tolist()):
            raise InputError(
                f"platform `{tree.body_names[b]}` may turn, and `track.file` counts from one that"
                " only shifts; give it slide joints"
            )


def without_platforms(mechanism: Mechanism, bodies: tuple[int, ...]) -> Mechanism:
    """The same mechanism, in which platforms weigh nothing: what is left is who stands on them."""
    if not bodies:
        return mechanism
    where = lambda m: (m.bodies.mass, m.bodies.inertia)  # noqa: E731
    mass, inertia = where(mechanism)
    own = as_mask(own_bodies(mechanism, bodies), mass)
    return eqx.tree_at(where, mechanism, (mass * own, inertia * own[:, None, None]))


def own_bodies(mechanism: Mechanism, bodies: tuple[int, ...]) -> np.ndarray:
    """Every body but the platforms, as a mask."""
    return np.array([b not in bodies for b in range(len(mechanism.tree.body_names))])


def carried_by_ground(contacts: Contacts | None, t: Scalar) -> Float[Array, "3 3"]:
    """How far planes have come since the start, how fast, and their acceleration."""
    planes = None if contacts is None else contacts.planes
    if planes is None or not planes.names:
        return jnp.zeros((3, 3), t.dtype)

    def moved(t):
        frame, belt = planes.rotation[0], planes.motion.belt[0]
        return planes.motion.shift(t)[0] + t * (frame[:, :2] @ belt)

    def rate(t):
        return jax.jvp(moved, (t,), (jnp.ones_like(t),))

    (x, x_dot), (_, x_ddot) = jax.jvp(rate, (t,), (jnp.ones_like(t),))
    return jnp.stack([x, x_dot, x_ddot])


def carried_by_platform(
    mechanism: Mechanism, body: int, state: LinkKinematics, v: Array
) -> Float[Array, "3 3"]:
    """How far a platform has come from where the model puts it, and how fast; what accelerates it
    is not known from the state.
    """
    start = body_poses(mechanism, link_kinematics(mechanism, mechanism.q_reference).links)
    x = body_poses(mechanism, state.links).position[body] - start.position[body]
    freedoms = np.flatnonzero(mechanism.tree.moves_body[body])
    return jnp.stack([x, v[freedoms] @ state.S[freedoms, 3:], jnp.zeros_like(x)])
