"""Small mechanisms whose motion is known in closed form, as MJCF."""

BALL_ON_A_RAIL = """
<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <body name="ball" pos="0 0 0.05"><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="ball" type="sphere" size="0.05" mass="1"/></body>
</worldbody></mujoco>
"""

WEIGHTLESS_BALL = BALL_ON_A_RAIL.replace("0 0 -9.81", "0 0 0")

# A sphere that moves in the x-z plane and turns about y (angle positive x to z).
PLANAR_SPHERE = """
<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <body name="ball" pos="0 0 0.1">
    <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <joint name="spin" axis="0 -1 0"/>
    <geom name="ball" type="sphere" size="0.1" mass="2"/></body>
</worldbody></mujoco>
"""


def row_of_balls(masses, gaps, radius=0.05, wall=False):
    """Spheres on a rail along x without gravity, and a wall at x = 0 that faces +x."""
    bodies, x = "", 0.0
    for i, (mass, gap) in enumerate(zip(masses, gaps, strict=True)):
        x += gap + (radius if i == 0 else 2 * radius)
        bodies += f"""<body name="b{i}" pos="{x!r} 0 0">
          <joint name="x{i}" type="slide" axis="1 0 0"/>
          <geom name="b{i}" type="sphere" size="{radius}" mass="{mass!r}"/></body>"""
    plane = (
        '<geom name="wall" type="plane" size="1 1 .1" zaxis="1 0 0" contype="2" conaffinity="2"/>'
    )
    return f"""<mujoco><option gravity="0 0 0"/><worldbody>
      {plane if wall else ""}{bodies}</worldbody></mujoco>"""


def planar_block(width, height, mass=1.0):
    """A block in the x-z plane that may touch with its two lower corners."""
    inertia = mass * (width**2 + height**2) / 12
    return f"""<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
      <geom name="floor" type="plane" size="1 1 .1"/>
      <body name="block" pos="0 0 {height / 2!r}">
        <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
        <joint name="tilt" axis="0 -1 0"/>
        <inertial pos="0 0 0" mass="{mass!r}" diaginertia="{inertia!r} {inertia!r} {inertia!r}"/>
        <geom type="box" size="{width / 2!r} .1 {height / 2!r}" contype="0" conaffinity="0"/>
        <site name="left" pos="{-width / 2!r} 0 {-height / 2!r}"/>
        <site name="right" pos="{width / 2!r} 0 {-height / 2!r}"/></body>
    </worldbody></mujoco>"""


def pendulum_over_floor(clearance):
    """A point on an arm of 0.9 m that swings over a floor; at angle 0 it is so far off."""
    return f"""<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
      <geom name="floor" type="plane" size="5 5 .1" pos="0 0 {-0.9 - clearance!r}"/>
      <body name="arm"><joint name="swing" axis="0 1 0"/>
        <inertial pos="0 0 -0.9" mass="1" diaginertia="1e-9 1e-9 1e-9"/>
        <site name="tip" pos="0 0 -0.9"/></body>
    </worldbody></mujoco>"""


def woodpecker(small):
    """The toy of [PfeifferGlocker1996]: a bird on a spring, on a sleeve that slides down a pole.

    The published model is linear in its angles. Here clearances and gravity are made `small`, and
    with them all motion: the limit is that model, for linear equations have no scale of their own.
    """
    pole = 0.0031 - 0.0006 * small
    beak = pole + 0.0024 * small - 0.01
    return f"""<mujoco><compiler angle="radian"/>
      <option gravity="0 0 {-9.81 * small!r}"/><worldbody>
      <geom name="pole" type="plane" size="1 1 .1" pos="{pole!r} 0 0" zaxis="1 0 0"/>
      <body name="sleeve">
        <joint name="z" type="slide" axis="0 0 1"/><joint name="sleeve" axis="0 -1 0"/>
        <inertial pos="0 0 0" mass="0.0003" diaginertia="5e-9 5e-9 5e-9"/>
        <site name="low" pos="0.0031 0 -0.0058"/><site name="high" pos="0.0031 0 0.0058"/>
        <body name="bird" pos="0.01 0 0">
          <joint name="spring" axis="0 -1 0" stiffness="0.0056"/>
          <inertial pos="0.015 0 0" mass="0.0045" diaginertia="7e-7 7e-7 7e-7"/>
          <site name="beak" pos="{beak!r} 0 0.02"/></body></body>
    </worldbody></mujoco>"""
