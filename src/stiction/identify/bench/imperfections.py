r"""What ma's testbed had beside springs: friction and backlash in the plates' bearings, and plates
that yield more where they are pressed off their middle.

ma Sec. 4.2 finds its errors there. Identification knows nothing of them, so that the virtual
testbed can show what each does to the parameters. Along the normal of a plate at depth d:

- **bearing friction** F_b resists its motion, $\Delta f = F_b \operatorname{sign}(\dot d)$, faded
  out at slow rates, and at most the force that is there;
- **backlash** b is play between peg and springs: the springs are pressed by
  $w = \max(d - b, \min(d, w_{before}))$, which follows d only when it reaches an end of its play;
- **off the middle** the plate tilts on its four springs and yields as `plate_stiffness` says,
  which is (16) in the middle: $\Delta f = (k(x, y) - k) d$.

Friction along the plate follows the spring force, as in (6).
"""

import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import InputError
from stiction.identify.contact.along import contacts_along, loaded_along
from stiction.identify.contact.geometry import BodyState
from stiction.identify.contact.model import ContactModel
from stiction.identify.contact.plates import plate_stiffness
from stiction.identify.kinds.contact_setup import ContactSetup

_SLOW = 1e-4  # [m/s]: bearing friction fades out below this rate


def play(depth: Float[np.ndarray, " n"], width: float) -> Float[np.ndarray, " n"]:
    """What follows a depth with play: between depth - width and depth, at rest where it can."""
    out, now = np.empty_like(depth), 0.0
    for i, d in enumerate(depth):
        now = max(d - width, min(d, now))
        out[i] = now
    return out


def has_imperfections(setup: ContactSetup) -> bool:
    """Whether the testbed has any of them."""
    bed = setup.testbed
    return bed is not None and bool(bed.bearing_friction or bed.backlash or bed.tilting_plates)


def imperfect_wrench(
    setup: ContactSetup, model: ContactModel, theta: Float[Array, " p"], motion: BodyState
) -> Float[np.ndarray, "n 6"]:
    """What the imperfections add to the wrench at every sample, samples in the order of time."""
    bed = setup.testbed
    assert bed is not None
    names = [s.name for s in setup.surfaces]
    for field, given in (("bearing_friction", bed.bearing_friction), ("backlash", bed.backlash)):
        if lost := set(given) - set(names):
            raise InputError(f"`testbed.{field}` must name surfaces of the setup, got {lost}")
    found = contacts_along(model, jnp.asarray(theta), motion)
    loaded = np.asarray(loaded_along(model, jnp.asarray(theta), found))
    depth, rate = np.asarray(found.depth), np.asarray(found.depth_rate)
    k, c, mu_k = (np.asarray(model.plate_values(n, jnp.asarray(theta))) for n in ("k", "c", "kmu"))
    extra = np.zeros((*depth.shape, 3))  # force of each pair
    slip = np.asarray(found.slip)
    speed = np.sqrt(np.sum(slip**2, axis=-1) + float(model.slip_floor) ** 2)
    for p, surface in enumerate(setup.surfaces):
        on = loaded[:, p]
        change = np.zeros_like(depth[:, p])  # of the spring's force
        if width := bed.backlash.get(surface.name, 0.0):
            pressed = np.where(on, np.maximum(depth[:, p], 0.0), 0.0)
            followed = np.stack([play(d, width) for d in pressed.T], axis=1)
            change += k[p] * (followed - pressed)
        if bed.tilting_plates and surface.springs is not None:
            if surface.spring_positions is None:
                raise InputError(
                    f"`surfaces.{surface.name}.spring_positions` is needed for"
                    " `testbed.tilting_plates`"
                )
            axes, origin = np.asarray(model.plates.axes[p]), np.asarray(model.plates.origin[p])
            at = (np.asarray(found.point)[:, p] - origin) @ axes[:, :2]
            stiff = [
                [plate_stiffness(surface.springs, surface.spring_positions, xy) for xy in row]
                for row in at
            ]
            change += (np.array(stiff) - k[p]) * np.maximum(depth[:, p], 0.0)
        force = np.maximum(depth[:, p], 0.0) * k[p]
        stuck = bed.bearing_friction.get(surface.name, 0.0)
        bearing = np.minimum(stuck, force) * np.tanh(rate[:, p] / _SLOW)
        normal = np.asarray(found.normal)[:, p]
        along = mu_k[p] / k[p] * change
        # A plate does not pull: at most what pushes is taken away.
        pushes = np.maximum(force + c[p] * rate[:, p], 0.0)
        extra[:, p] = on[..., None] * (
            np.maximum(change + bearing, -pushes)[..., None] * normal[:, None]
            - (along / speed[:, p])[..., None] * slip[:, p]
        )
    force = extra.sum(axis=(1, 2))
    reference = np.stack([_reference(model, motion, i) for i in range(len(force))])
    arm = np.asarray(found.point) - reference[:, None, None]
    moment = np.cross(arm, extra).sum(axis=(1, 2))
    world = np.concatenate([force, moment], axis=1)
    if model.axes == "body":
        R = np.asarray(motion.rotation)
        world = np.concatenate(
            [np.einsum("nji,nj->ni", R, world[:, :3]), np.einsum("nji,nj->ni", R, world[:, 3:])],
            axis=1,
        )
    return world


def _reference(model: ContactModel, motion: BodyState, i: int) -> np.ndarray:
    """World position of the wrench's reference point at one sample."""
    if model.axes == "world":
        return np.asarray(model.reference)
    R, p = np.asarray(motion.rotation[i]), np.asarray(motion.position[i])
    return p + R @ np.asarray(model.reference)
