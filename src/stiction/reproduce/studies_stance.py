"""Flickinger, Figure 6.3: does stance last longer the more a posture can accelerate?

Up to 200 m/s², the document says. That depends on the leg, which is open: few postures of the one
that stands before it jumps are so weak (Figure 6.3 here); with a straight one the rise is seen.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction.agility import correlation, hold, jump_study, make_stance, place, posture_limits
from stiction.report.figures import COLORS, new_figure
from stiction.report.progress import progress
from stiction.reproduce.flickinger_agility import (
    CEILINGS,
    JOINTS,
    LINEAR,
    MU,
    capabilities,
    direction,
)
from stiction.reproduce.registry import Check, Document, Reproduction
from stiction.reproduce.studies_leg import FACE, leg_with
from stiction.scenes import rigid_law, scene

item = Document("studies").item
JUMPS = 250


@item("Study 8")
def straight_leg() -> Reproduction:
    hanging = leg_with(FACE, 0.0, ahead=False).mechanism
    stance = make_stance(hanging, contacts=["foot"], mu=MU, point="body")
    limits = posture_limits(stance)
    law = rigid_law(scene("jumping-leg").scenario.contact, stance.contacts)
    guess = next(key.q for key in stance.mechanism.keyframes if key.name == "guess")
    narrow = hold(stance, limits, place(stance, jnp.asarray(guess))[0], JOINTS)
    done = jump_study(stance, narrow, direction(), JUMPS, law=law,
                      each=lambda batches: progress(batches, "jumping"))  # fmt: skip
    stiffness = stance.mechanism.joints.stiffness
    bare = eqx.tree_at(lambda s: s.mechanism.joints.stiffness, stance, jnp.zeros_like(stiffness))
    motors, _ = capabilities(bare, jnp.asarray(done.q))  # as in (6.1), which has no springs
    duration = done.outcome.stance_duration
    rows = []
    for low, high in ((0.0, LINEAR), (LINEAR, np.inf), *((0.0, c) for c in CEILINGS[1:])):
        kept = done.stood & (motors > low) & (motors < high)
        shown = {"from [m/s²]": low, "to [m/s²]": "all" if np.isinf(high) else high}
        rows.append(shown | vars(correlation(motors[kept], duration[kept])))
    figure, axis = new_figure(figsize=(6.8, 4.0))
    stood = done.stood & (motors > 0)
    axis.plot(motors[stood], 1e3 * duration[stood], ".", color=COLORS[0])
    axis.axvline(LINEAR, color="0.5", ls="--", lw=1)
    axis.set(xlabel="capability along the jump, (6.6) [m/s²]", ylabel="stance [ms]",
             title=f"r = {rows[0]['pearson']:.2f} up to {LINEAR:g} m/s²,"
                   f" {rows[1]['pearson']:.2f} above")  # fmt: skip
    return Reproduction(
        figure,
        rows,
        [
            Check.more("below 200 m/s² stance rises with capability: least r of the interval",
                       rows[0]["low"], 0.0),
            Check.less("and not above it: greatest r of the interval", rows[1]["high"], 0.0),
        ],
    )  # fmt: skip
