r"""EXUDYN: `ObjectContactSphereSphere` and its kin.

With `impactModel = 2` the force is $f = k x^n (1 + u(e) \dot x / v)$ [Gerstmayr2023], where $u(e)$
is `CarvalhoMartins` for $e > 1/3$ and `Gonthier` below, and $v$ is the actual impact speed or, if
larger, `minimumImpactVelocity`. Below that speed, then, it is this law with the constant
dissipation $d = u(e) / v$: the `restitutionCoefficient` to give is the one with $u(e) = d v$, which
is not the restitution that results.
"""

import math
from collections.abc import Mapping
from typing import Any

from stiction.interop.contact import CompliantContact, ForeignEngine, Translation, number
from stiction.laws import CarvalhoMartins, Gonthier

SPEED_MARGIN = 10.0  # the law holds up to this many times the contact's speed
BRANCH = 1 / 3  # restitutionCoefficient at which the two formulas meet
IMPACT_MODEL = 2


def to_exudyn(contact: CompliantContact) -> Translation:
    """A contact in EXUDYN's words: the law itself, up to ten times the contact's speed."""
    v = SPEED_MARGIN * contact.speed
    parameters = {
        "contactStiffness": contact.stiffness,
        "contactStiffnessExponent": contact.exponent,
        "contactDamping": 0.0,
        "impactModel": IMPACT_MODEL,
        "restitutionCoefficient": coefficient_for(contact.dissipation * v),
        "minimumImpactVelocity": v,
        "dynamicFriction": contact.mu_dynamic,
    }
    limits = [
        f"above {v:g} m/s the dissipation falls with the speed, and restitution stays the same",
        "friction is proportional to slip speed near rest (frictionProportionalZone): a body below"
        " the cone creeps",
    ]
    if contact.mu_static != contact.mu_dynamic:
        limits.append("there is one coefficient of friction: the dynamic one is used")
    arguments = ", ".join(f"{k}={v!r}" for k, v in parameters.items())
    return Translation(
        engine="exudyn",
        parameters=parameters,
        limits=tuple(limits),
        snippet=f"ObjectContactSphereSphere(markerNumbers=..., nodeNumber=..., spheresRadii=...,"
        f" {arguments})",
    )


def from_exudyn(
    parameters: Mapping[str, Any], *, mass: float, speed: float
) -> tuple[CompliantContact, tuple[str, ...]]:
    """The contact that EXUDYN's numbers amount to at one speed (`impactModel` 1 or 2).

    Args:
        parameters: `contactStiffness`, `restitutionCoefficient`, and `contactStiffnessExponent`,
            `impactModel`, `minimumImpactVelocity`, `dynamicFriction` if not the defaults.
        mass: Mass of the body [kg].
        speed: Speed of approach [m/s].

    Returns:
        The contact, and what was lost on the way.
    """
    e = number(parameters, "restitutionCoefficient")
    slowest = number(parameters, "minimumImpactVelocity", 0.0)
    mu = number(parameters, "dynamicFriction", 0.0)
    factor = 1.5 * (1 - e) if number(parameters, "impactModel", 2.0) == 1 else damping_factor(e)
    contact = CompliantContact(
        stiffness=number(parameters, "contactStiffness"),
        dissipation=factor / max(speed, slowest),
        exponent=number(parameters, "contactStiffnessExponent", 1.0),
        mass=mass,
        speed=speed,
        mu_static=mu,
        mu_dynamic=mu,
    )
    lost = (
        () if speed < slowest else ("EXUDYN scales the dissipation with every impact's own speed",)
    )
    return contact, lost


def damping_factor(coefficient: float) -> float:
    """EXUDYN's $u(e)$ for `impactModel` 2."""
    law = CarvalhoMartins if coefficient > BRANCH else Gonthier
    return float(law.damping_factor(float(coefficient)))


def coefficient_for(factor: float) -> float:
    """The `restitutionCoefficient` whose $u(e)$ is a given factor: a quadratic on either branch."""
    if factor >= damping_factor(BRANCH):  # (1 - e²)/e = u
        return 2.0 / (factor + math.hypot(factor, 2.0))
    # 3/2 (1 - e)(11 - e) = u (1 + 9 e), the smaller root
    b, c = 18.0 + 9.0 * factor, 16.5 - factor
    return 2.0 * c / (b + math.sqrt(b * b - 6.0 * c))


EXUDYN = ForeignEngine(
    title="EXUDYN",
    parameters={
        "contactStiffness": "stiffness [N/m^n]",
        "contactStiffnessExponent": "exponent n, 1 if left out",
        "impactModel": "1 (Hunt-Crossley) or 2 (Gonthier and Carvalho-Martins)",
        "restitutionCoefficient": "restitution asked for, in (0, 1]",
        "minimumImpactVelocity": "least speed that the damping is made for [m/s]",
        "dynamicFriction": "coefficient of friction",
    },
    to=to_exudyn,
    back=from_exudyn,
)
