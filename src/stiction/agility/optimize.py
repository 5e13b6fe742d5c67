r"""The posture that accelerates best: flickinger (6.7)-(6.11).

$$ \max s \quad\text{over the posture } \xi \text{ and the efforts } \tau $$

such that at rest the point accelerates with s along the direction, motors are within their limits
(6.8), the forces of stance contacts that neither move nor slip are within their friction cones,
joints within their limits (6.9), contacts touch (6.10), joints and bodies are above the ground
(6.11). Written with s and τ as unknowns the problem is smooth; the capability alone is not, for
another limit binds in every region (that is why the document calls it discontinuous). The feasible
postures are not connected (Figure 6.1): many starts, each of which climbs to its own local optimum.

Where contacts are redundant the least forces that keep them at rest must be within their cones,
which is more than the capability itself asks for.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.compile import quick_jit
from stiction._base.errors import RunError
from stiction.agility.capability import Capability, capability, limits_in_words
from stiction.agility.nonlinear import Minimum, minimize
from stiction.agility.postures import (
    PostureLimits,
    clearances,
    configuration,
    coordinates,
    place,
    random_posture,
    stands,
)
from stiction.agility.stance import Stance, effort_range, stance_maps

KKT = 1e-8  # what is aimed at; 1e-6 is asked for
MAX_STEPS = 300
_GOOD = 1e-6
_CHUNK = 1000  # postures looked at in one call
LENGTH = 0.1  # [m]: gaps and clearances are counted in tenths of a metre
_SAME = 1e-2  # postures nearer than this [rad, m] are one


@dataclass(frozen=True)
class Optimum:
    """A local optimum."""

    q: np.ndarray
    capability: float  # [m/s²]
    effort: np.ndarray  # [N or N·m]
    force: np.ndarray  # [N]
    binding: list[str]
    residual: float  # of the optimality (KKT) conditions, relative
    starts: int  # that led here


@dataclass(frozen=True)
class PostureSearch:
    """What a search for the best posture found."""

    optima: list[Optimum]  # the best first
    sampled: int  # random postures looked at
    feasible: int  # of them, those that stand and can accelerate along the direction
    best_sample: float  # [m/s²]
    starts: int
    converged: int


def best_posture(
    stance: Stance,
    limits: PostureLimits,
    direction: Float[Array, "3"],
    *,
    seed: int = 0,
    samples: int = 10_000,
    starts: int = 32,
    guess: Float[Array, "nq"] | None = None,
) -> PostureSearch:
    """The best posture and the other local optima.

    Args:
        stance: What stands, on what, and the point that counts.
        limits: Bounds on the posture.
        direction: Unit vector in the world.
        seed: Seed of the random postures; the same seed gives the same answer.
        samples: Number of random postures to begin with.
        starts: How many of them climb: the best half, and others chosen evenly from the rest.
        guess: A further posture to start from.
    """
    postures, found = sample_postures(stance, limits, direction, seed=seed, samples=samples)
    values = np.asarray(found.value)
    order = np.argsort(-values, kind="stable")
    feasible = int(np.isfinite(values).sum())
    if not feasible:
        raise RunError(
            f"none of {samples} random postures can accelerate the point along the direction while"
            " its contacts hold; try another direction, more friction, or more samples"
        )
    others = np.linspace(0, feasible - 1, starts).astype(int)
    chosen = np.unique(np.concatenate([np.arange(min(starts // 2, feasible)), others]))[:starts]
    chosen = np.resize(order[chosen], starts)  # a fixed number of lanes: one compiled program
    q0 = postures[chosen]
    lanes = jax.tree.map(lambda x: np.asarray(x)[chosen], found)
    if guess is not None:
        at_guess = jax.device_get(_capability(stance, jnp.asarray(guess)[None], direction))
        if np.isfinite(at_guess.value[0]):
            q0[-1] = np.asarray(guess)
            lanes = jax.tree.map(lambda x, g: np.concatenate([x[:-1], g]), lanes, at_guess)
    size = max(float(np.median(np.abs(lanes.value))), 1.0)
    force = max(float(np.median(np.abs(lanes.force).max(axis=(1, 2)))), 1e-6)
    units = jnp.asarray(np.array([size, force]))
    q, minimum, fits, after = jax.device_get(_climb(stance, limits, direction, units, q0, lanes))
    good = (minimum.residual <= _GOOD) & fits & np.isfinite(after.value)
    optima = _distinct(stance, q[good], minimum.residual[good],
                       jax.tree.map(lambda x: x[good], after))  # fmt: skip
    if not optima:
        raise RunError(f"none of {starts} starts came to an optimum; try another seed")
    return PostureSearch(optima, samples, feasible, float(values.max()), starts, int(good.sum()))


def sample_postures(
    stance: Stance,
    limits: PostureLimits,
    direction: Float[Array, "3"],
    *,
    seed: int,
    samples: int,
) -> tuple[np.ndarray, Capability]:
    """Random postures and their capabilities: -inf for those that do not stand."""
    count = -(-samples // _CHUNK)
    keys = jax.random.split(jax.random.key(seed), (count, _CHUNK))
    parts = [jax.device_get(_sample(stance, limits, direction, k)) for k in keys]
    q, found = jax.tree.map(lambda *x: np.concatenate(x)[:samples], *parts)
    return q, found


@quick_jit
def _sample(stance, limits, direction, keys):
    def one(key):
        q = random_posture(stance, limits, key)
        found = capability(stance, q, direction)
        ok = stands(stance, limits, q)
        return q, eqx.tree_at(lambda c: c.value, found, jnp.where(ok, found.value, -jnp.inf))

    return jax.vmap(one)(keys)


@quick_jit
def _capability(stance, q, direction):
    return jax.vmap(lambda q: capability(stance, q, direction))(q)


@quick_jit
def _climb(stance, limits, direction, units, q0, lanes):
    """From each posture to a local optimum, with units for accelerations and forces."""
    varied = np.array(limits.varied)
    low, high = effort_range(stance, stance.mechanism.q_reference, jnp.zeros(stance.mechanism.nv))
    unit = (high - low) / 2

    def one(q, start: Capability):
        xi0 = coordinates(stance, q)

        def program(x):
            return _program(stance, limits, direction, units, unit, xi0, x)

        x0 = jnp.concatenate([xi0[varied], (start.value / units[0])[None], start.effort / unit])
        end: Minimum = minimize(program, x0, tolerance=KKT, max_steps=MAX_STEPS)
        xi = xi0.at[varied].set(end.x[: varied.size])
        xi = jnp.clip(xi, limits.lower, limits.upper)  # rounding
        q = place(stance, configuration(stance, xi))[0]
        moved = jnp.max(jnp.abs(coordinates(stance, q) - xi))
        fits = (moved < 1e-6) & jnp.all(clearances(stance, q) >= -1e-9)
        return q, end, fits, capability(stance, q, direction)

    return jax.vmap(one)(q0, lanes)


def _program(stance, limits, direction, units, unit, xi0, x):
    """Objective, equations and inequalities of the head of the file."""
    varied = np.array(limits.varied)
    below, above = np.array(limits.bounded_below, int), np.array(limits.bounded_above, int)
    some, s, effort = jnp.split(x, [varied.size, varied.size + 1])
    xi = xi0.at[varied].set(some)
    q = configuration(stance, xi)
    maps = stance_maps(stance, q, jnp.zeros(stance.mechanism.nv, x.dtype))
    reduced = maps.without_forces()
    tau = unit * effort
    a = (reduced.a0 + reduced.D @ tau) / units[0]
    f = ((reduced.f0 + reduced.F @ tau) / units[1]).reshape(maps.gap.size, -1)
    equations = jnp.concatenate([a - s[0] * direction[stance.rows], maps.gap / LENGTH])
    inequalities = jnp.concatenate([
        (tau - maps.lower) / unit,
        (maps.upper - tau) / unit,
        stance.mu**2 * f[:, -1] ** 2 - jnp.sum(f[:, :-1] ** 2, axis=1),
        f[:, -1],
        (xi - limits.lower)[below],
        (limits.upper - xi)[above],
        clearances(stance, q) / LENGTH,
    ])  # fmt: skip
    return -s[0], equations, inequalities


def _distinct(
    stance: Stance, q: np.ndarray, residual: np.ndarray, after: Capability
) -> list[Optimum]:
    """Local optima, the best first; those that are the same posture as one."""
    optima: list[Optimum] = []
    still = jnp.zeros(stance.mechanism.nv)
    taken = np.zeros(len(q), bool)
    xi = np.asarray(jax.vmap(lambda q: coordinates(stance, q))(jnp.asarray(q))) if len(q) else q
    for i in np.argsort(-after.value, kind="stable"):
        if taken[i]:
            continue
        near = (np.abs(xi - xi[i]).max(axis=1) < _SAME) & ~taken
        taken |= near
        one = jax.tree.map(lambda x, i=i: x[i], after)
        low, high = effort_range(stance, jnp.asarray(q[i]), still)
        optima.append(
            Optimum(
                q=q[i],
                capability=float(one.value),
                effort=one.effort,
                force=one.force,
                binding=limits_in_words(stance, one, low, high),
                residual=float(residual[i]),
                starts=int(near.sum()),
            )
        )
    return optima
