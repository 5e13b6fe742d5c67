"""How large programs of small operations are compiled, and that people are told when they wait."""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from stiction._base.waiting import ANNOUNCER

try:
    from jax._src.core import trace_state_clean
except ImportError:  # it is not public

    def trace_state_clean() -> bool:
        """Whether nothing at all is being traced; here not known."""
        return False


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
    """`eqx.filter_jit` with `quick_options`, which are looked up at the first call.

    Only the outermost program can have options: inside of another one it is `eqx.filter_jit`.
    """
    within = eqx.filter_jit(f)

    @functools.cache
    def outermost() -> Callable:
        return jit_with(f, quick_options())

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (outermost() if trace_state_clean() else within)(*args, **kwargs)

    return call


def announce_compilations() -> None:
    """Tell people of compilations that take long, by what JAX says of them."""

    def begins(event: str, **_: Any) -> None:
        if event == "/jax/compilation_cache/compile_requests_use_cache":
            ANNOUNCER.begins()

    def ends(event: str, duration_secs: float, **_: Any) -> None:
        del duration_secs
        if event == "/jax/core/compile/backend_compile_duration":
            ANNOUNCER.ends()

    jax.monitoring.register_event_listener(begins)
    jax.monitoring.register_event_duration_secs_listener(ends)
