"""A free impact of one body: what comes out of it, exactly where a formula exists."""

from stiction.laws.impact.asymmetric import asymmetric_rebound_speed
from stiction.laws.impact.duration import contact_duration
from stiction.laws.impact.excess import log_excess
from stiction.laws.impact.integrate import ImpactCourse, Rebound, impact_course, integrate_impact
from stiction.laws.impact.phase_plane import depth_at_velocity, peak_depth, peak_force
from stiction.laws.impact.rebound import (
    dissipation_for_restitution,
    energy_lost,
    energy_lost_fraction,
    rebound_speed,
    restitution,
    sticky_speed,
)
from stiction.laws.impact.related_work import (
    SeriesCourse,
    series_course,
    two_springs_course,
)
from stiction.laws.impact.spring_damper import (
    damping_ratio,
    damping_ratio_for_restitution,
    spring_damper_peak_depth,
    spring_damper_restitution,
)
from stiction.laws.impact.summary import impact_summary

__all__ = [
    "ImpactCourse",
    "Rebound",
    "SeriesCourse",
    "asymmetric_rebound_speed",
    "contact_duration",
    "damping_ratio",
    "damping_ratio_for_restitution",
    "depth_at_velocity",
    "dissipation_for_restitution",
    "energy_lost",
    "energy_lost_fraction",
    "impact_course",
    "impact_summary",
    "integrate_impact",
    "log_excess",
    "peak_depth",
    "peak_force",
    "rebound_speed",
    "restitution",
    "series_course",
    "spring_damper_peak_depth",
    "spring_damper_restitution",
    "sticky_speed",
    "two_springs_course",
]
