"""The quotient digits of the Karatsuba multiplier: with a product of their own, or scaled."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.karatsuba_product import KaratsubaProduct
from coprime.cells.target import Target

from ..delays import history, stages
from .multiplication import KaratsubaMultiplication
from .schedule import registers


class ProductQuotient(wiring.Component):
    """q_(i+1) = S_(i+1,0) * M' + (X_0 * M') * Y_(i+1) mod 2^w: one multiplier does all products.

    X_0 * M' and X_0 * M' * Y_0 enter it before the first iteration, X_0 * M' * Y_(i+1) in slot 1
    of iteration i, and S_(i+1,0) * M' in slot k + 4. A product is there k cycles later.

    Parameters
    ----------
    layout : StructLayout of a slot

    Members
    -------
    slot (in): the slot whose factors are there
    x (in, w bits): X_j
    s_is_made, s_turn, s_word (in): S_(i+1,0), w bits, of multiplication `s_turn`
    turn (out): the multiplication whose product enters: `inverse` and `y_next` are its
    inverse, y_next (in, w bits): m' and Y_(i+1)
    clear (in): every register becomes 0
    is_made, made_turn, q (out): a quotient digit, w bits, of multiplication `made_turn`; or another
        product
    """

    def __init__(
        self, multiplication: KaratsubaMultiplication, layout: data.StructLayout, target: Target
    ):
        self.multiplication, self.target = multiplication, target
        width = multiplication.digit_width
        ports = {
            "slot": In(layout),
            **dict.fromkeys(("x", "s_word", "inverse", "y_next"), In(width)),
            **dict.fromkeys(("s_is_made", "s_turn", "clear"), In(1)),
            **dict.fromkeys(("turn", "is_made", "made_turn"), Out(1)),
            "q": Out(width),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """One multiplier, by turns."""
        m = Module()
        width, k = self.multiplication.digit_width, self.multiplication.latency
        x_0, ahead = (registers(self.multiplication, name, width) for name in ("x_0", "ahead"))
        m.submodules.product = of_q = KaratsubaProduct(width, k, target=self.target)
        at = stages(m, "slot", self.slot, k + 1)
        first, second = at[0].begins, at[k + 1].begins  # X_0 * M', and that times Y_0
        early, late = at[1].iteration, self.s_is_made
        m.d.comb += self.turn.eq(at[k + 1].turn)
        for enters, turn in ((early, at[1].turn), (first, at[0].turn), (late, self.s_turn)):
            with m.If(enters):
                m.d.comb += self.turn.eq(turn)
        then = self.made_turn
        m.d.comb += [
            of_q.x.eq(Mux(first, self.x, Mux(late, self.s_word, x_0[self.turn]))),
            of_q.y.eq(Mux(first | late, self.inverse, self.y_next)),
            self.is_made.eq(history(m, "made", second | late, k)[-1]),
            then.eq(history(m, "made_turn", self.turn, k)[-1]),
            self.q.eq(of_q.product[:width] + ahead[then]),
        ]
        with m.If(history(m, "first", first, k)[-1]):
            m.d.sync += [x_0[then].eq(of_q.product), ahead[then].eq(0)]
        with m.If(history(m, "early", early, k)[-1]):
            m.d.sync += ahead[then].eq(of_q.product)
        with m.If(self.clear):
            m.d.sync += [register.eq(0) for register in (*x_0, *ahead)]
        return m


class ScaledQuotient(wiring.Component):
    """q_(i+1) = S_(i+1,0) + X_0 * Y_(i+1) mod 2^w: M' of the scaled modulus is 1.

    X_0 * Y_(i+1) takes slot 0 of iteration i in the multiplier of X; the product that belongs
    there, X_0 * Y_i, has waited since the iteration before. The last q modulo M is S_0 * c.

    Parameters
    ----------
    layout : StructLayout of a slot

    Members
    -------
    slot (in): the slot whose products are there
    product (in, 2w bits): the product of this slot: X_j * Y_i, but X_0 * Y_(i+1) in slot 0
    s_is_made, s_turn, s_word (in): S_(i+1,0), w bits, of multiplication `s_turn`
    takes_last, last_turn (in): in the next cycle S_0 and c, of multiplication `last_turn`, are the
        factors
    clear (in): every register becomes 0
    is_made, made_turn, q (out): a quotient digit, w bits, of multiplication `made_turn`
    product_now (out, 2w bits): X_j * Y_i
    """

    def __init__(self, multiplication: KaratsubaMultiplication, layout: data.StructLayout):
        self.multiplication = multiplication
        width = multiplication.digit_width
        strobes = ("s_is_made", "s_turn", "takes_last", "last_turn", "clear")
        ports = {
            "slot": In(layout),
            "product": In(2 * width),
            "s_word": In(width),
            **dict.fromkeys(strobes, In(1)),
            **dict.fromkeys(("is_made", "made_turn"), Out(1)),
            "q": Out(width),
            "product_now": Out(2 * width),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Keep X_0's product for an iteration, and add S."""
        m = Module()
        width, k = self.multiplication.digit_width, self.multiplication.latency
        kept = registers(self.multiplication, "kept", 2 * width)
        turn = self.slot.turn
        ahead = Signal()
        m.d.comb += [
            ahead.eq(self.slot.iteration & ~self.slot.descaling),
            self.product_now.eq(self.product),
        ]
        with m.If(ahead):
            m.d.comb += self.product_now.eq(kept[turn])
        with m.If(self.slot.begins | ahead):
            m.d.sync += kept[turn].eq(self.product)
        last = history(m, "last", self.takes_last, k + 1)[-1]
        last_turn = history(m, "last_turn", self.last_turn, k + 1)[-1]
        late, late_turn = self.s_is_made, self.s_turn
        with_s = self.s_word + kept[late_turn][:width]
        m.d.comb += [
            self.is_made.eq(self.slot.begins | late | last),
            self.made_turn.eq(Mux(late, late_turn, Mux(last, last_turn, turn))),
            self.q.eq(Mux(late, with_s, self.product[:width])[:width]),
        ]
        with m.If(self.clear):
            m.d.sync += [register.eq(0) for register in kept]
        return m
