"""Whether a trial is usable: what the base would have to be pushed with, beside what is allowed.

Motion, masses and plates never agree quite; the difference is the residual of inverse dynamics.
[Hicks2015] asks that residual forces stay below 5 % of the largest external force, and residual
moments below 1 % of the height of the centre of mass times that force (root mean squares here).
Loads that come from the motion agree with it by construction: where plates gave some, the frames
count in which they gave all.
"""

from dataclasses import dataclass

import numpy as np

from stiction.biped.gait.dynamics import FootLoads, JointLoads

FORCE_LIMIT, MOMENT_LIMIT = 0.05, 0.01
_UNLOADED = 0.01  # of the largest force: a foot that bears less by the motion is in the air


@dataclass(frozen=True)
class ResidualReport:
    """The residual in numbers, and what they mean."""

    force_rms: float  # root mean square of the residual force over the largest external force
    # the same of the residual moment, over force times height of the centre of mass
    moment_rms: float
    force_peak: float  # largest residual force [N]
    moment_peak: float  # largest residual moment [N·m]
    usable: bool  # whether both are below the limits
    sentence: str  # that, in words


def _by_plates_alone(loads: FootLoads, largest: float) -> np.ndarray:
    """Frames in which no load comes from the motion."""
    borne = np.nan_to_num(np.linalg.norm(loads.force, axis=-1))
    by_motion = np.where(loads.measured, 0.0, borne).sum(axis=1)
    return loads.measured.any(axis=1) & (by_motion < _UNLOADED * largest)


def report_residual(
    joints: JointLoads,
    loads: FootLoads,
    height: float,
    use: np.ndarray,
    across: np.ndarray | None = None,
) -> ResidualReport:
    """Judge a trial by its residual.

    Args:
        joints: The outcome of inverse dynamics.
        loads: The external loads.
        height: Mean height of the centre of mass above the ground [m].
        use: Which frames count.
        across: The direction of which a planar motion knows nothing.
    """
    total = np.linalg.norm(loads.force.sum(axis=1), axis=1)
    use = use & np.isfinite(total)
    largest = float(total[use].max()) if use.any() else np.nan
    judged = use & _by_plates_alone(loads, largest)
    use = judged if judged.any() else use
    force, moment = joints.residual_force[use], joints.residual_moment[use]
    if across is not None:
        force, moment = force - np.outer(force @ across, across), np.outer(moment @ across, across)
    force, moment = np.linalg.norm(force, axis=1), np.linalg.norm(moment, axis=1)
    largest = largest or float(force.max())  # without loads all is residual
    force_rms = float(np.sqrt(np.mean(force**2))) / largest
    moment_rms = float(np.sqrt(np.mean(moment**2))) / (largest * height)
    by_motion = not loads.measured.any()
    good = force_rms < FORCE_LIMIT and moment_rms < MOMENT_LIMIT
    numbers = (
        f"residual force {force_rms:.1%} of the largest ground reaction (allowed"
        f" {FORCE_LIMIT:.0%}), residual moment {moment_rms:.1%} of it times the height of the"
        f" centre of mass (allowed {MOMENT_LIMIT:.0%})"
    )
    if judged.any() and not judged.all():
        numbers += f", in the {judged.mean():.0%} of frames in which plates give all loads"
    if by_motion:
        sentence = (
            f"No plate was used, so forces agree with the motion by construction; {numbers}: this"
            " says how well the soles can carry the motion, not whether the masses are right."
        )
    elif good:
        sentence = f"The trial is usable: {numbers}."
    else:
        sentence = (
            f"Use the trial with care: {numbers}. Motion, masses and plates do not agree; look at"
            " the filter, the model's mass and the plates' place before trusting hip and trunk."
        )
    return ResidualReport(
        force_rms,
        moment_rms,
        float(force.max()),
        float(moment.max()),
        good,
        sentence,
    )
