"""What every kernel of the core takes: machine, numbers and whole numbers of worlds, how often."""

import warp as wp

from .layout import Machines
from .reals import real


def kernel(m: Machines, numbers: wp.array2d(dtype=real), wholes: wp.array2d(dtype=int), times: int):
    """Stands for a kernel that is compiled already: the arguments are all that is looked at."""
