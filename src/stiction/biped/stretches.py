"""Stretches of a record in which something holds: stances, flights, double support."""

import numpy as np


def stretches(holds: np.ndarray) -> list[tuple[int, int]]:
    """The first sample of every unbroken stretch, and the first one after it."""
    padded = np.concatenate([[False], holds, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2)
    return [(int(first), int(after)) for first, after in edges]
