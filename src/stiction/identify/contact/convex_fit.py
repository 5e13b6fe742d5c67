r"""Stiffness, damping and friction of convex bodies from motions and wrench (ma 8-15, 21).

Six rows a sample, three columns a material, $w = A p$ with
$A_i = w_i (d^\lambda n, \dot d n, d^\lambda t)$ above and $r \times$ the same below; least squares
over all samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from stiction._base.errors import InputError
from stiction.identify.contact.convex import ContactRegion

_STILL = 1e-9  # [m/s]: slower than this nothing is known of friction's direction
_RANK = 1e-10


@dataclass(frozen=True)
class ConvexFit:
    """Parameters of each material, with standard errors from the residual."""

    values: dict[str, dict[str, float]]  # material -> k [N/m^λ], c [N·s/m], mu [-]
    errors: dict[str, dict[str, float]]
    residual: float  # rms over samples in contact, forces [N]


def region_columns(
    region: ContactRegion,
    materials: Sequence[str],
    *,
    body: int = 2,
    exponent: float = 1.0,
    reference: Float[np.ndarray, "3"] | None = None,
) -> Float[np.ndarray, "6 p"]:
    """The rows of one sample: force on body 1 above, its moment about `reference` below.

    Args:
        region: Where the bodies overlap.
        materials: Whose parameters are wanted; three columns each: k, c, kμ.
        body: Whose materials these are, 1 or 2.
        exponent: λ.
        reference: Of the moment [m]; the world's origin when left out.
    """
    weights = region.weights[body - 1]
    speed = float(np.linalg.norm(region.slip))
    t = -region.slip / speed if speed > _STILL else np.zeros(3)
    elastic = region.depth**exponent
    force = np.stack([elastic * region.normal, region.depth_rate * region.normal, elastic * t], 1)
    arm = region.point - (np.zeros(3) if reference is None else reference)
    moment = np.cross(arm[None], force.T).T
    one = np.concatenate([force, moment])
    return np.concatenate([weights.get(m, 0.0) * one for m in materials], axis=1)


def fit_regions(
    regions: Sequence[ContactRegion | None],
    wrench: Float[np.ndarray, "n 6"],
    materials: Sequence[str],
    *,
    body: int = 2,
    exponent: float = 1.0,
    reference: Float[np.ndarray, "3"] | None = None,
    moment_scale: float = 0.1,
) -> ConvexFit:
    """Parameters of the materials by least squares over all samples in contact.

    Args:
        regions: Of every sample; None where the bodies are apart.
        wrench: On body 1, world axes, about `reference`.
        materials: Wanted.
        body: Whose materials these are, 1 or 2.
        exponent: λ.
        reference: Of the moment [m].
        moment_scale: A moment of this many N·m counts as a force of 1 N.
    """
    options = {"body": body, "exponent": exponent, "reference": reference}
    found = [(r, w) for r, w in zip(regions, wrench, strict=True) if r is not None]
    if not found:
        raise InputError("`regions` must have samples in contact: the bodies never overlap")
    weigh = np.repeat([1.0, 1 / moment_scale], 3)
    B = np.concatenate([weigh[:, None] * region_columns(r, materials, **options) for r, _ in found])
    w = np.concatenate([weigh * v for _, v in found])
    scale = np.linalg.norm(B, axis=0)
    named = [f"{m}.{n}" for m in materials for n in ("k", "c", "kmu")]
    if np.any(scale == 0):
        never = [n for n, s in zip(named, scale, strict=True) if s == 0]
        raise InputError(f"`materials`: nothing is known of {', '.join(never)}: never touched")
    U, s, Vt = np.linalg.svd(B / scale, full_matrices=False)
    if s[-1] < _RANK * s[0]:
        worst = named[int(np.argmax(np.abs(Vt[-1])))]
        raise InputError(f"`regions`: the motion does not tell {worst} apart from the others")
    p = (Vt.T / s) @ (U.T @ w) / scale
    left = w - B @ p
    noise = float(left @ left) / max(len(w) - len(p), 1)
    spread = (Vt.T / s**2) @ Vt * noise / np.outer(scale, scale)
    values, errors = {}, {}
    for i, name in enumerate(materials):
        k, c, kmu = p[3 * i : 3 * i + 3]
        part = spread[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        slope = np.array([-kmu / k**2, 0, 1 / k])
        values[name] = {"k": float(k), "c": float(c), "mu": float(kmu / k)}
        errors[name] = {"k": float(np.sqrt(part[0, 0])), "c": float(np.sqrt(part[1, 1])),
                        "mu": float(np.sqrt(slope @ part @ slope))}  # fmt: skip
    return ConvexFit(values, errors, float(np.sqrt(np.mean(left.reshape(-1, 6)[:, :3] ** 2))))
