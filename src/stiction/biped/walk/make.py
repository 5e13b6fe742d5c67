"""From a recorded walk to a motion that the human can follow on its own feet."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from stiction.biped.human import human
from stiction.biped.subject.coordinates import coordinates_of, read_motion
from stiction.biped.subject.subject import subject_of_mechanism
from stiction.biped.walk.body import sole_of, walk_motion
from stiction.biped.walk.footsteps import plan_walk
from stiction.biped.walk.stride import recorded_stride
from stiction.mechanism import load_mechanism
from stiction.tables import Table

_SPACING = 0.01  # of the nodes of stairs [m]
_EDGE = 0.04  # from the middle of a riser to the heel above it [m]


def walk_to_follow(
    recording: str | Path,
    *,
    height: float,
    mass: float,
    sex: str = "male",
    half_steps: int = 6,
    step: float | None = None,
    speed: float | None = None,
    rise: float = 0.0,
) -> Table:
    """A walk of the human with soles that bend, from rest to rest, with the stride of a recording.

    The columns are those of `track.file`: time, the base, and the joints that move.

    Args:
        recording: Joint angles of somebody who walks along x, on a treadmill or on the ground: a
            file that `read_motion` reads.
        height: Of the human [m].
        mass: Of the human [kg].
        sex: "male" or "female".
        half_steps: Before the one that brings the feet together.
        step: Length of a half-step [m]; as recorded by default.
        speed: Of the recorded stride, which is hastened or slowed to it [m/s]; as recorded by
            default. Its half-steps are as long as they were, unless `step` says otherwise.
        rise: Of each step [m]; `stairs_to_climb` makes the ground for it.
    """
    text = human(height, mass, sex, sole="hinged")
    subject = subject_of_mechanism(load_mechanism(text))
    table = read_motion(recording, subject)
    q, _ = coordinates_of(table, subject)
    model = mujoco.MjModel.from_xml_string(text)
    stride = recorded_stride(model, table.time, q)
    plan = plan_walk(stride.at_speed(speed), half_steps, step=step, rise=rise)
    motion = walk_motion(model, plan)
    names = [c.name for c in subject.coordinates]
    moves = [i for i in range(len(names)) if i < 7 or np.ptp(motion.q[:, i]) > 0]
    return Table.recording(
        Path(recording),
        motion.time,
        tuple(names[i] for i in moves),
        motion.q[:, moves],
        degrees=False,
    )


def stairs_to_climb(
    step: float, rise: float, half_steps: int = 6, *, height: float = 1.80, length: float = 2.0
) -> dict[str, Any]:
    """The ground under a walk up stairs, as `ground.field` of a scenario takes it.

    Treads are flat. Risers are 3 cm wide: between its nodes a field is a cubic spline, and heights
    are chosen so that its coefficients jump from tread to tread.

    Args:
        step: Depth of a tread [m].
        rise: Of each step [m].
        half_steps: How many treads there are.
        height: Of the human who climbs them [m]; its heels stand 2.5 cm from the edges.
        length: Of the ground before the first and behind the last tread [m].
    """
    model = mujoco.MjModel.from_xml_string(human(height, 70.0, sole="hinged"))
    edges = step * np.arange(1, half_steps + 1) + sole_of(model).heel - _EDGE
    x = np.arange(-length, half_steps * step + length, _SPACING)
    treads = rise * np.searchsorted(edges, x)
    padded = np.pad(treads, 1, mode="edge")
    heights = (padded[:-2] + 4 * padded[1:-1] + padded[2:]) / 6
    return {
        "heights": np.stack([heights, heights], axis=1),
        "spacing": (_SPACING, 2 * length),
        "position": (float(x[0] + x[-1]) / 2, 0.0, 0.0),
    }
