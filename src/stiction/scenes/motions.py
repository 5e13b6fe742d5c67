"""All possible motions at a state of a scenario."""

from dataclasses import dataclass
from pathlib import Path

import jax.numpy as jnp

from stiction._arrays import Array
from stiction._errors import InputError
from stiction.engines import PhasedControl, simulate
from stiction.mechanism import Mechanism
from stiction.motions import Motions, motions_of_mechanism
from stiction.scenes.contact import build_contacts, hybrid_law
from stiction.scenes.run import build_control, build_mechanism, build_solver, initial_state
from stiction.scenes.scenario import Scenario
from stiction.surfaces import Contacts


@dataclass(frozen=True)
class SceneState:
    """A state of a scenario, and the motions that it allows."""

    title: str
    time: float
    mechanism: Mechanism
    contacts: Contacts
    q: Array
    v: Array
    answer: Motions

    @property
    def names(self) -> tuple[str, ...]:
        """Of the contacts."""
        return self.contacts.names


def motions_at(scenario: Scenario, folder: Path, time: float) -> SceneState:
    """Simulate a scenario up to a time, and find every motion that its state allows there.

    Args:
        scenario: What happens.
        folder: Its files are relative to it.
        time: When to stop [s]; events at that instant have happened. At 0 the initial state is
            taken as it is.
    """
    if not time >= 0:
        raise InputError(f"`--at` must be at least 0 [s], got {time:g}")
    mechanism = build_mechanism(scenario, folder)
    q, v = initial_state(scenario, mechanism)
    contacts = build_contacts(scenario, mechanism, folder)
    if contacts is None:
        raise InputError("nothing in this scene can touch: every state allows one motion")
    law = hybrid_law(scenario.contact, contacts)
    control = build_control(scenario, mechanism)
    if isinstance(control, PhasedControl):
        raise InputError(
            "`control` must not have phases here: what they command depends on what was before"
        )
    if time > 0:
        end = simulate(
            mechanism,
            q,
            v,
            until=time,
            contacts=contacts,
            law=law,
            control=control,
            samples=2,
            solver=build_solver(scenario.solver, law),
            max_events=scenario.contact.max_events,
        )
        q, v = end.q[-1], end.v[-1]
    answer = motions_of_mechanism(
        mechanism,
        contacts,
        q,
        v,
        time=time,
        command=control(jnp.asarray(time), q, v, jnp.zeros(contacts.count, int)),
        mu_static=law.mu_static,
        mu_dynamic=law.mu_dynamic,
    )
    return SceneState(scenario.title, time, mechanism, contacts, q, v, answer)
