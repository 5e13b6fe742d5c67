"""The foot of marhefka Sec. 5: the scene `foot`, as it is or with a longer support.

Three phases: placement (position control), support (constant force), lift (position control from
where the foot is). The document leaves the force and the times open; the values are the scene's.
"""

import numpy as np

from stiction.engines import Compliance
from stiction.scenes.read import read_scenario
from stiction.scenes.run import Run, run_scenario
from stiction.scenes.scenario import Scenario


def foot_run(*, lift: float | None = None, until: float | None = None) -> Run:
    """Run the foot through its three phases.

    Args:
        lift: When support ends [s]; as in the scene by default.
        until: When the run ends [s]; as in the scene by default.
    """
    scenario, folder = read_scenario("foot")
    fields = scenario.model_dump(exclude_unset=True)
    if lift is not None:
        fields["control"]["leg"]["phases"][1]["until"] = lift
    if until is not None:
        fields["until"] = until
    return run_scenario(Scenario.model_validate(fields), folder)


def compliance(run: Run) -> Compliance:
    """Depths and energies of the foot's contact."""
    found = run.trajectory.compliance
    assert found is not None
    return found


def phase_ends(run: Run) -> tuple[float, float]:
    """When placement and when support end [s]."""
    placement, support, _ = (float(p.until or np.inf) for p in run.scenario.control["leg"].phases)
    return placement, support


def desired_depth(run: Run) -> np.ndarray:
    """The depth that the control wants at each sample [m]; nan while it only pushes."""
    time, depth = np.asarray(run.trajectory.time), compliance(run).depth[:, 0]
    ends = phase_ends(run)
    wanted = np.full(time.shape, np.nan)
    starts = (0.0, *ends)
    for phase, begin, end in zip(
        run.scenario.control["leg"].phases, starts, (*ends, np.inf), strict=True
    ):
        if phase.gain == 0:
            continue
        now = (time >= begin) & (time <= end)
        origin = -np.interp(begin, time, depth) if phase.relative else 0.0
        wanted[now] = -origin - np.polynomial.Polynomial(phase.desired)(time[now] - begin)
    return wanted
