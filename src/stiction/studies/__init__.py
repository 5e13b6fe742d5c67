"""Studies: from one run to a million, on one core or on a cluster.

A `StudyDesign` says which cases there are: fields on a grid, drawn from distributions, from a
table, in replicates. `study` does them, whatever they are: runs of a scene, or any function. The
results are a Zarr group that is written block by block and never torn; started again, a study goes
on where it was. Then come the answers: probabilities, Sobol indices, basins, cases that failed.

- `variations`, `design`: what varies, and how it is sampled.
- `subject`, `scene_subject`, `block`, `measures`, `others`: what is done in a case, and kept of it.
- `store`, `running`, `watch`, `conduct`: the results on disk, and who does the work.
- `ask`, `sensitivity`, `rests`: answers. `random_models`: draws as files for other engines.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
