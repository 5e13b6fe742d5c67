"""Which law of contact foretells best the samples of a contact test that were kept aside.

Each law is fitted without a part of the samples, and judged on that part: its parameters are held,
and the path is fitted to the poses and to these samples. What that costs is minus twice the
logarithm of what the law had thought likely, up to a number that all laws share.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from stiction._base.arrays import Bool, Float
from stiction._base.errors import InputError
from stiction.identify.contact.along import bristles_along
from stiction.identify.fit.estimate import Estimate
from stiction.identify.fit.joint import HeldFit, one_test
from stiction.identify.fit.ranking import Ranking, rank
from stiction.identify.fit.samples import ContactProblem, Samples
from stiction.identify.kinds.contact import fit_contact
from stiction.identify.kinds.contact_result import traces_of
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.recording import Recording

# What each law has beside friction and a plate's offset, and its exponent.
LAWS: dict[str, tuple[tuple[str, ...], float]] = {
    "linear": (("k", "c"), 1.0),
    "hunt-crossley": (("k", "alpha"), 1.0),
    "hertz": (("k", "alpha"), 1.5),
    "exponent": (("k", "c", "lambda"), 1.0),
    "bristle": (("k", "c", "k_f", "mu_s"), 1.0),
}
_PARTS = 5  # of the samples in contact, each kept aside in turn
_MANY = 4  # tests: from so many on whole tests are kept aside
_ENOUGH = 100.0  # cost of one sample: what is missed by more is missed, no matter by how much
_GROUP = 8  # samples that count as one: neighbours are not independent


def with_law(setup: ContactSetup, law: str, spacing: float | None = None) -> ContactSetup:
    """The setup with another law on all surfaces."""
    terms, exponent = LAWS[law]
    surfaces = [
        s.model_copy(
            update={
                "wanted": [*terms, *(w for w in ("mu", "offset") if w in s.wanted)],
                "exponent": exponent,
            }
        )
        for s in setup.surfaces
    ]
    method = setup.method.model_copy(update={"knot_spacing": spacing or setup.method.knot_spacing})
    return setup.model_copy(update={"surfaces": surfaces, "method": method})


@threadpool_limits.wrap(limits=1, user_api="blas")
def rank_laws(
    recordings: Sequence[Recording],
    setup: ContactSetup,
    folder: Path = Path(),
    *,
    tell: Callable[[str], None] = lambda text: None,
) -> Ranking:
    """Rank the laws of `LAWS` on one or several tests; arguments as of `identify`."""
    tell("fitting the linear law")
    base = fit_contact(recordings, with_law(setup, "linear"), folder)
    spacing, tests = base.found.spacing, base.found.tests
    judged = [t.used & np.any(t.touched > 0, axis=1) for t in traces_of(base.problem, base.found)]
    friction = all("mu" in s.wanted for s in setup.surfaces)
    losses: dict[str, np.ndarray] = {}
    for law in LAWS:
        if law == "bristle" and not friction:
            continue
        own, scores = with_law(setup, law, spacing), []
        try:
            for number, aside in enumerate(_parts(tests, judged)):
                tell(f"{law}: fitting without part {number + 1}")
                rest = [
                    replace(r, wrench_time=r.wrench_time[keep], wrench=r.wrench[keep])
                    for r, part, s in zip(base.recordings, aside, tests, strict=True)
                    if (keep := ~np.isin(r.wrench_time, s.recording.wrench_time[part])).any()
                    and not (len(tests) >= _MANY and part.any())
                ]
                fitted = fit_contact(rest, own, folder)
                scores += [
                    _loss(fitted.problem, fitted.found, s, part, spacing)
                    for s, part in zip(tests, aside, strict=True)
                    if part.any()
                ]
        except InputError as error:
            tell(f"{law}: {error}")
            continue
        losses[law] = np.concatenate(scores)
    return rank(losses, "tests" if len(tests) > 1 else "samples")


def _parts(
    tests: Sequence[Samples], judged: list[Bool[np.ndarray, " m"]]
) -> list[list[Bool[np.ndarray, " m"]]]:
    """Which samples of each test are kept aside, part by part."""
    none = [np.zeros(len(j), dtype=bool) for j in judged]
    if len(tests) >= _MANY:
        groups = np.array_split(np.arange(len(tests)), min(_PARTS, len(tests)))
        return [[j if i in g else n for i, (j, n) in enumerate(zip(judged, none, strict=True))]
                for g in groups]  # fmt: skip
    out = [[n.copy() for n in none] for _ in range(_PARTS)]
    for i, j in enumerate(judged):
        for part, rows in zip(out, np.array_split(np.flatnonzero(j), _PARTS), strict=True):
            part[i][rows] = True
    return out


def _loss(
    problem: ContactProblem, found: Estimate, s: Samples, part: np.ndarray, spacing: float | None
) -> Float[np.ndarray, " n"]:
    """What the held parameters cost on a part of a test, a group of samples at a time."""
    names = [t.recording.name for t in found.tests]
    mine = names.index(s.recording.name) if s.recording.name in names else None
    problem, found = one_test(problem, found, mine)
    model, noise = problem.model, problem.noise
    bristles = None
    if model.has_bristles:
        bristles = bristles_along(model, found.theta, s.motion, found.stretch_limit)
    kept, bent = None if bristles is None else [bristles], 0.0
    if spacing is not None:
        held = HeldFit(problem, [replace(s, use=1.0 * part)], kept, spacing)
        path = held(found.theta, found.nuisances)
        unused = HeldFit(problem, [replace(s, use=0.0 * part)], kept, spacing)
        bent = float(path.pose_cost - unused(found.theta, found.nuisances).pose_cost)
        s = replace(s, path=held.smooth_paths(path)[0])
    (trace,) = traces_of(problem, replace(found, tests=(s,), bristles=kept))
    each = np.sum((trace.residual[part] / noise.wrench) ** 2, axis=1) + bent / part.sum()
    each = np.minimum(each, _ENOUGH)
    return np.array([g.sum() for g in np.array_split(each, max(len(each) // _GROUP, 1))])
