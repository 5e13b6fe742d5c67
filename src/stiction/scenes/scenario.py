"""The fields of a scenario file, their meaning, units and bounds.

A scenario is TOML or YAML. Unknown fields are errors; every field can be overridden on the command
line with `--set path=value`. What a file leaves out has the default given here.
"""

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
        Literal["hybrid", "stepping", "none"] | None,
        Field(description="hybrid: exact events; stepping: fixed steps of solver.dt; none: nothing"
              " touches; by default hybrid if anything can touch"),
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

    method: Literal["tsit5", "dopri5", "dopri8", "kvaerno5"] = "tsit5"
    rtol: Annotated[float, Field(gt=0, lt=1, description="relative tolerance")] = 1e-8
    atol: Annotated[float, Field(gt=0, description="absolute tolerance")] = 1e-9
    max_steps: Annotated[int, Field(ge=1)] = 20_000
    dt: Annotated[float, Field(gt=0, description="step of contact.law stepping [s]")] = 1e-3


class HarmonicFields(_Strict):
    """The command of one actuator: offset + amplitude sin(2 pi frequency t + phase)."""

    offset: float = 0.0
    amplitude: float = 0.0
    frequency: Annotated[float, Field(ge=0, description="[Hz]")] = 0.0
    phase: Annotated[float, Field(description="[rad]")] = 0.0


class Scenario(_Strict):
    """A whole scenario."""

    title: str = ""
    mechanism: MechanismFields
    start: StartFields = StartFields()
    control: Annotated[
        dict[str, HarmonicFields], Field(description="commands by actuator name")
    ] = {}
    contact: ContactFields = ContactFields()
    ground: GroundFields = GroundFields()
    until: Annotated[float, Field(gt=0, description="duration [s]")] = 1.0
    samples: Annotated[int, Field(ge=2, le=1_000_000, description="kept states")] = 501
    solver: SolverFields = SolverFields()
