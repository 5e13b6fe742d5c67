"""When two numbers count as equal. All tests are made on unit vectors and relative to the largest
acceleration at hand, so these have no unit."""

# Directions closer than this [rad] are one direction: parallel normals, duplicate edges.
PARALLEL = 1e-9

# A component smaller than this is zero. Rounding leaves some 1e-16 to 1e-14 where theory says zero.
ZERO = 1e-11

# Accelerations closer than this (relative) are one motion.
SAME = 1e-9
