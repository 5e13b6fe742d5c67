"""Runs by the machine of `core`: from a mechanism, a law and a start to a trajectory."""

import functools
from typing import Any

import jax
import numpy as np

from stiction._base.errors import InputError
from stiction.control import AbstractSwitchingControl, HarmonicControl, PhasedControl, PushOff
from stiction.control.switching import plain_of
from stiction.engines.assemble import design_of, stands_on
from stiction.engines.blueprint import ENERGY_METHODS, IMPACTS, Run
from stiction.engines.compliant import Compliant
from stiction.engines.contact_places import ContactPlaces
from stiction.engines.event_log import Cause, EventLog
from stiction.engines.given import Extent, Given, unchecked
from stiction.engines.hybrid import Hybrid
from stiction.engines.outside import go_with_control
from stiction.engines.result import RESULTS, Compliance, Signals, Trajectory
from stiction.engines.room import require_few_steps, require_memory
from stiction.engines.stepping import Stepping
from stiction.engines.tableaus import stages_of
from stiction.engines.tolerances import INSIDE, SUNK
from stiction.engines.watching import glances
from stiction.engines.worlds.run import carry_out_worlds
from stiction.mechanism import Mechanism
from stiction.surfaces import Contacts, WorldContacts

# As `core.layout` numbers how a run ends.
ENDS = (
    "not_finite",  # 0: still running, which no run is at its end
    "successful",
    "max_steps_reached",
    "events_used_up",
    "cascade",
    "not_finite",
    "too_many_contacts",
    "began_inside",
)
_LEDGER = ("actuator_work", "damping_loss", "friction_loss", "support_work", "impact_loss")
_HYBRID = (
    "restitution", "mu_static", "mu_dynamic", "rest_speed", "stribeck_speed", "stribeck_exponent",
)  # fmt: skip
_STEPPING = ("restitution", "mu_static", "mu_dynamic", "rest_speed")
_SWEEPS = (20, 100)  # of a cone problem on a GPU, and on a processor in single precision
_COMPLIANCE = ("depth", "stored", "normal_loss", "friction_loss")


def carry_out(given: Given, extent: Extent, room: int = 0) -> tuple[Trajectory, np.ndarray]:
    """A run with known numbers, and the impulses of its fixed steps, so many of them."""
    if isinstance(given.contacts, WorldContacts):
        return to_jax(carry_out_worlds(given, extent)), np.zeros(0)
    contacts, batch = given.contacts, given.until.shape
    run, kernel = set_up(given, extent, room)
    start_at(run, given)
    extent = _recorded(given, extent)

    def so_far(run: Run) -> Trajectory:
        return trajectory_of(run, contacts, extent, batch, isinstance(given.law, Stepping))

    try:
        if _own_commands(given) is None:
            go_with_control(run, kernel, given.control, so_far)
        else:
            run.go(kernel, between=glances(run, so_far))
    finally:
        run.let_go()
    done = to_jax(so_far(run))
    return done, run.impulses.numpy().reshape(*batch, *run.impulses.shape[1:])


def set_up(given: Given, extent: Extent, room: int = 0) -> tuple[Run, Any]:
    """A run that has not started, and the kernel that carries it out."""
    mechanism, contacts, law = given.mechanism, given.contacts, given.law
    lanes = int(np.prod(given.until.shape))
    end = np.array(given.until, float).reshape(lanes)
    commands = _own_commands(given)
    if commands is None and extent.device != "cpu":
        raise InputError(
            "`device` must be cpu: `control` is a Python function, which a GPU cannot ask; commands"
            " of `stiction.control` (constant, harmonic, phased) go there"
        )
    soft = law is None or isinstance(law, Compliant)
    extent = _recorded(given, extent)
    solver = given.solver
    n = 0 if contacts is None else contacts.count
    design = design_of(
        mechanism,
        contacts,
        commands,
        guards=n_guards(given.control, mechanism, n) if commands is None else 0,
        stages=7 if isinstance(law, Stepping) else stages_of(solver.method, soft),
        soft=soft,
        unknowns=_unknowns(law, contacts),
        single=given.q.dtype == np.float32,
        device=extent.device,
    )
    if isinstance(law, Stepping):
        require_few_steps(float(end.max()), float(np.min(np.asarray(law.dt))))
    events = extent.max_events if extent.events else 0
    sizes = (extent.samples * design.sample_size, events * design.event_size)
    require_memory(lanes, design.numbers.size, *sizes, design.machine.pairs.count)
    run = Run(design, lanes, end, extent.samples, events)
    run.options.max_events = extent.max_events
    if given.until.shape == () and contacts is not None:
        run.record_places()
    if not soft:
        run.options.deepest = INSIDE.of(given.q)
    if isinstance(law, Stepping):
        step_by(run, law, extent.samples)
        _numbers(run, law, _STEPPING)
        if room:
            run.record_impulses(room)
        return run, design.core.kernel("stepping")
    run.options.compliant = int(soft)
    run.integrate(solver.method, float(solver.rtol), float(solver.atol))
    run.options.max_steps = solver.max_steps
    if isinstance(law, Hybrid):
        _collide_by(run, law)
    elif law is not None:
        run.law = design.arrays.real(law.numbers((lanes, design.machine.pairs.count)))
    if extent.device != "cpu":
        run.take_turns()
    return run, design.core.kernel("machine")


def start_at(run: Run, given: Given) -> None:
    """Every world of a run at its start."""
    kind = run.design.core.reals.numpy_type
    q, v = (np.array(x, kind).reshape(run.batch, -1) for x in (given.q, given.v))
    run.start(q, v)


def _recorded(given: Given, extent: Extent) -> Extent:
    """What can be recorded: without contacts there are no events."""
    return extent if given.contacts is not None else extent._replace(events=False)


def _own_commands(given: Given) -> HarmonicControl | PhasedControl | PushOff | None:
    """The commands of a control, if the core knows them by itself."""
    commands = plain_of(given.control)
    if isinstance(commands, HarmonicControl | PhasedControl):
        return commands
    push = given.control.push_off()
    fits = isinstance(given.law, Hybrid) and stands_on(given.mechanism, given.contacts, push)
    return push if fits else None


def n_guards(control: AbstractSwitchingControl, mechanism: Mechanism, n_contacts: int) -> int:
    """How many guards a control has."""
    kind = float if jax.config.read("jax_enable_x64") else np.float32
    shapes = ((), (mechanism.nq,), (mechanism.nv,))
    state = [jax.ShapeDtypeStruct(shape, kind) for shape in shapes]
    modes = jax.ShapeDtypeStruct((n_contacts,), int)
    return jax.eval_shape(control.guards, *state, modes, control.memory()).shape[0]


def _unknowns(law: Any, contacts: Contacts | None) -> int:
    """How many unknowns a contact has in linear complementarity problems."""
    if contacts is None or isinstance(law, Compliant):
        return 0
    dim = contacts.dim
    flat = law.solver == "lcp" if isinstance(law, Stepping) else law.impact.startswith("lcp")
    if dim == 1 or not flat or (isinstance(law, Hybrid) and "cone" in law.impact):
        return 0
    sides = law.sides if isinstance(law, Stepping) else 8
    return 4 if dim == 2 else sides + 2


def _numbers(run: Run, law: Any, names: tuple[str, ...]) -> None:
    shape = (run.batch, run.design.machine.pairs.count)
    table = [np.asarray(getattr(law, name)).reshape(shape) for name in names]
    run.law = run.design.arrays.real(np.stack(table, axis=-1))


def _collide_by(run: Run, law: Hybrid) -> None:
    """What collisions do."""
    o, a = run.options, run.design.arrays
    o.impact = IMPACTS.index(law.impact)
    o.energy_method = ENERGY_METHODS.index(law.energy_method)
    o.energetic = a.real(np.ravel(np.asarray(law.energetic)))
    o.sequence, o.sides = int(law.sequence), 8
    _numbers(run, law, _HYBRID)


def step_by(run: Run, law: Stepping, samples: int) -> None:
    """How long steps are, and how they are solved. All lanes have the same number of them."""
    o, a = run.options, run.design.arrays
    o.between = law.steps_between_samples(run.until, samples)
    o.last = o.between * (samples - 1)
    o.dt = a.real(run.until / o.last)
    o.solver, o.sides = int(law.solver == "lcp"), law.sides
    o.poisson = int(law.restitution_law == "poisson")
    o.bounded = int(law.energetic is not None)
    core = run.design.core
    if core.device != "cpu":
        o.sweeps = _SWEEPS[0]
    elif core.precision == "single":
        o.sweeps = _SWEEPS[1]
    o.deepest = max(o.deepest, SUNK * float(np.max(run.until / o.last)) ** 2)
    if law.energetic is not None:
        o.energetic = a.real(np.ravel(np.asarray(law.energetic)))


def trajectory_of(
    run: Run,
    contacts: Any,
    extent: Extent,
    batch: tuple[int, ...],
    fixed: bool,
) -> Trajectory:
    """What a run has written, as arrays of NumPy's; `contacts` have a count and a dimension."""
    m, lanes, s = run.design.machine, run.batch, extent.samples
    nq, nv, nu = m.tree.nq, m.tree.nv, m.act.count
    n, dim = (0, 3) if contacts is None else (contacts.count, contacts.dim)
    rows = run.samples.numpy()
    status = run.wholes(m.z.status)[:, 0]
    each = np.arange(s)[None]
    if fixed:
        missing = each * int(m.opt.between) >= run.wholes(m.fixed.k)
    else:
        missing = each >= run.wholes(m.z.next_sample)
        if s == 2:  # the last state, however far it came
            short = missing[:, 1].copy()
            rows[short, 1, : nq + nv + 5] = run.numbers(m.z.y, nq + nv + 5)[short]
            missing[:, 1] = False
    rows[missing] = np.nan
    inside = status == ENDS.index("began_inside")
    rows[inside, 0, : nq + nv] = run.numbers(m.z.y, nq + nv)[inside]
    at = nq + nv + 7 + nu
    rows[missing, at : at + 4 * n : 4] = 0  # modes are whole numbers
    gives = contacts is not None and m.opt.compliant
    parts = np.cumsum([4 * n, 1, 4 * n if m.opt.compliant else 0, nv, nu])
    contact, residual, soft, acceleration, command, activation = np.split(
        rows[:, :, at:], parts, axis=-1
    )
    contact = contact.reshape(lanes, s, n, 4)
    steps = m.opt.last if fixed else run.wholes(m.z.steps)[:, 0]

    fields: dict[str, Any] = {
        "time": np.linspace(0, 1, s, dtype=rows.dtype)[None] * run.until[:, None],
        "q": rows[:, :, :nq],
        "v": rows[:, :, nq : nq + nv],
        "kinetic": rows[:, :, nq + nv + 5],
        "potential": rows[:, :, nq + nv + 6],
        **{name: rows[:, :, nq + nv + i] for i, name in enumerate(_LEDGER)},
        "effort": rows[:, :, nq + nv + 7 : nq + nv + 7 + nu],
        "force": contact[..., 1 : dim + 1],
        "modes": contact[..., 0].astype(int),
        "log": _log(run, n, dim, nq, nv) if extent.events else None,
        "n_events": run.wholes(m.z.events)[:, 0].astype(int),
        "drift": run.numbers(m.z.drift)[:, 0],
        "steps": np.broadcast_to(steps, (lanes,)).astype(int),
        "residual": residual[:, :, 0] if fixed else None,
        "compliance": unchecked(
            Compliance, **dict(zip(_COMPLIANCE, np.split(soft, 4, axis=-1), strict=True))
        )
        if gives
        else None,
        "acceleration": acceleration,
        "places": places_of(run.places.numpy(), run.design.core.layout),
        "signals": unchecked(
            Signals,
            control=command,
            activation=activation,
            sensor=np.zeros((lanes, s, 0), rows.dtype),
        ),
        "code": _codes()[status],
    }

    def lane(value: np.ndarray) -> np.ndarray:
        kind = rows.dtype if value.dtype.kind == "f" else value.dtype
        return np.asarray(value, kind).reshape((*batch, *value.shape[1:]))

    fields = jax.tree.map(lane, fields)
    ended: Any = type(RESULTS.successful)
    result = unchecked(ended, _value=fields.pop("code"), _enumeration=RESULTS)
    return unchecked(Trajectory, **fields, result=result, origin=None)


def places_of(rows: np.ndarray, lay: Any) -> ContactPlaces | None:
    """Where contacts are, as `core.layout` lays it out; None if that was not recorded."""
    if rows.shape[1] == 0:
        return None

    def vector(at: Any) -> np.ndarray:
        return rows[..., int(at) : int(at) + 3]

    return unchecked(
        ContactPlaces,
        point=vector(lay.PLACE_POINT),
        tangent=vector(lay.PLACE_TANGENT),
        normal=vector(lay.PLACE_NORMAL),
        force=vector(lay.PLACE_FORCE),
        torque=vector(lay.PLACE_TORQUE),
    )


_met: set[Any] = set()
_through = jax.jit(lambda fields: fields)


def to_jax(fields: Any) -> Any:
    """NumPy arrays as JAX arrays. Through a program that is quick, but it has to be compiled: only
    for shapes that are met again.
    """
    leaves, tree = jax.tree.flatten(fields)
    shapes = (tree, *((x.shape, x.dtype) for x in leaves))
    if shapes in _met:
        return _through(fields)
    _met.add(shapes)
    return jax.device_put(fields)


@functools.cache
def _codes() -> np.ndarray:
    """The numbers of `RESULTS`, as `core.layout` numbers how a run ends."""
    return np.array([int(getattr(RESULTS, name)._value) for name in ENDS], np.int32)


def _log(run: Run, n: int, dim: int, nq: int, nv: int) -> EventLog:
    """The log of events, as `core.layout` lays it out."""
    lay = run.design.core.layout

    def with_one_more(rows: np.ndarray) -> np.ndarray:
        """One more place, as the list has always had."""
        return np.concatenate([rows, np.zeros_like(rows[:, :1])], axis=1)

    rows = with_one_more(run.log.numpy())
    places = run.event_places.numpy()
    first, size = lay.EVENT_NUMBERS, lay.PAIR_NUMBERS
    head, state = rows[..., :first], rows[..., first + size * n :]
    pairs = rows[..., first : first + size * n].reshape(*rows.shape[:2], n, size)

    def number(which: int) -> np.ndarray:
        return head[..., which]

    def vector(which: int, size: int = dim) -> np.ndarray:
        """Numbers of each pair; in the plane the second tangent is not there."""
        return pairs[..., which : which + size]

    return unchecked(
        EventLog,
        time=number(lay.TIME),
        cause=unchecked(
            Cause,
            contact=number(lay.CAUSE).astype(int),
            function=number(lay.FUNCTION).astype(int),
        ),
        impact=number(lay.IMPACT) > 0,
        tangential=number(lay.TANGENTIAL) > 0,
        consistent=number(lay.CONSISTENT) > 0,
        suspicious=number(lay.SUSPICIOUS) > 0,
        modes_before=pairs[..., lay.MODE_BEFORE].astype(int),
        modes_after=pairs[..., lay.MODE_AFTER].astype(int),
        direction_before=vector(lay.DIRECTION_BEFORE, dim - 1),
        direction_after=vector(lay.DIRECTION_AFTER, dim - 1),
        gap=pairs[..., lay.GAP],
        velocity_before=vector(lay.VELOCITY_BEFORE),
        velocity_after=vector(lay.VELOCITY_AFTER),
        impulse=vector(lay.IMPULSE),
        mu=pairs[..., lay.MU],
        work=vector(lay.WORK),
        q=state[..., :nq],
        v_before=state[..., nq : nq + nv],
        v_after=state[..., nq + nv : nq + 2 * nv],
        kinetic_before=number(lay.KINETIC_BEFORE),
        kinetic_after=number(lay.KINETIC_AFTER),
        removed=number(lay.REMOVED),
        limit=np.where(pairs[..., lay.LIMIT] < 0, np.nan, pairs[..., lay.LIMIT]),
        speed=number(lay.SPEED),
        acceleration=number(lay.ACCELERATION),
        places=places_of(with_one_more(places), lay) if places.shape[1] else None,
    )
