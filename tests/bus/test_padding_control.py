"""Padding behind the registers, on an engine that copies: its input is the encoded message."""

import hashlib
import random

import pytest
from amaranth.lib.wiring import In, Out

from coprime.bus import registers
from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.device.simulated import SimulatedDevice
from coprime.device.source import AcceleratorSource
from coprime.engine.contract import Command, Error, Operand
from coprime.flow.verilog import to_verilog
from coprime.model.hash_drbg import HashDrbg
from coprime.model.padding_formats import rejection_message
from coprime.padding.instructions import PaddingSlot
from coprime.padding.scheme import Padding, Scheme, parse_paddings, task_of
from coprime.random.kinds import RandomSource
from coprime.rsa.hashes import mgf1
from coprime.rsa.padding import (
    DecryptionError,
    Oaep,
    Pkcs1Encryption,
    Pkcs1Signature,
    Pss,
)
from tests.bus.conftest import MockEngine

pytestmark = pytest.mark.xdist_group("bus, padding")

SEED = 6
BITS = 1023
SIZE = 128
LABEL = hashlib.sha256(b"label").digest()
DIGEST = hashlib.sha256(b"message").digest()
SECRET = bytes(range(32))


class Copying:
    """An accelerator whose private and public operation copy the input to the result."""

    def __init__(self, paddings, max_length=2048, source=RandomSource.STREAM):
        engine = MockEngine(32, headroom=0, max_length=max_length, max_prime_length=1024)
        hardware = AxiAccelerator(engine, paddings=paddings, source=source)
        verilog = to_verilog(hardware, "coprime_copying")
        self.device = SimulatedDevice(verilog, "coprime_copying", cycle_limit=1_000_000)
        self.write(registers.INTERRUPT_ENABLE, 1)

    def write(self, register, value, word=0):
        self.device.write32(register.address + 4 * word, value)

    def read(self, register, word=0):
        return self.device.read32(register.address + 4 * word)

    def load(self, bits):
        """Make the engine ready for both operations with a modulus of that length."""
        for register, length in (
            (registers.MODULUS_LENGTH, bits),
            (registers.EXPONENT_LENGTH, 32),
            (registers.P_LENGTH, 32),
            (registers.Q_LENGTH, 32),
        ):
            self.write(register, length)
        for operand, length in (
            (Operand.E, 32),
            (Operand.M, bits),
            (Operand.P, 32),
            (Operand.Q, 32),
            (Operand.M_INVERSE, 32),
        ):
            self.write(registers.KEY_OPERAND, operand)
            for _ in range(0, length, 32):
                self.write(registers.KEY_DATA, 1)

    def put_slot(self, slot, value):
        for word in range(8):
            part = int.from_bytes(value) >> 32 * word & 0xFFFFFFFF
            self.write(registers.PADDING_WINDOW, part, 8 * slot + word)

    def put(self, data):
        for word in range(0, len(data), 4):
            part = int.from_bytes(data[::-1][word : word + 4], "little")
            self.write(registers.INPUT_WINDOW, part, word // 4)
        self.write(registers.INPUT_LENGTH, len(data))

    def set(self, **fields):
        PADDING = registers.PADDING
        self.write(PADDING, sum(value << PADDING[name].offset for name, value in fields.items()))

    def go(self, private, command=None):
        """Start, wait; the cycles until the interrupt, and what the registers tell then."""
        self.write(registers.INTERRUPT_STATUS, 1)
        self.write(registers.ERROR, 0)
        before = self.device.cycles
        if command is None:
            self.write(registers.STATUS, 4 | private)
        else:
            self.write(registers.COMMAND, command)
        self.device.wait_interrupt()
        cycles = self.device.cycles - before
        error = self.read(registers.ERROR)
        shown = (
            Error(registers.ERROR["CODE"].of(error)),
            Error(registers.ERROR["REFUSAL"].of(error)),
            *(
                self.read(register)
                for register in (
                    registers.STATUS,
                    registers.CYCLES,
                    registers.PRODUCTS,
                    registers.INTERRUPT_STATUS,
                )
            ),
        )
        return cycles, shown

    def result(self):
        """The result as bytes; and nothing is behind it."""
        size = self.read(registers.OUTPUT_LENGTH)
        words = [self.read(registers.OUTPUT_WINDOW, word) for word in range(-(-size // 4) + 1)]
        data = b"".join(word.to_bytes(4, "little") for word in words)
        assert not any(data[size:])
        return data[:size][::-1]


@pytest.fixture(scope="module")
def copying():
    own = Copying(tuple(Padding))
    own.load(BITS)
    own.put_slot(PaddingSlot.SECRET, SECRET)
    own.put_slot(PaddingSlot.LABEL, LABEL)
    own.put_slot(PaddingSlot.MESSAGE, DIGEST)
    yield own
    own.device.close()


def decode(padding, data):
    """Software's answer to an encoded message, None if the padding is wrong."""
    substitute = b"a wrong padding"
    try:
        message = padding.decode(data, substitute)
    except DecryptionError:
        return None
    return None if message == substitute else message


def with_byte(data, index, value):
    return data[:index] + bytes([value]) + data[index + 1 :]


def pkcs1_cases():
    """Good paddings, and each way in which one can be wrong."""
    generator = random.Random(SEED)
    filler = bytes(generator.randrange(1, 256) for _ in range(SIZE))
    for length in (0, 1, 40, SIZE - 11):
        good = Pkcs1Encryption(random=lambda n: filler[:n]).encode(filler[:length], BITS)
        yield good
        yield with_byte(good, 0, 1)  # as large as the modulus's length allows
        yield from (with_byte(good, 1, kind) for kind in (0, 1, 3, 0x82))
        places = range(2, SIZE) if length == 40 else (2, 9, 10, 11, SIZE - 1)
        yield from (with_byte(good, index, 0) for index in places)
    yield b"\0\2" + filler[2:]  # no zero
    yield bytes(SIZE)


def oaep_cases():
    generator = random.Random(SEED)
    for label in (b"", b"label"):
        good = Oaep(label=label, random=generator.randbytes).encode(b"message", BITS)
        yield good
        # Y, the seed, the label's digest, PS, the 1 and the message all change.
        yield from (with_byte(good, index, good[index] ^ 1) for index in range(SIZE))

    def masked(block):
        """An encoded message of any data block."""
        seed = generator.randbytes(32)
        hidden = bytes(a ^ b for a, b in zip(block, mgf1("sha256", seed, len(block)), strict=True))
        mask = mgf1("sha256", hidden, 32)
        return b"\0" + bytes(a ^ b for a, b in zip(seed, mask, strict=True)) + hidden

    rest = SIZE - 33 - 32
    for label in (LABEL, hashlib.sha256(b"").digest()):
        yield masked(label + bytes(rest))  # no 1
        yield masked(label + bytes(rest - 1) + b"\1")  # an empty message
        yield masked(label + b"\1" + generator.randbytes(rest - 1))  # the longest
        yield masked(label + bytes(9) + b"\2\1" + bytes(rest - 11))  # PS is not zero
        yield masked(label + b"\2" + bytes(rest - 1))
        yield masked(with_byte(label, 31, label[31] ^ 1) + bytes(9) + b"\1" + bytes(rest - 10))


@pytest.mark.matrix
def test_pkcs1_never_tells_that_a_padding_was_wrong(copying):
    copying.set(SCHEME=Scheme.PKCS1)
    seen = set()
    bad = []
    for data in pkcs1_cases():
        copying.put(data)
        seen.add(copying.go(private=1))
        message = decode(Pkcs1Encryption(), data)
        bad.append(message is None)
        assert copying.result() == (rejection_message(SECRET, data) if message is None else message)
    assert bad.count(False) > 100  # zeros in the message, or behind eight bytes that are not
    assert bad.count(True) > 30
    ((_, shown),) = seen  # cycles and registers are equal
    assert shown[:3] == (Error.NONE, Error.NONE, 0)


@pytest.mark.matrix
@pytest.mark.parametrize("label", [0, 1])
def test_oaep_tells_one_error_at_one_time(copying, label):
    copying.set(SCHEME=Scheme.OAEP, LABEL=label)
    seen = set()
    counts = {False: 0, True: 0}
    for data in oaep_cases():
        copying.put(data)
        cycles, (code, *shown) = copying.go(private=1)
        message = decode(Oaep(label=b"label" if label else b""), data)
        assert code == (Error.PADDING if message is None else Error.NONE)
        assert copying.result() == (message or b"")
        seen.add((cycles, *shown))
        counts[message is None] += 1
    assert counts[False] == 3
    assert counts[True] > 2 * SIZE
    assert len(seen) == 1


def test_verifying_tells_one_error_at_one_time(copying):
    generator = random.Random(SEED)
    for scheme, good in (
        (Scheme.PSS, Pss(random=generator.randbytes).encode(b"message", BITS)),
        (Scheme.PKCS1_SIGNATURE, Pkcs1Signature().encode(b"message", BITS)),
    ):
        copying.set(SCHEME=scheme, SALT_LENGTH=32)
        cases = [good, *(with_byte(good, k, good[k] ^ 1) for k in range(SIZE)), bytes(SIZE)]
        seen = set()
        for data in cases:
            copying.put(data)
            cycles, (code, *shown) = copying.go(private=0)
            assert code == (Error.NONE if data == good else Error.PADDING)
            assert copying.result() == b""
            seen.add((cycles, *shown))
        assert len(seen) == 1
        copying.put_slot(PaddingSlot.MESSAGE, bytes(32))
        copying.put(good)
        assert copying.go(private=0)[1][0] is Error.PADDING
        copying.put_slot(PaddingSlot.MESSAGE, DIGEST)


def test_zeros_above_a_short_ciphertext_count(copying):
    """A ciphertext is as long as the modulus, also where software leaves its zeros out."""
    copying.set(SCHEME=Scheme.PKCS1)
    data = b"\0\2" + b"\1" * 8 + b"\0" + b"m" * (SIZE - 11)
    found = []
    for given in (data, data[1:]):
        copying.put(b"\xff" * SIZE)
        copying.put(given)
        cycles, _ = copying.go(private=1)
        found.append((cycles, copying.result()))
    assert found[0] == found[1] == (cycles, b"m" * (SIZE - 11))
    wrong = b"\0" * 5 + bytes(range(1, SIZE - 4))
    for given in (wrong, wrong[5:]):
        copying.put(b"\xff" * SIZE)
        copying.put(given)
        copying.go(private=1)
        assert copying.result() == rejection_message(SECRET, wrong)


def test_random_bytes_are_those_of_the_source_without_zeros(copying):
    generator = random.Random(SEED)
    copying.set(SCHEME=Scheme.PKCS1)
    source = bytes(generator.choice((0, generator.getrandbits(8))) for _ in range(4 * SIZE))
    kept = source.replace(b"\0", b"")
    copying.device.give_random(source)
    copying.put(b"message")
    cycles, _ = copying.go(private=0)
    filler = kept[: SIZE - 3 - 7]
    assert copying.result() == b"\0\2" + filler + b"\0message"
    # Without zeros it takes as many cycles less as zeros were drawn.
    copying.device.give_random(kept)
    copying.put(b"message")
    drawn = next(k for k in range(len(source)) if source[:k].replace(b"\0", b"") == filler)
    assert cycles - copying.go(private=0)[0] == drawn - len(filler)


def test_too_long_an_input_is_clipped_and_flagged(copying):
    message = bytes(range(1, SIZE + 1))
    for fields, limit in (
        ({"SCHEME": Scheme.PKCS1}, SIZE - 11),
        ({"SCHEME": Scheme.OAEP}, SIZE - 66),
        ({"SCHEME": Scheme.PKCS1_SIGNATURE}, SIZE - 11),
        ({"SCHEME": Scheme.PKCS1_SIGNATURE, "DIGEST_INFO": 1}, 32),
        ({"SCHEME": Scheme.PSS}, 32),
    ):
        private = int(fields["SCHEME"].signs)
        found = []
        for given in (message, message[SIZE - limit - 1 :], message[SIZE - limit :]):
            copying.put(b"1")
            copying.go(0, Command.RSA_PUBLIC)  # which has another limit
            copying.set(**fields)
            copying.device.give_random(b"\5" * 300)
            copying.put(given)
            _, (code, refusal, *_) = copying.go(private)
            assert code is Error.NONE
            assert refusal == (Error.NONE if len(given) == limit else Error.INPUT_CLIPPED)
            found.append(copying.result())
            assert len(found[-1]) == SIZE
        assert found[0] == found[1] == found[2]


def test_lengths_that_leave_no_room_are_refused(copying):
    cases = [
        ({"SCHEME": Scheme.PKCS1}, 80, 81),
        ({"SCHEME": Scheme.OAEP}, 520, 521),
        ({"SCHEME": Scheme.PKCS1_SIGNATURE}, 80, 489),
        ({"SCHEME": Scheme.PSS}, 34 * 8 - 7, 34 * 8 - 6),
        ({"SCHEME": Scheme.PSS, "SALT_LENGTH": 63}, 66 * 8 - 7, 66 * 8 - 6),
    ]
    try:
        for fields, short, enough in cases:
            for bits, codes in (
                (short, {Error.PADDING_LENGTH}),
                (enough, {Error.NONE, Error.PADDING}),
            ):
                copying.load(bits)
                copying.set(**fields)
                for private in (0, 1):
                    copying.put(b"" if (private == fields["SCHEME"].signs) else b"\0")
                    assert copying.go(private)[1][0] in codes, (fields, bits, private)
    finally:
        copying.load(BITS)


def test_short_moduli_and_commands_bypass_the_padding(copying):
    copying.set(SCHEME=Scheme.PKCS1)
    data = b"\0" + bytes(range(1, SIZE))
    for command in (Command.RSA_PUBLIC, Command.RSA_PRIVATE):
        copying.put(data)
        copying.go(0, command)
        assert copying.result() == data
    try:
        copying.load(64)
        for private in (0, 1):
            copying.put(b"12345678")
            copying.go(private)
            assert copying.result() == b"12345678"
        copying.put(b"")
        assert copying.go(0)[1][0] is Error.LENGTH_ZERO
    finally:
        copying.load(BITS)


def test_the_register_and_what_is_not_while_busy(copying):
    copying.write(registers.PADDING, 0xFFFFFFFF)
    shown = copying.read(registers.PADDING)
    assert registers.PADDING["SALT_LENGTH"].of(shown) == 32
    assert shown == sum(f.mask for f in registers.PADDING.fields if f.name != "SALT_LENGTH") | (
        32 << registers.PADDING["SALT_LENGTH"].offset
    )
    copying.put(b"1")
    assert copying.go(0)[1][0] is Error.UNSUPPORTED  # a scheme that there is not
    copying.set(SCHEME=Scheme.OAEP)
    before = copying.read(registers.PADDING)
    copying.put(bytes(SIZE))
    copying.write(registers.ERROR, 0)
    copying.write(registers.INTERRUPT_STATUS, 1)
    copying.write(registers.STATUS, 5)
    copying.write(registers.PADDING, 0)
    error = copying.read(registers.ERROR)
    assert registers.ERROR["REFUSAL"].of(error) == Error.BUSY
    copying.write(registers.PADDING_WINDOW, 0)
    copying.device.wait_interrupt()
    copying.write(registers.INTERRUPT_STATUS, 1)
    assert copying.read(registers.PADDING) == before
    assert registers.CAPABILITIES["PADDINGS"].of(copying.read(registers.CAPABILITIES)) == 7


def test_wiping_forgets_the_slots(copying):
    good = Pkcs1Signature().encode(b"message", BITS)
    copying.set(SCHEME=Scheme.PKCS1_SIGNATURE)
    copying.put_slot(PaddingSlot.MESSAGE, DIGEST)
    codes = []
    for wipe in (False, True):
        if wipe:
            copying.go(0, Command.WIPE)
            copying.load(BITS)
        copying.put(good)
        codes.append(copying.go(private=0)[1][0])
    copying.put_slot(PaddingSlot.SECRET, SECRET)
    copying.put_slot(PaddingSlot.LABEL, LABEL)
    copying.put_slot(PaddingSlot.MESSAGE, DIGEST)
    assert codes == [Error.NONE, Error.PADDING]


def test_a_reset_in_the_middle_clears_everything(copying):
    good = Pkcs1Signature().encode(b"message", BITS)
    for after in (0, 1, 50, 300, 700):
        copying.put_slot(PaddingSlot.MESSAGE, DIGEST)
        codes = []
        for reset in (False, True):
            if reset:
                copying.write(registers.STATUS, registers.STATUS["START"].mask)
                copying.device.run(after)
                copying.device.reset()
                assert copying.read(registers.PADDING) == 0
                assert copying.read(registers.OUTPUT_LENGTH) == 0
                copying.write(registers.INTERRUPT_ENABLE, 1)
                copying.load(BITS)
            copying.set(SCHEME=Scheme.PKCS1_SIGNATURE)
            copying.put(good)
            codes.append(copying.go(private=0)[1][0])
        assert codes == [Error.NONE, Error.PADDING]
    copying.put_slot(PaddingSlot.SECRET, SECRET)
    copying.put_slot(PaddingSlot.LABEL, LABEL)
    copying.put_slot(PaddingSlot.MESSAGE, DIGEST)


def test_the_random_source_is_an_axi4_stream():
    engine = MockEngine(32, headroom=0)
    top = AxiAccelerator(engine, paddings=(Padding.OAEP,)).signature.members
    assert top["s_axis_random_tdata"] == In(8)
    assert top["s_axis_random_tvalid"] == In(1)
    assert top["s_axis_random_tready"] == Out(1)
    assert "s_axis_random_tdata" not in AxiAccelerator(engine).signature.members


def test_names_and_codes():
    assert parse_paddings(["pss", "pkcs1"]) == (Padding.PKCS1, Padding.PSS)
    with pytest.raises(ValueError, match="a padding must be one of pkcs1, oaep, pss, not 'none'"):
        parse_paddings(["none"])
    for padding in Padding:
        for scheme in padding.schemes:
            for decodes in (False, True):
                assert task_of(scheme, decodes).name.startswith(padding.name)
                assert task_of(scheme, decodes).decodes == decodes


@pytest.mark.matrix
def test_wipe_ends_a_padding_that_waits_for_random_bytes():
    machine = Copying((Padding.OAEP,), source=RandomSource.SEEDED)
    source = AcceleratorSource(machine.device, lambda size: bytes(size))
    machine.load(BITS)
    machine.put(b"message")
    machine.set(SCHEME=Scheme.OAEP)
    machine.write(registers.STATUS, 4)
    machine.device.run(20_000)
    assert source.awaited
    machine.write(registers.COMMAND, Command.WIPE)
    machine.device.wait_interrupt()
    assert not source.awaited and machine.read(registers.ERROR) == 0
    assert machine.read(registers.STATUS) == machine.read(registers.OUTPUT_LENGTH) == 0
    source.prepare()
    machine.load(BITS)
    machine.put(b"message")
    machine.set(SCHEME=Scheme.OAEP)
    machine.go(private=0)
    count = -(-BITS // 8)
    words = [machine.read(registers.OUTPUT_WINDOW, word) for word in range(count // 4)]
    encoded = b"".join(word.to_bytes(4, "little") for word in words)[::-1]
    generator = HashDrbg(bytes(48))
    assert encoded == Oaep(random=generator.generate).encode(b"message", BITS)
