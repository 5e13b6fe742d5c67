"""From a state and a law to a trajectory.

`simulate` is the door; the law chooses the engine: `Hybrid` (rigid, exact events), `Stepping`
(rigid, fixed steps) or `Compliant` (springs and dampers). What comes out is a `Trajectory`, which
knows its mechanism and contacts, its events and the reactions of the ground. The machine that does
the work (`core`, `blueprint`) needs no JAX; what does is imported when it is first used.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
