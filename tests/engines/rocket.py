"""A rocket over a floor, that a motor lifts."""

G, MASS = 9.81, 2.0

ROCKET = f"""
<mujoco><option gravity="0 0 {-G}"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <body name="rocket" pos="0 0 0.1"><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="rocket" type="sphere" size="0.1" mass="{MASS}"/></body>
</worldbody><actuator><motor joint="z"/></actuator></mujoco>
"""
