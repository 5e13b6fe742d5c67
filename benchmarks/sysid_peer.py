"""The single-point test identified by `mujoco.sysid` (extra `mujoco[sysid]`), in two ways.

*Simulated* is its ordinary way: a servo drives the tip along the smoothed path and MuJoCo
integrates. *Prescribed* spares it the simulation: poses and rates are set sample by sample and only
the contact force is evaluated. MuJoCo's law is the log's here: a linear spring and damper, friction
on the whole normal force. Its convex friction cone raises the normal force with slip, which
`solreffriction` keeps below a percent.
"""

import io

import mujoco
import numpy as np

from stiction.identify import Recording
from stiction.identify.kinds.axis import two_way_low_pass

MASS = 10.0  # kg; MuJoCo's stiffness and damping are per unit of it
TIME_STEP = 2e-4
CUTOFF = 3.0  # Hz, of the path's filter
# An impedance near zero leaves the servo's force out of the contact's.
MODEL = f"""<mujoco><option gravity="0 0 0" cone="elliptic" timestep="{TIME_STEP}"
integrator="implicitfast"/><worldbody>
<body name="plate"><geom name="plate" type="plane" size="0.06 0.06 0.01"/><site name="ft"/></body>
<body name="tip"><joint name="x" type="slide" axis="1 0 0"/>
<joint name="y" type="slide" axis="0 1 0"/><joint name="z" type="slide" axis="0 0 1"/>
<geom name="tip" size="0.005" mass="{MASS}"/></body></worldbody>
<contact><pair name="touch" geom1="plate" geom2="tip" condim="3" solref="-500 -100"
solimp="0.0001 0.0001 0.001 0.5 2" solreffriction="-1 -50"/></contact>
<actuator><position joint="x" kp="1e7" kv="4e3"/><position joint="y" kp="1e7" kv="4e3"/>
<position joint="z" kp="1e7" kv="4e3"/></actuator>
<sensor><force name="force" site="ft"/></sensor></mujoco>"""


def sysid_parameters(recording: Recording, *, simulated: bool) -> np.ndarray:
    """k, c and μ of the single-point test."""
    from mujoco.sysid import Parameter, ParameterDict, TimeSeries, build_residual_fn, optimize

    def write(spec, parameter):
        k, c, mu = parameter.value
        pair = spec.pairs[0]
        pair.solref = [-k / MASS, -c / MASS]
        pair.friction = [mu, mu, 0.005, 1e-4, 1e-4]

    start = Parameter(
        "contact", [5000.0, 1000.0, 0.2], [10.0, 0.0, 1e-3], [1e5, 1e5, 2.0], modifier=write
    )
    sequence, prescribed = _sequence(recording)

    def difference(params, predicted, measured, model, return_pred_all, state=None):
        del params, model, return_pred_all, state
        data = predicted.resample(measured.times).data if simulated else predicted.data
        there = TimeSeries(measured.times, data, measured.signal_mapping)
        return data - measured.data, there, measured

    residual = build_residual_fn(
        models_sequences=[sequence],
        modify_residual=difference,
        custom_rollout=None if simulated else prescribed,
        resample_true=simulated,
        n_threads=1,
    )
    options = {"verbose": False, "x_scale": "jac", "output": io.StringIO()}
    found, _ = optimize(ParameterDict({"contact": start}), residual, "mujoco", **options)
    return found.as_vector()


def _sequence(r: Recording):
    """The log as sysid takes it, and a rollout that sets poses and rates instead of simulating."""
    from mujoco.sysid import ModelSequences, SystemTrajectory, TimeSeries, create_initial_state

    rate = 1 / float(np.median(np.diff(r.pose_time)))
    x = two_way_low_pass(r.position, rate=rate, cutoff=CUTOFF)
    v = np.gradient(x, 1 / rate, axis=0, edge_order=2)
    inside = r.wrench_time <= r.pose_time[-1] - 2 / rate
    time, force = r.wrench_time[inside], r.wrench[inside, :3]
    X, V = (np.stack([np.interp(time, r.pose_time, c) for c in a.T], axis=1) for a in (x, v))
    spec = mujoco.MjSpec.from_string(MODEL)
    model = spec.compile()
    sensors = TimeSeries.compute_all_sensor_mapping(model)
    initial = create_initial_state(model, x[0], v[0])
    sequence = ModelSequences(
        "plate", spec, "log", initial, TimeSeries(r.pose_time, x), TimeSeries(time, force, sensors)
    )

    def prescribed(models, **_):
        out = []
        for m in models:
            data = mujoco.MjData(m)
            read = np.empty((len(time), 3))
            for i in range(len(time)):
                data.qpos[:], data.qvel[:], data.ctrl[:] = X[i], V[i], X[i]
                mujoco.mj_forward(m, data)
                read[i] = data.sensordata
            state = np.column_stack([time, np.zeros((len(time), len(initial) - 1))])
            parts = TimeSeries(time, X), TimeSeries(time, read, sensors)
            out.append(SystemTrajectory(m, *parts, initial, TimeSeries(time, state)))
        return out

    return sequence, prescribed
