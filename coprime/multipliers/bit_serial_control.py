"""The control of multipliers that scan one bit of X a round: words, rounds, passes, states.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler, "Efficient Hardware Architectures for Modular
Multiplication on FPGAs" (2005). Its state machine is Idle, Loading, Loading complete/Starting,
Running, Finished.

D is the number of words, N that of a register's bits.
"""

from abc import abstractmethod

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.wires import same_named

from .bit_serial import BitSerialMultiplier
from .contract import Role
from .delays import delays, past
from .multiplication import READ_LATENCY
from .one_hot import OneHot


class OperandReader(wiring.Component):
    """Asks for the words of an operand, one a cycle, and counts those of the result.

    Parameters
    ----------
    words : D, 1 to 4096
    count_bits : bits of a digit count
    aligned : operands are at the upper end of their digits

    Members
    -------
    read (in): asks for word 0 in the next cycle, and for all others after it
    written (in): a word of the result is written; its index follows until `written` is 0
    inner_digits (in): digits of the operand, valid in the cycle of `read` or the first `written`
    asking, last (out): a word is asked for; it is the last one
    index (`count_bits` + 1 bits, out): digit of the operand or of the result; of an aligned operand
        with fewer words than D it starts below zero
    exists (out): the operand has this digit
    """

    def __init__(self, words: int, count_bits: int, *, aligned: bool):
        self.words, self.aligned = words, aligned
        ports = {
            **dict.fromkeys(("read", "written"), In(1)),
            "inner_digits": In(count_bits),
            **dict.fromkeys(("asking", "last"), Out(1)),
            "index": Out(count_bits + 1),
            "exists": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count words."""
        m = Module()
        words, index = self.words, self.index
        asked = Signal(range(words))
        m.d.comb += self.last.eq(asked == words - 1)
        with m.If(self.read):
            m.d.sync += [self.asking.eq(1), asked.eq(0)]
        with m.Elif(self.asking):
            m.d.sync += [self.asking.eq(~self.last), asked.eq(asked + 1)]
        with m.If(self.asking | self.written):
            m.d.sync += index.eq(index + 1)
        with m.Else():
            m.d.sync += index.eq(self.inner_digits - words if self.aligned else 0)
        m.d.comb += self.exists.eq(~index[-1] if self.aligned else index < self.inner_digits)
        return m


class MultiplierScanner(wiring.Component):
    """Asks for the words of X, and brings their bits, one a cycle.

    From the lowest bit up, or of an `aligned` operand from the highest bit down.

    Members
    -------
    scan (in): 1 from the first word's request to the last bit
    outer_digits (in): digits of X
    ask, index (out): a word is asked for; its digit
    here, word (in): the word that was asked for is `word`
    forget (in): clears the word
    bit (out): the next bit: of a word that is `here`, or of what is left of it
    rest (`digit_width` bits): bits of the word that are still to come
    """

    def __init__(self, digit_width: int, count_bits: int, *, aligned: bool):
        self.digit_width, self.aligned = digit_width, aligned
        self.rest = Signal(digit_width)
        ports = {
            "scan": In(1),
            "outer_digits": In(count_bits),
            "ask": Out(1),
            "index": Out(count_bits),
            "here": In(1),
            "word": In(digit_width),
            "forget": In(1),
            "bit": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count the bits of a word, and shift it."""
        m = Module()
        width, index, aligned = self.digit_width, self.index, self.aligned
        phase = Signal(range(width))
        m.d.sync += phase.eq(0)
        m.d.comb += self.ask.eq(self.scan & (phase == 0))
        with m.If(~self.scan):
            m.d.sync += index.eq(self.outer_digits - 1 if aligned else 0)
        with m.Else():
            with m.If(phase != width - 1):
                m.d.sync += phase.eq(phase + 1)
            with m.If(self.ask):
                m.d.sync += index.eq(index - 1 if aligned else index + 1)
        bits = Signal(width)
        m.d.comb += [
            bits.eq(Mux(self.here, self.word[::-1] if aligned else self.word, self.rest)),
            self.bit.eq(bits[0]),
        ]
        m.d.sync += self.rest.eq(bits[1:])
        with m.If(self.forget):
            m.d.sync += self.rest.eq(0)
        return m


class RoundCounter(wiring.Component):
    """Counts the rounds down.

    The count is ahead of the rounds, and its sign is delayed, so that the state machine and the bit
    of X each have what they need from a flip-flop.

    Members
    -------
    begins (in): the lengths hold: takes `rounds`
    counts (in): in the cycle before STARTING, in STARTING and in RUNNING
    rounds (in)
    last_chosen (out): the bit of X that is chosen is the last round's
    last (out): the last round
    """

    def __init__(self, round_bits: int):
        ports = {
            **dict.fromkeys(("begins", "counts"), In(1)),
            "rounds": In(round_bits),
            **dict.fromkeys(("last_chosen", "last"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count below zero."""
        m = Module()
        left = Signal(len(self.rounds) + 1)
        last_selected = Signal()
        with m.If(self.begins):
            m.d.sync += left.eq(self.rounds - 2)
        with m.If(self.counts):
            m.d.sync += left.eq(left - 1)
        m.d.comb += self.last_chosen.eq(left[-1])
        m.d.sync += [last_selected.eq(left[-1]), self.last.eq(last_selected)]
        return m


class PassCounter(wiring.Component):
    """Counts the cycles of a pass, D + 2, and of MOVE, D.

    Word j of a pass is taken in cycle j < D, added in the next one, and compared with a multiple of
    M in the one after, which determines what the next pass subtracts.

    Members
    -------
    now, next (in): in this cycle there is a pass; in the next one there is
    moving, moving_next (in): the same for MOVE
    cycle (out): j, 0 to D + 1
    passing_next (out): in the next cycle a word of a pass is taken
    first, second, final, closing (out): 1 in cycles 0, 1, D - 1, D + 1 of a pass; `final` also of
        MOVE
    """

    def __init__(self, words: int):
        self.words = words
        ports = {
            **{name: In(1) for name in ("now", "next", "moving", "moving_next")},
            "cycle": Out(range(words + 2)),
            "passing_next": Out(1),
            **{name: Out(1) for name in ("first", "second", "final", "closing")},
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count, with flip-flops for the cycles that matter."""
        m = Module()
        now, j = self.now, self.cycle
        first_next, ending = Signal(), Signal()
        m.d.comb += [
            first_next.eq(self.next & (~now | self.closing)),
            self.passing_next.eq(first_next | (now & ~self.final & ~ending & ~self.closing)),
        ]
        m.d.sync += [
            j.eq(Mux(now & ~self.closing | self.moving & ~self.final, j + 1, 0)),
            self.first.eq(first_next),
            self.second.eq(self.first),
            ending.eq(self.final & now),
            self.closing.eq(ending),
        ]
        if self.words == 1:
            m.d.sync += self.final.eq(first_next | self.moving_next & ~self.moving)
        else:
            m.d.sync += self.final.eq((now | self.moving) & (j == self.words - 2))
        return m


class BitSerialControl(wiring.Component):
    """The state machine, with what reads the operands and scans X.

    Subclasses add states to the paper's Loading, and before WRITING to its Finished.

    ======== =====================================================================================
    state    what happens
    ======== =====================================================================================
    IDLE     S and C are cleared
    LOADING  Y is read, or in a preparation M
    STARTING the first round's selection is computed
    RUNNING  one round a cycle
    WRITING  a pass writes the result
    ======== =====================================================================================

    Parameters
    ----------
    multiplier (BitSerialMultiplier): gives the parameters

    Members
    -------
    those of MultiplierSignature but the data of port B
    word (`digit_width` bits, out): a word of the operand that is read; 0 where it has none
    preparing (out): 1 from LOADING on, in a preparation
    forget (out): clears everything but S, C and the table
    clear_s (out)
    entering_next, passing_next, adding_next (out): 1 before each cycle in which `word` enters a
        register; a pass takes a word; S takes a round's result
    selecting (out): 1 in STARTING and RUNNING
    running (out)
    x_next (out): the bit of X for the next round, where `selecting` is 1
    first, final, closing (out): 1 in cycles 0, D - 1, D + 1 of a pass
    """

    STATES: tuple[str, ...] = ("idle", "loading", "starting", "running", "writing")
    UNUSED: tuple[str, ...] = ("idle",)  # states between products
    PASSES: tuple[str, ...] = ("writing",)  # states that are passes
    FLAGS: tuple[str, ...] = (
        *("preparing", "forget", "clear_s", "selecting", "running", "x_next"),
        *("entering_next", "passing_next", "adding_next", "first", "final", "closing"),
    )

    def __init__(self, multiplier: BitSerialMultiplier):
        self.words = words = multiplier.words
        self.aligned = aligned = multiplier.multiplication.aligned
        self.pass_cycles = multiplier.multiplication.pass_cycles
        self.state = OneHot(self.STATES, "idle")
        self.reader = OperandReader(words, multiplier.count_bits, aligned=aligned)
        self.scanner = MultiplierScanner(
            multiplier.digit_width, multiplier.count_bits, aligned=aligned
        )
        self.rounds_left = RoundCounter(multiplier.round_bits)
        self.passes = PassCounter(words)
        self.role = Signal(Role)
        members = dict(multiplier.signature.members)
        del members["b_data"], members["b_write_data"]
        super().__init__(
            members | {"word": Out(multiplier.digit_width)} | {flag: Out(1) for flag in self.FLAGS}
        )

    def connect(self, m: Module, multiplier: BitSerialMultiplier) -> None:
        """Become a submodule of the multiplier, and serve its ports."""
        m.submodules.control = self
        multiplier.secrets += [self.word, self.scanner.rest]
        for name, member in multiplier.signature.members.items():
            if name in ("b_data", "b_write_data"):
                continue
            inner, outer = getattr(self, name), getattr(multiplier, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)

    def load(self, m: Module, entering: list[Signal], loads_x: Signal) -> None:
        """Add the changes from LOADING: to STARTING, and after a preparation to IDLE.

        `entering` is 1 while a word is asked for, and so many cycles later; `loads_x` in the cycle
        in which X's first word is `word`.
        """
        state, reader = self.state, self.reader
        prepared = self.preparing & entering[-1] & ~entering[-2]
        state.change("loading", "idle", prepared)
        state.change("loading", "starting", loads_x)
        with m.If(state.now["loading"] & ~self.preparing & reader.asking & reader.last):
            m.d.sync += self.scanner.scan.eq(1)

    @abstractmethod
    def finish(self, m: Module, entering: list[Signal]) -> None:
        """Add the changes from RUNNING to IDLE, and when S is added to, cleared and written."""

    def elaborate(self, platform: object) -> Module:
        """Connect the counters, and build the state machine."""
        m = Module()
        m.submodules.reader = reader = self.reader
        m.submodules.scanner = scanner = self.scanner
        m.submodules.rounds_left = self.rounds_left
        m.submodules.passes = passes = self.passes
        state = self.state
        now, coming = state.now, state.next

        # --- Ports A and B, and what comes from A -----------------------------------------------
        # A block RAM's output comes late in the cycle: it is taken before anything is done with it.
        entering = delays(m, reader.asking, READ_LATENCY + 1, reset=True)
        x_here = past(m, scanner.ask, READ_LATENCY + 1, reset=True)
        asked = Signal()
        m.d.comb += [
            reader.inner_digits.eq(self.inner_digits),
            self.a_role.eq(Mux(scanner.ask, Role.MULTIPLIER, self.role)),
            self.a_index.eq(Mux(scanner.ask, scanner.index, reader.index)),
            self.b_index.eq(reader.index),
            self.b_write.eq(reader.written & reader.exists),
            asked.eq(scanner.ask | (reader.asking & reader.exists)),
            self.entering_next.eq(entering[-2]),
        ]
        m.d.sync += self.word.eq(self.a_data)
        with m.If(~past(m, asked, READ_LATENCY, reset=True)):
            m.d.sync += self.word.eq(0)

        begins = Signal()  # the first cycle, from which on the lengths hold
        self._scan(m, begins, x_here)

        # --- Passes -----------------------------------------------------------------------------
        m.d.comb += [
            passes.now.eq(Cat(now[name] for name in self.PASSES).any()),
            passes.next.eq(Cat(coming[name] for name in self.PASSES).any()),
            self.passing_next.eq(passes.passing_next),
            *same_named(self, passes, "first", "final"),
            self.closing.eq(passes.closing),
        ]

        # --- States -----------------------------------------------------------------------------
        for name in self.STATES:
            if name in self.FLAGS:  # `load` or `finish` may say otherwise
                m.d.comb += getattr(self, name).eq(now[name])
        state.change("idle", "loading", ~self.wipe & (self.start | self.prepare))
        self.load(m, entering, x_here)
        state.change("starting", "running")
        self.finish(m, entering)
        state.build(m)
        with m.If(now["idle"]):
            m.d.sync += [
                begins.eq(coming["loading"]),
                self.preparing.eq(~self.start),
                self.role.eq(Mux(self.start, Role.MULTIPLICAND, Role.MODULUS)),
            ]
        # An aligned operand has its first index from its length, which does not hold before.
        with m.If(begins if self.aligned else now["idle"] & coming["loading"]):
            m.d.comb += reader.read.eq(1)
        with m.If(self.ends):
            m.d.sync += [scanner.scan.eq(0), self.role.eq(Role.MODULUS)]
        unused = Cat(now[name] for name in self.UNUSED).any()
        m.d.sync += self.forget.eq(now["idle"] & self.wipe)
        m.d.comb += [self.done.eq(coming["idle"] & ~unused), self.multiplying.eq(now["running"])]
        return m

    def _scan(self, m: Module, begins: Signal, x_here: Value) -> None:
        """Bits of X, and rounds: `begins` is the first cycle; `x_here`: a word of X is there."""
        scanner, rounds_left, coming = self.scanner, self.rounds_left, self.state.next
        m.d.sync += [
            begins.eq(0),
            self.x_next.eq(scanner.bit),
            self.selecting.eq(coming["starting"] | coming["running"]),
        ]
        m.d.comb += [
            scanner.outer_digits.eq(self.outer_digits),
            scanner.here.eq(x_here),
            *same_named(scanner, self, "word", "forget"),
            rounds_left.begins.eq(begins),
            rounds_left.counts.eq(coming["starting"] | self.selecting),
            rounds_left.rounds.eq(self.rounds),
        ]
        with m.If(self.multiplier_is_one):
            # The highest bits of an aligned X come first, so its lowest bit is the last one.
            one = rounds_left.last_chosen if self.aligned else coming["starting"]
            m.d.sync += self.x_next.eq(one)

    @property
    def ends(self) -> Value:
        """The last round."""
        return self.state.now["running"] & self.rounds_left.last
