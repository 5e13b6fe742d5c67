"""Capability, postures and studies in numbers and words, as plain data."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.agility.capability import Capability, limits_in_words
from stiction.agility.directions import capability_in
from stiction.agility.optimize import PostureSearch
from stiction.agility.postures import check_posture
from stiction.agility.stance import Stance, effort_range
from stiction.agility.study import CapabilityField, Correlation, JumpStudy, correlation


def summarize_capability(
    stance: Stance, q: Float[Array, "nq"], direction: Float[Array, "3"]
) -> dict[str, Any]:
    """The largest acceleration along a direction, while the feet hold and by the motors alone."""
    check_posture(stance, q)
    if stance.contacts.planar and abs(float(direction[1])) > 1e-12:
        raise InputError("`--direction` must lie in the x-z plane, for the mechanism keeps to it")
    low, high = effort_range(stance, q, jnp.zeros(stance.mechanism.nv))
    for name, a, b in zip(stance.motors.names, low, high, strict=True):
        if not np.isfinite([a, b]).all():
            raise InputError(
                f"motor '{name}' has no limit of effort, so neither has the acceleration;"
                " give it a `ctrlrange` or `forcerange`"
            )
    motors, exact = (
        jax.tree.map(lambda x: np.asarray(x)[0], found)
        for found in capability_in(stance, q, jnp.asarray(direction)[None])
    )

    def told(found: Capability, contact_limits: bool) -> dict[str, Any]:
        good = bool(np.isfinite(found.value))
        return {
            "capability": float(found.value) if good else None,
            "limits": limits_in_words(stance, found, low, high, contact_limits=contact_limits),
            "effort": _named(stance.motors.names, found.effort) if good else None,
            "force": _named(stance.contacts.names, found.force) if good else None,
        }

    return {
        "mechanism": stance.mechanism.name,
        "direction": np.asarray(direction),
        "posture": np.asarray(q),
        **told(exact, True),
        "motors_alone": told(motors, False),
    }


def summarize_search(
    stance: Stance, direction: Float[Array, "3"], found: PostureSearch
) -> dict[str, Any]:
    """The local optima of a search for the best posture."""
    return {
        "mechanism": stance.mechanism.name,
        "direction": np.asarray(direction),
        "sampled": found.sampled,
        "feasible": found.feasible,
        "best_sample": found.best_sample,
        "starts": found.starts,
        "converged": found.converged,
        "optima": [
            {
                "capability": o.capability,
                "posture": _named(stance.mechanism.tree.coordinate_names, o.q),
                "effort": _named(stance.motors.names, o.effort),
                "force": _named(stance.contacts.names, o.force),
                "limits": o.binding,
                "kkt_residual": o.residual,
                "starts": o.starts,
            }
            for o in found.optima
        ],
    }


def _named(names: Iterable[str], values: Any) -> dict[str, Any]:
    return dict(zip(names, values.tolist(), strict=True))


@dataclass(frozen=True)
class PostureStudy:
    """Capability over two joints, and the jumps from random postures of these joints."""

    joints: tuple[str, str]
    field: CapabilityField
    jumps: JumpStudy
    first: np.ndarray  # values of the two joints at each jump
    second: np.ndarray
    correlation: Correlation  # of stance duration with capability

    def summary(self) -> dict[str, Any]:
        """In numbers, as plain data."""
        return {
            "postures": len(self.jumps.q),
            "left": int(self.jumps.outcome.left.sum()),
            "stood": int(self.jumps.stood.sum()),
            "timeouts": int(self.jumps.timeout.sum()),
            "correlation": vars(self.correlation),
        }


def relate_capability_to_jumps(
    stance: Stance, field: CapabilityField, jumps: JumpStudy
) -> PostureStudy:
    """What the capability of a posture has to do with the jump from it."""
    at = [int(stance.mechanism.tree.q_address[stance.mechanism.joint(n)]) for n in field.names]
    kept = jumps.stood & (jumps.motors > 0)
    found = correlation(jumps.motors[kept], jumps.outcome.stance_duration[kept])
    return PostureStudy(field.names, field, jumps, jumps.q[:, at[0]], jumps.q[:, at[1]], found)
