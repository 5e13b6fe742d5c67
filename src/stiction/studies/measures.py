"""What is kept of a run: its ends, a summary in numbers, its events, its whole trajectory."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from stiction._base.errors import unknown
from stiction.engines import Trajectory, rest_time
from stiction.engines.result import MODE_FLAGS
from stiction.scenes import Scene
from stiction.studies.store import Schema, Variable
from stiction.surfaces import WorldContacts

KEEPS = ("ends", "summary", "events", "trajectories")
MOST_EVENTS = 100  # of a case that are kept; `n_events` counts them all
KINDS = (
    "impact", "zeno", "jam", "touch", "lift-off", "stick", "slip", "reversal", "ambiguous",
    "overlap", "rest", "switch",
)  # fmt: skip
_LEDGER = {
    "actuator_work": "work of the actuators",
    "damping_loss": "energy lost in joint dampers",
    "friction_loss": "energy lost in sliding contacts",
    "impact_loss": "energy lost in impacts",
    "support_work": "work of moving supports",
}


def parse_keep(text: str) -> tuple[str, ...]:
    """What to keep, from words with commas between them."""
    words = tuple(word.strip() for word in text.split(","))
    for word in words:
        if word not in KEEPS:
            raise unknown("`--keep`", word, KEEPS)
    return words


def schema_of(scene: Scene, keep: Sequence[str]) -> Schema:
    """The variables that are kept of every run of a scene."""
    m, contacts = scene.mechanism, scene.contacts
    names = () if contacts is None else contacts.names
    labels: dict[str, Sequence[Any]] = {
        "coordinate": list(m.tree.coordinate_names),
        "freedom": list(m.tree.freedom_names),
    }
    own = {dim: len(values) for dim, values in labels.items()} | {"contact": len(names)}
    if names:
        labels["contact"] = list(names)

    def variable(what: str, unit: str, *dims: str, dtype: str = "float64") -> Variable:
        about = {"long_name": what, "units": unit}
        return Variable(dims, tuple(own[d] for d in dims), dtype, about)

    kept = {
        "final_q": variable("configuration at the end", "m or rad", "coordinate"),
        "final_v": variable("velocity at the end", "m/s or rad/s", "freedom"),
        "t_end": variable("how far the run came", "s"),
        "at_rest": variable("whether everything came to rest", "1", dtype="bool"),
    }
    if names:
        mode = {**MODE_FLAGS, "long_name": "mode at the end"}
        kept["final_mode"] = Variable(("contact",), (len(names),), "int8", mode)
    if set(keep) != {"ends"}:
        kept |= {
            "rest_time": variable("when everything came to rest", "s"),
            "n_events": variable("events", "1", dtype="int32"),
            "n_impacts": variable("events that were impacts", "1", dtype="int32"),
            "energy_initial": variable("energy at the start", "J"),
            "energy_final": variable("energy at the end", "J"),
            **{name: variable(what, "J") for name, what in _LEDGER.items()},
            "ledger_error": variable("energy unaccounted for", "J"),
            "steps": variable("steps, rejected ones too", "1", dtype="int32"),
        }
    if "events" in keep:
        own["event"] = MOST_EVENTS
        flags = {"flag_values": list(range(len(KINDS))), "flag_meanings": " ".join(KINDS)}
        kept |= {
            "event_time": variable("time of an event", "s", "event"),
            "event_kind": Variable(("event",), (MOST_EVENTS,), "int8", flags),
            "event_contact": variable("number of its contact", "1", "event", dtype="int16"),
            "event_kinetic_before": variable("kinetic energy before", "J", "event"),
            "event_kinetic_after": variable("kinetic energy after", "J", "event"),
        }
    if "trajectories" in keep:
        own["instant"] = scene.scenario.samples
        kept |= {
            "time": variable("time", "s", "instant"),
            "q": variable("configuration", "m or rad", "instant", "coordinate"),
            "v": variable("velocity", "m/s or rad/s", "instant", "freedom"),
            "energy": variable("kinetic and potential energy", "J", "instant"),
        }
    return Schema(kept, labels)


def measure(trajectory: Trajectory, keep: Sequence[str]) -> dict[str, np.ndarray]:
    """What is kept of runs in lanes, each with a leading axis of lanes."""
    t: Any = trajectory  # of NumPy arrays
    good = np.isfinite(t.q).all(axis=2) & np.isfinite(t.kinetic)
    last = np.maximum(good.shape[1] - 1 - np.argmax(good[:, ::-1], axis=1), 0)
    lanes = np.arange(len(last))
    runs = [jax.tree.map(lambda x, k=k: x[k], t) for k in lanes]
    rested = np.array([np.nan if (r := rest_time(run)) is None else r for run in runs], float)
    found: dict[str, np.ndarray] = {
        "final_q": t.q[lanes, last],
        "final_v": t.v[lanes, last],
        "t_end": t.time[lanes, last],
        "at_rest": np.isfinite(rested),
    }
    if t.modes.shape[-1] and not isinstance(t.contacts, WorldContacts):
        found["final_mode"] = t.modes[lanes, last]
    if set(keep) != {"ends"}:
        energy = np.asarray(t.energy)
        impacts = np.zeros(len(lanes), int)
        if t.log is not None:
            happened = np.arange(t.log.impact.shape[1]) < np.asarray(t.n_events)[:, None]
            impacts = (t.log.impact & happened).sum(axis=1)
        found |= {
            "rest_time": rested,
            "n_events": np.asarray(t.n_events),
            "n_impacts": impacts,
            "energy_initial": energy[:, 0] + np.asarray(t.impact_loss)[:, 0],
            "energy_final": energy[lanes, last],
            **{name: np.asarray(getattr(t, name))[lanes, last] for name in _LEDGER},
            "ledger_error": _largest(np.abs(np.asarray(t.ledger_error)), good),
            "steps": np.asarray(t.steps),
        }
    if "events" in keep:
        found |= _events(runs)
    if "trajectories" in keep:
        found |= {"time": t.time, "q": t.q, "v": t.v, "energy": np.asarray(t.energy)}
    return found


def _largest(values: np.ndarray, good: np.ndarray) -> np.ndarray:
    return np.where(good, values, 0.0).max(axis=1)


def _events(runs: Sequence[Trajectory]) -> dict[str, np.ndarray]:
    shape = (len(runs), MOST_EVENTS)
    time, before, after = (np.full(shape, np.nan) for _ in range(3))
    kind, contact = np.full(shape, -1, np.int8), np.full(shape, -1, np.int16)
    for i, run in enumerate(runs):
        # Contacts that are found on the way have no number that is the same in all cases.
        found = isinstance(run.contacts, WorldContacts)
        names = {} if found else {name: k for k, name in enumerate(run.contact_names)}
        for j, event in enumerate(run.events()[:MOST_EVENTS]):
            time[i, j], kind[i, j] = event.time, KINDS.index(event.kind)
            contact[i, j] = names.get(event.contact, -1)
            before[i, j], after[i, j] = event.kinetic_before, event.kinetic_after
    return {
        "event_time": time,
        "event_kind": kind,
        "event_contact": contact,
        "event_kinetic_before": before,
        "event_kinetic_after": after,
    }
