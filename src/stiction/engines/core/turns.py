"""Which worlds go on together on a GPU."""

import warp as wp

from .layout import STAGE, Machines
from .reals import World, get_int


@wp.func
def comes_plain(m: Machines, s: World):
    """Whether what comes next is a stage, with forces that are unique as far as is known."""
    return get_int(s, m[0].z.phase) == STAGE and get_int(s, m[0].z.hard) == 0


# The threads of a warp go together, and events are rare and long: on a GPU worlds that are at one
# wait until there are a few of them, or nothing else to do. What a world does stays the same.
@wp.func_native(
    snippet="""
#if defined(__CUDA_ARCH__)
    const unsigned together = __activemask();
    const unsigned rare = __ballot_sync(together, is_rare);
    const int many = 16;
    return is_rare && rare != together && __popc(rare) < many;
#else
    return false;
#endif
"""
)
def waits(is_rare: bool) -> bool: ...
