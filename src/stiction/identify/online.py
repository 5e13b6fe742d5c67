"""Estimates while a test runs: rows in, parameters out (ma Sec. 2.2.2, the alternative to (15)).

Rates are those of a polynomial over the last few poses, taken in the middle of that window, and
the wrench is taken from the same moment: no lag between the two, half a window of delay to the
operator. This is plain recursive least squares, which takes the motion for exact: quick and good
for watching; the batch fit afterwards also counts the noise of the motion.
"""

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from stiction._arrays import Float
from stiction._errors import InputError
from stiction.identify.build import build_model, wanted_names, wanted_values
from stiction.identify.contacts import Motion
from stiction.identify.filters import local_polynomial
from stiction.identify.model import carrying, columns, find_contacts
from stiction.identify.recording import Recording, recording
from stiction.identify.recursive import RecursiveLeastSquares
from stiction.identify.setup import ContactSetup
from stiction.identify.tables import Table, is_number
from stiction.identify.trajectory import motion_of, rodrigues

_STREAM = Path("stream")


@eqx.filter_jit
def _row(model, theta, known, center, x, v, wrench, noise):
    """Weighted rows of one sample; zero where nothing carries force."""
    motion: Motion = motion_of(center, x, v)
    found = find_contacts(model, theta, motion)
    pressed = jnp.sum((wrench[:3] / noise[:3]) ** 2) > 16.0
    on = jnp.where(known, carrying(model, theta, found), found.touching & pressed)
    A = columns(model, theta, motion, found, on)
    return A / noise[:, None], wrench / noise, jnp.any(on)


class OnlineIdentifier:
    """Parameters that follow a stream of samples.

    online = OnlineIdentifier(setup)
    for time, position, rotation, wrench in stream:
        if online.update(time, position, rotation, wrench):
            print(online.parameters)
    """

    def __init__(self, setup: ContactSetup, folder: Path = Path()):
        """
        Args:
            setup: With linear parameters only: k, c, alpha and mu of the spring.
            folder: Where mesh files of the setup lie.
        """
        model = build_model(setup, folder)
        if model.nonlinear_names or model.has_bristles:
            raise InputError(
                "`--online` follows k, c, alpha and mu (of the spring) alone; leave out 'lambda',"
                " 'offset', 'k_f' and 'mu_s' of `surfaces.wanted`"
            )
        noise = setup.wrench.noise
        sizes = (1.0, 0.1) if noise is None else (noise.force or 1e-6, noise.moment or 1e-6)
        self._model = model
        self._noise = jnp.asarray(np.repeat(sizes, 3))
        self._value, self._slope = local_polynomial(setup.method.window)
        self._buffer: deque = deque(maxlen=setup.method.window)
        self._rls = RecursiveLeastSquares(
            len(model.linear_names), forgetting=setup.method.forgetting
        )
        self.names = wanted_names(model)
        self.samples = 0  # that carried force

    def update(
        self,
        time: float,
        position: Float[np.ndarray, "3"],
        rotation: Float[np.ndarray, "3 3"],
        wrench: Float[np.ndarray, "6"],
    ) -> bool:
        """Take in one sample; whether the estimate changed.

        Args:
            time: [s].
            position: Of the body [m].
            rotation: Body to world.
            wrench: Of the contacts on the moving body, force first.
        """
        if self._buffer and time <= self._buffer[-1][0]:
            raise InputError(f"time must rise, got {time:.9g} s after {self._buffer[-1][0]:.9g} s")
        self._buffer.append((time, position, rotation, wrench))
        width = len(self._value)
        if len(self._buffer) < width:
            return False
        times, positions, rotations, wrenches = zip(*self._buffer, strict=True)
        center = np.asarray(rotations[width // 2])
        x = np.concatenate([np.array(positions), rodrigues(center, np.array(rotations))], axis=1)
        step = (times[-1] - times[0]) / (width - 1)
        estimate = self._rls.estimate
        known = bool(np.all(np.isfinite(estimate)))
        A, b, on = _row(
            self._model,
            jnp.asarray(estimate if known else np.zeros_like(estimate)),
            known,
            jnp.asarray(center),
            jnp.asarray(self._value @ x),
            jnp.asarray(self._slope @ x / step),
            jnp.asarray(wrenches[width // 2]),
            self._noise,
        )
        if not bool(on):
            return False
        self._rls.update(np.asarray(A), np.asarray(b))
        self.samples += 1
        return True

    @property
    def parameters(self) -> dict[str, float]:
        """The estimates so far; nan while undetermined."""
        breakaway = np.zeros(len(self._model.materials))
        values = wanted_values(self._model, self._rls.estimate, breakaway)
        return dict(zip(self.names, np.asarray(values).tolist(), strict=True))


Estimates = Iterator[tuple[float, dict[str, float]]]


def follow(online: OnlineIdentifier, recording: Recording) -> Estimates:
    """Play a recording to an identifier; yield time and parameters whenever they change."""
    if not recording.same_clock:
        w = np.stack(
            [np.interp(recording.pose_time, recording.wrench_time, c) for c in recording.wrench.T],
            axis=1,
        )
    else:
        w = recording.wrench
    samples = zip(recording.pose_time, recording.position, recording.rotation, w, strict=True)
    yield from _estimates(online, samples)


def follow_lines(online: OnlineIdentifier, lines: Iterable[str], setup: ContactSetup) -> Estimates:
    """The same for lines of text as they arrive: a header, then pose and wrench of one moment each.

    Args:
        online: The identifier.
        lines: Comma-separated.
        setup: For columns, units and frames.
    """
    yield from _estimates(online, _samples(lines, setup))


def _estimates(online: OnlineIdentifier, samples) -> Estimates:
    for sample in samples:
        if online.update(*sample):
            yield float(sample[0]), online.parameters


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
