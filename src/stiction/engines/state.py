"""What is integrated, and what the smooth motion between events takes as settled."""

from typing import Any

import equinox as eqx

from stiction._base.arrays import Array, Float, Int

# What the ledger books [J]; all but the last entry are integrated along with the motion.
LEDGER = ("actuator_work", "damping_loss", "friction_loss", "support_work", "impact_loss")


class Mode(eqx.Module):
    """What the smooth motion takes as settled."""

    modes: Int[Array, "n"]
    direction: Float[Array, "n k"]  # of slip, at the last event or step
    memory: Any  # of the control


class State(eqx.Module):
    """What is integrated."""

    q: Float[Array, "nq"]
    v: Float[Array, "nv"]
    ledger: Float[Array, "5"]
    # The gaps once more, from their rates: what a step gets wrong of them tells whether it is short
    # enough for contacts not to be missed.
    gap: Float[Array, "n"]
    # What contacts themselves remember and have lost; rigid ones nothing.
    inner: Any = ()
