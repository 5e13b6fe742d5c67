"""What every tangential law of one contact offers.

symbol  name          meaning                                             unit
v       velocity      tangential velocity of the body at the contact      m/s
N       normal_force  normal force, >= 0                                  N
f       force         tangential force on the body, against its velocity  N
z       state         what the law remembers (None where it does not)     m
"""

import abc
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Numbers, Scalar, ScalarLike

Tangent = Float[Array, " tangents"]  # 1 in the plane, 2 in space
State = Tangent | None


class FrictionLaw(NamedTuple):
    """The two families of friction that engines integrate: with a bristle, if its stiffness is
    positive (`Bristle`), and without (`Stribeck`).
    """

    mu_static: Numbers  # [-]
    mu_dynamic: Numbers  # [-]
    stribeck_speed: Numbers = 1.0  # [m/s]
    stribeck_power: Numbers = 1.0  # [-]
    slip_speed: Numbers = 1.0  # of regularization, without a bristle [m/s]
    stiffness: Numbers = 0.0  # of the bristle [N/m]
    damping: Numbers = 0.0  # of the bristle [N·s/m]


class AbstractTangentialLaw(eqx.Module):
    """The friction force of one contact, in a tangent space of one or two dimensions.

    Some laws remember (a bristle's deflection): they carry a state, which whoever integrates the
    motion integrates beside it. Others have `None`, which JAX treats as an empty tree, so that the
    same code serves both. A law is written for one contact; callers `vmap` it.
    """

    @abc.abstractmethod
    def init_state(self, n_tangents: int) -> State:
        """The state of a contact that has not been loaded yet."""

    @abc.abstractmethod
    def state_rate(self, state: State, velocity: Tangent, normal_force: ScalarLike) -> State:
        """Time derivative of the state."""

    @abc.abstractmethod
    def force(self, state: State, velocity: Tangent, normal_force: ScalarLike) -> Tangent:
        """Friction force on the body [N].

        Args:
            state: What the law remembers.
            velocity: Tangential velocity of the body relative to what it touches [m/s].
            normal_force: Normal force [N], not negative.
        """

    @abc.abstractmethod
    def margin(self, state: State, velocity: Tangent, normal_force: ScalarLike) -> Scalar:
        """How far inside the friction cone the contact is [N]: it sticks down to 0, then slips."""

    @abc.abstractmethod
    def energy(self, state: State) -> Scalar:
        """Energy stored in the state [J], for the ledger."""

    @abc.abstractmethod
    def friction_law(self) -> FrictionLaw:
        """The law as a member of the families that engines integrate."""


class AbstractSlidingLaw(AbstractTangentialLaw):
    """A law without memory: the force is a function of velocity and normal force alone.

    Such a law cannot hold a body still: under any load it creeps.
    """

    def init_state(self, n_tangents: int) -> State:
        del n_tangents
        return None

    def state_rate(self, state: State, velocity: Tangent, normal_force: ScalarLike) -> State:
        del state, velocity, normal_force
        return None

    def margin(self, state: State, velocity: Tangent, normal_force: ScalarLike) -> Scalar:
        """Such a law always slips."""
        del state, normal_force
        return -jnp.ones_like(velocity[0])

    def energy(self, state: State) -> Scalar:
        del state
        return jnp.zeros(())
