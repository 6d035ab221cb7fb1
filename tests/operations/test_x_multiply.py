"""X_MULTIPLY: the ladder on two banks, its places and lengths; toy curves; drivers and tools.

X25519 and X448 themselves: tests/ec.
"""

import ctypes
import json
import random
import re
from functools import partial
from pathlib import Path

import pytest

from coprime.catalog import FAMILIES, choose
from coprime.cells.target import Target
from coprime.device.accelerator import EngineError
from coprime.device.cluster import Cluster
from coprime.device.jobs import Job
from coprime.device.keyed_cluster import KeyedCluster
from coprime.device.simulated import open_cluster
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.operations.encodings.radix import Radix
from coprime.operations.x_multiply import ladder
from coprime.package.package import write_package
from coprime.program.operands import SWAPPED_BY_BIT, Exchanged
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers
from tests.benches import open_bench
from tests.drivers.bindings import Memory, driver_of, modulus, words
from tests.drivers.harness import DRIVER, compile_c
from tests.package.test_testbench import ICARUS, assert_passes

pytestmark = pytest.mark.xdist_group("X_MULTIPLY")

X_MULTIPLY = Command.X_MULTIPLY
PAGE = (Path(__file__).parents[2] / "docs" / "curves.md").read_text("utf-8")
P = (1 << 255) - 19
A_24 = 121665


def design_of(**settings):
    return choose("compact", {"max_bits": "256", "curves": "montgomery", **settings}).design


def predicted(design, e, *, x=9, length=255):
    operands = Radix.of(design.capabilities).modulus_operands(P, 255)
    operands |= {Operand.X: x, Operand.Y: A_24, Operand.E: e}
    return design.predict(
        Command.X_MULTIPLY, operands, {Length.MODULUS: 255, Length.EXPONENT: length}
    )


@pytest.mark.parametrize("e", [0, 1, 2, 3, 8, (1 << 254) + 0x1234, (1 << 255) - 1])
def test_the_prediction_has_the_result_of_the_rfc(e):
    design = design_of()
    found = predicted(design, e)
    assert (found.error, found.result) == (Error.NONE, ladder(9, e, A_24, P))
    assert found.cycles == predicted(design, 1).cycles


@pytest.mark.matrix
def test_cycles_of_ring_on_the_page():
    rows = re.findall(r"^\| ring X_MULTIPLY, `dsp=(\d+)` \| ([\d,]+) \| ([\d,]+) \|$", PAGE, re.M)
    assert [dsp for dsp, *_ in rows] == ["6", "12"]
    for dsp, *figures in rows:
        found = map(partial(cycles_of_ring, dsp), (255, 448))
        assert [f"{one:,}" for one in found] == figures


def cycles_of_ring(dsp, bits):
    design = choose("ring", {"curves": "montgomery", "dsp": dsp}).design
    return predict_operation(design, X_MULTIPLY, random_numbers(X_MULTIPLY, bits, 1)).cycles


def test_a_scalar_that_is_shorter_than_the_modulus():
    """The inversion's exponent, which is as long as the modulus, takes its place."""
    assert predicted(design_of(), 1, length=254).error is Error.EXPONENT_LENGTH
    assert predicted(design_of(), 1, length=260).result == 9


@pytest.mark.parametrize("settings", [{}, {"max_bits": "2048"}, {"blinding": "all"}], ids=str)
def test_numbers_that_change_places(settings):
    """Their blocks differ in the bit that the ladder's bit inverts, and hold nothing else that a
    step by a bit has."""
    design = design_of(**settings)
    layout, (program,) = design.layout, design.programs
    pairs = {one: other for one, other in SWAPPED_BY_BIT.items() if one in layout.numbers}
    assert len(pairs) == 12
    for one, other in pairs.items():
        assert layout.numbers[one] ^ layout.numbers[other] == 2
    blocks = {layout.numbers[one] | part for one in pairs for part in (0, 1)}
    steps = [step for step in program.steps if step.by_bit]
    assert len(steps) == 16
    for step in steps:
        others = {step.x, step.y, step.destination, step.copy} - SWAPPED_BY_BIT.keys() - {None}
        named = {layout.numbers[one] | part for one in others for part in (0, 1)}
        assert blocks.isdisjoint(named), step.note


def test_what_is_not_built_for_curves_is_as_before():
    design = choose("compact", {"max_bits": "256"}).design
    assert Command.X_MULTIPLY not in design.capabilities.required
    assert not design.programs[0].swaps
    assert Exchanged.X_2 not in design.layout.numbers
    able = {
        name for name, one in FAMILIES.items() if "curves" in {each.name for each in one.settings}
    }
    assert able == {"compact", "ring"}
    with pytest.raises(ValueError, match="curves must be none, all, or some of montgomery"):
        choose("compact", {"curves": "every"})


# --- Hardware -----------------------------------------------------------------------------------

BITS = 128
TOY = (1 << 20) - 3
"""A prime of 20 bits."""


class ToyCurve:
    """b v^2 = u^3 + a u^2 + u modulo TOY with affine formulas; each u has a b with which v is 1."""

    def __init__(self, a24):
        self.a24, self.a = a24, 4 * a24 + 2

    def right_side(self, u):
        return (u**3 + self.a * u**2 + u) % TOY

    def multiple(self, k, u):
        """u of k (u, 1), on the curve or its twist; 0 for the point at infinity."""
        b = self.right_side(u)
        if b == 0:  # of order 2
            return u if k % 2 else 0
        result, point = None, (u, 1)
        for bit in f"{k:b}":
            result = self.add(b, result, result)
            if bit == "1":
                result = self.add(b, result, point)
        return 0 if result is None else result[0]

    def add(self, b, one, other):
        if one is None or other is None:
            return one or other
        (u1, v1), (u2, v2) = one, other
        if u1 != u2:
            slope = (v2 - v1) * pow(u2 - u1, -1, TOY)
        elif (v1 + v2) % TOY == 0:
            return None
        else:
            slope = (3 * u1**2 + 2 * self.a * u1 + 1) * pow(2 * b * v1, -1, TOY)
        u3 = (b * slope**2 - self.a - u1 - u2) % TOY
        return u3, (slope * (u1 - u3) - v1) % TOY

    def special(self):
        """0, 1 and -1, which have orders 2, 4 and 4; others of order 2, and some of order 3."""
        two = [u for u in range(2, TOY) if not (u * u + self.a * u + 1) % TOY]
        three = [
            u for u in range(2, TOY) if not (3 * u**4 + 4 * self.a * u**3 + 6 * u**2 - 1) % TOY
        ]
        return [0, 1, TOY - 1, *two, *three]


def scalars(generator):
    """The ends of the range, single bits, all ones, then random ones."""
    yield from range(18)
    yield from (TOY - 1, TOY, TOY + 1, (1 << 20) - 1, (1 << 20) - 2, 0x55555, 0xAAAAA, 1 << 19)
    yield from (generator.getrandbits(20) for _ in range(14))


@pytest.fixture(scope="module")
def bench():
    bench = open_bench("compact", curves="montgomery", max_bits=BITS)
    yield bench
    bench.device.close()


def numbers_of(curve, k, u):
    return {"x": u, "e": k, "y": curve.a24, "m": TOY}


@pytest.mark.matrix
@pytest.mark.parametrize(
    "a24", [7, *(pytest.param(one, marks=pytest.mark.matrix) for one in (12345, TOY - 2))]
)
def test_toy_curves(bench, a24):
    """Hardware and prediction against affine points; all in the same cycles."""
    curve, generator = ToyCurve(a24), random.Random(a24)
    special, cycles = curve.special(), set()
    for u in [*special, *(generator.randrange(TOY) for _ in range(3))]:
        for k in scalars(generator):
            found = bench.accelerator.operate(X_MULTIPLY, numbers_of(curve, k, u))
            assert found.value == curve.multiple(k, u), (k, u)
            cycles.add(found.cycles)
    assert len(cycles) == 1


@pytest.mark.matrix
def test_cycles_depend_on_the_lengths_only(bench):
    """Of scalars and points at the ends of their ranges, and random ones."""
    generator = random.Random(3)
    m = (1 << 127) - 1
    ends = [(k, u) for k in (0, 1, (1 << 127) - 1, 1 << 126) for u in (0, 1, 2, m - 1)]
    drawn = [(generator.getrandbits(127), generator.randrange(m)) for _ in range(20)]
    found = [
        bench.accelerator.operate(X_MULTIPLY, {"x": u, "e": k, "y": 39081, "m": m})
        for k, u in ends + drawn
    ]
    assert len({result.cycles for result in found}) == 1
    for (k, u), result in zip(ends + drawn, found, strict=True):
        assert result.value == X_MULTIPLY.operation.result(x=u, e=k, y=39081, m=m)


@pytest.mark.matrix
def test_a_scalar_may_be_longer_than_the_modulus(bench):
    """A bit more is a round of the ladder more."""
    curve, cycles = ToyCurve(7), []
    for length in (20, 21, 22, 24):
        found = bench.accelerator.operate(
            X_MULTIPLY, numbers_of(curve, 54321, 9), exponent_length=length
        )
        assert found.value == curve.multiple(54321, 9)
        cycles.append(found.cycles)
    first, second, third, fourth = cycles
    assert first < second < third < fourth


@pytest.mark.matrix
def test_refusals(bench):
    curve = ToyCurve(7)
    good = numbers_of(curve, 5, 9)
    for change, error in (
        ({"x": TOY}, Error.OPERAND_RANGE),
        ({"y": TOY}, Error.OPERAND_RANGE),
        ({"m": TOY - 1}, Error.MODULUS_EVEN),
        ({"m": 0}, Error.MODULUS_ZERO),
    ):
        with pytest.raises(EngineError) as caught:
            bench.accelerator.operate(X_MULTIPLY, {**good, **change})
        assert caught.value.code is error, change
    with pytest.raises(ValueError, match="exponent_length must be 20 or more"):
        bench.accelerator.operate(X_MULTIPLY, good, exponent_length=19)
    job = bench.accelerator.operation_job(X_MULTIPLY, good)
    short = Job(X_MULTIPLY, {**job.lengths, Length.EXPONENT: 19}, job.operands)
    with pytest.raises(EngineError) as caught:
        bench.accelerator._run(short, 9)
    assert caught.value.code is Error.EXPONENT_LENGTH
    assert bench.accelerator.operate(X_MULTIPLY, good).value == curve.multiple(5, 9)


@pytest.mark.matrix
def test_the_c_driver(bench, tmp_path):
    class Input(ctypes.Structure):
        _fields_ = [("words", ctypes.POINTER(ctypes.c_uint32)), ("bits", ctypes.c_uint32)]

    library = ctypes.CDLL(str(compile_c(tmp_path, "coprime.so", "-shared", "-fPIC", "-O1", DRIVER)))
    driver = driver_of(bench.device)
    assert library.coprime_open(ctypes.byref(driver)) == 0
    m = (1 << 127) - 1
    memory, own = Memory((ctypes.c_uint32 * 64)(), 64), modulus(m)
    assert library.coprime_modulus_constants(*map(ctypes.byref, (driver, own, memory))) == 0
    assert library.coprime_load_modulus(ctypes.byref(driver), ctypes.byref(own)) == 0

    def operate(x, e, y, e_bits):
        given = (Input * 3)(
            *(Input(words(value, bits), bits) for value, bits in ((x, 127), (e, e_bits), (y, 127)))
        )
        result = words(0, 127)
        error = library.coprime_operate(ctypes.byref(driver), X_MULTIPLY, given, result)
        return error, list(result)

    generator = random.Random(4)
    for e, bits in ((0, 127), (1, 127), ((1 << 127) - 1, 127), (generator.getrandbits(127), 128)):
        u = generator.randrange(m)
        expected = X_MULTIPLY.operation.result(x=u, e=e, y=39081, m=m)
        assert operate(u, e, 39081, bits) == (0, [*words(expected, 127)])
    assert operate(9, 1, 39081, 126)[0] == Error.EXPONENT_LENGTH
    assert operate(m, 1, 39081, 127)[0] == Error.OPERAND_RANGE
    assert operate(9, 1, m, 127)[0] == Error.OPERAND_RANGE
    bench.accelerator.forget()


@pytest.mark.matrix
def test_a_cluster():
    settings = {"engine": "compact", "cores": "2", "max_bits": "128", "curves": "montgomery"}
    curve, m = ToyCurve(7), (1 << 127) - 1
    with open_cluster(choose("cluster", settings)) as device:
        cluster = KeyedCluster(Cluster(device))
        assert X_MULTIPLY in cluster.commands
        assert cluster.operate(X_MULTIPLY, numbers_of(curve, 777, 9)).value == curve.multiple(
            777, 9
        )
        numbers = {"x": m - 3, "e": m - 5, "y": 39081, "m": m}
        assert cluster.operate(X_MULTIPLY, numbers).value == X_MULTIPLY.operation.result(**numbers)


@ICARUS
@pytest.mark.matrix
def test_package(tmp_path):
    """The testbench runs it, and the data sheet shows it."""
    choice = choose("compact", {"max_bits": "64", "curves": "montgomery"})
    write_package(choice, Target.GENERIC, tmp_path)
    sheet = json.loads((tmp_path / "doc" / "data_sheet.json").read_text())
    assert "X_MULTIPLY" in json.dumps(sheet)
    assert_passes(tmp_path)
    testbench = "".join(path.read_text("utf-8") for path in (tmp_path / "sim").glob("*.v"))
    assert "X_MULTIPLY" in testbench


@pytest.mark.matrix
def test_ring_takes_the_same_cycles_for_each_scalar():
    design = choose("ring", {"max_bits": "512", "curves": "montgomery"}).design
    scalars = (1 << 254, (1 << 255) - 8, 0x55 << 247, 0xCC << 247, (1 << 254) + 8)
    assert len({predicted(design, e).cycles for e in scalars}) == 1
