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

from collections.abc import Sequence

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from coprime.cells.karatsuba_product import KaratsubaProduct
from coprime.cells.target import Target
from coprime.cells.wires import same_named

from ..contract import ModularMultiplier, MultiplierSignature, Role
from ..delays import history, past_value, stages
from ..multiplication import READ_LATENCY
from .factors import Factors
from .memory import WordMemory
from .multiplication import ASK, KaratsubaMultiplication
from .quotient import ProductQuotient, ScaledQuotient
from .schedule import Schedule
from .sums import Sums


class KaratsubaMultiplier(ModularMultiplier):
    """X * Y * 2^(-w*rounds) mod M in words, with the ranges of `KaratsubaMultiplication`.

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

    Rows 1, k + 4 and 2k + 4 are `ProductQuotient`, rows j + k + 1 to j + k + 3 `Sums`. `Schedule`
    reads the words of each slot, and `Factors` holds them. Before the first slot X_0 and Y_0 are
    read, and q_0 is made: `loading` cycles.

    **Scaled**, S and the results are modulo c * M, and D is the number of its words. X_0 * Y_(i+1),
    of which q_(i+1) needs the lower half, takes slot 0 of iteration i; that of X_0 * Y_i waits from
    the iteration before. q_(i+1) is there in slot k + 4: `ScaledQuotient`. With `descale`, the last
    round is modulo M: its q is S_0 * c, and it adds q * M alone, so Y's last word must be zero. The
    result, congruent modulo M, is below (S + (2^w - 1) * M) / 2^w, with S before that round.

    **Interleaved**, a second multiplication comes through the ports `other`: started in the same
    cycle, with the same lengths, it takes the turns between those of the first one, and `done` is
    common. Each has half of the multiplier's time, and twice the time for its q.

    Parameters
    ----------
    max_digits (int): words of the longest modulus; of its scaled form
    count_bits (int): bits of a digit count
    """

    multiplication: KaratsubaMultiplication

    def __init__(
        self,
        multiplication: KaratsubaMultiplication,
        max_digits: int,
        count_bits: int,
        target: Target = Target.GENERIC,
    ):
        self.multiplication, self.max_digits = multiplication, max_digits
        self.count_bits = count_bits
        self.target = Target(target)
        ports = MultiplierSignature(
            multiplication.digit_width,
            count_bits,
            count_bits,
            two_streams=True,
            scaled=multiplication.scaled,
            chains=multiplication.chains,
        )
        interleaved = multiplication.interleaved
        super().__init__({**ports.members, "other": Out(ports)} if interleaved else ports)

    @property
    def clear_cycles(self) -> int:
        """Cycles of a wipe: every word of the memories, and all that is on its way to them."""
        depth = WordMemory.depth(self.max_digits, interleaved=self.multiplication.interleaved)
        return max(depth, self.multiplication.made + 2)

    def elaborate(self, platform: object) -> Module:
        """Build the schedule above."""
        m = Module()
        multiplication = self.multiplication
        width, k = multiplication.digit_width, multiplication.latency
        ports = [self, self.other] if multiplication.interleaved else [self]
        m.submodules.schedule = asked = Schedule(
            multiplication, self.max_digits, self.count_bits, self.clear_cycles
        )
        layout = asked.slot.shape()
        m.submodules.factors = factors = Factors(multiplication, layout)
        m.submodules.sums = sums = Sums(multiplication, self.max_digits, layout)
        of_x, of_m = (KaratsubaProduct(width, k, target=self.target) for _ in range(2))
        m.submodules.product_x, m.submodules.product_m = of_x, of_m
        at = stages(m, "slot", asked.slot, ASK + k)
        m.d.comb += [
            *same_named(asked, self, "start", "prepare", "wipe", "inner_digits", "outer_digits"),
            factors.slot.eq(at[READ_LATENCY]),
            factors.multiplier_is_one.eq(self.multiplier_is_one),
            factors.clear.eq(asked.clears),
            *same_named(of_x, factors, "x", "y"),
            of_m.x.eq(factors.m_j),
            of_m.y.eq(factors.q),
            sums.slot.eq(at[ASK + k]),
            sums.product_m.eq(of_m.product),
            sums.clears.eq(asked.clears),
            sums.clear_address.eq(asked.slot.word),
            self.multiplying.eq(asked.asks),
        ]
        if multiplication.interleaved:
            m.d.comb += asked.together.eq(self.other.start | self.other.prepare)
        if multiplication.chains:
            m.d.comb += asked.writing.eq(self.b_write)
            self._connect_chain(m, asked, factors)

        self._connect_quotient(m, asked, factors, sums, at, of_x)
        loaded = self._connect_modulus(m, asked, factors, sums, at)

        # --- Words from and to the engine's memory -----------------------------------------------
        # After a reset nothing may be written or reported of what was under way before it.
        ends = history(m, "ends", asked.ends, multiplication.made + 1, reset=True)
        closes = past_value(m, "closes", asked.closes, multiplication.made + 1, reset=True)
        loaded_age = multiplication.made if multiplication.scaled else ASK
        turn = at[READ_LATENCY].turn
        m.d.comb += [
            asked.finished.eq(Mux(loaded.loads, ends[loaded_age], ends[-1] & closes)),
            factors.x_word.eq(Array(port.a_data for port in ports)[turn]),
            factors.y_word.eq(Array(port.b_data for port in ports)[turn]),
        ]
        if multiplication.chains:
            m.d.comb += self.accepts.eq(asked.takes | (loaded.loads & asked.finished))
        for stream, port in enumerate(ports):
            m.d.comb += port.done.eq(asked.finished)
            self._connect_words(m, port, stream, asked, sums, closes)
        return m

    def _connect_quotient(
        self,
        m: Module,
        asked: Schedule,
        factors: Factors,
        sums: Sums,
        at: Sequence[data.View],
        of_x: KaratsubaProduct,
    ) -> None:
        """q, as soon as S_(i+1,0) is there; `of_x` computes the products of X."""
        multiplication, layout = self.multiplication, asked.slot.shape()
        quotient: ScaledQuotient | ProductQuotient
        if multiplication.scaled:
            m.submodules.quotient = quotient = ScaledQuotient(multiplication, layout)
            m.d.comb += [
                asked.descale.eq(self.descale),
                factors.takes_last.eq(asked.takes_last),
                factors.last_turn.eq(asked.slot.turn),
                quotient.takes_last.eq(asked.takes_last),
                quotient.last_turn.eq(asked.slot.turn),
                quotient.slot.eq(at[ASK + multiplication.latency]),
                quotient.product.eq(of_x.product),
                sums.product_x.eq(quotient.product_now),
            ]
        else:
            m.submodules.quotient = quotient = ProductQuotient(multiplication, layout, self.target)
            m.d.comb += [
                quotient.slot.eq(at[ASK]),
                factors.turn.eq(quotient.turn),
                *same_named(quotient, factors, "x", "inverse", "y_next"),
                sums.product_x.eq(of_x.product),
            ]
            if multiplication.chains:
                succeeds = sums.written.succeeds
                m.d.comb += [
                    quotient.takes_x.eq(at[READ_LATENCY].next_x),
                    quotient.x_read.eq(self.b_data),
                    quotient.succeeds.eq(succeeds),
                    *same_named(quotient, self, "x_is_result", "x_is_other", "other_result"),
                    factors.s_is_y_0.eq(succeeds & self.y_is_result),
                    factors.s_word.eq(sums.s_word),
                ]
        m.d.comb += [
            quotient.clear.eq(asked.clears),
            quotient.s_is_made.eq(sums.written.iteration),
            quotient.s_turn.eq(sums.written.turn),
            quotient.s_word.eq(sums.s_word),
            factors.q_is_made.eq(quotient.is_made),
            factors.q_made.eq(quotient.q),
            factors.q_turn.eq(quotient.made_turn),
        ]

    def _connect_modulus(
        self, m: Module, asked: Schedule, factors: Factors, sums: Sums, at: Sequence[data.View]
    ) -> data.View:
        """M, as it comes, or multiplied by c, with -1 as its lowest word; returns its loads."""
        multiplication, layout = self.multiplication, asked.slot.shape()
        m.submodules.modulus = modulus = WordMemory(
            multiplication.digit_width,
            self.max_digits,
            interleaved=multiplication.interleaved,
            layout=layout,
        )
        loaded = sums.summed if multiplication.scaled else at[ASK]
        m.d.comb += [
            modulus.reads.eq(at[READ_LATENCY]),
            factors.m_word.eq(modulus.read_word),
            modulus.writes.eq(loaded),
            modulus.write_word.eq(
                Mux(loaded.first_word, -1, sums.s_word) if multiplication.scaled else factors.x
            ),
            modulus.enable.eq(loaded.loads),
            modulus.clears.eq(asked.clears),
            modulus.clear_address.eq(asked.slot.word),
        ]
        return loaded

    def _connect_chain(self, m: Module, asked: Schedule, factors: Factors) -> None:
        """Where products chain: which of them is taken, and whose words are read."""
        slot = asked.slot
        m.d.comb += [
            self.busy.eq(asked.busy),
            factors.takes.eq(asked.takes),
            self.a_of_next.eq(slot.begins),
            self.b_of_next.eq(slot.begins | slot.next_x | slot.next_y),
        ]

    def _connect_words(
        self,
        m: Module,
        port: wiring.PureInterface,
        stream: int,
        asked: Schedule,
        sums: Sums,
        closes: Signal,
    ) -> None:
        """What one multiplication reads, and its result: the sums of words that `closes` marks."""
        role = Mux(
            asked.slot.loads_inverse,
            Role.INVERSE,
            Mux(asked.slot.loads | asked.slot.descaling, Role.MODULUS, Role.MULTIPLICAND),
        )
        writes = closes & (sums.written.turn == stream)
        m.d.comb += [
            port.a_role.eq(role),
            port.a_index.eq(asked.slot.word),
            port.b_multiplier.eq(
                (asked.slot.asks_y | asked.slot.next_y) & (asked.slot.turn == stream)
            ),
            port.b_write.eq(writes),
            port.b_write_data.eq(sums.s_word),
            port.b_index.eq(Mux(writes, sums.written.word, asked.y_index)),
        ]
