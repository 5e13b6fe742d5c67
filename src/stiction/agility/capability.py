r"""How fast a standing mechanism can accelerate a point in a direction.

Torques as a linear function of the task's acceleration, flickinger (6.1),

$$ E\,a + \mu + g = \Upsilon, \qquad a = \dot v_x\, d , $$

and their bounds (6.2) leave for the acceleration $\dot v_x$ along the unit vector d, each row by
itself, an interval (6.4), (6.5); with the remaining accelerations zero,

$$ \dot v_x \le \min_i T_i / |E_{x,i}| , $$

where only those rows of (6.6) count whose sign is that of the direction. The largest value that
all rows allow is the capability. The equations know nothing of the ground, which cannot pull and
holds a foot only by friction. With it the question is a program over cones,

$$ \max s \quad\text{such that}\quad a = s\,d,\quad \dot u = 0,\quad
   \tau_{lower} \le \tau \le \tau_{upper},\quad |f_{t,i}| \le \mu_i f_{n,i} . $$

With as many motors as the task has rows, forces and efforts are affine in s, and the program is
solved by intersecting intervals; otherwise by an interior-point method.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import TINY, Array, Bool, Float, Int, Scalar
from stiction._base.compile import quick_jit
from stiction._base.linear import inverse
from stiction.agility.stance import Maps, Reduced, Stance, stance_maps
from stiction.complementarity import Maximum, maximize_over_cones

# A limit is said to bind when less than this share of its range is left.
_BINDING = 1e-6


class Capability(eqx.Module):
    """The largest acceleration along a direction, and what limits it. May have batch axes."""

    # the acceleration [m/s²]: negative if only the opposite is possible, -inf if no acceleration
    # along the line is
    value: Float[Array, "*batch"]
    # the least (or the most negative) acceleration along the line [m/s²]
    lowest: Float[Array, "*batch"]
    # efforts of the motors that give this acceleration [N or N·m]
    effort: Float[Array, "*batch nu"]
    force: Float[Array, "*batch n dim"]  # forces of the stance contacts then [N]
    # which limit binds first: a motor's index, or nu + i for the cone of contact i
    binding: Int[Array, "*batch"]

    @property
    def feasible(self) -> Bool[Array, "*batch"]:
        """Whether any acceleration along the line is possible."""
        return jnp.isfinite(self.value)


def capability(
    stance: Stance,
    q: Float[Array, "nq"],
    direction: Float[Array, "3"],
    *,
    v: Float[Array, "nv"] | None = None,
    contact_limits: bool = True,
) -> Capability:
    """The capability at a posture, for one state; batches by `jax.vmap`.

    Args:
        stance: What stands, on what, and the point that counts.
        q: The posture; that its contacts touch is for the caller to see to.
        direction: Unit vector in the world.
        v: Velocities; at rest by default.
        contact_limits: Whether the ground can only push, within friction cones. Without it contacts
            hold whatever happens: the closed form (6.6), in which more motors than rows share the
            work so that the sum of squares of their efforts, each over its range, is least.
    """
    v = jnp.zeros(stance.mechanism.nv, q.dtype) if v is None else v
    return _capability(stance, q, v, direction, contact_limits)


@quick_jit
def _capability(
    stance: Stance, q: Array, v: Array, direction: Array, contact_limits: bool
) -> Capability:
    maps = stance_maps(stance, q, v)
    d = direction[stance.rows]
    if not contact_limits:
        return directional_capability(maps, d, stance.contacts.dim)
    if stance.is_determined:
        return _by_intervals(maps, maps.without_forces(), d, stance.mu)
    return _by_program(maps, d, stance.mu)


def both_capabilities(
    stance: Stance, q: Float[Array, "nq"], direction: Float[Array, "3"]
) -> tuple[Capability, Capability]:
    """The capability by the motors alone (6.6), and while the contacts hold."""
    alone, exact = (capability(stance, q, direction, contact_limits=c) for c in (False, True))
    return alone, exact


def directional_capability(maps: Maps, d: Float[Array, "k"], dim: int) -> Capability:
    """(6.6): the limits of the motors alone."""
    reduced = maps.without_forces()
    slope, offset = efforts_along(maps, reduced, d)
    low, high = box_interval(slope, offset, maps.lower, maps.upper)
    # Fewer motors than rows, or a singular posture: most accelerations cannot be had at all.
    k, nu = reduced.D.shape
    if nu < k:
        missed = jnp.max(jnp.abs(reduced.D @ slope - d)) + jnp.max(
            jnp.abs(reduced.D @ offset + reduced.a0)
        ) / (1.0 + jnp.max(jnp.abs(reduced.a0)))
        high = jnp.where(missed < 1e-9, high, -jnp.inf)
    return _outcome(reduced, slope, offset, low, high, dim)


def _by_intervals(maps: Maps, reduced: Reduced, d: Array, mu: Array) -> Capability:
    """The program when efforts and forces are affine in s."""
    slope, offset = efforts_along(maps, reduced, d)
    n = mu.size
    f1 = (reduced.F @ slope).reshape(n, -1)
    f0 = (reduced.f0 + reduced.F @ offset).reshape(n, -1)
    boxes = box_interval(slope, offset, maps.lower, maps.upper)
    cones = jax.vmap(_cone_interval)(f0, f1, mu)
    low, high = (jnp.concatenate(ends) for ends in zip(boxes, cones, strict=True))
    return _outcome(reduced, slope, offset, low, high, f0.shape[1])


def effort_map(maps: Maps, reduced: Reduced) -> tuple[Array, Array]:
    """E of (6.1) and τ₀, so that τ = τ₀ + E (a - a₀) gives the acceleration a.

    Of more efforts than rows those are taken that are least relative to their ranges, from the
    middle of the ranges; of fewer, those that come nearest.
    """
    k, nu = reduced.D.shape
    if nu == k:
        return inverse(reduced.D), jnp.zeros_like(maps.lower)
    width = maps.upper - maps.lower
    middle = (maps.upper + maps.lower) / 2
    E = width[:, None] * jnp.linalg.pinv(reduced.D * width[None, :])
    return E, middle - E @ (reduced.D @ middle)


def efforts_along(maps: Maps, reduced: Reduced, d: Array) -> tuple[Array, Array]:
    """τ = slope s + offset for a = s d."""
    E, start = effort_map(maps, reduced)
    return E @ d, start - E @ reduced.a0


def box_interval(slope: Array, offset: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The s for which each entry of slope s + offset is within its bounds: (6.4), (6.5)."""
    still = slope == 0
    safe = jnp.where(still, 1.0, slope)
    one, two = (lower - offset) / safe, (upper - offset) / safe
    # An effort that does not depend on s is within its bounds for all s, or for none.
    holds = (offset >= lower) & (offset <= upper)
    most = jnp.where(still, jnp.where(holds, jnp.inf, -jnp.inf), jnp.maximum(one, two))
    least = jnp.where(still, jnp.where(holds, -jnp.inf, jnp.inf), jnp.minimum(one, two))
    return least, most


def _cone_interval(f0: Array, f1: Array, mu: Scalar) -> tuple[Scalar, Scalar]:
    """The s for which f0 + s f1 lies in the friction cone: an interval, for the cone is convex.

    The line meets the double cone μ² f_n² = |f_t|² where A s² + 2 B s + C = 0.
    """
    mu2 = mu * mu

    def form(x: Array, y: Array) -> Scalar:
        return mu2 * x[-1] * y[-1] - jnp.sum(x[:-1] * y[:-1])

    A, B, C = form(f1, f1), form(f0, f1), form(f0, f0)
    disc = B * B - A * C
    crosses = disc > 0
    root = jnp.sqrt(jnp.where(crosses, disc, 1.0))
    # Roots without cancellation: one by the sum, the other by the product C / A.
    t = -(B + jnp.where(B >= 0, root, -root))
    r1 = t / jnp.where(A == 0, 1e-300, A)
    r2 = C / jnp.where(t == 0, 1e-300, t)
    first, last = jnp.minimum(r1, r2), jnp.maximum(r1, r2)
    # Direction outside the double cone (A < 0): between the roots, if that is the upper half.
    above = f0[-1] + f1[-1] * (first + last) / 2 >= 0
    between = crosses & above
    outside = (jnp.where(between, first, jnp.inf), jnp.where(between, last, -jnp.inf))
    # Inside (A > 0): beyond the last root if the force grows upwards, before the first otherwise.
    up = f1[-1] > 0
    inside = (jnp.where(up, last, -jnp.inf), jnp.where(up, jnp.inf, first))
    is_out = A < 0
    low, high = (jnp.where(is_out, o, i) for o, i in zip(outside, inside, strict=True))
    # A force that does not change is in the cone or not.
    fixed = jnp.all(f1 == 0)
    holds = (C >= 0) & (f0[-1] >= 0)
    low = jnp.where(fixed, jnp.where(holds, -jnp.inf, jnp.inf), low)
    high = jnp.where(fixed, jnp.where(holds, jnp.inf, -jnp.inf), high)
    return low, high


def _outcome(
    reduced: Reduced, slope: Array, offset: Array, low: Array, high: Array, dim: int
) -> Capability:
    s, least = jnp.min(high), jnp.max(low)
    feasible = least <= s
    at = jnp.where(feasible & jnp.isfinite(s), s, 0.0)
    effort = slope * at + offset
    return Capability(
        value=jnp.where(feasible, s, -jnp.inf),
        lowest=jnp.where(feasible, least, jnp.inf),
        effort=effort,
        force=(reduced.f0 + reduced.F @ effort).reshape(-1, dim),
        binding=jnp.argmin(high),
    )


def _by_program(maps: Maps, d: Array, mu: Array) -> Capability:
    """The program over x = (s, τ, f)."""
    nu, dim = maps.Q.shape[1], maps.W.shape[0] // mu.size
    task = jnp.concatenate([-d[:, None], maps.Q, maps.P], axis=1)
    best, worst = (_extreme(maps, mu, task, -maps.a0, sign) for sign in (1.0, -1.0))
    x = jnp.where(best.feasible, best.x, jnp.nan)
    effort, force = x[1 : 1 + nu], x[1 + nu :].reshape(mu.size, dim)
    half = (maps.upper - maps.lower) / 2
    box = 1.0 - jnp.abs(effort - (maps.upper + maps.lower) / 2) / half
    cone = mu * force[:, -1] - jnp.sqrt(jnp.sum(force[:, :-1] ** 2, axis=1) + TINY.of(d))
    cone = cone / (TINY.of(d) + jnp.max(jnp.abs(force), axis=1))
    return Capability(
        value=jnp.where(best.feasible, best.value, -jnp.inf),
        lowest=jnp.where(best.feasible & worst.feasible, -worst.value, jnp.inf),
        effort=effort,
        force=force,
        binding=jnp.argmin(jnp.concatenate([box, cone])),
    )


def farthest_acceleration(
    maps: Maps, d: Float[Array, "k"], mu: Float[Array, "n"]
) -> Float[Array, "k"]:
    """Of all accelerations that motors and contacts allow, the one that goes farthest along d.

    Unlike the capability it need not point along d. nan if none is allowed.
    """
    nu = maps.Q.shape[1]
    row = jnp.concatenate([-jnp.ones(1, d.dtype), d @ maps.Q, d @ maps.P])[None]
    best = _extreme(maps, mu, row, -(d @ maps.a0)[None], 1.0)
    a = maps.a0 + maps.Q @ best.x[1 : 1 + nu] + maps.P @ best.x[1 + nu :]
    return jnp.where(best.feasible, a, jnp.nan)


def _extreme(maps: Maps, mu: Array, task: Array, right: Array, sign: float) -> Maximum:
    """The largest (or least) s with `task` x = `right`, contacts at rest, all within limits.

    Inside, efforts, forces and s are counted in units of their size.
    """
    m, nu = maps.C.shape
    middle, half = (maps.upper + maps.lower) / 2, (maps.upper - maps.lower) / 2
    stick = jnp.concatenate([jnp.zeros((m, 1), mu.dtype), maps.C, maps.W], axis=1)
    A, b = jnp.concatenate([task, stick]), jnp.concatenate([right, -maps.u0])
    # About what all motors together can give.
    size = jnp.max(jnp.abs(maps.a0)) + jnp.max(jnp.abs(maps.Q) @ half)
    scale = jnp.concatenate([size[None], half, jnp.full(m, jnp.max(jnp.abs(half)) + 1.0)])
    shift = jnp.concatenate([jnp.zeros(1, mu.dtype), middle, jnp.zeros(m, mu.dtype)])
    c = jnp.zeros(1 + nu + m, mu.dtype).at[0].set(sign)
    found = maximize_over_cones(c, A * scale[None], b - A @ shift, mu, nu, m // mu.size)
    return found._replace(value=size * found.value, x=shift + scale * found.x)


def limits_in_words(
    stance: Stance, found: Capability, lower: Array, upper: Array, *, contact_limits: bool = True
) -> list[str]:
    """The limits that bind: motors by name, and contacts that slip or lift. For one posture."""
    if not bool(found.feasible):
        return []
    effort, force = np.asarray(found.effort), np.asarray(found.force)
    low, high = np.asarray(lower), np.asarray(upper)
    first = int(found.binding)
    words = []
    for i, name in enumerate(stance.motors.names):
        room = min(high[i] - effort[i], effort[i] - low[i]) / (high[i] - low[i])
        if room <= _BINDING or i == first:
            words.append(f"motor {name}")
    size = max(np.abs(force).max(), 1e-12)
    for i, name in enumerate(stance.contacts.names if contact_limits else ()):
        normal, friction = force[i, -1], np.linalg.norm(force[i, :-1])
        room = (float(stance.mu[i]) * normal - friction) / size
        if room <= _BINDING or first == len(stance.motors.names) + i:
            words.append(f"{'lift' if normal <= 1e-5 * size else 'slip'} of {name}")
    return words
