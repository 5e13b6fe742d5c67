"""Random scenes: bodies of random shapes, joints and places over a random ground, run briefly."""

import warnings
from collections import Counter

import numpy as np

import stiction
from stiction import InputError

SHAPES = {
    "sphere": lambda r: f'type="sphere" size="{r[0]:.4f}"',
    "box": lambda r: f'type="box" size="{r[0]:.4f} {r[1]:.4f} {r[2]:.4f}"',
    "capsule": lambda r: f'type="capsule" size="{r[0]:.4f} {r[1]:.4f}"',
    "ellipsoid": lambda r: f'type="ellipsoid" size="{r[0]:.4f} {r[1]:.4f} {r[2]:.4f}"',
}
JOINTS = ("hinge", "slide", "ball")
LAWS = ("hybrid", "stepping", "compliant")


def model_of(rng: np.random.Generator) -> str:
    """One to three trees of one to three bodies."""
    text = '<geom name="floor" type="plane" size="9 9 .1"/>'
    for _ in range(rng.integers(1, 4)):
        depth = rng.integers(1, 4)
        for k in range(depth):
            pos = rng.normal(size=3) * 0.3 + (np.array([0, 0, 1.0]) if k == 0 else 0)
            sizes = 10 ** rng.uniform(-1.7, -0.7, 3)
            shape = SHAPES[rng.choice(list(SHAPES))](sizes)
            axis = rng.normal(size=3)
            kind = rng.choice(JOINTS)
            joint = (
                "<freejoint/>"
                if k == 0
                else f'<joint type="{kind}" axis="{axis[0]} {axis[1]} {axis[2]}"/>'
            )
            mass = 10 ** rng.uniform(-3, 2)
            text += f'<body pos="{pos[0]} {pos[1]} {pos[2]}">{joint}<geom {shape} mass="{mass}"/>'
        text += "</body>" * int(depth)
    return f"<mujoco><worldbody>{text}</worldbody></mujoco>"


def try_scene(number: int) -> str:
    """What became of the scene of that number: right, said by name, or what is wrong."""
    rng = np.random.default_rng(number)
    law = LAWS[number % 3]
    changes = {
        "contact.law": law, "until": 0.25, "samples": 11, "start.resolve": True,
        "contact.restitution": float(rng.uniform(0, 1)),
        "contact.mu_static": float(rng.uniform(0, 1)), "contact.max_events": 400,
        "ground.slope_deg": float(rng.uniform(-30, 30)),
    }  # fmt: skip
    changes["contact.mu_dynamic"] = changes["contact.mu_static"]
    model = model_of(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scene = stiction.scene(model, changes)
            scene = scene.change({"start.v": (rng.normal(size=scene.mechanism.nv)).tolist()})
            run = scene.run()
        except InputError:
            return "refused"
    if not run.success:
        return f"said: {run.message.split('.')[0]}"
    energy, error = np.asarray(run.energy), np.asarray(run.ledger_error)
    if not (np.isfinite(energy).all() and np.isfinite(run.q).all()):
        return "WRONG: not finite, and said to be a success"
    scale = np.abs(run.kinetic).max() + np.ptp(run.potential) + 1e-9
    if law != "stepping" and np.abs(error).max() > 1e-4 * scale:
        return f"WRONG: {law}: the ledger is {np.abs(error).max() / scale:.1e} of the energy off"
    return "right"


def scenes(count: int, first: int = 0) -> Counter:
    """So many scenes: how many ended how."""
    return Counter(try_scene(first + i) for i in range(count))
