r"""An identified contact as engines have it.

Every engine has one normal law: Hunt-Crossley, $k x (1 + d \dot x)$, in Drake; a linear spring and
damper, $k x + c \dot x$, in MuJoCo, Bullet and Gazebo. And all take friction as a part of the whole
normal force (ma 4). The engine's numbers are those that give the identified forces best over the
samples of the log, in least squares: the identified ones themselves where the laws are the same.
"""

from dataclasses import dataclass

import numpy as np

from stiction._errors import InputError
from stiction.identify.least_squares import solve
from stiction.identify.result import Identification, under_load
from stiction.identify.setup import Surface

_SLOWEST = 1e-6  # m/s: a speed of approach must be positive


@dataclass(frozen=True)
class EngineContact:
    """The contact with one surface as engines have it.

    Attributes:
        linear: k [N/m] and c [N·s/m] of the best linear spring and damper.
        hunt_crossley: k [N/m] and d [s/m] of the best Hunt-Crossley law with n = 1.
        mu: Kinetic friction.
        mu_static: Static friction; the kinetic one where it was not identified.
        speed: The fastest approach in the log [m/s].
        slip: The fastest slip [m/s].
        load: The normal force, root mean square [N].
        mass: Of the body in the engine [kg].
    """

    linear: tuple[float, float]
    hunt_crossley: tuple[float, float]
    mu: float
    mu_static: float
    speed: float
    slip: float
    load: float
    mass: float


def engine_contact(found: Identification, surface: Surface, mass: float) -> EngineContact:
    """What was identified of one surface, as engines have it."""
    name = surface.material or surface.name
    if not value_of(found, f"{name}.k") > 0:
        raise InputError(
            f"`{name}.k` must be positive to be exported, got {found.parameters[f'{name}.k'].value}"
        )
    column = found.surfaces.index(surface.name)
    x, rate, force, slip = under_load(
        found.traces, [column], "depth", "depth_rate", "normal_force", "slip"
    )

    def best(damper: np.ndarray) -> tuple[float, float]:
        k, b = solve(np.stack([x, damper], axis=1), force, positive=np.ones(2, dtype=bool)).x
        return float(k), float(b)

    k, kd = best(x * rate)
    mu, static = (value_of(found, f"{name}.{letter}") for letter in ("mu", "mu_s"))
    if surface.friction_of == "spring":
        exponent = value_of(found, f"{name}.lambda") or surface.exponent
        spring = value_of(found, f"{name}.k") * np.maximum(x, 0.0) ** exponent
        mu *= float(spring @ force / (force @ force))
    return EngineContact(
        linear=best(rate),
        hunt_crossley=(k, kd / k),
        mu=mu,
        mu_static=max(mu, static),
        speed=max(float(rate.max()), _SLOWEST),
        slip=max(float(slip.max()), _SLOWEST),
        load=float(np.sqrt(np.mean(force**2))),
        mass=mass,
    )


def value_of(found: Identification, name: str) -> float:
    """A parameter's value; zero where it was not asked for, or not identifiable."""
    return (found.parameters[name].value or 0.0) if name in found.parameters else 0.0
