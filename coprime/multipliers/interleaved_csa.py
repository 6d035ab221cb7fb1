"""BITSERIAL's redundant interleaved multiplier: one carry-save adder and a table.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler (2005), section 2.1, and Bunimov, Schimmler, "Area
and Time Efficient Modular Multiplication of Large Integers" (2003).
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.model.bitserial import COUNTS

from .bit_serial import BitSerialMultiplier, spread, turned
from .bit_serial_multiplication import InterleavedMultiplication
from .carry_save import CarrySaveControl, CarrySaveMultiplier, carry_save, word_sum
from .multiplication import READ_LATENCY


class TabulatingControl(CarrySaveControl):
    """The control of a multiplier with a table, which reads the modulus again after its rounds.

    ============ =============================================================================
    state        what happens
    ============ =============================================================================
    WIPING       the table is cleared, an entry a cycle
    TABULATING   five passes make five entries
    MOVING       D cycles bring S to the modulus' place, and the modulus is read again
    TRANSFERRING as in CarrySaveControl
    WAITING      until the modulus comes
    SUMMING      the pass that adds both, and compares with 2M
    REDUCING     two passes that subtract, and compare with 2M and M
    WRITING      the pass that writes
    ============ =============================================================================

    Members
    -------
    those of CarrySaveControl
    wiping (out): entry `entry` of the table is cleared
    tabulating (out): 1 in that state
    doubling (out): 1 in SUMMING and the first pass of REDUCING, which compare with 2M
    entry (4 bits, out): the table's entry that is made: a count, + 8 for the entries with Y
    """

    STATES = (*CarrySaveControl.STATES, "wiping", "tabulating", "waiting", "reducing")
    UNUSED = ("idle", "wiping")
    PASSES = ("tabulating", "summing", "reducing", "writing")
    FLAGS = (*CarrySaveControl.FLAGS, "wiping", "tabulating", "doubling")

    def __init__(self, multiplier: BitSerialMultiplier):
        self.entry = Signal(4)
        super().__init__(multiplier)

    def load(self, m: Module, entering: list[Signal], loads_x: Signal) -> None:
        """Read an operand, and make entries of the table."""
        state, closing = self.state, self.closing
        prepared = self.preparing & entering[-1] & ~entering[-2]
        state.change("idle", "wiping", self.wipe)
        state.change("wiping", "idle", self.wiping & (self.entry == 15))
        state.change("loading", "tabulating", prepared | (~self.preparing & entering[-2]))
        state.change("tabulating", "starting", closing & loads_x)
        state.change("tabulating", "idle", closing & (self.entry == COUNTS - 1))
        now = state.now
        m.d.comb += self.wiping.eq(now["wiping"] & ~self.forget)
        with m.If(now["idle"]):
            m.d.sync += self.entry.eq(Mux(self.start, 8, 0))
        with m.If(self.wiping | (now["tabulating"] & closing)):
            m.d.sync += self.entry.eq(self.entry + 1)
        # X's first word comes in the last cycle of the last pass.
        length = self.pass_cycles
        scan_pass, scan_cycle = divmod(COUNTS * length - 1 - (READ_LATENCY + 2), length)
        scans = (self.entry == 8 + scan_pass) & (self.passes.cycle == scan_cycle)
        with m.If(now["tabulating"] & scans):
            m.d.sync += self.scanner.scan.eq(1)

    def reduce(self, m: Module, entering: list[Signal]) -> None:
        """Wait for the modulus, sum, reduce twice."""
        state, closing = self.state, self.closing
        now, coming = state.now, state.next
        ready = entering[-2]  # the first word of M comes next
        last_reduction = Signal()
        state.change("transferring", "waiting", ~ready)
        state.change("transferring", "summing", ready)
        state.change("waiting", "summing", ready)
        state.change("summing", "reducing", closing)
        state.change("reducing", "writing", closing & last_reduction)
        reduced = last_reduction | (now["reducing"] & closing)
        m.d.sync += [
            self.doubling.eq(coming["summing"] | (coming["reducing"] & ~reduced)),
            last_reduction.eq(reduced & ~now["idle"]),
        ]
        # M's first word comes after TRANSFERRING, or in WAITING if it cannot come so soon.
        ahead = READ_LATENCY + 1 - self.words
        with m.If(self.ends if ahead > 0 else now["moving"] & (self.passes.cycle == -ahead)):
            m.d.comb += self.reader.read.eq(1)

    @property
    def unused_next(self) -> Value:
        """In the next cycle S and C hold nothing that is needed."""
        return self.state.next["idle"] | self.state.next["starting"]


class EntryTable(wiring.Component):
    """Ten entries of N bits, (k * 2^N + x * Y) mod M at k + 8x; each is made from its predecessor.

    Word j of an entry is made in cycle j + 1 of its pass, and written in cycle j + 2.

    Parameters
    ----------
    words : D
    width : bits of a word

    Members
    -------
    begins (in): cycle 0 of a pass that makes an entry
    wiping (in): the entry is cleared
    entry (4 bits, in): the entry that is made
    clear (in): clears the word that is written
    taken (`width` bits, in): the word of F in cycle j + 1
    subtracted (`width` bits, in): the word of what is subtracted from F, 0 or M, in cycle j
    adding (in): in cycles 1 to D of a pass
    address_next (4 bits, in): count and bit of X of the next round
    running, selecting (in): count and bit are 0 in the next cycle where these are 0
    added (D * `width` bits, out): the entry of this round
    secrets (list of Value)
    """

    def __init__(self, words: int, width: int):
        self.words, self.width = words, width
        self._word = Signal(width, name="entry_word", reset_less=True)
        # A memory of each word, in LUTs.
        self._memories = [
            Memory(shape=width, depth=16, init=[], attrs={"ram_style": "distributed"})
            for _ in range(words)
        ]
        self.secrets: list[Value] = [self._word]
        self.secrets += [entry for memory in self._memories for entry in memory.data]
        flags = ("begins", "wiping", "clear", "adding", "running", "selecting")
        ports = {
            **{name: In(1) for name in flags},
            **{name: In(width) for name in ("taken", "subtracted")},
            **{name: In(4) for name in ("entry", "address_next")},
            "added": Out(words * width),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the adder of an entry's words, and the memories."""
        m = Module()
        width = self.width
        right = Signal(width, reset_less=True)
        carry = Signal()
        total = Signal(width + 1)
        m.d.comb += total.eq(word_sum(self.taken, right, carry))
        m.d.sync += [
            right.eq(~self.subtracted),
            carry.eq(~self.adding | total[width]),
            self._word.eq(total[:width]),
        ]
        with m.If(self.clear):
            m.d.sync += self._word.eq(0)

        clears = (~self.running, ~self.running, ~self.running, ~self.selecting)
        addresses = [
            spread(m, self.address_next[k], self.words, name=f"address{k}", clear=clear)
            for k, clear in enumerate(clears)
        ]
        enable = Signal()
        m.d.sync += enable.eq(self.begins)
        added: list[Value] = []
        for index, memory in enumerate(self._memories):
            enabled = Signal(name=f"enabled_{index}")
            m.d.sync += enabled.eq(enable)
            enable = enabled
            m.submodules[f"table_{index}"] = memory
            write, read = memory.write_port(), memory.read_port(domain="comb")
            m.d.comb += [
                write.addr.eq(self.entry),
                write.data.eq(self._word),
                write.en.eq(enabled | self.wiping),
                read.addr.eq(Cat(bits[index] for bits in addresses)),
            ]
            added.append(read.data)
        m.d.comb += self.added.eq(Cat(*added))
        return m


class MultipleSelector(wiring.Component):
    """Which multiple of M a pass subtracts, found out in the pass before it.

    Members
    -------
    tabulating, summing, doubling, closing, clear_c (in, of TabulatingControl)
    overflow (in): o, which has weight 2^N
    carry, reaches (in, of PassAdder)
    once, twice (out): M, 2M is subtracted from S
    exceeds (out): M is subtracted from F, which gives the entry
    """

    def __init__(self) -> None:
        flags = ("tabulating", "summing", "doubling", "closing", "clear_c")
        ports = {
            **{name: In(1) for name in (*flags, "overflow", "carry", "reaches")},
            "once": Out(1, init=1),
            **dict.fromkeys(("twice", "exceeds"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Compare what is above the registers."""
        m = Module()
        # What S + C + o * 2^N has above the registers, 0 to 2. 2M has a 1 there, M has none.
        above, above_now = Signal(2), Signal(2)
        with m.If(self.summing):
            m.d.comb += above_now.eq(self.overflow + self.carry)
        with m.Else():
            m.d.comb += above_now.eq(above - self.twice - 1 + self.carry)
        reached = Signal()
        with m.If(self.tabulating):
            m.d.comb += reached.eq(self.reaches)
        with m.Elif(self.doubling):
            m.d.comb += reached.eq(above_now + self.reaches >= 2)
        with m.Else():
            m.d.comb += reached.eq(above_now + self.reaches >= 1)
        with m.If(self.closing):
            m.d.sync += [
                above.eq(above_now),
                self.exceeds.eq(reached),
                self.once.eq(Mux(self.tabulating, ~reached, reached & ~self.doubling)),
                self.twice.eq(reached & (self.tabulating | self.doubling)),
            ]
        with m.If(self.clear_c):
            m.d.sync += [self.exceeds.eq(0), self.once.eq(1), self.twice.eq(0)]
        return m


class InterleavedCsa(CarrySaveMultiplier):
    """X * Y mod M, from the highest bit of X down.

    A round doubles S and C, cuts them to N bits, and adds an entry of a table: x_i and what was cut
    off, the count k = s_top + c_top + 2o, select (k * 2^N + x_i * Y) mod M. o is the carry out of
    the sum, of weight 2^N. k is 0 to 4, so the table has ten entries: it lies in LUTs as a memory
    of 16 words for each digit. After the rounds S + C + o * 2^N < 5M (docs/bitserial.md).

    Y < M; 2^(N-1) <= M < 2^N, as operands are aligned; X < 2^rounds. M may be even.

    ============= ============ ============================================================
    cycles        state        what happens
    ============= ============ ============================================================
    5             LOADING      Y is asked for, word by word; 5 cycles later it comes
    5 (D + 2)     TABULATING   five passes make the entries with Y; the first takes Y
    1             STARTING     the first entry's address: count 0, and the bit of X
    rounds        RUNNING
    D             MOVING       S goes into M's register
    1             TRANSFERRING C goes into S
    max(0, 3 - D) WAITING      until the first word of M comes
    D + 2         SUMMING      S + what was in M's register goes into S; M is loaded again; the
                               sum is compared with 2M
    2 (D + 2)     REDUCING     2M is subtracted from S if S was not below it; S is compared
                               with 2M, and in the second pass with M
    D + 2         WRITING      S, less M if it was not below M, is written
    ============= ============ ============================================================

    From an entry E the next one is made as F = E + 2^N - M, less M if F is not below M. S holds F.
    A pass computes E from it, writes E to the table, and has S take the next F = E - M (mod 2^N).
    A preparation does the same with 0 for Y.

    The registers turn word by word as `CarrySaveMultiplier` says.
    """

    computes = InterleavedMultiplication

    def elaborate(self, platform: object) -> Module:
        """Build a round, and the registers around the table and the adder of words."""
        m = Module()
        control = TabulatingControl(self)
        control.connect(m, self)
        m.submodules.table = table = EntryTable(self.words, self.digit_width)
        m.submodules.selector = selector = MultipleSelector()
        width, n = self.digit_width, self.width
        s, c = self.s, self.c
        modulus = Signal(n, reset_less=True)
        adder = self.add_passes(m, control)

        # --- A round ----------------------------------------------------------------------------
        overflow = Signal()  # o
        sums, carries = carry_save(Cat(Const(0, 1), s), Cat(Const(0, 1), c), table.added)
        row_s, row_c = sums[:n], Cat(Const(0, 1), carries)[:n]
        overflow_next = carries[n - 1]
        self.add_registers(m, control, adder, row_s, row_c)
        with m.If(control.running):
            m.d.sync += overflow.eq(overflow_next)
        with m.If(control.clear_c):
            m.d.sync += overflow.eq(0)
        m.d.comb += [
            # The count, one round ahead: the address comes out of flip-flops.
            table.address_next.eq(
                Cat((row_s[-1] + row_c[-1] + (overflow_next << 1))[:3], control.x_next)
            ),
            table.running.eq(control.running),
            table.selecting.eq(control.selecting),
        ]

        # --- Words that are added and compared --------------------------------------------------
        lost = Signal()  # the bit above those of C that are in S
        with m.If(control.transferring):
            m.d.sync += lost.eq(c[n - 1])
        top = Mux(control.final, lost, s[width]) if self.words > 1 else lost
        # F in S, or Y's word: S is empty while Y comes, and words are zero later; or C's word.
        low, high = modulus[:width], modulus[n - width :]
        # 2M's word: the bit below comes from the word that was low before, and is now high.
        low_doubled = Cat(modulus[n - 1] & ~control.first, low)[:width]
        multiple = (low & selector.once.replicate(width)) | (
            low_doubled & selector.twice.replicate(width)
        )
        second = Signal()  # the first word of M is at the high end
        m.d.sync += second.eq(control.first)
        below = modulus[n - width - 1] & ~second if self.words > 1 else Const(0, 1)
        m.d.comb += [
            adder.left.eq(Mux(control.summing, Cat(s[1:width], top), s[:width] | control.word)),
            adder.right.eq(Mux(control.summing, low, ~multiple)),
            adder.compared.eq(Mux(control.doubling, Cat(below, high)[:width], high)),
            selector.overflow.eq(overflow),
            selector.carry.eq(adder.carry),
            selector.reaches.eq(adder.reaches),
            selector.tabulating.eq(control.tabulating),
            selector.summing.eq(control.summing),
            selector.doubling.eq(control.doubling),
            selector.closing.eq(control.closing),
            selector.clear_c.eq(control.clear_c),
            table.begins.eq(control.tabulating & control.first),
            table.entry.eq(control.entry),
            table.taken.eq(adder.taken),
            table.subtracted.eq(low & selector.exceeds.replicate(width)),
            table.adding.eq(adder.adding),
            # A reset may have left S as it was, and with it the word that is written to the table.
            table.clear.eq(control.forget | control.wiping),
            table.wiping.eq(control.wiping),
        ]

        self._move_modulus(m, control, modulus)
        # The adders hold nothing of the operands two cycles after this.
        with m.If(control.forget):
            m.d.sync += [modulus.eq(0), lost.eq(0)]
        self.secrets += [modulus, lost, *table.secrets]
        return m

    def _move_modulus(self, m: Module, control: TabulatingControl, modulus: Signal) -> None:
        """It turns word by word as it is loaded, added, compared and tabulated."""
        width, s = self.digit_width, self.s
        low = modulus[:width]
        modulus_moves, moving = Signal(), Signal()
        m.d.sync += [
            modulus_moves.eq(control.entering_next | control.moving_next | control.passing_next),
            moving.eq(control.moving_next),
        ]
        loading = control.summing | (control.preparing & ~control.tabulating)
        with m.If(modulus_moves):
            m.d.sync += modulus.eq(
                turned(modulus, Mux(loading, control.word, Mux(moving, s[:width], low)))
            )
