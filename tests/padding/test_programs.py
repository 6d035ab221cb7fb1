"""The programs, executed in integers, against the paddings in software."""

import hashlib
import random

import pytest

from coprime.model.padding_formats import DIGEST_INFO, bytes_of, rejection_message
from coprime.padding.instructions import PaddingSlot
from coprime.padding.tasks import Option, Task
from coprime.padding.unit import PaddingUnitModel
from coprime.rsa.padding import DecryptionError, Oaep, Pkcs1Encryption, Pkcs1Signature, Pss

SEED = 3
LABEL = b"label"


def little(data):
    """Bytes as the machine has them: byte 0 is the last one."""
    return bytearray(reversed(data))


class Source:
    """Random bytes, many of them 0, in the machine's and in software's way."""

    def __init__(self, seed):
        self.generator = random.Random(seed)

    def byte(self):
        return self.generator.choice((0, self.generator.getrandbits(8)))

    def take(self, count):
        return bytes(self.byte() for _ in range(count))


def machine_for(bits, given, **settings):
    size = bytes_of(bits)
    garbage = random.Random(SEED).randbytes(size)
    machine = PaddingUnitModel(bits, len(given), **settings)
    machine.input = little(garbage[: size - len(given)] + given)
    machine.output = little(garbage)
    return machine


def encoded(machine, task):
    machine.run(task)
    return bytes(reversed(machine.input))


BITS = [528, 529, 535, 536, 768, 1024, 1025, 2048]


@pytest.mark.parametrize("bits", BITS)
def test_encoding_is_software_s(bits):
    generator = random.Random(SEED)
    size = bytes_of(bits)
    for length in {0, min(1, size - 66), size - 66}:
        message = generator.randbytes(length)
        machine = machine_for(bits, message, random=Source(length).byte)
        software = Pkcs1Encryption(random=Source(length).take)
        expected = software.encode(message, bits)
        assert encoded(machine, Task.PKCS1_ENCRYPT) == expected
        for options in (frozenset(), {Option.LABEL}):
            label = LABEL if options else b""
            machine = machine_for(bits, message, random=Source(length).byte, options=options)
            machine.slots[PaddingSlot.LABEL][:] = hashlib.sha256(LABEL).digest()
            software = Oaep(label=label, random=Source(length).take)
            assert encoded(machine, Task.OAEP_ENCRYPT) == software.encode(message, bits)


@pytest.mark.parametrize("bits", BITS)
def test_signatures_are_software_s(bits):
    generator = random.Random(SEED)
    size = bytes_of(bits)
    for length in (0, 40, size):
        message = generator.randbytes(length)
        digest = hashlib.sha256(message).digest()
        both = {Option.HASH, Option.DIGEST_INFO}
        for given, options in ((message, both), (digest, {Option.DIGEST_INFO})):
            machine = machine_for(bits, given, options=options)
            assert encoded(machine, Task.PKCS1_SIGN) == Pkcs1Signature().encode(message, bits)
            machine.slots[PaddingSlot.MESSAGE][:] = digest
            machine.output = machine.input
            machine.run(Task.PKCS1_VERIFY)
            assert not machine.bad
        machine = machine_for(bits, DIGEST_INFO + digest)
        assert encoded(machine, Task.PKCS1_SIGN) == Pkcs1Signature().encode(message, bits)
        for salt_length in {0, min(20, size - 35), min(32, size - 35)}:
            salt = generator.randbytes(salt_length)
            software = Pss(salt_length=salt_length, random=lambda _, salt=salt: salt)
            expected = software.encode(message, bits).rjust(size, b"\0")
            for given, options in (
                (message, {Option.HASH, Option.SALT}),
                (digest, {Option.SALT}),
                (digest, frozenset()),
            ):
                machine = machine_for(
                    bits,
                    given,
                    options=options,
                    salt_length=salt_length,
                    random=iter(salt).__next__,
                )
                machine.slots[PaddingSlot.SALT][:] = salt.ljust(32, b"\xff")
                assert encoded(machine, Task.PSS_SIGN) == expected
                machine.output = machine.input
                machine.run(Task.PSS_VERIFY)
                assert not machine.bad


def decoded(bits, task, data, **settings):
    """What a task makes of an encoded message: the message or None, and the cycles."""
    machine = machine_for(bits, data, **settings)
    machine.slots[PaddingSlot.LABEL][:] = hashlib.sha256(LABEL).digest()
    machine.output = little(data)
    machine.run(task)
    assert not any(machine.output[machine.length :])
    return None if machine.bad else bytes(reversed(machine.output[: machine.length])), machine


def test_oaep_fails_where_software_does():
    bits, size = 1024, 128
    generator = random.Random(SEED)
    good = Oaep(label=LABEL, random=generator.randbytes).encode(b"message", bits)
    cycles = set()
    for index in (None, *range(size)):
        data = bytearray(good)
        if index is not None:
            data[index] ^= 1 << generator.randrange(8)
        message, machine = decoded(bits, Task.OAEP_DECRYPT, data, options={Option.LABEL})
        cycles.add(machine.cycles)
        try:
            expected = Oaep(label=LABEL).decode(bytes(data))
        except DecryptionError:
            expected = None
        assert (message is None) == (index is not None)
        assert message == expected
    assert len(cycles) == 1


@pytest.mark.parametrize(
    "size",
    [
        11,
        12,
        42,
        pytest.param(65, marks=pytest.mark.matrix),
        pytest.param(256, marks=pytest.mark.matrix),
    ],
)
def test_a_wrong_pkcs1_padding_gives_another_message(size):
    generator = random.Random(SEED)
    bits = 8 * size
    cycles = set()
    for length in {0, size - 11}:
        message = bytes(generator.randrange(1, 256) for _ in range(length))
        good = Pkcs1Encryption(random=generator.randbytes).encode(message, bits)
        for index in (None, *range(size)):
            data = bytearray(good)
            if index is not None:
                data[index] = 0 if data[index] else 3
            ciphertext, secret = generator.randbytes(size), generator.randbytes(32)
            machine = machine_for(bits, ciphertext)
            machine.output = little(data)
            machine.slots[PaddingSlot.SECRET][:] = secret
            machine.run(Task.PKCS1_DECRYPT)
            cycles.add(machine.cycles)
            substitute = rejection_message(secret, ciphertext)
            expected = Pkcs1Encryption().decode(bytes(data), substitute)
            found = bytes(reversed(machine.output))
            assert machine.length == len(expected)
            assert found == expected.rjust(size, b"\0")
    assert len(cycles) == 1


def test_wrong_signatures_are_bad():
    bits, size = 1025, 129
    digest = hashlib.sha256(b"message").digest()
    generator = random.Random(SEED)
    for task, good in (
        (Task.PSS_VERIFY, Pss(random=generator.randbytes).encode(b"message", bits)),
        (Task.PKCS1_VERIFY, Pkcs1Signature().encode(b"message", bits)),
    ):
        good = good.rjust(size, b"\0")
        for index in (None, *range(size)):
            data = bytearray(good)
            if index is not None:
                data[index] ^= 1 << generator.randrange(8)
            machine = machine_for(bits, data, salt_length=32)
            machine.slots[PaddingSlot.MESSAGE][:] = digest
            machine.output = little(data)
            machine.run(task)
            assert machine.bad == (index is not None)
        machine.output = little(good)
        machine.slots[PaddingSlot.MESSAGE][0] ^= 1
        machine.run(task)
        assert machine.bad
