"""Random and degenerate impacts by the core, batches of them: what every law promises of each."""

from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

import stiction
from stiction import Hybrid, find_contacts, simulate
from stiction.mechanism import body_poses, link_kinematics
from stiction.surfaces import contact_places

FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'
BOX = '<geom type="box" size=".1 .15 .2" mass="1"/>'
ROD = '<geom type="capsule" fromto="-.3 0 0 .3 0 0" size=".02" mass="1"/>'
ARM = """<body><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"
  contype="0" conaffinity="0"/><body pos=".3 0 0"><joint axis="0 0 1"/><joint axis="1 0 0"/>
  <geom pos=".2 0 0" size=".05" mass=".3"/></body></body>"""
PLANAR = """<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
  <joint axis="0 1 0"/>"""
# In space and in the plane; one body, chains, a body whose masses differ by a million.
MODELS = {
    "box": f"<body><freejoint/>{BOX}</body>",
    "ellipsoid": '<body><freejoint/><geom type="ellipsoid" size=".1 .2 .3" mass="2"/></body>',
    "rod in the plane": f"<body>{PLANAR}{ROD}</body>",
    "box with an arm": f"<body><freejoint/>{BOX}{ARM}</body>",
    "heavy on light": f"""<body><freejoint/>{BOX.replace('mass="1"', 'mass="1000"')}
      <body pos="0 0 -.3"><joint type="slide" axis="0 0 1"/><geom size=".05" mass=".001"/></body>
      </body>""",
}
LAWS = ("dissipation", "newton", "poisson", "stronge", "lcp", "lcp-poisson", "lcp-pyramid",
        "lcp-cone", "lcp-cone-poisson", "no-slip")  # fmt: skip
# How the body lies on the floor when it hits.
POSES = ("any", "flat", "nearly flat", "on an edge")


@dataclass
class Outcome:
    """Of a batch of impacts.

    Attributes:
        tried: Impacts that were found in the logs of the runs.
        gained: Kinetic energy gained over what was there.
        outside: How far friction is outside of Coulomb's cone, over the normal impulse.
        pulled: How hard contacts pull, over the largest impulse.
        inwards: How fast contacts that were hit still close in, over the speed before.
        failed: Runs that ended in a result that names why.
        lost: Runs that hit nothing, or whose numbers are not finite although they succeeded.
    """

    tried: int
    gained: np.ndarray
    outside: np.ndarray
    pulled: np.ndarray
    inwards: np.ndarray
    failed: int
    lost: int


@cache
def mechanism_of(name: str):
    """A mechanism over a floor, its contacts, and their gaps as a function of q."""
    model = f"<mujoco><worldbody>{FLOOR}{MODELS[name]}</worldbody></mujoco>"
    mechanism = stiction.load(model)
    contacts = find_contacts(mechanism, pairs=False)

    def gaps(q):
        poses = body_poses(mechanism, link_kinematics(mechanism, q).links)
        return contact_places(contacts, poses, jnp.zeros(())).gap

    return mechanism, contacts, jax.jit(jax.vmap(gaps))


def _states(mechanism, gaps, rng: np.random.Generator, count: int, pose: str):
    """Configurations that just touch, and velocities towards the floor."""
    q = np.tile(np.asarray(mechanism.q_reference), (count, 1))
    v = rng.normal(size=(count, mechanism.nv)) * 10 ** rng.uniform(-2, 1, (count, 1))
    free = mechanism.nq != mechanism.nv
    turn = 3 if free else 2
    q[:, turn + (4 if free else 1) :] = rng.normal(size=q[:, turn + (4 if free else 1) :].shape)
    if pose == "any":
        q[:, turn : turn + 4] = rng.normal(size=q[:, turn : turn + 4].shape)
    elif pose != "flat" and free:
        tilt = 0.0 if pose == "on an edge" else 10 ** rng.uniform(-15, -2, count)
        q[:, 3], q[:, 5] = 1.0, tilt
        if pose == "on an edge":
            q[:, 3], q[:, 4] = np.cos(np.pi / 8), np.sin(np.pi / 8)
    elif pose != "flat":
        q[:, 2] = 10 ** rng.uniform(-15, -2, count) if pose == "nearly flat" else 0.0
    if free:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)

    height = 2 if free else 1
    q[:, height] -= np.asarray(gaps(jnp.asarray(q))).min(axis=1)
    v[:, height] = -np.abs(v[:, height]) - 5 * np.abs(v).max(axis=1)
    return q, v


def impacts(
    name: str, law: str, rng: np.random.Generator, count: int, *, pose: str = "any", **given
) -> Outcome:
    """So many impacts of a mechanism under a law, with restitutions and frictions of any size."""
    mechanism, contacts, gaps = mechanism_of(name)
    q, v = _states(mechanism, gaps, rng, count, pose)
    mu = rng.uniform(0, 1.5, (count, 1)) * (rng.random((count, 1)) > 0.1)
    e = np.clip(rng.uniform(-0.1, 1.1, (count, 1)), 0, 1)
    run = simulate(
        mechanism, q, v, until=1e-9, contacts=contacts, samples=2, max_events=30, throw=False,
        law=Hybrid(restitution=e, mu_static=mu, mu_dynamic=mu * rng.uniform(0.3, 1, (count, 1)),
                   rest_speed=0.0, impact=law, **given),
    )  # fmt: skip
    return judge(run.to_numpy(), mu, law)


def judge(run, mu: np.ndarray, law: str) -> Outcome:
    """What the first impact of each run did."""
    log, well = run.log, np.asarray(run.result._value) == 0
    hit = np.asarray(log.impact)[:, 0] & (run.n_events > 0)
    p, before = np.asarray(log.impulse)[:, 0], np.asarray(log.kinetic_before)[:, 0]
    after, u = np.asarray(log.kinetic_after)[:, 0], np.asarray(log.velocity_after)[:, 0]
    speed = np.abs(np.asarray(log.velocity_before)[:, 0]).max(axis=(1, 2))
    finite = np.isfinite(p).all(axis=(1, 2)) & np.isfinite(after)
    sound = hit & finite
    p, u, before, after, mu, speed = (x[sound] for x in (p, u, before, after, mu, speed))
    normal, across = p[..., -1], np.linalg.norm(p[..., :-1], axis=-1)
    largest = np.abs(p).max(axis=(1, 2))
    took = np.abs(p).max(axis=-1) > 0
    cone = across - mu * np.maximum(normal, 0)
    return Outcome(
        tried=int(sound.sum()),
        gained=(after - before) / before,
        outside=np.max(cone, axis=1) / largest if law != "no-slip" else np.zeros(len(p)),
        pulled=np.max(-normal, axis=1) / largest,
        inwards=np.max(np.where(took, -u[..., -1], 0.0), axis=1) / speed,
        failed=int((~well).sum()),
        lost=int((well & ~sound).sum()),
    )
