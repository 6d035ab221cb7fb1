"""MODEXP2: two powers with shared squarings, on every family of lanes, in drivers and tools."""

import ctypes
import json
import random

import pytest

from coprime.catalog import FAMILIES, choose, family_named
from coprime.cells.target import Target
from coprime.cli import main
from coprime.device.accelerator import Accelerator, EngineError
from coprime.device.cluster import Cluster
from coprime.device.scheduler import Scheduler
from coprime.device.simulated import open_cluster
from coprime.engine.contract import Command, Error
from coprime.package.package import write_package
from coprime.runs.execution import Identity, predict_operation
from coprime.runs.numbers import random_numbers
from tests.benches import grouped, open_bench
from tests.drivers.bindings import Memory, driver_of, modulus, words
from tests.drivers.harness import DRIVER, compile_c
from tests.package.test_testbench import ICARUS, assert_passes

MODEXP2 = Command.MODEXP2
BITS = 128
DESIGNS = {
    "fdfm": ("fdfm", {}),
    "fdfm, fixed-window": ("fdfm", {"exponentiator": "fixed-window", "window": "2"}),
    "fdfm, sliding-window": ("fdfm", {"exponentiator": "sliding-window"}),
    "fdfm, repeated": ("fdfm", {"exponentiator": "repeated"}),
    "fdfm, right-to-left": ("fdfm", {"exponentiator": "right-to-left"}),
    "fdfm, m-ary": ("fdfm", {"exponentiator": "m-ary", "window": "1"}),
    "fdfm, 2 multipliers": ("fdfm", {"multipliers": "2"}),
    "montgomery-2csa": ("montgomery-2csa", {}),
    "montgomery-1csa": ("montgomery-1csa", {"multipliers": "1", "word": "16"}),
    "interleaved-csa": ("interleaved-csa", {}),
    "montgomery-r2": ("montgomery-r2", {"word": "24"}),
    "karatsuba": ("karatsuba", {}),
    "karatsuba, interleaved": ("karatsuba", {"multipliers": "1", "interleaved": "1"}),
    "karatsuba, scaled": ("karatsuba", {"multipliers": "1", "scaled": "1"}),
    "compact": ("compact", {}),
    "compact, blinded": ("compact", {"blinding": "all"}),
    "ring": ("ring", {}),
    "ring, windows of 4": ("ring", {"window": "4"}),
    "ring, 2 multipliers": ("ring", {"multipliers": "2"}),
    "ring, 2 tiles": ("ring", {"tiles": "2"}),
    "ring, blinded": ("ring", {"blinding": "all"}),
}
SIMULATED = {
    "fdfm": ("fdfm", {"max_bits": 128}),
    "compact": ("compact", {"max_bits": 128}),
}
SIMULATED_LONG = {
    "ring": ("ring", {"max_bits": 128, "tile": "one17"}),
    "karatsuba, 2 multipliers": ("karatsuba", {"max_bits": 128, "word": 16, "latency": 3}),
    "interleaved-csa": ("interleaved-csa", {"max_bits": 128}),
    "karatsuba, scaled": ("karatsuba", {"max_bits": 128, "multipliers": 1, "scaled": 1}),
    "fdfm, fixed-window": ("fdfm", {"max_bits": 128, "exponentiator": "fixed-window"}),
    "ring, 2 multipliers": ("ring", {"max_bits": 128, "multipliers": 2}),
    "compact, blinded": ("compact", {"max_bits": 128, "blinding": "all"}),
}


def design_of(name):
    family, settings = DESIGNS[name]
    return choose(family, {"max_bits": str(BITS), "modexp2": "1", **settings}).design


def predicted(design, numbers, exponent_length=None):
    job = Accelerator(Identity(design.capabilities)).operation_job(
        MODEXP2, numbers, exponent_length=exponent_length
    )
    operands = {**job.operands, 0: numbers["x"]}
    return design.predict(MODEXP2, operands, job.lengths)


def examples(least):
    """Numbers at the ends of their ranges, then random ones."""
    generator = random.Random(1)
    m = generator.getrandbits(BITS) | 1 << (BITS - 1) | 1
    ones = (1 << BITS // 2) - 1
    for e, f in ((0, 0), (1, 0), (0, 1), (1, 1), (ones, ones), (ones, 0), (0, ones), (ones - 1, 1)):
        yield {"x": m - 1, "e": e, "y": m - 2, "f": f, "m": m}
    for x, y in ((0, 0), (0, 1), (1, 0), (1, 1)):
        yield {"x": x, "e": 5, "y": y, "f": 6, "m": m}
    for bits in (least, least + 1, 77, BITS - 1):
        m = generator.getrandbits(bits) | 1 << (bits - 1) | 1
        x, y = generator.randrange(m), generator.randrange(m)
        e, f = (generator.getrandbits(generator.randrange(1, 65)) for _ in range(2))
        yield {"x": x, "e": e, "y": y, "f": f, "m": m}


@pytest.mark.matrix(quick=5)
@pytest.mark.parametrize("name", DESIGNS)
def test_results(name):
    design = design_of(name)
    for numbers in examples(max(2, design.capabilities.min_length)):
        x, e, y, f, m = (numbers[one] for one in "xeyfm")
        found = predicted(design, numbers)
        assert (found.error, found.result) == (Error.NONE, pow(x, e, m) * pow(y, f, m) % m), numbers


@pytest.mark.parametrize("name", DESIGNS)
def test_cycles_depend_on_the_length_only(name):
    """Of every exponent; and squarings are shared: less than two powers on a lane that is alone."""
    design, generator = design_of(name), random.Random(2)
    m = generator.getrandbits(BITS) | 1 << (BITS - 1) | 1
    ones = (1 << 40) - 1
    cycles = {
        predicted(design, {"x": 3, "e": e, "y": 5, "f": f, "m": m}, 40).cycles
        for e, f in (
            (0, 0),
            (ones, ones),
            (ones, 0),
            (0, ones),
            (1, 2),
            (0x5555555555, 0xAAAAAAAAAA),
        )
    }
    assert len(cycles) == 1
    job = Accelerator(Identity(design.capabilities)).modexp_job(3, ones, m)
    # Two lanes square and multiply at once; `repeated` takes exponents of 17 bits.
    if design.capabilities.multipliers == 1 and "repeated" not in name:
        alone = design.predict(Command.MODEXP, {**job.operands, 0: 3}, job.lengths).cycles
        assert cycles.pop() < 2 * alone


def test_an_engine_without_it_has_nothing_of_it():
    for name, family in FAMILIES.items():
        design = family.choose({}).design
        assert MODEXP2 not in design.capabilities.required, name
        assert "modexp2" not in family.choose({}).values
    assert "modexp2" not in [one.name for one in family_named("compression").settings]
    with pytest.raises(ValueError, match="has no parameter 'modexp2'"):
        choose("compression", {"modexp2": "1"})
    assert choose("compact", {"modexp2": "0"}) == choose("compact", {})


def test_refusals_of_the_prediction():
    design = choose("compact", {"max_bits": "128", "modexp2": "1"}).design
    m = (1 << 127) + 1
    good = {"x": 1, "e": 1, "y": 1, "f": 1, "m": m}
    for change, error in (
        ({"y": m}, Error.OPERAND_RANGE),
        ({"x": m}, Error.OPERAND_RANGE),
        ({"m": m - 1}, Error.MODULUS_EVEN),
        ({"f": 1 << 70}, Error.LENGTH_OVER),
    ):
        assert predicted(design, {**good, **change}).error is error, change
    without = choose("compact", {"max_bits": "128"}).design
    assert predicted(without, good).error is Error.UNSUPPORTED


# --- Hardware -----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=grouped(SIMULATED, SIMULATED_LONG))
def bench(request):
    family, settings = request.param
    bench = open_bench(family, modexp2=1, **settings)
    yield bench
    bench.device.close()


@pytest.mark.matrix(quick=1)
def test_hardware(bench):
    """Results against `pow`; the bench compares cycles and products with the prediction."""
    for numbers in examples(max(2, bench.accelerator.min_length)):
        x, e, y, f, m = (numbers[one] for one in "xeyfm")
        found = bench.accelerator.operate(MODEXP2, numbers)
        assert found.value == pow(x, e, m) * pow(y, f, m) % m
    m = numbers["m"]
    assert bench.accelerator.modmul(2, 3, m).value == 6 % m
    assert bench.accelerator.modexp(2, 9, m).value == pow(2, 9, m)
    with pytest.raises(EngineError) as error:
        bench.accelerator.operate(MODEXP2, {**numbers, "y": m})
    assert error.value.code is Error.OPERAND_RANGE


@pytest.mark.matrix
def test_the_c_driver(bench, tmp_path):
    class Input(ctypes.Structure):
        _fields_ = [("words", ctypes.POINTER(ctypes.c_uint32)), ("bits", ctypes.c_uint32)]

    library = ctypes.CDLL(str(compile_c(tmp_path, "coprime.so", "-shared", "-fPIC", "-O1", DRIVER)))
    driver = driver_of(bench.device)
    assert library.coprime_open(ctypes.byref(driver)) == 0
    generator = random.Random(3)
    m = generator.getrandbits(BITS) | 1 << (BITS - 1) | 1
    memory, own = Memory((ctypes.c_uint32 * 64)(), 64), modulus(m)
    assert library.coprime_modulus_constants(*map(ctypes.byref, (driver, own, memory))) == 0
    assert library.coprime_load_modulus(ctypes.byref(driver), ctypes.byref(own)) == 0

    def operate(x, e, y, f, e_bits, f_bits):
        given = (Input * 4)(
            *(
                Input(words(value, max(bits, 1)), bits)
                for value, bits in ((x, BITS), (e, e_bits), (y, BITS), (f, f_bits))
            )
        )
        result = words(0, BITS)
        error = library.coprime_operate(ctypes.byref(driver), MODEXP2, given, result)
        return error, list(result)

    x, y = generator.randrange(m), generator.randrange(m)
    for e, f, *bits in ((5, 3, 3, 2), (0, 0, 1, 1), ((1 << 64) - 1, 1, 64, 1), (9, 1 << 63, 4, 64)):
        expected = pow(x, e, m) * pow(y, f, m) % m
        assert operate(x, e, y, f, *bits) == (0, [*words(expected, BITS)])
    assert operate(x, 0, y, 0, 0, 0)[0] == Error.EXPONENT_LENGTH
    assert operate(x, 1, y, 1, 65, 1)[0] == Error.LENGTH_OVER
    assert operate(x, 5, y, 1, 2, 1)[0] == Error.KEY_EXCESS
    assert operate(m, 1, y, 1, 1, 1)[0] == Error.OPERAND_RANGE
    bench.accelerator.forget()


@pytest.mark.matrix
def test_a_cluster():
    choice = choose("cluster", {"cores": "2", "max_bits": "128", "modexp2": "1"})
    work = [random_numbers(MODEXP2, 96, seed) for seed in range(3)]
    with open_cluster(choice) as device:
        scheduler = Scheduler(Cluster(device))
        requests = [scheduler.operate(MODEXP2, one) for one in work]
        for _ in scheduler.completed():
            pass
    found = [request.result.value for request in requests]
    assert found == [MODEXP2.operation.expected(one, 0) for one in work]


# --- Tools --------------------------------------------------------------------------------------


def test_random_operands_fit_what_is_built_for_them():
    for bits in (64, 65, 127, 128):
        numbers = random_numbers(MODEXP2, bits, 1, exponents="worst")
        assert numbers["e"] == numbers["f"] == (1 << bits // 2) - 1
        design = choose("fdfm", {"modexp2": "1"}).design
        found = predict_operation(design, MODEXP2, numbers)
        assert found.result == MODEXP2.operation.expected(numbers, 0)


def test_the_command_line(capsys):
    line = "run fdfm MODEXP2 -p max_bits=128 --x 3 --e 5 --y 7 --f b --m fffffffffffffff1 --json"
    assert main(line.split()) == 0
    record = json.loads(capsys.readouterr().out)
    m = 0xFFFFFFFFFFFFFFF1
    assert record["ok"]
    assert record["cycles"] == record["predicted_cycles"]
    assert int(record["result"], 16) == pow(3, 5, m) * pow(7, 11, m) % m
    assert record["parameters"]["modexp2"] == 1
    assert main("run fdfm MODEXP2 --x 3 --e 5 --m 7".split()) != 0
    assert "MODEXP2 needs --x --e --y --f --m" in capsys.readouterr().err


@ICARUS
@pytest.mark.parametrize("family", ["compact", pytest.param("cluster", marks=pytest.mark.matrix)])
@pytest.mark.matrix
def test_package(tmp_path, family):
    """The testbench runs it, and the data sheet shows it."""
    cores = {"cores": "2"} if family == "cluster" else {}
    choice = choose(family, {"max_bits": "128", "modexp2": "1", **cores})
    write_package(choice, Target.GENERIC, tmp_path)
    sheet = json.loads((tmp_path / "doc" / "data_sheet.json").read_text())
    text = (tmp_path / "doc" / "data_sheet.md").read_text()
    assert "x^e · y^f mod m" in text
    assert "MODEXP2" in json.dumps(sheet)
    assert_passes(tmp_path)
    testbench = "".join(path.read_text("utf-8") for path in (tmp_path / "sim").glob("*.v"))
    assert "MODEXP2: x^e * y^f mod m" in testbench
