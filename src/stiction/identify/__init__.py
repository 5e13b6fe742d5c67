"""Parameters from logs: of a contact, an axis, a slider, impacts, tosses, rollouts.

`read_setup` gives a setup, whose `kind` says what was recorded; `identify_logs` goes from logs on
disk to an `Identification`: parameters with standard errors and intervals, residuals, and verdicts
on what the test could not tell. `export` says it in another engine's words.

- `setups`: the kinds, and the way in for all of them. `kinds/`: one file or folder each, with its
  setup and its `identify`.
- For contact tests (ma): `recording`, `faults` and `detective` (what the sensors said, and what is
  wrong with it), `path/` (the motion at any time, noise, clocks), `contact/` (the model: shapes,
  plates, the law as a regression; `convex`: two convex bodies that both move), `fit/` (samples,
  regression, errors in variables, nuisances, residuals, online). `guess` makes a setup from the
  columns of a log.
- `result` and `verdicts` (what comes out), `exporting/` (engines), `bench/` (virtual tests, the
  design of tests, studies of the estimator).
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
