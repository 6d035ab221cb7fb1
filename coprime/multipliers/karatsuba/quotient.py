"""The quotient digits of the Karatsuba multiplier: with a product of their own, or scaled."""

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.karatsuba_product import KaratsubaProduct
from coprime.cells.target import Target

from ..delays import history, past_value, stages
from .multiplication import KaratsubaMultiplication
from .schedule import registers


class ProductQuotient(wiring.Component):
    """q_(i+1) = S_(i+1,0) * M' + (X_0 * M') * Y_(i+1) mod 2^w: one multiplier does all products.

    X_0 * M' and X_0 * M' * Y_0 enter it before the first iteration, X_0 * M' * Y_(i+1) in slot 1
    of iteration i, and S_(i+1,0) * M' in slot k + 4. A product is there k cycles later. The first
    of the two summands waits in `ahead` for the other one.

    In a last round that another product follows, S_(D,0) is no summand of a q. In its slot that
    product's X_0 * M' enters, be X_0 this S_(D,0) or not. Its Y_1 may come after S_(1,0).

    Parameters
    ----------
    layout : StructLayout of a slot

    Members
    -------
    slot (in): the slot whose factors are there
    x (in, w bits): X_j
    takes_x, x_read (in): X_0, w bits, of the product that follows
    succeeds (in): with s_is_made, that product's X_0 * M' enters
    x_is_result, x_is_other, other_result (in): as in MultiplierSignature; only where they chain
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
        if multiplication.chains:
            ports |= dict.fromkeys(("takes_x", "succeeds", "x_is_result", "x_is_other"), In(1))
            ports |= dict.fromkeys(("x_read", "other_result"), In(width))
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """One multiplier, by turns."""
        m = Module()
        width, k = self.multiplication.digit_width, self.multiplication.latency
        x_0, ahead = (registers(self.multiplication, name, width) for name in ("x_0", "ahead"))
        waits = registers(self.multiplication, "waits", 1)  # a summand, for the other one
        m.submodules.product = of_q = KaratsubaProduct(width, k, target=self.target)
        at = stages(m, "slot", self.slot, k + 1)
        begins, late = at[0].begins, self.s_is_made
        of_y = at[0].asks_y & ~begins  # Y_(i+1) has come
        m.d.comb += self.turn.eq(at[k + 1].turn)
        for enters, turn in ((of_y, at[0].turn), (begins, at[0].turn), (late, self.s_turn)):
            with m.If(enters):
                m.d.comb += self.turn.eq(turn)
        # S_(D,0) in a last round that another product follows is X_0 of that, or in its place.
        succeeds: Value = Const(0)
        x_at_s: Value = self.s_word
        if self.multiplication.chains:
            succeeds = late & self.succeeds
            is_read = self.succeeds & ~self.x_is_result
            x_at_s = Mux(self.succeeds & self.x_is_other, self.other_result, x_at_s)
            x_at_s = Mux(is_read & ~self.x_is_other, x_0[0], x_at_s)
            with m.If(self.takes_x):
                m.d.sync += x_0[0].eq(self.x_read)
        first = begins | succeeds
        times_y_0 = history(m, "first", first, k + 1)
        summand = of_y | late & ~succeeds
        then = self.made_turn
        m.d.comb += [
            of_q.x.eq(Mux(begins, self.x, Mux(late, x_at_s, x_0[self.turn]))),
            of_q.y.eq(Mux(begins | late, self.inverse, self.y_next)),
            then.eq(past_value(m, "made_turn", self.turn, k)),
            self.is_made.eq(past_value(m, "made", times_y_0[-1] | summand & waits[self.turn], k)),
            self.q.eq(of_q.product[:width] + ahead[then]),
        ]
        with m.If(summand):
            m.d.sync += waits[self.turn].eq(~waits[self.turn])
        with m.If(first):
            m.d.sync += waits[self.turn].eq(0)
        with m.If(past_value(m, "early", summand & ~waits[self.turn], k)):
            m.d.sync += ahead[then].eq(of_q.product)
        with m.If(times_y_0[k]):
            m.d.sync += [x_0[then].eq(of_q.product), ahead[then].eq(0)]
        with m.If(self.clear):
            m.d.sync += [register.eq(0) for register in (*x_0, *ahead, *waits)]
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
        last = past_value(m, "last", self.takes_last, k + 1)
        last_turn = past_value(m, "last_turn", self.last_turn, k + 1)
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
