"""Strict arrays in tests: double precision, no silent broadcasting of ranks, no mixing of types."""

import os
from pathlib import Path

import jax
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

SHARED = Path(os.environ.get("STICTION_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same on every run."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of recordings and robot models, which is not part of the project."""
    if not SHARED.is_dir():
        pytest.skip(f"recordings and robot models not found at {SHARED} (set STICTION_DATA)")
    return SHARED
