"""KARATSUBA's Montgomery multiplier of very high radix: word-pipelined, without a stall.

Source: San, At (2014), Algorithm 4 and sections 4.3 to 4.6. What differs:

* S_(i+1,0) * M' and (X_0 * M') * Y_(i+1) make q_(i+1), the second one ahead of time. One multiplier
  does both, and X_0 * Y_i needs none of its own.
* The word of j = 0 is zero by the choice of q, so its sum is not formed: its carry is known from
  whether S_(i,0) is zero. In its place the adder forms the last word of the iteration before. So an
  iteration takes as many cycles as there are words, D, and the paper's d + 1 is our D.
"""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib.memory import Memory

from coprime.cells.karatsuba import KaratsubaProduct
from coprime.cells.target import Target

from .contract import READ_LATENCY, ModularMultiplier, MultiplierSignature, Role

__all__ = ["KaratsubaMultiplier"]

ASK = READ_LATENCY + 1
"""Cycles from asking for a word to its use as a factor: a register takes what the memory gives."""
ADD = 3
"""Stages of the adders: halves of both products, with the upper half before, with S and carry."""


class KaratsubaMultiplier(ModularMultiplier):
    """X * Y * 2^(-w*rounds) mod M, not fully reduced.

    X, the multiplicand, and M have D = `inner` words of w bits, at least 2; Y, the multiplier, has
    as many as there are rounds. The result is below X*Y / 2^(w*rounds) + M, so below 2M where
    X < 2M, Y < 2M and 2^(w*rounds) > 4M; S stays below X + M, and must fit in D words. M is odd.

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

    Parameters
    ----------
    width : int
        w, bits of a word: 16, 32 or 64.
    max_digits : int
        Words of the longest modulus.
    count_bits : int
        Bits of a digit count.
    latency : int
        k, 1 to KaratsubaProduct.most(width).
    target : Target
    """

    canonical = False
    prepares = True

    def __init__(
        self,
        width: int,
        max_digits: int,
        count_bits: int,
        latency: int,
        target: Target = Target.GENERIC,
    ):
        if latency < 1:
            raise ValueError(f"latency must be at least 1, not {latency}")
        self.width = width
        self.max_digits = max_digits
        self.count_bits = count_bits
        self.latency = latency
        self.target = Target(target)
        super().__init__(MultiplierSignature(width, count_bits, count_bits, two_streams=True))

    @property
    def loading(self) -> int:
        """Cycles before the first slot."""
        return ASK + 2 * self.latency + 2

    def period(self, inner: int) -> int:
        """Cycles from one iteration to the next: `inner`, unless q takes longer."""
        return max(inner, 2 * self.latency + ADD + 2)

    def cycles(self, inner: int, rounds: int) -> int:
        """Cycles of one multiplication: D^2 + 3k + 10 for D words and rounds without a stall."""
        return self.loading + (rounds - 1) * self.period(inner) + inner + self.latency + ADD + 1

    def products(self, inner: int, rounds: int) -> int:
        """Slots in which X_j * Y_i and q_i * M_j enter."""
        return inner * rounds

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of reading M' and the words of M."""
        return inner + 1 + ASK

    @property
    def clear_cycles(self) -> int:
        """Cycles of a wipe: every word of the memories, and all that is on its way to them."""
        return max(self.max_digits, ASK + self.latency + ADD + 2)

    def product(self, multiplicand: int, multiplier: int, modulus: int, rounds: int) -> int:
        """(X * Y + q * M) / R with the q below R = 2^(w*rounds) that makes it an integer."""
        radix = 1 << (self.width * rounds)
        product = multiplicand * multiplier
        q = -product * pow(modulus, -1, radix) % radix
        return (product + q * modulus) // radix

    def elaborate(self, platform: object) -> Module:
        """Build the schedule above."""
        m = Module()
        width, k = self.width, self.latency
        of_x, of_m, of_q = (KaratsubaProduct(width, k, target=self.target) for _ in range(3))
        m.submodules.product_x, m.submodules.product_m, m.submodules.product_q = of_x, of_m, of_q
        shape = {"shape": width, "depth": self.max_digits, "init": []}
        attributes = {"ram_style": "distributed"}
        m.submodules.modulus = modulus = Memory(**shape, attrs=attributes)
        m.submodules.sums = sums = Memory(**shape, attrs=attributes)
        m_write, m_read = modulus.write_port(), modulus.read_port(domain="comb")
        s_write, s_read = sums.write_port(), sums.read_port(domain="comb")

        # --- Asking for words: two counters, ASK cycles ahead of the slots -----------------------
        i = Signal(self.count_bits)
        j = Signal(range(max(self.max_digits, self.period(2), self.clear_cycles) + 1))
        period = Signal.like(j)
        asks, begins, loads, clears = (
            Signal(name=name) for name in ("asks", "begins", "loads", "clears")
        )
        last_word, last_round, finished = (
            Signal(name=name) for name in ("last_word", "last_round", "finished")
        )
        m.d.comb += [
            period.eq(Mux(self.inner_digits < self.period(2), self.period(2), self.inner_digits)),
            last_word.eq(j + 1 == self.inner_digits),
            last_round.eq(i + 1 == self.outer_digits),
        ]
        with m.FSM() as fsm:
            with m.State("IDLE"):
                m.d.sync += [i.eq(0), j.eq(0)]
                with m.If(self.wipe):
                    m.next = "CLEAR"
                with m.Elif(self.prepare):
                    m.next = "LOAD"
                with m.Elif(self.start):
                    m.next = "BEGIN"
            with m.State("CLEAR"):
                m.d.comb += clears.eq(1)
                m.d.sync += j.eq(j + 1)
                with m.If(j == self.clear_cycles - 1):
                    m.next = "IDLE"
            with m.State("LOAD"):  # the words of M, then M'
                m.d.comb += loads.eq(1)
                m.d.sync += j.eq(j + 1)
                with m.If(j == self.inner_digits):
                    m.next = "LOADED"
            with m.State("LOADED"), m.If(finished):
                m.next = "IDLE"
            with m.State("BEGIN"):  # X_0 and Y_0, and until q_0 is nearly there
                m.d.comb += begins.eq(j == 0)
                m.d.sync += j.eq(j + 1)
                with m.If(j == self.loading - ASK - 1):
                    m.d.sync += j.eq(0)
                    m.next = "RUN"
            with m.State("RUN"):
                m.d.comb += asks.eq(j < self.inner_digits)
                m.d.sync += j.eq(j + 1)
                with m.If(j + 1 == period):
                    m.d.sync += [j.eq(0), i.eq(i + 1)]
                with m.If(last_round & last_word):
                    m.next = "DRAIN"
            with m.State("DRAIN"), m.If(finished):
                m.next = "IDLE"
        m.d.comb += [
            self.a_role.eq(Mux(loads, Role.MODULUS, Role.MULTIPLICAND)),
            self.a_index.eq(j),
            self.multiplying.eq(asks),
        ]
        with m.If(loads & (j == self.inner_digits)):
            m.d.comb += [self.a_role.eq(Role.INVERSE), self.a_index.eq(0)]
        # Y_(i+1) is asked for when slot 0 of iteration i is ASK - 1 cycles ahead.
        next_y = Signal()
        m.d.comb += next_y.eq(asks & (j == 1))

        # --- Factors, and when what was asked for is where ----------------------------------------
        made_at = ASK + k + ADD  # from asking for a word to the sum of its slot
        begun = history(m, "begun", begins, ASK + k + 1)
        slots = history(m, "slots", asks, made_at + 1)
        first_words = history(m, "first_words", asks & (j == 0), made_at + 1)
        word_index = history(m, "word_index", j, made_at + 1)
        opening = history(m, "opening", asks & (i == 0), ASK + k + 1)  # iteration 0, where S is 0
        closing = history(m, "closing", last_round, made_at + 1)
        loaded = history(m, "loaded", loads, ASK)
        inverse_loaded = history(m, "inverse_loaded", loads & (j == self.inner_digits), ASK)
        ended = history(m, "ended", asks & last_round & last_word, made_at + 1)
        x, y, y_next, m_j, inverse = (
            Signal(width, name=name) for name in ("x", "y", "y_next", "m_j", "inverse")
        )
        q, q_waiting, x_0, ahead, s_word = (
            Signal(width, name=name) for name in ("q", "q_waiting", "x_0", "ahead", "s_word")
        )
        m.d.sync += [x.eq(self.a_data), m_j.eq(m_read.data)]
        m.d.comb += m_read.addr.eq(word_index[ASK - 1])
        y_first = history(m, "y_first", begins, READ_LATENCY)[-1]
        y_later = history(m, "y_later", next_y, READ_LATENCY)[-1]
        with m.If(y_first | y_later):
            # The number 1 has its only 1 in word 0.
            m.d.sync += y_next.eq(Mux(self.multiplier_is_one, y_first, self.b_data))
        with m.If(inverse_loaded[ASK]):
            m.d.sync += inverse.eq(x)
        m.d.comb += [
            m_write.addr.eq(word_index[ASK]),
            m_write.data.eq(x),
            m_write.en.eq(loaded[ASK] & ~inverse_loaded[ASK]),
        ]

        # --- q, on its own multiplier ------------------------------------------------------------
        first, second = begun[ASK], begun[ASK + k + 1]  # X_0 * M', and that times Y_0
        early, late = first_words[ASK + 1], first_words[made_at + 1]
        q_sum = Signal(width)
        m.d.comb += [
            of_q.x.eq(Mux(first, x, Mux(late, s_word, x_0))),
            of_q.y.eq(Mux(first | late, inverse, y_next)),
            q_sum.eq(of_q.product[:width] + ahead),
        ]
        with m.If(history(m, "first", first, k)[-1]):
            m.d.sync += [x_0.eq(of_q.product), ahead.eq(0)]
        with m.If(history(m, "early", early, k)[-1]):
            m.d.sync += ahead.eq(of_q.product)
        made = history(m, "made", second | late, k)[-1]
        with m.If(made):
            m.d.sync += q_waiting.eq(q_sum)
        with m.If(first_words[ASK - 1]):
            m.d.sync += [q.eq(Mux(made, q_sum, q_waiting)), y.eq(y_next)]

        # --- Products and sums -------------------------------------------------------------------
        m.d.comb += [of_x.x.eq(x), of_x.y.eq(y), of_m.x.eq(m_j), of_m.y.eq(q)]
        low, high, high_before = (
            Signal(width + 1, name=name) for name in ("low", "high", "high_before")
        )
        m.d.sync += [
            low.eq(of_x.product[:width] + of_m.product[:width]),
            high.eq(of_x.product[width:] + of_m.product[width:]),
            high_before.eq(high),
        ]
        # Without L, which in slot 0 is not wanted, and beyond the last word not there, this is
        # the last word of an iteration.
        halves = Signal(width + 2)
        at = ASK + k + 1
        has_low = slots[at] & ~first_words[at]
        m.d.sync += halves.eq(Mux(has_low, low, 0) + high_before)
        s = Signal(width)
        s_is_nonzero, low_carry = Signal(), Signal()
        m.d.comb += s_read.addr.eq(word_index[at])
        m.d.sync += [
            s.eq(Mux(has_low & ~opening[at], s_read.data, 0)),
            s_is_nonzero.eq(~opening[at] & s_read.data.any()),
            low_carry.eq(low[width]),
        ]
        carry = Signal(3)  # V, S and C are below 5 * 2^w
        total = Signal(width + len(carry))
        m.d.comb += total.eq(halves + s + carry)
        # In slot 0 L_0 + S_(i,0) is 0 modulo 2^w: a 1 is carried unless both are 0.
        m.d.sync += [
            s_word.eq(total),
            carry.eq(Mux(first_words[at + 1], low_carry + s_is_nonzero, total[width:])),
        ]
        # A sum has the index of the slot before: it is shifted down by a word.
        made_slot = made_at + 1
        # After a reset the shift registers still tell of what was under way before it.
        runs = fsm.ongoing("RUN") | fsm.ongoing("DRAIN")
        m.d.comb += [
            s_write.addr.eq(word_index[made_slot]),
            s_write.data.eq(s_word),
            s_write.en.eq(slots[made_slot]),
            self.b_multiplier.eq(begins | next_y),
            self.b_write.eq(runs & slots[made_slot] & closing[made_slot]),
            self.b_write_data.eq(s_word),
            self.b_index.eq(Mux(self.b_write, word_index[made_slot], Mux(begins, 0, i + 1))),
            finished.eq(Mux(fsm.ongoing("LOADED"), inverse_loaded[ASK], runs & ended[made_slot])),
            self.done.eq(finished),
        ]

        # --- Nothing of the operands is left -----------------------------------------------------
        with m.If(clears):
            m.d.comb += [
                m_write.addr.eq(j),
                m_write.data.eq(0),
                m_write.en.eq(1),
                s_write.addr.eq(j),
                s_write.data.eq(0),
                s_write.en.eq(1),
            ]
            m.d.sync += [
                register.eq(0)
                for register in (x, y, y_next, m_j, inverse, q, q_waiting, x_0, ahead, s_word)
            ]
        return m


def history(m: Module, name: str, value: Value, cycles: int) -> list[Signal]:
    """The value as it was 0, 1, ... `cycles` cycles ago; shift registers without a reset."""
    taps = [Signal(value.shape(), name=name)]
    m.d.comb += taps[0].eq(value)
    for age in range(1, cycles + 1):
        taps.append(Signal(value.shape(), name=f"{name}_{age}", reset_less=True))
        m.d.sync += taps[age].eq(taps[age - 1])
    return taps
