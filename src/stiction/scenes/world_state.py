"""What touches at a state of a scene that finds its contacts on the way, and what it does there."""

import warnings
from typing import Any

import numpy as np

from stiction._base.errors import IgnoredWarning, InputError, RunError
from stiction.control import as_switching
from stiction.engines.given import Extent, Given
from stiction.engines.worlds.impacts import ImpactOutcome, resolve_in_world
from stiction.engines.worlds.state import WorldState, world_state
from stiction.scenes.run import Scene


def state_of(scene: Scene, *, until: float) -> WorldState:
    """What touches in a scene with rigid contacts, after so long; at 0 at its start."""
    given = _given(scene, scene.q, scene.v, until or 1.0)
    extent = Extent(2, events=False, max_events=scene.scenario.contact.max_events)
    try:
        state = world_state(given, extent, run=until > 0)
    except RunError as error:
        raise InputError(f"this state cannot be looked at: {error}") from None
    _tell(state)
    return state


def impacts_of(
    scene: Scene, q: Any, v: Any, time: float, laws: list[tuple[str, str, bool]]
) -> tuple[WorldState, list[ImpactOutcome]]:
    """A state just before an impact, and what laws make of it: see `resolve_in_world`."""
    try:
        state, outcomes = resolve_in_world(_given(scene, q, v, 1.0), time, laws)
    except RunError as error:
        raise InputError(f"this impact cannot be resolved: {error}") from None
    _tell(state)
    return state, outcomes


def _given(scene: Scene, q: Any, v: Any, until: float) -> Given:
    q, v = np.asarray(q, float), np.asarray(v, float)
    control, end = as_switching(scene.control), np.asarray(until)
    return Given(scene.mechanism, scene.contacts, control, scene.solver, q, v, end, scene.law)


def _tell(state: WorldState) -> None:
    if state.left_out:
        warnings.warn(
            "friction of spin and rolling is not told here: of"
            f" {', '.join(state.left_out)} only sliding is",
            IgnoredWarning,
            stacklevel=3,
        )
