"""The foot of marhefka Sec. 5: one mass under position control and then force, on the ground.

symbol  name        meaning                                             unit
x       depth       position of the foot, positive into the ground      m
x_d     desired     desired position                                    m
K_p     gain        gain of the position control                        N/m
F       force       constant force while bearing weight                 N

Three phases: placement (position control), support (constant force), lift (position control from
where the foot is). The document leaves the force and the times open; the values below are the
project's. Integrated from event to event: every touch and every separation ends a piece.
"""

from dataclasses import dataclass

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optimistix as optx

from stiction._arrays import Array, Float
from stiction._errors import RunError
from stiction.laws import HuntCrossley

MASS = 25.0
STIFFNESS = 50e3
ALPHA = 0.5
GAIN = 20e3
SPEED = 2.0  # at touch, and of the lift [m/s]
PLACED = 0.1  # end of placement [s]
SUPPORT_FORCE = 500.0
LIFT = 0.5  # end of support [s]
END = 0.7

TOUCH = 1e-30  # a start just past the event, on the side it goes to [m]
MAX_PIECES = 40


@dataclass(frozen=True)
class FootRun:
    """The foot against time, and the instants at which it touched or parted."""

    time: np.ndarray
    depth: np.ndarray
    velocity: np.ndarray
    force: np.ndarray  # of the ground
    desired: np.ndarray  # desired position; nan while bearing weight
    events: tuple[tuple[float, str], ...]
    ledger_error: float  # energy that the books do not account for, over the energy exchanged


class _Control(eqx.Module):
    """f = K_p (c_0 + c_1 t + c_2 t² - x) + F."""

    gain: Float[Array, ""]
    desired: Float[Array, "3"]
    force: Float[Array, ""]

    def __call__(self, t, x):
        return self.gain * (jnp.polyval(self.desired[::-1], t) - x) + self.force


def foot_contact(*, lift: float = LIFT, end: float = END) -> FootRun:
    """Run the foot through its three phases.

    Args:
        lift: When support ends [s].
        end: When the run ends [s].
    """
    law = HuntCrossley.from_alpha(stiffness=STIFFNESS, alpha=ALPHA)
    y = jnp.array([TOUCH, SPEED, 0.0, 0.0])  # depth, velocity, work of the control, energy lost
    times, states, desired, events = [], [], [], [(0.0, "touch")]
    # The desired velocity falls from 2 m/s to 0 during placement.
    placement = _control(GAIN, (0.0, SPEED, -SPEED / (2 * PLACED)), 0.0)
    support = _control(0.0, (0.0, 0.0, 0.0), SUPPORT_FORCE)
    phases = [(0.0, PLACED, placement), (PLACED, lift, support), (lift, end, None)]
    for start, stop, control in phases:
        if control is None:  # lift: the desired position starts where the foot is
            control = _control(GAIN, (float(y[0]) + SPEED * start, -SPEED, 0.0), 0.0)
        t = start
        for _ in range(MAX_PIECES):
            ts, ys, t, y, event = _piece(law, control, t, stop, y)
            times.append(ts)
            states.append(ys)
            follows = np.polynomial.Polynomial(np.asarray(control.desired))(ts)
            desired.append(follows if float(control.gain) else np.full_like(ts, np.nan))
            if not event:
                break
            touching = float(y[1]) > 0
            events.append((t, "touch" if touching else "separation"))
            y = y.at[0].set(TOUCH if touching else -TOUCH)
        else:
            raise RunError(f"the foot touched and parted more than {MAX_PIECES} times in one phase")
    time, state = np.concatenate(times), np.concatenate(states)
    x, v, work, lost = state.T
    exchanged = np.max(np.abs(work)) + 0.5 * MASS * SPEED**2
    stored = np.asarray(eqx.filter_vmap(law.energy)(jnp.asarray(x)))
    books = 0.5 * MASS * (v**2 - SPEED**2) + stored + lost - work
    return FootRun(
        time=time,
        depth=x,
        velocity=v,
        force=np.asarray(eqx.filter_vmap(law.force)(jnp.asarray(x), jnp.asarray(v))),
        desired=np.concatenate(desired),
        events=tuple(events),
        ledger_error=float(np.max(np.abs(books)) / exchanged),
    )


def _control(gain: float, desired: tuple[float, float, float], force: float) -> _Control:
    return _Control(jnp.asarray(gain), jnp.array(desired), jnp.asarray(force))


def _piece(law: HuntCrossley, control: _Control, start: float, stop: float, y: Array):
    """From `start` to the next touch or separation, or to `stop`."""
    solution = _solve(law, control, jnp.asarray(start), jnp.asarray(stop), y)
    kept = np.isfinite(np.asarray(solution.ts))
    ts, ys = np.asarray(solution.ts)[kept], np.asarray(solution.ys)[kept]
    return ts, ys, float(ts[-1]), jnp.asarray(ys[-1]), bool(solution.event_mask)


@eqx.filter_jit
def _solve(law, control, start, stop, y):
    def motion(t, y, args):
        del args
        x, v, _, _ = y
        pull = control(t, x)
        f = law.force(x, v)
        return jnp.stack([v, (pull - f) / MASS, pull * v, law.dissipated_power(x, v)])

    return diffrax.diffeqsolve(
        diffrax.ODETerm(motion),
        diffrax.Dopri8(),
        t0=start,
        t1=stop,
        dt0=1e-5,
        y0=y,
        saveat=diffrax.SaveAt(steps=True, t0=True),
        stepsize_controller=diffrax.PIDController(rtol=1e-11, atol=1e-13, dtmax=1e-3),
        event=diffrax.Event(
            lambda t, y, args, **kwargs: y[0], root_finder=optx.Newton(rtol=1e-12, atol=1e-14)
        ),
        max_steps=8192,
    )
