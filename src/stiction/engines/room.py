"""What a run would take, before it is begun: memory for its numbers, and steps."""

import os

from stiction._base.errors import InputError

MOST_ROWS_AT_ONCE = 1200  # of contacts that touch at the same time: 400 in space
MOST_FIXED_STEPS = 100_000_000  # of one run: a quarter of an hour of the simplest mechanism
_PART = 0.5  # of the machine's memory that a run may take


def machine_memory() -> float:
    """The memory of this machine [bytes]."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return 8e9


def require_memory(lanes: int, world: int, samples: int, events: int, contacts: int) -> None:
    """Refuse a run whose numbers would not fit into half of the machine's memory.

    Args:
        lanes: Runs of the batch.
        world: Numbers of the state of one run.
        samples: Numbers of all samples of one run.
        events: Numbers of the list of events of one run.
        contacts: Pairs that may touch.
    """
    # Samples and events are there twice: as the core writes them, and as the trajectory has them.
    parts = {"state": world, "samples": 2 * samples, "events": 2 * events}
    needed, most = 8.0 * lanes * sum(parts.values()), _PART * machine_memory()
    if needed <= most:
        return
    largest = max(parts, key=lambda name: parts[name])
    remedy = {
        "state": "leave contacts out that need not be (`contact.points`, `contact.pairs = false`)",
        "samples": "ask for fewer `samples`",
        "events": "lower `max_events`, or leave contacts out that need not be"
        " (`contact.points`, `contact.pairs = false`)",
    }[largest]
    batch = f", {lanes} runs at once" if lanes > 1 else ""
    raise InputError(
        f"the run must fit into {most / 2**30:.3g} GiB, half of this machine's memory, but"
        f" would take {needed / 2**30:.3g} GiB, mostly for its {largest} ({contacts} pairs may"
        f" touch{batch}); {remedy}{' or make the batch smaller' if lanes > 1 else ''}"
    )


def require_few_steps(until: float, dt: float) -> None:
    """Refuse more fixed steps than anybody waits for."""
    if until / dt > MOST_FIXED_STEPS:
        raise InputError(
            f"`solver.dt` must be at least {until / MOST_FIXED_STEPS:.3g} s for a run of {until:g}"
            f" s ({MOST_FIXED_STEPS:.0e} steps), got {dt:g}; lengthen the step or shorten `until`"
        )
