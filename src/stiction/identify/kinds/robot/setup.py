"""The fields of a setup of kind "robot": which columns, which terms, how filtered."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from stiction._base.files import Fields
from stiction.identify.fields import Fraction, Positive, Setup
from stiction.scenes.scenario import MechanismFields


class RobotDesign(Fields):
    """Within what a motion is proposed."""

    seconds: Annotated[Positive, Field(description="of one cycle")] = 10.0
    harmonics: Annotated[int, Field(ge=1, le=20, description="of each joint's series")] = 5
    max_position: Annotated[
        Positive | None, Field(description="from a joint's middle [rad, m]; or the model's ranges")
    ] = None
    max_speed: Annotated[Positive, Field(description="[rad/s, m/s]")]
    max_acceleration: Annotated[Positive, Field(description="[rad/s², m/s²]")]
    margin: Annotated[Fraction, Field(description="part of the model's ranges that is used")] = 0.9
    seed: Annotated[int, Field(ge=0)] = 0


class RobotSetup(Setup):
    """A joint log of a robot with a fixed base: positions and torques (or currents).

    The mechanism's own inertias are where the search begins, and what unexcited parameters keep.
    """

    kind: Literal["robot"]
    mechanism: MechanismFields
    time: str
    position: Annotated[list[str], Field(min_length=1, description="columns of q, in its order")]
    torque: Annotated[list[str], Field(min_length=1, description="columns, in the order of q")]
    torque_factor: Annotated[
        list[float] | None,
        Field(description="torque for each unit of its column: gear and torque constants"),
    ] = None
    cutoff: Annotated[
        Positive | None,
        Field(description="of the low-pass before differentiation [Hz]; by the motion if left out"),
    ] = None
    keep_every: Annotated[int, Field(ge=1, description="row of the regression")] = 10
    terms: Annotated[
        list[Literal["armature", "viscous", "coulomb", "offset", "stribeck", "spring"]],
        Field(description="of every joint, beside the bodies' inertias"),
    ] = ["armature", "viscous", "coulomb", "offset"]
    stribeck_speed: Annotated[
        Positive | None, Field(description="v_s of exp(-(v/v_s)²) [rad/s, m/s]")
    ] = None
    doubt: Annotated[
        Positive, Field(description="of the mechanism's inertias, relative: the prior's width")
    ] = 1.0
    kept_aside: Annotated[
        float, Field(ge=0, lt=0.9, description="last part of each log that only judges the fit")
    ] = 0.2
    confidence: Fraction = 0.95
    design: RobotDesign | None = None

    @model_validator(mode="after")
    def _together(self):
        if len(self.position) != len(self.torque):
            raise ValueError("must have as many columns of 'torque' as of 'position'")
        if self.torque_factor is not None and len(self.torque_factor) != len(self.torque):
            raise ValueError("must have one 'torque_factor' for each column of 'torque'")
        if ("stribeck" in self.terms) != (self.stribeck_speed is not None):
            raise ValueError("must have 'stribeck_speed' beside the term 'stribeck'")
        return self

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return [self.time, *self.position, *self.torque]
