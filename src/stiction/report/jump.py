"""What `stiction jump` leaves behind: a figure and a page."""

import math
from pathlib import Path

from stiction.biped import Jump, JumpRecord
from stiction.report.figures import COLORS, add_figures, new_figure
from stiction.report.output import OutputDirectory
from stiction.report.page import Report


def write_jump(record: JumpRecord, directory: OutputDirectory, name: str) -> Path:
    """Write a figure and a report; return the report's path."""
    figure, axis = new_figure()
    axis.plot(record.time, record.force, color=COLORS[0])
    axis.axhline(record.weight, color="0.5", linewidth=1, linestyle="--")
    for jump in record.jumps:
        axis.axvspan(jump.takeoff, jump.landing, color=COLORS[1], alpha=0.15, linewidth=0)
        middle = (jump.takeoff + jump.landing) / 2
        above = axis.get_xaxis_transform()
        axis.text(middle, 1.01, f"{jump.height:.3f} m", ha="center", transform=above)
    axis.set_xlabel("time [s]")
    axis.set_ylabel("vertical force [N]")
    report = Report(f"Jumps in {name}")
    report.text(f"Weight {record.weight:.1f} N: {record.weighed}.")
    add_figures(report, directory, {"force": (figure, "Vertical force; in the air, shaded")})
    report.table([_row(jump) for jump in record.jumps])
    return directory.page(report)


def _row(jump: Jump) -> dict[str, str]:
    known = math.isfinite(jump.takeoff_speed)
    return {
        "take-off [s]": f"{jump.takeoff:.3f}",
        "landing [s]": f"{jump.landing:.3f}",
        "in the air [s]": f"{jump.flight_time:.3f}",
        "height from that [m]": f"{jump.height:.3f}",
        "take-off speed from the impulse [m/s]": f"{jump.takeoff_speed:.2f}" if known else "",
        "height from that speed [m]": f"{jump.impulse_height:.3f}" if known else "",
        "largest force before [N]": f"{jump.peak_force:.0f}",
        "largest force after [N]": f"{jump.landing_force:.0f}",
    }
