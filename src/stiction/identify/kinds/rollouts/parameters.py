"""Numbers of a contact's law by name: where they stand, their units and bounds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError


class LawNumber(NamedTuple):
    """What is known of a number before anything is measured."""

    unit: str
    lower: float
    upper: float
    members: tuple[str, ...] = ()  # fields of the law that it stands for, if not its own name
    # Where it is looked for: between these, or else within this factor of where the search begins.
    least: float = 0.0
    most: float | None = None
    factor: float = 4.0


PARAMETERS = {
    "mu": LawNumber("", 0.0, np.inf, ("mu", "mu_static", "mu_dynamic"), most=0.8),
    "mu_static": LawNumber("", 0.0, np.inf, most=0.8),
    "mu_dynamic": LawNumber("", 0.0, np.inf, most=0.8),
    "restitution": LawNumber("", 0.0, 1.0, most=0.95),
    "stiffness": LawNumber("N/m^n", 0.0, np.inf),
    "dissipation": LawNumber("s/m", 0.0, np.inf),
    "damping": LawNumber("N·s/m", 0.0, np.inf),
    "bristle_stiffness": LawNumber("N/m", 0.0, np.inf),
    "bristle_damping": LawNumber("N·s/m", 0.0, np.inf),
}


def law_values(law: Any, wanted: list[str]) -> Float[np.ndarray, " n"]:
    """The numbers that a law has now, each the mean over its contacts."""
    leaves = {_name(path): leaf for path, leaf in jax.tree.flatten_with_path(law)[0]}
    values = []
    for name in wanted:
        found = [float(np.mean(leaves[m])) for m in _members(name) if m in leaves]
        if not found:
            known = [n for n in PARAMETERS if any(m in leaves for m in _members(n))]
            raise InputError(
                f"`wanted` must name numbers of the law '{type(law).__name__.lower()}'"
                f" ({', '.join(known)}), got '{name}'"
            )
        values.append(float(np.mean(found)))
    return np.array(values)


def reach(
    wanted: Sequence[str], values: Float[np.ndarray, " p"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Between which values each wanted number is looked for, from where the search begins."""
    pairs = [
        (b.least, b.most) if b.most is not None else (x / b.factor, x * b.factor)
        for b, x in zip((PARAMETERS[n] for n in wanted), values, strict=False)
    ]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])


def with_values(law: Any, wanted: list[str], values: Float[Array, " n"]) -> Any:
    """The law with other numbers, the same for all contacts. Differentiable."""
    place = {m: i for i, name in enumerate(wanted) for m in _members(name)}

    def change(path: tuple, leaf: Array) -> Array:
        i = place.get(_name(path))
        return leaf if i is None else jnp.broadcast_to(values[i], jnp.shape(leaf))

    return jax.tree.map_with_path(change, law)


def _members(name: str) -> tuple[str, ...]:
    return PARAMETERS[name].members or (name,)


def _name(path: tuple) -> str:
    """What a scenario calls the number at a path of a law."""
    words = [key.name for key in path]
    bristle = words[0] == "tangential" and words[-1] in ("stiffness", "damping")
    return f"bristle_{words[-1]}" if bristle else words[-1]
