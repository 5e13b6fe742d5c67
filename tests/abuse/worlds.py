"""Random worlds: 2 to 12 bodies of mixed shapes, joints, limits and loops that fall on each other.

What must hold of each: it comes to its end, no number is undefined, energy is never created, the
ledger closes, nothing is inside of anything (`mj_collision` at every sample), loops stay closed.
"""

from collections import Counter
from typing import NamedTuple

import mujoco
import numpy as np

from stiction import InputError
from stiction.mujoco import Driver, RigidLaw, missed
from stiction.mujoco.drive import ENDS

SHAPES = ("sphere", "box", "capsule", "cylinder", "ellipsoid", "mesh")
FLOOR = '<geom name="floor" type="plane" size="9 9 .1"/>'
UNTIL, SAMPLES, STEPS, EVENTS = 0.6, 61, 20_000, 2_000
DEEP, OPEN, LOST = 1e-6, 1e-8, 1e-5  # [m], [m or rad], of the energy there is


class Verdict(NamedTuple):
    """What became of a world: "right", "said: …" or "WRONG: …"; and what it took."""

    what: str
    steps: int
    events: int
    until: float


class _Text:
    """A model as it is written down."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.assets, self.bodies, self.loops = "", FLOOR, ""
        self.count = 0

    def shape(self) -> str:
        """A geom about the origin of its body."""
        r = 10 ** self.rng.uniform(-1.5, -0.9, 3)
        kind = self.rng.choice(SHAPES)
        size = " ".join(f"{x:.5f}" for x in r)
        if kind == "mesh":
            name = f"mesh{self.count}"
            points = self.rng.normal(size=(int(self.rng.integers(5, 13)), 3))
            points *= r / np.linalg.norm(points, axis=1, keepdims=True)
            self.assets += f'<mesh name="{name}" vertex="{_row(points.ravel())}"/>'
            return f'<geom type="mesh" mesh="{name}" density="{self.density()}"/>'
        return f'<geom type="{kind}" size="{size}" density="{self.density()}"/>'

    def density(self) -> str:
        return f"{10 ** self.rng.uniform(2, 4):.3g}"

    def chain(self, middle: np.ndarray, length: int) -> None:
        """Bodies in a row, the first of them free or held by the world."""
        rng, names = self.rng, []
        held = length > 1 and rng.random() < 0.4
        loop = held and length > 2 and rng.random() < 0.5
        text, reach = "", 0.35
        for k in range(length):
            names.append(f"b{self.count}")
            place = middle if k == 0 else (reach, 0, 0)
            turn = rng.uniform(-180, 180, 3) if k == 0 and not held else np.zeros(3)
            if loop:  # a four-bar, away from where its bars are in line
                turn = (0, (-60, 50, 70)[k], 0)
            text += f'<body name="{names[-1]}" pos="{_row(place)}" euler="{_row(turn)}">'
            hinge = '<joint axis="0 1 0" pos="-.15 0 0"/>'
            free = k == 0 and not held
            text += "<freejoint/>" if free else hinge if loop else self.joint()
            text += self.shape()
            self.count += 1
        self.bodies += text + "</body>" * length
        if loop:
            self.loops += f'<connect body1="{names[-1]}" body2="world" anchor="0.1 0 0"/>'

    def joint(self) -> str:
        """A joint at the side that its parent is at, perhaps with limits and dry friction."""
        rng = self.rng
        kind = rng.choice(["hinge", "hinge", "slide", "ball"])
        limits = f' range="0 {rng.uniform(20, 90):.4g}"' if kind == "ball" else ' range="-{} {}"'
        span = (30, 90) if kind == "hinge" else (0.02, 0.1)
        limits = limits.format(*(f"{x:.4g}" for x in rng.uniform(*span, 2)))
        limits = limits if rng.random() < 0.5 else ""
        dry = f' frictionloss="{10 ** rng.uniform(-2, 0):.3g}"' if rng.random() < 0.2 else ""
        axis = rng.normal(size=3)
        return f'<joint type="{kind}" axis="{_row(axis)}" pos="-.15 0 0"{limits}{dry}/>'


def _row(numbers) -> str:
    return " ".join(f"{x:.6g}" for x in numbers)


def model_of(rng: np.random.Generator) -> str:
    """Two to twelve bodies in chains, one chain above the other or beside it."""
    text = _Text(rng)
    left = int(rng.integers(2, 13))
    while left:
        length = min(left, int(rng.choice([1, 1, 1, 2, 3])))
        level = text.count // 2
        place = np.array([*rng.uniform(-0.35, 0.35, 2), 0.5 + 0.45 * level])
        text.chain(place, length)
        left -= length
    return (
        f"<mujoco><asset>{text.assets}</asset><worldbody>{text.bodies}</worldbody>"
        f"<equality>{text.loops}</equality></mujoco>"
    )


def start_of(number: int) -> tuple[mujoco.MjModel, mujoco.MjData, RigidLaw]:
    """The world of that number: model, start and law."""
    rng = np.random.default_rng(number)
    while True:
        model = mujoco.MjModel.from_xml_string(model_of(rng))
        data = mujoco.MjData(model)
        if not missed(model, data).what:
            break
    data.qvel[:] = rng.normal(size=model.nv)
    if model.neq:
        data.qvel[:] = 0
    restitution = float(rng.uniform(0, 0.8)) if rng.random() < 0.7 else 0.0
    return model, data, RigidLaw(restitution=restitution, mu_static=float(rng.uniform(0, 1)))


def deepest(model: mujoco.MjModel, positions: np.ndarray) -> tuple[float, str]:
    """How far anything is inside of anything else at some of these configurations, and what."""
    most, names = 0.0, ""
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-10, 200
    data = mujoco.MjData(model)
    for q in positions:
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        for c in data.contact[: data.ncon]:
            if -c.dist > most:
                most = -float(c.dist)
                kinds = sorted(mujoco.mjtGeom(model.geom_type[g]).name[7:].lower() for g in c.geom)
                names = " on ".join(kinds)
    return most, names


def try_world(number: int) -> Verdict:
    """What became of the world of that number."""
    model, data, law = start_of(number)
    try:
        driver = Driver(
            model, data, law, until=UNTIL, samples=SAMPLES, max_events=EVENTS, max_steps=STEPS
        )
        status = driver.go()
    except InputError as error:
        return Verdict(f"refused: {error}", 0, 0, 0.0)
    k, z = driver.k, driver.machine.z
    return Verdict(_judge(driver, model, status), int(k[z.steps]), int(k[z.events]), driver.time)


def _judge(driver: Driver, model: mujoco.MjModel, status: int) -> str:
    z, nq = driver.machine.z, model.nq
    count = SAMPLES if status == 1 else max(int(driver.k[z.next_sample]), 1)
    rows = driver.run.samples.numpy()[0][:count]
    if not np.isfinite(rows[:, : nq + model.nv]).all():
        return "WRONG: not finite"
    n = nq + model.nv
    work, damping, friction, support, impact = (rows[:, n : n + 5] - rows[0, n : n + 5]).T
    energy = rows[:, n + 5] + rows[:, n + 6]
    scale = rows[:, n + 5].max() + np.ptp(rows[:, n + 6]) + 1e-9
    gained = np.diff(energy - work - support).max(initial=0.0)
    error = np.abs(energy - energy[0] - work - support + damping + friction + impact).max()
    depth, what = deepest(model, rows[:, :nq])
    if depth > DEEP:
        decade = int(np.floor(np.log10(depth)))
        return f"WRONG: {what} by 1e{decade} m"
    if gained > LOST * scale:
        return f"WRONG: energy rises by {gained / scale:.0e}"
    if error > LOST * scale:
        return f"WRONG: ledger off by {error / scale:.0e}"
    if status != 1:
        return f"said: {ENDS[status]}"
    return "right"


def worlds(count: int, first: int = 0) -> Counter:
    """So many worlds: how many ended how."""
    return Counter(try_world(first + i).what for i in range(count))
