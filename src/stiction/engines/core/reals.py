"""Numbers: their type, small vectors of them, and where they lie.

A world's numbers are one row of an array. `get` and `put` reach them by the address of the row's
beginning: what functions hand to each other stays small. On a processor a row is contiguous; on a
GPU neighbouring worlds are neighbours in memory, so that a warp of threads reads one line.
"""

import numpy as np
import warp as wp

from . import real

vec2 = wp.types.vector(2, real)
vec3 = wp.types.vector(3, real)
vec10 = wp.types.vector(10, real)
mat22 = wp.types.matrix((2, 2), real)
mat33 = wp.types.matrix((3, 3), real)
quat = wp.types.quaternion(real)

numpy_type = np.float64 if real is wp.float64 else np.float32
IS_DOUBLE = real is wp.float64

# How kernels are compiled: Warp's own inlining makes twice the work for the compiler, for nothing.
COMPILED = {
    "cpu_compiler_flags": "-march=native -mllvm=-inline-threshold=25",
    "enable_backward": False,
}

ZERO = wp.constant(real(0.0))
HALF = wp.constant(real(0.5))
ONE = wp.constant(real(1.0))
TWO = wp.constant(real(2.0))
INFINITY = wp.constant(real(1.0e30))
TINY = wp.constant(real(1.0e-300 if IS_DOUBLE else 1.0e-30))  # added to what must not be zero
EPSILON = wp.constant(real(2.2e-16 if IS_DOUBLE else 1.2e-7))


def tolerance(double: float, single: float):
    """A constant that depends on the precision."""
    return wp.constant(real(double if IS_DOUBLE else single))


@wp.struct
class World:
    """One world: its index in the batch, and where its numbers and its whole numbers begin."""

    index: int
    pitch: int  # from one number to the next: 1 on a processor
    x: wp.uint64
    k: wp.uint64


_C = "wp::float64" if IS_DOUBLE else "wp::float32"
_I = "wp::int32"


# On a processor the pitch is 1, and the compiler had better know: loops become vector instructions.
_AT = """
#if defined(__CUDA_ARCH__)
{0}[(size_t)i * s.pitch]{1};
#else
{0}[i]{1};
#endif
"""


@wp.func_native(snippet=_AT.format(f"return (({_C}*)s.x)", ""))
def get(s: World, i: int) -> real: ...


@wp.func_native(snippet=_AT.format(f"(({_C}*)s.x)", " = value"))
def put(s: World, i: int, value: real): ...


@wp.func_native(snippet=_AT.format(f"return (({_I}*)s.k)", ""))
def get_int(s: World, i: int) -> int: ...


@wp.func_native(snippet=_AT.format(f"(({_I}*)s.k)", " = value"))
def put_int(s: World, i: int, value: int): ...


_ROW = "return (wp::uint64)((char*){0}.data + (size_t)w * {0}.strides[0]);"


@wp.func_native(snippet=_ROW.format("numbers"))
def first_number(numbers: wp.array2d(dtype=real), w: int) -> wp.uint64: ...


@wp.func_native(snippet=_ROW.format("wholes"))
def first_whole(wholes: wp.array2d(dtype=wp.int32), w: int) -> wp.uint64: ...


@wp.func_native(snippet=f"return (wp::int32)(numbers.strides[1] / sizeof({_C}));")
def pitch_of(numbers: wp.array2d(dtype=real)) -> int: ...


@wp.func
def world(numbers: wp.array2d(dtype=real), wholes: wp.array2d(dtype=wp.int32), w: int):
    """World w of a batch."""
    s = World()
    s.index = w
    s.pitch = pitch_of(numbers)
    s.x = first_number(numbers, w)
    s.k = first_whole(wholes, w)
    return s


@wp.func
def get3(s: World, i: int):
    return vec3(get(s, i), get(s, i + 1), get(s, i + 2))


@wp.func
def put3(s: World, i: int, value: vec3):
    put(s, i, value[0])
    put(s, i + 1, value[1])
    put(s, i + 2, value[2])


@wp.func
def get_quat(s: World, i: int):
    """Stored (w, x, y, z) as in MuJoCo; Warp's order is (x, y, z, w)."""
    return quat(get(s, i + 1), get(s, i + 2), get(s, i + 3), get(s, i))


@wp.func
def put_quat(s: World, i: int, q: quat):
    put(s, i, q[3])
    put(s, i + 1, q[0])
    put(s, i + 2, q[1])
    put(s, i + 3, q[2])


# Rows of numbers.


@wp.func
def fill(s: World, to: int, n: int, value: real):
    for i in range(n):
        put(s, to + i, value)


@wp.func
def copy(s: World, to: int, a: int, n: int):
    for i in range(n):
        put(s, to + i, get(s, a + i))


_ROWS = f"""
#if defined(__CUDA_ARCH__)
    const size_t d = s.pitch;
#else
    const size_t d = 1;
#endif
    {_C}* x = ({_C}*)s.x;
"""


@wp.func_native(
    snippet=_ROWS
    + """
    auto* p = x + to * d;
    const auto* q = x + a * d;
    for (int i = 0; i < n; ++i) p[i * d] += factor * q[i * d];
"""
)
def add_scaled(s: World, to: int, factor: real, a: int, n: int):
    """to += factor a."""
    ...


@wp.func
def scale(s: World, to: int, factor: real, n: int):
    for i in range(n):
        put(s, to + i, factor * get(s, to + i))


# Four sums at a time: a processor would else wait for each addition.
@wp.func_native(
    snippet=_ROWS
    + f"""
    const auto* p = x + a * d;
    const auto* q = x + b * d;
    {_C} t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    int i = 0;
    for (; i + 3 < n; i += 4) {{
        t0 += p[i * d] * q[i * d];
        t1 += p[(i + 1) * d] * q[(i + 1) * d];
        t2 += p[(i + 2) * d] * q[(i + 2) * d];
        t3 += p[(i + 3) * d] * q[(i + 3) * d];
    }}
    for (; i < n; ++i) t0 += p[i * d] * q[i * d];
    return (t0 + t1) + (t2 + t3);
"""
)
def dot(s: World, a: int, b: int, n: int) -> real: ...


# On a GPU what is shared is read once; a processor is quicker with each sum by itself.
@wp.func_native(
    snippet=_ROWS
    + f"""
    const auto* p = x + a * d;
    const auto* q = x + b * d;
    {_C} t0 = 0, t1 = 0, t2 = 0;
#if defined(__CUDA_ARCH__)
    for (int i = 0; i < n; ++i) {{
        const auto y = q[i * d];
        t0 += p[i * d] * y;
        t1 += p[(n + i) * d] * y;
        t2 += p[(2 * n + i) * d] * y;
    }}
#else
    for (int i = 0; i < n; ++i) t0 += p[i] * q[i];
    for (int i = 0; i < n; ++i) t1 += p[n + i] * q[i];
    for (int i = 0; i < n; ++i) t2 += p[2 * n + i] * q[i];
#endif
    return wp::vec_t<3, {_C}>(t0, t1, t2);
"""
)
def dot_three(s: World, a: int, b: int, n: int) -> vec3:
    """Products of three rows of length n, one after the other, with b."""
    ...


@wp.func
def largest(s: World, a: int, n: int):
    """The largest absolute value."""
    most = real(0.0)
    for i in range(n):
        most = wp.max(most, wp.abs(get(s, a + i)))
    return most
