"""The motion of a test as a function of time: coordinates, splines, noise and clocks.

`motion` is the way in: a path through the samples or smoothed. `segments` lays samples out along
the spline for the fit of path and parameters together.
"""
