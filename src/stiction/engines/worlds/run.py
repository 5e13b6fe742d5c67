"""Runs of worlds: MuJoCo's model, the laws of contact, and what came of them."""

import functools
from dataclasses import replace
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stiction._base.errors import InputError
from stiction.control import HarmonicControl, PhasedControl
from stiction.control.switching import plain_of
from stiction.engines.blueprint import ENERGY_METHODS, IMPACTS, Run
from stiction.engines.compliant import Compliant
from stiction.engines.given import Extent, Given
from stiction.engines.hybrid import Hybrid
from stiction.engines.outside import go_with_control
from stiction.engines.result import RESULTS, Trajectory
from stiction.engines.room import MOST_ROWS_AT_ONCE, require_few_steps, require_memory
from stiction.engines.stepping import Stepping
from stiction.engines.tableaus import stages_of
from stiction.engines.tolerances import INSIDE
from stiction.engines.watching import glances
from stiction.engines.worlds.found import SlotCount, told
from stiction.engines.worlds.laws import give_laws, law_table
from stiction.engines.worlds.machine import Extras, WorldDesign, make_design
from stiction.engines.worlds.model import model_of
from stiction.engines.worlds.soft import give_soft_laws
from stiction.engines.worlds.start import widen_limits
from stiction.laws import require_friction_pair
from stiction.mechanism import Mechanism
from stiction.surfaces import WorldContacts, still_planes

_HYBRID = (
    "restitution", "mu_static", "mu_dynamic", "rest_speed", "stribeck_speed", "stribeck_exponent",
)  # fmt: skip
_MOST_ROOM = MOST_ROWS_AT_ONCE // 3
_SIDES = 8  # of the pyramids that some laws of impacts have instead of cones


def require_world_law(law: Any) -> None:
    """Refuse laws that worlds do not have."""
    if not isinstance(law, Hybrid | Stepping | Compliant):
        raise InputError(
            "`law` must be Hybrid, Stepping or Compliant where contacts are found on the way, got"
            f" {type(law).__name__}"
        )
    if isinstance(law, Stepping) and law.solver != "newton":
        raise InputError(
            f"`contact.solver` must be newton where contacts are found on the way, got {law.solver}"
        )


def carry_out_worlds(given: Given, extent: Extent) -> Trajectory:
    """One run, or the runs of a batch, one after the other."""
    batch = given.until.shape
    if batch == ():
        return _carry_out(given, extent)
    raise InputError(
        "a batch cannot find its contacts on the way; call `simulate` for each state, or use"
        " `stiction.study`"
    )


class Prepared(NamedTuple):
    """A run of a world that has not begun, with what it was made of."""

    run: Run
    kernel: Any
    world: WorldDesign
    model: mujoco.MjModel
    data: mujoco.MjData  # which the machine writes to: it must live as long
    outside: bool  # whether its commands come from a Python function


def _carry_out(given: Given, extent: Extent) -> Trajectory:
    """A run; once more with twice the room, where more is near than the room that it had."""
    while True:
        made = prepare(given, extent)
        try:
            go(made, given, extent)
        finally:
            made.run.let_go()
        done = _so_far(made, given, extent, made.run)
        room = given.contacts.room
        if not bool(done.result == RESULTS.too_many_contacts) or room >= _MOST_ROOM:
            return done
        given = given._replace(contacts=replace(given.contacts, room=min(2 * room, _MOST_ROOM)))


def _so_far(made: Prepared, given: Given, extent: Extent, run: Run) -> Trajectory:
    """What a run has of its motion."""
    from stiction.engines.by_core import trajectory_of

    slots = SlotCount(run.design.machine.pairs.count)
    done = trajectory_of(run, slots, extent, (), isinstance(given.law, Stepping))
    return told(done, run, made.world, made.model, given.mechanism, given.contacts)


def go(made: Prepared, given: Given, extent: Extent) -> None:
    """Carry a world to its end."""
    so_far = functools.partial(_so_far, made, given, extent)
    if made.outside:
        go_with_control(made.run, made.kernel, given.control, so_far)
    else:
        made.run.go(made.kernel, between=glances(made.run, so_far))


def prepare(given: Given, extent: Extent, *, any_impact: bool = False) -> Prepared:
    """A world at its start, and all that it needs to go on; with room for any law of impacts if
    that is asked for.
    """
    from stiction.engines.by_core import step_by

    contacts: WorldContacts = given.contacts
    mechanism, law = given.mechanism, given.law
    commands = plain_of(given.control)
    outside = not isinstance(commands, HarmonicControl | PhasedControl)
    model = model_of(mechanism, contacts)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = np.asarray(given.q), np.asarray(given.v)
    widen_limits(model, data)
    extras = Extras(
        control=None if outside else commands,
        guards=_n_guards(given) if outside else 0,
        mechanism=mechanism,
        contacts=contacts.points,
        planes=contacts.planes,
        plane_geoms=tuple(int(g) for g in still_planes(mechanism)),
    )
    soft, method = isinstance(law, Compliant), given.solver.method
    if soft and method == "kvaerno5":
        raise InputError(
            "`solver.method` must be explicit where compliant contacts are found on the way, got"
            " kvaerno5; leave it out"
        )
    stages = stages_of(method, False)
    flat = any_impact or _is_flat(law)
    world = make_design(
        model,
        data,
        room=contacts.room,
        stages=stages,
        unknowns=_SIDES + 2 if flat else 0,
        soft=soft,
        extras=extras,
    )
    design = world.blueprint
    events = extent.max_events if extent.events else 0
    places = design.machine.pairs.count * design.core.layout.PLACE_NUMBERS
    sizes = (
        extent.samples * (design.sample_size + places),
        events * (design.event_size + places),
    )
    require_memory(1, design.numbers.size, *sizes, design.machine.pairs.count)
    run = Run(design, 1, np.array([float(given.until)]), extent.samples, events)
    run.options.max_events, run.options.max_steps = extent.max_events, given.solver.max_steps
    run.options.compliant = int(soft)
    if not soft:
        run.options.deepest = INSIDE.double
    run.record_places()
    fixed = isinstance(law, Stepping)
    kernel = design.core.kernel("stepping" if fixed else "machine")
    if isinstance(law, Stepping):
        require_few_steps(float(given.until), float(np.asarray(law.dt)))
        step_by(run, law, extent.samples)
    else:
        if soft and method == "auto":
            method = "tsit5"
        rtol, atol = float(given.solver.rtol), float(given.solver.atol)
        run.integrate(method, rtol, atol, stiff=not soft)
    if isinstance(law, Compliant):
        give_soft_laws(run, law, contacts, model, mechanism)
    else:
        if isinstance(law, Hybrid):
            _collide_by(run, law)
        _rub_by(run, law, contacts, mechanism)
    _start(run, data, fixed)
    return Prepared(run, kernel, world, model, data, outside)


def _is_flat(law: Any) -> bool:
    """Whether collisions are linear complementarity problems, which need room."""
    return isinstance(law, Hybrid) and law.impact.startswith("lcp") and "cone" not in law.impact


def _n_guards(given: Given) -> int:
    from stiction.engines.by_core import n_guards

    return n_guards(given.control, given.mechanism, given.contacts.room)


def _collide_by(run: Run, law: Hybrid) -> None:
    """What collisions do."""
    o, a = run.options, run.design.arrays
    o.impact, o.energy_method = IMPACTS.index(law.impact), ENERGY_METHODS.index(law.energy_method)
    o.energetic = a.real(np.ravel(np.asarray(law.energetic)))
    o.sequence, o.sides = int(law.sequence), _SIDES


def _rub_by(
    run: Run, law: Hybrid | Stepping, contacts: WorldContacts, mechanism: Mechanism
) -> None:
    """The numbers of the law; fixed steps know no Stribeck effect."""
    numbers = [np.asarray(getattr(law, name, 1.0), float) for name in _HYBRID]
    usual = [float(np.ravel(x)[0]) for x in numbers]
    count = 0 if contacts.points is None else contacts.points.count
    for name, value in zip(_HYBRID, numbers, strict=True):
        if value.shape not in ((), (count,)):
            raise InputError(
                f"`contact.{name}` must be one number where contacts are found on the way, got"
                f" shape {value.shape}; say what differs by geom in `contacts.numbers`"
            )
    require_friction_pair(law.mu_static, law.mu_dynamic)
    points = np.stack([np.broadcast_to(x, (count,)) for x in numbers], axis=-1)
    by_geom: dict[int, dict[int, float]] = {}
    for name, field, value in contacts.numbers:
        geom = mechanism.shapes.names.index(name)
        by_geom.setdefault(geom, {})[_HYBRID.index(field)] = value
    run.law = law_table(run.design, usual, points)
    give_laws(run.design, usual, by_geom, own_friction=contacts.own_friction)


def _start(run: Run, data: mujoco.MjData, fixed: bool) -> None:
    """Every world at its start; it looks around first."""
    M = run.design.machine
    run.start(data.qpos[None].copy(), data.qvel[None].copy())
    x, k = run.x.numpy()[0], run.k.numpy()[0]
    if M.shapes.count and not fixed:
        k[M.z.phase], k[M.z.anew] = run.design.core.layout.LOOK, 1
        x[M.z.looked] = -1.0
    if M.outer.na:
        end = M.z.y + M.z.n
        x[end - M.outer.na : end] = data.act
