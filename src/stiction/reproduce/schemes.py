"""Schemes: what documents draw with boxes and arrows."""

from typing import Any

from stiction.report.figures import COLORS, new_figure


def flow_figure(steps: tuple[str, ...], *, back: bool = False) -> Any:
    """Boxes one below the other; `back`: a line from the last to the first."""
    figure, axis = new_figure(figsize=(4.6, 4.4))
    for i, text in enumerate(steps):
        box = {"boxstyle": "round,pad=0.4", "fc": "#DCE6EF", "ec": COLORS[0]}
        axis.text(0, -i, text, ha="center", va="center", bbox=box, fontsize=9)
        if i:
            axis.annotate("", (0, -i + 0.25), (0, -i + 0.75), arrowprops={"arrowstyle": "->"})
    if back:
        axis.plot([0.8, 0.95, 0.95, 0.8], [1 - len(steps)] * 2 + [0, 0], color="0.3", lw=1)
    axis.set(xlim=(-1, 1), ylim=(0.5 - len(steps), 0.5))
    axis.axis("off")
    return figure
