"""A mechanism: rigid bodies joined in a tree. A frozen pytree.

The tree is static (it shapes the compiled program); masses, lengths, springs and gravity are
leaves, which can be traced, swept, batched and differentiated:

    heavier = eqx.tree_at(lambda m: m.bodies.mass, mechanism, 2 * mechanism.bodies.mass)

Lengths in m, masses in kg, angles in rad. Frames are those of MuJoCo's compiled model.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from stiction._base.arrays import Array, Float
from stiction._base.errors import unknown
from stiction.mechanism.tree import Tree

if TYPE_CHECKING:
    import mujoco

    from stiction.mechanism.summary import Summary


class Joints(eqx.Module):
    """Where each joint's link sits on its parent link, and what acts along it."""

    position: Float[Array, "n_joints 3"]  # of the link's frame on the parent link, at rest [m]
    rotation: Float[Array, "n_joints 3 3"]  # likewise
    anchor: Float[Array, "n_joints 3"]  # a point of the joint, in the link's frame [m]
    axis: Float[Array, "n_joints 3"]  # unit, in the link's frame; of hinges and slides
    range: Float[Array, "n_joints 2"]  # limits of hinges and slides, ±inf where there are none
    stiffness: Float[Array, "n_joints"]  # spring [N/m or N·m/rad]
    spring_zero: Float[Array, "nq"]  # where the springs are slack
    damping: Float[Array, "nv"]  # [N·s/m or N·m·s/rad]
    armature: Float[Array, "nv"]  # rotor inertia felt at the joint [kg or kg·m²]
    friction: Float[Array, "nv"]  # bound of dry friction [N or N·m]


class Bodies(eqx.Module):
    """What each body weighs and where it sits on its link. Body 0 is the world."""

    position: Float[Array, "n_bodies 3"]  # of the body's frame on its link [m]
    rotation: Float[Array, "n_bodies 3 3"]
    mass: Float[Array, "n_bodies"]  # [kg]
    center: Float[Array, "n_bodies 3"]  # centre of mass in the body's frame [m]
    inertia: Float[Array, "n_bodies 3 3"]  # about the centre of mass, body axes [kg·m²]


class Actuators(eqx.Module):
    r"""Motors and position servos: force $f = g u + b_0 + b_1 l + b_2 \dot l$, within limits.

    $u$ is the control, $l$ the actuator's length (gear times joint angle). A motor: g = 1, b = 0.
    """

    gain: Float[Array, "nu"]
    bias: Float[Array, "nu 3"]
    length_of_q: Float[Array, "nu nq"]  # l = length_of_q @ q
    moment: Float[Array, "nu nv"]  # joint forces = momentᵀ f
    control_range: Float[Array, "nu 2"]  # ±inf where unlimited
    force_range: Float[Array, "nu 2"]
    joint_range: Float[Array, "nv 2"]  # bound on the sum of actuator forces at a joint
    names: tuple[str, ...] = eqx.field(static=True)

    def offset(self, q: Float[Array, "nq"], v: Float[Array, "nv"]) -> Float[Array, "nu"]:
        """f of each where its control is zero."""
        b = self.bias
        return b[:, 0] + b[:, 1] * (self.length_of_q @ q) + b[:, 2] * (self.moment @ v)


GREY = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's own colour: nobody chose one


class Shapes(eqx.Module):
    """Geoms: what can touch and what is drawn. Sizes as MuJoCo's `geom_size`."""

    position: Float[Array, "n_shapes 3"]  # in the body's frame [m]
    rotation: Float[Array, "n_shapes 3 3"]
    size: Float[Array, "n_shapes 3"]
    friction: Float[Array, "n_shapes"]  # sliding coefficient
    names: tuple[str, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)  # plane, sphere, capsule, ellipsoid, box, …
    bodies: tuple[int, ...] = eqx.field(static=True)
    types: tuple[tuple[int, int], ...] = eqx.field(static=True)  # (contype, conaffinity) bits
    colors: tuple[tuple[float, ...], ...] = eqx.field(static=True)  # rgba
    groups: tuple[int, ...] = eqx.field(static=True)  # MuJoCo's, for drawing


class Sites(eqx.Module):
    """Named points of bodies."""

    position: Float[Array, "n_sites 3"]  # in the body's frame [m]
    rotation: Float[Array, "n_sites 3 3"]
    names: tuple[str, ...] = eqx.field(static=True)
    bodies: tuple[int, ...] = eqx.field(static=True)


class Keyframe(NamedTuple):
    """A named state of a model file."""

    name: str
    q: tuple[float, ...]
    v: tuple[float, ...]
    control: tuple[float, ...]  # of each actuator: MuJoCo's `ctrl`


class CompiledModel:
    """MuJoCo's compiled model, as it was loaded: for meshes, and for which geoms may touch.

    It is static in a `Mechanism`, and equal to another if the same geoms may touch: models that
    differ only in numbers share a compiled program. Nothing inside of such a program may use it.
    """

    def __init__(self, model: "mujoco.MjModel"):
        self.model = model
        bodies = (model.body_parentid, model.body_weldid, model.geom_bodyid)
        rules = (model.geom_contype, model.geom_conaffinity, model.exclude_signature)
        pairs = (model.pair_geom1, model.pair_geom2, np.array(model.opt.disableflags))
        self._rules = tuple(x.tobytes() for x in (*bodies, *rules, *pairs))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, CompiledModel) and self._rules == other._rules

    def __hash__(self) -> int:
        return hash(self._rules)


class Mechanism(eqx.Module):
    """Rigid bodies joined in a tree, under gravity. Made by `stiction.load`.

    `q` and `v` are laid out as MuJoCo's `qpos` and `qvel`: a free joint has position and quaternion
    (wxyz) in q, and in v the velocity of its origin in world axes and its angular velocity in body
    axes; a ball joint has a quaternion and an angular velocity in the child's axes.
    """

    joints: Joints
    bodies: Bodies
    actuators: Actuators
    shapes: Shapes
    sites: Sites
    gravity: Float[Array, "3"]  # [m/s²]
    q_reference: Float[Array, "nq"]  # the configuration that the model file describes
    tree: Tree = eqx.field(static=True)
    name: str = eqx.field(static=True)
    # What the file holds and the dynamics leave out, in words.
    ignored: tuple[str, ...] = eqx.field(static=True)
    keyframes: tuple[Keyframe, ...] = eqx.field(static=True)
    # What the file holds and only MuJoCo's own functions treat, in words: runs go through these.
    beyond: tuple[str, ...] = eqx.field(static=True)
    # Constraints on coordinates, in words: limits and dry friction of joints.
    bounds: tuple[str, ...] = eqx.field(static=True)
    # As MuJoCo has it, for what only it knows: meshes, and which geoms may touch.
    compiled: CompiledModel = eqx.field(static=True)

    @property
    def nq(self) -> int:
        """Entries of q."""
        return self.tree.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom: entries of v."""
        return self.tree.nv

    @property
    def nu(self) -> int:
        """Actuators: entries of the control."""
        return len(self.actuators.names)

    @property
    def n_bodies(self) -> int:
        """Bodies, the world included."""
        return self.tree.n_bodies

    def body(self, name: str) -> int:
        """The index of a body."""
        return _index("body", name, self.tree.body_names)

    def joint(self, name: str) -> int:
        """The index of a joint."""
        return _index("joint", name, self.tree.joint_names)

    def actuator(self, name: str) -> int:
        """The index of an actuator."""
        return _index("actuator", name, self.actuators.names)

    def site(self, name: str) -> int:
        """The index of a site."""
        return _index("site", name, self.sites.names)

    def shape(self, name: str) -> int:
        """The index of a shape (geom)."""
        return _index("geom", name, self.shapes.names)

    def astype(self, dtype: Any) -> "Mechanism":
        """The same mechanism with arrays of another precision."""

        def convert(x: Array) -> Array:
            return x.astype(dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x

        return jax.tree.map(convert, self)

    def summary(self) -> "Summary":
        """What the mechanism consists of, for people and for JSON."""
        from stiction.mechanism.summary import summarize

        return summarize(self)

    def __repr__(self) -> str:
        return (
            f"Mechanism('{self.name}', nq={self.nq}, nv={self.nv}, nu={self.nu}, "
            f"bodies={self.n_bodies - 1})"
        )


def _index(kind: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise unknown(kind, name, [n for n in names if n])
    return names.index(name)
