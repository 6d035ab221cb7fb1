"""The linear unit that keeps up: a pipeline of two cycles a digit."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.wires import same_named
from coprime.multipliers.delays import history, past, past_value
from coprime.multipliers.multiplication import READ_LATENCY, Multiplication
from coprime.program.assembler import Program
from coprime.program.steps import MOST_TIMES_MODULUS

from .linear import LinearOperation, LinearUnit

_SHIFTS = MOST_TIMES_MODULUS.bit_length()
"""Places by which the modulus is shifted, and one that it is not added: 0 to 6."""


class PipelinedAdder(wiring.Component):
    """Computes a digit of x - z, x + z or x, plus a multiple of the modulus, with the carries.

    x and z, each of either bank, are taken in one cycle and added in the next one. With `sums` that
    cycle takes the modulus's digit into the place of x, and a second cycle adds it to the sum.

    Parameters
    ----------
    width : bits of a digit

    Members
    -------
    a_data, a_other, x_is_other : port A's data of both banks, and which one is x
    b_data : z
    b_other, z_is_other : the same of the other bank; only with `sums`
    clear : x and z become 0
    take : x and z are there
    use : they are added
    restart : the next digit is digit 0
    subtract, add : the result is x - z, or x + z; if neither, x
    shift : 1 to 6: 2^(shift - 1) times the modulus is added; 0: not; only with `sums`
    z : taken last, with `use`
    borrow : out of this digit of a difference, with `use`
    result : of the digit that was used a cycle ago; with `sums` three cycles ago
    """

    def __init__(self, width: int, *, sums: bool = False):
        self.sums = sums
        flags = ("clear", "take", "use", "restart", "subtract", "add", "x_is_other")
        members = {
            **dict.fromkeys(flags, In(1)),
            **{name: In(width) for name in ("a_data", "a_other", "b_data")},
            **dict.fromkeys(("z", "result"), Out(width)),
            "borrow": Out(1),
        }
        if sums:
            members |= {"b_other": In(width), "z_is_other": In(1), "shift": In(range(_SHIFTS + 1))}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        """x - z is ~(~x + z): z passes the carry chain on, and needs no LUT for it."""
        m = Module()
        width = len(self.z)
        # A block RAM's output comes late in the cycle: it is taken before anything else, into a
        # register for each bank. What is not added is 0 from the first.
        x, other, held, held_other = (
            Signal(width, name=name, reset_less=True)
            for name in ("x", "other", "held", "held_other")
        )
        carry, total = Signal(), Signal(width + 1)
        taken = [(x, self.a_data, self.x_is_other), (other, self.a_other, ~self.x_is_other)]
        no_z = ~self.subtract & ~self.add
        if self.sums:
            taken.append((held, self.b_data, no_z | self.z_is_other))
            taken.append((held_other, self.b_other, no_z | ~self.z_is_other))
        else:
            taken.append((held, self.b_data, no_z))
        for register, data, is_zero in taken:
            with m.If(self.take):
                m.d.sync += register.eq(data)
            with m.If(self.clear | (self.take & is_zero)):
                m.d.sync += register.eq(0)
        inverts = self.subtract.replicate(width)
        factor = (x | other) ^ inverts
        carry_in: Value = carry
        z: Value = held | held_other if self.sums else held
        m.d.comb += [self.z.eq(z), self.borrow.eq(total[-1])]
        with m.If(self.restart):
            m.d.sync += carry.eq(0)
        with m.If(self.use):
            m.d.sync += carry.eq(total[-1])
        if self.sums:
            registers = (x, other, held, held_other)
            factor, carry_in, partial = self._add_modulus(m, registers, factor, carry, total)
            z = z | partial
        else:
            inverted = past_value(m, "inverted", self.subtract, 1)
            digit = past_value(m, "digit", total[:width], 1)
            m.d.comb += self.result.eq(digit ^ inverted.replicate(width))
        # The lowest position of a sum makes the carry an input of one carry chain.
        m.d.comb += total.eq((Cat(carry_in, z) + Cat(carry_in, factor))[1:])
        return m

    def _add_modulus(
        self,
        m: Module,
        registers: tuple[Signal, Signal, Signal, Signal],
        factor: Value,
        carry: Signal,
        total: Signal,
    ) -> tuple[Value, Value, Signal]:
        """A second cycle of each digit; returns what is added in either cycle, which carry, and the
        sum of the first cycle: 0 in any other cycle than the second one, in which z is 0."""
        x, other, *helds = registers
        width = len(x)
        partial = Signal(width, reset_less=True)
        m.d.sync += partial.eq(0)
        adds = past_value(m, "adds", self.use, 1, reset=True)
        of_modulus, above = Signal(), Signal(_SHIFTS - 1)
        digit = Signal(width, reset_less=True)
        with m.If(self.use):
            m.d.sync += [x.eq(self.a_data), other.eq(0)]
            m.d.sync += [held.eq(0) for held in helds]
            m.d.sync += partial.eq(total[:width] ^ self.subtract.replicate(width))
            with m.If(self.shift == 0):
                m.d.sync += x.eq(0)
        with m.If(self.restart):
            m.d.sync += [of_modulus.eq(0), above.eq(0)]
        with m.If(adds):
            m.d.sync += [of_modulus.eq(total[-1]), above.eq(x[width - len(above) :])]
            m.d.sync += digit.eq(total[:width])
        with m.If(self.clear):
            m.d.sync += [digit.eq(0), partial.eq(0)]
        m.d.comb += self.result.eq(past(m, digit, 1))
        # The digit before, whose highest bits are shifted in, lies below it.
        window = Cat(above, x)
        shifted = Signal(width)
        m.d.comb += shifted.eq(x)
        with m.Switch(self.shift):
            for places in range(1, _SHIFTS):
                with m.Case(places + 1):
                    m.d.comb += shifted.eq(window[len(above) - places :])
        return Mux(adds, shifted, factor), Mux(adds, of_modulus, carry), partial


class LinearPipeline(wiring.Component):
    """Adds and compares a digit in two cycles: one reads x and z, the other writes another digit.

    x and z are read through ports A and B, and the result is written through port B. There may be
    two banks, of which each port A reads a digit.

    ====== ============================ =====================================================
    cycle  `sums` False                 `sums` True
    ====== ============================ =====================================================
    c      asks for digit i of x and z  the same; x and z may lie in either bank
    c + 1                               asks for digit i of the modulus
    c + 3  takes x and z; asks to write takes x and z
    c + 4  adds                         adds, and takes the modulus
    c + 5  the result is written        adds the modulus; asks to write
    c + 7                               the result is written
    ====== ============================ =====================================================

    Digit i + 1 begins in c + 2. x and z may lie in the result's own location, since a digit is
    written after it was read. `done` is 1 in the last cycle, in which the last digit of x and z has
    been added, or with `sums` its write is asked for. `clear` instead of `start` writes zero to
    every word of the memory.

    Parameters
    ----------
    digit_width, count_bits, depth : bits of a digit and of a count; words of a bank
    waits (bool): x may have to be waited for: no digit is begun while `hold` is 1
    shares (bool): the same of ports, which it shares with a multiplier; only with `sums`
    sums (bool): adds a multiple of the modulus, and reads z in either bank

    Members
    -------
    start, clear, operation, digits : digits of x, z and the result, at least 1
    a_data, a_other, x_is_other, b_data : as of `PipelinedAdder`
    shift, b_other, z_is_other : the same; only with `sums`
    reads_modulus : the ports A are asked for the modulus; only with `sums`
    index, b_index : the digit that the ports A and the ports B are asked for
    b_write, b_write_data : port B writes; the digit, two cycles later
    first : x and z that are there now are their first digits
    uses_a, uses_b : the ports A are asked for something, or the ports B; only if it `shares`
    gives : `b_write_data` is a digit of the result, though it may not be written
    under_way, runs_on : it does something; its second digit has been asked for in the cycle before;
        only if it `shares`
    begins : a digit of x has been asked for in the cycle before, or earlier, and is waited for;
        only if it `waits` or `shares`
    borrow : of the last subtraction or comparison: 1 where x < z
    overflows : the last digit of a sum has a carry, for a cycle; only with `sums`
    z_is_zero, z_is_odd, z_is_normalized : of the last z; normalized is with the highest bit 1
    """

    def __init__(
        self,
        digit_width: int,
        count_bits: int,
        depth: int,
        *,
        waits: bool = False,
        sums: bool = False,
        shares: bool = False,
    ):
        assert sums or not shares
        self.depth, self.waits, self.sums, self.shares = depth, waits or shares, sums, shares
        self.adder = PipelinedAdder(digit_width, sums=sums)
        index = bits_for(depth - 1)
        flags = ("done", "b_write", "first", "gives", "borrow")
        ports = {
            **dict.fromkeys(("start", "clear", "x_is_other"), In(1)),
            "operation": In(3),
            "digits": In(count_bits),
            **dict.fromkeys(("index", "b_index"), Out(index)),
            **{name: In(digit_width) for name in ("a_data", "a_other", "b_data")},
            "b_write_data": Out(digit_width),
            **dict.fromkeys((*flags, "z_is_zero", "z_is_odd", "z_is_normalized"), Out(1)),
        }
        if sums:
            ports |= {"b_other": In(digit_width), "z_is_other": In(1)}
            ports |= {"shift": In(range(_SHIFTS + 1)), "reads_modulus": Out(1)}
            ports |= {"overflows": Out(1)}
        if self.waits:
            ports |= {"begins": Out(1), "hold": In(1)}
        if shares:
            ports |= dict.fromkeys(("uses_a", "uses_b", "under_way", "runs_on"), Out(1))
        super().__init__(ports)

    @staticmethod
    def cycles(digits: int, *, sums: bool = False) -> int:
        """Cycles of one operation on `digits` digits."""
        return 2 * digits + READ_LATENCY + sums

    @staticmethod
    def waiting_cycles(count: int) -> int:
        """Cycles more of a digit that is there `count` cycles after it was asked for."""
        return count + 1

    def elaborate(self, platform: object) -> Module:
        """Ask for one digit after the other; what was asked for passes the pipeline."""
        m = Module()
        m.submodules.adder = adder = self.adder
        asks, asks_second, clears = Signal(), Signal(), Signal()
        age = READ_LATENCY + 1
        asked = history(m, "asked", asks, age + 2 * self.sums, reset=True)
        takes, uses = asked[READ_LATENCY], asked[age]
        writes = asked[age + 1] if self.sums else takes
        # Only MOVE is neither a subtraction, an addition nor a RESTORE.
        may_restore = ~self.operation[2]
        m.d.comb += [
            adder.clear.eq(self.clear),
            adder.take.eq(takes),
            adder.use.eq(uses),
            adder.subtract.eq(~self.operation[1]),
            adder.add.eq((self.operation == LinearOperation.ADD) | (may_restore & self.borrow)),
            *same_named(adder, self, "a_data", "a_other", "x_is_other", "b_data"),
            self.b_write_data.eq(adder.result),
            self.b_write.eq(clears | (writes & (self.operation != LinearOperation.COMPARE))),
            self.gives.eq(past_value(m, "gives", writes, 2, reset=True)),
        ]
        if self.sums:
            m.d.comb += [
                *same_named(adder, self, "b_other", "z_is_other", "shift"),
                self.reads_modulus.eq(asks_second),
            ]
        if self.shares:
            m.d.comb += self.uses_a.eq(asks | asks_second)
            m.d.comb += self.uses_b.eq(asks | writes)
        index, restarts, last = Signal.like(self.index), Signal(), Signal()
        if self.shares:
            m.d.comb += self.under_way.eq(~restarts)
        m.d.comb += [
            self.index.eq(index),
            # In the cycle after `asks` the index is still that digit's.
            self.b_index.eq(Mux(writes, past(m, index, age - 2 + 2 * self.sums), index)),
            last.eq((index + 1)[: len(self.digits)] == self.digits),
            adder.restart.eq(restarts),
        ]
        # A reset and an enable, so that synthesis takes the register's own for them.
        with m.If(restarts):
            m.d.sync += index.eq(0)
        with m.Elif(asks_second | clears):
            m.d.sync += index.eq(index + 1)
        with m.If(restarts):
            m.d.sync += self.first.eq(1)
        with m.Elif(uses):
            m.d.sync += self.first.eq(0)
        with m.If(uses):
            m.d.sync += [
                self.z_is_normalized.eq(adder.z[-1]),
                self.z_is_zero.eq((self.first | self.z_is_zero) & (adder.z == 0)),
            ]
            with m.If(self.first):
                m.d.sync += self.z_is_odd.eq(adder.z[0])
        # Without a `hold`, digits are read in every other cycle, and written in the others; after
        # one, a digit would be asked for in a cycle in which another one is written.
        held = self.hold | writes if self.shares else self.hold if self.waits else Const(0)
        self._control(m, restarts, asks, asks_second, clears, last, uses, held)
        return m

    def _control(
        self,
        m: Module,
        restarts: Signal,
        asks: Signal,
        asks_second: Signal,
        clears: Signal,
        last: Signal,
        uses: Signal,
        held: Value,
    ) -> None:
        """The states: both cycles of a digit, the end of the pipeline, and one that clears."""
        adder, drains = self.adder, READ_LATENCY + self.sums
        enters = past_value(m, "enters", asks_second | restarts, 1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += restarts.eq(1)
                with m.If(self.clear):
                    m.next = "CLEAR"
                with m.Elif(self.start):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += asks.eq(1)
                m.next = "WRITE"
                if self.waits:
                    m.d.comb += [self.begins.eq(~enters), asks.eq(~held)]
                    with m.If(held):
                        m.next = "READ"
            with m.State("WRITE"):
                m.d.comb += asks_second.eq(1)
                if self.shares:
                    m.d.comb += self.runs_on.eq(self.index == 1)
                m.next = "READ"
                with m.If(last):
                    m.next = "DRAIN_0"
            for k in range(drains):
                with m.State(f"DRAIN_{k}"):
                    m.next = f"DRAIN_{k + 1}" if k < drains - 1 else "IDLE"
                    m.d.comb += self.done.eq(k == drains - 1)
                    if k == READ_LATENCY - 1:
                        with m.If(adder.subtract):
                            m.d.sync += self.borrow.eq(adder.borrow)
                        if self.sums:
                            adds = self.operation == LinearOperation.ADD
                            m.d.comb += self.overflows.eq(adds & adder.borrow)
            with m.State("CLEAR"):
                m.d.comb += clears.eq(1)
                with m.If(self.index == self.depth - 1):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"


def linear_cycles(program: Program, multiplication: Multiplication, digits: int) -> int:
    """Cycles of the linear unit's operation on `digits` digits, in the lane of this program."""
    if multiplication.banked:
        return LinearPipeline.cycles(digits, sums=program.sums)
    return LinearUnit.cycles(digits)
