"""Cycles of signatures of ML-DSA on `lattice`, and their mean.

    python -m bench.ml_dsa_signatures [PARAMETER=VALUE ...] [SIGNATURES [NAME ...]]

Parameters are those of `lattice`, as dsp=8 slices=64.
The cycles of a signature depend on how often r0, z and the hints reject an iteration. What a
signature costs without a rejected iteration, and what an iteration costs that each of them rejects,
is measured in simulation, without the verification that follows by default. Then as many messages
(10,000) as SIGNATURES says are signed by the standard's algorithm with one key, for many messages
at once, and their rejections counted; the mean follows from both. `expected` follows
from the probabilities of a rejection in its place. Some signatures of several iterations are
simulated as well, and `off` is the most that one of them took more or less than these costs say.
"""

import hashlib
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.lattice.ml_dsa_interface import ML_DSA_BY_NAME
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, SEED_BYTES, MlDsaSet, Q

SIGNATURES = 10_000
SEED = 7
AT_ONCE = 250
"""Messages that are signed together."""
CHECKED = 6
"""Signatures of several iterations that are simulated."""
KINDS = ("r0", "z", "hint")

Numbers = NDArray[np.int64]
"""Polynomials modulo q; the last dimension has 256 coefficients."""
ROOTS = np.array([pow(1753, int(f"{k:08b}"[::-1], 2), Q) for k in range(256)])


def expected_rejections(p: MlDsaSet) -> dict[str, float]:
    """How often r0, and z, reject an iteration of a signature, on average (Dilithium, round 3
    submission, section 3.4); hints hardly ever do."""
    passes_r0 = math.exp(-256 * p.beta * p.k / p.gamma2)
    passes_z = math.exp(-256 * p.beta * p.columns / p.gamma1)
    return {
        "r0": (1 - passes_r0) / (passes_r0 * passes_z),
        "z": (1 - passes_z) / passes_z,
        "hint": 0,
    }


# --- The standard's algorithm for many messages ---------------------------------------------------


def transform(f: Numbers) -> Numbers:
    """FIPS 204, algorithm 41."""
    for layer in range(8):
        blocks = f.reshape(*f.shape[:-1], 1 << layer, 2, 128 >> layer)
        roots = ROOTS[1 << layer : 2 << layer, None]
        low, high = blocks[..., 0, :], blocks[..., 1, :] * roots % Q
        f = np.stack([low + high, low - high], axis=-2).reshape(f.shape) % Q
    return f


def inverse(f: Numbers) -> Numbers:
    """FIPS 204, algorithm 42."""
    for layer in reversed(range(8)):
        blocks = f.reshape(*f.shape[:-1], 1 << layer, 2, 128 >> layer)
        roots = Q - ROOTS[1 << layer : 2 << layer][::-1, None]
        low, high = blocks[..., 0, :], blocks[..., 1, :]
        f = np.stack([low + high, (low - high) % Q * roots], axis=-2).reshape(f.shape) % Q
    return f * pow(256, -1, Q) % Q


def decompose(p: MlDsaSet, r: Numbers) -> tuple[Numbers, Numbers]:
    """FIPS 204, algorithm 36: the high and low parts."""
    low = r % (2 * p.gamma2)
    low = np.where(low > p.gamma2, low - 2 * p.gamma2, low)
    last = r - low == Q - 1
    return np.where(last, 0, (r - low) // (2 * p.gamma2)), low - last


def centred(f: Numbers) -> Numbers:
    """In (-q / 2, q / 2]."""
    f = f % Q
    return np.where(f > Q >> 1, f - Q, f)


def masks(p: MlDsaSet, seed: bytes, kappa: int) -> Numbers:
    """FIPS 204, algorithm 34."""
    size, found = 32 * p.z_bits, []
    for k in range(kappa, kappa + p.columns):
        data = hashlib.shake_256(seed + k.to_bytes(2, "little")).digest(size)
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
        found.append(bits.reshape(256, p.z_bits) @ (1 << np.arange(p.z_bits)))
    return p.gamma1 - np.array(found)


def packed(p: MlDsaSet, high: Numbers) -> bytes:
    """FIPS 204, algorithm 28."""
    bits = high[..., None] >> np.arange(p.w1_bits) & 1
    return np.packbits(bits.astype(np.uint8).reshape(-1), bitorder="little").tobytes()


def rejections(
    p: MlDsaSet, sk: bytes, messages: Sequence[tuple[bytes, bytes]]
) -> list[Counter[str]]:
    """Of each mu and rnd how often what rejects an iteration (FIPS 204, algorithm 7)."""
    private = ml_dsa.unpack_private(p, sk)
    rows = [[ml_dsa.uniform(private.rho, k, i) for i in range(p.columns)] for k in range(p.k)]
    a = np.array(rows)
    s1, s2, t0 = (transform(np.array(x) % Q) for x in (private.s1, private.s2, private.t0))
    seeds = [ml_dsa.hashed(private.key + rnd + mu, HASH_BYTES) for mu, rnd in messages]
    found: list[Counter[str]] = [Counter() for _ in messages]
    left, kappa = list(range(len(messages))), 0
    while left:
        y = np.array([masks(p, seeds[one], kappa) for one in left])
        kappa += p.columns
        w = inverse((a * transform(y % Q)[:, None] % Q).sum(axis=2) % Q)
        high, _ = decompose(p, w)
        hashes = [
            ml_dsa.hashed(messages[one][0] + packed(p, part), p.challenge_bytes)
            for one, part in zip(left, high, strict=True)
        ]
        c = transform(np.array([ml_dsa.challenge(p, one) for one in hashes]) % Q)[:, None]
        w = (w - inverse(c * s2 % Q)) % Q
        z = centred(y + inverse(c * s1 % Q))
        ct0 = centred(inverse(c * t0 % Q))
        high, low = decompose(p, w)
        hints = (decompose(p, (w + ct0) % Q)[0] != high).sum(axis=(1, 2))
        sizes = ((low, p.gamma2 - p.beta), (z, p.gamma1 - p.beta), (ct0, p.gamma2))
        bad = np.array([(abs(f) >= bound).any(axis=(1, 2)) for f, bound in sizes])
        bad[-1] |= hints > p.omega
        again = []
        for place, one in enumerate(left):
            if which := [kind for kind, is_bad in zip(KINDS, bad[:, place], strict=True) if is_bad]:
                found[one][which[0]] += 1
                again.append(one)
        left = again
    return found


# --- Measurements ---------------------------------------------------------------------------------


def drawn(generator: random.Random, count: int) -> Iterator[tuple[bytes, bytes]]:
    """Representatives of messages, and what they are hedged with."""
    for _ in range(count):
        yield generator.randbytes(HASH_BYTES), generator.randbytes(SEED_BYTES)


def figures_of(driver: CallAccelerator, name: str, count: int) -> list[float]:
    """A row of the table."""
    generator, p = random.Random(SEED), ML_DSA_BY_NAME[name]
    _, sk = ml_dsa.key_pair(p, generator.randbytes(SEED_BYTES))
    messages = [*drawn(generator, count)]
    found: list[Counter[str]] = []
    for k in range(0, count, AT_ONCE):
        found += rejections(p, sk, messages[k : k + AT_ONCE])
    costs = dict.fromkeys(KINDS, 0)

    def cycles(number: int) -> int:
        mu, rnd = messages[number]
        done = driver.call("ML_DSA_SIGN", {"sk": sk, "rnd": rnd, "mu": mu}, parameter_set=name)
        return int(done.cycles)

    least = cycles(found.index(Counter()))

    def known(number: int) -> int:
        return least + sum(costs[kind] * found[number][kind] for kind in KINDS)

    for kind in KINDS:
        once = [k for k, one in enumerate(found) if one[kind] == 1]
        if once:
            simplest = min(once, key=lambda k: found[k].total())
            costs[kind] = cycles(simplest) - known(simplest)
    several = [k for k, one in enumerate(found) if one.total() > 1][:CHECKED]
    off = max(abs(known(k) - cycles(k)) for k in several)
    mean = sum(map(known, range(count))) / count
    often = expected_rejections(p)
    expected = least + sum(costs[kind] * often[kind] for kind in KINDS)
    iterations = 1 + sum(one.total() for one in found) / count
    return [least, *costs.values(), off, mean, expected, iterations]


def main(arguments: Sequence[str]) -> None:
    """Print a row for each parameter set."""
    parameters = dict(one.split("=") for one in arguments if "=" in one)
    count, *names = [one for one in arguments if "=" not in one] or [str(SIGNATURES)]
    try:
        choice = choose_calls(
            "lattice", {"schemes": "ml-dsa", "check_signatures": "0"} | parameters
        )
        interface = choice.design.interface
    except ValueError as error:
        sys.exit(str(error))
    columns = ("least", *KINDS, "off", "mean", "expected", "iterations")
    print(f"{'':10}" + "".join(f"{one:>11}" for one in columns))
    with open_simulation(choice) as device:
        driver = CallAccelerator(device, interface)
        for name in names or ML_DSA_BY_NAME:
            *figures, iterations = figures_of(driver, name, int(count))
            row = "".join(f"{one:>11,.0f}" for one in figures)
            print(f"{name:10}{row}{iterations:>11.3f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
