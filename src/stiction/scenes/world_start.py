"""Where a world begins: a state that rigid bodies can have, or a refusal that says why not."""

from dataclasses import replace

import jax.numpy as jnp
import mujoco
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.engines.worlds.model import model_of
from stiction.engines.worlds.start import missed, settle_start
from stiction.mechanism import Mechanism
from stiction.surfaces import MovedOut, Penetration, WorldContacts


def world_start(
    mechanism: Mechanism,
    contacts: WorldContacts,
    q: Float[Array, "nq"],
    *,
    resolve: bool,
    soft: bool,
) -> MovedOut | None:
    """How the start was changed to one that misses no constraint; None if it was left as it is.

    Args:
        mechanism: What moves.
        contacts: What may touch.
        q: The configuration that was asked for.
        resolve: Whether it may be changed; else a start that rigid bodies cannot have is refused.
        soft: Whether contacts may be compressed.
    """
    model = model_of(mechanism, contacts)
    data = mujoco.MjData(model)
    data.qpos[:] = np.asarray(q)
    before = missed(model, data)
    allowed = replace(before, depth=0.0, limits=0.0) if soft and not resolve else before
    if not allowed.what:
        return None
    if not resolve:
        raise InputError(
            f"`start.q` is no state of rigid bodies: {allowed.what}; change it, or let"
            " `start.resolve = true` find the nearest"
        )
    places, potential, turned = data.xpos.copy(), _potential(model, data), data.xquat.copy()
    try:
        settle_start(model, data)
    except InputError as error:
        raise InputError(f"`start.resolve`: {error}") from None
    mujoco.mj_kinematics(model, data)
    inside = Penetration(*before.bodies, before.depth, 0.0, True)
    if not before.depth:
        inside = Penetration(
            "a loop or limit", "its place", before.loops + before.limits, 0.0, True
        )
    return MovedOut(
        jnp.asarray(data.qpos),
        (inside,),
        float(np.linalg.norm(data.xpos - places, axis=1).max()),
        bool(np.abs(data.xquat - turned).max() > 1e-9),
        _potential(model, data) - potential,
    )


def _potential(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_energyPos(model, data)
    return float(data.energy[0])
