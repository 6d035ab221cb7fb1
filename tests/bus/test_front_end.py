import random

import pytest
from amaranth.hdl import ResetInserter
from amaranth.sim import Simulator

import coprime
from coprime.bus import registers
from coprime.bus.front_end import FrontEnd
from coprime.bus.shared_registers import PLAIN_REGISTERS as REGISTERS
from coprime.bus.shared_registers import PLAIN_WINDOWS as WINDOWS
from coprime.engine.contract import Command, Error, Length, Operand
from tests.bus.conftest import ON_CURVES

SEED = 7
SHAPES = pytest.mark.parametrize(
    ("width", "aligned"),
    [
        *((17, False), (32, True)),
        *(
            pytest.param(*one, marks=pytest.mark.matrix)
            for one in ((1, False), (1, True), (17, True), (32, False), (64, False), (64, True))
        ),
    ],
)
LENGTH_REGISTERS = [
    registers.MODULUS_LENGTH,
    registers.EXPONENT_LENGTH,
    registers.P_LENGTH,
    registers.Q_LENGTH,
]


def simulate(bench, process):
    """Run `process`, and check in each cycle that the buffer's ports do not meet."""
    simulator = Simulator(bench)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    (store,), (fetch,) = (
        bench.front_end.buffer.memory.write_ports,
        bench.front_end.buffer.memory.read_ports,
    )

    async def watch(ctx):
        while True:
            if ctx.get(store.en) and ctx.get(fetch.en):
                assert ctx.get(store.addr) != ctx.get(fetch.addr)
            await ctx.tick()

    simulator.add_testbench(watch, background=True)
    simulator.run()


def add_digits(x, y, width):
    """Sum, digit by digit, without carries."""
    total = place = 0
    while (x | y) >> place:
        total |= ((x >> place) + (y >> place) & (1 << width) - 1) << place
        place += width
    return total


async def prepare(ctx, bench, length, y=0):
    """Make MODMUL ready but for its input."""
    await bench.write(ctx, registers.MODULUS_LENGTH, length)
    await bench.load(ctx, Operand.M, (1 << length) - 1, length)
    await bench.load(ctx, Operand.Y, y, length)


# Around the digit boundaries of all widths, and a long one.
WHOLE = [3, 31, 32, 33, 64, 127, 128, 129, 135, 136, 137, 1023]


@pytest.mark.parametrize(
    ("width", "aligned", "lengths"),
    [
        (17, False, [3, 32, 33, 64, 129, 136, 255]),
        *(
            pytest.param(*one, WHOLE, marks=pytest.mark.matrix)
            for one in (
                (17, False),
                (32, True),
                (17, True),
                (32, False),
                (1, False),
                (1, True),
                (64, False),
                (64, True),
            )
        ),
    ],
)
def test_whole_commands(mock_engine, bench, width, aligned, lengths):
    it = bench(mock_engine(width, headroom=0 if aligned else 2, aligned=aligned))
    rng = random.Random(SEED)

    async def process(ctx):
        for length in lengths:
            x, y = (rng.getrandbits(length) for _ in range(2))
            await prepare(ctx, it, length, y)
            size = -(-length // 8)
            await it.put_input(ctx, x, size)
            delay = rng.randint(1, 9)
            ctx.set(it.engine.delay, delay)
            assert await it.run(ctx, Command.MODMUL) is Error.NONE
            below = -length % width if aligned else 0
            total = add_digits(x << below, y << below, width) >> below & (1 << length) - 1
            assert await it.get_output(ctx) == (total, size), length
            assert await it.read(ctx, registers.CYCLES) == delay
            assert await it.read(ctx, registers.PRODUCTS) == delay // 2
            assert ctx.get(it.engine.counts.modulus) == it.engine.capabilities.digits(length)
            # Words beyond the result.
            for address in (-(-length // 32), 64, 1 << 20, 0xFFFFFFFF):
                await it.write(ctx, registers.READ_ADDRESS, address)
                assert await it.read(ctx, registers.OUTPUT_FIFO) == 0
        assert await it.refusal(ctx) is Error.NONE

    simulate(it, process)


@SHAPES
def test_each_operand_reaches_the_engine(mock_engine, bench, width, aligned):
    it = bench(mock_engine(width, headroom=0 if aligned else 2, aligned=aligned))
    engine = it.engine
    rng = random.Random(SEED)
    lengths = {Length.MODULUS: 100, Length.EXPONENT: 33, Length.P: 50, Length.Q: 64}

    async def process(ctx):
        for own, length in lengths.items():
            await it.write(ctx, LENGTH_REGISTERS[own], length)
        for operand in sorted(engine.capabilities.operands):
            if operand is Operand.X:
                continue
            own = operand.length
            length = lengths.get(own, width)
            value = rng.getrandbits(length) | 1 << length - 1
            count = engine.capabilities.digits(length) if own is not Length.DIGIT else 1
            # Nothing is written behind the last digit.
            ctx.set(engine.stored(operand, count), 1)
            await it.load(ctx, operand, value, length)
            await it.read(ctx, registers.STATUS)
            assert ctx.get(engine.stored(operand, count)) == 1
            below = -length % width if aligned and not operand.is_exponent else 0
            assert (
                sum(ctx.get(engine.stored(operand, i)) << width * i for i in range(count))
                == value << below
            ), operand
        for own, count in (
            (Length.MODULUS, engine.counts.modulus),
            (Length.EXPONENT, engine.counts.exponent),
            (Length.P, engine.counts.p),
            (Length.Q, engine.counts.q),
        ):
            assert ctx.get(count) == engine.capabilities.digits(lengths[own])
        for own, length in (
            (Length.MODULUS, engine.lengths.modulus),
            (Length.EXPONENT, engine.lengths.exponent),
            (Length.P, engine.lengths.p),
            (Length.Q, engine.lengths.q),
        ):
            assert ctx.get(length) == lengths[own]
        assert await it.refusal(ctx) is Error.NONE
        # With all that, the three commands work.
        await it.put_input(ctx, 5, 4)
        for command in (Command.MODMUL, Command.RSA_PUBLIC, Command.RSA_PRIVATE):
            assert await it.run(ctx, command) is Error.NONE

    simulate(it, process)


def test_identity(mock_engine, bench):
    it = bench(mock_engine(17))

    async def process(ctx):
        async def field(register, name):
            return register[name].of(await it.read(ctx, register))

        assert await it.read(ctx, registers.IDENTIFICATION) == int.from_bytes(b"COPR")
        version = [await field(registers.VERSION, name) for name in ("MAJOR", "MINOR", "PATCH")]
        assert ".".join(map(str, version)) == coprime.__version__
        assert await it.read(ctx, registers.FAMILY) == 0xABCD
        assert await it.read(ctx, registers.CAPABILITIES) == (
            1 << Command.MODMUL
            | 1 << Command.RSA_PUBLIC
            | 1 << Command.RSA_PRIVATE
            | 1 << Command.WIPE
            | 1 << 8
            | 1 << 10
        )
        assert await it.read(ctx, registers.DIGITS) == 17 | 2 << 8 | 17 << 16
        assert await it.read(ctx, registers.MAX_LENGTH) == 1100 | 600 << 16
        assert await it.read(ctx, registers.MIN_LENGTH) == 3

    simulate(it, process)


@pytest.mark.parametrize("multipliers", [1, 2, 3, 15])
def test_products_of_all_multipliers(mock_engine, bench, multipliers):
    it = bench(mock_engine(17, multipliers=multipliers, delay=7))

    async def process(ctx):
        word = await it.read(ctx, registers.CAPABILITIES)
        assert registers.CAPABILITIES["MULTIPLIERS"].of(word) == multipliers
        await prepare(ctx, it, 64)
        await it.put_input(ctx, 9, 8)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert await it.read(ctx, registers.CYCLES) == 7
        assert await it.read(ctx, registers.PRODUCTS) == 3 * multipliers

    simulate(it, process)


@pytest.mark.parametrize(
    ("round_bits", "montgomery", "radix"), [(1, True, 1), (64, True, 64), (1, False, 0)]
)
def test_radix(mock_engine, bench, round_bits, montgomery, radix):
    it = bench(mock_engine(64, round_bits=round_bits, montgomery=montgomery))

    async def process(ctx):
        word = await it.read(ctx, registers.DIGITS)
        assert registers.DIGITS["RADIX"].of(word) == radix

    simulate(it, process)


def test_access_of_every_address(mock_engine, bench):
    it = bench(mock_engine(17))
    by_number = {register.address // 4: register for register in REGISTERS}
    for window in WINDOWS:
        by_number |= {window.address // 4 + word: window for word in range(window.words)}

    async def process(ctx):
        for address in range(1024):
            register = by_number.get(address)
            readable = register is not None and register.readable
            value = await it.read(ctx, address, okay=readable)
            reset = sum(
                (field.reset or 0) << field.offset for field in getattr(register, "fields", ())
            )
            if not readable or all(field.reset is not None for field in register.fields):
                assert value == (reset if readable else 0), hex(4 * address)
        state = [await it.read(ctx, register) for register in REGISTERS if register.readable]
        for address in range(1024):
            register = by_number.get(address)
            writable = register is not None and register.writable
            if not writable:
                await it.write(ctx, address, 0xFFFFFFFF, okay=False)
        assert state == [
            await it.read(ctx, register) for register in REGISTERS if register.readable
        ]
        for register in REGISTERS:
            if register.writable:
                await it.write(ctx, register, 0)

    simulate(it, process)


def test_lengths_read_back_and_saturate(mock_engine, bench):
    it = bench(mock_engine(17))

    async def process(ctx):
        for i, register in enumerate(LENGTH_REGISTERS):
            await it.write(ctx, register, 100 + i)
        for i, register in enumerate(LENGTH_REGISTERS):
            assert await it.read(ctx, register) == 100 + i
            for value in (65535, 65536, 0x10000 | 64, 0xFFFFFFFF):
                await it.write(ctx, register, value)
                assert await it.read(ctx, register) == 65535

    simulate(it, process)


@pytest.mark.parametrize("decrypt", [0, 1])
def test_status_starts(mock_engine, bench, decrypt):
    it = bench(mock_engine(17))

    async def process(ctx):
        await it.write(ctx, registers.STATUS, decrypt)
        assert await it.read(ctx, registers.STATUS) == 0
        await it.write(ctx, registers.MODULUS_LENGTH, 64)
        await it.write(ctx, registers.P_LENGTH, 32)
        await it.write(ctx, registers.Q_LENGTH, 32)
        await it.write(ctx, registers.EXPONENT_LENGTH, 8)
        for operand in (Operand.P, Operand.Q, Operand.M_INVERSE):
            await it.load(ctx, operand, 3, 17 if operand is Operand.M_INVERSE else 32)
        await it.put_input(ctx, 77, 8)
        # Only what RSA_PRIVATE needs has been loaded.
        await it.write(ctx, registers.STATUS, 4 | decrypt)
        assert ctx.get(it.engine.command) == Command.RSA_PUBLIC + decrypt
        assert await it.wait(ctx) is (Error.NONE if decrypt else Error.OPERAND_MISSING)
        assert await it.get_output(ctx) == ((77, 8) if decrypt else (0, 0))

    simulate(it, process)


@pytest.mark.parametrize("decrypt", [0, 1])
def test_status_starts_an_engine_without_rsa_private(mock_engine, bench, decrypt):
    """MODEXP with the loaded exponent, as the public operation; with neither, UNSUPPORTED."""
    reads = frozenset({Operand.X, Operand.E, Operand.M})
    plain = {Command.MODEXP: reads, Command.RSA_PUBLIC: reads}
    for required in (plain, {Command.RSA_PUBLIC: reads}):
        it = bench(mock_engine(17, max_prime_length=0, required=required))
        started = Command.MODEXP if decrypt else Command.RSA_PUBLIC

        async def process(ctx, it=it, started=started, known=started in required):
            await it.write(ctx, registers.MODULUS_LENGTH, 64)
            await it.write(ctx, registers.EXPONENT_LENGTH, 8)
            await it.load(ctx, Operand.M, 99, 64)
            await it.put_input(ctx, 77, 8)
            for error in (Error.OPERAND_MISSING, Error.NONE) if known else (Error.UNSUPPORTED,):
                await it.write(ctx, registers.STATUS, 4 | decrypt)
                assert ctx.get(it.engine.command) == started
                assert await it.wait(ctx) is error
                await it.load(ctx, Operand.E, 3, 8)
            assert await it.get_output(ctx) == ((77, 8) if known else (0, 0))

        simulate(it, process)


def test_engine_errors_pass_unchanged(mock_engine, bench):
    it = bench(mock_engine(17))

    async def process(ctx):
        await prepare(ctx, it, 64)
        await it.put_input(ctx, 9, 8)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert (await it.get_output(ctx))[1] == 8
        for error in (Error.MODULUS_EVEN, Error.OPERAND_RANGE, Error.MODULUS_ZERO):
            ctx.set(it.engine.answer, error)
            assert await it.run(ctx, Command.MODMUL) is error
            assert await it.get_output(ctx) == (0, 0)
            assert await it.read(ctx, registers.OUTPUT_FIFO) == 0
            assert await it.read(ctx, registers.CYCLES) == 5
        ctx.set(it.engine.answer, 0)
        for command in (0, Command.MODEXP, 6, 7):
            assert await it.run(ctx, command) is Error.UNSUPPORTED
        # Clearing, and a command that ends well, both clear the code.
        await it.write(ctx, registers.ERROR, 0xFFFFFFFF)
        assert await it.code(ctx) is Error.NONE
        assert await it.run(ctx, 7) is Error.UNSUPPORTED
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert (await it.get_output(ctx))[0] == 9

    simulate(it, process)


def test_lengths_that_cannot_be_used(mock_engine, bench):
    it = bench(mock_engine(17))

    async def process(ctx):
        # Neither operands nor input: the lengths come first.
        assert await it.run(ctx, Command.MODMUL) is Error.LENGTH_ZERO
        assert await it.read(ctx, registers.CYCLES) == 0
        assert await it.run(ctx, Command.RSA_PUBLIC) is Error.LENGTH_ZERO
        await it.write(ctx, registers.MODULUS_LENGTH, 1101)
        assert await it.run(ctx, Command.MODMUL) is Error.LENGTH_OVER
        await it.write(ctx, registers.MODULUS_LENGTH, 1100)
        assert await it.run(ctx, Command.MODMUL) is Error.OPERAND_MISSING
        assert await it.run(ctx, Command.RSA_PUBLIC) is Error.EXPONENT_LENGTH
        assert await it.read(ctx, registers.CYCLES) == 0
        # The first class that cannot be used counts, in the order of their registers.
        assert await it.run(ctx, Command.RSA_PRIVATE) is Error.LENGTH_ZERO
        await it.write(ctx, registers.P_LENGTH, 601)
        assert await it.run(ctx, Command.RSA_PRIVATE) is Error.LENGTH_OVER
        await it.write(ctx, registers.P_LENGTH, 600)
        assert await it.run(ctx, Command.RSA_PRIVATE) is Error.LENGTH_ZERO
        await it.write(ctx, registers.Q_LENGTH, 601)
        assert await it.run(ctx, Command.RSA_PRIVATE) is Error.LENGTH_OVER
        await it.write(ctx, registers.Q_LENGTH, 600)
        assert await it.run(ctx, Command.RSA_PRIVATE) is Error.OPERAND_MISSING

    simulate(it, process)


def test_key_window_refusals(mock_engine, bench):
    it = bench(mock_engine(17))

    async def process(ctx):
        # Before anything is chosen.
        await it.write(ctx, registers.KEY_DATA, 1)
        assert await it.refusal(ctx) is Error.KEY_OVERRUN
        for operand in (
            Operand.X,
            Operand.DP,
            Operand.CRT_Q,
            Operand.SECRET,
            Operand.TABLE_7,
            31,
            63,
        ):
            await it.write(ctx, registers.KEY_OPERAND, operand)
            assert await it.refusal(ctx) is Error.ADDRESS
            await it.write(ctx, registers.KEY_DATA, 1)
            assert await it.refusal(ctx) is Error.KEY_OVERRUN
        for operand, length, over in (
            (Operand.M, registers.MODULUS_LENGTH, 1101),
            (Operand.E, registers.EXPONENT_LENGTH, 1101),
            (Operand.P, registers.P_LENGTH, 601),
            (Operand.Q, registers.Q_LENGTH, 601),
        ):
            for bits, error in ((0, Error.LENGTH_ZERO), (over, Error.LENGTH_OVER)):
                await it.write(ctx, length, bits)
                await it.write(ctx, registers.KEY_OPERAND, operand)
                assert await it.refusal(ctx) is error
                await it.write(ctx, registers.KEY_DATA, 1)
                assert await it.refusal(ctx) is Error.KEY_OVERRUN
            await it.write(ctx, length, over - 1)
            await it.write(ctx, registers.KEY_OPERAND, operand)
            assert await it.refusal(ctx) is Error.NONE
        # The first refusal stays; nothing was written.
        await it.write(ctx, registers.KEY_OPERAND, Operand.X)
        await it.write(ctx, registers.KEY_DATA, 1)
        assert await it.refusal(ctx) is Error.ADDRESS
        assert ctx.get(it.engine.stored(Operand.M, 0)) == 0

    simulate(it, process)


def test_operands_with_numbers_over_15(mock_engine, bench):
    """Each has a mark and digits of its own; a number that the engine does not hold is refused."""
    it = bench(mock_engine(17, required=ON_CURVES))
    capabilities = it.engine.capabilities
    assert (capabilities.operand_count, capabilities.operand_bits) == (21, 6)

    def stored(ctx, operand, length):
        digits = [ctx.get(it.engine.stored(operand, k)) for k in range(capabilities.digits(length))]
        return sum(digit << 17 * k for k, digit in enumerate(digits))

    async def process(ctx):
        async def ends_with(error):
            assert await it.run(ctx, Command.MODMUL) is error

        for operand in (Operand.CRT_Q, Operand.POINT, Operand.TABLE_0, Operand.TABLE_7, 32, 63):
            await it.write(ctx, registers.KEY_OPERAND, operand)
            assert await it.refusal(ctx) is Error.ADDRESS
        await prepare(ctx, it, 64, y=5)
        await it.put_input(ctx, 4, 8)
        await ends_with(Error.LENGTH_ZERO)  # that of Q
        await it.write(ctx, registers.KEY_OPERAND, Operand.SECRET)
        assert await it.refusal(ctx) is Error.LENGTH_ZERO
        for length, bits in ((registers.P_LENGTH, 33), (registers.Q_LENGTH, 40)):
            await it.write(ctx, length, bits)
        await it.load(ctx, Operand.SECRET, 0xA_BCDE_F123, 40)
        await ends_with(Error.OPERAND_MISSING)
        await it.load(ctx, Operand.P, 0x1_2345_6789, 33)
        await ends_with(Error.OPERAND_MISSING)
        await it.load(ctx, Operand.TABLE_2, 0xFEDC_BA98_7654_3210, 64)
        await ends_with(Error.NONE)
        assert (await it.get_output(ctx))[0] == 9
        assert stored(ctx, Operand.SECRET, 40) == 0xA_BCDE_F123
        assert stored(ctx, Operand.TABLE_2, 64) == 0xFEDC_BA98_7654_3210
        assert stored(ctx, Operand.P, 33) == 0x1_2345_6789
        # A length takes the marks of its class away.
        await it.write(ctx, registers.P_LENGTH, 33)
        await ends_with(Error.NONE)
        await it.write(ctx, registers.Q_LENGTH, 40)
        await ends_with(Error.OPERAND_MISSING)
        await it.load(ctx, Operand.SECRET, 1, 40)
        await ends_with(Error.NONE)
        await it.write(ctx, registers.KEY_OPERAND, Operand.TABLE_2)
        await ends_with(Error.OPERAND_MISSING)

    simulate(it, process)


@SHAPES
def test_overrun_and_excess(mock_engine, bench, width, aligned):
    it = bench(mock_engine(width, headroom=0 if aligned else 2, aligned=aligned))

    async def process(ctx):
        await prepare(ctx, it, 40, y=6)
        await it.put_input(ctx, 1, 5)
        # A word after the last is refused, and the operand stays complete.
        await it.write(ctx, registers.KEY_DATA, 1)
        assert await it.refusal(ctx) is Error.KEY_OVERRUN
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        # Excess leaves the operand incomplete.
        for value in (1 << 40, 1 << 63, (1 << 64) - 1):
            await it.load(ctx, Operand.Y, value, 64)
            assert await it.refusal(ctx) is Error.KEY_EXCESS
            assert await it.run(ctx, Command.MODMUL) is Error.OPERAND_MISSING
            await it.load(ctx, Operand.Y, 6, 40)
            assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert await it.refusal(ctx) is Error.NONE
        # One digit.
        if width % 32:
            await it.load(ctx, Operand.M_INVERSE, 1 << width, 32)
            assert await it.refusal(ctx) is Error.KEY_EXCESS

    simulate(it, process)


def test_marks_of_complete_operands(mock_engine, bench):
    it = bench(mock_engine(17))

    async def process(ctx):
        async def works():
            return await it.run(ctx, Command.MODMUL) is Error.NONE

        await prepare(ctx, it, 64)
        await it.put_input(ctx, 1, 8)
        assert await works()
        # Choosing clears, the last word completes.
        await it.write(ctx, registers.KEY_OPERAND, Operand.Y)
        assert not await works()
        await it.load(ctx, Operand.Y, 1, 64)
        assert await works()
        # A start ends the loading.
        await it.write(ctx, registers.KEY_OPERAND, Operand.Y)
        await it.write(ctx, registers.KEY_DATA, 1)
        assert not await works()
        await it.write(ctx, registers.KEY_DATA, 1)
        assert await it.refusal(ctx) is Error.KEY_OVERRUN
        await it.load(ctx, Operand.Y, 1, 64)
        assert await works()
        # A length clears the marks of its class only, even if it is the same.
        await it.write(ctx, registers.EXPONENT_LENGTH, 64)
        assert await works()
        await it.write(ctx, registers.MODULUS_LENGTH, 64)
        assert not await works()
        await it.load(ctx, Operand.M, 1, 64)
        assert not await works()
        # A length in the middle of an operand of its class ends the loading; another does not.
        await it.write(ctx, registers.KEY_OPERAND, Operand.Y)
        await it.write(ctx, registers.KEY_DATA, 1)
        await it.write(ctx, registers.P_LENGTH, 32)
        await it.write(ctx, registers.KEY_DATA, 1)
        assert await works()
        await it.write(ctx, registers.KEY_OPERAND, Operand.Y)
        await it.write(ctx, registers.KEY_DATA, 1)
        await it.write(ctx, registers.MODULUS_LENGTH, 64)
        assert await it.refusal(ctx) is Error.NONE
        await it.write(ctx, registers.KEY_DATA, 1)
        assert await it.refusal(ctx) is Error.KEY_OVERRUN
        # Choosing what cannot be chosen ends the loading, too.
        await it.write(ctx, registers.KEY_OPERAND, Operand.Y)
        await it.write(ctx, registers.KEY_OPERAND, Operand.DQ)
        assert await it.refusal(ctx) is Error.ADDRESS
        await it.write(ctx, registers.KEY_DATA, 1)
        assert await it.refusal(ctx) is Error.KEY_OVERRUN

    simulate(it, process)


def test_input_length(mock_engine, bench):
    it = bench(mock_engine(17))
    rng = random.Random(SEED)
    length = 75

    async def process(ctx):
        await prepare(ctx, it, length)
        x = rng.getrandbits(length) | 1 << length - 1
        await it.put_input(ctx, x, 12)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert await it.refusal(ctx) is Error.INPUT_CLIPPED
        assert await it.get_output(ctx) == (x, 10)
        for size in range(1, 11):
            await it.write(ctx, registers.INPUT_LENGTH, size)
            assert await it.run(ctx, Command.MODMUL) is Error.NONE
            assert await it.get_output(ctx) == (x & (1 << 8 * size) - 1, 10), size
        assert await it.refusal(ctx) is Error.NONE
        for size in (11, 100, 65535, 65536, 0xFFFFFFFF):
            await it.write(ctx, registers.INPUT_LENGTH, size)
            assert await it.run(ctx, Command.MODMUL) is Error.NONE
            assert await it.refusal(ctx) is Error.INPUT_CLIPPED
            assert await it.get_output(ctx) == (x, 10)
        await it.write(ctx, registers.INPUT_LENGTH, 0)
        assert await it.run(ctx, Command.MODMUL) is Error.LENGTH_ZERO
        assert await it.read(ctx, registers.CYCLES) == 0
        assert await it.get_output(ctx) == (0, 0)
        # Bits between the modulus's length and the end of its last byte make X too large...
        await it.put_input(ctx, x | 1 << length, 10)
        assert await it.run(ctx, Command.MODMUL) is Error.OPERAND_RANGE
        assert await it.read(ctx, registers.CYCLES) == 0
        # ... but the bytes above do not count, clipped or not.
        await it.put_input(ctx, x | 0xABCD << 80, 12)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert await it.get_output(ctx) == (x, 10)

    simulate(it, process)


def test_input_addresses(mock_engine, bench):
    it = bench(mock_engine(32, max_length=1100))
    words = -(-1100 // 32)

    async def process(ctx):
        await prepare(ctx, it, 1100)
        for word in reversed(range(words)):
            await it.write(ctx, registers.INPUT_FIFO, 0x1000 + word)
            await it.write(ctx, registers.WRITE_ADDRESS, word)
        await it.write(ctx, registers.INPUT_FIFO, 0xDEAD)
        for word in (words, words + 1, 63, 64, 128, 1 << 31):
            await it.write(ctx, registers.WRITE_ADDRESS, word)
            assert await it.refusal(ctx) is Error.ADDRESS
        await it.write(ctx, registers.INPUT_LENGTH, 4 * (words - 1))
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        value, _ = await it.get_output(ctx)
        assert value == sum(0x1000 + i << 32 * i for i in range(words - 1))

    simulate(it, process)


def at(window, word):
    """Number of a window's word at the register port."""
    return window.address // 4 + word


@pytest.mark.parametrize(
    ("width", "length"), [(17, 75), (32, 1100), pytest.param(32, 9000, marks=pytest.mark.matrix)]
)
def test_windows(mock_engine, bench, width, length):
    """A number in each window, and what the registers beside them hold then."""
    it = bench(mock_engine(width, max_length=length))
    rng = random.Random(SEED)
    words = -(-length // 32)
    seen = min(words, 256)  # the window's end

    async def process(ctx):
        await it.write(ctx, registers.MODULUS_LENGTH, length)
        y = rng.getrandbits(length)
        for operand, value in ((Operand.M, (1 << length) - 1), (Operand.Y, y)):
            await it.write(ctx, registers.KEY_OPERAND, operand)
            for _ in range(words):  # at any address
                address = at(registers.KEY_WINDOW, rng.choice((0, 1, rng.randrange(256), 255)))
                await it.write(ctx, address, value & 0xFFFFFFFF)
                value >>= 32
        await it.write(ctx, at(registers.KEY_WINDOW, 7), 1)
        assert await it.refusal(ctx) is Error.KEY_OVERRUN
        x = rng.getrandbits(length)
        await it.put_input(ctx, x, -(-length // 8))
        await it.write(ctx, registers.READ_ADDRESS, 2)
        for word in rng.sample(range(seen), seen):
            x = x & ~(0xFFFFFFFF << 32 * word) | rng.getrandbits(32) << 32 * word
            x &= (1 << length) - 1
            await it.write(ctx, at(registers.INPUT_WINDOW, word), x >> 32 * word & 0xFFFFFFFF)
        assert await it.refusal(ctx) is Error.NONE
        for word in {words, words + 1, 128, 255} - set(range(words)):
            if word < 256:
                await it.write(ctx, at(registers.INPUT_WINDOW, word), 0xDEAD)
                assert await it.refusal(ctx) is Error.ADDRESS
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        total = add_digits(x, y, width) & (1 << length) - 1
        for word in rng.sample(range(256), 256):
            value = await it.read(ctx, at(registers.OUTPUT_WINDOW, word))
            assert value == total >> 32 * word & 0xFFFFFFFF, word
        assert await it.read(ctx, registers.OUTPUT_FIFO) == total >> 64 & 0xFFFFFFFF
        assert await it.get_output(ctx) == (total, -(-length // 8))
        await it.write(ctx, registers.READ_ADDRESS, 1 << 31)  # does not count for the window
        assert await it.read(ctx, at(registers.OUTPUT_WINDOW, 0)) == total & 0xFFFFFFFF
        # INPUT_FIFO holds the last word that was written to the window.
        await it.write(ctx, at(registers.INPUT_WINDOW, 1), 0xF1F0)
        await it.write(ctx, registers.WRITE_ADDRESS, 0)
        await it.write(ctx, registers.INPUT_LENGTH, 4)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        total = add_digits(0xF1F0, y, width) & (1 << length) - 1
        assert (await it.get_output(ctx))[0] == total
        assert await it.refusal(ctx) is Error.NONE

    simulate(it, process)


@pytest.mark.parametrize(
    "pause", [0, 2, 60, *(pytest.param(one, marks=pytest.mark.matrix) for one in (1, 3, 5, 8))]
)
def test_windows_while_wiping(mock_engine, bench, pause):
    """A word that is written while the buffers are cleared goes nowhere."""
    it = bench(mock_engine(17, max_length=200))

    async def process(ctx):
        await prepare(ctx, it, 200)
        await it.write(ctx, registers.COMMAND, Command.WIPE)
        for _ in range(pause):
            await ctx.tick()
        for word in (0, 6, 7, 255):
            await it.write(ctx, at(registers.INPUT_WINDOW, word), 0x5EC2E7)
            await it.write(ctx, at(registers.KEY_WINDOW, word), 0x5EC2E7)
        assert await it.wait(ctx) is Error.NONE
        words = [
            it.front_end.buffer.memory.data[i] for i in range(it.front_end.buffer.memory.depth)
        ]
        busy = await it.refusal(ctx) is Error.BUSY
        assert busy == (pause < 60)
        if busy:
            assert all(ctx.get(word) == 0 for word in words)

    simulate(it, process)


@pytest.mark.matrix
# Short: while input and output move, too. Long: while the engine works.
@pytest.mark.parametrize(
    "moments",
    [
        [(1, 40), (1, 140), (400, 200)],
        pytest.param([(1, 0), (1, 100)], marks=pytest.mark.matrix),
    ],
)
def test_busy_refuses_and_changes_nothing(mock_engine, bench, moments):
    it = bench(mock_engine(17))
    x, y = 0x123456789, 0x987654321

    async def process(ctx):
        await prepare(ctx, it, 64, y)
        await it.put_input(ctx, x, 8)
        expected = None
        for delay, pause in moments:
            ctx.set(it.engine.delay, delay)
            for register, value in (
                (registers.COMMAND, Command.WIPE),
                (registers.STATUS, 4),
                (registers.STATUS, 5),
                (registers.INPUT_LENGTH, 1),
                (registers.WRITE_ADDRESS, 0),
                (registers.INPUT_FIFO, 5),
                (registers.KEY_OPERAND, Operand.Y),
                (registers.KEY_DATA, 5),
                (registers.INPUT_WINDOW, 5),
                (registers.KEY_WINDOW, 5),
                (registers.MODULUS_LENGTH, 5),
                (registers.EXPONENT_LENGTH, 5),
                (registers.P_LENGTH, 5),
                (registers.Q_LENGTH, 5),
            ):
                await it.write(ctx, registers.COMMAND, Command.MODMUL)
                for _ in range(pause):
                    await ctx.tick()
                assert await it.write(ctx, register, value) == 1
                assert await it.read(ctx, registers.STATUS) == 2, (delay, pause)
                assert await it.read(ctx, registers.OUTPUT_LENGTH) == 0
                assert await it.read(ctx, registers.OUTPUT_FIFO) == 0
                assert await it.read(ctx, registers.OUTPUT_WINDOW) == 0
                assert await it.wait(ctx) is Error.NONE
                assert await it.refusal(ctx) is Error.BUSY
                result = await it.get_output(ctx)
                expected = expected or result
                assert result == expected == (add_digits(x, y, 17), 8)
                assert await it.read(ctx, registers.CYCLES) == delay
        # These are not refused.
        await it.write(ctx, registers.COMMAND, Command.MODMUL)
        for register, value in (
            (registers.STATUS, 0),
            (registers.STATUS, 1),
            (registers.READ_ADDRESS, 1),
            (registers.INTERRUPT_ENABLE, 1),
            (registers.INTERRUPT_STATUS, 1),
            (registers.ERROR, 0),
        ):
            await it.write(ctx, register, value)
        assert await it.read(ctx, registers.STATUS) == 2
        assert await it.refusal(ctx) is Error.NONE
        assert await it.wait(ctx) is Error.NONE
        assert await it.read(ctx, registers.OUTPUT_FIFO) == expected[0] >> 32
        # The operands and the word in INPUT_FIFO, the last one of x, are as they were.
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert await it.get_output(ctx) == expected
        await it.write(ctx, registers.WRITE_ADDRESS, 0)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert await it.get_output(ctx) == (add_digits(1 << 32 | 1, y, 17), 8)

    simulate(it, process)


def test_interrupt(mock_engine, bench):
    it = bench(mock_engine(17))

    async def process(ctx):
        irq = it.front_end.irq
        await prepare(ctx, it, 32)
        await it.put_input(ctx, 1, 4)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert await it.read(ctx, registers.INTERRUPT_STATUS) == 1
        assert not ctx.get(irq)
        await it.write(ctx, registers.INTERRUPT_ENABLE, 1)
        assert ctx.get(irq)
        await it.write(ctx, registers.INTERRUPT_STATUS, 0xFFFFFFFE)
        assert ctx.get(irq)
        await it.write(ctx, registers.INTERRUPT_STATUS, 1)
        assert not ctx.get(irq)
        assert await it.read(ctx, registers.INTERRUPT_STATUS) == 0
        assert await it.read(ctx, registers.INTERRUPT_ENABLE) == 1
        # At the end of every command: refused before the engine, by the engine, and good ones.
        for command, length in ((Command.MODMUL, 0), (7, 4), (Command.MODMUL, 4)):
            await it.write(ctx, registers.INPUT_LENGTH, length)
            await it.write(ctx, registers.COMMAND, command)
            for _ in range(200):
                busy = registers.STATUS["BUSY"].of(await it.read(ctx, registers.STATUS))
                if not busy:
                    break
            assert ctx.get(irq)
            await it.write(ctx, registers.INTERRUPT_STATUS, 1)
        # A refusal for being busy is no end.
        await it.write(ctx, registers.COMMAND, Command.MODMUL)
        await it.write(ctx, registers.COMMAND, Command.MODMUL)
        assert not ctx.get(irq)
        assert await it.wait(ctx) is Error.NONE
        assert ctx.get(irq)

    simulate(it, process)


def test_wipe(mock_engine, bench):
    it = bench(mock_engine(17, max_length=200))

    async def process(ctx):
        await prepare(ctx, it, 200, y=(1 << 200) - 1)
        await it.put_input(ctx, (1 << 200) - 1, 25)
        await it.write(ctx, registers.INPUT_FIFO, 0x5EC2E7)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        words = [
            it.front_end.buffer.memory.data[i] for i in range(it.front_end.buffer.memory.depth)
        ]
        assert any(ctx.get(word) for word in words)
        # A half loaded operand, too.
        await it.write(ctx, registers.KEY_OPERAND, Operand.Y)
        await it.write(ctx, registers.KEY_DATA, 0x5EC2E7)
        assert await it.run(ctx, Command.WIPE) is Error.NONE
        assert ctx.get(it.engine.command) == Command.WIPE
        assert await it.read(ctx, registers.CYCLES) == 5
        assert all(ctx.get(word) == 0 for word in words)
        assert ctx.get(it.engine.digit) == 0
        assert await it.get_output(ctx) == (0, 0)
        assert await it.run(ctx, Command.MODMUL) is Error.OPERAND_MISSING
        # The word in INPUT_FIFO is gone.
        await it.write(ctx, registers.WRITE_ADDRESS, 0)
        assert all(ctx.get(word) == 0 for word in words)
        # Lengths stay.
        assert await it.read(ctx, registers.MODULUS_LENGTH) == 200
        ctx.set(it.engine.answer, Error.MODULUS_EVEN)
        assert await it.run(ctx, Command.WIPE) is Error.MODULUS_EVEN

    simulate(it, process)


@pytest.mark.parametrize("after", [1, 30, 90, 120, 300])
def test_reset_in_the_middle(mock_engine, bench, after):
    """In the check, the input, the engine, the output, and after the end of a command."""
    it = bench(mock_engine(17))
    dut = ResetInserter(it.reset)(it)
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)

    async def process(ctx):
        await prepare(ctx, it, 64, y=5)
        await it.put_input(ctx, 7, 8)
        await it.write(ctx, registers.INTERRUPT_ENABLE, 1)
        ctx.set(it.engine.delay, 30)
        await it.write(ctx, registers.COMMAND, Command.MODMUL)
        for _ in range(after):
            await ctx.tick()
        ctx.set(it.reset, 1)
        await ctx.tick()
        ctx.set(it.reset, 0)
        for register in REGISTERS:
            if register.readable and all(field.reset is not None for field in register.fields):
                reset = sum(field.reset << field.offset for field in register.fields)
                assert await it.read(ctx, register) == reset, register.name
        assert await it.run(ctx, Command.MODMUL) is Error.LENGTH_ZERO
        await it.write(ctx, registers.MODULUS_LENGTH, 64)
        assert await it.run(ctx, Command.MODMUL) is Error.OPERAND_MISSING
        await prepare(ctx, it, 64, y=5)
        await it.put_input(ctx, 7, 8)
        assert await it.run(ctx, Command.MODMUL) is Error.NONE
        assert await it.get_output(ctx) == (12, 8)

    simulator.add_testbench(process)
    simulator.run()


def test_a_write_waits_for_the_word_before(mock_engine, bench):
    it = bench(mock_engine(17))

    async def process(ctx):
        await it.write(ctx, registers.MODULUS_LENGTH, 64)
        await it.write(ctx, registers.KEY_OPERAND, Operand.Y)
        # 2 for the choice, 1 for the gearbox to begin, 1 to decode, as for each write.
        assert await it.write(ctx, registers.KEY_DATA, 1) == 4
        assert await it.write(ctx, registers.KEY_DATA, 1) == 32 + 1
        # Padding: 66 bits are 4 digits of 17. Then the last cycle of the gearbox, and the mark.
        assert await it.write(ctx, registers.READ_ADDRESS, 1) == 4 * 17 - 32 + 2 + 1
        assert await it.write(ctx, registers.READ_ADDRESS, 1) == 1

    simulate(it, process)


def test_a_write_waits_for_the_aligning(mock_engine, bench):
    it = bench(mock_engine(32, headroom=0, aligned=True))

    async def process(ctx):
        await it.write(ctx, registers.MODULUS_LENGTH, 40)
        await it.write(ctx, registers.KEY_OPERAND, Operand.Y)
        # As without aligning, and: division by two digits, the 24 bits below.
        assert await it.write(ctx, registers.KEY_DATA, 1) == 4 + (2 + 1) + (24 + 1)
        assert await it.write(ctx, registers.KEY_DATA, 1) == 32 + 1
        # 8 bits of the number are left.
        assert await it.write(ctx, registers.READ_ADDRESS, 1) == 8 + 2 + 1

    simulate(it, process)


def test_bad_capabilities(mock_engine, rejects):
    rejects(lambda: FrontEnd("mock"), TypeError, "capabilities must be Capabilities, not 'mock'")
    rejects(
        lambda: FrontEnd(mock_engine(17, max_length=65535).capabilities),
        ValueError,
        "max_length must be 1 to 65534, not 65535",
    )


@pytest.mark.parametrize("multipliers", [0, 16])
def test_bad_number_of_multipliers(mock_engine, rejects, multipliers):
    rejects(
        lambda: FrontEnd(mock_engine(17, multipliers=multipliers).capabilities),
        ValueError,
        f"multipliers must be 1 to 15, not {multipliers}",
    )
