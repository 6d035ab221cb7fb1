"""The digits of `compact`: requested from the memory, and fed to the DSP slice.

Digits that a slot requests in cycle c enter the slice in c + 4. Beyond an operand's last digit, and
where a slot does not need one of the four digits, a 0 enters.
"""

from amaranth.hdl import Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import at_least
from coprime.cells.target import Target
from coprime.model.compact import RADIX_BITS

from ..contract import Pair
from ..delays import past_value
from ..multiplication import READ_LATENCY
from .schedule import ColumnSignature, CompactSlotSignature, PairSignature

ENTERED = READ_LATENCY + 1
"""Cycles from asking for digits to the slice, with a register after the memory, which is slow."""


class EnteringSignature(wiring.Signature):
    """Which digits enter the slice, seen from the fetch, a cycle after they were asked for.

    Members
    -------
    no_a_left, no_b_left : that digit is 0
    x_right, y_right : x_i, y_j is the right one
    x_left, y_left : x_i, y_j is the left one
    one : x_i is 1
    newest : y_j is the newest digit of q
    inverse : x_i is c, in a preparation
    """

    def __init__(self) -> None:
        names = (
            *("no_a_left", "no_b_left", "x_right", "y_right"),
            *("x_left", "y_left", "one", "newest", "inverse"),
        )
        super().__init__({name: Out(1) for name in names})


class DigitFetch(wiring.Component):
    """Requests digits from the memory, and selects those that enter the slice.

    Members
    -------
    slot, column, pair (in)
    multiplier_is_one, squares : in, as in `BankedMultiplierSignature`
    a_role, a_index, b_index, b_write, b_quotient, multiplying : out, as there
    beyond_inner, beyond_outer (out)
        The index that port A was asked for a cycle ago is beyond the digits of X, of Y.
    entering (EnteringSignature, out)
    """

    def __init__(self, count_bits: int, target: Target):
        self.target = target
        flags = ("b_write", "b_quotient", "multiplying", "beyond_inner", "beyond_outer")
        ports = {
            "slot": In(CompactSlotSignature()),
            "column": In(ColumnSignature(count_bits)),
            "pair": In(PairSignature(count_bits)),
            **dict.fromkeys(("multiplier_is_one", "squares"), In(1)),
            "a_role": Out(Pair),
            **dict.fromkeys(("a_index", "b_index"), Out(count_bits)),
            **{name: Out(1) for name in flags},
            "entering": Out(EnteringSignature()),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the requests, and the flags of what they are for."""
        m = Module()
        slot, column, pair, entering = self.slot, self.column, self.pair, self.entering
        single = slot.ahead | slot.drop
        self._ask(m, single)

        def asked(name: str, value: ValueLike) -> Signal:
            """What was asked for a cycle ago."""
            return past_value(m, f"asked_{name}", value, 1)

        pairs_q = slot.qm & ~slot.linear & column.reached[4]
        multiplies_q = slot.qm & slot.descaling & column.reached[0]
        asked_a, asked_b = asked("a", self.a_index), asked("b", self.b_index)
        factors = asked(
            "factors", slot.ahead & ~column.second_half | slot.xy & ~slot.linear | slot.drop
        )
        of_x = asked(
            "x",
            slot.ahead
            | slot.drop & ~slot.linear
            | slot.xy & (slot.linear | ~pair.empty)
            | pairs_q
            | slot.newest & column.reached[1],
        )
        of_y = asked("y", slot.xy & ~pair.empty | pairs_q)
        of_newest = asked(
            "newest",
            (slot.diagonal | slot.newest) & column.reached[1] & ~column.newest_is_result
            | multiplies_q,
        )
        unit = asked("unit", slot.xy & slot.descaling & column.reached[0])
        of_diagonal = asked("diagonal", slot.diagonal)
        is_needed = asked(
            "needed",
            slot.ahead & ~column.second_half & ~slot.linear
            | slot.xy & ~pair.empty
            | pairs_q & ~(pair.spent & ~column.before[0])
            | slot.diagonal & column.reached[1] & ~column.newest_is_result
            | slot.newest & column.reached[2]
            | multiplies_q
            | slot.xy & slot.descaling & ~column.reached[0],
        )
        (a_beyond_inner, a_beyond_outer), (b_beyond_inner, b_beyond_outer) = (
            [at_least(m, index, digits, self.target) for digits in (column.inner, column.outer)]
            for index in (asked_a, asked_b)
        )
        a_beyond = a_beyond_inner | (a_beyond_outer & ~asked("linear", slot.linear))
        is_one, squares = factors & self.multiplier_is_one, factors & self.squares
        x_exists = of_x & ~a_beyond
        x_digit = x_exists & ~is_one & ~unit
        y_digit = of_y & ~a_beyond & ~b_beyond_outer & ~is_one
        m.d.comb += [
            self.beyond_inner.eq(a_beyond_inner),
            self.beyond_outer.eq(a_beyond_outer),
            self.multiplying.eq(is_needed & ~a_beyond & ~(of_diagonal & b_beyond_inner)),
            entering.no_a_left.eq(of_diagonal),
            entering.no_b_left.eq(asked("single", single | slot.linear) | b_beyond_inner),
            entering.x_right.eq(x_digit & ~squares),
            entering.y_right.eq(y_digit & ~squares),
            entering.x_left.eq(x_digit & squares),
            entering.y_left.eq(y_digit & squares),
            entering.one.eq(x_exists & (unit | is_one & (asked_a == 0))),
            entering.newest.eq(of_newest & ~a_beyond),
            entering.inverse.eq(x_digit & ~squares & asked("inverse", slot.preparing)),
        ]
        return m

    def _ask(self, m: Module, single: Value) -> None:
        """The digits that the ports are asked for; `single` is that of a slot without a pair."""
        slot, column, pair = self.slot, self.column, self.pair
        m.d.comb += [
            self.a_role.eq(
                Mux(
                    slot.linear,
                    Mux(slot.xy & ~slot.preparing, Pair.RESULT, Pair.MODULUS),
                    Mux(
                        slot.xy | slot.drop | slot.ahead & ~column.second_half,
                        Pair.FACTORS,
                        Pair.QUOTIENT,
                    ),
                )
            ),
            self.a_index.eq(Mux(single, column.ahead_index, pair.i)),
            self.b_index.eq(Mux(single, column.written, pair.j)),
            self.b_write.eq((slot.ahead | slot.drop & slot.second) & column.reached[2]),
            self.b_quotient.eq(~column.written_is_result),
        ]


class DigitRegisters(wiring.Component):
    """Registers between memory and slice: one after each port, then x and y.

    Members
    -------
    entering (EnteringSignature, in)
    a_left, a_right, b_left, b_right : 17 bits, in, from the memory
    quotient : 17 bits, in, the newest digit of q
    a, b : 17 bits, out, which enter the slice in the cycle before
    x, y (17 bits, out)
    fault : c is even, although it is the inverse of an odd number; if it were 0, so would be all
        products
    """

    def __init__(self) -> None:
        digits = ("a_left", "a_right", "b_left", "b_right", "quotient")
        ports = {
            "entering": In(EnteringSignature()),
            **{name: In(RADIX_BITS) for name in digits},
            **{name: Out(RADIX_BITS) for name in ("a", "b", "x", "y")},
            "fault": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the registers."""
        m = Module()
        entering = self.entering

        def register(name: str, value: Value, age: int, is_zero: Value | None = None) -> Signal:
            """A digit, or 0; `is_zero` is of a cycle after asking, the digit of `age` after it."""
            taken = Signal(RADIX_BITS, name=name, reset_less=True)
            m.d.sync += taken.eq(value)
            if is_zero is not None:
                with m.If(at(age, f"{name}_is_zero", is_zero)):
                    m.d.sync += taken.eq(0)
            return taken

        def at(age: int, name: str, value: ValueLike) -> Signal:
            """A flag of a cycle after asking, `age` cycles after asking."""
            return past_value(m, name, value, age - 1, reset=True)

        a_left = register("a_left_taken", self.a_left, READ_LATENCY, entering.no_a_left)
        b_left = register("b_left_taken", self.b_left, READ_LATENCY, entering.no_b_left)
        a_right = register("a_right_taken", self.a_right, READ_LATENCY, ~entering.x_right)
        b_right = register("b_right_taken", self.b_right, READ_LATENCY, ~entering.y_right)
        # x is a register's, and y what three are put together to.
        x_left, one = at(ENTERED, "x_left", entering.x_left), at(ENTERED, "one", entering.one)
        m.d.sync += self.x.eq(a_right | (a_left & x_left.replicate(RADIX_BITS)) | one)
        y_left = register("y_left", b_left, ENTERED, ~entering.y_left)
        y_right = register("y_right", b_right, ENTERED)
        y_newest = register("y_newest", self.quotient, ENTERED, ~entering.newest)
        m.d.comb += [
            self.a.eq(a_left),
            self.b.eq(b_left),
            self.y.eq(y_left | y_right | y_newest),
            self.fault.eq(at(ENTERED, "inverse", entering.inverse) & ~a_right[0]),
        ]
        return m
