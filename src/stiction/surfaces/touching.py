"""What may touch what: one table, for the engines, for `info` and for the check after a run.

Two geoms may touch as MuJoCo has it: their contact bits match (contype of one, conaffinity of the
other), they are not welded together, not on parent and child, and their bodies are not excluded;
or the model has a <pair> of them. Of these the engines treat spheres, ellipsoids, capsules (their
ends) and boxes (their corners) on planes, and spheres of two moving bodies. The rest of the table
is what a run would pass over: it is named before a run, and looked for after it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from stiction._base.arrays import Bool
from stiction.mechanism import Mechanism

ON_GROUND = ("sphere", "ellipsoid", "capsule", "box")  # shapes that the engines put on ground
_FLAT = ("plane", "hfield")  # MuJoCo lets these touch no others of their kind
_MOST_NAMED = 6  # pairs in one line; more are told body by body


class Pair(NamedTuple):
    """Two things that may touch: a geom that moves, and another geom or a support."""

    first: str
    second: str
    first_body: str
    second_body: str
    first_kind: str
    second_kind: str
    treated: bool  # whether the engines look for contact between them


def allowed(mechanism: Mechanism) -> Bool[np.ndarray, "n_shapes n_shapes"]:
    """Which geoms may touch each other by the rules of the model."""
    model = mechanism.compiled.model
    body, bits, affinity = model.geom_bodyid, model.geom_contype, model.geom_conaffinity
    match = (bits[:, None] & affinity) | (affinity[:, None] & bits)
    weld = model.body_weldid[body]
    parent = model.body_weldid[model.body_parentid[weld]]
    related = (weld[:, None] == parent) | (parent[:, None] == weld)
    related &= (weld[:, None] != 0) & (weld != 0)  # what is fixed to the world may be touched
    if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT:
        related[:] = False
    low, high = np.minimum(body[:, None], body), np.maximum(body[:, None], body)
    excluded = np.isin((low << 16) + high, model.exclude_signature)
    may = (match != 0) & (weld[:, None] != weld) & ~related & ~excluded
    may[model.pair_geom1, model.pair_geom2] = may[model.pair_geom2, model.pair_geom1] = True
    flat = np.isin(mechanism.shapes.kinds, _FLAT)
    moves = _moving(mechanism)
    return may & ~(flat[:, None] & flat) & (moves[:, None] | moves)


def may_touch_ground(
    mechanism: Mechanism, supports: Sequence[str]
) -> Bool[np.ndarray, "n_shapes n_supports"]:
    """Which moving geoms may touch which supports: planes of the model, or others by name.

    A support that is no geom of the model has the bits of the model's planes, or MuJoCo's default.
    """
    shapes, may = mechanism.shapes, allowed(mechanism)
    bits = [shapes.types[i] for i in still_planes(mechanism)] or [(1, 1)]
    other = [any((c & a2) or (a & c2) for c2, a2 in bits) for c, a in shapes.types]
    known = {shapes.names[i]: may[:, i] for i in still_planes(mechanism)}
    columns = [known.get(name, np.array(other, bool)) for name in supports]
    table = np.array(columns, bool).reshape(len(supports), len(shapes.names)).T
    return table & _moving(mechanism)[:, None]


def still_planes(mechanism: Mechanism) -> list[int]:
    """The plane geoms of a model that stand still."""
    moves = _moving(mechanism)
    return [i for i, k in enumerate(mechanism.shapes.kinds) if k == "plane" and not moves[i]]


def touching_spheres(mechanism: Mechanism) -> list[tuple[int, int]]:
    """Spheres of two moving bodies that may touch each other."""
    balls = _moving(mechanism) & np.isin(mechanism.shapes.kinds, "sphere")
    may = np.triu(allowed(mechanism) & balls[:, None] & balls)
    return [(int(a), int(b)) for a, b in np.argwhere(may)]


def pairs_that_may_touch(
    mechanism: Mechanism, supports: Sequence[str], treated: set[tuple[str, str]]
) -> list[Pair]:
    """The table: every geom against ground, then every pair of other geoms.

    Args:
        mechanism: What moves.
        supports: Names of the ground's planes and height fields.
        treated: Names of what the engines treat, in pairs: geom or body, and what it touches.
    """
    shapes, moves = mechanism.shapes, _moving(mechanism)
    names = mechanism.tree.body_names
    bodies = [names[b] or (f"body{b}" if b else "world") for b in shapes.bodies]

    def pair(i: int, name: str, body: str, kind: str) -> Pair:
        looked_for = bool(treated & {(shapes.names[i], name), (f"body {bodies[i]}", name)})
        return Pair(shapes.names[i], name, bodies[i], body, shapes.kinds[i], kind, looked_for)

    ground = may_touch_ground(mechanism, supports)
    table = [pair(int(i), supports[int(k)], "world", "ground") for i, k in np.argwhere(ground)]
    others = np.triu(allowed(mechanism))
    others[:, still_planes(mechanism)] = others[still_planes(mechanism)] = False
    for i, j in np.argwhere(others):
        i, j = (int(i), int(j)) if moves[i] else (int(j), int(i))
        table.append(pair(i, shapes.names[j], bodies[j], shapes.kinds[j]))
    return table


def tell_not_treated(pairs: Sequence[Pair]) -> str:
    """The pairs that the engines do not treat, in one line; empty if there are none."""
    left = [p for p in pairs if not p.treated]
    if not left:
        return ""
    by_body = len(left) > _MOST_NAMED
    if by_body:
        named = list(dict.fromkeys(f"{p.first_body} and {p.second_body}" for p in left))
    else:
        named = [f"{p.first} ({p.first_kind}) and {p.second} ({p.second_kind})" for p in left]
    more = f", and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    count = "1 pair" if len(left) == 1 else f"{len(left)} pairs"
    return (
        f"not treated, so that they would pass through each other: {count} of geoms that may touch,"
        f" {'of the bodies ' if by_body else ''}{', '.join(named[:_MOST_NAMED])}{more}"
    )


def _moving(mechanism: Mechanism) -> Bool[np.ndarray, " n_shapes"]:
    links = mechanism.tree.body_links
    return np.array([links[b] != 0 for b in mechanism.shapes.bodies], bool)
