"""All numbers of one impact together."""

from collections.abc import Mapping

from stiction.laws.impact.duration import contact_duration
from stiction.laws.impact.phase_plane import peak_depth, peak_force
from stiction.laws.impact.rebound import (
    energy_lost,
    energy_lost_fraction,
    rebound_speed,
    restitution,
)


def impact_summary(
    speed: float, dissipation: float, body: Mapping[str, float] | None = None
) -> dict[str, float]:
    """What comes out of an impact, as plain numbers by name.

    Args:
        speed: Speed of approach [m/s].
        dissipation: Hunt-Crossley dissipation [s/m].
        body: `mass` [kg], `stiffness` [N/m^n] and `exponent`; without them depth, force, duration
            and the energy in joules are not known.
    """
    found = {
        "speed": speed,
        "restitution": float(restitution(speed, dissipation)),
        "rebound_speed": float(rebound_speed(speed, dissipation)),
        "energy_lost_fraction": float(energy_lost_fraction(speed, dissipation)),
    }
    if body is not None:
        at = {"speed": speed, "dissipation": dissipation, **body}
        found |= {
            "energy_lost": float(energy_lost(speed, dissipation, body["mass"])),
            "peak_depth": float(peak_depth(**at)),
            "peak_force": float(peak_force(**at)),
            "duration": float(contact_duration(**at)),
        }
    return found
