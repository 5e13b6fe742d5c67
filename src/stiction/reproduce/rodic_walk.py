"""rodic's laws of impact, and its walk forward in time.

Figure 4 comes from the linear complementarity problem itself. In Figures 8 and 11 the man of the
recording starts from rest and walks by tracking recorded joint angles (the scene `human-walk`),
each foot with its approach, impact, contact and lift; impact and contact are complementarity
problems as in (52).
"""

import functools
import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from stiction.biped import m_shape, walk_to_follow
from stiction.engines import Trajectory
from stiction.engines.reactions import APPROACH, Reactions, reactions_of
from stiction.impacts import ImpactProblem
from stiction.impacts.simultaneous import lcp
from stiction.mechanism import Tree, load_mechanism, world_poses
from stiction.report.figures import COLORS, new_figure
from stiction.report.grf_figures import MEASURED, legend_above
from stiction.reproduce.registry import Check, Document, Reproduction, stated
from stiction.reproduce.rodic import (
    FEET,
    HALF_STEPS,
    MASS,
    MOTION,
    RECORDING,
    STATURE,
    recorded_walk,
    standing_forces,
    whole_stance,
)
from stiction.scenes import scene
from stiction.surfaces import FunctionalContact, held_impact
from stiction.surfaces.functional import NAMES
from stiction.tables import intervals

item = Document("rodic").item
MU = 0.1  # of wooden soles
SPEED = 1.25  # of walking [m/s]
SAMPLE = 0.005  # [s]
NOISE = 1e-8  # by which variants of a walk differ: landings do not repeat beyond that [rad, m]


# ------------------------------------------- Figure 2: functional coordinates of a foot's contact

FOOT = """<mujoco><worldbody><body name="foot" pos="0 0 0.1"><freejoint/>
<geom type="box" size="0.13 0.05 0.02" mass="1"/></body></worldbody></mujoco>"""


@item("Figure 2")
def figure_2() -> Reproduction:
    """A foot over the ground, and an impact along the edge of its heel."""
    foot = load_mechanism(FOOT)
    angles, at = (0.1, -0.2, 0.3), np.array([0.05, 0.02, 0.08])
    x, y, z, w = Rotation.from_euler("ZYX", angles[::-1]).as_quat()
    q = jnp.asarray([*at, w, x, y, z])
    v = jnp.asarray([0.3, -0.1, -0.8, 0.2, 0.5, -0.3])
    whole = FunctionalContact.of(foot, "foot").at(foot, q, v)
    after = held_impact(foot, q, v, whole).velocity
    edge = FunctionalContact.of(foot, "foot", point=(-0.13, 0.0, -0.02))
    level = jnp.asarray([0.0, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0])
    struck = edge.at(foot, level, v)
    turns = held_impact(foot, level, v, struck, held=[n for n in NAMES if n != "pitch"]).velocity
    rates = np.asarray(struck.jacobian @ turns)
    figure, panels = new_figure(1, 2, figsize=(8.0, 3.2))
    for axis, tilt, title in zip(panels, (-0.25, -0.12), ("a) coordinates", "b) along the edge"),
                                 strict=True):  # fmt: skip
        lift = 0.1 if tilt == -0.25 else 0.0
        c, s = np.cos(tilt), np.sin(tilt)
        box = np.array([[0, 0], [0.26, 0], [0.26, 0.04], [0, 0.04], [0, 0]])
        box = box @ np.array([[c, -s], [s, c]]) + [0, lift]
        axis.plot(*box.T, color=COLORS[0])
        axis.axhline(0, color="0.4", lw=1.5)
        axis.plot(0, lift, "o", color=COLORS[1])
        axis.annotate("", (0, 0), (0, lift + 1e-6), arrowprops={"arrowstyle": "<->"})
        axis.set(title=title, xlim=(-0.08, 0.34), ylim=(-0.03, 0.22), aspect="equal",
                 xlabel="along g_x [m]", ylabel="along g_z [m]")  # fmt: skip
    others = np.delete(rates, NAMES.index("pitch"))
    return Reproduction(
        figure,
        checks=stated(
            Check.below("(4): six coordinates are place and angles to the support, off by",
                        np.abs(np.asarray(whole.value) - [*at, *angles]).max(), 1e-9),
            Check.below("(15), (16): an impact of the sole ends all six rates, largest left",
                        np.abs(np.asarray(whole.jacobian @ after)).max(), 1e-9),
            Check.below("one along an edge ends five", np.abs(others).max(), 1e-9),
            Check.more("and leaves the turning about it [rad/s]",
                       abs(float(rates[NAMES.index("pitch")])), 0.1),
        ),
    )  # fmt: skip


# ------------------------------------------------------- Figure 4: complementarity of one contact


def _one_contact(velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Impulses and velocities after impacts of a body of 1 kg: a sweep over velocities before."""
    one = jnp.ones(1)

    def solve(u: jax.Array) -> tuple[jax.Array, jax.Array]:
        problem = ImpactProblem(
            W=jnp.eye(3), velocity=u[None], active=jnp.ones(1, bool), restitution=0 * one,
            mu_static=MU * one, mu_dynamic=MU * one, stribeck_speed=one, stribeck_exponent=one,
            kinetic=jnp.sum(u**2) / 2, energetic=jnp.asarray(jnp.inf),
        )  # fmt: skip
        p = lcp(problem).impulse
        return p[0], problem.velocity_after(p)[0]

    p, after = jax.jit(jax.vmap(solve))(jnp.asarray(velocity))
    return np.asarray(p), np.asarray(after)


@item("Figure 4")
def figure_4() -> Reproduction:
    down = np.linspace(-1, 1, 81)
    normal, parted = _one_contact(np.stack([0 * down, 0 * down, down], axis=1))
    slip = np.linspace(-0.4, 0.4, 161)
    rubs, left = _one_contact(np.stack([slip, 0 * slip, 0 * slip - 1], axis=1))
    p_n, p_t, u_t = rubs[:, 2], rubs[:, 0], left[:, 0]
    # (47): velocities in positive and negative parts, and what of the friction is left over.
    plus, minus = np.maximum(u_t, 0), np.maximum(-u_t, 0)
    spare_plus, spare_minus = MU * p_n + p_t, MU * p_n - p_t
    figure, panels = new_figure(1, 4, figsize=(11.4, 3.2))
    panels[0].plot(parted[:, 2], normal[:, 2], ".")
    panels[0].set(xlabel="normal velocity after [m/s]", ylabel="normal impulse [N·s]",
                  title="a) normal")  # fmt: skip
    panels[1].plot(u_t, p_t, ".")
    panels[1].set(xlabel="tangential velocity after", ylabel="tangential impulse",
                  title="b) friction")  # fmt: skip
    panels[2].plot(plus, spare_plus, ".")
    panels[2].set(xlabel="its positive part", ylabel="μ p_N + p_T", title="c) decomposed")
    panels[3].plot(minus, spare_minus, ".")
    panels[3].set(xlabel="its negative part", ylabel="μ p_N - p_T", title="d)")
    products = [normal[:, 2] * parted[:, 2], plus * spare_plus, minus * spare_minus]
    least = min(x.min() for x in (normal[:, 2], parted[:, 2], spare_plus, spare_minus))
    stuck = np.abs(u_t) < 1e-12
    return Reproduction(
        figure,
        checks=stated(
            Check.below("(39), (50): each pair is complementary, product at most",
                        max(np.abs(x).max() for x in products), 1e-9),
            Check.more("and neither is negative; the least", float(least), -1e-9),
            Check.below("(41): what sticks is inside, |p_T| / (μ p_N)",
                        float((np.abs(p_t[stuck]) / (MU * p_n[stuck])).max()), 1 + 1e-9),
            Check.below("what slides is on the edge and opposed, off by",
                        float(np.abs(p_t + MU * p_n * np.sign(u_t))[~stuck].max()), 1e-9),
        ),
    )  # fmt: skip


# -------------------------------------------------------------------- four half-steps from rest


@dataclass(frozen=True, eq=False)
class ForwardWalk:
    """A walk forward in time, with the force of the ground on each foot."""

    run: Trajectory
    reactions: Reactions
    force: np.ndarray  # (n, right and left, 3), mean over 10 ms with impacts [N]
    steady: np.ndarray  # the same without impacts
    down: np.ndarray  # (n, 2): whether the foot touches

    @property
    def time(self) -> np.ndarray:
        """[s]."""
        return self.reactions.time

    def stances(self, foot: int) -> list[tuple[int, int]]:
        """First sample and the one after the last of each time a foot is down after it was up."""
        return [
            (a, b) for a, b in intervals(self.down[:, foot])
            if a > 0 and self.time[b - 1] - self.time[a] > 0.1
        ]  # fmt: skip

    @property
    def landings(self) -> list[tuple[float, int]]:
        """When which foot came down, in order [s]."""
        both = [(float(self.time[a]), f) for f in (0, 1) for a, _ in self.stances(f)]
        return sorted(both)


@functools.cache
def forward_walk(speed: float = SPEED) -> ForwardWalk:
    """The recorded stride from rest, so hastened that it goes at rodic's speed [m/s], with friction
    pyramids, by Lemke's method; a sample every 5 ms."""
    return walk_on({"contact.solver": "lcp"}, half_steps=6, speed=speed)


def walk_on(changes: dict[str, Any], *, variant: int = 0, **plan: Any) -> ForwardWalk:
    """The man of the recording on footsteps of his own, with the forces on each foot.

    Args:
        changes: Of the scene `human-walk`.
        variant: 0 follows the plan; others follow plans that differ from it by noise of 1e-8 rad.
        **plan: As `walk_to_follow` takes them.
    """
    table = walk_to_follow(RECORDING / MOTION, height=STATURE, mass=MASS, **plan)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "walk.csv"
        values = table.values
        if variant:
            values = values + np.random.default_rng(variant).normal(scale=NOISE, size=values.shape)
        rows, head = np.column_stack([table.time, values]), ",".join(["time", *table.names])
        np.savetxt(file, rows, delimiter=",", header=head, comments="", fmt="%.9g")
        until = float(np.round(table.time[-1], 3))
        fields = {"track.file": str(file), "until": until, "samples": round(until / SAMPLE) + 1}
        run = scene("human-walk", fields | changes).run()
    reactions = reactions_of(run)
    assert reactions is not None
    sides = [[i for i, b in enumerate(reactions.bodies) if b.startswith(foot)] for foot in FEET]
    force, steady = (
        np.stack([x[:, side].sum(axis=1) for side in sides], axis=1)
        for x in (reactions.mean, reactions.force)
    )
    down = np.stack([(reactions.phase[:, s] != APPROACH).any(axis=1) for s in sides], axis=1)
    # Feet that brush the ground between two samples are down all the same.
    return ForwardWalk(run, reactions, force, steady, _without_gaps(down))


def _without_gaps(down: np.ndarray, most: int = 4) -> np.ndarray:
    out = down.copy()
    for foot in range(down.shape[1]):
        for a, b in intervals(~down[:, foot]):
            if a > 0 and b < len(down) and b - a <= most:
                out[a:b, foot] = True
    return out


def landing_table(walk: ForwardWalk) -> list[dict[str, str]]:
    """When which foot came down."""
    return [{"landing [s]": f"{t:.3f}", "foot": FEET[f]} for t, f in walk.landings]


def check_turns(walk: ForwardWalk) -> Check:
    """The feet land right and left by turns."""
    feet = [FEET[f] for _, f in walk.landings]
    return Check("right and left by turns", all(a != b for a, b in itertools.pairwise(feet)), feet)


def lowest(walk: ForwardWalk) -> float:
    """The least height of the centre of mass, of the first."""
    height = walk.reactions.center[:, 2]
    return float(height.min() / height[0])


def _draw_snapshots(walk: ForwardWalk):
    """The skeleton, from joint to joint, at a few instants."""
    m = walk.run.mechanism
    frames = np.searchsorted(walk.time, np.linspace(0, walk.landings[-2][0], 12))
    figure, axis = new_figure(figsize=(9.6, 3.6))
    poses = jax.vmap(lambda q: world_poses(m, q).position)(jnp.asarray(walk.run.q)[frames])
    names = m.tree.body_names
    parents = [_body_before(m.tree, body) for body in range(len(names))]
    for one in np.asarray(poses):
        for body, at in enumerate(parents):
            if at == 0:
                continue
            side = names[body][0]
            color = {"r": COLORS[0], "l": COLORS[1]}.get(side, "0.2")
            axis.plot(one[[at, body], 0], one[[at, body], 2], color=color, lw=1.8)
    axis.axhline(0, color="0.5", lw=1)
    axis.set(xlabel="along the way [m]", ylabel="height [m]", aspect="equal")
    axis.grid(False)
    return figure


def _body_before(tree: Tree, body: int) -> int:
    """The body nearer to the base that a body hangs on; joints of several axes have links without
    bodies between them."""
    link = tree.body_links[body]
    while link > 0:
        link = tree.joint_parents[link - 1]
        here = [b for b, at in enumerate(tree.body_links) if at == link]
        if here:
            return here[0]
    return 0


@item("Figure 8", of=forward_walk, draw=_draw_snapshots, table=landing_table)
def figure_8(walk: ForwardWalk) -> list[Check]:
    x, time = walk.reactions.center[:, 0], walk.time
    # Between rest and rest: the stride in the middle.
    middle = len(walk.landings) // 2
    begin, end = (np.searchsorted(time, walk.landings[middle + k][0]) for k in (-1, 1))
    return [
        *stated(
            Check.less("he starts from rest: speed at the beginning",
                       abs(np.gradient(x, time)[0]), 0.05, "m/s"),
            Check.more("and makes four half-steps: landings", len(walk.landings), HALF_STEPS - 1),
            check_turns(walk),
            Check.close("speed of walking [m/s]", (x[end] - x[begin]) / (time[end] - time[begin]),
                        SPEED, 0.05),
        ),
        Check.more("he does not fall: least height of his centre, of the first", lowest(walk), 0.9),
    ]  # fmt: skip


def _on_the_plate(foot: str) -> np.ndarray:
    """Vertical force on the force plate during one stance of the recording [N]."""
    record = recorded_walk()
    load = record.measured.feet[:, record.reactions.feet.index(foot)] @ record.reactions.axes.up
    return load[slice(*whole_stance(load))]


class Step(NamedTuple):
    """A stance that ends before the walk does, beside one on the force plate."""

    time: np.ndarray  # [s]
    measured: np.ndarray  # vertical force on the plate at the same part of a stance [N]
    m_shaped: bool  # of the computed force
    impulse: float  # of the impacts of the landing, vertical [N·s]
    off: float  # rms difference of the forces [% of body weight]


@functools.lru_cache(maxsize=2)
def steps_of(walk: ForwardWalk) -> list[Step]:
    """The steps of a walk, foot by foot."""
    steps, reactions, weight = [], walk.reactions, _weight(walk)
    for f, foot in enumerate(FEET):
        plate = _on_the_plate(foot)
        side = [i for i, name in enumerate(reactions.bodies) if name.startswith(foot)]
        for a, b in walk.stances(f):
            if b >= len(walk.time):
                continue  # he stands on it at the end
            time = walk.time[a:b]
            # Smooth as a plate's filter would, so that an impact is not taken for a peak.
            load = np.convolve(walk.steady[a:b, f, 2], np.ones(9) / 9, mode="same")
            measured = np.interp(np.linspace(0, 1, b - a), np.linspace(0, 1, len(plate)), plate)
            hit = (reactions.impact_time > time[0] - 0.03) & (reactions.impact_time < time[0] + 0.1)
            struck = float(reactions.impulse[hit][:, side, 2].sum())
            off = 100 * float(np.sqrt(np.mean((load - measured) ** 2))) / weight
            steps.append(Step(time, measured, m_shape(time, load) is not None, struck, off))
    return steps


def _weight(walk: ForwardWalk) -> float:
    return float(np.linalg.norm(walk.reactions.weight))


def draw_forces(walk: ForwardWalk):
    """Vertical, forward and sideways force on each foot; panels in this order."""
    figure, axes = new_figure(3, sharex=True, figsize=(7.4, 6.4))
    for axis, (name, k) in zip(axes, {"vertical": 2, "forward": 0, "sideways": 1}.items(),
                               strict=True):  # fmt: skip
        for f, foot in enumerate(FEET):
            axis.plot(walk.time, walk.force[:, f, k], color=COLORS[f], label=f"{foot} foot")
        axis.set_ylabel(f"{name} [N]")
    axes[-1].set_xlabel("time [s]; mean over 10 ms with impacts")
    return figure, axes


def _draw_beside_plates(walk: ForwardWalk):
    figure, axes = draw_forces(walk)
    for step in steps_of(walk):
        axes[0].plot(step.time, step.measured, **MEASURED, label="_", zorder=3)
    axes[0].plot([], [], **MEASURED, label="on the plates, at the same part of a stance")
    legend_above(figure, axes[0])
    return figure


@item(
    "Figure 11",
    of=forward_walk,
    draw=_draw_beside_plates,
    table=lambda walk: [
        {"landing [s]": f"{step.time[0]:.3f}", "its impulse [N·s]": f"{step.impulse:.1f}",
         "off the plates, rms [% BW]": f"{step.off:.1f}"} for step in steps_of(walk)
    ],
)  # fmt: skip
def figure_11(walk: ForwardWalk) -> list[Check]:
    steps, steady = steps_of(walk), walk.steady
    standing = (walk.time > 0.02) & (walk.time < 0.1)
    first = steady[standing, :, 2].mean(axis=0) / (_weight(walk) / 2)
    mu = float(walk.run.scene.scenario.contact.mu_static)
    excess = np.linalg.norm(steady[:, :, :2], axis=2) - mu * steady[:, :, 2]
    left, right = standing_forces()
    return [
        *stated(
            Check.close("standing: force on the left foot of rodic's subject [N]", left, 412, 0.5),
            Check.close("on the right foot [N]", right, 412, 0.5),
            Check.close("this man's feet at first, each of half his weight: the right", first[0],
                        1.0, 0.1),
            Check.close("and the left", first[1], 1.0, 0.1),
            Check.more("each landing begins with an impact: the least impulse [N·s]",
                       min(step.impulse for step in steps), 0.1),
            Check("then the vertical force is M-shaped, in every step",
                  all(step.m_shaped for step in steps), [step.m_shaped for step in steps]),
            Check.less("tangential forces are small: the largest mean over 10 ms",
                       np.abs(walk.force[:, :, :2]).max(), 100.0, "N"),
        ),
        Check.less("vertical forces beside the plates', rms of all steps",
                   np.sqrt(np.mean([step.off**2 for step in steps])), 20.0, "% BW"),
        Check.below("(52): every problem is solved; the largest residual [m/s]",
                    np.asarray(walk.run.residual, float).max(), 1e-5),
        Check.below("forces are inside the friction cone, beyond it [N]", excess.max(), 1e-3),
        Check.more("the ground never pulls; the least [N]", steady[:, :, 2].min(), -1e-6),
    ]  # fmt: skip
