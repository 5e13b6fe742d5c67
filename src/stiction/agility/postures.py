"""Postures: what a mechanism may stand in, and how to find such.

A posture is given by ξ, its distance from the mechanism's reference configuration: q = q_ref ⊕ ξ,
with rotation vectors for bodies that turn freely. Its limits (flickinger (6.9)) are those of the
joints; a free body may turn by at most `max_tilt` about each axis, and stays where it is over the
ground. The contacts touch (6.10), every joint and the centre of every body is above the ground
(6.11).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Bool, Float, Scalar
from stiction._base.errors import InputError
from stiction._base.spatial import CORNERS, rotate
from stiction.agility.stance import Stance
from stiction.mechanism import (
    BALL,
    FREE,
    SLIDE,
    Tree,
    add_velocity,
    as_mask,
    difference,
    link_kinematics,
    world_poses,
)
from stiction.surfaces import contact_places

_NEWTON = 8  # steps to the ground; quadratic, and exact at once where the whole can be moved
_RELUCTANCE = 1e-4  # of joints to turn rather than the whole to move
MAX_TILT = np.pi / 6  # as far as the optimised posture of flickinger Table 6.2 leans


class PostureLimits(eqx.Module):
    """Bounds on ξ (6.9); equal ones hold an entry fixed."""

    lower: Float[Array, "nv"]
    upper: Float[Array, "nv"]
    varied: tuple[int, ...] = eqx.field(static=True)  # the entries that may change
    bounded_below: tuple[int, ...] = eqx.field(static=True)  # of them, those with a lower bound
    bounded_above: tuple[int, ...] = eqx.field(static=True)


def posture_limits(stance: Stance, *, max_tilt: float = MAX_TILT) -> PostureLimits:
    """The limits of the joints, and of the turning of free bodies [rad]."""
    m = stance.mechanism
    tree = m.tree
    lower, upper = np.full(m.nv, -np.inf), np.full(m.nv, np.inf)
    reference, ranges = np.asarray(m.q_reference), np.asarray(m.joints.range)
    for joint, kind in enumerate(tree.joint_types):
        at = tree.v_address[joint]
        if kind in (FREE, BALL):
            turns = slice(at + 3, at + 6) if kind == FREE else slice(at, at + 3)
            lower[turns], upper[turns] = -max_tilt, max_tilt
        else:
            lower[at], upper[at] = ranges[joint] - reference[tree.q_address[joint]]
    held = _held(tree)
    lower[held] = upper[held] = 0.0
    return PostureLimits(
        jnp.asarray(lower),
        jnp.asarray(upper),
        varied=tuple(np.flatnonzero(~held).tolist()),
        bounded_below=tuple(np.flatnonzero(~held & np.isfinite(lower)).tolist()),
        bounded_above=tuple(np.flatnonzero(~held & np.isfinite(upper)).tolist()),
    )


def _turns(tree: Tree) -> np.ndarray:
    """Freedoms that are not translations."""
    turns = np.ones(tree.nv, bool)
    for joint, kind in enumerate(tree.joint_types):
        at = tree.v_address[joint]
        if kind in (FREE, SLIDE):
            turns[at : at + (3 if kind == FREE else 1)] = False
    return turns


def _held(tree: Tree) -> np.ndarray:
    """Freedoms that a posture leaves alone: where over the ground a free body is."""
    held = np.zeros(tree.nv, bool)
    for joint in tree.joints_of_type(FREE):
        held[tree.v_address[joint] + np.arange(2)] = True
    return held


def configuration(stance: Stance, xi: Float[Array, "nv"]) -> Float[Array, "nq"]:
    """q_ref ⊕ ξ."""
    return add_velocity(stance.mechanism, stance.mechanism.q_reference, xi)


def coordinates(stance: Stance, q: Float[Array, "nq"]) -> Float[Array, "nv"]:
    """ξ of a configuration."""
    return difference(stance.mechanism, stance.mechanism.q_reference, q)


def stance_gaps(stance: Stance, q: Float[Array, "nq"]) -> Float[Array, "n"]:
    """Heights of the contact points over what they touch (6.10) [m]."""
    poses = world_poses(stance.mechanism, q)
    return contact_places(stance.contacts, poses, jnp.zeros((), q.dtype)).gap


def clearances(stance: Stance, q: Float[Array, "nq"]) -> Float[Array, "h"]:
    """Heights of all joints, body centres and corners of boxes over the ground's planes [m].

    (6.11) has joints and centres; without its corners a body could stand in the ground.
    """
    m, planes = stance.mechanism, stance.contacts.planes
    poses = world_poses(m, q)
    moving = np.flatnonzero([link != 0 for link in m.tree.body_links])
    R, p = poses.rotation[moving], poses.position[moving]
    joints = link_kinematics(m, q).links
    anchors = joints.position[1:] + rotate(joints.rotation[1:], m.joints.anchor)
    points = [p + rotate(R, m.bodies.center[moving]), anchors]
    boxes = np.flatnonzero([kind == "box" for kind in m.shapes.kinds])
    boxes = boxes[[m.tree.body_links[m.shapes.bodies[i]] != 0 for i in boxes]]
    if boxes.size:
        on = np.array(m.shapes.bodies)[boxes]
        local = m.shapes.size[boxes][:, None, :] * CORNERS[None]
        local = jnp.einsum("bij,bcj->bci", m.shapes.rotation[boxes], local)
        local = local + m.shapes.position[boxes][:, None, :]
        world = jnp.einsum("bij,bcj->bci", poses.rotation[on], local)
        points.append((world + poses.position[on][:, None, :]).reshape(-1, 3))
    points = jnp.concatenate(points)
    normals = planes.rotation[:, :, 2]
    return (points @ normals.T - jnp.sum(planes.position * normals, axis=1)[None, :]).reshape(-1)


def place(stance: Stance, q: Float[Array, "nq"]) -> tuple[Float[Array, "nq"], Scalar]:
    """The posture put on the ground, and the largest gap that is left [m].

    One contact is brought to the ground by moving the whole straight up or down; where several
    must touch at once, or nothing can be moved straight, the rest is made up by turning joints, as
    little as possible.
    """
    m = stance.mechanism
    weight = as_mask(~_held(m.tree), q) * jnp.where(_turns(m.tree), _RELUCTANCE, 1.0)
    free = m.tree.joints_of_type(FREE)
    if free.size:
        height = m.tree.q_address[free[0]] + 2
        q = q.at[height].add(-jnp.mean(stance_gaps(stance, q)))
    straight = bool(free.size) and stance.contacts.count == 1

    def step(_: Array, q: Array) -> Array:
        def gaps(dv: Array) -> Array:
            return stance_gaps(stance, add_velocity(m, q, dv))

        J = jax.jacfwd(gaps)(jnp.zeros(m.nv, q.dtype)) * weight[None, :]
        gap = stance_gaps(stance, q)
        K = J @ J.T + 1e-15 * jnp.eye(gap.size, dtype=q.dtype)
        return add_velocity(m, q, -weight * (J.T @ jnp.linalg.solve(K, gap)))

    q = q if straight else jax.lax.fori_loop(0, _NEWTON, step, q)
    return q, jnp.max(jnp.abs(stance_gaps(stance, q)))


def stands(stance: Stance, limits: PostureLimits, q: Float[Array, "nq"]) -> Bool[Array, ""]:
    """Whether a posture touches, is above the ground, and is within its limits."""
    xi = coordinates(stance, q)
    touches = jnp.max(jnp.abs(stance_gaps(stance, q))) <= 1e-6
    within = jnp.all((xi >= limits.lower - 1e-9) & (xi <= limits.upper + 1e-9))
    return touches & within & jnp.all(clearances(stance, q) >= 0)


def random_posture(stance: Stance, limits: PostureLimits, key: Array) -> Float[Array, "nq"]:
    """A posture drawn evenly within its limits (±1 where there are none), put on the ground."""
    low = jnp.where(jnp.isfinite(limits.lower), limits.lower, -1.0)
    high = jnp.where(jnp.isfinite(limits.upper), limits.upper, 1.0)
    xi = low + (high - low) * jax.random.uniform(key, low.shape, low.dtype)
    return place(stance, configuration(stance, xi))[0]


def check_posture(stance: Stance, q: Float[Array, "nq"]) -> None:
    """Raise an `InputError` unless a posture touches the ground and is nowhere below it."""
    gaps = np.asarray(stance_gaps(stance, q))
    if not np.all(np.abs(gaps) <= 1e-6):
        worst = int(np.argmax(np.abs(gaps)))
        raise InputError(
            f"`posture` must touch the ground with every stance contact, but"
            f" '{stance.contacts.names[worst]}' is {gaps[worst]:.4g} m above it; choose other"
            " contacts or another posture"
        )
    heights = np.asarray(clearances(stance, q))
    if heights.size and heights.min() < 0:
        raise InputError(
            "`posture` must have every joint and body above the ground, but one lies"
            f" {-heights.min():.4g} m below it; bend the joints otherwise"
        )
