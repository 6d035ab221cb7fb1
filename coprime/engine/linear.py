"""The linear unit: digit-serial subtraction, addition, comparison and clearing for every family."""

import enum

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.wires import same_named
from coprime.multipliers.multiplication import READ_LATENCY


class LinearOperation(enum.IntEnum):
    """What is done digit by digit with x (port A) and z (port B), from digit 0 up.

    Bit 1 is 0 of a subtraction.
    """

    COMPARE = 0  # x - z: only the borrow is kept
    SUBTRACT = 1  # x - z
    ADD = 2  # x + z
    RESTORE = 3  # x + z if the operation before ended with a borrow, else x: undoes a subtraction
    MOVE = 6  # x; only of two banks


class DigitAdder(wiring.Component):
    """Computes a digit of x - z, x + z or x, with the carry of the previous digit.

    Parameters
    ----------
    width : bits of a digit
    gates : `result` is 0 while it is not used

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

    def __init__(self, width: int, *, gates: bool = True):
        self.gates = gates
        ports = {
            **dict.fromkeys(("clear", "take", "use", "restart", "subtract", "add"), In(1)),
            **dict.fromkeys(("a_data", "b_data"), In(width)),
            **dict.fromkeys(("z", "result"), Out(width)),
            "borrow": Out(1),
        }
        super().__init__(ports)
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
        if not self.gates:
            m.d.comb += self.result.eq(total[:width])
        with m.If(self.use):
            if self.gates:
                m.d.comb += self.result.eq(total[:width])
            m.d.sync += carry.eq(total[-1])
        return m


class LinearUnit(wiring.Component):
    """Adds and compares digit by digit: reads x and z through both ports, waits, adds and writes.

    x and z may lie in the result's own location, since a digit is written after it was read. `done`
    is 1 in the last cycle. `clear` instead of `start` writes zero to every word of the memory.

    Parameters
    ----------
    digit_width, count_bits, depth : bits of a digit and of a count; words of the memory
    clears : there is `clear`, which needs an index of all words, and writes what is not used

    Members
    -------
    digits : digits of x, z and the result, at least 1
    borrow : of the last subtraction or comparison: 1 where x < z
    z_is_zero, z_is_odd, z_is_normalized : of the last z; normalized is with the highest bit 1
    """

    def __init__(self, digit_width: int, count_bits: int, depth: int, *, clears: bool = True):
        self.depth, self.clears = depth, clears
        self.adder = DigitAdder(digit_width, gates=clears)
        flags = ("done", "b_write", "borrow", "z_is_zero", "z_is_odd", "z_is_normalized")
        ports = {
            **dict.fromkeys(("start", "clear"), In(1)),
            "operation": In(2),
            "digits": In(count_bits),
            "index": Out(bits_for(depth - 1) if clears else count_bits),
            **dict.fromkeys(("a_data", "b_data"), In(digit_width)),
            "b_write_data": Out(digit_width),
            **dict.fromkeys(flags, Out(1)),
        }
        super().__init__(ports)

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
        m.d.comb += [
            *same_named(adder, self, "clear", "a_data", "b_data"),
            adder.subtract.eq(~self.operation[1]),
            adder.add.eq((self.operation == LinearOperation.ADD) | self.borrow),
            self.b_write_data.eq(adder.result),
        ]
        index = Signal.like(self.index)
        first, last = Signal(), Signal()  # digit 0, and the last one
        restarts, steps = Signal(), Signal()
        m.d.comb += [self.index.eq(index), last.eq((index + 1)[: len(self.digits)] == self.digits)]
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
                branch = m.If
                if self.clears:
                    with m.If(self.clear):
                        m.next = "CLEAR"
                    branch = m.Elif
                with branch(self.start):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += adder.restart.eq(first)
                m.next = "WAIT_0"
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
            if self.clears:
                with m.State("CLEAR"):
                    m.d.comb += [steps.eq(1), self.b_write.eq(1)]
                    with m.If(index == self.depth - 1):
                        m.d.comb += self.done.eq(1)
                        m.next = "IDLE"
        return m
