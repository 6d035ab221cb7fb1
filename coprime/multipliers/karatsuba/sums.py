"""The adders of the Karatsuba multiplier: S_(i+1) from S_i and both products, a word a cycle."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .multiplication import ADD, KaratsubaMultiplication
from .schedule import Storage, slots

__all__ = ["Sums"]


class Sums(wiring.Component):
    """S, and the rows of the schedule that add: R3, R6 and R8.

    Words of a slot are there ADD cycles after its products, and can be read again in the cycle
    after they have been written.

    Parameters
    ----------
    multiplication : KaratsubaMultiplication
    storage : Storage
        Where the words of S are.
    layout : StructLayout
        Of a slot.

    Members
    -------
    slot : in
        The slot whose products are there.
    product_x, product_m : in, 2w bits
        X_j * Y_i and q_i * M_j.
    clears, clear_address : in
        Every register becomes 0, and the word at this address.
    s_word : out, w bits
        The sum of the slot `summed`. It is S_(i+1,j) of the slot `written`, and is written.
    summed, written : out
    """

    def __init__(
        self,
        multiplication: KaratsubaMultiplication,
        storage: Storage,
        layout: data.StructLayout,
    ):
        self.width = width = multiplication.digit_width
        self.storage = storage
        super().__init__(
            {
                "slot": In(layout),
                "product_x": In(2 * width),
                "product_m": In(2 * width),
                "clears": In(1),
                "clear_address": In(layout["word"].width),
                "s_word": Out(width),
                "summed": Out(layout),
                "written": Out(layout),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Three stages of adders, between a read of S and a write."""
        m = Module()
        width, s_word = self.width, self.s_word
        m.submodules.memory = memory = Memory(
            shape=width, depth=self.storage.depth, init=[], attrs={"ram_style": "distributed"}
        )
        read, write = memory.read_port(domain="comb"), memory.write_port()
        at = slots(m, self.slot, ADD + 1)
        m.d.comb += [self.summed.eq(at[ADD]), self.written.eq(at[ADD + 1])]

        # L_j and H_j (R3).
        low, high, high_before = (
            Signal(width + 1, name=name) for name in ("low", "high", "high_before")
        )
        m.d.sync += [
            low.eq(self.product_x[:width] + self.product_m[:width]),
            high.eq(self.product_x[width:] + self.product_m[width:]),
            high_before.eq(high),
        ]

        # V_j = L_j + H_(j-1) (lines 13, 14: R6). Without L_j, which slot 0 does not add, and which
        # does not exist beyond the last word, this is the last word of an iteration.
        now = at[1]
        has_low = now.has_word & ~now.first_word
        halves = Signal(width + 2)
        s = Signal(width)
        s_is_nonzero, low_carry = Signal(), Signal()
        m.d.comb += read.addr.eq(self.storage.address(now))
        m.d.sync += [
            halves.eq(Mux(has_low, low, 0) + high_before),
            s.eq(Mux(has_low & ~now.opens, read.data, 0)),
            s_is_nonzero.eq(~now.opens & read.data.any()),
            low_carry.eq(low[width]),
        ]

        # V_j + S_(i,j) + C (lines 15 to 17: R8).
        carry = Signal(3)  # V, S and C are below 5 * 2^w
        total = Signal(width + len(carry))
        m.d.comb += total.eq(halves + s + carry)
        # In slot 0 L_0 + S_(i,0) is 0 modulo 2^w: a 1 is carried unless both are 0.
        m.d.sync += [
            s_word.eq(total),
            carry.eq(Mux(at[2].first_word, low_carry + s_is_nonzero, total[width:])),
        ]

        # A sum has the index of the slot before: it is shifted down by a word.
        m.d.comb += [
            write.addr.eq(self.storage.address(self.written)),
            write.data.eq(s_word),
            write.en.eq(self.written.has_word),
        ]
        with m.If(self.clears):
            m.d.comb += [write.addr.eq(self.clear_address), write.data.eq(0), write.en.eq(1)]
            m.d.sync += s_word.eq(0)
        return m
