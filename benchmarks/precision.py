"""Error against time: runs of engines by setting, what each needs for an accuracy, and a figure."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
# Ten that differ, more than the style of figures has.
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "black", "0.6", "#8c564b",
    "#aa0000",
)  # fmt: skip
STYLES = {
    "stiction": "o-", "MuJoCo": "s--", "Drake": "^:", "DART": "v-.", "PyBullet": "D--",
    "Siconos": "P",
}  # fmt: skip


class Row(NamedTuple):
    """One run: an engine with one setting."""

    engine: str
    setting: str
    error: float
    seconds: float


def timed(call: Callable[[], T], *, budget: float = 2.0) -> tuple[T, float]:
    """The answer, and the least processor time of up to 300 calls within a budget [s].

    Of the processor, so that long calls are not charged for what else the machine does.
    """
    times = []
    while True:
        start = time.process_time()
        answer = call()
        times.append(time.process_time() - start)
        if len(times) == 300 or sum(times) > budget:
            return answer, min(times)


def quickest(rows: list[Row], wanted: float) -> dict[str, Row]:
    """Of each engine the quickest run that is as accurate as wanted, or else its best one."""
    chosen = {}
    for engine in dict.fromkeys(r.engine for r in rows):
        these = [r for r in rows if r.engine == engine]
        good = [r for r in these if r.error <= wanted]
        chosen[engine] = (
            min(good, key=lambda r: r.seconds) if good else min(these, key=lambda r: r.error)
        )
    return chosen


def summary(rows: list[Row], wanted: float, over: dict[str, str]) -> list[dict[str, Any]]:
    """A line for each engine: the least time for an accuracy, and its ratio to some engines'.

    Args:
        rows: All runs.
        wanted: The accuracy.
        over: Headings of the ratios, and the engines that they are ratios to.
    """
    chosen = quickest(rows, wanted)
    return [
        {
            "engine": engine,
            "setting": best.setting,
            "error": best.error,
            "time [ms]": 1e3 * best.seconds,
            **{name: best.seconds / chosen[of].seconds for name, of in over.items()},
            "note": "" if best.error <= wanted else f"{wanted:.0e} not reached",
        }
        for engine, best in chosen.items()
    ]


def draw_rows(axis: Any, rows: list[Row], wanted: float) -> None:
    """Error against time, a line for each engine."""
    axis.set_prop_cycle(color=COLOURS)
    for engine in dict.fromkeys(r.engine for r in rows):
        these = [r for r in rows if r.engine == engine]
        style = STYLES[engine.split(",")[0]]
        errors = [max(r.error, 1e-16) for r in these]
        axis.loglog([r.seconds for r in these], errors, style, ms=4, lw=1.3, label=engine)
    axis.axhline(wanted, color="0.6", lw=0.8)
    axis.set(xlabel="processor time [s]")
