"""The schedule of the Karatsuba multiplier: which word is asked for in which cycle."""

from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.montgomery import inverse, reduced

from .contract import READ_LATENCY, Multiplication

__all__ = ["ADD", "ASK", "KaratsubaMultiplication", "Schedule"]

ASK = READ_LATENCY + 1
"""Cycles from asking for a word to its use as a factor: a register takes what the memory gives."""
ADD = 3
"""Stages of the adders: halves of both products, with the upper half before, with S and carry."""


@dataclass(frozen=True)
class KaratsubaMultiplication(Multiplication):
    """X * Y * 2^(-w*rounds) mod M, not fully reduced; and the schedule's lengths, in cycles.

    X, the multiplicand, and M have D = `inner` words of w bits, at least 2; Y, the multiplier, has
    as many as there are rounds. The result is below X*Y / 2^(w*rounds) + M, so below 2M where
    X < 2M, Y < 2M and 2^(w*rounds) > 4M; S stays below X + M, and must fit in D words. M is odd.

    Parameters
    ----------
    digit_width : w, bits of a word: 16, 32, 64 or 128
    latency : k, of a product of two words, 1 to KaratsubaProduct.most(digit_width)
    scaled : the modulus is scaled, q needs no product of its own
    interleaved : there are ports for two multiplications
    """

    digit_width: int
    latency: int
    scaled: bool = False
    interleaved: bool = False

    canonical = False
    prepares = True

    def __post_init__(self) -> None:
        if self.latency < 1:
            raise ValueError(f"latency must be at least 1, not {self.latency}")

    @property
    def headroom(self) -> int:
        """2^(w*D) > 4M; or 4cM, where scaled, with c < 2^w."""
        return 2 + (self.digit_width if self.scaled else 0)

    @property
    def made(self) -> int:
        """From asking for a word to the sum of its slot, before its register."""
        return ASK + self.latency + ADD

    @property
    def loading(self) -> int:
        """From the first cycle to the first slot: X_0 and Y_0 are read, and q_0 is made.

        Of one product where scaled, and there after a second Y has been asked for; else of two.
        """
        if self.scaled:
            return ASK + max(self.latency, 3 if self.interleaved else 1) + 1
        return ASK + 2 * self.latency + 2

    def period(self, inner: int, *, together: bool = False) -> int:
        """From one iteration to the next: `inner`, unless q takes longer.

        `together` with another multiplication the next iteration is that one's.
        """
        k = self.latency
        if self.scaled:
            least = k + ADD + 2
            return max(inner, -(-least // 2) if together else least)
        # Together, slot 1 of one must not meet slot k + 4 of the other in the multiplier of q.
        return max(inner, k + ADD + 1 if together else 2 * k + ADD + 2)

    @property
    def leaving(self) -> int:
        """Before the last round, if that is modulo M: S_0 is awaited, and then S_0 * c."""
        return self.made + 1 + self.latency + 1

    def prepare_cycles(self, inner: int, *, together: bool = False) -> int:
        """Reading M' and the words of M; multiplying these by c, where scaled."""
        words = (2 if together else 1) * (1 + inner)
        return words + (self.made if self.scaled else ASK)

    def cycles(
        self, inner: int, rounds: int, *, together: bool = False, leaves: bool = False
    ) -> int:
        """Cycles of one multiplication, or of two together.

        D^2 + 3k + 10 for D words and rounds without a stall; scaled, D^2 + 2k + 9.
        """
        iterations = 2 * rounds if together else rounds
        slots = (iterations - 1) * self.period(inner, together=together) + inner
        return self.loading + slots + (self.leaving if leaves else 0) + self.made + 1 - ASK

    def products(self, inner: int, rounds: int, *, leaves: bool = False) -> int:
        """Slots in which X_j * Y_i and q_i * M_j enter."""
        return inner * rounds

    def product(
        self,
        multiplicand: int,
        multiplier: int,
        modulus: int,
        rounds: int,
        *,
        leaves: bool = False,
    ) -> int:
        """(X * Y + q * M) / R with the q below R = 2^(w*rounds) that makes it an integer.

        Scaled, of c * M in the place of M; where it `leaves`, the last round is M's.
        """
        product, width = multiplicand * multiplier, self.digit_width
        if not self.scaled:
            return reduced(product, modulus, width * rounds)
        c = inverse(modulus, width)
        if not leaves:
            return reduced(product, c * modulus, width * rounds)
        return reduced(reduced(product, c * modulus, width * (rounds - 1)), modulus, width)


class Schedule(wiring.Component):
    """Asks for words, ASK cycles before they are factors.

    With two multiplications `together`, they take turns: iteration by iteration, and word by word
    before the first one.

    Parameters
    ----------
    timing : KaratsubaMultiplication
    count_bits : bits of a digit count
    clear_cycles : cycles of a wipe

    Members
    -------
    start, prepare, wipe, together, leaves, inner_digits, outer_digits
        As MultiplierSignature tells; `together` comes with `start` and `prepare`.
    finished : in
        What was asked for last has reached its end.
    loads_inverse, loads : M' or word `word` of M is asked for
    begins : X_0 and Y_0 are
    asks : X's word, or in the last round M's if that `leaves`
    asks_y, y_index : a word of Y is, and which one
    word, turn : index of the word; which multiplication's it is
    opens : in the first round, and while M is loaded
    closes : X's word is asked for in the last round
    leaving : in a last round that is modulo M
    takes_last : the cycle before S_0 * c enters, of multiplication `turn`
    ends : the last word of all
    clears : memories are overwritten at `word`
    """

    def __init__(
        self, timing: KaratsubaMultiplication, max_digits: int, count_bits: int, clear_cycles: int
    ):
        self.timing = timing
        self.clear_cycles = clear_cycles
        longest = max(max_digits, timing.period(2), timing.leaving, clear_cycles)
        strobes = (
            *("loads_inverse", "loads", "begins", "asks", "asks_y", "opens", "closes"),
            *("leaving", "takes_last", "ends", "clears", "turn"),
        )
        super().__init__(
            {
                **dict.fromkeys(("start", "prepare", "wipe", "together", "leaves"), In(1)),
                "inner_digits": In(count_bits),
                "outer_digits": In(count_bits),
                "finished": In(1),
                **dict.fromkeys(strobes, Out(1)),
                "word": Out(range(longest + 1)),
                "y_index": Out(count_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Count words, turns and rounds."""
        m = Module()
        timing = self.timing
        together = Signal()
        i = Signal.like(self.outer_digits)
        j, turn = Signal.like(self.word), self.turn
        period = Signal.like(j)
        last_word, last_turn, last_round = (
            Signal(name=name) for name in ("last_word", "last_turn", "last_round")
        )
        least = Mux(together, timing.period(2, together=True), timing.period(2))
        m.d.comb += [
            period.eq(Mux(self.inner_digits < least, least, self.inner_digits)),
            self.word.eq(Mux(self.begins, 0, j)),
            last_word.eq(j + 1 == self.inner_digits),
            last_turn.eq(turn == together),
            last_round.eq(i + 1 == self.outer_digits),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [i.eq(0), j.eq(0), turn.eq(0)]
                if timing.interleaved:
                    m.d.sync += together.eq(self.together)
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
            with m.State("LOAD_INVERSE"):
                m.d.comb += self.loads_inverse.eq(1)
                m.next = "LOAD"
            with m.State("LOAD"):
                m.d.comb += [self.loads.eq(1), self.ends.eq(last_word & last_turn)]
                m.d.sync += j.eq(j + 1)
                with m.If(last_word):
                    m.d.sync += [j.eq(0), turn.eq(1)]
                    m.next = "LOAD_INVERSE"
                with m.If(self.ends):
                    m.next = "DRAIN"
            with m.State("BEGIN"):  # X_0 and Y_0
                m.d.comb += [self.begins.eq(1), self.asks_y.eq(1)]
                m.d.sync += [j.eq(j + 1), turn.eq(~last_turn)]
                with m.If(last_turn):
                    m.next = "BEGIN_AHEAD" if timing.scaled else "MAKE_Q"
            if timing.scaled:
                with m.State("BEGIN_AHEAD"):  # Y_1
                    m.d.comb += [self.asks_y.eq(1), self.y_index.eq(1)]
                    m.d.sync += [j.eq(j + 1), turn.eq(~last_turn)]
                    with m.If(last_turn):
                        m.next = "MAKE_Q"
                    with m.If(j == timing.loading - ASK - 1):
                        m.d.sync += j.eq(0)
                        m.next = "RUN"
            with m.State("MAKE_Q"):  # q_0 is on its way
                m.d.sync += j.eq(j + 1)
                with m.If(j == timing.loading - ASK - 1):
                    m.d.sync += j.eq(0)
                    m.next = "RUN"
            with m.State("RUN"):
                m.d.comb += [
                    self.asks.eq(j < self.inner_digits),
                    self.asks_y.eq(j == 1),
                    # The next word that is not there.
                    self.y_index.eq(i + (2 if timing.scaled else 1)),
                    self.ends.eq(last_round & last_turn & last_word),
                ]
                m.d.sync += j.eq(j + 1)
                with m.If(j + 1 == period):
                    m.d.sync += [j.eq(0), turn.eq(~last_turn), i.eq(i + last_turn)]
                    if timing.scaled:
                        with m.If(self.leaves & last_turn & (i + 2 == self.outer_digits)):
                            m.next = "MAKE_LAST_Q"
                with m.If(self.ends):
                    m.next = "DRAIN"
            if timing.scaled:
                with m.State("MAKE_LAST_Q"):  # S_0 * c
                    m.d.comb += self.takes_last.eq((j == timing.made + 1) | turn)
                    m.d.sync += j.eq(j + 1)
                    with m.If(self.takes_last):
                        m.d.sync += turn.eq(~last_turn)
                    with m.If(j == timing.leaving - 1):
                        m.d.sync += j.eq(0)
                        m.next = "RUN"
            with m.State("DRAIN"), m.If(self.finished):
                m.next = "IDLE"
        m.d.comb += [
            self.opens.eq((self.asks | self.loads) & (i == 0)),
            self.closes.eq(self.asks & last_round),
            self.leaving.eq(self.leaves & last_round),
        ]
        return m
