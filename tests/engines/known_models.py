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
