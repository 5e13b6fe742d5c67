"""An identification in an engine's words, and the log replayed there.

What the translation costs is told by a replay: the wrench along the fitted motion, compared with
the measured one. The engine itself does it where it can be asked for the force of a given motion:
MuJoCo always, Drake where it is installed. Else stiction does it with the engine's law.

The engine's numbers are those of its law that give the identified forces best over the samples of
the log, in least squares: the identified ones themselves where the laws are the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.identify.exporting.replay import replay
from stiction.identify.fit.least_squares import solve
from stiction.identify.kinds.contact_setup import ContactSetup, Surface
from stiction.identify.result import Identification, rms_under_load, under_load
from stiction.interop import FORMATS, EngineContact, ExportedSurface

_SLOWEST = 1e-6  # m/s: a speed of approach must be positive
_WORDS = {
    "force_rms": "force {:.4g} N rms",
    "moment_rms": "moment {:.4g} N·m rms",
    "position_mean_m": "mean error {:.4g} m",
    "rotation_mean_deg": "{:.3g}°",
    "torque_rms": "torque {:.4g} rms",
}


@dataclass(frozen=True)
class Replay:
    """What is left of the log when it is replayed with the exported numbers."""

    by: str  # who replayed it
    residuals: Mapping[str, float]  # with the exported numbers, by name
    identified: Mapping[str, float]  # with the identified ones

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        known = {f"identified_{n}": v for n, v in self.identified.items()}
        return {"by": self.by, **self.residuals, **known}

    def __str__(self) -> str:
        parts = [
            f"{_WORDS[n].format(v)} (identified: {self.identified[n]:.4g})"
            for n, v in self.residuals.items()
        ]
        return f"Log replayed by {self.by}: {', '.join(parts)}"


@dataclass(frozen=True)
class Export:
    """An identification in an engine's words."""

    engine: str  # its name
    surfaces: Mapping[str, ExportedSurface]  # by name (of the material, where surfaces share one)
    text: str  # what to paste, for all surfaces
    replay: Replay  # the log with the engine's contact
    missing: tuple[str, ...] = ()  # what the engine cannot express at all

    @property
    def limits(self) -> list[str]:
        """What the engine cannot express, each once; with its surface's name if not of all."""
        own = [set(s.limits) for s in self.surfaces.values()]
        common = set.intersection(*own) if own else set()
        lines = [
            line if line in common else f"{name}: {line}"
            for name, s in self.surfaces.items()
            for line in s.limits
        ]
        return list(dict.fromkeys([*self.missing, *lines]))

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "engine": self.engine,
            "text": self.text,
            "surfaces": {
                n: {"parameters": s.parameters, "limits": s.limits, "snippet": s.snippet}
                for n, s in self.surfaces.items()
            },
            "replay": self.replay.to_json(),
        }


def export_contact(
    found: Identification,
    setup: ContactSetup,
    engine: str,
    *,
    mass: float | None = None,
    folder: Path = Path(),
) -> Export:
    """All identified surfaces in an engine's words, and the log replayed there.

    Arguments are those of `stiction.identify.export`.
    """
    if mass is None:
        mass = setup.inertia.mass if setup.inertia else 1.0
    by_name: dict[str, Surface] = {}
    for s in setup.surfaces:
        by_name.setdefault(s.material or s.name, s)
    contacts = {n: engine_contact(found, s, mass) for n, s in by_name.items()}
    surfaces, text = FORMATS[engine](contacts)
    surfaces = {
        n: replace(made, limits=made.limits + _departures(by_name[n]))
        for n, made in surfaces.items()
    }
    by, wrenches = replay(found, setup, folder, engine, surfaces, mass)
    residuals = [t.wrench - w for t, w in zip(found.traces, wrenches, strict=True)]
    force, moment = rms_under_load(found.traces, residuals)
    left = {"force_rms": force, "moment_rms": moment}
    known = {n: found.residuals[n] for n in left}
    return Export(engine, surfaces, text, Replay(by, left, known))


def engine_contact(found: Identification, surface: Surface, mass: float) -> EngineContact:
    """What was identified of one surface, as engines have it."""
    name = surface.material or surface.name
    if not found.value_of(f"{name}.k") > 0:
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
    mu, static = (found.value_of(f"{name}.{letter}") for letter in ("mu", "mu_s"))
    if surface.friction_of == "spring":
        exponent = found.value_of(f"{name}.lambda") or surface.exponent
        spring = found.value_of(f"{name}.k") * np.maximum(x, 0.0) ** exponent
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


def check_engine(engine: str, mass: float | None) -> None:
    """Refuse an engine that is not known, and a mass that is none."""
    if engine not in FORMATS:
        raise unknown("engine to export to", engine, FORMATS)
    if mass is not None and not mass > 0:
        raise InputError(f"`mass` must be positive [kg], got {mass:g}")


def _departures(surface: Surface) -> tuple[str, ...]:
    """What of the identified law no engine has."""
    limits = []
    if "mu" in surface.wanted and surface.friction_of == "spring":
        limits.append(
            "friction was identified as a part of the spring's force alone (ma 6); engines take it"
            " of the whole normal force, with the coefficient that is best over this log"
        )
    if surface.exponent != 1 or "lambda" in surface.wanted:
        limits.append("the exponent was not 1: the engine's law fits the force over this log only")
    if "k_f" in surface.wanted or "mu_s" in surface.wanted:
        limits.append("the bristle's stiffness has no place in the engine's friction")
    return tuple(limits)
