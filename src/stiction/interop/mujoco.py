r"""MuJoCo: `solref`, `solimp`, `friction`.

For one contact MuJoCo's constraint-space dynamics are $a_1 + d (b v + k r) = (1 - d) a_0$
([Todorov2012]; the manual's Modeling, Solver parameters): $r$ the distance, $v$ its rate, $a_0$
and $a_1$ the accelerations without and with the contact force, $d$ the impedance. In the direct
format, $b = \text{damping}/d_w$ and $k = \text{stiffness}\; d(r)/d_w^2$, so that with a constant
impedance the force on a body of effective mass $m$ is

$$ f = m \, (a_1 - a_0) = m \, ( \text{stiffness} \; x + \text{damping} \; \dot x - d \, a_0 ),
   \qquad f \ge 0 . $$

That is a clamped linear spring and damper per unit of effective mass; the impedance only says
which part of the other forces, $-d \, m \, a_0$, is carried without any depth.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stiction._base.errors import InputError
from stiction.interop.contact import (
    TIME_STEP,
    CompliantContact,
    ForeignEngine,
    Translation,
    recommended_step,
)
from stiction.interop.drop import DropCheck, drop_ball
from stiction.interop.linear import Oscillator, from_oscillator, to_oscillator
from stiction.interop.stepping import adjust, stepped_restitution

IMPEDANCE = 0.9  # MuJoCo's own default at touch
TORSIONAL, ROLLING = 0.005, 0.0001  # MuJoCo's own defaults


def to_mujoco(
    contact: CompliantContact, *, time_step: float | None = None, impedance: float = IMPEDANCE
) -> Translation:
    """A contact in MuJoCo's words.

    The damping is then adjusted, in a copy of MuJoCo's own Euler step, until the mean restitution
    over the instants at which the ball can touch is the one wanted at this time step.

    Args:
        contact: What is wanted.
        time_step: MuJoCo's time step [s]; if left out, a hundredth of the contact's duration,
            rounded down to 1, 2 or 5.
        impedance: The constant impedance, in (0, 1).
    """
    if not 0 < impedance < 1:
        raise InputError(f"`impedance` must lie in (0, 1), got {impedance:g}")
    ideal = to_oscillator(contact)
    dt = time_step or recommended_step(ideal.duration)
    if ideal.frequency * dt >= 1:
        raise InputError(
            f"`time_step` must be below {1 / ideal.frequency:.2g} s for a contact that lasts"
            f" {ideal.duration:.2g} s, got {dt:g}; take a smaller step or a lower stiffness"
        )
    zeta = adjust(
        lambda z: euler_restitution(replace(ideal, damping_ratio=z), dt),
        contact.restitution,
        high=2 * ideal.damping_ratio + 0.1,
    )
    zeta = zeta if contact.dissipation else 0.0
    solref = (-(ideal.frequency**2), -2 * zeta * ideal.frequency)
    solimp = (impedance, impedance, 0.001, 0.5, 2.0)
    friction = (contact.mu_dynamic, TORSIONAL, ROLLING)
    attributes = (
        f'solref="{join(solref)}" solimp="{join(solimp)}" friction="{join(friction)}" condim="3"'
    )
    return Translation(
        engine="mujoco",
        parameters={"solref": solref, "solimp": solimp, "friction": friction, "timestep": dt},
        limits=_limits(contact, impedance),
        snippet=(
            f'<option timestep="{dt:g}" cone="elliptic"/>\n'
            f'<geom {attributes}/>  <!-- on both geoms, or on one with priority="1" -->'
        ),
        time_step=dt,
    )


def from_mujoco(
    parameters: Mapping[str, Any], *, mass: float, speed: float
) -> tuple[CompliantContact, tuple[str, ...]]:
    """The Hunt-Crossley contact that MuJoCo's numbers amount to for one mass and speed.

    Args:
        parameters: `solref` (either format), and `solimp` and `friction` if not the defaults.
        mass: Effective mass at the contact [kg].
        speed: Speed of approach [m/s].

    Returns:
        The contact, and what was lost on the way.
    """
    solref = _numbers(parameters, "solref", (0.02, 1.0), 2)
    solimp = _numbers(parameters, "solimp", (0.9, 0.95, 0.001, 0.5, 2.0), 5)
    mu = _numbers(parameters, "friction", (1.0,), 1)[0]
    if solref[0] > 0 and solref[1] > 0:  # (timeconst, dampratio)
        oscillator = Oscillator(1 / (solref[0] * solref[1]), solref[1])
    elif solref[0] < 0 and solref[1] <= 0:  # (-stiffness, -damping)
        omega = math.sqrt(-solref[0])
        oscillator = Oscillator(omega, -solref[1] / (2 * omega))
    else:
        raise InputError(
            "`solref` must be two positive numbers (timeconst, dampratio) or two negative ones"
            f" (-stiffness, -damping), got {join(solref)}"
        )
    lost = ["restitution is this at every speed in MuJoCo, and at this speed only in the result"]
    if solimp[0] != solimp[1]:
        lost.append(
            f"the impedance varies with depth: the numbers are those deeper than {solimp[2]:g} m"
        )
    contact = from_oscillator(oscillator, mass=mass, speed=speed, mu=mu)
    return contact, tuple(lost)


def euler_restitution(oscillator: Oscillator, dt: float) -> np.ndarray:
    """Restitution of MuJoCo's Euler step for a ball that touches at evenly spread instants."""
    omega, zeta = oscillator.frequency, oscillator.damping_ratio

    def step(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f = np.where(x > 0, np.maximum(omega**2 * x + 2 * zeta * omega * v, 0.0), 0.0)
        v = v - dt * f
        return x + dt * v, v

    return stepped_restitution(step, dt, oscillator.duration)


def check_mujoco(contact: CompliantContact, translation: Translation) -> DropCheck:
    """Drop a ball in MuJoCo, without gravity (the law itself) and with it."""
    import mujoco

    from stiction._base.mujoco_warnings import hear_mujoco

    hear_mujoco()
    dt = translation.parameters["timestep"]
    attributes = {k: join(translation.parameters[k]) for k in ("solref", "solimp", "friction")}
    geom = " ".join(f'{k}="{v}"' for k, v in attributes.items()) + ' condim="3"'
    radius = contact.radius or 0.1
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{dt!r}" cone="elliptic"/><worldbody>
        <geom type="plane" size="1 1 1" {geom}/>
        <body><freejoint/><geom size="{radius!r}" mass="{contact.mass!r}" {geom}/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)

    def start(gap: float, speed: float, gravity: float) -> None:
        mujoco.mj_resetData(model, data)
        model.opt.gravity[:] = 0.0, 0.0, -gravity
        data.qpos[2], data.qvel[2] = radius + gap, -speed

    def step() -> tuple[float, float]:
        mujoco.mj_step(model, data)
        return float(data.qpos[2]) - radius, float(data.qvel[2])

    drops = drop_ball(contact, f"Euler, {1e3 * dt:g} ms", start, step, dt)
    return DropCheck("mujoco", mujoco.__version__, drops)


def _limits(contact: CompliantContact, impedance: float) -> tuple[str, ...]:
    limits = [
        "the law is a linear spring and damper: restitution is the same at every speed (here right"
        f" at {contact.speed:g} m/s), and the force jumps at touch",
        "stiffness and damping are per unit of effective mass: the numbers are for"
        f" {contact.mass:g} kg",
        f"{impedance:.0%} of the weight is carried without depth (solimp): a body at rest sinks"
        f" {1 - impedance:.0%} of weight over stiffness; with less it sinks and slips more",
        "so it is with all that presses: held by a robot, the contact is"
        f" {1 / (1 - impedance):.3g} times as stiff as in a free impact",
        "friction is regularized: a body below the cone creeps (raise impratio)",
    ]
    if contact.exponent != 1:
        limits.append(
            f"the exponent is 1, not {contact.exponent:g}: peak depth is kept at one speed"
        )
    if contact.mu_static != contact.mu_dynamic:
        limits.append("there is one coefficient of friction: the dynamic one is used")
    return tuple(limits)


def _numbers(parameters: Mapping[str, Any], name: str, default: tuple, count: int) -> list[float]:
    """A list of numbers given as such or as MJCF text, filled up with defaults as MJCF does."""
    value = parameters.get(name, default)
    try:
        words = value.split() if isinstance(value, str) else np.atleast_1d(value)
        given = [float(w) for w in words]
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be up to {count} numbers, got '{value}'") from None
    if not given or not all(map(math.isfinite, given)):
        raise InputError(f"`{name}` must be up to {count} finite numbers, got '{value}'")
    return given + list(default[len(given) :])


def join(numbers: Sequence[float]) -> str:
    """As MJCF writes a list."""
    return " ".join(f"{x:.10g}" for x in numbers)


MUJOCO = ForeignEngine(
    title="MuJoCo",
    parameters={
        "solref": "(timeconst [s], dampratio) or (-stiffness [1/s²], -damping [1/s])",
        "solimp": "impedance: dmin, dmax, width [m], midpoint, power",
        "friction": "sliding, torsional, rolling",
    },
    to=to_mujoco,
    back=from_mujoco,
    options=TIME_STEP | {"impedance": "constant impedance, in (0, 1)"},
    check=check_mujoco,
)
