"""Compressor trees in unit gates: multiples, how bits come back, reductions, the split."""

import itertools
import random
import sys
from collections.abc import Iterable, Iterator, Sequence

from amaranth.lib import wiring

from coprime.cells.compression import ModularProduct, ModularReduction
from coprime.cells.compressor_tree import Folding
from coprime.cells.direct import DirectReduction
from coprime.cells.split import ResidueProduct, SplitProduct
from coprime.cells.target import Target
from coprime.flow.mapping import map_design
from coprime.flow.unit_gate import UnitGate, estimate
from coprime.flow.verilog import to_verilog
from coprime.model.moduli import PUBLISHED_PAIRS, modulus_of, vassoler_pair
from coprime.model.pseudo_moduli import search

from .page import table, thousands

TOP = "coprime_measured"
SPLIT_BITS = (8, 16, 32, 64)
MAPPED_BITS = 16
"""Up to here LUTs are counted; at twice as many it takes minutes."""
PAIRS = (6, 14, 30, 62)
"""n of the thesis's pairs of 2^n + k and 2^(n+2) - 1."""
NAMED = ("kyber", "dilithium", "babybear", "goldilocks")
LONG = ("p-256", "curve25519", "secp256k1", "bn254", "bls12-381")
RANDOM, LONG_RANDOM = (16, 32), (64, 128, 256)
"""Bits of random moduli, from a seed; the long ones are estimated."""
REDUCED_BITS = 32
REDUCED_TESTS = (4, 8)


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def gates(component: wiring.Component) -> UnitGate:
    return estimate(component, TOP)


def luts(component: wiring.Component) -> int:
    return map_design(Target.XC7, to_verilog(component, TOP), TOP).lut


def random_modulus(bits: int) -> int:
    """Odd, with its top bit set."""
    return random.Random(bits).getrandbits(bits) | 1 << bits - 1 | 1


def _figures(own: UnitGate) -> list[object]:
    return [thousands(own.area), own.delay]


# --- What a multiple saves ------------------------------------------------------------------------


def _random(sizes: Iterable[int]) -> Iterator[tuple[str, int]]:
    for bits in sizes:
        yield f"random, {bits} bits", random_modulus(bits)


def _multiples() -> Iterator[tuple[str, int]]:
    for n in PAIRS:
        yield f"(2^{n + 2} - 1)/3", vassoler_pair(n)[0]
    yield from ((name, modulus_of(name)) for name in NAMED)
    yield from _random(RANDOM)


def _long() -> Iterator[tuple[str, int]]:
    for n in PUBLISHED_PAIRS[-5:-2]:
        yield f"(2^{n + 2} - 1)/3", vassoler_pair(n)[0]
    yield from ((name, modulus_of(name)) for name in LONG)
    yield from _random(LONG_RANDOM)


def _saving(name: str, own: Sequence[float], best: Sequence[float], factor: int) -> list[object]:
    saved = [f"{1 - b / a:.1%}" for a, b in zip(own, best, strict=True)]
    product = 1 - best[0] * best[1] / (own[0] * own[1])
    figures = [figure for pair in zip(own, best, strict=True) for figure in map(_count, pair)]
    return [name, factor, *figures, *saved, f"{product:.1%}"]


def _count(value: float) -> str:
    return thousands(round(value))


HEAD = ("modulus", "c", "area", "of c * m", "delay", "of c * m")
HEAD += ("area saved", "delay saved", "product saved")


def multiples() -> str:
    """Products modulo m, and modulo the cheapest multiple by estimate, in unit gates."""
    rows = []
    for name, m in _multiples():
        progress(f"multiples of {name}")
        found = search(m).best
        own, best = gates(ModularProduct(m)), gates(ModularProduct(found.value))
        rows.append(_saving(name, (own.area, own.delay), (best.area, best.delay), found.factor))
    return table(HEAD, rows)


def estimated_multiples() -> str:
    """The same for long primes, by the estimate alone, with the reduction at the end."""
    rows = []
    for name, m in _long():
        progress(f"multiples of {name}")
        found = search(m)
        own, best = found.itself.estimate, found.best.estimate
        rows.append(_saving(name, own, best, found.best.factor))
    return table(HEAD, rows)


# --- When bits come back --------------------------------------------------------------------------


def foldings() -> str:
    """The thesis's way to bring bits back, and ours."""
    rows = []
    for n in PAIRS[1:3]:
        for m in vassoler_pair(n):
            progress(f"folding modulo {m}")
            row: list[object] = [hex(m)]
            for folding in Folding:
                row += _figures(gates(ModularProduct(m, folding=folding)))
            rows.append(row)
    head = ["modulus"]
    for folding in Folding:
        head += [f"area, {folding.value}", "delay"]
    return table(head, rows)


# --- Reductions -----------------------------------------------------------------------------------


def reductions() -> str:
    """A number of 32 bits by the expression `x % m` (DM) and by a tree (CM), in unit gates."""
    rows = []
    for test in REDUCED_TESTS:
        for m in vassoler_pair(2 * test - 2):
            progress(f"reductions, Test {test}")
            kinds = (DirectReduction(m, REDUCED_BITS), ModularReduction(m, REDUCED_BITS))
            rows.append([test, hex(m), *itertools.chain(*(_figures(gates(one)) for one in kinds))])
    return table(["Test", "modulus", "area, DM", "delay", "area, CM", "delay"], rows)


# --- The split ------------------------------------------------------------------------------------


def splits(mapped_bits: int = MAPPED_BITS) -> str:
    """Products modulo 2^n - 1: whole, by residues with split and join, on residues alone."""
    rows = []
    for n in SPLIT_BITS:
        row: list[object] = [n]
        for component in (ModularProduct, SplitProduct, ResidueProduct):
            progress(f"split, {n} bits, {component.__name__}")
            m = (1 << n) - 1 if component is ModularProduct else n
            row += _figures(gates(component(m)))
            row.append(thousands(luts(component(m))) if n <= mapped_bits else "")
        rows.append(row)
    head = ["n"]
    for name in ("whole", "split and joined", "on residues"):
        head += [f"{name}: area", "delay", "LUTs"]
    return table(head, rows)


def measure() -> str:
    """The components' part of the page."""
    return f"""## compression

COMPRESSION is the thesis (Vassoler 2023). Unit gates: an AND or OR is 1, an XOR 2, in area
and in delay (`flow/unit_gate.py`); they are counted after abc, which finds what trees have in
common. The family's engines are measured by `coprime sweep compression`.

### What a multiple saves

Products modulo m, and modulo the multiple c * m of the least estimated cost, in unit gates:

{multiples()}
The same by the estimate that the choice is made by, the reduction at the end included:

{estimated_multiples()}
`coprime run compression MODMUL -p modulus=bn254 --explain` reports it for one modulus.

### When bits come back

Above the top column: at once (always, the thesis's way), those that there are at first at once
(weights), or when two rows are left (last).

{foldings()}
### Reduction of {REDUCED_BITS} bits

By VHDL's mod as Yosys makes it (DM), and by a tree (CM), for the thesis's moduli and pseudo-moduli.

{reductions()}
### The split of 2^n - 1

The product modulo 2^n - 1; the same by residues modulo 2^(n/2) - 1 and 2^(n/2) + 1, with the split
of both operands and the join; and the two products on residues alone. LUTs of 7 series.

{splits()}
"""
