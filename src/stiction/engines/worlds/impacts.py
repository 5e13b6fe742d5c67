"""What each law makes of one impact of a world: the machine itself resolves it, once for each."""

from typing import NamedTuple

import numpy as np

from stiction.engines.blueprint import ENERGY_METHODS, IMPACTS
from stiction.engines.given import Extent, Given
from stiction.engines.worlds.state import Looked, WorldState, look_around


class ImpactOutcome(NamedTuple):
    """What a law made of an impact. Rows are those of the state."""

    velocity: np.ndarray  # (n, d) afterwards
    impulse: np.ndarray  # (n, d)
    mu: np.ndarray  # (n,) friction that was used
    kinetic: float  # afterwards
    scale: float  # by which energy control multiplied all velocities

    def part(self, which: np.ndarray) -> "ImpactOutcome":
        """Of some contacts."""
        velocity, impulse, mu = self.velocity[which], self.impulse[which], self.mu[which]
        return self._replace(velocity=velocity, impulse=impulse, mu=mu)


def resolve_in_world(
    given: Given, time: float, laws: list[tuple[str, str, bool]]
) -> tuple[WorldState, list[ImpactOutcome]]:
    """The state just before an impact, and what laws make of it.

    Args:
        given: The start is that state; something must collide there.
        time: What a clock shows.
        laws: Name, energy method, whether contacts are met one after the other.
    """
    extent = Extent(2, events=True, max_events=2)
    looked = look_around(given, extent, time=time, run=False, any_impact=True)
    run = looked.made.run
    x, k = run.x.numpy().copy(), run.k.numpy().copy()
    outcomes = []
    for name, method, sequence in laws:
        run.x.numpy()[:], run.k.numpy()[:] = x, k
        o = run.options
        o.impact, o.energy_method = IMPACTS.index(name), ENERGY_METHODS.index(method)
        o.sequence = int(sequence)
        run.go(looked.made.kernel, 1)
        outcomes.append(_outcome(looked))
    run.let_go()
    return looked.state, outcomes


def _outcome(looked: Looked) -> ImpactOutcome:
    """The first event of the log."""
    run, state = looked.made.run, looked.state
    lay, n = run.design.core.layout, run.design.machine.pairs.count
    row = run.log.numpy()[0, 0]
    size, first = int(lay.PAIR_NUMBERS), int(lay.EVENT_NUMBERS)
    pairs = row[first : first + size * n].reshape(n, size)[state.pairs]

    def rows(at: int) -> np.ndarray:
        return np.einsum("nij,nj->ni", state.turn, pairs[:, int(at) : int(at) + 3])

    left, removed = float(row[lay.KINETIC_AFTER]), float(row[lay.REMOVED])
    controlled = run.options.energy_method != ENERGY_METHODS.index("off") and removed > 0
    scale = np.sqrt(left / (left + removed)) if controlled else 1.0
    return ImpactOutcome(
        rows(lay.VELOCITY_AFTER), rows(lay.IMPULSE), pairs[:, int(lay.MU)], left, float(scale)
    )
