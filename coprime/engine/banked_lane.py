"""A lane of two banks of memory, for a multiplier that reads four digits in a cycle."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped
from amaranth.utils import bits_for

from coprime.cells.block_ram import BlockRam
from coprime.cells.luts import at_least
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.multipliers.contract import ModularMultiplier, Pair
from coprime.multipliers.delays import history
from coprime.program.assembler import Program
from coprime.program.operands import MODULI, Context, Mode, Operand, Scratch
from coprime.program.steps import Step, StepKind

from .contract import RESULT_LATENCY, Capabilities, Command, Error
from .lane import Lane, stage
from .layout import BankedLayout, Layout
from .linear import LinearUnit
from .random_digit import RandomDigit
from .sequencer import Sequencer
from .sequencer.linear_steps import LINEAR_OPERATIONS

__all__ = ["BankedLane"]

_MODULUS_OPERANDS = tuple(context.modulus for context in MODULI)
_EXPONENTS = tuple(context.exponent for context in MODULI)
_INVERSES = tuple(context.inverse for context in MODULI)


class BankedLane(Lane):
    """A lane whose operands lie in two banks, as `BankedLayout` tells.

    Each bank has a port A, which reads, and a port B, which reads or writes. A product's
    multiplicand lies left and its multiplier right; a square's factor left, and so does what linear
    steps read through port B.

    ValueError if the program does not keep to that. Parameters as of `Lane`.
    """

    layout: BankedLayout

    def __init__(
        self,
        capabilities: Capabilities,
        multiplier: ModularMultiplier | wiring.PureInterface,
        program: Program,
        layout: Layout,
        *,
        leads: bool = True,
        target: Target = Target.GENERIC,
    ):
        if not isinstance(layout, BankedLayout):
            raise TypeError(f"layout must be a BankedLayout, not {layout!r}")
        self.target = target
        for step in program.steps:
            if not _keeps_to_banks(step, layout):
                raise ValueError(f"operands of {step.note!r} are in the wrong banks")
        super().__init__(capabilities, multiplier, program, layout, leads=leads, target=target)

    def _memories(self, target: Target) -> list[BlockRam]:
        width, depth = self.capabilities.digit_width, self.layout.depth
        return [BlockRam(width, depth, target=target) for _ in range(2)]

    def _sequencer(self) -> Sequencer:
        numbers = self.layout.numbers
        return Sequencer(
            self.program,
            self.capabilities,
            leads=self.leads,
            numbers=numbers,
            target=self.target,
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the parts; turn slots and indices into addresses."""
        m = Module()
        place, bits, blocks = self._place, self.layout.NUMBER_BITS, self.layout.BLOCK_BITS
        left, right = self.memories
        m.submodules.left, m.submodules.right = left, right
        sequencer, multiplier = self.sequencer, self.multiplier
        factors = [
            multiplier.a_left.eq(left.a_data),
            multiplier.a_right.eq(right.a_data),
            multiplier.b_left.eq(left.b_data),
            multiplier.b_right.eq(right.b_data),
        ]
        sequencer = self.sequencer
        x, y, destination = sequencer.x, sequencer.y, sequencer.destination
        modulus = sequencer.modulus
        # E lies right, the exponents modulo the primes left, but for blinded ones.
        exponent, exponent_right = left.a_data, place(Operand.E)
        if self.program.blinds_exponents:
            exponent = right.a_data
            is_e = sequencer.public | (sequencer.modulus == Context.WHOLE)
            exponent_right = Mux(is_e, place(Operand.E), place(Scratch.BLINDED))
        m.d.comb += sequencer.exponent_other.eq(right.a_data)
        a_data = Signal.like(left.a_data)
        linear = self._connect(m, a_data, left.b_data, exponent, factors)
        m.d.comb += a_data.eq(left.a_data)
        if StepKind.MAKE_EVEN in self.program.kinds:
            evens = (sequencer.operation == StepKind.MAKE_EVEN) & (linear.index == 0)
            m.d.comb += a_data[0].eq(left.a_data[0] & ~evens)
        a_other, keeps = self._draw(m, linear)

        # --- Slots -----------------------------------------------------------------------------
        # A bank's port needs a slot's block. Its bit above, the bank, only tells which bank is
        # written, and which one x and y are in.
        def of_context(operands: Sequence[Operand]) -> Value:
            """The operand of the step's modulus."""
            numbers = [self.layout.numbers[operand] for operand in operands]
            return look_up(numbers, modulus, blocks)

        multiplies = Signal()
        m.d.comb += [
            multiplier.squares.eq(~_is_right(y)),
            multiplies.eq(
                sequencer.operation.matches(StepKind.MULTIPLY, StepKind.PREPARE)
                & ~sequencer.clearing
            ),
        ]
        # Multiplicand and multiplier; of linear steps x, in the bank where it is.
        a_left, a_right = Signal(blocks), Signal(blocks)
        m.d.comb += [a_left.eq(x), a_right.eq(Mux(multiplies, y, x))]
        with m.If(sequencer.exponent_read):
            m.d.comb += [
                a_left.eq(of_context(_EXPONENTS)),
                a_right.eq(exponent_right),
            ]
        with m.Elif(multiplies), m.Switch(multiplier.a_role):
            with m.Case(Pair.QUOTIENT):
                m.d.comb += [a_left.eq(place(Scratch.SCALED)), a_right.eq(place(Scratch.QUOTIENT))]
            with m.Case(Pair.MODULUS):
                m.d.comb += [
                    a_left.eq(of_context(_MODULUS_OPERANDS)),
                    a_right.eq(of_context(_INVERSES)),
                ]
            with m.Case(Pair.RESULT):
                m.d.comb += [
                    a_left.eq(destination),
                    a_right.eq(of_context(_INVERSES)),
                ]

        # Port B reads a pair of a product, with port A. What else it reads or writes has the same
        # block in both banks, but for the quotient; the bank that it is not in does nothing.
        operand = look_up([self.layout.numbers.get(one, 0) for one in Operand], self.operand, bits)
        given = Signal(blocks)
        reads_pair, writes, of_right = Signal(), Signal(), Signal()
        write_quotient, write_left, write_right = Signal(), Signal(), Signal()
        assert self.layout.block_of(Scratch.RESULT) == self.layout.block_of(Scratch.SUM)
        with m.If(~self.busy):
            m.d.comb += [
                given.eq(Mux(self.write, operand, place(Scratch.RESULT))),
                writes.eq(self.write),
                of_right.eq(_is_right(operand)),
            ]
        with m.Else():
            m.d.comb += [
                given.eq(Mux(multiplies | (linear.b_write & ~keeps), destination, y)),
                reads_pair.eq(multiplies & ~multiplier.b_write),
                writes.eq(
                    Mux(
                        multiplies,
                        multiplier.b_write & ~multiplier.b_quotient & ~sequencer.suppress_write,
                        linear.b_write & ~keeps,
                    )
                ),
                of_right.eq(_is_right(destination)),
                write_quotient.eq(multiplies & multiplier.b_write & multiplier.b_quotient),
            ]
        b_left, b_right = Signal(blocks), Signal(blocks)
        m.d.comb += [
            b_left.eq(Mux(reads_pair, a_left, given)),
            b_right.eq(
                Mux(reads_pair, a_right, Mux(write_quotient, place(Scratch.QUOTIENT), given))
            ),
            write_left.eq(writes & (~of_right | sequencer.clearing)),
            write_right.eq((writes & (of_right | sequencer.clearing)) | write_quotient),
        ]

        # --- Indices ---------------------------------------------------------------------------
        # An inverse is the last digit of its block. Only a wipe, which takes port B, has an index
        # of more bits than a count: the linear unit's is 0 there else, and while it is idle.
        last = self.layout.block - 1
        count_bits = self.capabilities.count_bits
        low, beyond = linear.index[:count_bits], linear.index[count_bits:]
        a_index, b_index = Signal(count_bits), Signal(count_bits)
        m.d.comb += [a_index.eq(low), b_index.eq(low)]
        with m.If(sequencer.exponent_read):
            m.d.comb += a_index.eq(sequencer.exponent_index)
        with m.Elif(multiplies):
            m.d.comb += [a_index.eq(multiplier.a_index), b_index.eq(multiplier.b_index)]
        with m.If(~self.busy):
            m.d.comb += b_index.eq(self.index)
            is_inverse = operand.matches(*(self.layout.numbers[slot] for slot in _INVERSES))
            with m.If(self.write & is_inverse):
                m.d.comb += b_index.eq(last)
        b_index_or_wipe = Cat(b_index, beyond)
        reads_inverse = multiplier.a_role.matches(Pair.MODULUS, Pair.RESULT)
        a_index_right = Mux(reads_inverse, last, a_index)

        # --- Addresses -------------------------------------------------------------------------
        # Two stages before the memory, so that no path is long.
        entries = {Mode.WINDOW: stage(m, self._entry(0)), Mode.ENTRY: stage(m, self._entry(1))}
        for port, slot, index, address in (
            ("a_left", a_left, a_index, left.a_address),
            ("b_left", b_left, b_index_or_wipe, left.b_address),
            ("a_right", a_right, a_index_right, right.a_address),
            ("b_right", b_right, b_index_or_wipe, right.b_address),
        ):
            block = Signal(blocks, name=f"{port}_block")
            asked = stage(m, slot)
            m.d.comb += block.eq(asked)
            # That slot may be one of the left bank, for which nothing is read or written here.
            for named, entry in entries.items():
                if port == "b_right" or (port, named) == ("a_right", Mode.WINDOW):
                    with m.If(asked == self.layout.block_of(named)):
                        m.d.comb += block.eq(entry)
            # A number of two blocks has a 0 where its index has its highest bit; a wipe counts
            # beyond the indices.
            found = (block << bits_for(last)) ^ stage(m, index)
            m.d.comb += address.eq(stage(m, found))
        # The units' digits are there as they are written; the host's come with their index.
        late, busy, digit = (
            stage(m, stage(m, value)) for value in (multiplies & self.busy, self.busy, self.digit)
        )
        for bank, write in ((left, write_left), (right, write_right)):
            m.d.comb += [
                bank.b_write.eq(stage(m, stage(m, write))),
                bank.b_write_data.eq(
                    Mux(late, multiplier.b_write_data, Mux(busy, linear.b_write_data, digit))
                ),
            ]
        m.d.comb += [
            linear.a_other.eq(a_other),
            linear.x_is_other.eq(_is_right(x)),
            self.a_slot.eq(a_left),
            self.a_index.eq(a_index),
            self.a_data.eq(left.a_data),
            self.result_digit.eq(left.b_data),
        ]
        if self.program.checks:
            self._compare(m)
        return m

    def _compare(self, m: Module) -> None:
        """Compare the result of a private operation, as it is read, with what was checked.

        The one is left, the other one right: both come in the same cycle. So no fault between the
        check and the last digit that is read goes unseen. What the host writes ends it. Beyond the
        result's digits there is anything.
        """
        sequencer, (left, right) = self.sequencer, self.memories
        fresh = Signal()
        given = self.done & (self.command == Command.RSA_PRIVATE) & (self.error == Error.NONE)
        with m.If(self.start | self.write | sequencer.differs):
            m.d.sync += fresh.eq(0)
        with m.Elif(given):
            m.d.sync += fresh.eq(1)
        # A block RAM's output comes late in the cycle: it is taken before it is compared.
        read, checked = (stage(m, bank.b_data) for bank in (left, right))
        beyond = at_least(m, self.index, self.counts.modulus, self.target)
        asks = fresh & ~self.write & ~self.busy & ~beyond
        asked = history(m, "asked", asks, RESULT_LATENCY + 1)[-1]
        m.d.comb += sequencer.differs.eq(asked & (read != checked))

    def _draw(self, m: Module, linear: LinearUnit) -> tuple[Value, Value]:
        """What port A of the right bank reads, or what is drawn; and whether a sum is not written.

        A digit of random bytes is for a digit of a DRAW, or for the bits of some ADD_DRAWN.
        """
        sequencer, (_, right) = self.sequencer, self.memories
        if not self.program.draws:
            return right.a_data, Const(0)
        m.submodules.random_digit = drawn = RandomDigit(self.capabilities.digit_width)
        connect(m, flipped(self.random), drawn.random)
        draws = Signal()
        m.d.comb += [
            drawn.clear.eq(~self.busy),
            draws.eq(sequencer.operation == StepKind.DRAW),
            drawn.wanted.eq(draws & linear.begins),
            drawn.used.eq(draws & linear.b_write),
            linear.hold.eq(draws & ~drawn.there),
        ]
        keeps = Signal()
        if StepKind.ADD_IF_DRAWN in self.program.kinds:
            bit = (drawn.digit >> sequencer.drawn_bit)[0]
            m.d.comb += [
                drawn.wanted.eq((draws & linear.begins) | sequencer.draws),
                drawn.used.eq((draws & linear.b_write) | sequencer.spends),
                sequencer.drawn.eq(drawn.there),
                keeps.eq((sequencer.operation == StepKind.ADD_IF_DRAWN) & ~bit),
            ]
        return Mux(draws, drawn.digit, right.a_data), keeps

    def _entry(self, after: int) -> Value:
        """The table's entry that the window names, or one `after` that."""
        window, program = self.sequencer.window, self.program
        assert window is not None
        bits, whole_bits = program.window_bits, program.whole_window_bits
        named = (window + after)[:bits]
        whole = Cat(Const(0, 1), named[:whole_bits])
        return Mux(self.sequencer.modulus == Context.WHOLE, whole, named)


def _is_right(number: Value) -> Value:
    """Whether a slot is in the right bank."""
    return number[BankedLayout.NUMBER_BITS - 1]


def _keeps_to_banks(step: Step, layout: BankedLayout) -> bool:
    right = {slot for slot in layout.numbers if layout.lies_right(slot)}
    if step.kind in LINEAR_OPERATIONS:
        return step.y not in right and (step.kind is not StepKind.MAKE_EVEN or step.x not in right)
    if step.kind is StepKind.PREPARE:
        return step.destination not in right
    if step.kind is not StepKind.MULTIPLY:
        return True
    if step.descale and step.destination in right:
        return False
    return step.x not in right and (step.y in right or step.y is step.x)
