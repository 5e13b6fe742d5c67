"""The contact model at many samples of a motion: `model`'s functions mapped and compiled."""

import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import AnyArray, Array, Bool, Float
from stiction.identify.contact.bristles import follow_bristles
from stiction.identify.contact.geometry import BodyState, Candidates
from stiction.identify.contact.inertia import CarriedInertia, inertial_wrench
from stiction.identify.contact.mapped import sample_jit
from stiction.identify.contact.model import (
    Bristles,
    ContactModel,
    carrying,
    columns,
    find_contacts,
    wrench,
)


@sample_jit(2)
def contacts_along(model: ContactModel, theta: Float[Array, " p"], motion: BodyState) -> Candidates:
    """The candidates of many samples."""
    return jax.vmap(lambda m: find_contacts(model, theta, m))(motion)


@sample_jit(2)
def loaded_along(
    model: ContactModel, theta: Float[Array, " p"], found: Candidates
) -> Bool[Array, "n n_plates n_points"]:
    """Which candidates of many samples carry force."""
    return jax.vmap(lambda c: carrying(model, theta, c))(found)


@sample_jit(2)
def columns_along(
    model: ContactModel,
    z: Float[Array, " n_nonlinear"],
    motion: BodyState,
    loaded: Bool[Array, "n n_plates n_points"],
    bristles: Bristles | None,
) -> tuple[Float[Array, "n 6 n_linear"], Float[Array, "n 6 n_linear n_nonlinear"]]:
    """The regression matrix A of many samples, and its derivative by the nonlinear parameters."""

    def one(motion, loaded, bristles):
        def A(z):
            theta = jnp.concatenate([jnp.zeros(len(model.linear_names)), z])
            found = find_contacts(model, theta, motion)
            return columns(model, theta, motion, found, loaded, bristles)

        return A(z), jax.jacfwd(A)(z)

    return jax.vmap(one, (0, 0, None if bristles is None else 0))(motion, loaded, bristles)


@sample_jit(2)
def wrenches_along(
    model: ContactModel,
    theta: Float[Array, " p"],
    motion: BodyState,
    bristles: Bristles | None = None,
) -> Float[Array, "n 6"]:
    """Wrenches of the contacts on the moving body, as the sensor reads them."""
    per_sample = None if bristles is None else 0
    return jax.vmap(lambda m, b: wrench(model, theta, m, b), (0, per_sample))(motion, bristles)


def bristles_along(
    model: ContactModel,
    theta: Float[AnyArray, " p"],
    motion: BodyState,
    stretch_limit: Float[np.ndarray, " n_materials"],
) -> Bristles:
    """The bristles along a test, samples in the order of time; s_max [m] by material."""
    theta = jnp.asarray(theta)
    by_plate = [stretch_limit[i] * model.materials[i].bristle for i in model.material_of]
    found = contacts_along(model, theta, motion)
    return follow_bristles(found, loaded_along(model, theta, found), jnp.asarray(by_plate))


def inertial_along(
    model: ContactModel,
    inertia: CarriedInertia,
    motion: BodyState,
    acceleration: Float[AnyArray, "n 6"],
) -> Float[np.ndarray, "n 6"]:
    """What inertia and weight add to the readings; accelerations linear, then angular."""
    return np.asarray(_inertial(model, inertia, motion, jnp.asarray(acceleration)))


@sample_jit(2)
def _inertial(model, inertia, motion, acceleration):
    def one(motion, a):
        point = model.reference_point(motion)
        world = inertial_wrench(inertia, motion, a[:3], a[3:], point)
        return model.in_sensor_axes(motion, world)

    return jax.vmap(one)(motion, acceleration)
