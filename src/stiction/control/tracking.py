r"""Tracking: joints follow a motion in time, whatever of the mechanism touches or flies.

symbol  meaning                                                               unit
r(t)    the reference of each hinge and slide                                 rad, m
ω, ζ    frequency and damping of the error                                    rad/s, 1
w       acceleration wanted, r̈ + 2 ζ ω (ṙ - v) + ω² (r - q)                   rad/s², m/s²
f       forces of the ground                                                  N
τ       joint forces                                                          N·m, N

Computed torque for mechanisms that stand, fall and land, in two steps. First the accelerations a of
all freedoms: least squares between what is wanted of joints (and of the base, where its way is
given), contacts that stand and stay where they are, J a + b = 0, and balance (`control.balance`),
which says where the ground should push. Then the forces f that the ground can give to what stands:
within friction cones, as near as they come to what the base needs (`control.ground`),

$$ M_{bb} a_b + M_{bj} a_j + c_b = J_b^T f . $$

The base does what these forces make of it, and inverse dynamics tells the efforts,

$$ \tau = M_{jb} a_b + M_{jj} a_j + c_j - J_j^T f . $$

So joints follow exactly in flight, and on the ground as well as it lets them. Nothing in τ is
larger than what a plan needs, however rigid the ground: a foot that rocks by a micrometre changes
which contacts stand, but not the push by much.

A whole body on its way (`control.reference.Way`) has feet that stand when the way says so: a
contact stands if it touches and should; one that should and does not is put down; the others go
their way through the air. Where the ground moves, the way is relative to it, and so it is on a
platform p that is a body of its own (`control.support`). How that accelerates is found with the
rest: what pushes the body pushes the platform back, with m and c of the body alone

$$ M_{pp} a_p + c_p = - E^T m (\ddot c - g) , $$

E being the directions in which it may shift. Freedoms without an actuator are the base's and the
platform's; they do what forces make of them.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import TINY, Array, Float, Int, Scalar, Tolerance
from stiction._base.linear import cholesky, solve_factored
from stiction._base.spatial import rotate
from stiction.control.balance import Momenta, moment_about, momenta, nearest_in_hull
from stiction.control.ground import push_of
from stiction.control.reference import Reference, Way, WayPoint, scalars_of
from stiction.control.support import (
    carried_by_ground,
    carried_by_platform,
    driven_freedoms,
    own_bodies,
    platforms,
    without_platforms,
)
from stiction.mechanism import (
    LinkKinematics,
    Mechanism,
    as_mask,
    bias_force_at,
    body_inertias,
    difference,
    link_kinematics,
    lower_mass_matrix,
    passive_force,
    scalar_entries,
)
from stiction.surfaces import ContactKinematics, Contacts, contact_kinematics

_LEAST = Tolerance(1e-8, 1e-5)  # of singular systems, relative to their scale
_TOUCHES = 1e-4  # gap up to which a contact supports [m]; at twice as much it does not
# Gap up to which it counts for balance once another supports: a heel that is still up [m].
_ABOUT_TO = 0.05
_INSIDE = 0.8  # of what touches: how far the point of pressure may go from the middle
# What a whole body on its way is asked for, as weights of squares of accelerations [m/s², rad/s²]:
# feet that stand stay, the ground pushes where it should, feet in the air go their way; joints and
# the turn of the base weigh 1, and the base is carried where all this takes it.
_HELD, _PRESSED, _FOLLOWED, _CARRIED = 1e5, 1e4, 30.0, 0.3
_SWING = 2.0  # feet in the air are followed so much faster than joints
_DOWN = 50.0  # how fast what should stand is put down [rad/s]
_LIGHTEST = 0.3  # part of its weight with which a body presses at least
_LANDING = 0.02  # and at least how fast [m/s]
_RESTS = 5e-3  # gap up to which what should stand counts as standing: a foot that rocks [m]
_PLANNED = 1e-3  # gap of a way up to which a foot should stand [m]
_LANDS = 0.04  # so much before its time a landing is no surprise [s]


class _Body(NamedTuple):
    """What the mechanism is like at an instant."""

    state: LinkKinematics
    inertias: Array
    M: Float[Array, "nv nv"]
    c: Float[Array, "nv"]  # bias, less springs and dampers
    seen: ContactKinematics
    J: Float[Array, "m nv"]
    b: Float[Array, "m"]


class TrackingControl(eqx.Module):
    """Joints follow a reference; see the head of this file."""

    mechanism: Mechanism  # what moves
    contacts: Contacts | None  # what may touch; None in free motion
    mu: Float[Array, "n"]  # friction that the control counts on, of each contact
    reference: Reference | Way  # where hinges and slides should be, or the whole body
    frequency: Scalar  # ω [rad/s]
    damping: Scalar  # ζ; 1 for an error that dies without swinging
    balance: Scalar  # ω_b of the centre of mass over the feet [rad/s]; 0 for none
    # how long commands are held [s]; 0 if they follow the state at every instant
    period: float = eqx.field(static=True, default=0.0)
    free: tuple[int, ...] = eqx.field(init=False, static=True)  # freedoms without an actuator
    # the body that carries, if it is one of its own
    platform: tuple[int, ...] = eqx.field(init=False, static=True)

    def __post_init__(self):
        self.free = tuple(np.flatnonzero(~driven_freedoms(self.mechanism)).tolist())
        self.platform = platforms(self.mechanism, self.contacts)

    def __call__(
        self, t: Scalar, q: Float[Array, "nq"], v: Float[Array, "nv"], modes: Int[Array, "n"]
    ) -> Float[Array, "nu"]:
        """The command of each actuator; what they cannot give, their limits take away."""
        del modes
        a = self.mechanism.actuators
        effort = a.moment @ self.joint_forces(t, q, v) / jnp.sum(a.moment**2, axis=1)
        return (effort - a.offset(q, v)) / a.gain

    def wanted(
        self, t: Scalar, q: Float[Array, "nq"], v: Float[Array, "nv"]
    ) -> Float[Array, "n_tracked"]:
        """w of every hinge and slide, before balance."""
        (_, at_q), at_v = scalar_entries(self.mechanism.tree)
        if isinstance(self.reference, Way):
            way = self.reference.at(self.mechanism, t)
            r, r_dot, r_ddot = scalars_of(self.mechanism, way.q), way.v[at_v], way.a[at_v]
        else:
            r, r_dot, r_ddot = self.reference(t)
        w = self.frequency
        return r_ddot + 2 * self.damping * w * (r_dot - v[at_v]) + w**2 * (r - q[at_q])

    def joint_forces(
        self, t: Scalar, q: Float[Array, "nq"], v: Float[Array, "nv"]
    ) -> Float[Array, "nv"]:
        """τ that gives hinges and slides the accelerations wanted [N·m, N]."""
        m = self.mechanism
        state = link_kinematics(m, q)
        inertias = body_inertias(m, state)
        lower = jnp.tril(lower_mass_matrix(m, state, inertias))
        M = lower + jnp.tril(lower, -1).T
        c = bias_force_at(m, state, inertias, v) - passive_force(m, q, v)
        _, tracked = scalar_entries(m.tree)
        free = np.array(self.free, int)
        a = jnp.zeros_like(v).at[tracked].set(self.wanted(t, q, v))
        if not free.size:  # the accelerations of all freedoms are known
            return M @ a + c
        push = jnp.zeros_like(v)
        if self.contacts is not None:
            seen = contact_kinematics(m, self.contacts, state, v, t)
            rows = seen.bias.size
            body = _Body(
                state, inertias, M, c, seen, seen.jacobian.reshape(rows, m.nv), seen.bias.ravel()
            )
            near = jnp.clip(2 - seen.gap / _TOUCHES, 0.0, 1.0)
            shift = self._shift(state, t, v)
            if self.platform:  # how it accelerates is known from a first answer
                first, _ = self._accelerations(body, t, q, v, a, near, shift)
                at = self._platform_freedoms
                shift = shift.at[2].set(first[at] @ state.S[at, 3:])
            a, held = self._accelerations(body, t, q, v, a, near, shift)
            push = body.J.T @ self._ground_forces(body, a, held, free)
        # The base does what all this leaves to it.
        base = cholesky(M[np.ix_(free, free)])
        a = a.at[free].set(0.0)
        a = a.at[free].set(solve_factored(base, (push - c - M @ a)[free]))
        return M @ a + c - push

    def _ground_forces(
        self, body: _Body, a: Float[Array, "nv"], held: Array, free: np.ndarray
    ) -> Float[Array, "m"]:
        """f of what stands: as near as it can come to what the base needs for a."""
        J = body.seen.jacobian[:, :, free] * held[:, None, None]
        f = push_of(J, (body.c + body.M @ a)[free], self.mu.astype(a.dtype))
        return (f * held[:, None]).ravel()

    def _accelerations(
        self, body: _Body, t: Scalar, q: Array, v: Array, a: Array, near: Array, shift: Array
    ) -> tuple[Float[Array, "nv"], Float[Array, "n"]]:
        """Of all freedoms: near to those wanted, while what stands stays and is pressed rightly.

        Also what stands: 1 for contacts that touch and should, 0 for others.
        """
        m = self.mechanism
        weight = jnp.ones_like(v).at[np.array(self.free, int)].set(0.0)
        if isinstance(self.reference, Way):
            way = self.reference.at(m, t)
            error, soon = difference(m, q, way.q), self.reference.gaps(t + _LANDS)
            w, base = self.frequency, self._base
            error = error.at[base[:3]].add(shift[0])
            a = way.a + 2 * self.damping * w * (way.v - v) + w**2 * error
            a = a.at[base[:3]].add(shift[2] + 2 * self.damping * w * shift[1])
            weight = weight.at[base].set(1.0).at[base[:3]].set(_CARRIED)
            planned = (jnp.minimum(way.gap, soon) < _PLANNED).astype(q.dtype)
            held = near * planned
            rows, wanted, weights = self._feet(body, way, shift, held)
        else:
            held, way = near, None
            rows, wanted = body.J, -body.b
            weights = _HELD * jnp.repeat(held, len(body.b) // len(held))
        stands = jnp.any(held > 0)
        whole = self._own_momenta(body, q, v)
        moment, missing = self._pressed(body, whole, held, way, shift)
        pressed = jnp.where(stands & (self.balance > 0), _PRESSED, 0.0)
        pushed, back = self._pushed_back(body, whole)
        R = jnp.concatenate([rows, moment, pushed])
        y = jnp.concatenate([wanted, missing, back])
        k = [weights, jnp.broadcast_to(pressed, missing.shape), jnp.full(back.shape, _HELD)]
        k = jnp.concatenate(k)
        A = (R.T * k[None]) @ R + jnp.diag(weight + _LEAST.of(q))
        return solve_factored(cholesky(A), weight * a + R.T @ (k * y)), held

    @property
    def _base(self) -> np.ndarray:
        """Freedoms of the free joint: shifts first."""
        tree = self.mechanism.tree
        return np.setdiff1d(np.arange(tree.nv), scalar_entries(tree)[1])

    @property
    def _platform_freedoms(self) -> np.ndarray:
        moves = self.mechanism.tree.moves_body
        return np.flatnonzero(np.any(moves[np.array(self.platform, int)], axis=0))

    def _own_momenta(self, body: _Body, q: Array, v: Array) -> Momenta:
        """Of all but a platform."""
        m = without_platforms(self.mechanism, self.platform)
        own = as_mask(own_bodies(m, self.platform), q)
        return momenta(m, body.state, body.inertias * own[:, None], q, v)

    def _pushed_back(self, body: _Body, whole: Momenta) -> tuple[Array, Array]:
        """Rows for a platform that is pushed by what pushes itself off it."""
        at, g = self._platform_freedoms, self.mechanism.gravity
        E = body.state.S[at, 3:]
        scale = whole.mass
        rows = (body.M[at] + E @ whole.push) / scale
        return rows, -(body.c[at] + E @ (whole.push_drift - whole.mass * g)) / scale

    def _feet(self, body: _Body, way: WayPoint, shift: Array, held: Array):
        """What points of feet should do: those that stand stay, the others go their way."""
        seen, w = body.seen, _SWING * self.frequency
        dim = seen.bias.shape[1]
        off = way.point + shift[0][None] - seen.point
        ahead = way.point_bend + 2 * w * way.point_rate + w**2 * off
        wanted = rotate(seen.frame, ahead)[:, np.array([0, 1, 2] if dim == 3 else [0, 2])]
        wanted = (1 - held[:, None]) * (wanted - 2 * w * seen.velocity)
        # A foot that should stand is put down on what is there, whatever its way says.
        speed = (1 - held) * jnp.maximum(_DOWN * seen.gap / 2, _LANDING)
        down = -2 * _DOWN * (seen.velocity[:, -1] + speed)
        put = way.gap < _PLANNED
        wanted = wanted.at[:, -1].set(jnp.where(put, down, wanted[:, -1]))
        weights = jnp.repeat((_HELD * held + _FOLLOWED * (1 - held))[:, None], dim, axis=1)
        weights = weights.at[:, -1].max(jnp.where(put & (seen.gap < _RESTS), _HELD, 0.0))
        return body.J, wanted.ravel() - body.b, weights.ravel()

    def velocity_at(self, t: Scalar) -> Float[Array, "nv"]:
        """Of a whole body on its way, carried by the ground if that moves."""
        assert isinstance(self.reference, Way)
        carried = carried_by_ground(self.contacts, t)[1]
        return self.reference.at(self.mechanism, t).v.at[self._base[:3]].add(carried)

    def _shift(self, state: LinkKinematics, t: Scalar, v: Array) -> Float[Array, "3 3"]:
        """How far what carries has come, how fast, and its acceleration where that is known."""
        if self.platform:
            return carried_by_platform(self.mechanism, self.platform[0], state, v)
        return carried_by_ground(self.contacts, t)

    def _pressed(self, body: _Body, whole: Momenta, held: Array, way, shift: Array):
        """Rows that make the ground push where balance needs it."""
        m, seen = self.mechanism, body.seen
        g = jnp.sqrt(jnp.sum(m.gravity**2) + TINY.of(held))
        up = -m.gravity / g
        share = held / jnp.maximum(jnp.sum(held), TINY.of(held))
        level = jnp.sum(share[:, None] * seen.point, axis=0) @ up
        h = jnp.maximum(whole.center @ up - level, 0.1)  # what lies has no height to fall from [m]
        there = held
        if way is None:
            # A heel that is still up counts, once another point supports.
            there = jnp.where(jnp.any(held > 0), (seen.gap < _ABOUT_TO).astype(held.dtype), 0.0)
            low, high = _box(seen.point, there > 0)
            p = (low + high) / 2
            e, e_dot = whole.center - p, whole.center_rate - shift[1]
        else:
            e = whole.center - way.center - shift[0]
            e_dot = whole.center_rate - way.center_rate - shift[1]
            p = way.pressure + shift[0]
        w = self.balance
        p = p + e + h / g * (w**2 * e + 2 * w * e_dot - shift[2])
        T = _tangents(up)
        flat = seen.point @ T.T
        count = jnp.maximum(jnp.sum((there > 0).astype(held.dtype)), 1.0)
        middle = jnp.sum(jnp.where(there[:, None] > 0, flat, 0.0), axis=0) / count
        inner = middle[None] + _INSIDE * (flat - middle[None])
        p = T.T @ nearest_in_hull(T @ p, inner, there) + level * up
        matrix, rest = moment_about(whole, p, m.gravity)
        scale = whole.mass * h
        rows, missing = T @ matrix / scale, -T @ rest / scale
        if way is None:
            return rows, missing
        # The ground cannot pull: the body rises and sinks as its way says, or falls.
        lift = way.lift + up @ shift[2] - up @ (w**2 * e + 2 * w * e_dot)
        lift = jnp.maximum(lift, _LIGHTEST * g) - g - up @ whole.push_drift / whole.mass
        return (
            jnp.concatenate([rows, (up @ whole.push)[None] / whole.mass]),
            jnp.concatenate([missing, lift[None]]),
        )


def _box(points: Float[Array, "n 3"], there: Array) -> tuple[Array, Array]:
    some = jnp.any(there)
    low = jnp.min(jnp.where(there[:, None], points, jnp.inf), axis=0)
    high = jnp.max(jnp.where(there[:, None], points, -jnp.inf), axis=0)
    return jnp.where(some, low, 0.0), jnp.where(some, high, 0.0)


def _tangents(up: Float[Array, "3"]) -> Float[Array, "2 3"]:
    """Two level directions: x and y, if up is along z."""
    y = jnp.where(
        jnp.abs(up[1]) > 0.9, jnp.eye(3, dtype=up.dtype)[2], jnp.eye(3, dtype=up.dtype)[1]
    )
    first = jnp.cross(y, up)
    first = first / jnp.linalg.norm(first)
    return jnp.stack([first, jnp.cross(up, first)])
