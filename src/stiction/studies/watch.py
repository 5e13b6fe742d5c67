"""When a study may end: as soon as the answer to its question is narrow enough."""

from collections.abc import Mapping
from dataclasses import dataclass

from stiction._base.errors import InputError
from stiction.studies.ask import Question, probability
from stiction.studies.running import Tally


@dataclass(frozen=True)
class Stop:
    """A question, and the width of its probability's interval at which a study may end."""

    question: Question
    width: float | None = None

    def __post_init__(self):
        if self.width is not None and not 0 < self.width < 1:
            raise InputError(f"`--width` must be above 0 and below 1, got {self.width:g}")


@dataclass
class Watch:
    """The blocks whose cases an answer rests on: in their order, up to the first that is missing.

    So which cases these are does not depend on who was faster.

    Attributes:
        width: Of the interval at which the study may end; None if it may not.
        blocks: How many there are.
        counts: Of their cases: all, yes, failed.
        narrow: Whether the interval is narrow enough; then nothing more is counted.
    """

    width: float | None
    blocks: int = 0
    counts: tuple[int, int, int] = (0, 0, 0)
    narrow: bool = False

    def look(self, tallies: Mapping[int, Tally]) -> bool:
        """Count on; whether the study may end."""
        while self.width and not self.narrow and (tally := tallies.get(self.blocks)) is not None:
            cases, yes, failed = self.counts
            self.counts = (cases + tally.cases, yes + tally.yes, failed + tally.failed)
            self.blocks += 1
            self.narrow = probability(*self.counts, watched=True).width <= self.width
        return self.narrow
