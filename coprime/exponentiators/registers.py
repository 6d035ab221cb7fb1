"""Exponentiators in registers, around a product that takes one cycle: for a fixed modulus.

Source: COMPRESSION (Vassoler 2023), section 2.3, Algorithms 3, 4, 5, 7 and 8, and section 4.2.1,
figures 16 and 17. What differs:

* Of two multipliers the second one is a squarer (`ModularSquare`), the thesis's first open point.
* A product may have s registers on its way, and takes s + 1 cycles then.
* There are exponentiators with windows, the thesis's second open point.

Each is a class with its states, and with functions that count its cycles and products.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.multipliers.fixed_modulus import FixedModulus
from coprime.program.steps import COUNTER_BITS

from .names import Exponentiator

__all__ = ["RegisterExponentiator", "check_multipliers", "register_exponentiator"]


class RegisterExponentiator(wiring.Component):
    """X ^ E mod m, or X * Y mod m, with all numbers in registers.

    C is the intermediate result, below c * m, and the result, below m, in the end. It stays until
    the next start. X is a register too; its squares may take its place, so that it must be written
    again before each start.

    Parameters
    ----------
    arithmetic : FixedModulus
    digits, digit_width : int
        Of X and E as they are written and given.

    Members
    -------
    write : X's digit `index` becomes `digit`; not while busy
    start : the next cycle is the first; `single` and what follows hold until `done`
    single : one product, of X and `y`
    y : below m
    exponent, length : E, and its length in bits; nothing above that is 1
    wipe : clears all registers, and a word of the table with each cycle in which it is 1: `table`
        cycles, and `stages` + 1 for what is on its way in a product
    x, c : the registers
    done : 1 in the last cycle
    multiplying : products that enter a multiplier in this cycle, and that are needed
    """

    which: Exponentiator
    multipliers = 1

    def __init__(self, arithmetic: FixedModulus, digits: int, digit_width: int):
        self.arithmetic = arithmetic
        self.digits = digits
        self.digit_width = digit_width
        bits, held = arithmetic.bits, digits * digit_width
        super().__init__(
            {
                "write": In(1),
                "index": In(bits_for(digits + 1)),
                "digit": In(digit_width),
                "start": In(1),
                "single": In(1),
                "y": In(bits),
                "exponent": In(held),
                "length": In(bits_for(held)),
                "wipe": In(1),
                "x": Out(max(held, bits)),
                "c": Out(bits),
                "done": Out(1),
                "multiplying": Out(bits_for(self.multipliers)),
            }
        )
        # A product's factors stand still while `running`; it is there in the last cycle, `ready`.
        self.running = Signal()
        self.ready = Signal()
        self.elapsed = Signal(range(self.each + 1))

    @property
    def each(self) -> int:
        """Cycles of a product."""
        return self.arithmetic.stages + 1

    @property
    def table(self) -> int:
        """Words of the table of powers of X."""
        return 0

    def cycles(self, e: int, length: int) -> int:
        """Cycles of X ^ e from the first to `done`, for an exponent told to have `length` bits."""
        return self._power(e, length)[0] + self.arithmetic.corrects

    def products(self, e: int, length: int) -> int:
        """Products that it needs."""
        return self._power(e, length)[1]

    @property
    def single_cycles(self) -> int:
        """Cycles of one product from the first to `done`."""
        return self.each + self.arithmetic.corrects

    @abstractmethod
    def _power(self, e: int, length: int) -> tuple[int, int]:
        """Cycles without the correction, and products."""

    @abstractmethod
    def _power_hardware(self, m: Module, product: wiring.Component) -> Callable[[], None]:
        """Add what stands beside the states of a power, and give what adds the states themselves.

        The product is that of C and X, unless a state says otherwise.
        """

    @property
    def _first(self) -> tuple[str, Value]:
        """The first of these states, and what C is then."""
        return "POWER", Const(1)

    def _end(self, m: Module) -> None:
        """Go on after the last product, in whose last cycle this is."""
        if self.arithmetic.corrects:
            m.next = "CORRECT"
        else:
            m.d.comb += self.done.eq(1)
            m.next = "IDLE"

    def elaborate(self, platform: object) -> Module:
        """Registers, the product, and the states before and behind those of the products."""
        m = Module()
        m.submodules.product = product = self.arithmetic.product()
        width = self.digit_width
        m.d.comb += [product.x.eq(self.c), product.y.eq(self.x[: self.arithmetic.bits])]
        m.d.comb += self.ready.eq(self.running & (self.elapsed == self.each - 1))
        with m.If(self.running):
            m.d.sync += self.elapsed.eq(Mux(self.ready, 0, self.elapsed + 1))
        add_states = self._power_hardware(m, product)
        with m.FSM():
            with m.State("IDLE"), m.If(self.start):
                state, c = self._first
                m.d.sync += self.c.eq(Mux(self.single, self.y, c))
                m.next = state
                with m.If(self.single):
                    m.next = "SINGLE"
            with m.State("SINGLE"):
                m.d.comb += [self.running.eq(1), self.multiplying.eq(self.elapsed == 0)]
                with m.If(self.ready):
                    m.d.sync += self.c.eq(product.result)
                    self._end(m)
            add_states()
            if self.arithmetic.corrects:
                with m.State("CORRECT"):
                    m.submodules.reduction = reduction = self.arithmetic.reduction()
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


class _Repeated(RegisterExponentiator):
    """Algorithm 3: C = C * X, as often as E tells. A comparison more, of the count with E.

    E has COUNTER_BITS bits at the most, as on the lanes.
    """

    which = Exponentiator.REPEATED

    def _power(self, e: int, length: int) -> tuple[int, int]:
        return e * self.each + 1, e

    def _power_hardware(self, m: Module, product: wiring.Component) -> Callable[[], None]:
        count = Signal(min(len(self.exponent), COUNTER_BITS))
        with m.If(self.start | self.wipe):
            m.d.sync += count.eq(0)

        def add_states() -> None:
            with m.State("POWER"):
                with m.If(count == self.exponent):
                    self._end(m)
                with m.Else():
                    m.d.comb += [self.running.eq(1), self.multiplying.eq(self.elapsed == 0)]
                    with m.If(self.ready):
                        m.d.sync += [self.c.eq(product.result), count.eq(count + 1)]

        return add_states


class _RightToLeft(RegisterExponentiator):
    """Algorithm 5: E from its lowest bit; `bit` is the one that is worked on, `last` the last.

    The bit of the next cycle comes out of a flip-flop, so that E's multiplexer is not on the way of
    a product.
    """

    which = Exponentiator.RIGHT_TO_LEFT

    def _scan(self, m: Module, following: Value) -> tuple[Signal, Signal]:
        """`bit` and `last`, which go on to the next bit where `following` is 1."""
        index, index_next = Signal.like(self.length), Signal.like(self.length)
        bit, last = Signal(), Signal()
        m.d.comb += index_next.eq(Mux(self.start, 0, index + following))
        m.d.sync += [
            index.eq(index_next),
            bit.eq(self.exponent.bit_select(index_next, 1)),
            last.eq(self.length == index_next + 1),
        ]
        return bit, last


class _OnTwo(_RightToLeft):
    """A cycle for each bit: C = C * X where it is 1, and X = X * X."""

    multipliers = 2

    def _power(self, e: int, length: int) -> tuple[int, int]:
        return length * self.each, length + e.bit_count()

    def _power_hardware(self, m: Module, product: wiring.Component) -> Callable[[], None]:
        m.submodules.square = square = self.arithmetic.square()
        bit, last = self._scan(m, self.ready)
        m.d.comb += square.x.eq(self.x[: self.arithmetic.bits])

        def add_states() -> None:
            with m.State("POWER"):
                m.d.comb += [
                    self.running.eq(1),
                    self.multiplying.eq(Mux(self.elapsed == 0, bit + Const(1), 0)),
                ]
                with m.If(self.ready):
                    with m.If(bit):
                        m.d.sync += self.c.eq(product.result)
                    m.d.sync += self.x.eq(square.result)
                    with m.If(last):
                        self._end(m)

        return add_states


class _OnOne(_RightToLeft):
    """Two cycles for a 1, one for a 0: C = C * X, X = X * X; no square after the last product.

    A square enters the multiplier a cycle after its product, whatever registers are on their way:
    `phase` 0 is that of the product, which a 0 leaves out.
    """

    def _power(self, e: int, length: int) -> tuple[int, int]:
        below = (e & ~(1 << length - 1)).bit_count()
        return length * self.each + below, length + below

    def _power_hardware(self, m: Module, product: wiring.Component) -> Callable[[], None]:
        stages = self.arithmetic.stages
        phase = Signal(range(stages + 2))
        following = Signal()
        bit, last = self._scan(m, following)
        # Which phase a bit begins with is known when the bit is: in its first cycle.
        begins, now = Signal(), Signal.like(phase)
        m.d.comb += now.eq(Mux(begins, ~bit, phase))
        with m.If(self.start):
            m.d.sync += begins.eq(1)

        def add_states() -> None:
            with m.State("POWER"):
                m.d.sync += [begins.eq(0), phase.eq(now + 1)]
                m.d.comb += self.multiplying.eq((now == 0) | (now == 1) & ~(last & bit))
                with m.If(now == 1):
                    m.d.comb += product.x.eq(self.x[: self.arithmetic.bits])
                with m.If((now == stages) & bit):
                    m.d.sync += self.c.eq(product.result)
                    with m.If(last):
                        self._end(m)
                with m.If(now == stages + 1):
                    m.d.sync += [self.x.eq(product.result), begins.eq(1)]
                    m.d.comb += following.eq(1)
                    with m.If(last):
                        self._end(m)

        return add_states


class _LeftToRight(RegisterExponentiator):
    """Algorithms 4, 7 and 8: E from its highest bit, or window of W bits.

    `left` bits are to come; `ahead` are the W highest of these, with zeros below the last one.

    ========== ===================================================================================
    state      what happens
    ========== ===================================================================================
    TABLE      an entry of the table with each product, if there is a table
    SQUARE     C = C * C, as often as bits are taken
    MULTIPLY   C = C * X, or C * T_entry
    ========== ===================================================================================
    """

    def __init__(
        self, which: Exponentiator, window: int, arithmetic: FixedModulus, digits: int, width: int
    ):
        self.which = which
        self.window = window if which.has_window else 1
        super().__init__(arithmetic, digits, width)

    @property
    def table(self) -> int:
        """Words of the table: powers of X up to 2^W - 1; of sliding windows only X^2 and odd ones
        are used."""
        return 1 << self.window if self.which.has_window else 0

    # --- Which products, in integers ------------------------------------------------------------

    def _precomputed(self) -> list[int]:
        """Entries of the table that are products, in their order."""
        if not self.which.has_window:
            return []
        if self.which is Exponentiator.SLIDING_WINDOW:
            return [2, *range(3, self.table, 2)] if self.window > 1 else []
        return list(range(2, self.table))

    def _taken(self, e: int, length: int) -> Iterator[tuple[int, bool]]:
        """Bits that each round takes, and whether it multiplies after as many squares."""
        window = self.window
        left = -(-length // window) * window if self._aligned else length
        while left:
            ahead = (e << window) >> left & (1 << window) - 1
            taken, multiplies = window, True
            if self.which is Exponentiator.SLIDING_WINDOW:
                multiplies = bool(ahead >> window - 1)
                taken = window + 1 - (ahead & -ahead).bit_length() if multiplies else 1
            elif self.which is not Exponentiator.FIXED_WINDOW:
                multiplies = ahead != 0
            left -= taken
            yield taken, multiplies

    @property
    def _aligned(self) -> bool:
        """Whether windows begin at multiples of W."""
        return self.which is not Exponentiator.SLIDING_WINDOW

    def _power(self, e: int, length: int) -> tuple[int, int]:
        count = len(self._precomputed())
        count += sum(taken + multiplies for taken, multiplies in self._taken(e, length))
        return count * self.each, count

    # --- Hardware -------------------------------------------------------------------------------

    @property
    def _first(self) -> tuple[str, Value]:
        return ("TABLE", self.x) if self._precomputed() else ("SQUARE", Const(1))

    def _power_hardware(self, m: Module, product: wiring.Component) -> Callable[[], None]:
        window = self.window
        running, ready = self.running, self.ready

        # --- The exponent -----------------------------------------------------------------------
        held = len(self.exponent)
        left, left_next = Signal(range(held + window)), Signal(range(held + window))
        ahead = Signal(window)
        squared = Signal()
        highest: Value = self.length
        if self._aligned and window > 1:
            highest = ((self.length + (window - 1)) // window) * window
        m.d.comb += left_next.eq(Mux(self.start, highest, left - squared))
        padded = Cat(Const(0, window), self.exponent, Const(0, window))
        m.d.sync += [left.eq(left_next), ahead.eq(padded.bit_select(left_next, window))]

        # --- What a round does: told by `ahead` in its first square, kept for the others --------
        begins = Signal()
        round_ = [Signal(range(window + 1)), Signal(), Signal(window)]
        takes, multiplies, entry = round_
        kept = [Signal.like(one) for one in round_]
        told: list[Value] = [Const(window), ahead.any(), ahead]
        if self.which is Exponentiator.FIXED_WINDOW:
            told[1] = Const(1)
        elif self.which is Exponentiator.SLIDING_WINDOW:
            told = [Const(1), Const(0), ahead]
            for zeros in reversed(range(window)):  # the lowest 1 wins
                choice = (Const(window - zeros), Const(1), ahead >> zeros)
                ends = ahead[-1] & ahead[zeros]
                told = [Mux(ends, new, old) for new, old in zip(choice, told, strict=True)]
        for one, new, old in zip(round_, told, kept, strict=True):
            m.d.comb += one.eq(Mux(begins, new, old))
        with m.If(self.start):
            m.d.sync += begins.eq(1)

        add_table = self._table_hardware(m, product, kept[2], begins)
        with m.If(self.wipe):
            m.d.sync += [one.eq(0) for one in kept]

        def add_states() -> None:
            if add_table is not None:
                add_table()
            with m.State("SQUARE"):
                m.d.comb += [
                    running.eq(1),
                    self.multiplying.eq(self.elapsed == 0),
                    product.y.eq(self.c),
                    squared.eq(ready),
                ]
                with m.If(ready):
                    m.d.sync += [
                        self.c.eq(product.result),
                        kept[0].eq(takes - 1),
                        kept[1].eq(multiplies),
                        kept[2].eq(entry),
                        begins.eq(takes == 1),
                    ]
                    with m.If((takes == 1) & multiplies):
                        m.next = "MULTIPLY"
                    with m.Elif(left == 1):
                        self._end(m)
            with m.State("MULTIPLY"):
                m.d.comb += [running.eq(1), self.multiplying.eq(self.elapsed == 0)]
                if self.table:
                    m.d.comb += product.y.eq(self.power)
                with m.If(ready):
                    m.d.sync += self.c.eq(product.result)
                    m.next = "SQUARE"
                    with m.If(left == 0):
                        self._end(m)

        return add_states

    def _table_hardware(
        self, m: Module, product: wiring.Component, entry: Signal, begins: Signal
    ) -> Callable[[], None] | None:
        """Add the table, if there is one, with `power` = T_entry; give what adds its state."""
        if not self.table:
            return None
        m.submodules.table = table = Memory(shape=self.arithmetic.bits, depth=self.table, init=[])
        self.memory = table
        store, fetch = table.write_port(), table.read_port(domain="comb")
        self.power = fetch.data
        m.d.comb += fetch.addr.eq(entry)
        cleared = Signal(self.window)
        m.d.sync += cleared.eq(Mux(self.wipe, cleared + 1, 0))
        with m.If(self.wipe):
            m.d.comb += [store.addr.eq(cleared), store.en.eq(1)]
        with m.Elif(self.start):
            m.d.comb += [store.addr.eq(1), store.data.eq(self.x), store.en.eq(1)]
        with m.Elif(begins & self.running):
            # Of T_0 only a fixed window knows, and not before the end of a square.
            m.d.comb += [store.addr.eq(0), store.data.eq(1), store.en.eq(1)]
        made = self._precomputed()
        if not made:
            return None
        making = Signal(self.window)
        with m.If(self.start):
            m.d.sync += making.eq(made[0])

        def add_state() -> None:
            with m.State("TABLE"):
                m.d.comb += [self.running.eq(1), self.multiplying.eq(self.elapsed == 0)]
                keeps: Value = Const(1)
                step: Value = Const(1)
                if self.which is Exponentiator.SLIDING_WINDOW:
                    # T_2 = X * X with C = X; then C = C * T_2 is the next odd power.
                    first = making == 2
                    keeps, step = ~first, Mux(first, 1, 2)
                    with m.If(~first):
                        m.d.comb += [fetch.addr.eq(2), product.y.eq(self.power)]
                with m.If(self.ready):
                    m.d.comb += [
                        store.addr.eq(making),
                        store.data.eq(product.result),
                        store.en.eq(1),
                    ]
                    m.d.sync += making.eq(making + step)
                    with m.If(keeps):
                        m.d.sync += self.c.eq(product.result)
                    with m.If(making == made[-1]):
                        m.d.sync += self.c.eq(1)
                        m.next = "SQUARE"

        return add_state


def check_multipliers(which: Exponentiator, multipliers: int) -> None:
    """Raise ValueError where the second one of two multipliers would have nothing to do."""
    if multipliers == 2 and which is not Exponentiator.RIGHT_TO_LEFT:
        raise ValueError(
            f"two multipliers work right to left only, not {which.value}: set multipliers=1"
        )


def register_exponentiator(
    which: Exponentiator,
    arithmetic: FixedModulus,
    *,
    multipliers: int,
    window: int,
    digits: int,
    digit_width: int,
) -> RegisterExponentiator:
    """Make an exponentiator.

    Parameters
    ----------
    which : Exponentiator
    arithmetic : FixedModulus
    multipliers : int
        1, or 2, which only right to left has work for.
    window : int
        Bits of a window, 1 to 4; without meaning where there is none.
    digits, digit_width : int
        Of the operands.

    Raises
    ------
    ValueError
        Two multipliers with another exponentiator, or a window out of range.
    """
    check_multipliers(which, multipliers)
    if which.has_window and window not in range(1, 5):
        raise ValueError(f"window must be 1 to 4, not {window}")
    if which is Exponentiator.REPEATED:
        return _Repeated(arithmetic, digits, digit_width)
    if which is Exponentiator.RIGHT_TO_LEFT:
        return (_OnTwo if multipliers == 2 else _OnOne)(arithmetic, digits, digit_width)
    return _LeftToRight(which, window, arithmetic, digits, digit_width)
