"""Rollouts by MuJoCo, of the same mechanism with the same contacts."""

# MuJoCo's binary module has no stubs.
# pyright: reportAttributeAccessIssue=false
from collections.abc import Mapping
from itertools import count
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction.interop.replay import POINT
from stiction.interop.replay_mujoco import quat_of
from stiction.surfaces import Contacts

NAME = f"MuJoCo {mujoco.__version__}"


def roll_out_in_mujoco(
    spec: mujoco.MjSpec,
    contacts: Contacts,
    body_names: tuple[str, ...],
    parameters: Mapping[str, Any],
    q: Float[np.ndarray, "n nq"],
    v: Float[np.ndarray, "n nv"],
    *,
    rows: int,
    rate: float,
) -> Float[np.ndarray, "n rows nq"]:
    """Configurations at the rows of each rollout.

    Args:
        spec: The mechanism; changed.
        contacts: What may touch: these and no others.
        body_names: Of the mechanism.
        parameters: MuJoCo's, of every contact; its time step is made to divide a row's.
        q: Where rollouts begin.
        v: How fast.
        rows: Of a rollout, the first included.
        rate: Rows in a second [Hz].
    """
    steps = int(np.ceil(1 / (rate * parameters["timestep"]) - 1e-9))
    model = _model(spec, contacts, body_names, parameters, 1 / (rate * steps))
    data = mujoco.MjData(model)
    state = np.concatenate([np.zeros((len(q), 1)), q, v, np.zeros((len(q), model.na))], axis=1)
    out = [q]
    for _ in range(rows - 1):  # all rollouts at once, a row at a time: the steps between are many
        path, _ = rollout.rollout(model, data, state, nstep=steps)
        state = np.asarray(path)[:, -1]
        out.append(state[:, 1 : 1 + model.nq])
    return np.stack(out, axis=1)


def _model(spec, contacts: Contacts, body_names, parameters, dt: float) -> mujoco.MjModel:
    if contacts.field is not None or any(np.any(x) for x in vars(contacts.planes.motion).values()):
        raise InputError("MuJoCo's replay knows planes that stand still; leave `--export` out")
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    for pair in list(spec.pairs):
        spec.delete(pair)
    spec.option.timestep, spec.option.cone = dt, mujoco.mjtCone.mjCONE_ELLIPTIC
    number = count()

    def add(body, **shape) -> str:
        name = f"stiction{next(number)}"
        body.add_geom(name=name, contype=0, conaffinity=0, mass=0, **shape)
        return name

    def ball(body: int, center, radius: float) -> str:
        return add(spec.body(body_names[body]), pos=center, size=[radius, 0, 0])

    def pair(one: str, other: str) -> None:
        mu, *rest = parameters["friction"]
        made = spec.add_pair(geomname1=one, geomname2=other, condim=3)
        made.solref, made.solimp = parameters["solref"], parameters["solimp"]
        made.friction = [mu, mu, rest[0], rest[1], rest[1]]

    ground = [
        add(spec.worldbody, type=mujoco.mjtGeom.mjGEOM_PLANE, pos=p, size=[1, 1, 1],
            quat=quat_of(R))
        for p, R in zip(*map(np.asarray, (contacts.planes.position, contacts.planes.rotation)),
                        strict=True)
    ]  # fmt: skip
    points, rounds, pairs = contacts.point_plane, contacts.round_plane, contacts.ball_ball
    for point, body, plane in zip(points.point, points.bodies, points.planes, strict=True):
        pair(ground[plane], ball(body, np.asarray(point), POINT))
    sizes = (np.asarray(a) for a in (rounds.center, rounds.rotation, rounds.semi_axes))
    for body, plane, center, R, size in zip(rounds.bodies, rounds.planes, *sizes, strict=True):
        if np.ptp(size) == 0:
            pair(ground[plane], ball(body, center, size[0]))
        else:
            kind, owner = mujoco.mjtGeom.mjGEOM_ELLIPSOID, spec.body(body_names[body])
            pair(ground[plane], add(owner, type=kind, pos=center, size=size, quat=quat_of(R)))
    for bodies, centers, radii in zip(pairs.bodies, pairs.center, pairs.radius, strict=True):
        both = zip(bodies, np.asarray(centers), np.asarray(radii), strict=True)
        pair(*(ball(body, center, radius) for body, center, radius in both))
    return spec.compile()
