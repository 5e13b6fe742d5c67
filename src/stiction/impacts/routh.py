r"""One contact with Coulomb friction, followed through its impact: Newton, Poisson, Stronge.

Routh's method [Routh1905]: the impact takes no time, but the normal impulse p grows from zero and
serves as one. With f = p_t' the friction for each unit of normal impulse,

$$ \frac{du}{dp} = W \begin{pmatrix} f \\ 1 \end{pmatrix}, \qquad
   f = -\mu_d \frac{u_t}{|u_t|} \text{ in slip}, \qquad
   f = -W_{tt}^{-1} W_{tn} \text{ in stick, if } |f| \le \mu_s. $$

Slip that stops either sticks, or starts again in the direction φ in which it then keeps:
$(\mu_d W_{tt} + \lambda) \phi = W_{tn}$ with λ > 0 and |φ| = 1, of which there is one. Compression
ends at p_c, where $u_n = 0$. Restitution ends by the law:

- Newton (kinematic): $u_n^+ = -e u_n^-$. With friction it can create energy [Kane1984].
- Poisson (kinetic): $p_r = e p_c$ [WangMason1992].
- Stronge (energetic): $W_r = -e^2 W_c$, the works of the normal impulse. Never creates energy
  [Stronge1990].

In the plane every piece is a straight line, and the answer is exact. In space the direction of slip
turns while it lasts, which is integrated; after slip has once stopped all is straight again.
"""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._base.arrays import TINY, Array, Bool, Float, Scalar, Tolerance
from stiction._base.linear import inverse, solve_redundant
from stiction.impacts.problem import ImpactProblem, ImpactSolution

_PLANAR_PIECES = 4  # slip, what follows it, and the two phases: at most 3 pieces, and one to spare
_SPATIAL_STEPS = 2000  # a bound; 10 to 100 are usual
_TURN = 0.25  # the most that slip may turn or change in a step [rad, -]
_ALIGNED = Tolerance(1e-9, 1e-5)  # slip that turns less than this keeps its direction [rad]
# Slip slower than this part of u⁻ that slows down further stops where it points.
_STOPPED = Tolerance(1e-10, 1e-6)
_REACHED = Tolerance(1e-13, 1e-6)  # of the normal impulse: the end of a phase is reached
_STILL = Tolerance(1e-15, 1e-7)  # slower slip at the start, part of u⁻, is none


class _Course(eqx.Module):
    """How far an impact has come."""

    impulse: Float[Array, "dim"]
    work: Scalar  # of the normal impulse [J]
    compressed: Bool[Array, ""]  # whether compression is over
    p_c: Scalar  # normal impulse of compression
    w_c: Scalar  # its work, < 0
    straight: Bool[Array, ""]  # whether slip has stopped: from then on friction is constant
    friction: Float[Array, "k"]  # f once it is constant
    holds: Bool[Array, ""]  # whether the contact sticks
    done: Bool[Array, ""]
    failed: Bool[Array, ""]


def _newton(c: _Course, e: Scalar, u_n0: Scalar, u_n: Scalar, rate: Scalar) -> Scalar:
    return _over(-e * u_n0 - u_n, rate)


def _poisson(c: _Course, e: Scalar, u_n0: Scalar, u_n: Scalar, rate: Scalar) -> Scalar:
    return (1 + e) * c.p_c - c.impulse[-1]


def _stronge(c: _Course, e: Scalar, u_n0: Scalar, u_n: Scalar, rate: Scalar) -> Scalar:
    # w + u_n Δ + ½ u_n' Δ² = (1 - e²) w_c
    missing = (1 - e * e) * c.w_c - c.work
    square = u_n * u_n + 2 * rate * missing
    below = u_n + _root(square)
    return jnp.where(square > 0, 2 * missing / jnp.where(below > 0, below, 1.0), 0.0)


_ENDS = {"newton": _newton, "poisson": _poisson, "stronge": _stronge}


def _through_impact(end: Callable, problem: ImpactProblem) -> ImpactSolution:
    """Impulses of the only contact of a problem."""
    if problem.velocity.shape[0] != 1:
        raise ValueError("this law is for one contact; see `in_sequence`")
    W, u0, e = problem.W, problem.velocity[0], problem.restitution[0]
    mu_s, mu_d = problem.mu_static[0], problem.mu_dynamic[0]
    dim = u0.size
    k = dim - 1
    W_tt, W_tn, W_nn = W[:k, :k], W[:k, k], W[k, k]
    size = jnp.max(jnp.diag(W))
    scale = jnp.sqrt(jnp.sum(u0 * u0)) + TINY.of(u0)
    strongest = _norm(W_tn) + mu_d * jnp.trace(W_tt)  # more than |u_t'| ever is
    smallest = _REACHED.of(u0) * jnp.abs(u0[-1]) / W_nn
    hold = -solve_redundant(W_tt, W_tn, size)
    holds = _norm(hold) <= mu_s
    constant = jnp.where(holds, hold, -mu_d * _restart(W_tt, W_tn, mu_d))

    def rates(impulse: Array) -> Array:
        """(f, 1) while slip lasts."""
        u_t = (u0 + W @ impulse)[:k]
        speed = _norm(u_t)
        return jnp.append(-mu_d * u_t / jnp.where(speed > 0, speed, 1.0), 1.0)

    def advance(c: _Course) -> _Course:
        u = u0 + W @ c.impulse
        speed = _norm(u[:k])
        way = u[:k] / jnp.where(speed > 0, speed, 1.0)
        # Where a contact can only move along one line, slip ends together with compression.
        straight = c.straight | (speed <= _STILL.of(u0) * scale)
        friction = jnp.where(c.straight, c.friction, constant)
        d = jnp.where(straight, jnp.append(friction, 1.0), rates(c.impulse))
        du = W @ d
        slows = way @ du[:k]
        turns = _norm(du[:k] - slows * way)
        aligned = straight | (turns <= _ALIGNED.of(u0) * strongest) | (k == 1)
        stops = ~straight & (slows < 0) & (aligned | (speed <= _STOPPED.of(u0) * scale))
        to_stop = jnp.where(stops, speed / jnp.where(stops, -slows, 1.0), jnp.inf)
        to_end = jnp.where(c.compressed, end(c, e, u0[-1], u[-1], du[-1]), _over(-u[-1], du[-1]))
        turn = jnp.where(strongest > 0, strongest, 1.0)
        to_turn = jnp.where(aligned | stops, jnp.inf, _TURN * speed / turn)
        step = jnp.minimum(jnp.minimum(to_stop, to_end), to_turn)
        failed = ~jnp.isfinite(step)
        step = jnp.where(failed, 0.0, step)

        line = aligned | stops
        work = c.work + step * (u[-1] + step * du[-1] / 2)
        impulse = c.impulse + step * d
        if k > 1:
            bent, bent_work = _runge_kutta(rates, u0, W, c.impulse, step)
            impulse = jnp.where(line, impulse, bent)
            work = jnp.where(line, work, c.work + bent_work)
        stopped = to_stop < to_end
        ends = ~stopped & ((line & (step == to_end)) | (jnp.abs(to_end) <= smallest))
        # Slip that has stopped is zero, whatever rounding left of it.
        left = solve_redundant(W_tt, (u0 + W @ impulse)[:k], size)
        impulse = jnp.where(stopped, impulse - jnp.append(left, 0.0), impulse)
        now_compressed = ends & ~c.compressed
        new = _Course(
            impulse=impulse,
            work=work,
            compressed=c.compressed | ends,
            p_c=jnp.where(now_compressed, impulse[-1], c.p_c),
            w_c=jnp.where(now_compressed, work, c.w_c),
            straight=straight | stopped,
            friction=friction,
            holds=jnp.where(c.straight, c.holds, (straight | stopped) & holds),
            done=failed | (ends & c.compressed),
            failed=failed,
        )
        return jax.tree.map(lambda a, b: jnp.where(c.done, a, b), c, new)

    still = _norm(u0[:k]) <= _STILL.of(u0) * scale
    zero, no = jnp.zeros((), u0.dtype), jnp.asarray(False)
    idle = ~problem.active[0] | (u0[-1] >= 0)
    nothing = jnp.zeros_like(u0)
    c = _Course(nothing, zero, no, zero, zero, still, constant, still & holds, idle, no)
    if k == 1:
        for _ in range(_PLANAR_PIECES):
            c = advance(c)
    else:
        steps = jnp.asarray(0)
        c, _ = jax.lax.while_loop(
            lambda s: ~s[0].done & (s[1] < _SPATIAL_STEPS),
            lambda s: (advance(s[0]), s[1] + 1),
            (c, steps),
        )
    sticks = (c.straight & c.holds & ~idle)[None]
    return ImpactSolution.of(c.impulse[None], sticks, feasible=c.done & ~c.failed)


newton, poisson, stronge = (partial(_through_impact, end) for end in _ENDS.values())


def _runge_kutta(
    rates: Callable, u0: Array, W: Array, impulse: Array, step: Scalar
) -> tuple[Float[Array, "dim"], Scalar]:
    """Impulse after a step in p, and the work of its normal part."""
    from diffrax import Dopri5  # slow to import, and needed in space alone

    slopes: list[Array] = []
    powers: list[Array] = []
    for row in [(), *Dopri5.tableau.a_lower]:
        at = impulse
        for a, slope in zip(row, slopes, strict=True):
            at = at + float(a) * step * slope
        slopes.append(rates(at))
        powers.append((u0 + W @ at)[-1])
    weights = [float(b) for b in Dopri5.tableau.b_sol]
    moved = sum(b * s for b, s in zip(weights, slopes, strict=True))
    work = sum(b * w for b, w in zip(weights, powers, strict=True))
    return impulse + step * moved, step * work


def _restart(W_tt: Array, W_tn: Array, mu: Scalar) -> Float[Array, "k"]:
    """φ with (μ W_tt + λ) φ = W_tn, λ > 0, |φ| = 1: how slip starts from rest.

    |φ(λ)| falls, so Newton's method on 1/|φ| from below the root converges monotonically.
    """
    size, strongest = jnp.trace(W_tt), _norm(W_tn)
    lam = jnp.maximum(strongest - mu * size, _ALIGNED.of(W_tn) * (size + strongest) + TINY.of(W_tn))
    eye = jnp.eye(W_tn.size, dtype=W_tn.dtype)
    phi = W_tn
    for _ in range(8):
        solve = inverse(mu * W_tt + lam * eye)
        phi = solve @ W_tn
        norm = _norm(phi)
        slope = phi @ (solve @ phi)
        lam = lam + (norm - 1) * norm * norm / jnp.where(slope > 0, slope, 1.0)
        lam = jnp.maximum(lam, TINY.of(W_tn))
    return phi / jnp.where(_norm(phi) > 0, _norm(phi), 1.0)


def _over(distance: Scalar, rate: Scalar) -> Scalar:
    """How long until a distance is gone; never if it does not shrink."""
    gone = rate > 0
    return jnp.where(gone, distance / jnp.where(gone, rate, 1.0), jnp.inf)


def _root(x: Scalar) -> Scalar:
    """√x, 0 below zero, with a derivative everywhere."""
    return jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0)


def _norm(x: Array) -> Scalar:
    return _root(jnp.sum(x * x))
