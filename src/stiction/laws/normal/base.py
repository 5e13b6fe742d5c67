"""What every normal law of one compliant contact offers.

symbol  name         meaning                                 unit
x       depth        penetration, x = -gap                   m
ẋ       depth_rate   rate of penetration, > 0 while closing  m/s
f       force        normal force, pushing the bodies apart  N
"""

import abc
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp

from stiction._base.arrays import Array, Float, Numbers, Scalar, ScalarLike


class PowerLaw(NamedTuple):
    r"""The family of normal laws that engines integrate,
    $f = k x^n (1 + d \dot x) + b \dot x$, with $d = d_c$ while closing and $d_r$ while parting.
    """

    stiffness: Numbers  # k [N/m^n]
    exponent: Numbers = 1.0  # n [-]
    closing: Numbers = 0.0  # d_c [s/m]
    parting: Numbers = 0.0  # d_r [s/m]
    damping: Numbers = 0.0  # b [N·s/m]


class AbstractNormalLaw(eqx.Module):
    r"""The normal force of one contact: an elastic and a damping part, zero when apart.

    $$ f(x, \dot x) = \big( f_e(x) + f_d(x, \dot x) \big)_+ \quad\text{if } x > 0, \qquad 0
       \text{ otherwise.} $$

    The clamp $(\cdot)_+ = \max(0, \cdot)$ keeps the bodies from pulling on each other;
    `clamp=False` leaves it out. A law is written for one contact; callers `vmap` it. Its numbers
    are arrays, so that they can be traced, batched and differentiated; whether it clamps is static.

    A new law gives `elastic_force`, `energy`, its inverse, and `damping_force`, each finite to the
    second derivative at touch and apart (mind powers in the untaken branch of a `where`), and says
    by `power_law` which member of the engines' family it is.
    """

    clamp: eqx.AbstractVar[bool]

    @abc.abstractmethod
    def elastic_force(self, depth: ScalarLike) -> Scalar:
        """The part of the force that is stored and returned, $f_e(x)$ [N]; 0 when apart."""

    @abc.abstractmethod
    def energy(self, depth: ScalarLike) -> Scalar:
        """Elastic energy stored at a depth, $\\int_0^x f_e$ [J]; 0 when apart."""

    @abc.abstractmethod
    def depth_at_energy(self, energy: ScalarLike) -> Scalar:
        """The depth that stores an energy [m], inverse of `energy`: an impact's length scale."""

    @abc.abstractmethod
    def damping_force(self, depth: ScalarLike, depth_rate: ScalarLike) -> Scalar:
        """The part of the force that dissipates, $f_d(x, \\dot x)$ [N]; 0 when apart."""

    @abc.abstractmethod
    def power_law(self) -> PowerLaw:
        """The law as a member of the family that engines integrate."""

    def force(self, depth: ScalarLike, depth_rate: ScalarLike) -> Scalar:
        """Normal force, pushing the bodies apart.

        Args:
            depth: Penetration $x$ [m]. Negative when the bodies are apart.
            depth_rate: Rate of penetration $\\dot x$ [m/s]. Positive while closing.

        Returns:
            Normal force $f$ [N]; never negative when the law clamps.
        """
        f = self.elastic_force(depth) + self.damping_force(depth, depth_rate)
        return jnp.maximum(f, 0.0) if self.clamp else f

    def dissipated_power(self, depth: ScalarLike, depth_rate: ScalarLike) -> Scalar:
        """The rate at which energy leaves the contact for good, $(f - f_e) \\dot x$ [W].

        With it the ledger closes: the work done on the contact, $f \\dot x$, is what is stored plus
        this. It counts what the clamp throws away (a spring let go before it has relaxed).
        """
        f = self.force(depth, depth_rate)
        return (f - self.elastic_force(depth)) * jnp.asarray(depth_rate)


class AbstractPowerSpring(AbstractNormalLaw):
    r"""A law whose elastic part is a power of the depth:

    $$ f_e = k \, x^n, \qquad \int_0^x f_e = \frac{k \, x^{n+1}}{n + 1} . $$
    """

    stiffness: eqx.AbstractVar[Float[Array, "..."]]
    exponent: eqx.AbstractVar[Float[Array, "..."]]

    def elastic_force(self, depth: ScalarLike) -> Scalar:
        return self.stiffness * positive_power(depth, self.exponent)

    def energy(self, depth: ScalarLike) -> Scalar:
        n = self.exponent
        return self.stiffness * positive_power(depth, n + 1.0) / (n + 1.0)

    def depth_at_energy(self, energy: ScalarLike) -> Scalar:
        n = self.exponent
        return positive_power((n + 1.0) * jnp.asarray(energy) / self.stiffness, 1.0 / (n + 1.0))


def positive_power(x: ScalarLike, exponent: ScalarLike) -> Scalar:
    """$x_+^n$, with derivatives to the second order that are finite everywhere.

    Two `where`s: the second derivative of x**n is infinite at x = 0 for n < 2, and inf * 0 would
    put nan into the Hessian of every contact that is apart.
    """
    positive = jnp.asarray(x) > 0
    safe = jnp.where(positive, x, 1.0)
    return jnp.where(positive, safe**exponent, 0.0)
