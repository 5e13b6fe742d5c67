r"""Simbody: stiffness, dissipation, us, ud, uv of `HuntCrossleyForce`.

$f = k x^{3/2} (1 + \tfrac32 c \dot x)_+$ with $k = \tfrac43 \sqrt R \, E$ [Sherman2011]: the same
law with $n = 3/2$, and $c = \alpha$. `stiffness` is a surface's plane-strain modulus; two equal
surfaces of modulus $E_1$ have $E = E_1 / 2^{3/2}$.
"""

import math
from collections.abc import Mapping
from typing import Any

from stiction._base.errors import InputError
from stiction.interop.contact import CompliantContact, ForeignEngine, Translation, number

HERTZ = 1.5
TRANSITION_VELOCITY = 0.01  # Simbody's default [m/s]
_PAIR = 0.75 * 2**1.5  # E_1 sqrt(R) / k, from k = (4/3) sqrt(R) E_1 / 2^(3/2)


def to_simbody(contact: CompliantContact) -> Translation:
    """A contact in Simbody's words: exact for n = 3/2, in restitution for every n."""
    if contact.radius is None:
        raise InputError(
            "`radius` is needed for simbody, whose stiffness is a modulus; give it in m"
        )
    hertz = contact.with_peak_depth(contact.peak_depth, HERTZ)
    modulus = hertz.stiffness * _PAIR / math.sqrt(contact.radius)
    parameters = {
        "stiffness": modulus,
        "dissipation": hertz.alpha,
        "us": hertz.mu_static,
        "ud": hertz.mu_dynamic,
        "uv": 0.0,
    }
    limits = [
        f"friction is a function of slip speed (transition velocity {TRANSITION_VELOCITY:g} m/s): a"
        " body below the cone creeps",
        f"the stiffness holds for the relative radius {contact.radius:g} m only",
    ]
    if contact.exponent != HERTZ:
        limits.append(
            f"the exponent is 3/2, not {contact.exponent:g}: restitution is kept at all speeds,"
            f" peak depth at {contact.speed:g} m/s"
        )
    arguments = ", ".join(f"{v:.10g}" for v in parameters.values())
    return Translation(
        engine="simbody",
        parameters=parameters,
        limits=tuple(limits),
        snippet=f"force.setBodyParameters(surface, {arguments});  // for both surfaces",
    )


def from_simbody(
    parameters: Mapping[str, Any], *, mass: float, speed: float
) -> tuple[CompliantContact, tuple[str, ...]]:
    """The contact between two equal Simbody surfaces.

    Args:
        parameters: `stiffness` (plane-strain modulus of each surface [Pa]), `dissipation`, `radius`
            (relative radius of curvature [m]), and `us`, `ud` if there is friction.
        mass: Mass of the body [kg].
        speed: Speed of approach [m/s].

    Returns:
        The contact, and what was lost on the way.
    """
    radius, us = number(parameters, "radius"), number(parameters, "us", 0.0)
    if radius <= 0:
        raise InputError(f"`radius` must be positive [m], got {radius:g}")
    contact = CompliantContact(
        stiffness=number(parameters, "stiffness") * math.sqrt(radius) / _PAIR,
        dissipation=1.5 * number(parameters, "dissipation"),
        exponent=HERTZ,
        mass=mass,
        speed=speed,
        mu_static=us,
        mu_dynamic=number(parameters, "ud", us),
        radius=radius,
    )
    lost = ("viscous friction uv",) if number(parameters, "uv", 0.0) else ()
    return contact, lost


SIMBODY = ForeignEngine(
    title="Simbody",
    parameters={
        "stiffness": "plane-strain modulus of each surface [Pa]",
        "dissipation": "dissipation of each surface [s/m]",
        "radius": "relative radius of curvature [m]",
        "us": "static friction",
        "ud": "dynamic friction",
        "uv": "viscous friction [s/m], which is lost",
    },
    to=to_simbody,
    back=from_simbody,
)
