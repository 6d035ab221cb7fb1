"""The exponent scanner: reads an exponent's digits, and delivers its bits one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.luts import select_bit
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.exponentiators.exponentiation import WINDOWS
from coprime.multipliers.delays import past_value
from coprime.multipliers.multiplication import READ_LATENCY
from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.operands import Context, Length, Reference
from coprime.program.steps import Step, StepKind, exponent_blinding_bits

from ..contract import Capabilities
from .columns import BitPosition, Columns, ColumnsModel
from .feature import Feature
from .step_control import StepControl


def divides_evenly(width: int) -> bool:
    """Whether windows of any length divide a digit's bits, and a shift divides by these."""
    return width >= max(WINDOWS) and width.bit_count() == 1


def less_one(value: Value) -> Value:
    """The value less 1: of few bits, so that synthesis takes no carry chain for it."""
    return Cat(bit ^ ~value[:k].any() for k, bit in enumerate(value))


class WindowStart(wiring.Component):
    """Where the highest window of an exponent starts, by the exponent's length.

    Where windows divide a digit `evenly`, its place is a slice of a count. Else it is a place in
    the digit that the headroom leaves as the highest one or, if it is below 0, in the next lower
    digit. The lengths have been stable for some cycles.

    Members
    -------
    length, digits : of the exponent, in bits and digits
    before_first : one above the index of the digit; of `evenly` divided ones only
    steps : from `digits` down to the index of the digit; of others only
    bit : the bit's place in its digit
    """

    def __init__(self, program: Program, capabilities: Capabilities):
        self.width = capabilities.digit_width
        self.headroom = capabilities.headroom
        self.window_bits = max(program.window_bits, 1)
        self.evenly = divides_evenly(self.width)
        super().__init__(
            {
                "length": In(capabilities.length_bits),
                "digits": In(capabilities.count_bits),
                "before_first": Out(capabilities.count_bits),
                "steps": Out(bits_for(2 + self.headroom // self.width)),
                "bit": Out(range(self.width)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """A register for the place of the bit, in either case."""
        m = Module()
        width = self.width
        if self.evenly:
            highest = Signal.like(self.length)
            m.d.sync += highest.eq((self.length - 1) | (self.window_bits - 1))
            m.d.comb += [
                self.before_first.eq(highest[bits_for(width - 1) :] + 1),
                self.bit.eq(highest),
            ]
            return m
        skipped, unused = divmod(self.headroom, width)
        top_bit = Signal(range(-unused, width - unused))
        # In shifts, or synthesis would take a multiplier for it.
        shifts = [k for k in range(width.bit_length()) if width >> k & 1]
        times_width = sum((self.digits << k for k in shifts), start=Const(0))
        highest_place = width * (skipped + 1) - 1
        m.d.sync += top_bit.eq(self.length - times_width + highest_place)
        m.d.comb += [
            self.steps.eq(Mux(top_bit < 0, Const(2 + skipped), Const(1 + skipped))),
            self.bit.eq(top_bit + Mux(top_bit < 0, width, 0)),
        ]
        return m


class ExponentScanner(wiring.Component, Feature):
    """Reads an exponent's bits, down from the highest digit or window, or up from the lowest bit.

    The control asks for a digit: `begin` in the first cycle of a scan, `seek` in the one that
    moves to the next digit, `take` when the digit is there. The bit, and what is known of its
    place, come from registers, two cycles after it has been moved to, or taken: in the first one of
    the step that comes next.

    Parameters
    ----------
    program, capabilities
    target : Target
        With XC7 the choice of the bit is of explicit LUTs.

    Members
    -------
    busy : else it forgets the digit, which may be secret
    operation, modulus, even_exponent : kind, context and flag of the step under way
    private : the operation is RSA_PRIVATE
    whole_digits, inner_digits : digits of E and of the step's modulus
    length : of the step's exponent, in bits
    next_bit : on to the next bit, within the digit unless `edge_bit` is 1
    exponent_index, exponent_data : of the exponent's digit that is read; with `exponent_other` the
        digit of E, which lies in another memory than the other exponents
    column_ends, prepare, columns : as of `Columns`, if any step scans columns
    leaves_two : the last bit is the one above the lowest two; only if any step leaves two
    bit, last_bit, edge_bit : the bit, and whether it is the last of the exponent, of its digit
    bit_index : its place in its digit
    public : it is E that is scanned, whatever the modulus; only if any step does

    Ports of the sequencer
    ----------------------
    exponent_other, public : as the members; the first one only if `in_place`
    """

    DIGIT_CYCLES = READ_LATENCY + 2
    """From one digit to the next: seek, read, the waiting, take."""

    def __init__(self, program: Program, capabilities: Capabilities, target: Target):
        self.program = program
        self.width = capabilities.digit_width
        self.target = target
        self.private_commands = capabilities.private
        self.skipped = capabilities.headroom // capabilities.digit_width
        """Digits that an exponent has for its headroom alone."""
        self.start = (
            WindowStart(program, capabilities) if StepKind.SCAN_WINDOWS in program.kinds else None
        )
        self.two_memories = program.in_place and not program.blinds_exponents
        self.digit = Signal(self.width, reset_less=True, name="exponent")
        """The digit of the exponent that is scanned; 0 while idle."""
        self.upwards = Signal()
        count = capabilities.count_bits
        self._at_edge, self._at_end, self._at_third = (
            Signal(name=name) for name in ("at_edge", "at_end", "at_third")
        )
        """The bit is the last one of its digit, of the exponent, or the third lowest one."""
        self._ends = Signal(name="ends")
        self._index_inverted = Signal(count, init=-1, name="index_inverted")
        self.column_order = Columns(self.width, self.skipped) if program.scans_columns else None
        super().__init__(
            {
                **dict.fromkeys(("busy", "begin", "seek", "take", "next_bit", "private"), In(1)),
                "operation": In(StepKind),
                "modulus": In(Context),
                "even_exponent": In(1),
                "whole_digits": In(count),
                "inner_digits": In(count),
                "length": In(capabilities.length_bits),
                "exponent_index": Out(count),
                "exponent_data": In(self.width),
                "exponent_other": In(self.width),
                **dict.fromkeys(("bit", "last_bit", "edge_bit", "public"), Out(1)),
                "bit_index": Out(range(self.width)),
            }
            | ({"leaves_two": In(1)} if program.leaves_bits else {})
            | (dict(self.column_order.ports()) if self.column_order else {})
        )

    @staticmethod
    def fields(program: Program) -> Mapping[str, int]:
        """What a step says of its exponent."""
        return {
            **({"even_exponent": 1} if program.evens_exponents else {}),
            **({"leaves_two": 1} if program.leaves_bits else {}),
        }

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        return {
            **({"exponent_other": In(self.width)} if self.program.in_place else {}),
            **({"public": Out(1)} if self.program.scans_public else {}),
        }

    def conditions(self) -> Mapping[str, Value]:
        """The bit."""
        return {"bit": self.bit, "last_bit": self.last_bit}

    def connect(self, m: Module, control: StepControl) -> None:
        """It reads the exponent of the step under way."""
        m.submodules.scanner = self
        step, ports = control.step, control.ports
        m.d.comb += [
            self.operation.eq(step.kind),
            self.modulus.eq(step.modulus),
            self.private.eq(among(ports.command, self.private_commands)),
            self.whole_digits.eq(ports.counts.exponent),
            self.next_bit.eq(control.next_bit),
            *same_named(self, ports, "busy", "exponent_data"),
            *same_named(self, step, *self.fields(self.program)),
            ports.exponent_index.eq(self.exponent_index),
            ports.discards.eq(step.conditional & ~self.bit),
        ]
        if self.program.in_place:
            m.d.comb += self.exponent_other.eq(ports.exponent_other)
        if self.program.scans_public:
            m.d.comb += ports.public.eq(self.public)

    def elaborate(self, platform: object) -> Module:
        """The index of the digit, and that of the bit in it."""
        m = Module()
        kinds, start, upwards = self.program.kinds, self.start, self.upwards
        scans_e: Value = self.modulus == Context.WHOLE
        if StepKind.SCAN_PUBLIC in kinds:
            scans_e |= self.operation == StepKind.SCAN_PUBLIC
        exponent_digits = Signal.like(self.inner_digits)
        m.d.comb += exponent_digits.eq(Mux(scans_e, self.whole_digits, self.inner_digits))
        # The index is inverted, so that the register counts up: a carry chain that counts down has
        # an inverter for each bit.
        index_inverted = self._index_inverted
        before_first = Signal.like(self.exponent_index)  # of a scan
        if self.column_order is None:
            m.d.comb += self.exponent_index.eq(~index_inverted)
        m.d.comb += before_first.eq(exponent_digits)
        steps = Mux(upwards, Const(-1), Const(1))  # down
        longer = -(-64 // self.width)  # never added, but in the Verilog of measured designs
        if self.program.blinds_exponents:
            longer = exponent_blinding_bits(self.width) // self.width
            with m.If(~scans_e):
                m.d.comb += before_first.eq(exponent_digits + longer)
        if start is not None:
            m.submodules.window_start = start
            m.d.comb += [start.length.eq(self.length), start.digits.eq(exponent_digits)]
            finds_window = self.operation == StepKind.SCAN_WINDOWS
            if start.evenly:
                blinded: Value = ~scans_e if self.program.blinds_exponents else Const(0)
                with m.If(finds_window):
                    m.d.comb += before_first.eq(start.before_first + Mux(blinded, longer, 0))
            else:
                steps = Mux(finds_window, start.steps, steps)
        if StepKind.SCAN_UPWARDS in kinds:
            with m.If(self.operation == StepKind.SCAN_UPWARDS):
                m.d.comb += before_first.eq(~0)
        if self.column_order is not None:
            self.column_order.find_digit(m, self, before_first, ~index_inverted)
            steps = Mux(self.column_order.moves, steps, 0)
        with m.If(self.begin):
            m.d.sync += index_inverted.eq(~before_first)
            if self.program.scans_public:
                of_e = sorted(kinds & {StepKind.SCAN_PUBLIC, StepKind.SCAN_COLUMNS})
                m.d.sync += self.public.eq(self.operation.matches(*of_e))
        with m.Elif(self.seek):
            m.d.sync += index_inverted.eq(index_inverted + steps)
        self._bits(m)
        self._digits(m)
        m.d.sync += [self.edge_bit.eq(self._at_edge), self._ends.eq(self._at_end)]
        m.d.comb += self.last_bit.eq(self._ends)
        if self.program.leaves_bits:
            leaves_ends = past_value(m, "leaves_ends", self._at_third, 1)
            with m.If(self.leaves_two):
                m.d.comb += self.last_bit.eq(leaves_ends)
        return m

    def _bits(self, m: Module) -> None:
        """The place of the bit, and whether it is the last one."""
        upwards, bit_index, columns = self.upwards, self.bit_index, self.column_order
        places = [bit_index] if columns is None else [bit_index, columns.place]
        scans_upwards = StepKind.SCAN_UPWARDS in self.program.kinds
        if scans_upwards and columns is None and not self.program.leaves_bits:
            self._bits_either_way(m)
        else:
            m.d.comb += self._at_edge.eq(bit_index == 0)
            position = BitPosition(self._at_edge, self.exponent_index == 0, self.next_bit)
            if columns is not None:
                lowest_digit = self._index_inverted.all()
                position = columns.position(self, lowest_digit, position)
                m.d.comb += self._at_edge.eq((bit_index == 0) | self.columns)
            m.d.comb += self._at_end.eq(position.ends & position.lowest)
            if self.program.leaves_bits:
                m.d.comb += self._at_third.eq((bit_index == 2) & position.lowest)
            with m.If(position.goes_down):
                m.d.sync += [place.eq(less_one(bit_index)) for place in places]
            if scans_upwards:
                self._bits_upwards(m, places)
        with m.If(self.take if columns is None else self.take & columns.moves):
            m.d.sync += [place.eq(Mux(upwards, 0, self.width - 1)) for place in places]
            if columns is not None:
                columns.begin(m, self, places)
            if self.start is not None:
                with m.If(self.operation == StepKind.SCAN_WINDOWS):
                    m.d.sync += [place.eq(self.start.bit) for place in places]

    def _bits_either_way(self, m: Module) -> None:
        """Down, or upwards as many bits as the exponent has."""
        upwards, bit_index = self.upwards, self.bit_index
        ahead = Signal.like(self.length)  # upwards: bits to come, with this one
        m.d.comb += [
            self._at_edge.eq(bit_index == Mux(upwards, self.width - 1, 0)),
            self._at_end.eq(Mux(upwards, ahead == 1, self._at_edge & (self.exponent_index == 0))),
        ]
        with m.If(self.next_bit):
            m.d.sync += [bit_index.eq(bit_index + Mux(upwards, 1, -1)), ahead.eq(ahead - 1)]
        with m.If(self.begin):
            m.d.sync += [
                upwards.eq(self.operation == StepKind.SCAN_UPWARDS),
                ahead.eq(self.length),
            ]

    def _bits_upwards(self, m: Module, places: Sequence[Signal]) -> None:
        """The same of a scan upwards, in a program that also scans columns."""
        ahead = Signal.like(self.length)  # bits to come, with this one
        with m.If(self.upwards):
            m.d.comb += self._at_edge.eq(self.bit_index == self.width - 1)
            m.d.comb += self._at_end.eq(ahead == 1)
            with m.If(self.next_bit):
                m.d.sync += [place.eq(self.bit_index + 1) for place in places]
                m.d.sync += ahead.eq(ahead - 1)
        with m.If(self.begin):
            m.d.sync += [
                self.upwards.eq(self.operation == StepKind.SCAN_UPWARDS),
                ahead.eq(self.length),
            ]

    def _digits(self, m: Module) -> None:
        """The digit, and its bit. No private digit is kept when idle, nor while E is scanned."""
        clears = ~self.busy
        if self.program.scans_public:
            clears |= self.begin
        registers = [(self.digit, self.exponent_data, clears)]
        if self.two_memories:
            # A register for each memory, so that nothing is between: one of them is 0.
            is_e = (self.modulus == Context.WHOLE) | self.public
            of_e = Signal.like(self.digit, name="exponent_of_e")
            registers = [
                (self.digit, self.exponent_data, clears | (self.take & is_e)),
                (of_e, self.exponent_other, clears | (self.take & ~is_e)),
            ]
        for register, source, is_zero in registers:
            with m.If(is_zero):
                m.d.sync += register.eq(0)
            with m.Elif(self.take):
                m.d.sync += register.eq(source)
        place = self.bit_index if self.column_order is None else self.column_order.place
        bits = [select_bit(m, register, place, self.target) for register, *_ in registers]
        selected = reduce(or_, bits)
        m.d.comb += self.bit.eq(past_value(m, "selected", selected, 1))
        if self.program.evens_exponents:
            with m.If(self.even_exponent & self.last_bit & self.private):
                m.d.comb += self.bit.eq(0)


@dataclass(eq=False)
class ScannerModel:
    """The same on an exponent, with its cycles."""

    program: Program
    capabilities: Capabilities
    lengths: Mapping[Length, int]
    values: Mapping[Reference, int]
    private: bool
    public: bool = False
    place: int = 0
    """The bit's place in the exponent."""
    last: int = 0
    """That of the last bit of the scan: the lowest one, or the highest one."""
    columns: ColumnsModel = field(default_factory=ColumnsModel)

    def exponent(self, step: Step) -> Reference:
        """Where the exponent of a step lies."""
        if self.public:
            return Context.WHOLE.exponent
        return self.program.blinded.get(step.modulus, step.modulus.exponent)

    def length(self, step: Step) -> int:
        """Of the exponent of a step, in bits, without what blinds it."""
        whole = step.modulus is Context.WHOLE or self.public
        return self.lengths.get(Length.EXPONENT if whole else step.modulus.length, 0)

    def begin(self, step: Step) -> int:
        """Cycles of a scan's begin, up to its first bit."""
        self.public = step.kind in (StepKind.SCAN_PUBLIC, StepKind.SCAN_COLUMNS)
        width, length = self.capabilities.digit_width, self.length(step)
        self.columns.begin(step.kind, length)
        blinded = self.exponent(step) in self.program.blinded.values()
        longer = exponent_blinding_bits(width) if blinded else 0
        if step.kind is StepKind.SCAN_COLUMNS:
            self.place, self.last = self.columns.tooth - 1, 0
        elif step.kind is StepKind.SCAN_UPWARDS:
            self.place, self.last = 0, length - 1
        elif step.kind is StepKind.SCAN_WINDOWS:
            highest = length - 1 + longer
            if divides_evenly(width):
                highest |= max(self.program.window_bits, 1) - 1
            self.place, self.last = highest, 0
        else:
            digits = self.capabilities.digits(length) + longer // width
            self.place, self.last = digits * width - 1, 0
        return 1 + ExponentScanner.DIGIT_CYCLES

    def bit(self, step: Step) -> int:
        """The bit, as a step sees it."""
        if step.even_exponent and self.place == 0 and self.private:
            return 0
        return self.values[self.exponent(step)] >> self.place + self.columns.beyond & 1

    @property
    def is_last(self) -> int:
        """Whether the bit is the last one."""
        return int(self.place == self.last)

    def ends(self, step: Step) -> int:
        """Whether the bit is the last one for a step, which may leave two to another one."""
        ends = self.place == self.last + 2 * step.leaves_two
        return int(ends and self.columns.in_highest_tooth)

    def next_bit(self) -> int:
        """Cycles to the next bit beyond those of the step: none within a digit."""
        if self.columns.tooth:
            self.place = self.columns.next_place(self.place)
            return ExponentScanner.DIGIT_CYCLES
        before = self.place
        self.place += 1 if self.last > before else -1
        width = self.capabilities.digit_width
        return ExponentScanner.DIGIT_CYCLES if before // width != self.place // width else 0
