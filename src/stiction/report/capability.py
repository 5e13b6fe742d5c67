"""What `stiction capability` leaves behind: figures and a page."""

from pathlib import Path
from typing import Any

import numpy as np

from stiction.agility import Stance
from stiction.agility.directions import acceleration_set
from stiction.report.agility import polytope_figure, posture_figure
from stiction.report.figures import add_figures
from stiction.report.output import OutputDirectory
from stiction.report.page import Report


def write_capability(
    directory: OutputDirectory, stance: Stance, q: Any, direction: Any, answer: dict[str, Any]
) -> Path:
    """Draw all directions, and write what `summarize_capability` found in one of them."""
    d, value = np.asarray(direction), answer["capability"]
    text = "none" if value is None else f"{value:.4g} m/s²"
    report = Report(f"Capability of {stance.mechanism.name}", f"Along the direction: {text}.")
    report.table(
        [
            {
                "held back by": name,
                "capability [m/s²]": found["capability"],
                "limits": ", ".join(found["limits"]),
                "effort [N or N·m]": {n: float(f"{x:.4g}") for n, x in found["effort"].items()},
            }
            for name, found in (
                ("motors and contacts", answer),
                ("motors alone", answer["motors_alone"]),
            )
        ]
    )
    figures = {
        "polytope": (
            polytope_figure(acceleration_set(stance, q), d, value),
            "All accelerations that the point can have",
        ),
        "posture": (
            posture_figure(stance, np.asarray(q)[None], d, ["posture"]),
            "The posture and the direction",
        ),
    }
    add_figures(report, directory, figures)
    directory.json("capability.json", answer)
    return directory.page(report)
