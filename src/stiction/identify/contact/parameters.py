"""From the parameters of the contact model to those that were asked for, and back."""

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.identify.contact.model import ContactModel

# What each parameter of the output is called in sentences, and its unit.
LETTERS = {
    "k": ("stiffness", "N/m^λ"),
    "c": ("damping", "N·s/m"),
    "alpha": ("dissipation", "s/m"),
    "mu": ("friction", ""),
    "k_f": ("bristle stiffness", "N/m"),
    "mu_s": ("static friction", ""),
    "lambda": ("exponent", ""),
    "offset": ("place", "m"),
    **{letter: (letter, "N") for letter in ("fx", "fy", "fz")},
    **{letter: (letter, "N·m") for letter in ("mx", "my", "mz")},
}


def wanted_names(model: ContactModel) -> tuple[str, ...]:
    """The parameters of the output: `surface.k`, `surface.mu`, …, then the sensor's."""
    names = []
    for m in model.materials:
        own = ["k"]
        own += ["c"] if m.damping else []
        own += ["alpha"] if m.dissipation else []
        own += ["mu"] if m.friction != "none" else []
        own += ["k_f", "mu_s"] if m.bristle else []
        own += ["lambda"] if m.exponent else []
        own += ["offset"] if m.offset else []
        names += [f"{m.name}.{n}" for n in own]
    return (*names, *(n for n in model.linear_names if n.startswith("bias.")))


def _quotients(model: ContactModel) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each output as factor × θ[above] / θ[below]; which material's break-away multiplies it.

    Places past the end of θ stand for 1, and so does a material past the last.
    """
    place = {name: i for i, name in enumerate(model.names)}
    one, none = len(model.names), len(model.materials)
    materials = [m.name for m in model.materials]
    rows = []
    for full in wanted_names(model):
        material, _, name = full.rpartition(".")
        k = place.get(f"{material}.k", one)
        if name == "mu" and f"{material}.kmu" in place:
            rows.append((1.0, place[f"{material}.kmu"], k, none))
        elif name == "alpha":
            rows.append((2 / 3, place[f"{material}.h"], k, none))
        elif name == "mu_s":
            rows.append((1.0, place[f"{material}.k_f"], k, materials.index(material)))
        else:
            rows.append((1.0, place[full], one, none))
    factor, above, below, of = zip(*rows, strict=True)
    return np.array(factor), np.array(above), np.array(below), np.array(of)


def wanted_values(
    model: ContactModel,
    theta: Float[Array, " p"] | Float[np.ndarray, " p"],
    breakaway: Float[np.ndarray, " n_materials"],
) -> Float[Array, " w"] | Float[np.ndarray, " w"]:
    r"""The parameters of the output from those of the model.

    $\mu = (k\mu) / k$ (ma 12), $\alpha = \tfrac23 h / k$ (marhefka 7),
    $\mu_s = k_f s_\max / (k d^\lambda)$ at the switch from holding to sliding.

    Args:
        model: For the names.
        theta: As in `ContactModel.names`.
        breakaway: $s_\max / d^\lambda$ at the switch, by material.
    """
    factor, above, below, of = _quotients(model)
    xp = np if isinstance(theta, np.ndarray) else jnp
    padded = xp.concatenate([theta, np.ones(1)])
    with np.errstate(divide="ignore", invalid="ignore"):  # nan where nothing told k
        return padded[above] / padded[below] * (factor * np.append(breakaway, 1.0)[of])


def model_values(model: ContactModel, wanted: dict[str, float]) -> Float[Array, " p"]:
    """The model's parameters from those of the output: the inverse of `wanted_values`."""
    own = set(wanted_names(model)) - {n for n in wanted_names(model) if n.endswith(".mu_s")}
    missing = sorted(n for n in own if n not in wanted and not n.startswith("bias."))
    extra = sorted(
        set(wanted) - set(wanted_names(model)) - {f"{m.name}.s_max" for m in model.materials}
    )
    if missing or extra:
        word = "lacks" if missing else "must not have"
        raise InputError(
            f"the table of parameters {word} `{(missing or extra)[0]}`;"
            f" it needs: {', '.join(sorted(own))}"
        )
    out = []
    for full in model.names:
        material, _, name = full.rpartition(".")
        k = wanted.get(f"{material}.k", 0.0)
        if name == "kmu":
            out.append(k * wanted[f"{material}.mu"])
        elif name == "h":
            out.append(1.5 * wanted[f"{material}.alpha"] * k)
        else:
            out.append(wanted.get(full, 0.0))
    return jnp.asarray(np.array(out, dtype=float))


def jacobian_of_wanted(
    model: ContactModel,
    theta: Float[np.ndarray, " p"],
    breakaway: Float[np.ndarray, " n_materials"],
) -> Float[np.ndarray, "w p"]:
    """Derivative of `wanted_values`, for standard errors; zero where θ[below] is."""
    factor, above, below, of = _quotients(model)
    scale = factor * np.append(breakaway, 1.0)[of]
    padded, rows = np.append(theta, 1.0), np.arange(len(above))
    inverse = np.divide(1.0, padded[below], out=np.zeros(len(rows)), where=padded[below] != 0)
    J = np.zeros((len(above), len(padded)))
    J[rows, above] = scale * inverse
    J[rows, below] -= scale * padded[above] * inverse**2
    return J[:, :-1]
