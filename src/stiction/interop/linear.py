"""Between Hunt-Crossley and the linear spring and damper that many engines are underneath.

A linear law has one restitution for all speeds, and another for every mass. The translation keeps,
for one mass and at one speed, the restitution and the peak depth of a free impact.
"""

import math
from dataclasses import dataclass

from stiction.interop.contact import CompliantContact
from stiction.laws.impact import damping_ratio_for_restitution, spring_damper_restitution


@dataclass(frozen=True)
class Oscillator:
    """A linear spring and damper for one mass: force = m (ω² x + 2 ζ ω ẋ), never pulling."""

    frequency: float  # ω [rad/s]
    damping_ratio: float  # ζ [-]

    @property
    def restitution(self) -> float:
        """Restitution of a free impact [-], at any speed."""
        return float(spring_damper_restitution(float(self.damping_ratio)))

    @property
    def duration(self) -> float:
        r"""Time from touch until the force is back to zero [s]: $2 \arccos(\zeta) / \omega_d$."""
        if self.damping_ratio == 0:
            return math.pi / self.frequency
        # e = exp(-ζ ω T), so that no case distinction at ζ = 1 is needed.
        return -math.log(self.restitution) / (self.damping_ratio * self.frequency)


def to_oscillator(contact: CompliantContact) -> Oscillator:
    r"""The oscillator with the contact's restitution and peak depth at its speed.

    $e$ gives $\zeta$; then $\omega = v_i \sqrt{e} / x_m$ (docs/compliant.md, HC.17).
    """
    e = contact.restitution
    zeta = float(damping_ratio_for_restitution(e))
    return Oscillator(contact.speed * math.sqrt(e) / contact.peak_depth, zeta)


def from_oscillator(
    oscillator: Oscillator, *, mass: float, speed: float, mu: float = 0.0
) -> CompliantContact:
    """The Hunt-Crossley contact (n = 1) with the oscillator's restitution and peak depth."""
    e = oscillator.restitution
    depth = speed * math.sqrt(e) / oscillator.frequency
    blank = CompliantContact(
        stiffness=1.0, dissipation=0.0, mass=mass, speed=speed, mu_static=mu, mu_dynamic=mu
    )
    return blank.with_restitution(e).with_peak_depth(depth, 1.0)
