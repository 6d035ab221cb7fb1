"""BITSERIAL's redundant interleaved multiplier: one carry-save adder and a table.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler (2005), section 2.1, and Bunimov, Schimmler, "Area
and Time Efficient Modular Multiplication of Large Integers" (2003).
"""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory

from coprime.model.bitserial import COUNTS

from .bit_serial import BitSerialControl, spread, turned
from .carry_save import CarrySaveMultiplication, CarrySaveMultiplier, carry_save, word_sum
from .contract import READ_LATENCY

__all__ = ["InterleavedCsa", "InterleavedMultiplication"]


@dataclass(frozen=True)
class InterleavedMultiplication(CarrySaveMultiplication):
    """X * Y mod M, with Y < M < 2^N, X < 2^rounds; the highest bit of M is bit N - 1."""

    montgomery = False
    aligned = True

    @property
    def _table_cycles(self) -> int:
        return COUNTS * self.pass_cycles

    @property
    def loading_cycles(self) -> int:
        """Y's way here, and the table."""
        return 1 + READ_LATENCY + 1 + self._table_cycles

    @property
    def unloading_cycles(self) -> int:
        """MOVE, WAIT, SUM, REDUCE, WRITE."""
        return self.words + max(0, READ_LATENCY - self.words) + 4 * self.pass_cycles

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of loading the modulus and making the entries without Y."""
        return 1 + READ_LATENCY + 1 + self.words + self._table_cycles

    def product(self, multiplicand: int, multiplier: int, modulus: int, rounds: int) -> int:
        """X * Y mod M."""
        return multiplicand * multiplier % modulus


class InterleavedCsa(CarrySaveMultiplier):
    """X * Y mod M, from the highest bit of X down.

    A round doubles S and C, cuts them to N bits, and adds an entry of a table: x_i and what was cut
    off, the count k = s_top + c_top + 2o, select (k * 2^N + x_i * Y) mod M. o is the carry out of
    the sum, of weight 2^N. k is 0 to 4, so the table has ten entries: it lies in LUTs as a memory
    of 16 words for each digit. After the rounds S + C + o * 2^N < 5M (docs/bitserial.md).

    Y < M; 2^(N-1) <= M < 2^N, which aligned operands see to; X < 2^rounds. M may be even.

    ============= =================== ==========================================================
    cycles        state               what happens
    ============= =================== ==========================================================
    5             LOADING             Y is asked for, word by word; 5 cycles later it comes
    5 (D + 2)     LOADING_TABULATING  five passes make the entries with Y; the first takes Y
    1             STARTING            the first entry's address: count 0, and the bit of X
    rounds        RUNNING
    D             FINISHED_MOVE       S goes into M's register
    1             FINISHED_TRANSFER   C goes into S
    max(0, 3 - D) FINISHED_WAIT       until the first word of M comes
    D + 2         FINISHED_SUM        S + what was in M's register goes into S; M is loaded again;
                                      the sum is compared with 2M
    2 (D + 2)     FINISHED_REDUCE     2M is subtracted from S if S was not below it; S is compared
                                      with 2M, and in the second pass with M
    D + 2         FINISHED_WRITE      S, less M if it was not below M, is written
    ============= =================== ==========================================================

    From an entry E the next one is made as F = E + 2^N - M, less M if F is not below M. S holds F.
    A pass computes E from it, writes E to the table, and has S take the next F = E - M (mod 2^N).
    A preparation does the same with 0 for Y.

    Only S can be turned word by word; see `MontgomeryCarrySave`.
    """

    computes = InterleavedMultiplication

    def elaborate(self, platform: object) -> Module:
        """Registers, table, adder row, word adders."""
        m = Module()
        control = BitSerialControl(self, tabulates=True)
        control.connect(m, self)
        width, n = self.digit_width, self.width
        s, c = self.s, self.c
        modulus = Signal(n, reset_less=True)
        high = slice(n - width, n)  # the word that has entered last

        # --- The table --------------------------------------------------------------------------
        entry_word = Signal(width, reset_less=True)
        address_next = Signal(4)
        clears = (~control.running, ~control.running, ~control.running, ~control.selecting)
        addresses = [
            spread(m, address_next[k], n, name=f"address{k}", clear=clear)
            for k, clear in enumerate(clears)
        ]
        enable = Signal()
        m.d.sync += enable.eq(control.tabulating & control.first)
        words: list[Value] = []
        for index in range(self.words):
            # Word j of an entry is written in cycle j + 2 of its pass.
            enabled = Signal(name=f"enabled_{index}")
            m.d.sync += enabled.eq(enable)
            enable = enabled
            memory = Memory(shape=width, depth=16, init=[], attrs={"ram_style": "distributed"})
            m.submodules[f"table_{index}"] = memory
            write, read = memory.write_port(), memory.read_port(domain="comb")
            m.d.comb += [
                write.addr.eq(control.entry),
                write.data.eq(entry_word),
                write.en.eq(enabled | control.wiping),
                read.addr.eq(Cat(bits[index * width] for bits in addresses)),
            ]
            words.append(read.data)
            self.secrets += list(memory.data)

        # --- A round ----------------------------------------------------------------------------
        overflow = Signal()  # o
        added = Cat(*words)
        sums, carries = carry_save(s << 1, c << 1, added)
        row_s, row_c = sums[:n], Cat(Const(0, 1), carries)[:n]
        overflow_next = carries[n - 1]
        m.d.comb += address_next.eq(
            # The count, one round ahead: the address comes out of flip-flops.
            Cat((row_s[-1] + row_c[-1] + (overflow_next << 1))[:3], control.x_next)
        )
        c_moves = Signal()
        m.d.sync += c_moves.eq(control.adding_next)
        adding = spread(m, control.adding_next, n, name="adding", clear=0)
        with m.If(c_moves):
            m.d.sync += c.eq(row_c)
        with m.If(control.running):
            m.d.sync += overflow.eq(overflow_next)
        with m.If(control.clear_c):
            m.d.sync += [c.eq(0), overflow.eq(0)]

        # --- Word by word: S, and the entry -----------------------------------------------------
        s_moves, modulus_moves = Signal(), Signal()
        moving, passing, totalling, comparing = Signal(), Signal(), Signal(), Signal()
        turning = control.moving_next | control.passing_next
        m.d.sync += [
            s_moves.eq(control.adding_next | turning | passing | totalling),
            modulus_moves.eq(control.entering_next | turning),
            moving.eq(control.moving_next),
            passing.eq(control.passing_next),
            totalling.eq(passing),
            comparing.eq(totalling),
        ]
        lost = Signal()  # the bit above those of C that are in S
        top = Mux(control.final, lost, s[width]) if self.words > 1 else lost
        # F in S, or Y's word; S is empty while Y comes, and words are zero later. In SUM, C's word.
        low = modulus[:width]
        # 2M's word: the bit below comes from the word that was low before, and is now high.
        low_doubled = Cat(modulus[n - 1] & ~control.first, low)[:width]
        once, twice = Signal(init=1), Signal()  # what is to be subtracted from S
        exceeds = Signal()
        left = Signal(width, reset_less=True)
        right = Signal(width, reset_less=True)
        entry_right = Signal(width, reset_less=True)
        multiple = (low & once.replicate(width)) | (low_doubled & twice.replicate(width))
        m.d.sync += [
            left.eq(Mux(control.summing, Cat(s[1:width], top), s[:width] | control.word)),
            right.eq(Mux(control.summing, low, ~multiple)),
            entry_right.eq(~(low & exceeds.replicate(width))),
        ]
        carry, entry_carry = Signal(), Signal()
        total, entry_total = Signal(width + 1), Signal(width + 1)
        entering = Signal(width, reset_less=True)  # S takes the total one cycle later
        m.d.comb += [
            total.eq(word_sum(left, right, carry)),
            entry_total.eq(word_sum(left, entry_right, entry_carry)),
        ]
        m.d.sync += [
            entering.eq(total[:width]),
            carry.eq(Mux(totalling, total[width], ~control.summing)),
            entry_word.eq(entry_total[:width]),
            entry_carry.eq(~totalling | entry_total[width]),
        ]
        with m.If(s_moves):
            m.d.sync += s.eq((row_s & adding) | (turned(s, entering) & ~adding))
        with m.If(control.clear_s):
            m.d.sync += s.eq(0)
        loading = control.summing | (control.preparing & ~control.tabulating)
        with m.If(modulus_moves):
            m.d.sync += modulus.eq(
                turned(modulus, Mux(loading, control.word, Mux(moving, s[:width], low)))
            )
        with m.If(control.transferring):
            m.d.sync += lost.eq(c[n - 1])

        # --- Word by word: comparing ------------------------------------------------------------
        doubles = control.doubling
        second = Signal()  # the first word of M is at the high end
        m.d.sync += second.eq(control.first)
        below = modulus[n - width - 1] & ~second if self.words > 1 else Const(0, 1)
        compared = Signal(width, reset_less=True)
        less = Signal(width + 1)
        no_borrow = Signal()
        m.d.comb += less.eq(word_sum(entering, ~compared, no_borrow))
        m.d.sync += [
            compared.eq(Mux(doubles, Cat(below, modulus[high])[:width], modulus[high])),
            no_borrow.eq(~comparing | less[width]),
        ]

        # What S + C + o * 2^N has above the registers, 0 to 2. 2M has a 1 there, M has none.
        above, above_now = Signal(2), Signal(2)
        with m.If(control.summing):
            m.d.comb += above_now.eq(overflow + carry)
        with m.Else():
            m.d.comb += above_now.eq(above - twice - 1 + carry)
        reached = Signal()
        with m.If(control.tabulating):
            m.d.comb += reached.eq(less[width])
        with m.Elif(doubles):
            m.d.comb += reached.eq(above_now + less[width] >= 2)
        with m.Else():
            m.d.comb += reached.eq(above_now + less[width] >= 1)
        with m.If(control.closing):
            m.d.sync += [
                above.eq(above_now),
                exceeds.eq(reached),
                once.eq(Mux(control.tabulating, ~reached, reached & ~doubles)),
                twice.eq(reached & (control.tabulating | doubles)),
            ]
        with m.If(control.clear_c):
            m.d.sync += [exceeds.eq(0), once.eq(1), twice.eq(0)]
        m.d.comb += self.b_write_data.eq(entering)

        # What is on its way through the adders is gone two cycles after these.
        # A reset may have left S as it was, and with it the word that is written to the table.
        with m.If(control.forget | control.wiping):
            m.d.sync += entry_word.eq(0)
        with m.If(control.forget):
            m.d.sync += [modulus.eq(0), lost.eq(0)]
        self.secrets += [modulus, left, entering, compared, entry_word, lost]
        return m
