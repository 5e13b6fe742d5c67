r"""An identified contact in an engine's parameters, and the log replayed with the engine's law.

Every engine has one normal law: Hunt-Crossley, $k x (1 + d \dot x)$, in Drake; a linear spring and
damper, $k x + c \dot x$, in MuJoCo, Bullet and Gazebo. The engine's k and d, or k and c, are those
that give the identified normal force best over the samples of the log, in least squares: the
identified ones themselves where the laws are the same. From there the translator goes on.

All engines take friction as a part of the whole normal force (ma 4). What the engine's law costs is
told by a replay: its wrench along the fitted motion, compared with the measured one.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from stiction._errors import InputError, unknown
from stiction.identify.build import build_model, model_values
from stiction.identify.least_squares import solve
from stiction.identify.prune import prune
from stiction.identify.result import Identification, rms_under_load, under_load
from stiction.identify.setup import ContactSetup, Surface
from stiction.identify.testbed import wrench_along
from stiction.laws.translate import (
    CompliantContact,
    Oscillator,
    Translation,
    linear_to_mujoco,
    to_drake,
)

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
        mass: Of the body in the engine [kg].
    """

    linear: tuple[float, float]
    hunt_crossley: tuple[float, float]
    mu: float
    mu_static: float
    speed: float
    mass: float


@dataclass(frozen=True)
class ExportedSurface:
    """One surface in an engine's words.

    Attributes:
        parameters: By the engine's own names.
        limits: What the engine cannot express, plainly.
        snippet: To paste.
        law: What the engine then has: `k`, `c` or `alpha`, and `mu`.
    """

    parameters: dict[str, Any]
    limits: tuple[str, ...]
    snippet: str
    law: dict[str, float]


@dataclass(frozen=True)
class Export:
    """An identification in an engine's words.

    Attributes:
        engine: Its name.
        surfaces: By name (of the material, where surfaces share one).
        replay_rms: Force residual of the log with the engine's law [N].
        identified_rms: The same with the identified law [N].
    """

    engine: str
    surfaces: dict[str, ExportedSurface]
    replay_rms: float
    identified_rms: float

    @property
    def text(self) -> str:
        """What to paste, surface by surface."""
        if self.engine == "json":
            return json.dumps({n: s.parameters for n, s in self.surfaces.items()}, indent=2) + "\n"
        return "\n".join(f"<!-- {n} -->\n{s.snippet}" for n, s in self.surfaces.items()) + "\n"

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "engine": self.engine,
            "surfaces": {
                n: {"parameters": s.parameters, "limits": s.limits, "snippet": s.snippet}
                for n, s in self.surfaces.items()
            },
            "replay": {"force_rms": self.replay_rms, "identified_force_rms": self.identified_rms},
        }


def export(
    found: Identification,
    setup: ContactSetup,
    engine: str,
    *,
    mass: float | None = None,
    folder: Path = Path(),
) -> Export:
    """All identified surfaces in an engine's words, and the log replayed with its law.

    Args:
        found: From `identify`, with the same setup.
        setup: Shapes, frames, surfaces.
        engine: One of `FORMATS`.
        mass: Of the body in the engine [kg]; if left out, that of the setup's inertia, or 1.
        folder: Where mesh files of the setup lie.
    """
    if engine not in FORMATS:
        raise unknown("engine to export to", engine, FORMATS)
    if mass is None:
        mass = setup.inertia.mass if setup.inertia else 1.0
    if not mass > 0:
        raise InputError(f"`mass` must be positive [kg], got {mass:g}")
    surfaces = {}
    for s in setup.surfaces:
        if (name := s.material or s.name) not in surfaces:
            made = FORMATS[engine](engine_contact(found, s, mass))
            surfaces[name] = replace(made, limits=made.limits + _departures(s))
    replayed = _replay(found, setup, folder, surfaces)
    return Export(engine, surfaces, replayed, found.residuals["force_rms"])


def engine_contact(found: Identification, surface: Surface, mass: float) -> EngineContact:
    """What was identified of one surface, as engines have it."""
    name = surface.material or surface.name
    if not (found.parameters[f"{name}.k"].value or 0.0) > 0:
        raise InputError(
            f"`{name}.k` must be positive to be exported, got {found.parameters[f'{name}.k'].value}"
        )
    column = found.surfaces.index(surface.name)
    x, rate, force = under_load(found.traces, [column], "depth", "depth_rate", "normal_force")

    def best(damper: np.ndarray) -> tuple[float, float]:
        k, b = solve(np.stack([x, damper], axis=1), force, positive=np.ones(2, dtype=bool)).x
        return float(k), float(b)

    k, kd = best(x * rate)
    mu, static = (_value(found, f"{name}.{letter}") for letter in ("mu", "mu_s"))
    return EngineContact(
        linear=best(rate),
        hunt_crossley=(k, kd / k),
        mu=mu,
        mu_static=max(mu, static),
        speed=max(float(rate.max()), _SLOWEST),
        mass=mass,
    )


def _departures(surface: Surface) -> tuple[str, ...]:
    """What of the identified law no engine has."""
    limits = []
    if "mu" in surface.wanted and surface.friction_of == "spring":
        limits.append(
            "friction was identified as a part of the spring's force alone (ma 6); engines take it"
            " of the whole normal force"
        )
    if surface.exponent != 1 or "lambda" in surface.wanted:
        limits.append("the exponent was not 1: the engine's law fits the force over this log only")
    if "k_f" in surface.wanted or "mu_s" in surface.wanted:
        limits.append("the bristle's stiffness has no place in the engine's friction")
    return tuple(limits)


def _value(found: Identification, name: str) -> float:
    return (found.parameters[name].value or 0.0) if name in found.parameters else 0.0


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


def _drake(contact: EngineContact) -> ExportedSurface:
    made = to_drake(_compliant(contact))
    k, d = contact.hunt_crossley
    return _exported(made, {"k": k, "alpha": d / 1.5, "mu": contact.mu})


def _mujoco(contact: EngineContact) -> ExportedSurface:
    k, c = contact.linear
    omega = sqrt(k / contact.mass)
    oscillator = Oscillator(omega, c / (2 * contact.mass * omega))
    made = linear_to_mujoco(oscillator, mass=contact.mass, mu=contact.mu)
    return _exported(made, {"k": k, "c": c, "mu": contact.mu})


def _exported(made: Translation, law: dict[str, float]) -> ExportedSurface:
    return ExportedSurface(dict(made.parameters), made.limits, made.snippet, law)


def _urdf(contact: EngineContact) -> ExportedSurface:
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


def _json(contact: EngineContact) -> ExportedSurface:
    """Plain numbers, for an engine that is not listed."""
    (k, c), (k_hc, d) = contact.linear, contact.hunt_crossley
    parameters = {
        "linear": {"stiffness": k, "damping": c},
        "hunt_crossley": {"stiffness": k_hc, "dissipation": d},
        "mu_static": contact.mu_static,
        "mu_dynamic": contact.mu,
    }
    return ExportedSurface(parameters, (), "", {"k": k, "c": c, "mu": contact.mu})


FORMATS: dict[str, Callable[[EngineContact], ExportedSurface]] = {
    "mujoco": _mujoco,
    "drake": _drake,
    "urdf": _urdf,
    "json": _json,
}


def _replay(
    found: Identification,
    setup: ContactSetup,
    folder: Path,
    exported: dict[str, ExportedSurface],
) -> float:
    """Force residual [N] of the log with other laws, along the fitted motion."""
    surfaces, values = [], {n: _value(found, n) for n in found.parameters if n[:5] == "bias."}
    for s in setup.surfaces:
        name = s.material or s.name
        law = dict(exported[name].law)
        if "offset" in s.wanted:
            law["offset"] = _value(found, f"{name}.offset")
        values |= {f"{name}.{letter}": v for letter, v in law.items()}
        new = {"wanted": list(law), "exponent": 1.0, "friction_of": "normal"}
        surfaces.append(s.model_copy(update=new))
    model = build_model(setup.model_copy(update={"surfaces": surfaces}), folder)
    model = prune(model, [t.motion for t in found.traces])
    theta = model_values(model, values)
    residuals = [t.wrench - wrench_along(model, theta, t.motion) for t in found.traces]
    return rms_under_load(found.traces, residuals)[0]
