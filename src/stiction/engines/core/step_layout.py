"""Where a world keeps the step that is under way, its search for events, and its end."""

import warp as wp


@wp.struct
class StepSlots:
    """The step, the search for events, and the end."""

    y: int  # q, v, ledger, bristles and losses of compliant contacts, gaps, activations
    n: int
    gaps: int  # where they begin in y
    error: int  # of the step, as y
    start: int  # y at the beginning of the step
    end: int  # y at its end, contacts corrected
    k: int  # stages
    half: int  # D^(-1/2) L⁻ᵀ (τ - c)
    shift: int  # nv
    t: int  # at the beginning of the step
    now: int  # of what is evaluated
    t_end: int  # at its end
    h: int  # length of the step under way
    longest: int  # step that a slip about to end allows
    stride: int  # of ordinary steps
    low: int  # bracket of an event
    high: int
    f_low: int
    f_high: int
    slope: int
    drift: int
    excess: int  # by which normal forces would have to be larger to hold
    stop: int  # when the driver wants to be asked
    damped: int  # power lost in dampers
    slip_rate: int  # 1 a pair: rate of the slip's speed
    margin: int  # by which bodies may come nearer until one must look around again
    spent_at: int  # when that was reckoned
    speed: int  # bound on how fast bodies come nearer, and on how fast that grows
    rise: int
    looked: int  # when one looked around last
    missed: int  # how deep something was when it was found
    leap: int  # length of the last leap, when it ended, and what was booked before it
    leaped_to: int
    account: int
    crowd_since: int  # when one began to count changes of modes
    slack: int  # by which forces may fall short of their bounds
    unsolved: int  # residual of the last cone problem, part of the largest force
    # whole numbers
    phase: int
    stage: int
    status: int
    steps: int
    events: int
    cascade: int
    blows: int  # impacts of the event under way
    next_sample: int
    target: int  # event function of the search, or of the event
    side: int
    passes: int
    after_impact: int
    jammed: int
    landed: int  # the step ends on an event
    last: int  # the step ends on the end of the run
    inside: int  # a sample inside a step is taken
    anew: int  # modes are to be settled when one has looked around
    crowd: int  # changes of modes
    leaps: int  # until now
    hard: int  # what comes next is not plain: see `plain`
    in_leap: int  # 1 what it lost is to be booked, 2 modes are to be settled
