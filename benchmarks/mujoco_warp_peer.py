"""MuJoCo Warp on the human of `bench_stepping`: whole steps a second, on a GPU.

python -m benchmarks.mujoco_warp_peer 65536 100
"""

import sys
import time

import mujoco
import mujoco_warp as mjw
import warp as wp

from benchmarks.bench_stepping import DT, model


def main(lanes: int = 8192, steps: int = 100) -> None:
    """Steps in a recorded graph, as its own benchmark makes them."""
    m = mujoco.MjModel.from_xml_string(model())
    m.opt.timestep = DT
    d = mujoco.MjData(m)
    d.qpos[2] += 0.02
    mujoco.mj_forward(m, d)
    for iterations in (5, 100):
        m.opt.iterations = iterations
        model_w, data = mjw.put_model(m), mjw.put_data(m, d, nworld=lanes, nconmax=16, njmax=64)
        mjw.step(model_w, data)
        with wp.ScopedCapture() as capture:
            mjw.step(model_w, data)
        wp.synchronize()
        begin = time.perf_counter()
        for _ in range(steps):
            wp.capture_launch(capture.graph)
        wp.synchronize()
        rate = lanes * steps / (time.perf_counter() - begin)
        name = f"MuJoCo Warp {mjw.__version__}, {iterations} iterations, {lanes:,} worlds"
        print(f"{name}: {rate:,.0f} steps/s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
