"""Swings that stick, slip and hit: exact periods of the textbooks."""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from stiction import Compliant
from stiction.laws import HuntCrossley, LinearSpringDamper
from stiction.surfaces import planes
from stiction.surfaces.supports import SupportMotion

from .case import IMPACTS, RAIL, RIGID, Case, G, ball, body, world
from .surfaces import STEPPED, moved

STILL = (0, 0, 0)
SLIDE_Z = RAIL.format(0, 1)
GROUP = "oscillators"
DROP = world(body(ball(0.1), at=(0, 0, 0.1), joints=SLIDE_Z))


def end(run):
    return [run.q[-1, 0], run.v[-1, 0]]


def sprung(k: float) -> str:
    """A block of 1 kg on a floor, on a spring along x."""
    slide = f'<joint type="slide" axis="1 0 0" stiffness="{k!r}"/>{SLIDE_Z}'
    return world(body(ball(0.1), at=(0, 0, 0.1), joints=slide))


def dry() -> Iterator[Case]:
    """A block on a spring and a rough floor: every half swing is 2 μ g / ω² shorter."""
    k, start = 100.0, 1.0

    def stays(mu):
        """After how many half swings, how far from the start, and when."""
        d = mu * G / k
        halves = int(np.ceil((start / d - 1) / 2))  # until |x| <= d
        way = (-1) ** halves * (start - 2 * halves * d) - start
        return halves, way, halves * np.pi / np.sqrt(k) + 0.1

    for mu in (0.05, 0.2, 0.45):
        halves, way, until = stays(mu)
        yield Case(
            f"a block on a spring sticks after {halves} half swings, μ = {mu:g}", GROUP, sprung(k),
            lambda run, way=way: ([run.q[-1, 0] - start, run.v[-1, 0]], [way, 0]), until,
            q=[start, 0], mu=mu, step_error=STEPPED,
        )  # fmt: skip
    # As friction of the joint itself.
    halves, way, until = stays(0.2)
    joint = f'<joint type="slide" axis="1 0 0" stiffness="{k!r}" frictionloss="{0.2 * G!r}"/>'
    yield Case(
        f"a joint that rubs sticks after {halves} half swings", GROUP,
        world(body(ball(0.1), joints=joint), fixed=""),
        lambda run, way=way: ([run.q[-1, 0] - start, run.v[-1, 0]], [way, 0]), until, q=[start],
        claims=("world",),
    )  # fmt: skip


def stick_slip() -> Iterator[Case]:
    """A block on a spring and a belt goes along until the spring tears it off, and slips back.

    Beside the middle of slip, x = μ_d g / ω², slip begins at Δ = (μ_s - μ_d) g / ω² with the speed
    V of the belt, and ends with it at -Δ: a period lasts 2 Δ / V + (2 / ω) (π - arctan(ω Δ / V)).
    """
    k, mu_d = 100.0, 0.2
    omega, middle = np.sqrt(k), mu_d * G / k
    for V, mu_s in ((0.1, 0.4), (0.3, 0.4), (0.3, 0.25)):
        delta = (mu_s - mu_d) * G / k
        R, phase = np.hypot(delta, V / omega), np.arctan2(delta, V / omega)
        slips, sticks = 2 * (np.pi - phase) / omega, 2 * delta / V
        at = phase + 0.4 * omega * slips
        known = [middle + R * np.sin(at), omega * R * np.cos(at)]
        yield Case(
            f"a block sticks and slips on a belt of {V:g} m/s, μ = {mu_s:g} and {mu_d:g}", GROUP,
            sprung(k), lambda run, known=known: (end(run), known),
            3 * (sticks + slips) + sticks + 0.4 * slips, q=[middle - delta, 0], v=[V, 0], mu=mu_d,
            mu_static=mu_s, ground=moved(STILL, STILL, 0.0, (V, 0)), step_error=STEPPED, step=1e-4,
        )  # fmt: skip


def against_a_wall() -> Iterator[Case]:
    """A mass on a spring and a wall."""
    wall = '<geom type="plane" size="9 9 .1" zaxis="1 0 0" pos="{!r} 0 0"/>'
    k = 400.0
    omega = np.sqrt(k)
    mass = body(ball(0.1), joints=f'<joint type="slide" axis="1 0 0" stiffness="{k!r}"/>')
    # A wall at the spring's rest: every flight is half a period, whatever its speed.
    for e in (0.5, 0.9, 1.0):
        speed = 2 * e**3
        known = [speed / omega * np.sin(0.3), speed * np.cos(0.3)]
        yield Case(
            f"a mass on a spring bounces off a wall at its middle, e = {e:g}", GROUP,
            world(mass, fixed=wall.format(-0.1), gravity="0 0 0"),
            lambda run, known=known: (end(run), known), (3 * np.pi + 0.3) / omega,
            v=[2], restitution=e, step_error=STEPPED, claims=(*RIGID, *IMPACTS),
        )  # fmt: skip
    # What just does not reach the wall knows nothing of it.
    for miss in (1e-6, 0.0):
        a = 0.05 - miss
        known = [a * np.cos(7.0), -a * omega * np.sin(7.0)]
        yield Case(
            f"a mass on a spring turns {miss:g} m before a wall", GROUP,
            world(mass, fixed=wall.format(-0.15), gravity="0 0 0"),
            lambda run, known=known: (end(run), known), 7.0 / omega, q=[a], restitution=0.5,
            step_error=STEPPED,
        )  # fmt: skip


def bounces(A: float, f: float, e: float, phase: float, v: float, count: int):
    """Time, height and velocity after so many impacts on a table A sin(2π f t + phase), where the
    ball is at t = 0: parabolas until they meet the table [Holmes1982].
    """
    omega, t, step = 2 * np.pi * f, 0.0, 1e-4

    def table(t):
        return A * (np.sin(omega * t + phase) - np.sin(phase))

    for _ in range(count):
        z = table(t)

        def gap(s, t=t, z=z, v=v):
            return z + v * s - G * s * s / 2 - table(t + s)

        s = step
        while gap(s) > 0:
            s += step
        s = float(brentq(gap, max(s - step, 1e-9), s, xtol=1e-15))  # pyright: ignore[reportArgumentType]
        t += s
        speed = A * omega * np.cos(omega * t + phase)
        v = speed - e * (v - G * s - speed)
    return t, table(t), v


def tables() -> Iterator[Case]:
    """A ball on a table that swings: one bounce a period, then two, then none that repeat.

    One a period: A ω² cos φ / g = π (1 - e) / (1 + e). It is stable as long as (A ω² / g)² is below
    (π (1 - e) / (1 + e))² + (2 (1 + e²) / (1 + e)²)².
    """
    e, f = 0.7, 20.0
    omega = 2 * np.pi * f
    least = np.pi * (1 - e) / (1 + e)
    most = np.hypot(least, 2 * (1 + e * e) / (1 + e) ** 2)
    for name, strength, off, count in (
        ("once a period", 0.5 * (least + most), 1.0, 8),
        ("and comes back to once a period", 0.9 * most, 1.01, 12),
        ("not once a period any more", 1.1 * most, 1.01, 12),
        ("without a period", 2.5, 1.0, 6),
    ):
        A, phase, v = strength * G / omega**2, np.arccos(least / strength), off * G / f / 2
        motion = SupportMotion(
            jnp.zeros((1, 3)), jnp.array([[0, 0, A]]), jnp.array([f]), jnp.array([phase]),
            jnp.zeros((1, 2)),
        )  # fmt: skip
        t, z, after = bounces(A, f, e, phase, v, count)
        if name == "once a period":
            np.testing.assert_allclose([t * f, after / v], [count, 1], atol=1e-9)
        s = 0.1 / f
        known = [z + after * s - G * s * s / 2, after - G * s]
        yield Case(
            f"a ball bounces on a table that swings, {name}", GROUP, DROP,
            lambda run, known=known: (end(run), known), t + s, v=[v], restitution=e, error=1e-6,
            claims=("hybrid", "world", "hybrid:newton", "hybrid:poisson", "hybrid:stronge"),
            ground=planes([np.zeros(3)], [np.eye(3)], ["floor"], motion),
        )  # fmt: skip


def on_springs() -> Iterator[Case]:
    """Under gravity, where a contact's restitution is no constant: against SciPy."""
    for name, law, rate in (
        ("a Kelvin-Voigt floor", Compliant(LinearSpringDamper(stiffness=2e4, damping=20.0)),
         lambda z, v: max(0.0, -2e4 * z - 20.0 * v) if z < 0 else 0.0),
        ("a Hunt-Crossley floor",
         Compliant(HuntCrossley(stiffness=1e6, exponent=1.5, dissipation=0.3)),
         lambda z, v: max(0.0, 1e6 * max(-z, 0) ** 1.5 * (1 - 0.3 * v))),
    ):  # fmt: skip
        y, t, until = np.array([0.05, 0.0]), 0.0, 0.55

        def flow(_, y, rate=rate):
            return [y[1], rate(*y) - G]

        def touch(_, y):
            return y[0]

        touch.terminal = True
        while t < until:  # from touch to touch
            touch.direction = -1 if y[0] > 1e-12 or y[1] > 0 else 1
            given = {"rtol": 1e-12, "atol": 1e-13, "max_step": 1e-3, "events": touch}
            part = solve_ivp(flow, (t, until), y, **given)
            t, y = part.t[-1], part.y[:, -1]
            if part.status == 1:
                y[0] = np.copysign(1e-15, y[1])
        yield Case(
            f"a ball bounces on {name}", GROUP, DROP, lambda run, known=y: (end(run), known), until,
            q=[0.05], claims=("compliant",), law=law, error=1e-6,
        )  # fmt: skip


def cases() -> Iterator[Case]:
    """All of them."""
    for family in (dry, stick_slip, against_a_wall, tables, on_springs):
        yield from family()
