"""The stance of a scene: what stands, on which contacts, and in which posture."""

from stiction._base import defaults
from stiction._base.arrays import Array
from stiction._base.errors import InputError
from stiction.agility import Stance, make_stance, place
from stiction.scenes.contact import require_tree
from stiction.scenes.run import Scene
from stiction.surfaces import find_contacts, level_ground


def build_stance(
    scene: Scene, *, point: str = "", feet: list[str] | None = None, mu: float | None = None
) -> tuple[Stance, Array]:
    """The stance of a scene, and its start put on the ground.

    Args:
        scene: What stands, and in which posture it starts.
        point: Body, site or "com" that is accelerated; else the first body.
        feet: Sites and geoms to stand on; else those of the scene's jump, or of its contacts.
        mu: Static friction of the feet; else the scene's.
    """
    scenario, mechanism = scene.scenario, scene.mechanism
    require_tree(mechanism)
    pushing = scenario.jump.feet if scenario.jump else None
    points = feet or pushing or scenario.contact.points
    ground = scene.ground if scene.ground.names else level_ground()
    contacts = find_contacts(mechanism, points=points, ground=ground, pairs=False)
    friction = getattr(scenario.contact, "mu_static", defaults.MU_STATIC) if mu is None else mu
    if isinstance(friction, dict):
        raise InputError("`contact.mu_static` by name is not read here; give `--mu`")
    stance = make_stance(mechanism, contacts=contacts, mu=friction, point=point)
    return stance, place(stance, scene.posture)[0]
