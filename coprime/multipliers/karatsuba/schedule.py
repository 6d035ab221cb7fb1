"""The schedule of the Karatsuba multiplier: which word is read for which slot."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .multiplication import ASK, KaratsubaMultiplication

NEXT_Y, NEXT_X = 2, 3
"""Slots of the last round in which Y_0 and X_0 of the next product are read, before port B writes
the first word of the result."""


def slot_layout(word_bits: int) -> data.StructLayout:
    """What is known of a slot, with `word_bits` bits of the index of its word.

    begins : X_0 and Y_0 are read, before the first slot
    asks_y : a word of Y is read
    loads_inverse, loads : M', or word `word` of M, is read in a preparation
    has_word : word `word` of X is read, or one of M, in a preparation or in place of X
    first_word : it is word 0
    iteration : it is word 0 in a multiplication: an iteration begins
    opens : it is in the first iteration, or in a preparation
    descaling : it is in a last round modulo M
    next_x, next_y : X_0 or Y_0 is read, of the product that follows
    succeeds : as `iteration`, of a last round that a product follows
    word, turn : index of the word, and of the multiplication that the slot belongs to
    """
    strobes = (
        *("begins", "asks_y", "loads_inverse", "loads", "has_word", "first_word", "iteration"),
        *("opens", "descaling", "turn", "next_x", "next_y", "succeeds"),
    )
    return data.StructLayout({**dict.fromkeys(strobes, 1), "word": word_bits})


def registers(multiplication: KaratsubaMultiplication, name: str, width: int) -> Array:
    """A register of `width` bits for each of the multiplications that take turns."""
    names = [name, f"{name}_other"] if multiplication.interleaved else [name]
    return Array(Signal(width, name=each) for each in names)


class Schedule(wiring.Component):
    """Reads the words of each slot, ASK cycles before they are factors.

    With two multiplications `together`, they take turns: iteration by iteration, and word by word
    before the first one. Where products chain, the last round reads X_0 and Y_0 of the next product
    in slots NEXT_X and NEXT_Y, and after it, without `BEGIN`, comes that product's first round.

    Parameters
    ----------
    max_digits : words of the longest modulus
    count_bits : bits of a digit count
    clear_cycles : cycles of a wipe

    Members
    -------
    start, prepare, wipe, together, descale, inner_digits, outer_digits (in): as in
        MultiplierSignature; `together` comes with `start` and `prepare`
    finished (in): the last slot of the multiplication or preparation has come to its end
    writing (in): port B is taken: a word of Y is read later
    slot (out): the slot whose words are read
    asks (out): it is one of a multiplication, with a word of X; or of M, in a last round modulo M
    y_index (out): index of the word of Y that is read
    closes (out): a word of X is read in the last round
    ends (out): it is the last slot of a multiplication, or of a preparation
    busy (out): from the first cycle on
    takes (out): a multiplication begins that has been started
    takes_last (out): in the next cycle S_0 * c, of multiplication `slot.turn`, enters the
        multiplier
    clears (out): memories are overwritten at `slot.word`
    """

    def __init__(
        self,
        multiplication: KaratsubaMultiplication,
        max_digits: int,
        count_bits: int,
        clear_cycles: int,
    ):
        self.multiplication = multiplication
        self.max_digits, self.clear_cycles = max_digits, clear_cycles
        spans = [
            multiplication.succession(count)
            for count in range(2, max_digits + 1)
            if multiplication.chains
        ]
        longest = max(
            max_digits, multiplication.period(2), multiplication.descaling, clear_cycles, *spans
        )
        commands = ("start", "prepare", "wipe", "together", "descale", "finished", "writing")
        ports = {
            **dict.fromkeys(commands, In(1)),
            **dict.fromkeys(("inner_digits", "outer_digits"), In(count_bits)),
            "slot": Out(slot_layout(bits_for(longest))),
            "y_index": Out(count_bits),
            **dict.fromkeys(("asks", "closes", "ends", "takes_last", "clears"), Out(1)),
            **dict.fromkeys(("busy", "takes"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count words, turns and rounds."""
        m = Module()
        slot = self.slot
        self._i = i = Signal.like(self.outer_digits)
        self._j = j = Signal(len(slot.word))
        self._turn = Signal()
        self._together = Signal()
        self._started = Signal()  # a multiplication that follows
        self._succeeds = Signal()  # from slot 1 of a last round on: one follows
        self._wants_y = Signal()
        self._last_slot = Signal.like(j)
        self._last_word, self._last_turn, self._last_round = (
            Signal(name=name) for name in ("last_word", "last_turn", "last_round")
        )
        m.d.comb += [
            self._last_word.eq(j + 1 == self.inner_digits),
            self._last_turn.eq(self._turn == self._together),
            self._last_round.eq(i + 1 == self.outer_digits),
        ]
        if self.multiplication.chains:
            with m.If(self.start):
                m.d.sync += self._started.eq(1)
            m.d.sync += self._succeeds.eq(self._started & self._last_round)
            with m.If(self.takes):
                m.d.sync += [self._started.eq(0), self._succeeds.eq(0)]
            m.d.comb += slot.succeeds.eq(slot.iteration & self._last_round & self._started)
        # In a register, so that no path is long; no iteration ends before slot 2.
        m.d.sync += self._last_slot.eq(self._span(m) - 1)
        with m.FSM() as states:
            with m.State("IDLE"):
                m.d.sync += [i.eq(0), j.eq(0), self._turn.eq(0), self._last_slot.eq(0)]
                if self.multiplication.interleaved:
                    m.d.sync += self._together.eq(self.together)
                with m.If(self.wipe):
                    m.next = "CLEAR"
                with m.Elif(self.prepare):
                    m.next = "LOAD_INVERSE"
                with m.Elif(self.start):
                    m.next = "BEGIN"
            with m.State("CLEAR"):
                m.d.comb += self.clears.eq(1)
                m.d.sync += j.eq(j + 1)
                with m.If(j == self.clear_cycles - 1):
                    m.next = "IDLE"
            self._preparation(m)
            self._first_quotient(m)
            self._iterations(m)
            with m.State("DRAIN"), m.If(self.finished):
                m.next = "IDLE"
        m.d.comb += [
            self.busy.eq(~states.ongoing("IDLE")),
            slot.word.eq(Mux(slot.begins, 0, j)),
            slot.has_word.eq(self.asks | slot.loads),
            slot.first_word.eq(slot.has_word & (slot.word == 0)),
            slot.iteration.eq(self.asks & (slot.word == 0)),
            slot.opens.eq(slot.has_word & (i == 0)),
            slot.descaling.eq(self.descale & self._last_round),
            self.closes.eq(self.asks & self._last_round),
        ]
        if self.multiplication.interleaved:
            m.d.comb += slot.turn.eq(self._turn)
        return m

    def _span(self, m: Module) -> Signal:
        """Slots of this iteration: until q of the next one is there, or q_0 of another product."""
        multiplication, inner = self.multiplication, self.inner_digits
        span, least = Signal.like(self._j), Signal.like(self._j)
        m.d.comb += [
            least.eq(
                Mux(
                    self._together,
                    multiplication.period(2, together=True),
                    multiplication.period(2),
                )
            ),
            span.eq(Mux(inner < least, least, inner)),
        ]
        if multiplication.chains:
            with m.If(self._succeeds):
                m.d.comb += least.eq(multiplication.succession(2))
                clash = multiplication.succession(2) - ASK
                if clash <= self.max_digits:
                    with m.If(inner == clash):
                        m.d.comb += least.eq(multiplication.succession(clash))
        return span

    def _preparation(self, m: Module) -> None:
        """States that read M' and the words of M."""
        with m.State("LOAD_INVERSE"):
            m.d.comb += self.slot.loads_inverse.eq(1)
            m.next = "LOAD"
        with m.State("LOAD"):
            m.d.comb += [self.slot.loads.eq(1), self.ends.eq(self._last_word & self._last_turn)]
            m.d.sync += self._j.eq(self._j + 1)
            with m.If(self._last_word):
                m.d.sync += [self._j.eq(0), self._turn.eq(1)]
                m.next = "LOAD_INVERSE"
            with m.If(self.ends):
                m.next = "DRAIN"

    def _first_quotient(self, m: Module) -> None:
        """States that read X_0 and Y_0, and wait for q_0."""
        multiplication, j, last_turn = self.multiplication, self._j, self._last_turn

        def wait() -> None:
            with m.If(j == multiplication.loading - ASK - 1):
                m.d.sync += j.eq(0)
                m.next = "RUN"

        with m.State("BEGIN"):  # X_0 and Y_0
            m.d.comb += [self.slot.begins.eq(1), self.slot.asks_y.eq(1), self.takes.eq(last_turn)]
            m.d.sync += [j.eq(j + 1), self._turn.eq(~last_turn)]
            with m.If(last_turn):
                m.next = "BEGIN_AHEAD" if multiplication.scaled else "MAKE_Q"
        if multiplication.scaled:
            with m.State("BEGIN_AHEAD"):  # Y_1
                m.d.comb += [self.slot.asks_y.eq(1), self.y_index.eq(1)]
                m.d.sync += [j.eq(j + 1), self._turn.eq(~last_turn)]
                with m.If(last_turn):
                    m.next = "MAKE_Q"
                wait()
        with m.State("MAKE_Q"):
            m.d.sync += j.eq(j + 1)
            wait()

    def _iterations(self, m: Module) -> None:
        """States of the slots, and of the wait for a last quotient digit modulo M."""
        multiplication, i, j, last_turn = self.multiplication, self._i, self._j, self._last_turn
        with m.State("RUN"):
            m.d.comb += [
                self.asks.eq(j < self.inner_digits),
                self.slot.asks_y.eq(self._wants_y & ~self.writing),
                # The next word that has not been read.
                self.y_index.eq(i + (2 if multiplication.scaled else 1)),
                self.ends.eq(self._last_round & last_turn & self._last_word),
            ]
            m.d.sync += j.eq(j + 1)
            with m.If(j == 0):
                m.d.sync += self._wants_y.eq(~self._last_round)
            with m.Elif(~self.writing):
                m.d.sync += self._wants_y.eq(0)
            with m.If(j == self._last_slot):
                m.d.sync += [j.eq(0), self._turn.eq(~last_turn), i.eq(i + last_turn)]
                if multiplication.scaled:
                    with m.If(self.descale & last_turn & (i + 2 == self.outer_digits)):
                        m.next = "MAKE_LAST_Q"
            if multiplication.chains:
                # X_0 and Y_0 of a product that follows, and then its first round.
                with m.If(self._succeeds):
                    m.d.comb += [
                        self.slot.next_y.eq(j == NEXT_Y),
                        self.slot.next_x.eq(j == NEXT_X),
                        self.takes.eq(j == self._last_slot),
                    ]
                with m.If(self.slot.next_x | self.slot.next_y):
                    m.d.comb += self.y_index.eq(0)
                with m.If(self.takes):
                    m.d.sync += i.eq(0)
            with m.If(self.ends & ~self._succeeds):
                m.next = "DRAIN"
        if multiplication.scaled:
            with m.State("MAKE_LAST_Q"):  # S_0 * c
                m.d.comb += self.takes_last.eq((j == multiplication.made + 1) | self._turn)
                m.d.sync += j.eq(j + 1)
                with m.If(self.takes_last):
                    m.d.sync += self._turn.eq(~last_turn)
                with m.If(j == multiplication.descaling - 1):
                    m.d.sync += j.eq(0)
                    m.next = "RUN"
