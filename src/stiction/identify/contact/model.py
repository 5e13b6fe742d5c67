r"""The contact model as a regression: wrench = columns × parameters (ma 2-12, 17-20, 22, 23).

Force of one contact on the moving body, with $t = -v_t / |v_t|$:

$$ f = k d^\lambda n + c \dot d\, n + h d^\lambda \dot d\, n + \mu k d^\lambda t
   \quad\text{or, while its bristle holds,}\quad - k_f s $$

(2, 3, 4, 6); $h = \tfrac32 \alpha k$ is Hunt-Crossley damping (marhefka 6, 7), $s$ the bristle's
stretch (22). The wrench is the sum over the contacts, $(\sum f_i, \sum r_i \times f_i)$ (5): linear
in k, c, h, kμ and k_f of every material (12, 19, 23). What is not linear (λ, a plate's offset, μ
where friction follows the whole normal force) is kept apart, for variable projection.

Departures from the document: a contact whose normal force would pull is open (`carrying`), since
plates are not glued to the peg; and friction may follow the whole normal force as (4) says, not
only its elastic part as (6) does.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import AnyArray, Array, ArrayLike, Bool, Float
from stiction.identify.contact.calibration import Calibration, small_turn
from stiction.identify.contact.geometry import BodyState, Candidates, candidates, skew
from stiction.identify.contact.plates import FlatPlates
from stiction.identify.contact.shapes import AbstractShape, Body

# Linear and nonlinear parameters of one material, in the order of the parameter vector.
LINEAR = ("k", "c", "h", "kmu", "k_f")
NONLINEAR = ("lambda", "mu", "offset")
BIAS = ("bias.fx", "bias.fy", "bias.fz", "bias.mx", "bias.my", "bias.mz")


@dataclass(frozen=True)
class Material:
    """Which terms the contacts with one or several plates have."""

    name: str
    damping: bool = True  # c
    dissipation: bool = False  # h, Hunt-Crossley
    friction: Literal["none", "spring", "normal"] = "spring"  # of what it is a fraction: (6), (4)
    bristle: bool = False  # k_f
    exponent: bool = False  # whether λ is estimated
    offset: bool = False  # whether the plate's place is estimated
    slides: bool = True  # whether it ever slid surely; if not, friction is given up

    @property
    def linear(self) -> tuple[str, ...]:
        """Names of the linear parameters it has."""
        has = (True, self.damping, self.dissipation, self.friction == "spring", self.bristle)
        return tuple(name for name, wanted in zip(LINEAR, has, strict=True) if wanted)

    @property
    def nonlinear(self) -> tuple[str, ...]:
        """Names of the nonlinear parameters it has."""
        has = (self.exponent, self.friction == "normal", self.offset)
        return tuple(name for name, wanted in zip(NONLINEAR, has, strict=True) if wanted)


class Bristles(eqx.Module):
    """The state of the bristles at one sample, or at any number along leading axes (ma 22)."""

    # where each bristle stands on its plate, world axes [m]
    root: Float[AnyArray, "*n n_plates n_points 3"]
    # whether it holds (δ = 0) rather than slides (δ = 1)
    sticking: Bool[AnyArray, "*n n_plates n_points"]


class ContactModel(eqx.Module):
    """Everything known before the test: shapes, plates, which terms, where the wrench is taken."""

    body: Body  # pieces of the moving body
    plates: FlatPlates  # what it may touch
    allowed: Bool[Array, "n_plates n_points"]  # which pairs may touch
    exponent: Float[Array, " n_materials"]  # λ of each material; the start where it is estimated
    slip_floor: Float[Array, ""]  # below this slip speed [m/s] the direction of friction fades out
    reference: Float[Array, "3"]  # the wrench's reference point [m], in the frame of `axes`
    calibration: Calibration  # corrections of frames, places and sizes
    # frame of the wrench: "world", or "body" for a sensor that moves along
    axes: Literal["world", "body"] = eqx.field(static=True, default="world")
    materials: tuple[Material, ...] = eqx.field(static=True, default=())  # terms of each material
    material_of: tuple[int, ...] = eqx.field(static=True, default=())  # the material of each plate
    # whether the wrench sensor's constant offset is estimated
    bias: bool = eqx.field(static=True, default=False)
    # whether a contact may pull (the unclamped law of ma)
    may_pull: bool = eqx.field(static=True, default=False)

    @cached_property
    def linear_names(self) -> tuple[str, ...]:
        """`material.k`, … in the order of the linear parameters."""
        own = tuple(f"{m.name}.{name}" for m in self.materials for name in m.linear)
        return own + (BIAS if self.bias else ())

    @cached_property
    def nonlinear_names(self) -> tuple[str, ...]:
        """`material.lambda`, … in the order of the nonlinear parameters."""
        return tuple(f"{m.name}.{name}" for m in self.materials for name in m.nonlinear)

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters, the linear ones first."""
        return self.linear_names + self.nonlinear_names

    @property
    def has_bristles(self) -> bool:
        """Whether any material sticks."""
        return any(m.bristle for m in self.materials)

    def shapes(self) -> list[tuple[AbstractShape, Bool[np.ndarray, "n_plates m"]]]:
        """The body's pieces, each with the plates that its points may touch."""
        ends = np.cumsum([shape.n_points for shape in self.body])
        return list(
            zip(self.body, np.split(np.asarray(self.allowed), ends[:-1], axis=1), strict=True)
        )

    def split(self, theta: Float[Array, " p"]) -> tuple[Array, Array]:
        """The linear and the nonlinear part of a parameter vector."""
        n = len(self.linear_names)
        return theta[:n], theta[n:]

    @property
    def selection(self) -> tuple[tuple[str, ...], Float[Array, "n_terms n_plates n_columns"]]:
        """The terms that occur, and which of them on which plate makes which column."""
        used = tuple(n for n in LINEAR if any(n in m.linear for m in self.materials))
        own = [(i, name) for i, m in enumerate(self.materials) for name in m.linear]
        pick = np.zeros((len(used), len(self.material_of), len(own)))
        for column, (i, name) in enumerate(own):
            pick[used.index(name), np.array(self.material_of) == i, column] = 1.0
        return used, jnp.asarray(pick)

    def unloaded(self) -> Float[Array, " p"]:
        """Parameters of no force at all, for questions of geometry alone."""
        return jnp.concatenate([jnp.zeros(len(self.linear_names)), self.nonlinear_start()])

    def reference_point(self, motion: BodyState) -> Float[Array, "3"]:
        """World position of the wrench's reference point at one sample."""
        reference = self.reference + self.calibration.sensor_point
        if self.axes == "world":
            return reference
        return motion.position + motion.rotation @ reference

    def in_sensor_axes(self, motion: BodyState, wrench: Float[Array, "6 *k"]) -> Array:
        """A wrench (or columns of them) in world axes, as the sensor has it."""
        R = small_turn(self.calibration.sensor_turn)
        if self.axes == "body":
            R = motion.rotation @ R
        return jnp.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])

    def nonlinear_start(self) -> Float[Array, " q"]:
        """λ as given, μ 0.3, offset 0."""
        values = [
            {"lambda": self.exponent[i], "mu": jnp.array(0.3), "offset": jnp.array(0.0)}[name]
            for i, m in enumerate(self.materials)
            for name in m.nonlinear
        ]
        return jnp.stack(values) if values else jnp.zeros(0)

    def plate_values(self, name: str, theta: Float[AnyArray, " p"]) -> Float[AnyArray, " n_plates"]:
        """One parameter, plate by plate: zero (λ: as given) where its material lacks it."""
        pick = np.zeros((len(self.material_of), len(self.names)))
        for plate, i in enumerate(self.material_of):
            full = f"{self.materials[i].name}.{name}"
            if full in self.names:
                pick[plate, self.names.index(full)] = 1.0
        xp = theta.__array_namespace__()
        value = xp.asarray(pick) @ theta
        if name != "lambda":
            return value
        given = xp.asarray(self.exponent)[np.array(self.material_of)]
        return xp.where(xp.asarray(pick.any(axis=1)), value, given)


def find_contacts(model: ContactModel, theta: Float[Array, " p"], motion: BodyState) -> Candidates:
    """The candidates of one sample, the plates moved by their offsets where these are estimated."""
    c = model.calibration
    found = candidates(model.body, model.plates, model.allowed, c.moved(motion), 1 + c.size)
    offset = c.plates
    if any(m.offset for m in model.materials):
        offset = offset + model.plate_values("offset", theta)
    return eqx.tree_at(lambda c: c.depth, found, found.depth + offset[:, None])


def _elastic(depth, exponent):
    """d^λ where touching, else 0, with a finite second derivative everywhere."""
    safe = jnp.where(depth > 0, depth, 1.0)
    return jnp.where(depth > 0, safe ** exponent[:, None], 0.0)


def carrying(
    model: ContactModel, theta: Float[Array, " p"], found: Candidates
) -> Bool[Array, "n_plates n_points"]:
    """Which candidates of one sample carry force: touching, and not pulling under `theta`."""
    if model.may_pull:
        return found.touching
    k, c, h = (model.plate_values(name, theta)[:, None] for name in ("k", "c", "h"))
    e = _elastic(found.depth, model.plate_values("lambda", theta))
    return found.touching & (k * e + (c + h * e) * found.depth_rate > 0)


def columns(
    model: ContactModel,
    theta: Float[Array, " p"],
    motion: BodyState,
    found: Candidates,
    loaded: Bool[Array, "n_plates n_points"],
    bristles: Bristles | None = None,
    blur: Float[ArrayLike, ""] = 0.0,
) -> Float[Array, "6 n_linear"]:
    """The matrix A of one sample (ma 12, 20, 23): force above, moment about the reference below.

    Only the nonlinear part of `theta` is read. `blur` is the variance of the slip's noise, each way
    [m²/s²]: in the mean it shortens the direction of slip by the part blur / 2 v², which is made
    up for.
    """
    motion = model.calibration.moved(motion)
    weight = loaded.astype(found.depth.dtype)
    e = _elastic(found.depth, model.plate_values("lambda", theta)) * weight
    rate = found.depth_rate * weight
    n = jnp.broadcast_to(found.normal[:, None, :], found.slip.shape)
    # The floor keeps the direction finite where nothing slides; it fades friction out there.
    square = jnp.sum(found.slip**2, axis=-1)
    speed = jnp.sqrt(jnp.maximum(square - blur, square / 2) + model.slip_floor**2)
    slides = np.array([float(model.materials[i].slides) for i in model.material_of])
    t = -found.slip / speed[..., None] * slides[:, None, None]
    push = n + model.plate_values("mu", theta)[:, None, None] * t
    sliding, holding = e, jnp.zeros_like(found.slip)
    if bristles is not None:
        held = bristles.sticking.astype(weight.dtype)
        stretch = found.point - bristles.root
        stretch = stretch - jnp.sum(stretch * n, axis=-1, keepdims=True) * n
        sliding, holding = e * (1 - held), -(weight * held)[..., None] * stretch
    forces = {
        "k": e[..., None] * push,
        "c": rate[..., None] * push,
        "h": (e * found.depth_rate)[..., None] * push,
        "kmu": sliding[..., None] * t,
        "k_f": holding,
    }
    used, pick = model.selection
    f = jnp.stack([forces[name] for name in used])
    arm = skew(found.point - model.reference_point(motion)[None, None])
    moments = jnp.einsum("pmij,tpmj->tpi", arm, f)
    A = jnp.einsum("tpi,tpc->ic", jnp.concatenate([jnp.sum(f, axis=2), moments], -1), pick)
    A = model.in_sensor_axes(motion, A)
    return jnp.concatenate([A, jnp.eye(6)], axis=-1) if model.bias else A


def wrench(
    model: ContactModel,
    theta: Float[Array, " p"],
    motion: BodyState,
    bristles: Bristles | None = None,
) -> Float[Array, "6"]:
    """Wrench of the contacts on the moving body at one sample, force first."""
    found = find_contacts(model, theta, motion)
    loaded = carrying(model, theta, found)
    linear, _ = model.split(theta)
    return columns(model, theta, motion, found, loaded, bristles) @ linear
