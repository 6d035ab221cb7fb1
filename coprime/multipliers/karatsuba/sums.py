"""The adders of the Karatsuba multiplier: S_(i+1) from S_i and both products, a word a cycle."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..delays import stages
from .memory import WordMemory
from .multiplication import ADD, KaratsubaMultiplication


class Sums(wiring.Component):
    """S, and the rows of the schedule that add: R3, R6 and R8.

    Words of a slot are there ADD cycles after its products, and can be read again in the cycle
    after they have been written.

    Parameters
    ----------
    max_digits (int): words of the longest modulus
    layout : StructLayout of a slot

    Members
    -------
    slot (in): the slot whose products are there
    product_x, product_m (in, 2w bits): X_j * Y_i and q_i * M_j
    clears, clear_address (in): every register becomes 0, and the word at this address
    s_word (out, w bits): the sum of the slot `summed`. It is S_(i+1,j) of the slot `written`, and
        is written.
    summed, written (out)
    """

    def __init__(
        self, multiplication: KaratsubaMultiplication, max_digits: int, layout: data.StructLayout
    ):
        self.multiplication, self.max_digits = multiplication, max_digits
        width = multiplication.digit_width
        ports = {
            "slot": In(layout),
            **dict.fromkeys(("product_x", "product_m"), In(2 * width)),
            "clears": In(1),
            "clear_address": In(layout["word"].width),
            "s_word": Out(width),
            **dict.fromkeys(("summed", "written"), Out(layout)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Three stages of adders, between a read of S and a write."""
        m = Module()
        multiplication, s_word = self.multiplication, self.s_word
        width = multiplication.digit_width
        m.submodules.memory = memory = WordMemory(
            width, self.max_digits, interleaved=multiplication.interleaved, layout=self.slot.shape()
        )
        at = stages(m, "slot", self.slot, ADD + 1)
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
        m.d.comb += memory.reads.eq(now)
        m.d.sync += [
            halves.eq(Mux(has_low, low, 0) + high_before),
            s.eq(Mux(has_low & ~now.opens, memory.read_word, 0)),
            s_is_nonzero.eq(~now.opens & memory.read_word.any()),
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
            memory.writes.eq(self.written),
            memory.write_word.eq(s_word),
            memory.enable.eq(self.written.has_word),
            memory.clears.eq(self.clears),
            memory.clear_address.eq(self.clear_address),
        ]
        with m.If(self.clears):
            m.d.sync += s_word.eq(0)
        return m
