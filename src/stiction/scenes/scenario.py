"""The fields of a scenario file, their meaning, units and bounds.

A scenario is TOML or YAML. Unknown fields are errors; every field can be overridden on the command
line with `--set path=value`. What a file leaves out has the default given here.
"""

import itertools
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from stiction._base import defaults
from stiction._base.files import Fields
from stiction.scenes.motion_fields import JumpFields, TrackFields, Vector3

Vector = list[float]
_ZERO = (0.0, 0.0, 0.0)


class HumanFields(Fields):
    """A human body made from de Leva's 1996 segment data."""

    height: float = Field(default=1.90, gt=0, le=10, description="stature [m]")
    mass: float = Field(default=84.0728, gt=0, le=1e4, description="body mass [kg]")
    sex: Literal["male", "female"] = Field(
        default="male", description="whose segment proportions are used"
    )
    sole: Literal["plate", "hinged"] = Field(
        default="plate",
        description="plate: one stiff sole, toes included; hinged: the sole bends with the toes",
    )
    platform: float | None = Field(
        default=None, gt=0, le=1e6, description="mass of a platform that glides freely [kg]"
    )


class MechanismFields(Fields):
    """What moves: a model file, or a human of given size."""

    file: str | None = Field(
        default=None, description="MJCF or URDF file, relative to the scenario file; or its text"
    )
    base: Literal["fixed", "free"] | None = Field(
        default=None, description="whether the root of a URDF is held or moves freely"
    )
    edits: dict[str, Any] = Field(
        default={},
        description="changed attributes of the model, as 'geom.wheel.size' = [0.5, 0.1, 0.25]",
    )
    human: HumanFields | None = Field(
        default=None, description="a human of given size, instead of a file"
    )

    @model_validator(mode="after")
    def _one_source(self):
        if (self.file is None) == (self.human is None):
            raise ValueError("must have exactly one of 'file' and 'human'")
        return self


class StartFields(Fields):
    """The state at time zero. A table gives entries by the name of their joint."""

    q: Vector | dict[str, float | Vector] | None = Field(
        default=None,
        description="configuration, as MuJoCo's qpos; by default the model's own [m, rad]",
    )
    v: Vector | dict[str, float | Vector] | None = Field(
        default=None, description="velocity, as MuJoCo's qvel; by default 0 [m/s, rad/s]"
    )
    keyframe: str | None = Field(
        default=None,
        description="begin at this keyframe of the model file; its ctrl becomes the command",
    )
    resolve: bool | None = Field(
        default=None,
        description="what to do if bodies overlap at the start: true moves them apart, false keeps"
        " the overlap (compliant contacts only), and by default the run is refused",
    )


# A number for all contacts, one for each in order, or some by the name of the contact.
PerContact = float | Vector | dict[str, float]


class AnyContact(Fields):
    """What may touch, whatever the law."""

    points: list[str] | None = Field(
        default=None,
        description="sites and geoms that may touch the ground; by default the model decides",
    )
    pairs: bool = Field(default=True, description="whether spheres of two moving bodies may touch")
    max_events: int = Field(
        default=2_000, ge=1, description="the run stops with an error after so many events"
    )


class NoContact(AnyContact):
    """Nothing touches."""

    law: Literal["none"] = Field(description="nothing touches: free motion")


class Friction(AnyContact):
    """Numbers that every law has. They may differ by contact: a list, or a table by name."""

    restitution: PerContact = Field(
        default=defaults.RESTITUTION,
        description="ratio of normal speeds after and before an impact, 0 to 1",
    )
    mu_static: PerContact = Field(
        default=defaults.MU_STATIC, description="coefficient of static friction, 0 or more"
    )
    mu_dynamic: PerContact = Field(
        default=defaults.MU_DYNAMIC,
        description="coefficient of dynamic friction, at most the static one",
    )


class RigidContact(Friction):
    """Numbers of both laws of rigid contact."""

    rest_speed: PerContact = Field(
        default=defaults.REST_SPEED, description="impacts slower than this do not rebound [m/s]"
    )
    energetic: float | Literal["off"] = Field(
        default="off",
        description="largest share of kinetic energy that an impact may leave, 0 to 1 (e* of"
        " flickinger (5.2))",
    )


class HybridContact(RigidContact):
    """Rigid, exact events. Without `law` it holds if anything can touch."""

    law: Literal["hybrid"] | None = Field(
        default=None,
        description="rigid contact with exact events; the default if anything can touch",
    )
    stribeck_speed: PerContact = Field(
        default=defaults.STRIBECK_SPEED,
        description="slip speed over which friction falls from static to dynamic; v_s of"
        " flickinger (4.10) [m/s]",
    )
    stribeck_exponent: PerContact = Field(
        default=defaults.STRIBECK_EXPONENT,
        description="how sharply it falls; a of flickinger (4.10)",
    )
    energy_method: Literal["off", "scale", "constrain"] | None = Field(
        default=None,
        description="how `energetic` is kept: scale the velocities, or constrain the impulses; by"
        " default scale if `energetic` is a number",
    )
    impact: str = Field(
        default=defaults.IMPACT, description="impact law; `stiction impact` compares them"
    )
    sequence: bool = Field(
        default=False,
        description="resolve simultaneous impacts one after the other instead of together",
    )

    @model_validator(mode="after")
    def _energy(self):
        if self.energetic == "off" and self.energy_method in ("scale", "constrain"):
            raise ValueError(
                f"'energy_method' {self.energy_method} needs 'energetic', a number from 0 to 1"
            )
        return self


class SteppingContact(RigidContact):
    """Rigid, fixed steps of `solver.dt`."""

    law: Literal["stepping"] = Field(description="rigid contact with fixed steps of solver.dt")
    solver: Literal["newton", "lcp"] = Field(
        default="newton",
        description="newton: round friction cones; lcp: friction pyramids by Lemke's method",
    )
    sides: int = Field(
        default=defaults.PYRAMID_SIDES,
        ge=4,
        description="sides of the friction pyramids of solver lcp; even",
    )
    restitution_law: Literal["newton", "poisson"] = Field(
        default="newton", description="restitution of velocities (newton) or of impulses (poisson)"
    )

    @model_validator(mode="before")
    @classmethod
    def _gone(cls, given: Any) -> Any:
        """What fixed steps no longer have a use for."""
        if isinstance(given, dict):
            for name in ("iterations", "tolerance"):
                if name in given:
                    raise ValueError(
                        f"'{name}' is gone: contact problems are solved to rounding; leave it out"
                    )
            if given.get("solver") == "admm":
                raise ValueError(
                    "'solver' admm is gone: newton solves the same problem; leave it out"
                )
        return given


class CompliantFields(Friction):
    """Springs, dampers and bristles. What is None has a default that depends on the others."""

    law: Literal["compliant"] = Field(description="contact by springs, dampers and bristles")
    normal: Literal[
        "hunt-crossley", "asymmetric", "spring-damper", "lankarani-nikravesh", "flores",
        "gonthier", "carvalho-martins",
    ] = Field(default="hunt-crossley", description="the law of the normal force")  # fmt: skip
    stiffness: PerContact = Field(
        default=1e5, description="stiffness k of the normal force k x^n [N/m^n]"
    )
    exponent: PerContact | None = Field(
        default=None,
        description="exponent n of the depth; by default 1 for hunt-crossley, asymmetric and"
        " spring-damper, 3/2 for the others",
    )
    alpha: PerContact | None = Field(
        default=None,
        description="how fast restitution falls with speed, e = 1 - alpha v at low speed; by"
        " default from `restitution`, or 0.5 [s/m]",
    )
    alpha_parting: PerContact | None = Field(
        default=None, description="asymmetric: alpha while the bodies part; by default 0 [s/m]"
    )
    impact_speed: PerContact = Field(
        default=1.0, description="impact speed at which `restitution` is to hold [m/s]"
    )
    damping: PerContact = Field(default=100.0, description="spring-damper: damping [N s/m]")
    tangential: Literal["bristle", "coulomb", "stribeck", "none"] = Field(
        default="bristle", description="the law of friction; only bristle truly sticks"
    )
    stribeck_speed: PerContact = Field(
        default=1e-2,
        description="slip speed over which friction falls from static to dynamic; larger than for"
        " rigid contact, since compliant contacts vibrate [m/s]",
    )
    stribeck_exponent: PerContact = Field(
        default=defaults.STRIBECK_EXPONENT,
        description="how sharply it falls; a of flickinger (4.10)",
    )
    bristle_stiffness: PerContact | None = Field(
        default=None, description="bristle: stiffness; by default the normal stiffness [N/m]"
    )
    bristle_damping: PerContact | None = Field(
        default=None, description="bristle: damping; by default 5 ms times its stiffness [N s/m]"
    )
    slip_speed: PerContact = Field(
        default=1e-4, description="coulomb, stribeck: at slower slip friction is viscous [m/s]"
    )


# The laws of contact, told apart by `law`: each has its own fields, and no others.
LAWS = {
    "hybrid": HybridContact,
    "stepping": SteppingContact,
    "compliant": CompliantFields,
    "none": NoContact,
}


def law_name(contact: Any) -> str:
    """The law that a table or its model names; hybrid by default."""
    law = contact.get("law") if isinstance(contact, dict) else getattr(contact, "law", None)
    return str(law or "hybrid")


ContactFields = Annotated[
    Annotated[HybridContact, Tag("hybrid")]
    | Annotated[SteppingContact, Tag("stepping")]
    | Annotated[CompliantFields, Tag("compliant")]
    | Annotated[NoContact, Tag("none")],
    Discriminator(law_name),
]


class TerrainFields(Fields):
    """Uneven ground: heights on a grid, smooth in between."""

    heights: list[Vector] | str = Field(
        description="heights, rows along x and columns along y; or the name of a CSV file [m]"
    )
    spacing: tuple[float, float] = Field(description="distance of grid points in x and y [m]")
    position: Vector3 = Field(default=_ZERO, description="position of its middle [m]")


class GroundFields(Fields):
    """The ground: the planes of the model, or one through the origin where it has none."""

    slope_deg: float = Field(
        default=0.0, gt=-90, lt=90, description="slope; positive falls towards +x [deg]"
    )
    velocity: Vector3 = Field(default=_ZERO, description="constant velocity of the ground [m/s]")
    amplitude: Vector3 = Field(default=_ZERO, description="amplitude of its oscillation [m]")
    frequency: float = Field(default=0.0, ge=0, description="frequency of its oscillation [Hz]")
    phase: float = Field(default=0.0, description="phase of its oscillation [rad]")
    belt: tuple[float, float] = Field(
        default=(0.0, 0.0),
        description="conveyor: speed of the surface along x and y, while the ground stands [m/s]",
    )
    field: TerrainFields | None = Field(default=None, description="uneven ground")


class SolverFields(Fields):
    """How the motion is integrated."""

    method: Literal["auto", "tsit5", "dopri5", "dopri8", "kvaerno5"] = Field(
        default="auto",
        description="Runge-Kutta method; auto: tsit5, and the implicit kvaerno5 where it is stiff",
    )
    rtol: float | None = Field(
        default=None,
        ge=1e-15,
        lt=1,
        description="relative tolerance; by default 1e-8, and 1e-10 for compliant contact",
    )
    atol: float | None = Field(
        default=None, gt=0, description="absolute tolerance; by default a tenth of rtol"
    )
    max_steps: int | None = Field(
        default=None,
        ge=1,
        description="the run stops with an error after so many steps; by default 20,000, and"
        " 1,000,000 where contacts are found on the way",
    )
    dt: float = Field(
        default=defaults.DT, gt=0, description="step size where contact.law is stepping [s]"
    )


class PhaseFields(Fields):
    """A part of a command: offset + gain (desired(t) - length), t from the phase's beginning."""

    until: float | None = Field(
        default=None, gt=0, description="end of the phase; the last has none [s]"
    )
    offset: float = Field(default=0.0, description="constant part of the command")
    gain: float = Field(default=0.0, description="gain of position control [N/m or N m/rad]")
    desired: Vector = Field(
        default=[], description="desired length: coefficients of 1, t, t², … [m or rad]"
    )
    relative: bool = Field(
        default=False,
        description="whether `desired` counts from the length at the beginning of the phase",
    )


class CommandFields(Fields):
    """The command of one actuator: offset + amplitude sin(2 pi frequency t + phase), and phases."""

    offset: float = Field(default=0.0, description="constant part, in the actuator's unit")
    amplitude: float = Field(default=0.0, description="amplitude of the sine")
    frequency: float = Field(default=0.0, ge=0, description="frequency of the sine [Hz]")
    phase: float = Field(default=0.0, description="phase of the sine [rad]")
    phases: list[PhaseFields] = Field(
        default=[], description="parts in time, one after the other, added to the sine"
    )

    @model_validator(mode="after")
    def _in_order(self):
        ends = [p.until for p in self.phases[:-1]]
        if None in ends or any(b <= a for a, b in itertools.pairwise(e for e in ends if e)):
            raise ValueError(
                "'phases' must each have an 'until' after the one before, but the last"
            )
        if self.phases and self.phases[0].relative:
            raise ValueError("'phases' must not begin with a 'relative' one")
        return self


class Scenario(Fields):
    """A whole scenario."""

    title: str = Field(default="", description="title of the report")
    mechanism: MechanismFields = Field(description="what moves")
    start: StartFields = Field(default=StartFields(), description="the state at time zero")
    control: dict[str, CommandFields] = Field(
        default={}, description="what each actuator is told, by its name"
    )
    jump: JumpFields | None = Field(
        default=None, description="a jump, which commands all actuators"
    )
    track: TrackFields | None = Field(
        default=None, description="a motion to follow, which commands all actuators"
    )
    contact: ContactFields = Field(
        default=HybridContact(), description="what may touch, and the law of contact"
    )
    ground: GroundFields = Field(default=GroundFields(), description="what is touched")
    until: float = Field(default=1.0, gt=0, description="duration of the run [s]")
    samples: int = Field(default=501, ge=2, le=1_000_000, description="number of states kept")
    solver: SolverFields = Field(default=SolverFields(), description="how time is integrated")
