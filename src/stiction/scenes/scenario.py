"""The fields of a scenario file, their meaning, units and bounds.

A scenario is TOML or YAML. Unknown fields are errors; every field can be overridden on the command
line with `--set path=value`. What a file leaves out has the default given here.
"""

import itertools
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from stiction._base import defaults
from stiction._base.files import Fields

Vector = list[float]
Vector3 = tuple[float, float, float]
_ZERO = (0.0, 0.0, 0.0)


class HumanFields(Fields):
    """A human body made from de Leva's 1996 segment data."""

    height: float = Field(default=1.90, gt=0, le=10, description="stature [m]")
    mass: float = Field(default=84.0728, gt=0, le=1e4, description="body mass [kg]")
    sex: Literal["male", "female"] = "male"
    sole: Literal["plate", "hinged"] = Field(
        default="plate", description="under the toes too, or bending with them"
    )


class MechanismFields(Fields):
    """What moves: a model file, or a human of given size."""

    file: str | None = Field(
        default=None, description="MJCF or URDF file, relative to the scenario file; or its text"
    )
    base: Literal["fixed", "free"] | None = Field(
        default=None, description="how a URDF's root is held"
    )
    edits: dict[str, Any] = Field(
        default={}, description="attributes to change, as 'geom.wheel.size' = [0.5, 0.1, 0.25]"
    )
    human: HumanFields | None = None

    @model_validator(mode="after")
    def _one_source(self):
        if (self.file is None) == (self.human is None):
            raise ValueError("must have exactly one of 'file' and 'human'")
        return self


class StartFields(Fields):
    """The state at time zero. A table gives entries by the name of their joint."""

    q: Vector | dict[str, float | Vector] | None = None
    v: Vector | dict[str, float | Vector] | None = None
    keyframe: str | None = Field(
        default=None, description="a named state of the model file, and its commands"
    )
    resolve: bool | None = Field(
        default=None,
        description="what is inside of what it touches: true moves it out, false begins there where"
        " contacts are springs; by default refused",
    )


# A number for all contacts, one for each in order, or some by the name of the contact.
PerContact = float | Vector | dict[str, float]


class AnyContact(Fields):
    """What may touch, whatever the law."""

    points: list[str] | None = Field(
        default=None, description="sites and geoms that may touch the ground"
    )
    pairs: bool = Field(default=True, description="whether spheres of bodies may touch each other")
    max_events: int = Field(default=2_000, ge=1)


class NoContact(AnyContact):
    """Nothing touches."""

    law: Literal["none"]


class Friction(AnyContact):
    """Numbers that every law has. They may differ by contact: a list, or a table by name."""

    restitution: PerContact = Field(
        default=defaults.RESTITUTION, description="normal restitution e, 0 to 1"
    )
    mu_static: PerContact = Field(default=defaults.MU_STATIC, description="static friction")
    mu_dynamic: PerContact = Field(default=defaults.MU_DYNAMIC, description="dynamic friction")


class RigidContact(Friction):
    """Numbers of both laws of rigid contact."""

    rest_speed: PerContact = Field(
        default=defaults.REST_SPEED, description="slower collisions do not rebound [m/s]"
    )
    energetic: float | Literal["off"] = Field(
        default="off",
        description="e* of flickinger (5.2): most of the kinetic energy an impact leaves",
    )


class HybridContact(RigidContact):
    """Rigid, exact events. Without `law` it holds if anything can touch."""

    law: Literal["hybrid"] | None = None
    stribeck_speed: PerContact = Field(
        default=defaults.STRIBECK_SPEED, description="v_s of flickinger (4.10) [m/s]"
    )
    stribeck_exponent: PerContact = Field(
        default=defaults.STRIBECK_EXPONENT, description="a of flickinger (4.10)"
    )
    energy_method: Literal["off", "scale", "constrain"] | None = Field(
        default=None, description="how e* is kept; by default scale if energetic is a number"
    )
    impact: str = Field(
        default=defaults.IMPACT, description="impact law: see `stiction impact --help`"
    )
    sequence: bool = Field(
        default=False, description="whether simultaneous impacts are resolved one after the other"
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

    law: Literal["stepping"]
    solver: Literal["newton", "lcp"] = Field(
        default="newton",
        description="friction cones by Newton's method, or pyramids by Lemke's",
    )
    sides: int = Field(
        default=defaults.PYRAMID_SIDES, ge=4, description="of the pyramids of solver lcp, even"
    )
    restitution_law: Literal["newton", "poisson"] = Field(
        default="newton", description="restitution of velocities or of impulses"
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

    law: Literal["compliant"]
    normal: Literal[
        "hunt-crossley", "asymmetric", "spring-damper", "lankarani-nikravesh", "flores",
        "gonthier", "carvalho-martins",
    ] = Field(default="hunt-crossley", description="the law along the normal")  # fmt: skip
    stiffness: PerContact = Field(default=1e5, description="k [N/m^n]")
    exponent: PerContact | None = Field(
        default=None, description="n; by default 1, and 3/2 for the laws of the literature"
    )
    alpha: PerContact | None = Field(
        default=None,
        description="slope of the restitution at low speed [s/m]; by default from restitution, or"
        " 0.5",
    )
    alpha_parting: PerContact | None = Field(
        default=None, description="asymmetric: alpha while parting [s/m]; 0"
    )
    impact_speed: PerContact = Field(
        default=1.0, description="speed at which restitution is wanted [m/s]"
    )
    damping: PerContact = Field(default=100.0, description="spring-damper: b [N s/m]")
    tangential: Literal["bristle", "coulomb", "stribeck", "none"] = Field(
        default="bristle", description="the law of friction; only the bristle truly sticks"
    )
    stribeck_speed: PerContact = Field(
        default=1e-2,
        description="v_s of flickinger (4.10) [m/s]: compliant contacts shiver faster than the"
        " default of rigid ones",
    )
    stribeck_exponent: PerContact = Field(
        default=defaults.STRIBECK_EXPONENT, description="a of flickinger (4.10)"
    )
    bristle_stiffness: PerContact | None = Field(
        default=None, description="bristle: k [N/m]; by default the normal stiffness"
    )
    bristle_damping: PerContact | None = Field(
        default=None, description="bristle: c [N s/m]; by default 5 ms times its stiffness"
    )
    slip_speed: PerContact = Field(
        default=1e-4, description="coulomb, stribeck: below it friction is viscous [m/s]"
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
        description="rows along x, columns along y [m]; or a CSV file"
    )
    spacing: tuple[float, float] = Field(description="of the grid in x and y [m]")
    position: Vector3 = Field(default=_ZERO, description="of its middle [m]")


class GroundFields(Fields):
    """The ground: the planes of the model, or one through the origin where it has none."""

    slope_deg: float = Field(
        default=0.0, gt=-90, lt=90, description="tilt; positive falls towards +x"
    )
    velocity: Vector3 = Field(default=_ZERO, description="of travel [m/s]")
    amplitude: Vector3 = Field(default=_ZERO, description="of swing [m]")
    frequency: float = Field(default=0.0, ge=0, description="of swing [Hz]")
    phase: float = Field(default=0.0, description="of swing [rad]")
    belt: tuple[float, float] = Field(
        default=(0.0, 0.0), description="speed of the surface along x and y [m/s]"
    )
    field: TerrainFields | None = None


class SolverFields(Fields):
    """How the motion is integrated."""

    method: Literal["auto", "tsit5", "dopri5", "dopri8", "kvaerno5"] = Field(
        default="auto",
        description="auto: tsit5, and kvaerno5 (implicit) for steps too stiff for it",
    )
    rtol: float | None = Field(
        default=None,
        ge=1e-15,
        lt=1,
        description="relative tolerance; by default 1e-8, compliant 1e-10",
    )
    atol: float | None = Field(
        default=None, gt=0, description="absolute tolerance; by default a tenth of rtol"
    )
    max_steps: int = Field(default=defaults.MAX_STEPS, ge=1)
    dt: float = Field(default=defaults.DT, gt=0, description="step of contact.law stepping [s]")


class PhaseFields(Fields):
    """A part of a command: offset + gain (desired(t) - length), t from the phase's beginning."""

    until: float | None = Field(default=None, gt=0, description="its end [s]; the last has none")
    offset: float = 0.0
    gain: float = Field(default=0.0, description="of position control [N/m or N m/rad]")
    desired: Vector = Field(
        default=[], description="length wanted: coefficients of 1, t, t², ... [m or rad]"
    )
    relative: bool = Field(
        default=False, description="whether desired counts from the length at the phase's beginning"
    )


class CommandFields(Fields):
    """The command of one actuator: offset + amplitude sin(2 pi frequency t + phase), and phases."""

    offset: float = 0.0
    amplitude: float = 0.0
    frequency: float = Field(default=0.0, ge=0, description="[Hz]")
    phase: float = Field(default=0.0, description="[rad]")
    phases: list[PhaseFields] = Field(default=[], description="added one after the other")

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


class JumpFields(Fields):
    """A jump: a point is pushed towards a goal while the feet touch; flickinger 6.2, 6.4."""

    direction: Vector3 = Field(description="from the start to the goal, in the world")
    distance: float = Field(default=defaults.JUMP_DISTANCE, gt=0, description="of the goal [m]")
    frequency: float = Field(
        default=defaults.JUMP_FREQUENCY,
        gt=0,
        description="how hard: acceleration / distance is its square [rad/s]",
    )
    point: str = Field(
        default="", description="body, site or 'com' that is pushed; by default the first body"
    )
    feet: list[str] | None = Field(
        default=None, description="sites and geoms that push; by default all that touch"
    )
    lifted: float = Field(
        default=defaults.JUMP_LIFTED, gt=0, description="height at which a push ends [m]"
    )
    away: float = Field(
        default=defaults.JUMP_AWAY, gt=0, description="height from which it is a flight [m]"
    )

    @model_validator(mode="after")
    def _somewhere(self):
        if not any(self.direction):
            raise ValueError("'direction' must not be zero")
        return self


class PostureFields(Fields):
    """Where hinges and slides should be at a time."""

    time: float = Field(ge=0, description="[s]")
    q: dict[str, float] = Field(
        default={}, description="by joint; the others stay as they were [rad or m]"
    )
    keyframe: str | None = Field(default=None, description="a named state of the model file")


class TrackFields(Fields):
    """A motion that all actuators follow: postures, a file, or by default the start's posture."""

    postures: list[PostureFields] = Field(default=[], description="gone through smoothly")
    file: str | None = Field(
        default=None,
        description="CSV, .mot or .sto: time, a column for each joint that moves, and the base, if"
        " the whole body has its way",
    )
    frequency: float = Field(default=15.0, gt=0, description="of the error's decay [rad/s]")
    damping: float = Field(default=1.0, ge=0, description="of the error, 1 without swinging")
    balance: float = Field(
        default=0.0, ge=0, description="of the centre of mass over what touches [rad/s]; 0 for none"
    )

    @model_validator(mode="after")
    def _one_motion(self):
        if self.postures and self.file is not None:
            raise ValueError("must have at most one of 'postures' and 'file'")
        if any(b.time <= a.time for a, b in itertools.pairwise(self.postures)):
            raise ValueError("'postures' must each have a 'time' after the one before")
        return self


class Scenario(Fields):
    """A whole scenario."""

    title: str = ""
    mechanism: MechanismFields
    start: StartFields = StartFields()
    control: dict[str, CommandFields] = Field(default={}, description="commands by actuator name")
    jump: JumpFields | None = Field(
        default=None, description="a jump, which commands all actuators"
    )
    track: TrackFields | None = Field(
        default=None, description="a motion to follow, which commands all actuators"
    )
    contact: ContactFields = HybridContact()
    ground: GroundFields = GroundFields()
    until: float = Field(default=1.0, gt=0, description="duration [s]")
    samples: int = Field(default=501, ge=2, le=1_000_000, description="kept states")
    solver: SolverFields = SolverFields()
