"""Ma, Kim and Martinez 2007: the figures of its model and its testbed, drawn to scale.

Figures 2 and 3 show forces: here those of the virtual tests, by the document's own (2)-(5), held to
the wrench that the test has. Figures 6, 7, 13 and 14 are photographs of the contact interface; its
peg and plates are drawn in their place, at an instant of contact.
"""

from functools import partial

import numpy as np

from stiction.identify import compound_stiffness, plate_stiffness
from stiction.report.figures import COLORS, new_figure
from stiction.reproduce.ma import SINGLE, TWO, Case
from stiction.reproduce.registry import Check, Document, Reproduction, stated
from stiction.reproduce.schemes import flow_figure

item = Document("ma").item
ARROW = {"angles": "xy", "scale_units": "xy", "width": 0.006, "zorder": 3}
TEST = ("robot moves the peg along a path", "pose (0.1 mm) and wrench, one clock",
        "geometry: contact points, depths, slips", "least squares, (15) or (21)",
        "stiffness, damping and friction")  # fmt: skip
TOOLKIT = ("model in a multibody simulator", "test: motion and wrench", "identification toolkit",
           "contact parameters", "back into the simulator")  # fmt: skip


def _instant(case: Case) -> int:
    """When all plates are touched and the forces are largest."""
    force = np.linalg.norm(case.tests[0].wrench[:, :3], axis=1)
    return int(np.argmax(np.where((case.depth > 0).all(axis=1), force, -1.0)))


def _forces(case: Case, at: int) -> np.ndarray:
    """Spring, damper and friction of each plate by (2)-(4) [N]: (plates, 3 parts, 3)."""
    parts = []
    for i, surface in enumerate(case.setup.surfaces):
        k, c, mu = (case.truth[f"{surface.name}.{n}"] for n in ("k", "c", "mu"))
        d, n, slip = case.depth[at, i], case.normal[at, i], case.slip[at, i]
        along = slip / max(float(np.linalg.norm(slip)), 1e-12)
        parts.append([k * d * n, c * case.depth_rate[at, i] * n, -mu * k * d * along])
    return np.array(parts)


def _draw_interface(axis, case: Case, at: int) -> None:
    """The body and the plates in the plane of x and z."""
    motion, (shape,) = case.tests[0].motion, case.setup.body
    origin, turn = np.asarray(motion.position)[at], np.asarray(motion.rotation)[at]
    if shape.shape == "h-peg":
        w, h, leg = shape.width / 2, shape.height, shape.leg
        x = [-w, leg - w, leg - w, w - leg, w - leg, w, w, w - leg, w - leg, leg - w, leg - w, -w]
        z = [0, 0, (h - leg) / 2, (h - leg) / 2, 0, 0, h, h, (h + leg) / 2, (h + leg) / 2, h, h]
        outline = np.stack([x, np.zeros(12), z], axis=1)
    else:
        assert shape.shape == "sphere"
        angle = np.linspace(0, np.pi, 30)
        round_ = shape.radius * np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=1)
        outline = np.concatenate([round_, [[-shape.radius, 0, 0.04], [shape.radius, 0, 0.04]]])
    outline = 1e3 * (origin + outline @ turn.T)
    axis.fill(outline[:, 0], outline[:, 2], color="0.8", ec="0.3", lw=1)
    for surface in case.setup.surfaces:
        middle, normal = (1e3 * np.array(surface.point))[[0, 2]], np.array(surface.normal)[[0, 2]]
        half = 1e3 * (surface.half_size or [0.06])[0] * np.array([normal[1], -normal[0]])
        ends = np.stack([middle - half, middle + half])
        axis.plot(*ends.T, color=COLORS[0], lw=2.5)
        for share in (0.25, 0.75):  # on springs
            spring = ends[0] + share * (ends[1] - ends[0]) - 8 * np.outer([0, 1], normal)
            axis.plot(*spring.T, color="0.5", lw=1.2, ls=(0, (2, 1)))
    axis.set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal")


def _local_forces(case: Case) -> Reproduction:
    """Figures 2 and 3: the parts of each contact force, and what they add up to."""
    at = _instant(case)
    parts, wrench = _forces(case, at), case.tests[0].wrench[at]
    figure, axis = new_figure(figsize=(5.6, 4.8))
    _draw_interface(axis, case, at)
    scale = np.abs(parts).sum(axis=1).max() / 40  # newtons a millimetre
    places = 1e3 * case.point[at][:, [0, 2]]
    for i, place in enumerate(places):
        for part, name, color in zip(
            parts[i], ("spring", "damper", "friction"), COLORS, strict=False
        ):
            tip = part[[0, 2]]
            axis.quiver(*place, *tip, color=color, scale=scale, label=name if i == 0 else None,
                        **ARROW)  # fmt: skip
    axis.plot(*places.T, "o", color="k", ms=4)
    if len(parts) > 1:
        reference = 1e3 * np.array(case.setup.wrench.point)[[0, 2]]
        axis.quiver(*reference, *wrench[[0, 2]], color="k", scale=scale, label="resultant", **ARROW)
        axis.set_ylim(bottom=reference[1] - 10)
    axis.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    each = parts.sum(axis=1)
    arms = case.point[at] - np.array(case.setup.wrench.point)
    found = np.concatenate([each.sum(axis=0), np.cross(arms, each).sum(axis=0)])
    off = np.abs(found - wrench)
    return Reproduction(
        figure,
        table=[
            {"plate": s.name} | {n: f"{np.linalg.norm(f):.2f} N" for n, f in
                                 zip(("spring", "damper", "friction"), row, strict=True)}
            for s, row in zip(case.setup.surfaces, parts, strict=True)
        ],
        checks=stated(
            Check.below("(1)-(4): the parts add up to the contact force, off by [N]",
                        off[:3].max(), 1e-6 * np.linalg.norm(wrench[:3])),
            Check.below("(5): and to its moment about the reference point, off by [N·m]",
                        off[3:].max(), 1e-6 * np.linalg.norm(wrench[:3])),
        ),
    )  # fmt: skip


def _interface(case: Case, *, close: bool = False) -> Reproduction:
    """Figures 7, 13 and 14: what touches what."""
    at, touched = _instant(case), case.trace.touched
    figure, axis = new_figure(figsize=(5.2, 5.0))
    _draw_interface(axis, case, at)
    places = 1e3 * case.point[at][:, [0, 2]]
    axis.plot(*places.T, "o", color=COLORS[1], ms=6)
    if close:
        low, high = places.min(axis=0) - 12, places.max(axis=0) + 12
        axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    words = f"points that touch at once, at most: one on each of {len(case.setup.surfaces)}"
    most = touched.max(axis=0).tolist()
    return Reproduction(figure, checks=stated(Check(words, set(most) == {1}, most)))


def _hole(case: Case) -> Reproduction:
    """Figure 6: the peg over its plates, each on four springs."""
    figure, axis = new_figure(figsize=(5.2, 5.0))
    _draw_interface(axis, case, 0)
    springs = np.array([1.0, 1.2, 0.9, 1.1]) * AVERAGE / 4
    corners = 0.05 * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    statics = float(plate_stiffness(springs, corners, np.zeros(2)))
    equal = float(compound_stiffness(np.full(4, AVERAGE / 4)))
    angle = np.linspace(0, 2 * np.pi, 73)
    away = 0.05 * 0.1 * np.stack([np.cos(angle), np.sin(angle)], axis=1)  # 5 % of their distance
    near = [float(plate_stiffness(np.full(4, AVERAGE / 4), corners, place)) for place in away]
    return Reproduction(
        figure,
        checks=stated(
            Check.close("(16) with equal springs is their sum [N/m]", equal, AVERAGE, 1e-9),
            Check.close("(16) with others is what statics says of a plate on them [N/m]",
                        float(compound_stiffness(springs)), statics, 1e-6),
            Check.less("equal springs: within 5 % of their distance from the centre it changes by",
                       100 * np.abs(np.array(near) / equal - 1).max(), 1.0, "%"),
        ),
    )  # fmt: skip


AVERAGE = 8389.6  # of Table 1 [N/m]


def _scheme(steps: tuple[str, ...], case: Case) -> Reproduction:
    """Figures 4 and 22: the way from a test to parameters, which the virtual tests go."""
    found, truth = case.found.tests[0], case.truth
    worst = max(abs(found[n] / truth[n] - 1) for n in truth)
    words = "a test that goes this way gives its parameters, worst error [%]"
    rows = [{"parameter": n, "true": truth[n], "found": f"{found[n]:.5g}"} for n in truth]
    return Reproduction(flow_figure(steps), rows, [Check.below(words, 100 * worst, 3.0)])


for _number, _of, _make in (
    (2, SINGLE, _local_forces),
    (3, TWO, _local_forces),
    (4, SINGLE, partial(_scheme, TEST)),
    (6, TWO, _hole),
    (7, SINGLE, _interface),
    (13, TWO, _interface),
    (14, TWO, partial(_interface, close=True)),
    (22, SINGLE, partial(_scheme, TOOLKIT)),
):
    item(f"Figure {_number}", of=_of)(_make)
