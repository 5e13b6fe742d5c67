"""Complementarity solvers beside their peers: linear problems by size, and contact problems.

Linear problems are random positive definite ones, and friction problems of Stewart and Trinkle's
form (six-sided pyramids, 8 unknowns a contact). Peers: quantecon's Lemke (compiled by numba),
Drake's Moby and Siconos, each where it is installed. Residuals are max |min(z, w)| / max |q| over
all problems, worked out here for every solver alike; a solver's own word is not asked.

Contact problems are Delassus matrices of random mechanisms; peers are Pinocchio's ADMM and PGS.
"""

import importlib.util
import time

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.timing import best_time, machine, table
from stiction.complementarity import cone_residual, pyramid_lcp, solve_cone, solve_lcp

# As peers are called: a call returns when the answer is there, on the thread that asked.
jax.config.update("jax_cpu_enable_async_dispatch", False)

SIZES = (8, 24, 72, 200)
BATCH = 1000
ALONE = 30
SIDES = 6


def positive_definite(n: int, count: int):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(count, n, n))
    return A @ A.swapaxes(1, 2) / n + 0.1 * np.eye(n), rng.normal(size=(count, n))


def contacts(n_contacts: int, count: int):
    """Delassus matrices, velocities and friction of mechanisms with as many freedoms as rows."""
    rng = np.random.default_rng(n_contacts)
    J = rng.normal(size=(count, 3 * n_contacts, 3 * n_contacts + 3))
    v = rng.normal(size=(count, 3 * n_contacts + 3))
    mu = rng.uniform(0.2, 1, (count, n_contacts))
    return J @ J.swapaxes(1, 2), np.einsum("bij,bj->bi", J, v), mu


def friction(n: int, count: int):
    problems = jax.jit(jax.vmap(lambda *data: pyramid_lcp(*data, n_sides=SIDES)))(
        *contacts(n // (SIDES + 2), count)
    )
    return np.asarray(problems.M), np.asarray(problems.q)


def residual(M, q, z) -> float:
    w = np.einsum("bij,bj->bi", M, z) + q
    return float((np.abs(np.minimum(z, w)).max(axis=1) / np.abs(q).max(axis=1)).max())


def quantecon_lemke():
    from quantecon.optimize import lcp_lemke

    return lambda M, q: lcp_lemke(M, q, max_iter=10**5).z


def drake_moby():
    from pydrake.solvers import MathematicalProgram, MobyLcpSolver

    solver = MobyLcpSolver()

    def solve(M, q):
        program = MathematicalProgram()
        z = program.NewContinuousVariables(len(q))
        program.AddLinearComplementarityConstraint(M, q, z)
        return solver.Solve(program, None, None).GetSolution(z)

    return solve


def siconos_lemke():
    import siconos.numerics as sn

    options = sn.SolverOptions(sn.SICONOS_LCP_LEMKE)

    def solve(M, q):
        z, w = np.zeros_like(q), np.zeros_like(q)
        sn.linearComplementarity_driver(sn.LCP(M, q), z, w, options)
        return z

    return solve


PEERS = {
    "quantecon": ("quantecon", quantecon_lemke),
    "Drake": ("pydrake", drake_moby),
    "Siconos": ("siconos", siconos_lemke),
}


def peers():
    """Those that are installed; says which are not."""
    found = {}
    for name, (module, make) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            print(f"{name} left out: `{module}` is not installed.")
        else:
            found[name] = make()
    return found


def linear() -> None:
    alone = jax.jit(lambda M, q: solve_lcp(M, q, throw=False).value)
    batch = jax.jit(jax.vmap(lambda M, q: solve_lcp(M, q, throw=False).value))
    others = peers()
    rows = []
    for kind, make in (("definite", positive_definite), ("friction", friction)):
        for n in SIZES:
            M, q = make(n, BATCH if n < 200 else 200)
            each = [(jnp.asarray(m), jnp.asarray(v)) for m, v in zip(M, q, strict=True)][:ALONE]
            device = jnp.asarray(M), jnp.asarray(q)
            row = {"problem": kind, "size": n}
            row["alone [µs]"] = 1e6 / ALONE * best_time(lambda e=each: [alone(*p) for p in e])
            row["in a batch [µs]"] = 1e6 / len(q) * best_time(lambda d=device: batch(*d), repeat=5)
            row["residual"] = residual(M, q, np.asarray(batch(*device)))
            for name, solve in others.items():
                some = list(zip(M, q, strict=True))[:ALONE]
                seconds = best_time(lambda s=solve, p=some: [s(*x) for x in p], repeat=5)
                row[f"{name} [µs]"] = 1e6 / ALONE * seconds
                try:
                    z = np.stack([solve(*p) for p in some])
                    row[f"its residual ({name})"] = residual(M[:ALONE], q[:ALONE], z)
                except ValueError:  # an answer without entries
                    row[f"its residual ({name})"] = "no answer"
            rows.append(row)
    table(rows)


def pinocchio_solver(kind: str, n_contacts: int, steps: int):
    """A call (W, b, mu) -> (impulses, seconds) of one of Pinocchio's solvers."""
    import pinocchio as pin

    body = pin.Model()
    body.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    settings = getattr(pin, f"{kind}SolverSettings")()
    settings.max_iterations = steps
    for quantity in ("complementarity", "feasibility"):
        setattr(settings, f"absolute_{quantity}_tol", 1e-10)
        setattr(settings, f"relative_{quantity}_tol", 1e-14)

    def solve(W, b, mu):
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for m in mu:
            contact = pin.PointContactConstraintModel(body, 1, pin.SE3.Identity())
            contact.setFriction(float(m))
            contact.setCompliance(np.zeros(3))
            models.append(pin.ConstraintModel(contact))
            datas.append(models[len(models) - 1].createData())
        solver = getattr(pin, f"{kind}ConstraintSolver")(3 * n_contacts)
        result = getattr(pin, f"{kind}SolverResult")()
        delassus = pin.DelassusOperatorDense(W)
        start = time.perf_counter()
        solver.solve(delassus, b, models, datas, settings, result)
        return np.array(result.retrieveConstraintImpulses()), time.perf_counter() - start

    return solve


def cones() -> None:
    rows = []
    for n_contacts in (1, 4, 16):
        W, b, mu = contacts(n_contacts, 100)
        data = tuple(jnp.asarray(a) for a in (W, b, mu))
        scale = np.abs(b).max(axis=1)
        measure = jax.jit(jax.vmap(cone_residual))

        def add(name, seconds, gamma, n=n_contacts, d=data, measure=measure, scale=scale):
            worst = np.asarray(measure(*d, jnp.asarray(gamma))) / scale
            rows.append(
                {
                    "contacts": n,
                    "solver": name,
                    "time [µs]": 1e6 * seconds,
                    "median residual": float(np.median(worst)),
                    "largest": float(np.max(worst)),
                }
            )

        for name, options in (
            ("stiction newton", {}),
            (
                "stiction admm, 20 steps",
                {"method": "admm", "tolerance": None, "max_iterations": 20},
            ),
            (
                "stiction admm, 200 steps",
                {"method": "admm", "tolerance": None, "max_iterations": 200},
            ),
        ):
            f = jax.jit(lambda W, b, mu, o=options: solve_cone(W, b, mu, throw=False, **o).value)
            each = list(zip(*data, strict=True))
            seconds = best_time(lambda f=f, each=each: [f(*p) for p in each], repeat=3) / len(each)
            add(name, seconds, np.stack([f(*p) for p in each]))
        if importlib.util.find_spec("pinocchio") is None:
            continue
        for kind, steps in (("ADMM", 20), ("ADMM", 1000), ("PGS", 20), ("PGS", 1000)):
            solve = pinocchio_solver(kind, n_contacts, steps)
            answers = [solve(*p) for p in zip(W, b, mu, strict=True)]
            gamma, seconds = zip(*answers, strict=True)
            add(f"Pinocchio {kind}, {steps} steps", float(np.median(seconds)), np.stack(gamma))
    table(rows)


def main() -> None:
    print(machine("quantecon", "pin"), "\n")
    linear()
    print()
    cones()


if __name__ == "__main__":
    main()
