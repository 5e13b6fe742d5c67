"""What a machine is given and where its worlds keep their numbers."""

import warp as wp

from .mujoco_layout import Geoms, Outer
from .push_layout import PushArrays
from .reals import PLAIN, mat33, quat, real, vec2, vec3
from .step_layout import StepSlots

# Modes of a contact.
OPEN, STICK, SLIP = wp.constant(0), wp.constant(1), wp.constant(2)

# Rows of a contact: tangents (two of sliding, one of spin, two of rolling), and the normal last.
TANGENTS, MOST_ROWS = wp.constant(5), wp.constant(6)

# What a pass is for.
STAGE, EVENT, SAMPLE, BEGIN, LOOK, LANDED = (wp.constant(i) for i in range(6))

# How a run ends, or why it waits.
RUNNING, DONE, STEPS_USED_UP, EVENTS_USED_UP = (wp.constant(i) for i in range(4))
CASCADE, NOT_FINITE, TOO_MANY_CONTACTS, BEGAN_INSIDE = (wp.constant(i) for i in range(4, 8))
WAITING = wp.constant(8)

# Numbers of the law, for each contact.
RESTITUTION, MU_STATIC, MU_DYNAMIC = wp.constant(0), wp.constant(1), wp.constant(2)
REST_SPEED, STRIBECK_SPEED, STRIBECK_POWER = wp.constant(3), wp.constant(4), wp.constant(5)

# Numbers of the law of compliant contacts.
STIFFNESS, EXPONENT, CLOSING, PARTING = (wp.constant(i) for i in range(4))
DAMPING, CLAMP, SOFT_MU_STATIC, SOFT_MU_DYNAMIC = (wp.constant(i) for i in range(4, 8))
SOFT_STRIBECK_SPEED, SOFT_STRIBECK_POWER, CREEP_SPEED = (wp.constant(i) for i in range(8, 11))
BRISTLE_STIFFNESS, BRISTLE_DAMPING = wp.constant(11), wp.constant(12)

# What the ledger books [J].
ACTUATOR_WORK, DAMPING_LOSS, FRICTION_LOSS = wp.constant(0), wp.constant(1), wp.constant(2)
SUPPORT_WORK, IMPACT_LOSS = wp.constant(3), wp.constant(4)
BOOKS = wp.constant(5)


@wp.struct
class Links:
    """The links of a mechanism, link by link, and its freedoms. Numbers in link frames."""

    nq: int
    nv: int
    n_links: int
    n_joints: int  # in the lists of kinds and addresses, from 1 on; of a tree one a link
    gravity: vec3
    # links
    parent: wp.array(dtype=int)
    root: wp.array(dtype=int)
    kind: wp.array(dtype=int)
    at_q: wp.array(dtype=int)
    at_v: wp.array(dtype=int)
    last_freedom: wp.array(dtype=int)  # nearest freedom that moves the link, or -1
    first_freedom: wp.array(dtype=int)  # of the link's own, or -1
    position: wp.array(dtype=vec3)
    rotation: wp.array(dtype=quat)
    anchor: wp.array(dtype=vec3)
    axis: wp.array(dtype=vec3)
    mass: wp.array(dtype=real)
    center: wp.array(dtype=vec3)
    inertia: wp.array(dtype=mat33)  # about the centre of mass
    stiffness: wp.array(dtype=real)
    # coordinates and freedoms
    reference: wp.array(dtype=real)
    spring_zero: wp.array(dtype=real)
    before: wp.array(dtype=int)  # the freedom before on the way to the root, or -1
    row: wp.array(dtype=int)  # where row i of M begins
    depth: wp.array(dtype=int)  # how many freedoms are before
    damping: wp.array(dtype=real)
    armature: wp.array(dtype=real)


@wp.struct
class TreeSlots:
    """Where the numbers of a tree lie in a world."""

    q: int
    v: int
    acceleration: int  # v̇ without contacts
    position: int  # 3 a link
    origin: int  # 3 a link: about which velocities are written, at the root of its tree
    rotation: int  # 4
    velocity: int  # 6
    rate: int  # 6
    force: int  # 6
    inertia: int  # 10
    motion: int  # 6 a freedom
    bias: int
    tendon_bias: int  # 1 a tendon: how fast its velocity changes if v does not
    M: int  # rows of M, then of L
    D: int  # D^(-1/2)


@wp.struct
class MotorArrays:
    """Actuators, and what is commanded. Rows of `command` differ from world to world, or are one.

    Length and moment are sparse: entries `first[i]` to `first[i + 1]` are those of actuator i.
    """

    count: int
    guards: int  # of a control from outside, or of the push
    first: wp.array(dtype=int)
    entry_q: wp.array(dtype=int)  # -1 where the length does not depend on it
    entry_v: wp.array(dtype=int)
    gear: wp.array(dtype=real)
    gain: wp.array(dtype=real)
    bias: wp.array2d(dtype=real)  # 3 each
    control_range: wp.array2d(dtype=real)
    force_range: wp.array2d(dtype=real)
    joint_range: wp.array2d(dtype=real)
    harmonic: wp.array2d(dtype=real)  # offset, amplitude, frequency, phase
    n_phases: int
    n_powers: int
    phases: wp.array3d(dtype=real)  # end, offset, gain, relative, coefficients


@wp.struct
class ActuatorSlots:
    """Where the numbers of actuators lie."""

    command: int  # given from outside, added to the core's own
    effort: int
    drive: int  # nv
    begin: int  # of the phase, and the length then
    origin: int
    guard: int  # of a control from outside, or of the push
    # computed torque: rows of contacts, motors and point, and what is solved with them
    rows: int
    still: int  # accelerations of the rows without forces and efforts
    passive: int  # nv
    gram: int
    beta: int
    right: int
    answer: int
    # whole numbers
    phase: int
    push_phase: int
    order: int


@wp.struct
class Pairs:
    """Pairs that may touch. Places are in the frames of their links."""

    count: int
    kind: wp.array(dtype=int)
    first: wp.array(dtype=int)  # link that touches; or joint, freedom or tendon
    second: wp.array(dtype=int)  # link that is touched; 0 is the ground
    rows: wp.array(dtype=int)  # 1 normal only, 2 in the plane, 3 in space, 4 spin, 6 rolling
    point: wp.array(dtype=vec3)  # of the first: a point, or the centre of something round
    turn: wp.array(dtype=quat)  # of the semi-axes
    axes: wp.array(dtype=vec3)  # semi-axes; of balls the radius, of limits the sign,
    # of lines and rims their direction
    on: wp.array(dtype=vec3)  # of the second: a point of the plane, or a centre
    # Of the plane: x and y are tangents, z is the normal; or of the second's semi-axes or line.
    facing: wp.array(dtype=quat)
    radius: wp.array(dtype=real)  # of the second; limit of a number, load of its friction
    along: wp.array(dtype=vec3)  # direction of the second's line; of curved shapes the second's
    # semi-axes, the last one below zero if it is a line
    reach: wp.array(dtype=real)  # radius about the first, or of its rim
    normal: wp.array(dtype=vec3)  # of curved shapes, as the second sees it, where it was last
    twist: wp.array(dtype=vec2)  # friction of spin and of rolling, over that of sliding [m]
    geoms: wp.array(dtype=wp.vec2i)  # of MuJoCo's, and which of their parts: see `near`
    parts: wp.array(dtype=wp.vec2i)
    motion: wp.array(dtype=int)  # of the ground, or -1
    # Prescribed motions: x(t) = x₀ + velocity t + amplitude (sin(2π f t + φ) - sin φ), and a belt.
    velocity: wp.array(dtype=vec3)
    amplitude: wp.array(dtype=vec3)
    swing: wp.array(dtype=vec2)  # frequency, phase
    belt: wp.array(dtype=vec3)  # in world axes
    # A height field: coefficients of bicubic splines.
    field: wp.array2d(dtype=real)
    middle: vec3
    spacing: vec2


@wp.struct
class Bonds:
    """Constraints that are always kept. Places are in the frames of their links."""

    count: int
    kind: wp.array(dtype=int)
    first: wp.array(dtype=int)  # link, joint or tendon
    second: wp.array(dtype=int)  # link, or joint or tendon that is followed (0, -1: none)
    point: wp.array(dtype=vec3)  # of the first; of joints and tendons the references of both
    on: wp.array(dtype=vec3)  # of the second
    turn: wp.array(dtype=quat)  # of the first as the second sees it
    curve: wp.array2d(dtype=real)  # coefficients, of the power 0 first


@wp.struct
class ContactSlots:
    """Contacts: all pairs, and the rows of those that touch."""

    capacity: int  # of rows
    gap: int  # of every pair
    closing: int  # its rate
    direction: int  # of slip when it was settled, TANGENTS a pair
    heading: int  # of slip now
    value: int  # event functions: 2 a pair, then the phases of actuators
    value_low: int  # at the low end of the bracket
    value_start: int  # at the beginning of the step
    earlier: int  # MOST_ROWS a pair: `free` at the beginning of the step
    shared: int  # MOST_ROWS a pair: forces when redundant ones were shared last
    # rows
    Y: int  # D^(-1/2) L⁻ᵀ Jᵀ, nv a row
    link: int  # likewise of the motion of a link, 6 a freedom
    # links that stand for their contacts: see `links`
    lever: int  # 6 a row
    own: int  # W of each active contact, 9 numbers
    V: int  # 6 a link
    V_old: int  # before the last sweep
    V_way: int  # of all sweeps until now
    W: int  # Delassus matrix
    velocity: int
    free: int  # acceleration without contact forces
    ground: int  # velocity of the support
    force: int
    impulse: int
    mu: int  # of each active contact, in cone problems
    floor: int  # least normal impulse of each active contact, in cone problems
    restitution: int  # of each active contact, in impacts
    # bonds: orthonormal directions, and what they miss along them (gap, velocity and bias follow
    # each other)
    most_held: int
    held: int
    held_gap: int
    held_velocity: int
    held_bias: int
    # systems
    A: int  # capacity²
    scratch: int  # of impact laws
    lemke: int  # tableau, if the law needs one
    beta: int
    wanted: int  # right-hand sides
    unknown: int
    work: int  # 4 rows
    # whole numbers
    mode: int  # of every pair
    mode_before: int
    mark: int  # pairs that take part in what is under way
    active: int  # pairs that have rows
    first: int  # row of each of them, and the end
    order: int
    fixed: int  # what is known of an active contact in cone problems; whether an impact releases it
    equation: int  # row of each equation
    n_active: int
    n_held: int
    n_links: int  # that stand for their contacts
    link_first: int  # active contact of each of them, and the end
    basis: int


@wp.struct
class SoftSlots:
    """Compliant contacts, and the equations of implicit steps."""

    rate: int  # of bristles (2 a pair), then of losses along normals, then by friction
    power: int  # of supports, lost by friction, lost along normals
    stored: int
    margin: int
    # implicit stages
    change: int  # residual of the stage, then its correction, as y
    turn: int  # nv: residual of q, along the freedoms
    row: int  # nv: of a joint
    A: int  # nv²
    right: int  # nv
    rho: int  # 1 a pair: residual of the gap
    size: int  # of the last correction
    stiffness: int  # of the step: how far A is from the identity
    # whole numbers
    iteration: int
    implicit: int  # whether the step is
    streak: int  # steps that asked for the other kind
    node: int  # of the sum over what is booked until a sample


@wp.struct
class FixedSteps:
    """What one fixed step hands to the next."""

    q: int  # at t_k
    v: int  # half a step before
    change: int  # of v in the last step
    unpressed: int  # of it what is not by contact
    booked: int  # in the last step
    books: int
    force: int  # τ - c
    implicit: int  # what is added to the diagonal of M, and the part of servos in it
    servo: int
    bias: int  # of rows
    slow: int  # row velocities before, of normals
    pull: int  # change of row velocities by all but contacts
    after: int  # row velocities in the middle of the step
    ahead_gap: int  # of pairs, at the beginning of the next step
    ahead_velocity: int
    ahead_acceleration: int
    pressed: int  # contact force of pairs, MOST_ROWS each
    residual: int
    # whole numbers
    k: int
    collides: int  # of pairs
    resting: int


@wp.struct
class Options:
    """How a run is made."""

    until: wp.array(dtype=real)
    rtol: real
    atol: real
    power: real  # of the error ratio, by which strides change
    on_samples: int  # whether steps end on samples: of a method beyond the order of `interpolate`
    max_steps: int
    max_events: int
    deepest: real  # how far a run may begin inside of what it touches [m]
    compliant: int  # whether contacts are, or there are none
    method: int  # 0 explicit, 1 implicit, 2 either
    impact: int
    energetic: wp.array(dtype=real)
    energy_method: int
    sequence: int
    sides: int  # of friction pyramids
    # fixed steps
    dt: wp.array(dtype=real)
    between: int  # steps from one sample to the next
    last: int  # the last step
    solver: int
    poisson: int
    bounded: int  # whether impacts may leave only a part of the energy
    sweeps: int  # by which cone problems are solved (single precision, GPUs); 0: Newton's method


# How long what comes is hard, as far as a plain program knows: it cannot share forces. Those that
# only squeeze are shared at the end of a step, those that slide at every stage.
THIS_PASS, UNTIL_EVENT = wp.constant(1), wp.constant(2)
FIRST_CHOSEN = wp.constant(2)  # worlds, after the numbers of those chosen and those that run


@wp.struct
class Machine:
    """A mechanism with what it may touch, its laws, and how its worlds are laid out."""

    tree: Links
    act: MotorArrays
    push: PushArrays
    pairs: Pairs
    bonds: Bonds
    at: TreeSlots
    motors: ActuatorSlots
    c: ContactSlots
    soft: SoftSlots
    z: StepSlots
    fixed: FixedSteps
    outer: Outer
    shapes: Geoms
    opt: Options
    law: wp.array3d(dtype=real)  # world (or one for all), pair, number
    a: wp.array3d(dtype=real)  # Runge-Kutta: method, stage, stage
    b_error: wp.array2d(dtype=real)
    nodes: wp.array2d(dtype=real)
    guess: wp.array3d(dtype=real)  # of the rate of implicit stages, from those before
    samples: wp.array3d(dtype=real)  # world, sample, numbers
    log: wp.array3d(dtype=real)  # world, event, numbers
    places: wp.array4d(dtype=real)  # world, sample, pair, numbers: where contacts are
    event_places: wp.array4d(dtype=real)  # likewise at events
    impulses: wp.array3d(dtype=real)  # world, fixed step, numbers: for derivatives
    chosen: wp.array(dtype=int)  # see `plain`: how many worlds run, how many are hard, and which


# Warp hands structures over by value, and a machine is large: functions take an array of one.
Machines = wp.array(dtype=Machine)


@wp.func_native(snippet="return m.data->opt.compliant != 0;" if not PLAIN else "return false;")
def is_soft(m: Machines) -> bool:
    """Whether contacts give way."""
    ...


# Numbers of an event in the log: these, then those of each pair, then q, v before and v after.
TIME, CAUSE, FUNCTION, IMPACT, TANGENTIAL = (wp.constant(i) for i in range(5))
CONSISTENT, SUSPICIOUS, KINETIC_BEFORE = wp.constant(5), wp.constant(6), wp.constant(7)
KINETIC_AFTER, REMOVED, SPEED, ACCELERATION = (wp.constant(i) for i in range(8, 12))
EVENT_NUMBERS = 12

MODE_BEFORE, MODE_AFTER, DIRECTION_BEFORE = wp.constant(0), wp.constant(1), wp.constant(2)
DIRECTION_AFTER, GAP, VELOCITY_BEFORE = wp.constant(4), wp.constant(6), wp.constant(7)
VELOCITY_AFTER, IMPULSE, MU, WORK = (wp.constant(i) for i in (10, 13, 16, 17))
LIMIT = wp.constant(20)
PAIR_NUMBERS = 21

# Which pair it is and where: kind, geoms and their parts (-1: none), point, first tangent, normal,
# and force and torque on the first of the two (or their impulses), in world axes.
PLACE_KIND, PLACE_GEOMS, PLACE_PARTS = wp.constant(0), wp.constant(1), wp.constant(3)
PLACE_POINT, PLACE_TANGENT, PLACE_NORMAL = wp.constant(5), wp.constant(8), wp.constant(11)
PLACE_FORCE, PLACE_TORQUE = wp.constant(14), wp.constant(17)
PLACE_NUMBERS = 20

# Numbers of a fixed step: how many events there have been, then of each pair its impulse and that
# of the compression phase of impacts.
STEP_NUMBERS, STEP_PAIR_NUMBERS = wp.constant(1), wp.constant(12)
