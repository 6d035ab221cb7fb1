"""Cycles of signatures of ML-DSA on `lattice`, measured in simulation.

    python -m bench.ml_dsa_signatures [SIGNATURES [NAME ...]]

Signs random messages with one key of each parameter set, without the verification that follows by
default. Prints the mean; the cycles of a signature without a rejected iteration; what an iteration
takes that r0, or z, rejects; and the mean that follows from these and the probabilities of a
rejection.
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Sequence

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.lattice.ml_dsa_interface import ML_DSA_BY_NAME
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, SEED_BYTES, MlDsaSet

SIGNATURES = 60
SEED = 7


def expected_rejections(p: MlDsaSet) -> dict[str, float]:
    """How often r0, and z, reject an iteration of a signature, on average (Dilithium, round 3
    submission, section 3.4); hints hardly ever do."""
    passes_r0 = math.exp(-256 * p.beta * p.k / p.gamma2)
    passes_z = math.exp(-256 * p.beta * p.columns / p.gamma1)
    return {
        "r0": (1 - passes_r0) / (passes_r0 * passes_z),
        "z": (1 - passes_z) / passes_z,
    }


def cost(found: dict[tuple[int, int], int], which: int) -> float:
    """Cycles of a rejected iteration, the mean of pairs of signatures that differ by one."""
    one = (1, 0) if which == 0 else (0, 1)
    pairs = [
        found[r0 + one[0], z + one[1]] - cycles
        for (r0, z), cycles in found.items()
        if (r0 + one[0], z + one[1]) in found
    ]
    return sum(pairs) / len(pairs) if pairs else math.nan


def main(arguments: Sequence[str]) -> None:
    """Print a row for each parameter set."""
    count = int(arguments[0]) if arguments else SIGNATURES
    names = arguments[1:] or list(ML_DSA_BY_NAME)
    choice = choose_calls("lattice", {"schemes": "ml-dsa", "check_signatures": "0"})
    print(f"{'':10}{'mean':>10}{'least':>10}{'r0':>9}{'z':>9}{'expected':>10}")
    with open_simulation(choice) as device:
        driver = CallAccelerator(device, choice.design.interface)
        for name in names:
            generator, p = random.Random(SEED), ML_DSA_BY_NAME[name]
            _, sk = ml_dsa.key_pair(p, generator.randbytes(SEED_BYTES))
            found, total = {}, 0
            for _ in range(count):
                rnd, mu = generator.randbytes(SEED_BYTES), generator.randbytes(HASH_BYTES)
                why = Counter(ml_dsa.sign(p, sk, mu, rnd).rejections)
                values = {"sk": sk, "rnd": rnd, "mu": mu}
                cycles = driver.call("ML_DSA_SIGN", values, parameter_set=name).cycles
                total += cycles
                if not why["hint"]:
                    found[why["r0"], why["z"]] = cycles
            least = found.get((0, 0), math.nan)
            costs = {"r0": cost(found, 0), "z": cost(found, 1)}
            expected = least + sum(
                costs[kind] * times for kind, times in expected_rejections(p).items()
            )
            print(
                f"{name:10}{total / count:>10,.0f}{least:>10,.0f}{costs['r0']:>9,.0f}"
                f"{costs['z']:>9,.0f}{expected:>10,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
