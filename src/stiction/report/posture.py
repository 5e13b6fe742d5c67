"""What `stiction posture` leaves behind: the best postures, and the study of jumps."""

from pathlib import Path
from typing import Any

import numpy as np

from stiction.agility import PostureSearch, Stance
from stiction.agility.summary import PostureStudy
from stiction.report import agility as figures
from stiction.report.figures import add_figures
from stiction.report.output import OutputDirectory
from stiction.report.page import Report


def write_posture(
    directory: OutputDirectory,
    stance: Stance,
    direction: Any,
    found: PostureSearch,
    answer: dict[str, Any],
    study: PostureStudy | None,
) -> Path:
    """Write the postures found, `posture.json` and, of a study, `study.csv` and its maps."""
    report = Report(f"Best postures of {stance.mechanism.name}")
    report.table(
        [
            {
                "capability [m/s²]": o["capability"],
                "limited by": ", ".join(o["limits"]),
                "KKT residual": o["kkt_residual"],
                "starts": o["starts"],
            }
            for o in answer["optima"]
        ]
    )
    shown = found.optima[:3]
    titles = [f"{o.capability:.4g} m/s²" for o in shown]
    best = figures.posture_figure(
        stance, np.stack([o.q for o in shown]), np.asarray(direction), titles
    )
    add_figures(report, directory, {"postures": (best, "The best local optima")})
    if study is not None:
        at = (study.jumps, study.first, study.second, study.joints)
        drawn = {
            "field": (figures.field_figure(study.field), "Capability over two joints"),
            "sampling": (figures.sampling_figure(*at), "What became of each jump"),
            "duration": (
                figures.duration_figure(study.jumps, study.correlation),
                "Stance duration against capability",
            ),
            "partial": (
                figures.partial_figure(*at),
                "Jumps by posture: stance duration and capability",
            ),
        }
        add_figures(report, directory, drawn)
        directory.csv("study.csv", _study_rows(study))
    directory.json("posture.json", answer)
    return directory.page(report)


def _study_rows(study: PostureStudy) -> list[dict[str, float]]:
    jumps = study.jumps
    columns = {
        study.joints[0]: study.first,
        study.joints[1]: study.second,
        "capability_motors": jumps.motors,
        "capability": jumps.exact,
        "stance_duration": jumps.outcome.stance_duration,
        "left": jumps.outcome.left,
        "timeout": jumps.timeout,
        "slips": jumps.outcome.slips,
    }
    rows = np.column_stack(list(columns.values())).tolist()
    return [dict(zip(columns, row, strict=True)) for row in rows]
