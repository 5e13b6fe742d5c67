"""Where the energy of a run went, event by event: from what there was at first down to the rest."""

from typing import NamedTuple

import numpy as np

from stiction.engines import Trajectory
from stiction.engines.events import pushed
from stiction.report.page import Bar, number
from stiction.report.run_charts import BOOKED
from stiction.report.run_path import event_count, finite_samples

MOST_IMPACTS = 10  # with a row of their own: those that took most
_SAME = 1e-9  # s: impacts this near are one
_GIVEN = ("actuator_work", "support_work")  # the others of `BOOKED` are losses


class EnergyStep(NamedTuple):
    """What the energy did in one event, or by one cause over the whole run."""

    what: str  # in words
    change: float  # of the energy [J]; of the first and last step, the energy itself
    time: float | None = None  # when [s]; None of a cause that acts all the time


def energy_steps(run: Trajectory) -> list[EnergyStep]:
    """From the energy at the start to that at the end: the costliest impacts, then the others."""
    kept = np.flatnonzero(finite_samples(run))
    if not kept.size:
        return []
    first, last = int(kept[0]), int(kept[-1])
    energy, hit = np.asarray(run.energy), np.asarray(run.impact_loss)
    start = EnergyStep("start", float(energy[first] + hit[first]), float(run.time[first]))
    impacts = _impacts(run, float(run.time[last]))
    costly = sorted(
        sorted(impacts, key=lambda s: s.change)[:MOST_IMPACTS], key=lambda s: s.time or 0.0
    )
    steps = [start, *(s for s in costly if s.change < 0)]
    booked = {name: float(np.asarray(getattr(run, name))[last]) for name in BOOKED}
    rest = booked.pop("impact_loss") + sum(s.change for s in steps[1:])
    fewer = len(impacts) - len(steps) + 1
    steps.append(EnergyStep(f"{fewer} smaller impacts" if fewer else "contacts", -rest))
    for name, value in booked.items():
        steps.append(EnergyStep(BOOKED[name], value if name in _GIVEN else -value))
    end = float(energy[last])
    steps.append(EnergyStep("unaccounted for", end - sum(s.change for s in steps)))
    least = 1e-6 * max(abs(start.change), sum(abs(s.change) for s in steps[1:]), 1e-12)
    told = [steps[0], *(s for s in steps[1:] if abs(s.change) > least)]
    return [*told, EnergyStep("end", end, float(run.time[last]))]


def _impacts(run: Trajectory, until: float) -> list[EnergyStep]:
    """What each instant of impacts took from the energy."""
    n = event_count(run)
    if n == 0 or run.contacts is None:
        return []
    log = run.log
    found: list[EnergyStep] = []
    for k in np.flatnonzero(np.asarray(log.impact)[:n] & (np.asarray(log.time)[:n] <= until)):
        time = float(log.time[k])
        struck = pushed(np.asarray(log.impulse)[k])
        names = [run.contact_names[i] for i in np.flatnonzero(struck)]
        change = float(log.kinetic_after[k] - log.kinetic_before[k])
        what = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
        if found and time - (found[-1].time or 0.0) < _SAME:
            what, change = found[-1].what, change + found.pop().change
        found.append(EnergyStep(what, change, time))
    return found


def waterfall(steps: list[EnergyStep]) -> list[dict[str, object]]:
    """Rows of a table, with bars that go on where the one before ended."""
    levels = np.cumsum([s.change for s in steps[:-1]])
    low, high = min(0.0, float(levels.min())), max(0.0, float(levels.max()))
    share = lambda x: (x - low) / ((high - low) or 1.0)  # noqa: E731
    scale, rows = high - low, []
    for i, step in enumerate(steps):
        whole = i in (0, len(steps) - 1)
        before = 0.0 if whole else float(levels[i - 1])
        kind = "whole" if whole else "loss" if step.change < 0 else "gain"
        rows.append(
            {
                "t [s]": "" if step.time is None else f"{step.time:.4g}",
                "what": step.what,
                "change [J]": ("" if whole or step.change < 0 else "+")
                + number(step.change, 3, scale),
                " ": Bar(share(before), share(before + step.change), kind),
            }
        )
    return rows
