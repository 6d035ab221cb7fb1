"""The instruction set of the padding unit: steps on bytes, and their encoding.

A padding is a list of steps. Which steps are executed, and how often, depends on lengths and
options only, never on the values of bytes. The lists are the program memory of `unit.PaddingUnit`;
`PaddingUnitModel` executes them on bytes and counts the cycles. What a kind of step does is in the
component that executes it, with its effect on integers beside the hardware:

    SKIP, LOOP, STREAM, END                     control.py
    SET_POINTER, SET_BOUND, SET_LENGTH, LOOP    addressing.py
    DECIDE, and the checks of a STREAM          checks.py
    the sources of a STREAM                     byte_path.py
    HASH_START, HASH_END                        cells/sha256.py
"""

import enum
from dataclasses import dataclass

from amaranth.lib import data
from amaranth.utils import bits_for

from coprime.model.padding_formats import DIGEST_BYTES

from .tasks import Option

ADDRESS_BITS = 9  # bits of an address in the program memory


class PaddingSlot(enum.IntEnum):
    """Memory for 32 bytes each; software can write the first four."""

    SECRET = 0  # SHA-256 of the private exponent, encoded in as many bytes as the modulus has
    LABEL = 1  # SHA-256 of OAEP's label
    SALT = 2  # PSS's salt, in the first bytes; the rest is not used
    MESSAGE = 3  # SHA-256 of a message
    KDK = 4  # the key derivation key of PKCS #1 v1.5 decryption
    DIGEST = 5  # the last digest of the hash unit


class Base(enum.IntEnum):
    """Lengths in bytes that addresses are relative to."""

    ZERO = 0
    MODULUS = 1  # ceil(bits / 8), the length of an encoded message; k in RFC 8017
    ENCODED = 2  # ceil((bits - 1) / 8), the length of PSS's encoded message; emLen
    INPUT = 3  # length of the message; of a ciphertext or a signature, the length set by software
    SALT = 4  # length of the salt


class ByteStepKind(enum.IntEnum):
    """What a step does."""

    END = 0
    STREAM = 1  # move bytes from sources to sinks, one after the other
    SET_POINTER = 2  # pointer = base + literal, minus 32 * block if `minus_blocks`
    SET_BOUND = 3  # bound = base + literal
    HASH_START = 4
    HASH_END = 5  # wait until the digest is in its slot
    LOOP = 6
    """block = block + 1, and jump to `target`, until the pointer is at the bound (if `bounded`) or
    block is `count`. Then block = 0."""
    SKIP = 7  # jump to `target` if the option equals `sense`
    SET_LENGTH = 8  # the message has `literal` bytes
    DECIDE = 9
    """Set `bad` unless a separator was found. If bad, the length is the alternative length."""


class Literal(enum.IntEnum):
    """A constant source, or one that depends on lengths only."""

    VALUE = 0  # the step's own literal
    BLOCK = 1  # the number of the block
    SIZE_HIGH = 2  # the upper byte of 8 * k, the bits of the modulus's bytes
    SIZE_LOW = 3


class Random(enum.IntEnum):
    """A byte from the random source."""

    NONE = 0
    ANY = 1
    NONZERO = 2  # a zero is discarded, and another byte drawn


class Trim(enum.IntEnum):
    """Which bits of a byte are kept: for the first byte of PSS's encoded message."""

    NONE = 0  # all
    KEEP = 1  # those that may be 1
    EXCESS = 2  # those that must be 0


class Check(enum.IntEnum):
    """What a byte must be; otherwise `bad` is set."""

    NONE = 0
    ZERO = 1
    NONZERO = 2
    FIND = 3  # the first zero is the separator; the message is below it
    FIND_STRICTLY = 4  # as FIND, and all bytes before it have the value 1
    CANDIDATE = 5  # a byte of a candidate for the alternative length, the upper one of two first


@dataclass(frozen=True)
class ByteStep:
    """One step.

    Each byte of a STREAM is the exclusive or of all its sources: the buffer at pointer - 1
    (`buffer`), the literal, byte `32 - n` of a slot for the n-th byte (`slot`), random. It goes to
    all its sinks: the buffer (`store`), a slot (`save`), the hash unit (`hash`), the check. The
    STREAM ends after `count` bytes, if that is not 0, and where the pointer is at the bound, if
    `bounded`.
    """

    kind: ByteStepKind
    count: int = 0
    literal: int = 0
    literal_kind: Literal = Literal.VALUE
    base: Base = Base.ZERO
    minus_blocks: bool = False
    buffer: bool = False
    input: bool = False
    """The buffer is software's input, in which bytes beyond its length read as 0."""
    slot: PaddingSlot | None = None
    random: Random = Random.NONE
    trim: Trim = Trim.NONE
    check: Check = Check.NONE
    store: bool = False
    save: PaddingSlot | None = None
    hash: bool = False
    release: bool = False
    """The byte stored is 0 beyond the message's length; within it, the byte of the STREAM if bad,
    otherwise the one that is in the buffer."""
    advance: bool = False
    """The pointer decrements with each byte."""
    bounded: bool = False
    option: Option = Option.HASH
    sense: bool = False
    target: int = 0
    """Relative to the next step."""


STEP = data.StructLayout(
    {
        "kind": ByteStepKind,
        "count": bits_for(DIGEST_BYTES),
        "literal": 8,
        "literal_kind": Literal,
        "base": Base,
        "minus_blocks": 1,
        "buffer": 1,
        "input": 1,
        "uses_slot": 1,
        "slot": PaddingSlot,
        "random": Random,
        "trim": Trim,
        "check": Check,
        "store": 1,
        "saves": 1,
        "save": PaddingSlot,
        "hash": 1,
        "release": 1,
        "advance": 1,
        "bounded": 1,
        "option": Option,
        "sense": 1,
        "target": ADDRESS_BITS,
    }
)
"""A step as a word of the program memory."""
EXECUTION = data.StructLayout({"step": STEP, "execute": 1, "combine": 1, "act": 1})
"""What is happening. `execute`: the step is executed; a STREAM begins. `combine`: the sources of a
byte are combined. `act`: the sinks take the byte."""


def encode(step: ByteStep, address: int) -> int:
    """A step at an address of the program memory as a word of it."""
    fields = {
        **vars(step),
        "literal": step.literal & 0xFF,
        "uses_slot": step.slot is not None,
        "slot": step.slot or PaddingSlot(0),
        "saves": step.save is not None,
        "save": step.save or PaddingSlot(0),
        "target": address + 1 + step.target,
    }
    encoded = STEP.const(fields)
    assert encoded.target == fields["target"] and encoded.count == step.count
    return int(encoded.as_bits())
