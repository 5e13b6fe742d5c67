"""The fields of a setup of kind "rollouts": what moved, what it touched, where the columns are."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from stiction._base.files import Fields
from stiction.identify.fields import Columns3, Fraction, Positive, RobustLoss, Setup, Vector3
from stiction.identify.kinds.rollouts.parameters import PARAMETERS
from stiction.scenes.scenario import (
    ContactFields,
    GroundFields,
    HybridContact,
    MechanismFields,
    Scenario,
    SolverFields,
)


class Marker(Fields):
    """A point of a body, and the columns of where it was seen."""

    body: str
    point: Annotated[Vector3, Field(description="in the body's frame [m]")] = [0.0, 0.0, 0.0]
    position: Annotated[Columns3, Field(description="in the world")]


class RolloutSetup(Setup):
    """Rollouts of one mechanism: each begins in free motion, touches something, and goes on.

    `mechanism`, `contact`, `ground` and `solver` are those of a scenario file; the numbers of
    `contact` that are wanted are where the search begins.
    """

    kind: Literal["rollouts"]
    mechanism: MechanismFields
    contact: ContactFields = HybridContact()
    ground: GroundFields = GroundFields()
    solver: SolverFields = SolverFields()
    wanted: Annotated[list[str], Field(min_length=1, description="numbers of the contact's law")]
    coordinates: Annotated[
        list[str],
        Field(description="columns of the mechanism's q, in its order; '' for one not seen"),
    ] = []
    markers: Annotated[
        list[Marker], Field(description="points of bodies that were seen, instead of `coordinates`")
    ] = []
    gyro: Annotated[
        Columns3 | None,
        Field(description="turn rates of a free body in its own axes, for an orientation not seen"),
    ] = None
    orientation: Annotated[
        list[float],
        Field(min_length=4, max_length=4, description="w, x, y, z where `gyro` begins"),
    ] = [1.0, 0.0, 0.0, 0.0]
    spin: Annotated[
        Positive, Field(description="usual turn rate at the start where none is seen [rad/s]")
    ] = 10.0
    time: Annotated[str | None, Field(description="column of evenly spaced times; or `rate`")] = (
        None
    )
    rate: Annotated[Positive | str | None, Field(description="[Hz], or a column holding it")] = None
    start: Annotated[
        str | None, Field(description="column: first row of each rollout in the table, from 0")
    ] = None
    length: Annotated[str | None, Field(description="column: rows of each rollout")] = None
    skip: Annotated[int, Field(ge=0, description="rows left out at the beginning of each")] = 0
    scale: Annotated[
        Positive | Literal["gravity"],
        Field(description="true lengths for each recorded one; 'gravity': such that bodies fall as"
              " the model says"),
    ] = 1.0  # fmt: skip
    level: Annotated[
        bool, Field(description="whether bodies at rest say where the ground is, and how level")
    ] = True
    clearance: Annotated[Positive, Field(description="gap from which a body surely flies [m]")] = (
        0.005
    )
    horizon: Annotated[
        Positive | None,
        Field(description="of the fit, from the first touch [s]; all rows if absent"),
    ] = None
    kept_aside: Annotated[
        float, Field(ge=0, lt=1, description="share of rollouts that only judge the fit")
    ] = 0.2
    seed: Annotated[int, Field(ge=0, description="of the choice of those")] = 0
    loss: RobustLoss = "huber"
    confidence: Fraction = 0.95

    @model_validator(mode="after")
    def _together(self):
        if (self.time is None) == (self.rate is None):
            raise ValueError("must have exactly one of 'time' and 'rate'")
        if (self.start is None) != (self.length is None):
            raise ValueError("must have both or neither of 'start' and 'length'")
        if self.time is not None and self.start is not None:
            raise ValueError("must have a 'rate' beside 'start' and 'length'")
        if bool(self.coordinates) == bool(self.markers):
            raise ValueError("must have exactly one of 'coordinates' and 'markers'")
        for name in self.wanted:
            if name not in PARAMETERS:
                raise ValueError(f"must want some of {', '.join(PARAMETERS)}; not '{name}'")
        if len(set(self.wanted)) != len(self.wanted):
            raise ValueError("must want each parameter once")
        if self.contact.law == "none":
            raise ValueError("must have a 'contact.law' that touches")
        return self

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        more = (self.time, self.rate, self.start, self.length)
        seen = [c for c in self.coordinates if c]
        seen += [c for m in self.markers for c in m.position] + (self.gyro or [])
        return [*seen, *(c for c in more if isinstance(c, str))]

    @property
    def scenario(self) -> Scenario:
        """The scenario that is rolled out."""
        return Scenario(
            mechanism=self.mechanism, contact=self.contact, ground=self.ground, solver=self.solver
        )
