r"""Impacts of a planar body from velocities before and after: friction, restitution, and which law.

Along the normal impulse p the contact's velocity moves on straight lines, $du = G\,(f, 1)\,dp$ with
$G$ the inverse mass at the contact and f = ∓μ while it slides; where the slip comes to zero it
sticks, if μ holds it, or turns round [Routh1905]. Compression ends at $u_n = 0$. The laws differ in
where restitution ends: at $u_n^+ = -e u_n^-$ (Newton), at $(1 + e)$ times the impulse of
compression (Poisson, as in complementarity problems with two phases), or where e² of the work of
compression has been given back (Stronge). They are one while the slip keeps its direction.

Laws are ranked by what they foretell of impacts kept aside, in turn.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from stiction._base.arrays import Float
from stiction._base.errors import InputError
from stiction._base.files import Fields
from stiction.identify.fields import Columns3, Fraction, Positive, Setup
from stiction.identify.fit.least_squares import scaled_condition
from stiction.identify.fit.ranking import rank
from stiction.identify.kinds.impact_motion import ImpactPairs, PlanarMotion, pairs_from_motion
from stiction.identify.result import Identification, parameters
from stiction.tables import Table

LAWS = ("newton", "poisson", "stronge")
_UNITS = {"mu": "", "restitution": ""}
_STARTS = ((0.1, 0.3), (0.4, 0.7), (0.8, 0.3))
_FEWEST = 8
_STEP = 1e-5
_BALANCED = 0.3  # part of the change of spin that noise may hide


class PairNoise(Fields):
    """Standard deviation of the velocities."""

    velocity: Annotated[Positive, Field(description="[m/s]")]
    spin: Annotated[Positive, Field(description="[rad/s]")]


class ImpactPairSetup(Setup):
    """Columns of impacts, one a row: a body in a plane, x along the surface, y out of it."""

    kind: Literal["impact-pairs"]
    mass: Annotated[Positive, Field(description="[kg]")]
    inertia: Annotated[Positive, Field(description="about the centre of mass [kg·m²]")]
    before: Annotated[
        Columns3 | None, Field(description="velocity x, y and spin (x towards y)")
    ] = None
    after: Columns3 | None = None
    arm: Annotated[
        Annotated[list[str], Field(min_length=2, max_length=2)] | None,
        Field(description="contact less centre of mass, x and y"),
    ] = None
    motion: Annotated[
        PlanarMotion | None, Field(description="instead of these: recorded poses, a log each")
    ] = None
    noise: Annotated[PairNoise | None, Field(description="read off the misfit if left out")] = None
    laws: Annotated[list[Literal["newton", "poisson", "stronge"]], Field(min_length=1)] = list(LAWS)
    folds: Annotated[int, Field(ge=2, le=50, description="parts kept aside in turn")] = 10
    confidence: Fraction = 0.95

    @model_validator(mode="after")
    def _one_source(self) -> "ImpactPairSetup":
        listed = [self.before, self.after, self.arm]
        if (self.motion is None) != all(listed) or (self.motion is not None and any(listed)):
            raise ValueError("give either `before`, `after` and `arm`, or `motion`")
        return self

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        if self.motion is not None:
            return self.motion.coordinates
        return [*(self.before or []), *(self.after or []), *(self.arm or [])]


def rebound(
    law: str,
    u: Float[np.ndarray, "n 2"],
    G: Float[np.ndarray, "n 2 2"],
    mu: float,
    e: float,
) -> Float[np.ndarray, "n 2"]:
    """Impulses (tangential, normal) of impacts whose contact comes in at u (tangential, normal)."""
    s = np.sign(u[:, 0])
    # Slopes along the normal impulse: while sliding, and after the slip has come to zero.
    first = np.einsum("nij,nj->ni", G, np.stack([-mu * s, np.ones(len(u))], axis=1))
    hold = -G[:, 0, 1] / G[:, 0, 0]  # tangential part that keeps the slip at zero
    then = np.where(np.abs(hold) <= mu, hold, mu * np.sign(hold))
    second = np.einsum("nij,nj->ni", G, np.stack([then, np.ones(len(u))], axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        stop = np.where(s * first[:, 0] < 0, -u[:, 0] / first[:, 0], np.inf)
        stop = np.where(s == 0, 0.0, stop)

        def impulse_at(target: np.ndarray) -> np.ndarray:
            """p at which the normal velocity is `target`, on the way out."""
            at_stop = u[:, 1] + first[:, 1] * np.minimum(stop, 1e300)
            before = (target - u[:, 1]) / first[:, 1]
            after = stop + (target - at_stop) / second[:, 1]
            return np.where((before >= 0) & (before <= stop), before, after)

        p_c = impulse_at(np.zeros(len(u)))
        if law == "newton":
            p = np.maximum(impulse_at(-e * u[:, 1]), p_c)
        elif law == "poisson":
            p = (1 + e) * p_c
        else:
            p = _stronge(p_c, u[:, 1], first[:, 1], second[:, 1], stop, e)
    slid = np.minimum(p, stop)
    return np.stack([-mu * s * slid + then * (p - slid), p], axis=1)


def _stronge(p_c, u_n, first, second, stop, e):
    """p at which e² of the work of compression has come back; the work is quadratic in pieces."""
    until = np.minimum(p_c, stop)
    u_stop = u_n + first * until
    late = np.maximum(p_c - stop, 0.0)
    work = u_n * until + first * until**2 / 2 + u_stop * late + second * late**2 / 2
    wanted = -(e**2) * work
    # On the way out u_n grows from zero: with one slope to the stop, then with another.
    left = np.maximum(stop - p_c, 0.0)
    to_stop = first * left**2 / 2
    quick = p_c + np.sqrt(2 * wanted / first)
    u_there = first * left
    more = wanted - to_stop
    beyond = (-u_there + np.sqrt(u_there**2 + 2 * second * np.maximum(more, 0))) / second
    return np.where((left > 0) & (wanted <= to_stop), quick, p_c + left + beyond)


def _listed(table: Table, setup: ImpactPairSetup) -> ImpactPairs:
    """The impacts of one table."""

    def rates(columns: list[str] | None) -> np.ndarray:
        names = columns or []
        return np.concatenate(
            [table.vectors(names[:2], "length"), table.vectors(names[2:], "angle")], axis=1
        )

    arm = table.vectors(setup.arm or [], "length")
    return ImpactPairs(rates(setup.before), rates(setup.after), arm, [])


def identify(tables: Sequence[Table], setup: ImpactPairSetup) -> Identification:
    """Friction and restitution of the law that foretells best."""
    if setup.motion is not None:
        parts = [pairs_from_motion(tables, setup.motion)]
    else:
        parts = [_listed(table, setup) for table in tables]
    before, after, arm = (
        np.concatenate([getattr(p, name) for p in parts]) for name in ("before", "after", "arm")
    )
    if len(before) < _FEWEST:
        raise InputError(f"the log must hold at least {_FEWEST} impacts, got {len(before)} rows")
    J = np.zeros((len(arm), 2, 3))  # contact velocity of (v_x, v_y, spin)
    J[:, 0, 0] = J[:, 1, 1] = 1.0
    J[:, 0, 2], J[:, 1, 2] = -arm[:, 1], arm[:, 0]
    inverse = np.array([1 / setup.mass, 1 / setup.mass, 1 / setup.inertia])
    coming = np.einsum("nij,nj->ni", J, before)
    apart = np.flatnonzero(coming[:, 1] >= 0)
    if len(apart) > 0.5 * len(coming):
        raise InputError(
            f"the contact must approach before an impact, got {len(apart)} of {len(coming)} rows"
            f" that part (the first: impact {apart[0] + 1}); check the signs of `before` and `arm`"
        )
    use = coming[:, 1] < 0
    before, after, J, coming = before[use], after[use], J[use], coming[use]
    G = np.einsum("nij,j,nkj->nik", J, inverse, J)
    warnings = [
        *(said for p in parts for said in p.said),
        *_balance(before, after, arm[use], setup),
    ]
    if len(apart):
        warnings.append(f"{len(apart)} rows part before their impact; left out")

    def missed(law: str, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        p = rebound(law, coming[rows], G[rows], x[0], x[1])
        predicted = before[rows] + np.einsum("nji,nj->ni", J[rows], p) * inverse
        return predicted - after[rows]

    everything = np.arange(len(before))
    noise = np.ones(3)
    if setup.noise is not None:
        noise = np.array([setup.noise.velocity] * 2 + [setup.noise.spin])
    else:
        for _ in range(2):
            x = _fit(lambda x, noise=noise: missed(setup.laws[0], x, everything) / noise)
            r = missed(setup.laws[0], x, everything)
            noise = np.maximum(np.median(np.abs(r), axis=0) / 0.6745, 1e-9)
    scores = {}
    fold = np.random.default_rng(0).permutation(len(before)) % setup.folds
    for law in setup.laws:
        score = np.zeros(len(before))
        for part in range(setup.folds):
            rest, aside = everything[fold != part], everything[fold == part]
            x = _fit(lambda x, rest=rest, law=law: missed(law, x, rest) / noise)
            r = missed(law, x, aside) / noise
            score[aside] = np.minimum(np.sum(r**2, axis=1), 100.0)
        scores[law] = score
    laws = rank(scores, "impacts")
    best = laws.best
    x = _fit(lambda x: missed(best, x, everything) / noise)
    r = missed(best, x, everything) / noise
    slope = np.stack(
        [
            (missed(best, x + h, everything) - missed(best, x - h, everything))
            / noise
            / (2 * _STEP)
            for h in _STEP * np.eye(2)
        ],
        axis=-1,
    )
    weight = np.minimum(1.0, 3.0 / np.maximum(np.linalg.norm(r, axis=1), 1e-12))
    bread = np.linalg.pinv(np.einsum("n,nip,niq->pq", weight, slope, slope))
    g = np.einsum("n,ni,nip->np", weight, r, slope)
    n = len(g)
    cov = bread @ (g.T @ g) @ bread * n / max(n - 2, 1)
    size = float(np.sqrt(np.mean(r**2)))
    return Identification(
        parameters=parameters(_UNITS, x, cov, setup.confidence),
        covariance=cov,
        residual_rms=size,
        residuals={f"score_{law}": float(np.mean(s)) for law, s in scores.items()},
        laws=laws,
        condition=scaled_condition(slope.reshape(-1, 2)),
        warnings=warnings,
        method=f"impact pairs by {best.capitalize()}'s law",
        confidence=setup.confidence,
        notes={"law": best, "samples": {"used": n}, "noise": noise.tolist()},
    )


def _fit(residual) -> np.ndarray:
    """μ and e, from several starts: the cost has kinks where impacts begin to stick."""
    from scipy.optimize import least_squares

    found = [
        least_squares(
            lambda x: residual(x).ravel(), s, bounds=([0, 0], [5, 1]), loss="soft_l1", f_scale=3.0
        )
        for s in _STARTS
    ]
    return min(found, key=lambda f: f.cost).x


def _balance(before, after, arm, setup: ImpactPairSetup) -> list[str]:
    """I Δω = r × m Δv whatever the law: a mirrored axis or a wrong arm breaks it."""
    change = after - before
    turned = setup.inertia * change[:, 2]
    size = np.linalg.norm(turned)
    if size == 0:
        return []

    def missed(x: float, spin: float) -> float:
        moment = setup.mass * (arm[:, 0] * change[:, 1] - x * arm[:, 1] * change[:, 0])
        return float(np.linalg.norm(moment - spin * turned) / size)

    as_read = missed(1.0, 1.0)
    if as_read < _BALANCED:
        return []
    for what, other in (
        ("x looks mirrored", missed(-1.0, 1.0)),
        ("the spin looks mirrored", missed(1.0, -1.0)),
    ):
        if other < 0.5 * as_read:
            return [f"the change of spin is not that of one impulse at the arm: {what}"]
    return [
        f"the change of spin is not that of one impulse at the arm ({100 * as_read:.0f} % are"
        " missed): check `arm`, mass and inertia"
    ]
