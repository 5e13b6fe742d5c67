"""Which points of a mechanism may come to touch the ground.

A sphere or an ellipsoid touches a plane in one point, a capsule in two (its ends), a box in eight
(its corners). Shapes that take no part in contact (MuJoCo's contype and conaffinity both 0), shapes
that do not move and shapes of other kinds have none.
"""

from dataclasses import dataclass

from stiction.mechanism import Mechanism

_POINTS = {"sphere": 1, "ellipsoid": 1, "capsule": 2, "box": 8}


@dataclass(frozen=True)
class Candidate:
    """A point of a shape that may touch."""

    name: str
    kind: str  # sphere, ellipsoid, capsule end, box corner
    shape: str
    body: str


def contact_candidates(mechanism: Mechanism) -> list[Candidate]:
    """All candidate contact points, in the order of the model file."""
    shapes, tree = mechanism.shapes, mechanism.tree
    found = []
    for name, kind, body, types in zip(
        shapes.names, shapes.kinds, shapes.bodies, shapes.types, strict=True
    ):
        moves = tree.body_links[body] != 0
        if not moves or types == (0, 0):
            continue
        count = _POINTS.get(kind, 0)
        what = {"capsule": "capsule end", "box": "box corner"}.get(kind, kind)
        for i in range(count):
            point = f"{name}[{i}]" if count > 1 else name
            found.append(Candidate(point, what, name, tree.body_names[body]))
    return found
