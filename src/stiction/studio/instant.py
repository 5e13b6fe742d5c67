"""What can be said of a paused instant: the motions that mechanics allows, and the capability."""

import jax.numpy as jnp
import numpy as np

from stiction._base.errors import InputError
from stiction.engines import Hybrid
from stiction.engines.forces import OPEN, STICK
from stiction.mechanism import link_kinematics
from stiction.report.run_path import event_count
from stiction.studio.bench import Bench
from stiction.surfaces import Contacts, contact_kinematics


def _state(bench: Bench, t: float) -> tuple[np.ndarray, np.ndarray, float]:
    path = bench.path
    k = path.index(t)
    return path.q[k], path.v[k], float(path.time[k])


def tell_motions(bench: Bench, t: float) -> str:
    """Every motion that rigid bodies allow at a time, in words."""
    if bench.run.contacts is None:
        raise InputError("nothing can touch here; choose a contact law")
    q, v, time = _state(bench, t)
    answer = bench.scene.motions(q, _settled(bench, q, v, time), time)
    names = bench.run.contact_names
    rows = []
    for i, motion in enumerate(answer.motions):
        held = [f"{n} {m}" for n, m in zip(names, motion.modes, strict=True) if m != "break"]
        parting = f"{len(names) - len(held)} break" if len(held) < len(names) else ""
        rows.append(f"{i + 1}. " + ", ".join([*held, *filter(None, [parting])]))
    return f"**{answer.verdict}**: {answer.explanation}.\n\n" + "\n".join(rows)


def _settled(bench: Bench, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    """The velocity at a state with the contacts exactly as the run has them there.

    Between two steps it is interpolated, and what touches would seem to part or to collide.
    """
    run = bench.run
    n = event_count(run)
    if not isinstance(run.law, Hybrid) or not isinstance(run.contacts, Contacts) or n == 0:
        return v
    last = int(np.searchsorted(np.asarray(run.log.time)[:n], t, side="right")) - 1
    modes = np.asarray(run.log.modes_before[0] if last < 0 else run.log.modes_after[last])
    state = link_kinematics(run.mechanism, jnp.asarray(q))
    parts = contact_kinematics(run.mechanism, run.contacts, state, jnp.asarray(v), jnp.asarray(t))
    held = np.zeros((len(modes), run.contacts.dim), bool)
    held[modes == STICK] = True
    held[modes != OPEN, -1] = True
    J, u = np.asarray(parts.jacobian)[held], np.asarray(parts.velocity)[held]
    return v - np.linalg.lstsq(J, u, rcond=None)[0] if held.any() else v


def capability_hull(bench: Bench, t: float, size: float) -> tuple[np.ndarray | None, str]:
    """All accelerations that the first body can have at a posture, as a solid around it."""
    from stiction.agility import make_stance
    from stiction.agility.directions import acceleration_set

    run = bench.run
    if not isinstance(run.contacts, Contacts) or not run.mechanism.nu:
        raise InputError(
            "capability needs motors, and points that are known to stand on; this scene lacks them"
        )
    q = jnp.asarray(_state(bench, t)[0])
    mu = jnp.asarray(bench.friction())
    stance = make_stance(run.mechanism, contacts=run.contacts, mu=mu)
    found = acceleration_set(stance, q)
    points = found.exact if len(found.exact) > 3 else found.motors
    if not np.isfinite(points).all():
        raise InputError("capability needs motors that have limits (ctrlrange or forcerange)")
    if points.shape[1] == 2:
        points = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1]])
        points = np.concatenate([points + np.array([0, 0.01 * y, 0]) for y in (-1, 1)])
    largest = float(np.linalg.norm(points, axis=1).max())
    words = f"Accelerations up to {largest:.3g} m/s²"
    return np.asarray(stance.position(q)) + points * (size / max(largest, 1e-12)), words
