r"""The dissipation principle for oblique impacts, with or without a bound on energy.

flickinger (4.4)-(4.10): if the no-slip impulses are not inside the static cones, the tangential
velocities afterwards are those that minimise

$$ \sum_i (\mu_s - \mu_i)^2 + |u_{t,i}^+|^2 \quad\text{subject to}\quad
   |p_{t,i}|^2 \le \mu_i^2 p_{n,i}^2, \quad p_{n,i} \ge 0, $$

with $\mu_i = \mu_{min,i} + (\mu_s - \mu_{min,i}) e^{-(|u_{t,i}^+| / v_s)^a}$ and
$\mu_{min,i} = \min(\mu_d, \mu_{f,i})$, μ_f the coefficient that sticking would need. (5.6)-(5.14)
add $T^+ \le e^* T^-$.

The problem is not convex, but it is so only through the jump of μ between sticking and sliding, for
v_s is tiny: a contact either sticks (cost 0, static cone) or slides (cost at least (μ_s - μ_min)²,
dynamic cone). For each choice of who sticks what is left is convex (`cone_program`), and the
cheapest choice that can be had is the optimum. All choices are tried for up to six contacts; for
more, a choice that no single contact can better by changing sides is found.
"""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Bool, Float, Scalar
from stiction.impacts.cone_program import least_slip
from stiction.impacts.no_slip import stick_impulse
from stiction.impacts.problem import (
    ImpactProblem,
    ImpactSolution,
    friction_used,
    solve_in_rows,
)
from stiction.impacts.tangential import TangentialProblem, tangential_problem
from stiction.laws import stribeck_coefficient

_STUCK = 1e-6  # slower than this part of the slip before, a contact that was to stick does [-]
_WEIGHT = 1e6  # of the slip of contacts that are to stick; what is left of it is then taken away
_FIXED_POINT = 3  # rounds in which μ(|u_t⁺|) and the slip are brought together
_MAX_CHOICES = 64  # beyond this many, choices are found by changing one contact at a time
_ROUNDING = 1e-10


def dissipation(problem: ImpactProblem, *, constrain_energy: bool = False) -> ImpactSolution:
    """Impulses of the dissipation principle (4.4)-(4.10), or of (5.6)-(5.14)."""
    stick = stick_impulse(problem, problem.active)
    used = friction_used(stick)
    tangential = jnp.sqrt(jnp.sum(stick[:, :-1] ** 2, axis=1))
    slack = _ROUNDING * jnp.max(jnp.abs(stick))
    holds = jnp.all(tangential <= problem.mu_static * stick[:, -1] + slack)
    room = (problem.energetic - 1) * problem.kinetic if constrain_energy else None
    if room is not None:
        holds = holds & (jnp.sum(problem.work(stick)) <= room + _ROUNDING * problem.kinetic)
    # What sticking would need, where it can be had at all.
    needed = jnp.where(stick[:, -1] > 0, used, jnp.inf)
    mu_min = jnp.minimum(problem.mu_dynamic, needed)
    n, dim = problem.velocity.shape

    def hold() -> tuple[Array, Array, Array]:
        return stick, jnp.zeros((n, dim - 1), stick.dtype), jnp.asarray(True)

    def slide() -> tuple[Array, Array, Array]:
        if n == 1:
            return all_slide()
        return jax.lax.cond(jnp.sum(problem.active) == 1, one_slides, all_slide)

    def all_slide() -> tuple[Array, Array, Array]:
        return _slide(problem, mu_min, room)

    def one_slides() -> tuple[Array, Array, Array]:
        # Most often one contact hits alone, and that is a much smaller problem.
        which = jnp.argmax(problem.active)[None]
        impulse, slip, possible = _slide(problem.part(which), mu_min[which], room)
        wide = jnp.zeros((n, dim), stick.dtype)
        return wide.at[which].set(impulse), wide[:, 1:].at[which].set(slip), possible

    impulse, slip, possible = jax.lax.cond(holds, hold, slide)
    speed = jnp.sqrt(jnp.sum(slip**2, axis=1))
    return ImpactSolution.of(impulse, problem.active & (speed <= 1e-12), possible)


def _slide(
    problem: ImpactProblem, mu_min: Array, room: Scalar | None
) -> tuple[Float[Array, "n dim"], Float[Array, "n k"], Bool[Array, ""]]:
    """Impulses, slip afterwards, and whether the bounds could be kept, if not all contacts stick.

    `room` is the largest T⁺ - T⁻ allowed [J]; None for no bound.
    """
    n, dim = problem.velocity.shape
    maps = tangential_problem(problem)
    method = _one_in_the_plane if (n, dim) == (1, 2) else _cheapest_choice
    p_t, possible = method(problem, maps, mu_min, room)
    return maps.impulse(p_t), maps.slip(p_t).reshape(n, dim - 1), possible


def _friction_at(problem: ImpactProblem, mu_min: Array, speed: Array) -> Float[Array, "n"]:
    """μ of every contact at its slip speed (4.10)."""
    return stribeck_coefficient(
        speed,
        mu_static=problem.mu_static,
        mu_dynamic=mu_min,
        stribeck_speed=problem.stribeck_speed,
        stribeck_power=problem.stribeck_exponent,
    )


def _one_in_the_plane(
    problem: ImpactProblem, maps: TangentialProblem, mu_min: Array, room: Scalar | None
) -> tuple[Float[Array, "1"], Bool[Array, ""]]:
    """One contact, one tangent: the impulse nearest to the sticking one inside its bounds.

    -μ (a + b p) ≤ p ≤ μ (a + b p) bounds p on each side, or on one; so does the energy.
    """
    a, b, c, d = maps.a[0], maps.B[0, 0], maps.c[0], maps.D[0, 0]
    movable = d > 0  # neither a contact that is apart, nor one that has no tangential motion
    wanted = jnp.where(movable, -c / jnp.where(movable, d, 1.0), 0.0)
    low_energy, high_energy, kept = -jnp.inf, jnp.inf, jnp.asarray(True)
    if room is not None:
        # T⁺ - T⁻ = e0 + e1 p + ½ E p² ≤ room, a parabola that opens upwards.
        e0, e1, E = maps.e0, maps.e1[0], jnp.where(movable, maps.E[0, 0], 1.0)
        disc = e1 * e1 - 2 * E * (e0 - room)
        kept = disc >= 0
        wide = jnp.sqrt(jnp.maximum(disc, 0.0))
        low_energy, high_energy = (-e1 - wide) / E, (-e1 + wide) / E

    def bounds(mu: Scalar) -> tuple[Scalar, Scalar]:
        up, down = 1 - mu * b, 1 + mu * b
        high = jnp.where(up > 0, mu * a / jnp.where(up > 0, up, 1.0), jnp.inf)
        low = jnp.where(down > 0, -mu * a / jnp.where(down > 0, down, 1.0), -jnp.inf)
        return jnp.maximum(low, low_energy), jnp.minimum(high, high_energy)

    mu = mu_min[0]
    p = wanted
    for _ in range(_FIXED_POINT):
        low, high = bounds(mu)
        p = jnp.clip(wanted, low, high)
        mu = _friction_at(problem, mu_min, jnp.abs(c + d * p)[None])[0]
    low, high = bounds(mu_min[0])
    possible = (low <= high) & kept
    return jnp.where(movable, p, 0.0)[None], possible | ~maps.active[0]


def _cheapest_choice(
    problem: ImpactProblem, maps: TangentialProblem, mu_min: Array, room: Scalar | None
) -> tuple[Float[Array, "s"], Bool[Array, ""]]:
    n, s = maps.B.shape
    k = s // n
    before = jnp.sqrt(jnp.sum(problem.velocity**2)) + 1e-300
    start, within = _start(maps, mu_min, room)

    def attempt(sticks: Array) -> tuple[Array, Scalar]:
        weight = jnp.where(sticks, _WEIGHT, 1.0)
        held = jnp.repeat(sticks, k)

        def nearer(_: Any, found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            _, mu, aim = found
            p = least_slip(eqx.tree_at(lambda m: m.c, maps, aim), mu, weight, room, start)
            slip = maps.slip(p)
            speed = jnp.sqrt(jnp.sum(slip.reshape(n, k) ** 2, axis=1))
            mu = jnp.where(sticks, problem.mu_static, _friction_at(problem, mu_min, speed))
            # Weights alone leave a little slip; the method of multipliers takes it away.
            return p, mu, aim + jnp.where(held, slip, 0.0)

        mu = jnp.where(sticks, problem.mu_static, mu_min)
        p, mu, _ = jax.lax.fori_loop(0, _FIXED_POINT, nearer, (start, mu, maps.c))
        p = _bring_to_rest(maps, p, sticks & maps.active, k)
        speed = jnp.sqrt(jnp.sum(maps.slip(p).reshape(n, k) ** 2, axis=1))
        moving = jnp.where(sticks, 0.0, speed)
        cost = jnp.sum(
            jnp.where(sticks, 0.0, (problem.mu_static - mu) ** 2) + moving**2, where=maps.active
        )
        stuck = jnp.all(jnp.where(sticks & maps.active, speed <= _STUCK * before, True))
        normal = maps.normal(p)
        rub = jnp.sqrt(jnp.sum(p.reshape(n, k) ** 2, axis=1))
        inside = jnp.all(rub <= mu * normal + 1e-6 * jnp.max(jnp.abs(normal)))
        return p, jnp.where(stuck & inside, cost, jnp.inf)

    if 2**n <= _MAX_CHOICES:
        choices = jnp.asarray(np.array(list(itertools.product([False, True], repeat=n))))
        p, cost = jax.vmap(attempt)(choices)
        best = jnp.argmin(cost)
        return p[best], within & jnp.isfinite(cost[best])
    # Many contacts: begin with nobody sticking, and with those that come to rest in static cones;
    # then let one contact at a time change sides as long as that is cheaper.
    p = least_slip(maps, problem.mu_static, jnp.ones(n, start.dtype), room, start)
    speed = jnp.sqrt(jnp.sum(maps.slip(p).reshape(n, k) ** 2, axis=1))
    first = jnp.stack([jnp.zeros(n, bool), speed <= _STUCK * before])

    def cheapest(choices: Array) -> tuple[Array, Array, Scalar]:
        p, cost = jax.vmap(attempt)(choices)
        best = jnp.argmin(cost)
        return choices[best], p[best], cost[best]

    def change_one(state: tuple[Array, Array, Scalar, Array]) -> tuple[Array, Array, Scalar, Array]:
        sticks, p, cost, _ = state
        new = cheapest(sticks[None] ^ jnp.eye(n, dtype=bool))
        better = new[2] < cost - _ROUNDING
        sticks, p, cost = (
            jnp.where(better, a, b) for a, b in zip(new, (sticks, p, cost), strict=True)
        )
        return sticks, p, cost, better

    state = (*cheapest(first), jnp.asarray(True))
    _, p, cost, _ = jax.lax.while_loop(lambda s: s[3], change_one, state)
    return p, within & jnp.isfinite(cost)


def _bring_to_rest(maps: TangentialProblem, p: Array, sticks: Array, k: int) -> Float[Array, "s"]:
    """Impulses of sticking contacts, corrected so that their slip is exactly zero."""
    rows = jnp.repeat(sticks, k).astype(p.dtype)
    return p - solve_in_rows(maps.D, rows, maps.slip(p), jnp.max(jnp.diag(maps.D)))


def _start(
    maps: TangentialProblem, mu: Array, room: Scalar | None
) -> tuple[Float[Array, "s"], Bool[Array, ""]]:
    """Impulses inside all bounds: none, or those that lose the most energy if some must be lost."""
    n, s = maps.B.shape
    nothing = jnp.zeros(s, maps.a.dtype)
    if room is None:
        return nothing, jnp.asarray(True)
    free = TangentialProblem(maps.a, maps.B, maps.e1, maps.E, maps.active, maps.e0, maps.e1, maps.E)
    # Least |e1 + E p|: the stationary point of the energy inside the cones.
    start = 0.999 * least_slip(free, mu, jnp.ones(n, maps.a.dtype), None, nothing)
    return start, maps.energy_change(start) < room
