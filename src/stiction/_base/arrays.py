"""Array types used throughout, and the one place where double precision is switched on.

Dimension names say what they count: `nq` coordinates, `nv` degrees of freedom, `n_contacts`, …
"""

import os
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, ArrayLike, Bool, Float, Int, Real

from stiction._base.compile import announce_compilations, trace_state_clean
from stiction._base.program_cache import keep_programs

# Contact is decided by signs of small differences; single precision is for those who ask for it
# (`JAX_ENABLE_X64=0`, or `mechanism.astype(jnp.float32)` for one computation).
if "JAX_ENABLE_X64" not in os.environ:
    jax.config.update("jax_enable_x64", True)

# Threads of XLA, which are started with the first computation. Factors of many matrices are made in
# parallel by threads of the pool that waits for them: on two cores two such programs would wait for
# each other for ever.
os.environ.setdefault("NPROC", str(max(8, os.cpu_count() or 1)))

# Compiled programs are kept on disk, so that the next process starts quickly. JAX's own settings
# win; `STICTION_CACHE=off` keeps nothing.
_CACHE = os.environ.get("STICTION_CACHE", "")
if jax.config.values["jax_compilation_cache_dir"] is None and _CACHE != "off":
    keep_programs(_CACHE)
announce_compilations()


class Tolerance(NamedTuple):
    """A small number that depends on the precision of what it is compared with."""

    double: float
    single: float

    def of(self, x: Array) -> float:
        """The one for numbers like x."""
        return self.double if x.dtype == jnp.float64 else self.single


def is_traced(tree: Any) -> bool:
    """Whether JAX is tracing any array of a tree: then its numbers are not known."""
    if trace_state_clean():  # nothing is being traced; to look at every array takes far longer
        return False
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(tree))


TINY = Tolerance(1e-300, 1e-30)  # added to what must not be zero

AnyArray = Array | np.ndarray  # where a function serves both, by `__array_namespace__`
Scalar = Float[Array, ""]
ScalarLike = Float[ArrayLike, ""]
Numbers = Float[ArrayLike, "..."]  # of a law: one, or one for each contact and lane
Vector3 = Float[Array, "3"]
Matrix3 = Float[Array, "3 3"]

__all__ = [
    "TINY",
    "AnyArray",
    "Array",
    "ArrayLike",
    "Bool",
    "Float",
    "Int",
    "Matrix3",
    "Numbers",
    "Real",
    "Scalar",
    "ScalarLike",
    "Tolerance",
    "Vector3",
    "is_traced",
]
