"""What moves: a tree of rigid bodies, read from MJCF or URDF, and its exact dynamics.

`load_mechanism` makes a `Mechanism` (find and parse the file, refuse what cannot be simulated, tidy
what real files leave untidy, compile with MuJoCo, copy the arrays). Everything else is a function
of the mechanism, q and v: poses and Jacobians, mass matrix and bias force, energies, springs and
motors. Engines compute `link_kinematics` once a state and hand it to the functions ending in `_at`.
"""

from stiction._base.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__, __file__)
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]
