"""The linear unit: digit-serial subtraction, addition, comparison and clearing for every family."""

import enum

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.multipliers.contract import READ_LATENCY
from coprime.multipliers.delays import history

__all__ = ["LinearOperation", "LinearUnit"]


class LinearOperation(enum.IntEnum):
    """What is done digit by digit with x (port A) and z (port B), from digit 0 up."""

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


class LinearUnit(wiring.Component):
    """One digit: ask for x and z through both ports, wait, take them, add and write.

    x and z may lie in the result's own slot, since a digit is written after it was read. `done` is
    1 in the last cycle. `clear` instead of `start` writes zero to every word of the memory.

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
        self.digit_width = digit_width
        self.depth = depth
        self.two_banks = two_banks
        self.waits = waits
        super().__init__(
            {
                "start": In(1),
                "clear": In(1),
                "done": Out(1),
                "operation": In(3 if two_banks else 2),
                "digits": In(count_bits),
                "index": Out(bits_for(depth - 1)),
                "a_data": In(digit_width),
                "b_data": In(digit_width),
                "b_write": Out(1),
                "b_write_data": Out(digit_width),
                "borrow": Out(1),
                "z_is_zero": Out(1),
                "z_is_odd": Out(1),
                "z_is_normalized": Out(1),
            }
            | ({"a_other": In(digit_width), "x_is_other": In(1)} if two_banks else {})
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
        index = Signal.like(self.index)
        carry = Signal()
        # A block RAM's output comes late in the cycle: it is taken before it is added.
        x = Signal(self.digit_width, reset_less=True)
        z = Signal(self.digit_width, reset_less=True)
        total = Signal(self.digit_width + 1)
        subtracts, adds = Signal(), Signal()
        borrows = Signal()  # out of the digit
        last = Signal()
        takes, steps, restarts = Signal(), Signal(), Signal()
        first = Signal()  # digit 0
        # A reset and an enable, so that synthesis takes the register's own for them.
        with m.If(restarts):
            m.d.sync += [index.eq(0), first.eq(1)]
        with m.Elif(steps):
            m.d.sync += [index.eq(index + 1), first.eq(0)]
        # Only MOVE is neither a subtraction, an addition nor a RESTORE.
        may_restore = ~self.operation[2] if self.two_banks else Const(1)
        m.d.comb += [
            subtracts.eq(~self.operation[1]),
            adds.eq((self.operation == LinearOperation.ADD) | (may_restore & self.borrow)),
            last.eq((index + 1)[: len(self.digits)] == self.digits),
            self.index.eq(index),
        ]
        with m.If(takes):
            m.d.sync += [x.eq(self.a_data), z.eq(self.b_data)]
        # The lowest position of a sum makes the carry an input of one carry chain.
        if self.two_banks:
            # x - z is ~(~x + z): z passes the carry chain on, and needs no LUT for it. What is not
            # added is 0 from the first.
            other = Signal(self.digit_width, reset_less=True)
            with m.If(takes):
                m.d.sync += other.eq(self.a_other)
            for register, is_zero in (
                (x, self.x_is_other),
                (other, ~self.x_is_other),
                (z, ~subtracts & ~adds),
            ):
                with m.If(self.clear | (takes & is_zero)):
                    m.d.sync += register.eq(0)
            factor = (x | other) ^ subtracts.replicate(self.digit_width)
            inverted = history(m, "inverted", subtracts, 2)[-1]
            digit = history(m, "digit", total[: self.digit_width], 2)[-1]
            m.d.comb += [
                total.eq((Cat(carry, z) + Cat(carry, factor))[1:]),
                borrows.eq(total[-1]),
                self.b_write_data.eq(digit ^ inverted.replicate(self.digit_width)),
            ]
        else:
            with m.If(self.clear):
                m.d.sync += [x.eq(0), z.eq(0)]
            # x - z is x + ~z + 1: a last carry of 1 says that nothing was borrowed.
            addend = Signal(self.digit_width)
            with m.If(subtracts):
                m.d.comb += addend.eq(~z)
            with m.Elif(adds):
                m.d.comb += addend.eq(z)
            m.d.comb += [
                total.eq((Cat(Const(1, 1), x) + Cat(carry, addend))[1:]),
                borrows.eq(~total[-1]),
            ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += restarts.eq(1)
                if self.two_banks:
                    m.d.sync += carry.eq(0)
                with m.If(self.clear):
                    m.next = "CLEAR"
                with m.Elif(self.start):
                    m.next = "READ"
            with m.State("READ"):
                if not self.two_banks:
                    with m.If(first):
                        m.d.sync += carry.eq(subtracts)
                m.next = "WAIT_0"
                if self.waits:
                    m.d.comb += self.begins.eq(1)
                    with m.If(self.hold):
                        m.next = "READ"
            for k in range(READ_LATENCY - 1):
                with m.State(f"WAIT_{k}"):
                    m.next = f"WAIT_{k + 1}" if k < READ_LATENCY - 2 else "TAKE"
            with m.State("TAKE"):
                m.d.comb += takes.eq(1)
                m.next = "ADD"
            with m.State("ADD"):
                m.d.comb += self.b_write.eq(self.operation != LinearOperation.COMPARE)
                if not self.two_banks:
                    m.d.comb += self.b_write_data.eq(total[: self.digit_width])
                m.d.comb += steps.eq(1)
                m.d.sync += [
                    carry.eq(total[-1]),
                    self.z_is_normalized.eq(z[-1]),
                    self.z_is_zero.eq((first | self.z_is_zero) & (z == 0)),
                ]
                with m.If(first):
                    m.d.sync += self.z_is_odd.eq(z[0])
                m.next = "READ"
                with m.If(last):
                    m.d.comb += self.done.eq(1)
                    with m.If(subtracts):
                        m.d.sync += self.borrow.eq(borrows)
                    m.next = "IDLE"
            with m.State("CLEAR"):
                m.d.comb += [steps.eq(1), self.b_write.eq(1)]
                with m.If(index == self.depth - 1):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"
        return m
