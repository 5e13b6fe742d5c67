"""Pictures of the motions that a state of a scene allows."""

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from stiction.mechanism.kinematics import body_poses, motion
from stiction.motions.result import BREAK, describe_family
from stiction.report.figures import COLORS, new_figure
from stiction.report.strobe import draw_strobe
from stiction.scenes.motions import SceneState
from stiction.surfaces import contact_places

_MOST_SHOWN = 5
_LONGEST = 0.3  # of the picture's width: the arrow of the largest force


def scene_figures(state: SceneState, answer: Any) -> Iterator[tuple[str, str, Any]]:
    """The mechanism with the contact forces of each motion: name, caption and figure."""
    shown = answer.motions[:_MOST_SHOWN] or [None]
    figure, panels = new_figure(1, len(shown), figsize=(4.6 * len(shown), 4.2), squeeze=False)
    m, q = state.mechanism, np.asarray(state.q)[None]
    poses = body_poses(m, motion(m, state.q).links)
    places = contact_places(state.contacts, poses, jnp.asarray(state.time))
    point, frame = np.asarray(places.point), np.asarray(places.frame)
    rows = [0, 2] if state.contacts.planar else [0, 1, 2]
    planes = state.contacts.planes
    pairs = zip(np.asarray(planes.position), np.asarray(planes.rotation), strict=True)
    ground = [(p, R[:, 2]) for p, R in pairs]
    for i, (axis, how) in enumerate(zip(panels[0], shown, strict=True)):
        draw_strobe(axis, m, q, path=q, ground=ground)
        axis.margins(0.25)
        if how is None:
            axis.set_title("no motion is possible")
            continue
        # The answer has the normal first; frames have the tangents first.
        force = np.roll(how.forces, -1, axis=1)
        world = np.einsum("nd,ndx->nx", force, frame[:, rows])
        low, high = axis.get_xlim()
        scale = _LONGEST * (high - low) / max(np.abs(world).max(initial=0.0), 1e-300)
        for p, f in zip(point, scale * world, strict=True):
            axis.annotate(
                "",
                xy=(p[0] + f[0], p[2] + f[2]),
                xytext=(p[0], p[2]),
                arrowprops={"arrowstyle": "-|>", "color": COLORS[3], "lw": 1.5},
                annotation_clip=False,
            )
        words = zip(state.names, how.modes, strict=True)
        modes = [f"{name} {word}" for name, word in words if word != BREAK]
        told = ", ".join(modes) if 0 < len(modes) < 3 else f"{len(modes)} contacts kept"
        axis.set_title(f"motion {i + 1}: {told}", fontsize=8)
        axis.text(0.02, 0.02, describe_family(how.family), transform=axis.transAxes, fontsize=7)
    yield "motions", "The state, and the contact forces of each possible motion", figure
