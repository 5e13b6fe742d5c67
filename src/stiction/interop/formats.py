r"""The words of each engine for a contact with a surface, ready to paste.

Every engine has one normal law: Hunt-Crossley, $k x (1 + d \dot x)$, in Drake; a linear spring and
damper, $k x + c \dot x$, in MuJoCo, Bullet and Gazebo. And all take friction as a part of the whole
normal force. So a contact that was measured comes here with the best numbers for both laws.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from stiction.interop.contact import CompliantContact, Translation
from stiction.interop.drake import to_drake
from stiction.interop.linear import Oscillator
from stiction.interop.mujoco_pair import linear_to_mujoco, needed_impratio, write_pairs


@dataclass(frozen=True)
class EngineContact:
    """The contact with one surface as engines have it."""

    linear: tuple[float, float]  # k [N/m] and c [N·s/m] of the best linear spring and damper
    # k [N/m] and d [s/m] of the best Hunt-Crossley law with n = 1
    hunt_crossley: tuple[float, float]
    mu: float  # kinetic friction
    mu_static: float  # static friction; the kinetic one where it was not identified
    speed: float  # the fastest approach in the log [m/s]
    slip: float  # the fastest slip [m/s]
    load: float  # the normal force, root mean square [N]
    mass: float  # of the body in the engine [kg]


@dataclass(frozen=True)
class ExportedSurface:
    """One surface in an engine's words."""

    parameters: dict[str, Any]  # by the engine's own names
    limits: tuple[str, ...]  # what the engine cannot express, plainly
    snippet: str  # to paste
    law: dict[str, float]  # what the engine then has: `k`, `c` or `alpha`, and `mu`


def _compliant(contact: EngineContact) -> CompliantContact:
    """The Hunt-Crossley contact that the translator starts from."""
    k, d = contact.hunt_crossley
    return CompliantContact(
        stiffness=k,
        dissipation=d,
        mass=contact.mass,
        speed=contact.speed,
        mu_static=contact.mu_static,
        mu_dynamic=contact.mu,
    )


Exported = tuple[dict[str, ExportedSurface], str]  # surfaces by name, and all of them to paste


def _drake(contacts: Mapping[str, EngineContact]) -> Exported:
    def one(contact: EngineContact) -> ExportedSurface:
        made = to_drake(_compliant(contact))
        k, d = contact.hunt_crossley
        return _exported(made, {"k": k, "alpha": d / 1.5, "mu": contact.mu})

    return _side_by_side({n: one(c) for n, c in contacts.items()})


def _mujoco(contacts: Mapping[str, EngineContact]) -> Exported:
    impratio = max(needed_impratio(c.mu) for c in contacts.values())

    def one(contact: EngineContact) -> ExportedSurface:
        k, c = contact.linear
        omega = sqrt(k / contact.mass)
        made = linear_to_mujoco(
            Oscillator(omega, c / (2 * contact.mass * omega)),
            mass=contact.mass,
            mu=contact.mu,
            load=contact.load,
            slip=contact.slip,
            impratio=impratio,
        )
        return _exported(made, {"k": k, "c": c, "mu": contact.mu})

    surfaces = {n: one(c) for n, c in contacts.items()}
    return surfaces, write_pairs({n: s.parameters for n, s in surfaces.items()}) + "\n"


def _exported(made: Translation, law: dict[str, float]) -> ExportedSurface:
    return ExportedSurface(dict(made.parameters), made.limits, made.snippet, law)


def _side_by_side(surfaces: dict[str, ExportedSurface]) -> Exported:
    return surfaces, "\n".join(f"<!-- {n} -->\n{s.snippet}" for n, s in surfaces.items()) + "\n"


def _urdf(contacts: Mapping[str, EngineContact]) -> Exported:
    return _side_by_side({n: _urdf_surface(c) for n, c in contacts.items()})


def _urdf_surface(contact: EngineContact) -> ExportedSurface:
    r"""URDF has no contact parameters of its own: the extensions that its readers have.

    Two surfaces combine in Bullet and in Gazebo (with ODE) to $k = k_a k_b / (k_a + k_b)$ and
    $c = c_a + c_b$; their friction to $\mu_a \mu_b$ in Bullet, to the smaller one in Gazebo.
    """
    (k, c), mu = contact.linear, contact.mu
    bullet = {"stiffness": 2 * k, "damping": c / 2, "lateral_friction": sqrt(mu)}
    gazebo = {"kp": 2 * k, "kd": c / 2, "mu1": mu, "mu2": mu}
    drake = to_drake(_compliant(contact))
    tags = "".join(f'  <{n} value="{v:.8g}"/>\n' for n, v in bullet.items())
    words = "".join(f"<{n}>{v:.8g}</{n}>" for n, v in gazebo.items())
    snippet = (
        f"<contact>  <!-- Bullet: in both links -->\n{tags}</contact>\n"
        f'<gazebo reference="LINK">{words}</gazebo>  <!-- Gazebo with ODE: for both links -->\n'
        f"{drake.snippet}"
    )
    limits = (
        "URDF itself has no contact parameters: these are Bullet's, Gazebo's and Drake's additions",
        "Bullet and Gazebo step a linear spring and damper implicitly: a large step damps more",
        *drake.limits,
    )
    parameters = {"bullet": bullet, "gazebo": gazebo, "drake": dict(drake.parameters)}
    return ExportedSurface(parameters, limits, snippet, {"k": k, "c": c, "mu": mu})


def _json(contacts: Mapping[str, EngineContact]) -> Exported:
    """Plain numbers, for an engine that is not listed."""

    def one(contact: EngineContact) -> ExportedSurface:
        (k, c), (k_hc, d) = contact.linear, contact.hunt_crossley
        parameters = {
            "linear": {"stiffness": k, "damping": c},
            "hunt_crossley": {"stiffness": k_hc, "dissipation": d},
            "mu_static": contact.mu_static,
            "mu_dynamic": contact.mu,
        }
        return ExportedSurface(parameters, (), "", {"k": k, "c": c, "mu": contact.mu})

    surfaces = {n: one(c) for n, c in contacts.items()}
    return surfaces, json.dumps({n: s.parameters for n, s in surfaces.items()}, indent=2) + "\n"


FORMATS: Mapping[str, Callable[[Mapping[str, EngineContact]], Exported]] = {
    "mujoco": _mujoco,
    "drake": _drake,
    "urdf": _urdf,
    "json": _json,
}
