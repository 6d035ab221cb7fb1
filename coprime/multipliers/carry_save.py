"""What BITSERIAL's three carry-save multipliers share: adder rows, word adders, registers S and C.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler, "Efficient Hardware Architectures for Modular
Multiplication on FPGAs" (2005). What differs, besides what `bit_serial.py` says:

* The result is canonical. The paper's figures do not count the conversion from S and C.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .bit_serial import BitSerialMultiplier, spread, turned
from .bit_serial_control import BitSerialControl
from .bit_serial_multiplication import BitSerialMultiplication


def carry_save(a: Value, b: Value, c: Value) -> tuple[Value, Value]:
    """A row of full adders: the sums, and the carries at the places that they come from."""
    return a ^ b ^ c, (a & b) | (a & c) | (b & c)


def word_sum(a: Value, b: Value, carry: Value) -> Value:
    """a + b + carry, one bit longer than the words, in one carry chain."""
    # The lowest position makes the carry an input of the chain.
    return (Cat(Const(1, 1), a) + Cat(carry, b))[1:]


class CarrySaveControl(BitSerialControl):
    """The control of a multiplier whose rounds leave their result in S and C.

    ============ =================================================================================
    state        what happens
    ============ =================================================================================
    MOVING       D cycles bring S into another register, word by word
    TRANSFERRING one round with nothing to add brings C into S
    SUMMING      the pass that adds both
    WRITING      the pass that writes
    ============ =================================================================================

    Members
    -------
    those of BitSerialControl; `adding_next` also before TRANSFERRING
    clear_c (out)
    moving_next (out): 1 before each cycle of MOVING
    transferring, summing (out): 1 in these states
    """

    STATES: tuple[str, ...] = (
        *("idle", "loading", "starting", "running"),
        *("moving", "transferring", "summing", "writing"),
    )
    PASSES: tuple[str, ...] = ("summing", "writing")
    FLAGS: tuple[str, ...] = (
        *BitSerialControl.FLAGS,
        "clear_c",
        "moving_next",
        "transferring",
        "summing",
    )

    def finish(self, m: Module, entering: list[Signal]) -> None:
        """Move, transfer, sum, write."""
        state, passes = self.state, self.passes
        now, coming = state.now, state.next
        state.change("running", "moving", self.rounds_left.last)
        state.change("moving", "transferring", passes.final)
        self.reduce(m, entering)
        state.change("writing", "idle", passes.closing)
        # S is empty when C comes.
        moved = self.ends if self.words == 1 else now["moving"] & (passes.cycle == self.words - 2)
        m.d.comb += [
            self.adding_next.eq(coming["running"] | coming["transferring"]),
            self.moving_next.eq(coming["moving"]),
            passes.moving.eq(now["moving"]),
            passes.moving_next.eq(coming["moving"]),
            self.reader.written.eq(now["writing"] & ~passes.first & ~passes.second),
        ]
        m.d.sync += [self.clear_s.eq(self.unused_next | moved), self.clear_c.eq(self.unused_next)]

    def reduce(self, m: Module, entering: list[Signal]) -> None:
        """Add the changes from TRANSFERRING to WRITING."""
        self.state.change("transferring", "summing")
        self.state.change("summing", "writing", self.passes.closing)

    @property
    def unused_next(self) -> Value:
        """In the next cycle S and C hold nothing."""
        return self.state.next["idle"]


class PassAdder(wiring.Component):
    """Adds the words of a pass, and compares the sum with a multiple of M.

    Word j of both is taken in cycle j of the pass and added in cycle j + 1; its sum is there in
    cycle j + 2, in which S takes it and it is compared.

    Members
    -------
    passing_next (in): in the next cycle words are taken
    summing (in): words are added. Else subtracted: `right` is inverted, and the first carry is 1.
    left, right (`width` bits, in): words to add
    compared (`width` bits, in): word of a multiple of M, a cycle before it is compared
    taking, adding, comparing (out): words are taken, added, compared
    taken (`width` bits, out): the word `left` that is added
    sum (`width` bits, out): the word of the sum that is compared
    carry (out): the carry into the word that is added; after the last one, out of the whole sum
    reaches (out): the words of the sum that have been compared are not below the multiple's
    secrets (list of Signal)
    """

    def __init__(self, width: int):
        self.width = width
        flags = ("taking", "adding", "comparing", "carry", "reaches")
        ports = {
            **{name: In(1) for name in ("passing_next", "summing")},
            **{name: In(width) for name in ("left", "right", "compared")},
            **{name: Out(1) for name in flags},
            **{name: Out(width) for name in ("taken", "sum")},
        }
        super().__init__(ports)
        self._taken, self._sum, self._compared = (
            Signal(width, name=name, reset_less=True)
            for name in ("taken_word", "sum_word", "compared_word")
        )
        self.secrets = [self._taken, self._sum, self._compared]

    def elaborate(self, platform: object) -> Module:
        """Build two adders, with registers before and between them."""
        m = Module()
        width = self.width
        right = Signal(width, reset_less=True)
        total = Signal(width + 1)
        less = Signal(width + 1)
        no_borrow = Signal()
        m.d.sync += [
            self.taking.eq(self.passing_next),
            self.adding.eq(self.taking),
            self.comparing.eq(self.adding),
            self._taken.eq(self.left),
            right.eq(self.right),
            self._sum.eq(total[:width]),
            self.carry.eq(Mux(self.adding, total[width], ~self.summing)),
            self._compared.eq(self.compared),
            no_borrow.eq(~self.comparing | less[width]),
        ]
        m.d.comb += [
            self.taken.eq(self._taken),
            self.sum.eq(self._sum),
            total.eq(word_sum(self._taken, right, self.carry)),
            less.eq(word_sum(self._sum, ~self._compared, no_borrow)),
            self.reaches.eq(less[width]),
        ]
        return m


class CarrySaveMultiplier(BitSerialMultiplier):
    """The hardware of a `CarrySaveMultiplication`.

    Only S can be turned word by word: a multiplexer before each bit of C would make the adder row a
    third larger on devices with four-input LUTs. A round without an addend brings C into S instead.

    Attributes
    ----------
    c (Signal): the register C, for simulations to look into
    """

    def __init__(self, multiplication: BitSerialMultiplication, count_bits: int, round_bits: int):
        super().__init__(multiplication, count_bits, round_bits)
        self.c = Signal(self.width, reset_less=True)
        self.secrets.append(self.c)

    def add_passes(self, m: Module, control: BitSerialControl) -> PassAdder:
        """Add the adder of a pass, the words of whose sum enter S and are written."""
        m.submodules.pass_adder = adder = PassAdder(self.digit_width)
        m.d.comb += [
            adder.passing_next.eq(control.passing_next),
            adder.summing.eq(control.summing),
            self.b_write_data.eq(adder.sum),
        ]
        self.secrets += adder.secrets
        return adder

    def add_registers(
        self, m: Module, control: BitSerialControl, adder: PassAdder, row_s: Value, row_c: Value
    ) -> None:
        """Add S and C, which take a round's result; or S a word of a pass."""
        s, c = self.s, self.c
        c_moves, s_moves = Signal(), Signal()
        turning = control.moving_next | control.passing_next
        m.d.sync += [
            c_moves.eq(control.adding_next),
            s_moves.eq(control.adding_next | turning | adder.taking | adder.adding),
        ]
        adding = spread(m, control.adding_next, self.width, name="adding", clear=Const(0))
        with m.If(c_moves):
            m.d.sync += c.eq(row_c)
        with m.If(control.clear_c):
            m.d.sync += c.eq(0)
        with m.If(s_moves):
            m.d.sync += s.eq((row_s & adding) | (turned(s, adder.sum) & ~adding))
        with m.If(control.clear_s):
            m.d.sync += s.eq(0)
