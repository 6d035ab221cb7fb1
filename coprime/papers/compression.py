"""COMPRESSION: compressor-tree multipliers for fixed moduli, and pseudo-moduli.

Augusto Cezar Boldori Vassoler, "Reconfigurable RSA accelerator based on efficient modular
multipliers using high-performance modulus", master's thesis, Universidade Federal de Santa
Catarina, 2023.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache

from coprime.cells.compression import ModularProduct
from coprime.cells.compressor_tree import Plan
from coprime.model.moduli import vassoler_pair
from coprime.model.pseudo_moduli import product_estimate

from .published import Column, Combined, Computed, Figure, Measured, Paper, Row, Source, Table

__all__ = [
    "AREA_DELAYS",
    "BUILT",
    "CIRCUITS",
    "CLOCKS",
    "CM",
    "CM_PSEUDO",
    "DECRYPTIONS",
    "DELAYS",
    "DEVICE_LOGIC_ELEMENTS",
    "DM",
    "DM_PSEUDO",
    "ENCRYPTIONS",
    "LOGIC_ELEMENTS",
    "MM",
    "MM_PSEUDO",
    "ONE_AREA_DELAYS",
    "ONE_CLOCKS",
    "ONE_DECRYPTIONS",
    "ONE_DELAYS",
    "ONE_ENCRYPTIONS",
    "ONE_LOGIC_ELEMENTS",
    "PAIRS",
    "REDUCED",
    "STANDARD_CELLS",
    "TABLES",
    "and_terms",
    "decryption_cycles",
    "encryption_cycles",
    "quantity",
]

PAPER = Paper(
    name="COMPRESSION",
    authors="Augusto Cezar Boldori Vassoler",
    title=(
        "Reconfigurable RSA accelerator based on efficient modular multipliers using "
        "high-performance modulus"
    ),
    venue="Master's thesis, Universidade Federal de Santa Catarina, Florianópolis, 2023",
)
DEVICE = "Cyclone V GX 5CGXFC5C6F27C7N"
CELLS = "TSMC 180 nm"

DEVICE_LOGIC_ELEMENTS = 77_000
"""Of the device, by its maker's table."""

DM, DM_PSEUDO = "DM", "DM, pseudo-modulus"
CM, CM_PSEUDO = "CM", "CM, pseudo-modulus"
MM, MM_PSEUDO = "MM", "MM, pseudo-modulus"
CIRCUITS = (DM, DM_PSEUDO, CM, CM_PSEUDO, MM, MM_PSEUDO)
"""Direct (VHDL's mod), compressor tree, Montgomery; each for a modulus and for its
pseudo-modulus. (M) and (PM) in the thesis."""
_SYNTHESIZED = (CM, CM_PSEUDO, MM, MM_PSEUDO)

Printed = Mapping[int, tuple[str, ...]]
"""As printed, with its unit; by test, which is half the bits of a key."""

PAIRS: Mapping[int, tuple[int, str, int]] = {
    2: (5, "1", 15),
    4: (21, "101", 63),
    6: (85, "10101", 255),
    8: (341, "1010101", 1023),
}
"""Table 4: modulus m2, k in binary, pseudo-modulus m1; by n."""

STANDARD_CELLS: Mapping[int, tuple[tuple[int, int, float], tuple[int, int, float]]] = {
    4: ((407, 15965, 6.417), (393, 15792, 6.206)),
    6: ((463, 24000, 11.112), (457, 22000, 10.054)),
    8: ((509, 32951, 16.772), (480, 24458, 11.739)),
    10: ((525, 38500, 20.212), (501, 32000, 16.032)),
}
"""Table 5: delay in ps, area, and their product / 10^6; of m2 and of m1, by n."""

LOGIC_ELEMENTS: Mapping[int, tuple[int, ...]] = {
    16: (7019, 7914, 12040, 6816, 400, 403),
    32: (16890, 17802, 26215, 14030, 774, 777),
    64: (75264, 73577, 90691, 58425, 1521, 1525),
    128: (116540, 119116, 144143, 110084, 3015, 3022),
    256: (207202, 206158, 243042, 193876, 6003, 6014),
    512: (291971, 294094, 299828, 236353, 11978, 12000),
}
"""Table 7: logic elements of the exponentiator with two multipliers, by test; as CIRCUITS."""

DELAYS: Printed = {
    16: ("412 ns", "435 ns", "98 ns", "48 ns", "4.8 us", "5.2 us"),
    32: ("1.2 us", "1055 ns", "123 ns", "60 ns", "18.7 us", "20.2 us"),
    64: ("3.9 us", "2883 ns", "148 ns", "72 ns", "73.6 us", "80 us"),
    128: ("13.9 us", "8887 ns", "173 ns", "84 ns", "292.2 us", "318 us"),
    256: ("52.3 us", "30294 ns", "198 ns", "96 ns", "1164.6 us", "1.268 ms"),
    512: ("202.4 us", "110700 ns", "223 ns", "108 ns", "4649.5 us", "5.07 ms"),
}
"""Table 8: delay of one iteration of the exponentiation, with two multipliers; as CIRCUITS."""

AREA_DELAYS: Printed = {
    16: ("0.002891", "0.00344", "0.00118", "0.000327", "0.00192", "0.00209"),
    32: ("0.020268", "0.0188", "0.00322", "0.00084", "0.01447", "0.01569"),
    64: ("0.29353", "0.212", "0.0134", "0.0042", "0.11194", "0.122"),
    128: ("1.619", "1.048", "0.0249", "0.00924", "0.881", "0.961"),
    256: ("10.836", "6.25", "0.0481", "0.0186", "6.99", "7.63"),
    512: ("59.094", "32.56", "0.0668", "0.0255", "55.69", "60.84"),
}
"""Table 9: logic elements x s; as CIRCUITS."""

ENCRYPTIONS: Printed = {
    16: ("1.6 us", "816 ns", "82 us", "88 us"),
    32: ("2 us", "1 us", "318 us", "343 us"),
    64: ("2.5 us", "1.2 us", "1.3 ms", "1.4 ms"),
    128: ("2.9 us", "1.4 us", "5 ms", "5.4 ms"),
    256: ("3.4 us", "1.6 us", "19.8 ms", "21.6 ms"),
    512: ("3.8 us", "1.8 us", "79 ms", "86.2 ms"),
}
"""Table 10: encryption with the exponent 65537; CM and MM only."""

DECRYPTIONS: Printed = {
    16: ("3.14 us", "1.58 us", "153.6 us", "166.4 us"),
    32: ("7.9 us", "3.9 us", "1.2 ms", "1.3 ms"),
    64: ("18.9 us", "9.3 us", "9.4 ms", "10.3 ms"),
    128: ("44.3 us", "21.6 us", "74.8 ms", "162.8 ms"),
    256: ("101.4 us", "49.2 us", "596.3 ms", "649.2 ms"),
    512: ("228.3 us", "110.7 us", "4.8 s", "5.2 s"),
}
"""Table 11: decryption; CM and MM only."""

CLOCKS: Printed = {
    16: ("8 MHz", "19 MHz", "6.92 MHz", "6.53 MHz"),
    32: ("3.2 MHz", "8.3 MHz", "3.42 MHz", "3.354 MHz"),
    64: ("1.5 MHz", "3.6 MHz", "1.756 MHz", "1.697 MHz"),
    128: ("0.635 MHz", "1.502 MHz", "0.901 MHz", "0.858 MHz"),
    256: ("0.348 MHz", "0.842 MHz", "0.462 MHz", "0.434 MHz"),
    512: ("0.141 MHz", "0.426 MHz", "0.237 MHz", "0.220 MHz"),
}
"""Table 12: greatest frequency of the whole system; CM and MM only."""

ONE_LOGIC_ELEMENTS: Mapping[int, tuple[int, ...]] = {
    16: (3510, 3957, 6020, 3408, 400, 403),
    32: (8445, 8901, 13108, 7015, 774, 777),
    64: (37632, 36789, 45346, 29213, 1521, 1525),
    128: (58270, 59558, 72072, 55042, 3015, 3022),
    256: (103601, 103079, 121521, 96938, 6003, 6014),
    512: (145986, 147025, 149914, 118177, 11978, 12000),
}
"""Table 13: as Table 7, with one multiplier for DM and CM."""

ONE_DELAYS: Printed = {
    16: ("0.2 us", "0.21 us", "0.04 us", "0.02 us", "4.8 us", "5.2 us"),
    32: ("0.6 us", "0.52 us", "0.06 us", "0.03 us", "18.7 us", "20.2 us"),
    64: ("1.95 us", "1.4 us", "0.07 us", "0.036 us", "73.6 us", "80 us"),
    128: ("7 us", "4.4 us", "0.08 us", "0.042 us", "292.2 us", "318 us"),
    256: ("26.2 us", "15.2 us", "0.1 us", "0.048 us", "1164.6 us", "1268 us"),
    512: ("101.2 us", "55.4 us", "0.11 us", "0.05 us", "4649.5 us", "5070 us"),
}
"""Table 14: as Table 8, with one multiplier for DM and CM."""

ONE_AREA_DELAYS: Printed = {
    16: ("0.00072", "0.00086", "0.0003", "0.00008", "0.00192", "0.00209"),
    32: ("0.005", "0.0047", "0.00079", "0.00021", "0.01447", "0.01569"),
    64: ("0.073", "0.051", "0.0033", "0.001", "0.11194", "0.122"),
    128: ("0.407", "0.262", "0.0061", "0.0023", "0.881", "0.961"),
    256: ("2.71", "1.566", "0.012", "0.0046", "6.99", "7.63"),
    512: ("14.77", "8.145", "0.016", "0.0064", "55.69", "60.84"),
}
"""Table 15: as Table 9, with one multiplier for DM and CM."""

ONE_ENCRYPTIONS: Printed = {
    16: ("0.93 us", "0.45 us", "82 us", "88 us"),
    32: ("1.1 us", "0.57 us", "318 us", "343 us"),
    64: ("1.4 us", "0.68 us", "1300 us", "1400 us"),
    128: ("1.6 us", "0.8 us", "5000 us", "5400 us"),
    256: ("1.8 us", "0.91 us", "19800 us", "21600 us"),
    512: ("2.1 us", "1 us", "79000 us", "86200 us"),
}
"""Table 16: as Table 10, with one multiplier for CM."""

ONE_DECRYPTIONS: Printed = {
    16: ("0.002 ms", "0.001 ms", "0.15 ms", "166.4 us"),
    32: ("0.006 ms", "0.003 ms", "1.2 ms", "1.3 ms"),
    64: ("0.014 ms", "0.007 ms", "9.4 ms", "10.3 ms"),
    128: ("0.033 ms", "0.016 ms", "74.8 ms", "162.8 ms"),
    256: ("0.076 ms", "0.036 ms", "596.3 ms", "649.2 ms"),
    512: ("0.17 ms", "0.083 ms", "4800 ms", "5200 ms"),
}
"""Table 17: as Table 11, with one multiplier for CM."""

ONE_CLOCKS: Printed = {
    16: ("14 MHz", "35 MHz", "6.92 MHz", "6.53 MHz"),
    32: ("5.3 MHz", "15 MHz", "3.42 MHz", "3.354 MHz"),
    64: ("2.7 MHz", "7.3 MHz", "1.756 MHz", "1.697 MHz"),
    128: ("1.2 MHz", "2.5 MHz", "0.901 MHz", "0.858 MHz"),
    256: ("0.56 MHz", "1.6 MHz", "0.462 MHz", "0.434 MHz"),
    512: ("0.23 MHz", "0.75 MHz", "0.237 MHz", "0.220 MHz"),
}
"""Table 18: as Table 12, with one multiplier for CM."""

_POWERS = {"ns": -9, "us": -6, "μs": -6, "ms": -3, "s": 0, "MHz": 6}
_EXPONENT = 65537


def quantity(printed: str, unit: str) -> Decimal:
    """A printed quantity in another unit, exactly: quantity("1.2 us", "ns") is 1200."""
    number, _, own = printed.partition(" ")
    return Decimal(number).scaleb(_POWERS[own] - _POWERS[unit])


def and_terms(test: int, *, pseudo: bool) -> int:
    """AND terms of the two multipliers of an exponentiator for a test's modulus."""
    modulus = vassoler_pair(2 * test - 2)[1 if pseudo else 0]
    return 2 * modulus.bit_length() ** 2


def encryption_cycles(multipliers: int) -> int:
    """Cycles that Tables 10 and 16 count for the exponent 65537: no correction at the end."""
    squarings = _EXPONENT.bit_length()
    return squarings if multipliers == 2 else squarings + _EXPONENT.bit_count()


def decryption_cycles(test: int, multipliers: int, *, pseudo: bool) -> int:
    """Cycles that Tables 11 and 17 count, with half of the exponent's bits 1.

    A pseudo-modulus takes one more, the correction at the end.
    """
    bits = 2 * test
    return (bits if multipliers == 2 else bits + bits // 2) + (1 if pseudo else 0)


# --- What follows from other tables --------------------------------------------------------------


def _of(printed: Printed, test: int, circuit: str, unit: str) -> float:
    """A figure of a table of all six circuits, or of those that were synthesized."""
    row = printed[test]
    circuits = CIRCUITS if len(row) == len(CIRCUITS) else _SYNTHESIZED
    return float(quantity(row[circuits.index(circuit)], unit))


def _computed(value: Callable[[], float], where: str, how: str) -> tuple[Source, ...]:
    return (Computed(value=value, where=where, how=how),)


Here = Callable[[int, str], tuple[Source, ...]]
"""What stands beside a figure, by test and circuit."""


def _products(areas: Mapping[int, tuple[int, ...]], delays: Printed, tables: str) -> Here:
    def here(test: int, circuit: str) -> tuple[Source, ...]:
        area = areas[test][CIRCUITS.index(circuit)]
        return _computed(
            lambda: area * _of(delays, test, circuit, "s"), f"From Tables {tables}", "their product"
        )

    return here


def _multipliers(circuit: str, count: int) -> tuple[int, str]:
    """What to divide figures of two multipliers by: MM has two in every table."""
    if count == 1 and circuit not in (MM, MM_PSEUDO):
        return 2, "half of "
    return 1, ""


def _one_area(test: int, circuit: str) -> tuple[Source, ...]:
    divisor, half = _multipliers(circuit, 1)
    area = LOGIC_ELEMENTS[test][CIRCUITS.index(circuit)]
    return _computed(lambda: area / divisor, "From Table 7", f"{half}its figure")


def _one_delay(test: int, circuit: str) -> tuple[Source, ...]:
    half = _multipliers(circuit, 1)[1]
    return _computed(lambda: _delay(test, circuit, 1), "From Table 8", f"{half}its figure")


def _delay(test: int, circuit: str, count: int) -> float:
    """Delay of one iteration in us: Table 8's, or half of that with one multiplier."""
    return _of(DELAYS, test, circuit, "us") / _multipliers(circuit, count)[0]


def _encryption(count: int) -> Here:
    def here(test: int, circuit: str) -> tuple[Source, ...]:
        divisor, half = _multipliers(circuit, count)
        cycles = encryption_cycles(2 // divisor)
        return _computed(
            lambda: cycles * _delay(test, circuit, count),
            "From Table 8",
            f"{cycles} times {half}its delay",
        )

    return here


def _decryption(count: int) -> Here:
    clocks, table = (CLOCKS, "12") if count == 2 else (ONE_CLOCKS, "18")

    def here(test: int, circuit: str) -> tuple[Source, ...]:
        divisor, half = _multipliers(circuit, count)
        iterations = decryption_cycles(test, 2 // divisor, pseudo=circuit == CM_PSEUDO)
        cycles = iterations * _iteration_cycles(test, circuit)
        return (
            *_computed(
                lambda: iterations * _delay(test, circuit, count) / 1000,
                "From Table 8",
                f"{iterations:,} times {half}its delay",
            ),
            *_computed(
                lambda: cycles / _of(clocks, test, circuit, "MHz") / 1000,
                f"At Table {table}'s clock",
                f"{cycles:,} cycles",
            ),
        )

    return here


def _iteration_cycles(test: int, circuit: str) -> int:
    """Cycles of an iteration: one, or Algorithm 2's n + 2 with n the bits of the key."""
    return 1 if circuit in (CM, CM_PSEUDO) else 2 * test + 2


def _clock(count: int) -> Here:
    def here(test: int, circuit: str) -> tuple[Source, ...]:
        cycles = _iteration_cycles(test, circuit)
        return _computed(
            lambda: cycles / _delay(test, circuit, count),
            "From Table 8",
            f"{cycles:,} over {_multipliers(circuit, count)[1]}its delay",
        )

    return here


# --- What is measured here ----------------------------------------------------------------------

_ECP5 = "LFE5U-85F-6 CABGA381"
_ROUTED = "LFE5U-85F, routed"
_GATES = "unit gates"
BUILT = (8, 16)
"""Tests whose engines for one modulus are measured: 8, which the figures have, and 16, which the
tables have, too. Montgomery's are measured for all."""
REDUCED = (2, 4, 8, 16)
"""Tests whose reductions of operands of 32 bits are measured."""


def _measured(
    column: str,
    test: int,
    circuit: str,
    count: int,
    operation: str = "MODEXP",
    target: str = "ecp5",
    part: str = "engine",
    convert: Callable[[float], float] | None = None,
    where: str = "",
    note: str = "",
    word: int | None = None,
) -> Measured:
    """Measure the circuit of a test: an engine for its one modulus, or Montgomery's of its length.

    Montgomery's has two multipliers in every table; beyond the tests that are built it is made for
    the pseudo-modulus's length, and takes the modulus's, too.
    """
    pseudo = circuit in (DM_PSEUDO, CM_PSEUDO, MM_PSEUDO)
    bits = 2 * test - 1
    parameters: dict[str, int | str]
    if circuit in (MM, MM_PSEUDO):
        family = "montgomery-r2"
        bits += pseudo
        longest = bits if test in BUILT or part == "multiplier" else 2 * test
        parameters = {"max_bits": longest, "multipliers": 1 if part == "multiplier" else 2}
    else:
        family = "compression" if circuit in (CM, CM_PSEUDO) else "direct"
        modulus = f"vassoler-{2 * test - 2}"
        parameters = {"modulus": modulus, "factor": 3 if pseudo else 1, "multipliers": count}
        if word is not None:
            parameters["word"] = word
    return Measured(
        column=column,
        family=family,
        bits=bits,
        operation=operation,
        exponents="random",
        target=target,
        device=_ECP5 if target == "ecp5" and column != "lut" else None,
        parameters=parameters,
        part=part,
        convert=convert,
        where=where,
        note=note,
    )


def _luts(test: int, circuit: str, count: int) -> tuple[Measured, Measured]:
    return (
        _measured("lut", test, circuit, count, where="ecp5, mapped: LUTs of 4 inputs"),
        _measured("lut", test, circuit, count, target="xc7", where="xc7, mapped: LUTs of 6 inputs"),
    )


def _iteration(test: int, circuit: str, count: int, where: str = _ROUTED) -> Measured:
    """Time of one iteration in us: a period, or a multiplication of Montgomery's."""
    if circuit in (MM, MM_PSEUDO):
        bits = 2 * test - (circuit == MM)
        return _measured(
            *("milliseconds", test, circuit, count),
            convert=lambda time: 1000 * time / bits,
            where=where,
            note=f"over the {bits} bits of the exponent",
        )
    return _measured(
        *("fmax_mhz", test, circuit, count),
        convert=lambda megahertz: 1 / megahertz,
        where=where,
        note="its period",
    )


def _grown(
    test: int, circuit: str, place: int, figure: Callable[[int], float]
) -> tuple[Source, ...]:
    """Its figure at 32 bits, times what our estimate grows by; area is `place` 0, delay 1."""
    if circuit not in (CM, CM_PSEUDO) or test in BUILT:
        return ()

    def estimate(of: int) -> int:
        return product_estimate(vassoler_pair(2 * of - 2)[circuit == CM_PSEUDO])[place]

    def grown() -> float:
        value = figure(16) * estimate(test) / estimate(16)
        return value if place else round(value)  # there are whole logic elements

    return _computed(
        grown,
        "Grown from its 32 bits",
        f"its figure at 32 bits, times what the estimated {('area', 'delay')[place]} of a product "
        "in unit gates has grown by",
    )


def _built(measured: Callable[[int, str], tuple[Source, ...]]) -> Here:
    """What is measured, where it was built."""
    return lambda test, circuit: measured(test, circuit) if _is_built(test, circuit) else ()


def _is_built(test: int, circuit: str) -> bool:
    return test in BUILT or circuit in (MM, MM_PSEUDO)


def _area(count: int) -> Here:
    """Logic, and the growth of what was not built."""
    printed = LOGIC_ELEMENTS if count == 2 else ONE_LOGIC_ELEMENTS
    built = _built(lambda test, circuit: _luts(test, circuit, count))

    def here(test: int, circuit: str) -> tuple[Source, ...]:
        grown = _grown(test, circuit, 0, lambda of: printed[of][CIRCUITS.index(circuit)])
        return (*built(test, circuit), *grown)

    return here


def _delay_here(count: int) -> Here:
    """Time of an iteration, and the growth of what was not built."""
    built = _built(lambda test, circuit: (_iteration(test, circuit, count),))

    def here(test: int, circuit: str) -> tuple[Source, ...]:
        grown = _grown(test, circuit, 1, lambda of: _delay(of, circuit, count))
        return (*built(test, circuit), *grown)

    return here


def _area_time(count: int) -> Here:
    """LUTs of 4 inputs by the time of an iteration in s."""

    def measured(test: int, circuit: str) -> tuple[Source, ...]:
        area, time = _luts(test, circuit, count)[0], _iteration(test, circuit, count)
        return (
            Combined(
                of=(area, time),
                value=lambda luts, microseconds: luts * microseconds / 1e6,
                where=_ROUTED,
                how="LUTs of 4 inputs x the time of an iteration",
            ),
        )

    return _built(measured)


def _time(operation: str, count: int, convert: Callable[[float], float] | None) -> Here:
    return _built(
        lambda test, circuit: (
            _measured(
                *("milliseconds", test, circuit, count, operation), convert=convert, where=_ROUTED
            ),
        )
    )


def _microseconds(milliseconds: float) -> float:
    return 1000 * milliseconds


def _megahertz(count: int) -> Here:
    return _built(
        lambda test, circuit: (_measured("fmax_mhz", test, circuit, count, where=_ROUTED),)
    )


def _both(first: Here, second: Here) -> Here:
    return lambda test, circuit: (*first(test, circuit), *second(test, circuit))


@cache
def _product_plan(modulus: int) -> Plan:
    product = ModularProduct(modulus)
    product._MustUse__silence = True  # it never becomes hardware, and Amaranth need not warn
    return product.plan


# --- Tables 3 to 5 ------------------------------------------------------------------------------

_TABLE_3 = Table(
    paper=PAPER,
    number="Table 3",
    title="Moduli of the multipliers in Figures 13 and 14",
    row_title="Modulus",
    page=49,
    columns=(Column(name="k in binary"),),
    rows=(
        Row("2^n", {"k in binary": "0"}),
        *(Row(f"2^n ± {k}", {"k in binary": f"{k:b}"}) for k in (1, 3, 5, 21, 85)),
    ),
    remarks=("k = 3 and 5 have two ones, 21 three and 85 four. The text does not tell n.",),
)


def _pair(n: int) -> Row:
    modulus, k, pseudo_modulus = PAIRS[n]
    m2, m1 = vassoler_pair(n)

    def computed(value: int, how: str) -> tuple[Source, ...]:
        return _computed(lambda: value, "Computed", how)

    return Row(
        f"n = {n}",
        {"Modulus": modulus, "k": int(k, 2), "Pseudo-modulus": pseudo_modulus},
        {
            "Modulus": computed(m2, f"(2^{n + 2} - 1)/3"),
            "k": computed(m2 - 2**n, f"the modulus less 2^{n}"),
            "Pseudo-modulus": computed(m1, f"2^{n + 2} - 1"),
        },
    )


_TABLE_4 = Table(
    paper=PAPER,
    number="Table 4",
    title="Moduli and pseudo-moduli",
    row_title="Length",
    page=52,
    columns=(Column(name="Modulus"), Column(name="k"), Column(name="Pseudo-modulus")),
    rows=tuple(_pair(n) for n in PAIRS),
    remarks=(
        "Equation 22 sums the powers 2^(2i) in k up to i = n/2, which adds 2^n a second time; with "
        "n/2 - 1 it gives this table, and three times the modulus is equation 23's 2^(n+2) - 1.",
        "The modulus has n + 1 bits, not n, and the pseudo-modulus one more.",
        "Such a modulus is (2^(n/2+1) - 1)(2^(n/2+1) + 1)/3: it factors by algebra, and only 5 is a"
        " prime. No RSA key has this form, and a random modulus has no short multiple 2^a ± 1.",
    ),
)


def _cells(name: str, modulus: int, figures: tuple[int, int, float]) -> Row:
    first, first_modulus = STANDARD_CELLS[4][0], vassoler_pair(4)[0]

    def scaled(of: Callable[[Plan], int], place: int) -> tuple[Source, ...]:
        return _computed(
            lambda: first[place] * of(_product_plan(modulus)) / of(_product_plan(first_modulus)),
            "Unit gates, scaled to its first row",
            "estimate of our tree and its last adder, times its first figure over the estimate of "
            "that row's",
        )

    return Row(
        name,
        dict(zip(("Delay", "Area", "Area × delay"), figures, strict=True)),
        {
            "Delay": scaled(lambda plan: plan.delay, 0),
            "Area": scaled(lambda plan: plan.area, 1),
            "Area × delay": scaled(lambda plan: plan.area * plan.delay, 2),
        },
    )


_TABLE_5 = Table(
    paper=PAPER,
    number="Table 5",
    title="Multipliers for moduli and pseudo-moduli, final adders included",
    row_title="Modulus",
    page=53,
    device=CELLS,
    columns=(
        Column(name="Delay", unit="ps"),
        Column(name="Area", unit="μm, as printed"),
        Column(name="Area × delay", unit="10^6"),
    ),
    rows=tuple(
        row
        for n, (modulus, pseudo_modulus) in STANDARD_CELLS.items()
        for row in (
            _cells(f"2^{n} + {vassoler_pair(n)[0] - 2**n}", vassoler_pair(n)[0], modulus),
            _cells(f"2^{n + 2} - 1", vassoler_pair(n)[1], pseudo_modulus),
        )
    ),
    remarks=(
        "The area is printed in μm; μm² must be meant.",
        "The product in the first row, 6.417, is not that of its area and delay, 6.498; the others "
        "are, the last digit cut off or rounded.",
        "Here a pseudo-modulus saves 1.3 to 5.7 % of the delay and 1.1 to 25.8 % of the area. In "
        "Table 8 it saves 51 to 52 % of the delay at every length, and in Table 7 20 to 46 % of "
        "the logic elements.",
        "Our trees, in unit gates: it saves 33 to 39 % of the delay and 31 to 45 % of the area.",
    ),
)

# --- Tables 7 to 18 -----------------------------------------------------------------------------


def _results(
    number: str,
    page: int,
    title: str,
    printed: Mapping[int, Sequence[str | int]],
    unit: str,
    here: Here,
    remarks: tuple[str, ...],
) -> Table:
    """A table by the length of the key."""
    circuits = CIRCUITS if len(printed[16]) == len(CIRCUITS) else _SYNTHESIZED

    def figure(value: str | int) -> Figure:
        if isinstance(value, int):
            return value
        return float(quantity(value, unit) if " " in value else Decimal(value))

    return Table(
        paper=PAPER,
        number=number,
        title=title,
        row_title="Length of the key",
        page=page,
        device=DEVICE,
        columns=tuple(Column(name=circuit, unit=unit) for circuit in circuits),
        rows=tuple(
            Row(
                f"{2 * test:,} bits (Test {test})",
                {circuit: figure(value) for circuit, value in zip(circuits, values, strict=True)},
                {circuit: found for circuit in circuits if (found := here(test, circuit))},
                x=2 * test,
            )
            for test, values in printed.items()
        ),
        remarks=remarks,
    )


_EXTRAPOLATED = (
    "DM above 32 bits was not synthesized: VHDL's mod stops there, and the thesis extrapolates "
    "(section 5.4.1)."
)

_GROWN = (
    "Beside lengths that were not built stands its own figure at 32 bits, times what our estimate "
    "in unit gates grows by."
)
_NOT_BUILT = (
    "Longer engines of CM and DM were not built: their logic grows with the square of the length. "
    "From 15 bits to 31 one product's takes 3.9 times the unit gates with CM, and 4.6 times with "
    "DM, whose delay is 2.2 times as long: a subtraction for each bit of the quotient, one behind "
    "the other. CM's delay is 1.2 times as long."
)
_LENGTHS = (
    "Ours at 32 bits are engines for the modulus of 31 bits and its pseudo-modulus of 32; for MM, "
    "which takes any modulus, made for 31 and 32 bits. Longer ones of MM are made for the length "
    "of the key, and take moduli of a bit less, too. Of two multipliers of CM and DM the second "
    "one is a squarer. Operands come in words of 32 bits, whose registers are counted."
)

_TABLE_7 = _results(
    *("Table 7", 75, "Logic elements of encryption and decryption", LOGIC_ELEMENTS, "", _area(2)),
    remarks=(
        "DM multiplies and takes VHDL's mod, CM is a compressor tree, MM Montgomery's "
        "multiplication with radix 2. A modulus of 2t - 1 bits is (2^(2t) - 1)/3 in Test t, its "
        "pseudo-modulus 2^(2t) - 1. Both are fixed in DM and CM's hardware: another key is another "
        "bitstream.",
        _EXTRAPOLATED,
        "The thesis calls the keys standard ones; a pseudo-modulus exists for (2^(2t) - 1)/3, which"
        " is no key. Of 1,024 bits it is 5 · 17 · 257 · 65,537 · ..., the Fermat numbers of index "
        "1 to 9.",
        "The device has 77,000 logic elements. CM needs more from 128 bits on, with the "
        "pseudo-modulus from 256 bits on.",
        "Two multipliers have 2 · 1,024² = 2,097,152 AND terms at 1,024 bits, and nearly as many "
        "full adders. That is 8.9 for each logic element printed, and it is 0.3 at 32 bits: the "
        "terms grow 1,024-fold from there, the printed figures 25-fold, and 35-fold with the "
        "pseudo-modulus.",
        _GROWN + " At 1,024 bits that is 41 times the figure printed for CM, 30 times with the "
        "pseudo-modulus.",
        _LENGTHS,
        _NOT_BUILT,
    ),
)
_TABLE_8 = _results(
    *("Table 8", 75, "Delay of one iteration of the exponentiation", DELAYS, "μs", _delay_here(2)),
    remarks=(
        "The heading says exponentiation; by Tables 10 and 11 it is one iteration: a cycle of DM "
        "and CM, a whole multiplication of MM.",
        _EXTRAPOLATED,
        "DM is slower with the pseudo-modulus at 32 bits, as in Figures 29 and 32, and faster at "
        "every extrapolated length, by 45 % at 1,024 bits.",
        "Each doubling of the length adds 25 ns to CM, and 12 ns with the pseudo-modulus, at all "
        "lengths alike.",
        "CM's delays contradict Table 12: see there.",
        _GROWN + " It is 0.72 to 0.96 of what is printed: these delays are those of a tree, whose "
        "levels grow with the logarithm of the length. Those of Table 12 are not.",
        _LENGTHS,
        _NOT_BUILT,
        "The text calls MM about 100 % slower than CM. At 1,024 bits it takes 20,850 times as long "
        "as CM, 46,944 times with the pseudo-modulus.",
    ),
)
_TABLE_9 = _results(
    *("Table 9", 75, "Logic elements × delay", AREA_DELAYS, "s"),
    here=_both(_products(LOGIC_ELEMENTS, DELAYS, "7 and 8"), _area_time(2)),
    remarks=(
        "These are Table 7 times Table 8, in seconds, the last digit cut off or rounded. One is "
        "not: DM with the pseudo-modulus at 256 bits, 1.048 for 1.0586.",
        _EXTRAPOLATED,
    ),
)
_TABLE_10 = _results(
    *("Table 10", 76, "Time of an encryption", ENCRYPTIONS, "μs"),
    here=_both(_encryption(2), _time("RSA_PUBLIC", 2, _microseconds)),
    remarks=(
        "The exponent is 65537: 17 iterations. The cycle of the correction at the end of a "
        "pseudo-modulus is not counted here; Table 11 counts it.",
        "All follows from Table 8, whose delays contradict Table 12's clocks.",
    ),
)
_TABLE_11 = _results(
    *("Table 11", 77, "Time of a decryption", DECRYPTIONS, "ms"),
    here=_both(_decryption(2), _time("MODEXP", 2, None)),
    remarks=(
        "One iteration for each bit of the key, and one cycle more for CM's pseudo-modulus.",
        "MM with the pseudo-modulus takes 162.8 ms at 256 bits: twice the 256 multiplications of "
        "Table 8, which are 81.4 ms.",
        "The abstract and the conclusion tell of 10^7 times less time than MM. By this table it is "
        "46,974 times at the most, at 1,024 bits and with the pseudo-modulus for both; at Table "
        "12's clocks it is 1,985.",
        "At Table 12's clocks CM takes 7.3 ms at 1,024 bits in place of 0.228 ms, and 2.4 ms with "
        "the pseudo-modulus in place of 0.111 ms. MM stays within 9 % but for the one above.",
    ),
)
_TABLE_12 = _results(
    *("Table 12", 78, "Greatest frequency of the whole system", CLOCKS, "MHz"),
    here=_both(_clock(2), _megahertz(2)),
    remarks=(
        "CM has an iteration in each cycle, so its delay in Table 8 should be the period. At 32 "
        "bits 98 ns stand against 125 ns here; at 1,024 bits 223 ns against 7,092 ns, and with the "
        "pseudo-modulus 108 ns against 2,347 ns.",
        "The periods of CM grow by a factor of 1.8 to 2.5 for each doubling, as those of a carry "
        "that ripples do; the delays of Table 8 grow by a constant.",
        "MM's figures agree: n + 2 cycles of Algorithm 2 at this clock are within 9 % of Table 8.",
        "MM's period is 4.1 to 4.6 ns for each bit of the key: its additions ripple too.",
        "The text calls CM with the pseudo-modulus more than twice as fast as all others. From 256 "
        "bits on it is 1.67 to 1.82 times as fast as MM, and CM without it is slower than MM.",
    ),
)
_HALVED = "DM and CM with one multiplier in place of two, for squaring and multiplying in turn."
_TABLE_13 = _results(
    *("Table 13", 79, "Logic elements, one multiplier", ONE_LOGIC_ELEMENTS, ""),
    here=_both(_one_area, _area(1)),
    remarks=(
        _HALVED,
        "They are Table 7 divided by two and rounded, in 23 of 24 figures; DM with the "
        "pseudo-modulus at 1,024 bits is 22 below its half. Control, registers and the correction "
        "at the end, which are there once in either circuit, would not be halved.",
        _EXTRAPOLATED,
    ),
)
_TABLE_14 = _results(
    *("Table 14", 79, "Delay of one cycle, one multiplier", ONE_DELAYS, "μs"),
    here=_both(_one_delay, _delay_here(1)),
    remarks=(
        _HALVED,
        "They are Table 8 divided by two, within the last digit printed. In the circuit with two "
        "multipliers they work side by side on independent operands (Figure 16), so that leaving "
        "one out does not shorten the path through the other.",
        _EXTRAPOLATED,
    ),
)
_TABLE_15 = _results(
    *("Table 15", 79, "Logic elements × delay, one multiplier", ONE_AREA_DELAYS, "s"),
    here=_both(_products(ONE_LOGIC_ELEMENTS, ONE_DELAYS, "13 and 14"), _area_time(1)),
    remarks=(
        "Some are the product of Tables 13 and 14 as printed, others a quarter of that of Tables 7 "
        "and 8; CM at 256 bits is neither.",
        _EXTRAPOLATED,
    ),
)
_TABLE_16 = _results(
    *("Table 16", 80, "Time of an encryption, one multiplier", ONE_ENCRYPTIONS, "μs"),
    here=_both(_encryption(1), _time("RSA_PUBLIC", 1, _microseconds)),
    remarks=(
        "The exponent 65537 takes 17 squarings and 2 multiplications: 19 cycles of half of Table "
        "8's delay, the last digit cut off or rounded. The correction is not counted.",
        "So it takes 19/34 of Table 10's time, 44 % less; the text says about 45 %.",
    ),
)
_TABLE_17 = _results(
    *("Table 17", 81, "Time of a decryption, one multiplier", ONE_DECRYPTIONS, "ms"),
    here=_both(_decryption(1), _time("MODEXP", 1, None)),
    remarks=(
        "One and a half cycles for each bit of the key, half of the bits being 1, of half of Table "
        "8's delay: 3/4 of Table 11's time. The text says about 45 % less for this one too; it is "
        "25 %.",
        "A cycle for a 0 and two for a 1: the time tells how many ones the private exponent has.",
        "At Table 18's clocks CM takes 6.7 ms at 1,024 bits in place of 0.17 ms, and 2.0 ms with "
        "the pseudo-modulus in place of 0.083 ms.",
        "MM's 162.8 ms at 256 bits are Table 11's, twice what Table 8 gives.",
    ),
)
_TABLE_18 = _results(
    *("Table 18", 82, "Greatest frequency, one multiplier", ONE_CLOCKS, "MHz"),
    here=_both(_clock(1), _megahertz(1)),
    remarks=(
        "CM's periods contradict Table 14 as those of Table 12 do Table 8: 1,333 ns against 54 ns "
        "at 1,024 bits with the pseudo-modulus.",
        "Here CM with the pseudo-modulus is 2.8 to 5.1 times as fast as MM; CM without it is a "
        "little slower than MM at 1,024 bits.",
    ),
)

# --- Figures ------------------------------------------------------------------------------------

_LOST = "The scan has lost the curves; what the text says of them is all there is."


def _figure(
    number: int,
    page: int,
    title: str,
    said: Mapping[str, str],
    remarks: tuple[str, ...] = (),
    device: str = DEVICE,
    here: Callable[[str], tuple[Source, ...]] = lambda curve: (),
) -> Table:
    """A figure whose values are lost: what the text says of each curve, and what `here` gives."""
    return Table(
        paper=PAPER,
        number=f"Figure {number}",
        title=title,
        row_title="Curve",
        page=page,
        device=device,
        columns=(Column(name="In the text"),),
        rows=tuple(
            Row(curve, {"In the text": words}, {"In the text": found} if found else {})
            for curve, words in said.items()
            for found in [here(curve)]
        ),
        remarks=(_LOST, *remarks),
    )


_TEST = (
    "Test t is the modulus (2^(2t) - 1)/3 and the pseudo-modulus 2^(2t) - 1, by Tests 2, 6 and 16 "
    "in section 5.1. The same section counts 21 and 63 as Test 4; by the others they are Test 3."
)

_SIZE = 16
"""n of our multipliers in Figures 13 and 14, whose n the text does not tell."""


def _of_form(of: Callable[[Plan], int]) -> Callable[[str], tuple[Source, ...]]:
    """A figure of our product's tree, for a modulus that is written as 2^n + k."""

    def here(curve: str) -> tuple[Source, ...]:
        modulus = 2**_SIZE + int(curve.removeprefix("2^n").replace(" ", "") or 0)
        return _computed(
            lambda: of(_product_plan(modulus)),
            f"Unit gates, n = {_SIZE}, estimate",
            "the tree and its last adder",
        )

    return here


def _of_tests(
    one: Callable[[int, str, str], Source], tests: Sequence[int], unit: str
) -> Callable[[str], tuple[Source, ...]]:
    """A figure of a curve's circuit for some tests, each in a column of its own."""
    return lambda curve: tuple(one(test, curve, f"Test {test}, {unit}") for test in tests)


def _on_words(part: str, operation: str) -> Callable[[int, str, str], Source]:
    """Delay in unit gates of what reduces a processor's word, or the product of two."""
    return lambda test, circuit, where: _measured(
        *("gate_delay", test, circuit, 1, operation, "unit-gate", part), where=where, word=32
    )


_REDUCTION = _of_tests(_on_words("reduction", "REDUCTION"), REDUCED, _GATES)
_WORD_MULTIPLICATION = _of_tests(
    _on_words("word-multiplier", "WORD_MULTIPLICATION"), REDUCED, _GATES
)


def _short_reduction(curve: str) -> tuple[Source, ...]:
    """Delay in unit gates of what reduces as many bits as the modulus or pseudo-modulus has.

    An engine's word has 8 bits or more.
    """
    return _of_tests(
        lambda test, circuit, where: _measured(
            *("gate_delay", test, circuit, 1, "REDUCTION", "unit-gate", "reduction"),
            where=where,
            word=2 * test - (circuit == DM),
        ),
        BUILT,
        _GATES,
    )(curve)


def _multiplication(test: int, circuit: str, where: str) -> Source:
    """Delay of a product in unit gates; Montgomery's takes many cycles of its own."""

    def measured(column: str) -> Measured:
        return _measured(
            *(column, test, circuit, 1, "MULTIPLICATION", "unit-gate", "multiplier"), where=where
        )

    if circuit not in (MM, MM_PSEUDO):
        return measured("gate_delay")
    return Combined(
        of=(measured("gate_delay"), measured("cycles")),
        value=lambda delay, cycles: delay * cycles,
        where=where,
        how="unit-gate delay x cycles",
    )


def _multiplications(curve: str) -> tuple[Source, ...]:
    """Of Test 32 there are unit gates, but for the division of DM."""
    tests = BUILT if curve in (DM, DM_PSEUDO) else (*BUILT, 32)
    return _of_tests(_multiplication, tests, _GATES)(curve)


_ITERATIONS = _of_tests(
    lambda test, circuit, where: _iteration(test, circuit, 2, where),
    *(BUILT, f"{_ROUTED}, μs"),
)
_FEW_ONES = tuple(f"2^n {sign} {k}" for k in (3, 5, 21) for sign in "+-")
_MOST_ONES = ("2^n + 85", "2^n - 85")

_FIGURES = (
    _figure(
        *(13, 50, "Delay of multipliers"),
        {
            "2^n": "shortest",
            "2^n - 1": "shortest but for 2^n",
            "2^n + 1": "next to 2^n - 1",
            **dict.fromkeys(_FEW_ONES, "longer with more ones in k"),
            **dict.fromkeys(_MOST_ONES, "longest"),
        },
        device=CELLS,
        here=_of_form(lambda plan: plan.delay),
    ),
    _figure(
        *(14, 50, "Area of multipliers"),
        {
            "2^n": "smallest",
            "2^n - 1": "smallest but for 2^n",
            "2^n + 1": "next to 2^n - 1",
            **dict.fromkeys(_FEW_ONES, "smaller with more ones in k"),
            **dict.fromkeys(_MOST_ONES, "largest"),
        },
        (
            "The text has the area fall with the ones in k, and names those of the most ones as "
            "the largest: one of the two is not so.",
        ),
        device=CELLS,
        here=_of_form(lambda plan: plan.area),
    ),
    _figure(
        *(24, 65, "Delay of reduction, 32 bits in"),
        {
            DM: "falls as the modulus grows",
            DM_PSEUDO: "as with the modulus up to 16 bits, a little shorter up to 32",
            CM: "much shorter than DM",
            CM_PSEUDO: "much shorter than DM",
        },
        (
            _TEST,
            "DM is here the restoring division that Yosys makes of %: a subtraction for each bit "
            "of the quotient, one behind the other. In Tests 2 to 8 it takes 5 to 8 times as long "
            "as the tree; in Test 16 the quotient has one bit or two, and little is left to do.",
        ),
        here=_REDUCTION,
    ),
    _figure(
        *(25, 65, "Delay of reduction, 32 bits in, enlarged"),
        {CM: "longer than with the pseudo-modulus", CM_PSEUDO: "shorter above 12 bits (Test 6)"},
        here=_REDUCTION,
    ),
    _figure(
        *(26, 66, "Delay of reduction, n + 1 bits in"),
        {
            DM: "grows with the modulus",
            DM_PSEUDO: "longer than with the modulus; in Test 16 the same as in Figure 24",
        },
        (
            "The thesis did not reduce such an input by trees. One of the modulus's own length, "
            "which is what n + 1 bits are, needs no more than a comparison and a subtraction.",
            "An engine's word has 8 bits at least, so that ours begin at Test 8.",
        ),
        here=_short_reduction,
    ),
    _figure(
        *(27, 67, "Delay of multiplication by VHDL's mod, 32 bits in"),
        {
            DM: "falls as the modulus grows; the same for mod of a product in one expression",
            DM_PSEUDO: "falls as the modulus grows",
        },
        ("Ours multiplies two words of 32 bits, and divides their product of 64.",),
        here=_WORD_MULTIPLICATION,
    ),
    _figure(
        *(28, 68, "Delay of multiplication"),
        {
            MM: "much longer than DM and CM",
            MM_PSEUDO: "longer than with the modulus: more bits, more iterations",
        },
        ("MM takes many cycles for a multiplication; the others take one.",),
        here=_multiplications,
    ),
    _figure(
        *(29, 69, "Delay of multiplication, enlarged"),
        {
            DM: "shorter than with the pseudo-modulus",
            DM_PSEUDO: "longest of these",
            CM: "much shorter than DM",
            CM_PSEUDO: "shortest",
        },
        (
            "Multipliers that the generator made for squaring were no faster: it has no tree of "
            "their own for them.",
        ),
        here=_multiplications,
    ),
    _figure(
        *(30, 70, "Logic elements of the exponentiation"),
        {
            CM: "most",
            CM_PSEUDO: "considerably fewer than with the modulus",
            DM: "fewer than with the pseudo-modulus",
            DM_PSEUDO: "more than with the modulus",
            MM: "fewest",
            MM_PSEUDO: "fewest",
        },
        here=_of_tests(
            lambda test, circuit, where: _measured("lut", test, circuit, 2, where=where),
            *(BUILT, "ecp5, mapped: LUTs of 4 inputs"),
        ),
    ),
    _figure(
        *(31, 71, "Delay of one iteration of the exponentiation"),
        {MM: "much longer than DM and CM", MM_PSEUDO: "much longer than DM and CM"},
        here=_ITERATIONS,
    ),
    _figure(
        *(32, 72, "Delay of one iteration of the exponentiation, enlarged"),
        {
            DM: "falls to Test 10, then grows",
            DM_PSEUDO: "falls to Test 9, then grows; longer than with the modulus",
            CM: "shorter than DM",
            CM_PSEUDO: "shortest",
        },
        (
            "The thesis reduces an operand of 32 bits first, which is DM's longest path in its "
            "shorter tests. Our engines take operands below the modulus: theirs is what Figure 33 "
            "shows.",
        ),
        here=_ITERATIONS,
    ),
    _figure(
        *(33, 72, "Delay of one iteration, operands reduced first"),
        {
            DM: "grows with the modulus, much as in Figure 26",
            DM_PSEUDO: "grows with the modulus, much as in Figure 26",
        },
        ("Figure 31 is this one and Figure 24, whichever is longer.",),
        here=_ITERATIONS,
    ),
)

TABLES = (
    _TABLE_3,
    _TABLE_4,
    _TABLE_5,
    _TABLE_7,
    _TABLE_8,
    _TABLE_9,
    _TABLE_10,
    _TABLE_11,
    _TABLE_12,
    _TABLE_13,
    _TABLE_14,
    _TABLE_15,
    _TABLE_16,
    _TABLE_17,
    _TABLE_18,
    *_FIGURES,
)
