"""Contact dynamics for mechanisms.

One mechanism (MJCF or URDF), every contact law, simulated with exact events, checked for energy
and for uniqueness, fitted to measured data, and translated into the engines people already use.

Names are imported when first used, so that `import stiction` and `stiction --help` stay light.
"""

import importlib
import importlib.metadata

# name -> the module that defines it: the whole public surface, each name with one import path.
_PUBLIC = {
    "InputError": "stiction._errors",
    "RunError": "stiction._errors",
    "Mechanism": "stiction.mechanism",
    "actuator_effort": "stiction.mechanism",
    "actuator_force": "stiction.mechanism",
    "add_velocity": "stiction.mechanism",
    "bias_force": "stiction.mechanism",
    "center_of_mass": "stiction.mechanism",
    "difference": "stiction.mechanism",
    "forward_dynamics": "stiction.mechanism",
    "inverse_dynamics": "stiction.mechanism",
    "kinetic_energy": "stiction.mechanism",
    "mass_matrix": "stiction.mechanism",
    "momentum": "stiction.mechanism",
    "passive_force": "stiction.mechanism",
    "point_bias_acceleration": "stiction.mechanism",
    "point_jacobian": "stiction.mechanism",
    "point_position": "stiction.mechanism",
    "point_velocity": "stiction.mechanism",
    "potential_energy": "stiction.mechanism",
    "random_state": "stiction.mechanism",
    "total_mass": "stiction.mechanism",
    "world_poses": "stiction.mechanism",
    "find_contacts": "stiction.surfaces",
    "Hybrid": "stiction.engines",
    "Compliant": "stiction.engines",
    "AbstractSwitchingControl": "stiction.engines",
    "events_of": "stiction.engines",
    "Solver": "stiction.engines",
    "Stepping": "stiction.engines",
    "Trajectory": "stiction.engines",
    "simulate": "stiction.engines",
    "possible_motions": "stiction.motions",
    "load": "stiction.scenes",
    "read_scenario": "stiction.scenes",
    "run_scenario": "stiction.scenes.run",
    "scene_names": "stiction.scenes",
}

__version__ = importlib.metadata.version("stiction")
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module 'stiction' has no attribute '{name}'")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
