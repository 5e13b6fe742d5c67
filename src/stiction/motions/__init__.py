"""All possible motions of a body or a mechanism in frictional contact (erdmann).

The data go one way. `load_problem` reads a file; its `state` is the body with its contacts, which
depends on no applied force; `possible_motions` cuts the accelerations of a planar state into cells
and keeps what each allows: exact. `possible_spatial_motions` (a spatial body),
`possible_accelerations` (mass matrix and contact Jacobians) and `motions_of_mechanism` (a state of
a mechanism) search over contact modes instead. All answer with `Motions`: a verdict and the
motions, contact forces tangential first. `single_contact_motions` answers for one contact in closed
form, in batches under `jax.vmap`; `classify_forces` and `direction_ranges` tell which of many
forces jam, slide, tip or lift a planar body. Pictures are in `report`.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
