"""What `stiction jump` leaves behind: a figure and a page."""

from dataclasses import asdict
from pathlib import Path

from stiction.biped.jump import JumpRecord
from stiction.report.figures import COLORS, new_figure, save_figure
from stiction.report.page import Report


def write_jump(record: JumpRecord, directory, name: str) -> Path:
    """Write a figure and a report into an `OutputDirectory`; return the report's path."""
    figure, axis = new_figure()
    axis.plot(record.time, record.force, color=COLORS[0])
    axis.axhline(record.weight, color="0.5", linewidth=1, linestyle="--")
    for jump in record.jumps:
        axis.axvspan(jump.takeoff, jump.landing, color=COLORS[1], alpha=0.15, linewidth=0)
        middle = (jump.takeoff + jump.landing) / 2
        axis.text(middle, record.weight, f"{jump.height:.3f} m", ha="center", va="bottom")
    axis.set_xlabel("time [s]")
    axis.set_ylabel("vertical force [N]")
    report = Report(f"Jumps in {name}")
    report.text(f"Weight {record.weight:.1f} N: {record.weighed}.")
    report.figure(save_figure(figure, directory, "force")[-1], "Vertical force; in the air, shaded")
    report.table([asdict(j) for j in record.jumps])
    return report.write(directory.file("report.html"))
