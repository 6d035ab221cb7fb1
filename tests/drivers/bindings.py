"""The C driver in this process, by ctypes, on a model of the registers."""

import ctypes

from coprime.bus import registers as r
from coprime.device.base import InterruptTimeout
from coprime.engine.contract import Length
from tests.device.test_accelerator import FakeDevice

READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)
WRITE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
WAIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
WORDS = ctypes.POINTER(ctypes.c_uint32)
BLOCK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, WORDS, ctypes.c_uint32)


class Driver(ctypes.Structure):
    """`struct coprime`."""

    _fields_ = [
        *(("context", ctypes.c_void_p), ("read", READ), ("write", WRITE), ("wait", WAIT)),
        *((name, BLOCK) for name in ("write_block", "read_block")),
        *((name, ctypes.c_uint32) for name in ("version", "family", "commands")),
        *((name, ctypes.c_uint32) for name in ("commands_high", "slots", "streams")),
        *((name, ctypes.c_uint32) for name in ("max_bits", "max_prime_bits", "min_bits")),
        *((name, ctypes.c_uint32) for name in ("digit_width", "residue_width")),
        *((name, ctypes.c_uint32) for name in ("headroom", "radix_bits", "half_bits")),
        *(
            (name, ctypes.c_bool)
            for name in (
                "constant_time",
                "blinds_scalars",
                "fixed_modulus",
                "equal_primes",
                "checked",
            )
        ),
        *((name, ctypes.c_uint32) for name in ("paddings", "source", "held", "loaded")),
        *((name, ctypes.c_uint32) for name in ("modulus_bits", "modulus_residue")),
        *((name, ctypes.c_uint32) for name in ("parameter_set", "selected")),
        *((name, ctypes.c_uint32) for name in ("kept", "kept_bytes", "kept_slot")),
    ]


class Modulus(ctypes.Structure):
    """`struct coprime_modulus`."""

    _fields_ = [
        ("bits", ctypes.c_uint32),
        ("value", WORDS),
        ("power", WORDS),
        ("inverse", ctypes.c_uint32 * 8),
    ]


class PublicKey(ctypes.Structure):
    """`struct coprime_public_key`."""

    _fields_ = [("modulus", Modulus), ("exponent", WORDS), ("exponent_bits", ctypes.c_uint32)]


class PrivateKey(ctypes.Structure):
    """`struct coprime_private_key`."""

    _fields_ = [
        *(("public_key", PublicKey), ("d", WORDS), ("p", Modulus), ("q", Modulus)),
        *((name, WORDS) for name in ("dp", "dq", "qinv", "crt_p", "crt_q")),
    ]


class Memory(ctypes.Structure):
    """`struct coprime_memory`."""

    _fields_ = [("words", WORDS), ("count", ctypes.c_size_t)]


class Model(FakeDevice):
    """What this driver reads, and the Python driver does not."""

    def read32(self, address):
        if address == r.VERSION.address:
            return 0x0001_0203
        if address == r.MODULUS_LENGTH.address:
            return self.lengths[Length.MODULUS]
        return super().read32(address)


def words(value, bits):
    count = (bits + 31) // 32
    return (ctypes.c_uint32 * count)(*(value >> 32 * k & 0xFFFF_FFFF for k in range(count)))


def modulus(value):
    bits = value.bit_length()
    return Modulus(bits, words(value, bits))


def driver_of(device):
    def wait(_):
        try:
            device.wait_interrupt()
        except InterruptTimeout:
            return 1
        return 0

    return Driver(
        None,
        READ(lambda _, address: device.read32(address)),
        WRITE(lambda _, address, value: device.write32(address, value)),
        WAIT(wait),
    )


def move_blocks(driver, device):
    """Let the driver move blocks, of which a list is returned."""
    blocks = []

    def places(address, count):
        assert 1 <= count <= 256
        blocks.append((address, count))
        return [address + 4 * k for k in range(count)]

    def write(_, address, numbers, count):
        for place, number in zip(places(address, count), numbers[:count], strict=True):
            device.write32(place, number)

    def read(_, address, numbers, count):
        for k, place in enumerate(places(address, count)):
            numbers[k] = device.read32(place)

    driver.write_block, driver.read_block = BLOCK(write), BLOCK(read)
    return blocks


def opened(library, **settings):
    device = Model(**settings)
    driver = driver_of(device)
    assert library.coprime_open(ctypes.byref(driver)) == 0
    return device, driver


def private_key(key):
    own = PrivateKey()
    own.public_key.modulus = modulus(key.n)
    own.public_key.exponent = words(65537, 17)
    own.public_key.exponent_bits = 17
    own.p, own.q = modulus(key.p), modulus(key.q)
    own.d = words(key.d, key.n.bit_length())
    own.dp, own.dq = words(key.dp, key.p.bit_length()), words(key.dq, key.q.bit_length())
    own.qinv = words(key.qinv, key.p.bit_length())
    return own
