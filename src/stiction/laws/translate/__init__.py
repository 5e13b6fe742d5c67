"""What a contact is called in other engines, and back: the question users ask every engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stiction.laws.translate.chrono import from_chrono, to_chrono
from stiction.laws.translate.contact import CompliantContact, Translation
from stiction.laws.translate.drake import check_drake, from_drake, to_drake
from stiction.laws.translate.drop import Check, Drop
from stiction.laws.translate.exudyn import from_exudyn, to_exudyn
from stiction.laws.translate.linear import Oscillator
from stiction.laws.translate.mujoco import check_mujoco, from_mujoco, to_mujoco
from stiction.laws.translate.mujoco_pair import linear_to_mujoco
from stiction.laws.translate.simbody import from_simbody, to_simbody


@dataclass(frozen=True)
class Engine:
    """How to speak with one engine."""

    to: Callable[..., Translation]
    back: Callable[..., tuple[CompliantContact, tuple[str, ...]]]
    names: tuple[str, ...]  # of the parameters that `back` understands
    check: Callable[[CompliantContact, Translation], Check] | None = None
    has_time_step: bool = False


ENGINES: Mapping[str, Engine] = {
    "mujoco": Engine(
        to_mujoco, from_mujoco, ("solref", "solimp", "friction"), check_mujoco, has_time_step=True
    ),
    "drake": Engine(
        to_drake,
        from_drake,
        ("hunt_crossley_dissipation", "point_contact_stiffness", "mu_static", "mu_dynamic"),
        check_drake,
        has_time_step=True,
    ),
    "simbody": Engine(
        to_simbody, from_simbody, ("stiffness", "dissipation", "radius", "us", "ud", "uv")
    ),
    "chrono": Engine(
        to_chrono, from_chrono, ("kn", "gn", "model", "radius", "friction"), has_time_step=True
    ),
    "exudyn": Engine(
        to_exudyn,
        from_exudyn,
        (
            "contactStiffness",
            "contactStiffnessExponent",
            "impactModel",
            "restitutionCoefficient",
            "minimumImpactVelocity",
            "dynamicFriction",
        ),
    ),
}

__all__ = [
    "ENGINES",
    "Check",
    "CompliantContact",
    "Drop",
    "Engine",
    "Oscillator",
    "Translation",
    "check_drake",
    "check_mujoco",
    "from_chrono",
    "from_drake",
    "from_exudyn",
    "from_mujoco",
    "from_simbody",
    "linear_to_mujoco",
    "to_chrono",
    "to_drake",
    "to_exudyn",
    "to_mujoco",
    "to_simbody",
]
