"""Tops, ladders, pencils, wedges and brakes: the problems of mechanics courses."""

from collections.abc import Iterator

import numpy as np
from scipy.integrate import quad, solve_ivp

from .case import IMPACTS, PLANAR, RAIL, RIGID, Case, G, ball, body, inertial, numbers, world
from .surfaces import STEPPED

SPACE = ("hybrid", "world", "stepping")
GROUP = "bodies"


def rod(length: float, m: float = 1.0, tip: float = 0.01, y: str = PLANAR) -> str:
    """A thin rod along x between two tips."""
    tips = "".join(ball(tip, 1.0, at=(x, 0, 0)) for x in (-length / 2, length / 2))
    inertia = m * length**2 / 12
    return body(inertial(m, (1e-4 * inertia, inertia, inertia)) + tips, joints=y)


def ladders() -> Iterator[Case]:
    """Without friction it leaves the wall at sin θ = ⅔ sin θ₀, and then keeps its speed along."""
    wall = '<geom type="plane" size="9 9 .1"/><geom type="plane" size="9 9 .1" zaxis="1 0 0"/>'
    L, tip = 1.0, 0.01
    for begins in (0.9, 1.2):
        sine = np.sin(begins)
        speed = np.sqrt(G * L * sine**3) / 3
        leaves = np.arcsin(2 / 3 * sine)
        # The time until the angle a, by the energy: θ' = √(3 g (sin θ₀ - sin θ) / L); with
        # θ = θ₀ - x² nothing is singular.
        until, _ = quad(
            lambda x, b=begins: 2 * x / np.sqrt(3 * G / L * (np.sin(b) - np.sin(b - x * x))),
            1e-9, np.sqrt(begins - leaves), epsabs=1e-12,
        )  # fmt: skip
        # The wall's end is up: along (-cos θ, sin θ) of the middle; a turn about y by θ.
        q = [tip + L / 2 * np.cos(begins), tip + L / 2 * np.sin(begins), begins]
        yield Case(
            f"a ladder leaves a wall, from {begins:g} rad", GROUP, world(rod(L), fixed=wall),
            lambda run, known=speed: (run.v[-1, 0], known), until + 0.05, q=q,
            claims=(*RIGID,), step_error=STEPPED,
        )  # fmt: skip


def off_a_ball() -> Iterator[Case]:
    """What slides down a ball without friction leaves it at cos θ = ⅔ cos θ₀."""
    R, r = 1.0, 0.1
    fixed = f'<geom type="sphere" size="{R}"/>'
    for begins in (0.1, 0.5):
        d, cosine = R + r, 2 / 3 * np.cos(begins)
        speed = np.sqrt(G * d * cosine) * cosine
        until, _ = quad(
            lambda x, b=begins, d=d: 2 * x / np.sqrt(
                2 * G / d * (np.cos(b) - np.cos(b + x * x))
            ), 1e-9, np.sqrt(np.arccos(cosine) - begins), epsabs=1e-12,
        )  # fmt: skip
        joints = RAIL.format(1, 0) + RAIL.format(0, 1)
        yield Case(
            f"a block slides off a ball, from {begins:g} rad", GROUP,
            world(body(ball(r), joints=joints), fixed=fixed),
            lambda run, known=speed: (run.v[-1, 0], known), until + 0.05,
            q=[d * np.sin(begins), d * np.cos(begins)], claims=("world",),
        )  # fmt: skip


def billiards() -> Iterator[Case]:
    """A cut shot: friction throws the ball that is hit, and sets both spinning."""
    r, v = 0.03, 2.0
    for cut, mu, e in ((0.3, 0.05, 0.95), (0.8, 0.05, 0.9), (0.8, 0.5, 0.9), (0.1, 0.5, 1.0)):
        n = np.array([np.cos(cut), np.sin(cut), 0.0])
        t = np.array([np.sin(cut), -np.cos(cut), 0.0])  # along which the first slides
        normal = (1 + e) / 2 * v * np.cos(cut)
        rub = min(mu * normal, v * np.sin(cut) / 7)
        first = np.array([v, 0, 0]) - normal * n - rub * t
        other = normal * n + rub * t
        spin = 2.5 / r * np.cross(n, -rub * t)
        at = -(2 * r) * n - np.array([0.1, 0, 0])
        yield Case(
            f"a cut shot of {cut:g} rad, μ = {mu:g}, e = {e:g}", GROUP,
            world(body(ball(r), at=at) + body(ball(r)), fixed="", gravity="0 0 0"),
            lambda run, known=[*first, *spin, *other, *spin]: (
                run.v[-1] * np.tile([1, 1, 1, r, r, r], 2), known * np.tile([1, 1, 1, r, r, r], 2)
            ), 0.1, v=[v, *np.zeros(11)], mu=mu, restitution=e, step_error=STEPPED,
            claims=(*SPACE, *(x for x in IMPACTS if x not in ("hybrid:lcp", "hybrid:lcp-poisson",
                                                              "hybrid:lcp-pyramid"))),
        )  # fmt: skip


def brakes() -> Iterator[Case]:
    """A pad that its weight presses on a drum: it stops after ω₀ I / (μ m g R), and stays."""
    R, r, m, inertia, spin, mu = 0.2, 0.02, 1.5, 0.05, 10.0, 0.4
    drum = body(inertial(1.0, inertia) + ball(R), joints='<joint axis="0 1 0"/>')
    pad = body(ball(r, m), at=(0, 0, R + r), joints=RAIL.format(0, 1))
    stops = spin * inertia / (mu * m * G * R)
    for part in (0.5, 1.5):
        t = min(part, 1.0) * stops
        known = [spin * t * (1 - 0.5 * t / stops), 0, spin * (1 - t / stops), 0]
        yield Case(
            f"a pad brakes a drum for {part:g} of the time it takes", GROUP,
            world(drum + pad, fixed=""),
            lambda run, known=known: ([*run.q[-1], *run.v[-1]], known), part * stops, v=[spin, 0],
            mu=mu, step_error=STEPPED, claims=SPACE,
        )  # fmt: skip


def tops() -> Iterator[Case]:
    """A ball whose weight is off its middle, on a rough floor: Jellett's integral is kept."""
    r, m, off = 0.05, 0.1, 0.01
    I3, I1 = 0.4 * m * r * r, 0.36 * m * r * r
    top = world(body(inertial(m, (I1, I1, I3), at=(0, 0, -off)) + ball(r), at=(0, 0, r)))

    def jellett(run, row):
        w, x, y, z = run.q[row, 3:7]
        R = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip
        L = R @ (np.array([I1, I1, I3]) * run.v[row, 3:6])  # a free joint turns in its own frame
        return L @ (np.array([0, 0, r]) - off * R[:, 2])

    for mu, tilt in ((0.0, 0.3), (0.1, 0.3), (0.3, 1.0)):
        turn = [np.cos(tilt / 2), np.sin(tilt / 2), 0, 0]
        yield Case(
            f"a tippe top at {tilt:g} rad keeps Jellett's integral, μ = {mu:g}", GROUP, top,
            lambda run: (jellett(run, -1) / jellett(run, 0), 1.0), 0.5, q=[0, 0, r, *turn],
            v=[0, 0, 0, 0, 0, 80.0], mu=mu, claims=SPACE, step_error=STEPPED, error=1e-6,
        )  # fmt: skip


def rattlebacks() -> Iterator[Case]:
    """An ellipsoid whose axes of inertia are turned from those of its shape: rolling is integrated
    by SciPy [BorisovMamaev2003]: with M = I ω + m r × (ω × r), r from the centre to the contact and
    γ upwards, M' = M × ω + m r' × (ω × r) + m g r × γ and γ' = γ × ω.
    """
    shape, m, skew = np.array([0.2, 0.1, 0.05]), 1.0, 0.1
    c, s = np.cos(skew), np.sin(skew)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    principal = np.array([0.002, 0.006, 0.007])
    inertia = R @ np.diag(principal) @ R.T
    at = numbers([c * 0 + np.cos(skew / 2), 0, 0, np.sin(skew / 2)])
    geom = f'<geom type="ellipsoid" size="{numbers(shape)}"/>'
    given = f'<inertial pos="0 0 0" quat="{at}" mass="1" diaginertia="{numbers(principal)}"/>'

    def contact(up):
        return -(shape**2) * up / np.sqrt(up @ (shape**2 * up))

    def tensor(r):
        return inertia + m * (r @ r * np.eye(3) - np.outer(r, r))

    def flow(_, y):
        M, up = y[:3], y[3:]
        r = contact(up)
        w = np.linalg.solve(tensor(r), M)
        rises = np.cross(up, w)
        size = np.sqrt(up @ (shape**2 * up))
        moves = -(shape**2) * (rises / size - up * (up @ (shape**2 * rises)) / size**3)
        change = np.cross(M, w) + m * np.cross(moves, np.cross(w, r)) + m * G * np.cross(r, up)
        return [*change, *rises]

    up, until = np.array([0.0, 0.0, 1.0]), 0.6
    for spin in (2.0, -2.0):
        w = np.array([0.3, 0.2, spin])
        start = [*(tensor(contact(up)) @ w), *up]
        y = solve_ivp(flow, (0, until), start, method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
        r = contact(y[3:])
        known = [*np.linalg.solve(tensor(r), y[:3]), -(r @ y[3:])]
        yield Case(
            f"a rattleback spun with {spin:g} rad/s", GROUP,
            world(body(given + geom, at=(0, 0, shape[2]))),
            lambda run, known=known: ([*run.v[-1, 3:6], run.q[-1, 2]], known), until,
            v=[*np.cross(w, -contact(up)), *w], mu=2.0, claims=SPACE, step_error=STEPPED,
            error=1e-6,
        )  # fmt: skip


def cases() -> Iterator[Case]:
    """All of them."""
    for family in (ladders, off_a_ball, billiards, brakes, tops, rattlebacks):
        yield from family()
