"""Compiled programs on disk, so that the next process starts quickly; damaged ones are made anew.

JAX never writes an entry that is there already: half a file, left by a full disk or a killed
process, would cost a warning and a compilation on every run for ever.
"""

import contextlib
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import jax

_READ_BY = "get_executable_and_time"


def keep_programs(place: str = "") -> None:
    """Keep compiled programs in a folder; by default that of the user's caches, if there is one."""
    try:
        folder = Path(place or _default())
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):  # no home, or one that cannot be written: nothing is kept
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    _heal()
    # A full disk costs only time: programs are compiled again.
    warnings.filterwarnings("ignore", message="Error writing persistent compilation cache")


def _default() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stiction"


def _heal() -> None:
    """Let JAX remove an entry that it cannot read, so that it is written again."""
    from jax._src import compilation_cache

    read = getattr(compilation_cache, _READ_BY, None)
    if read is None or hasattr(read, "heals"):  # another JAX: it warns, as it would without us
        return

    def read_or_remove(cache_key: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return read(cache_key, *args, **kwargs)
        except Exception:
            folder = jax.config.values["jax_compilation_cache_dir"]
            with contextlib.suppress(OSError):
                (Path(folder) / f"{cache_key}-cache").unlink(missing_ok=True)
            return None, None

    read_or_remove.heals = True  # type: ignore[attr-defined]
    setattr(compilation_cache, _READ_BY, read_or_remove)
