"""Impacts: 100,000 with random mass, stiffness, dissipation and speed, exactly and by integration.

One core: run with `XLA_FLAGS="--xla_cpu_multi_thread_eigen=false" taskset -c 0` to be sure of it.
"""

import jax
import mpmath as mp
import numpy as np
import scipy.special

from benchmarks.timing import best_time, machine, table
from stiction.laws import HuntCrossley, impact

BATCH = 100_000
LANES = 256


def random_impacts():
    """Mass 0.1 to 100 kg, stiffness 1e3 to 1e6 N/m, α 0.01 to 1 s/m, speed 0.01 to 10 m/s."""
    rng = np.random.default_rng(0)
    ranges = ((0.1, 100.0), (1e3, 1e6), (0.015, 1.5), (0.01, 10.0))
    return tuple(
        jax.numpy.asarray(np.exp(rng.uniform(np.log(a), np.log(b), BATCH))) for a, b in ranges
    )


def lambert(speed, dissipation):
    """The rebound speed as the formula is printed, by SciPy's Lambert W, for comparison."""
    u = dissipation * speed
    return (1 + scipy.special.lambertw(-(1 + u) * np.exp(-(1 + u))).real) / dissipation


def main() -> None:
    mass, stiffness, dissipation, speed = random_impacts()
    exact = jax.jit(jax.vmap(impact.rebound_speed))
    best = np.asarray(exact(speed, dissipation))

    def integrate_one(arguments):
        m, k, d, v = arguments
        law = HuntCrossley(stiffness=k, dissipation=d)
        return impact.integrate_impact(law, mass=m, speed=v, rtol=1e-9).rebound_speed

    # Lanes in packs that fit into the cache, and that need not wait for all the others.
    integrate = jax.jit(lambda *a: jax.lax.map(integrate_one, a, batch_size=LANES))
    inverse = jax.jit(jax.vmap(impact.dissipation_for_restitution))
    duration = jax.jit(
        jax.vmap(
            lambda m, k, d, v: impact.contact_duration(speed=v, dissipation=d, mass=m, stiffness=k)
        )
    )
    restitution = best / np.asarray(speed)
    calls = {
        "rebound, exact": lambda: exact(speed, dissipation),
        "rebound, SciPy's lambertw": lambda: lambert(np.asarray(speed), np.asarray(dissipation)),
        "dissipation for a restitution": lambda: inverse(restitution, speed),
        "contact duration": lambda: duration(mass, stiffness, dissipation, speed),
        "rebound, by integration": lambda: integrate(mass, stiffness, dissipation, speed),
    }
    errors = {
        "rebound, exact": error_in_many_digits(speed, dissipation, best),
        "rebound, SciPy's lambertw": relative(calls["rebound, SciPy's lambertw"](), best),
        "dissipation for a restitution": relative(inverse(restitution, speed), dissipation),
        "rebound, by integration": relative(integrate(mass, stiffness, dissipation, speed), best),
    }
    print(machine("diffrax"), "\n")
    rows = []
    for name, call in calls.items():
        seconds = best_time(call, repeat=3 if "integration" in name else 30)
        rows.append(
            {
                f"{BATCH:,} impacts": name,
                "time [ms]": 1e3 * seconds,
                "million/s": BATCH / seconds / 1e6,
                "largest relative error": errors.get(name, ""),
            }
        )
    table(rows)


def error_in_many_digits(speed, dissipation, value) -> float:
    """Against mpmath's Lambert W with 60 digits, for some of the impacts."""
    errors = []
    with mp.workdps(60):
        for v, d, got in list(zip(speed, dissipation, value, strict=True))[:300]:
            u = mp.mpf(float(v)) * mp.mpf(float(d))
            w = 1 + mp.lambertw(-(1 + u) * mp.exp(-(1 + u))).real
            errors.append(abs(mp.mpf(float(got)) * mp.mpf(float(d)) / w - 1))
    return float(max(errors))


def relative(value, best) -> float:
    return float(np.max(np.abs(np.asarray(value) / np.asarray(best) - 1)))


if __name__ == "__main__":
    main()
