"""Interface between the engine and a modular multiplier, which reads operands digit by digit."""

import enum
from abc import abstractmethod

from amaranth.hdl import Elaboratable
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .multiplication import Multiplication


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


class ModularMultiplier(wiring.Component):
    """The hardware of a multiplication."""

    multiplication: Multiplication

    @abstractmethod
    def elaborate(self, platform: object) -> Elaboratable:
        """Build the hardware."""
