"""Equipment: warm up, block on the result, take the best of several, print a table."""

import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import jax


def best_time(call: Callable[[], Any], *, repeat: int = 7) -> float:
    """Seconds of the quickest of several calls, after one to warm up. Blocks on the result."""
    jax.block_until_ready(call())
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - start)
    return min(times)


def table(rows: list[dict[str, Any]]) -> None:
    """Print rows as a Markdown table."""
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("| " + " | ".join("---" for _ in names) + " |")
    for row in rows:
        print("| " + " | ".join(_cell(row.get(n, "")) for n in names) + " |")


def machine(*packages: str) -> str:
    """One line on where the figures come from."""
    device = jax.devices()[0]
    versions = ", ".join(f"{p} {version(p)}" for p in ("jax", *packages))
    python = f"Python {platform.python_version()}"
    return f"{device.device_kind} ({platform.machine()}), {python}, {versions}"


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
