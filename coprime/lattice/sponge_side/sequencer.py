"""The sponge side's program: instructions, loops, and going back to a message."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.chains import select_and_count
from coprime.cells.keccak.hash_unit import command_layout
from coprime.cells.tables import look_up, place_table
from coprime.cells.target import Target

from .absorber import TAIL, range_layout
from .instructions import (
    REPEATS,
    AssembledProgram,
    Destination,
    InstructionKind,
    Over,
    Tail,
    output_words,
)
from .output_router import REPEATS_BITS, destination_layout

PRESENT_BITS = 4


def length_bits(program: AssembledProgram) -> int:
    """Width of a length of output in words."""
    return 9 if program.large else 8


def resume_layout(program: AssembledProgram) -> data.StructLayout:
    """What the program needs to go on from an instruction."""
    return data.StructLayout(
        {
            "counter": program.counter_bits,
            "row": range(max(program.rows)),
            "column": range(max(program.columns)),
            "nonce": program.nonce_bits,
        }
    )


_LARGE_PORTS = {"rejected": In(1), "rejects": Out(1)}


class SpongeSequencer(wiring.Component):
    """Executes a program in order: an instruction in two cycles, as it is looked up in the first.

    Parameters
    ----------
    program (AssembledProgram)
    address_bits (int): of the byte memory

    Members
    -------
    start, entry, parameter_set, present, rejected, busy, done, post, available, take : of
        SpongeSideSignature
    commands (out): of a hash unit
    destinations (out): of OutputRouter, with each command, and with each DRAW
    settled (1 bit, in): there is no destination
    ranges, tails (out): of Absorber
    fails, failed (in): of OutputRouter: go on from the message that failed, once `forgotten` is 1
    forgotten (1 bit, in): not in the cycle of `fails`, but from some later cycle on
    wipe (1 bit, in): end

    Of large programs only:

    rejected (1 bit, in): what a LOOP over REJECTED asks for
    rejects (1 bit, out): a LOOP over REJECTED that jumps is executed
    """

    def __init__(self, program: AssembledProgram, address_bits: int, target: Target):
        self.program, self.address_bits, self.target = program, address_bits, target
        self.resume = resume_layout(program)
        destination = destination_layout(program.format, address_bits, self.resume)
        inputs = ("start", "available", "settled", "fails", "forgotten", "wipe")
        super().__init__(
            {
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys(("busy", "done", "post", "take"), Out(1)),
                "entry": In(program.counter_bits),
                "parameter_set": In(program.set_bits),
                "present": In(PRESENT_BITS),
                **(_LARGE_PORTS if program.large else {}),
                "commands": Out(stream.Signature(command_layout(length_bits(program)))),
                "destinations": Out(stream.Signature(destination)),
                "ranges": Out(stream.Signature(range_layout(program.format, address_bits))),
                "tails": Out(stream.Signature(TAIL)),
                "failed": In(destination),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Fetch, look up, execute."""
        m = Module()
        program = self.program
        state = Signal(self.resume)
        repeats, repeating = Signal(REPEATS_BITS), Signal()
        tail_due = Signal()  # the range of this ABSORB is taken
        field, fetched = Signal(data.StructLayout(program.fields)), Signal()
        moves = Signal()  # to another instruction
        m.d.sync += [
            field.eq(self._table(m, program.words, state.counter, len(field.as_value()))),
            fetched.eq(~moves),
        ]
        kind = {
            instruction_kind: field.kind == instruction_kind.value
            for instruction_kind in InstructionKind
        }
        executes = Signal()  # but for what its kind waits for
        completes = Signal()
        m.d.comb += executes.eq(self.busy & fetched & ~repeating & (self.settled | ~field.settles))

        self._operands(m, state, field, repeats)
        skips = (self.present >> field.function[:2])[0]
        hashes, draws = executes & kind[InstructionKind.HASH], executes & kind[InstructionKind.DRAW]
        copies = executes & kind[InstructionKind.COPY] if program.large else Const(0)
        m.d.comb += [
            self.commands.valid.eq(hashes & self.destinations.ready),
            self.destinations.valid.eq((hashes & self.commands.ready) | (draws & ~skips) | copies),
            self.ranges.valid.eq(executes & kind[InstructionKind.ABSORB] & ~tail_due),
            self.tails.valid.eq(tail_due & ~repeating),
            self.post.eq(executes & kind[InstructionKind.POST]),
            self.take.eq(executes & kind[InstructionKind.AWAIT] & self.available),
            self.done.eq(executes & kind[InstructionKind.END]),
        ]
        has_tail = field.function[2]
        range_taken = self.ranges.valid & self.ranges.ready
        tail_taken = self.tails.valid & self.tails.ready
        m.d.comb += completes.eq(
            (self.destinations.valid & self.destinations.ready)
            | (range_taken & ~has_tail)
            | tail_taken
            | (draws & skips)
            | self.post
            | self.take
            | (executes & kind[InstructionKind.LOOP])
        )
        jumps = self._loop(m, state, field, executes & kind[InstructionKind.LOOP])
        self._tail(m, state, field.function[:2])
        label = Cat(field.range, field.destination, field.more_label)
        counters = [state.counter, label, self.failed.resume.counter, self.entry]
        choice = Cat((jumps & ~self.fails) | self.start, self.fails | self.start)
        with m.If(self.commands.valid & self.commands.ready):
            m.d.sync += repeats.eq(0)
        with m.If(range_taken):
            m.d.sync += tail_due.eq(has_tail)
        with m.If(tail_taken):
            m.d.sync += tail_due.eq(0)
            with m.If(field.function[:2] == Tail.NONCE.value):
                m.d.sync += state.nonce.eq(state.nonce + 1)
        with m.If(self.forgotten):
            m.d.sync += repeating.eq(0)
        with m.If(self.fails):
            failed = self.failed
            m.d.sync += [
                repeating.eq(1),
                *(state[name].eq(failed.resume[name]) for name in ("row", "column", "nonce")),
                repeats.eq(failed.repeats + 1),
                tail_due.eq(0),
            ]
        with m.If(self.done | self.wipe):
            m.d.sync += [register.eq(0) for register in (self.busy, repeats, repeating, tail_due)]
        with m.If(self.start):
            m.d.sync += [self.busy.eq(1), state.row.eq(0), state.column.eq(0), state.nonce.eq(0)]
        m.d.comb += moves.eq(completes | self.fails | self.start)
        with m.If(moves):
            m.d.sync += state.counter.eq(
                select_and_count(m, counters, choice, ~choice.any(), self.target)
            )
        return m

    def _operands(self, m: Module, state: data.View, field: data.View, repeats: Value) -> None:
        """What instructions look up: ranges, destinations and lengths of outputs."""
        program, widths = self.program, self.program.format
        by_set = Cat(field.range, self.parameter_set)
        base = self._table(m, program.bases, by_set, len(self.ranges.payload.base))
        units = self._table(m, program.units, by_set, widths.units)
        destination = Signal(widths.destination)
        drawn: Value = field.kind == InstructionKind.DRAW.value
        if program.large:
            copies = field.kind == InstructionKind.COPY.value
            drawn = Cat(drawn | copies, copies)
        by_set = Cat(field.destination, self.parameter_set)
        m.d.comb += destination.eq(
            look_up(program.destinations, by_set, widths.destination) | drawn
        )
        m.d.comb += [
            self.commands.payload.function.eq(field.function),
            self.commands.payload.length.eq(self._length(m, destination, repeats, units)),
            self.destinations.payload.destination.eq(destination),
            self.destinations.payload.base.eq(base),
            self.destinations.payload.repeats.eq(repeats),
            self.destinations.payload.resume.eq(state),
            self.ranges.payload.base.eq(base),
            self.ranges.payload.units.eq(units),
            self.ranges.payload.last.eq(field.last),
        ]
        if program.large:
            last_row = state.row == self._by_set(tuple(count - 1 for count in program.rows))
            is_plain = ~field.function[2]
            m.d.comb += [
                self.ranges.payload.last.eq(field.last & (last_row | ~field.destination[0])),
                self.ranges.payload.streams.eq(is_plain & field.function[0]),
                self.ranges.payload.continues.eq(is_plain & field.function[1]),
            ]

    def _length(self, m: Module, destination: Value, repeats: Value, units: Value) -> Value:
        """Of an output, in words: of a seed or two, or what makes a polynomial. A large program has
        more polynomials, and its outputs of bytes have up to eight units."""
        widths = self.program.format
        known, bits = {into.value: into for into in Destination}, widths.destination
        rows = [
            output_words(
                known.get(row & (1 << bits) - 1, Destination.BYTES),
                row >> bits & REPEATS - 1,
                1 + (row >> bits + 2),
                widths.unit_words,
                pairs=self.program.pairs,
            )
            for row in range(64)
        ]
        words = self._table(m, rows, Cat(destination, repeats, units)[:6], bits_for(max(rows)))
        if not self.program.large:
            return words
        return Mux(destination[2:].any(), words, (units[:3] + 1) * widths.unit_words)

    def _table(self, m: Module, words: Sequence[int], address: Value, width: int) -> Value:
        table = Module()
        m.submodules += table
        return place_table(table, words, address, width, self.target)

    def _by_set(self, values: tuple[int, ...]) -> Value:
        return look_up(values, self.parameter_set, bits_for(max(values)))

    def _loop(self, m: Module, state: data.View, field: data.View, loops: Value) -> Value:
        """Count; whether the LOOP leads to its label."""
        jumps = Signal()
        over = field.function
        counters = {
            Over.COLUMNS: (state.column, self.program.columns),
            Over.ROWS: (state.row, self.program.rows),
        }
        m.d.comb += jumps.eq(over[1])  # ALWAYS, and REJECTED if there is a rejection
        if self.program.large:
            rewinds = over == Over.REWIND.value
            rejects = (over == Over.REJECTED.value) & self.rejected
            m.d.comb += [
                jumps.eq(rewinds | (over == Over.ALWAYS.value) | rejects),
                self.rejects.eq(loops & rejects),
            ]
            with m.If(loops & rewinds):
                m.d.sync += state.nonce.eq(state.nonce - self._by_set(self.program.columns))
        for which, (counter, counts) in counters.items():
            with m.If(over == which.value):
                more = counter != self._by_set(tuple(count - 1 for count in counts))
                m.d.comb += jumps.eq(more)
                with m.If(loops):
                    m.d.sync += counter.eq(Mux(more, counter + 1, 0))
        return jumps & loops

    def _tail(self, m: Module, state: data.View, kind: Value) -> None:
        """The bytes of a tail."""
        program, tail = self.program, self.tails.payload
        pairs = [Cat(state.column, Const(0, 8))[:8], Cat(state.row, Const(0, 8))[:8]]
        values: list[Value] = [self._by_set(program.constant), state.nonce]
        values += [Cat(pairs), Cat(reversed(pairs))]
        for number, value in enumerate(values):
            with m.If(kind == number):
                m.d.comb += tail.data.eq(value)
        is_large = look_up(program.large_sets, self.parameter_set, 1)
        m.d.comb += tail.bytes.eq(Mux(kind[1] | is_large, 2, 1))
