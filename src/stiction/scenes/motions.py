"""All possible motions at a state of a scenario."""

from dataclasses import dataclass
from pathlib import Path

from stiction._arrays import Array
from stiction._errors import InputError
from stiction.engines import Hybrid
from stiction.mechanism import Mechanism
from stiction.motions import Motions
from stiction.scenes.run import build_scene, motions_at_state
from stiction.scenes.scenario import Scenario
from stiction.surfaces import Contacts


@dataclass(frozen=True)
class SceneState:
    """A state of a scenario, and the motions that it allows."""

    title: str
    time: float
    mechanism: Mechanism
    contacts: Contacts
    q: Array
    v: Array
    answer: Motions

    @property
    def names(self) -> tuple[str, ...]:
        """Of the contacts."""
        return self.contacts.names


def motions_at(scenario: Scenario, folder: Path, time: float) -> SceneState:
    """Simulate a scenario with rigid contacts up to a time, and find every motion it allows there.

    Args:
        scenario: What happens.
        folder: Its files are relative to it.
        time: When to stop [s]; events at that instant have happened. At 0 the initial state is
            taken as it is.
    """
    if not time >= 0:
        raise InputError(f"`--at` must be at least 0 [s], got {time:g}")
    scene = build_scene(scenario, folder, rigid=True)
    contacts = scene.contacts
    if contacts is None or not isinstance(scene.law, Hybrid):
        raise InputError("nothing in this scene can touch: every state allows one motion")
    q, v = scene.q, scene.v
    if time > 0:
        end = scene.simulate(time, 2).check()
        q, v = end.q[-1], end.v[-1]
    answer = motions_at_state(scene.mechanism, contacts, scene.law, scene.control, q, v, time)
    return SceneState(scenario.title, time, scene.mechanism, contacts, q, v, answer)
