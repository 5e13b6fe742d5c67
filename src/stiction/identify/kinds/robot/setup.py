"""The fields of a setup of kind "robot": which columns, which terms, how filtered."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from stiction.identify.fields import Fraction, Positive, Setup
from stiction.scenes.scenario import MechanismFields

JOINT_TERMS = ("armature", "viscous", "coulomb", "offset", "stribeck", "spring")


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
