"""The fdfm family: cycles of a multiplication beside FDFM's equation, speed of simulation."""

import platform
import time

from coprime_evidence.papers import fdfm as paper

from coprime.catalog import family_named
from coprime.device.accelerator import Accelerator, Result
from coprime.device.simulated import open_simulation
from coprime.multipliers.fdfm_multiplication import FdfmMultiplication
from coprime.rsa import keys

from .page import table, thousands


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


def measure() -> dict[str, str]:
    """This family's parts of the page."""
    choice = family_named("fdfm").choose({})
    with open_simulation(choice) as device:
        accelerator = Accelerator(device, predict=choice.design.predict)
        speed = simulation_speed(accelerator, device)
        return {"fdfm simulation": speed, "fdfm multiplication": multiplications(accelerator)}
