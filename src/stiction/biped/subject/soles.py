"""Where a subject can touch the ground: the points of its soles, and which foot each belongs to.

In the order of preference: a file that says so, the model's contact spheres, the sites of a
mechanism's feet, its contact shapes on them, and else an outline of each foot: heel, ball and tip
of the toes, inner and outer edge. The outline's length and breadth come from the markers on the
foot, which surround it, or where there are none from the distance of the toe joint ([Gordon2014]).
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction._base.spatial import CORNERS
from stiction.biped.anthropometry import FOOT_BREADTH, TOE_JOINT
from stiction.biped.opensim import document, read_contact_spheres
from stiction.biped.subject.subject import NO_POINTS, MechanismPoses, Points, Subject
from stiction.mechanism import Mechanism
from stiction.tables import read_table

_FOOT = re.compile(r"calcn|calcan|foot|hindfoot|sole|ankle_roll", re.I)
_TOES = re.compile(r"toe", re.I)
_POINT = re.compile(r"heel|toe|ball|sole|foot", re.I)
_SIDE = re.compile(r"(?:^|[^a-z])(left|right|l|r)(?:[^a-z]|$)", re.I)
_SIDES = {"l": "left", "r": "right"}
_FOOT_CENTER = 0.44  # of the foot's length from the heel: its centre of mass ([deLeva1996], men)


def with_soles(
    subject: Subject, contacts: str | Path | None = None, mechanism: Mechanism | None = None
) -> Subject:
    """The subject with the points of its soles, as far as anything is known about them.

    Args:
        subject: Whose feet.
        contacts: A file with points: an OpenSim ContactGeometrySet (.xml, .osim) or a table (.csv)
            with the columns foot, body, x, y, z and perhaps radius [m].
        mechanism: What the subject was made from, if that was a mechanism.
    """
    if contacts is not None:
        points = _read_contacts(Path(contacts), subject)
    elif subject.soles:
        points = subject.soles
    elif mechanism is not None:
        points = _sites(mechanism) or _shapes(mechanism, subject)
    else:
        points = _outlines(subject)
    if not points:
        note = (
            f"no feet are known in '{subject.name}': only the total reaction was computed"
            " (--contacts names points of the soles)"
        )
        return replace(subject, notes=(*subject.notes, note))
    if not points.feet:
        feet = tuple(_side(subject.body_names[b]) or subject.body_names[b] for b in points.bodies)
        points = replace(points, feet=feet)
    return replace(subject, soles=points)


def _side(name: str) -> str | None:
    """'right' for 'calcn_r', 'r_foot', 'RightFoot', …; none where the name does not say."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    found = _SIDE.search(spaced)
    return _SIDES.get(found[1].lower(), found[1].lower()) if found else None


def _read_contacts(path: Path, subject: Subject) -> Points:
    if path.suffix.lower() in (".xml", ".osim"):
        root = document.parse(path)
        model = root.find("Model")
        points = read_contact_spheres(root if model is None else model, list(subject.body_names))
        if not points:
            raise InputError(f"`{path}` must hold ContactSpheres in a ContactGeometrySet, has none")
        return replace(points, source=f"contact spheres of '{path.name}'")
    table = read_table(path)
    table = replace(table, columns={label.lower(): c for label, c in table.columns.items()})
    for needed in ("foot", "body", *"xyz"):
        if needed not in table.columns:
            raise unknown(
                f"column in `{path}`; it must have foot, body, x, y, z", needed, table.columns
            )
    position = np.stack([table.column(axis) for axis in "xyz"], axis=1)
    radius = table.column("radius") if "radius" in table.columns else np.zeros(len(position))
    radius = np.nan_to_num(radius, nan=0.0)
    if not len(position) or not np.isfinite(position).all() or not np.isfinite(radius).all():
        raise InputError(f"`{path}` must have at least one point with finite x, y, z [m]")
    feet, bodies = table.words("foot"), table.words("body")
    given = table.words("name") if "name" in table.columns else [""] * len(feet)
    names = [
        name or f"{foot}_{feet[: k + 1].count(foot)}"
        for k, (name, foot) in enumerate(zip(given, feet, strict=True))
    ]
    indices = [subject.body(body) for body in bodies]
    return _points(zip(names, indices, position, radius, feet, strict=True), f"'{path.name}'")


def _points(rows: Iterable[tuple], source: str) -> Points:
    """Points from rows of a name, a body, a position, a radius and a foot."""
    rows = list(rows)
    if not rows:
        return NO_POINTS
    names, bodies, position, radius, feet = zip(*rows, strict=True)
    return Points(
        names, np.array(bodies), np.array(position, float), np.array(radius, float), feet, source
    )


def _sites(mechanism: Mechanism) -> Points:
    """Sites that are called heel, toe, ball, sole or foot."""
    sites = mechanism.sites
    rows = []
    for name, body, position in zip(
        sites.names, sites.bodies, np.asarray(sites.position), strict=True
    ):
        if _POINT.search(name):
            carrier = mechanism.tree.body_names[body]
            rows.append((name, body, position, 0.0, _side(name) or _side(carrier) or carrier))
    return _points(rows, "sites of the model")


def _shapes(mechanism: Mechanism, subject: Subject) -> Points:
    """Corners of boxes, ends of capsules, centres of spheres: of feet and of last bodies."""
    shapes, tree = mechanism.shapes, mechanism.tree
    last = set(range(1, len(tree.body_names))) - set(subject.parents)
    rows = []
    for i, kind in enumerate(shapes.kinds):
        body = shapes.bodies[i]
        foot = body in last or _FOOT.search(tree.body_names[body])
        if kind not in _CORNERS or shapes.types[i] == (0, 0) or not foot:
            continue
        size = np.asarray(shapes.size[i])
        corners, ball = _CORNERS[kind](size)
        at = np.asarray(shapes.position[i]) + corners @ np.asarray(shapes.rotation[i]).T
        name, foot = shapes.names[i] or tree.body_names[body], tree.body_names[body]
        rows += [(f"{name}[{k}]", body, point, ball, foot) for k, point in enumerate(at)]
    return _points(rows, "contact shapes of the model")


# kind -> from its size to its points and the radius of the balls around them.
_CORNERS = {
    "sphere": lambda size: (np.zeros((1, 3)), size[0]),
    "capsule": lambda size: (np.array([[0, 0, -size[1]], [0, 0, size[1]]]), size[0]),
    "box": lambda size: (CORNERS * size, 0.0),
}


def _outlines(subject: Subject) -> Points:
    """Heel, ball and toes of every body that is called a foot."""
    if isinstance(subject.bodies.poses, MechanismPoses):
        return NO_POINTS
    pose = subject.poses(subject.defaults[None])
    positions, rotations = pose.position[0], pose.rotation[0]
    feet = [b for b, n in enumerate(subject.body_names) if _FOOT.search(n) and not _TOES.search(n)]
    points = []
    middle = np.mean(positions[feet], axis=0) if feet else np.zeros(3)
    for foot in feet:
        toes = [
            b
            for b, parent in enumerate(subject.parents)
            if parent == foot and b != foot and _TOES.search(subject.body_names[b])
        ]
        carriers = [foot, *toes[:1]]
        # The foot's own axes as it stands: forward from the heel, up, and across.
        center = np.asarray(subject.bodies.center)[foot]
        up = subject.up
        ahead = rotations[foot] @ center
        ahead = ahead - (ahead @ up) * up
        if np.linalg.norm(ahead) < 1e-3:
            continue
        ahead = ahead / np.linalg.norm(ahead)
        across = np.cross(up, ahead)
        ball = (positions[toes[0]] - positions[foot]) @ ahead if toes else None
        reach = _extent(subject, carriers, positions, rotations, foot, ahead, across, ball)
        back, front, left, right = reach
        rows = [("heel", back, foot), ("toe", front, carriers[-1])]
        if ball is not None:
            rows.insert(1, ("ball", ball, foot))
        side = _side(subject.body_names[foot]) or subject.body_names[foot]
        outer = np.sign((positions[foot] - middle) @ across) or 1.0
        for part, along, body in rows:
            for edge in (left, right):
                at = positions[foot] + along * ahead + edge * across
                name = f"{side}_{part}_{'outer' if edge * outer > 0 else 'inner'}"
                points.append((name, body, rotations[body].T @ (at - positions[body]), 0.0, side))
    source = "outlines of the feet" + (" inside their markers" if subject.markers else "")
    return _points(points, source)


def _extent(subject, carriers, positions, rotations, foot, ahead, across, ball):
    """How far the foot reaches from its origin: back, front, left, right [m]."""
    origin = positions[foot]
    markers = subject.markers
    on_foot = [i for i, b in enumerate(markers.bodies) if b in carriers]
    if len(on_foot) >= 3:
        at = np.array(
            [
                positions[markers.bodies[i]] + rotations[markers.bodies[i]] @ markers.position[i]
                for i in on_foot
            ]
        )
        along, beside = (at - origin) @ ahead, (at - origin) @ across
        return along.min(), along.max(), beside.min(), beside.max()
    center = np.asarray(subject.bodies.center)[foot]
    length = ball / TOE_JOINT if ball else np.linalg.norm(center[[0, 2]]) / _FOOT_CENTER
    half = FOOT_BREADTH * length / 2
    return 0.0, length, -half, half
