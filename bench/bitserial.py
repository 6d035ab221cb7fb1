"""The carry-save families: cycles of a multiplication, and RSA times of BITSERIAL."""

import random
import sys

from coprime_evidence.papers import bitserial as paper

from coprime.catalog import Choice, family_named
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from coprime.rsa import keys

from .page import table, thousands
from .records import read_records

FAMILIES = ("montgomery-2csa", "montgomery-1csa", "interleaved-csa")
SIZES = (32, 64, 128, 256, 512, 1024)
CLOCKS = {
    "montgomery-2csa": "two_csa_1024_ecp5",
    "montgomery-1csa": "one_csa_1024_ecp5",
    "interleaved-csa": "interleaved_1024_ecp5",
}
"""The records of a multiplier alone, whose clock the times are at."""


def choose(family: str, bits: int, multipliers: int = 1) -> Choice:
    settings = {"max_bits": str(bits), "multipliers": str(multipliers)}
    return family_named(family).choose(settings)


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def multiplications() -> str:
    """Cycles of one multiplication: two exponents that differ by one squaring."""
    rows = []
    for family in FAMILIES:
        for bits in (*SIZES, 2048):
            choice = choose(family, bits)
            m = (1 << bits) - 1
            with open_simulation(choice) as device:
                accelerator = Accelerator(device, predict=choice.design.predict)
                few, many = (accelerator.modexp(2, 1 << e, m) for e in (20, 21))
            # The step takes one cycle more; one leading zero less takes one less.
            cycles, rounds = many.cycles - few.cycles, many.products - few.products
            multiplier = choice.design.multiplication
            words = choice.design.capabilities.max_digits
            assert cycles == multiplier.cycles(words, bits)
            assert rounds == bits
            loading, unloading = multiplier.loading_cycles, multiplier.unloading_cycles
            rows.append(
                (
                    *(f"`{family}`", bits, words, loading, rounds),
                    *(cycles - loading - rounds - unloading, unloading, thousands(cycles)),
                    multiplier.prepare_cycles(words),
                )
            )
    head = ["family", "bits", "words", "loading", "rounds n", "constant", "unloading", "cycles"]
    return table([*head, "new modulus"], rows)


def decryptions() -> str:
    """RSA-1024 with a real key, without and with CRT, on one and on two multipliers."""
    clocks, key = read_records(), keys.generate(1024, seed=1)
    x = random.Random(1).randrange(key.n)
    rows = []
    for family in FAMILIES:
        clock = clocks[CLOCKS[family]].fmax_mhz
        assert clock
        for multipliers in (1, 2):
            progress(f"{family}, RSA-1024 on {multipliers}")
            choice = choose(family, 1024, multipliers)
            with open_simulation(choice) as device:
                accelerator = Accelerator(device, predict=choice.design.predict)
                accelerator.load_private(key)
                crt = accelerator.private(x)
                direct = accelerator.modexp(x, key.d, key.n)
            for name, run, megahertz in (
                ("without", direct, paper.MEGAHERTZ[family][1024]),
                ("with", crt, paper.MEGAHERTZ[family][512]),
            ):
                assert run.value == pow(x, key.d, key.n)
                assert run.cycles == run.predicted_cycles
                rows.append(
                    (
                        *(f"`{family}`", multipliers, name, thousands(run.cycles)),
                        *(f"{run.cycles / clock / 1e3:.2f}", f"{run.cycles / megahertz / 1e3:.2f}"),
                    )
                )
    head = ["family", "multipliers", "CRT", "cycles", "ms at our clock", "ms at the paper's clock"]
    return table(head, rows)


def measure() -> dict[str, str]:
    """The families' parts of the page."""
    return {"bitserial multiplication": multiplications(), "bitserial decryption": decryptions()}
