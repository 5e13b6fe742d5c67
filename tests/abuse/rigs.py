"""Random yaws, shakers, grooves and grasps: redundant contacts that bear, slide and let go."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import jax.numpy as jnp
import numpy as np

import stiction
from stiction import Hybrid, Solver, Stepping, find_contacts, simulate
from stiction.surfaces import planes
from stiction.surfaces.supports import SupportMotion

FLOOR = '<geom name="floor" type="plane" size="9 9 .1"/>'
LAWS = ("hybrid", "stepping")


@dataclass
class Held:
    """Of a number of runs.

    Attributes:
        runs: How many.
        events: Events of all of them.
        outside: How far a force is outside of its cone at most, part of the largest of its run.
        ended: Messages of those that did not come to their end.
    """

    runs: int = 0
    events: int = 0
    outside: float = 0.0
    ended: Counter = field(default_factory=Counter)

    def add(self, run, mu) -> None:
        """Judge one run, or a batch with a friction for each."""
        f = np.asarray(run.force)
        mu = np.broadcast_to(np.asarray(mu, float)[..., None, None], f.shape[:-1])
        beyond = np.linalg.norm(f[..., :-1], axis=-1) - mu * np.maximum(f[..., -1], 0)
        beyond = np.maximum(beyond, -f[..., -1]).reshape(*f.shape[:-3], -1)
        largest = np.linalg.norm(f, axis=-1).reshape(*f.shape[:-3], -1).max(axis=-1)
        codes = np.ravel(np.asarray(run.result._value))
        self.runs += codes.size
        self.events += int(np.sum(run.n_events))
        self.outside = max(self.outside, float(np.nanmax(beyond.max(-1) / (largest + 1e-300))))
        self.ended.update(int(c) for c in codes if c != 0)


def law_of(name: str, mu, restitution=0.0):
    """Of an engine."""
    rub = {"mu_static": mu, "mu_dynamic": mu, "restitution": restitution}
    return Hybrid(**rub) if name == "hybrid" else Stepping(dt=2e-3, **rub)


def _run(mechanism, contacts, q, v, law, until):
    return simulate(
        mechanism, q, v, until=until, contacts=contacts, law=law, samples=11, max_events=300,
        throw=False, solver=Solver(max_steps=20_000),
    )  # fmt: skip


def _box(half, *, above: float | None = None) -> str:
    size = " ".join(f"{x!r}" for x in half)
    z = half[2] if above is None else above
    return f'<body pos="0 0 {z!r}"><freejoint/><geom type="box" size="{size}" mass="1"/></body>'


def _load(bodies: str, fixed: str = "", gravity=(0, 0, -9.81)):
    pull = " ".join(repr(float(x)) for x in gravity)
    return stiction.load(
        f'<mujoco><option gravity="{pull}"/><worldbody>{fixed}{bodies}</worldbody></mujoco>'
    )


def yaws(rng: np.random.Generator, count: int, engine: str) -> Held:
    """Boxes on a floor, at rest or sliding and spinning until they rest; some without friction."""
    held = Held()
    each = min(count, 50)
    for _ in range(0, count, each):
        half = [float(x) for x in 10 ** rng.uniform(-1.5, -0.5, 3)]
        mechanism = _load(_box(half), FLOOR)
        yaw = rng.uniform(0, 2 * np.pi, each)
        q = np.zeros((each, 7))
        q[:, 2], q[:, 3], q[:, 6] = half[2], np.cos(yaw / 2), np.sin(yaw / 2)
        moves = (rng.random(each) < 0.5)[:, None]
        v = np.zeros((each, 6))
        v[:, :2] = moves * rng.normal(size=(each, 2))
        v[:, 5] = moves[:, 0] * rng.normal(size=each) * 5
        # Low enough that no corner lifts: those that tip are another rig.
        most = 0.5 * min(half[:2]) / half[2]
        mu = rng.uniform(0, min(1.0, most), each) * (rng.random(each) > 0.1)
        held.add(_run(mechanism, find_contacts(mechanism), q, v, law_of(engine, mu), 1.0), mu)
    return held


def shakers(rng: np.random.Generator, count: int, engine: str) -> Held:
    """A box on a floor that shakes, along or up and down."""
    held = Held()
    for _ in range(count):
        half = [0.12, 0.08, float(rng.uniform(0.02, 0.05))]
        mechanism = _load(_box(half), FLOOR)
        way = rng.normal(size=3)
        way[2] *= rng.random() < 0.3
        way *= rng.uniform(0.005, 0.05) / np.linalg.norm(way)
        f = float(rng.uniform(1, 5))
        motion = SupportMotion(
            jnp.zeros((1, 3)), jnp.asarray(way[None]), jnp.array([f]), jnp.zeros(1),
            jnp.zeros((1, 2)),
        )  # fmt: skip
        ground = planes([np.zeros(3)], [np.eye(3)], ["floor"], motion)
        contacts = find_contacts(mechanism, ground=ground)
        yaw, mu = rng.uniform(0, 2 * np.pi), float(rng.uniform(0.05, 0.8))
        q = np.array([0, 0, half[2], np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)])
        v = np.array([0, 0, 2 * np.pi * f * way[2], 0, 0, 0])
        held.add(_run(mechanism, contacts, q, v, law_of(engine, mu), 0.6), mu)
    return held


def grooves(rng: np.random.Generator, count: int, engine: str) -> Held:
    """A ball or a bar in a groove of two walls, pulled along and across."""
    held = Held()
    each = min(count, 20)
    for number in range(0, count, each):
        a, b = rng.uniform(0.2, 1.2, 2)
        r = 0.1
        if (number // each) % 2 == 0:
            geoms = f'<geom type="sphere" size="{r}" mass="1"/>'
        else:  # a bar of four balls: redundant along the groove
            geoms = "".join(
                f'<geom type="sphere" size="{r}" mass=".3" pos="{x} 0 0"/>'
                for x in (-0.3, -0.1, 0.1, 0.3)
            )
        pull = [float(rng.normal()), float(rng.normal()), -9.81]
        mechanism = _load(f"<body><freejoint/>{geoms}</body>", gravity=pull)

        def wall(angle):
            c, s = np.cos(angle), np.sin(angle)
            return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])

        walls = [wall(a), wall(-b)]
        ground = planes([np.zeros(3)] * 2, walls, ["left", "right"])
        # Its centre has the distance r from both walls.
        normals = np.array([w[1:, 2] for w in walls])
        y, z = np.linalg.solve(normals, [r, r])
        q = np.tile([0.0, y, z, 1, 0, 0, 0], (each, 1))
        v = np.zeros((each, 6))
        v[:, 0] = rng.normal(size=each) * (rng.random(each) < 0.5)
        mu = rng.uniform(0, 1.0, each)
        contacts = find_contacts(mechanism, ground=ground)
        held.add(_run(mechanism, contacts, q, v, law_of(engine, mu), 0.4), mu)
    return held


def grasps(rng: np.random.Generator, count: int, engine: str) -> Held:
    """A ball between two to four fingertips that springs press against it."""
    held = Held()
    for _ in range(count):
        n = int(rng.integers(2, 5))
        start = rng.uniform(0, 2 * np.pi)
        bodies = '<body><freejoint/><geom type="sphere" size=".1" mass=".5"/></body>'
        for a in start + 2 * np.pi * np.arange(n) / n:
            out = f"{np.cos(a)!r} {np.sin(a)!r} 0".replace("np.float64(", "").replace(")", "")
            x, y = 0.14 * float(np.cos(a)), 0.14 * float(np.sin(a))
            bodies += (
                f'<body pos="{x!r} {y!r} 0" gravcomp="0"><joint type="slide" axis="{out}"'
                f' stiffness="200" springref="{-float(rng.uniform(0.01, 0.1))!r}"/>'
                '<geom type="sphere" size=".04" mass=".2"/></body>'
            )
        pull = rng.normal(size=3)
        pull *= rng.uniform(0, 12) / np.linalg.norm(pull)
        mechanism = _load(bodies, gravity=pull)
        mu = float(rng.uniform(0.1, 1.2))
        q, v = np.asarray(mechanism.q_reference), np.zeros(mechanism.nv)
        held.add(_run(mechanism, find_contacts(mechanism), q, v, law_of(engine, mu), 0.15), mu)
    return held


RIGS: dict[str, Callable[[np.random.Generator, int, str], Held]] = {
    "yaws": yaws, "shakers": shakers, "grooves": grooves, "grasps": grasps,
}  # fmt: skip
