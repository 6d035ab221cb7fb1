"""The linear unit: digit-serial subtraction, addition, comparison and clearing for every family."""

import enum
from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.multipliers.contract import READ_LATENCY
from coprime.multipliers.delays import history

__all__ = ["LinearOperation", "LinearUnit"]


class LinearOperation(enum.IntEnum):
    """What is done digit by digit with x (port A) and z (port B), from digit 0 up.

    Bit 1 is 0 of a subtraction.
    """

    COMPARE = 0
    """x - z: only the borrow is kept."""
    SUBTRACT = 1
    """x - z."""
    ADD = 2
    """x + z."""
    RESTORE = 3
    """x + z if the operation before ended with a borrow, else x: undoes a subtraction."""
    MOVE = 6
    """x."""


class DigitAdder(wiring.Component):
    """The linear unit's datapath: a digit of x - z, x + z or x, with the carry of the digit before.

    Parameters
    ----------
    width : bits of a digit
    other : further ports

    Members
    -------
    clear : x and z become 0
    take : `a_data` becomes x, `b_data` z
    use : `result` is used in this cycle, and its carry is that of the next digit
    restart : the next digit is digit 0
    subtract, add : the result is x - z, or x + z; if neither, x
    z, result : digits
    borrow : out of this digit of a difference
    """

    def __init__(self, width: int, other: Mapping[str, wiring.Member] | None = None):
        super().__init__(
            {
                **dict.fromkeys(("clear", "take", "use", "restart", "subtract", "add"), In(1)),
                "a_data": In(width),
                "b_data": In(width),
                "z": Out(width),
                "result": Out(width),
                "borrow": Out(1),
            }
            | (dict(other or {}))
        )
        # A block RAM's output comes late in the cycle: it is taken before it is added.
        self.x = Signal(width, reset_less=True)
        self.held = Signal(width, reset_less=True)

    def elaborate(self, platform: object) -> Module:
        """x - z is x + ~z + 1: a last carry of 1 means that nothing was borrowed."""
        m = Module()
        width = len(self.z)
        carry, total, addend = Signal(), Signal(width + 1), Signal(width)
        with m.If(self.take):
            m.d.sync += [self.x.eq(self.a_data), self.held.eq(self.b_data)]
        with m.If(self.clear):
            m.d.sync += [self.x.eq(0), self.held.eq(0)]
        with m.If(self.subtract):
            m.d.comb += addend.eq(~self.held)
        with m.Elif(self.add):
            m.d.comb += addend.eq(self.held)
        m.d.comb += [
            # The lowest position of a sum makes the carry an input of one carry chain.
            total.eq((Cat(Const(1, 1), self.x) + Cat(carry, addend))[1:]),
            self.z.eq(self.held),
            self.borrow.eq(~total[-1]),
        ]
        with m.If(self.restart):
            m.d.sync += carry.eq(self.subtract)
        with m.If(self.use):
            m.d.comb += self.result.eq(total[:width])
            m.d.sync += carry.eq(total[-1])
        return m


class BankedDigitAdder(DigitAdder):
    """The same of two banks, in fewer LUTs; `result` comes two cycles after `use`.

    Members
    -------
    a_other, x_is_other : port A's data of the other bank; they are x where `x_is_other` is 1
    """

    def __init__(self, width: int):
        super().__init__(width, {"a_other": In(width), "x_is_other": In(1)})

    def elaborate(self, platform: object) -> Module:
        """x - z is ~(~x + z): z passes the carry chain on, and needs no LUT for it."""
        m = Module()
        width = len(self.z)
        carry, total = Signal(), Signal(width + 1)
        other = Signal(width, reset_less=True)
        # What is not added is 0 from the first.
        for register, data, is_zero in (
            (self.x, self.a_data, self.x_is_other),
            (other, self.a_other, ~self.x_is_other),
            (self.held, self.b_data, ~self.subtract & ~self.add),
        ):
            with m.If(self.take):
                m.d.sync += register.eq(data)
            with m.If(self.clear | (self.take & is_zero)):
                m.d.sync += register.eq(0)
        factor = (self.x | other) ^ self.subtract.replicate(width)
        inverted = history(m, "inverted", self.subtract, 2)[-1]
        digit = history(m, "digit", total[:width], 2)[-1]
        m.d.comb += [
            # The lowest position of a sum makes the carry an input of one carry chain.
            total.eq((Cat(carry, self.held) + Cat(carry, factor))[1:]),
            self.z.eq(self.held),
            self.borrow.eq(total[-1]),
            self.result.eq(digit ^ inverted.replicate(width)),
        ]
        with m.If(self.restart):
            m.d.sync += carry.eq(0)
        with m.If(self.use):
            m.d.sync += carry.eq(total[-1])
        return m


class LinearUnit(wiring.Component):
    """One digit: ask for x and z through both ports, wait, take them, add and write.

    x and z may lie in the result's own location, since a digit is written after it was read. `done`
    is 1 in the last cycle. `clear` instead of `start` writes zero to every word of the memory.

    Parameters
    ----------
    digit_width, count_bits, depth : bits of a digit and of a count; words of the memory
    two_banks : bool
        Port A reads two banks at once; x is in the other one where `x_is_other` is 1. With two
        banks there is MOVE, too, and `b_write_data` comes two cycles after `b_write`.
    waits : bool
        Port A's data may have to be waited for: no digit is begun while `hold` is 1.

    Members
    -------
    digits : digits of x, z and the result, at least 1
    a_other : port A's data of the other bank
    uses : with two banks: a digit of x and of z is used, whose result comes two cycles later
    begins : a digit is to be begun
    borrow : of the last subtraction or comparison: 1 where x < z
    z_is_zero, z_is_odd, z_is_normalized : of the last z; normalized is with the highest bit 1
    """

    def __init__(
        self,
        digit_width: int,
        count_bits: int,
        depth: int,
        *,
        two_banks: bool = False,
        waits: bool = False,
    ):
        self.depth = depth
        self.two_banks = two_banks
        self.waits = waits
        self.adder = BankedDigitAdder(digit_width) if two_banks else DigitAdder(digit_width)
        flags = ("done", "b_write", "borrow", "z_is_zero", "z_is_odd", "z_is_normalized")
        super().__init__(
            {
                "start": In(1),
                "clear": In(1),
                "operation": In(3 if two_banks else 2),
                "digits": In(count_bits),
                "index": Out(bits_for(depth - 1)),
                "a_data": In(digit_width),
                "b_data": In(digit_width),
                "b_write_data": Out(digit_width),
                **dict.fromkeys(flags, Out(1)),
            }
            | (
                {"a_other": In(digit_width), "x_is_other": In(1), "uses": Out(1)}
                if two_banks
                else {}
            )
            | ({"begins": Out(1), "hold": In(1)} if waits else {})
        )

    @staticmethod
    def cycles(digits: int) -> int:
        """Cycles of one operation on `digits` digits."""
        return (READ_LATENCY + 2) * digits

    @staticmethod
    def clear_cycles(depth: int) -> int:
        """Cycles of clearing a memory of `depth` words."""
        return depth

    def elaborate(self, platform: object) -> Module:
        """The states that a digit goes through, and one that clears."""
        m = Module()
        m.submodules.adder = adder = self.adder
        # Only MOVE is neither a subtraction, an addition nor a RESTORE.
        may_restore = ~self.operation[2] if self.two_banks else Const(1)
        m.d.comb += [
            adder.clear.eq(self.clear),
            adder.a_data.eq(self.a_data),
            adder.b_data.eq(self.b_data),
            adder.subtract.eq(~self.operation[1]),
            adder.add.eq((self.operation == LinearOperation.ADD) | (may_restore & self.borrow)),
            self.b_write_data.eq(adder.result),
        ]
        if self.two_banks:
            m.d.comb += [
                adder.a_other.eq(self.a_other),
                adder.x_is_other.eq(self.x_is_other),
                self.uses.eq(adder.use),
            ]
        index = Signal.like(self.index)
        first, last = Signal(), Signal()  # digit 0, and the last one
        restarts, steps = Signal(), Signal()
        m.d.comb += [
            self.index.eq(index),
            last.eq((index + 1)[: len(self.digits)] == self.digits),
        ]
        # A reset and an enable, so that synthesis takes the register's own for them.
        with m.If(restarts):
            m.d.sync += [index.eq(0), first.eq(1)]
        with m.Elif(steps):
            m.d.sync += [index.eq(index + 1), first.eq(0)]
        with m.If(adder.use):
            m.d.sync += [
                self.z_is_normalized.eq(adder.z[-1]),
                self.z_is_zero.eq((first | self.z_is_zero) & (adder.z == 0)),
            ]
            with m.If(first):
                m.d.sync += self.z_is_odd.eq(adder.z[0])
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += restarts.eq(1)
                if self.two_banks:
                    m.d.comb += adder.restart.eq(1)
                with m.If(self.clear):
                    m.next = "CLEAR"
                with m.Elif(self.start):
                    m.next = "READ"
            with m.State("READ"):
                if not self.two_banks:
                    m.d.comb += adder.restart.eq(first)
                m.next = "WAIT_0"
                if self.waits:
                    m.d.comb += self.begins.eq(1)
                    with m.If(self.hold):
                        m.next = "READ"
            for k in range(READ_LATENCY - 1):
                with m.State(f"WAIT_{k}"):
                    m.next = f"WAIT_{k + 1}" if k < READ_LATENCY - 2 else "TAKE"
            with m.State("TAKE"):
                m.d.comb += adder.take.eq(1)
                m.next = "ADD"
            with m.State("ADD"):
                m.d.comb += [
                    adder.use.eq(1),
                    steps.eq(1),
                    self.b_write.eq(self.operation != LinearOperation.COMPARE),
                ]
                m.next = "READ"
                with m.If(last):
                    m.d.comb += self.done.eq(1)
                    with m.If(adder.subtract):
                        m.d.sync += self.borrow.eq(adder.borrow)
                    m.next = "IDLE"
            with m.State("CLEAR"):
                m.d.comb += [steps.eq(1), self.b_write.eq(1)]
                with m.If(index == self.depth - 1):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"
        return m
