"""The topology of a mechanism: what is fixed when a program is compiled.

Every joint moves one *link*; link 0 is the world. A body with several joints is a chain of links,
of which the last carries the body; a body without joints rides on its parent's link. Link indices
grow from the root outwards, so a parent always comes before its children.
"""

import functools
from dataclasses import dataclass

import numpy as np

FREE, BALL, SLIDE, HINGE = range(4)  # as MuJoCo's mjtJoint
JOINT_NAMES = ("free", "ball", "slide", "hinge")
COORDINATES = (7, 4, 1, 1)  # entries of q for each type of joint
FREEDOMS = (6, 3, 1, 1)  # entries of v


@dataclass(frozen=True)
class Tree:
    """Links, joints and bodies by name and by parent. Hashable: it shapes the compiled program.

    Joint `j` moves link `j + 1`.
    """

    joint_names: tuple[str, ...]
    joint_types: tuple[int, ...]
    joint_parents: tuple[int, ...]  # the link that each joint hangs on
    body_names: tuple[str, ...]  # body 0 is the world
    body_links: tuple[int, ...]  # the link that carries each body

    def __post_init__(self):
        # Hashed once: a jitted call looks the hash up every time.
        fields = (self.joint_names, self.joint_types, self.joint_parents, self.body_names)
        object.__setattr__(self, "_hash", hash((*fields, self.body_links)))

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined]

    @property
    def n_joints(self) -> int:
        return len(self.joint_types)

    @property
    def n_bodies(self) -> int:
        return len(self.body_names)

    @functools.cached_property
    def nq(self) -> int:
        return sum(COORDINATES[t] for t in self.joint_types)

    @functools.cached_property
    def nv(self) -> int:
        return sum(FREEDOMS[t] for t in self.joint_types)

    @functools.cached_property
    def q_address(self) -> np.ndarray:
        """The first entry in q of each joint."""
        return np.cumsum([0, *(COORDINATES[t] for t in self.joint_types)])[:-1].astype(int)

    @functools.cached_property
    def v_address(self) -> np.ndarray:
        """The first entry in v of each joint."""
        return np.cumsum([0, *(FREEDOMS[t] for t in self.joint_types)])[:-1].astype(int)

    @functools.cached_property
    def freedom_joints(self) -> np.ndarray:
        """The joint of each degree of freedom, shape (nv,)."""
        return np.repeat(np.arange(self.n_joints), [FREEDOMS[t] for t in self.joint_types])

    @functools.cached_property
    def link_ancestors(self) -> np.ndarray:
        """`[i, j]`: link j is link i or carries it, shape (n_links, n_links)."""
        carries = np.eye(self.n_joints + 1, dtype=bool)
        for joint, parent in enumerate(self.joint_parents):
            carries[joint + 1] |= carries[parent]
        return carries

    @functools.cached_property
    def moves_link(self) -> np.ndarray:
        """`[i, d]`: degree of freedom d moves link i, shape (n_links, nv)."""
        return self.link_ancestors[:, self.freedom_joints + 1]

    @functools.cached_property
    def moves_body(self) -> np.ndarray:
        """`[b, d]`: degree of freedom d moves body b, shape (n_bodies, nv)."""
        return self.moves_link[list(self.body_links)]

    @functools.cached_property
    def coupled(self) -> np.ndarray:
        """`[d, e]`: freedom e moves the link of freedom d (the lower triangle of M's pattern)."""
        return self.moves_link[self.freedom_joints + 1]

    @functools.cached_property
    def jumps(self) -> list[np.ndarray]:
        """Pointer jumping: in round r every link skips to the ancestor 2^r above it.

        Composing each link's pose with that of its pointer, round by round, gives all world poses
        in log2(depth) rounds of one batched product.
        """
        pointer = np.array([0, *self.joint_parents])
        rounds = []
        while pointer.any():
            rounds.append(pointer)
            pointer = pointer[pointer]
        return rounds

    def joints_of_type(self, kind: int) -> np.ndarray:
        """The joints of one type, in order."""
        return np.flatnonzero(np.array(self.joint_types, int) == kind)

    @functools.cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name for every entry of q: `hip`, `torso.x`, `torso.qw`, …"""
        parts = {FREE: ("x", "y", "z", "qw", "qx", "qy", "qz"), BALL: ("qw", "qx", "qy", "qz")}
        return self._names(parts)

    @functools.cached_property
    def freedom_names(self) -> tuple[str, ...]:
        """A name for every entry of v: `hip`, `torso.vx`, `torso.wx`, …"""
        turns = ("wx", "wy", "wz")
        return self._names({FREE: ("vx", "vy", "vz", *turns), BALL: turns})

    def _names(self, parts: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
        names = []
        for name, kind in zip(self.joint_names, self.joint_types, strict=True):
            names += [f"{name}.{p}" for p in parts[kind]] if kind in parts else [name]
        return tuple(names)
