"""Impacts in closed form."""

from collections.abc import Iterator

import numpy as np

from .case import (
    EVENTS,
    IMPACTS,
    NEWTONS,
    PLANAR,
    RAIL,
    RIGID,
    Case,
    G,
    ball,
    body,
    inertial,
    world,
)

FIRST = 5e-3  # five steps
SLIDE_X, SLIDE_Z = RAIL.format(1, 0), RAIL.format(0, 1)


def end(run):
    return np.concatenate([run.q[-1], run.v[-1]])


def bounces() -> Iterator[Case]:
    """Dropped from h: hits at t₁ (1 + 2 e + 2 e² + …), in between parabolas."""
    model = world(body(ball(0.1), at=(0, 0, 0.1), joints=SLIDE_Z))
    h, t1 = 0.5, np.sqrt(2 * 0.5 / G)
    for e in (0.2, 0.5, 0.8, 0.95, 1.0):
        until, speed = t1 * (1 + 2 * e + 0.8 * e**2), np.sqrt(2 * G * h)
        flight = until - t1 * (1 + 2 * e)
        known = [e**2 * speed * flight - G * flight**2 / 2, e**2 * speed - G * flight]
        yield Case(
            f"a ball bounces twice, e = {e:g}", "impacts", model,
            lambda run, known=known: (end(run), known), until, q=[h],
            claims=(*RIGID, *IMPACTS), restitution=e, step_error=FIRST,
        )  # fmt: skip
    for e in (0.3, 0.6, 0.8):
        yield Case(
            f"a ball comes to rest after endless bounces, e = {e:g}", "impacts", model,
            lambda run: ([run.q[-1, 0], run.v[-1, 0], run.impact_loss[-1]], [0, 0, G * h]),
            t1 * (1 + e) / (1 - e) + 0.3, q=[h], restitution=e, step_error=FIRST,
        )  # fmt: skip


def oblique() -> Iterator[Case]:
    """A ball without spin, or with: it slips through the impact or leaves rolling."""
    r, e = 0.1, 0.6
    model = world(body(ball(r, 2.0), at=(0, 0, r)), gravity="0 0 0")
    throws = [(2, 3, 0), (4, 1, 0), (1, 2, 20), (1, 2, -20), (3, 1, -30), (0, 2, 50)]
    for vx, vz, w in throws:
        for mu in (0.1, 0.4):
            slip = vx - w * r
            p = min(mu * (1 + e) * vz, 2 / 7 * abs(slip)) * np.sign(slip)
            known = [vx - p, 0, e * vz, 0, w + 2.5 * p / r, 0]
            yield Case(
                f"a ball hits a floor at ({vx}, {vz}) m/s, {w} rad/s, μ = {mu:g}", "impacts", model,
                lambda run, known=known: (run.v[-1], known), 0.1,
                q=[0, 0, r + 0.05 * vz, 1, 0, 0, 0], v=[vx, 0, -vz, 0, w, 0],
                claims=(*RIGID, *IMPACTS) if vz > 1 else (*EVENTS, *IMPACTS),
                restitution=e, mu=mu, step_error=1e-8,
            )  # fmt: skip


def rows_of_balls() -> Iterator[Case]:
    """Two balls on a rail, and rows of them."""

    def row(masses, gap=0.1, r=0.05):
        bodies = "".join(
            body(ball(r, m), at=((2 * r + gap) * i, 0, 0), joints=SLIDE_X)
            for i, m in enumerate(masses)
        )
        return world(bodies, fixed="", gravity="0 0 0")

    for ratio in (0.001, 0.1, 1.0, 3.0, 1000.0):
        for e in (0.0, 0.5, 1.0):
            v1 = (1 - e * ratio) / (1 + ratio)
            known = [v1, (1 + e) / (1 + ratio)]
            yield Case(
                f"two balls, masses 1 and {ratio:g}, e = {e:g}", "impacts", row([1.0, ratio]),
                lambda run, known=known: (run.v[-1], known), 0.15, v=[1, 0],
                claims=(*RIGID, *IMPACTS), restitution=e, step_error=1e-8,
            )  # fmt: skip
    for n in (3, 5, 10):
        known = [0.0] * (n - 1) + [1.0]
        yield Case(
            f"a cradle of {n} balls, e = 1", "impacts", row([1.0] * n, gap=0.01),
            lambda run, known=known: (run.v[-1], known), 0.02 * n, v=[1] + [0] * (n - 1),
            claims=(*RIGID, *IMPACTS), restitution=1.0, step_error=1e-8,
        )  # fmt: skip
    for e, known in ((1.0, [-1 / 3, 2 / 3, 2 / 3]), (0.5, [0, 0.5, 0.5])):
        yield Case(
            f"three balls that touch are hit at once, e = {e:g}", "impacts", row([1.0] * 3, gap=0),
            lambda run, known=known: (run.v[-1], known), 0.1, v=[1, 0, 0], restitution=e,
            claims=(*EVENTS, "hybrid:lcp", "hybrid:lcp-cone", "hybrid:lcp-pyramid"),
        )  # fmt: skip
    for ratio in (3.0, 10.0, 100.0):
        # The lower ball has just come back when the upper one meets it.
        r, gap, speed = 0.05, 1e-3, 3.0
        pair = body(ball(r, ratio), at=(0, 0, r), joints=SLIDE_Z)
        pair += body(ball(r, 1.0), at=(0, 0, 3 * r), joints=SLIDE_Z)
        upper = (3 * ratio - 1) / (ratio + 1) * speed
        yield Case(
            f"a ball on a ball {ratio:g} times as heavy is thrown at a floor", "impacts",
            world(pair, gravity="0 0 0"), lambda run, k=upper: (run.v[-1, 1], k), 0.02,
            q=[0.01, 0.01 + gap], v=[-speed, -speed], restitution=1.0,
            claims=(*EVENTS, *IMPACTS),
        )  # fmt: skip
    for ratio in (1.0, 9.0, 100.0):
        # π to so many digits: blocks on a rail and a wall. Speeds afterwards follow from the number
        # of hits, as an angle of θ for each.
        theta = np.arctan(1 / np.sqrt(ratio))
        fixed = '<geom type="plane" size="1 1 .1" zaxis="1 0 0"/>'
        pair = body(ball(0.05, 1.0), at=(0.55, 0, 0), joints=SLIDE_X)
        pair += body(ball(0.05, ratio), at=(1.15, 0, 0), joints=SLIDE_X)
        hits = int(np.ceil(np.pi / theta - 1e-9)) - 1
        swung = np.pi + 2 * theta * ((hits + 1) // 2)
        known = [abs(np.sin(swung)) * np.sqrt(ratio), np.cos(swung), hits]
        yield Case(
            f"a block {ratio:g} times as heavy, another and a wall: {hits} hits", "impacts",
            world(pair, fixed=fixed, gravity="0 0 0"),
            lambda run, known=known: (
                [abs(run.v[-1, 0]), run.v[-1, 1], run.n_events], known
            ), 20.0, v=[0, -1], restitution=1.0, claims=("hybrid", *IMPACTS),
            options={"rest_speed": 0.0},
        )  # fmt: skip


def rods() -> Iterator[Case]:
    """A rod with a round tip hits a floor, in the plane: u⁺ = u⁻ + W p at the tip."""
    m, I, half, r = 1.5, 0.03, 0.25, 0.02
    tip = ball(r, 1.0, at=(half, 0, 0))
    for angle in (0.2, 0.6, 1.0, 1.4):
        lever = np.array([half * np.cos(angle), -half * np.sin(angle) - r])  # tip's lowest point
        model = world(
            body(inertial(m, I) + tip, at=(0, 0, -lever[1] + 0.01), joints=PLANAR), gravity="0 0 0"
        )
        # ω about +y: u = v + ω × lever, so u_x = v_x + ω l_z, u_z = v_z - ω l_x.
        jacobian = np.array([[1, 0, lever[1]], [0, 1, -lever[0]]])
        inverse = np.diag([1 / m, 1 / m, 1 / I])
        W = jacobian @ inverse @ jacobian.T
        for e, mu in ((0.5, 0.0), (1.0, 0.0), (0.0, 50.0), (0.4, 50.0)):
            v = np.array([0.0, -1.0, 0.0])
            u = jacobian @ v
            if mu:
                p = np.linalg.solve(W, [-u[0], -(1 + e) * u[1]])
                if p[1] <= 0:
                    continue
                claims = ("hybrid", "world", "hybrid:no-slip", *(NEWTONS if e else IMPACTS))
            else:
                p = np.array([0, -(1 + e) * u[1] / W[1, 1]])
                claims = (*EVENTS, *IMPACTS)
            known = v + inverse @ jacobian.T @ p
            yield Case(
                f"a rod at {angle:g} rad hits a floor, e = {e:g}, μ = {mu:g}", "impacts", model,
                lambda run, known=known: (run.v[-1], known), 0.011, q=[0, 0, angle], v=v,
                claims=claims, restitution=e, mu=mu,
            )  # fmt: skip


def struck() -> Iterator[Case]:
    """A ball hits a rod that is free, at some distance from its middle, or one on a hinge."""
    m1, m, I, r = 0.5, 2.0, 0.06, 0.05
    for d in (0.0, 0.1, 0.2):
        for e in (0.0, 0.7):
            # Along z; the rod lies along x and its middle is at the origin.
            rod = inertial(m, I) + ball(r, 1.0, at=(d, 0, 0))
            model = world(
                body(rod, joints=PLANAR) + body(ball(r, m1), at=(d, 0, 0.2), joints=SLIDE_Z),
                fixed="", gravity="0 0 0",
            )  # fmt: skip
            p = (1 + e) / (1 / m1 + 1 / m + d * d / I)
            known = [0, -p / m, d * p / I, -1 + p / m1]
            yield Case(
                f"a ball hits a free rod {d:g} m off its middle, e = {e:g}", "impacts", model,
                lambda run, known=known: (run.v[-1], known), 0.1 + 1e-6, v=[0, 0, 0, -1],
                claims=(*EVENTS, *IMPACTS), restitution=e,
            )  # fmt: skip
    for ratio in (0.2, 1.0, 5.0):
        length = 0.4
        arm = inertial(m, 1e-6, at=(0, 0, -length)) + ball(r, 1.0, at=(0, 0, -length))
        hinge = '<joint axis="0 -1 0"/>'
        model = world(
            body(arm, at=(0, 0, length), joints=hinge)
            + body(ball(r, ratio * m), at=(-0.2, 0, 0), joints=SLIDE_X),
            fixed="", gravity="0 0 0",
        )  # fmt: skip
        inertia = m * length**2 + 1e-6
        p = 1.0 / (1 / (ratio * m) + length**2 / inertia)
        known = [length * p / inertia, 1 - p / (ratio * m)]
        yield Case(
            f"a ball of {ratio:g} times its mass hits a pendulum, e = 0", "impacts", model,
            lambda run, known=known: (run.v[-1], known), 0.1 + 1e-6, v=[0, 1],
            claims=(*EVENTS, *IMPACTS), error=1e-6,
        )  # fmt: skip


def rocking() -> Iterator[Case]:
    """Housner: a block that rocks from edge to edge keeps 1 - 3/2 sin²α of its spin."""
    for alpha in (0.15, 0.25, 0.35, 0.45):
        R, m = 0.5, 2.0
        b, h = R * np.sin(alpha), R * np.cos(alpha)
        inertia = m * R * R / 3
        feet = "".join(ball(1e-3, 1.0, at=(x, 0, -h + 1e-3)) for x in (-b, b))
        model = world(body(inertial(m, inertia) + feet, at=(0, 0, h), joints=PLANAR))
        tilt = 0.05  # about +y: it stands on its right foot, a little ball that rolls
        keeps = 1 - 1.5 * np.sin(alpha) ** 2

        def check(run, keeps=keeps):
            hit = next(e for e in run.events() if e.kind == "impact")
            return np.sqrt(hit.kinetic_after / hit.kinetic_before), keeps

        # The centre of the right foot is 1 mm over the floor.
        foot = np.array([b, -h + 1e-3])
        turned = [
            foot[0] * np.cos(tilt) + foot[1] * np.sin(tilt),
            -foot[0] * np.sin(tilt) + foot[1] * np.cos(tilt),
        ]
        yield Case(
            f"a block of α = {alpha:g} rocks to its other edge", "impacts", model, check, 0.6,
            q=[b - turned[0], 1e-3 - turned[1] - h, tilt], mu=10.0,
            claims=("hybrid", "world", "hybrid:no-slip", "hybrid:lcp-cone"), error=1e-2,
        )  # fmt: skip


def walls() -> Iterator[Case]:
    """Pendulums against a wall, and a ball between two walls.

    The pendulum's contact is able to move along one line only: slip ends together with compression.
    """
    length, r = 0.5, 0.05
    hinge = '<joint axis="0 -1 0"/>'
    wall = f'<geom type="plane" size="1 1 .1" zaxis="-1 0 0" pos="{r} 0 0"/>'
    arm = body(inertial(1.0, 1e-9, at=(0, 0, -length)) + ball(r, 1.0, at=(0, 0, -length)),
               joints=hinge)  # fmt: skip
    for e in (0.3, 0.7, 1.0):
        # Released at angle a, it meets the wall at the bottom.
        a = 0.8
        known = e * e * G * length * (1 - np.cos(a))
        yield Case(
            f"a pendulum bounces off a wall, e = {e:g}", "impacts", world(arm, fixed=wall),
            lambda run, known=known: (run.kinetic[-1] + run.potential[-1] + G * length, known),
            0.5, q=[-a], restitution=e,
            claims=(*EVENTS, *IMPACTS),
        )  # fmt: skip
    two = '<geom type="plane" size="1 1 .1" zaxis="1 0 0" pos="-.5 0 0"/>'
    two += '<geom type="plane" size="1 1 .1" zaxis="-1 0 0" pos=".5 0 0"/>'
    for e in (0.9, 1.0):
        # 0.4 m to the first wall, then 0.9 m each.
        hits, t, speed = 0, 0.45 / 2.0, 2.0 * e
        x = 0.45
        while t + 0.9 / speed < 3.0:
            t, speed, x, hits = t + 0.9 / speed, speed * e, -x, hits + 1
        v = -np.sign(x) * speed
        known = [x + v * (3.0 - t), v]
        yield Case(
            f"a ball between two walls, e = {e:g}", "impacts",
            world(body(ball(r), joints=SLIDE_X), fixed=two, gravity="0 0 0"),
            lambda run, known=known: (end(run), known), 3.0, v=[2.0], restitution=e,
            claims=(*RIGID, *IMPACTS), step_error=FIRST,
        )  # fmt: skip


def cases() -> Iterator[Case]:
    """All of them."""
    for family in (bounces, oblique, rows_of_balls, rods, struck, rocking, walls):
        yield from family()
