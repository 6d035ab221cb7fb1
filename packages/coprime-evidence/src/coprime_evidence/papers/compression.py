"""COMPRESSION: compressor-tree multipliers for fixed moduli, and pseudo-moduli.

Augusto Cezar Boldori Vassoler, "Reconfigurable RSA accelerator based on efficient modular
multipliers using high-performance modulus", master's thesis, Universidade Federal de Santa
Catarina, 2023.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from coprime.cells.compression import product_plan
from coprime.cells.compressor_tree import Plan
from coprime.model.moduli import vassoler_pair
from coprime.model.pseudo_moduli import product_estimate

from .published import (
    Computed,
    Derived,
    Figure,
    Measured,
    Row,
    Source,
    Sources,
    Table,
    read_publication,
)
from .views import Panel, View, number_in

_PRINTED = read_publication("compression")

DM, DM_PSEUDO = "DM", "DM, pseudo-modulus"
CM, CM_PSEUDO = "CM", "CM, pseudo-modulus"
MM, MM_PSEUDO = "MM", "MM, pseudo-modulus"
CIRCUITS = (DM, DM_PSEUDO, CM, CM_PSEUDO, MM, MM_PSEUDO)
"""Direct (VHDL's mod), compressor tree, Montgomery; each for a modulus and for its
pseudo-modulus. (M) and (PM) in the thesis."""
_SYNTHESIZED = (CM, CM_PSEUDO, MM, MM_PSEUDO)

Printed = Mapping[int, tuple[str, ...]]
"""As printed, with its unit; by test, which is half the bits of a key."""


def printed(number: str) -> Printed:
    """A table by test; the circuits are as in CIRCUITS, or as in _SYNTHESIZED."""
    return {int(test): tuple(figures) for test, *figures in _PRINTED.cells(number)}


def _counts(number: str) -> Mapping[int, tuple[int, ...]]:
    return {test: tuple(map(int, figures)) for test, figures in printed(number).items()}


PAIRS: Mapping[int, tuple[int, str, int]] = {
    n: (modulus, k, pseudo_modulus) for n, modulus, k, pseudo_modulus in _PRINTED.lines("Table 4")
}
"""Table 4: modulus m2, k in binary, pseudo-modulus m1; by n."""

_CELLS = _PRINTED.lines("Table 5")
STANDARD_CELLS: Mapping[int, tuple[tuple[int, int, float], tuple[int, int, float]]] = {
    n: (tuple(modulus), tuple(pseudo_modulus))
    for n, (_, *modulus), (_, *pseudo_modulus) in zip(
        (4, 6, 8, 10), _CELLS[::2], _CELLS[1::2], strict=True
    )
}
"""Table 5: delay in ps, area, and their product / 10^6; of m2 and of m1, by n."""

LOGIC_ELEMENTS, ONE_LOGIC_ELEMENTS = _counts("Table 7"), _counts("Table 13")
"""Logic elements of the exponentiator by test, as CIRCUITS; ONE_ is with one multiplier for DM and
CM, all others are with two."""

DELAYS, ONE_DELAYS = printed("Table 8"), printed("Table 14")
"""Delay of one iteration; ONE_ as above."""
CLOCKS, ONE_CLOCKS = printed("Table 12"), printed("Table 18")
"""Maximum frequency of the whole system, of CM and MM only; ONE_ as above."""

_POWERS = {"ns": -9, "us": -6, "μs": -6, "ms": -3, "s": 0, "MHz": 6}
_EXPONENT = 65537


def quantity(text: str, unit: str) -> Decimal:
    """A printed quantity in another unit, exactly: quantity("1.2 us", "ns") is 1200."""
    number, _, own = text.partition(" ")
    return Decimal(number).scaleb(_POWERS[own] - _POWERS[unit])


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


def _of(figures: Printed, test: int, circuit: str, unit: str) -> float:
    """A figure of a table of all six circuits, or of those that were synthesized."""
    row = figures[test]
    circuits = CIRCUITS if len(row) == len(CIRCUITS) else _SYNTHESIZED
    return float(quantity(row[circuits.index(circuit)], unit))


def _derived(value: Callable[[], float], where: str, how: str) -> tuple[Source, ...]:
    return (Derived(value=value, where=where, how=how),)


Here = Callable[[int, int, str], tuple[Source, ...]]
"""What a figure of a table of 2 multipliers, or of 1 for DM and CM, is compared with; by this
number, test and circuit."""


def _nothing(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    return ()


def _products(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    areas, delays, tables = (
        (LOGIC_ELEMENTS, DELAYS, "7 and 8")
        if count == 2
        else (ONE_LOGIC_ELEMENTS, ONE_DELAYS, "13 and 14")
    )
    area = areas[test][CIRCUITS.index(circuit)]
    return _derived(
        lambda: area * _of(delays, test, circuit, "s"), f"From Tables {tables}", "their product"
    )


def _multipliers(count: int, circuit: str) -> tuple[int, str]:
    """What to divide figures of two multipliers by: MM has two in every table."""
    if count == 1 and circuit not in (MM, MM_PSEUDO):
        return 2, "half of "
    return 1, ""


def _from_two(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    """Area of one multiplier, from Table 7's of two."""
    if count == 2:
        return ()
    divisor, half = _multipliers(count, circuit)
    area = LOGIC_ELEMENTS[test][CIRCUITS.index(circuit)]
    return _derived(lambda: area / divisor, "From Table 7", f"{half}its figure")


def _delay_from_two(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    """The same of a delay."""
    if count == 2:
        return ()
    half = _multipliers(count, circuit)[1]
    return _derived(lambda: _delay(count, test, circuit), "From Table 8", f"{half}its figure")


def _delay(count: int, test: int, circuit: str) -> float:
    """Delay of one iteration in us: Table 8's, or half of that with one multiplier."""
    return _of(DELAYS, test, circuit, "us") / _multipliers(count, circuit)[0]


def _encryption(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    divisor, half = _multipliers(count, circuit)
    cycles = encryption_cycles(2 // divisor)
    return _derived(
        lambda: cycles * _delay(count, test, circuit),
        "From Table 8",
        f"{cycles} times {half}its delay",
    )


def _decryption(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    clocks, table = (CLOCKS, "12") if count == 2 else (ONE_CLOCKS, "18")
    divisor, half = _multipliers(count, circuit)
    iterations = decryption_cycles(test, 2 // divisor, pseudo=circuit == CM_PSEUDO)
    cycles = iterations * _iteration_cycles(test, circuit)
    return (
        *_derived(
            lambda: iterations * _delay(count, test, circuit) / 1000,
            "From Table 8",
            f"{iterations:,} times {half}its delay",
        ),
        *_derived(
            lambda: cycles / _of(clocks, test, circuit, "MHz") / 1000,
            f"At Table {table}'s clock",
            f"{cycles:,} cycles",
        ),
    )


def _iteration_cycles(test: int, circuit: str) -> int:
    """Cycles of an iteration: one, or Algorithm 2's n + 2 with n the bits of the key."""
    return 1 if circuit in (CM, CM_PSEUDO) else 2 * test + 2


def _clock(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    cycles = _iteration_cycles(test, circuit)
    return _derived(
        lambda: cycles / _delay(count, test, circuit),
        "From Table 8",
        f"{cycles:,} over {_multipliers(count, circuit)[1]}its delay",
    )


# --- What is measured here ----------------------------------------------------------------------

_ECP5 = "LFE5U-85F-6 CABGA381"
_ROUTED = "LFE5U-85F, routed"
_GATES = "unit gates"
DRAWN = (8, 16)
"""Tests of the figures whose engines are measured. Of the tables' tests those are that the file
gives no reason for why they are not."""
REDUCED = (2, 4, 8, 16)  # tests whose reductions of operands of 32 bits are measured


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

    Montgomery's has two multipliers in every table; beyond the tests of the figures it is made for
    the pseudo-modulus's length, and takes the modulus's, too.
    """
    pseudo = circuit in (DM_PSEUDO, CM_PSEUDO, MM_PSEUDO)
    bits = 2 * test - 1
    parameters: dict[str, int | str]
    if circuit in (MM, MM_PSEUDO):
        family = "montgomery-r2"
        bits += pseudo
        longest = bits if test in DRAWN or part == "multiplier" else 2 * test
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


def _luts(count: int, test: int, circuit: str) -> tuple[Measured, Measured]:
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
    if circuit not in (CM, CM_PSEUDO):
        return ()

    def estimate(of: int) -> int:
        return product_estimate(vassoler_pair(2 * of - 2)[circuit == CM_PSEUDO])[place]

    def grown() -> float:
        value = figure(16) * estimate(test) / estimate(16)
        return value if place else round(value)  # there are whole logic elements

    return _derived(
        grown,
        "Grown from its 32 bits",
        f"its figure at 32 bits, times what the estimated {('area', 'delay')[place]} of a product "
        "in unit gates has grown by",
    )


def _grown_area(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    elements = LOGIC_ELEMENTS if count == 2 else ONE_LOGIC_ELEMENTS
    return _grown(test, circuit, 0, lambda of: elements[of][CIRCUITS.index(circuit)])


def _grown_delay(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    return _grown(test, circuit, 1, lambda of: _delay(count, of, circuit))


def _iteration_time(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    return (_iteration(test, circuit, count),)


def _area_time(count: int, test: int, circuit: str) -> tuple[Source, ...]:
    """LUTs of 4 inputs by the time of an iteration in s."""
    return (
        Computed(
            of=(_luts(count, test, circuit)[0], _iteration(test, circuit, count)),
            value=lambda luts, microseconds: luts * microseconds / 1e6,
            where=_ROUTED,
            how="LUTs of 4 inputs x the time of an iteration",
        ),
    )


def _routed(column: str, **settings: Any) -> Here:
    """A column of what is placed and routed."""
    return lambda count, test, circuit: (
        _measured(column, test, circuit, count, where=_ROUTED, **settings),
    )


def _estimated(value: Callable[[], float], where: str, how: str) -> tuple[Source, ...]:
    return (Computed(value=value, where=where, how=how, kind="unit gates"),)


# --- Tables 3 to 5 ------------------------------------------------------------------------------


def _pair(n: int) -> Sources:
    m2, m1 = vassoler_pair(n)

    def derived(value: int, how: str) -> tuple[Source, ...]:
        return _derived(lambda: value, "From Equation 23", how)

    return {
        "Modulus": derived(m2, f"(2^{n + 2} - 1)/3"),
        "k": derived(m2 - 2**n, f"the modulus less 2^{n}"),
        "Pseudo-modulus": derived(m1, f"2^{n + 2} - 1"),
    }


def _cells(modulus: int) -> Sources:
    first, first_modulus = STANDARD_CELLS[4][0], vassoler_pair(4)[0]

    def scaled(of: Callable[[Plan], int], place: int) -> tuple[Source, ...]:
        return _estimated(
            lambda: first[place] * of(product_plan(modulus)) / of(product_plan(first_modulus)),
            "Unit gates, scaled to its first row",
            "estimate of our tree and its last adder, times its first figure over the estimate of "
            "that row's",
        )

    return {
        "Delay": scaled(lambda plan: plan.delay, 0),
        "Area": scaled(lambda plan: plan.area, 1),
        "Area × delay": scaled(lambda plan: plan.area * plan.delay, 2),
    }


def _modulus(label: str) -> int:
    """The modulus that a row's label writes as a sum of two terms, the first a power of 2."""
    power, sign, rest = label.split()
    return (1 << int(power.removeprefix("2^"))) + int(sign + rest)


_TABLES_3_TO_5 = (
    _PRINTED.table("Table 3"),
    _PRINTED.table("Table 4", _pair, computed=lambda n: {"k": int(PAIRS[n][1], 2)}),
    _PRINTED.table("Table 5", lambda label: _cells(_modulus(label))),
)

# --- Tables 7 to 18 -----------------------------------------------------------------------------


def _results(number: str, count: int, derived: Here, ours: Here, grown: Here) -> Table:
    """A table by the length of the key."""
    columns = _PRINTED.columns(number)

    def figure(text: str, unit: str) -> Figure:
        if not unit:
            return int(text)
        return float(quantity(text, unit) if " " in text else Decimal(text))

    def beside(test: int, circuit: str) -> tuple[Source, ...]:
        built = not _PRINTED.reason(number, str(test), circuit)
        own = ours if built else grown
        return (*derived(count, test, circuit), *own(count, test, circuit))

    def row(test: int, figures: Sequence[str]) -> Row:
        return Row(
            f"{2 * test:,} bits (Test {test})",
            {
                column.name: figure(text, column.unit)
                for column, text in zip(columns, figures, strict=True)
            },
            {column.name: beside(test, column.name) for column in columns},
            x=2 * test,
        )

    return _PRINTED.table(number, rows=[row(*line) for line in printed(number).items()])


_SOURCES: tuple[tuple[Here, Here, Here], ...] = (
    (_from_two, _luts, _grown_area),
    (_delay_from_two, _iteration_time, _grown_delay),
    (_products, _area_time, _nothing),
    (
        _encryption,
        _routed("milliseconds", operation="RSA_PUBLIC", convert=lambda ms: 1000 * ms),
        _nothing,
    ),
    (_decryption, _routed("milliseconds"), _nothing),
    (_clock, _routed("fmax_mhz"), _nothing),
)
"""Of the Tables 7 to 12, and of 13 to 18: what follows from other figures, what is measured of a
circuit that is built, and how the figure of another one would have grown."""
_RESULTS = tuple(
    _results(f"Table {first + k}", count, *sources)
    for count, first in ((2, 7), (1, 13))
    for k, sources in enumerate(_SOURCES)
)

# --- Figures ------------------------------------------------------------------------------------

_SIZE = 16  # n of our multipliers in Figures 13 and 14; the text does not specify theirs


def _of_form(of: Callable[[Plan], int]) -> Callable[[str], tuple[Source, ...]]:
    """A figure of our product's tree, for a modulus that is written as 2^n + k."""

    def here(curve: str) -> tuple[Source, ...]:
        modulus = 2**_SIZE + int(curve.removeprefix("2^n").replace(" ", "") or 0)
        return _estimated(
            lambda: of(product_plan(modulus)),
            f"Unit gates, n = {_SIZE}, estimate",
            "the tree and its last adder",
        )

    return here


def _of_tests(
    source_of: Callable[[int, str, str], Source], tests: Sequence[int], unit: str
) -> Callable[[str], tuple[Source, ...]]:
    """A figure of a curve's circuit for some tests, each in a column of its own."""
    return lambda curve: tuple(source_of(test, curve, f"Test {test}, {unit}") for test in tests)


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
        DRAWN,
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
    return Computed(
        of=(measured("gate_delay"), measured("cycles")),
        value=lambda delay, cycles: delay * cycles,
        where=where,
        how="unit-gate delay x cycles",
    )


def _multiplications(curve: str) -> tuple[Source, ...]:
    """Of Test 32, too, there are unit gates, and of CM those of Test 64."""
    longer = (32, 64) if curve in (CM, CM_PSEUDO) else (32,)
    return _of_tests(_multiplication, (*DRAWN, *longer), _GATES)(curve)


_ITERATIONS = _of_tests(
    lambda test, circuit, where: _iteration(test, circuit, 2, where), *(DRAWN, f"{_ROUTED}, μs")
)
_LUTS_OF_TESTS = _of_tests(
    lambda test, circuit, where: _measured("lut", test, circuit, 2, where=where),
    *(DRAWN, "ecp5, mapped: LUTs of 4 inputs"),
)


def _in_the_text(here: Callable[[str], tuple[Source, ...]]) -> Callable[[str], Sources]:
    """Beside what the text says of a curve: the values are lost."""
    return lambda curve: {"In the text": here(curve)}


_FIGURES = tuple(
    _PRINTED.table(f"Figure {number}", _in_the_text(here))
    for number, here in {
        13: _of_form(lambda plan: plan.delay),
        14: _of_form(lambda plan: plan.area),
        24: _REDUCTION,
        25: _REDUCTION,
        26: _short_reduction,
        27: _WORD_MULTIPLICATION,
        28: _multiplications,
        29: _multiplications,
        30: _LUTS_OF_TESTS,
        31: _ITERATIONS,
        32: _ITERATIONS,
        33: _ITERATIONS,
    }.items()
)

TABLES = _PRINTED.complete((*_TABLES_3_TO_5, *_RESULTS, *_FIGURES))

# --- Its view -----------------------------------------------------------------------------------


def _panel(name: str, title: str, number: str, y_title: str) -> Panel:
    return Panel(
        name=name,
        title=title,
        table=number,
        at=lambda row, column: (number_in(row), column),
        x_title="Length of the key in bits",
        y_title=y_title,
        plots=(DM, CM, MM, DM_PSEUDO, CM_PSEUDO, MM_PSEUDO),
        logarithmic=True,
    )


VIEW = View(
    paper=_PRINTED.paper,
    title="Bits and delay, bits and area of the six circuits",
    panels=(
        _panel("delay", "Delay of one iteration, two multipliers", "Table 8", "Delay in μs"),
        _panel(
            *("area", "Area of the exponentiator, two multipliers", "Table 7"),
            "Logic elements, or LUTs",
        ),
    ),
)
