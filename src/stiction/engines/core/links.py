r"""Contacts of a few links: their Delassus matrix as a product of what links share.

Where one link of a contact moves, its rows take the motion V of that link alone, as the lever Λ
says (3 × 6). With G = Y Yᵀ over the six rows Y of each link in contact, half solved,

$$ W = \Lambda G \Lambda^T, \qquad u = W x + b = \Lambda V + b, \quad V = G F, \quad
   F = \Lambda^T x . $$

Two feet with four contacts each have 24 rows, but G is 12 × 12. A sweep over the contacts of a link
needs its own V and its own block of G, which a thread has at hand. It brings each contact to its
law in the same order as the sweeps of `cone`, and by the same rule.

Six numbers a freedom of each link are in Y's place, and G in W's: they fit, since links are only
taken so if they have no more rows than their contacts.
"""

import warp as wp

from .layout import Machines
from .outer import is_outer
from .reals import World, get, get6, get_int, mat66, put, put6, put_int, vec6
from .rows import first_row, moving_link, n_active, n_rows, pair_of, times_W


@wp.func
def n_links(m: Machines, s: World):
    """How many links in contact are taken for their contacts; 0 if rows are taken one by one."""
    return get_int(s, m[0].c.n_links)


@wp.func
def first_of(m: Machines, s: World, l: int):
    """The first active contact of the l-th link."""
    return get_int(s, m[0].c.link_first + l)


@wp.func
def list_links(m: Machines, s: World):
    """Which links stand for their contacts, if they do: contacts of a link follow each other."""
    put_int(s, m[0].c.n_links, 0)
    if m[0].opt.sweeps == 0 or is_outer(m):
        return
    last = int(-1)
    n = int(0)
    for k in range(n_active(m, s)):
        i = pair_of(m, s, k)
        link = moving_link(m, i)
        if link < 0 or m[0].pairs.rows[i] != 3:
            return
        if link != last:
            if 6 * (n + 1) > n_rows(m, s):
                return
            put_int(s, m[0].c.link_first + n, k)
            n += 1
        last = link
    put_int(s, m[0].c.link_first + n, n_active(m, s))
    put_int(s, m[0].c.n_links, n)


@wp.func
def rows_of_link(m: Machines, l: int):
    """Where the six rows of the l-th link are, side by side."""
    return m[0].c.Y + 6 * m[0].tree.nv * l


@wp.func
def lever_of(m: Machines, r: int):
    """Where Λ of row r is."""
    return m[0].c.lever + 6 * r


@wp.func
def link_at(m: Machines, s: World, l: int):
    return moving_link(m, pair_of(m, s, first_of(m, s, l)))


@wp.func
def shared_freedom(m: Machines, a: int, b: int):
    """The last freedom that moves both links, or -1."""
    d = m[0].tree.last_freedom[a]
    e = m[0].tree.last_freedom[b]
    while d != e:
        if d > e:
            d = m[0].tree.before[d]
        else:
            e = m[0].tree.before[e]
    return d


@wp.func
def get_block(m: Machines, s: World, a: int, b: int):
    """The block of G of two links."""
    n = 6 * n_links(m, s)
    block = mat66()
    for i in range(6):
        row = get6(s, m[0].c.W + (6 * a + i) * n + 6 * b)
        for j in range(6):
            block[i, j] = row[j]
    return block


@wp.func(inline=False)
def multiply_links(m: Machines, s: World):
    """G, and of each contact its own block of W: 9 numbers."""
    count = n_links(m, s)
    n = 6 * count
    for a in range(count):
        for b in range(a + 1):
            block = mat66()
            d = shared_freedom(m, link_at(m, s, a), link_at(m, s, b))
            while d >= 0:
                one = get6(s, rows_of_link(m, a) + 6 * d)
                block += wp.outer(one, get6(s, rows_of_link(m, b) + 6 * d))
                d = m[0].tree.before[d]
            for i in range(6):
                for j in range(6):
                    put(s, m[0].c.W + (6 * a + i) * n + 6 * b + j, block[i, j])
                    put(s, m[0].c.W + (6 * b + j) * n + 6 * a + i, block[i, j])
        own = get_block(m, s, a, a)
        for k in range(first_of(m, s, a), first_of(m, s, a + 1)):
            begin = first_row(m, s, k)
            for i in range(3):
                moved = own * get6(s, lever_of(m, begin + i))
                for j in range(3):
                    w = wp.dot(get6(s, lever_of(m, begin + j)), moved)
                    put(s, m[0].c.own + 9 * k + 3 * i + j, w)


@wp.func
def impulse_on(m: Machines, s: World, l: int, x: int):
    """F of the l-th link."""
    total = vec6()
    for r in range(first_row(m, s, first_of(m, s, l)), first_row(m, s, first_of(m, s, l + 1))):
        total += get6(s, lever_of(m, r)) * get(s, x + r)
    return total


@wp.func(inline=False)
def move_links(m: Machines, s: World, x: int):
    """V = G F."""
    count = n_links(m, s)
    for l in range(count):
        put6(s, m[0].c.V + 6 * l, vec6())
    for l in range(count):
        F = impulse_on(m, s, l, x)
        for o in range(count):
            put6(s, m[0].c.V + 6 * o, get6(s, m[0].c.V + 6 * o) + get_block(m, s, o, l) * F)


@wp.func
def push_links(m: Machines, s: World, x: int, to: int):
    """to += Y F, in half-solved coordinates."""
    for l in range(n_links(m, s)):
        F = impulse_on(m, s, l, x)
        d = m[0].tree.last_freedom[link_at(m, s, l)]
        while d >= 0:
            put(s, to + d, get(s, to + d) + wp.dot(F, get6(s, rows_of_link(m, l) + 6 * d)))
            d = m[0].tree.before[d]


@wp.func(inline=False)
def row_velocities(m: Machines, s: World, n: int, b: int, x: int, to: int):
    """to = W x + b of all n rows, whichever way W is known."""
    count = n_links(m, s)
    if count == 0:
        for r in range(n):
            put(s, to + r, get(s, b + r) + times_W(m, s, n, r, x))
        return
    move_links(m, s, x)
    for l in range(count):
        V = get6(s, m[0].c.V + 6 * l)
        end = first_row(m, s, first_of(m, s, l + 1))
        for r in range(first_row(m, s, first_of(m, s, l)), end):
            put(s, to + r, get(s, b + r) + wp.dot(get6(s, lever_of(m, r)), V))


@wp.func
def own_of(m: Machines, s: World, n: int, k: int, i: int, j: int):
    """The entry of W of rows i and j of the k-th contact."""
    if n_links(m, s) > 0:
        return get(s, m[0].c.own + 9 * k + 3 * i + j)
    begin = first_row(m, s, k)
    return get(s, m[0].c.W + (begin + i) * n + begin + j)
