r"""Estimates while a test runs: rows in, parameters with intervals out.

Rates are those of a polynomial over the last few poses, taken in the middle of that window, and
the wrench is taken from the same moment: no lag between the two, half a window of delay to the
operator. Noise in the motion would draw least squares towards zero (`errors_in_variables`). Here
every second pose makes the columns A, the poses between them make instruments Z: the same columns
with independent noise, and

$$ \sum Z^T (w - A p) = 0 $$

is free of that bias [SoderstromStoica1983]. Neighbouring windows share poses, so standard errors
are those of blocks of rows, $M^{-1} \sum g_b g_b^T M^{-T}$ with $g_b$ the sums over a block. The
newest blocks are compared with those before: a parameter that jumps is said, and what came before
the jump is forgotten.
"""

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from stiction._base.arrays import Float
from stiction._base.compile import quick_jit
from stiction._base.errors import InputError
from stiction.identify.contact.from_setup import contact_model
from stiction.identify.contact.model import carrying, columns, find_contacts
from stiction.identify.contact.parameters import (
    jacobian_of_wanted,
    wanted_names,
    wanted_values,
)
from stiction.identify.kinds.contact_setup import ContactSetup
from stiction.identify.path.coordinates import motion_of, rodrigues
from stiction.identify.recording import Recording, recording
from stiction.tables import Table, interpolate, is_number

_STREAM = Path("stream")
_ALL = slice(None)
_BLOCK = 2  # windows of rows in a block
_FEWEST = 8  # blocks before an estimate is given
_RECENT = 12  # blocks that are compared with those before
_JUMP, _LEAST_JUMP = 5.0, 0.01  # standard errors, and part of the value, that are a change
_LOOK_EVERY = 6  # blocks
_MEMORY = 1024  # blocks that are kept
_MARGIN = 3.0  # standard deviations within which a sample is in doubt
_GAP = 2.5  # mean steps of a window: a longer one is a gap
_CHUNK = 2048  # rows that are judged by one estimate
_LEAST_TRACE = 0.0  # of a turn that coordinates about a middle orientation serve: 120°
_SI = {"k": "stiffness", "c": "damping", "alpha": "dissipation", "mu": "friction"}


@quick_jit
def _rows(model, theta, known, center, motions, step, quiet, reach, wrench, noise):
    """Columns by every second pose and by those between, weighted; and which rows are sure.

    `motions` are coordinates and rates (per sample) in the middle of each window, by all its poses,
    by every second and by those between; `quiet` is the noise of such a rate.
    """

    def one(motions, step, wrench):
        all_, even, odd = (motion_of(center, x, v / step) for x, v in motions)
        found = find_contacts(model, theta, all_)
        pressed = jnp.sum((wrench[:3] / noise[:3]) ** 2) > 16.0
        on = jnp.where(known, carrying(model, theta, found), found.touching & pressed)
        speed_noise = reach * quiet / step
        brink = found.near & (jnp.abs(found.depth) < _MARGIN * reach)
        slow = jnp.sqrt(jnp.sum(found.slip**2, axis=-1)) < _MARGIN * speed_noise[0]
        sure = ~jnp.any(brink | (on & slow))
        A, Z = (
            columns(model, theta, m, find_contacts(model, theta, m), on, blur=s**2) / noise[:, None]
            for m, s in ((even, speed_noise[1]), (odd, speed_noise[2]))
        )
        w = wrench / noise
        return Z.T @ A + A.T @ Z, (A + Z).T @ w, jnp.any(on) & sure

    return jax.vmap(one)(motions, step, wrench)


@cache
def _limit(freedom: int) -> float:
    """Standard errors of a jump, scatter being known from few blocks."""
    return float(student.ppf(1 - norm.sf(_JUMP), max(freedom, 1)))


def _polynomial(at: Float[np.ndarray, " n"], width: int) -> Float[np.ndarray, "2 width"]:
    """Weights that give value and slope (per sample) in the middle of a window.

    A cubic through those samples of the window that stand at `at` [SavitzkyGolay1964]; the others
    have no weight.
    """
    powers = np.vander(at, min(4, len(at)), increasing=True)
    out = np.zeros((2, width))
    out[:, (at + width // 2).astype(int)] = np.linalg.pinv(powers)[:2]
    return out


class _Blocks:
    """Sums over blocks of rows, the newest last, at most `_MEMORY` of them."""

    def __init__(self, p: int):
        self._M, self._y, self._end = (np.zeros((2 * _MEMORY, *k)) for k in ((p, p), (p,), ()))
        self._first = self._last = 0

    def __len__(self) -> int:
        return self._last - self._first

    def append(self, M: np.ndarray, y: np.ndarray, end: float) -> None:
        """Add a block that ends at a time; the oldest goes if there are too many."""
        if self._last == len(self._M):
            self.forget_all_but(_MEMORY - 1)
            for store in (self._M, self._y, self._end):
                store[: len(self)] = store[self._first : self._last]
            self._first, self._last = 0, len(self)
        self._M[self._last], self._y[self._last], self._end[self._last] = M, y, end
        self._last += 1
        self.forget_all_but(_MEMORY)

    def forget_all_but(self, newest: int) -> None:
        """Forget all but so many of the newest blocks."""
        self._first = max(self._first, self._last - newest)

    def part(self, which: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, y and end of some blocks."""
        rows = slice(self._first, self._last)
        return self._M[rows][which], self._y[rows][which], self._end[rows][which]


class OnlineIdentifier:
    """Parameters that follow a stream of samples.

    online = OnlineIdentifier(setup)
    for time, position, rotation, wrench in stream:
        if online.update(time, position, rotation, wrench):
            print(online.parameters, online.std)
    """

    def __init__(self, setup: ContactSetup, folder: Path = Path()):
        """
        Args:
            setup: With linear parameters only: k, c, alpha and mu of the spring.
            folder: Where mesh files of the setup lie.
        """
        model = contact_model(setup, folder)
        if model.nonlinear_names or model.has_bristles:
            raise InputError(
                "`--online` follows k, c, alpha and mu (of the spring) alone; leave out 'lambda',"
                " 'offset', 'k_f' and 'mu_s' of `surfaces.wanted`"
            )
        noise, pose = setup.wrench.noise, setup.pose.noise
        sizes = (1.0, 0.1) if noise is None else (noise.force or 1e-6, noise.moment or 1e-6)
        arm = max(shape.arm for shape in model.body)
        self._reach = 0.0 if pose is None else float(np.hypot(pose.position, arm * pose.rotation))
        self._model = model
        self._noise = np.repeat(sizes, 3)
        self._width = setup.method.window | 1  # odd, so that there is a middle
        half = self._width // 2
        at = np.arange(-half, half + 1.0)
        chosen = (at, at[at % 2 == half % 2], at[at % 2 != half % 2])
        self._weights = np.array([_polynomial(a, self._width) for a in chosen])
        self._quiet = np.linalg.norm(self._weights[:, 1], axis=1)
        self._forgetting = setup.method.forgetting
        self._buffer: deque = deque(maxlen=self._width)
        p = len(model.linear_names)
        self._open = (np.zeros((p, p)), np.zeros(p), 0, 0.0)  # the block that is being filled
        self._blocks = _Blocks(p)
        self._closed = 0
        self.names = wanted_names(model)
        self.samples = 0  # that were judged
        self.changes: list[tuple[float, str]] = []

    def update(
        self,
        time: float,
        position: Float[np.ndarray, "3"],
        rotation: Float[np.ndarray, "3 3"],
        wrench: Float[np.ndarray, "6"],
    ) -> bool:
        """Take in one sample; whether it was judged.

        Args:
            time: [s].
            position: Of the body [m].
            rotation: Body to world.
            wrench: Of the contacts on the moving body, force first.
        """
        one = (np.array([time]), *(np.asarray(x)[None] for x in (position, rotation, wrench)))
        return self.update_many(*one) > 0

    def update_many(
        self,
        time: Float[np.ndarray, " n"],
        position: Float[np.ndarray, "n 3"],
        rotation: Float[np.ndarray, "n 3 3"],
        wrench: Float[np.ndarray, "n 6"],
    ) -> int:
        """Take in many samples in the order of time; how many were judged."""
        before = self.samples
        for i in range(0, len(time), _CHUNK):
            rows = slice(i, i + _CHUNK)
            self._take(time[rows], position[rows], rotation[rows], wrench[rows])
        return self.samples - before

    def _take(self, *new: np.ndarray) -> None:
        old = list(self._buffer)
        if old and new[0][0] <= old[-1][0]:
            raise InputError(f"time must rise, got {new[0][0]:.9g} s after {old[-1][0]:.9g} s")
        self._buffer.extend(zip(*(x[-self._width :] for x in new), strict=True))
        if old:
            before = (np.array(x) for x in zip(*old[-(self._width - 1) :], strict=True))
            new = tuple(np.concatenate(pair) for pair in zip(before, new, strict=True))
        self._judge(*new)

    def _judge(self, time, position, rotation, wrench) -> None:
        """Take in the windows of some rows."""
        width, half = self._width, self._width // 2
        count = len(time) - width + 1
        if count < 1:
            return
        center = rotation[len(rotation) // 2]
        turned = np.einsum("ij,nij->n", center, rotation)
        if turned.min() < _LEAST_TRACE and count > 1:
            # Coordinates serve turns of less than half a circle: each half of the windows alone.
            cut = count // 2
            for rows in (slice(0, cut + width - 1), slice(cut, None)):
                self._judge(time[rows], position[rows], rotation[rows], wrench[rows])
            return
        x = np.concatenate([position, rodrigues(center, rotation)], axis=1)
        windows = np.lib.stride_tricks.sliding_window_view(x, width, axis=0)
        # (all, even, odd) × (value, rate) × window × coordinate
        motions = np.einsum("nkw,abw->abnk", windows, self._weights, optimize=True)
        step = (time[width - 1 :] - time[:count]) / (width - 1)
        middle = slice(half, half + count)
        theta = self._estimate(_ALL)
        # Padded to few lengths, for each of which the rows are compiled once.
        pick = np.minimum(np.arange(1 << (count - 1).bit_length()), count - 1)
        M, y, sure = (
            np.asarray(out)[:count]
            for out in _rows(
                self._model,
                np.zeros(len(self._open[1])) if theta is None else theta,
                theta is not None,
                center,
                [(value[pick], rate[pick]) for value, rate in motions],
                step[pick],
                self._quiet,
                self._reach,
                wrench[middle][pick],
                self._noise,
            )
        )
        # A window across a gap has no rate.
        gaps = np.lib.stride_tricks.sliding_window_view(np.diff(time), width - 1).max(axis=1)
        sure = sure & (gaps < _GAP * step)
        self._gather(M[sure], y[sure], time[middle][sure])

    def _gather(self, M: np.ndarray, y: np.ndarray, time: np.ndarray) -> None:
        """Add rows to the open block, and close it whenever it is full."""
        size = _BLOCK * self._width
        while len(M):
            sum_M, sum_y, count, _ = self._open
            n = min(size - count, len(M))
            self._open = (
                sum_M + M[:n].sum(axis=0),
                sum_y + y[:n].sum(axis=0),
                count + n,
                float(time[n - 1]),
            )
            self.samples += n
            M, y, time = M[n:], y[n:], time[n:]
            if self._open[2] == size:
                self._blocks.append(*self._open[:2], self._open[3])
                self._open = (np.zeros_like(sum_M), np.zeros_like(sum_y), 0, 0.0)
                self._look_for_a_change()

    def _weighted(self, which: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        M, y, _ = self._blocks.part(which)
        fade = self._forgetting ** (_BLOCK * self._width * np.arange(len(M))[::-1])
        return fade, M, y

    def _estimate(self, which: slice) -> np.ndarray | None:
        """The parameters of some blocks, or None while these do not determine them."""
        fade, M, y = self._weighted(which)
        if len(M) < min(_FEWEST, len(self._open[1]) + 1):
            return None
        total = np.tensordot(fade, M, 1)
        size = np.sqrt(np.abs(np.diag(total)))
        if np.any(size == 0) or np.linalg.cond(total / np.outer(size, size)) > 1e10:
            return None
        return np.linalg.solve(total, fade @ y)

    def _spread(self, which: slice, theta: np.ndarray) -> np.ndarray:
        """Covariance of the parameters, blocks as independent units."""
        fade, M, y = self._weighted(which)
        g = fade[:, None] * (y - M @ theta)
        inverse = np.linalg.inv(np.tensordot(fade, M, 1))
        n, p = len(M), len(theta)
        return inverse @ (g.T @ g) @ inverse.T * (n / max(n - p, 1))

    def _told(self, which: slice) -> tuple[np.ndarray, np.ndarray]:
        """The wanted parameters and their covariance."""
        theta = self._estimate(which)
        if theta is None:
            nothing = np.full(len(self.names), np.nan)
            return nothing, np.diag(nothing)
        none = np.zeros(len(self._model.materials))
        J = jacobian_of_wanted(self._model, theta, none)
        spread = J @ self._spread(which, theta) @ J.T
        return np.asarray(wanted_values(self._model, theta, none)), spread

    def _look_for_a_change(self) -> None:
        """Compare the newest blocks with those before; forget these if a parameter jumped."""
        self._closed += 1
        if len(self._blocks) < 2 * _RECENT or self._closed % _LOOK_EVERY:
            return
        (a, cov_a), (b, cov_b) = self._told(slice(0, -_RECENT)), self._told(slice(-_RECENT, None))
        # Few blocks tell their own scatter poorly: Student's t, with as many degrees of freedom.
        limit = _limit(_RECENT - len(self._open[1]))
        z = np.abs(a - b) / np.sqrt(np.diag(cov_a) + np.diag(cov_b))
        z = np.where(np.abs(a - b) > _LEAST_JUMP * np.abs(a), z, 0.0)
        if not np.any(z > limit):
            return
        name = self.names[int(np.nanargmax(z))]
        surface, _, letter = name.rpartition(".")
        when = float(self._blocks.part(_ALL)[2][-_RECENT - 1])
        what = f"{_SI.get(letter, letter)} of '{surface}' changed at about {when:.3g} s"
        self.changes.append((when, what))
        self._blocks.forget_all_but(_RECENT)

    @property
    def determined(self) -> bool:
        """Whether the rows so far determine the parameters."""
        return self._estimate(_ALL) is not None

    @property
    def parameters(self) -> dict[str, float]:
        """The estimates so far; nan while undetermined."""
        return dict(zip(self.names, self._told(_ALL)[0].tolist(), strict=True))

    @property
    def std(self) -> dict[str, float]:
        """Their standard errors."""
        _, cov = self._told(_ALL)
        return dict(zip(self.names, np.sqrt(np.diag(cov)).tolist(), strict=True))


Estimates = Iterator[tuple[float, dict[str, float], dict[str, float]]]


def follow(online: OnlineIdentifier, recording: Recording, *, every: int = 256) -> Estimates:
    """Play a recording to an identifier; yield time, parameters and standard errors.

    Args:
        online: The identifier.
        recording: The test.
        every: Rows that are taken in at once.
    """
    r = recording
    wrench = interpolate(r.pose_time, r.wrench_time, r.wrench)
    for i in range(0, len(r.pose_time), every):
        part = slice(i, i + every)
        rows = (r.pose_time[part], r.position[part], r.rotation[part], wrench[part])
        if online.update_many(*rows) and online.determined:
            yield float(rows[0][-1]), online.parameters, online.std


def follow_lines(online: OnlineIdentifier, lines: Iterable[str], setup: ContactSetup) -> Estimates:
    """Follow lines of text as they arrive: a header, then pose and wrench of one moment each.

    Args:
        online: The identifier.
        lines: Comma-separated.
        setup: For columns, units and frames.
    """
    for sample in _samples(lines, setup):
        if online.update(*sample) and online.determined:
            yield float(sample[0]), online.parameters, online.std


def _samples(lines: Iterable[str], setup: ContactSetup):
    """Samples of lines. Each is read beside the one before it, so that all checks of a log hold."""
    rows = csv.reader(lines, skipinitialspace=True)
    names = [n.strip() for n in next(rows, [])]
    if not names or all(is_number(n) for n in names):
        raise InputError("the stream must start with a line of column names, got none")
    before: list[str] = []
    for number, cells in enumerate(rows):
        if len(cells) != len(names):
            raise InputError(
                f"row {number + 1} of the stream must have {len(names)} cells, got {len(cells)}"
            )
        if before:
            columns = {n: np.array(pair) for n, *pair in zip(names, before, cells, strict=True)}
            part = Table(_STREAM, columns, setup.units, header_lines=1, first_row=number - 1)
            r = recording(_STREAM.name, part, part, setup)
            for i in range(0 if number == 1 else 1, 2):
                yield r.pose_time[i], r.position[i], r.rotation[i], r.wrench[i]
        before = cells
