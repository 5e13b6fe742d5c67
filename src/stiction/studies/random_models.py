"""Domain randomisation: a model for each drawn set of numbers, for MuJoCo, MJX and MuJoCo Warp.

Each case of a design is a model in MJCF. What differs between the compiled models is also given as
arrays with a leading axis of models, under MuJoCo's own names: MJX takes them by `tree_replace` and
`vmap`, MuJoCo Warp as fields of many worlds.

Numbers of contact become those of MuJoCo on every geom that touches: friction is the dynamic one,
and compliant contacts (Hunt and Crossley) get the `solref` and `solimp` of `stiction translate`,
for the mass of the whole mechanism. Rigid contacts keep the model's own `solref`: MuJoCo has none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from stiction._base.errors import InputError
from stiction.interop import CompliantContact, to_mujoco
from stiction.mechanism import total_mass
from stiction.scenes import Scene
from stiction.studies.design import StudyDesign
from stiction.studies.scene_subject import VariedScene

_FRICTION = ("contact.mu_static", "contact.mu_dynamic")
_COMPLIANT = ("stiffness", "alpha", "restitution", "impact_speed", "exponent", *_FRICTION)


@dataclass(frozen=True, eq=False)
class RandomModels:
    """A model for every case of a design.

    Attributes:
        varied: The scene.
        design: The cases.
        limits: What MuJoCo cannot express of them, plainly.
    """

    varied: VariedScene
    design: StudyDesign
    limits: tuple[str, ...] = ()

    def specs(self) -> Iterator[mujoco.MjSpec]:
        """The models in MuJoCo's editable form, one after the other."""
        for number in range(self.design.count):
            yield self._spec(number)

    def texts(self) -> Iterator[str]:
        """The models as MJCF."""
        for spec in self.specs():
            spec.compile()
            yield spec.to_xml()

    def _spec(self, number: int) -> mujoco.MjSpec:
        values = self.design.case(number)
        case = {p: values[name] for name, paths in self.design.targets.items() for p in paths}
        try:
            return _with_contact(self.varied.check(case), set(case))
        except InputError as error:
            raise InputError(f"case {number}: {error}") from None

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """What differs between the compiled models, by MuJoCo's names, with an axis of models."""
        models = [spec.compile() for spec in self.specs()]
        found = {}
        for name in _fields(models[0]):
            values = [np.array(getattr(model, name)) for model in models]
            if any(v.shape != values[0].shape for v in values):
                raise InputError(f"the models differ in the shape of `{name}`: they are no batch")
            if any(not np.array_equal(v, values[0]) for v in values[1:]):
                found[name] = np.stack(values)
        return found

    def values(self) -> dict[str, np.ndarray]:
        """What was drawn, by name, with an axis of models."""
        return self.design.values(0, self.design.count)


def randomize(varied: VariedScene, design: StudyDesign) -> RandomModels:
    """A model for every case of a design; see `draws_of` for what an identification found."""
    paths = {path for group in design.targets.values() for path in group}
    for path in sorted(paths):
        edits = path.startswith("mechanism.")
        contact = path.removeprefix("contact.") in _COMPLIANT or path in _FRICTION
        if not (edits or contact):
            raise InputError(
                f"`{path}` has no place in a model; vary mechanism.edits, friction, or the numbers"
                " of a compliant contact"
            )
    made = RandomModels(varied, design)
    made._spec(0)
    limits: tuple[str, ...] = ()
    law = varied.scene.scenario.contact.law
    if law == "compliant":
        limits = _translated(varied.scene).limits
    elif any(p.startswith("contact.") and p not in _FRICTION for p in paths):
        raise InputError(
            "`contact.law` must be compliant for other numbers of contact than friction: MuJoCo has"
            " no rigid contact; add --set contact.law=compliant"
        )
    return RandomModels(varied, design, limits)


def _with_contact(scene: Scene, varied: set[str]) -> mujoco.MjSpec:
    """The model of a scene, its geoms with the contact numbers of the scenario that are varied."""
    spec, fields = scene.spec(), scene.scenario.contact
    if not any(path.startswith("contact.") for path in varied):
        return spec
    mu: Any = getattr(fields, "mu_dynamic", None)
    if isinstance(mu, dict | list):
        raise InputError("`contact.mu_dynamic` must be one number for all contacts here")
    known = None
    if fields.law == "compliant":
        known = _translated(scene).parameters
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.timestep = min(spec.option.timestep, known["timestep"])
    for geom in spec.geoms:
        if not (geom.contype or geom.conaffinity):
            continue
        geom.friction = [mu, *list(geom.friction)[1:]]
        if known is not None:
            geom.solref, geom.solimp = list(known["solref"]), list(known["solimp"])
    return spec


def _translated(scene: Scene) -> Any:
    """The contact of a scene in MuJoCo's words."""
    normal = scene.law.normal  # type: ignore[union-attr]
    fields: Any = scene.scenario.contact
    if type(normal).__name__ != "HuntCrossley":
        raise InputError("`contact.normal` must be hunt-crossley to be given in MuJoCo's words")
    first = {
        n: float(np.ravel(getattr(normal, n))[0]) for n in ("stiffness", "dissipation", "exponent")
    }
    friction = {n: float(np.max(getattr(fields, n))) for n in ("mu_static", "mu_dynamic")}
    return to_mujoco(
        CompliantContact(
            **first,
            **friction,
            mass=float(total_mass(scene.mechanism)),
            speed=float(np.max(fields.impact_speed)),
        )
    )


def _fields(model: mujoco.MjModel) -> list[str]:
    """Names of the arrays of real numbers of a model."""
    found = []
    for name in dir(model):
        if name.startswith("_"):
            continue
        value = getattr(model, name, None)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            found.append(name)
    return found
