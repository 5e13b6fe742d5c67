r"""Which points of contact are closed, lasting, stuck, and hit: the index sets of rodic (19), (20).

$$ \Omega_S = \{ g_N = 0 \}, \quad \Omega_N = \{ i \in \Omega_S : \dot g_N = 0 \}, \quad
   \Omega_{H1} = \{ i \in \Omega_N : \dot g_{T1} = 0 \}, \quad
   \Omega_{H2} = \{ i \in \Omega_N : \dot g_{T2} = 0 \}, $$

and the set of points that take part in an impact, $\Omega_S^* = \{ g_N = 0, \dot g_N \le 0 \}$.
Zero means what it means to the engine: within its tolerances.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stiction.engines.forces import OPEN
from stiction.engines.result import Trajectory
from stiction.engines.tolerances import REST, TOUCH


class IndexSets(NamedTuple):
    """Names of the contacts in each set."""

    closed: tuple[str, ...]  # Ω_S
    lasting: tuple[str, ...]  # Ω_N
    held: tuple[tuple[str, ...], ...]  # Ω_H1 and, in space, Ω_H2
    struck: tuple[str, ...]  # Ω_S*


class EventSets(NamedTuple):
    """The sets before and after an event."""

    time: float  # [s]
    before: IndexSets
    after: IndexSets


def index_sets(trajectory: Trajectory, names: Sequence[str]) -> list[EventSets]:
    """The sets (19), (20) before and after every event of one run (not of a batch).

    Args:
        trajectory: A run with contacts, with its list of events.
        names: Names of the contacts.
    """
    log = trajectory.log
    if log is None:
        return []
    count = min(int(trajectory.n_events), len(log.time) - 1)
    sets = []
    for i in range(count):
        gap = np.asarray(log.gap[i])
        modes = np.asarray(log.modes_before[i])
        closed = (gap <= TOUCH.double) | (modes != OPEN)
        speeds = (np.asarray(v[i]) for v in (log.velocity_before, log.velocity_after))
        before, after = (_sets(names, closed, u) for u in speeds)
        sets.append(EventSets(float(log.time[i]), before, after))
    return sets


def _sets(names: Sequence[str], closed: np.ndarray, u: np.ndarray) -> IndexSets:
    still = np.abs(u) <= REST.double

    def of(which: np.ndarray) -> tuple[str, ...]:
        return tuple(name for name, belongs in zip(names, which, strict=True) if belongs)

    lasting = closed & still[:, -1]
    tangents = range(u.shape[1] - 1)
    return IndexSets(
        closed=of(closed),
        lasting=of(lasting),
        held=tuple(of(lasting & still[:, t]) for t in tangents),
        struck=of(closed & (u[:, -1] <= REST.double)),
    )
