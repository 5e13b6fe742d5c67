r"""Chrono: kn, gn of a smooth-contact (SMC) material.

Two force models, both with `UseMaterialProperties(false)` [Tasora2016]:

- **Hooke**, in every Chrono: $f = k_n x + m g_n \dot x$, clamped, $m$ the effective mass.
- **Flores**, in Chrono::Multicore only (Chrono itself falls back to Hooke):
  $f = R \sqrt x \, (k_n x + m g_n x \dot x)$, which is this law with $n = 3/2$, $k = R k_n$ and
  $d = m g_n / k_n$.

The coefficients of a pair are the means of those of its materials.
"""

from collections.abc import Mapping
from typing import Any

from stiction._base.errors import InputError, unknown
from stiction.interop.contact import (
    TIME_STEP,
    CompliantContact,
    ForeignEngine,
    Translation,
    number,
    recommended_step,
)
from stiction.interop.linear import Oscillator, from_oscillator, to_oscillator

HERTZ = 1.5


def to_chrono(contact: CompliantContact, *, time_step: float | None = None) -> Translation:
    """A contact in Chrono's words: Hooke, and Flores beside it where a radius is given."""
    oscillator = to_oscillator(contact)
    omega = oscillator.frequency
    dt = time_step or recommended_step(oscillator.duration)
    parameters: dict[str, Any] = {
        "model": "Hooke",
        "kn": contact.mass * omega**2,
        "gn": 2 * oscillator.damping_ratio * omega,
        "friction": contact.mu_dynamic,
        "time_step": dt,
    }
    limits = [
        "Hooke is a linear spring and damper: restitution is the same at every speed (here right at"
        f" {contact.speed:g} m/s), and the force jumps at touch",
        f"gn is per unit of effective mass: restitution is right for {contact.mass:g} kg only",
        "friction is a spring over one step only, capped by the cone: a body below it creeps",
    ]
    if contact.radius is not None:
        hertz = contact.with_peak_depth(contact.peak_depth, HERTZ)
        k_n = hertz.stiffness / contact.radius
        parameters["multicore"] = {
            "model": "Flores",
            "kn": k_n,
            "gn": hertz.dissipation * k_n / contact.mass,
        }
        limits.append(
            "Flores (Chrono::Multicore) has the law exactly for n = 3/2, but for one mass"
        )
    return Translation(
        engine="chrono",
        parameters=parameters,
        limits=tuple(limits),
        snippet="system.UseMaterialProperties(false);\n"
        "system.SetContactForceModel(ChSystemSMC::Hooke);\n"
        f"material->SetKn({parameters['kn']:.10g}f);  material->SetGn({parameters['gn']:.10g}f);\n"
        f"material->SetFriction({contact.mu_dynamic:g}f);  // both materials",
        time_step=dt,
    )


def from_chrono(
    parameters: Mapping[str, Any], *, mass: float, speed: float
) -> tuple[CompliantContact, tuple[str, ...]]:
    """The contact that Chrono's coefficients amount to for one mass and speed.

    Args:
        parameters: `kn`, `gn`, and `model` (Hooke or Flores), `friction`; `radius` [m] for Flores.
        mass: Effective mass at the contact [kg].
        speed: Speed of approach [m/s].

    Returns:
        The contact, and what was lost on the way.
    """
    model = parameters.get("model", "Hooke")
    k_n, g_n = number(parameters, "kn"), number(parameters, "gn")
    mu = number(parameters, "friction", 0.0)
    if k_n <= 0:
        raise InputError(f"`kn` must be positive, got {k_n:g}")
    if model == "Hooke":
        omega = (k_n / mass) ** 0.5
        contact = from_oscillator(
            Oscillator(omega, g_n / (2 * omega)), mass=mass, speed=speed, mu=mu
        )
        return contact, (
            "restitution is this at every speed in Chrono, and at this speed only in the result",
        )
    if model != "Flores":
        raise unknown("Chrono force model", model, ("Hooke", "Flores"))
    radius = number(parameters, "radius")
    contact = CompliantContact(
        stiffness=k_n * radius,
        dissipation=mass * g_n / k_n,
        exponent=HERTZ,
        mass=mass,
        speed=speed,
        mu_static=mu,
        mu_dynamic=mu,
        radius=radius,
    )
    return contact, ()


CHRONO = ForeignEngine(
    title="Chrono",
    parameters={
        "kn": "normal stiffness [N/m] (Flores: [N/m^(5/2)])",
        "gn": "normal damping per unit of effective mass [1/s] (Flores: [1/(m s)])",
        "model": "Hooke or Flores",
        "radius": "relative radius of curvature [m], for Flores",
        "friction": "coefficient of friction",
    },
    to=to_chrono,
    back=from_chrono,
    options=TIME_STEP,
)
