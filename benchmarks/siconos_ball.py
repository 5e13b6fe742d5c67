"""A ball to its third apex by Siconos, event-driven: height, speed and processor time, as JSON.

Run by `bench_accuracy` in a Python of its own, as Siconos comes with Debian's: python3-siconos.

    python3 siconos_ball.py HEIGHT RESTITUTION UNTIL
"""

# pyright: reportMissingImports=false
import json
import os
import sys
import time

import siconos.kernel as sk

G = 9.81


def prepare(height, restitution, until):
    """A simulation that has not begun, and the ball in it."""
    ball = sk.LagrangianLinearTIDS([height], [0.0], [[1.0]])
    ball.setFExtPtr([-G])
    law, relation = sk.NewtonImpactNSL(restitution), sk.LagrangianLinearTIR([[1.0]])
    floor = sk.Interaction(law, relation)
    system = sk.NonSmoothDynamicalSystem(0.0, until)
    system.insertDynamicalSystem(ball)
    system.link(floor, ball)
    integrator, impact, acceleration = sk.LsodarOSI(), sk.LCP(), sk.LCP()
    simulation = sk.EventDriven(system, sk.TimeDiscretisation(0.0, until))
    simulation.insertIntegrator(integrator)
    simulation.insertNonSmoothProblem(impact, sk.SICONOS_OSNSP_ED_IMPACT)
    simulation.insertNonSmoothProblem(acceleration, sk.SICONOS_OSNSP_ED_SMOOTH_ACC)
    simulation.initialize()
    # Siconos keeps raw pointers to some of these: they have to live as long as it does.
    return simulation, ball, (law, relation, floor, system, integrator, impact, acceleration)


def main(height, restitution, until):
    """Print the quickest of many runs; what it takes to set one up is not counted."""
    best = float("inf")
    for _ in range(100):
        simulation, ball, _keep = prepare(height, restitution, until)
        start = time.process_time()
        while simulation.startingTime() < until:
            simulation.advanceToEvent()
            simulation.processEvents()
        best = min(best, time.process_time() - start)
    return {"height": float(ball.q()[0]), "speed": float(ball.velocity()[0]), "seconds": best}


if __name__ == "__main__":
    # It reports on every run; that goes nowhere.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    json.dump(main(*map(float, sys.argv[1:])), output)
