"""Blinding of a private operation: the same results, from other numbers each time."""

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from amaranth.sim import Simulator

from coprime.bus import registers
from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator
from coprime.device.base import read_block, write_block
from coprime.device.faulty import FaultyDevice
from coprime.device.jobs import EngineError, value_of, words_of
from coprime.device.simulated import open_simulation
from coprime.engine.compact import compact
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.random_digit import RandomDigit
from coprime.engine.ring import RING_TILES, ring
from coprime.exponentiators.names import BLINDINGS
from coprime.flow.boards import BOARDS
from coprime.flow.parts import accelerator_verilog
from coprime.model.masked_private import MaskedPrivate
from coprime.operations.encodings.radix import Radix
from coprime.operations.encodings.rsa_key import key_numbers, private_operands
from coprime.operations.masked_primes import PrimeMasking
from coprime.operations.masked_private import Masking
from coprime.package.describe import describe
from coprime.program.operands import BLINDED_OF, Context, Core, PerPrime
from coprime.program.steps import SIGNS, StepKind, mask_bits
from coprime.rsa.keys import RsaPrivateKey, generate
from coprime.soc.board_files import build_board
from tests.benches import open_bench

BITS = 128
WIDTH = 17


@dataclass(frozen=True)
class Subject:
    """An engine: its family, its settings but for `blinding`, its random numbers."""

    family: str
    bits: int = BITS
    settings: Mapping[str, str] = field(default_factory=dict)
    width: int = WIDTH
    drawn_bits: int = 16

    def choose(self):
        return choose(self.family, {"max_bits": str(self.bits), "blinding": "all", **self.settings})

    def bench(self):
        return open_bench(self.family, max_bits=self.bits, blinding="all", **self.settings)


COMPACT = Subject("compact")
ONE17 = Subject("ring", settings={"tile": "one17"})
ADK2X16 = Subject("ring", bits=256, settings={"tile": "adk2x16"}, width=32)
BAL50 = Subject("ring", bits=256, width=50, drawn_bits=32)
TWO = Subject("ring", settings={"tile": "one17", "multipliers": "2"})
SUBJECTS = {"compact": COMPACT, "one17": ONE17, "adk2x16": ADK2X16, "bal50": BAL50, "two": TWO}


def of(name, *, slow=False):
    marks = [pytest.mark.xdist_group(f"blinding, {name}"), *([pytest.mark.matrix] if slow else [])]
    return pytest.param(SUBJECTS[name], id=name, marks=marks)


@pytest.fixture(scope="module", params=[of(name, slow=name != "compact") for name in SUBJECTS])
def bench(request):
    bench = request.param.bench()
    yield bench
    bench.device.close()


def bits_of(bench):
    return bench.design.capabilities.max_length


def messages(key, seed):
    return (0, 1, key.n - 1, key.p, random.Random(seed).randrange(key.n))


@pytest.mark.matrix
def test_results(bench):
    """As without blinding, for every kind of key, and a second time from the same loaded key."""
    most = bits_of(bench)
    for bits, p_bits in ((most, most // 2), (most, most // 2 + 1), (most - 1, most // 2 - 1)):
        key = generate(bits, p_bits=p_bits, seed=bits + p_bits)
        bench.accelerator.load_private(key)
        for x in messages(key, bits):
            values = {bench.accelerator.private(x).value for _ in range(2)}
            assert values == {pow(x, key.d, key.n)}


@pytest.mark.matrix
def test_long_public_exponents(bench):
    for e in (3, 5, 0x1_0000_0001, (1 << 63) + 29, (1 << 64) - 1):
        for seed in itertools.count():
            key = generate(bits_of(bench), seed=seed)
            try:
                key = RsaPrivateKey.from_primes(key.p, key.q, e)
            except ValueError:  # not prime to p - 1 or q - 1
                continue
            break
        bench.accelerator.load_private(key)
        x = random.Random(e).randrange(key.n)
        assert bench.accelerator.private(x).value == pow(x, key.d, key.n)


def test_other_commands(bench):
    """They draw nothing, and their exponents keep their lowest bit."""
    m = (1 << bits_of(bench)) - 189
    for e in (1, 2, 3, 65537, m - 1, m - 2):
        assert bench.accelerator.modexp(m - 2, e, m).value == pow(m - 2, e, m)
    assert bench.accelerator.modmul(m - 2, m - 3, m).value == 6


def test_cycles_tell_only_the_lengths(bench):
    """Nothing of the key, the message, or what is drawn."""
    keys = [generate(bits_of(bench), seed=seed) for seed in range(3)]
    cycles = set()
    for key in keys:
        bench.accelerator.load_private(key)
        cycles |= {bench.accelerator.private(x).cycles for x in messages(key, 1)}
    assert len(cycles) == 1


@pytest.mark.matrix
def test_longest():
    """Counts of all bits, and exponents whose digits are all in use."""
    bench = open_bench("compact", max_bits=1024, blinding="all")
    with bench.device:
        key = generate(1024, seed=9)
        bench.accelerator.load_private(key)
        x = random.Random(9).randrange(key.n)
        assert bench.accelerator.private(x).value == pow(x, key.d, key.n)


@pytest.mark.matrix
@pytest.mark.parametrize("max_bits", [129, 150, 200, 256, 521, 1000, 2048, 2104])
def test_sizes(max_bits):
    bench = open_bench("compact", max_bits=max_bits, blinding="all")
    with bench.device:
        # Short moduli leave no room for a longer prime, nor do full banks.
        longer = max_bits // 2 + (9 if max_bits >= 200 else 0)
        longer = min(longer, bench.design.capabilities.max_prime_length)
        for bits, p_bits in ((max_bits, (max_bits + 1) // 2), (max_bits - 1, longer)):
            key = generate(bits, p_bits=p_bits, seed=bits)
            bench.accelerator.load_private(key)
            for x in messages(key, bits):
                assert bench.accelerator.private(x).value == pow(x, key.d, key.n)


# --- What is drawn ------------------------------------------------------------------------------


def drawn_digits(source, count, width=WIDTH):
    """Each from some bytes, the first one highest, of which it keeps the lowest bits."""
    size = RandomDigit.bytes_of(width)
    parts = (source[size * k : size * (k + 1)] for k in range(count))
    return [int.from_bytes(part) % (1 << width) for part in parts]


class Half:
    """The first half of a private operation, Q's, with known random bytes, up to its exponent."""

    def __init__(self, subject):
        self.subject = subject
        choice, bits = subject.choose(), subject.bits
        self.design = choice.design
        self.key = key = generate(bits, seed=4)
        self.x = random.Random(4).randrange(key.n)
        self.source = random.Random("all").randbytes(400)
        self.device = device = FaultyDevice(accelerator_verilog(choice), choice.module_name)
        accelerator = Accelerator(device)
        accelerator.load_private(key)
        assert accelerator.private(1).value == 1
        write_block(device, registers.INPUT_WINDOW.address, words_of(self.x, bits))
        device.write32(registers.INPUT_LENGTH.address, bits // 8)
        device.give_random(self.source)
        device.write32(registers.COMMAND.address, Command.RSA_PRIVATE)

    def run_to(self, kind):
        """Up to the first step of a kind."""
        kinds = [step.kind for step in self.design.programs[0].steps]
        pc = self.device.registers["engine.lane.sequencer.program_memory.pc"]
        for _ in range(100_000):
            if self.device.peek(pc) == 1 + kinds.index(kind):
                break
            self.device.run(1)
        self.device.run(10)  # what is written last

    def value(self, slot, digits):
        """What the memory holds in a slot."""
        layout = self.design.layout
        side = "right" if layout.lies_right(slot) else "left"
        return self.words(side, layout.bases[slot], digits)

    def words(self, side, base, digits):
        """What a bank holds from a word on."""
        memory = self.device.registers[f"engine.lane.{side}.memory"]
        words = [self.device.peek(memory, base + k) for k in range(digits)]
        return sum(word << (self.subject.width * k) for k, word in enumerate(words))

    def finish(self):
        """The result."""
        self.device.wait_interrupt()
        assert self.device.read32(registers.ERROR.address) == 0
        words = read_block(self.device, registers.OUTPUT_WINDOW.address, self.subject.bits // 32)
        assert value_of(words) == pow(self.x, self.key.d, self.key.n)


def test_an_exponent_that_is_written_again():
    """It is what the host has written last, whatever was blinded before, of the same primes."""
    with open_bench("compact", max_bits=BITS, blinding="all").device as device:
        accelerator = Accelerator(device)
        first, second = (generate(BITS, seed=seed) for seed in (5, 6))
        for key in (first, first, second, first):
            accelerator.load_private(key)
            for _ in range(2):
                assert accelerator.private(3).value == pow(3, key.d, key.n)
            m = (1 << BITS) - 189
            assert accelerator.modexp(m - 2, m - 1, m).value == pow(m - 2, m - 1, m)
            assert accelerator.modmul(m - 2, m - 3, m).value == 6
            assert accelerator.private(4).value == pow(4, key.d, key.n)


def bits_of_digits(subject, ones, count):
    """A digit for some of the bits, from the lowest on."""
    low = (one % (1 << subject.drawn_bits) for one in ones)
    return sum(one << (subject.drawn_bits * k) for k, one in enumerate(low)) % (1 << count)


def check_masked_primes(half, drawn, parts):
    """M' and R R_p of each prime, and -R R_p of P, and multiples of it of the drawn digits."""
    design, v = half.design, mask_bits(half.subject.width)
    encoded = Command.RSA_PRIVATE.operation.encoding.encode(
        {"x": 0, **key_numbers(half.key)}, design.capabilities
    )
    operands, lengths = encoded.operands, encoded.lengths
    powers = {Operand.Q: operands[Operand.Q_POWER], Operand.P: operands[Operand.P_POWER]}
    kept = [
        (Operand.Q, PerPrime.SCALED_Q, PerPrime.MASKED_POWER_Q),
        (Operand.P, PerPrime.SCALED_P, PerPrime.MASKED_POWER_P, PrimeMasking.NEGATIVE_POWER),
    ]
    ones = iter(drawn)
    for name, *places in kept:
        prime, digits = operands[name], design.capabilities.digits(lengths[name.length])
        plain = (design.multiplication.scaled_modulus(prime), powers[name], -powers[name])
        for place, number in zip(places, plain, strict=False):
            lowest, *of_t = (next(ones) for _ in range(parts))
            t = 1 + (lowest >> 1 & 1) + 2 * bits_of_digits(half.subject, of_t, v - 1)
            assert half.value(place, digits) == number + t * prime


@pytest.mark.matrix
@pytest.mark.parametrize("subject", [of("compact"), of("bal50", slow=True)])
def test_masks(subject):
    """What the memory holds is what the model has of the same random bytes."""
    half = Half(subject)
    capabilities, key, width, v = (
        half.design.capabilities,
        half.key,
        subject.width,
        mask_bits(subject.width),
    )
    digits, size, radix = capabilities.digits(subject.bits), RandomDigit.bytes_of(width), 1 << width
    signs, parts = SIGNS, -(-SIGNS // subject.drawn_bits)
    parts_of_t = 1 + -(-(v - 1) // subject.drawn_bits)

    masks = 5 * parts_of_t if half.design.multiplication.modulus_mask_bits else 0
    # Signs of multiples of P - 1 and Q - 1, of Q and P, and of M; then r.
    before_t = 2 * parts + masks
    drawn = drawn_digits(half.source, before_t + parts_of_t + digits, width)
    assert len(half.source) >= size * len(drawn)
    of_k, of_primes = drawn[: 2 * parts], drawn[2 * parts : before_t]
    of_r = drawn[before_t + parts_of_t :]
    r = sum(digit * radix**k for k, digit in enumerate(of_r)) * pow(radix**digits, -2, key.n)
    # The second bit of the first digit of t is the lowest one.
    lowest, *of_t = drawn[before_t : before_t + parts_of_t]
    t = (lowest >> 1 & 1) + 2 * bits_of_digits(subject, of_t, v - 1) + (1 << v - 1)
    before = {one: half.value(blinded, digits) for one, blinded in BLINDED_OF.items()}
    model = MaskedPrivate(key, half.x, t=t, bits=v, r=r % key.n)
    with half.device:
        half.run_to(StepKind.SCAN_WINDOWS)
        assert half.value(PrimeMasking.MASK, digits) == model.mask
        assert half.value(Core.CLAIMED, digits) == model.claimed
        assert half.value(Masking.UNBLINDING, digits) % key.n == model.unblinding
        assert half.value(Masking.BLINDED_BASE, digits) % key.n == model.base
        assert before[Context.P] != key.dp and before[Context.Q] != key.dq
        primes = ((Context.P, key.p, of_k[:parts]), (Context.Q, key.q, of_k[parts:]))
        for one, prime, of_prime in primes:
            k = 2 * bits_of_digits(subject, of_prime, signs) + 1
            expected = (before[one] + k * (prime - 1)) % ((prime - 1) << (signs + 1))
            assert half.value(BLINDED_OF[one], digits) == expected
        if masks:
            check_masked_primes(half, of_primes, parts_of_t)
        half.run_to(StepKind.CHECK_ZERO)
        assert half.value(Masking.MASKED_SUM, digits) == model.masked_result
        half.finish()


@pytest.mark.matrix
@pytest.mark.parametrize(
    "made", [PerPrime.SCALED_Q, PerPrime.MASKED_POWER_Q, PrimeMasking.NEGATIVE_POWER]
)
def test_what_is_made_of_a_prime_and_is_0(made):
    """The half is wrong then, and the check does not take the same number."""
    half = Half(COMPACT)
    with half.device as device:
        half.run_to(StepKind.DRAW)
        layout = half.design.layout
        side = "right" if layout.lies_right(made) else "left"
        memory = device.registers[f"engine.lane.{side}.memory"]
        digits = half.design.capabilities.digits(COMPACT.bits // 2)
        assert half.value(made, digits) > 0
        for k in range(digits):
            device.poke(memory, layout.bases[made] + k, 0)
        device.wait_interrupt()
        assert device.read32(registers.ERROR.address) == Error.FAULT


def test_a_factor_that_cannot_be_taken_back():
    """r = 0, which nobody will ever draw: there is no result, and no key any more."""
    choice = choose("compact", {"max_bits": str(BITS), "blinding": "all"})
    with open_simulation(choice) as device:
        accelerator = Accelerator(device)
        accelerator.load_private(generate(BITS, seed=4))
        device.give_random(bytes(200))
        with pytest.raises(EngineError) as raised:
            accelerator.private(2)
        assert raised.value.code is Error.FAULT


def test_random_digit():
    """A digit waits for its bytes, takes none before it is wanted, and each one once."""
    dut = RandomDigit(WIDTH)
    assert dut.bytes == 3
    generator = random.Random(1)
    source = [generator.randrange(256) for _ in range(300)]

    async def bench(ctx):
        taken, digits, wanted = 0, 0, False
        for _ in range(600):
            valid = generator.randrange(3) > 0
            used = bool(ctx.get(dut.there)) and generator.randrange(2) == 0
            wanted = generator.randrange(4) > 0
            ctx.set(dut.random.payload, source[taken])
            ctx.set(dut.random.valid, valid)
            ctx.set(dut.wanted, wanted)
            ctx.set(dut.used, used)
            assert not ctx.get(dut.random.ready) or wanted
            if ctx.get(dut.there):
                assert ctx.get(dut.digit) == drawn_digits(bytes(source), digits + 1)[-1]
                assert not ctx.get(dut.random.ready)
            digits += used
            taken += ctx.get(dut.random.ready) and valid
            await ctx.tick()
        assert digits > 50
        ctx.set(dut.clear, 1)
        await ctx.tick()
        assert (ctx.get(dut.there), ctx.get(dut.digit)) == (0, 0)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


# --- Designs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1024, pytest.param(2048, marks=pytest.mark.matrix)])
def test_cost(bits):
    """Less than fdfm, which blinds nothing, by a third."""
    designs = (compact(bits), compact(bits, "all"), fdfm_of(bits))
    plain, blinded, fdfm = (predicted(design, bits) for design in designs)
    assert plain < blinded < 0.68 * fdfm


@pytest.mark.parametrize("tile", RING_TILES)
@pytest.mark.parametrize("tiles", [1, 2])
def test_a_blinded_exponent_has_the_bits_of_its_multiple(tile, tiles):
    assert predicted(ring(256, tile, tiles, blinding="all"), 256)


def predicted(design, bits):
    key, half = generate(bits, seed=1), bits // 2
    operands = private_operands(
        Radix.of(design.capabilities), key.n, (key.p, key.q), (key.dp, key.dq), bits, (half, half)
    )
    lengths = {Length.MODULUS: bits, Length.P: half, Length.Q: half, Length.EXPONENT: 17}
    numbers = {**operands, Operand.E: key.e, Operand.X: 2}
    found = design.predict(Command.RSA_PRIVATE, numbers, lengths)
    assert found.result == pow(2, key.d, key.n)
    return found.cycles


def fdfm_of(bits):
    return choose("fdfm", {"max_bits": str(bits)}).design


def test_memory_is_twice_as_deep():
    for bits in (128, 1024, 2068, 4096, 8192):
        assert compact(bits, "all").layout.depth == 2 * compact(bits).layout.depth


def test_parameters_out_of_range():
    with pytest.raises(ValueError, match=r"max_bits must be in 128\.\.8192, not 127"):
        compact(127, "all")
    for design in (compact, ring):
        with pytest.raises(ValueError, match="blinding must be one of none, all, not 'some'"):
            design(blinding="some")
    with pytest.raises(ValueError, match="with blinding=all windows have 3 bits"):
        ring(blinding="all", window=4)


@pytest.mark.parametrize("family", ["compact", "ring"])
@pytest.mark.parametrize("value", ["base", "exponent", "both"])
def test_values_that_there_were(family, value):
    with pytest.raises(ValueError, match=f"{family} does not take blinding={value}; use .*=all"):
        choose(family, {"blinding": value})


def test_primes_that_leave_no_room():
    """A blinded exponent is as long as the modulus at most; for other commands that is nothing."""
    with open_bench("compact", max_bits=BITS, blinding="all").device as device:
        accelerator = Accelerator(device, predict=compact(BITS, "all").predict)
        for p_bits in (64, 85, 86, 100):
            key = generate(BITS, p_bits=p_bits, seed=1)
            accelerator.load_private(key)
            capabilities = compact(BITS).capabilities
            if capabilities.digits(p_bits) + 4 <= capabilities.digits(BITS):
                assert accelerator.private(2).value == pow(2, key.d, key.n)
                continue
            with pytest.raises(EngineError) as raised:
                accelerator.private(2)
            assert raised.value.code is Error.LENGTH_OVER
            assert accelerator.modexp(2, key.d, key.n).value == pow(2, key.d, key.n)
        assert accelerator.modexp(2, 5, 21).value == 11


def test_where_no_random_bytes_are(tmp_path):
    with pytest.raises(ValueError, match="no source of random bytes"):
        choose("cluster", {"engine": "compact", "blinding": "all"})
    with pytest.raises(ValueError, match="has no random bytes for blinding"):
        build_board(choose("compact", {"blinding": "all"}), BOARDS["ulx3s-85f"], tmp_path)


def test_ports():
    for blinding in BLINDINGS:
        choice = choose("compact", {"blinding": blinding})
        names = {port.name for port in describe(choice, Target.GENERIC).ports}
        assert ("s_axis_random_tdata" in names) == (blinding != "none")
        hardware = AxiAccelerator(choice.design.hardware())
        assert ("s_axis_random_tready" in hardware.signature.members) == (blinding != "none")
