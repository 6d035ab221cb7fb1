"""Operations on short Weierstrass curves, executed on integers: results, cycles, special scalars.

In hardware: tests/ec.
"""

import random
import re
from functools import cache
from pathlib import Path

import pytest

from coprime.catalog import choose
from coprime.device.jobs import EngineError
from coprime.ec.samples import curve_numbers
from coprime.ec.weierstrass import CURVES, WeierstrassCurve, curve_named
from coprime.engine.contract import Command, Error, Operand
from coprime.engine.ring import ring
from coprime.engine.write_guard import WriteGuard
from coprime.model.combs import jacobian_tooth, tooth_of
from coprime.model.curve_points import add, comb_table, multiple
from coprime.operations.banked import Banked
from coprime.operations.weierstrass import POINT_OF_X
from coprime.program.operands import MODULI, PAIRS_OF_TABLE
from coprime.program.steps import Next
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers

pytestmark = pytest.mark.xdist_group("weierstrass on integers")

PAGE = (Path(__file__).parents[2] / "docs" / "curves.md").read_text("utf-8")
NAMES = ("P-256", "P-384", "P-521", "secp256k1")
OF_HOST = (
    Command.EC_CHECK,
    Command.EC_MULTIPLY,
    Command.EC_BASE_MULTIPLY,
    Command.ECDSA_SIGN_WITH,
    Command.ECDSA_VERIFY,
)


@cache
def design_of(family="compact", **settings):
    return choose(family, {"curves": "weierstrass", **settings}).design


def predicted(command, numbers, **settings):
    return predict_operation(design_of(**settings), command, numbers)


def numbers_of(command, name, seed=1, **given):
    return curve_numbers(command, curve_named(name), random.Random(seed)) | given


@pytest.mark.matrix(quick=5)
@pytest.mark.parametrize("command", OF_HOST, ids=lambda one: one.name)
@pytest.mark.parametrize("name", ["P-224", "P-256", "secp256k1", "brainpoolP320r1"])
def test_results(command, name):
    numbers = numbers_of(command, name)
    expected = command.operation.expected(numbers, design_of().capabilities.half_bits)
    assert predicted(command, numbers).result == expected


def cycles_on_the_page():
    rows = re.findall(r"^\| (ring )?(EC\w+)(?:, ([^|]*))? \|((?: [\d,]+ \|){4})$", PAGE, re.M)
    assert len(rows) == 6 + 6
    for family, name, settings, figures in rows:
        marks = [pytest.mark.matrix] * bool(family or settings)
        given = {"family": family.strip() or "compact"}
        given |= dict(one.strip("`").split("=") for one in settings.split(", ") if one)
        cycles = [int(one.replace(",", "")) for one in re.findall(r"[\d,]+", figures)]
        yield pytest.param(
            Command[name], given, cycles, id=f"{family}{name} {settings}", marks=marks
        )


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("command, settings, cycles", list(cycles_on_the_page()))
def test_cycles_on_the_page(command, settings, cycles):
    found = [predicted(command, numbers_of(command, one), **settings).cycles for one in NAMES]
    assert found == cycles


@pytest.mark.parametrize(
    "name", ["P-256", pytest.param("brainpoolP256r1", marks=pytest.mark.matrix)]
)
@pytest.mark.parametrize("command", [Command.EC_MULTIPLY, Command.EC_BASE_MULTIPLY])
def test_scalars_at_both_ends(command, name):
    curve = curve_named(name)
    usual = predicted(command, numbers_of(command, name)).cycles
    half = (curve.n - 1) // 2
    for k in (1, 2, 3, half, half + 1, *(curve.n - one for one in (3, 2, 1))):
        numbers = numbers_of(command, name, k=k)
        found = predicted(command, numbers)
        assert found.result == command.operation.expected(
            numbers, design_of().capabilities.half_bits
        )
        assert found.cycles == usual


BASES_BY_A = {
    1: (24, 80191, (1, 62377)),
    -1: (35, 80279, (1, 26392)),
    -2: (55, 79843, (2, 7242)),
    -3: (3, 79801, (1, 1)),
    -4: (9, 79987, (2, 80068)),
}
"""Curves modulo 80071: b, n, and a base point."""


@pytest.mark.matrix
@pytest.mark.parametrize(
    "a", [pytest.param(a, marks=[pytest.mark.matrix] * (a not in (-2, -3))) for a in BASES_BY_A]
)
def test_combs_of_every_a_on_ring(a):
    """a = -3 has two products less, and what comes close to it has not."""
    b, n, base = BASES_BY_A[a]
    curve = WeierstrassCurve(f"a = {a}", 80071, a % 80071, b, n, base)
    command = Command.EC_BASE_MULTIPLY
    cycles = set()
    for k in (1, 2, 3, n // 2, n - 2, n - 1, *(random.Random(a).randrange(1, n) for _ in range(9))):
        numbers = curve_numbers(command, curve, random.Random(1)) | {"k": k}
        found = predicted(command, numbers, family="ring")
        half_bits = design_of("ring").capabilities.half_bits
        assert found.result == command.operation.expected(numbers, half_bits)
        cycles.add((found.cycles, found.products))
    assert len(cycles) == 1


@pytest.mark.parametrize("k", [0, 1 << 256])
def test_scalars_out_of_range(k):
    numbers = numbers_of(Command.EC_BASE_MULTIPLY, "P-256", k=k)
    if k:
        with pytest.raises(ValueError, match="k must be below n, the order of the points"):
            predicted(Command.EC_BASE_MULTIPLY, numbers)
        return
    with pytest.raises(EngineError) as found:
        predicted(Command.EC_BASE_MULTIPLY, numbers)
    assert found.value.code is Error.OPERAND_RANGE


def test_a_table_of_points_of_another_curve():
    """The sum is on no curve: a fault."""
    numbers = numbers_of(Command.EC_BASE_MULTIPLY, "P-256")
    with pytest.raises(EngineError) as found:
        predicted(Command.EC_BASE_MULTIPLY, numbers | {"gy": numbers["gy"] + 1})
    assert found.value.code is Error.FAULT


def test_a_small_r_is_compared_twice():
    """With r + n below p, x may be either; here it is neither."""
    numbers = numbers_of(Command.ECDSA_VERIFY, "P-256")
    small = numbers | {"r": 5}
    with pytest.raises(EngineError) as found:
        predicted(Command.ECDSA_VERIFY, small)
    assert found.value.code is Error.SIGNATURE


@pytest.mark.parametrize("curve", CURVES, ids=lambda one: one.name)
def test_the_table_of_a_comb(curve):
    tooth = jacobian_tooth(curve.n, curve.n.bit_length(), 17, 24)
    assert 4 * tooth > curve.n.bit_length() >= 3 * tooth + 4
    assert 4 * tooth < curve.n.bit_length() + 9
    table = comb_table(curve.base, tooth, curve.a, curve.p)
    for index, point in enumerate(table):
        scalar = 1 << 3 * tooth
        for place in range(3):
            scalar += (1 if index >> (2 - place) & 1 else -1) << place * tooth
        expected = multiple(*curve.base, scalar % curve.n, curve.a, curve.b, curve.p, curve.n)
        assert point == expected


@pytest.mark.parametrize("width, headroom", [(17, 7), (17, 24), (50, 7), (50, 13), (32, 6), (8, 6)])
def test_the_digits_of_a_tooth(width, headroom):
    """The highest digit has a bit of the tooth, and none between is left out."""
    for columns in range(1, 300):
        tooth = tooth_of(columns, width, headroom)
        assert columns <= tooth <= columns + 1 + headroom % width // 4
        digits = (-(-(4 * tooth + headroom) // width) - headroom // width + 3) // 4
        assert 0 <= digits * width - tooth < width


@pytest.mark.parametrize("bits, has_comb", [(7, False), (20, False), (28, True), (64, True)])
def test_orders_that_are_too_short_for_a_comb(bits, has_comb):
    assert bool(jacobian_tooth((1 << bits) - 1, bits, 17, 24)) is has_comb


def test_a_short_curve_with_a_comb():
    numbers = dict(random_numbers(Command.EC_BASE_MULTIPLY, 64, 1))
    expected = multiple(*(numbers[one] for one in ("gx", "gy", "k", "a", "b", "p", "n")))
    found = predicted(Command.EC_BASE_MULTIPLY, numbers)
    half_bits = design_of().capabilities.half_bits
    assert found.result == expected[0] | expected[1] << half_bits
    p, a = numbers["p"], numbers["a"]
    assert add(expected, (expected[0], -expected[1] % p), a, p) is None


def test_where_the_numbers_lie():
    layout = design_of().layout
    assert all(layout.numbers[one] % 32 == 2 * k for k, one in enumerate(PAIRS_OF_TABLE))
    held = design_of().capabilities.operands
    assert {Operand.SECRET, Operand.POINT, *PAIRS_OF_TABLE} <= held


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("family", ["compact", "ring"])
def test_what_is_only_read_is_locked(family):
    """Also where a number of one block lies beside it."""
    design = design_of(family)
    (program,), layout = design.programs, design.layout
    only_read = {Operand.SECRET, *(context.modulus for context in MODULI), Operand.X}
    only_read |= {Operand.P_POWER, Operand.Q_POWER, Operand.DP, Operand.DQ}
    blocks = {
        place.block
        for place, content in layout.places.contents.items()
        if place.bank == 0 and not only_read.isdisjoint(one for one, _ in content)
    }
    assert len(blocks) >= len(only_read)
    assert blocks.isdisjoint(WriteGuard(program, layout).written_left)


@pytest.mark.parametrize("settings", [{"multipliers": 2}, {"window": 5}], ids=str)
def test_parameters_of_ring_that_do_not_fit(settings):
    with pytest.raises(ValueError, match="with curves there are one multiplier, and windows of 4"):
        ring(curves="weierstrass", **settings)


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"ecdsa": "drawn", "curves": "none"}, "ecdsa=drawn is for curves=weierstrass"),
        ({"blinding": "all"}, "with curves=weierstrass there is no blinding yet"),
        ({"ecdsa": "none"}, "ecdsa must be one of host, drawn, hardened, not 'none'"),
    ],
    ids=str,
)
def test_parameters_that_do_not_fit(settings, error):
    with pytest.raises(ValueError, match=error):
        _ = choose("compact", {"curves": "weierstrass", **settings}).design


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("command", "secret"),
    [
        (Command.EC_MULTIPLY, "k"),
        (Command.EC_BASE_MULTIPLY, "k"),
        pytest.param(Command.ECDSA_SIGN_WITH, "k", marks=pytest.mark.matrix),
    ],
)
def test_sums_beside_products_take_the_same_cycles_for_each_scalar(command, secret):
    """What waits for what does not depend on the bits by which numbers change places."""
    n = curve_named("secp256k1").n
    scalars = [1, 2, n - 1, n >> 1, 0x55 << 240, (1 << 255) + 1]
    found = {
        predicted(command, numbers_of(command, "secp256k1", **{secret: k}), family="ring").cycles
        for k in scalars
    }
    assert len(found) == 1


def test_nothing_is_1_until_a_point_is_entered():
    """Else a jump that misses the point would have the one before it multiplied, and the bits'
    sum, which begins with that 1, be right."""
    program = design_of().programs[0]
    steps = program.steps
    begins = next(k for k, one in enumerate(steps) if one.note == "has it a bit more than n?")
    enters = next(k for k, one in enumerate(steps) if one.note == "Z_2 = 0" and k > begins)
    assert steps[begins].destination is Banked.UNIT and begins == enters - 2
    assert program.routines[program.targets[enters]].name == POINT_OF_X
    assert steps[enters + 1].x is Banked.UNIT


def test_a_bit_is_summed_after_the_steps_that_it_swaps():
    """So a fault that changes the bit in the middle of a round is in the sum. One step may follow:
    it alone makes no point."""
    steps = design_of().programs[0].steps
    rounds = {step.target for step in steps if step.next is Next.NEXT_BIT}
    found = 0
    for at, step in enumerate(steps):
        if step.note == "... + 1, of a 1":
            end = next(k for k in range(at, len(steps)) if steps[k].next is Next.NEXT_BIT)
            begin = max(k for k in range(at) if steps[k].label in rounds)
            assert sum(one.by_bit for one in steps[at + 1 : end + 1]) <= 1
            assert sum(one.by_bit for one in steps[begin:at]) > 2
            found += 1
    assert found == 2
