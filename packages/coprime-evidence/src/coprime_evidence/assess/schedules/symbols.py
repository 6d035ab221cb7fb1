"""What a word of the netlist may be while it is executed: an integer, or a `Symbol`.

A symbol stands for bits that depend on operands. Cells that add, multiply, shift or select symbols
have a rule here, which is exact: the bits are those of a polynomial, modulo 2 to the word's width.
Of any other bits nothing is said, `ANYTHING`: no proof can use them. Rules are applied when a
polynomial is asked for, since most words of a cycle are never used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Union

from coprime.errors import CoprimeError

from .polynomials import Divisions, Polynomial, Unknown

Word = Union[int, "Symbol"]
Rule = Callable[..., Polynomial]


class ProofError(CoprimeError):
    """What was to be proved could not be; the text says where."""


class Symbol:
    """Bits that are those of a polynomial; `rule` gives it from those of the operands.

    Parameters
    ----------
    rule : of as many polynomials as there are operands; None if it may be anything
    """

    __slots__ = ("_found", "operands", "rule")

    def __init__(self, rule: Rule | None, *operands: Word) -> None:
        self.rule, self.operands = rule, operands
        self._found: Polynomial | None = None

    @classmethod
    def of(cls, value: Polynomial) -> "Symbol":
        """A word that is this polynomial."""
        symbol = cls(None)
        symbol._found = value
        return symbol

    @property
    def polynomial(self) -> Polynomial:
        """ProofError if nothing is known of it."""
        stack = [self]
        while stack:
            symbol = stack[-1]
            if symbol._found is not None:
                stack.pop()
                continue
            if symbol.rule is None:
                raise ProofError("a word that may be anything is used")
            missing = [
                operand
                for operand in symbol.operands
                if isinstance(operand, Symbol) and operand._found is None
            ]
            if missing:
                stack += missing
                continue
            symbol._found = symbol.rule(*map(polynomial_of, symbol.operands))
            symbol.rule, symbol.operands = None, ()
            stack.pop()
        assert self._found is not None
        return self._found


ANYTHING = Symbol(None)


def polynomial_of(word: Word) -> Polynomial:
    """That of a symbol, or a constant."""
    return Polynomial.of(word) if isinstance(word, int) else word.polynomial


def made(rule: Rule, *operands: Word) -> Symbol:
    """A symbol, or ANYTHING if an operand is that."""
    return ANYTHING if ANYTHING in operands else Symbol(rule, *operands)


def _zero(value: Polynomial) -> Polynomial:
    if value.terms:
        raise ProofError(f"{value} is multiplied by a word that may be anything")
    return value


@dataclass(frozen=True)
class PossiblePlaces:
    """The places below `count` whose bits in `mask` are those of `value`."""

    count: int
    mask: int
    value: int

    def __contains__(self, place: int) -> bool:
        return place & self.mask == self.value


class Rules:
    """A rule for each kind of cell that has a symbol as an operand.

    `bits` is the width of a result where it matters; operands have been extended to it.

    Attributes
    ----------
    named : what a memory has instead of a word that is written to it
    """

    def __init__(self) -> None:
        self.divisions = Divisions()
        self.named: dict[Word, Word] = {}

    def operand(self, name: str, bits: int) -> Polynomial:
        """An unknown word, of so many bits."""
        return Polynomial.of(Unknown(name, 0, (1 << bits) - 1))

    # --- Wiring ----------------------------------------------------------------------------------

    def unsigned(self, word: Word, bits: int) -> Word:
        """As an integer, of which no more than the lowest `bits` are known to be the word's."""
        if isinstance(word, int):
            return word

        def rule(value: Polynomial) -> Polynomial:
            if value.within(0, (1 << bits) - 1):
                return value
            return self.divisions.divide(value, bits).low

        return made(rule, word)

    def _wrapped(self, word: "Symbol", bits: int) -> "Symbol":
        """Within its bits, whether they are signed or not."""

        def rule(value: Polynomial) -> Polynomial:
            if value.within(-1 << (bits - 1), (1 << (bits - 1)) - 1):
                return value
            if value.within(0, (1 << bits) - 1):
                return value
            return self.divisions.divide(value, bits).low

        return made(rule, word)

    def signed(self, word: Word, bits: int) -> Word:
        """As an integer in two's complement."""
        half = 1 << (bits - 1)
        if isinstance(word, int):
            return ((word & (2 * half - 1)) ^ half) - half

        def rule(value: Polynomial) -> Polynomial:
            if value.within(-half, half - 1):
                return value
            if not value.within(0, 2 * half - 1):
                value = self.divisions.divide(value, bits).low
            sign = self.divisions.divide(value, bits - 1).high
            return value.plus(sign, -2 * half)

        return made(rule, word)

    def part(self, word: Word, start: int, bits: int, width: int) -> Word:
        """`bits` of a word of `width` bits, from `start` on."""
        if isinstance(word, int):
            return word >> start & (1 << bits) - 1
        if self.divisions.halves:
            word = self._wrapped(word, width)
        if start == 0:
            return word
        return made(lambda value: self.divisions.divide(value, start).high, word)

    def joined(self, *parts: tuple[Word, int]) -> Word:
        """Words with their widths, the lowest one first."""
        total, place, symbols = 0, 0, []
        for word, bits in parts:
            if isinstance(word, int):
                total |= (word & (1 << bits) - 1) << place
            else:
                symbols.append((word, bits, place))
            place += bits
        if not symbols:
            return total
        # Above the highest part bits are not the word's.
        words = [
            word if at + bits == place else self.unsigned(word, bits) for word, bits, at in symbols
        ]
        places = [at for _, _, at in symbols]

        def rule(*values: Polynomial) -> Polynomial:
            found = Polynomial.of(total)
            for value, at in zip(values, places, strict=True):
                found = found.plus(value, 1 << at)
            return found

        return made(rule, *words)

    # --- Cells -----------------------------------------------------------------------------------

    def add(self, a: Word, b: Word, bits: int) -> Word:
        """a + b."""
        return made(lambda x, y: x + y, a, b)

    def sub(self, a: Word, b: Word, bits: int) -> Word:
        """a - b."""
        return made(lambda x, y: x - y, a, b)

    def mul(self, a: Word, b: Word, bits: int) -> Word:
        """a * b: 0, if one is, whatever the other may be."""
        if a is ANYTHING or b is ANYTHING:
            other = b if a is ANYTHING else a
            return made(_zero, other)
        a, b = (
            self.signed(factor, bits) if isinstance(factor, int) else factor for factor in (a, b)
        )
        return made(lambda x, y: x * y, a, b)

    def neg(self, a: Word, bits: int) -> Word:
        """-a."""
        return self.sub(0, a, bits)

    def invert(self, a: Word, bits: int) -> Word:
        """~a."""
        return made(lambda x: Polynomial.of(-1) - x, a)

    def both(self, a: Word, b: Word, bits: int) -> Word:
        """a & b."""
        word, mask = (b, a) if isinstance(a, int) else (a, b)
        if isinstance(mask, int):
            if mask & (1 << bits) - 1 == 0:
                return 0
            if (mask + 1) & (1 << bits) - 1 == 0:
                return word
        return ANYTHING

    def either(self, a: Word, b: Word, bits: int) -> Word:
        """a | b."""
        word, mask = (b, a) if isinstance(a, int) else (a, b)
        if isinstance(mask, int):
            if mask & (1 << bits) - 1 == 0:
                return word
            if (mask + 1) & (1 << bits) - 1 == 0:
                return (1 << bits) - 1
        return ANYTHING

    def differ(self, a: Word, b: Word, bits: int) -> Word:
        """a ^ b."""
        word, mask = (b, a) if isinstance(a, int) else (a, b)
        if isinstance(mask, int):
            if mask & (1 << bits) - 1 == 0:
                return word
            if (mask + 1) & (1 << bits) - 1 == 0:
                return self.invert(word, bits)
        return ANYTHING

    def nonzero(self, a: Word, bits: int) -> Word:
        """Whether any of its bits is 1."""
        return made(self.divisions.nonzero, self.unsigned(a, bits))

    # --- Memories --------------------------------------------------------------------------------

    def address(self, *parts: tuple[Word, int]) -> "int | PossiblePlaces":
        """An address, as far as its parts are known; the lowest one first."""
        value = mask = place = 0
        for word, bits in parts:
            if isinstance(word, int):
                value |= word << place
                mask |= (1 << bits) - 1 << place
            place += bits
        return value if mask == (1 << place) - 1 else PossiblePlaces(1 << place, mask, value)

    def read(
        self,
        words: Sequence[Word],
        address: "Word | PossiblePlaces",
        enable: Word,
        written: Word,
        word: Word,
    ) -> Word:
        """The word at an address: anything if it does not exist, or is `written` now.

        But for another one: while it is replaced by itself it stays. If only a part of the address
        is known, the word that all these places have is.
        """
        if isinstance(address, PossiblePlaces):
            if address.count > len(words) or (
                enable != 0 and (isinstance(written, Symbol) or written in address)
            ):
                return ANYTHING
            found = {held for k, held in enumerate(words) if k in address}
            return found.pop() if len(found) == 1 else ANYTHING
        if isinstance(address, Symbol) or address >= len(words):
            return ANYTHING
        if enable != 0 and (isinstance(written, Symbol) or written == address):
            return words[address] if self.named.get(word, word) is words[address] else ANYTHING
        return words[address]

    def write(self, words: list[Word], enable: Word, ones: int, address: Word, word: Word) -> None:
        """Write a word, if it exists; what may have changed may be anything then."""
        if isinstance(address, Symbol):
            words[:] = [ANYTHING] * len(words)
        elif address < len(words):
            words[address] = self.named.get(word, word) if enable == ones else ANYTHING

    def select(self, zero: Word, one: Word) -> Word:
        """A multiplexer whose condition is a symbol."""
        return zero if zero is one or (isinstance(zero, int) and zero == one) else ANYTHING
