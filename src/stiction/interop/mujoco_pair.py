r"""MuJoCo once more: a contact that keeps its force law whatever else pushes, as a `pair`.

A robot that holds a pressed body at rest, $a_1 = 0$, has $f = -m a_0$, so that (see `mujoco`)
$f = m (\text{stiffness} \; x + \text{damping} \; \dot x) / (1 - d)$: ten times the force of a free
impact under MuJoCo's own impedance. The least impedance leaves the law alone.

MuJoCo's cone is convex: a contact that slides at $v$ has its normal force raised by
$\mu \, m \, b_t v$, with $b_t$ the damping of friction, as a rule that of the normal direction.
Here $b_t$ is such that this is a hundredth of the load at the fastest slip, and `impratio` makes
friction stiff again, so that it is whole from a twentieth of that slip on.
"""

from collections.abc import Mapping
from typing import Any

from stiction.interop.contact import STEPS_PER_CONTACT, Translation, round_step
from stiction.interop.linear import Oscillator
from stiction.interop.mujoco import ROLLING, TORSIONAL, join

LEAST = 1e-4  # the least impedance that MuJoCo takes
RAISED = 0.01  # of the load: what friction may add to a normal force
CREEP = 0.05  # of the fastest slip: below it friction is not whole
_OF_A_PAIR = ("solref", "solreffriction", "solimp", "friction")


def linear_to_mujoco(
    oscillator: Oscillator,
    *,
    mass: float,
    mu: float = 0.0,
    load: float = 1.0,
    slip: float = 1.0,
    impratio: float = 1.0,
) -> Translation:
    """A linear spring and damper in MuJoCo's words.

    Args:
        oscillator: Spring and damper for one mass.
        mass: That mass [kg]: the inverse of MuJoCo's `body_invweight0`, a free body's own.
        mu: Friction.
        load: Usual normal force [N].
        slip: Fastest slip [m/s].
        impratio: What other contacts of the model need: it is one for all.
    """
    omega, b = oscillator.frequency, 2 * oscillator.damping_ratio * oscillator.frequency
    b_t = RAISED * load / (mu * mass * slip) if mu > 0 else b
    impratio = max(impratio, needed_impratio(mu))
    # Steps must resolve the contact and, since nothing of the law is implicit, both dampers.
    dt = round_step(1 / max(STEPS_PER_CONTACT / oscillator.duration, b, impratio * b_t))
    parameters = {
        "solref": (-(omega**2), -b),
        "solreffriction": (-1.0, -b_t),
        "solimp": (LEAST, LEAST, 0.001, 0.5, 2.0),
        "friction": (mu, mu, TORSIONAL, ROLLING, ROLLING),
        "impratio": impratio,
        "timestep": dt,
    }
    limits = (
        f"stiffness and damping are per unit of effective mass: the numbers are for {mass:g} kg,"
        " which is a free body's mass, and 1/body_invweight0 of a robot's link",
        "the impedance is the least, so that the force does not depend on what else pushes: steps"
        f" above {dt:g} s may be unstable",
        "friction is regularized: a body below the cone creeps, under the usual load at up to"
        f" {CREEP * slip:.2g} m/s",
    )
    return Translation("mujoco", parameters, limits, write_pairs({"": parameters}), dt)


def needed_impratio(mu: float) -> float:
    """The ratio of impedances that makes friction stiff enough."""
    return max(mu**2 / (RAISED * CREEP), 1.0)


def write_pairs(pairs: Mapping[str, Mapping[str, Any]]) -> str:
    """Contacts by name, as MJCF."""
    dt = min(p["timestep"] for p in pairs.values())
    impratio = max(p["impratio"] for p in pairs.values())
    lines = [f'<option timestep="{dt:g}" cone="elliptic" impratio="{impratio:.10g}"/>', "<contact>"]
    for name, parameters in pairs.items():
        attributes = " ".join(f'{n}="{join(parameters[n])}"' for n in _OF_A_PAIR)
        lines += [f"  <!-- {name} -->"] if name else []
        lines.append(f'  <pair geom1="BODY" geom2="SURFACE" condim="3" {attributes}/>')
    return "\n".join([*lines, "</contact>"])
