from stiction.identify.setup import Strict
from typing import Literal


class ImpactSetup(Strict):
    kind: Literal["impacts"]
