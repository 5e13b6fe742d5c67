"""What counts as touching, as colliding and as being at rest: each stands only here."""

from stiction._base.arrays import Tolerance

TOUCH = Tolerance(1e-9, 2e-6)  # a contact nearer than this touches [m]
APPROACH = Tolerance(1e-10, 1e-5)  # a touching contact that closes in faster collides [m/s]
REST = Tolerance(1e-9, 1e-5)  # slower than this a touching contact neither parts nor slides [m/s]
# Slower than this a contact comes to rest when another does, in the plane [m/s].
TOGETHER = Tolerance(1e-7, 1e-4)

# Rigid contacts may begin, and be found, this deep inside of what they touch [m]; and with fixed
# steps, which keep gaps closed to second order, this times the step squared [m/s²].
INSIDE = Tolerance(1e-6, 1e-5)
SUNK = 100.0

REST_SPEED = 1e-9  # everything slower than this is at rest [m/s, rad/s]
REST_ACCELERATION = 1e-6  # [m/s², rad/s²]
