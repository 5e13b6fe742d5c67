"""Arrays that the core works on, of one precision and on one device."""

from typing import Any

import numpy as np
import warp as wp


class Arrays:
    """Arrays of one precision on one device."""

    def __init__(self, reals: Any, device: str):
        self.reals, self.device = reals, device
        self.nothing, self.one = self.zeros((1, 0, 1)), self.real([1.0])
        self.no_places = self.zeros((1, 0, 1, 1))

    def real(self, x: Any) -> wp.array:
        x = np.asarray(x, self.reals.numpy_type)
        return wp.array(x, dtype=self.reals.real, device=self.device)

    def whole(self, x: Any) -> wp.array:
        return wp.array(np.asarray(x, np.int32), dtype=wp.int32, device=self.device)

    def addresses(self, x: Any) -> wp.array:
        return wp.array(np.asarray(x, np.uint64), dtype=wp.uint64, device=self.device)

    def vec(self, x: Any, kind: Any) -> wp.array:
        n = {self.reals.vec3: 3, self.reals.vec2: 2, self.reals.quat: 4}.get(kind)
        x = np.asarray(x, self.reals.numpy_type)
        x = x.reshape(-1, 3, 3) if n is None else x.reshape(-1, n)
        return wp.array(x, dtype=kind, device=self.device)

    def couples(self, x: Any) -> wp.array:
        """Of whole numbers."""
        return wp.array(np.asarray(x, np.int32).reshape(-1, 2), dtype=wp.vec2i, device=self.device)

    def zeros(self, shape: tuple[int, ...]) -> wp.array:
        return wp.zeros(shape, dtype=self.reals.real, device=self.device)

    def worlds(self, batch: int, size: int, kind: Any, given: dict[int, np.ndarray]) -> wp.array:
        """A row for each world, zero but for the columns that are given from an address on.

        Laid out as `reals` has it: on a GPU neighbouring worlds are neighbours, and only what is
        given travels there.
        """
        if self.device == "cpu":
            rows = np.zeros((batch, size), wp.dtype_to_numpy(kind))
            for at, value in given.items():
                rows[:, at : at + value.shape[1]] = value
            return wp.array(rows, dtype=kind, device="cpu", copy=False)
        made = wp.zeros((size, batch), dtype=kind, device=self.device)
        for at, value in given.items():
            columns = np.ascontiguousarray(value.T, wp.dtype_to_numpy(kind))
            made[at : at + value.shape[1]].assign(columns)
        return made.transpose()

    def columns(self, rows: wp.array, first: int, count: int = 1) -> np.ndarray:
        """Some of the numbers of every world."""
        if self.device == "cpu":  # which is no copy
            return rows.numpy()[:, first : first + count]
        return rows[:, first : first + count].numpy()
