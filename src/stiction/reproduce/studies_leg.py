"""Which leg is as high as flickinger's Table 6.2 prints, and stands before it jumps (Sec. 6.4.2).

The document leaves open where the coxa is, which way it points, and where the angles of femur and
tibia are zero. Its text says of the guess: 0.17 m high, the line from foot to body about along the
jump (6.12), in contact until the springs pull the foot off; of the optimum: 0.18 m high.
"""

import itertools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from stiction._base.compile import quick_jit
from stiction.agility import JumpControl, jump_control, jump_outcome, make_stance, place
from stiction.agility.stance import stance_maps
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.flickinger_agility import DIRECTION, HEIGHTS, MU
from stiction.reproduce.registry import Check, Document
from stiction.scenes import Scene, parse_settings, scene

item = Document("studies").item
GUESS, OPTIMIZED = (
    (0.0, 0.0, 0.0, 0.0, 0.09, -0.61),
    (0.52, -0.5, -0.46, 0.15, 0.03, 0.67),
)  # Table 6.2: angles of the body about N1, N2, N3, of the coxa, the femur and the tibia [rad]
COXA, FEMUR, TIBIA = 0.03, 0.0646, 0.09  # Table 2.3 [m]
AXES = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # N1, N2, N3 in x, y, z
HIP, BEND = (0.09, -0.02), 30.0  # of the leg that is simulated [m, degrees]
FACE = (0.04, 0.0)  # a hip on the body's face [m]
ROUNDED = 0.005  # the printed heights have two digits [m]
UNTIL = 0.45  # of the jumps: the highest point is at 0.3 s [s]
ALONG = 15.0  # what counts as about along the jump [degrees]


def foot_place(
    angles: tuple[float, ...],
    hip: tuple[float, float],
    bend: float,
    *,
    ahead: bool = True,
    fixed: bool = True,
) -> np.ndarray:
    """Where the foot is from the body's centre, in the world [m].

    Args:
        angles: As in Table 6.2.
        hip: The coxa's axis from the body's centre, ahead (+N1) and up [m].
        bend: Of the knee at zero angle, the tibia ahead [degrees].
        ahead: Whether the coxa points ahead or down.
        fixed: Whether the body turns about axes fixed in space, or in itself.
    """
    turns = [Rotation.from_rotvec(q * a) for q, a in zip(angles[:3], AXES, strict=True)]
    body = turns[2] * turns[1] * turns[0] if fixed else turns[0] * turns[1] * turns[2]
    femur, tibia = angles[4], angles[4] + angles[5] + np.radians(bend)
    leg = np.array([COXA, 0, 0] if ahead else [0, 0, -COXA])
    for length, angle in ((FEMUR, femur), (TIBIA, tibia)):
        leg = leg + length * np.array([np.sin(angle), 0, -np.cos(angle)])
    leg = Rotation.from_rotvec([0, 0, angles[3]]).apply(leg)
    return body.apply(np.array([hip[0], 0, hip[1]]) + leg)


def off_the_jump(foot: np.ndarray) -> float:
    """Angle between the line from the foot to the body and the jump [degrees]."""
    cosine = -foot @ np.array(DIRECTION) / (np.linalg.norm(foot) * np.sqrt(2))
    return float(np.degrees(np.arccos(cosine)))


def leg_with(hip: tuple[float, float], bend: float, *, ahead: bool = True) -> Scene:
    """The jumping leg with its hip elsewhere, and another bend of the knee at zero angle."""
    half = np.radians(bend) / 2
    link = [COXA, 0.0, 0.0] if ahead else [0.0, 0.0, -COXA]
    edits = {
        "body.coxa.pos": [hip[0], 0.0, hip[1]],
        "body.femur.pos": link,
        "geom.coxa.fromto": [0.0, 0.0, 0.0, *link],
        "body.tibia.quat": [np.cos(half), 0.0, -np.sin(half), 0.0],
    }
    settings = [
        f"mechanism.edits.{name}={[float(x) for x in value]}" for name, value in edits.items()
    ]
    return scene("jumping-leg", parse_settings(settings))


def rises(hip: tuple[float, float], bend: float) -> tuple[float, float]:
    """How far the body rises in jumps from the guess and from the printed optimum [m]."""
    leg = leg_with(hip, bend)
    runs = [leg.run(until=UNTIL, start={"keyframe": name}) for name in ("guess", "optimized")]
    guess, best = (float(jump_outcome(run.control, run).rise) for run in runs)
    return guess, best


def first_force(hip: tuple[float, float], bend: float, *, ahead: bool = True) -> float:
    """Normal force on the foot as the push from the guess begins [N]; negative: it is lifted."""
    mechanism = leg_with(hip, bend, ahead=ahead).mechanism
    stance = make_stance(mechanism, contacts=["foot"], mu=MU, point="body")
    q = next(key.q for key in mechanism.keyframes if key.name == "guess")
    q = place(stance, jnp.asarray(q))[0]
    return float(_first_force(jump_control(stance, q, DIRECTION), q))


@quick_jit
def _first_force(control: JumpControl, q):
    still = jnp.zeros(control.stance.mechanism.nv)
    maps = stance_maps(control.stance, q, still).without_forces()
    return (maps.f0 + maps.F @ control.push(q, still))[-1]


# ------------------------------------------------------------------------- the map of hip and knee

HIPS, BENDS = np.arange(0.0, 0.1201, 0.01), np.arange(0.0, 60.1, 10.0)  # [m], [degrees]
COLUMNS = ("hip ahead [m]", "bend at zero [°]", "hip up [m]", "height of the optimum [m]",
           "line off the jump [°]", "normal force [N]")  # fmt: skip
RISE = ("rise from the guess [m]", "rise from the optimum [m]")


class Legs(NamedTuple):
    """Legs of which each is in the guess as high as printed: `COLUMNS` for each, and who fits."""

    found: np.ndarray
    rises: np.ndarray  # of those that fit, and of the leg that is simulated [m]

    @property
    def fit(self) -> np.ndarray:
        """Which of them have the optimum's height, stand, and have their foot in line."""
        return _fits(self.found)


def _fits(found: np.ndarray) -> np.ndarray:
    high, off, force = found[:, 3:].T
    return (np.abs(high - HEIGHTS["optimized"]) < ROUNDED) & (off < ALONG) & (force > 0)


def legs() -> Legs:
    """A hip that is lower or higher, until the guess is as high as printed."""
    rows = []
    for x, bend in itertools.product(HIPS.tolist(), BENDS.tolist()):
        level = foot_place(GUESS, (x, 0.0), bend)
        hip = (x, float(-level[2] - HEIGHTS["guess"]))
        high = -foot_place(OPTIMIZED, hip, bend)[2]
        off = off_the_jump(foot_place(GUESS, hip, bend))
        rows.append((x, bend, hip[1], high, off, first_force(hip, bend)))
    found = np.array(rows)
    fit = [((x, up), bend) for x, bend, up, *_ in found[_fits(found)].tolist()]
    return Legs(found, np.array([rises(*leg) for leg in [*fit, (HIP, BEND)]]))


def _draw(made: Legs):
    shape = (len(HIPS), len(BENDS))
    high, off, force = (column.reshape(shape).T for column in made.found[:, 3:].T)
    figure, axis = new_figure(figsize=(7.2, 4.4))
    colors = axis.pcolormesh(100 * HIPS, BENDS, force, cmap="RdBu", vmin=-120, vmax=120,
                             shading="nearest")  # fmt: skip
    figure.colorbar(colors, label="normal force as the push begins [N]")
    edges = [HEIGHTS["optimized"] - ROUNDED, HEIGHTS["optimized"] + ROUNDED]
    axis.contour(100 * HIPS, BENDS, high, levels=edges, colors=[COLORS[2]])
    axis.contour(100 * HIPS, BENDS, off, levels=[ALONG], colors=["k"])
    marked = {"xy": (0.98, 0.62), "xycoords": "axes fraction", "ha": "right", "fontsize": 8}
    axis.annotate("between: optimum 0.175 to 0.185 m high", color=COLORS[2], **marked)
    axis.annotate("right of it: foot in line", **marked | {"xy": (0.98, 0.02)})
    axis.plot(100 * made.found[made.fit, 0], made.found[made.fit, 1], "o", color="k", ms=4)
    axis.plot(100 * HIP[0], BEND, "*", color=COLORS[3], ms=14)
    axis.set(xlabel="hip ahead of the body's centre [cm]", ylabel="bend of the knee at zero [°]")
    return figure


def _table(made: Legs) -> list[dict[str, str]]:
    taken = foot_place(OPTIMIZED, HIP, BEND), off_the_jump(foot_place(GUESS, HIP, BEND))
    own = (HIP[0], BEND, HIP[1], -taken[0][2], taken[1], first_force(HIP, BEND))
    rows = np.column_stack([[*made.found[made.fit], own], made.rises])
    return [dict(zip(COLUMNS + RISE, (f"{x:.4g}" for x in row), strict=True)) for row in rows]


@item("Study 3", of=legs, draw=_draw, table=_table)
def which_leg(made: Legs) -> list[Check]:
    guess, best = (foot_place(angles, HIP, BEND) for angles in (GUESS, OPTIMIZED))
    hanging = first_force(FACE, 0.0, ahead=False)
    return [
        Check.close("guess, printed 0.17 m [m]", -guess[2], HEIGHTS["guess"], ROUNDED),
        Check.close("optimised, printed 0.18 m [m]", -best[2], HEIGHTS["optimized"], ROUNDED),
        Check.below("line from foot to body, off the jump [degrees]", off_the_jump(guess), ALONG),
        Check.more("the guess stands: normal force [N]", first_force(HIP, BEND), 0.0),
        Check.more("legs of the map of which all holds", int(made.fit.sum()), 0),
        Check.below("all of them rise a few centimetres from the guess, at most [m]",
                    made.rises[:, 0].max(), 0.04),
        Check.more("and ten times as far from the optimum, at least", float(
            (made.rises[:, 1] / made.rises[:, 0]).min()), 10.0),
        Check.less("a straight leg that hangs from the body's face is lifted instead", hanging,
                   0.0, "N"),
    ]  # fmt: skip
