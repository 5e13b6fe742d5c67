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
        """Worlds of so many numbers, zero but for the columns that are given from an address on.

        Laid out as `reals` has it: a row for each world, or, on a GPU, for each group of worlds
        that take turns. Only what is given travels there.
        """
        if self.device == "cpu":
            rows = np.zeros((batch, size), wp.dtype_to_numpy(kind))
            for at, value in given.items():
                rows[:, at : at + value.shape[1]] = value
            return wp.array(rows, dtype=kind, device="cpu", copy=False)
        groups = -(-batch // self.reals.LANES)
        made = wp.zeros((groups, size * self.reals.LANES), dtype=kind, device=self.device)
        for at, value in given.items():
            whole = np.zeros((groups * self.reals.LANES, value.shape[1]), wp.dtype_to_numpy(kind))
            whole[:batch] = value
            columns = np.swapaxes(whole.reshape(groups, self.reals.LANES, -1), 1, 2)
            to = self._turns(made, at, value.shape[1])
            wp.copy(to, wp.array(columns.reshape(groups, -1), dtype=kind, device=self.device))
        return made

    def _turns(self, rows: wp.array, first: int, count: int) -> Any:
        """Some of the numbers of every group of worlds."""
        return rows[:, first * self.reals.LANES : (first + count) * self.reals.LANES]

    def columns(self, rows: wp.array, batch: int, first: int, count: int = 1) -> np.ndarray:
        """Some of the numbers of every world."""
        if self.device == "cpu":  # which is no copy
            return rows.numpy()[:, first : first + count]
        turns = self._turns(rows, first, count).numpy().reshape(-1, count, self.reals.LANES)
        return np.swapaxes(turns, 1, 2).reshape(-1, count)[:batch]
