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

    def rows(self, x: np.ndarray) -> wp.array:
        """Rows of worlds, as `reals` lays them out: on a GPU neighbouring worlds are neighbours."""
        kind = wp.int32 if x.dtype == np.int32 else self.reals.real
        if self.device == "cpu":
            return wp.array(x, dtype=kind, device="cpu", copy=False)
        return wp.array(np.ascontiguousarray(x.T), dtype=kind, device=self.device).transpose()
