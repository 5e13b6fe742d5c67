"""The ground: supports that move as prescribed, and height fields."""

import warp as wp

from .joints import TAU
from .layout import Machines
from .reals import HALF, ONE, ZERO, real, vec2, vec3

_FOOT_STEPS = wp.constant(8)  # Newton steps to the nearest point of a height field


@wp.func
def shift_of(m: Machines, k: int, t: real):
    """How far ground with the prescribed motion k has come."""
    f = m[0].pairs.swing[k]
    swing = wp.sin(TAU * f[0] * t + f[1]) - wp.sin(f[1])
    return m[0].pairs.velocity[k] * t + m[0].pairs.amplitude[k] * swing


@wp.func
def speed_of(m: Machines, k: int):
    """A bound on how fast it moves."""
    swing = TAU * m[0].pairs.swing[k][0] * wp.length(m[0].pairs.amplitude[k])
    return wp.length(m[0].pairs.velocity[k]) + swing


@wp.func
def travel(m: Machines, i: int, t: real):
    """How far the ground of a pair has come."""
    k = m[0].pairs.motion[i]
    if k < 0:
        return vec3()
    return shift_of(m, k, t)


@wp.func
def travel_rate(m: Machines, i: int, t: real):
    k = m[0].pairs.motion[i]
    if k < 0:
        return vec3()
    f = m[0].pairs.swing[k]
    omega = TAU * f[0]
    return m[0].pairs.velocity[k] + m[0].pairs.amplitude[k] * (omega * wp.cos(omega * t + f[1]))


@wp.func
def travel_bend(m: Machines, i: int, t: real):
    k = m[0].pairs.motion[i]
    if k < 0:
        return vec3()
    f = m[0].pairs.swing[k]
    omega = TAU * f[0]
    return m[0].pairs.amplitude[k] * (-omega * omega * wp.sin(omega * t + f[1]))


@wp.func
def belt(m: Machines, i: int):
    k = m[0].pairs.motion[i]
    if k < 0:
        return vec3()
    return m[0].pairs.belt[k]


# Height fields.


@wp.func
def spline_weight(k: int, u: real, order: int):
    """Cubic B-spline k (0 to 3) at a fraction u between the middle two, or its derivatives."""
    x = u
    if k < 2:
        x = ONE - u
    y = ONE - x
    edge = k == 0 or k == 3
    sign = ONE
    if k < 2:
        sign = -ONE
    if order == 0:
        if edge:
            return x * x * x / real(6.0)
        return (real(4.0) - y * y * (real(6.0) - real(3.0) * y)) / real(6.0)
    if order == 1:
        if edge:
            return sign * HALF * x * x
        return -sign * HALF * y * (real(3.0) * y - real(4.0))
    if edge:
        return x
    return real(3.0) * y - real(2.0)


@wp.func
def mirrored(i: int, n: int):
    """An index beyond the edge of a grid, reflected into it: so the field is level there."""
    j = wp.abs(i)
    return (n - 1) - wp.abs((n - 1) - j)


@wp.func(inline=False)
def field_shape(m: Machines, xy: vec2, of_x: int, of_y: int):
    """A derivative of the height, of orders (of_x, of_y), at a place."""
    value = real(0.0)
    unit = real(1.0)
    corner = wp.vec2i(0, 0)
    part = vec2()
    for k in range(2):
        n = m[0].pairs.field.shape[k]
        last = real(n - 1)
        place = (xy[k] - m[0].pairs.middle[k]) / m[0].pairs.spacing[k] + last * HALF
        outside = place <= ZERO or place >= last
        order = of_x
        if k == 1:
            order = of_y
        if order > 0 and outside:
            unit = ZERO
        for _ in range(order):
            unit = unit / m[0].pairs.spacing[k]
        place = wp.clamp(place, ZERO, last)
        corner[k] = wp.clamp(int(wp.floor(place)), 0, n - 2)
        part[k] = place - real(corner[k])
    for a in range(4):
        i = mirrored(corner[0] + a - 1, m[0].pairs.field.shape[0])
        weight = spline_weight(a, part[0], of_x)
        for b in range(4):
            j = mirrored(corner[1] + b - 1, m[0].pairs.field.shape[1])
            value += weight * spline_weight(b, part[1], of_y) * m[0].pairs.field[i, j]
    if of_x + of_y == 0:
        value += m[0].pairs.middle[2]
    return unit * value


@wp.func
def field_slope(m: Machines, xy: vec2):
    return vec2(field_shape(m, xy, 1, 0), field_shape(m, xy, 0, 1))


@wp.func(inline=False)
def solve_bowl(m: Machines, xy: vec2, slope: vec2, below: real, g: vec2):
    """H⁻¹ g with H the second derivative of half the squared distance to the field; where that is
    not convex (far above a hollow) a part of g."""
    a = ONE + slope[0] * slope[0] + below * field_shape(m, xy, 2, 0)
    b = slope[0] * slope[1] + below * field_shape(m, xy, 1, 1)
    c = ONE + slope[1] * slope[1] + below * field_shape(m, xy, 0, 2)
    det = a * c - b * b
    if a > ZERO and det > ZERO:
        return vec2(c * g[0] - b * g[1], a * g[1] - b * g[0]) / det
    return real(0.1) * g


@wp.func(inline=False)
def foot(m: Machines, x: vec3):
    """Below which place of the field the nearest point to x lies."""
    xy = vec2(x[0], x[1])
    for _ in range(_FOOT_STEPS):
        slope = field_slope(m, xy)
        below = field_shape(m, xy, 0, 0) - x[2]
        g = vec2(xy[0] - x[0] + below * slope[0], xy[1] - x[1] + below * slope[1])
        xy = xy - solve_bowl(m, xy, slope, below, g)
    return xy


@wp.func
def field_normal(slope: vec2):
    return wp.normalize(vec3(-slope[0], -slope[1], ONE))
