"""The log of a run: what its events found, did to every contact, and left."""

import equinox as eqx

from stiction._base.arrays import Array, Bool, Float, Int
from stiction.engines.contact_places import ContactPlaces

# Causes that are not contacts.
START, GUARD = -1, -2


class Cause(eqx.Module):
    """Which event function has fallen below zero.

    Of a contact the first or the second; of the control (contact = `GUARD`) the guard of that
    index; at the start of a run none (contact = `START`).
    """

    contact: Int[Array, "*events"]
    function: Int[Array, "*events"]


class EventLog(eqx.Module):
    """Events one after the other, with room for `max_events` and one more."""

    time: Float[Array, "*events"]
    cause: Cause
    impact: Bool[Array, "*events"]
    tangential: Bool[Array, "*events"]  # an impact without collision
    consistent: Bool[Array, "*events"]  # whether a consistent mode was found
    suspicious: Bool[Array, "*events"]  # whether there may be no such mode, or several
    modes_before: Int[Array, "*events n"]
    modes_after: Int[Array, "*events n"]
    direction_before: Float[Array, "*events n k"]  # of slip
    direction_after: Float[Array, "*events n k"]
    gap: Float[Array, "*events n"]  # before closed contacts were brought back to the surface [m]
    velocity_before: Float[Array, "*events n dim"]
    velocity_after: Float[Array, "*events n dim"]
    impulse: Float[Array, "*events n dim"]
    mu: Float[Array, "*events n"]
    work: Float[Array, "*events n dim"]  # of each component of the impulse [J]
    q: Float[Array, "*events nq"]
    v_before: Float[Array, "*events nv"]
    v_after: Float[Array, "*events nv"]
    kinetic_before: Float[Array, "*events"]
    kinetic_after: Float[Array, "*events"]
    removed: Float[Array, "*events"]  # by energy control, and as a sequence is cut short [J]
    limit: Float[Array, "*events n"]  # when endless impacts would have ended [s], or nan
    speed: Float[Array, "*events"]  # the largest |v| after
    acceleration: Float[Array, "*events"]  # the largest |dv/dt| after
    places: ContactPlaces | None = None  # of one run, with impulses
