"""What is answered: a verdict, and every motion that rigid-body mechanics allows."""

import enum
from dataclasses import dataclass, field, fields, replace
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
    """One end of a continuum of accelerations: what happens at that value of c."""

    c: float
    acceleration: Float[np.ndarray, " nv"]
    modes: tuple[str, ...]
    forces: Float[np.ndarray, "k d"]


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
    ends: tuple[End | None, ...] = ()  # None where it has no end


@dataclass(frozen=True)
class PossibleMotion:
    """One possible acceleration, or a continuum of them with the same contact modes."""

    acceleration: Float[np.ndarray, " nv"]  # for a continuum, one inside it
    modes: tuple[str, ...]  # one for each contact
    forces: Float[np.ndarray, "k d"]  # of this acceleration: tangential, then normal [N]
    forces_unique: bool  # False: other forces give the same acceleration; these are the smallest
    family: Family | None = None


@dataclass(frozen=True)
class Motions:
    """Every possible motion of a body or mechanism in contact."""

    verdict: Verdict
    motions: tuple[PossibleMotion, ...] = ()
    zero_reaction: bool = False  # the free acceleration violates no contact (erdmann 5.4.3)
    zero_net_force: bool = False  # the contacts can cancel the applied force (erdmann 5.4.3)
    collisions: dict[int, float] = field(default_factory=dict)  # contact -> inward speed [m/s]

    @classmethod
    def of(
        cls, motions: tuple[PossibleMotion, ...], *, zero_reaction: bool, zero_net_force: bool
    ) -> "Motions":
        """All motions of a state without collisions, with the verdict that follows from them."""
        several = len(motions) > 1 or any(m.family for m in motions)
        verdict = Verdict.AMBIGUOUS if several else Verdict(len(motions))
        return cls(verdict, motions, zero_reaction, zero_net_force)

    @classmethod
    def collision(
        cls, colliding: Bool[np.ndarray, " k"], normal_speed: Float[np.ndarray, " k"]
    ) -> "Motions":
        """The answer where some contacts approach: none of the accelerations matters yet."""
        inward = {int(i): float(-normal_speed[i]) for i in np.flatnonzero(colliding)}
        return cls(Verdict.COLLISION, collisions=inward)

    @property
    def explanation(self) -> str:
        """The verdict as a sentence."""
        return EXPLANATIONS[self.verdict]

    def with_separated(self, touching: Bool[np.ndarray, " k"]) -> "Motions":
        """The same motions with entries for contacts that move apart: they break without force."""
        return replace(self, motions=tuple(_spread(m, touching) for m in self.motions))

    def of_first(self, nv: int) -> "Motions":
        """The same motions, of the first freedoms only."""
        return replace(self, motions=tuple(_first(m, nv) for m in self.motions))

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
            "motions": [_plain(m) for m in self.motions],
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


def _first(what: Any, nv: int) -> Any:
    """A motion, a family or an end of it, with accelerations of the first freedoms."""
    names = ("acceleration", "corners", "rays", "tangent", "base")
    mine = {n: getattr(what, n, None) for n in names}
    cut: dict[str, Any] = {n: x[..., :nv] for n, x in mine.items() if x is not None}
    if getattr(what, "family", None) is not None:
        cut["family"] = _first(what.family, nv)
    if getattr(what, "ends", ()):
        cut["ends"] = tuple(None if end is None else _first(end, nv) for end in what.ends)
    return replace(what, **cut)


def _plain(value: Any) -> Any:
    """Dictionaries, lists and numbers instead of dataclasses, tuples and arrays."""
    if isinstance(value, Family) and value.interval is not None:
        content = {"c" if f.name == "interval" else f.name: f.name for f in fields(value)}
        return {key: _plain(getattr(value, name)) for key, name in content.items()}
    if isinstance(value, Family):
        return {n: _plain(getattr(value, n)) for n in ("dimension", "corners", "rays")}
    if isinstance(value, PossibleMotion | End):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if isinstance(value, float) and not np.isfinite(value) else value
