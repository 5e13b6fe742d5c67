"""Arrays that the core works on, of any kind of world: pairs that may touch, ground, commands.

Nothing here needs JAX unless contacts are given.
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from stiction.engines.device_arrays import Arrays

BLANK: dict[str, Any] = dict(
    first=0,
    second=0,
    point=np.zeros(3),
    turn=np.eye(3),
    axes=np.zeros(3),
    on=np.zeros(3),
    facing=np.eye(3),
    radius=0.0,
    twist=np.zeros(2),
    along=np.zeros(3),
    normal=np.array([0, 0, 1.0]),
    reach=0.0,
    motion=-1,
    rows=3,
    geoms=(-1, -1),
    parts=(-1, -1),
)


def _known(arrays: Any) -> Any:
    import jax  # worlds of MuJoCo that nobody gives contacts to do without it

    return jax.tree.map(np.asarray, arrays)


def quaternions(R: np.ndarray) -> np.ndarray:
    """(x, y, z, w) of rotation matrices."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(np.array(R).reshape(-1, 3, 3)).as_quat()  # SciPy 1.15 must own it


def pair_rows(C: Any, mechanism: Any, contacts: Any, links: np.ndarray | None) -> list[dict]:
    """The pairs of contacts, one after the other, on links or (None) on the bodies themselves."""
    bodies = mechanism.bodies
    R, p = np.asarray(bodies.rotation), np.asarray(bodies.position)
    if links is None:
        links, R, p = np.arange(len(p)), np.tile(np.eye(3), (len(p), 1, 1)), np.zeros_like(p)

    def on_link(body: int, x: Any) -> np.ndarray:
        return p[body] + R[body] @ np.asarray(x, float)

    contacts = _known(contacts)
    origin, frame = contacts.planes.position, contacts.planes.rotation
    rows = []
    g = contacts.point_plane
    for k, (b, on) in enumerate(zip(g.bodies, g.planes, strict=True)):
        pair = {"kind": int(C.POINT_PLANE), "first": links[b], "point": on_link(b, g.point[k])}
        rows.append(pair | {"on": origin[on], "facing": frame[on], "motion": on})
    g = contacts.round_plane
    for k, (b, on) in enumerate(zip(g.bodies, g.planes, strict=True)):
        pair = {"kind": int(C.ROUND_PLANE), "first": links[b], "point": on_link(b, g.center[k])}
        pair |= {"turn": R[b] @ g.rotation[k], "axes": g.semi_axes[k]}
        rows.append(pair | {"on": origin[on], "facing": frame[on], "motion": on})
    g = contacts.ball_field
    for k, b in enumerate(g.bodies):
        pair = {"kind": int(C.BALL_FIELD), "first": links[b], "point": on_link(b, g.center[k])}
        rows.append(pair | {"axes": np.full(3, float(g.radius[k]))})
    g = contacts.ball_ball
    for k, (b, c) in enumerate(g.bodies):
        pair = {"kind": int(C.BALL_BALL), "first": links[b], "second": links[c]}
        pair |= {"point": on_link(b, g.center[k, 0]), "on": on_link(c, g.center[k, 1])}
        radii = {"axes": np.full(3, float(g.radius[k, 0])), "radius": float(g.radius[k, 1])}
        rows.append(pair | radii)
    return [BLANK | row | {"rows": contacts.dim} for row in rows]


def places_among(mechanism: Any, contacts: Any, some: Any) -> list[int] | None:
    """Where some contacts stand in the list of all; None if one of them is not there."""
    if some is contacts:
        return list(range(contacts.count))
    kinds = SimpleNamespace(POINT_PLANE=0, ROUND_PLANE=1, BALL_FIELD=2, BALL_BALL=3)
    here, there = (pair_rows(kinds, mechanism, c, None) for c in (contacts, some))
    found = [
        next((i for i, row in enumerate(here) if _is_same(row, wanted)), None) for wanted in there
    ]
    return None if None in found else [i for i in found if i is not None]


def _is_same(one: dict, other: dict) -> bool:
    """Whether two pairs are; planes are told apart by where they are, not by their number."""
    return all(np.array_equal(one[name], other[name]) for name in BLANK if name != "motion")


def ground_of(a: Arrays, P: Any, grounds: Sequence[Any], field: Any) -> None:
    """How planes move, one list of them after the other; and a height field, if there is one."""
    reals, known = a.reals, [_known(planes) for planes in grounds]

    def column(of: Callable[[Any], Any]) -> np.ndarray:
        return np.concatenate([np.asarray(of(planes), float) for planes in known])

    P.velocity = a.vec(column(lambda g: g.motion.velocity), reals.vec3)
    P.amplitude = a.vec(column(lambda g: g.motion.amplitude), reals.vec3)
    swing = [column(lambda g: g.motion.frequency), column(lambda g: g.motion.phase)]
    P.swing = a.vec(np.stack(swing, 1), reals.vec2)
    along, across = (column(lambda g, i=i: g.rotation[:, :, i]) for i in range(2))
    belt = column(lambda g: g.motion.belt)
    P.belt = a.vec(along * belt[:, :1] + across * belt[:, 1:], reals.vec3)
    if field is not None:
        P.field = a.real(field.coefficients)
        P.middle = reals.vec3(*np.asarray(field.position, float).tolist())
        P.spacing = reals.vec2(*np.asarray(field.spacing, float).tolist())


def pairs_of(a: Arrays, P: Any, rows: list[dict]) -> Any:
    """The list of pairs, column by column."""
    reals = a.reals
    P.count = n = len(rows)

    def column(name: str) -> np.ndarray:
        return np.array([r[name] for r in rows])

    P.twist = a.vec(column("twist"), reals.vec2)
    for name in ("rows", "kind", "first", "second", "motion"):
        setattr(P, name, a.whole(column(name)))
    for name in ("point", "axes", "on", "along", "normal"):
        setattr(P, name, a.vec(column(name), reals.vec3))
    for name in ("turn", "facing"):
        setattr(P, name, a.vec(quaternions(column(name)) if n else np.zeros((0, 4)), reals.quat))
    P.radius, P.reach = a.real(column("radius")), a.real(column("reach"))
    P.geoms, P.parts = a.couples(column("geoms")), a.couples(column("parts"))
    return P


def commands_of(a: Arrays, A: Any, control: Any) -> None:
    """What the core itself commands: harmonics, and phases after each other."""
    nu, big = A.count, 1e30
    harmonic = getattr(control, "harmonic", control)
    table = np.zeros((nu, 4))
    if harmonic is not None:
        for i, name in enumerate(("offset", "amplitude", "frequency", "phase")):
            table[:, i] = np.asarray(getattr(harmonic, name))
    A.harmonic = a.real(table)
    if hasattr(control, "desired"):
        parts = [
            np.asarray(getattr(control, n))[..., None]
            for n in ("end", "offset", "gain", "relative")
        ]
        parts.append(np.asarray(control.desired))
        phases = np.clip(np.concatenate(parts, axis=-1), -big, big)
        A.n_phases, A.n_powers = phases.shape[1], phases.shape[2] - 4
        A.phases = a.real(phases)
