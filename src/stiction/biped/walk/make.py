"""From a recorded walk to a motion that the human can follow on its own feet."""

from pathlib import Path

import mujoco
import numpy as np

from stiction.biped.human import human
from stiction.biped.subject.coordinates import coordinates_of, read_motion
from stiction.biped.subject.subject import subject_of_mechanism
from stiction.biped.walk.body import walk_motion
from stiction.biped.walk.footsteps import plan_walk
from stiction.biped.walk.stride import recorded_stride
from stiction.mechanism import load_mechanism
from stiction.tables import Table


def walk_to_follow(
    recording: str | Path,
    *,
    height: float,
    mass: float,
    sex: str = "male",
    half_steps: int = 6,
    step: float | None = None,
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
        rise: Of each step [m].
    """
    text = human(height, mass, sex, sole="hinged")
    subject = subject_of_mechanism(load_mechanism(text))
    table = read_motion(recording, subject)
    q, _ = coordinates_of(table, subject)
    model = mujoco.MjModel.from_xml_string(text)
    plan = plan_walk(recorded_stride(model, table.time, q), half_steps, step=step, rise=rise)
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
