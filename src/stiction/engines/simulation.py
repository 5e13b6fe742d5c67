"""The door: from a state and a law to a trajectory."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import warp as wp

from stiction._base.arrays import (
    Array,
    ArrayLike,
    Float,
    Real,
    ScalarLike,
    is_traced,
    trace_state_clean,
)
from stiction._base.checks import known, to_float
from stiction._base.errors import InputError, unknown
from stiction.control import AbstractSwitchingControl, as_switching, no_control
from stiction.control.switching import with_own_numbers
from stiction.engines.by_contact import broadcast
from stiction.engines.by_core import carry_out
from stiction.engines.compliant import Compliant
from stiction.engines.given import Extent, Given
from stiction.engines.hybrid import Hybrid
from stiction.engines.result import Origin, Trajectory
from stiction.engines.solver import METHODS, Solver
from stiction.engines.stepping import Stepping
from stiction.engines.worlds.run import require_world_law
from stiction.mechanism import Mechanism
from stiction.mechanism.tree import BALL, COORDINATES, FREE
from stiction.surfaces import Contacts, WorldContacts

# What rigid contacts may be integrated by: explicit methods.
_RIGID = ("auto", "tsit5", "dopri5", "dopri8")
DEVICES = ("cpu", "gpu")


def simulate(
    mechanism: Mechanism,
    q: Real[ArrayLike, "*batch nq"],
    v: Real[ArrayLike, "*batch nv"],
    *,
    until: ScalarLike | Float[Array, "*batch"],
    contacts: Contacts | WorldContacts | None = None,
    law: Hybrid | Stepping | Compliant | None = None,
    control: Callable | AbstractSwitchingControl | None = None,
    samples: int = 501,
    solver: Solver | None = None,
    max_events: int = 1000,
    keep_events: bool = True,
    device: str = "cpu",
    throw: bool = True,
) -> Trajectory:
    """The motion from the state (q, v) over `until` seconds.

    Jittable, vmappable and differentiable (once, forwards and backwards) by states, times, masses,
    the law's numbers and controls. Where the sequence of events changes with an input there is no
    derivative: at a grazing contact, or at an end or a sample on the instant of an event. The steps
    of a derivative must find room in `solver.max_steps`; what they do not reach is not a number.
    Leading axes of `q`, `v`, `until` and of the law's numbers are a batch, each lane at its own
    pace.

    Args:
        mechanism: What moves.
        q: The initial configuration; quaternions are brought to unit length.
        v: The initial velocity.
        until: Duration [s].
        contacts: What may touch, from `stiction.find_contacts`, or everything that the model lets
            touch, from `stiction.surfaces.world_contacts`; nothing by default.
        law: What contacts do, which is also the choice of the engine: `Hybrid` (rigid, exact
            events; the default), `Stepping` (rigid, fixed steps) or `Compliant`. In a batch its
            numbers have the shape (), (n,) for each contact, (*batch,) or (*batch, n).
        control: A function of (t, q, v, modes) giving each actuator's command, or an
            `AbstractSwitchingControl`; none by default.
        samples: Number of equally spaced times at which the motion is kept; 2 keeps only the ends,
            which needs far less memory in a batch.
        solver: Method and tolerances; by default 1e-8, with compliant contacts 1e-10.
        max_events: Events after which the run ends with a result code.
        keep_events: Whether the list of events is kept; without it a batch needs less memory.
        device: What computes the motion: "cpu", or "gpu" for batches of thousands on an NVIDIA GPU.
            Derivatives are taken where JAX runs.
        throw: Raise a `RunError` if the run fails (outside `jit`); otherwise see `result`.
    """
    q, v = _state(q), _state(v)
    for name, value, size in (("q", q, mechanism.nq), ("v", v, mechanism.nv)):
        if value.shape[-1:] != (size,):
            raise InputError(f"`{name}` has shape {value.shape}, expected (..., {size})")
    if samples < 2:
        raise InputError(f"`samples` must be at least 2, got {samples}")
    require_quaternions("q", q, mechanism)
    law = _hybrid() if law is None else law
    origin = Origin(mechanism, contacts, law, control).known()
    solver = default_solver(law) if solver is None else solver
    solver = solver if solver.rtol.dtype == q.dtype else solver.astype(q.dtype)
    methods = _RIGID if isinstance(law, Hybrid) and contacts is not None else METHODS
    if solver.method not in methods:
        raise unknown("`solver.method` here", solver.method, methods)
    if contacts is None and isinstance(control, AbstractSwitchingControl):
        raise InputError(
            "`control` has events of its own, which free motion does not look for; give `contacts`"
        )
    control = _nothing(mechanism.nu, q.dtype) if control is None else as_switching(control)
    end = (jnp if is_traced(until) else np).asarray(until, q.dtype)
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], end.shape)
    if isinstance(contacts, WorldContacts):
        require_world_law(law)
    elif contacts is not None:
        law, batch = law.spread(contacts, batch, q.dtype)
    if mechanism.beyond and not isinstance(contacts, WorldContacts):
        raise InputError(
            f"`contacts` must be `stiction.surfaces.world_contacts(mechanism)`: the model has"
            f" {mechanism.beyond[0]}, which only MuJoCo's own functions treat"
        )
    q, v, end = (_spread(x, batch, k) for x, k in ((q, 1), (v, 1), (end, 0)))
    if not trace_state_clean():
        control = with_own_numbers(control, q, v, contacts)
    acts = None if contacts is None else law
    given = Given(mechanism, contacts, control, solver, q, v, end, acts)
    extent = Extent(samples, keep_events, max_events, _device(device, contacts))
    if is_traced(given):
        if isinstance(contacts, WorldContacts):
            raise InputError(
                "contacts that are found on the way have no derivatives, and cannot be traced by"
                " `jit` or `vmap`; call `simulate` with known numbers"
            )
        from stiction.engines.traced import simulate_traced  # derivatives take long to import

        return replace(simulate_traced(given, extent), origin=origin)
    done, _ = carry_out(given, extent)
    if done.origin is not None:  # what touched is known now
        origin = replace(origin, contacts=done.origin.contacts)
    object.__setattr__(done, "origin", origin)
    return Trajectory.check(done) if throw else done


def _device(name: str, contacts: Any) -> str:
    """The device as Warp names it; refused if it is not there."""
    if name not in DEVICES:
        raise unknown("`device`", name, DEVICES)
    if name == "cpu":
        return name
    if isinstance(contacts, WorldContacts):
        raise InputError(
            "`device` must be cpu: contacts found on the way are found by MuJoCo there"
        )
    if not wp.is_cuda_available():
        raise InputError(
            "`device` gpu needs an NVIDIA GPU, and this machine shows none; leave it out to use"
            " the processor"
        )
    return "cuda:0"


def _spread(x: Any, batch: tuple[int, ...], own: int) -> Any:
    """x with the axes of a batch before its own."""
    shape = (*batch, *x.shape[x.ndim - own :])
    return x if x.shape == shape else broadcast(x, shape)


@functools.cache
def _nothing(nu: int, dtype: Any) -> AbstractSwitchingControl:
    """No commands: the same object each time, so that what is made for it is made once."""
    with jax.ensure_compile_time_eval():  # it must not be a part of somebody's trace
        return as_switching(jax.tree.map(lambda x: x.astype(dtype), no_control(nu)))


def require_quaternions(name: str, q: Float[Array, "*batch nq"], mechanism: Mechanism) -> None:
    """A free or ball joint must have a direction to turn to: its quaternion must not be zero."""
    numbers, tree = known(q), mechanism.tree
    if numbers is None:
        return
    for joint, kind in enumerate(tree.joint_types):
        if kind in (FREE, BALL):
            end = tree.q_address[joint] + COORDINATES[kind]
            if not np.all(np.any(numbers[..., end - 4 : end] != 0, axis=-1)):
                raise InputError(
                    f"the quaternion of joint '{tree.joint_names[joint]}' in `{name}` must not be"
                    " zero; 1 0 0 0 is no turn"
                )


def _state(x: ArrayLike) -> Array:
    return to_float(x)


def default_solver(law: Any) -> Solver:
    """What a law is integrated with unless one says otherwise.

    Of compliant contacts more is asked: their depths are small parts of the motion.
    """
    return _solver(1e-10, 1e-11) if isinstance(law, Compliant) else _solver(1e-8, 1e-9)


@functools.cache
def _hybrid() -> Hybrid:
    with jax.ensure_compile_time_eval():
        return Hybrid()


@functools.cache
def _solver(rtol: float, atol: float) -> Solver:
    with jax.ensure_compile_time_eval():
        return Solver(rtol, atol)
