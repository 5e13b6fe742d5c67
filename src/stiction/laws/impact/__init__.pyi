"""What the folder has for others."""

from stiction.laws.impact.asymmetric import asymmetric_rebound_speed as asymmetric_rebound_speed
from stiction.laws.impact.duration import contact_duration as contact_duration
from stiction.laws.impact.excess import log_excess as log_excess
from stiction.laws.impact.integrate import ImpactCourse as ImpactCourse
from stiction.laws.impact.integrate import Rebound as Rebound
from stiction.laws.impact.integrate import impact_course as impact_course
from stiction.laws.impact.integrate import integrate_impact as integrate_impact
from stiction.laws.impact.phase_plane import depth_at_velocity as depth_at_velocity
from stiction.laws.impact.phase_plane import peak_depth as peak_depth
from stiction.laws.impact.phase_plane import peak_force as peak_force
from stiction.laws.impact.rebound import dissipation_for_restitution as dissipation_for_restitution
from stiction.laws.impact.rebound import energy_lost as energy_lost
from stiction.laws.impact.rebound import energy_lost_fraction as energy_lost_fraction
from stiction.laws.impact.rebound import rebound_speed as rebound_speed
from stiction.laws.impact.rebound import restitution as restitution
from stiction.laws.impact.rebound import sticky_speed as sticky_speed
from stiction.laws.impact.related_work import SeriesCourse as SeriesCourse
from stiction.laws.impact.related_work import series_course as series_course
from stiction.laws.impact.related_work import two_springs_course as two_springs_course
from stiction.laws.impact.spring_damper import damping_ratio as damping_ratio
from stiction.laws.impact.spring_damper import (
    damping_ratio_for_restitution as damping_ratio_for_restitution,
)
from stiction.laws.impact.spring_damper import spring_damper_peak_depth as spring_damper_peak_depth
from stiction.laws.impact.spring_damper import (
    spring_damper_restitution as spring_damper_restitution,
)
from stiction.laws.impact.summary import impact_summary as impact_summary
