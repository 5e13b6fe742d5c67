"""An event of rigid contacts, carried out in passes of the loop: a jump if something collides, then
the new mode.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from stiction._arrays import Array
from stiction.engines.contact_dynamics import ContactDynamics, kinetic
from stiction.engines.event_search import select
from stiction.engines.flow import Flow
from stiction.engines.happenings import START, TOUCH, collide, quiet, settle, touches
from stiction.engines.hybrid_loop import AFTER_IMPACT, JAMMED, STEP, Loop
from stiction.engines.records import Packing


def rigid_events(flow: Flow, resolve: Callable, law: Any) -> Callable[[Loop, Packing], Loop]:
    """What `run_loop` does at an event of rigid contacts.

    Args:
        flow: The smooth motion.
        resolve: The impact law.
        law: Its parameters.
    """

    def happen(s: Loop, happening: Packing) -> Loop:
        def jump(s: Loop, d: ContactDynamics, power: Array) -> Loop:
            del power
            jammed = s.phase == JAMMED
            y, what = collide(flow, resolve, law, s.t, s.y, s.mode, s.cause, jammed, d)
            what = eqx.tree_at(lambda h: h.suspicious, what, jammed)
            current = happening.pack(what, s.t.dtype)
            return eqx.tree_at(
                lambda s: (s.y, s.phase, s.current, s.keep, s.happened),
                s,
                (
                    y,
                    jnp.full_like(s.phase, AFTER_IMPACT),
                    current,
                    jnp.asarray(False),
                    jnp.asarray(False),
                ),
            )

        def resume(s: Loop, d: ContactDynamics, power: Array) -> Loop:
            after = s.phase == AFTER_IMPACT
            cause = s.cause
            r = settle(flow, s.t, s.y, s.mode, cause, after, d, power)
            seen = d.contacts
            fresh = quiet(s.t, s.y, s.mode, cause, seen.gap, seen.velocity, kinetic(d.L, s.y.v))
            what = select(after, happening.unpack(s.current), fresh)
            what = eqx.tree_at(
                lambda h: (
                    h.modes_after, h.direction_after, h.consistent, h.suspicious, h.speed,
                    h.acceleration,
                ),
                what,
                (
                    r.mode.modes, r.mode.direction, r.consistent, r.suspicious | what.suspicious,
                    jnp.max(jnp.abs(r.y.v)), jnp.max(jnp.abs(r.k.v)),
                ),
            )  # fmt: skip
            # No consistent mode while something slides: an impact without collision stops it, once.
            jams = ~r.consistent & r.slides & ~(after & what.tangential)
            phase = jnp.where(jams, JAMMED, STEP)
            # Settling at the start is no event, unless something collided or is inside of
            # something; nor is what a jam mends.
            notable = what.suspicious | jnp.any(seen.gap < -TOUCH.of(seen.gap))
            counts = after | (~jams & ((cause.contact != START) | notable))
            return eqx.tree_at(
                lambda s: (
                    s.y, s.mode, s.k, s.seen, s.values, s.phase, s.current, s.events, s.keep,
                    s.happened,
                ),
                s,
                (
                    r.y, r.mode, r.k, r.seen, flow.event_values(r.seen, r.mode), phase,
                    happening.pack(what, s.t.dtype), s.events + counts.astype(int), ~jams, counts,
                ),
            )  # fmt: skip

        d, power = flow.dynamics(s.t, s.y, s.mode)
        _, collides = touches(d, s.mode)
        jumps = jnp.any(collides) | (s.phase == JAMMED)
        return jax.lax.cond(jumps, jump, resume, s, d, power)

    return happen
