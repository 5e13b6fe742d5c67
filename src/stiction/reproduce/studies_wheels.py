"""Which wheel chatters: the contact point of flickinger's ellipses, and which of two strikes first.

The document says of its rolling wheels that forces chatter, from "a rough approximation of the
contact points" and coarse tolerances (3.7.1), of its bicycle on level ground that energy rises
(Figure 3.7) and that wheels bounce by turns (4.2). How it approximates, and what its event function
finds where both wheels strike at once, is open.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_contact import travel
from stiction.reproduce.flickinger_rims import rims
from stiction.reproduce.flickinger_runs import (
    NO_CONTROL,
    ONE_FIRST,
    Outcome,
    bicycle,
    flat_bicycle,
)
from stiction.reproduce.registry import Check, Document, stated

item = Document("studies").item
CORNERS = (24, 32, 48, 64)
RESTITUTIONS = (0.75, 0.5, 0.25)
EXACT = "exact"


class SlopeRun(NamedTuple):
    """A run on the slope of 20° (Table 3.4)."""

    kind: str
    restitution: float
    run: Outcome

    @property
    def chatter(self) -> int:
        """Instants of impact after it begins to roll."""
        return len({e.time for e in self.run.hits if e.time > self.run.rolling_since})


def wheels() -> list[SlopeRun]:
    """Exact contact points, and rims of so many corners, with the restitutions of Sec. 3.7."""
    kinds = {EXACT: bicycle} | {f"{n} corners": partial(rims, corners=n) for n in CORNERS}
    return [SlopeRun(name, e, make(e, 0.5)) for name, make in kinds.items() for e in RESTITUTIONS]


def _draw(made: list[SlopeRun]):
    figure, panels = new_figure(1, len(RESTITUTIONS), figsize=(10.4, 3.4), sharey=True)
    for axis, e in zip(panels, RESTITUTIONS, strict=True):
        for one, color in zip((w for w in made if w.restitution == e), COLORS, strict=False):
            way = np.asarray(one.run.trajectory.q)[:, 0]
            axis.plot(one.run.time, way - way[0], color=color, label=one.kind, lw=1.4)
        axis.set(xlabel="time [s]", title=f"e = {e:g}")
    panels[0].set_ylabel("travel along N1 [m]")
    panels[0].legend(fontsize=8)
    return figure


def _rows(made: list[SlopeRun]) -> list[dict[str, str]]:
    return [
        {"contact point": w.kind, "e": f"{w.restitution:g}", "travel [m]": f"{travel(w.run):.2f}",
         "rolls from [s]": f"{w.run.rolling_since:.2f}", "impacts after that": str(w.chatter),
         "rests at [s]": "" if w.run.rest is None else f"{w.run.rest:.2f}"}
        for w in made
    ]  # fmt: skip


@item("Study 10", of=wheels, draw=_draw, table=_rows)
def which_wheel(made: list[SlopeRun]) -> list[Check]:
    by_kind = {kind: [w for w in made if w.kind == kind] for kind in {w.kind for w in made}}
    exact = by_kind.pop(EXACT)
    ways = [travel(w.run) for w in exact]
    rough = list(by_kind.values())
    least = min(min(-np.diff([travel(w.run) for w in three])) for three in rough)
    most = [flat_bicycle(1.0, NO_CONTROL, *start).gains.max() for start in ((), (ONE_FIRST,))]
    return [
        *stated(
            Check.more("corners: less far the less restitution, in each case by [m]", least, 0.1),
            Check.more("and chatter: least count of impacts after it begins to roll",
                       min(w.chatter for three in rough for w in three), 10),
            Check("and rest for e = 0.25", all(three[-1].run.rest is not None for three in rough)),
            Check.more("e = 1 on level ground, one wheel first: energy rises, most [J]",
                       float(most[1]), 1.0),
        ),
        Check.more("exact: it comes farther with e = 0.5 than with 0.75, by [m]",
                   ways[1] - ways[0], 0.1),
        Check("exact: with e = 0.25 it does not rest", exact[-1].run.rest is None),
        Check.below("both wheels at once: energy gained [J]", float(most[0]), 1e-9),
    ]  # fmt: skip
