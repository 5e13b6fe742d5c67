"""One impact by direct integration, for any law: what the exact relations are checked against.

Lengths are measured in the elastic peak depth, speeds in the speed of approach, so that one
tolerance serves every mass, stiffness and speed.
"""

from typing import Any

import diffrax
import equinox as eqx
import jax.numpy as jnp
import optimistix as optx

from stiction._base.arrays import Array, Float, Int, Scalar, ScalarLike
from stiction.laws.normal.base import AbstractNormalLaw

# Just past touch, so that a law which jumps there (the linear damper) starts on its own side.
TOUCH = 1e-30
LONGEST = 1e9  # in units of peak depth over speed; an impact that lasts longer has not parted


class Rebound(eqx.Module):
    """How an impact ended. Fields of a failed integration are nan."""

    rebound_speed: Scalar  # [m/s]
    duration: Scalar  # from touch to separation [s]
    energy_lost: Scalar  # area of the force-depth loop, marhefka (23) [J]
    n_steps: Int[Array, ""]
    result: diffrax.RESULTS


class ImpactCourse(eqx.Module):
    """An impact against time."""

    time: Float[Array, " samples"]  # [s]
    depth: Float[Array, " samples"]  # [m]
    velocity: Float[Array, " samples"]  # rate of depth [m/s]
    force: Float[Array, " samples"]  # [N]


def integrate_impact(
    law: AbstractNormalLaw,
    *,
    mass: ScalarLike,
    speed: ScalarLike,
    load: ScalarLike = 0.0,
    rtol: float = 1e-11,
    max_steps: int = 4096,
    throw: bool = True,
) -> Rebound:
    """Integrate an impact from touch to separation.

    Args:
        law: The normal law.
        mass: Mass of the body [kg] (reduced mass of two).
        speed: Speed of approach [m/s].
        load: A constant force that presses the bodies together (a weight) [N]; 0 is a free impact.
        rtol: Tolerance of a step, relative to the speed and the elastic peak depth.
        max_steps: Most steps taken.
        throw: Whether to raise if the bodies have not parted by then.
    """
    scale = _Scale.of(law, mass, speed, load)
    part = diffrax.Event(
        lambda t, y, args, **kwargs: y[0],
        root_finder=optx.Newton(rtol=rtol, atol=rtol),
        direction=False,
    )
    solution = _solve(law, scale, diffrax.SaveAt(t1=True), rtol, LONGEST, max_steps, part, throw)
    parted = jnp.asarray(solution.event_mask)
    (t,) = jnp.asarray(solution.ts)
    _, v, work = (y[-1] for y in solution.ys)  # pyright: ignore[reportOptionalIterable]
    nan = jnp.asarray(jnp.nan, t.dtype)
    return Rebound(
        rebound_speed=jnp.where(parted, -v * scale.speed, nan),
        duration=jnp.where(parted, t * scale.time, nan),
        energy_lost=jnp.where(parted, work * scale.energy, nan),
        n_steps=solution.stats["num_steps"],
        result=solution.result,
    )


def impact_course(
    law: AbstractNormalLaw,
    *,
    mass: ScalarLike,
    speed: ScalarLike,
    duration: ScalarLike,
    samples: int = 400,
    rtol: float = 1e-11,
) -> ImpactCourse:
    """Depth, velocity and force at even times from touch to `duration` (arguments as above)."""
    scale = _Scale.of(law, mass, speed, 0.0)
    t = jnp.linspace(0.0, 1.0, samples) * (jnp.asarray(duration) / scale.time)
    solution = _solve(law, scale, diffrax.SaveAt(ts=t), rtol, t[-1], 4096, None, True)
    x, v, _ = solution.ys  # pyright: ignore[reportGeneralTypeIssues]
    x, v = x * scale.depth, v * scale.speed
    return ImpactCourse(
        time=t * scale.time, depth=x, velocity=v, force=eqx.filter_vmap(law.force)(x, v)
    )


class _Scale(eqx.Module):
    """Units in which every impact looks alike."""

    mass: Scalar
    speed: Scalar
    depth: Scalar
    load: Scalar

    @classmethod
    def of(
        cls, law: AbstractNormalLaw, mass: ScalarLike, speed: ScalarLike, load: ScalarLike
    ) -> "_Scale":
        m, v = jnp.asarray(mass), jnp.asarray(speed)
        return cls(m, v, law.depth_at_energy(0.5 * m * jnp.square(v)), jnp.asarray(load))

    @property
    def time(self) -> Scalar:
        return self.depth / self.speed

    @property
    def energy(self) -> Scalar:
        return self.mass * jnp.square(self.speed)


def _solve(
    law: AbstractNormalLaw,
    scale: _Scale,
    saveat: diffrax.SaveAt,
    rtol: float,
    t1: Any,
    max_steps: int,
    event: diffrax.Event | None,
    throw: bool,
) -> diffrax.Solution:
    def motion(t: Any, y: tuple, args: Any) -> tuple[Scalar, Scalar, Scalar]:
        del t, args
        x, v, _ = y
        unit = scale.depth / scale.energy
        f = law.force(x * scale.depth, v * scale.speed) * unit
        return v, scale.load * unit - f, f * v

    return diffrax.diffeqsolve(
        diffrax.ODETerm(motion),
        diffrax.Dopri8(),
        t0=0.0,
        t1=t1,
        dt0=1e-3,
        # Three scalars, not a vector: the compiler then fuses a batch of impacts four times better.
        y0=(jnp.asarray(TOUCH), jnp.asarray(1.0), jnp.asarray(0.0)),
        saveat=saveat,
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=1e-2 * rtol),
        event=event,
        max_steps=max_steps,
        throw=throw,
    )
