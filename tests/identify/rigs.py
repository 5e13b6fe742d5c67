"""Virtual rigs for tests: a star of corners in a square hole, and how to run it."""

import copy

from stiction.identify.bench.testbed import virtual_test
from stiction.identify.kinds.contact_setup import ContactSetup

# The document's motion sensor, and a force-torque sensor as good as its peers.
NOISE = {"position_noise": 1e-4, "rotation_noise": 5e-4, "force_noise": 0.25, "moment_noise": 0.025}
REACH = 0.05  # m, from the star's middle to each of its corners
PLATES = {  # name -> middle of the plate (m), normal
    "right": ([REACH, 0.0, 0.0], [-1.0, 0.0, 0.0]),
    "left": ([-REACH, 0.0, 0.0], [1.0, 0.0, 0.0]),
    "far": ([0.0, REACH, 0.0], [0.0, -1.0, 0.0]),
    "near": ([0.0, -REACH, 0.0], [0.0, 1.0, 0.0]),
    "bottom": ([0.0, 0.0, -REACH], [0.0, 0.0, 1.0]),
}
TRUTH = {
    "steel": {"k": 8389.6, "c": 1299.6, "mu": 0.0652},
    "brass": {"k": 15109.0, "c": 741.0, "mu": 0.2086},
    "rubber": {"k": 3509.0, "c": 329.0, "mu": 0.2613},
}
BASE = {
    "pose": {"time": "t", "position": ["x", "y", "z"], "quaternion": ["qw", "qx", "qy", "qz"]},
    "wrench": {
        "time": "tw",
        "force": ["fx", "fy", "fz"],
        "moment": ["mx", "my", "mz"],
        "point": [0.01, -0.02, -0.1],
    },
    "body": [
        {
            "shape": "mesh",
            "vertices": [
                [REACH, 0, 0], [-REACH, 0, 0], [0, REACH, 0], [0, -REACH, 0],
                [0, 0, REACH], [0, 0, -REACH],
            ],
        }
    ],
}  # fmt: skip
# Waypoints of the star's middle: presses all the plates it is squeezed by, and slides on them.
WAYPOINTS = [
    [0.0, 0.000, -0.006, 0.004, 2.0, 0.0, -1.0],
    [0.3, 0.001, -0.002, -0.003, 1.0, 2.0, 1.0],
    [0.6, -0.001, 0.003, -0.004, -1.0, 3.0, 2.0],
    [0.9, 0.002, 0.001, -0.002, -2.0, 1.0, 1.0],
    [1.2, 0.000, -0.003, -0.004, 0.0, -2.0, 3.0],
    [1.5, -0.002, 0.002, 0.004, 1.0, 0.0, 0.0],
]


def star_setup(
    materials: dict[str, str],
    *,
    squeeze: float = 0.006,
    wanted=("k", "c", "mu"),
    truth=None,
    waypoints=WAYPOINTS,
    noise=None,
    bed=None,
    **changes,
) -> ContactSetup:
    """A star in a hole of the given plates (name -> material), each `squeeze` too near."""
    data = copy.deepcopy(BASE)
    data["surfaces"] = []
    for name, material in materials.items():
        point, normal = PLATES[name]
        point = [p + squeeze * n for p, n in zip(point, normal, strict=True)]
        data["surfaces"].append(
            {
                "name": name,
                "point": point,
                "normal": normal,
                "half_size": [0.045, 0.045],
                "material": material,
                "wanted": list(wanted),
            }
        )
    if truth is None:
        truth = {
            f"{m}.{p}": v
            for m in dict.fromkeys(materials.values())
            for p, v in TRUTH[m].items()
            if p in wanted
        }
    silent = {"position_noise": 0.0, "rotation_noise": 0.0, "force_noise": 0.0, "moment_noise": 0.0}
    data["testbed"] = {
        "waypoints": waypoints,
        "truth": truth,
        "motion_rate": 1000.0,
        **(noise or silent),
        **(bed or {}),
    }
    for path, value in changes.items():
        here = data
        *heads, last = path.split("__")
        for head in heads:
            here = here.setdefault(head, {})
        here[last] = value
    return ContactSetup.model_validate(data)


def record(setup: ContactSetup, number: int = 0):
    """One virtual recording of a setup."""
    return virtual_test(setup, number=number).recording
