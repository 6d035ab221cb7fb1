"""The factors of the Karatsuba multiplier: a register for each, and what waits for its turn."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..delays import stages
from .multiplication import KaratsubaMultiplication
from .schedule import registers


class Factors(wiring.Component):
    """Registers of X_j, Y_i, M_j and q_i, and per multiplication those of M', Y_(i+1) and q_(i+1).

    Scaled, X_0 meets Y_(i+1) in slot 0, and the other words meet Y_i. In a last round modulo M,
    its q meets M's words in the place of X's. In a preparation, M's words are multiplied by c = M'.

    Parameters
    ----------
    layout : StructLayout of a slot

    Members
    -------
    slot (in): the slot whose words the memories give, a cycle before they are factors
    x_word, y_word, m_word (in, w bits): words of X (or M', or M in a preparation), of Y, and of M
    multiplier_is_one (in): Y is 1, whatever the memory gives
    takes (in): the multiplication begins that this is said of; only where products chain, and
    s_is_y_0, s_word (in): S_(D,0), w bits, is Y_0 of the product that follows; only there, too
    q_is_made, q_made, q_turn (in): a quotient digit, w bits, of multiplication `q_turn`
    takes_last, last_turn (in): scaled: S_0, of multiplication `last_turn`, and c are the next
        factors
    clear (in): every register becomes 0
    x, y, m_j, q (out, w bits): X_j and Y_i, M_j and q_i
    turn (in): the multiplication of `inverse` and `y_next`
    inverse, y_next (out, w bits): its M' and Y_(i+1)
    """

    def __init__(self, multiplication: KaratsubaMultiplication, layout: data.StructLayout):
        self.multiplication = multiplication
        width = multiplication.digit_width
        strobes = ("multiplier_is_one", "q_is_made", "q_turn", "takes_last", "last_turn", "clear")
        words = ("x", "y", "m_j", "q", "inverse", "y_next")
        ports = {
            "slot": In(layout),
            **dict.fromkeys(("x_word", "y_word", "m_word", "q_made"), In(width)),
            **dict.fromkeys((*strobes, "turn"), In(1)),
            **dict.fromkeys(words, Out(width)),
        }
        if multiplication.chains:
            ports |= {**dict.fromkeys(("takes", "s_is_y_0"), In(1)), "s_word": In(width)}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """What enters each register, and when."""
        m = Module()
        width, scaled = self.multiplication.digit_width, self.multiplication.scaled
        coming, now = stages(m, "slot", self.slot, 1)
        turn = coming.turn
        inverse, y_next, q_waiting = (
            registers(self.multiplication, name, width)
            for name in ("inverse", "y_next", "q_waiting")
        )
        remembered = [self.x, self.y, self.m_j, self.q, *inverse, *y_next, *q_waiting]
        m.d.comb += [self.inverse.eq(inverse[self.turn]), self.y_next.eq(y_next[self.turn])]

        y_word = Signal.like(self.y_word)
        is_one: Value = self.multiplier_is_one
        if self.multiplication.chains:
            now_one = Signal()  # of the product under way
            with m.If(self.takes):
                m.d.sync += now_one.eq(self.multiplier_is_one)
            is_one = Mux(coming.next_y, self.multiplier_is_one, now_one)
        m.d.comb += y_word.eq(self.y_word)
        with m.If(is_one):  # it has its only 1 in word 0
            m.d.comb += y_word.eq(coming.begins | coming.next_y)
        with m.If(coming.asks_y | coming.next_y):
            m.d.sync += y_next[turn].eq(y_word)
        if self.multiplication.chains:
            with m.If(self.s_is_y_0):
                m.d.sync += y_next[0].eq(self.s_word)
        with m.If(now.loads_inverse):
            m.d.sync += inverse[now.turn].eq(self.x)
        m.d.sync += [self.x.eq(self.x_word), self.m_j.eq(self.m_word)]

        # q waits for its iteration.
        with m.If(self.q_is_made):
            m.d.sync += q_waiting[self.q_turn].eq(self.q_made)
        q_next = Mux(self.q_is_made & (self.q_turn == turn), self.q_made, q_waiting[turn])
        with m.If(coming.iteration):
            m.d.sync += [self.q.eq(q_next), self.y.eq(y_next[turn])]
            if scaled:
                with m.If(coming.descaling):
                    m.d.sync += [self.q.eq(0), self.y.eq(q_next)]
        if scaled:
            y_now = registers(self.multiplication, "y_now", width)
            remembered += y_now
            with m.If(coming.begins):
                m.d.sync += self.y.eq(y_word)
            with m.If(now.begins | now.iteration):
                m.d.sync += y_now[now.turn].eq(y_next[now.turn])
            with m.If(now.iteration & ~now.descaling):
                m.d.sync += self.y.eq(y_now[now.turn])
            with m.If(self.takes_last):
                m.d.sync += [
                    self.x.eq(q_waiting[self.last_turn]),
                    self.y.eq(inverse[self.last_turn]),
                ]
            # M's words are multiplied by c, and nothing is added.
            with m.If(now.loads_inverse):
                m.d.sync += [self.y.eq(self.x), self.q.eq(0)]
        with m.If(self.clear):
            m.d.sync += [register.eq(0) for register in remembered]
        return m
