"""The fdfm family: cycles beside FDFM's tables, area, clock, speed of simulation."""

import platform
import random
import time

from coprime.catalog import family_named
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator, Result
from coprime.device.simulated import open_simulation
from coprime.explore.measure import measure_area
from coprime.multipliers.fdfm import FdfmMultiplication
from coprime.papers import fdfm as paper
from coprime.rsa import keys
from coprime.runs.numbers import WorstCaseNumbers

from .page import area_table, table, thousands

SIZES = sorted(paper.CRT_CYCLES)


def one_squaring(accelerator: Accelerator, bits: int) -> Result:
    """Cycles and products of one multiplication, from two exponents that differ by one squaring.

    The step takes one cycle more than the multiplication; one leading zero less takes one less.
    """
    m = (1 << bits) - 1
    few, many = (accelerator.modexp(2, 1 << e, m) for e in (20, 21))
    return Result(0, many.cycles - few.cycles, many.products - few.products)


def multiplications(accelerator: Accelerator) -> str:
    rows = []
    for bits in (32, 64, 128, 256, 512, 1024, 2048, 2176):
        d = -(-(bits + 2) // FdfmMultiplication.digit_width)
        run = one_squaring(accelerator, bits)
        assert run.cycles == FdfmMultiplication().cycles(d, d)
        limit = paper.multiplication_cycles(d)
        rows.append(
            (
                *(bits, d, thousands(run.cycles), thousands(limit), f"{run.cycles / limit:.3f}"),
                *(f"{run.utilization:.1%}", f"{paper.utilization(d):.1%}"),
            )
        )
    head = ["bits", "digits", "cycles", "equation 8", "ratio", "utilization", "equations 7, 8"]
    return table(head, rows)


def decryptions(accelerator: Accelerator, megahertz: float) -> tuple[str, str]:
    """CRT in the worst case beside Table 2; and CRT beside the direct exponentiation."""
    worst, direct = [], []
    for bits in SIZES:
        numbers = WorstCaseNumbers.of_key(keys.generate(bits, seed=1))
        x = random.Random(bits).randrange(numbers.n)
        accelerator.load_private(numbers)
        run = accelerator.private(x)
        assert run.value == numbers.private(x)
        assert run.cycles == run.predicted_cycles
        published = paper.CRT_CYCLES[bits]
        worst.append(
            (
                *(bits, thousands(run.cycles), thousands(published)),
                *(f"{run.cycles / published:.3f}", f"{run.utilization:.1%}"),
                f"{run.cycles / megahertz / 1e3:.3f}",
                f"{run.cycles / paper.ONE_CORE['megahertz'] / 1e3:.3f}",
                f"{paper.CRT_MILLISECONDS[bits]:.3f}",
            )
        )
        whole = accelerator.modexp(x, numbers.d, numbers.n)
        assert whole.value == pow(x, numbers.d, numbers.n)
        assert whole.cycles == whole.predicted_cycles
        direct.append(
            (
                *(bits, thousands(whole.cycles), f"{whole.utilization:.1%}"),
                f"{whole.cycles / run.cycles:.2f}",
            )
        )
    head = ["bits", "cycles", "Table 2", "ratio", "utilization", "ms at our clock"]
    head += ["ms at the paper's clock", "ms in the paper"]
    return table(head, worst), table(
        ["bits", "direct, cycles", "utilization", "direct / CRT"], direct
    )


def simulation_speed(accelerator: Accelerator, clock: object) -> str:
    key = keys.generate(2048, seed=1)
    accelerator.load_private(key)
    before, start = clock.cycles, time.perf_counter()
    run = accelerator.private(7)
    seconds, cycles = time.perf_counter() - start, clock.cycles - before
    assert run.value == pow(7, key.d, key.n)
    return (
        f"RSA-2048 decryption: {thousands(run.cycles)} engine cycles, {run.utilization:.1%} of them"
        f" with a product, {seconds:.1f} s, {cycles / seconds / 1e6:.1f} million clock cycles a"
        f" second ({platform.machine()}, one thread).\n"
    )


def measure() -> str:
    """This family's part of the page."""
    choice = family_named("fdfm").choose({})
    areas = [
        measure_area(choice, target, part=part, route=target is Target.ECP5)
        for target in (Target.XC7, Target.ECP5)
        for part in ("engine", "accelerator")
    ]
    clock = next(a.fmax_mhz for a in areas if a.fmax_mhz is not None)
    with open_simulation(choice) as device:
        accelerator = Accelerator(device, predict=choice.design.predict)
        speed = simulation_speed(accelerator, device)
        products = multiplications(accelerator)
        worst, direct = decryptions(accelerator, clock)
    paths = "\n".join(
        f"* {area.part}: {area.critical_path}" for area in areas if area.critical_path
    )
    return f"""## fdfm

FDFM is the paper (Ito, Nakano, Song 2011); its figures are quoted from the paper and are
for a Virtex-6 XC6VLX240T-1.

### One Montgomery multiplication

Counted by the accelerator's own registers. Single case: `coprime run fdfm MODEXP --bits 1024`.
The paper says that the multiplier is busy in over 95 % of the cycles at 1024 bits; by its own
equations it is 94.6 % for 1024-bit operands, and 89.8 % for the 512-bit operands that a 1024-bit
CRT decryption works on.

{products}
### RSA decryption with CRT, worst case

All exponent bits are 1, as in the paper's Table 2. A real key of a size, which has about as many
zeros as ones: `coprime run fdfm RSA_PRIVATE --bits 1024`. Our clock is the engine's on
{areas[-1].device} below; the column at the paper's clock applies 336.7 MHz to our cycles.

{worst}
### Direct exponentiation, worst case

Exponent as long as the modulus and all ones: what CRT saves.

{direct}
### Area and clock

`coprime synth fdfm --target xc7` and `coprime synth fdfm --target ecp5 --route`, with
`--part accelerator` for registers and AXI4-Lite slave too. LUTs count everything that occupies one:
logic, inverters, shift registers, and on ecp5 carry chains. The paper's core has 140 slices, which
hold 560 six-input LUTs.

{area_table(areas)}
Critical paths after place and route:

{paths}

### Simulation

{speed}
"""
