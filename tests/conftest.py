"""Strict arrays in tests: double precision, no silent broadcasting of ranks, no mixing of types."""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jax
import numpy as np
import pytest

from memory import held, regions, resident

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

# Tests and tracing make millions of objects that stay: to look through them for garbage as often as
# Python does takes a good part of the time. The same numbers as in `stiction.cli.app.main`.
gc.set_threshold(100_000, 50, 100)

# The first of many cases compiles a program: time says nothing about a case.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

SHARED = Path(os.environ.get("STICTION_DATA", Path(__file__).parents[2] / "shared" / "data"))
_MOST_REGIONS, _MOST_MEMORY = 25_000, 2_000.0  # [MB]
_most = {"memory": _MOST_MEMORY}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--thorough` tries as many random cases as the project promises; else a tenth of them."""
    parser.addoption("--thorough", action="store_true", help="all random cases, not a tenth")


_TRIED = "random_cases_tried", "random_cases_promised"
_tally = dict.fromkeys(_TRIED, 0)


@pytest.fixture(scope="session")
def cases(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """How many of so many random cases to try."""
    thorough = request.config.getoption("--thorough")

    def tried(promised: int) -> int:
        count = promised if thorough else -(-promised // 10)
        for name, more in zip(_TRIED, (count, promised), strict=True):
            _tally[name] += more
        return count

    return tried


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker of xdist has tried."""
    for name in _TRIED:
        _tally[name] += getattr(node, "workeroutput", {}).get(name, 0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """The last line counts the random cases that were left out."""
    getattr(session.config, "workeroutput", {}).update(_tally)
    told = yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    tried, promised = _tally.values()
    if reporter is not None and promised:
        hint = "" if tried == promised else "; --thorough tries them all"
        reporter.write_line(f"random cases: {tried:,} of {promised:,}{hint}")
    return told


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Forget compiled programs, a megabyte or two each, when they take much memory.

    Or when there are many: each takes several regions of memory, and XLA ends the process when they
    are used up. Memory that is held all the same does not count again.
    """
    told = yield
    if not Path("/proc/self").exists():
        return told
    last = nextitem is None or nextitem.path != item.path
    if held() > _most["memory"] or (last and regions() > _MOST_REGIONS):
        jax.clear_caches()
        gc.collect()
        _most["memory"] = max(_MOST_MEMORY, resident() + _MOST_MEMORY / 2)
    return told


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
