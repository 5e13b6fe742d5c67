from stiction.identify.setup import Strict
from typing import Literal


class TossSetup(Strict):
    kind: Literal["tosses"]
