"""Plain passes as a program of their own, for GPUs.

Most passes of a run are stages of explicit steps under forces that are unique. All else (events,
impacts, redundant forces, samples) is most of the program, and a GPU that runs it all waits for its
instructions most of the time. So here the same functions are compiled without it (`PLAIN`). A world
goes on until what comes next is not plain; it then puts itself on a list, and the whole machine
(`machine.run`) takes over until it is. Who makes a pass depends on its world alone.
"""

import warp as wp

from .layout import FIRST_CHOSEN, RUNNING, Machines
from .machine import take_stage
from .reals import COMPILED, get_int, real, world
from .step import evaluate
from .turns import comes_plain

wp.set_module_options(COMPILED)


@wp.kernel
def run(m: Machines, numbers: wp.array2d(dtype=real), wholes: wp.array2d(dtype=int), passes: int):
    """Up to so many plain passes of every world; those that need others are chosen."""
    w = wp.tid()
    s = world(numbers, wholes, w)
    for _ in range(passes):
        if get_int(s, m[0].z.status) != RUNNING or not comes_plain(m, s):
            break
        evaluate(m, s)
        take_stage(m, s)
    if get_int(s, m[0].z.status) == RUNNING:
        wp.atomic_add(m[0].chosen, 1, 1)
        if not comes_plain(m, s):
            m[0].chosen[FIRST_CHOSEN + wp.atomic_add(m[0].chosen, 0, 1)] = w
