"""How large programs of small operations are compiled, and that people are told when they wait."""

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

PATIENCE = 2.0  # a compilation that takes longer is told [s]


@functools.cache
def quick_options() -> dict[str, Any]:
    """Options under which XLA compiles on a processor by its older emitters, where it has both.

    For programs of thousands of small operations they take half the time, and what comes out is
    as fast.
    """
    options = {"xla_cpu_use_fusion_emitters": False}
    if jax.default_backend() != "cpu":
        return {}
    try:
        jax.jit(lambda x: x, compiler_options=options).lower(1.0).compile()
    except jax.errors.JaxRuntimeError:
        return {}
    return options


def jit_with(f: Callable, options: dict[str, Any] | None) -> Callable:
    """`eqx.filter_jit` with compiler options, which its annotations do not know of."""
    return eqx.filter_jit(**{"fun": f, "compiler_options": options})


def quick_jit(f: Callable) -> Callable:
    """`eqx.filter_jit` with `quick_options`, which are looked up at the first call."""

    @functools.cache
    def compiled() -> Callable:
        return jit_with(f, quick_options())

    @functools.wraps(f)
    def call(*args: Any) -> Any:
        return compiled()(*args)

    return call


class _Announcer:
    """Says on standard error, once, that a compilation keeps the user waiting."""

    def __init__(self) -> None:
        self.timers: dict[int, threading.Timer] = {}
        self.told = False

    def begins(self, event: str, **_: Any) -> None:
        """Listens to JAX's events: a compilation begins."""
        if event == "/jax/compilation_cache/compile_requests_use_cache" and not self.told:
            timer = threading.Timer(PATIENCE, self.tell)
            timer.daemon = True
            self.timers[threading.get_ident()] = timer
            timer.start()

    def ends(self, event: str, duration_secs: float, **_: Any) -> None:
        """Listens to JAX's events: a compilation has ended."""
        del duration_secs
        if event == "/jax/core/compile/backend_compile_duration":
            timer = self.timers.pop(threading.get_ident(), None)
            if timer is not None:
                timer.cancel()

    def tell(self) -> None:
        """One line, and no more in this process."""
        if not self.told:
            self.told = True
            print("stiction: compiling, which is done once for each mechanism", file=sys.stderr)


def announce_compilations() -> None:
    """Tell people of compilations that take longer than `PATIENCE`."""
    announcer = _Announcer()
    jax.monitoring.register_event_listener(announcer.begins)
    jax.monitoring.register_event_duration_secs_listener(announcer.ends)
