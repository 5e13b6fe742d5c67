"""The figure of what the ground does to each body that it carries."""

import numpy as np

from stiction.report.figures import COLORS, legend_above, new_figure
from stiction.scenes.reactions import APPROACH, Reactions

_MAX_BODIES = 4  # more panels than this tell nothing


def reaction_figure(r: Reactions):
    """Vertical and horizontal force of each body against time, its phases and its impacts."""
    names = r.bodies[:_MAX_BODIES]
    figure, axes = new_figure(
        len(names), sharex=True, sharey=True, squeeze=False, figsize=(6.8, 1.2 + 2.2 * len(names))
    )
    weight = float(np.linalg.norm(r.weight)) or 1.0
    to_percent = (lambda f: 100 * f / weight, lambda f: f * weight / 100)
    across = [i for i in range(3) if abs(r.up[i]) < 0.5]
    shown = r.mean[:, : len(names)]
    top = 1.1 * max(float((shown @ r.up).max()), 1.0)
    for i, (axis, name) in enumerate(zip(axes[:, 0], names, strict=True)):
        for a, b in _spans(r.phase[:, i] != APPROACH):
            axis.axvspan(r.time[a], r.time[b], color="0.93", lw=0)
        for t in r.impact_time[np.linalg.norm(r.impulse[:, i], axis=1) > 0]:
            axis.axvline(t, color=COLORS[1], lw=0.8, ls=":")
        axis.plot(r.time, shown[:, i] @ r.up, color="0.6", lw=1, label="up, mean over 10 ms")
        axis.plot(r.time, r.force[:, i] @ r.up, color=COLORS[0], label="up")
        for j, k in enumerate(across):
            axis.plot(r.time, r.force[:, i, k], color=COLORS[2 + j], lw=1, label="xyz"[k])
        axis.set_title(name.replace("_", " "), loc="left")
        axis.set_ylabel("force [N]")
        percent = axis.secondary_yaxis("right", functions=to_percent)
        percent.set_ylabel("[% weight]")
    axes[0, 0].set_ylim(min(-0.1 * top, 1.1 * float(r.force[:, :, across].min(initial=0))), top)
    legend_above(axes[0, 0], 4)
    axes[-1, 0].set_xlabel("time [s]")
    return figure


def _spans(inside: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
    return [(int(a), min(int(b), len(inside) - 1)) for a, b in edges.reshape(-1, 2)]
