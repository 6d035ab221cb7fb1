"""Interface between the engine and a modular multiplier, which reads operands digit by digit."""

import enum
from abc import ABC, abstractmethod
from fractions import Fraction

from amaranth.hdl import Elaboratable
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.montgomery import reduced, scaled_product

from .bounds import Bound

READ_LATENCY = 3
"""Cycles from asking a port for a digit to its data: slot and index, address, block RAM."""
WRITES_LATER = READ_LATENCY + 2
"""Cycles from the request for a digit of each summand to the request to write their sum's digit."""


class Role(enum.IntEnum):
    """Role of an operand in a multiplication; the engine maps it to a place in memory."""

    MULTIPLICAND = 0
    """The factor that every round takes as a whole: FDFM's X, BITSERIAL's Y."""
    MULTIPLIER = 1
    """The factor that is scanned, some bits a round: FDFM's Y, BITSERIAL's X."""
    MODULUS = 2
    INVERSE = 3
    """-M^-1 mod 2^W."""


class Pair(enum.IntEnum):
    """Two operands that a banked multiplier reads at once, one from each bank."""

    FACTORS = 0  # left: multiplicand; right: multiplier
    QUOTIENT = 1  # left: scaled modulus; right: quotient
    MODULUS = 2  # left: modulus; right: its inverse
    RESULT = 3  # left: result; right: inverse


class MultiplierSignature(wiring.Signature):
    """Ports of a multiplier, seen from it.

    `start` and `prepare` are sampled while the multiplier is idle. The next cycle is the first of
    the multiplication or of the preparation, and `done` is 1 in the last. Only from the first to
    the last, `inner_digits` (digits of multiplicand and modulus), `outer_digits`
    (digits of the multiplier), `rounds` and `multiplier_is_one` are valid and constant. `wipe` is
    also sampled while idle, and clears the operands in the multiplier; `fdfm` ignores it, and its
    registers keep the digits that they last processed.

    Through port A the multiplier reads digit `a_index` of the operand `a_role`; `a_data` follows
    READ_LATENCY cycles later. Through port B it reads digits of the result in the same way, or
    writes them; a digit can be read from the cycle after its write on. A multiplier that streams
    its multiplicand through port A may have the output `b_multiplier`: while that is 1, port B
    reads the multiplier's digit instead.

    A multiplier that works modulo a `scaled` modulus has the input `descale`, valid like the
    lengths: where it is 1, the result is one modulo M, as `Multiplication.scaled` says.

    Where products `chain`, `busy` is 1 from the first to the last cycle, and `accepts` as soon as
    the product under way is known, or a preparation has ended. In the next cycle `start` may ask
    for a product that follows it, with the same modulus, the same lengths and two rounds or more.
    `multiplier_is_one` is then that product's, and so is what port A reads with `a_of_next`, and
    port B with `b_of_next`: digit 0 of the multiplicand, or with `b_multiplier` of the multiplier.
    `x_is_result` and `y_is_result` mark those of its factors that are the result of the product
    under way; with `x_is_other`, the multiplicand is another multiplier's result, whose digits
    `other_result` has in the same cycles as `b_write_data` this one's. These are valid from the
    second cycle after `start` on. With the next `accepts`, that product is the one under way,
    though digits of the result before may still be written.
    """

    def __init__(
        self,
        digit_width: int,
        count_bits: int,
        round_bits: int,
        *,
        two_streams: bool = False,
        scaled: bool = False,
        chains: bool = False,
    ):
        streams = {"b_multiplier": Out(1)} if two_streams else {}
        descale = {"descale": In(1)} if scaled else {}
        chain = {
            **dict.fromkeys(("busy", "accepts", "a_of_next", "b_of_next"), Out(1)),
            **dict.fromkeys(("x_is_result", "y_is_result", "x_is_other"), In(1)),
            "other_result": In(digit_width),
        }
        super().__init__(
            streams
            | descale
            | (chain if chains else {})
            | {
                **dict.fromkeys(("start", "prepare", "wipe"), In(1)),
                "done": Out(1),
                **dict.fromkeys(("inner_digits", "outer_digits"), In(count_bits)),
                "rounds": In(round_bits),
                "multiplier_is_one": In(1),
                "a_role": Out(Role),
                "a_index": Out(count_bits),
                "a_data": In(digit_width),
                "b_index": Out(count_bits),
                "b_data": In(digit_width),
                "b_write": Out(1),
                "b_write_data": Out(digit_width),
                "multiplying": Out(1),
            }
        )


class BankedMultiplierSignature(wiring.Signature):
    """Ports of a multiplier with two banks of memory, each of which reads two digits per cycle.

    `start`, `prepare`, `wipe`, `done`, the lengths, `multiplier_is_one` and `descale` are as in
    `MultiplierSignature`. `squares` is valid like the lengths: both factors are the same operand,
    in the left bank. Otherwise the multiplicand is in the left bank, and the multiplier in the
    right bank. The result may replace the multiplicand if that has no more digits than the
    multiplier.

    The multiplier reads digit `a_index` through port A of both banks, and digit `b_index` through
    port B of both, of the two operands `a_role`; `a_left` and the others follow READ_LATENCY cycles
    later. Where `b_write` is 1, port B writes digit `b_index` instead: of the quotient where
    `b_quotient` is 1, else of the result, or of the scaled modulus in a preparation. The digit,
    `b_write_data`, follows two cycles later.

    `fault` is 1 while the multiplier is in an invalid state, which would persist from one product
    to the next, and when a preparation has read an even inverse.
    """

    def __init__(self, digit_width: int, count_bits: int):
        ports = {
            **{name: In(1) for name in ("start", "prepare", "wipe")},
            "done": Out(1),
            **{name: In(count_bits) for name in ("inner_digits", "outer_digits", "rounds")},
            **{name: In(1) for name in ("multiplier_is_one", "descale", "squares")},
            "a_role": Out(Pair),
            **dict.fromkeys(("a_index", "b_index"), Out(count_bits)),
            **{name: In(digit_width) for name in ("a_left", "a_right", "b_left", "b_right")},
            **dict.fromkeys(("b_write", "b_quotient"), Out(1)),
            "b_write_data": Out(digit_width),
            **dict.fromkeys(("multiplying", "fault"), Out(1)),
        }
        super().__init__(ports)


class OverlappingMultiplierSignature(wiring.Signature):
    """Ports of a multiplier that accepts a product before the previous one has ended.

    `start` and `prepare` request a product or a preparation while no request is pending; `wipe`,
    while nothing is under way, clears all operands. From the next cycle to `done` the lengths,
    `multiplier_is_one`, `descale`, `squares` and those below are valid and constant, as in
    `BankedMultiplierSignature`; `longest_digits` are the most that any modulus has until the next
    preparation. `follows` is 1 if the product may follow the one accepted last without a gap, which
    had the same modulus and the same lengths; `x_is_result` and `y_is_result` then mark the factors
    that are that product's result, the latter except for a square. A square that follows has no
    `descale`.

    With `may_begin`, a port only with `beside_sums`, a requested product begins while nothing is in
    progress; a product that follows does not wait for it.

    With `takes` the requested product becomes the new one, and with `turns` the new one becomes the
    old one; both may be 1 in a cycle. `done` is 1 with `takes`, so that the next one can be
    requested; or, for a preparation and with `descale`, in the last cycle. `busy` is 1 from the
    cycle after `start` until nothing is under way.

    Port A reads digit `a_index` of the operand `a_role`: the multiplicand, the modulus or the
    inverse; in a cycle with `a_taken` it is another one's. Port B reads digit `b_index` of the
    multiplier. Both factors are those of the product that is asked for where `a_of_next` or
    `b_of_next` is 1, else of the new one. Where `b_write` is 1, port B writes digit
    `b_index` of the old product's result instead. What is read comes READ_LATENCY cycles later;
    what is written, `b_write_data`, follows two cycles later.

    Another one may have port B, too, in a cycle with `b_taken`, and each port for two cycles at
    most. It begins nothing while `wants_ports` is 1: then words are read, or port B writes in this
    cycle, or WRITES_LATER. What it has begun may have port A in that cycle and in the next one, and
    port B in that cycle and WRITES_LATER; words that the multiplier wants then wait. From `start`
    to `takes`, of a product that follows none, `a_taken` and `b_taken` are 0. With `ends_result`
    the last digit of the old product's result is written.

    `fault` is 1 in a state that does not exist, and when a preparation has read an even inverse.
    """

    def __init__(self, digit_width: int, count_bits: int, *, beside_sums: bool = False):
        inputs = (
            *("start", "prepare", "wipe"),
            *("multiplier_is_one", "descale", "squares"),
            *("follows", "x_is_result", "y_is_result", "a_taken", "b_taken"),
            *(("may_begin",) if beside_sums else ()),
        )
        outputs = (
            *("done", "busy", "takes", "turns", "a_of_next", "b_of_next", "b_write"),
            *("wants_ports", "ends_result", "multiplying", "fault"),
        )
        counts = ("inner_digits", "rounds", "longest_digits")
        ports = {
            **dict.fromkeys(inputs, In(1)),
            **dict.fromkeys(counts, In(count_bits)),
            **dict.fromkeys(outputs, Out(1)),
            "a_role": Out(Role),
            **dict.fromkeys(("a_index", "b_index"), Out(count_bits)),
            **dict.fromkeys(("a_data", "b_data"), In(digit_width)),
            "b_write_data": Out(digit_width),
        }
        super().__init__(ports)


class Multiplication(ABC):
    """Value and cycles of a multiplier's operation: a frozen dataclass, without hardware.

    Attributes
    ----------
    digit_width (int): bits of a digit
    canonical (bool): factors and result are below the modulus. Else below twice the modulus.
    prepares (bool): needs `prepare` before the first multiplication modulo another modulus
    montgomery (bool): divides by 2^(bits a round takes * rounds), modulo an odd modulus. Else by
        nothing.
    aligned (bool): the highest bit of the modulus must be the highest bit of its digits
    scaled (bool): works modulo c * M with c = -M^-1 modulo C = 2^W, or a power of that, so factors
        and results are below 2 * c * M; but with `descale`, the result is below 2M if the
        multiplier is 1, and below 5/2 M if it is below 1/2 R / C, with a multiplicand below M * (1
        + c)
    interleaved (bool): serves two lanes, which start it in the same cycle with the same lengths, or
        the first lane alone. The second lane's ports are the interface `other`.
    banked (bool): reads two banks of memory, with the ports of `BankedMultiplierSignature`
    two_streams (bool): has the port `b_multiplier` of `MultiplierSignature`
    overlaps (bool): accepts a product before the previous one has ended, with
        `OverlappingMultiplierSignature`
    chains (bool): of one memory: a product may follow the previous one before that has ended, with
        the ports of `MultiplierSignature` for it
    """

    digit_width: int
    canonical: bool
    prepares: bool
    montgomery: bool = True
    aligned: bool = False
    scaled: bool = False
    interleaved: bool = False
    banked: bool = False
    two_streams: bool = False
    overlaps: bool = False

    @property
    def chains(self) -> bool:
        """No product begins before the previous one has ended."""
        return False

    @property
    def round_bits(self) -> int:
        """Bits of the multiplier that a round takes: 1 or a digit."""
        return self.digit_width

    @property
    @abstractmethod
    def headroom(self) -> int:
        """Bits that an operand has beyond the modulus's length."""

    @abstractmethod
    def cycles(self, inner: int, rounds: int) -> int:
        """Cycles of one multiplication of a multiplicand of `inner` digits, in `rounds` rounds."""

    @abstractmethod
    def products(self, inner: int, rounds: int) -> int:
        """Cycles of these in which a product that the algorithm needs enters the multiplier."""

    @property
    def scale_bits(self) -> int:
        """Bits of c where the multiplier works modulo c * M; else 0."""
        return 0

    @property
    def modulus_mask_bits(self) -> int:
        """Bits that operands have for a random multiple of the modulus in M'; 0 without masks.

        With k up to 2^(modulus_mask_bits - 1), M' + k M is the scaled modulus of c + 2^scale_bits k
        in place of c.
        """
        return 0

    @property
    def keeps_scaled_modulus(self) -> bool:
        """A preparation writes M' to the memory, as a number that steps may read."""
        return False

    def scaled_modulus(self, modulus: int) -> int:
        """M' = (c * M + 1) / 2^scale_bits with c = -M^-1 modulo that, of an odd M."""
        radix = 1 << self.scale_bits
        return (-pow(modulus, -1, radix) % radix * modulus + 1) // radix

    @property
    def most_multiplicand(self) -> int:
        """How many times the modulus a multiplicand may be, where the multiplier is not scaled."""
        return 1 if self.canonical else 2

    @property
    def usual_bound(self) -> Bound:
        """Of a product of factors that have this bound."""
        return Bound.times(0, scaled=2) if self.scaled else Bound.times(1 if self.canonical else 2)

    def share_of_r(self, number: Bound | None, *, short: bool = False) -> Fraction:
        """Upper bound of the number / R, with the R of its own modulus; 1 if nothing is known.

        `short`: R is as long as c = 1 requires.
        """
        if number is None:
            return Fraction(1)
        scale_bits = self.scale_bits + self.modulus_mask_bits
        slack = Fraction(1, 1 << (self.headroom - scale_bits))  # c * M / R, at most
        longer = 0 if short else scale_bits
        return number.plain * slack / (1 << longer) + number.scaled * slack

    def bound(
        self, x: Bound | None, share: Fraction, *, descale: bool = False, least: int = 1
    ) -> Bound | None:
        """Of a product; `share` is at most the multiplier / R. None: only its digits are known.

        c is `least` or more.

        (X * Y + q * c * M) / R with q < R is below X * share + c * M. With `descale` the highest
        digit of q is one modulo M, so that q * c * M / R is below (2 - 2 / C) M with c < C.

        Raises ValueError if the multiplicand is greater than it may be.
        """
        most = self.most_multiplicand
        if not self.scaled and x is not None and x.plain > most:
            raise ValueError(f"a multiplicand may be {x}, and not only {most} M")
        if not self.montgomery or self.canonical or x is None:
            return None if x is None and self.montgomery else self.usual_bound
        if not self.scaled:
            return Bound(x.plain * share + 1)
        radix = 1 << self.scale_bits
        if descale:
            most = radix << self.modulus_mask_bits
            return Bound(x.plain * share + x.scaled * share * most + 2 - Fraction(2, radix))
        # M is at most c * M / least, so that factors below 2 c M have a product below 2 c M.
        scaled = (x.plain / least + x.scaled) * share + 1
        if scaled <= self.usual_bound.scaled:
            return Bound(Fraction(0), scaled)
        return Bound(x.plain * share, x.scaled * share + 1)

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of preparing for a modulus of `inner` digits."""
        raise NotImplementedError

    def chained_cycles(self, inner: int, rounds: int) -> int:
        """Cycles from the end of a product to that of the one that follows it, where they chain."""
        raise NotImplementedError

    def product(self, x: int, y: int, modulus: int, rounds: int, *, descale: bool = False) -> int:
        """X * Y mod M; or (X * Y + q * M) / R with the q below R that makes it an integer.

        R is 2^(bits a round takes * rounds). Of a scaled multiplication c * M takes the place of M,
        but with `descale` in the last round, or in as many as c has digits.
        """
        if not self.montgomery:
            return x * y % modulus
        if not self.scaled:
            result = reduced(x * y, modulus, self.round_bits * rounds)
            return result % modulus if self.canonical else result
        width, ahead = self.digit_width, max(1, self.scale_bits // self.digit_width)
        return scaled_product(x, y, modulus, width, rounds, descale=descale, ahead=ahead)


class ModularMultiplier(wiring.Component):
    """The hardware of a multiplication."""

    multiplication: Multiplication

    @abstractmethod
    def elaborate(self, platform: object) -> Elaboratable:
        """Build the hardware."""
