from stiction.identify.setup import Strict
from typing import Literal


class SlidingSetup(Strict):
    kind: Literal["sliding"]
