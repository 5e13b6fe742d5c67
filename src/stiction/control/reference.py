"""Motions to follow: of hinges and slides alone, or of a whole body on its way over the ground."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float, Scalar
from stiction._base.errors import InputError
from stiction.control.support import check_platforms, platforms, without_platforms
from stiction.mechanism import (
    Mechanism,
    body_poses,
    center_of_mass,
    link_kinematics,
    momentum,
    normalize,
    scalar_entries,
    total_mass,
    velocity_of_rate,
)
from stiction.surfaces import Contacts, contact_places

_SMOOTH = 0.03  # [s]: over which forces that a motion needs are averaged; landings are jumps


class Reference(eqx.Module):
    """A motion of hinges and slides: cubic splines in time, held before and after."""

    curve: diffrax.CubicInterpolation  # of every hinge and slide, in the order of the mechanism

    def __call__(self, t: Scalar) -> tuple[Float[Array, "n"], Float[Array, "n"], Float[Array, "n"]]:
        """Position, velocity and acceleration at t [s]."""
        return _on(self.curve, t)


class WayPoint(NamedTuple):
    """A whole body at an instant of its way."""

    q: Float[Array, "nq"]
    v: Float[Array, "nv"]
    a: Float[Array, "nv"]
    point: Float[Array, "n 3"]  # of what may touch [m]
    point_rate: Float[Array, "n 3"]
    point_bend: Float[Array, "n 3"]
    gap: Float[Array, "n"]
    center: Float[Array, "3"]  # of mass [m]
    center_rate: Float[Array, "3"]
    pressure: Float[Array, "3"]  # where the ground must push [m]
    lift: Scalar  # how hard: its force upwards, of a unit of mass [m/s²]


class Way(eqx.Module):
    """A motion of the whole body: splines of all coordinates, and of what follows from them."""

    coordinates: diffrax.CubicInterpolation  # q
    # points and gaps of contacts, centre of mass, point of pressure
    places: diffrax.CubicInterpolation

    def at(self, mechanism: Mechanism, t: Scalar) -> WayPoint:
        """Everything at t [s]; before and after the motion it stands still."""

        def velocity(t):
            q, q_dot, _ = _on(self.coordinates, t)
            q = normalize(mechanism, q)
            return velocity_of_rate(mechanism, q, q_dot), q

        v, a, q = jax.jvp(velocity, (t,), (jnp.ones_like(t),), has_aux=True)
        x, x_dot, x_ddot = _on(self.places, t)
        n = (len(x) - 7) // 4
        point, rate, bend = (y[: 3 * n].reshape(n, 3) for y in (x, x_dot, x_ddot))
        center, center_rate = (y[4 * n : 4 * n + 3] for y in (x, x_dot))
        pressure, lift = x[4 * n + 3 : 4 * n + 6], x[-1]
        gap = x[3 * n : 4 * n]
        return WayPoint(q, v, a, point, rate, bend, gap, center, center_rate, pressure, lift)

    def gaps(self, t: Scalar) -> Float[Array, "n"]:
        """Of contacts at another time."""
        x = _on(self.places, t)[0]
        n = (len(x) - 7) // 4
        return x[3 * n : 4 * n]


def _on(curve: diffrax.CubicInterpolation, t: Scalar) -> tuple[Array, Array, Array]:
    first, last = curve.ts[0], curve.ts[-1]
    inside = jnp.clip(t, first, last)
    moving = ((t >= first) & (t < last)).astype(t.dtype)
    speed, change = jax.jvp(curve.derivative, (inside,), (jnp.ones_like(t),))
    return curve.evaluate(inside), moving * speed, moving * change


def make_reference(
    time: Sequence[float] | np.ndarray, values: np.ndarray, *, at_rest: bool = True
) -> Reference:
    """Splines through values at given times, twice differentiable.

    Args:
        time: When [s], increasing. One time alone is a posture that is held.
        values: Of hinges and slides, in the order of the mechanism [rad, m]. Shape (n_times, n).
        at_rest: Whether the motion begins and ends at rest; otherwise as the values go on.
    """
    return Reference(_splines(time, values, at_rest))


def _splines(time: Any, values: np.ndarray, at_rest: bool) -> diffrax.CubicInterpolation:
    from scipy.interpolate import CubicSpline

    time, values = np.asarray(time, float), np.asarray(values, float)
    if not np.all(np.diff(time) > 0):
        raise InputError("times of a reference must increase; sort them and drop repeated ones")
    if len(time) == 1:
        time, values = np.array([time[0], time[0] + 1.0]), np.tile(values, (2, 1))
    ends = "clamped" if at_rest or len(time) < 3 else "not-a-knot"
    d, c, b, a = (jnp.asarray(x) for x in CubicSpline(time, values, bc_type=ends).c)
    return diffrax.CubicInterpolation(jnp.asarray(time), (d, c, b, a))


def make_way(mechanism: Mechanism, contacts: Contacts, time: np.ndarray, q: np.ndarray) -> Way:
    """The motion of a whole body, and where it touches and presses on the way.

    The ground is taken as it is at time zero: a motion over ground that moves, or on a platform,
    is relative to it.

    Args:
        mechanism: What moves.
        contacts: What may touch.
        time: When [s], increasing.
        q: All coordinates at these times. Shape (n_times, nq).
    """
    from scipy.ndimage import gaussian_filter1d

    carrying = platforms(mechanism, contacts)
    check_platforms(mechanism, carrying)
    mechanism = without_platforms(mechanism, carrying)
    coordinates = _splines(time, q, at_rest=False)

    point, gap, center, (push, spin) = jax.tree.map(
        np.asarray, _seen(mechanism, contacts, coordinates, jnp.asarray(time))
    )
    dt = float(np.median(np.diff(time)))
    rates = [
        gaussian_filter1d(np.gradient(x, time, axis=0), _SMOOTH / dt, axis=0, mode="nearest")
        for x in (push, spin)
    ]
    mass, gravity = float(total_mass(mechanism)), np.asarray(mechanism.gravity)
    up = -gravity / np.linalg.norm(gravity)
    force = rates[0] - mass * gravity
    # What touches, or is next to; the pressure is looked for at the height of the lowest.
    low = gaussian_filter1d(np.min(point @ up, axis=1), 0.1 / dt, mode="nearest")
    height = center @ up - low
    # (p - c) x f = dL/dt, with p - c = -h up + something level
    along = force @ up
    level = np.eye(3) - np.outer(up, up)
    pressure = (
        center - height[:, None] * up
        - (height[:, None] * (force @ level) - np.cross(up, rates[1])) / along[:, None]
    )  # fmt: skip
    n = len(time)
    table = np.concatenate(
        [point.reshape(n, -1), gap, center, pressure, along[:, None] / mass], axis=1
    )
    return Way(coordinates, _splines(time, table, at_rest=False))


@eqx.filter_jit
def _seen(mechanism: Mechanism, contacts: Contacts, coordinates: Any, time: Array) -> tuple:
    """Contact points, gaps, centre of mass and momentum along a motion."""

    def at(t):
        q, q_dot, _ = _on(coordinates, t)
        q = normalize(mechanism, q)
        v = velocity_of_rate(mechanism, q, q_dot)
        poses = body_poses(mechanism, link_kinematics(mechanism, q).links)
        places = contact_places(contacts, poses, jnp.zeros_like(t))
        return places.point, places.gap, center_of_mass(mechanism, q), momentum(mechanism, q, v)

    return jax.vmap(at)(time)


def scalars_of(mechanism: Mechanism, q: Array) -> Array:
    """The hinges and slides of a configuration."""
    (_, at_q), _ = scalar_entries(mechanism.tree)
    return q[at_q]
