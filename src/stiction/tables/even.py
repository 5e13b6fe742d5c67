"""Make a recording fit to be filtered: evenly spaced, without gaps, every value a number.

Small faults (repeated stamps, uneven spacing, short gaps) are mended and noted; large ones are
refused, naming the place, because what would be put there is invented.
"""

import numpy as np

from stiction._base.errors import InputError
from stiction.tables.table import Table

MAX_GAP = 0.1  # s; a step takes half a second: longer gaps can hide a foot's landing
ROUNDED = 0.05  # of the sampling period; below it stamps are merely rounded


def make_even(table: Table, *, max_gap: float = MAX_GAP) -> Table:
    """The recording on evenly spaced times.

    Args:
        table: As read.
        max_gap: Longest stretch without values that is bridged [s].

    Returns:
        The table with what was mended in its notes.
    """
    table = _without_repeats(_ordered(table))
    table = _bridge(_trim(table), max_gap)
    time = table.time
    if len(time) < 2:
        raise InputError(f"`{table.source}` must have two rows with a value in every column")
    steps = np.diff(time)
    period = float(np.median(steps))
    if steps.max() > max(max_gap, 1.5 * period):
        k = int(np.argmax(steps))
        raise InputError(
            f"`{table.source}` has a gap of {steps[k]:.3g} s at {time[k]:.4g} s, longer than"
            f" {max_gap:g} s; cut the recording there with --start or --end"
        )
    even = np.linspace(time[0], time[-1], len(time))
    if np.abs(even - time).max() <= ROUNDED * period:
        return table.changed(time=even)
    from scipy.interpolate import make_interp_spline  # slow to import

    even = np.linspace(time[0], time[-1], round((time[-1] - time[0]) / period) + 1)
    spline = make_interp_spline(time, table.values, k=3)
    note = (
        f"time stamps of '{table.source}' are uneven ({steps.min():.3g} to {steps.max():.3g} s):"
        f" resampled at {1 / period:.4g} Hz"
    )
    return table.changed(note, time=even, values=spline(even))


def _ordered(table: Table) -> Table:
    time = table.time
    if len(time) < 2:
        raise InputError(f"`{table.source}` must have at least two rows, got {len(time)}")
    if not np.isfinite(time).all():
        row = int(np.argmin(np.isfinite(time)))
        raise InputError(
            f"`time` in `{table.source}` must be a number, but is not in row {row + 1}"
        )
    if (np.diff(time) < 0).any():
        row = int(np.argmax(np.diff(time) < 0))
        raise InputError(
            f"`time` in `{table.source}` must not go back, but does after row {row + 1}"
            f" ({time[row]:.6g} s, then {time[row + 1]:.6g} s); sort or cut the file"
        )
    return table


def _without_repeats(table: Table) -> Table:
    """One row a time: the mean of those with the same stamp."""
    time, first, counts = np.unique(table.time, return_index=True, return_counts=True)
    if len(time) == len(table.time):
        return table
    with np.errstate(invalid="ignore"):
        values = np.add.reduceat(table.values, first, axis=0) / counts[:, None]
        apart = np.nanmax(np.abs(np.repeat(values, counts, axis=0) - table.values), initial=0.0)
    note = (
        f"{len(table.time) - len(time)} repeated time stamps in '{table.source}', the first at"
        f" {time[counts > 1][0]:.6g} s: their rows (up to {apart:.2g} apart) were averaged"
    )
    if len(time) < 2:
        raise InputError(f"all time stamps of `{table.source}` are {time[0]:g} s")
    return table.changed(note, time=time, values=values)


def _trim(table: Table) -> Table:
    """Leave out the rows at both ends in which some column has no value yet, or no more."""
    complete = np.flatnonzero(np.isfinite(table.values).all(axis=1))
    if not complete.size:
        empty = ~np.isfinite(table.values).any(axis=0)
        what = (
            f"column '{table.names[int(np.argmax(empty))]}' of `{table.source}` has no values"
            if empty.any()
            else f"no row of `{table.source}` has a value in every column"
        )
        raise InputError(f"{what}; leave the column out or fill it")
    first, last = complete[0], complete[-1]
    if (first, last) == (0, len(table) - 1):
        return table
    note = (
        f"'{table.source}' has values in every column from {table.time[first]:.4g} s to"
        f" {table.time[last]:.4g} s only: the rest was left out"
    )
    kept = slice(first, last + 1)
    return table.changed(note, time=table.time[kept], values=table.values[kept])


def _bridge(table: Table, max_gap: float) -> Table:
    """Fill short runs without values by a spline through the rest of the column."""
    missing = ~np.isfinite(table.values)
    if not missing.any():
        return table
    from scipy.interpolate import make_interp_spline

    values, mended = table.values.copy(), []
    for k in np.flatnonzero(missing.any(axis=0)):
        known = np.flatnonzero(~missing[:, k])
        steps = np.diff(table.time[known])
        longest = int(np.argmax(np.where(np.diff(known) > 1, steps, 0.0)))
        if steps[longest] > max_gap:
            raise InputError(
                f"column '{table.names[k]}' of `{table.source}` has no values for"
                f" {steps[longest]:.3g} s from {table.time[known[longest]]:.4g} s on, longer than"
                f" {max_gap:g} s; fill it, or cut the recording with --start or --end"
            )
        degree = min(3, len(known) - 1)
        spline = make_interp_spline(table.time[known], values[known, k], k=degree)
        values[missing[:, k], k] = spline(table.time[missing[:, k]])
        mended.append(table.names[k])
    shown = ", ".join(f"'{n}'" for n in mended[:4]) + (", …" if len(mended) > 4 else "")
    note = f"{int(missing.sum())} missing values in {shown} of '{table.source}' were interpolated"
    return table.changed(note, time=table.time, values=values)


def interpolate(time: np.ndarray | float, at: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Columns at other times, linearly between their samples; constant beyond them."""
    return np.stack([np.interp(time, at, column) for column in values.T], axis=-1)


def intervals(holds: np.ndarray) -> list[tuple[int, int]]:
    """Where something holds without a break: the first sample, and the first one after it."""
    padded = np.concatenate([[False], holds, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2)
    return [(int(first), int(after)) for first, after in edges]
