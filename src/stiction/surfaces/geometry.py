"""Where contacts are: gap, point and frame of each, from the poses of the bodies.

Everything here is a smooth function of poses and time, so that rates come by differentiation:
moving contact points (a rolling ellipse), turning normals and moving supports are exact, with no
term derived by hand.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Scalar
from stiction._base.spatial import cross, rotate
from stiction.mechanism import Pose
from stiction.surfaces.contacts import BallBall, BallField, Contacts, PointPlane, RoundPlane
from stiction.surfaces.supports import HeightField, Planes

# Newton steps to the nearest point of a height field; quadratic from a start on the field.
_FOOT_STEPS = 6


class Places(eqx.Module):
    """Where each contact is. Frames have rows: first tangent, second tangent, normal."""

    gap: Float[Array, "n"]  # > 0 apart [m]
    point: Float[Array, "n 3"]  # of the body, nearest to what it may touch [m]
    frame: Float[Array, "n 3 3"]
    support_velocity: Float[Array, "n 3"]  # of the material that is touched, if it is ground [m/s]


def contact_places(contacts: Contacts, bodies: Pose, t: Scalar) -> Places:
    """The place of every contact, in the order of `contacts.names`."""
    parts = []
    if contacts.point_plane.bodies:
        parts.append(_point_plane(contacts.point_plane, contacts.planes, bodies, t))
    if contacts.round_plane.bodies:
        parts.append(_round_plane(contacts.round_plane, contacts.planes, bodies, t))
    if contacts.field is not None and contacts.ball_field.bodies:
        parts.append(_ball_field(contacts.ball_field, contacts.field, bodies))
    if contacts.ball_ball.bodies:
        parts.append(_ball_ball(contacts.ball_ball, bodies))
    if len(parts) == 1:
        return parts[0]
    return jax.tree.map(lambda *x: jnp.concatenate(x), *parts)


def _point_plane(group: PointPlane, planes: Planes, bodies: Pose, t: Scalar) -> Places:
    at = np.array(group.bodies)
    point = bodies.position[at] + rotate(bodies.rotation[at], group.point)
    return _on_planes(point, np.array(group.planes), planes, t)


def _round_plane(group: RoundPlane, planes: Planes, bodies: Pose, t: Scalar) -> Places:
    """The lowest point of an ellipsoid over a plane with normal n: x - R A² Rᵀ n / |A Rᵀ n|."""
    at, on = np.array(group.bodies), np.array(group.planes)
    R = bodies.rotation[at]
    center = bodies.position[at] + rotate(R, group.center)
    n = planes.rotation[on][:, :, 2]
    # The normal in the frame of the semi-axes.
    local = rotate(jnp.swapaxes(group.rotation, 1, 2), rotate(jnp.swapaxes(R, 1, 2), n))
    scaled = group.semi_axes * local
    reach = jnp.sqrt(jnp.sum(scaled * scaled, axis=-1, keepdims=True))
    lowest = -group.semi_axes * scaled / reach
    point = center + rotate(R, rotate(group.rotation, lowest))
    return _on_planes(point, on, planes, t)


def _on_planes(point: Float[Array, "n 3"], on: np.ndarray, planes: Planes, t: Scalar) -> Places:
    origin = (planes.position + planes.motion.shift(t))[on]
    # Rows of a contact's frame are the columns of the plane's rotation.
    frame = jnp.swapaxes(planes.rotation[on], 1, 2)
    gap = jnp.sum(frame[:, 2] * (point - origin), axis=-1)
    travel = jax.jvp(planes.motion.shift, (t,), (jnp.ones_like(t),))[1]
    belt = planes.motion.belt
    run = planes.rotation[:, :, 0] * belt[:, :1] + planes.rotation[:, :, 1] * belt[:, 1:]
    return Places(gap, point, frame, (travel + run)[on])


def _ball_field(group: BallField, field: HeightField, bodies: Pose) -> Places:
    at = np.array(group.bodies)
    center = bodies.position[at] + rotate(bodies.rotation[at], group.center)
    foot = jax.vmap(lambda x: _foot(field, x))(center)
    _, slope, _ = jax.vmap(field.shape)(foot[:, :2])
    up = jnp.concatenate([-slope, jnp.ones_like(slope[:, :1])], axis=-1)
    n = up / jnp.linalg.norm(up, axis=-1, keepdims=True)
    gap = jnp.sum(n * (center - foot), axis=-1) - group.radius
    point = center - group.radius[:, None] * n
    return Places(gap, point, frames_of(n), jnp.zeros_like(point))


def _foot(field: HeightField, x: Float[Array, "3"]) -> Float[Array, "3"]:
    """The nearest point of the ground, by Newton's method on the squared distance from below x."""

    def step(_, xy):
        h, slope, second = field.shape(xy)
        below = h - x[2]
        g = xy - x[:2] + below * slope
        H = jnp.eye(2, dtype=xy.dtype) + slope[:, None] * slope[None, :] + below * second
        # Where the distance is not convex (far above a hollow) a plain gradient step is safe.
        det = H[0, 0] * H[1, 1] - H[0, 1] * H[1, 0]
        convex = (H[0, 0] > 0) & (det > 0)
        newton = jnp.stack([H[1, 1] * g[0] - H[0, 1] * g[1], H[0, 0] * g[1] - H[1, 0] * g[0]])
        return xy - jnp.where(convex, newton / jnp.where(convex, det, 1.0), 0.1 * g)

    # Once it has converged, two more steps carry exact first and second derivatives.
    search = jax.lax.stop_gradient(jax.lax.fori_loop(0, _FOOT_STEPS, step, x[:2]))
    xy = step(0, step(0, search))
    return jnp.concatenate([xy, field.shape(xy)[0][None]])


def _ball_ball(group: BallBall, bodies: Pose) -> Places:
    at = np.array(group.bodies)
    centers = [
        bodies.position[at[:, k]] + rotate(bodies.rotation[at[:, k]], group.center[:, k])
        for k in (0, 1)
    ]
    apart = centers[0] - centers[1]
    distance = jnp.linalg.norm(apart, axis=-1)
    n = apart / distance[:, None]
    gap = distance - group.radius[:, 0] - group.radius[:, 1]
    point = centers[0] - group.radius[:, :1] * n
    return Places(gap, point, frames_of(n), jnp.zeros_like(point))


def frames_of(n: Float[Array, "n 3"]) -> Float[Array, "n 3 3"]:
    """Frames with given normals: first tangent y × n (x for a floor), z × n if n is along y."""
    along_y = jnp.abs(n[:, 1:2]) > 0.9
    y, z = jnp.zeros_like(n).at[:, 1].set(1), jnp.zeros_like(n).at[:, 2].set(1)
    t1 = cross(jnp.where(along_y, z, y), n)
    t1 = t1 / jnp.linalg.norm(t1, axis=-1, keepdims=True)
    return jnp.stack([t1, cross(n, t1), n], axis=1)
