"""Operations on curves on lanes of one memory: each in hardware, beside RSA; places and steps."""

import itertools
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from coprime.catalog import choose, settings_for
from coprime.ec.samples import curve_for, curve_numbers
from coprime.engine.contract import Command, Error, Operand
from coprime.multipliers.fdfm import FdfmMultiplication
from coprime.multipliers.karatsuba.multiplication import KaratsubaMultiplication
from coprime.operations.one_memory import steps_in_one_memory
from coprime.program.operands import HALF_OF, OF_ONE, Context, Mode, Scratch
from coprime.program.steps import Next, StepKind, linear, multiply
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import Operands, expected_result, random_operands
from tests.benches import open_bench, run_in_both_orders

COMMANDS = {"montgomery": 1, "weierstrass": 4, "edwards": 3}
CURVES = tuple(COMMANDS)
DESIGNS = {
    "karatsuba": {},
    "karatsuba, one multiplier": {"multipliers": "1", "word": "64"},
    "karatsuba, with MODEXP2": {"multipliers": "1", "word": "16", "modexp2": "1"},
    "fdfm": {"exponentiator": "fixed-window"},
    "fdfm, two multipliers": {"exponentiator": "fixed-window", "multipliers": "2"},
    "montgomery-r2": {"exponentiator": "fixed-window"},
    "montgomery-r2, words of 8 bits": {
        "exponentiator": "fixed-window",
        "multipliers": "1",
        "word": "8",
    },
}
SMALL = ("montgomery-r2, words of 8 bits", "edwards")
"""The one that is always built."""
ACC = Scratch.ACCUMULATOR


def settings_of(name, curves):
    return {"max_bits": "256", "curves": curves, **DESIGNS[name]}


def design_of(name, curves):
    return choose(name.partition(",")[0], settings_of(name, curves)).design


def cases():
    every = itertools.product(DESIGNS, CURVES)
    return [pytest.param(*one, marks=[] if one == SMALL else pytest.mark.slow) for one in every]


@pytest.mark.parametrize(("name", "curves"), cases())
def test_every_operation(name, curves):
    bench = open_bench(name.partition(",")[0], **settings_of(name, curves))
    commands = [one for one in Command if one in bench.design.capabilities.required]
    assert (
        sum(one.operation.is_of_curves for one in commands) == {"m": 1, "w": 5, "e": 3}[curves[0]]
    )
    run_in_both_orders(bench, commands)
    bench.device.close()


@pytest.mark.parametrize("curves", CURVES)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "karatsuba" else pytest.mark.slow) for name in DESIGNS],
)
def test_predictions_are_what_python_computes(name, curves):
    design = design_of(name, curves)
    for command in design.capabilities.required:
        for seed in (1, 2) if command.operation.is_of_curves else ():
            operands = random_operands(command, 64, seed=seed)
            found = predict_operation(design, command, operands)
            expected, _ = expected_result(
                command, operands, half_bits=design.capabilities.half_bits
            )
            assert (found.error, found.result) == (Error.NONE, expected)


@pytest.mark.parametrize("curves", CURVES)
@pytest.mark.parametrize("name", ["karatsuba", pytest.param("fdfm", marks=pytest.mark.slow)])
def test_no_two_numbers_share_a_place(name, curves):
    design = design_of(name, curves)
    layout, digits = design.layout, design.memory
    assert len(set(layout.bases.values())) == len(layout.bases)
    own = {one: base for one, base in layout.bases.items() if one not in HALF_OF}
    places = [*sorted(own.values()), layout.depth]
    longest = {base: following - base for base, following in itertools.pairwise(places)}
    for one, base in own.items():
        single = isinstance(one, Operand) and one.name.endswith("_INVERSE")
        assert longest[base] >= (1 if single else digits.prime)
    for high in HALF_OF:
        if high in layout.bases:
            assert layout.bases[high] == layout.bases[HALF_OF[high]] + digits.half
            assert longest[layout.bases[HALF_OF[high]]] >= digits.half + digits.prime
    assert {longest[layout.bases[one]] for one in (Operand.M_POWER, ACC)} == {digits.whole}


@pytest.mark.parametrize("curves", CURVES)
def test_what_changes_places_has_numbers_that_differ_in_their_lowest_bit(curves):
    numbers = design_of("karatsuba", curves).layout.numbers
    named = [one for one in OF_ONE if one in numbers]
    assert named
    assert all(numbers[one] ^ 1 == numbers[OF_ONE[one]] for one in named)
    assert len({numbers[one] for one in numbers if not isinstance(one, Mode)}) == sum(
        not isinstance(one, Mode) for one in numbers
    )


def test_there_is_no_check_of_results():
    for curves in ("weierstrass", "edwards"):
        design = design_of("karatsuba", curves)
        assert not design.capabilities.checked
        (program, _) = design.programs
        assert not program.checks and not program.has_parity
        assert StepKind.CHECK_SUM not in program.kinds


def test_a_second_lane_has_no_part_in_it():
    leading, other = design_of("karatsuba", "weierstrass").programs
    on_curves = {one for one in leading.entries if one.operation.is_of_curves}
    assert len(on_curves) == 5
    assert on_curves.isdisjoint(other.entries)
    assert not (other.sums or other.swaps or other.scans_columns)


ROW = re.compile(r"^\| `(\w\S+)((?: -p \S+)*)` \|((?: [\d,]+ \|){6})$", re.M)
MEASURED = (
    (Command.X_MULTIPLY, ""),
    (Command.EC_MULTIPLY, "P-256"),
    (Command.ECDSA_SIGN_WITH, "P-256"),
    (Command.ECDSA_VERIFY, "P-256"),
    (Command.ED_BASE_MULTIPLY, "Ed25519"),
    (Command.ED_VERIFY, "Ed25519"),
)


def rows_of_the_page():
    return ROW.findall((Path(__file__).parents[2] / "docs" / "curves.md").read_text("utf-8"))


def test_the_page_has_a_row_for_each_family():
    assert [one for one, *_ in rows_of_the_page()] == [
        *("karatsuba", "karatsuba", "fdfm", "montgomery-r2")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4))
def test_cycles_on_the_page(place):
    family, settings, figures = rows_of_the_page()[place]
    given = dict(one.split("=") for one in settings.replace(" -p ", " ").split())
    expected = re.findall(r"[\d,]+", figures)
    found = []
    for command, name in MEASURED:
        if name:
            numbers = curve_numbers(command, curve_for(command, name), random.Random(1))
            operands = Operands.of(**numbers)
        else:
            operands = random_operands(command, 255, 1)
        design = choose(family, settings_for(family, given, command)).design
        found.append(f"{predict_operation(design, command, operands).cycles:,}")
    assert found == expected


# --- Steps ----------------------------------------------------------------------------------------


FDFM, KARATSUBA = FdfmMultiplication(), KaratsubaMultiplication(32, 6)


def converted(step, multiplication=FDFM):
    return [
        (one.kind, one.destination, one.x, one.next, one.by_bit)
        for one in steps_in_one_memory([step], multiplication)
    ]


def test_a_copy_is_moved():
    one, copy = Scratch.Y_2, Scratch.Y_2_COPY
    total = linear(StepKind.ADD, one, one, ACC, Context.P, "a sum")
    step = replace(total, copy=copy, by_bit=True, next=Next.NEXT_BIT)
    assert converted(step) == [
        (StepKind.ADD, one, one, Next.FOLLOWING, True),
        (StepKind.MOVE, copy, one, Next.NEXT_BIT, True),
    ]


def test_a_product_is_not_written_over_its_factors():
    x, y = Scratch.X_2, Scratch.Y_2
    product, moved = converted(multiply(y, x, y, Context.P, "x y"))
    assert product[:3] == (StepKind.MULTIPLY, Scratch.PRODUCT, x)
    assert moved[:3] == (StepKind.MOVE, y, Scratch.PRODUCT)
    ((_, destination, *_),) = converted(multiply(ACC, x, ACC, Context.P, "x C"))
    assert destination is Mode.NEXT
    product, moved = converted(multiply(Mode.HALF, ACC, Mode.ONE, Context.P, "C 1"))
    assert (product[1], moved[1]) == (Scratch.PRODUCT, Mode.HALF)
    ((_, destination, *_),) = converted(multiply(y, x, y, Context.P, "x y"), KARATSUBA)
    assert destination is y


def test_a_step_that_is_repeated_cannot_be_moved():
    step = multiply(Scratch.X_2, Scratch.X_2, ACC, Context.P, "again", next=Next.IF_WINDOW)
    with pytest.raises(ValueError, match="'again' is repeated"):
        steps_in_one_memory([step], FDFM)


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        ("fdfm", {}, "curves=montgomery needs exponentiator=fixed-window and window=4"),
        ("karatsuba", {"window": "2"}, "needs exponentiator=fixed-window and window=4"),
        ("karatsuba", {"scaled": "1"}, "needs scaled=0 and interleaved=0"),
        (
            "karatsuba",
            {"interleaved": "1", "multipliers": "1"},
            "needs scaled=0 and interleaved=0",
        ),
        ("montgomery-2csa", {}, "has no parameter 'curves'"),
        ("karatsuba", {"nonce": "random"}, "has no parameter 'nonce'"),
    ],
)
def test_settings_that_are_refused(family, settings, message):
    with pytest.raises(ValueError, match=message):
        assert choose(family, {"curves": "montgomery", **settings}).design


def test_nonces_are_the_hosts():
    command = Command.ECDSA_SIGN_WITH
    assert settings_for("karatsuba", {}, command) == {"curves": "weierstrass"}
    message = "fdfm cannot have ECDSA_SIGN; compact, ring can"
    with pytest.raises(ValueError, match=message):
        settings_for("fdfm", {}, Command.ECDSA_SIGN)


@pytest.mark.parametrize("bits", [521, 527])
def test_the_multiplicand_of_a_sum_that_is_not_reduced_fits(bits):
    """The bound that programs keep: a multiplicand and the modulus are below R."""
    for curves in CURVES:
        own = design_of("fdfm", curves).multiplication
        digits = -(-(bits + own.headroom) // own.digit_width)
        m = (1 << bits) - 1
        assert own.most_multiplicand * m + m < 1 << own.digit_width * digits
