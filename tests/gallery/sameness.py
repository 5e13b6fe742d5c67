"""What must not change: by yaw, mirror, scale and order of bodies; and what is conserved."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .case import EVENTS, FLOOR, RIGID, Case, G, ball, body, box, inertial, numbers, world

HALF = (0.2, 0.15, 0.1)
CAPSULE = '<geom type="capsule" size=".05" fromto="-.2 0 0 .2 0 0" mass="1"/>'
# One free body each: what it is, where it begins, how it moves. It hits, slides, turns.
SCENES = {
    "a box": (box(HALF, 2.0), 0.4, [0.9, 0.3, 0.2, 0.1], [0.6, -0.4, -1.0, 2.0, 1.0, -1.5]),
    "a capsule": (CAPSULE, 0.3, [0.8, 0.1, 0.5, 0.2], [0.5, 0.7, -1.0, 0.5, 1.0, 2.0]),
    "a ball": (ball(0.1), 0.3, [1, 0, 0, 0], [1.0, 0.5, -1.0, 3.0, 20.0, 5.0]),
    "a dumbbell": (
        inertial(1.5, (0.02, 0.03, 0.03)) + ball(0.06, 1.0, at=(0.2, 0, 0))
        + ball(0.1, 1.0, at=(-0.2, 0, 0)), 0.35, [0.9, 0.1, 0.4, 0.1], [1, 0, -1, 1, -1, 4.0],
    ),
}  # fmt: skip


def times(a, b):
    """The product of two quaternions."""
    w, x = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([w, *x])


def turned(yaw: float) -> Callable:
    """q and v of a free body, turned about the vertical; its own spin stays."""
    c, s = np.cos(yaw), np.sin(yaw)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    half = np.array([np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)])
    return lambda q, v: (
        np.concatenate([R @ q[:3], times(half, q[3:])]), np.concatenate([R @ v[:3], v[3:]]),
    )  # fmt: skip


def mirrored(axis: int) -> Callable:
    """q and v of a symmetric body in a mirror: what points along the axis changes its sign, and of
    turns what does not.
    """
    flip = np.ones(3)
    flip[axis] = -1
    return lambda q, v: (
        np.concatenate([flip * q[:3], [q[3]], -flip * q[4:]]),
        np.concatenate([flip * v[:3], -flip * v[3:]]),
    )


def same(q):
    """Turns have two quaternions."""
    return np.concatenate([q[:3], q[3:] * np.sign(q[3] + 1e-300)])


def invariances() -> Iterator[Case]:
    """A run and the same run seen otherwise. Laws with pyramids have directions of their own."""
    for name, (geoms, height, turn, v) in SCENES.items():
        turn = np.array(turn) / np.linalg.norm(turn)
        q, v = np.array([0, 0, height, *turn]), np.array(v)
        base = Case(
            name, "sameness", world(body(geoms)), lambda run: (0, 0), 0.5, q=q, v=v, mu=0.4,
            restitution=0.3, claims=("hybrid", "world", "stepping"), error=1e-6, step_error=1e-6,
        )  # fmt: skip
        maps = {f"yaw {yaw:g}": turned(yaw) for yaw in (0.7, 2.9)}
        if "dumbbell" not in name:
            maps |= {"a mirror along x": mirrored(0), "a mirror along y": mirrored(1)}
        for how, see in maps.items():
            yield _seen(base, how, *see(q, v), see)
        brief = replace(base, until=0.3)
        for scale in (0.1, 10.0):
            yield _scaled(brief, scale)


def _seen(base: Case, how: str, q, v, see) -> Case:
    def check(other, own):
        known_q, known_v = see(own.q[-1], own.v[-1])
        return np.concatenate([same(other.q[-1]), other.v[-1]]), np.concatenate(
            [same(known_q), known_v]
        )

    return replace(base, name=f"{base.name} and {how}", q=q, v=v, check=check, twin=base)


def _scaled(base: Case, s: float) -> Case:
    """Lengths by s, times by √s: every body is s³ as heavy, gravity and friction stay.

    Over a dozen impacts: what ends a chatter, such as a gap that counts as touching, has no scale.
    """

    def grow(match):
        return f'{match[1]}="{numbers(s * np.array([float(x) for x in match[2].split()]))}"'

    model = re.sub(r'\b(size|pos|fromto)="([^"]*)"', grow, base.model)
    model = re.sub(r'\bmass="([^"]*)"', lambda m: f'mass="{float(m[1]) * s**3!r}"', model)
    model = re.sub(
        r'diaginertia="([^"]*)"',
        lambda m: f'diaginertia="{numbers(s**5 * np.array([float(x) for x in m[1].split()]))}"',
        model,
    )
    lengths, speeds = np.array([s] * 3 + [1] * 4), np.array([np.sqrt(s)] * 3 + [1 / np.sqrt(s)] * 3)

    def check(other, own):
        got = np.concatenate([same(other.q[-1] / lengths), other.v[-1] / speeds])
        return got, np.concatenate([same(own.q[-1]), own.v[-1]])

    t = np.sqrt(s)
    return replace(
        base, name=f"{base.name} {s:g} times as large", model=model, q=lengths * base.q,
        v=speeds * base.v, until=t * base.until, step=t * base.step, check=check,
        options={"rest_speed": 1e-3 * t}, twin=base,
    )  # fmt: skip


def orders() -> Iterator[Case]:
    """Bodies in another order move as before; one collides while others rest or slide."""
    parts = [body(ball(0.1, m), at=(0.3 * i, 0, 0.1 + 0.02 * i)) for i, m in enumerate((1, 2, 0.5))]
    rng = np.random.default_rng(5)
    v = rng.normal(size=(3, 6))
    v[:, 0] = (2.0, 0.0, -2.0)
    q = np.array([[0.3 * i, 0.01 * i, 0.1 + 0.02 * i, 1, 0, 0, 0] for i in range(3)])
    usual = Case(
        "", "sameness", world("".join(parts)), lambda run: (0, 0), 0.5, q=q.ravel(), v=v.ravel(),
        mu=0.3, restitution=0.5, claims=(*EVENTS, "stepping"), error=1e-6,
        step_error=1e-6,
    )  # fmt: skip
    for order in ((2, 1, 0), (1, 2, 0), (0, 2, 1)):

        def check(other, own, order=order):
            known = np.concatenate([own.q[-1].reshape(3, 7)[list(order)].ravel(),
                                    own.v[-1].reshape(3, 6)[list(order)].ravel()])  # fmt: skip
            return np.concatenate([other.q[-1], other.v[-1]]), known

        yield replace(
            usual, name=f"three balls in the order {order}", check=check,
            model=world("".join(parts[i] for i in order)), q=q[list(order)].ravel(),
            v=v[list(order)].ravel(), twin=usual,
        )  # fmt: skip


def conserved() -> Iterator[Case]:
    """Momentum and angular momentum of bodies that collide; their energy if e = 1."""
    for count, e, mu in ((2, 1.0, 0.0), (3, 1.0, 0.0), (5, 1.0, 0.0), (3, 0.5, 0.4), (5, 0.7, 0.2),
                         (4, 0.0, 0.6)):  # fmt: skip
        rng = np.random.default_rng(count)
        masses = rng.uniform(0.5, 3.0, count)
        at = np.array([[0.5 * np.cos(a), 0.5 * np.sin(a), 0]
                       for a in 2 * np.pi * np.arange(count) / count])  # fmt: skip
        v = np.zeros((count, 6))
        v[:, :3] = -2 * at + 0.1 * rng.normal(size=(count, 3))
        v[:, 3:] = rng.normal(size=(count, 3)) * 5
        model = world(
            "".join(body(ball(0.1, m), at=p) for m, p in zip(masses, at, strict=True)), fixed="",
            gravity="0 0 0",
        )  # fmt: skip

        def momenta(q, v, masses=masses, count=count, e=e):
            q, v = q.reshape(count, 7), v.reshape(count, 6)
            spin = np.zeros(3)
            for m, x, u in zip(masses, q, v, strict=True):
                w, axis = x[3], x[4:]
                own = u[3:] + 2 * np.cross(axis, np.cross(axis, u[3:]) + w * u[3:])
                spin += m * np.cross(x[:3], u[:3]) + 0.4 * m * 0.01 * own
            energy = 0.5 * (masses * (v[:, :3] ** 2).sum(1)).sum()
            energy += 0.5 * (0.4 * 0.01 * masses * (v[:, 3:] ** 2).sum(1)).sum()
            return np.array([*(masses[:, None] * v[:, :3]).sum(0), *spin, *[energy] * (e == 1.0)])

        yield Case(
            f"{count} balls collide, e = {e:g}, μ = {mu:g}: what is conserved", "conserved", model,
            lambda run, f=momenta: (f(run.q[-1], run.v[-1]), f(run.q[0], run.v[0])), 0.6,
            v=v.ravel(), restitution=e, mu=mu, claims=("hybrid", "world", "stepping"),
            step_error=1e-6,
        )  # fmt: skip
    for name, inertia in (("a plate", (1, 2, 3)), ("a rod", (0.1, 2, 2)), ("a top", (1, 1, 3))):
        I = 0.01 * np.array(inertia)

        def spun(run, I=I):
            def of(q, v):
                w, axis, L = q[3], q[4:], I * v[3:]
                turned = L + 2 * np.cross(axis, np.cross(axis, L) + w * L)
                return np.array([*turned, 0.5 * v[3:] @ L])

            return of(run.q[-1], run.v[-1]), of(run.q[0], run.v[0])

        yield Case(
            f"{name} turns in flight: what is conserved", "conserved",
            world(body(inertial(1.0, I) + ball(0.1), at=(0, 0, 1)), gravity="0 0 0"), spun, 2.0,
            v=[0, 0, 0, 3, 4, 5], claims=("hybrid", "world", "stepping"), step_error=1e-4,
        )  # fmt: skip
    for mu in (0.0, 0.5):
        yield Case(
            f"a box falls, e = 1, μ = {mu:g}: no energy from nowhere", "conserved",
            world(body(box(HALF, 2.0)), fixed=FLOOR),
            lambda run, mu=mu: (
                [run.kinetic[-1] + run.potential[-1] + run.impact_loss[-1] + run.friction_loss[-1]],
                [run.kinetic[0] + run.potential[0]],
            ), 1.0, q=[0, 0, 0.5, 0.9, 0.3, 0.3, 0.1], v=[0.5, 0, -1, 1, 2, 3], mu=mu,
            restitution=1.0, claims=(*EVENTS, "hybrid:poisson", "hybrid:stronge"),
        )  # fmt: skip
    for angle in (0.5, 1.5, 2.5):
        # A pendulum's period by the arithmetic-geometric mean.
        length = 0.7
        a, b = 1.0, np.cos(angle / 2)
        for _ in range(8):
            a, b = (a + b) / 2, np.sqrt(a * b)
        period = 2 * np.pi * np.sqrt((length + 1e-6 / length) / G) / a
        arm = inertial(1.0, 1e-6, at=(0, 0, -length)) + ball(0.05, 1.0, at=(0, 0, -length))
        yield Case(
            f"a pendulum from {angle:g} rad after a period", "conserved",
            world(body(arm, at=(0, 0, 2), joints='<joint axis="0 1 0"/>')),
            lambda run, angle=angle: (run.q[-1, 0], angle), float(period), q=[angle],
            claims=RIGID, step_error=1e-4,
        )  # fmt: skip


def cases() -> Iterator[Case]:
    """All of them."""
    for family in (invariances, orders, conserved):
        yield from family()
