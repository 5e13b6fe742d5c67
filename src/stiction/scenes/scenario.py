"""The fields of a scenario file, their meaning, units and bounds.

A scenario is TOML or YAML. Unknown fields are errors; every field can be overridden on the command
line with `--set path=value`. What a file leaves out has the default given here.
"""

import itertools
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Vector = list[float]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class HumanFields(_Strict):
    """A human body made from de Leva's 1996 segment data."""

    height: Annotated[float, Field(gt=0, description="stature [m]")] = 1.90
    mass: Annotated[float, Field(gt=0, description="body mass [kg]")] = 84.0728
    sex: Literal["male", "female"] = "male"
    sole: Annotated[
        Literal["plate", "hinged"], Field(description="under the toes too, or bending with them")
    ] = "plate"


class MechanismFields(_Strict):
    """What moves: a model file, or a human of given size."""

    file: Annotated[
        str | None, Field(description="MJCF or URDF file, relative to the scenario file")
    ] = None
    base: Annotated[
        Literal["fixed", "free"] | None, Field(description="how a URDF's root is held")
    ] = None
    edits: Annotated[
        dict[str, Any],
        Field(description="attributes to change, as 'geom.wheel.size' = [0.5, 0.1, 0.25]"),
    ] = {}
    human: HumanFields | None = None

    @model_validator(mode="after")
    def _one_source(self):
        if (self.file is None) == (self.human is None):
            raise ValueError("must have exactly one of 'file' and 'human'")
        return self


class StartFields(_Strict):
    """The state at time zero. A table gives entries by the name of their joint."""

    q: Vector | dict[str, float | Vector] | None = None
    v: Vector | dict[str, float | Vector] | None = None
    keyframe: Annotated[str | None, Field(description="a named state of the model file")] = None


# A number for all contacts, one for each in order, or some by the name of the contact.
PerContact = float | Vector | dict[str, float]


class ContactFields(_Strict):
    """What contacts do. Values may differ by contact: a list, or a table by contact's name."""

    law: Annotated[
        Literal["hybrid", "stepping", "compliant", "none"] | None,
        Field(description="hybrid: rigid, exact events; stepping: rigid, fixed steps of solver.dt;"
              " compliant: springs, dampers, bristles; none: nothing touches; by default hybrid if"
              " anything can touch"),
    ] = None  # fmt: skip
    points: Annotated[
        list[str] | None, Field(description="sites and geoms that may touch the ground")
    ] = None
    pairs: Annotated[bool, Field(description="whether spheres of bodies may touch each other")] = (
        True
    )
    restitution: Annotated[PerContact, Field(description="normal restitution e, 0 to 1")] = 0.0
    energetic: Annotated[
        float | Literal["off"],
        Field(description="e* of flickinger (5.2): most of the kinetic energy an impact leaves"),
    ] = "off"
    energy_method: Annotated[
        Literal["off", "scale", "constrain"] | None,
        Field(description="how e* is kept; by default scale if energetic is a number"),
    ] = None
    mu_static: Annotated[PerContact, Field(description="static friction")] = 0.74
    mu_dynamic: Annotated[PerContact, Field(description="dynamic friction")] = 0.57
    stribeck_speed: Annotated[PerContact, Field(description="v_s of flickinger (4.10) [m/s]")] = (
        1.4e-4
    )
    stribeck_exponent: Annotated[PerContact, Field(description="a of flickinger (4.10)")] = 1.0
    rest_speed: Annotated[
        PerContact, Field(description="slower collisions do not rebound [m/s]")
    ] = 1e-3
    impact: Annotated[str, Field(description="impact law: see `stiction impact --help`")] = (
        "dissipation"
    )
    sequence: Annotated[
        bool, Field(description="whether simultaneous impacts are resolved one after the other")
    ] = False
    normal: Annotated[
        Literal[
            "hunt-crossley", "asymmetric", "spring-damper", "lankarani-nikravesh", "flores",
            "gonthier", "carvalho-martins",
        ],
        Field(description="compliant: the law along the normal"),
    ] = "hunt-crossley"  # fmt: skip
    stiffness: Annotated[PerContact, Field(description="compliant: k [N/m^n]")] = 1e5
    exponent: Annotated[
        PerContact | None,
        Field(description="compliant: n; by default 1, and 3/2 for the laws of the literature"),
    ] = None
    alpha: Annotated[
        PerContact | None,
        Field(description="compliant: slope of the restitution at low speed [s/m]; by default from"
              " restitution, or 0.5"),
    ] = None  # fmt: skip
    alpha_parting: Annotated[
        PerContact | None, Field(description="asymmetric: alpha while parting [s/m]")
    ] = None
    impact_speed: Annotated[
        PerContact, Field(description="compliant: speed at which restitution is wanted [m/s]")
    ] = 1.0
    damping: Annotated[PerContact, Field(description="spring-damper: b [N s/m]")] = 100.0
    tangential: Annotated[
        Literal["bristle", "coulomb", "stribeck", "none"],
        Field(description="compliant: the law of friction; only the bristle truly sticks"),
    ] = "bristle"
    bristle_stiffness: Annotated[
        PerContact | None, Field(description="bristle: k [N/m]; by default the normal stiffness")
    ] = None
    bristle_damping: Annotated[
        PerContact | None,
        Field(description="bristle: c [N s/m]; by default 5 ms times its stiffness"),
    ] = None
    slip_speed: Annotated[
        PerContact, Field(description="coulomb, stribeck: below it friction is viscous [m/s]")
    ] = 1e-4
    max_events: Annotated[int, Field(ge=1)] = 2_000
    solver: Annotated[
        Literal["newton", "admm", "lcp"],
        Field(description="of stepping: friction cones to rounding, or by a fixed number of"
              " iterations; or pyramids by Lemke's method"),
    ] = "newton"  # fmt: skip
    iterations: Annotated[int, Field(ge=1, description="of solver admm in every step")] = 50
    tolerance: Annotated[
        float, Field(gt=0, description="of solver newton, a share of the largest contact velocity")
    ] = 1e-8
    sides: Annotated[int, Field(ge=4, description="of the pyramids of solver lcp, even")] = 8
    restitution_law: Annotated[
        Literal["newton", "poisson"],
        Field(description="of stepping: restitution of velocities or of impulses"),
    ] = "newton"

    @model_validator(mode="after")
    def _energy(self):
        if self.energetic == "off" and self.energy_method in ("scale", "constrain"):
            raise ValueError(
                f"'energy_method' {self.energy_method} needs 'energetic', a number from 0 to 1"
            )
        return self


class FieldFields(_Strict):
    """Uneven ground: heights on a grid, smooth in between."""

    heights: Annotated[
        list[Vector] | str, Field(description="rows along x, columns along y [m]; or a CSV file")
    ]
    spacing: Annotated[tuple[float, float], Field(description="of the grid in x and y [m]")]
    position: Annotated[tuple[float, float, float], Field(description="of its middle [m]")] = (
        0.0,
        0.0,
        0.0,
    )


class GroundFields(_Strict):
    """The ground: the planes of the model, or one through the origin where it has none."""

    slope_deg: Annotated[
        float, Field(gt=-90, lt=90, description="tilt; positive falls towards +x")
    ] = 0.0
    velocity: Annotated[tuple[float, float, float], Field(description="of travel [m/s]")] = (
        0.0,
        0.0,
        0.0,
    )
    amplitude: Annotated[tuple[float, float, float], Field(description="of swing [m]")] = (
        0.0,
        0.0,
        0.0,
    )
    frequency: Annotated[float, Field(ge=0, description="of swing [Hz]")] = 0.0
    phase: Annotated[float, Field(description="of swing [rad]")] = 0.0
    belt: Annotated[
        tuple[float, float], Field(description="speed of the surface along x and y [m/s]")
    ] = (0.0, 0.0)
    field: FieldFields | None = None


class SolverFields(_Strict):
    """How the motion is integrated."""

    method: Annotated[
        Literal["auto", "tsit5", "dopri5", "dopri8", "kvaerno5", "rodas5p"],
        Field(description="auto: tsit5, and rodas5p (implicit) for contacts too stiff for it"),
    ] = "auto"
    rtol: Annotated[
        float | None,
        Field(gt=0, lt=1, description="relative tolerance; by default 1e-8, compliant 1e-10"),
    ] = None
    atol: Annotated[
        float | None, Field(gt=0, description="absolute tolerance; by default a tenth of rtol")
    ] = None
    max_steps: Annotated[int, Field(ge=1)] = 20_000
    dt: Annotated[float, Field(gt=0, description="step of contact.law stepping [s]")] = 1e-3


class PhaseFields(_Strict):
    """A part of a command: offset + gain (desired(t) - length), t from the phase's beginning."""

    until: Annotated[float | None, Field(gt=0, description="its end [s]; the last has none")] = None
    offset: float = 0.0
    gain: Annotated[float, Field(description="of position control [N/m or N m/rad]")] = 0.0
    desired: Annotated[
        Vector, Field(description="length wanted: coefficients of 1, t, t², ... [m or rad]")
    ] = []
    relative: Annotated[
        bool, Field(description="whether desired counts from the length at the phase's beginning")
    ] = False


class CommandFields(_Strict):
    """The command of one actuator: offset + amplitude sin(2 pi frequency t + phase), and phases."""

    offset: float = 0.0
    amplitude: float = 0.0
    frequency: Annotated[float, Field(ge=0, description="[Hz]")] = 0.0
    phase: Annotated[float, Field(description="[rad]")] = 0.0
    phases: Annotated[list[PhaseFields], Field(description="added one after the other")] = []

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


class JumpFields(_Strict):
    """A jump: a point is pushed towards a goal while the feet touch; flickinger 6.2, 6.4."""

    direction: Annotated[
        tuple[float, float, float], Field(description="from the start to the goal, in the world")
    ]
    distance: Annotated[float, Field(gt=0, description="of the goal [m]")] = 5.0
    frequency: Annotated[
        float, Field(gt=0, description="how hard: acceleration / distance is its square [rad/s]")
    ] = 150.0
    point: Annotated[
        str, Field(description="body, site or 'com' that is pushed; by default the first body")
    ] = ""
    feet: Annotated[
        list[str] | None, Field(description="sites and geoms that push; by default all that touch")
    ] = None
    lifted: Annotated[float, Field(gt=0, description="height at which a push ends [m]")] = 1e-4
    away: Annotated[float, Field(gt=0, description="height from which it is a flight [m]")] = 5e-3

    @model_validator(mode="after")
    def _somewhere(self):
        if not any(self.direction):
            raise ValueError("'direction' must not be zero")
        return self


class PostureFields(_Strict):
    """Where hinges and slides should be at a time."""

    time: Annotated[float, Field(ge=0, description="[s]")]
    q: Annotated[
        dict[str, float], Field(description="by joint; the others stay as they were [rad or m]")
    ] = {}
    keyframe: Annotated[str | None, Field(description="a named state of the model file")] = None


class TrackFields(_Strict):
    """A motion that all actuators follow: postures, a file, or by default the start's posture."""

    postures: Annotated[list[PostureFields], Field(description="gone through smoothly")] = []
    file: Annotated[
        str | None,
        Field(description="CSV, .mot or .sto: time, and a column for each joint that moves"),
    ] = None
    frequency: Annotated[float, Field(gt=0, description="of the error's decay [rad/s]")] = 15.0
    damping: Annotated[float, Field(ge=0, description="of the error, 1 without swinging")] = 1.0
    balance: Annotated[
        float,
        Field(ge=0, description="of the centre of mass over what touches [rad/s]; 0 for none"),
    ] = 0.0

    @model_validator(mode="after")
    def _one_motion(self):
        if self.postures and self.file is not None:
            raise ValueError("must have at most one of 'postures' and 'file'")
        if any(b.time <= a.time for a, b in itertools.pairwise(self.postures)):
            raise ValueError("'postures' must each have a 'time' after the one before")
        return self


class Scenario(_Strict):
    """A whole scenario."""

    title: str = ""
    mechanism: MechanismFields
    start: StartFields = StartFields()
    control: Annotated[
        dict[str, CommandFields], Field(description="commands by actuator name")
    ] = {}
    jump: Annotated[
        JumpFields | None, Field(description="a jump, which commands all actuators")
    ] = None
    track: Annotated[
        TrackFields | None, Field(description="a motion to follow, which commands all actuators")
    ] = None
    contact: ContactFields = ContactFields()
    ground: GroundFields = GroundFields()
    until: Annotated[float, Field(gt=0, description="duration [s]")] = 1.0
    samples: Annotated[int, Field(ge=2, le=1_000_000, description="kept states")] = 501
    solver: SolverFields = SolverFields()
