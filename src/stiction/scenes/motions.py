"""All possible motions at a state of a scenario."""

from dataclasses import dataclass

from stiction._base.arrays import Array
from stiction._base.errors import InputError
from stiction.mechanism import Mechanism
from stiction.motions import Motions
from stiction.scenes.run import Scene
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


def motions_at(scene: Scene, time: float) -> SceneState:
    """Simulate a scene with rigid contacts up to a time, and find every motion it allows there.

    Args:
        scene: What happens.
        time: When to stop [s]; events at that instant have happened. At 0 the initial state is
            taken as it is.
    """
    if not time >= 0:
        raise InputError(f"`--at` must be at least 0 [s], got {time:g}")
    scene = scene.rigid().as_tree()
    contacts = scene.contacts
    if not isinstance(contacts, Contacts):
        raise InputError("nothing in this scene can touch: every state allows one motion")
    q, v = scene.q, scene.v
    if time > 0:
        end = scene.simulate(time, 2).check()
        q, v = end.q[-1], end.v[-1]
    answer = scene.motions(q, v, time)
    return SceneState(scene.scenario.title, time, scene.mechanism, contacts, q, v, answer)
