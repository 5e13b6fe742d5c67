"""A contact identified from rollouts in an engine's words, and the rollouts carried out there.

Engines are compliant. Where the identified law was rigid, the recording says nothing of stiffness
but that a contact is shorter than a frame: so it gets one that lasts a frame, with the restitution
that was identified at the speed of the first touches.
"""

from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from stiction._base.errors import InputError
from stiction.engines import Compliant, default_solver
from stiction.identify.exporting import Export, Replay
from stiction.identify.kinds.rollouts.engine import RolloutEngine
from stiction.identify.kinds.rollouts.errors import rollout_errors
from stiction.identify.kinds.rollouts.flight import approach_speed
from stiction.identify.kinds.rollouts.identify import RolloutProblem
from stiction.identify.kinds.rollouts.parameters import law_values, with_values
from stiction.identify.kinds.rollouts.setup import RolloutSetup
from stiction.identify.result import Identification
from stiction.interop import (
    FORMATS,
    GRAVITY,
    CompliantContact,
    EngineContact,
    ExportedSurface,
    Oscillator,
    from_oscillator,
    to_mujoco,
    to_oscillator,
)
from stiction.laws import HuntCrossley, LinearSpringDamper, RegularizedCoulomb
from stiction.mechanism import total_mass

_STEPS = 20  # of a fixed-step engine in a contact: its damping is adjusted to them
_LEAST_RESTITUTION = 0.01  # of a compliant contact, short of endless dissipation
_SLIP_SPEED = 1e-3  # m/s: from which friction is whole, as in Drake
_NAME = "contact"


def export_rollouts(
    found: Identification,
    setup: RolloutSetup,
    engine: str,
    *,
    mass: float | None = None,
    folder: Path = Path(),
) -> Export:
    """The identified contact in an engine's words, and the rollouts kept aside carried out there.

    Arguments are those of `stiction.identify.export`.
    """
    contact, limits = nearest_contact(found, mass)
    if engine == "mujoco":
        made = to_mujoco(contact, time_step=contact.duration / _STEPS)
        surface = ExportedSurface(dict(made.parameters), made.limits, made.snippet, {})
        surfaces, text = {_NAME: surface}, made.snippet + "\n"
    else:
        surfaces, text = FORMATS[engine]({_NAME: _as_engines_have_it(contact)})
    surface = replace(surfaces[_NAME], limits=surfaces[_NAME].limits + limits)
    replay = _replay(found, setup, engine, surface, folder)
    return Export(engine, {_NAME: surface}, text, replay)


def nearest_contact(
    found: Identification, mass: float | None
) -> tuple[CompliantContact, tuple[str, ...]]:
    """The compliant contact nearest to what was identified, and where it departs from that."""
    problem: RolloutProblem = found.fitted_to
    engine, rollouts = problem.engine, problem.rollouts
    values = jnp.asarray([p.value for p in found.parameters.values()])
    law = with_values(engine.law, list(engine.wanted), values)
    mass = mass or float(total_mass(engine.mechanism))
    speed = approach_speed(rollouts, engine.mechanism, engine.contacts, problem.start.touch)
    mu = float(law_values(law, ["mu"])[0])
    blank = CompliantContact(
        stiffness=1.0, dissipation=0.0, mass=mass, speed=speed, mu_static=mu, mu_dynamic=mu
    )
    if not isinstance(law, Compliant):
        e = max(float(law_values(law, ["restitution"])[0]), _LEAST_RESTITUTION)
        bouncing = blank.with_restitution(e)
        stiffness = (bouncing.duration * rollouts.rate) ** 2  # such that it lasts one frame
        return replace(bouncing, stiffness=stiffness), (
            "the identified contact was rigid: this one lasts a frame of the recording"
            f" ({1e3 / rollouts.rate:.3g} ms), which could not tell",
        )
    k = float(law_values(law, ["stiffness"])[0])
    if isinstance(law.normal, LinearSpringDamper):
        c = float(law_values(law, ["damping"])[0])
        omega = np.sqrt(k / mass)
        return from_oscillator(
            Oscillator(float(omega), c / (2 * mass * float(omega))), mass=mass, speed=speed, mu=mu
        ), ()
    if isinstance(law.normal, HuntCrossley):
        d, n = (float(np.mean(x)) for x in (law.normal.dissipation, law.normal.exponent))
        return replace(blank, stiffness=k, dissipation=d, exponent=n), ()
    raise InputError(
        "`--export` of rollouts knows contact.normal 'hunt-crossley' and 'spring-damper', got"
        f" '{type(law.normal).__name__}'; fit one of those"
    )


def _as_engines_have_it(contact: CompliantContact) -> EngineContact:
    flat, linear = contact.with_peak_depth(contact.peak_depth, 1.0), to_oscillator(contact)
    omega = linear.frequency
    return EngineContact(
        linear=(contact.mass * omega**2, 2 * contact.mass * linear.damping_ratio * omega),
        hunt_crossley=(flat.stiffness, flat.dissipation),
        mu=contact.mu_dynamic,
        mu_static=contact.mu_static,
        speed=contact.speed,
        slip=contact.speed,
        load=contact.mass * GRAVITY,
        mass=contact.mass,
    )


def _replay(found, setup, engine: str, surface, folder) -> Replay:
    """Errors of the rollouts kept aside, or of all where none is."""
    problem: RolloutProblem = found.fitted_to
    judged = "kept_aside" if problem.aside.any() else "fitted"
    which = problem.aside if problem.aside.any() else ~problem.aside
    rollouts, start = problem.rollouts.part(which), problem.start.part(which)
    mechanism, rows = problem.engine.mechanism, problem.rollouts.q.shape[1]
    if engine == "mujoco":
        from stiction.interop.rollout_mujoco import NAME, roll_out_in_mujoco
        from stiction.scenes import Scene

        by = NAME
        simulated = roll_out_in_mujoco(
            Scene(setup.scenario, folder).spec(),
            problem.engine.contacts,
            mechanism.tree.body_names,
            surface.parameters,
            start.q,
            start.v,
            rows=rows,
            rate=rollouts.rate,
        )
    else:
        by = f"stiction, with {engine}'s law"
        compliant = _with_law(problem.engine, surface.law)
        simulated = compliant.simulate(np.zeros(0), problem.lanes.part(which, rows))
    compared = rollouts.seen & np.isfinite(simulated).all(axis=-1)
    errors = rollout_errors(mechanism, simulated, rollouts.q, compared).summary()
    known = found.notes[f"errors_{judged}"]
    names = ("position_mean_m", "rotation_mean_deg")
    return Replay(by, {n: errors[n] for n in names}, {n: known[n] for n in names})


def _with_law(engine: RolloutEngine, law: dict[str, float]) -> RolloutEngine:
    """The engine with the exported law in it."""
    if "c" in law:
        normal = LinearSpringDamper(stiffness=law["k"], damping=law["c"])
    else:
        normal = HuntCrossley(stiffness=law["k"], dissipation=1.5 * law["alpha"])
    compliant = Compliant(normal, RegularizedCoulomb(mu=law["mu"], slip_speed=_SLIP_SPEED))
    return replace(engine, law=compliant, solver=default_solver(compliant), wanted=(), up=None)
