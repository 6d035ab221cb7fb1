"""The carry-save families: cycles, area, clock, area-time products and RSA times of BITSERIAL."""

import random
import sys
from collections.abc import Callable, Mapping

from coprime.catalog import Choice, family_named
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from coprime.explore.measure import Area, measure_area
from coprime.papers import bitserial as paper
from coprime.rsa import keys

from .page import table, thousands

FAMILIES = ("montgomery-2csa", "montgomery-1csa", "interleaved-csa")
SIZES = (32, 64, 128, 256, 512, 1024)
DEVICE = "LFE5U-85F"


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


Areas = Mapping[tuple[str, int], tuple[Area, Area]]


def measure_areas() -> Areas:
    """The bare multipliers on xc7, and on ecp5 after place and route."""
    areas = {}
    for bits in SIZES:
        for family in FAMILIES:
            progress(f"{family}, {bits} bits")
            choice = choose(family, bits)
            areas[family, bits] = (
                measure_area(choice, Target.XC7, part="multiplier"),
                measure_area(choice, Target.ECP5, part="multiplier", route=True, device=DEVICE),
            )
    return areas


def by_family(areas: Areas, cell: Callable[[str, int], object]) -> str:
    return table(
        ["bits", *FAMILIES], [[bits, *(cell(f, bits) for f in FAMILIES)] for bits in SIZES]
    )


def area_times(areas: Areas, *, whole: bool, on_paper: bool = False) -> str:
    """LUTs x period x cycles, with two carry-save adders = 1."""

    def product(family: str, bits: int) -> float:
        if on_paper:
            return paper.area_time(family, bits)
        area = areas[family, bits][1]
        multiplier = choose(family, bits).design.multiplication
        cycles = multiplier.cycles(0, bits) if whole else bits
        assert area.fmax_mhz
        return area.lut / area.fmax_mhz * cycles

    return by_family(
        areas, lambda family, bits: f"{product(family, bits) / product(FAMILIES[0], bits):.2f}"
    )


def decryptions(areas: Areas) -> str:
    """RSA-1024 with a real key, without and with CRT, on one and on two multipliers."""
    key = keys.generate(1024, seed=1)
    x = random.Random(1).randrange(key.n)
    rows = []
    for family in FAMILIES:
        clock = areas[family, 1024][1].fmax_mhz
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


def measure() -> str:
    """The families' part of the page."""
    products = multiplications()
    areas = measure_areas()
    luts = by_family(areas, lambda f, bits: " / ".join(str(area.lut) for area in areas[f, bits]))
    flip_flops = by_family(
        areas, lambda f, bits: " / ".join(str(area.ff) for area in areas[f, bits])
    )
    clocks = by_family(areas, lambda f, bits: f"{areas[f, bits][1].fmax_mhz:.1f}")
    paths = "\n".join(
        f"* `{family}`, 1024 bits: {areas[family, 1024][1].critical_path}" for family in FAMILIES
    )
    return f"""## montgomery-2csa, montgomery-1csa, interleaved-csa

BITSERIAL is the paper (Amanor, Paar, Pelzl, Bunimov, Schimmler 2005), whose figures are for
a Virtex-E XCV2000E-6. What they mean, and the answer to its question: [bitserial.md](bitserial.md).

### One multiplication

Words of 32 bits, counted by the accelerator's own registers; the parts are the multiplier's own
formulas. Single case: `coprime run montgomery-1csa MODEXP -p max_bits=1024 --bits 1024`.

{products}
### Area and clock of the multiplier alone

`coprime synth FAMILY -p max_bits=BITS --part multiplier --target xc7`, and with
`--target ecp5 --route --device {DEVICE}`. LUTs, on 7 series (six inputs) / on ECP5 (four inputs):

{luts}
Flip-flops, on the same:

{flip_flops}
MHz after place and route on {areas[FAMILIES[0], 32][1].device}:

{clocks}
Critical paths:

{paths}

### Area-time products

LUTs on ECP5 x period x n cycles, as the paper counts, with two carry-save adders = 1:

{area_times(areas, whole=False)}
The same with loading, unloading and the final conversion counted:

{area_times(areas, whole=True)}
The paper's, from its Tables 1 and 2 (its Figure 3 is lost in the scan):

{area_times(areas, whole=False, on_paper=True)}
### RSA-1024, without and with CRT

A real key from a seed. Our clock is that of the multiplier alone, on {DEVICE}, above; the
paper's is that of its Table 2 at 1024 bits, with CRT at 512 bits. It estimates 37.5, 32.2 and
22.7 ms without CRT on one multiplier (rows of its Table 3 corrected), 9.7, 9.1 and 6.1 ms with CRT
on two.

{decryptions(areas)}
"""
