"""From a mechanism, its contacts and its control to the blueprint of a machine.

Blueprints are kept, so that another run of the same mechanism assembles nothing.
"""

import functools
import operator
from typing import Any, NamedTuple

import jax

from stiction.control import PushOff
from stiction.engines.blueprint import Blueprint, Core
from stiction.engines.core_arrays import actuators_of, push_of, tree_of
from stiction.engines.pair_arrays import ground_of, pair_rows, pairs_of, places_among
from stiction.engines.room import MOST_ROWS_AT_ONCE
from stiction.mechanism import BALL, FREE


class _Same:
    """Objects that are told apart by which they are; they live as long as this does."""

    def __init__(self, *parts: Any):
        leaves, self.tree = jax.tree.flatten(parts)
        self.leaves = leaves
        self.key = tuple(map(id, leaves))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.key == other.key and self.tree == other.tree


class _Objects(NamedTuple):
    """Objects that are the same: to look at their arrays is not needed then."""

    parts: tuple[Any, ...]

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.parts)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Objects) and all(map(operator.is_, self.parts, other.parts))


@functools.lru_cache(maxsize=32)
def _design_of_objects(objects: _Objects, *options: Any) -> Blueprint:
    return _design(_Same(*objects.parts), *options)


@functools.lru_cache(maxsize=32)
def _design(same: _Same, guards, stages, soft, unknowns, single, device) -> Blueprint:
    mechanism, contacts, control = jax.tree.unflatten(same.tree, same.leaves)
    core = Core(single=single, device=device)
    a, lay = core.arrays, core.layout
    M = lay.Machine()
    M.tree, size_M, links = tree_of(a, lay.Links(), mechanism)
    push = control if isinstance(control, PushOff) else None
    M.act = actuators_of(a, lay.MotorArrays(), mechanism, None if push else control)
    M.act.guards = guards
    rows = [] if contacts is None else pair_rows(core.contacts, mechanism, contacts, links)
    if push:
        M.act.guards, M.push = 1, push_of(a, lay.PushArrays(), mechanism, contacts, push, links)
    M.pairs = pairs_of(a, lay.Pairs(), rows)
    if contacts is not None:
        ground_of(a, M.pairs, [contacts.planes], contacts.field)
    kinds, at = mechanism.tree.joint_types, mechanism.tree.q_address
    turns = [
        at[j] + (3 if kind == FREE else 0) for j, kind in enumerate(kinds) if kind in (FREE, BALL)
    ]
    most = min(sum(row["rows"] for row in rows), MOST_ROWS_AT_ONCE)
    return Blueprint(core, M, size_M, most, stages, unknowns, turns, soft)


def stands_on(mechanism: Any, contacts: Any, push: PushOff | None) -> bool:
    """Whether a push is one from contacts of this list."""
    return push is not None and places_among(mechanism, contacts, push.contacts) is not None


def design_of(
    mechanism,
    contacts,
    control,
    *,
    guards=0,
    stages=7,
    soft=False,
    unknowns=0,
    single=False,
    device="cpu",
) -> Blueprint:
    """The design of a mechanism, the one that is kept if there is one."""
    objects = _Objects((mechanism, contacts, control))
    return _design_of_objects(objects, guards, stages, soft, unknowns, single, device)
