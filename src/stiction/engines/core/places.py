"""Where contacts are in the world, which they are, and what they do there."""

import warp as wp

from .contacts import NOTHING, is_of_number, place_contact, row
from .layout import (
    OPEN,
    PLACE_FORCE,
    PLACE_GEOMS,
    PLACE_KIND,
    PLACE_NORMAL,
    PLACE_PARTS,
    PLACE_POINT,
    PLACE_TANGENT,
    PLACE_TORQUE,
    Machines,
    is_soft,
)
from .reals import World, get, get_int, real, vec3
from .rows import first_row, n_active, pair_of


@wp.func
def put_vector(places: wp.array4d(dtype=real), w: int, i: int, pair: int, at: int, x: vec3):
    for j in range(3):
        places[w, i, pair, at + j] = x[j]


@wp.func(inline=False)
def write_places(m: Machines, s: World, places: wp.array4d(dtype=real), i: int, t: real):
    """The pairs and their places at the state that was evaluated, into row i, if there is one."""
    if i >= places.shape[1]:
        return
    w = s.index
    for pair in range(m[0].pairs.count):
        kind = m[0].pairs.kind[pair]
        places[w, i, pair, PLACE_KIND] = real(kind)
        for j in range(2):
            places[w, i, pair, PLACE_GEOMS + j] = real(m[0].pairs.geoms[pair][j])
            places[w, i, pair, PLACE_PARTS + j] = real(m[0].pairs.parts[pair][j])
        here = place_contact(m, s, pair, t)
        if kind != NOTHING and not is_of_number(kind):
            put_vector(places, w, i, pair, PLACE_POINT, here.point)
            put_vector(places, w, i, pair, PLACE_TANGENT, row(here.frame, 0))
            put_vector(places, w, i, pair, PLACE_NORMAL, row(here.frame, 2))
        put_vector(places, w, i, pair, PLACE_FORCE, vec3())
        put_vector(places, w, i, pair, PLACE_TORQUE, vec3())


@wp.func(inline=False)
def put_load(
    m: Machines, s: World, places: wp.array4d(dtype=real), i: int, pair: int, t: real, load: int
):
    """The force (or impulse) of a pair, whose components lie at `load`, into row i."""
    if i >= places.shape[1] or is_of_number(m[0].pairs.kind[pair]):
        return
    here = place_contact(m, s, pair, t)
    last = m[0].pairs.rows[pair] - 1
    force = row(here.frame, 2) * get(s, load + last)
    torque = vec3()
    for j in range(last):
        f = get(s, load + j)
        if j < 2:
            force = force + row(here.frame, j) * f
        elif j == 2:
            torque = torque + row(here.frame, 2) * (f * m[0].pairs.twist[pair][0])
        else:
            torque = torque + row(here.frame, j - 3) * (f * m[0].pairs.twist[pair][1])
    put_vector(places, s.index, i, pair, PLACE_FORCE, force)
    put_vector(places, s.index, i, pair, PLACE_TORQUE, torque)


@wp.func
def write_loads(m: Machines, s: World, places: wp.array4d(dtype=real), i: int, t: real):
    """The forces of all contacts at the state that was evaluated, into row i, if there is one."""
    if is_soft(m):
        for pair in range(m[0].pairs.count):
            if get_int(s, m[0].c.mode + pair) != OPEN:
                put_load(m, s, places, i, pair, t, m[0].c.force + m[0].pairs.rows[pair] * pair)
        return
    for k in range(n_active(m, s)):
        put_load(m, s, places, i, pair_of(m, s, k), t, m[0].c.force + first_row(m, s, k))
