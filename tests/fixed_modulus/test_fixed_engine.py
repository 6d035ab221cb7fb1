"""Engines for one modulus: every exponentiator, through the registers, against `pow`."""

import itertools
import random

import pytest
from amaranth.sim import Simulator

from coprime.catalog import family_named
from coprime.device.accelerator import EngineError
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.explore.explain import explain
from coprime.exponentiators.names import Exponentiator
from coprime.fixed_modulus.products import make_product, make_square
from coprime.model.moduli import MODULI, modulus_of
from coprime.model.pseudo_moduli import search
from coprime.program.steps import COUNTER_BITS
from coprime.rsa.keys import generate
from tests.benches import grouped, open_bench

ALONE = [
    *((one, 1) for one in Exponentiator if not one.has_window),
    *itertools.product([one for one in Exponentiator if one.has_window], (1, 2, 3, 4)),
]


def configuration(modulus, **settings):
    return {"modulus": modulus, **settings}


def alone(which, window, modulus="vassoler-10", **settings):
    return configuration(
        modulus, multipliers=1, exponentiator=which.value, window=window, **settings
    )


CONFIGURATIONS = {
    "pseudo-modulus": ("compression", configuration("vassoler-10", word=8)),
    "even": ("compression", configuration("1000", word=8)),
    "direct": ("direct", alone(Exponentiator.FIXED_WINDOW, 2, "kyber", factor=5)),
}
LONG_CONFIGURATIONS = {
    "one multiplier, 2 registers": (
        "compression",
        alone(Exponentiator.RIGHT_TO_LEFT, 1, stages=2),
    ),
    "3 registers": ("compression", configuration("32749", stages=3, word=12)),
    **{
        f"{which.value}, {window}, {stages} registers": (
            "compression",
            alone(which, window, stages=stages),
        )
        for (which, window), stages in itertools.product(ALONE, (0, 1, 4))
    },
    "direct, two multipliers": ("direct", configuration("goldilocks")),
    **{
        name: ("compression", configuration(name))
        for name, one in MODULI.items()
        if 12 < one.bits <= 64
    },
    **{
        f"{bits} bits": ("compression", configuration(str((1 << bits) - 12345)))
        for bits in (16, 33, 48, 65)
    },
}


@pytest.fixture(scope="module", params=grouped(CONFIGURATIONS, LONG_CONFIGURATIONS))
def bench(request):
    family, settings = request.param
    bench = open_bench(family, **settings)
    yield bench
    bench.device.close()


def modulus(bench):
    return bench.design.capabilities.fixed_modulus


def factors(m, generator):
    return [0, 1, 2, m // 2, m - 2, m - 1, *(generator.randrange(m) for _ in range(20))]


def exponents(m, generator):
    """Edges, single bits, all ones, windows of zeros."""
    bits = m.bit_length()
    return [
        *range(20),
        *(1 << k for k in range(4, bits)),
        (1 << bits) - 1,
        (1 << bits) - 2,
        0x1111111111111111 % (1 << bits),
        0x8421 % (1 << bits),
        *(generator.getrandbits(bits) for _ in range(20)),
    ]


@pytest.mark.matrix(quick=1)
def test_modmul(bench):
    m, generator = modulus(bench), random.Random(1)
    for x, y in itertools.product(factors(m, generator), repeat=2):
        assert bench.accelerator.modmul(x, y, m).value == x * y % m


@pytest.mark.matrix(quick=1)
def test_modexp(bench):
    m, generator = modulus(bench), random.Random(2)
    for e in exponents(m, generator):
        if bench.design.exponentiation.counts_exponent:
            e %= 3000
        for x in (0, 1, m - 1, generator.randrange(m)):
            assert bench.accelerator.modexp(x, e, m).value == pow(x, e, m)


def test_an_exponent_is_counted_down_up_to_17_bits():
    """One that is longer would take for ever, and is refused at once."""
    bench = open_bench("compression", **alone(Exponentiator.REPEATED, 1, "mersenne31"))
    m, longest = modulus_of("mersenne31"), (1 << COUNTER_BITS) - 1
    assert bench.accelerator.modexp(3, longest, m).value == pow(3, longest, m)
    for e in (longest + 1, longest + 2, 1 << 30, m - 1):
        with pytest.raises(EngineError, match="too long to be counted down") as caught:
            bench.accelerator.modexp(3, e, m)
        assert caught.value.code is Error.EXPONENT_LENGTH
        operands = {Operand.X: 3, Operand.E: e, Operand.M: m}
        lengths = {Length.MODULUS: 31, Length.EXPONENT: 31}
        assert bench.design.predict(Command.MODEXP, operands, lengths).error is caught.value.code
    bench.device.close()


@pytest.mark.matrix(quick=1)
def test_leading_zeros_of_the_exponent(bench):
    """What an exponent before had there does not count."""
    m, bits = modulus(bench), modulus(bench).bit_length()
    for before, e in (((1 << bits) - 1, 5), ((1 << bits) - 1, 0), (5, 1)):
        assert bench.accelerator.modexp(2, before % 3000, m).value == pow(2, before % 3000, m)
        for length in range(max(1, e.bit_length()), bits + 1, 3):
            run = bench.accelerator.modexp(3, e, m, exponent_length=length)
            assert run.value == pow(3, e, m)


@pytest.mark.matrix
def test_other_moduli_and_operands_are_refused(bench):
    m, accelerator = modulus(bench), bench.accelerator
    assert accelerator.modmul(3, 2, m).value == 6
    refused = [
        *((1, 1, other, Error.MODULUS_FIXED) for other in (m - 1, m + 1, m ^ 2, 3, 1, 0)),
        *((x, y, m, Error.OPERAND_RANGE) for x, y in ((m, 1), (1, m), (m, m))),
        (1, 1, m << 70, Error.LENGTH_OVER),
    ]
    for x, y, other, code in refused:
        if max(x, y, other).bit_length() > m.bit_length():
            code = Error.LENGTH_OVER
        with pytest.raises(EngineError) as caught:
            accelerator.modmul(x, y, other)
        assert caught.value.code is code
        assert accelerator.modmul(3, 2, m).value == 6
    with pytest.raises(EngineError) as caught:
        accelerator.modexp(3, 3, m - 2)
    assert caught.value.code is Error.MODULUS_FIXED


def test_constant_time_where_it_is_said(bench):
    m, bits = modulus(bench), modulus(bench).bit_length()
    generator = random.Random(3)
    cycles = {
        bench.accelerator.modexp(x, e, m, exponent_length=bits).cycles
        for e in (0, 1, *([2999] if bits > 11 else []), generator.getrandbits(bits) % 3000)
        for x in (0, m - 1)
    }
    assert (len(cycles) == 1) >= bench.design.capabilities.constant_time


def test_after_a_wipe_all_must_be_loaded_again(bench):
    m = modulus(bench)
    bench.accelerator.wipe()
    assert bench.accelerator.modmul(m - 1, m - 1, m).value == 1


# --- One product in a cycle ---------------------------------------------------------------------


def test_cycles_of_the_thesis():
    """A cycle for each bit on two multipliers; on one, two for a 1 and one for a 0; one more for
    the correction; beside them CHECK and END."""
    for factor, correction in (("1", 0), ("3", 1)):
        settings = {"modulus": "vassoler-14", "factor": factor}
        two = family_named("compression").choose(settings).design
        one = family_named("compression").choose(settings | {"multipliers": "1"}).design
        m, e = two.capabilities.fixed_modulus, 0b100_0101_0000_1101
        operands = {Operand.X: 2, Operand.E: e, Operand.M: m}
        lengths = {Length.MODULUS: 15, Length.EXPONENT: 15}
        assert two.predict(Command.MODEXP, operands, lengths).cycles == 15 + correction + 2
        ones = e.bit_count() - 1  # after the last product there is no square
        assert one.predict(Command.MODEXP, operands, lengths).cycles == 15 + ones + correction + 2


@pytest.mark.matrix
def test_rsa_with_a_key_of_its_own():
    """The modulus of a key is a modulus as any other: every key another circuit."""
    key = generate(64, seed=4)
    bench = open_bench("compression", modulus=hex(key.n))
    bench.accelerator.load_private(key)
    for x in (0, 1, key.n - 1, key.p, 12345678901234567 % key.n):
        assert bench.accelerator.private(x).value == pow(x, key.d, key.n)
    bench.device.close()


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("compression", "vassoler-126-pseudo"),
        ("compression", "curve25519"),
        ("direct", "p-256"),
        ("direct", "p-521"),
    ],
)
def test_long_moduli(family, name):
    """Products and a power, on one multiplier; the products of all others are tested as cells."""
    bench = open_bench(family, modulus=name, multipliers=1)
    m, generator = modulus_of(name), random.Random(name)
    for x in (0, 1, m - 1, *(generator.randrange(m) for _ in range(20))):
        y = generator.choice([x, m - 1, generator.randrange(m)])
        assert bench.accelerator.modmul(x, y, m).value == x * y % m
    e = generator.getrandbits(m.bit_length())
    assert bench.accelerator.modexp(3, e, m).value == pow(3, e, m)
    bench.device.close()


# --- Wiping -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("which", "stages"), [("sliding-window", 0), ("fixed-window", 3)])
def test_wipe_clears_every_register_and_the_table(which, stages):
    design = (
        family_named("compression")
        .choose(
            {
                "modulus": "241",
                "exponentiator": which,
                "multipliers": "1",
                "window": "3",
                "stages": str(stages),
            }
        )
        .design
    )
    engine = design.hardware()

    async def process(context):
        context.set(engine.write, 1)
        for operand, value in ((Operand.X, 7), (Operand.Y, 9), (Operand.E, 255), (Operand.M, 241)):
            context.set(engine.operand, operand)
            context.set(engine.digit, value)
            await context.tick()
        context.set(engine.write, 0)
        context.set(engine.counts, {"modulus": 1, "exponent": 1})
        context.set(engine.lengths.exponent, 8)
        for command in (Command.MODEXP, Command.WIPE):
            context.set(engine.command, command)
            context.set(engine.start, 1)
            await context.tick()
            context.set(engine.start, 0)
            cycles = 1
            while not context.get(engine.done):
                await context.tick()
                cycles += 1
            await context.tick()
            power, operands = engine.exponentiator, engine.operands
            held = [context.get(one) for one in (power.c, power.x, operands.y, operands.e)]
            held += [context.get(power.table.memory.data[k]) for k in range(8)]
            if command is Command.MODEXP:
                assert held[0] == pow(7, 255, 241) and all(held[1:4])
        assert not any(held)
        assert not context.get(engine.operands.matches)
        assert cycles == design.predict(Command.WIPE, {}, {}).cycles

    simulator = Simulator(engine)
    simulator.add_clock(1e-8)
    simulator.add_testbench(process)
    simulator.run()


# --- Choosing -----------------------------------------------------------------------------------


def test_the_cheapest_multiple_is_taken_unless_another_is_named():
    for name in ("vassoler-30", "goldilocks", "0xa62332553fc1ea37"):
        m = modulus_of(name)
        choose = family_named("compression").choose
        cheapest = choose({"modulus": name}).design.arithmetic
        assert cheapest.multiple == search(m).best.value
        assert choose({"modulus": name, "factor": "7"}).design.arithmetic.multiple == 7 * m


def test_longer_multiples_are_looked_at_on_request():
    choose = family_named("compression").choose
    assert choose({"modulus": "0x11111111"}).design.arithmetic.multiple == 0x11111111
    longer = choose({"modulus": "0x11111111", "extra_bits": "4"})
    assert longer.design.arithmetic.multiple == 2**32 - 1
    assert explain(longer).factor == 15
    assert "-p extra_bits= looks at longer ones" in explain(longer).text
    most = choose({"modulus": "0x11111111", "extra_bits": "16"})
    assert "extra_bits=" not in explain(most).text


def test_places_for_registers():
    """Behind each level of the tree and before the first: the square's, which has fewer, too."""
    choose = family_named("compression").choose
    arithmetic = choose({"modulus": "241"}).design.arithmetic
    product, square = make_product(arithmetic), make_square(arithmetic)
    for multipliers, most in (
        (1, product.plan.depth + 1),
        (2, min(product.plan.depth, square.plan.depth) + 1),
    ):
        settings = {"modulus": "241", "multipliers": str(multipliers)}
        choose(settings | {"stages": str(most)}).design.hardware()
        with pytest.raises(ValueError, match=rf"stages must be in 0\.\.{most} for this modulus"):
            _ = choose(settings | {"stages": str(most + 1)}).design


def test_explanation():
    explained = explain(family_named("compression").choose({"modulus": "vassoler-30"}))
    assert explained.factor == 3
    assert explained.search.explanation in explained.text
    assert explained.tree in explained.text
    record = explained.record()
    assert record["multiple"] == f"{2**32 - 1:x}"
    assert record["tree"]["area"] == explained.plan.area
    assert explain(family_named("compression").choose({"modulus": "p-256"})).plan is None
    assert (
        "goldilocks (proof systems: Plonky2)"
        in explain(family_named("compression").choose({"modulus": "goldilocks"})).text
    )
    with pytest.raises(ValueError, match="fdfm works with any modulus"):
        explain(family_named("fdfm").choose({}))
    with pytest.raises(ValueError, match="direct leaves its product to synthesis"):
        explain(family_named("direct").choose({}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"modulus": "2"}, "must be 3 or more"),
        ({"modulus": "nothing"}, "no modulus is called 'nothing'"),
        ({"exponentiator": "upwards"}, "must be one of left-to-right, right-to-left"),
        ({"window": "5"}, "window must be an integer in 1..4"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        family_named("compression").choose(settings)


def test_two_multipliers_go_right_to_left_only():
    choice = family_named("compression").choose({"exponentiator": "m-ary"})
    with pytest.raises(ValueError, match="two multipliers work right to left only, not m-ary"):
        choice.design.hardware()
