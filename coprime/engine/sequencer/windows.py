"""Windows of the exponent: the bits that select an entry of the table."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.wires import same_named
from coprime.program.assembler import Program
from coprime.program.operands import Context, Mode, Reference
from coprime.program.steps import Next, StepKind

from ..contract import Capabilities
from .exponent_scanner import ExponentScanner, ScannerModel, divides_evenly
from .feature import Feature
from .next_rules import Effect
from .step_control import StepControl


def from_the_top(program: Program) -> bool:
    """Whether windows are counted from the exponent's highest bit, and the last one is shorter.

    So are those of 3 bits, which do not divide a count's bits, and others in a program with such.
    """
    sizes = (program.window_bits, program.whole_window_bits)
    return any(size & (size - 1) for size in sizes)


class ExponentWindow(wiring.Component, Feature):
    """A shift register for the bits of a window, and when it is full.

    Members
    -------
    busy : else it is empty: it may be secret
    prepare : becomes 1, to count the table's entries
    enter : the scanner's bit enters
    next_entry : selects the next entry of the table
    multiplied : the product by its entry is done
    load, length : a scan of windows takes its first digit, of an exponent of so many bits
    scans, whole : a scan of windows is under way; the context is WHOLE, with windows of its own
    bit, last_bit, bit_index, next_bit : as of the scanner; lowest_digit : so is its digit
    zero : the window is zero
    full, not_zero : with this bit it is
    slides : whether a sliding window is full with this bit
    last_entry : it selects the last but one of the entries that EACH_ENTRY makes

    Ports of the sequencer
    ----------------------
    columns : the window is a column, and its highest bit the sign; only if any step scans columns
    suppress_write : the product under way is not written, since the window is 0; only if `in_place`
    """

    def __init__(
        self,
        program: Program,
        capabilities: Capabilities,
        scanner: ExponentScanner,
        numbers: Mapping[Reference, int],
    ):
        self.program, self.scanner = program, scanner
        self.number = numbers[Mode.WINDOW]
        """Of x or y that the window selects."""
        self.evenly = divides_evenly(capabilities.digit_width)
        self.value = Signal(program.window_bits, reset_less=True, name="window")
        """The bits of the window; 0 while idle."""
        super().__init__(
            {
                **dict.fromkeys(("busy", "prepare", "enter", "next_entry", "multiplied"), In(1)),
                **dict.fromkeys(("load", "scans", "whole", "next_bit", "bit", "last_bit"), In(1)),
                "length": In(capabilities.length_bits),
                "bit_index": In(range(capabilities.digit_width)),
                "lowest_digit": In(1),
                **dict.fromkeys(("zero", "full", "not_zero", "slides", "last_entry"), Out(1)),
            }
        )

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        return {
            **({"columns": Out(1)} if self.scanner.column_order else {}),
            **({"suppress_write": Out(1)} if self.program.in_place else {}),
        }

    def conditions(self) -> Mapping[str, Value]:
        """What a window selects, with the bit that enters it."""
        return {
            "window_full": self.full,
            "window_not_zero": self.not_zero,
            "window_slides": self.slides,
            "last_entry": self.last_entry,
        }

    def connect(self, m: Module, control: StepControl) -> None:
        """It follows the scanner, and the steps that name the window."""
        m.submodules.windows = self
        step, ports, scanner, effects = control.step, control.ports, self.scanner, control.effects
        selects = step.y == self.number
        used: Value = selects
        if self.program.scans_by_moves:
            used = selects | ((step.kind == StepKind.MOVE) & (step.x == self.number))
        scans: Value = step.kind == StepKind.SCAN_WINDOWS
        if scanner.column_order is not None:
            scans |= step.kind == StepKind.SCAN_COLUMNS
        m.d.comb += [
            self.enter.eq(effects[Effect.ENTER_BIT]),
            self.next_entry.eq(effects[Effect.NEXT_ENTRY]),
            self.multiplied.eq(effects[Effect.FINISH_WINDOW] & used),
            self.load.eq(scanner.take & scans),
            self.scans.eq(scans),
            self.whole.eq(step.modulus == Context.WHOLE),
            self.lowest_digit.eq(scanner.exponent_index == 0),
            *same_named(self, ports, "busy", "prepare"),
            *same_named(self, scanner, "length", "bit", "last_bit", "bit_index", "next_bit"),
        ]
        if self.program.in_place:
            suppresses = selects & self.zero
            if self.program.has_thirds:  # a column of 0 selects a point like any other
                suppresses &= ~scanner.columns
            m.d.comb += ports.suppress_write.eq(suppresses)
        if scanner.column_order is not None:
            m.d.comb += [
                scanner.column_ends.eq(self.full),
                scanner.prepare.eq(ports.prepare),
                ports.columns.eq(scanner.columns),
            ]

    def elaborate(self, platform: object) -> Module:
        """The register, and what follows from it."""
        m = Module()
        program, window = self.program, self.value
        nexts, bits, whole_bits = program.nexts, program.window_bits, program.whole_window_bits
        entered = Cat(self.bit, window)[:bits]
        forgets: Value = ~self.busy
        if Next.IF_SLIDING_WINDOW in nexts or from_the_top(program):
            forgets |= self.multiplied
        if not self.evenly:
            forgets |= self.load
        with m.If(forgets):
            m.d.sync += window.eq(0)
        if Next.EACH_ENTRY in nexts:
            with m.Elif(self.prepare):
                m.d.sync += window.eq(1)
        with m.Elif(self.enter):
            m.d.sync += window.eq(Cat(self.bit, window))
        if Next.EACH_ENTRY in nexts:
            with m.Elif(self.next_entry):
                m.d.sync += window.eq(window + 1)
            whole_last, last = map(program.last_entry_of, (Context.WHOLE, Context.P))
            m.d.comb += self.last_entry.eq(
                Mux(self.whole, window[:whole_bits] == whole_last - 1, window == last - 1)
            )
        zero = ~window[:whole_bits].any()
        if whole_bits != bits:
            zero &= ~(window[whole_bits:].any() & ~self.whole)
        few = self.lowest_digit & (self.bit_index < bits - 1)
        m.d.comb += [
            self.full.eq(self._full(m)),
            self.zero.eq(zero),
            self.not_zero.eq(entered.any()),
            self.slides.eq(entered[-1] | (self.bit & few & ~window.any())),
        ]
        return m

    def _full(self, m: Module) -> Value:
        """Whether the bit is the last one of its window, by its position, which counts down."""
        bits, whole_bits = self.program.window_bits, self.program.whole_window_bits
        position = self.bit_index[: (bits - 1).bit_length()]
        counts = not self.evenly or self.scanner.column_order is not None
        if counts or from_the_top(self.program):
            position = Signal((bits - 1).bit_length())
            with m.If(self.next_bit):
                m.d.sync += position.eq(position - 1)
        full = ~position.any()
        if from_the_top(self.program):
            with m.If(self.scans | (self.next_bit & full)):
                m.d.sync += position.eq(Mux(self.whole, whole_bits - 1, bits - 1))
            return full | self.last_bit
        if counts:  # a window that divides a digit begins with its highest bit; so does a column
            with m.If(self.load):
                m.d.sync += position.eq(~0 if self.evenly else self.length - 1)
        if whole_bits != bits:
            full = Mux(self.whole, ~position[: (whole_bits - 1).bit_length()].any(), full)
        return full


class WindowModel:
    """The same on integers. The bit is the scanner's present one."""

    def __init__(self, program: Program, scanner: ScannerModel):
        self.program = program
        self.scanner = scanner
        self.value = 0
        self.top = 0
        """Place of the exponent's highest window's first bit."""

    def load(self) -> None:
        """A scan of windows takes its first digit."""
        self.top, self.value = self.scanner.place, 0

    def entered(self, bit: int, context: Context) -> int:
        """The window, with this bit."""
        return (self.value << 1 | bit) % (1 << self.program.window_bits_of(context))

    def full(self, context: Context) -> int:
        """Whether the window is, with this bit."""
        bits, place = self.program.window_bits_of(context), self.scanner.place
        if from_the_top(self.program):
            return int((self.top - place + 1) % bits == 0 or self.scanner.is_last)
        if self.scanner.columns.tooth:
            return int(self.scanner.columns.in_highest_tooth)
        return int(place % bits == 0)

    def slides(self, bit: int, context: Context) -> int:
        """Whether a sliding window is full with this bit."""
        bits = self.program.window_bits_of(context)
        alone = not self.value and bit and self.scanner.place < bits - 1
        return int(alone or self.entered(bit, context) >> (bits - 1))

    def last_entry(self, context: Context) -> int:
        """Whether it selects the last but one of the entries that EACH_ENTRY makes."""
        return int(self.value == self.program.last_entry_of(context) - 1)

    def multiplied(self) -> None:
        """The product by its entry is done."""
        if Next.IF_SLIDING_WINDOW in self.program.nexts or from_the_top(self.program):
            self.value = 0
