"""A motion with a known answer, and how the engines carry it out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import numpy as np

import stiction
from stiction import Compliant, Hybrid, Solver, Stepping, Trajectory, find_contacts, simulate
from stiction.impacts import IMPACT_LAWS
from stiction.surfaces import Planes, world_contacts

G = 9.81
FLOOR = '<geom name="floor" type="plane" size="9 9 .1"/>'
STEP = 1e-3

# Who carries it out: exact events by the engine's own dynamics and by MuJoCo's, fixed steps with
# cones and with pyramids, springs. "hybrid" and "world" have the usual impact law.
EVENTS = ("hybrid", "world")
STEPS = ("stepping", "stepping-lcp")
RIGID = (*EVENTS, *STEPS)
IMPACTS = tuple(f"hybrid:{law}" for law in IMPACT_LAWS if law != "no-slip")
# Laws whose restitution is Newton's and those whose is Poisson's or Stronge's.
NEWTONS = tuple(x for x in IMPACTS if not x.endswith(("poisson", "stronge")))


@dataclass(frozen=True, eq=False)
class Case:
    """A motion whose answer is known.

    Attributes:
        name: What moves, in words.
        group: The table in which it stands.
        model: MJCF.
        check: What a run gives and what is known; they are compared by their largest entries. Of a
            case with a twin: from its run and that of the twin.
        until: Duration [s].
        q: Initial configuration; the model's by default.
        v: Initial velocity; none by default.
        claims: Who claims it.
        restitution: e of every contact.
        mu: Friction of every contact.
        mu_static: Of those that stick, if it is another.
        step_error: How far fixed steps may be off, part of the answer: they are of first order
            across impacts and where sliding ends; rounding elsewhere.
        error: How far all others may be off.
        law: The law of compliant contacts, if they claim it.
        ground: Planes in motion, in place of those of the model.
        step: The length of fixed steps [s].
        samples: How many are kept.
        options: More numbers of the hybrid law.
        twin: The same motion seen otherwise.
    """

    name: str
    group: str
    model: str
    check: Callable[..., tuple[Any, Any]]
    until: float
    q: Any = None
    v: Any = None
    claims: tuple[str, ...] = RIGID
    restitution: float = 0.0
    mu: float = 0.0
    mu_static: float | None = None
    step_error: float = 1e-8
    error: float = 1e-7
    law: Compliant | None = None
    ground: Planes | None = None
    step: float = STEP
    samples: int = 2
    options: dict = field(default_factory=dict)
    twin: "Case | None" = None

    def bound(self, engine: str) -> float:
        """How far an engine may be off."""
        return self.step_error if engine in STEPS else self.error


@cache
def load(model: str):
    """A mechanism, once."""
    return stiction.load(model)


def law_of(case: Case, engine: str) -> Hybrid | Stepping | Compliant:
    """The law of contact of an engine."""
    static = case.mu if case.mu_static is None else case.mu_static
    rub = {"mu_static": static, "mu_dynamic": case.mu}
    if engine in STEPS:
        solver = "lcp" if engine == "stepping-lcp" else "newton"
        return Stepping(dt=case.step, restitution=case.restitution, solver=solver, **rub)
    if engine == "compliant":
        assert case.law is not None
        return case.law
    _, _, impact = engine.partition(":")
    chosen = {"impact": impact} if impact else {}
    return Hybrid(restitution=case.restitution, **rub, **chosen, **case.options)


@lru_cache(maxsize=16)  # several cases have one twin
def run(case: Case, engine: str) -> Trajectory:
    """Carried out by an engine, to its end."""
    mechanism = load(case.model)
    q = mechanism.q_reference if case.q is None else np.asarray(case.q, float)
    v = np.zeros(mechanism.nv) if case.v is None else np.asarray(case.v, float)
    if engine == "world":
        contacts = world_contacts(mechanism, ground=case.ground, own_friction=False)
    else:
        contacts = find_contacts(mechanism, ground=case.ground)
    return simulate(
        mechanism, q, v, until=case.until, contacts=contacts, law=law_of(case, engine),
        solver=Solver(1e-11, 1e-12, max_steps=20_000), samples=case.samples, max_events=4000,
    ).to_numpy()  # fmt: skip


def error_of(case: Case, engine: str) -> float:
    """The largest difference from what is known, part of the largest that is known."""
    runs = [run(each, engine) for each in (case, case.twin) if each is not None]
    got, known = (np.asarray(x, float) for x in case.check(*runs))
    assert got.shape == known.shape, (got.shape, known.shape)
    return float(np.max(np.abs(got - known)) / max(np.max(np.abs(known)), 1e-3))


def world(bodies: str, *, fixed: str = FLOOR, gravity: str = f"0 0 -{G}") -> str:
    """A model of bodies over a floor."""
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}"/>'
        f"<worldbody>{fixed}{bodies}</worldbody></mujoco>"
    )


def numbers(values: Any) -> str:
    """As MJCF wants them, to the last digit."""
    return " ".join(repr(float(x)) for x in np.ravel(values))


FREE = "<freejoint/>"
PLANAR = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>'
RAIL = '<joint type="slide" axis="{} 0 {}"/>'


def body(geoms: str, *, at: Any = (0, 0, 0), joints: str = FREE, turn: Any = None) -> str:
    """A body."""
    how = "" if turn is None else f' euler="{numbers(turn)}"'
    return f'<body pos="{numbers(at)}"{how}>{joints}{geoms}</body>'


def ball(r: float, m: float = 1.0, *, at: Any = (0, 0, 0)) -> str:
    """A solid sphere as a geom."""
    return f'<geom type="sphere" size="{numbers(r)}" mass="{numbers(m)}" pos="{numbers(at)}"/>'


def box(half: Any, m: float = 1.0) -> str:
    """A box as a geom."""
    return f'<geom type="box" size="{numbers(half)}" mass="{numbers(m)}"/>'


def slope(angle: float, *, name: str = "slope") -> str:
    """A plane through the origin, downhill along +x."""
    return f'<geom name="{name}" type="plane" size="9 9 .1" euler="0 {angle!r} 0"/>'


def inertial(m: float, inertia: Any, at: Any = (0, 0, 0)) -> str:
    """Mass and moments of inertia, whatever the geoms."""
    return (
        f'<inertial pos="{numbers(at)}" mass="{m!r}"'
        f' diaginertia="{numbers(np.broadcast_to(inertia, 3))}"/>'
    )
