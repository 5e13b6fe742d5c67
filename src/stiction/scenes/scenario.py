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


class SolverFields(_Strict):
    """How the motion is integrated."""

    method: Literal["tsit5", "dopri8", "kvaerno5"] = "tsit5"
    rtol: Annotated[float, Field(gt=0, lt=1, description="relative tolerance")] = 1e-8
    atol: Annotated[float, Field(gt=0, description="absolute tolerance")] = 1e-9
    max_steps: Annotated[int, Field(ge=1)] = 100_000


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
    until: Annotated[float, Field(gt=0, description="duration [s]")] = 1.0
    samples: Annotated[int, Field(ge=2, le=1_000_000, description="kept states")] = 501
    solver: SolverFields = SolverFields()
