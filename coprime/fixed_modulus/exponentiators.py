"""Exponentiators in registers, around a product that takes one cycle: for a fixed modulus.

Source: COMPRESSION (Vassoler 2023), section 2.3, Algorithms 3, 4, 5, 7 and 8, and section 4.2.1,
figures 16 and 17. What differs:

* Of two multipliers the second is a squarer (`ModularSquare`), the thesis's first open point.
* A product may have s pipeline registers, and takes s + 1 cycles then.
* There are exponentiators with windows, the thesis's second open point.

Each is a class with its states; `register_exponentiation.py` counts its cycles and products.
"""

from abc import abstractmethod

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.wires import same_named
from coprime.exponentiators.names import Exponentiator
from coprime.program.steps import COUNTER_BITS

from .products import make_product, make_reduction, make_square
from .register_exponentiation import RegisterExponentiation


class RegisterExponentiator(wiring.Component):
    """X ^ E mod m, or X * Y mod m, with all numbers in registers.

    C is the intermediate result, below c * m, and the result, below m, in the end. It stays until
    the next start. X is a register too; its squares may take its place, so that it must be written
    again before each start.

    Parameters
    ----------
    digits, digit_width (int): of X and E as they are written

    Members
    -------
    write : X's digit `index` becomes `digit`; not while busy
    start : the next cycle is the first; `single` and what follows hold until `done`
    single : one product, of X and `y`
    y : below m
    exponent, length : E, and its length in bits; all bits above that are 0
    wipe : clears all registers, and a word of the table in each cycle in which it is 1: it takes
        `table_words` cycles, and `product_cycles` until the product's own registers are clear
    x, c : the registers
    done : 1 in the last cycle
    multiplying : products that enter a multiplier in this cycle, and that are needed
    """

    def __init__(self, exponentiation: RegisterExponentiation, digits: int, digit_width: int):
        self.exponentiation = exponentiation
        self.arithmetic = exponentiation.arithmetic
        self.digits, self.digit_width = digits, digit_width
        bits, held = self.arithmetic.bits, digits * digit_width
        ports = {
            "write": In(1),
            "index": In(bits_for(digits + 1)),
            "digit": In(digit_width),
            **dict.fromkeys(("start", "single"), In(1)),
            "y": In(bits),
            "exponent": In(held),
            "length": In(bits_for(held)),
            "wipe": In(1),
            "x": Out(max(held, bits)),
            "c": Out(bits),
            "done": Out(1),
            "multiplying": Out(bits_for(exponentiation.multipliers)),
        }
        super().__init__(ports)
        # A product's factors hold while `running`; it is there in the last cycle, `ready`.
        self.running = Signal()
        self.ready = Signal()
        self.elapsed = Signal(range(exponentiation.product_cycles + 1))

    @property
    def first_state(self) -> str:
        """The first state of a power."""
        return "POWER"

    @property
    def first_c(self) -> Value:
        """What C is in that state."""
        return Const(1)

    @abstractmethod
    def add_parts(self, m: Module) -> None:
        """Add what a power needs beside its states."""

    @abstractmethod
    def add_states(self, m: Module, product: wiring.Component) -> None:
        """Add the states of a power; the product is that of C and X unless a state changes it."""

    def multiply(self, m: Module) -> None:
        """Let a needed product run in this state."""
        m.d.comb += [self.running.eq(1), self.multiplying.eq(self.elapsed == 0)]

    def end(self, m: Module) -> None:
        """Go on after the last product, in its last cycle."""
        if self.arithmetic.corrects:
            m.next = "CORRECT"
        else:
            m.d.comb += self.done.eq(1)
            m.next = "IDLE"

    def elaborate(self, platform: object) -> Module:
        """Registers, the product, and the states before and after those of the products."""
        m = Module()
        m.submodules.product = product = make_product(self.arithmetic)
        width = self.digit_width
        m.d.comb += [product.x.eq(self.c), product.y.eq(self.x[: self.arithmetic.bits])]
        last_cycle = self.elapsed == self.exponentiation.product_cycles - 1
        m.d.comb += self.ready.eq(self.running & last_cycle)
        with m.If(self.running):
            m.d.sync += self.elapsed.eq(Mux(self.ready, 0, self.elapsed + 1))
        self.add_parts(m)
        with m.FSM():
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += self.c.eq(Mux(self.single, self.y, self.first_c))
                m.next = self.first_state
                with m.If(self.single):
                    m.next = "SINGLE"
            with m.State("SINGLE"):
                self.multiply(m)
                with m.If(self.ready):
                    m.d.sync += self.c.eq(product.result)
                    self.end(m)
            self.add_states(m, product)
            if self.arithmetic.corrects:
                with m.State("CORRECT"):
                    m.submodules.reduction = reduction = make_reduction(self.arithmetic)
                    m.d.comb += [reduction.x.eq(self.c), self.done.eq(1)]
                    m.d.sync += self.c.eq(reduction.result)
                    m.next = "IDLE"
        held = width * self.digits
        with m.If(self.write):
            m.d.sync += self.x[held:].eq(0)  # a number below c * m may have been there
            with m.Switch(self.index):
                for k in range(self.digits):
                    with m.Case(k):
                        m.d.sync += self.x[width * k : width * (k + 1)].eq(self.digit)
        with m.If(self.wipe):
            m.d.sync += [self.x.eq(0), self.c.eq(0)]
        return m


class Repeated(RegisterExponentiator):
    """Algorithm 3: C = C * X, E times, and a cycle more for the last comparison of the count."""

    def add_parts(self, m: Module) -> None:
        """Count the products."""
        self.count = Signal(min(len(self.exponent), COUNTER_BITS))
        with m.If(self.start | self.wipe):
            m.d.sync += self.count.eq(0)

    def add_states(self, m: Module, product: wiring.Component) -> None:
        """Multiply until the count is E."""
        with m.State("POWER"):
            with m.If(self.count == self.exponent):
                self.end(m)
            with m.Else():
                self.multiply(m)
                with m.If(self.ready):
                    m.d.sync += [self.c.eq(product.result), self.count.eq(self.count + 1)]


class BitScanner(wiring.Component):
    """The bits of an exponent, the lowest first.

    They come out of a flip-flop, so that the exponent's multiplexer is not on a product's path.

    Parameters
    ----------
    bits, length_bits (int): of the exponent, and of its length

    Members
    -------
    start : the lowest bit comes in the next cycle
    step : the bit after it comes in the next cycle
    exponent, length : E, and its length in bits
    bit, last : the bit, and whether it is the highest
    """

    def __init__(self, bits: int, length_bits: int):
        ports = {
            **dict.fromkeys(("start", "step"), In(1)),
            "exponent": In(bits),
            "length": In(length_bits),
            **dict.fromkeys(("bit", "last"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Look the next bit up."""
        m = Module()
        index, index_next = Signal.like(self.length), Signal.like(self.length)
        m.d.comb += index_next.eq(Mux(self.start, 0, index + self.step))
        m.d.sync += [
            index.eq(index_next),
            self.bit.eq(self.exponent.bit_select(index_next, 1)),
            self.last.eq(self.length == index_next + 1),
        ]
        return m


class RightToLeft(RegisterExponentiator):
    """Algorithm 5: for each bit of E from the lowest, C = C * X where it is 1, and X = X * X."""

    def add_parts(self, m: Module) -> None:
        """Scan the exponent."""
        m.submodules.scanner = scanner = BitScanner(len(self.exponent), len(self.length))
        self.scanner = scanner
        m.d.comb += same_named(scanner, self, "start", "exponent", "length")


class OnTwo(RightToLeft):
    """Product and square in parallel: a product's cycles for each bit."""

    def add_parts(self, m: Module) -> None:
        """The squarer."""
        super().add_parts(m)
        m.submodules.square = self.square = make_square(self.arithmetic)
        m.d.comb += [
            self.square.x.eq(self.x[: self.arithmetic.bits]),
            self.scanner.step.eq(self.ready),
        ]

    def add_states(self, m: Module, product: wiring.Component) -> None:
        """One state for each bit."""
        scanner = self.scanner
        with m.State("POWER"):
            m.d.comb += [
                self.running.eq(1),
                self.multiplying.eq(Mux(self.elapsed == 0, scanner.bit + Const(1), 0)),
            ]
            with m.If(self.ready):
                with m.If(scanner.bit):
                    m.d.sync += self.c.eq(product.result)
                m.d.sync += self.x.eq(self.square.result)
                with m.If(scanner.last):
                    self.end(m)


class OnOne(RightToLeft):
    """Product, then square, a cycle later; no product for a 0, no square after the last product.

    The cycles of a bit are `phases`, however many registers a product has: it enters the multiplier
    in phase 0, where a 1 begins, and the square in phase 1, where a 0 begins.
    """

    def add_parts(self, m: Module) -> None:
        """The phase; which one a bit begins with is known in the bit's first cycle."""
        super().add_parts(m)
        self.begins, self.phase = Signal(), Signal(range(self.arithmetic.stages + 2))
        self.following = Signal.like(self.phase)
        m.d.comb += self.phase.eq(Mux(self.begins, ~self.scanner.bit, self.following))
        with m.If(self.start):
            m.d.sync += self.begins.eq(1)

    def add_states(self, m: Module, product: wiring.Component) -> None:
        """One state for all phases of a bit; none of them counts as `running`."""
        scanner, phase, stages = self.scanner, self.phase, self.arithmetic.stages
        with m.State("POWER"):
            m.d.sync += [self.begins.eq(0), self.following.eq(phase + 1)]
            m.d.comb += self.multiplying.eq(
                (phase == 0) | (phase == 1) & ~(scanner.last & scanner.bit)
            )
            with m.If(phase == 1):
                m.d.comb += product.x.eq(self.x[: self.arithmetic.bits])
            with m.If((phase == stages) & scanner.bit):
                m.d.sync += self.c.eq(product.result)
                with m.If(scanner.last):
                    self.end(m)
            with m.If(phase == stages + 1):
                m.d.sync += [self.x.eq(product.result), self.begins.eq(1)]
                m.d.comb += scanner.step.eq(1)
                with m.If(scanner.last):
                    self.end(m)


class WindowScanner(wiring.Component):
    """The windows of an exponent, the highest first: what each round does.

    A round takes bits of E, with a square for each, and may multiply after the last of them. What
    it does is known from the W bits ahead in its first square, and kept for the others.

    Parameters
    ----------
    bits, length_bits (int): of the exponent, and of its length

    Members
    -------
    start : the first round begins in the next cycle
    step : a square ends
    wipe : clears what is kept
    exponent, length : E, and its length in bits
    left : bits that are not taken yet
    begins : the square under way is the round's first
    ends, multiplies : it is the round's last, and there is a product after it
    entry : T_entry is its factor; from the cycle after `step` on
    """

    def __init__(self, exponentiation: RegisterExponentiation, bits: int, length_bits: int):
        self.exponentiation = exponentiation
        self.window = window = exponentiation.window_bits
        ports = {
            **dict.fromkeys(("start", "step", "wipe"), In(1)),
            "exponent": In(bits),
            "length": In(length_bits),
            "left": Out(range(bits + window)),
            **dict.fromkeys(("begins", "ends", "multiplies"), Out(1)),
            "entry": Out(window),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count the bits, look the bits ahead up, and decode them."""
        m = Module()
        window = self.window
        left_next = Signal.like(self.left)
        ahead = Signal(window)  # of the bits left the W highest, and zeros after the last
        highest: Value = self.length
        if self.exponentiation.aligned and window > 1:
            highest = ((self.length + (window - 1)) // window) * window
        m.d.comb += left_next.eq(Mux(self.start, highest, self.left - self.step))
        padded = Cat(Const(0, window), self.exponent, Const(0, window))
        m.d.sync += [self.left.eq(left_next), ahead.eq(padded.bit_select(left_next, window))]

        takes, entry = Signal(range(window + 1)), Signal(window)
        kept_takes, kept_multiplies = Signal.like(takes), Signal()
        for signal, new, kept in zip(
            (takes, self.multiplies, entry),
            self._decoded(ahead),
            (kept_takes, kept_multiplies, self.entry),
            strict=True,
        ):
            m.d.comb += signal.eq(Mux(self.begins, new, kept))
        m.d.comb += self.ends.eq(takes == 1)
        with m.If(self.step):
            m.d.sync += [
                kept_takes.eq(takes - 1),
                kept_multiplies.eq(self.multiplies),
                self.entry.eq(entry),
                self.begins.eq(self.ends),
            ]
        with m.If(self.start):
            m.d.sync += self.begins.eq(1)
        with m.If(self.wipe):
            m.d.sync += [kept_takes.eq(0), kept_multiplies.eq(0), self.entry.eq(0)]
        return m

    def _decoded(self, ahead: Value) -> tuple[Value, Value, Value]:
        """Bits that a round takes, whether it multiplies, and by which entry."""
        window, which = self.window, self.exponentiation.which
        if which is Exponentiator.FIXED_WINDOW:
            return Const(window), Const(1), ahead
        if which is not Exponentiator.SLIDING_WINDOW:
            return Const(window), ahead.any(), ahead
        takes, multiplies, entry = Const(1), Const(0), ahead
        for zeros in reversed(range(window)):  # the lowest 1 wins
            ends = ahead[-1] & ahead[zeros]
            takes = Mux(ends, window - zeros, takes)
            multiplies = Mux(ends, Const(1), multiplies)
            entry = Mux(ends, ahead >> zeros, entry)
        return takes, multiplies, entry


class PowerTable(wiring.Component):
    """Powers of X: entry k of the table is X^k.

    Members
    -------
    start : T_1 becomes `x`
    store_one : T_0 becomes 1
    store : the next of the products becomes `product`
    wipe : the words become 0, one in each cycle
    first, last : the product to be made is X^2, or the last
    fetch_square : `power` is T_2
    entry, power : T_entry, in the same cycle
    """

    def __init__(self, exponentiation: RegisterExponentiation, x_bits: int):
        self.exponentiation = exponentiation
        bits = exponentiation.arithmetic.bits
        self.memory = Memory(shape=bits, depth=exponentiation.table_words, init=[])
        ports = {
            "start": In(1),
            "x": In(x_bits),
            **dict.fromkeys(("store_one", "store"), In(1)),
            "product": In(bits),
            "wipe": In(1),
            **dict.fromkeys(("first", "last"), Out(1)),
            "fetch_square": In(1),
            "entry": In(exponentiation.window),
            "power": Out(bits),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """The memory, and which entry is made."""
        m = Module()
        m.submodules.memory = table = self.memory
        store, fetch = table.write_port(), table.read_port(domain="comb")
        m.d.comb += [fetch.addr.eq(self.entry), self.power.eq(fetch.data)]
        with m.If(self.fetch_square):
            m.d.comb += fetch.addr.eq(2)
        cleared = Signal(self.exponentiation.window)
        m.d.sync += cleared.eq(Mux(self.wipe, cleared + 1, 0))
        with m.If(self.wipe):
            m.d.comb += [store.addr.eq(cleared), store.en.eq(1)]
        with m.Elif(self.start):
            m.d.comb += [store.addr.eq(1), store.data.eq(self.x), store.en.eq(1)]
        with m.Elif(self.store_one):
            m.d.comb += [store.addr.eq(0), store.data.eq(1), store.en.eq(1)]
        made = self.exponentiation.precomputed
        if made:
            making = Signal(self.exponentiation.window)
            m.d.comb += [self.first.eq(making == made[0]), self.last.eq(making == made[-1])]
            step: Value = Const(1)
            if self.exponentiation.which is Exponentiator.SLIDING_WINDOW:
                step = Mux(self.first, 1, 2)  # after X^2 odd powers only
            with m.If(self.start):
                m.d.sync += making.eq(made[0])
            with m.If(self.store):
                m.d.comb += [store.addr.eq(making), store.data.eq(self.product), store.en.eq(1)]
                m.d.sync += making.eq(making + step)
        return m


class LeftToRight(RegisterExponentiator):
    """Algorithms 4, 7 and 8: E from its highest bit, or window of W bits.

    ========== ===================================================================================
    state      what happens
    ========== ===================================================================================
    TABLE      an entry of the table with each product, if there is a table
    SQUARE     C = C * C, as often as bits are taken
    MULTIPLY   C = C * X, or C * T_entry
    ========== ===================================================================================
    """

    @property
    def first_state(self) -> str:
        """TABLE where there are products to be made for it."""
        return "TABLE" if self.exponentiation.precomputed else "SQUARE"

    @property
    def first_c(self) -> Value:
        """X, the first factor of the table's products."""
        return self.x if self.exponentiation.precomputed else Const(1)

    def add_parts(self, m: Module) -> None:
        """Scan the exponent; add the table, if there is one."""
        exponentiation = self.exponentiation
        m.submodules.scanner = scanner = WindowScanner(
            exponentiation, len(self.exponent), len(self.length)
        )
        self.scanner = scanner
        m.d.comb += same_named(scanner, self, "start", "wipe", "exponent", "length")
        if exponentiation.table_words:
            m.submodules.table = self.table = table = PowerTable(exponentiation, len(self.x))
            m.d.comb += [
                *same_named(table, self, "start", "x", "wipe"),
                # Only a fixed window needs T_0, and not before the end of a square.
                table.store_one.eq(scanner.begins & self.running),
                table.entry.eq(scanner.entry),
            ]

    def add_states(self, m: Module, product: wiring.Component) -> None:
        """Table, squares, product."""
        scanner, exponentiation = self.scanner, self.exponentiation
        if exponentiation.precomputed:
            with m.State("TABLE"):
                self._add_entry(m, product)
        with m.State("SQUARE"):
            self.multiply(m)
            m.d.comb += [product.y.eq(self.c), scanner.step.eq(self.ready)]
            with m.If(self.ready):
                m.d.sync += self.c.eq(product.result)
                with m.If(scanner.ends & scanner.multiplies):
                    m.next = "MULTIPLY"
                with m.Elif(scanner.left == 1):
                    self.end(m)
        with m.State("MULTIPLY"):
            self.multiply(m)
            if exponentiation.table_words:
                m.d.comb += product.y.eq(self.table.power)
            with m.If(self.ready):
                m.d.sync += self.c.eq(product.result)
                m.next = "SQUARE"
                with m.If(scanner.left == 0):
                    self.end(m)

    def _add_entry(self, m: Module, product: wiring.Component) -> None:
        """Make an entry of the table; after the last one C is 1."""
        table = self.table
        self.multiply(m)
        keeps: Value = Const(1)
        if self.exponentiation.which is Exponentiator.SLIDING_WINDOW:
            # T_2 = X * X with C = X; then C = C * T_2 is the next odd power.
            keeps = ~table.first
            with m.If(keeps):
                m.d.comb += [table.fetch_square.eq(1), product.y.eq(table.power)]
        m.d.comb += [table.product.eq(product.result), table.store.eq(self.ready)]
        with m.If(self.ready):
            with m.If(keeps):
                m.d.sync += self.c.eq(product.result)
            with m.If(table.last):
                m.d.sync += self.c.eq(1)
                m.next = "SQUARE"


def register_exponentiator(
    exponentiation: RegisterExponentiation, digits: int, digit_width: int
) -> RegisterExponentiator:
    """Make the exponentiator for X and E of `digits` digits."""
    kinds: dict[Exponentiator, type[RegisterExponentiator]] = {
        Exponentiator.LEFT_TO_RIGHT: LeftToRight,
        Exponentiator.RIGHT_TO_LEFT: OnTwo if exponentiation.multipliers == 2 else OnOne,
        Exponentiator.M_ARY: LeftToRight,
        Exponentiator.FIXED_WINDOW: LeftToRight,
        Exponentiator.SLIDING_WINDOW: LeftToRight,
        Exponentiator.REPEATED: Repeated,
    }
    return kinds[exponentiation.which](exponentiation, digits, digit_width)
