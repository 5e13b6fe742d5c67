"""What is answered: a verdict, and every motion that rigid-body mechanics allows."""

import enum
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float


class Verdict(enum.IntEnum):
    """How many accelerations are possible. The values are the codes of batched answers."""

    INCONSISTENT = 0
    UNIQUE = 1
    AMBIGUOUS = 2
    COLLISION = 3

    def __str__(self) -> str:
        return self.name.lower()


EXPLANATIONS = {
    Verdict.INCONSISTENT: "no acceleration satisfies Newton, Coulomb and the contacts at once:"
    " a velocity jump (an impact without collision) must follow",
    Verdict.UNIQUE: "exactly one acceleration is possible",
    Verdict.AMBIGUOUS: "more than one acceleration is possible: rigid-body mechanics cannot choose",
    Verdict.COLLISION: "a contact velocity points into the obstacle: an impact comes first",
}

STICK, SLIP_LEFT, SLIP_RIGHT, SLIP, BREAK = "stick", "slip left", "slip right", "slip", "break"


@dataclass(frozen=True)
class End:
    """One end of a continuum: the value of c there, or None where it has no end."""

    c: float
    acceleration: Float[np.ndarray, " nv"]
    modes: tuple[str, ...]
    forces: Float[np.ndarray, "k nf"]


@dataclass(frozen=True)
class Family:
    r"""A continuum of accelerations: the convex hull of `corners`, without end along `rays`.

    In one dimension it is $a(c) = a_0 + (c/m)\,t_c$ for c in `interval` (erdmann 7), with $a_0$ the
    smallest acceleration on that line. For mechanisms m = 1 and the corners of families of more
    than one dimension are some, not all.
    """

    dimension: int
    corners: Float[np.ndarray, "n nv"]
    rays: Float[np.ndarray, "r nv"]
    interval: tuple[float, float] | None = None  # of c [N], infinite where it has no end
    tangent: Float[np.ndarray, " nv"] | None = None  # t_c
    base: Float[np.ndarray, " nv"] | None = None  # a_0
    ends: tuple[End | None, ...] = ()


@dataclass(frozen=True)
class Motion:
    """One possible acceleration, or a continuum of them with the same contact modes."""

    acceleration: Float[np.ndarray, " nv"]  # for a continuum, one inside it
    modes: tuple[str, ...]  # one for each contact
    forces: Float[np.ndarray, "k nf"]  # normal, tangential [N], of this acceleration
    forces_unique: bool  # False: other forces give the same acceleration; these are the smallest
    family: Family | None = None


@dataclass(frozen=True)
class Motions:
    """Every possible motion of a body or mechanism in contact."""

    verdict: Verdict
    motions: tuple[Motion, ...] = ()
    zero_reaction: bool = False  # the free acceleration violates no contact (erdmann 5.4.3)
    zero_net_force: bool = False  # the contacts can cancel the applied force (erdmann 5.4.3)
    collisions: dict[int, float] = field(default_factory=dict)  # contact -> inward speed [m/s]

    @property
    def explanation(self) -> str:
        """The verdict as a sentence."""
        return EXPLANATIONS[self.verdict]

    def with_separated(self, touching: Bool[np.ndarray, " k"]) -> "Motions":
        """The same motions told for all contacts: those that move apart break and do not press."""
        return replace(self, motions=tuple(_spread(m, touching) for m in self.motions))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON. An interval without end has None there."""
        return {
            "verdict": str(self.verdict),
            "explanation": self.explanation,
            "collisions": [
                {"contact": i, "inward_speed": speed} for i, speed in self.collisions.items()
            ],
            "zero_reaction": self.zero_reaction,
            "zero_net_force": self.zero_net_force,
            "motions": [_motion_dict(m) for m in self.motions],
        }


def describe_family(family: Family | None) -> str:
    """A continuum in a few words."""
    if family is None:
        return ""
    if family.interval is None:
        return f"a continuum of dimension {family.dimension}"
    low, high = (f"{c:.4g}" if np.isfinite(c) else "without end" for c in family.interval)
    return f"c from {low} to {high}"


def _spread(what: Any, touching: Bool[np.ndarray, " k"]) -> Any:
    """A motion or an end with entries for the contacts that do not touch."""
    if what is None:
        return None
    told = iter(what.modes)
    forces = np.zeros((len(touching), what.forces.shape[1]))
    forces[touching] = what.forces
    wider = replace(what, modes=tuple(next(told) if t else BREAK for t in touching), forces=forces)
    family = getattr(what, "family", None)
    if family is None:
        return wider
    ends = tuple(_spread(end, touching) for end in family.ends)
    return replace(wider, family=replace(family, ends=ends))


def _motion_dict(motion: Motion) -> dict[str, Any]:
    return {
        "acceleration": motion.acceleration.tolist(),
        "modes": list(motion.modes),
        "forces": motion.forces.tolist(),
        "forces_unique": motion.forces_unique,
        "family": None if motion.family is None else _family_dict(motion.family),
    }


def _family_dict(family: Family) -> dict[str, Any]:
    content: dict[str, Any] = {
        "dimension": family.dimension,
        "corners": family.corners.tolist(),
        "rays": family.rays.tolist(),
    }
    if family.interval is not None and family.tangent is not None and family.base is not None:
        content["c"] = [c if np.isfinite(c) else None for c in family.interval]
        content["tangent"] = family.tangent.tolist()
        content["base"] = family.base.tolist()
        content["ends"] = [
            None
            if end is None
            else {
                "c": end.c,
                "acceleration": end.acceleration.tolist(),
                "modes": list(end.modes),
                "forces": end.forces.tolist(),
            }
            for end in family.ends
        ]
    return content
