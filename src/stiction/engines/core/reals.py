"""Numbers: their type, small vectors of them, and where they lie.

A world's numbers are reached by `get` and `put` from the address of its first one: what functions
hand to each other stays small. On a processor the numbers of a world follow each other; on a GPU
those of `LANES` worlds take turns, so that a warp of threads reads one line, and all that it works
on lies together.
"""

import numpy as np
import warp as wp

from . import PLAIN as PLAIN
from . import SHORT, real

vec2 = wp.types.vector(2, real)
vec3 = wp.types.vector(3, real)
vec6 = wp.types.vector(6, real)
vec10 = wp.types.vector(10, real)
mat22 = wp.types.matrix((2, 2), real)
mat33 = wp.types.matrix((3, 3), real)
mat66 = wp.types.matrix((6, 6), real)
quat = wp.types.quaternion(real)

numpy_type = np.float64 if real is wp.float64 else np.float32
IS_DOUBLE = real is wp.float64

# How kernels are compiled: Warp's own inlining makes twice the work for the compiler, for nothing.
COMPILED = {
    "cpu_compiler_flags": "-march=native -mllvm=-inline-threshold=25",
    "enable_backward": False,
}

CALLED = False if SHORT else None  # `inline` of functions that many others use

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


LANES = 32  # worlds that take turns in memory on a GPU: the threads of a warp


@wp.struct
class World:
    """One world: its index in the batch, and where its numbers and its whole numbers begin."""

    index: int
    x: wp.uint64
    k: wp.uint64


REAL = "wp::float64" if IS_DOUBLE else "wp::float32"
_I = "wp::int32"


_AT = f"""
#if defined(__CUDA_ARCH__)
{{0}}[(size_t)i * {LANES}]{{1}};
#else
{{0}}[i]{{1}};
#endif
"""


@wp.func_native(snippet=_AT.format(f"return (({REAL}*)s.x)", ""))
def get(s: World, i: int) -> real: ...


@wp.func_native(snippet=_AT.format(f"(({REAL}*)s.x)", " = value"))
def put(s: World, i: int, value: real): ...


@wp.func_native(snippet=_AT.format(f"return (({_I}*)s.k)", ""))
def get_int(s: World, i: int) -> int: ...


@wp.func_native(snippet=_AT.format(f"(({_I}*)s.k)", " = value"))
def put_int(s: World, i: int, value: int): ...


_FIRST = f"""
#if defined(__CUDA_ARCH__)
    const size_t group = (size_t)(w / {LANES}) * {{0}}.strides[0];
    return (wp::uint64)((char*){{0}}.data + group + (w % {LANES}) * sizeof(*{{0}}.data));
#else
    return (wp::uint64)((char*){{0}}.data + (size_t)w * {{0}}.strides[0]);
#endif
"""


@wp.func_native(snippet=_FIRST.format("numbers"))
def first_number(numbers: wp.array2d(dtype=real), w: int) -> wp.uint64: ...


@wp.func_native(snippet=_FIRST.format("wholes"))
def first_whole(wholes: wp.array2d(dtype=wp.int32), w: int) -> wp.uint64: ...


@wp.func
def world(numbers: wp.array2d(dtype=real), wholes: wp.array2d(dtype=wp.int32), w: int):
    """World w of a batch."""
    s = World()
    s.index = w
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


@wp.func
def get6(s: World, i: int):
    return vec6(
        get(s, i), get(s, i + 1), get(s, i + 2), get(s, i + 3), get(s, i + 4), get(s, i + 5)
    )


@wp.func
def put6(s: World, i: int, value: vec6):
    for k in range(6):
        put(s, i + k, value[k])


# Rows of numbers.


@wp.func(inline=CALLED)
def fill(s: World, to: int, n: int, value: real):
    for i in range(n):
        put(s, to + i, value)


ROWS = f"""
#if defined(__CUDA_ARCH__)
    const size_t d = {LANES};
#else
    const size_t d = 1;
#endif
    {REAL}* x = ({REAL}*)s.x;
"""

# A GPU asks for a few numbers before it needs the first: memory is far away.
_AHEAD = f"""
    constexpr int AHEAD = 8;
    {REAL} u[AHEAD], v[AHEAD];
    for (int i = 0; i < n; i += AHEAD) {{{{
        #pragma unroll
        for (int j = 0; j < AHEAD; ++j) if (i + j < n) {{{{ {{load}} }}}}
        #pragma unroll
        for (int j = 0; j < AHEAD; ++j) if (i + j < n) {{{{ {{store}} }}}}
    }}}}
"""

_COPY = _AHEAD.format(load="u[j] = q[(i + j) * d];", store="p[(i + j) * d] = u[j];")
_ADD = _AHEAD.format(
    load="u[j] = p[(i + j) * d]; v[j] = q[(i + j) * d];",
    store="p[(i + j) * d] = u[j] + factor * v[j];",
)


@wp.func_native(
    snippet=ROWS
    + f"""
    auto* p = x + to * d;
    const auto* q = x + a * d;
#if defined(__CUDA_ARCH__)
    {_COPY}
#else
    for (int i = 0; i < n; ++i) p[i] = q[i];
#endif
"""
)
def _copy(s: World, to: int, a: int, n: int): ...


@wp.func(inline=CALLED)
def copy(s: World, to: int, a: int, n: int):
    _copy(s, to, a, n)


@wp.func_native(
    snippet=ROWS
    + f"""
    auto* p = x + to * d;
    const auto* q = x + a * d;
#if defined(__CUDA_ARCH__)
    {_ADD}
#else
    for (int i = 0; i < n; ++i) p[i] += factor * q[i];
#endif
"""
)
def _add_scaled(s: World, to: int, factor: real, a: int, n: int): ...


@wp.func(inline=CALLED)
def add_scaled(s: World, to: int, factor: real, a: int, n: int):
    """to += factor a."""
    _add_scaled(s, to, factor, a, n)


@wp.func
def scale(s: World, to: int, factor: real, n: int):
    for i in range(n):
        put(s, to + i, factor * get(s, to + i))


# Four sums at a time: a processor would else wait for each addition.
@wp.func_native(
    snippet=ROWS
    + f"""
    const auto* p = x + a * d;
    const auto* q = x + b * d;
    {REAL} t0 = 0, t1 = 0, t2 = 0, t3 = 0;
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
def _dot(s: World, a: int, b: int, n: int) -> real: ...


@wp.func(inline=CALLED)
def dot(s: World, a: int, b: int, n: int):
    return _dot(s, a, b, n)


# On a GPU what is shared is read once; a processor is quicker with each sum by itself.
@wp.func_native(
    snippet=ROWS
    + f"""
    const auto* p = x + a * d;
    const auto* q = x + b * d;
    {REAL} t0 = 0, t1 = 0, t2 = 0;
#if defined(__CUDA_ARCH__)
    #pragma unroll 8
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
    return wp::vec_t<3, {REAL}>(t0, t1, t2);
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
