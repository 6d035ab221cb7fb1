"""A lane of two banks of memory, for a multiplier that reads four digits in a cycle."""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from coprime.cells.tables import look_up
from coprime.multipliers.contract import Pair
from coprime.multipliers.delays import delays, history
from coprime.operations.operation import among
from coprime.program.operands import MODULI, Context, Mode, Operand, Scratch
from coprime.program.steps import Step, StepKind

from .addresses import BlockAddress
from .contract import Error
from .lane import Lane
from .layout import BankedLayout
from .random_digit import RandomDigit
from .residue import Residue
from .result_check import ResultCheck
from .sequencer.linear_steps import LINEAR_OPERATIONS

__all__ = ["BankedLane"]

MODULUS_OPERANDS = tuple(context.modulus for context in MODULI)
_EXPONENTS = tuple(context.exponent for context in MODULI)
INVERSES = tuple(context.inverse for context in MODULI)
_SIDES = ("left", "right")


class BankedLinkSignature(wiring.Signature):
    """What a lane of two banks shows to the other lane.

    Members
    -------
    at_barrier, ends, busy : it waits at a BARRIER; it ends the operation; it is not idle
    at_fault : it has a fault, and waits for the other lane, so that both are wiped
    began, proved : of its `Proof`
    data : what its linear unit writes
    """

    def __init__(self, digit_width: int):
        flags = ("at_barrier", "ends", "busy", "at_fault", "began", "proved")
        super().__init__({**dict.fromkeys(flags, Out(1)), "data": Out(digit_width)})


class BankedLane(Lane):
    """A lane whose operands lie in two banks, as `BankedLayout` specifies.

    Each bank has a port A, which reads, and a port B, which reads or writes. A product's
    multiplicand lies left and its multiplier right; a square's factor left, and so does what linear
    steps read through port B.

    ValueError if the program does not keep to that, TypeError for another layout. Parameters and
    members as of `Lane`.

    A port needs a location's block. The bit above that, the bank, only specifies which bank is
    written, and in which one x and y are.
    """

    layout: BankedLayout

    def check_program(self) -> None:
        """Refuse a layout of one bank, and operands in the wrong banks."""
        if not isinstance(self.layout, BankedLayout):
            raise TypeError(f"layout must be a BankedLayout, not {self.layout!r}")
        for step in self.program.steps:
            if not _keeps_to_banks(step, self.layout):
                raise ValueError(f"operands of {step.note!r} are in the wrong banks")

    def link(self) -> wiring.Signature:
        """What a lane shows to the other lane."""
        return BankedLinkSignature(self.capabilities.digit_width)

    def elaborate(self, platform: object) -> Module:
        """Connect the banks: what each port is asked for, and who gets its data."""
        m = Module()
        self.connect_units(m)
        left, right = self.memories
        m.submodules.left, m.submodules.right = left, right
        self._connect_data(m)
        a_left, a_right = self._a_blocks(m)
        operand = look_up(
            [self.layout.numbers.get(one, 0) for one in Operand],
            self.operand,
            self.layout.NUMBER_BITS,
        )
        b_left, b_right = self._b_blocks(m, a_left, a_right, operand)
        a_index, b_index = self._indices(m, operand)
        of_inverse = Mux(self.a_reads_inverse(), self.layout.block - 1, a_index)
        a_index_left = of_inverse if self.layout.inverses_left else a_index
        window, entry = (history(m, "entry", value, 1)[-1] for value in self.entries())
        idle = self.idle_ports()
        # A block named so may also be one of the left bank: then the right one does nothing.
        for name, block, index, to, modes in (
            ("a_left", a_left, a_index_left, left.a_address, ()),
            ("b_left", b_left, b_index, left.b_address, ()),
            ("a_right", a_right, of_inverse, right.a_address, (Mode.WINDOW,)),
            ("b_right", b_right, b_index, right.b_address, (Mode.WINDOW, Mode.ENTRY)),
        ):
            address = BlockAddress(self.layout, len(index), modes, holds=name in idle)
            m.submodules[f"{name}_address"] = address
            if name in idle:
                m.d.comb += address.idle.eq(idle[name])
            m.d.comb += [
                address.block.eq(block),
                address.index.eq(index),
                address.window.eq(window),
                address.entry.eq(entry),
                to.eq(address.address),
            ]
        return m

    def _connect_data(self, m: Module) -> None:
        """Connect what the ports read; what port B writes comes two cycles after it is asked to."""
        left, right = self.memories
        sequencer, multiplier, linear = self.sequencer, self.multiplier, self.linear
        # E lies right, the exponents modulo the primes left, but for blinded ones.
        blinds = self.program.blinds_exponents
        a_data = Signal.like(left.a_data)
        a_other, self.suppress_sum = self._draw(m)
        m.d.comb += [
            sequencer.exponent_data.eq(right.a_data if blinds else left.a_data),
            sequencer.exponent_other.eq(right.a_data),
            multiplier.squares.eq(~is_right(sequencer.y)),
            *self.multiplier_data(),
            a_data.eq(left.a_data),
            linear.a_data.eq(a_data),
            linear.a_other.eq(a_other),
            linear.b_data.eq(left.b_data),
            linear.x_is_other.eq(is_right(sequencer.x)),
            self.result_digit.eq(left.b_data),
        ]
        if StepKind.MAKE_EVEN in self.program.kinds:
            evens = (sequencer.operation == StepKind.MAKE_EVEN) & (linear.index == 0)
            m.d.comb += a_data[0].eq(left.a_data[0] & ~evens)
        given = self._write_data(m)
        m.d.comb += [bank.b_write_data.eq(given) for bank in self.memories]
        m.d.comb += self.to_other.data.eq(linear.b_write_data)
        if self.program.checks:
            m.d.comb += sequencer.fault.eq(multiplier.fault)
            if self.leads:
                self._add_residue(m)
                self._check_result(m)
        if self.program.shares_check:
            self._link_sequencers(m)

    def _write_data(self, m: Module) -> Value:
        """What ports B write, two cycles after they are asked to.

        The units' digits are there as they are written; the host's come with their index. Which of
        four sources it is takes two bits, and so one LUT for each bit of a digit.
        """
        sequencer, linear, product = self.sequencer, self.linear, self.multiplier.b_write_data
        takes: Value = Const(0)
        if any(step.x is Mode.OTHER for step in self.program.steps):
            takes = self.busy & ~sequencer.clearing & (sequencer.x == self.number(Mode.OTHER))
        late = history(m, "late", (self.multiplies & self.busy) | takes, 2)[-1]
        busy = history(m, "own", self.busy & ~takes, 2)[-1]
        digit = delays(m, self.digit, 2)[-1]
        if not isinstance(takes, Const):
            product = Mux(busy, product, self.from_other.data)
        return Mux(late, product, Mux(busy, linear.b_write_data, digit))

    def _link_sequencers(self, m: Module) -> None:
        """Show the lanes' faults and proofs to each other."""
        sequencer = self.sequencer
        for name in ("busy", "at_fault", "began", "proved"):
            m.d.comb += [
                getattr(self.to_other, name).eq(getattr(sequencer, name)),
                getattr(sequencer, f"other_{name}").eq(getattr(self.from_other, name)),
            ]

    def _check_result(self, m: Module) -> None:
        """Compare the result with what was checked, as it is read."""
        left, right = self.memories
        m.submodules.result_check = check = ResultCheck(
            self.capabilities.digit_width, len(self.index), self.target
        )
        is_private = among(self.command, self.capabilities.private)
        m.d.comb += [
            check.succeeds.eq(self.done & is_private & (self.error == Error.NONE)),
            check.ends.eq(self.start),
            check.busy.eq(self.busy),
            check.write.eq(self.write),
            check.index.eq(self.index),
            check.count.eq(self.counts.modulus),
            check.read.eq(left.b_data),
            check.checked.eq(right.b_data),
            self.sequencer.differs.eq(check.differs),
        ]

    def multiplier_data(self) -> list[Any]:
        """What the ports read goes to the multiplier."""
        multiplier, (left, right) = self.multiplier, self.memories
        return [
            multiplier.a_left.eq(left.a_data),
            multiplier.a_right.eq(right.a_data),
            multiplier.b_left.eq(left.b_data),
            multiplier.b_right.eq(right.b_data),
        ]

    def a_reads_inverse(self) -> Value:
        """Port A of the bank of the inverses reads one of them."""
        return self.multiplier.a_role.matches(Pair.MODULUS, Pair.RESULT)

    def index_beside_scan(self, m: Module, b_index: Signal) -> None:
        """What port B is asked for by a multiplier that works while the exponent is read."""

    def _add_residue(self, m: Module) -> None:
        """S - M, when that is compared, S twice, as it is copied, and X, as the check gets it.

        That is what linear steps make of SUM, SUM_COPY and X from when there is a SUM.
        """
        sequencer, linear = self.sequencer, self.linear
        summed = (self.number(one) for one in (Scratch.SUM, Scratch.SUM_COPY, Operand.X))
        adds = linear.uses & sequencer.x.matches(*summed)
        makes_sum = sequencer.destination == self.number(Scratch.SUM)
        m.submodules.residue_sum = residue = Residue(self.capabilities.digit_width)
        m.d.comb += [
            residue.clear.eq(self.start | makes_sum),
            # A digit comes two cycles after it is used.
            residue.add.eq(history(m, "adds", adds, 2, reset=True)[-1]),
            residue.digit.eq(linear.b_write_data),
            self.residue.eq(residue.residue),
        ]

    def of_context(self, operands: Sequence[Operand]) -> Value:
        """The block of the operand of the step's modulus."""
        numbers = [self.layout.numbers[operand] for operand in operands]
        return look_up(numbers, self.sequencer.modulus, self.layout.BLOCK_BITS)

    def _a_blocks(self, m: Module) -> tuple[Signal, Signal]:
        """What port A of each bank is asked for: multiplicand and multiplier; of linear steps x, in
        the bank where it is."""
        sequencer, number = self.sequencer, self.number
        left, right = (Signal(self.layout.BLOCK_BITS, name=f"a_{side}") for side in _SIDES)
        exponent_right: Value = number(Operand.E)
        if self.program.blinds_exponents:
            is_e = sequencer.public | (sequencer.modulus == Context.WHOLE)
            exponent_right = Mux(is_e, number(Operand.E), number(Scratch.BLINDED))
        m.d.comb += [
            left.eq(sequencer.x),
            right.eq(Mux(self.multiplies, sequencer.y, sequencer.x)),
        ]
        with m.If(sequencer.exponent_read):
            m.d.comb += [left.eq(self.of_context(_EXPONENTS)), right.eq(exponent_right)]
        with m.Elif(self.multiplies):
            self.read_for_product(m, left, right)
        return left, right

    def read_for_product(self, m: Module, left: Signal, right: Signal) -> None:
        """What port A of each bank is asked for by the multiplier."""
        number = self.number
        with m.Switch(self.multiplier.a_role):
            inverse = self.of_context(INVERSES)
            with m.Case(Pair.QUOTIENT):
                m.d.comb += [left.eq(number(Scratch.SCALED)), right.eq(number(Scratch.QUOTIENT))]
            with m.Case(Pair.MODULUS):
                m.d.comb += [left.eq(self.of_context(MODULUS_OPERANDS)), right.eq(inverse)]
            with m.Case(Pair.RESULT):
                m.d.comb += [left.eq(self.sequencer.destination), right.eq(inverse)]

    def _b_blocks(
        self, m: Module, a_left: Signal, a_right: Signal, operand: Value
    ) -> tuple[Signal, Signal]:
        """What port B of each bank is asked for, and whether it writes.

        It reads a pair of a product, with port A. What else it reads or writes has the same block
        in both banks, but for the quotient; the bank that it is not in does nothing.
        """
        sequencer, linear = self.sequencer, self.linear
        sums = linear.b_write & ~self.suppress_sum
        given = Signal(self.layout.BLOCK_BITS)
        reads_pair, writes, of_right, write_quotient = Signal(), Signal(), Signal(), Signal()
        # The result is read together with what it is compared with.
        assert self.layout.block_of(Scratch.RESULT) == self.layout.block_of(Scratch.SUM)
        with m.If(~self.busy):
            m.d.comb += [
                given.eq(Mux(self.write, operand, self.number(Scratch.RESULT))),
                writes.eq(self.write),
                of_right.eq(is_right(operand)),
            ]
        with m.Else():
            m.d.comb += self.b_of_units(sums, given, reads_pair, writes, of_right, write_quotient)
        left, right = (Signal(self.layout.BLOCK_BITS, name=f"b_{side}") for side in _SIDES)
        write_left, write_right = Signal(), Signal()
        self._writes = write_left, write_right
        quotient = self.layout.numbers.get(Scratch.QUOTIENT, 0)
        writes_left, left_given = self.left_of_both(
            writes & (~of_right | sequencer.clearing), given
        )
        m.d.comb += [
            left.eq(Mux(reads_pair, a_left, left_given)),
            right.eq(Mux(reads_pair, a_right, Mux(write_quotient, quotient, given))),
            write_left.eq(writes_left),
            write_right.eq((writes & (of_right | sequencer.clearing)) | write_quotient),
        ]
        may_left, may_right = self._may_write(m)
        for bank, write, may in zip(
            self.memories, (write_left, write_right), (may_left, may_right), strict=True
        ):
            m.d.comb += bank.b_write.eq(delays(m, write, 2)[-1] & may)
        return left, right

    def b_of_units(
        self,
        sums: Value,
        given: Signal,
        reads_pair: Signal,
        writes: Signal,
        of_right: Signal,
        write_quotient: Signal,
    ) -> list[Any]:
        """What the multiplier and the linear unit, whose `sums` are written, ask port B for."""
        sequencer, multiplier = self.sequencer, self.multiplier
        destination = sequencer.destination
        products = multiplier.b_write & ~multiplier.b_quotient & ~sequencer.suppress_write
        return [
            given.eq(Mux(self.multiplies | sums, destination, sequencer.y)),
            reads_pair.eq(self.multiplies & ~multiplier.b_write),
            writes.eq(Mux(self.multiplies, products, sums)),
            of_right.eq(is_right(destination)),
            write_quotient.eq(self.multiplies & multiplier.b_write & multiplier.b_quotient),
        ]

    def left_of_both(self, writes: Value, given: Signal) -> tuple[Value, Value]:
        """Whether the left bank is written through port B, and the block that it is asked for."""
        return writes, given

    def idle_ports(self) -> Mapping[str, Value]:
        """When a port has nothing to do, by its name; for a lane that blinds, and no other.

        What lies in a port's way is then not read beside what is blinded: the bank in which x or y
        is not has X, a power or an exponent as it is at that address.
        """
        if not self.program.draws:
            return {}
        sequencer, multiplier, multiplies = self.sequencer, self.multiplier, self.multiplies
        factors = multiplier.a_role == Pair.FACTORS
        no_multiplier = ~is_right(sequencer.y) | (sequencer.y == self.number(Mode.ONE))
        of_right: Value = Const(1)
        if not self.program.blinds_exponents:
            of_right = sequencer.public | (sequencer.modulus == Context.WHOLE)
        x_right = Mux(sequencer.exponent_read, of_right, is_right(sequencer.x))
        product = multiplies & ~sequencer.exponent_read
        right_in_product = product & ~(factors & no_multiplier)
        writes_left, writes_right = self._writes
        return {
            "a_left": self.busy & x_right & ~product,
            "a_right": self.busy & Mux(product, ~right_in_product, ~x_right),
            "b_left": self.busy & ~writes_left & (writes_right | sequencer.exponent_read),
            "b_right": self.busy & ~writes_right & (multiplier.b_write | ~right_in_product),
        }

    def _may_write(self, m: Module) -> tuple[Value, Value]:
        """Whether port B of each bank may write where it does, whatever asks it to.

        While the engine works, nothing but a wipe writes what an operation reads only: in the left
        bank X and the key, and the inverses, in either. A counter that has missed its last digit
        would overwrite them with the rest. The address itself is looked at, next to the memory.
        """
        left, right = (bank.b_address for bank in self.memories)
        locked = history(m, "locked", self.busy & ~self.sequencer.clearing, 2)[-1]
        index_bits = len(left) - self.layout.entry_bits
        written = sorted(self._written_left())
        may_left = ~locked | left[index_bits:].matches(*written)
        if self.layout.inverses_left:
            return may_left, Const(1)
        # An inverse is the last word of an odd block: all of those that are asked for are 1.
        return may_left, ~locked | ~right[: index_bits + 1].all()

    def _written_left(self) -> set[int]:
        """The blocks of the left bank that the program writes; long numbers take two."""
        layout = self.layout
        scratch = {one.destination for one in self.program.steps} & layout.bases.keys() - set(
            Operand
        )
        first = {layout.block_of(one) for one in scratch if not layout.lies_right(one)}
        return first | {block ^ 1 for block in first}

    def _indices(self, m: Module, operand: Value) -> tuple[Signal, Value]:
        """The digit that the ports A, and the ports B, are asked for.

        An inverse is the last digit of its block. Only a wipe, which takes port B, has an index of
        more bits than a count: the linear unit's is 0 there else, and while it is idle.
        """
        linear, multiplier = self.linear, self.multiplier
        count_bits = self.capabilities.count_bits
        low, beyond = linear.index[:count_bits], linear.index[count_bits:]
        a_index, b_index = Signal(count_bits), Signal(count_bits)
        m.d.comb += [a_index.eq(low), b_index.eq(low)]
        with m.If(self.sequencer.exponent_read):
            m.d.comb += a_index.eq(self.sequencer.exponent_index)
        with m.Elif(self.multiplies):
            m.d.comb += [a_index.eq(multiplier.a_index), b_index.eq(multiplier.b_index)]
        self.index_beside_scan(m, b_index)
        with m.If(~self.busy):
            m.d.comb += b_index.eq(self.index)
            is_inverse = operand.matches(*(self.layout.numbers[one] for one in INVERSES))
            with m.If(self.write & is_inverse):
                m.d.comb += b_index.eq(self.layout.block - 1)
        return a_index, Cat(b_index, beyond)

    def _draw(self, m: Module) -> tuple[Value, Value]:
        """What port A of the right bank reads, or what is drawn; and whether a sum is not written.

        A digit of random bytes is for a digit of a DRAW, or for the bits of some ADD_IF_DRAWN.
        """
        sequencer, linear, right = self.sequencer, self.linear, self.memories[1]
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
        suppresses = Signal()
        if StepKind.ADD_IF_DRAWN in self.program.kinds:
            bit = (drawn.digit >> sequencer.drawn_bit)[0]
            m.d.comb += [
                drawn.wanted.eq((draws & linear.begins) | sequencer.draws),
                drawn.used.eq((draws & linear.b_write) | sequencer.spends),
                sequencer.drawn.eq(drawn.there),
                suppresses.eq((sequencer.operation == StepKind.ADD_IF_DRAWN) & ~bit),
            ]
        return Mux(draws, drawn.digit, right.a_data), suppresses

    def entries(self) -> tuple[Value, Value]:
        """The table's entries that WINDOW and ENTRY mean."""
        return self.entry(0), self.entry(1)

    def entry(self, after: int) -> Value:
        """The table's entry that the window names, or one `after` that."""
        window, program = self.sequencer.window, self.program
        assert window is not None
        bits, whole_bits = program.window_bits, program.whole_window_bits
        named = (window + after)[:bits]
        whole = Cat(Const(0, 1), named[:whole_bits])
        return Mux(self.sequencer.modulus == Context.WHOLE, whole, named)


def is_right(number: Value) -> Value:
    """Whether the location of a number is in the right bank."""
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
