r"""Tracking: joints follow a motion in time, whatever of the mechanism touches or flies.

symbol  meaning                                                               unit
r(t)    the reference of each hinge and slide                                 rad, m
ω, ζ    frequency and damping of the error                                    rad/s, 1
w       acceleration wanted, r̈ + 2 ζ ω (ṙ - v) + ω² (r - q)                   rad/s², m/s²
f       forces of the ground                                                  N
τ       joint forces                                                          N·m, N

Computed torque for mechanisms that stand, fall and land. If hinges and slides accelerate as wanted,
only the other freedoms (a free base) are left to move, and the ground acts on them alone:

$$ M_{bb} a_b = J_b^T f - c_b - M_{bj} w , \qquad
   J_b a_b + J_j w + b = \text{acceleration of contacts} $$

with Coulomb's law between the force and the acceleration of each contact. This small problem tells
the forces of the ground, and inverse dynamics the efforts,

$$ \tau = M_{jb} a_b + M_{jj} w + c_j - J_j^T f . $$

So joints follow exactly in flight, and on the ground as well; where more is asked for than a foot
can press or pull, the foot tips, slides or lifts as the control expects it to.
Where both feet stand, w may want them to move apart, which they cannot; contacts are therefore
taken to be a little soft. A contact that is about to touch counts from its gap: it may come that
far within `_SOON`.

The reference knows nothing of balance. With `balance` = ω_b > 0 the centre of mass c is kept above
the middle p of what touches, as a pendulum upside down whose support can move no farther than the
feet [Kajita2001]: the point of pressure that would give c̈ = -ω_b² (c - p) - 2 ω_b ċ is brought into
the box around the contacts (along the world's axes), and the horizontal acceleration wanted is

$$ \ddot c = \frac{g}{h} (c - \text{point of pressure}) , $$

h the height of c. To w is added the least change, in the metric of inertia, that gives it while
what touches stays where it is.
"""

from collections.abc import Sequence
from typing import NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._arrays import TINY, Array, Float, Int, Scalar, Tolerance
from stiction._errors import InputError
from stiction.complementarity.admm import admm
from stiction.complementarity.alart_curnier import newton
from stiction.complementarity.friction_cone import unit_problem
from stiction.mechanism import (
    Mechanism,
    center_of_mass,
    momentum,
    passive_force,
    rate,
    total_mass,
)
from stiction.mechanism.dynamics import (
    bias_force_at,
    body_inertias,
    lower_mass_matrix,
    spatial_momentum,
)
from stiction.mechanism.forces import scalar_entries
from stiction.mechanism.kinematics import Motion, as_mask, motion
from stiction.mechanism.linear import (
    cholesky,
    solve_factored,
    solve_lower,
    solve_upper,
    wait_for,
)
from stiction.surfaces import ContactKinematics, Contacts, contact_kinematics

_SOON = 5e-3  # [s]
_SOFT = 1e-3  # of contacts: part of the largest inverse mass that the ground feels
_ADMM_STEPS, _NEWTON_STEPS = 10, 10  # to the forces of the ground; three or four are usual
_SOLVED = Tolerance(1e-7, 1e-4)  # residual, a share of the largest acceleration
_LEAST = Tolerance(1e-8, 1e-5)  # of singular systems, relative to their scale
_TOUCHES = 2e-3  # gap up to which a contact supports [m]
# Gap up to which it counts for balance once another supports: a heel that is still up [m].
_ABOUT_TO = 0.05
_INSIDE = 0.8  # of the box around the contacts: how far the point of pressure may go


class Reference(eqx.Module):
    """A motion of hinges and slides: cubic splines in time, held before and after.

    Attributes:
        curve: Of every hinge and slide, in the order of the mechanism.
    """

    curve: diffrax.CubicInterpolation

    def __call__(self, t: Scalar) -> tuple[Float[Array, "n"], Float[Array, "n"], Float[Array, "n"]]:
        """Position, velocity and acceleration at t [s]."""
        first, last = self.curve.ts[0], self.curve.ts[-1]
        inside = jnp.clip(t, first, last)
        moving = ((t >= first) & (t < last)).astype(t.dtype)
        speed, change = jax.jvp(self.curve.derivative, (inside,), (jnp.ones_like(t),))
        return self.curve.evaluate(inside), moving * speed, moving * change


def make_reference(
    time: Sequence[float] | np.ndarray, values: np.ndarray, *, at_rest: bool = True
) -> Reference:
    """Splines through values at given times, twice differentiable.

    Args:
        time: When [s], increasing. One time alone is a posture that is held.
        values: Of hinges and slides, in the order of the mechanism [rad, m]. Shape (n_times, n).
        at_rest: Whether the motion begins and ends at rest; otherwise as the values go on.
    """
    from scipy.interpolate import CubicSpline

    time, values = np.asarray(time, float), np.asarray(values, float)
    if not np.all(np.diff(time) > 0):
        raise InputError("times of a reference must increase; sort them and drop repeated ones")
    if len(time) == 1:
        time, values = np.array([time[0], time[0] + 1.0]), np.tile(values, (2, 1))
    ends = "clamped" if at_rest or len(time) < 3 else "not-a-knot"
    d, c, b, a = (jnp.asarray(x) for x in CubicSpline(time, values, bc_type=ends).c)
    return Reference(diffrax.CubicInterpolation(jnp.asarray(time), (d, c, b, a)))


class _Body(NamedTuple):
    """What the mechanism is like at an instant."""

    state: Motion
    inertias: Array
    M: Float[Array, "nv nv"]
    c: Float[Array, "nv"]  # bias, less springs and dampers
    seen: ContactKinematics
    J: Float[Array, "m nv"]
    b: Float[Array, "m"]


class TrackingControl(eqx.Module):
    """Joints follow a reference; see the head of this file.

    Attributes:
        mechanism: What moves.
        contacts: What may touch; None in free motion.
        mu: Friction that the control counts on, of each contact.
        reference: Where hinges and slides should be.
        frequency: ω [rad/s].
        damping: ζ; 1 for an error that dies without swinging.
        balance: ω_b of the centre of mass over the feet [rad/s]; 0 for none.
    """

    mechanism: Mechanism
    contacts: Contacts | None
    mu: Float[Array, "n"]
    reference: Reference
    frequency: Scalar
    damping: Scalar
    balance: Scalar

    def __call__(
        self, t: Scalar, q: Float[Array, "nq"], v: Float[Array, "nv"], modes: Int[Array, "n"]
    ) -> Float[Array, "nu"]:
        """The command of each actuator; what they cannot give, their limits take away."""
        del modes
        a = self.mechanism.actuators
        effort = a.moment @ self.joint_forces(t, q, v) / jnp.sum(a.moment**2, axis=1)
        bias = a.bias[:, 0] + a.bias[:, 1] * (a.length_of_q @ q) + a.bias[:, 2] * (a.moment @ v)
        return (effort - bias) / a.gain

    def wanted(
        self, t: Scalar, q: Float[Array, "nq"], v: Float[Array, "nv"]
    ) -> Float[Array, "n_tracked"]:
        """w of every hinge and slide, before balance."""
        (_, at_q), at_v = scalar_entries(self.mechanism.tree)
        r, r_dot, r_ddot = self.reference(t)
        w = self.frequency
        return r_ddot + 2 * self.damping * w * (r_dot - v[at_v]) + w**2 * (r - q[at_q])

    def joint_forces(
        self, t: Scalar, q: Float[Array, "nq"], v: Float[Array, "nv"]
    ) -> Float[Array, "nv"]:
        """τ that gives hinges and slides the accelerations wanted [N·m, N]."""
        m = self.mechanism
        state = motion(m, q)
        inertias = body_inertias(m, state)
        lower = jnp.tril(lower_mass_matrix(m, state, inertias))
        M = lower + jnp.tril(lower, -1).T
        c = bias_force_at(m, state, inertias, v) - passive_force(m, q, v)
        _, tracked = scalar_entries(m.tree)
        free = np.setdiff1d(np.arange(m.nv), tracked)
        a = jnp.zeros_like(v).at[tracked].set(self.wanted(t, q, v))
        if not free.size:  # the accelerations of all freedoms are known
            return M @ a + c
        push = jnp.zeros_like(v)
        base = cholesky(M[np.ix_(free, free)])
        if self.contacts is not None:
            seen = contact_kinematics(m, self.contacts, state, v, t)
            rows = seen.bias.size
            body = _Body(
                state, inertias, M, c, seen, seen.jacobian.reshape(rows, m.nv), seen.bias.ravel()
            )
            a = a + self._for_balance(body, q, v, a, free)
            push = body.J.T @ self._ground_forces(body, a, free, base)
        a = a.at[free].set(solve_factored(base, (push - c - M @ a)[free]))
        return M @ a + c - push

    def _ground_forces(
        self, body: _Body, a: Float[Array, "nv"], free: np.ndarray, base: Array
    ) -> Float[Array, "m"]:
        """f, if hinges and slides accelerate as a says (which is zero in the free entries)."""
        Y = solve_lower(base, body.J[:, free].T)
        W = Y.T @ Y
        falling = solve_lower(base, (body.c + body.M @ a)[free])
        r = (body.J @ a + body.b - Y.T @ falling).reshape(body.seen.bias.shape)
        r = r.at[:, -1].add(2 * jnp.maximum(body.seen.gap, 0.0) / _SOON**2).reshape(-1)
        W = W + _SOFT * jnp.max(jnp.diag(W)) * jnp.eye(len(W), dtype=W.dtype)
        problem = unit_problem(
            wait_for(W, r), r, self.mu.astype(r.dtype), jnp.zeros_like(body.seen.gap)
        )
        x, _ = admm(problem, jnp.zeros_like(problem.b), None, _ADMM_STEPS)
        target = _SOLVED.of(r) * jnp.max(jnp.abs(problem.b))
        most = jnp.asarray(_NEWTON_STEPS, jnp.int32)
        return problem.impulse(newton(problem, x, target, most).best)

    def _for_balance(
        self, body: _Body, q: Array, v: Array, a: Float[Array, "nv"], free: np.ndarray
    ) -> Float[Array, "nv"]:
        """What balance adds to the accelerations of hinges and slides."""
        m, seen = self.mechanism, body.seen
        mass = total_mass(m)
        g = jnp.sqrt(jnp.sum(m.gravity**2) + TINY.of(q))
        level = jnp.eye(3, dtype=q.dtype) - jnp.outer(m.gravity, m.gravity) / g**2
        c_dot, drift = jax.jvp(lambda q: momentum(m, q, v)[0] / mass, (q,), (rate(m, q, v),))
        # A freedom gives the centre of mass the momentum of everything beyond it.
        composite = as_mask(m.tree.moves_body.T, q) @ body.inertias
        J_c = spatial_momentum(composite, body.state.S)[:, 3:].T / mass

        near = jnp.clip(1 - seen.gap / _TOUCHES, 0.0, 1.0)
        stands = jnp.any(near > 0)
        soon = (seen.gap < _ABOUT_TO)[:, None]
        low = jnp.where(stands, jnp.min(jnp.where(soon, seen.point, jnp.inf), axis=0), 0.0)
        high = jnp.where(stands, jnp.max(jnp.where(soon, seen.point, -jnp.inf), axis=0), 0.0)
        arm = center_of_mass(m, q) - (low + high) / 2
        h = jnp.maximum(-(arm @ m.gravity) / g, 0.1)  # what lies has no height to fall from [m]
        w = self.balance
        pressure = arm + h / g * (w**2 * arm + 2 * w * c_dot)
        bound = _INSIDE * (high - low) / 2
        wanted = g / h * (arm - jnp.clip(pressure, -bound, bound))

        # The acceleration it has if what touches stays: the base moves for that, as well as it can.
        held = jnp.repeat(near, len(body.b) // len(near))
        J = body.J * held[:, None]
        Y = J[:, free]
        K = Y.T @ Y
        K = K + (_LEAST.of(q) * jnp.max(jnp.diag(K)) + TINY.of(q)) * jnp.eye(len(K), dtype=q.dtype)
        base = -solve_factored(cholesky(K), Y.T @ (J @ a + held * body.b))
        has = J_c @ a.at[free].set(base) + drift
        rows = jnp.concatenate([J, level @ J_c])
        missing = jnp.concatenate([jnp.zeros_like(body.b), level @ (wanted - has)])
        L = cholesky(body.M)
        Z = solve_lower(L, rows.T)
        S = Z.T @ Z
        S = S + _LEAST.of(q) * jnp.max(jnp.diag(S)) * jnp.eye(len(S), dtype=q.dtype)
        change = solve_upper(L, Z @ solve_factored(cholesky(S), missing))
        return jnp.where(stands & (w > 0), change.at[free].set(0.0), 0.0)
