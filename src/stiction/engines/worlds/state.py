r"""What touches at one state of a world, and the equations there before a force is chosen.

The machine itself looks around, makes the rows of what touches and takes the loops out of them
(`core.bonds`); here they are read off. In the half-solved coordinates $w = D^{1/2} L v$ it has
$Y = D^{-1/2} L^{-T} J^T$, so that with $G = D^{1/2} L$

$$ M = G^T G, \qquad J = Y^T G, \qquad \tau = G^T a, \qquad \dot J v = a_0 - Y^T a. $$

Limits are contacts without friction. Dry friction is that of a mass of 1 kg that is pressed, which
is a freedom more (`core.coordinates`). What moves in one plane only has one tangent.
"""

from typing import Any, NamedTuple

import numpy as np
import warp as wp

from stiction._base.errors import RunError
from stiction.engines.given import Extent, Given
from stiction.engines.result import RESULTS
from stiction.engines.worlds.found import called, keys_of, touches_of
from stiction.engines.worlds.run import Prepared, go, prepare

_FLAT = 1e-10  # part of a contact's rows across a plane that is none


class WorldState(NamedTuple):
    """What touches at a state. Rows of a contact are its tangents, then its normal.

    Of m freedoms the first nv are those of the mechanism, the others those of dry friction.
    """

    time: float
    q: np.ndarray
    v: np.ndarray
    names: tuple[str, ...]
    point: np.ndarray  # (n, 3), nan for what has no place
    frame: np.ndarray  # (n, d, 3)
    is_dry: np.ndarray  # (n,)
    left_out: tuple[str, ...]  # contacts whose friction of spin and rolling is not told here
    mass_matrix: np.ndarray  # (m, m)
    applied: np.ndarray  # (m,) all forces but those of contacts, loops kept
    jacobian: np.ndarray  # (n, d, m), loops taken out
    bias: np.ndarray  # (n, d)
    velocity: np.ndarray  # (n, d)
    support_velocity: np.ndarray  # (n, d)
    W: np.ndarray  # (n d, n d)
    law: np.ndarray  # (n, 6) as `core.layout` has them
    kinetic: float
    pairs: np.ndarray  # (n,) places in the machine's list
    turn: np.ndarray  # (n, d, 3) from the machine's rows to these


class Looked(NamedTuple):
    """A world at a state, before anything happens there."""

    made: Prepared
    state: WorldState


def look_around(
    given: Given, extent: Extent, *, time: float, run: bool, any_impact: bool = False
) -> Looked:
    """A world at the end of a run; or at its start, as if `time` had gone by until then."""
    made = prepare(given, extent, any_impact=any_impact)
    M, lay = made.run.design.machine, made.run.design.core.layout
    x, k = made.run.x.numpy()[0], made.run.k.numpy()[0]
    if run:
        go(made, given, extent)
        if k[M.z.status] != lay.DONE:
            raise RunError(f"at {x[M.z.t]:.6g} s: {_end(int(k[M.z.status]))}")
    else:
        x[M.z.t] = time
    # Once more as at a start: what touches is looked for, and nothing has collided yet.
    k[M.z.status], k[M.z.target] = lay.RUNNING, -1
    k[M.z.phase], k[M.z.anew] = lay.LOOK if M.shapes.count else lay.BEGIN, 1
    x[M.z.now] = x[M.z.t]
    made.run.go(made.run.design.core.kernel("machine"), 1)
    if k[M.z.status] != lay.RUNNING:
        raise RunError(f"at {x[M.z.t]:.6g} s: {_end(int(k[M.z.status]))}")
    look = made.run.design.core.kernel("machine", "look_at")
    wp.launch(look, dim=1, inputs=[made.run.hand_over(), made.run.x, made.run.k, 0])
    return Looked(made, _read(made, given))


def world_state(given: Given, extent: Extent, *, time: float = 0.0, run: bool = True) -> WorldState:
    """What touches at the end of a run; or at its start, as if `time` had gone by until then."""
    looked = look_around(given, extent, time=time, run=run)
    looked.made.run.let_go()
    return looked.state


def _end(status: int) -> str:
    from stiction.engines.by_core import ENDS

    return RESULTS[getattr(RESULTS, ENDS[status])]


def _read(made: Prepared, given: Given) -> WorldState:
    """The rows that the machine has made, contact by contact."""
    run = made.run
    M, lay, kinds = run.design.machine, run.design.core.layout, run.design.core.coordinates
    x, k = run.x.numpy()[0], run.k.numpy()[0]
    nq, nv = M.tree.nq, M.tree.nv
    n = int(k[M.c.n_active])
    pairs, first = k[M.c.active : M.c.active + n], k[M.c.first : M.c.first + n + 1]
    kind = M.pairs.kind.numpy()[pairs]
    is_dry = np.isin(kind, [int(kinds.FREEDOM_FRICTION), int(kinds.TENDON_FRICTION)])
    G, a = _half(M, x), x[M.z.half : M.z.half + nv]
    m = nv + int(is_dry.sum())
    J, bias, velocity, ground = np.zeros((n, 3, m)), *np.zeros((3, n, 3))
    mass, applied = np.eye(m), np.zeros(m)
    mass[:nv, :nv], applied[:nv] = G.T @ G, G.T @ a
    extra = nv
    for i in range(n):
        last = first[i + 1] - first[i] - 1
        for to, j in [*((t, t) for t in range(min(last, 2))), (2, last)]:
            r = int(first[i] + j)
            Y = x[M.c.Y + r * nv : M.c.Y + (r + 1) * nv]
            J[i, to, :nv] = Y @ G
            bias[i, to] = x[M.c.free + r] - Y @ a
            velocity[i, to], ground[i, to] = x[M.c.velocity + r], x[M.c.ground + r]
        if is_dry[i]:
            J[i, 2], bias[i, 2] = 0.0, 0.0
            J[i, 2, extra] = 1.0
            applied[extra] = -M.pairs.radius.numpy()[pairs[i]]
            extra += 1
    places = run.places.numpy()[0, 0][pairs]
    touches, _ = touches_of(
        [tuple(key) for key in keys_of(places, pairs, lay, len(made.world.names)).tolist()],
        made.world, made.model, given.mechanism, given.contacts,
    )  # fmt: skip
    names = tuple(map(called, touches))
    frames = _frames(places, lay)
    v = x[M.at.v : M.at.v + nv].copy()
    turn = _in_one_plane(J, frames)
    J, bias, velocity, ground, frames = (
        np.einsum("nij,nj...->ni...", turn, y) for y in (J, bias, velocity, ground, frames)
    )
    wide = np.diff(first) > 3
    rows = J.reshape(-1, m)
    return WorldState(
        time=float(x[M.z.t]),
        q=x[M.at.q : M.at.q + nq].copy(),
        v=v,
        names=names,
        point=np.where(frames.any(axis=(1, 2))[:, None], _vector(places, lay.PLACE_POINT), np.nan),
        frame=frames,
        is_dry=is_dry,
        left_out=tuple(name for name, more in zip(names, wide, strict=True) if more),
        mass_matrix=mass,
        applied=applied,
        jacobian=J,
        bias=bias,
        velocity=velocity,
        support_velocity=ground,
        W=rows @ np.linalg.solve(mass, rows.T),
        law=_law(run, kind, pairs, kinds),
        kinetic=float(np.sum((G @ v) ** 2) / 2),
        pairs=pairs.copy(),
        turn=turn,
    )


def _half(M: Any, x: np.ndarray) -> np.ndarray:
    """G = D^(1/2) L, from the sparse factor of M = Lᵀ D L."""
    nv = M.tree.nv
    before, row = M.tree.before.numpy(), M.tree.row.numpy()
    G = np.zeros((nv, nv))
    for d in range(nv):
        D = x[M.at.D + d]
        G[d, d] = 1 / D
        entry, e = M.at.M + row[d] + 1, before[d]
        while e >= 0:
            G[d, e] = x[entry] / D
            entry, e = entry + 1, before[e]
    return G


def _law(run: Any, kind: np.ndarray, pairs: np.ndarray, kinds: Any) -> np.ndarray:
    """Numbers of the law; limits have no friction."""
    law = run.law.numpy()[0, pairs].copy()
    limits = [int(kinds.JOINT_LIMIT), int(kinds.TENDON_LIMIT), int(kinds.BALL_LIMIT)]
    law[np.isin(kind, limits), 1:3] = 0.0
    return law


def _vector(places: np.ndarray, at: Any) -> np.ndarray:
    return places[:, int(at) : int(at) + 3]


def _frames(places: np.ndarray, lay: Any) -> np.ndarray:
    """Tangents and normal of each contact; zero for what has no place."""
    tangent, normal = _vector(places, lay.PLACE_TANGENT), _vector(places, lay.PLACE_NORMAL)
    return np.stack([tangent, np.cross(normal, tangent), normal], axis=1)


def _in_one_plane(J: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """For each contact the turn of its rows to the one tangent along which it can move, and its
    normal; the identity if some contact can move along two.

    The tangent of a floor points along x, as elsewhere.
    """
    turn = np.zeros((len(J), 2, 3))
    turn[:, 1, 2] = 1.0
    for i, (rows, frame) in enumerate(zip(J, frames, strict=True)):
        U, size, _ = np.linalg.svd(rows[:2], full_matrices=False)
        if len(size) > 1 and size[1] > _FLAT * max(np.linalg.norm(rows), 1e-300):
            return np.tile(np.eye(3), (len(J), 1, 1))
        along = U[:, 0] @ frame[:2]
        leading = along[np.argmax(np.abs(along) > 1e-9)]
        turn[i, 0, :2] = U[:, 0] * (-1.0 if leading < 0 else 1.0)
    return turn
