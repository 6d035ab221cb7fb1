"""The program of the arithmetic side modulo 8380417: instructions, loops, addresses of bytes."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.luts import select_word
from coprime.cells.tables import look_up, place_table
from coprime.cells.target import Target
from coprime.lattice.memory.sample_buffer import BUFFER_WORDS
from coprime.model.lattice.large_arithmetic import N

from .large_instructions import (
    BANK,
    FIELDS,
    LABEL_BITS,
    PLACE_BITS,
    WORD_BITS,
    Adds,
    AssembledLarge,
    LargeCode,
    LargeLoop,
    LargeWidth,
)
from .large_steps import LargeKind, large_step_layout
from .number_packer import ML_DSA_WIDTHS

FIELD = data.StructLayout(FIELDS)
LARGE_FULL = range(BUFFER_WORDS // N + 1)
"""Of the sample buffer of one lane."""
UNIT_WORDS = 4
"""Places begin at multiples of so many words of the byte memory."""
_INDEX_BITS = (BANK - 1).bit_length()


class PlacePointers(wiring.Component):
    """A running address for each place, in a LUT RAM.

    Parameters
    ----------
    program (AssembledLarge)
    address_bits (int): of the byte memory
    words (int): that have one address, 1 or 2

    Members
    -------
    parameter_set (in): stable
    place (4 bits, in): of the instruction
    seek (1 bit, in): its address is that of the place's begin, two cycles later; `place` is stable
        till then
    use (1 bit, in): its address counts up
    address (out): the place's
    """

    def __init__(self, program: AssembledLarge, address_bits: int, target: Target, *, words: int):
        self.program, self.target = program, target
        self.unit = UNIT_WORDS // words  # addresses
        super().__init__(
            {
                "parameter_set": In(program.set_bits),
                "place": In(PLACE_BITS),
                **dict.fromkeys(("seek", "use"), In(1)),
                "address": Out(address_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """An address is written where it is read."""
        m = Module()
        m.submodules.pointers = pointers = Memory(
            shape=len(self.address),
            depth=1 << PLACE_BITS,
            init=[],
            attrs={"ram_style": "distributed"},
        )
        read, write = pointers.read_port(domain="comb"), pointers.write_port()
        places = self.program.places
        rows = [
            place[parameter_set] // UNIT_WORDS
            for parameter_set in range(len(self.program.sets))
            for place in (*places, *((0,) * 4,) * ((1 << PLACE_BITS) - len(places)))
        ]
        low = bits_for(self.unit - 1)
        by_set = Cat(self.place, self.parameter_set)
        begin, seek = Signal(len(self.address) - low), Signal()
        m.d.sync += [
            begin.eq(place_table(m, rows, by_set, len(begin), self.target)),
            seek.eq(self.seek),
        ]
        m.d.comb += [
            read.addr.eq(self.place),
            write.addr.eq(self.place),
            write.en.eq(seek | self.use),
            write.data.eq(Mux(seek, Cat(Const(0, low), begin), read.data + 1)),
            self.address.eq(read.data),
        ]
        return m


class LargeSequencer(wiring.Component):
    """Executes a program, an instruction after the other. Each takes two cycles to be fetched, as
    words come late in a cycle out of block RAM, and one to be executed; a step then as many as it
    states. While a step is executed the next instruction is fetched.

    Parameters
    ----------
    program (AssembledLarge)
    address_bits (int): of the byte memory
    full (range): of `full`
    words (int): of bytes that have one address, 1 or 2

    Members
    -------
    start (1 bit, in), entry, parameter_set (in): begin at an instruction; only while `busy` is 0
    busy, done (1 bit, out): from the next cycle on; `done` in the last busy cycle
    instruction_address (8 bits, out), instruction (in): a cycle later
    step, start_step, step_done (out, out, in): of the datapath
    step_follows (1 bit, in): where the program repeats products: of the datapath
    use (1 bit, in), address (out): the datapath uses a word of bytes; its address
    full (in), release (1 bit, out): of SampleBuffer
    post (1 bit, out): of a semaphore
    clear (1 bit, out): forget what was checked
    exceeds (1 bit, in), rejected (1 bit, out): a check has failed; what the last VERDICT has found
    hints_row, row_number, rest, finish, waits : of HintMemory
    fault (1 bit, out): the parity of the instruction that is executed is wrong
    wipe (1 bit, in): end
    """

    def __init__(
        self,
        program: AssembledLarge,
        address_bits: int,
        target: Target,
        full: range = LARGE_FULL,
        *,
        words: int = 1,
    ):
        self.program, self.target = program, target
        self.pointers = PlacePointers(program, address_bits, target, words=words)
        self.word = Signal(WORD_BITS)  # the instruction that is executed
        inputs: tuple[str, ...] = ("start", "step_done", "use", "exceeds", "waits", "wipe")
        if program.repeats:
            inputs += ("step_follows",)
        outputs = ("busy", "done", "start_step", "release", "post", "clear", "fault", "rejected")
        super().__init__(
            {
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys((*outputs, "hints_row", "rest", "finish"), Out(1)),
                "row_number": Out(_INDEX_BITS),
                "entry": In(LABEL_BITS),
                "parameter_set": In(program.set_bits),
                "instruction_address": Out(LABEL_BITS),
                "instruction": In(WORD_BITS),
                "step": Out(large_step_layout(program.regions)),
                "address": Out(address_bits),
                "full": In(full),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """FETCH, LATCH, EXECUTE, and RUN while a step is executed."""
        m = Module()
        m.submodules.pointers = self.pointers
        counter, row, column = Signal(LABEL_BITS), Signal(_INDEX_BITS), Signal(_INDEX_BITS)
        field, word = Signal(FIELD), self.word
        label = word[FIELDS["code"] :][:LABEL_BITS]
        goes_on, jumps, starts, executes = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [field.eq(word), self.instruction_address.eq(counter), self.row_number.eq(row)]
        with m.If(goes_on | starts):
            choices = [(counter + 1)[:LABEL_BITS], label, self.entry, self.entry]
            m.d.sync += counter.eq(select_word(m, choices, Cat(jumps, starts), self.target))
        code = {kind: Signal(name=f"is_{kind.name.lower()}") for kind in LargeCode}
        m.d.comb += [found.eq(field.code == kind.value) for kind, found in code.items()]
        is_step = field.code < LargeCode.END.value
        of_hints = (field.code == LargeKind.PACK.value) & (field.width == LargeWidth.HINT.value)
        samples, waits = is_step & field.sample & ~of_hints, Signal()
        releases = self.step_done & self.busy & samples & ~field.keep
        repeats, runs = Signal(), Signal()
        if self.program.repeats:
            releases = self._repeat(m, field, column, repeats, runs) & samples
        self._step(m, field, row, column)
        m.d.comb += [
            waits.eq(
                (samples & (self.full == 0))
                | ((code[LargeCode.REST] | code[LargeCode.FINISH]) & self.waits)
            ),
            self.release.eq(releases),
            self.start_step.eq(executes & is_step),
            self.post.eq(executes & (code[LargeCode.POST] | code[LargeCode.VERDICT])),
            self.clear.eq(executes & code[LargeCode.CLEAR]),
            self.hints_row.eq(executes & code[LargeCode.ROW]),
            self.done.eq(executes & code[LargeCode.END]),
            jumps.eq(self._loop(m, executes & code[LargeCode.LOOP], row, column)),
        ]
        self._point(m, field, executes & code[LargeCode.SEEK])
        with m.If(executes & code[LargeCode.VERDICT]):
            m.d.sync += self.rejected.eq(self.exceeds)
        with m.FSM():
            with m.State("IDLE"), m.If(self.start):
                m.d.comb += starts.eq(1)
                m.d.sync += [row.eq(0), column.eq(0)]
                m.next = "FETCH"
            with m.State("FETCH"):
                m.d.comb += self.busy.eq(1)
                m.next = "LATCH"
            with m.State("LATCH"):
                m.d.comb += self.busy.eq(1)
                m.d.sync += word.eq(self.instruction)
                m.next = "EXECUTE"
            with m.State("EXECUTE"):
                m.d.comb += [
                    self.busy.eq(1),
                    self.fault.eq(word.xor()),
                    self.rest.eq(code[LargeCode.REST]),
                    self.finish.eq(code[LargeCode.FINISH]),
                    executes.eq(~waits & ~self.wipe),
                    goes_on.eq(executes & ~code[LargeCode.END] & ~repeats)
                    if self.program.repeats
                    else goes_on.eq(executes & ~code[LargeCode.END]),
                ]
                with m.If(executes):
                    m.next = "FETCH"
                with m.If(self.start_step):
                    m.next = "RUN"
                with m.If(self.done):
                    m.next = "IDLE"
            with m.State("RUN"):
                m.d.comb += [self.busy.eq(1), self.fault.eq(word.xor())]
                with m.If(self.step_done):
                    m.d.sync += word.eq(self.instruction)
                    m.next = "EXECUTE"
                if self.program.repeats:
                    m.d.comb += runs.eq(1)
                    with m.If(repeats & self.step_follows):
                        m.next = "EXECUTE"
        # So that a state that a fault has made, and that is none of the states, ends with a wipe.
        return ResetInserter(self.wipe)(m)

    def _point(self, m: Module, field: data.View, seeks: Value) -> None:
        """The address of the place's next word."""
        pointers = self.pointers
        m.d.comb += [
            pointers.parameter_set.eq(self.parameter_set),
            pointers.place.eq(field.place),
            pointers.seek.eq(seeks),
            pointers.use.eq(self.use),
            self.address.eq(pointers.address),
        ]

    def _repeat(
        self, m: Module, field: data.View, column: Signal, repeats: Signal, runs: Signal
    ) -> Value:
        """A product of each column: the same instruction with the next one, if `repeats`, as soon
        as the step before allows. Whether a sample is no longer needed."""
        sets = self.program.sets
        counts = [parameter_set.columns - 1 for parameter_set in sets]
        is_product = field.code == LargeKind.MULTIPLY.value
        last = Signal()
        m.d.comb += [
            last.eq(column == look_up(counts, self.parameter_set, _INDEX_BITS)),
            repeats.eq(is_product & field.keep & ~last),
        ]
        follows = runs & Mux(repeats, self.step_follows, self.step_done)
        with m.If(follows & is_product & field.keep):
            m.d.sync += column.eq(Mux(last, 0, column + 1))
        return follows & (is_product | ~field.keep)

    def _loop(self, m: Module, loops: Value, row: Signal, column: Signal) -> Value:
        """Count; whether the LOOP leads to its label."""
        over = self.word[FIELDS["code"] + LABEL_BITS :][:2]
        is_row, is_verdict = over[0], over[1]
        sets = self.program.sets
        counts = [parameter_set.columns - 1 for parameter_set in sets] + [0] * (
            (1 << self.program.set_bits) - len(sets)
        )
        counts += [parameter_set.k - 1 for parameter_set in sets]
        last = look_up(counts, Cat(self.parameter_set, is_row), _INDEX_BITS)
        more = Signal()
        m.d.comb += more.eq(Mux(is_row, row, column) != last)
        with m.If(loops & (over == LargeLoop.ROWS.value)):
            m.d.sync += row.eq(Mux(more, row + 1, 0))
        with m.If(loops & (over == LargeLoop.COLUMNS.value)):
            m.d.sync += column.eq(Mux(more, column + 1, 0))
        return loops & Mux(is_verdict, is_row | self.rejected, more)

    def _step(self, m: Module, field: data.View, row: Signal, column: Signal) -> None:
        """The step's fields."""
        step, program = self.step, self.program
        sets = range(len(program.sets))
        widths = [
            program.width_number(LargeWidth(number), parameter_set)
            if number < len(LargeWidth)
            else 0
            for parameter_set in sets
            for number in range(1 << FIELDS["width"])
        ]

        def region(index: Value, bank: Value) -> Value:
            counted = Mux(index[0], row, column)
            counted = Cat(Mux(index[2], index[0], counted[0]), counted[1:])
            return Cat(Mux(index[1], index[0].replicate(_INDEX_BITS), counted), bank)

        m.d.comb += [
            step.kind.eq(field.code[: len(Value.cast(step.kind))]),
            step.region.eq(region(field.index, field.bank)),
            step.other.eq(region(field.other_index, field.other_bank)),
            step.into.eq(region(field.into_index, field.into_bank)),
            step.sample.eq(field.sample),
            step.add.eq(
                (field.adds == Adds.ALWAYS.value)
                | ((field.adds == Adds.AFTER_FIRST.value) & (column != 0))
            ),
            step.subtract.eq(field.subtract),
            step.part.eq(field.part),
            step.form.eq(field.form),
            step.width.eq(
                look_up(
                    widths, Cat(field.width, self.parameter_set), bits_for(len(ML_DSA_WIDTHS) - 1)
                )
            ),
        ]


assert max(kind.value for kind in LargeKind) < min(code.value for code in LargeCode)
