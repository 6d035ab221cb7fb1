"""What an engine can do, and how it refuses what it cannot: the contract without its ports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coprime.model import montgomery
from coprime.model.widths import bits_for
from coprime.operations.commands import Command
from coprime.operations.operation import Key, Operation
from coprime.program.operands import Length, Operand

from .error_codes import ERROR_BITS as ERROR_BITS
from .error_codes import Error as Error

COMMAND_BITS = 6
"""Width of a command's code as software writes it; an engine has `Capabilities.command_bits`."""
OPERAND_BITS = 6  # the same of an operand's number, and `Capabilities.operand_bits`
_LEAST_OPERANDS = 16  # every engine has room for the numbers of RSA's operands
RESULT_LATENCY = 3  # cycles from the index of a result's digit to the digit


@dataclass(frozen=True)
class WordAddresses:
    """Where the numbers of a bare engine are in its memory.

    Parameters
    ----------
    words : of the memory
    operands : address of each operand's digit 0; X's is 0
    result : the same of the result
    free : address of four words in a row that no number needs, a multiple of four
    """

    words: int
    operands: Mapping[Operand, int]
    result: int
    free: int

    @property
    def bits(self) -> int:
        """Width of an address."""
        return bits_for(self.words - 1)


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What an engine can do; the bus shows it to software.

    Lengths are in bits. A value of length n occupies ceil((n + headroom) / digit_width) digits.

    `round_bits` is how many bits of a factor one round of the multiplier takes: 1 or a digit. A
    `montgomery` engine divides by 2^round_bits in each round, so its R is 2^(round_bits * rounds),
    and it takes odd moduli only; another takes any, and its R is 1.
    """

    family: str
    family_number: int
    digit_width: int
    headroom: int
    min_length: int
    max_length: int
    max_prime_length: int
    required: Mapping[Command, frozenset[Operand]]
    """Each supported command but WIPE, with the operands that it reads (X included)."""
    round_bits: int
    montgomery: bool = True
    aligned: bool = False
    """Operands other than exponents are at the upper end of their digits; headroom is 0."""
    multipliers: int = 1
    equal_primes: bool = False
    """The halves of RSA_PRIVATE run in step, so both primes must have the same length."""
    constant_time: bool = False
    fixed_modulus: int | None = None
    checked: bool = False
    """Private operations need E, the public exponent, check their results with it, and use
    operands up."""
    draws: bool = False
    """RSA_PRIVATE, or operations on curves, take random bytes, and wait for them."""
    half_bits: int = 0
    """Bits of an operand or a result below the second one of two numbers, as long as a prime each,
    in operations on curves; 0 without these."""
    addresses: WordAddresses | None = None
    """Of a `bare` engine, whose memory the host addresses word by word; it leaves the check of
    lengths and WIPE to the host."""
    blinds_scalars: bool = False
    """Those of points of two coordinates, if they are secret: their exponents are longer."""

    @property
    def radix_bits(self) -> int:
        """R of a modulus is 2^(radix_bits * rounds); 0 means that R is 1."""
        return self.round_bits if self.montgomery else 0

    @property
    def command_bits(self) -> int:
        """Width of a command's code at the engine; a wider code is none of its commands."""
        return bits_for(max(self.commands))

    @property
    def operand_count(self) -> int:
        """One more than the greatest number of an operand that the engine holds; at least 16."""
        return max([_LEAST_OPERANDS - 1, *self.operands]) + 1

    @property
    def operand_bits(self) -> int:
        """Width of an operand's number at the engine: a bit more than its operands need, with which
        a lane numbers the other locations of its memory."""
        return bits_for(self.operand_count - 1) + 1

    @property
    def length_bits(self) -> int:
        """Width of a length in bits."""
        return bits_for(self.max_length)

    def supported(self, which: Callable[[Operation], bool]) -> tuple[Command, ...]:
        """The commands that the engine implements and whose operation is `which`, by their code."""
        return tuple(command for command in sorted(self.commands) if which(command.operation))

    @property
    def commands(self) -> frozenset[Command]:
        """Those that the engine implements: all of `required`, and those without operands."""
        return frozenset(
            {*self.required, *(command for command in Command if command.operation.wipes)}
        )

    @property
    def wipes(self) -> tuple[Command, ...]:
        """The commands that compute nothing: they clear what the engine holds."""
        return self.supported(lambda operation: operation.wipes)

    @property
    def private(self) -> tuple[Command, ...]:
        """The commands that the engine implements modulo the primes of a private key."""
        return self.supported(lambda operation: operation.is_private)

    @property
    def started_by_status(self) -> tuple[Command, Command]:
        """The commands that STATUS starts, by its bit DECRYPT: with the public and with the private
        key. Without RSA_PRIVATE the second one is MODEXP: software loads the private exponent."""
        return Command.RSA_PUBLIC, self.private[0] if self.private else Command.MODEXP

    @property
    def with_check(self) -> tuple[Command, ...]:
        """The commands whose results the engine checks."""
        return self.supported(lambda operation: operation.has_check) if self.checked else ()

    @property
    def public(self) -> tuple[Command, ...]:
        """The commands that take a public key."""
        return self.supported(lambda operation: operation.key is Key.PUBLIC)

    @property
    def used_up(self) -> Mapping[tuple[Operand, ...], tuple[Command, ...]]:
        """The operands that commands use up, and that are loaded again for others; by those, the
        commands that use them up."""
        found: dict[tuple[Operand, ...], tuple[Command, ...]] = {}
        for command in sorted(self.required):
            used = command.operation.used_up(self.operands, checked=self.checked)
            operands = tuple(sorted(used))
            if operands:
                found[operands] = (*found.get(operands, ()), command)
        return found

    @property
    def powers(self) -> tuple[Command, ...]:
        """The commands that scan an exponent modulo the whole modulus."""
        return self.supported(lambda operation: operation.is_power)

    @property
    def scalars(self) -> tuple[Command, ...]:
        """The commands whose exponent has as many bits as the modulus, or more."""
        return self.supported(lambda operation: any(each.is_scalar for each in operation.exponents))

    @property
    def on_curve(self) -> tuple[Command, ...]:
        """The commands that work on short Weierstrass curves."""
        return self.supported(lambda operation: operation.on_curve)

    @property
    def blinded(self) -> tuple[Command, ...]:
        """The commands whose scalars are blinded."""
        return self.supported(lambda operation: operation.blinds) if self.blinds_scalars else ()

    @property
    def lengthened(self) -> tuple[Command, ...]:
        """The commands whose exponent is longer for that: these, and those with the same table."""
        return (
            self.supported(lambda operation: operation.blinds or operation.has_comb)
            if self.blinded
            else ()
        )

    @property
    def products(self) -> tuple[Command, ...]:
        """The commands that only multiply."""
        return self.supported(lambda operation: operation.is_product)

    @property
    def operands(self) -> frozenset[Operand]:
        """Every operand that the engine holds."""
        return frozenset[Operand]().union(*self.required.values())

    def digits(self, length: int) -> int:
        """Count of digits of an operand of `length` bits; 0 for length 0."""
        return montgomery.digits(length, self.digit_width, self.headroom)

    def to_digits(self, operand: Operand, value: int, length: int) -> list[int]:
        """The digits of an operand of `length` bits, the lowest first, as the engine wants them."""
        width = self.digit_width
        count = 1 if operand.length is Length.DIGIT else self.digits(length)
        if self.aligned and not operand.is_exponent:
            value <<= width * count - length
        return [value >> (width * k) & ((1 << width) - 1) for k in range(count)]

    def rounds(self, length: int) -> int:
        """Rounds of the multiplier that a factor of `length` bits takes."""
        return montgomery.digits(length, self.round_bits, self.headroom)

    @property
    def round_count_bits(self) -> int:
        """Width of a count of rounds."""
        if self.round_bits == 1:
            return bits_for(self.rounds(self.max_length))
        return max(self.count_bits, self.length_bits)

    @property
    def max_digits(self) -> int:
        """Digits of the longest modulus."""
        return self.digits(self.max_length)

    @property
    def max_prime_digits(self) -> int:
        """Digits of the longest prime."""
        return self.digits(self.max_prime_length)

    @property
    def bare(self) -> bool:
        """The host addresses the memory's words, overwrites them, and checks lengths."""
        return self.addresses is not None

    @property
    def index_bits(self) -> int:
        """Width of an index at the engine: a digit's, or of a `bare` engine a word's."""
        return self.addresses.bits if self.addresses else self.count_bits

    @property
    def count_bits(self) -> int:
        """Width of a digit count: holds max_digits + 1, which means 'too long'."""
        return bits_for(self.max_digits + 1)
