"""The driver against a model of the registers that computes with exactly what was written."""

import random
from dataclasses import replace

import pytest

from coprime.bus import registers as r
from coprime.device.accelerator import Accelerator, EngineError, IdentificationError, Result
from coprime.device.base import BusError, InterruptTimeout
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.model.montgomery import digits
from coprime.rsa import operations
from coprime.rsa.keys import generate
from coprime.rsa.padding import DecryptionError, Oaep, Pkcs1Signature

BY_ADDRESS = {register.address: register for register in r.REGISTERS}
for window in r.WINDOWS:
    BY_ADDRESS |= {window.address + 4 * word: window for word in range(window.words)}
CLASSES = {
    Operand.Y: Length.MODULUS,
    Operand.E: Length.EXPONENT,
    Operand.M: Length.MODULUS,
    Operand.P: Length.P,
    Operand.Q: Length.Q,
    Operand.DP: Length.P,
    Operand.DQ: Length.Q,
    Operand.M_INVERSE: Length.DIGIT,
    Operand.P_INVERSE: Length.DIGIT,
    Operand.Q_INVERSE: Length.DIGIT,
    Operand.M_POWER: Length.MODULUS,
    Operand.P_POWER: Length.P,
    Operand.Q_POWER: Length.Q,
    Operand.CRT_P: Length.MODULUS,
    Operand.CRT_Q: Length.MODULUS,
}
OF_CURVES = {
    Operand.SECRET: Length.Q,
    Operand.POINT: Length.MODULUS,
    **{Operand[f"TABLE_{k}"]: Length.MODULUS for k in range(12)},
}
"""Those that only engines for curves hold."""
EVERY_CLASS = CLASSES | OF_CURVES
PUBLIC = {Operand.M, Operand.E, Operand.M_INVERSE, Operand.M_POWER}
REQUIRED = {
    Command.MODMUL: PUBLIC - {Operand.E} | {Operand.Y},
    Command.MODEXP: PUBLIC,
    Command.RSA_PUBLIC: PUBLIC,
    Command.RSA_PRIVATE: set(CLASSES) - {Operand.Y, Operand.E},
}


class FakeDevice:
    """An accelerator at its registers: every rule of the map, and Montgomery's arithmetic.

    It computes with the constants that were loaded, so that a wrong one gives a wrong result. With
    `radix` 0 it multiplies without Montgomery's form, and `exact` ones mind a length that is not
    the modulus's own.
    """

    def __init__(
        self,
        *,
        width=17,
        headroom=2,
        greatest=2176,
        greatest_prime=1088,
        least=5,
        commands=tuple(REQUIRED),
        held=frozenset(CLASSES),
        identification=0x434F5052,
        radix=None,
        multipliers=1,
        exact=False,
    ):
        self.width, self.headroom = width, headroom
        self.radix = width if radix is None else radix
        self.multipliers, self.exact = multipliers, exact
        self.greatest, self.greatest_prime, self.least = greatest, greatest_prime, least
        self.commands = set(commands)
        self.held = held
        self.identification = identification
        self.writes: list[tuple[r.Register, int]] = []
        self.hang = False
        self.finish = None
        self.reset()

    def reset(self):
        self.values = {r.INTERRUPT_ENABLE: 0, r.INTERRUPT_STATUS: 0, r.ERROR: 0}
        self.lengths = dict.fromkeys(Length, 0)
        self.operands: dict[Operand, int] = {}
        self.input = [0] * (self.greatest // 32 + 1)
        self.input_length = self.fifo = self.output_length = self.read_address = 0
        self.result = self.cycles = 0
        self.chosen = None
        self.busy = False

    # Device

    def read32(self, address):
        register = BY_ADDRESS.get(address)
        if register is None or not register.readable:
            raise BusError(address, False)
        commands = sum(1 << command for command in {*self.commands, Command.WIPE})
        word = address - r.OUTPUT_WINDOW.address >> 2
        values = {
            **self.values,
            r.STATUS: 2 * self.busy,
            r.OUTPUT_LENGTH: self.output_length,
            r.OUTPUT_FIFO: self.result >> 32 * self.read_address & 0xFFFF_FFFF,
            r.OUTPUT_WINDOW: self.result >> 32 * max(word, 0) & 0xFFFF_FFFF,
            r.IDENTIFICATION: self.identification,
            r.FAMILY: 7,
            r.CAPABILITIES: commands | 1 << 8 | self.multipliers << 10,
            r.DIGITS: self.width | self.headroom << 8 | self.radix << 16,
            r.MAX_LENGTH: self.greatest | self.greatest_prime << 16,
            r.MIN_LENGTH: self.least,
            r.CYCLES: self.cycles,
            r.PRODUCTS: self.cycles // 2,
        }
        return values[register]

    def write32(self, address, value):
        register = BY_ADDRESS.get(address)
        if register is None or not register.writable:
            raise BusError(address, True)
        assert value in range(1 << 32)
        self.writes.append((register, value))
        lengths = {r.MODULUS_LENGTH: 0, r.EXPONENT_LENGTH: 1, r.P_LENGTH: 2, r.Q_LENGTH: 3}
        if register is r.ERROR:
            self.values[r.ERROR] = 0
        elif register is r.INTERRUPT_ENABLE:
            self.values[r.INTERRUPT_ENABLE] = value & 1
        elif register is r.INTERRUPT_STATUS:
            self.values[r.INTERRUPT_STATUS] &= ~value
        elif register is r.READ_ADDRESS:
            self.read_address = value
        elif self.busy:
            self.refuse(Error.BUSY)
        elif register in lengths:
            kind = Length(lengths[register])
            self.lengths[kind] = min(value, 0xFFFF)
            self.operands = {k: v for k, v in self.operands.items() if EVERY_CLASS[k] != kind}
            self.chosen = None
        elif register is r.INPUT_LENGTH:
            self.input_length = value
        elif register is r.INPUT_FIFO:
            self.fifo = value
        elif register is r.WRITE_ADDRESS:
            self.store(value, self.fifo)
        elif register is r.INPUT_WINDOW:
            self.store(address - r.INPUT_WINDOW.address >> 2, value)
        elif register is r.KEY_OPERAND:
            self.choose(value)
        elif register in (r.KEY_DATA, r.KEY_WINDOW):
            self.take(value)
        elif register is r.COMMAND:
            self.start(Command(value))
        else:
            raise AssertionError(f"{register.name} is not what the driver uses")

    def wait_interrupt(self, timeout=None):
        if self.hang:
            raise InterruptTimeout
        if self.finish:
            self.finish()
        assert self.values[r.INTERRUPT_ENABLE] & self.values[r.INTERRUPT_STATUS]

    # What the registers do

    def refuse(self, error):
        if not self.values[r.ERROR] >> 8:
            self.values[r.ERROR] |= error << 8

    def store(self, word, value):
        if word >= -(-self.greatest // 32):
            self.refuse(Error.ADDRESS)
        else:
            self.input[word] = value

    def length_of(self, operand):
        return (
            self.width
            if EVERY_CLASS[operand] is Length.DIGIT
            else self.lengths[EVERY_CLASS[operand]]
        )

    def usable(self, kind):
        prime = kind in (Length.P, Length.Q)
        greatest = self.greatest_prime if prime else self.greatest
        return kind is Length.DIGIT or 0 < self.lengths[kind] <= greatest

    def choose(self, number):
        self.chosen = None
        if number not in self.held:
            self.refuse(Error.ADDRESS)
            return
        operand = Operand(number)
        kind = EVERY_CLASS[operand]
        if not self.usable(kind):
            self.refuse(Error.LENGTH_OVER if self.lengths[kind] else Error.LENGTH_ZERO)
            return
        self.chosen = operand
        self.operands.pop(operand, None)
        self.words: list[int] = []

    def take(self, word):
        if self.chosen is None:
            self.refuse(Error.KEY_OVERRUN)
            return
        self.words.append(word)
        length = self.length_of(self.chosen)
        if len(self.words) == -(-length // 32):
            value = sum(word << 32 * i for i, word in enumerate(self.words))
            if value >> length:
                self.refuse(Error.KEY_EXCESS)
            else:
                self.operands[self.chosen] = value
            self.chosen = None

    def start(self, command):
        self.chosen = None
        self.output_length = self.cycles = 0
        self.busy = True
        self.finish = lambda: self.end(command)

    def end(self, command):
        error = self.execute(command)
        self.busy = False
        self.finish = None
        self.values[r.ERROR] = self.values[r.ERROR] & 0xFF00 | error
        self.values[r.INTERRUPT_STATUS] = 1

    def execute(self, command):
        if command is Command.WIPE:
            self.operands = {}
            self.result = 0
            return Error.NONE
        if command not in self.commands:
            return Error.UNSUPPORTED
        required = REQUIRED[command] & self.held
        kinds = {CLASSES[operand] for operand in required} - {Length.DIGIT}
        for kind in kinds:
            if kind is Length.EXPONENT and self.lengths[kind] == 0:
                return Error.EXPONENT_LENGTH
            if self.lengths[kind] < (1 if kind is Length.EXPONENT else self.least):
                return Error.LENGTH_ZERO
            if not self.usable(kind):
                return Error.LENGTH_OVER
        if not required <= set(self.operands):
            return Error.OPERAND_MISSING
        if self.input_length == 0:
            return Error.LENGTH_ZERO
        size = -(-self.lengths[Length.MODULUS] // 8)
        if self.input_length > size:
            self.refuse(Error.INPUT_CLIPPED)
        x = sum(word << 32 * i for i, word in enumerate(self.input))
        x &= (1 << 8 * min(size, self.input_length)) - 1
        operands = self.operands
        moduli = {Operand.M, Operand.P, Operand.Q} & required
        if any(operands[modulus] == 0 for modulus in moduli):
            return Error.MODULUS_ZERO
        if self.radix and any(operands[modulus] % 2 == 0 for modulus in moduli):
            return Error.MODULUS_EVEN
        if x >= operands[Operand.M] or (
            command is Command.MODMUL and operands[Operand.Y] >= operands[Operand.M]
        ):
            return Error.OPERAND_RANGE
        if self.exact and any(
            operands[modulus].bit_length() < self.lengths[CLASSES[modulus]] for modulus in moduli
        ):
            return Error.MODULUS_SHORT
        self.cycles = 1000
        self.result = self.compute(command, x)
        self.output_length = size
        return Error.NONE

    def rounds(self, kind):
        """Rounds of a factor of a length class; without Montgomery's form none divides."""
        length = self.lengths[kind]
        return digits(length, self.radix, self.headroom) if self.radix else 0

    def reduce(self, value, modulus, inverse, rounds):
        """value / R mod modulus, round by round with the loaded inverse."""
        mask = (1 << self.radix) - 1
        for _ in range(rounds):
            value += (value * inverse & mask) * modulus
            assert value & mask == 0, "the inverse is wrong"
            value >>= self.radix
        return value % modulus

    def power(self, base, exponent, modulus, inverse, rounds):
        """base^exponent in Montgomery form."""
        one = (1 << self.radix * rounds) % modulus
        for bit in bin(exponent)[2:]:
            one = self.reduce(one * one, modulus, inverse, rounds)
            if bit == "1":
                one = self.reduce(one * base, modulus, inverse, rounds)
        return one

    def inverse(self, operand, modulus):
        """The loaded inverse; an engine that holds none has rounds of one bit, or needs none."""
        if operand in self.held:
            return self.operands[operand]
        return -pow(modulus, -1, 1 << self.radix) if self.radix else 0

    def compute(self, command, x):
        operands = self.operands
        m = operands[Operand.M]
        m_inverse = self.inverse(Operand.M_INVERSE, m)
        rounds = self.rounds(Length.MODULUS)
        if command is Command.RSA_PRIVATE:
            return self.private(x, m, rounds)
        power = operands.get(Operand.M_POWER, (1 << 2 * self.radix * rounds) % m)
        base = self.reduce(x * power, m, m_inverse, rounds)
        if command is Command.MODMUL:
            return self.reduce(base * operands[Operand.Y], m, m_inverse, rounds)
        result = self.power(base, operands[Operand.E], m, m_inverse, rounds)
        return self.reduce(result, m, m_inverse, rounds)

    def private(self, x, m, rounds):
        operands = self.operands
        total = 0
        for prime, kind, exponent, inverse, power, factor in (
            (
                Operand.P,
                Length.P,
                Operand.DP,
                Operand.P_INVERSE,
                Operand.P_POWER,
                Operand.CRT_P,
            ),
            (
                Operand.Q,
                Length.Q,
                Operand.DQ,
                Operand.Q_INVERSE,
                Operand.Q_POWER,
                Operand.CRT_Q,
            ),
        ):
            own_rounds = self.rounds(kind)
            modulus = operands[prime]
            own_inverse = self.inverse(inverse, modulus)
            base = self.reduce(x * operands[power], modulus, own_inverse, rounds)
            part = self.power(base, operands[exponent], modulus, own_inverse, own_rounds)
            part = self.reduce(part, modulus, own_inverse, own_rounds)
            m_inverse = self.inverse(Operand.M_INVERSE, m)
            total += self.reduce(part * operands[factor], m, m_inverse, own_rounds)
        return total % m

    def written(self, register):
        return [value for written, value in self.writes if written is register]


class FakeBlockDevice(FakeDevice):
    """The same, moving blocks, and only those: what is not in a window is a single register."""

    blocks = 0

    def check(self, address, count):
        window = BY_ADDRESS[address]
        assert window in r.WINDOWS
        assert count <= window.words
        assert address + 4 * count <= window.address + 4 * window.words
        self.blocks += 1

    def read_block(self, address, count):
        self.check(address, count)
        return [super(FakeBlockDevice, self).read32(address + 4 * n) for n in range(count)]

    def write_block(self, address, values):
        self.check(address, len(values))
        for n, value in enumerate(values):
            super().write32(address + 4 * n, value)

    def read32(self, address):
        assert BY_ADDRESS[address] not in r.WINDOWS
        return super().read32(address)

    def write32(self, address, value):
        assert BY_ADDRESS[address] not in r.WINDOWS
        super().write32(address, value)


@pytest.fixture
def device():
    return FakeDevice()


@pytest.fixture
def accelerator(device):
    return Accelerator(device)


KEY = generate(512, seed=1)


class NegativeNumbers:
    n, d, p, q, dp, dq = 35, 5, 7, 5, 5, -1


def error_of(call, *arguments, **named):
    with pytest.raises(EngineError) as caught:
        call(*arguments, **named)
    return caught.value.code


def test_reads_what_the_accelerator_is(accelerator):
    assert accelerator.family == 7
    assert accelerator.commands == {*REQUIRED, Command.WIPE}
    assert accelerator.constant_time
    assert not accelerator.fixed_modulus
    assert (accelerator.digit_width, accelerator.headroom) == (17, 2)
    assert (accelerator.radix_bits, accelerator.multipliers) == (17, 1)
    assert accelerator.min_length == 5
    assert (accelerator.max_length, accelerator.max_prime_length) == (2176, 1088)


def test_another_device_is_refused():
    with pytest.raises(IdentificationError, match=r"itself as 0x12345678, .* 0x434F5052"):
        Accelerator(FakeDevice(identification=0x12345678))


@pytest.mark.matrix(quick=40)
@pytest.mark.parametrize("width", [1, 8, 17, 31, 32, 33, 64])
@pytest.mark.parametrize("length", [5, 32, 33, 61, 64, 128, *range(1023, 1032), 1536, 2047])
def test_modmul_and_modexp(width, length):
    accelerator = Accelerator(FakeDevice(width=width))
    source = random.Random(1000 * width + length)
    m = source.getrandbits(length) | 1 << (length - 1) | 1
    for x, y in ((0, m - 1), (1, m - 2), (m - 1, m - 1), (source.randrange(m), m // 2)):
        assert accelerator.modmul(x, y, m).value == x * y % m
        for e in (0, 1, 2, 17):
            assert accelerator.modexp(x, e, m).value == pow(x, e, m)


def test_result():
    result = Result(5, 200, 150)
    assert result.utilization == 0.75
    assert Result(5, 0, 0).utilization == 0
    assert Result(5, 200, 150, multipliers=2).utilization == 0.375
    assert Accelerator(FakeDevice()).modmul(2, 3, 35) == Result(6, 1000, 500)
    result = Accelerator(FakeDevice(multipliers=2)).modmul(2, 3, 35)
    assert result == Result(6, 1000, 500, multipliers=2)
    assert result.utilization == 0.25


BITWISE = set(CLASSES) - {Operand.M_INVERSE, Operand.P_INVERSE, Operand.Q_INVERSE}


def bitwise(radix, *, least=1, exact=True):
    """An accelerator whose rounds take one bit, with or without Montgomery's form."""
    return FakeDevice(
        width=32, headroom=0, held=BITWISE, least=least, radix=radix, multipliers=2, exact=exact
    )


@pytest.mark.parametrize("radix", [0, 1])
def test_every_small_modulus(radix):
    """Also those of one bit and of two."""
    accelerator = Accelerator(bitwise(radix))
    assert (accelerator.radix_bits, accelerator.multipliers) == (radix, 2)
    for m in range(1, 17):
        for x in range(m):
            if radix and m % 2 == 0:
                assert error_of(accelerator.modmul, x, m - 1, m) is Error.MODULUS_EVEN
                assert error_of(accelerator.modexp, x, 3, m) is Error.MODULUS_EVEN
                continue
            for y in range(m):
                assert accelerator.modmul(x, y, m).value == x * y % m
            for e in range(9):
                assert accelerator.modexp(x, e, m).value == pow(x, e, m)


@pytest.mark.parametrize("radix", [0, 1])
@pytest.mark.parametrize(
    ("bits", "p_bits"),
    [
        *((64, None), (512, None), (515, 220)),
        *(pytest.param(*one, marks=pytest.mark.matrix) for one in ((1025, 480), (1031, None))),
    ],
)
def test_rsa_with_rounds_of_one_bit(radix, bits, p_bits):
    accelerator = Accelerator(bitwise(radix))
    key = generate(bits, p_bits=p_bits, seed=bits)
    accelerator.load_public(key.n, key.e)
    accelerator.load_private(key)
    for x in (0, 1, key.p, key.q, key.n - 1, key.n // 3):
        assert accelerator.public(x).value == pow(x, key.e, key.n)
        assert accelerator.private(x).value == pow(x, key.d, key.n)


@pytest.mark.parametrize("radix", [0, 1])
def test_the_smallest_primes(radix):
    """Every x that is prime to them."""
    accelerator = Accelerator(bitwise(radix))
    for prime, other in ((2, 3), (3, 2), (3, 5)):

        class Numbers:
            n, d, p, q, dp, dq = prime * other, 3, prime, other, 3 % (prime - 1), 3 % (other - 1)

        accelerator.load_private(Numbers)
        for x in range(Numbers.n):
            if radix and Numbers.n % 2 == 0:
                assert error_of(accelerator.private, x) is Error.MODULUS_EVEN
            elif x % prime and x % other:
                assert accelerator.private(x).value == pow(x, 3, Numbers.n)


def test_a_length_over_that_of_the_modulus():
    """The driver makes the length longer for what is too large, or for the least that it takes."""
    accelerator = Accelerator(bitwise(0, least=5))
    assert error_of(accelerator.modmul, 1 << 40, 2, 35) is Error.OPERAND_RANGE
    assert error_of(accelerator.modmul, 2, 2, 7) is Error.MODULUS_SHORT
    with pytest.raises(EngineError, match="a prime is shorter than its length"):
        accelerator.modexp(2, 2, 7)
    assert accelerator.modmul(2, 9, 17).value == 1


def test_words_lengths_and_order(device, accelerator):
    device.writes.clear()
    x, y, m = (1 << 65) + 5, (1 << 33) + 7, (1 << 66) - 1
    accelerator.modmul(x, y, m)
    assert device.written(r.MODULUS_LENGTH) == [66]
    assert device.written(r.INPUT_LENGTH) == [9]
    operands, current = {}, None
    for register, value in device.writes:
        if register is r.KEY_OPERAND:
            current = operands.setdefault(Operand(value), [])
        elif register is r.KEY_WINDOW:
            current.append(value)
    assert operands[Operand.Y] == [7, 2, 0]
    assert operands[Operand.M] == [0xFFFF_FFFF, 0xFFFF_FFFF, 3]
    assert operands[Operand.M_INVERSE] == [1]
    assert len(operands[Operand.M_POWER]) == 3
    assert device.written(r.INPUT_WINDOW) == device.input[:3] == [5, 0, 2]
    names = [register.name for register, _ in device.writes]
    assert names.index("MODULUS_LENGTH") < names.index("KEY_OPERAND") < names.index("COMMAND")
    status = names.index("INTERRUPT_STATUS")
    assert status < names.index("COMMAND") < names.index("INTERRUPT_STATUS", status + 1)


@pytest.mark.parametrize("kind", [FakeDevice, FakeBlockDevice])
@pytest.mark.parametrize("length", [5, 33, 8192, 8193, 20_000])
def test_numbers_longer_than_the_windows(kind, length):
    device = kind(greatest=20_000)
    accelerator = Accelerator(device)
    rng = random.Random(length)
    m = rng.getrandbits(length) | 1 << length - 1 | 1
    x, y = rng.randrange(m), rng.randrange(m)
    device.writes.clear()
    assert accelerator.modmul(x, y, m).value == x * y % m
    assert accelerator.modexp(m - 2, 3, m).value == pow(m - 2, 3, m)
    words = -(-length // 32)
    beyond = max(0, words - 256)
    assert len(device.written(r.WRITE_ADDRESS)) == len(device.written(r.INPUT_FIFO)) == 2 * beyond
    assert len(device.written(r.READ_ADDRESS)) == 2 * beyond
    if kind is FakeBlockDevice:
        # Operands: M and M_POWER and Y in as many blocks as they have windows; M_INVERSE, E in one.
        assert device.blocks == 3 * -(-words // 256) + 2 + 2 * 2


def test_rsa_in_blocks():
    device = FakeBlockDevice()
    accelerator = Accelerator(device)
    accelerator.load_private(KEY)
    assert accelerator.private(9).value == pow(9, KEY.d, KEY.n)
    assert device.blocks == len(REQUIRED[Command.RSA_PRIVATE]) + 2


@pytest.mark.parametrize("e", [3, 17, 65537])
@pytest.mark.parametrize(
    ("bits", "p_bits"), [(64, None), (512, None), (515, 220), (1025, 480), (1031, None)]
)
def test_rsa(accelerator, bits, p_bits, e):
    key = generate(bits, e, p_bits=p_bits, seed=bits + e)
    accelerator.load_public(key.n, key.e)
    accelerator.load_private(key)
    for x in (0, 1, key.p, key.q, key.n - 1, key.n // 3):
        assert accelerator.public(x).value == pow(x, key.e, key.n)
        assert accelerator.private(x).value == pow(x, key.d, key.n)


def test_padded_operations_through_registers(accelerator):
    key = generate(1024, seed=2)
    ciphertext = operations.encrypt(accelerator, key.public, b"message", Oaep(label=b"label"))
    assert operations.decrypt(accelerator, key, ciphertext, Oaep(label=b"label")) == b"message"
    with pytest.raises(DecryptionError):
        operations.decrypt(accelerator, key, ciphertext)
    signature = operations.sign(accelerator, key, b"message", Pkcs1Signature(), blinding=True)
    operations.verify(accelerator, key.public, b"message", signature, Pkcs1Signature())


def test_loads_only_what_changed(device, accelerator):
    accelerator.load_private(KEY)
    device.writes.clear()
    accelerator.private(5)
    accelerator.load_private(replace(KEY))
    accelerator.private(6)
    assert not device.written(r.KEY_WINDOW)
    assert not device.written(r.MODULUS_LENGTH)
    accelerator.load_public(KEY.n, KEY.e)
    assert device.written(r.KEY_OPERAND) == [Operand.E]
    device.writes.clear()
    other = KEY.n - 2  # as long, so that the modulus' operands change and the primes' do not
    assert accelerator.modmul(3, 4, other).value == 12
    assert not device.written(r.MODULUS_LENGTH)
    assert set(device.written(r.KEY_OPERAND)) == {
        Operand.M,
        Operand.M_INVERSE,
        Operand.M_POWER,
        Operand.Y,
    }
    assert accelerator.private(7).value == pow(7, KEY.d, KEY.n)
    assert accelerator.public(7).value == pow(7, KEY.e, KEY.n)
    accelerator.modmul(3, 4, 35)  # another length clears the CRT factors too
    assert accelerator.private(7).value == pow(7, KEY.d, KEY.n)


def test_a_reset_is_noticed(device, accelerator):
    accelerator.load_private(KEY)
    accelerator.private(5)
    device.reset()
    assert accelerator.private(5).value == pow(5, KEY.d, KEY.n)


def test_wipe_forgets_everything(device, accelerator):
    accelerator.load_public(KEY.n, KEY.e)
    accelerator.load_private(KEY)
    accelerator.wipe()
    assert not device.operands
    with pytest.raises(ValueError, match="no public key is loaded"):
        accelerator.public(5)
    with pytest.raises(ValueError, match="no private key is loaded"):
        accelerator.private(5)
    accelerator.load_private(KEY)
    assert accelerator.private(5).value == pow(5, KEY.d, KEY.n)


def test_forget_loads_anew(device, accelerator):
    accelerator.load_private(KEY)
    device.operands.clear()
    assert error_of(accelerator.private, 5) is Error.OPERAND_MISSING
    assert accelerator.private(5).value == pow(5, KEY.d, KEY.n)  # an error forgets too
    device.operands.clear()
    accelerator.forget()
    assert accelerator.private(5).value == pow(5, KEY.d, KEY.n)


def test_operands_that_the_engine_does_not_hold_are_left_out():
    held = {Operand.Y, Operand.E, Operand.M, Operand.M_POWER}
    device = FakeDevice(held=held)
    accelerator = Accelerator(device)
    device.writes.clear()
    assert accelerator.modexp(3, 5, 35).value == pow(3, 5, 35)
    assert device.written(r.KEY_OPERAND) == [Operand.M, Operand.M_POWER, Operand.E]


def test_every_operand_that_an_engine_may_hold_is_found():
    assert EVERY_CLASS.keys() == {*Operand} - {Operand.X}
    assert all(one.length is kind for one, kind in EVERY_CLASS.items())
    device = FakeDevice(held=EVERY_CLASS.keys())
    for operands in (EVERY_CLASS.keys(), CLASSES.keys(), OF_CURVES.keys()):
        device.held = frozenset(operands)
        device.writes.clear()
        assert Accelerator(device)._held == operands
        assert device.written(r.KEY_OPERAND) == [*EVERY_CLASS]


def test_without_crt_a_private_operation_is_an_exponentiation():
    held = set(REQUIRED[Command.MODEXP])
    device = FakeDevice(commands=(Command.MODEXP,), held=held, greatest_prime=0)
    accelerator = Accelerator(device)
    accelerator.load_private(KEY)
    assert accelerator.private(5).value == pow(5, KEY.d, KEY.n)
    assert device.written(r.EXPONENT_LENGTH)[-1] == KEY.bits
    accelerator.load_public(KEY.n, KEY.e)
    assert accelerator.public(5).value == pow(5, KEY.e, KEY.n)
    assert set(device.written(r.COMMAND)) == {Command.MODEXP}


def test_exponent_length(device, accelerator):
    assert accelerator.modexp(3, 5, 35, exponent_length=100).value == pow(3, 5, 35)
    assert device.written(r.EXPONENT_LENGTH)[-1] == 100
    with pytest.raises(ValueError, match=r"exponent_length must be 3 or more .* not 2"):
        accelerator.modexp(3, 5, 35, exponent_length=2)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda a: a.modmul(3, 4, 0x10), Error.MODULUS_EVEN),
        (lambda a: a.modmul(16, 4, 0), Error.MODULUS_ZERO),
        (lambda a: a.modmul(0, 0, 0), Error.MODULUS_ZERO),
        (lambda a: a.modmul(35, 4, 35), Error.OPERAND_RANGE),
        (lambda a: a.modmul(4, 35, 35), Error.OPERAND_RANGE),
        (lambda a: a.modmul(4, 1 << 1000, 35), Error.OPERAND_RANGE),
        (lambda a: a.modexp(1 << 1000, 3, 35), Error.OPERAND_RANGE),
        (lambda a: a.modexp(3, 3, (1 << 2177) - 1), Error.LENGTH_OVER),
        (lambda a: a.modexp(3, 3, (1 << 70000) - 1), Error.LENGTH_OVER),
        (lambda a: a.modexp(3, 1 << 2176, 35), Error.LENGTH_OVER),
        (lambda a: a.modexp(3, 0, 35, exponent_length=0), Error.EXPONENT_LENGTH),
        (lambda a: (a.load_public(KEY.n, 3), a.public(KEY.n)), Error.OPERAND_RANGE),
        (lambda a: (a.load_public(KEY.n, 3), a.public(KEY.n << 9)), Error.OPERAND_RANGE),
        (lambda a: (a.load_private(KEY), a.private(KEY.n)), Error.OPERAND_RANGE),
        (lambda a: (a.load_private(KEY), a.private(KEY.n << 9)), Error.OPERAND_RANGE),
    ],
)
def test_the_hardwares_own_error(device, accelerator, call, code):
    assert error_of(call, accelerator) is code
    assert device.values[r.ERROR] == code  # and no refusal
    assert accelerator.modmul(4, 10, 35).value == 5


def test_bad_primes_reach_the_hardware(accelerator):
    class Numbers:
        n, d, p, q, dp, dq = 35 * 64, 5, 70, 32, 5, 5

    accelerator.load_private(Numbers)
    assert error_of(accelerator.private, 3) is Error.MODULUS_EVEN


def test_an_unknown_command():
    device = FakeDevice(commands=(Command.MODMUL,))
    accelerator = Accelerator(device)
    assert error_of(accelerator.modexp, 3, 5, 35) is Error.UNSUPPORTED


def test_every_error_has_a_sentence():
    sentences = {str(EngineError(code)) for code in Error if code}
    assert len(sentences) == len(Error) - 1
    assert all(sentence[0].islower() and sentence[-1] != "." for sentence in sentences)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: a.modmul(-1, 2, 35), ValueError, "x must be 0 or more"),
        (lambda a: a.modmul(1, -2, 35), ValueError, "y must be 0 or more"),
        (lambda a: a.modmul(1, 2, -35), ValueError, "m must be 0 or more"),
        (lambda a: a.modexp(1, -2, 35), ValueError, "e must be 0 or more"),
        (lambda a: a.modexp(1.0, 2, 35), TypeError, "x must be an int, not float"),
        (lambda a: a.modexp(1, True, 35), TypeError, "e must be an int, not bool"),
        (lambda a: a.load_public("5", 3), TypeError, "n must be an int, not str"),
        (lambda a: a.load_private(NegativeNumbers), ValueError, "dq must be 0 or more"),
    ],
)
def test_numbers_that_no_register_can_say(device, accelerator, call, error, text):
    device.writes.clear()
    with pytest.raises(error, match=text):
        call(accelerator)
    assert not device.writes


def test_a_timeout_then_busy_then_well_again(device, accelerator):
    accelerator.load_private(KEY)
    device.hang = True
    with pytest.raises(InterruptTimeout):
        accelerator.private(5)
    device.hang = False
    assert error_of(accelerator.private, 6) is Error.BUSY
    with pytest.raises(EngineError, match="busy with another command"):
        Accelerator(device_that_is_busy())
    if device.finish:
        device.finish()
    assert accelerator.private(6).value == pow(6, KEY.d, KEY.n)


def device_that_is_busy():
    device = FakeDevice()
    device.start(Command.WIPE)
    return device


def test_an_interrupt_of_before_is_not_taken_for_the_end(device, accelerator):
    device.values[r.INTERRUPT_STATUS] = 1
    assert accelerator.modmul(4, 10, 35).value == 5


@pytest.mark.parametrize("good", range(0, 60, 4))
def test_after_a_bus_error_nothing_half_loaded_is_used(device, accelerator, good):
    accelerator.load_private(KEY)
    write32 = device.write32
    left = good

    def failing(address, value):
        nonlocal left
        if left == 0:
            raise BusError(address, True)
        left -= 1
        write32(address, value)

    device.write32 = failing
    with pytest.raises(BusError):
        accelerator.load_private(generate(512, seed=2))
    device.write32 = write32
    accelerator.load_private(KEY)
    assert accelerator.private(5).value == pow(5, KEY.d, KEY.n)


def test_no_secret_in_a_repr(accelerator):
    accelerator.load_private(KEY)
    text = repr(accelerator) + repr(vars(accelerator)["_private_job"])
    assert str(KEY.d) not in text
    assert str(KEY.p) not in text
    assert str(KEY.dp) not in text


def test_shorter_than_the_shortest(device, accelerator):
    """A modulus below the engine's least length is loaded at that length."""
    assert accelerator.modmul(2, 2, 3).value == 1
    assert device.written(r.MODULUS_LENGTH)[-1] == accelerator.min_length
