"""The search for an event inside a step: brackets, guesses, and gaps that only graze."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import TINY, Array, Bool, Float, Int, Scalar, Tolerance
from stiction.engines.flow import Mode, Seen
from stiction.engines.forces import OPEN

_LANDED = Tolerance(
    1e-8, 1e-4
)  # an event nearer than this part of the step is reached by the last correction
_PROBE = Tolerance(
    1e-7, 1e-3
)  # part of a step by which the one is longer that measures an event function's rate
_MAX_SEARCH = 60  # passes to find one event


class Search(eqx.Module):
    """The bracket of an event inside a step."""

    on: Bool[Array, ""]
    trial: Scalar  # length of the step to try next
    low: Scalar  # length of a step without the event
    high: Scalar  # length of a step with it
    values_low: Float[Array, "e"]  # event functions at `low`
    f_low: Scalar  # the target's value at `low`, halved when `high` has moved twice running
    f_high: Scalar
    target: Int[Array, ""]  # index into the event functions
    side: Int[Array, ""]  # which end moved last
    passes: Int[Array, ""]
    probed: Bool[Array, ""]  # the trial is to measure the target's rate
    reached: Scalar  # the target's value where it was close enough
    slope: Scalar  # the target's rate, once known


def search_event(
    before: Search,
    t: Scalar,
    values_start: Float[Array, "e"],
    dt: Scalar,
    rates: tuple[Float[Array, "e"], Bool[Array, "e"]],
    values: Float[Array, "e"],
    fallen: Bool[Array, "e"],
) -> tuple[Search, Bool[Array, ""]]:
    """The search after a trial step, and whether the event is found.

    Args:
        before: The search before the step.
        t: Time at the start of the step [s].
        values_start: Event functions at the start.
        dt: Length of the step [s].
        rates: Rates of the event functions at its end, and which of them are known.
        values: Event functions at its end.
        fallen: Which of them have fallen below zero.
    """
    narrowed = _narrow(before, values_start, dt, values, fallen)
    # The probe measures, and narrows nothing.
    search = select(before.probed, before, narrowed)
    value = pick(values, search.target)
    rate, is_known = (pick(x, search.target) for x in rates)
    chord = (search.f_high - search.f_low) / jnp.maximum(search.high - search.low, TINY.of(dt))
    slope = jnp.where(is_known, rate, chord)
    missing = jnp.abs(value / jnp.minimum(slope, -TINY.of(dt)))
    close = missing <= _LANDED.of(dt) * jnp.maximum(search.high, dt)
    narrow = search.high - search.low <= 2 * jnp.finfo(dt.dtype).eps * (1.0 + jnp.abs(t))
    landed = search.on & (close | narrow | (search.passes >= _MAX_SEARCH))
    probe = landed & ~is_known & ~before.probed
    found = (landed & is_known) | before.probed
    measured = (value - search.reached) / jnp.maximum(_PROBE.of(dt) * search.high, TINY.of(dt))
    guess = _guess(search, slope, is_known, dt, value)
    trial = jnp.where(probe, dt + _PROBE.of(dt) * search.high, guess)
    search = eqx.tree_at(
        lambda x: (x.trial, x.probed, x.reached, x.slope),
        search,
        (
            trial,
            probe,
            jnp.where(probe, value, search.reached),
            jax.lax.stop_gradient(jnp.where(is_known, rate, measured)),
        ),
    )
    return search, found


def _narrow(s: Search, values_start: Array, dt: Scalar, values: Array, fallen: Array) -> Search:
    """The bracket after a trial step of length dt with the given event functions at its end."""
    inside = jnp.any(fallen)
    low = jnp.where(s.on, s.low, 0.0)
    values_low = jnp.where(s.on, s.values_low, values_start)
    # Which event comes first: the least root of the chords.
    start = jnp.maximum(values_low, 0.0)
    roots = jnp.where(fallen, start / jnp.where(fallen, start - values, 1.0), jnp.inf)
    first = jnp.argmin(roots)
    target = jnp.where(inside, first, s.target)
    same = s.on & (target == s.target)
    f_new = pick(values, target)
    halved_low = jnp.where(same & (s.side == 1), 0.5, 1.0) * s.f_low
    f_low_in = jnp.where(same, halved_low, pick(start, target))
    halved_high = jnp.where(s.side == -1, 0.5, 1.0) * s.f_high
    return Search(
        on=s.on | inside,
        trial=s.trial,
        low=jnp.where(inside, low, jnp.where(s.on, dt, low)),
        high=jnp.where(inside, dt, s.high),
        values_low=jnp.where(inside | ~s.on, values_low, values),
        f_low=jnp.where(inside, f_low_in, f_new),
        f_high=jnp.where(inside, f_new, halved_high),
        target=target,
        side=jnp.where(inside, 1, -1),
        passes=jnp.where(s.on | inside, s.passes + 1, 0),
        probed=s.probed,
        reached=s.reached,
        slope=s.slope,
    )


def _guess(
    search: Search, slope: Scalar, is_known: Bool[Array, ""], dt: Scalar, value: Scalar
) -> Scalar:
    """The next length to try: Newton's where it stays inside the bracket, else the chord's."""
    newton = dt - value / jnp.where(slope < 0, slope, -1.0)
    width = search.high - search.low
    chord = search.low + width * search.f_low / jnp.maximum(
        search.f_low - search.f_high, TINY.of(dt)
    )
    inside = (newton > search.low) & (newton < search.high) & (slope < 0) & is_known
    guess = jnp.where(inside, newton, chord)
    # Every fourth pass halves the bracket, whatever the functions do.
    middle = search.low + width / 2
    guess = jnp.where(search.passes % 4 == 0, jnp.where(inside, newton, middle), guess)
    return jnp.clip(guess, search.low, search.high)


def grazing(start: Seen, mode: Mode, seen: Seen, dt: Scalar) -> tuple[Bool[Array, ""], Scalar]:
    """Whether a gap dips below zero and comes back inside the step, and a step that ends there.

    The gap over the step is the cubic with its values and rates at both ends.
    """
    g0, g1 = start.gap, seen.gap
    r0, r1 = start.velocity[:, -1] * dt, seen.velocity[:, -1] * dt
    # Derivative of the Hermite cubic: a θ² + b θ + r0.
    a = 6 * (g0 - g1) + 3 * (r0 + r1)
    b = -6 * (g0 - g1) - 4 * r0 - 2 * r1
    dips = (mode.modes == OPEN) & (g0 > 0) & (r0 < 0) & (r1 > 0)
    disc = jnp.sqrt(jnp.maximum(b * b - 4 * a * r0, 0.0))
    # The root at which the derivative rises through zero.
    theta = 2 * r0 / jnp.where(dips, -b - disc, -1.0)
    theta = jnp.clip(theta, 0.0, 1.0)
    lowest = g0 + theta * (r0 + theta * (b / 2 + theta * a / 3))
    grazes = dips & (lowest < 0) & (theta > 1e-6) & (theta < 1 - 1e-6)
    first = jnp.min(jnp.where(grazes, theta, 1.0))
    # A little short of the lowest point, where the gap still closes.
    return jnp.any(grazes), 0.99 * dt * first


def pick(values: Array, index: Int[Array, ""]) -> Array:
    """values[index], without an address that depends on data: that would not be written out."""
    here = jnp.arange(values.size) == index
    if values.dtype == bool:
        return jnp.sum((here & values).astype(int)) > 0
    return jnp.sum(jnp.where(here, values, 0.0))


def select(which: Bool[Array, ""], a: Any, b: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), a, b)
