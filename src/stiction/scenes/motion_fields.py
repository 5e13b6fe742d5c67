"""The fields of motions that command all actuators: jumps, and motions to follow."""

import itertools

from pydantic import Field, model_validator

from stiction._base import defaults
from stiction._base.files import Fields

Vector3 = tuple[float, float, float]


class JumpFields(Fields):
    """A jump: a point is pushed towards a goal while the feet touch; flickinger 6.2, 6.4."""

    direction: Vector3 = Field(description="from the start to the goal, in the world")
    distance: float = Field(
        default=defaults.JUMP_DISTANCE, gt=0, description="distance to the goal [m]"
    )
    frequency: float = Field(
        default=defaults.JUMP_FREQUENCY,
        gt=0,
        description="how hard it pushes: acceleration is its square times the distance [rad/s]",
    )
    point: str = Field(
        default="", description="body, site or 'com' that is pushed; by default the first body"
    )
    feet: list[str] | None = Field(
        default=None, description="sites and geoms that push; by default all that touch"
    )
    lifted: float = Field(
        default=defaults.JUMP_LIFTED,
        gt=0,
        description="a push ends when the feet are this high [m]",
    )
    away: float = Field(
        default=defaults.JUMP_AWAY, gt=0, description="feet higher than this count as a flight [m]"
    )

    @model_validator(mode="after")
    def _somewhere(self):
        if not any(self.direction):
            raise ValueError("'direction' must not be zero")
        return self


class PostureFields(Fields):
    """Where hinges and slides should be at a time."""

    time: float = Field(ge=0, description="when it is to be reached [s]")
    q: dict[str, float] = Field(
        default={}, description="joint positions by name; the others stay as they were [rad or m]"
    )
    keyframe: str | None = Field(default=None, description="a named state of the model file")


class TrackFields(Fields):
    """A motion that all actuators follow: postures, a file, or by default the start's posture."""

    postures: list[PostureFields] = Field(
        default=[], description="postures to pass through smoothly"
    )
    file: str | None = Field(
        default=None,
        description="CSV, .mot or .sto file with a column of time and one for each joint to be"
        " moved; also of the free base, if its path is prescribed",
    )
    frequency: float = Field(default=15.0, gt=0, description="how fast errors decay [rad/s]")
    damping: float = Field(
        default=1.0, ge=0, description="damping ratio of the errors; 1 does not oscillate"
    )
    balance: float = Field(
        default=0.0,
        ge=0,
        description="how fast the centre of mass is brought over the support; 0 for no balance"
        " [rad/s]",
    )
    rate: float | None = Field(
        default=None,
        gt=0,
        description="how often the control looks; its commands are held in between. By default at"
        " every instant, or in every fixed step [Hz]",
    )

    @model_validator(mode="after")
    def _one_motion(self):
        if self.postures and self.file is not None:
            raise ValueError("must have at most one of 'postures' and 'file'")
        if any(b.time <= a.time for a, b in itertools.pairwise(self.postures)):
            raise ValueError("'postures' must each have a 'time' after the one before")
        return self
