"""Compliant contacts in closed form."""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq

from stiction import Compliant
from stiction.laws import Bristle, HuntCrossley, LinearSpringDamper, RegularizedCoulomb

from .case import Case, G, ball, body, box, slope, world
from .surfaces import HALF, on_slope

SLIDE_Z = '<joint type="slide" axis="0 0 1"/>'
DROP = world(body(ball(0.1), at=(0, 0, 0.1), joints=SLIDE_Z))
FLYING = world(body(ball(0.1), at=(0, 0, 0.1), joints=SLIDE_Z), gravity="0 0 0")


def cases() -> Iterator[Case]:
    """All of them."""

    def case(name, model, check, until, law, **more):
        yield Case(name, "springs", model, check, until, law=law, claims=("compliant",), **more)

    for k in (1e3, 1e5):
        # A damped spring comes to rest at m g / k.
        law = Compliant(LinearSpringDamper(stiffness=k, damping=1.2 * np.sqrt(k)))
        yield from case(
            f"a ball sinks into a spring of {k:g} N/m", DROP,
            lambda run, k=k: ([run.q[-1, 0], run.force[-1, 0, -1]], [-G / k, G]),
            40 / np.sqrt(k), law, error=1e-7,
        )  # fmt: skip
    for k in (1e3, 1e4, 1e6):
        # Half a period under the spring, then away with the same speed.
        touch = np.pi / np.sqrt(k)
        yield from case(
            f"a ball leaves a spring of {k:g} N/m after half a period", FLYING,
            lambda run, touch=touch: (
                [run.q[-1, 0], run.v[-1, 0]], [2.0 * (0.2 - 0.05 - touch), 2.0]
            ), 0.2, Compliant(LinearSpringDamper(stiffness=k, damping=0.0)), q=[0.1], v=[-2],
        )  # fmt: skip
    for zeta in (0.05, 0.2, 0.5):
        # Without adhesion it leaves as the force comes to zero: tan(ω_d t) = -2 ζ √(1-ζ²)/(1-2ζ²).
        k = 1e4
        w, root = np.sqrt(k), np.sqrt(1 - zeta**2)
        phase = np.arctan2(2 * zeta * root, 2 * zeta**2 - 1)
        e = np.exp(-zeta * phase / root)
        law = Compliant(LinearSpringDamper(stiffness=k, damping=2 * zeta * w))
        yield from case(
            f"a ball on a damped spring, ζ = {zeta:g}", FLYING,
            lambda run, e=e: (run.v[-1, 0], e), 0.2, law, q=[0.05], v=[-1],
        )  # fmt: skip
    for chi in (0.1, 0.4):
        # m u̇ = k δⁿ (1 + d u) with u = δ̇: the speeds before and after have the same
        # u - log(1 + d u) / d, whatever n and k are.
        k, v = 1e6, 1.0
        law = Compliant(HuntCrossley(stiffness=k, exponent=1.5, dissipation=chi))

        def same(after, d=chi, v=v):
            return (after + np.log(1 - d * after) / d) - (-v + np.log(1 + d * v) / d)

        known = brentq(same, 1e-6, min(v, 1 / chi - 1e-9))
        yield from case(
            f"a ball by Hunt and Crossley's law, {chi:g} s/m", FLYING,
            lambda run, known=known: (run.v[-1, 0], known), 0.2, law, q=[0.05], v=[-v],
        )  # fmt: skip
    for angle in (0.1, 0.25):
        k, kt, mu = 1e5, 1e5, 0.5
        law = Compliant(
            LinearSpringDamper(stiffness=k, damping=200.0),
            Bristle(mu_static=mu, mu_dynamic=mu, stiffness=kt, damping=200.0),
        )
        start = on_slope(angle)
        # Four corners bear it: weight and friction at their middle height turn it a little; only
        # the sum of forces is known.
        known = [-G * np.sin(angle), G * np.cos(angle)]

        def check(run, known=known):
            f = run.force[-1].reshape(-1, 3).sum(axis=0)
            return [f[0], f[2]], known

        yield from case(
            f"bristles hold a box on {angle:g} rad", world(body(box(HALF)), fixed=slope(angle)),
            check, 1.0, law, q=start, error=1e-6,
        )  # fmt: skip
    for mu in (0.1, 0.4):
        law = Compliant(LinearSpringDamper(stiffness=1e5, damping=400.0), RegularizedCoulomb(mu=mu))
        # It is pressed in from the start: only friction acts along the floor.
        model = world(body(ball(0.1), at=(0, 0, 0.1), joints='<joint type="slide" axis="1 0 0"/>'
                           + SLIDE_Z))  # fmt: skip
        yield from case(
            f"a block slides on springs, μ = {mu:g}", model,
            lambda run, mu=mu: (run.v[-1, 0], 3.0 - mu * G * 0.5), 0.5, law,
            q=[0, -G / 1e5], v=[3, 0],
        )  # fmt: skip
