"""The arithmetic side's program: fetches instructions, counts loops, waits, starts steps."""

from collections.abc import Mapping
from typing import NamedTuple

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.chains import select_and_count
from coprime.cells.tables import look_up, place_table
from coprime.cells.target import Target
from coprime.lattice.memory.places import SEED_WORDS
from coprime.lattice.memory.sample_buffer import BUFFER_WORDS
from coprime.model.lattice.arithmetic import WORDS, N

from .byte_streams import COUNT_BITS
from .instructions import (
    FIELDS,
    LABEL_BITS,
    OTHER,
    PLACE_BITS,
    SPARE,
    WORD_BITS,
    AssembledArithmetic,
    Code,
    LoopCount,
    PolynomialOperand,
    Width,
)
from .steps import BYTE_WIDTHS, STEP, StepType

FIELD = data.StructLayout(FIELDS)
FULL = range(BUFFER_WORDS // WORDS + 1)
_NEXT_BITS = FIELDS["code"]


class _Execution(NamedTuple):
    """What the state EXECUTE reads and drives."""

    field: data.View
    code: Mapping[Code, Value]
    is_step: Value
    samples: Value  # it is a step that takes a sample
    row: Signal
    column: Signal
    goes_on: Signal  # to the next instruction, or
    jumps: Signal  # to the label
    starts_step: Signal
    fault: Signal
    exchanges: Signal  # the two places of bytes


class ArithmeticSequencer(wiring.Component):
    """Executes a program, an instruction after the other. Each takes two cycles to be fetched, as
    words come late in a cycle out of block RAM, and one to be executed; a step then one to begin
    and as many as it states. While a step is executed the next instruction is fetched.

    A register gives a step to the datapath, and another one shows a fault.

    Parameters
    ----------
    program (AssembledArithmetic)
    address_bits (int): of the byte memory
    words (int): of bytes that have one address, 1 or 2

    Members
    -------
    start (1 bit, in), entry, parameter_set (in): begin at an instruction; only while `busy` is 0
    busy, done (1 bit, out): from the next cycle on; `done` in the last busy cycle
    instruction_address (8 bits, out), instruction (18 bits, in): a cycle later
    step, start_step, step_done (out, out, in): of the datapath
    use (1 bit, in), address (out): the datapath uses a word of bytes; its address
    full (in), release (1 bit, out): of SampleBuffer
    post, available, take (1 bit, out, in, out): of the semaphores
    compare, differs, agrees (1 bit, out, in, in), compared (in): of the datapath
    forget (1 bit, in): nothing is decided any more
    genuine, altered (1 bit, out): what the last DECIDE has found; both are 0 if there was none
    decided (1 bit, out): one of them is 1, and only one
    contradicts (1 bit, out): `differs` and `agrees` are equal, as they never are without a fault
    refused (1 bit, out): something had differed at an END that refuses; from the cycle after `done`
        to the next `start`
    fault (1 bit, out): in the cycle before, an instruction's parity was wrong, or DECIDE has found
        that the comparisons contradict each other or are not complete
    wipe (1 bit, in): end; nothing is decided any more
    reads_seed, writes_seed (1 bit, out): a word of COPY is read, or that is written; the cycle is
        one of `use`; only of programs with COPY
    """

    def __init__(
        self, program: AssembledArithmetic, address_bits: int, target: Target, *, words: int = 1
    ):
        self.program, self.target = program, target
        self.seed_accesses = SEED_WORDS // words
        self.word = Signal(WORD_BITS)  # the instruction that is executed
        inputs = ("start", "step_done", "use", "available", "differs", "agrees", "forget", "wipe")
        outputs = ("busy", "done", "start_step", "release", "post", "take", "compare")
        super().__init__(
            {
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys((*outputs, "genuine", "altered", "refused", "fault"), Out(1)),
                **dict.fromkeys(("decided", "contradicts"), Out(1)),
                "compared": In(COUNT_BITS),
                "entry": In(LABEL_BITS),
                "parameter_set": In(program.set_bits),
                "instruction_address": Out(LABEL_BITS),
                "instruction": In(WORD_BITS),
                "step": Out(STEP),
                "address": Out(address_bits),
                "full": In(FULL),
                **(
                    dict.fromkeys(("reads_seed", "writes_seed"), Out(1))
                    if program.exchanges
                    else {}
                ),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """FETCH, LATCH, EXECUTE, and RUN while a step is executed."""
        m = Module()
        counter, word = Signal(LABEL_BITS), self.word
        row, column = Signal(2), Signal(2)
        field = Signal(FIELD)
        goes_on, jumps, starts = Signal(), Signal(), Signal()
        exchanges = Signal()
        m.d.comb += [
            field.eq(word),
            self.instruction_address.eq(counter),
            self.decided.eq(self.genuine ^ self.altered),
            self.contradicts.eq(self.differs == self.agrees),
        ]
        with m.If(goes_on | starts):
            m.d.sync += counter.eq(self._next_address(m, counter, jumps, starts))
        code = self._decode(field)
        is_step = ~field.code[-1]
        samples = is_step & field.sample
        starts_step, fault = Signal(), Signal()
        m.d.sync += [self.start_step.eq(starts_step), self.fault.eq(fault)]
        with m.If(starts_step):
            self._step(m, field, column)
        m.d.comb += self.release.eq(self.step_done & samples)
        execution = _Execution(
            *(field, code, is_step, samples, row, column, goes_on, jumps),
            *(starts_step, fault, exchanges),
        )

        with m.FSM():
            with m.State("IDLE"), m.If(self.start):
                m.d.comb += starts.eq(1)
                m.d.sync += [row.eq(0), column.eq(0), self.refused.eq(0)]
                m.next = "FETCH"
            with m.State("FETCH"):
                m.d.comb += self.busy.eq(1)
                m.next = "LATCH"
            with m.State("LATCH"):
                m.d.comb += self.busy.eq(1)
                m.d.sync += word.eq(self.instruction)
                m.next = "EXECUTE"
            with m.State("EXECUTE"):
                self._execute(m, execution)
            with m.State("RUN"):
                m.d.comb += [self.busy.eq(1), fault.eq(word.xor())]
                with m.If(self.step_done):
                    m.d.sync += word.eq(self.instruction)
                    m.next = "EXECUTE"
            if self.program.exchanges:
                with m.State("COPY"):
                    m.d.comb += self.busy.eq(1)
                    with m.If(self._copy(m, exchanges)):
                        m.d.comb += goes_on.eq(1)
                        m.next = "FETCH"
        self._seek(m, code[Code.SEEK])
        if self.program.exchanges:
            self._exchange(m, exchanges)
        with m.If(self.forget):
            m.d.sync += [self.genuine.eq(0), self.altered.eq(0)]
        # So that a state that a fault has made, and that is none of the states, ends with a wipe.
        return ResetInserter(self.wipe)(m)

    def _execute(self, m: Module, execution: _Execution) -> None:
        """An instruction, once it need not wait."""
        code, is_step = execution.code, execution.is_step
        refuses = code[Code.END] & execution.field.other & (self.differs | ~self.agrees)
        m.d.comb += self.busy.eq(1)
        waits = Signal()
        m.d.comb += waits.eq(
            (execution.samples & (self.full == 0)) | (code[Code.AWAIT] & ~self.available)
        )
        m.d.comb += execution.fault.eq(
            self.word.xor() | (code[Code.DECIDE] & self._incomplete(execution.field))
        )
        with m.If(~waits & ~self.wipe):
            m.d.comb += [
                execution.starts_step.eq(is_step),
                self.post.eq(code[Code.POST]),
                self.take.eq(code[Code.AWAIT]),
                self.compare.eq(code[Code.COMPARE]),
                self.done.eq(code[Code.END]),
            ]
            if self.program.exchanges:
                m.d.comb += execution.exchanges.eq(code[Code.EXCHANGE])
            with m.If(is_step):
                m.d.comb += execution.goes_on.eq(1)
                m.next = "RUN"
            with m.Elif(code[Code.END]):
                m.d.sync += self.refused.eq(refuses)
                m.next = "IDLE"
            if self.program.exchanges:
                with m.Elif(code[Code.COPY]):
                    m.next = "COPY"
            with m.Else():
                m.d.comb += [
                    execution.goes_on.eq(1),
                    execution.jumps.eq(
                        self._loop(m, code[Code.LOOP], execution.row, execution.column)
                    ),
                ]
                m.next = "FETCH"
            with m.If(code[Code.DECIDE]):
                m.d.sync += [
                    self.genuine.eq(self.agrees & ~self.differs),
                    self.altered.eq(self.differs & ~self.agrees),
                ]

    def _next_address(self, m: Module, counter: Value, jumps: Value, starts: Value) -> Value:
        """That of the entry, of the label of a LOOP, or of the instruction that follows."""
        label = self.word[_NEXT_BITS:][:LABEL_BITS]
        choices = [counter, label, self.entry, self.entry]
        follows = ~(jumps | starts)
        return select_and_count(m, choices, Cat(jumps, starts), follows, self.target)

    def _decode(self, field: data.View) -> dict[Code, Value]:
        """Of which kind an instruction is: a bit of its own, or the bits of a number."""
        code: dict[Code, Value] = {}
        for kind in Code:
            if kind in SPARE:  # where LOOP has a part of its label
                code[kind] = (field.code == OTHER) & (field.spare & SPARE[kind]).any()
            elif isinstance(kind.value, str):
                code[kind] = field[kind.value]
            else:
                bits = [bit for k, bit in enumerate(field.code) if kind.value >> k & 1]
                code[kind] = Cat(bits).all()
        return code

    def _copy(self, m: Module, exchanges: Signal) -> Value:
        """What has one address in four cycles: read, exchange, write, exchange; whether it is the
        last one."""
        count = Signal(range(4 * self.seed_accesses))
        phase = count[:2]
        m.d.sync += count.eq(count + 1)
        m.d.comb += [
            self.reads_seed.eq(phase == 0),
            self.writes_seed.eq(phase == 2),
            exchanges.eq(phase[0]),
        ]
        return count.all()

    def _exchange(self, m: Module, exchanges: Signal) -> None:
        """Both places; the last word of the step before may be written in this cycle."""
        other = Signal.like(self.address)
        with m.If(exchanges):
            m.d.sync += [self.address.eq(other), other.eq(self.address + self.use)]

    def _seek(self, m: Module, is_seek: Value) -> None:
        """The address of bytes: a place, or the next word after each that is used."""
        place = self.word[_NEXT_BITS:][:PLACE_BITS]
        seeks = Signal()
        m.d.comb += seeks.eq(self.busy & is_seek)
        with m.If(seeks | self.use):
            places = [self.address, self._place(m, place)]
            m.d.sync += self.address.eq(
                select_and_count(m, places, Cat(seeks), ~seeks, self.target)
            )

    def _incomplete(self, field: data.View) -> Value:
        """Whether the comparisons are not as many as DECIDE needs, or not complementary."""
        numbers = self._by_set([N * (count + 1) for count in self.program.counts])
        needed = Mux(field.other, numbers, 0)
        return (self.compared != needed) | self.contradicts

    def _place(self, m: Module, place: Value) -> Value:
        """The address of a place, which may depend on the parameter set. It is a multiple of a
        seed's."""
        sets = len(self.program.counts)
        rows = [
            address // SEED_WORDS
            for parameter_set in range(sets)
            for address in (
                *(place[parameter_set] for place in self.program.places),
                *(0,) * ((1 << PLACE_BITS) - len(self.program.places)),
            )
        ]
        low = bits_for(self.seed_accesses - 1)
        by_set = Cat(place, self.parameter_set)
        seeds = place_table(m, rows, by_set, len(self.address) - low, self.target)
        return Cat(Const(0, low), seeds)

    def _by_set(self, values: list[int]) -> Value:
        return look_up(values, self.parameter_set, max(1, bits_for(max(values))))

    def _loop(self, m: Module, loops: Value, row: Signal, column: Signal) -> Value:
        """Count; whether the LOOP leads to its label."""
        over = self.word[_NEXT_BITS + LABEL_BITS]
        last = self._by_set([count - 1 for count in self.program.counts])
        more = Signal()
        m.d.comb += more.eq(Mux(over == LoopCount.ROWS.value, row, column) != last)
        with m.If(loops & (over == LoopCount.ROWS.value)):
            m.d.sync += row.eq(Mux(more, row + 1, 0))
        with m.If(loops & (over == LoopCount.COLUMNS.value)):
            m.d.sync += column.eq(Mux(more, column + 1, 0))
        return loops & more

    def _step(self, m: Module, field: data.View, column: Signal) -> None:
        """The step's fields."""
        program, step = self.program, self.step
        sets = range(len(program.counts))
        widths = {
            width: self._by_set(
                [program.width_number(width, parameter_set) for parameter_set in sets]
            )
            for width in (Width.U, Width.V)
        }
        constants = {
            Width.ONE: Const(BYTE_WIDTHS.index(1)),
            Width.TWELVE: Const(BYTE_WIDTHS.index(12)),
        }
        with m.Switch(field.width):
            for width, number in {**widths, **constants}.items():
                with m.Case(width.value):
                    m.d.sync += step.width.eq(number)
        is_vector = field.operand == PolynomialOperand.VECTOR.value
        multiplies = field.code == StepType.MULTIPLY.value
        m.d.sync += [
            step.kind.eq(field.code[:3]),
            step.region.eq(Mux(is_vector, column, Cat(field.operand[0], Const(0b11, 2)))),
            step.sample.eq(field.sample),
            step.add.eq(field.add & ~(multiplies & (column == 0))),
            step.subtract.eq(field.other & (field.code == StepType.UNPACK.value)),
            step.compare.eq(field.other & (field.code == StepType.PACK.value)),
        ]
