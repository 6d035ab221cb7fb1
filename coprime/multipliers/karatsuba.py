"""KARATSUBA's Montgomery multiplier of very high radix: word-pipelined, without a stall.

Source: San, At (2014), Algorithm 4 and sections 4.3 to 4.6. What differs:

* S_(i+1,0) * M' and (X_0 * M') * Y_(i+1) make q_(i+1), the second one ahead of time. One multiplier
  does both, and X_0 * Y_i needs none of its own.
* The word of j = 0 is zero by the choice of q, so its sum is not formed: its carry is known from
  whether S_(i,0) is zero. In its place the adder forms the last word of the iteration before. So an
  iteration takes as many cycles as there are words, D, and the paper's d + 1 is our D.

Beyond the paper:

* The modulus `scaled` (Orup, 1995): modulo c * M with c = M' = -M^-1 mod 2^w, whose lowest word is
  -1, q_(i+1) is S_(i+1,0) + X_0 * Y_(i+1) without a multiplication. There are two multipliers of
  words instead of three, and one word more.
* Two multiplications `interleaved`: their iterations take turns, so that neither waits for its q.
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Out
from amaranth.utils import bits_for

from coprime.cells.karatsuba import KaratsubaProduct
from coprime.cells.target import Target

from .contract import READ_LATENCY, ModularMultiplier, MultiplierSignature, Role
from .delays import history
from .karatsuba_schedule import ASK, KaratsubaMultiplication, Schedule

__all__ = ["KaratsubaMultiplier"]


class KaratsubaMultiplier(ModularMultiplier):
    """The hardware of a `KaratsubaMultiplication`, which has the ranges of its operands.

    In the slot of word j, in iteration i, X_j and Y_i, and M_j and q_i, enter their multipliers. A
    slot is a cycle; the next iteration begins D slots later, or `period` slots where q_(i+1) needs
    longer. With k the latency of a product, counted from slot 0 of iteration i:

    ============ ==================================================================
    slot         what is there
    ============ ==================================================================
    1            X_0' * Y_(i+1) enters the multiplier of q; X_0' = X_0 * M' mod 2^w
    j + k        X_j * Y_i and q_i * M_j                           (R1, R2, R4, R5)
    j + k + 1    L_j and H_j: both lower halves, both upper halves (R3)
    j + k + 2    V_j = L_j + H_(j-1)                               (lines 13, 14: R6)
    j + k + 3    V_j + S_(i,j) + C: S_(i+1,j-1), and the next C    (lines 15 to 17: R8)
    k + 4        S_(i+1,0) * M' enters the multiplier of q
    2k + 4       q_(i+1), which goes into its register             (line 6)
    ============ ==================================================================

    Before the first slot X_0 and Y_0 are read, and q_0 is made: `loading` cycles.

    **Scaled**, S and the results are modulo c * M, and D is the number of its words. X_0 * Y_(i+1),
    of which q_(i+1) needs the lower half, takes slot 0 of iteration i; that of X_0 * Y_i waits from
    the iteration before. q_(i+1) is there in slot k + 4. Where `leaves` is 1, the last round is one
    modulo M itself: its q is S_0 * c, and it adds q * M alone, so Y's last word must be zero. The
    result, congruent modulo M, is below (S + (2^w - 1) * M) / 2^w, with S before that round.

    **Interleaved**, a second multiplication comes through the ports `other`: started in the same
    cycle, with the same lengths, it takes the turns between those of the first one, and `done` is
    common. Each has half of the multiplier's time, and twice the time for its q.

    Parameters
    ----------
    multiplication : KaratsubaMultiplication
    max_digits : int
        Words of the longest modulus; of its scaled form.
    count_bits : int
        Bits of a digit count.
    target : Target
    """

    multiplication: KaratsubaMultiplication

    def __init__(
        self,
        multiplication: KaratsubaMultiplication,
        max_digits: int,
        count_bits: int,
        target: Target = Target.GENERIC,
    ):
        self.multiplication = multiplication
        self.max_digits = max_digits
        self.count_bits = count_bits
        self.target = Target(target)
        ports = MultiplierSignature(
            multiplication.digit_width,
            count_bits,
            count_bits,
            two_streams=True,
            scaled=multiplication.scaled,
        )
        interleaved = multiplication.interleaved
        super().__init__({**ports.members, "other": Out(ports)} if interleaved else ports)

    @property
    def clear_cycles(self) -> int:
        """Cycles of a wipe: every word of the memories, and all that is on its way to them."""
        return max(self._depth, self.multiplication.made + 2)

    @property
    def _depth(self) -> int:
        """Words of each of the memories."""
        interleaved: int = 2 << bits_for(self.max_digits - 1)
        return interleaved if self.multiplication.interleaved else self.max_digits

    def elaborate(self, platform: object) -> Module:
        """Build the schedule above."""
        m = Module()
        own = self.multiplication
        width, k, made = own.digit_width, own.latency, own.made
        ports = [self, self.other] if own.interleaved else [self]
        of_x, of_m = (KaratsubaProduct(width, k, target=self.target) for _ in range(2))
        m.submodules.product_x, m.submodules.product_m = of_x, of_m
        shape = {"shape": width, "depth": self._depth, "init": []}
        attributes = {"ram_style": "distributed"}
        m.submodules.modulus = modulus = Memory(**shape, attrs=attributes)
        m.submodules.sums = sums = Memory(**shape, attrs=attributes)
        m_write, m_read = modulus.write_port(), modulus.read_port(domain="comb")
        s_write, s_read = sums.write_port(), sums.read_port(domain="comb")
        m.submodules.schedule = asked = Schedule(
            own, self.max_digits, self.count_bits, self.clear_cycles
        )
        m.d.comb += [
            asked.start.eq(self.start),
            asked.prepare.eq(self.prepare),
            asked.wipe.eq(self.wipe),
            asked.inner_digits.eq(self.inner_digits),
            asked.outer_digits.eq(self.outer_digits),
        ]
        if own.scaled:
            m.d.comb += asked.leaves.eq(self.leaves)
        if own.interleaved:
            m.d.comb += asked.together.eq(self.other.start | self.other.prepare)
        at = _Ages(m, asked, made + 1, interleaved=own.interleaved)

        # --- Factors -----------------------------------------------------------------------------
        x, y, q, m_j, s_word = (
            Signal(width, name=name) for name in ("x", "y", "q", "m_j", "s_word")
        )
        inverse, y_next = self._each("inverse"), self._each("y_next")
        remembered = [x, y, q, m_j, s_word, *inverse, *y_next]
        come = at.turn[READ_LATENCY]
        y_word, loads_inverse = Signal(width), at.loads_inverse[ASK]
        m.d.comb += y_word.eq(Array(port.b_data for port in ports)[come])
        with m.If(self.multiplier_is_one):  # it has its only 1 in word 0
            m.d.comb += y_word.eq(at.begins[READ_LATENCY])
        with m.If(at.asks_y[READ_LATENCY]):
            m.d.sync += y_next[come].eq(y_word)
        with m.If(loads_inverse):
            m.d.sync += inverse[at.turn[ASK]].eq(x)
        m.d.sync += [x.eq(Array(port.a_data for port in ports)[come]), m_j.eq(m_read.data)]
        m.d.comb += [
            m_read.addr.eq(self._address(at.word[ASK - 1], at.turn[ASK - 1])),
            of_x.x.eq(x),
            of_x.y.eq(y),
            of_m.x.eq(m_j),
            of_m.y.eq(q),
        ]
        product = Signal(2 * width)  # X_j * Y_i
        m.d.comb += product.eq(of_x.product)

        # --- q is made, and waits for its iteration ----------------------------------------------
        q_waiting = self._each("q_waiting")
        remembered += q_waiting
        q_made, is_made, made_turn = Signal(width), Signal(), Signal()
        with m.If(is_made):
            m.d.sync += q_waiting[made_turn if own.interleaved else 0].eq(q_made)
        turn = at.turn[ASK - 1]
        q_next = Mux(is_made & (made_turn == turn), q_made, q_waiting[turn])
        with m.If(at.iterations[ASK - 1]):
            m.d.sync += [q.eq(q_next), y.eq(y_next[turn])]
            if own.scaled:
                with m.If(at.leaving[ASK - 1]):  # the last q meets M's words in the place of X's
                    m.d.sync += [q.eq(0), y.eq(q_next)]
        late, late_turn = at.iterations[made + 1], at.turn[made + 1]  # S_(i+1,0) is there
        if own.scaled:
            first, first_turn = at.iterations[ASK], at.turn[ASK]
            y_now, kept = self._each("y_now"), self._each("kept", 2 * width)
            remembered += [*y_now, *kept]
            # X_0 meets Y_(i+1) in slot 0, and the other words meet Y_i.
            with m.If(at.begins[READ_LATENCY]):
                m.d.sync += y.eq(y_word)
            with m.If(at.begins[ASK] | first):
                m.d.sync += y_now[first_turn].eq(y_next[first_turn])
            with m.If(first & ~at.leaving[ASK]):
                m.d.sync += y.eq(y_now[first_turn])
            begun, begun_turn = at.begins[ASK + k], at.turn[ASK + k]
            ahead = at.iterations[ASK + k] & ~at.leaving[ASK + k]
            with m.If(ahead):
                m.d.comb += product.eq(kept[begun_turn])
            with m.If(begun | ahead):
                m.d.sync += kept[begun_turn].eq(of_x.product)
            # Modulo M the last q is S_0 * c.
            with m.If(asked.takes_last):
                m.d.sync += [x.eq(q_waiting[at.turn[0]]), y.eq(inverse[at.turn[0]])]
            last = history(m, "last", asked.takes_last, k + 1)[-1]
            last_turn = history(m, "last_turn", at.turn[0], k + 1)[-1]
            m.d.comb += [
                is_made.eq(begun | late | last),
                made_turn.eq(Mux(late, late_turn, Mux(last, last_turn, begun_turn))),
                q_made.eq(
                    Mux(late, s_word + kept[late_turn][:width], of_x.product[:width])[:width]
                ),
            ]
            # While M is loaded, it is multiplied by c, and nothing else is added.
            with m.If(loads_inverse):
                m.d.sync += [y.eq(x), q.eq(0)]
        else:
            x_0, ahead_0 = self._each("x_0"), self._each("ahead")
            remembered += [*x_0, *ahead_0]
            m.submodules.product_q = of_q = KaratsubaProduct(width, k, target=self.target)
            first, second = at.begins[ASK], at.begins[ASK + k + 1]  # X_0 * M', and that times Y_0
            early = at.iterations[ASK + 1]  # X_0' * Y_(i+1)
            q_turn = Signal()
            m.d.comb += q_turn.eq(at.turn[ASK + k + 1])
            for now, own_turn in (
                (early, at.turn[ASK + 1]),
                (first, at.turn[ASK]),
                (late, late_turn),
            ):
                with m.If(now):
                    m.d.comb += q_turn.eq(own_turn)
            of_turn = q_turn if own.interleaved else 0
            m.d.comb += [
                of_q.x.eq(Mux(first, x, Mux(late, s_word, x_0[of_turn]))),
                of_q.y.eq(Mux(first | late, inverse[of_turn], y_next[of_turn])),
                is_made.eq(history(m, "made", second | late, k)[-1]),
                made_turn.eq(history(m, "made_turn", q_turn, k)[-1]),
            ]
            then = made_turn if own.interleaved else 0
            m.d.comb += q_made.eq(of_q.product[:width] + ahead_0[then])
            with m.If(history(m, "first", first, k)[-1]):
                m.d.sync += [x_0[then].eq(of_q.product), ahead_0[then].eq(0)]
            with m.If(history(m, "early", early, k)[-1]):
                m.d.sync += ahead_0[then].eq(of_q.product)

        # --- Sums --------------------------------------------------------------------------------
        low, high, high_before = (
            Signal(width + 1, name=name) for name in ("low", "high", "high_before")
        )
        m.d.sync += [
            low.eq(product[:width] + of_m.product[:width]),
            high.eq(product[width:] + of_m.product[width:]),
            high_before.eq(high),
        ]
        # Without L, which in slot 0 is not wanted, and beyond the last word not there, this is
        # the last word of an iteration.
        halves = Signal(width + 2)
        now = ASK + k + 1
        has_low = at.slots[now] & ~at.first_words[now]
        m.d.sync += halves.eq(Mux(has_low, low, 0) + high_before)
        s = Signal(width)
        s_is_nonzero, low_carry = Signal(), Signal()
        m.d.comb += s_read.addr.eq(self._address(at.word[now], at.turn[now]))
        m.d.sync += [
            s.eq(Mux(has_low & ~at.opens[now], s_read.data, 0)),
            s_is_nonzero.eq(~at.opens[now] & s_read.data.any()),
            low_carry.eq(low[width]),
        ]
        carry = Signal(3)  # V, S and C are below 5 * 2^w
        total = Signal(width + len(carry))
        m.d.comb += total.eq(halves + s + carry)
        # In slot 0 L_0 + S_(i,0) is 0 modulo 2^w: a 1 is carried unless both are 0.
        m.d.sync += [
            s_word.eq(total),
            carry.eq(Mux(at.first_words[now + 1], low_carry + s_is_nonzero, total[width:])),
        ]

        # --- Where the words go ------------------------------------------------------------------
        # A sum has the index of the slot before: it is shifted down by a word.
        written = self._address(at.word[made + 1], at.turn[made + 1])
        m.d.comb += [
            s_write.addr.eq(written),
            s_write.data.eq(s_word),
            s_write.en.eq(at.slots[made + 1]),
        ]
        # M comes as it is, or multiplied by c, with -1 as its lowest word.
        load_age = made if own.scaled else ASK
        m.d.comb += [
            m_write.addr.eq(self._address(at.word[load_age], at.turn[load_age])),
            m_write.data.eq(Mux(at.first_words[made], -1, s_word) if own.scaled else x),
            m_write.en.eq(at.loads[load_age]),
            asked.finished.eq(
                Mux(at.loads[load_age], at.ends[load_age], at.ends[made + 1] & at.closes[made + 1])
            ),
        ]
        for stream, port in enumerate(ports):
            mine, done_mine = (at.turn[age] == stream for age in (0, made + 1))
            writes = at.closes[made + 1] & done_mine
            m.d.comb += [
                port.a_role.eq(
                    Mux(
                        asked.loads_inverse,
                        Role.INVERSE,
                        Mux(asked.loads | asked.leaving, Role.MODULUS, Role.MULTIPLICAND),
                    )
                ),
                port.a_index.eq(asked.word),
                port.b_multiplier.eq(asked.asks_y & mine),
                port.b_write.eq(writes),
                port.b_write_data.eq(s_word),
                port.b_index.eq(Mux(writes, at.word[made + 1], asked.y_index)),
                port.done.eq(asked.finished),
            ]
        m.d.comb += self.multiplying.eq(asked.asks)

        # --- Nothing of the operands is left -----------------------------------------------------
        with m.If(asked.clears):
            for write in (m_write, s_write):
                m.d.comb += [write.addr.eq(asked.word), write.data.eq(0), write.en.eq(1)]
            m.d.sync += [register.eq(0) for register in remembered]
        return m

    def _each(self, name: str, width: int | None = None) -> Array:
        """A register for each multiplication."""
        shape = self.multiplication.digit_width if width is None else width
        names = [name, f"{name}_other"] if self.multiplication.interleaved else [name]
        return Array(Signal(shape, name=each) for each in names)

    def _address(self, word: Value, turn: Value | int) -> Value:
        """Of a word in a memory that both multiplications share."""
        if not self.multiplication.interleaved:
            return word
        return Cat(word[: bits_for(self.max_digits - 1)], turn)


class _Ages:
    """What was asked for, as it was 0, 1, ... cycles ago."""

    def __init__(self, m: Module, asked: Schedule, cycles: int, *, interleaved: bool):
        def ages(name: str, value: Value, *, reset: bool = False) -> list[Signal]:
            return history(m, name, value, cycles, reset=reset)

        words = asked.asks | asked.loads
        self.begins = ages("begins", asked.begins)
        self.slots = ages("slots", words)
        self.first_words = ages("first_words", words & (asked.word == 0))
        self.iterations = ages("iterations", asked.asks & (asked.word == 0))
        self.word = ages("word", asked.word)
        self.loads = ages("loads", asked.loads)
        self.loads_inverse = ages("loads_inverse", asked.loads_inverse)
        self.asks_y = ages("asks_y", asked.asks_y)
        self.opens = ages("opens", asked.opens)
        self.leaving = ages("leaving", asked.leaving)
        # After a reset nothing may be written or reported of what was under way before it.
        self.closes = ages("closes", asked.closes, reset=True)
        self.ends = ages("ends", asked.ends, reset=True)
        self.turn = ages("turn", asked.turn) if interleaved else [0] * (cycles + 1)
