"""The paddings as the hardware makes and removes them: lists of steps on bytes.

Sources: RFC 8017, "PKCS #1: RSA Cryptography Specifications Version 2.2" (2016), sections 7.1, 7.2,
8.1, 8.2, 9.1, 9.2 and B.2.1, with SHA-256 everywhere; for a wrong padding of PKCS #1 v1.5 Kario,
"Implementation Guidance for the PKCS #1 RSA Cryptography Specification", section 7 (the message
that a ciphertext then has depends on the key and on nothing that a sender can know). What differs:
a message stands in the hardware with its last byte at address 0, so that it is in its place before
and after all of these paddings, and nothing is ever shifted by a secret length.

Which steps are taken, and how often, depends on lengths and options only, never on what the bytes
are. The same lists are the program memory of `coprime.padding.unit`; `Machine` executes them on
bytes and counts the cycles.
"""

import enum
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

__all__ = [
    "DIGEST_BYTES",
    "DIGEST_INFO",
    "PROGRAMS",
    "Base",
    "Check",
    "Kind",
    "Literal",
    "Machine",
    "Option",
    "Random",
    "Slot",
    "Step",
    "Task",
    "Trim",
    "bytes_of",
    "candidate_mask",
    "is_digest",
    "least_bytes",
    "overhead",
]

DIGEST_BYTES = 32
DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
"""What stands before a SHA-256 digest in a PKCS #1 v1.5 signature (RFC 8017, 9.2, note 1)."""
LEAST_FILLER = 8
"""Bytes between type and message in PKCS #1 v1.5, at the least."""
PKCS1_BYTES = LEAST_FILLER + 3
OAEP_BYTES = 2 * DIGEST_BYTES + 2
PSS_BYTES = DIGEST_BYTES + 2
CANDIDATE_BLOCKS = 8
"""Digests that the alternative length is looked for in; each has 16 candidates."""
STEP_CYCLES = 3
"""Of a step, beyond its bytes: it is read, taken and done."""


class Task(enum.IntEnum):
    """What can be done to an encoded message; a program each."""

    PKCS1_ENCRYPT = 0
    PKCS1_DECRYPT = 1
    OAEP_ENCRYPT = 2
    OAEP_DECRYPT = 3
    PKCS1_SIGN = 4
    PKCS1_VERIFY = 5
    PSS_SIGN = 6
    PSS_VERIFY = 7

    @property
    def decodes(self) -> bool:
        """Whether it comes after the exponentiation."""
        return bool(self & 1)


class Option(enum.IntEnum):
    """Choices of software that a program asks for."""

    HASH = 0
    """A signature is of the input's digest, and not of the input."""
    DIGEST_INFO = 1
    """A PKCS #1 v1.5 signature's digest gets the identifier of SHA-256."""
    LABEL = 2
    """The label's digest is in its slot; else the label is empty."""
    SALT = 3
    """The salt is in its slot; else it is random."""


class Slot(enum.IntEnum):
    """Places for 32 bytes each; software can write the first four."""

    SECRET = 0
    """SHA-256 of the private exponent, as long as the modulus."""
    LABEL = 1
    """SHA-256 of OAEP's label."""
    SALT = 2
    """PSS's salt: its bytes come first, and what is behind them does not count."""
    MESSAGE = 3
    """SHA-256 of a message."""
    KDK = 4
    """The key derivation key of PKCS #1 v1.5 decryption."""
    DIGEST = 5
    """What the hash unit made last."""


class Base(enum.IntEnum):
    """What an address is counted from, in bytes."""

    ZERO = 0
    MODULUS = 1
    """ceil(bits / 8), the length of an encoded message; k in RFC 8017."""
    ENCODED = 2
    """ceil((bits - 1) / 8), the length of PSS's encoded message; emLen."""
    INPUT = 3
    """Bytes of the message; of a ciphertext or a signature, those that software gave."""
    SALT = 4
    """Bytes of the salt."""


class Kind(enum.IntEnum):
    """What a step does."""

    END = 0
    STREAM = 1
    """Take bytes from sources to sinks, one after the other."""
    POINT = 2
    """pointer = base + literal, and 32 * block less if `blocks`."""
    BOUND = 3
    """bound = base + literal."""
    HASH_START = 4
    HASH_END = 5
    """Wait for the digest, which is then in its slot."""
    LOOP = 6
    """block + 1; back to `target` until the pointer is at the bound, or, if not `bounded`, block is
    `count`. Then block = 0."""
    SKIP = 7
    """To `target` if the option is `sense`."""
    LENGTH = 8
    """The message has `literal` bytes now."""
    JUDGE = 9
    """Bad, unless a separator was found. If bad, the length is the alternative one."""


class Literal(enum.IntEnum):
    """A byte that is no datum."""

    VALUE = 0
    """The step's own."""
    BLOCK = 1
    """The number of the block."""
    SIZE_HIGH = 2
    """The upper byte of the modulus's length, 8 * k bits."""
    SIZE_LOW = 3


class Random(enum.IntEnum):
    """A byte from the random source."""

    NONE = 0
    ANY = 1
    NONZERO = 2
    """A zero is drawn again."""


class Trim(enum.IntEnum):
    """What is left of a byte where PSS's encoded message ends."""

    NONE = 0
    KEEP = 1
    """Its bits that may be 1."""
    EXCESS = 2
    """The others."""


class Check(enum.IntEnum):
    """What a byte must be, or else everything is bad."""

    NONE = 0
    ZERO = 1
    NONZERO = 2
    FIND = 3
    """The first zero is the separator; the message is what is below it."""
    FIND_STRICTLY = 4
    """So it is, and before it are only ones (the number 1)."""
    CANDIDATE = 5
    """A byte of a candidate for the alternative length, the upper one of two first."""


@dataclass(frozen=True)
class Step:
    """One step.

    Of a STREAM, each byte is the exclusive or of all its sources: the buffer at the pointer less 1
    (`buffer`), the literal, byte `32 - n` of a slot for the n-th byte (`slot`), random. It goes to
    all its sinks: the buffer (`store`), a slot (`keep`), the hash unit (`hash`), the check. It ends
    after `count` bytes, 0 means without end; and, if `bounded`, where the pointer is at the bound.

    Parameters
    ----------
    moves : the pointer goes down by 1 with each byte
    input : the buffer is software's input, of which bytes beyond its length read as 0
    release : stored is not the byte: beyond the message's length it is 0; below it is what is in
        the buffer, or, if bad, the byte
    """

    kind: Kind
    count: int = 0
    literal: int = 0
    literal_kind: Literal = Literal.VALUE
    base: Base = Base.ZERO
    blocks: bool = False
    buffer: bool = False
    input: bool = False
    slot: Slot | None = None
    random: Random = Random.NONE
    trim: Trim = Trim.NONE
    check: Check = Check.NONE
    store: bool = False
    keep: Slot | None = None
    hash: bool = False
    release: bool = False
    moves: bool = False
    bounded: bool = False
    option: Option = Option.HASH
    sense: bool = False
    target: int = 0
    """Relative to the next step."""


# --- Parts of programs --------------------------------------------------------------------------


def _point(base: Base, offset: int = 0, *, blocks: bool = False) -> Step:
    return Step(Kind.POINT, base=base, literal=offset, blocks=blocks)


def _bound(base: Base, offset: int = 0) -> Step:
    return Step(Kind.BOUND, base=base, literal=offset)


_START, _FINISH, _END = (Step(kind) for kind in (Kind.HASH_START, Kind.HASH_END, Kind.END))
_TO_BOTTOM = _bound(Base.ZERO)

# Each of these begins at the pointer, of which all that touch the buffer take it along.
_BYTE = Step(Kind.STREAM, 1)
_BYTES = Step(Kind.STREAM, DIGEST_BYTES)
_ALL = Step(Kind.STREAM, bounded=True)


def _write(step: Step, **sources: object) -> Step:
    return replace(step, store=True, moves=True, **sources)  # type: ignore[arg-type]


def _read(step: Step, **sinks: object) -> Step:
    return replace(step, buffer=True, moves=True, **sinks)  # type: ignore[arg-type]


def _mix(step: Step, slot: Slot) -> Step:
    """Exclusive or of the buffer with a slot, back to the buffer."""
    return _read(step, slot=slot, store=True)


def _expect(step: Step, literal: int = 0, slot: Slot | None = None) -> Step:
    return _read(step, literal=literal, slot=slot, check=Check.ZERO)


def _hash(step: Step, **sources: object) -> Step:
    return replace(step, hash=True, **sources)  # type: ignore[arg-type]


def _hash_text(text: bytes) -> list[Step]:
    return [_hash(_BYTE, literal=byte) for byte in text]


def _skip(option: Option, sense: bool, steps: Sequence[Step]) -> list[Step]:
    return [Step(Kind.SKIP, option=option, sense=sense, target=len(steps)), *steps]


def _when(option: Option, steps: Sequence[Step], otherwise: Sequence[Step] = ()) -> list[Step]:
    both = _skip(option, False, steps)
    return both + (_skip(option, True, otherwise) if otherwise else [])


def _loop(steps: Sequence[Step], count: int = 0) -> list[Step]:
    back = -len(steps) - 1
    return [*steps, Step(Kind.LOOP, bounded=not count, count=count, target=back)]


def _mask(seed: Step, to: Step, bottom: Step) -> list[Step]:
    """MGF1 (B.2.1) of 32 bytes at `seed`, over the buffer from `to` down to `bottom`."""
    return _loop(
        [
            *(_START, seed, _hash(_read(_BYTES))),
            *(_hash(_BYTE), _hash(_BYTE), _hash(_BYTE)),
            *(_hash(_BYTE, literal_kind=Literal.BLOCK), _FINISH),
            *(replace(to, blocks=True), bottom, _mix(replace(_BYTES, bounded=True), Slot.DIGEST)),
        ]
    )


def _hmac(key: Slot, data: Sequence[Step]) -> list[Step]:
    """HMAC-SHA-256 (RFC 2104) with a key of 32 bytes."""

    def begin(literal: int) -> list[Step]:
        return [
            _START,
            _hash(_BYTES, slot=key, literal=literal),
            _hash(_BYTES, literal=literal),
        ]

    inner = [*begin(0x36), *data, _FINISH]
    return [*inner, *begin(0x5C), _hash(_BYTES, slot=Slot.DIGEST), _FINISH]


def _hash_input() -> list[Step]:
    whole = _hash(_read(_ALL, input=True))
    return [_START, _point(Base.INPUT), _TO_BOTTOM, whole, _FINISH]


# --- PKCS #1 v1.5 -------------------------------------------------------------------------------


def _pkcs1_frame(kind: int, **filler: object) -> list[Step]:
    """00, the type, the filler, 00 around a message that is in its place."""
    return [
        *(_point(Base.INPUT, 1), _write(_BYTE)),
        *(_point(Base.MODULUS), _write(_BYTE), _write(_BYTE, literal=kind)),
        *(_bound(Base.INPUT, 1), _write(_ALL, **filler)),
    ]


def _pkcs1_encrypt() -> list[Step]:
    return _pkcs1_frame(2, random=Random.NONZERO)


def _pkcs1_sign() -> list[Step]:
    size = len(DIGEST_INFO) + DIGEST_BYTES
    to_place = [_point(Base.ZERO, DIGEST_BYTES), _write(_BYTES, slot=Slot.DIGEST)]
    given = [_point(Base.ZERO, DIGEST_BYTES), _write(_BYTES, buffer=True, input=True)]
    return [
        *_when(Option.HASH, [*_hash_input(), *to_place, Step(Kind.LENGTH, literal=DIGEST_BYTES)]),
        *_when(
            Option.DIGEST_INFO,
            [
                *_skip(Option.HASH, True, given),
                _point(Base.ZERO, size),
                *(_write(_BYTE, literal=byte) for byte in DIGEST_INFO),
                Step(Kind.LENGTH, literal=size),
            ],
        ),
        *_pkcs1_frame(1, literal=0xFF),
    ]


def _pkcs1_verify() -> list[Step]:
    """Compare with what the signature of the digest in its slot must be."""
    size = len(DIGEST_INFO) + DIGEST_BYTES
    return [
        *(_point(Base.MODULUS), _expect(_BYTE), _expect(_BYTE, 1)),
        *(_bound(Base.ZERO, size + 1), _expect(_ALL, 0xFF), _expect(_BYTE)),
        *(_expect(_BYTE, byte) for byte in DIGEST_INFO),
        _expect(_BYTES, slot=Slot.MESSAGE),
    ]


def _pkcs1_decrypt() -> list[Step]:
    """The message, or, if the padding is wrong, one that only the key can foretell."""

    def derived(label: bytes, size: Iterable[Step]) -> list[Step]:
        block = [_hash(_BYTE), _hash(_BYTE, literal_kind=Literal.BLOCK)]
        return _hmac(Slot.KDK, [*block, *_hash_text(label), *size])

    of_candidates = (16 * 16 * CANDIDATE_BLOCKS).to_bytes(2)
    of_message = [_hash(_BYTE, literal_kind=k) for k in (Literal.SIZE_HIGH, Literal.SIZE_LOW)]
    ciphertext = _hash(_read(_ALL, input=True))
    release = _write(_BYTES, slot=Slot.DIGEST, release=True, bounded=True)
    return [
        *_hmac(Slot.SECRET, [_point(Base.MODULUS), _TO_BOTTOM, ciphertext]),
        replace(_BYTES, slot=Slot.DIGEST, keep=Slot.KDK),
        *_loop(
            [
                *derived(b"length", _hash_text(of_candidates)),
                replace(_BYTES, slot=Slot.DIGEST, check=Check.CANDIDATE),
            ],
            CANDIDATE_BLOCKS,
        ),
        *(_point(Base.MODULUS), _expect(_BYTE), _expect(_BYTE, 2)),
        _read(replace(_BYTE, count=LEAST_FILLER), check=Check.NONZERO),
        *(_TO_BOTTOM, _read(_ALL, check=Check.FIND), Step(Kind.JUDGE)),
        *_loop(
            [
                *derived(b"message", of_message),
                *(_point(Base.MODULUS, blocks=True), _TO_BOTTOM, release),
            ]
        ),
    ]


# --- OAEP ---------------------------------------------------------------------------------------

_OAEP_BLOCK = _point(Base.MODULUS, -1 - DIGEST_BYTES)
_OAEP_SEED = _point(Base.MODULUS, -1)


def _mask_oaep_seed() -> list[Step]:
    block = [_OAEP_BLOCK, _TO_BOTTOM, _hash(_read(_ALL))]
    counter = _hash(replace(_BYTE, count=4))
    return [_START, *block, counter, _FINISH, _OAEP_SEED, _mix(_BYTES, Slot.DIGEST)]


def _of_label(use: Callable[[Slot], Step]) -> list[Step]:
    """Do something with the label's digest; that of the empty one is made here."""
    return _when(Option.LABEL, [use(Slot.LABEL)], [_START, _FINISH, use(Slot.DIGEST)])


def _oaep_encrypt() -> list[Step]:
    return [
        _OAEP_BLOCK,
        *_of_label(lambda slot: _write(_BYTES, slot=slot)),
        *(_bound(Base.INPUT, 1), _write(_ALL), _write(_BYTE, literal=1)),
        *(_point(Base.MODULUS), _write(_BYTE), _write(_BYTES, random=Random.ANY)),
        *_mask(_OAEP_SEED, _OAEP_BLOCK, _TO_BOTTOM),
        *_mask_oaep_seed(),
    ]


def _oaep_decrypt() -> list[Step]:
    return [
        *_mask_oaep_seed(),
        *_mask(_OAEP_SEED, _OAEP_BLOCK, _TO_BOTTOM),
        *(_point(Base.MODULUS), _expect(_BYTE), _OAEP_BLOCK),
        *_of_label(lambda slot: _expect(_BYTES, slot=slot)),
        *(_TO_BOTTOM, _read(_ALL, literal=1, check=Check.FIND_STRICTLY), Step(Kind.JUDGE)),
        *(_point(Base.MODULUS), _write(_ALL, release=True)),
    ]


# --- PSS ----------------------------------------------------------------------------------------

_PSS_DIGEST = _point(Base.ZERO, DIGEST_BYTES + 1)
_PSS_SALT = _point(Base.SALT, DIGEST_BYTES + 1)
_PSS_ABOVE_SALT = _bound(Base.SALT, DIGEST_BYTES + 2)
_PSS_BOTTOM = _bound(Base.ZERO, DIGEST_BYTES + 1)
_TOP = _point(Base.ENCODED)
_TRIM = _read(_BYTE, trim=Trim.KEEP, store=True)
_PSS_END = 0xBC


def _mask_pss() -> list[Step]:
    return [*_mask(_PSS_DIGEST, _TOP, _PSS_BOTTOM), _TOP, _TRIM]


def _pss_digest() -> list[Step]:
    """H: of eight zeros, the message's digest and the salt."""
    zeros = _hash(replace(_BYTE, count=8))
    salt = [_PSS_SALT, _PSS_BOTTOM, _hash(_read(_ALL))]
    return [_START, zeros, _hash(_BYTES, slot=Slot.MESSAGE), *salt, _FINISH, _PSS_DIGEST]


def _pss_sign() -> list[Step]:
    kept = replace(_BYTES, slot=Slot.DIGEST, keep=Slot.MESSAGE)
    given = _read(_BYTES, input=True, keep=Slot.MESSAGE)
    return [
        *_when(Option.HASH, [*_hash_input(), kept], [_point(Base.ZERO, DIGEST_BYTES), given]),
        *(_point(Base.MODULUS), _PSS_ABOVE_SALT, _write(_ALL), _write(_BYTE, literal=1)),
        _PSS_BOTTOM,
        *_when(Option.SALT, [_write(_ALL, slot=Slot.SALT)], [_write(_ALL, random=Random.ANY)]),
        *_pss_digest(),
        *(_write(_BYTES, slot=Slot.DIGEST), _write(_BYTE, literal=_PSS_END)),
        *_mask_pss(),
    ]


def _pss_verify() -> list[Step]:
    return [
        *(_point(Base.ZERO, 1), _expect(_BYTE, _PSS_END)),
        *(_point(Base.MODULUS), _bound(Base.ENCODED), _expect(_ALL)),
        replace(_expect(_BYTE), trim=Trim.EXCESS),
        *_mask_pss(),
        *(_TOP, _PSS_ABOVE_SALT, _expect(_ALL), _expect(_BYTE, 1)),
        *_pss_digest(),
        _expect(_BYTES, slot=Slot.DIGEST),
    ]


PROGRAMS: dict[Task, tuple[Step, ...]] = {
    task: (*steps(), _END)
    for task, steps in (
        (Task.PKCS1_ENCRYPT, _pkcs1_encrypt),
        (Task.PKCS1_DECRYPT, _pkcs1_decrypt),
        (Task.OAEP_ENCRYPT, _oaep_encrypt),
        (Task.OAEP_DECRYPT, _oaep_decrypt),
        (Task.PKCS1_SIGN, _pkcs1_sign),
        (Task.PKCS1_VERIFY, _pkcs1_verify),
        (Task.PSS_SIGN, _pss_sign),
        (Task.PSS_VERIFY, _pss_verify),
    )
}
"""Each task's steps."""


# --- Lengths ------------------------------------------------------------------------------------


def bytes_of(bits: int) -> int:
    """Bytes of a number of `bits` bits."""
    return (bits + 7) // 8


def least_bytes(task: Task, options: frozenset[Option] = frozenset()) -> int:
    """Bytes of the shortest modulus; of PSS, those that an encoded message without salt has."""
    if task in (Task.OAEP_ENCRYPT, Task.OAEP_DECRYPT):
        return OAEP_BYTES
    if task in (Task.PSS_SIGN, Task.PSS_VERIFY):
        return PSS_BYTES
    signed = len(DIGEST_INFO) + DIGEST_BYTES
    if task is Task.PKCS1_VERIFY or (task is Task.PKCS1_SIGN and Option.DIGEST_INFO in options):
        return PKCS1_BYTES + signed
    if task is Task.PKCS1_SIGN and Option.HASH in options:
        return PKCS1_BYTES + DIGEST_BYTES
    return PKCS1_BYTES


def overhead(task: Task, options: frozenset[Option] = frozenset()) -> int:
    """Bytes by which the longest input is shorter than the modulus, unless it is a digest."""
    hashes = task in (Task.PKCS1_SIGN, Task.PSS_SIGN) and Option.HASH in options
    return 0 if task.decodes or hashes else least_bytes(task)


def is_digest(task: Task, options: frozenset[Option] = frozenset()) -> bool:
    """Whether the input is a digest of 32 bytes."""
    signed = task is Task.PSS_SIGN or (task is Task.PKCS1_SIGN and Option.DIGEST_INFO in options)
    return signed and Option.HASH not in options


def candidate_mask(limit: int) -> int:
    """Ones up to the highest 1 of a limit."""
    return (1 << limit.bit_length()) - 1


# --- Execution ----------------------------------------------------------------------------------


@dataclass
class Machine:
    """The steps on bytes, with the cycles that the unit takes.

    Parameters
    ----------
    bits : length of the modulus in bits
    input_length, salt_length : bytes
    options : those that hold
    random : gives the next byte of the random source
    hash_start, hash_block : cycles between a start of the hash unit and its first byte, and
        between the last byte of a block and the next byte

    Attributes
    ----------
    input, output : bytes of the two buffers, byte 0 the least significant; encoding works in the
        first one, decoding in the second one
    slots : the places for 32 bytes
    bad : whether something was wrong
    length : bytes of the message that was found, or of the one in its place
    cycles : in which the unit is busy
    """

    bits: int
    input_length: int
    salt_length: int = 0
    options: frozenset[Option] = frozenset()
    random: Callable[[], int] = lambda: 0
    hash_start: int = 0
    hash_block: int = 0
    input: bytearray = field(default_factory=bytearray)
    output: bytearray = field(default_factory=bytearray)
    slots: dict[Slot, bytearray] = field(
        default_factory=lambda: {slot: bytearray(DIGEST_BYTES) for slot in Slot}
    )
    bad: bool = False
    length: int = 0
    cycles: int = 0

    def run(self, task: Task) -> None:
        """Execute a task's program."""
        self._work = self.output if task.decodes else self.input
        self._pointer = self._bound = self._block = 0
        self._bases = {
            Base.ZERO: 0,
            Base.MODULUS: bytes_of(self.bits),
            Base.ENCODED: bytes_of(self.bits - 1),
            Base.INPUT: self.input_length,
            Base.SALT: self.salt_length,
        }
        self.bad, self.length = False, 0
        self._found = False
        self._alternative = self._upper = 0
        self._ready = 0  # the cycle in which the hash unit takes the next byte
        self.cycles = 0
        program, place = PROGRAMS[task], 0
        while (step := program[place]).kind is not Kind.END:
            place += 1
            self.cycles += STEP_CYCLES
            match step.kind:
                case Kind.STREAM:
                    self._stream(step)
                case Kind.POINT:
                    blocks = DIGEST_BYTES * self._block if step.blocks else 0
                    self._pointer = self._bases[step.base] + step.literal - blocks
                case Kind.BOUND:
                    self._bound = self._bases[step.base] + step.literal
                case Kind.HASH_START:
                    self._message = b""
                    self._ready = self.cycles + 1 + self.hash_start
                case Kind.HASH_END:
                    self._finish_hash()
                case Kind.LOOP:
                    self._block += 1
                    if (self._block != step.count) if step.count else not self._at_bound:
                        place += step.target
                    else:
                        self._block = 0
                case Kind.SKIP:
                    if (step.option in self.options) == step.sense:
                        place += step.target
                case Kind.LENGTH:
                    self._bases[Base.INPUT] = step.literal
                case Kind.JUDGE:
                    self.bad |= not self._found
                    self.length = self._alternative if self.bad else self.length
        self.cycles += STEP_CYCLES

    @property
    def _at_bound(self) -> bool:
        return self._pointer == self._bound

    def _stream(self, step: Step) -> None:
        done = 0
        self.cycles += 1
        while not (step.bounded and self._at_bound) and not (step.count and done == step.count):
            self.cycles += 2
            self._move(step, DIGEST_BYTES - 1 - done % DIGEST_BYTES)
            self.cycles += 1
            done += 1
            self._pointer -= step.moves

    def _move(self, step: Step, place: int) -> None:
        """One byte; `place` is that in a slot, counted from its last byte."""
        address = self._pointer - 1
        found = 0
        if step.buffer or step.release:
            source = self.input if step.input else self._work
            beyond = step.input and address >= self._bases[Base.INPUT]
            found = 0 if beyond else source[address]
        value = found if step.buffer else 0
        value ^= {
            Literal.VALUE: step.literal,
            Literal.BLOCK: self._block,
            Literal.SIZE_HIGH: self._bases[Base.MODULUS] >> 5 & 0xFF,
            Literal.SIZE_LOW: self._bases[Base.MODULUS] << 3 & 0xFF,
        }[step.literal_kind]
        if step.slot is not None:
            value ^= self.slots[step.slot][DIGEST_BYTES - 1 - place]
        if step.random:
            value ^= self._draw(step.random)
        excess = 8 * self._bases[Base.ENCODED] - (self.bits - 1)
        value &= {Trim.NONE: 0xFF, Trim.KEEP: 0xFF >> excess, Trim.EXCESS: ~(0xFF >> excess)}[
            step.trim
        ]
        self._check(step.check, value, address, place)
        if step.store:
            if step.release:
                stays = found if not self.bad else value
                self._work[address] = stays if address < self.length else 0
            else:
                self._work[address] = value
        if step.keep is not None:
            self.slots[step.keep][DIGEST_BYTES - 1 - place] = value
        if step.hash:
            self._take(value)

    def _draw(self, kind: Random) -> int:
        while (value := self.random()) == 0 and kind is Random.NONZERO:
            self.cycles += 1
        return value

    def _check(self, check: Check, value: int, address: int, place: int) -> None:
        match check:
            case Check.ZERO:
                self.bad |= value != 0
            case Check.NONZERO:
                self.bad |= value == 0
            case Check.FIND | Check.FIND_STRICTLY:
                if not self._found:
                    if value == 0:
                        self._found, self.length = True, address
                    elif check is Check.FIND_STRICTLY:
                        self.bad |= value != 1
            case Check.CANDIDATE if place % 2:
                self._upper = value
            case Check.CANDIDATE:
                limit = self._bases[Base.MODULUS] - PKCS1_BYTES + 1
                candidate = (self._upper << 8 | value) & candidate_mask(limit)
                if candidate < limit:
                    self._alternative = candidate

    def _take(self, value: int) -> None:
        """A byte for the hash unit, in the cycle that has just been counted or later."""
        self.cycles = max(self.cycles, self._ready)
        self._message += bytes([value])
        self._ready = self.cycles + 1
        if len(self._message) % 64 == 0:
            self._ready += self.hash_block

    def _finish_hash(self) -> None:
        self.cycles = max(self.cycles, self._ready)
        length = len(self._message)
        blocks = (length % 64 + 9 + 63) // 64
        self.cycles += 64 * blocks - length % 64 + blocks * self.hash_block
        self.slots[Slot.DIGEST][:] = hashlib.sha256(self._message).digest()
