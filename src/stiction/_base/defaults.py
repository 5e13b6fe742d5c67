"""Numbers of contact and control that hold where nobody says otherwise: each stands only here."""

RESTITUTION = 0.0
MU_STATIC, MU_DYNAMIC = 0.74, 0.57
STRIBECK_SPEED, STRIBECK_EXPONENT = 1.4e-4, 1.0  # v_s [m/s] and a of flickinger (4.10)
REST_SPEED = 1e-3  # slower collisions do not rebound [m/s]
IMPACT = "lcp-cone-poisson"  # never creates energy, and friction opposes the slip that remains

DT = 1e-3  # step of the stepping engine [s]
PYRAMID_SIDES = 8

MAX_STEPS = 20_000  # of an adaptive integration
MAX_WORLD_STEPS = 1_000_000  # of one whose contacts are found on the way

JUMP_DISTANCE = 5.0  # of a jump's goal [m]
JUMP_FREQUENCY = 150.0  # [rad/s]: at 5 m more than any posture can give, so that it is full thrust
JUMP_LIFTED, JUMP_AWAY = 1e-4, 5e-3  # heights at which a push ends and a flight begins [m]
