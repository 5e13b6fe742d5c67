"""One block of runs of a scene: cases of one shape in one call of the engine.

`run_block` is the seam between studies and the engines. What may differ within one call is the
start, the duration and the numbers of the law; cases that differ in more are run one by one. Each
lane of a call is computed on its own, so that a case comes out the same to the bit in any company.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.engines import RESULTS, Hybrid, Trajectory, simulate
from stiction.engines.simulation import DEVICES
from stiction.scenes import Scene, law_of
from stiction.studies.subject import in_words
from stiction.surfaces import WorldContacts, find_penetrations

# Fields of which each lane of a call may have its own number.
_OF_LAW = (
    "restitution", "mu_static", "mu_dynamic", "rest_speed", "stribeck_speed", "stribeck_exponent",
    "energetic",
)  # fmt: skip
LANES = ("start.q", "start.v", "until", *(f"contact.{name}" for name in _OF_LAW))
_EVENTS = 128  # that a lane has room for at first; more are rarely needed, and room takes time
_MEMORY = {"cpu": 64e6, "gpu": 4e9}  # bytes of events and samples in one call
_MOST_LANES = {"cpu": 4096, "gpu": 2**17}
_LOOKS = 51  # samples of a run that are looked over where pairs may touch that are not treated
_USED_UP = str(RESULTS[RESULTS.events_used_up])


@dataclass(frozen=True)
class Runs:
    """Runs of one call.

    Attributes:
        trajectory: With an axis of lanes, as NumPy arrays.
        lanes: The number, in the block, of the case of each lane.
    """

    trajectory: Trajectory
    lanes: list[int]


def run_block(
    scene: Scene, changes: Sequence[Mapping[str, Any]], *, samples: int = 2, device: str = "cpu"
) -> tuple[list[Runs], list[str]]:
    """Run a scene with changes, one set for each case.

    Args:
        scene: What all cases have in common.
        changes: Fields that differ, by path; the same paths in every case.
        samples: Kept states of each run.
        device: Where calls go, one of `DEVICES`.

    Returns:
        The runs, and of every case why it failed, empty if it did not. A case that could not even
        begin has no lane.
    """
    messages = [""] * len(changes)
    cases: dict[int, Scene] = {}
    for i, change in enumerate(changes):
        try:
            cases[i] = scene.change(change)
        except InputError as error:
            messages[i] = str(error)
    paths = {path for change in changes for path in change}
    together = paths <= set(LANES) and _is_plain(scene)
    size = _lanes_in_a_call(scene, samples, device) if together else 1
    runs, numbers = [], list(cases)
    for k in range(0, len(numbers), size):
        chosen = {i: cases[i] for i in numbers[k : k + size]}
        runs += _run(scene, chosen, messages, samples, device if together else "")
    return runs, messages


def require_device(device: str, scene: Scene, varied: Collection[str]) -> None:
    """Refuse a device that is not there, or cases that it cannot run many at once."""
    if device not in DEVICES:
        raise unknown("`--device`", device, DEVICES)
    if device == "cpu":
        return
    import warp

    if not warp.is_cuda_available():
        raise InputError(
            "`--device` gpu needs an NVIDIA GPU, and this machine shows none; leave it out to use"
            " the processors"
        )
    if other := sorted(set(varied) - set(LANES)):
        raise InputError(
            f"`{other[0]}` makes every case another program, which `--device` gpu does not run;"
            f" vary {', '.join(LANES[:5])}, … or leave --device out"
        )
    if not _is_plain(scene):
        raise InputError("`--device` gpu runs rigid contacts without `jump` and `track` alone")


def _is_plain(scene: Scene) -> bool:
    """Whether runs of a scene differ by numbers that a call takes."""
    s = scene.scenario
    known = not isinstance(scene.contacts, WorldContacts)
    return known and isinstance(scene.law, Hybrid) and s.jump is None and s.track is None


def _run(
    scene: Scene, cases: dict[int, Scene], messages: list[str], samples: int, device: str
) -> list[Runs]:
    """Runs in one call on a device; where one cannot be done, in two, until it is known which.
    Without a device there is one case, and it is run alone.
    """
    most, together = scene.scenario.contact.max_events, bool(device)
    try:
        if together:
            found = _call(scene, list(cases.values()), samples, min(_EVENTS, most), device)
        else:
            (case,) = cases.values()
            run = case.simulate(case.scenario.until, _samples(case, samples))
            found = jax.tree.map(lambda x: jnp.asarray(x)[None], run)
    except Exception as error:  # whatever it is, it must not end the study
        if len(cases) == 1:
            messages[next(iter(cases))] = in_words(error)
            return []
        numbers = list(cases)
        half = len(numbers) // 2
        parts = ({i: cases[i] for i in some} for some in (numbers[:half], numbers[half:]))
        return [r for p in parts for r in _run(scene, p, messages, samples, device)]
    looked = scene if together else next(iter(cases.values()))
    runs = [_looked_over(found, looked, list(cases), messages, samples)]
    short = [i for i in cases if messages[i] == _USED_UP]
    if together and short and most > _EVENTS:  # they come last, and replace what was cut short
        again = _call(scene, [cases[i] for i in short], samples, most, device)
        runs.append(_looked_over(again, looked, short, messages, samples))
    return runs


def _call(scene: Scene, cases: Sequence[Scene], samples: int, room: int, device: str) -> Trajectory:
    """Cases of one shape in one call, with room for so many events each."""
    q, v = (np.array(x) for x in zip(*(_state(scene, case) for case in cases), strict=True))
    return simulate(
        scene.mechanism,
        q,
        v,
        until=jnp.asarray([case.scenario.until for case in cases]),
        contacts=scene.contacts,
        law=_law(scene, cases),
        control=scene.control,
        samples=_samples(scene, samples),
        solver=scene.solver,
        max_events=room,
        device=device,
        throw=False,
    )


def _law(scene: Scene, cases: Sequence[Scene]) -> Hybrid:
    """The law with a number for each lane (and, where they differ, each contact)."""
    assert scene.contacts is not None
    first = law_of(cases[0].scenario, scene.contacts)
    assert isinstance(first, Hybrid)
    values = {}
    for name in _OF_LAW:
        given = [getattr(case.scenario.contact, name) for case in cases]
        if all(isinstance(x, int | float) for x in given):
            numbers = np.array(given, float)
            values[name] = jnp.asarray(numbers if name == "energetic" else numbers[:, None])
        else:  # by contact, or "off": the same in all cases
            same = np.asarray(getattr(first, name), float)
            values[name] = jnp.asarray(np.broadcast_to(same, (len(cases), *same.shape)))
    return replace(first, **values)


def _state(scene: Scene, case: Scene) -> tuple[Any, Any]:
    """The start of a case; what it has in common with the scene is computed once."""
    start, ours = case.scenario.start, scene.scenario.start
    known = []
    for name, size in (("q", scene.mechanism.nq), ("v", scene.mechanism.nv)):
        entries = getattr(start, name)
        if entries == getattr(ours, name):
            known.append(getattr(scene, name))
        elif isinstance(entries, list) and len(entries) == size:
            known.append(np.array(entries, float))
    plain = (start.resolve, start.keyframe) == (ours.resolve, ours.keyframe)
    if len(known) == 2 and plain and (not start.resolve or start == ours):
        return known[0], known[1]
    return np.asarray(case.q), np.asarray(case.v)


def _samples(scene: Scene, wanted: int) -> int:
    """How many samples to take: more than the ends where something may penetrate."""
    return _LOOKS if wanted == 2 and _is_looked_over(scene) else wanted


def _is_looked_over(scene: Scene) -> bool:
    """Whether samples may penetrate: pairs are not treated, or are followed as far as they can."""
    found = isinstance(scene.contacts, WorldContacts)
    return found or any(not p.treated for p in scene.touching)


def _lanes_in_a_call(scene: Scene, samples: int, device: str) -> int:
    m, contacts = scene.mechanism, scene.contacts
    n = 0 if contacts is None else contacts.count
    event = 12 + 21 * n + m.nq + 2 * m.nv
    sample = m.nq + m.nv + 7 + m.nu + 4 * n
    room = _EVENTS * event + _samples(scene, samples) * sample
    return int(np.clip(_MEMORY[device] / (8 * room), 1, _MOST_LANES[device]))


def _looked_over(
    trajectory: Trajectory, scene: Scene, lanes: list[int], messages: list[str], samples: int
) -> Runs:
    """Runs, and the message of every lane that did not end well or in which bodies penetrate."""
    t = trajectory.to_numpy()
    well = np.asarray(t.result == RESULTS.successful)
    allowed = scene.depths_allowed
    for k, i in enumerate(lanes):
        messages[i] = ""
        if not well[k]:
            messages[i] = str(RESULTS[jax.tree.map(lambda x, k=k: np.asarray(x[k]), t.result)])
        elif _is_looked_over(scene):
            path = (np.asarray(t.time[k]), np.asarray(t.q[k]))
            looked = (scene.mechanism, scene.touching, scene.ground)
            if deep := find_penetrations(*looked, *path, allowed):
                messages[i] = f"Bodies went through each other. {deep[0]}."
    return Runs(_ends(trajectory).to_numpy() if samples == 2 else t, lanes)


def _ends(trajectory: Trajectory) -> Trajectory:
    """Only the first and the last of the samples."""
    if trajectory.time.shape[1] == 2:
        return trajectory
    ends = np.array([0, -1])
    sampled = {
        name: getattr(trajectory, name)[:, ends]
        for name in (
            "time", "q", "v", "kinetic", "potential", "actuator_work", "damping_loss",
            "friction_loss", "impact_loss", "support_work", "effort", "force", "modes",
        )
    }  # fmt: skip
    residual, compliance = trajectory.residual, trajectory.compliance
    return replace(
        trajectory,
        **sampled,
        residual=None if residual is None else residual[:, ends],
        compliance=jax.tree.map(lambda x: x[:, ends], compliance),
    )
