"""What the setups of all kinds share: types of fields, units of the log, the base class."""

from typing import Annotated, Literal

from pydantic import Field

from stiction._base.files import Fields
from stiction.tables import Units

Vector3 = Annotated[list[float], Field(min_length=3, max_length=3)]
Columns3 = Annotated[list[str], Field(min_length=3, max_length=3)]
Columns4 = Annotated[list[str], Field(min_length=4, max_length=4)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
RobustLoss = Literal["squares", "huber", "tukey"]


class Setup(Fields):
    """A setup file: `kind` says which fields it has and how its logs are identified."""

    kind: str
    title: str = ""
    units: Units = Units()
