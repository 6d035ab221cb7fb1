"""COMPRESSION's figures follow from each other, and contradict each other, as the remarks say."""

import itertools
import math
from decimal import Decimal

import pytest
from coprime_evidence.papers import compression as paper
from coprime_evidence.papers.compression import (
    CIRCUITS,
    CM,
    CM_PSEUDO,
    DM,
    DM_PSEUDO,
    MM,
    MM_PSEUDO,
    quantity,
)
from coprime_evidence.papers.published import Computed, Measured
from coprime_evidence.report.side_by_side import DERIVED, compare
from cryptography.hazmat.primitives.asymmetric import rsa

from coprime.model.moduli import modulus_of, vassoler_pair
from coprime.model.pseudo_moduli import search

TESTS = (16, 32, 64, 128, 256, 512)
SYNTHESIZED = (CM, CM_PSEUDO, MM, MM_PSEUDO)
AREA_DELAYS, ENCRYPTIONS, DECRYPTIONS = (paper.printed(f"Table {n}") for n in (9, 10, 11))
ONE_AREA_DELAYS, ONE_ENCRYPTIONS, ONE_DECRYPTIONS = (
    paper.printed(f"Table {n}") for n in (15, 16, 17)
)
DEVICE_LOGIC_ELEMENTS = 77_000
"""Of the device, by its maker's table."""


def and_terms(test, *, pseudo):
    """AND terms of the two multipliers of an exponentiator for a test's modulus."""
    return 2 * vassoler_pair(2 * test - 2)[pseudo].bit_length() ** 2


def table(number):
    (found,) = [one for one in paper.TABLES if one.number == number]
    return found


def remarks(number):
    return " ".join(table(number).remarks)


def of(printed, test, circuit):
    row = printed[test]
    circuits = CIRCUITS if len(row) == len(CIRCUITS) else SYNTHESIZED
    return row[circuits.index(circuit)]


def value(printed, test, circuit, unit):
    return quantity(of(printed, test, circuit), unit)


def printed_as(text, exact, unit):
    """Whether a quantity can have been printed so: rounded up or down, or cut off."""
    number, _, own = text.partition(" ")
    last = Decimal(1).scaleb(Decimal(number).as_tuple().exponent)
    in_own_unit = exact if not own else quantity(f"{exact} {unit}", own)
    return abs(in_own_unit - Decimal(number)) < last


def shares(printed, unit):
    """What a pseudo-modulus saves of CM, in %, by test."""
    return [
        100 - 100 * value(printed, test, CM_PSEUDO, unit) / value(printed, test, CM, unit)
        for test in TESTS
    ]


# --- The data -----------------------------------------------------------------------------------


def test_all_tables_and_figures_are_there():
    numbers = [f"Table {number}" for number in range(1, 19)]
    numbers += [f"Figure {number}" for number in (13, 14, *range(24, 34))]
    assert [one.number for one in paper.TABLES] == numbers
    for one in paper.TABLES:
        assert one.page is not None
        if one.number.startswith("Figure"):
            assert "lost" in one.remarks[0]


@pytest.mark.parametrize("number", range(7, 19))
def test_results_are_complete(number):
    found = table(f"Table {number}")
    circuits = SYNTHESIZED if number in (10, 11, 12, 16, 17, 18) else CIRCUITS
    assert [column.name for column in found.columns] == list(circuits)
    assert [row.x for row in found.rows] == [2 * test for test in TESTS]
    for row in found.rows:
        assert list(row.published) == list(circuits)
        assert all(figure > 0 for figure in row.published.values())


def test_quantities_are_exact():
    assert quantity("1.2 us", "ns") == 1200
    assert quantity("1.268 ms", "μs") == 1268
    assert quantity("0.426 MHz", "MHz") == Decimal("0.426")
    assert quantity("5.2 s", "ms") == 5200
    (row,) = [row for row in table("Table 11").rows if row.x == 1024]
    assert row.published == {CM: 0.2283, CM_PSEUDO: 0.1107, MM: 4800, MM_PSEUDO: 5200}
    (row,) = [row for row in table("Table 8").rows if row.x == 32]
    assert list(row.published.values()) == [0.412, 0.435, 0.098, 0.048, 4.8, 5.2]


def test_figures_stand_beside_what_they_follow_from():
    for one in paper.TABLES:
        lines = compare(one, [])
        measured = {line.quantity for line in lines if line.measurements or line.derived}
        # The page leaves out the columns that nothing stands beside, if there are others.
        assert measured in (set(), {column.name for column in one.columns}), one.number
    (line,) = [
        line
        for line in compare(table("Table 12"), [])
        if (line.row, line.quantity) == ("1,024 bits (Test 512)", CM)
    ]
    (own,) = line.derived
    assert own.value == pytest.approx(1 / 0.223)
    assert (own.kind, own.where) == (DERIVED, "From Table 8")
    assert own.how == "1 over its delay"


# --- What is measured here ----------------------------------------------------------------------


def grown(number):
    """Ratio to the printed figure of what it would have grown to, by test and circuit."""
    return {
        (line.x // 2, line.quantity): own.ratio
        for line in compare(table(number), [])
        for own in line.derived
        if own.where == "Grown from its 32 bits"
    }


def test_growth_of_what_was_not_built():
    areas, delays = grown("Table 7"), grown("Table 8")
    assert set(areas) == set(delays) == set(itertools.product(TESTS[2:], (CM, CM_PSEUDO)))
    assert [f"{areas[512, circuit]:.0f}" for circuit in (CM, CM_PSEUDO)] == ["41", "30"]
    assert "41 times" in remarks("Table 7") and "30 times" in remarks("Table 7")
    least, most = f"{min(delays.values()):.2f}", f"{max(delays.values()):.2f}"
    assert f"It is {least} to {most} of what is printed" in remarks("Table 8")
    # One multiplier: half of either, so the same growth; to the last digit printed.
    for number, ratios in (("Table 13", areas), ("Table 14", delays)):
        assert grown(number) == pytest.approx(ratios, rel=0.1)


@pytest.mark.parametrize("number", range(7, 19))
def test_what_is_built_is_measured(number):
    """Each figure of a test that was built; of one multiplier where the table has one."""
    multipliers = 2 if number < 13 else 1
    for row in table(f"Table {number}").rows:
        for circuit, sources in row.here.items():
            parts = [
                part
                for one in sources
                for part in (one.of if isinstance(one, Computed) else [one])
                if isinstance(part, Measured)
            ]
            assert bool(parts) is (circuit not in row.reasons)
            mapped_only = row.x == 1024 and number not in (7, 13)
            assert parts or mapped_only or circuit not in (MM, MM_PSEUDO)
            for part in parts:
                parameters = part.parameters
                if circuit in (MM, MM_PSEUDO):
                    assert (part.family, parameters["multipliers"]) == ("montgomery-r2", 2)
                    assert part.bits == row.x - (circuit == MM)
                    assert parameters["max_bits"] in (part.bits, row.x)
                else:
                    assert parameters["multipliers"] == multipliers
                    assert parameters["factor"] == (3 if circuit in (CM_PSEUDO, DM_PSEUDO) else 1)
                    assert part.bits == vassoler_pair(row.x - 2)[0].bit_length()
                    assert parameters["modulus"] == f"vassoler-{row.x - 2}"


def test_iterations_and_operations_in_their_units():
    (iteration,) = [
        one
        for one in table("Table 8").rows[0].here[MM]
        if isinstance(one, Measured) and one.column == "milliseconds"
    ]
    assert iteration.convert(0.031) == pytest.approx(1)  # us, for each of 31 bits
    (period,) = [one for one in table("Table 8").rows[0].here[CM] if isinstance(one, Measured)]
    assert period.convert(50) == pytest.approx(0.02)
    (encryption,) = [one for one in table("Table 10").rows[0].here[CM] if isinstance(one, Measured)]
    assert (encryption.operation, encryption.convert(0.002)) == ("RSA_PUBLIC", pytest.approx(2))


def test_our_trees_beside_table_5():
    ours = [
        {line.quantity: line.measurements[0].value for line in lines}
        for _, lines in itertools.groupby(compare(table("Table 5"), []), lambda line: line.row)
    ]
    assert ours[0] == {"Delay": 407, "Area": 15965, "Area × delay": 6.417}
    words = []
    for quantity_ in ("Delay", "Area"):
        saved = [
            100 - 100 * pseudo[quantity_] / modulus[quantity_]
            for modulus, pseudo in zip(ours[::2], ours[1::2], strict=True)
        ]
        words.append(f"{min(saved):.0f} to {max(saved):.0f} % of the {quantity_.lower()}")
    assert f"it saves {' and '.join(words)}." in remarks("Table 5")


def test_curves_are_estimated_for_their_moduli():
    """Every form of Figures 13 and 14; the order that the text tells of the first three holds."""
    for number in ("Figure 13", "Figure 14"):
        values = [line.measurements[0].value for line in compare(table(number), [])]
        assert len(values) == 3 + 2 * 4
        assert values[:3] == sorted(values[:3]) and max(values[:3]) < min(values[3:])


@pytest.mark.parametrize(
    ("number", "part", "tests"),
    [
        *((number, "reduction", dict.fromkeys(CIRCUITS, (2, 4, 8, 16))) for number in (24, 25)),
        (26, "reduction", dict.fromkeys(CIRCUITS, (8, 16))),
        (27, "word-multiplier", dict.fromkeys(CIRCUITS, (2, 4, 8, 16))),
    ],
)
def test_words_are_reduced_modulo_those_of_the_tests(number, part, tests):
    for row in table(f"Figure {number}").rows:
        (sources,) = row.here.values()
        assert [one.where for one in sources] == [
            f"Test {test}, unit gates" for test in tests[row.label]
        ]
        for test, one in zip(tests[row.label], sources, strict=True):
            parameters, (modulus, pseudo_modulus) = one.parameters, vassoler_pair(2 * test - 2)
            wanted = pseudo_modulus if row.label in (DM_PSEUDO, CM_PSEUDO) else modulus
            assert modulus_of(parameters["modulus"]) * parameters["factor"] == wanted
            assert parameters["word"] == (wanted.bit_length() if number == 26 else 32)
            assert (one.part, one.column, one.target) == (part, "gate_delay", "unit-gate")
            assert one.family == ("direct" if row.label in (DM, DM_PSEUDO) else "compression")


def test_every_figure_has_something_of_ours():
    for one in paper.TABLES:
        if one.number.startswith("Figure"):
            assert all(row.here.get("In the text") for row in one.rows), one.number


# --- Moduli -------------------------------------------------------------------------------------


def test_table_4_is_the_family():
    for n, (modulus, k, pseudo_modulus) in paper.PAIRS.items():
        assert (modulus, pseudo_modulus) == vassoler_pair(n)
        assert modulus == 2**n + int(k, 2)
        # "n - 1 bits and n/2 ones"
        assert (len(k), k.count("1")) == (n - 1, n // 2)
        assert modulus.bit_length() == n + 1 == pseudo_modulus.bit_length() - 1
        # Equation 22 as it is printed has one power too many.
        assert 3 * (2**n + sum(2 ** (2 * i) for i in range(n // 2 + 1))) != pseudo_modulus
        assert 3 * (2**n + sum(2 ** (2 * i) for i in range(n // 2))) == pseudo_modulus


@pytest.mark.parametrize("test", TESTS)
def test_moduli_factor_by_algebra(test):
    """They are the Fermat numbers of index 1 on, and so is no key."""
    modulus, _ = vassoler_pair(2 * test - 2)
    count = (2 * test).bit_length() - 1
    fermat = [2 ** (2**index) + 1 for index in range(1, count)]
    assert math.prod(fermat) == modulus
    assert fermat[:4] == [5, 17, 257, 65537][: count - 1]
    if test == 512:
        assert len(fermat) == 9
        assert "5 · 17 · 257 · 65,537 · ..., the Fermat numbers of index 1 to 9" in remarks(
            "Table 7"
        )


@pytest.mark.matrix
def test_a_key_has_no_pseudo_modulus():
    """Of a key that `cryptography` makes no multiple of few digits is near."""
    modulus = rsa.generate_private_key(65537, 1024).public_key().public_numbers().n
    found = search(modulus, 16)
    assert len(found.best.digits) > 100
    for exponent in range(1024, 1100):
        assert pow(2, exponent, modulus) not in (1, modulus - 1)


def test_tests_are_numbered_in_two_ways():
    """Section 5.1: Test 2 is 5 and 15, Test 16 is 2^30 + 357913941; but Test 4 is 21 and 63."""
    assert vassoler_pair(2 * 2 - 2) == (5, 15)
    assert vassoler_pair(2 * 16 - 2) == (2**30 + 357913941, 2**32 - 1)
    assert vassoler_pair(2 * 6 - 2)[1].bit_length() == 12
    assert (21, 63) == vassoler_pair(2 * 3 - 2) != vassoler_pair(2 * 4 - 2)
    assert "Test 3" in remarks("Figure 24")


# --- Table 5 ------------------------------------------------------------------------------------


def test_products_of_table_5():
    wrong = []
    for figures in paper.STANDARD_CELLS.values():
        for delay, area, product in figures:
            if not printed_as(str(product), Decimal(delay * area) / 10**6, ""):
                wrong.append((product, f"{delay * area / 1e6:.3f}"))
    assert wrong == [(6.417, "6.498")]
    assert "6.417" in remarks("Table 5") and "6.498" in remarks("Table 5")


def test_table_5_saves_much_less_than_tables_7_and_8():
    def saved(place):
        return [f"{100 - 100 * one[place] / m[place]:.1f}" for m, one in cells]

    cells = paper.STANDARD_CELLS.values()
    assert (min(saved(0), key=float), max(saved(0), key=float)) == ("1.3", "5.7")
    assert (min(saved(1), key=float), max(saved(1), key=float)) == ("1.1", "25.8")
    delays = shares(paper.DELAYS, "ns")
    assert (math.floor(min(delays)), math.ceil(max(delays))) == (51, 52)
    areas = [100 - 100 * row[3] / row[2] for row in paper.LOGIC_ELEMENTS.values()]
    assert (f"{min(areas):.0f}", f"{max(areas):.0f}") == ("20", "46")
    for words in ("1.3 to 5.7 %", "1.1 to 25.8 %", "51 to 52 %", "20 to 46 %"):
        assert words in remarks("Table 5")


# --- Tables 7 to 9 ------------------------------------------------------------------------------


def test_more_than_the_device_has():
    over = {
        circuit: [
            2 * test
            for test in TESTS
            if of(paper.LOGIC_ELEMENTS, test, circuit) > DEVICE_LOGIC_ELEMENTS
        ]
        for circuit in SYNTHESIZED
    }
    assert over == {CM: [128, 256, 512, 1024], CM_PSEUDO: [256, 512, 1024], MM: [], MM_PSEUDO: []}


def test_terms_grow_faster_than_table_7():
    last, first = paper.LOGIC_ELEMENTS[512], paper.LOGIC_ELEMENTS[16]
    words = {}
    for circuit, pseudo in ((CM, False), (CM_PSEUDO, True)):
        terms = {test: and_terms(test, pseudo=pseudo) for test in (16, 512)}
        place = CIRCUITS.index(circuit)
        words[circuit] = (
            f"{terms[512]:,}",
            f"{terms[512] / last[place]:.1f}",
            f"{terms[16] / first[place]:.1f}",
            f"{terms[512] / terms[16]:,.0f}-fold",
            f"{last[place] / first[place]:.0f}-fold",
        )
    assert words == {
        CM: ("2,093,058", "7.0", "0.2", "1,089-fold", "25-fold"),
        CM_PSEUDO: ("2,097,152", "8.9", "0.3", "1,024-fold", "35-fold"),
    }
    assert all(word in remarks("Table 7") for own in words.values() for word in own)


def test_delays_of_table_8_are_on_a_straight_line():
    for circuit, step in ((CM, 25), (CM_PSEUDO, 12)):
        delays = [value(paper.DELAYS, test, circuit, "ns") for test in TESTS]
        assert [b - a for a, b in itertools.pairwise(delays)] == [step] * 5
        assert f"{step} ns" in remarks("Table 8")


def test_extrapolation_turns_the_order_of_dm_round():
    for test in TESTS:
        slower = value(paper.DELAYS, test, DM_PSEUDO, "ns") > value(paper.DELAYS, test, DM, "ns")
        assert slower is (test == 16)
    ratio = value(paper.DELAYS, 512, DM_PSEUDO, "ns") / value(paper.DELAYS, 512, DM, "ns")
    assert f"{100 - 100 * ratio:.0f} %" == "45 %"


def test_montgomery_is_not_100_percent_slower():
    for slow, fast, words in ((MM, CM, "20,850"), (MM_PSEUDO, CM_PSEUDO, "46,944")):
        ratio = value(paper.DELAYS, 512, slow, "ns") / value(paper.DELAYS, 512, fast, "ns")
        assert f"{ratio:,.0f}" == words
        assert words in remarks("Table 8")


def test_table_9_is_table_7_times_table_8():
    wrong = [
        (test, circuit)
        for test in TESTS
        for circuit in CIRCUITS
        if not printed_as(
            of(AREA_DELAYS, test, circuit),
            of(paper.LOGIC_ELEMENTS, test, circuit) * value(paper.DELAYS, test, circuit, "s"),
            "s",
        )
    ]
    assert wrong == [(128, DM_PSEUDO)]
    product = paper.LOGIC_ELEMENTS[128][1] * value(paper.DELAYS, 128, DM_PSEUDO, "s")
    assert f"{product:.4f}" == "1.0586"


# --- Tables 10 to 12 ----------------------------------------------------------------------------


def test_table_10_counts_17_iterations_and_no_correction():
    assert paper.encryption_cycles(2) == 17
    for test in TESTS:
        for circuit in (CM, CM_PSEUDO):
            time = 17 * value(paper.DELAYS, test, circuit, "ns")
            assert printed_as(of(ENCRYPTIONS, test, circuit), time, "ns")
        for circuit in (MM, MM_PSEUDO):
            time = 17 * value(paper.DELAYS, test, circuit, "us")
            assert printed_as(of(ENCRYPTIONS, test, circuit), time, "us")
    delay = value(paper.DELAYS, 16, CM_PSEUDO, "ns")
    assert value(ENCRYPTIONS, 16, CM_PSEUDO, "ns") == 17 * delay != 18 * delay


def decryption(test, circuit, clocks=None, multipliers=2):
    """Cycles of a decryption times Table 8's delay, or over a clock, in us."""
    compressed = circuit in (CM, CM_PSEUDO)
    cycles = paper.decryption_cycles(
        test, multipliers if compressed else 2, pseudo=circuit == CM_PSEUDO
    )
    if clocks is not None:
        each = 1 if compressed else 2 * test + 2
        return cycles * each / value(clocks, test, circuit, "MHz")
    return cycles * value(paper.DELAYS, test, circuit, "us") / (1 if multipliers == 2 else 2)


def test_table_11_counts_an_iteration_a_bit_and_the_correction():
    wrong = [
        (test, circuit)
        for test in TESTS
        for circuit in SYNTHESIZED
        if not printed_as(of(DECRYPTIONS, test, circuit), decryption(test, circuit), "us")
    ]
    assert wrong == [(128, MM_PSEUDO)]
    half = decryption(128, MM_PSEUDO) / 1000
    assert f"{half:.1f}" == "81.4"
    assert printed_as("162.8 ms", 2 * half, "ms")
    for number in ("Table 11", "Table 17"):
        assert "162.8 ms" in remarks(number)


def test_no_table_has_a_factor_of_ten_million():
    def ratio(printed, test, slow, fast):
        return value(printed, test, slow, "us") / value(printed, test, fast, "us")

    ratios = [
        ratio(DECRYPTIONS, test, slow, fast)
        for test in TESTS
        for slow in (MM, MM_PSEUDO)
        for fast in (CM, CM_PSEUDO)
    ]
    assert f"{max(ratios):,.0f}" == "46,974" == f"{ratios[-1]:,.0f}"
    clocked = [decryption(512, circuit, paper.CLOCKS) for circuit in (MM_PSEUDO, CM_PSEUDO)]
    assert f"{clocked[0] / clocked[1]:,.0f}" == "1,985"
    for words in ("46,974", "1,985"):
        assert words in remarks("Table 11")
    encryptions = [ratio(ENCRYPTIONS, test, MM_PSEUDO, CM_PSEUDO) for test in TESTS]
    assert max(encryptions) < 10**5


def test_decryptions_at_the_clocks_of_tables_12_and_18():
    for clocks, multipliers, number, words in (
        (paper.CLOCKS, 2, "Table 11", ("7.3 ms", "2.4 ms")),
        (paper.ONE_CLOCKS, 1, "Table 17", ("6.7 ms", "2.0 ms")),
    ):
        for circuit, text in zip((CM, CM_PSEUDO), words, strict=True):
            time = decryption(512, circuit, clocks, multipliers) / 1000
            assert f"{time:.1f} ms" == text
            assert text in remarks(number)


def test_clocks_contradict_delays_of_cm_and_not_of_mm():
    def ratio(test, circuit):
        cycles = 1 if circuit in (CM, CM_PSEUDO) else 2 * test + 2
        period = cycles * 1000 / value(paper.CLOCKS, test, circuit, "MHz")
        return period / value(paper.DELAYS, test, circuit, "ns")

    for test in TESTS:
        for circuit in (MM, MM_PSEUDO):
            assert abs(ratio(test, circuit) - 1) < Decimal("0.09")
        for circuit in (CM, CM_PSEUDO):
            assert ratio(test, circuit) > (1 if test == 16 else 2)
    assert ratio(512, CM) > 31 and ratio(512, CM_PSEUDO) > 21
    periods = {
        (test, circuit): f"{1000 / value(paper.CLOCKS, test, circuit, 'MHz'):,.0f} ns"
        for test in (16, 512)
        for circuit in (CM, CM_PSEUDO)
    }
    assert periods[16, CM] == "125 ns"
    assert (periods[512, CM], periods[512, CM_PSEUDO]) == ("7,092 ns", "2,347 ns")
    for text in ("125 ns", "7,092 ns", "2,347 ns"):
        assert text in remarks("Table 12")


def test_growth_of_the_periods():
    growth = [
        value(paper.CLOCKS, test, circuit, "MHz") / value(paper.CLOCKS, 2 * test, circuit, "MHz")
        for test in TESTS[:-1]
        for circuit in (CM, CM_PSEUDO)
    ]
    assert (f"{min(growth):.1f}", f"{max(growth):.1f}") == ("1.8", "2.5")
    each_bit = [
        1000 / value(paper.CLOCKS, test, circuit, "MHz") / (2 * test)
        for test in TESTS
        for circuit in (MM,)
    ]
    assert (f"{min(each_bit):.1f}", f"{max(each_bit):.1f}") == ("4.1", "4.6")


def faster(clocks, test, circuit):
    return value(clocks, test, circuit, "MHz") / value(clocks, test, MM, "MHz")


def test_clock_over_montgomerys():
    ratios = [faster(paper.CLOCKS, test, CM_PSEUDO) for test in TESTS]
    assert [ratio > 2 for ratio in ratios] == [True, True, True, False, False, False]
    assert (f"{min(ratios[3:]):.2f}", f"{max(ratios[3:]):.2f}") == ("1.67", "1.82")
    assert all(faster(paper.CLOCKS, test, CM) < 1 for test in TESTS[3:])
    ratios = [faster(paper.ONE_CLOCKS, test, CM_PSEUDO) for test in TESTS]
    assert (f"{min(ratios):.1f}", f"{max(ratios):.1f}") == ("2.8", "5.1")
    assert faster(paper.ONE_CLOCKS, 512, CM) < 1
    assert f"{1000 / value(paper.ONE_CLOCKS, 512, CM_PSEUDO, 'MHz'):,.0f} ns" == "1,333 ns"


# --- Tables 13 to 18 ----------------------------------------------------------------------------


def test_table_13_is_half_of_table_7():
    exact = {}
    for test in TESTS:
        for circuit in CIRCUITS:
            two, one = (
                of(areas, test, circuit)
                for areas in (paper.LOGIC_ELEMENTS, paper.ONE_LOGIC_ELEMENTS)
            )
            if circuit in (MM, MM_PSEUDO):
                assert one == two
            else:
                exact[test, circuit] = one - (two + 1) // 2
    assert len(exact) == 24
    assert {key: off for key, off in exact.items() if off} == {(512, DM_PSEUDO): -22}


def test_table_14_is_half_of_table_8():
    for test in TESTS:
        for circuit in CIRCUITS:
            delay = value(paper.DELAYS, test, circuit, "us")
            half = delay if circuit in (MM, MM_PSEUDO) else delay / 2
            assert printed_as(of(paper.ONE_DELAYS, test, circuit), half, "us"), (test, circuit)


def test_table_15_is_a_product_or_a_quarter():
    kinds = {}
    for test in TESTS:
        for circuit in CIRCUITS:
            text = of(ONE_AREA_DELAYS, test, circuit)
            divisor = 1 if circuit in (MM, MM_PSEUDO) else 4
            product = of(paper.ONE_LOGIC_ELEMENTS, test, circuit) * value(
                paper.ONE_DELAYS, test, circuit, "s"
            )
            quarter = (
                of(paper.LOGIC_ELEMENTS, test, circuit)
                * value(paper.DELAYS, test, circuit, "s")
                / divisor
            )
            found = printed_as(text, product, "s"), printed_as(text, quarter, "s")
            kinds.setdefault(found, []).append((test, circuit))
    assert kinds[True, False] and kinds[False, True]
    assert kinds[False, False] == [(128, CM)]
    assert "CM at 256 bits is neither" in remarks("Table 15")


def test_tables_16_and_17_save_less_than_is_said():
    assert paper.encryption_cycles(1) == 19
    wrong = []
    for test in TESTS:
        for circuit in (CM, CM_PSEUDO):
            delay = value(paper.DELAYS, test, circuit, "us") / 2
            text = of(ONE_ENCRYPTIONS, test, circuit)
            assert printed_as(text, 19 * delay, "us")
            time = decryption(test, circuit, multipliers=1)
            if not printed_as(of(ONE_DECRYPTIONS, test, circuit), time, "us"):
                wrong.append((test, circuit))
        for circuit in (MM, MM_PSEUDO):
            two = value(ENCRYPTIONS, test, circuit, "us")
            assert value(ONE_ENCRYPTIONS, test, circuit, "us") == two
            two = value(DECRYPTIONS, test, circuit, "us")
            assert printed_as(of(ONE_DECRYPTIONS, test, circuit), two, "us")
    assert wrong == []
    assert f"{100 - 100 * 19 / 34:.0f} %" == "44 %"
    assert paper.decryption_cycles(512, 1, pseudo=False) * 2 == 3 * 1024
    ratio = decryption(512, CM, multipliers=1) / decryption(512, CM)
    assert ratio == Decimal("0.75")
