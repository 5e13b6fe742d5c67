"""All possible motions at a state of a scenario."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError
from stiction.mechanism import Mechanism, world_poses
from stiction.motions import Motions
from stiction.motions.mechanism import motions_of_world
from stiction.scenes.run import Scene
from stiction.scenes.world_state import state_of
from stiction.surfaces import Contacts, Places, Planes, WorldContacts, contact_places


@dataclass(frozen=True)
class SceneState:
    """A state of a scenario, and the motions that it allows."""

    title: str
    time: float
    mechanism: Mechanism
    planes: Planes
    q: Array
    v: Array
    answer: Motions
    names: tuple[str, ...]  # of the contacts
    point: np.ndarray  # where each is, shape (n, 3); nan for a limit, which is nowhere
    frame: np.ndarray  # tangents, then the normal, shape (n, d, 3)


def motions_at(scene: Scene, time: float) -> SceneState:
    """Simulate a scene with rigid contacts up to a time, and find every motion it allows there.

    Args:
        scene: What happens.
        time: When to stop [s]; events at that instant have happened. At 0 the initial state is
            taken as it is.
    """
    if not time >= 0:
        raise InputError(f"`--at` must be at least 0 [s], got {time:g}")
    scene = scene.rigid()
    contacts, title = scene.contacts, scene.scenario.title
    if isinstance(contacts, WorldContacts):
        here = state_of(scene, until=time)
        q, v = jnp.asarray(here.q), jnp.asarray(here.v)
        told = (motions_of_world(here), here.names, here.point, here.frame)
        return SceneState(title, time, scene.mechanism, contacts.planes, q, v, *told)
    if not isinstance(contacts, Contacts):
        raise InputError("nothing in this scene can touch: every state allows one motion")
    q, v = scene.q, scene.v
    if time > 0:
        end = scene.simulate(time, 2).check()
        q, v = end.q[-1], end.v[-1]
    answer = scene.motions(q, v, time)
    places = _places(scene.mechanism, contacts, q, jnp.asarray(time))
    rows = [0, 2] if contacts.planar else [0, 1, 2]
    told = (answer, contacts.names, np.asarray(places.point), np.asarray(places.frame)[:, rows])
    return SceneState(title, time, scene.mechanism, contacts.planes, q, v, *told)


@quick_jit
def _places(mechanism: Mechanism, contacts: Contacts, q: Array, t: Array) -> Places:
    return contact_places(contacts, world_poses(mechanism, q), t)
