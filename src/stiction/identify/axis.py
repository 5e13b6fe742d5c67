from stiction.identify.setup import Strict
from typing import Literal


class AxisSetup(Strict):
    kind: Literal["axis"]
