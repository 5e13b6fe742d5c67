"""Sliding, rolling and resting in closed form."""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from stiction.surfaces import planes
from stiction.surfaces.supports import SupportMotion

from .case import (
    FLOOR,
    PLANAR,
    Case,
    G,
    ball,
    body,
    box,
    inertial,
    numbers,
    slope,
    world,
)

STEPPED = 5e-3  # fixed steps where sliding ends within one of them
HALF = (0.15, 0.1, 0.05)
BOX = world(body(box(HALF), at=(0, 0, HALF[2])))


def yawed(yaw, at=(0, 0, HALF[2])):
    return [*at, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]


def on_slope(angle, yaw=0.0, height=HALF[2]):
    """Turned about the slope's normal, then laid on the slope."""
    a, b = np.array([np.cos(angle / 2), np.sin(angle / 2)]), [np.cos(yaw / 2), np.sin(yaw / 2)]
    turn = [a[0] * b[0], a[1] * b[1], a[1] * b[0], a[0] * b[1]]
    return [height * np.sin(angle), 0, height * np.cos(angle), *turn]


def sliding() -> Iterator[Case]:
    """Blocks: to rest on a floor, down a slope, up and back again."""
    for mu, yaw in ((0.1, 0.0), (0.3, 0.5), (0.6, 1.9), (0.9, 2.6)):
        v, way = 2.0, np.array([np.cos(0.3), np.sin(0.3)])
        stop = v / (mu * G)
        known = [*(way * v * stop / 2), 0, 0]
        yield Case(
            f"a box slides to rest, μ = {mu:g}, yaw {yaw:g}", "sliding", BOX,
            lambda run, known=known: ([*run.q[-1, :2], *run.v[-1, :2]], known), stop + 0.1,
            q=yawed(yaw), v=[*(v * way), 0, 0, 0, 0], mu=mu, step_error=STEPPED,
            claims=("hybrid", "world", "stepping"),
        )  # fmt: skip
    for angle, mu in ((0.2, 0.0), (0.3, 0.1), (0.5, 0.3), (0.8, 0.5), (1.2, 0.5), (1.5, 0.2)):
        speed = 0.5 * G * (np.sin(angle) - mu * np.cos(angle))
        known = [speed * np.cos(angle), 0, -speed * np.sin(angle), 0, 0, 0]
        # Beyond μ h > l it would tip; it is low.
        yield Case(
            f"a box slides down {angle:g} rad, μ = {mu:g}", "sliding",
            world(body(box(HALF)), fixed=slope(angle)),
            lambda run, known=known: (run.v[-1], known), 0.5, q=on_slope(angle, 0.4), mu=mu,
            claims=("hybrid", "world", "stepping"),
        )  # fmt: skip
    for angle, mu in ((0.3, 0.2), (0.6, 0.3), (0.9, 0.6)):
        up = 1.5
        brake = G * (np.sin(angle) + mu * np.cos(angle))
        pull = G * (np.sin(angle) - mu * np.cos(angle))
        until = up / brake + 0.3
        along = -(up**2) / (2 * brake) + pull * 0.3**2 / 2
        known = [along * np.cos(angle), 0, -along * np.sin(angle) + 0, pull * 0.3]
        start = on_slope(angle)

        def check(run, known=known, start=start):
            way = run.q[-1, :3] - start[:3]
            return [*way, np.linalg.norm(run.v[-1, :3])], known

        yield Case(
            f"a box slides up {angle:g} rad and back, μ = {mu:g}", "sliding",
            world(body(box(HALF)), fixed=slope(angle)), check, until, q=start,
            v=[-up * np.cos(angle), 0, up * np.sin(angle), 0, 0, 0], mu=mu, step_error=STEPPED,
            claims=("hybrid", "world", "stepping"),
        )  # fmt: skip
    for legs in (3, 4, 6):
        m, inertia, R, r, mu, spin = 2.0, 0.05, 0.2, 0.02, 0.3, 6.0
        feet = "".join(
            ball(r, 1.0, at=(R * np.cos(a), R * np.sin(a), -0.1 + r))
            for a in 2 * np.pi * np.arange(legs) / legs
        )
        table = world(body(inertial(m, (0.04, 0.04, inertia)) + feet, at=(0, 0, 0.1)))
        until = 0.2
        known = [0, 0, 0, 0, 0, spin - mu * m * G * R / inertia * until]
        yield Case(
            f"a table of {legs} legs spins on the spot", "sliding", table,
            lambda run, known=known: (run.v[-1], known), until, v=[0, 0, 0, 0, 0, spin], mu=mu,
            claims=("hybrid", "world", "stepping"), step_error=1e-4,
        )  # fmt: skip
        speed = 1.0 - mu * G * until
        # Its centre is over the floor: the front legs press more, the brake is the same.
        yield Case(
            f"a table of {legs} legs slides straight", "sliding", table,
            lambda run, known=[speed, 0, 0, 0, 0, 0]: (run.v[-1], known), until,
            v=[1, 0, 0, 0, 0, 0], mu=mu, claims=("hybrid", "world", "stepping"),
        )  # fmt: skip
    for v in ([1, 0, 0, 0, 0, 0], [1, 0.5, 0, 0, 0, 3], [0, 0, 0, 0, 0, 10]):
        yield Case(
            f"a box slides along a wall without load, v = {v[:2]}, {v[5]} rad/s", "sliding",
            BOX.replace(f"0 0 -{G}", "0 0 0"), lambda run, v=v: (run.v[-1], v), 2.0, v=v, mu=0.5,
            claims=("hybrid", "world", "stepping"),
        )  # fmt: skip


def rolling() -> Iterator[Case]:
    """Balls, cylinders and hoops."""
    r = 0.1
    for k, shape in ((0.4, "ball"), (0.5, "cylinder"), (1.0, "hoop")):
        for angle in (0.1, 0.3, 0.6):
            round_ = inertial(1.0, k * r * r) + ball(r)
            speed = 0.5 * G * np.sin(angle) / (1 + k)
            known = [speed * np.cos(angle), 0, -speed * np.sin(angle), 0, speed / r, 0]
            yield Case(
                f"a {shape} rolls down {angle:g} rad", "rolling",
                world(body(round_), fixed=slope(angle)),
                lambda run, known=known: (run.v[-1], known), 0.5,
                q=[r * np.sin(angle), 0, r * np.cos(angle), 1, 0, 0, 0], mu=1.0,
            )  # fmt: skip
    one = world(body(ball(r), at=(0, 0, r)))
    for v, w, mu in ((2, 0, 0.1), (2, 0, 0.3), (1, -30, 0.2), (1, -10, 0.5), (0, 40, 0.2)):
        slip = v - w * r
        t = 2 * abs(slip) / (7 * mu * G)
        rolls = (5 * v + 2 * w * r) / 7
        known = [v * t - np.sign(slip) * mu * G * t * t / 2 + rolls * 0.2, rolls, rolls / r]
        yield Case(
            f"a ball at {v} m/s, {w} rad/s comes to roll, μ = {mu:g}", "rolling", one,
            lambda run, known=known: ([run.q[-1, 0], run.v[-1, 0], run.v[-1, 4]], known), t + 0.2,
            v=[v, 0, 0, 0, w, 0], mu=mu, step_error=STEPPED,
        )  # fmt: skip
    for v, w in (((1, 0.5), (3, -8, 5)), ((0, 1), (20, 0, 0)), ((-1, 2), (-9, 14, -3))):
        known = [(5 * v[0] + 2 * r * w[1]) / 7, (5 * v[1] - 2 * r * w[0]) / 7]
        yield Case(
            f"a ball at {v} m/s, {w} rad/s comes to roll in the plane", "rolling", one,
            lambda run, known=known: (run.v[-1, :2], known), 1.5,
            v=[*v, 0, *w], mu=0.3, claims=("hybrid", "world", "stepping"), step_error=STEPPED,
            error=1e-6,
        )  # fmt: skip
    for angle, part in ((0.4, 0.5), (0.8, 0.9), (1.3, 0.2)):
        mu = part * 2 / 7 * np.tan(angle)
        speed = 0.3 * G * (np.sin(angle) - mu * np.cos(angle))
        spin = 0.3 * 2.5 * mu * G * np.cos(angle) / r
        known = [speed * np.cos(angle), 0, -speed * np.sin(angle), 0, spin, 0]
        yield Case(
            f"a ball slides and spins down {angle:g} rad", "rolling",
            world(body(ball(r)), fixed=slope(angle)),
            lambda run, known=known: (run.v[-1], known), 0.3,
            q=[r * np.sin(angle), 0, r * np.cos(angle), 1, 0, 0, 0], mu=mu,
        )  # fmt: skip
    for wall in (0.3, 0.6, np.pi / 4, 1.0):
        # Its axis goes through both contacts, r cos φ below its centre.
        tilt = 0.2
        sides = "".join(
            f'<geom name="{n}" type="plane" size="9 9 .1" euler="{a!r} 0 0"/>'
            for n, a in (("left", wall), ("right", -wall))
        )
        speed = 0.5 * G * np.sin(tilt) / (1 + 0.4 / np.cos(wall) ** 2)
        known = [speed, 0, 0, 0, speed / (r * np.cos(wall)), 0]
        yield Case(
            f"a ball rolls down a groove with walls at {wall:.2g} rad", "rolling",
            world(body(ball(r), at=(0, 0, r / np.cos(wall))), fixed=sides,
                  gravity=numbers([G * np.sin(tilt), 0, -G * np.cos(tilt)])),
            lambda run, known=known: (run.v[-1], known), 0.5, mu=0.8,
            claims=("hybrid", "world", "stepping"),
        )  # fmt: skip


def resting() -> Iterator[Case]:
    """What stays, and with which forces."""
    for angle, mu, yaw in ((0.0, 0.0, 0.3), (0.0, 0.5, 1.1), (0.2, 0.3, 0.7), (0.4, 0.5, 2.0),
                           (0.6, 0.7, 0.1)):  # fmt: skip
        start = on_slope(angle, yaw)
        known = [*start, 0, 0, 0, 0, 0, 0, -G * np.sin(angle), G * np.cos(angle), 0]

        def check(run, known=known):
            f = run.force[-1].reshape(-1, 3)
            # Tangents of the slope's contacts: downhill first.
            return [*run.q[-1], *run.v[-1], f[:, 0].sum(), f[:, 2].sum(), run.n_events], known

        yield Case(
            f"a box stays on {angle:g} rad, μ = {mu:g}, yaw {yaw:g}", "resting",
            world(body(box(HALF)), fixed=slope(angle)), check, 2.0, q=start, mu=mu,
            claims=("hybrid", "stepping"), step=5e-3,
        )  # fmt: skip
    for off in (-0.15, 0.0, 0.1, 0.19):
        feet = "".join(ball(0.02, 1.0, at=(x, 0, -0.08)) for x in (-0.2, 0.2))
        left, right = (2 * G * (0.2 + s * off) / 0.4 for s in (-1, 1))
        yield Case(
            f"a beam on two feet, its weight {off:g} m off the middle", "resting",
            world(body(inertial(2.0, 0.05, at=(off, 0, 0)) + feet, at=(0, 0, 0.1), joints=PLANAR)),
            lambda run, known=[left, right]: (run.force[-1, :, -1], known), 0.1, mu=0.5,
            claims=("hybrid", "stepping", "stepping-lcp"),
        )  # fmt: skip
    for off in ((0, 0), (0.05, 0.02), (-0.08, 0.0), (0.1, -0.03)):
        R = 0.2
        at = np.array([[R * np.cos(a), R * np.sin(a)] for a in 2 * np.pi * np.arange(3) / 3])
        feet = "".join(ball(0.02, 1.0, at=(*p, -0.08)) for p in at)
        shares = np.linalg.solve(np.vstack([at.T, np.ones(3)]), [*off, 1.0])
        yield Case(
            f"a table on three legs, its weight at {off}", "resting",
            world(body(inertial(3.0, 0.05, at=(*off, 0)) + feet, at=(0, 0, 0.1))),
            lambda run, known=3.0 * G * shares: (run.force[-1, :, -1], known), 0.1, mu=0.5,
            claims=("hybrid", "stepping", "stepping-lcp"),
        )  # fmt: skip
    for press, holds in ((1.1, True), (0.8, False)):
        # Pressed into a corner with so much of what its weight needs.
        mu = 0.5
        force = press * G / mu
        wall = '<geom type="plane" size="2 2 .1" zaxis="-1 0 0" pos=".1 0 0"/>'
        known = 0.0 if holds else -0.2 * (G - mu * force)
        yield Case(
            f"a block pressed to a wall with {press:g} of what holds it", "resting",
            world(body(ball(0.1), joints='<joint type="slide" axis="1 0 0"/>'
                       '<joint type="slide" axis="0 0 1"/>'), fixed=wall,
                  gravity=numbers([force, 0, -G])),
            lambda run, known=known: (run.v[-1, 1], known), 0.2, mu=mu,
        )  # fmt: skip


def moved(offset, swing, frequency, belt=(0, 0)):
    """A floor that swings as sin(2π f t), or runs as a belt."""
    motion = SupportMotion(
        jnp.array([offset], float), jnp.array([swing], float), jnp.array([frequency], float),
        jnp.zeros(1), jnp.array([belt], float),
    )  # fmt: skip
    return planes([np.zeros(3)], [np.eye(3)], ["floor"], motion)


def in_motion() -> Iterator[Case]:
    """Belts, lifts and shakers."""
    still = (0, 0, 0)
    for w, mu in ((1.4, 0.4), (-0.7, 0.2)):
        t = 2 * abs(w) / (7 * mu * G)
        yield Case(
            f"a belt of {w:g} m/s sets a ball rolling", "moving floors",
            world(body(ball(0.1), at=(0, 0, 0.1))),
            lambda run, known=[2 / 7 * w, -5 / 7 * w / 0.1]: (run.v[-1, [0, 4]], known), t + 0.1,
            mu=mu, ground=moved(still, still, 0.0, (w, 0)), step_error=STEPPED,
        )  # fmt: skip
        t = abs(w) / (mu * G)
        known = [np.sign(w) * mu * G * t * t / 2 + 0.1 * w, w]
        yield Case(
            f"a belt of {w:g} m/s takes a box along", "moving floors", BOX,
            lambda run, known=known: ([run.q[-1, 0], run.v[-1, 0]], known), t + 0.1, q=yawed(0.6),
            mu=mu, ground=moved(still, still, 0.0, (w, 0)), step_error=STEPPED,
            claims=("hybrid", "world", "stepping"),
        )  # fmt: skip
    for A, f in ((0.01, 2.0), (0.002, 6.0)):
        omega = 2 * np.pi * f
        t = 0.37
        force = G - A * omega**2 * np.sin(omega * t)
        yield Case(
            f"a box on a lift that swings {A:g} m at {f:g} Hz", "moving floors", BOX,
            lambda run, known=force: (run.force[-1, :, -1].sum(), known), t,
            v=[0, 0, A * omega, 0, 0, 0], mu=0.3, ground=moved(still, (0, 0, A), f),
            claims=("hybrid", "stepping"), step_error=1e-3,
        )  # fmt: skip
        # Sideways: it goes along as long as A ω² < μ g.
        mu = 1.05 * A * omega**2 / G
        known = [A * np.sin(omega * t), A * omega * np.cos(omega * t)]
        yield Case(
            f"a box is shaken along, {A:g} m at {f:g} Hz", "moving floors", BOX,
            lambda run, known=known: ([run.q[-1, 0], run.v[-1, 0]], known), t, q=yawed(0.8),
            v=[A * omega, 0, 0, 0, 0, 0], mu=mu, ground=moved(still, (A, 0, 0), f),
            claims=("hybrid", "world", "stepping"), step_error=1e-3,
        )  # fmt: skip
    for A, f in ((0.05, 4.0), (0.02, 5.0)):
        omega = 2 * np.pi * f
        leaves = np.arcsin(G / (A * omega**2)) / omega  # pressed until then
        t = leaves + 0.03
        z, v = A * np.sin(omega * leaves), A * omega * np.cos(omega * leaves)
        known = [z + v * 0.03 - G * 0.03**2 / 2, v - G * 0.03]
        yield Case(
            f"a ball leaves a floor that swings {A:g} m at {f:g} Hz", "moving floors",
            world(body(ball(0.1), at=(0, 0, 0.1), joints='<joint type="slide" axis="0 0 1"/>')),
            lambda run, known=known: ([run.q[-1, 0], run.v[-1, 0]], known), t, v=[A * omega],
            ground=moved(still, (0, 0, A), f), step_error=STEPPED,
        )  # fmt: skip
    yield Case(
        "a ball lies on a floor that stands still", "moving floors",
        world(body(ball(0.1), at=(0, 0, 0.1)), fixed=FLOOR),
        lambda run: ([*run.v[-1], run.n_events], [0] * 7), 1.0, mu=0.3,
    )  # fmt: skip


def cases() -> Iterator[Case]:
    """All of them."""
    for family in (sliding, rolling, resting, in_motion):
        yield from family()
