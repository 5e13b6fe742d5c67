"""An impact by all laws: tables, figures and the page."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from stiction.impacts import friction_map as feasible_friction
from stiction.report.figures import COLORS, add_figures, new_figure
from stiction.report.output import OutputDirectory
from stiction.report.page import Report, number
from stiction.scenes.impact import ImpactState

_SLIPS = 401  # points of a friction curve


def table_rows(found: ImpactState, rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """One row for each law and contact, and one for what there was before, as text."""
    problem = found.problem
    speed = float(np.abs(np.asarray(problem.velocity)).max())
    impulse = max(float(np.abs(c["impulse"]).max()) for row in rows for c in row["contacts"])
    before = {
        "contacts": [
            {"contact": name, "velocity_after": u}
            for name, u in zip(found.names, problem.velocity, strict=True)
        ],
        "law": "before",
        "kinetic_after": float(problem.kinetic),
    }
    shown = []
    for row in [before, *rows]:
        for i, contact in enumerate(row["contacts"]):
            shown.append(
                {
                    "law": row["law"] if i == 0 else "",
                    "contact": contact["contact"],
                    "velocity [m/s]": _numbers(contact["velocity_after"], speed),
                    "impulse [N s]": _numbers(contact.get("impulse", ()), impulse),
                    "least force [N]": _numbers(contact.get("force", ())),
                    "friction": f"{contact['mu']:.4g}" if "mu" in contact else "",
                    "e_t (4.11)": _numbers(contact.get("tangential_restitution", ())),
                    "state": contact.get("state", ""),
                    "energy [J]": _energy(row) if i == 0 else "",
                }
            )
    return shown


def write_impact(
    directory: OutputDirectory,
    title: str,
    found: ImpactState,
    rows: list[dict[str, Any]],
    *,
    friction_map: bool,
) -> Path:
    """Write figures, `impact.csv` and the report; return the report's path."""
    report = Report(f"{title}: an impact by all laws", f"t = {found.time:.9g} s")
    guilty = [row["law"] for row in rows if row["creates_energy"]]
    report.text(
        "Velocities and impulses: tangents, then normal. Forces are the least that would do the"
        " work of the impact in 1 ms, flickinger (3.25)."
        + (f" These laws create energy: {'; '.join(guilty)}." if guilty else "")
    )
    shown = table_rows(found, rows)
    report.table(shown)
    directory.csv("impact.csv", shown)
    figures = {"laws": (_law_figure(found, rows), "Velocities after, and kinetic energy left")}
    if friction_map:
        figures["friction-map"] = (
            _friction_map_figure(found),
            "Friction that each slip afterwards would need (flickinger, Figures 4.1 to 4.5). Where"
            " shaded, the contact would have to pull.",
        )
    add_figures(report, directory, figures)
    return directory.page(report)


def _law_figure(found: ImpactState, rows: list[dict[str, Any]]):
    figure, (left, right) = new_figure(1, 2, figsize=(9.6, 4.2))
    markers = "osD^v<>pPXhd*"  # one for each law, and for the row of --tangential
    for i, row in enumerate(rows):
        after = np.array([c["velocity_after"] for c in row["contacts"]])
        slip = after[:, 0] if after.shape[1] == 2 else np.linalg.norm(after[:, :-1], axis=1)
        color = COLORS[i % len(COLORS)]
        left.plot(
            slip, after[:, -1], markers[i], color=color, label=row["law"], mfc="none", ms=5 + i
        )
        share = row["kinetic_after"] / row["kinetic_before"]
        right.barh(i, share, color=color, alpha=0.9 if row["creates_energy"] else 0.5)
        mark = "  creates energy" if row["creates_energy"] else ""
        right.text(share, i, f" {share:.3f}{mark}", va="center", fontsize="small")
    spatial = found.problem.velocity.shape[1] == 3
    left.set(
        xlabel="slip speed after [m/s]" if spatial else "tangential velocity after [m/s]",
        ylabel="normal velocity after [m/s]",
    )
    left.legend(fontsize="x-small")
    right.set_yticks(range(len(rows)), [row["law"] for row in rows])
    right.invert_yaxis()
    right.axvline(1.0, color="black", lw=0.8)
    widest = max(1.0, *(row["kinetic_after"] / row["kinetic_before"] for row in rows))
    right.set(xlabel="kinetic energy after / before", xlim=(0, 1.6 * widest))
    return figure


def _friction_map_figure(found: ImpactState):
    """One panel for each contact that takes part, as it slips while the others stick."""
    problem = found.problem
    n, dim = problem.velocity.shape
    speed = 1.5 * float(np.max(np.abs(np.asarray(problem.velocity))))
    slip = jnp.linspace(-speed, speed, _SLIPS)
    figure, axes = new_figure(1, n, figsize=(5.2 * n, 4.0), squeeze=False)
    for i, axis in enumerate(axes[0]):
        u_t = np.asarray(problem.velocity)[i, :-1]
        size = np.linalg.norm(u_t)
        way = np.eye(dim - 1)[0] if dim == 2 or size == 0 else u_t / size
        direction = jnp.zeros((n, dim - 1)).at[i].set(jnp.asarray(way))
        found_map = feasible_friction(problem, slip, direction)
        mu, normal = np.asarray(found_map.mu)[:, i], np.asarray(found_map.normal)[:, i]
        mu_s, mu_d = float(problem.mu_static[i]), float(problem.mu_dynamic[i])
        stick = float(found_map.mu_stick[i])
        top = 2.5 * max(mu_s, stick if np.isfinite(stick) else 0.0, 0.2)
        axis.plot(slip, np.where(normal >= 0, mu, np.nan), label="needed, p_n ≥ 0")
        axis.plot(slip, np.where(normal < 0, mu, np.nan), ":", label="needed, p_n < 0")
        axis.fill_between(slip, 0, top, where=normal < 0, color="black", alpha=0.12, lw=0)
        axis.axhline(mu_s, color=COLORS[2], lw=1, ls="--", label=f"static {mu_s:g}")
        axis.axhline(mu_d, color=COLORS[4], lw=1, ls="--", label=f"dynamic {mu_d:g}")
        if np.isfinite(stick):
            axis.plot([0], [stick], "o", color="black", label=f"to stick {stick:.3g}")
        axis.set(
            title=found.names[i], ylim=(0, top), xlim=(-speed, speed),
            xlabel="tangential velocity after [m/s]", ylabel="friction coefficient",
        )  # fmt: skip
        axis.legend(fontsize="x-small")
    return figure


def _numbers(values, scale: float = 1.0) -> str:
    return ", ".join(number(float(x), 5, scale) for x in values)


def _energy(row: dict[str, Any]) -> str:
    text = f"{row['kinetic_after']:.6g}"
    if row.get("creates_energy"):
        text += " created!"
    return text if row.get("feasible", True) else text + " (law not met)"
