"""The sponge side's program: instructions, loops, and going back to a message."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.keccak.hash_unit import command_layout
from coprime.cells.luts import select_word
from coprime.cells.tables import look_up, place_table
from coprime.cells.target import Target

from .absorber import GROUP_BITS, SEEDS_BITS, TAIL, range_layout
from .instructions import (
    AssembledProgram,
    Destination,
    InstructionKind,
    Over,
    Tail,
    fields,
    output_words,
)
from .output_router import REPEATS, destination_layout

_OUTPUT_BITS = 8  # of a length of output in words
HASH_LENGTH_BITS = 11
"""Width of a length of output in bytes: at least that, as a hash unit has."""
PRESENT_BITS = 4


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


class SpongeSequencer(wiring.Component):
    """Executes a program: at most an instruction a cycle, in order.

    Parameters
    ----------
    program (AssembledProgram)
    address_bits (int): of the byte memory

    Members
    -------
    start, entry, parameter_set, present, busy, done, post, available, take : of SpongeSideSignature
    commands (out): of a hash unit
    destinations (out): of OutputRouter, with each command, and with each DRAW
    settled (1 bit, in): there is no destination
    ranges, tails (out): of Absorber
    fails, failed (in): of OutputRouter: go on from the message that failed, once `forgotten` is 1
    forgotten (1 bit, in): not in the cycle of `fails`, but from some later cycle on
    wipe (1 bit, in): end
    """

    def __init__(self, program: AssembledProgram, address_bits: int, target: Target):
        self.program, self.address_bits, self.target = program, address_bits, target
        self.resume = resume_layout(program)
        destination = destination_layout(address_bits, self.resume)
        inputs = ("start", "available", "settled", "fails", "forgotten", "wipe")
        super().__init__(
            {
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys(("busy", "done", "post", "take"), Out(1)),
                "entry": In(program.counter_bits),
                "parameter_set": In(program.set_bits),
                "present": In(PRESENT_BITS),
                "commands": Out(stream.Signature(command_layout(HASH_LENGTH_BITS))),
                "destinations": Out(stream.Signature(destination)),
                "ranges": Out(stream.Signature(range_layout(address_bits))),
                "tails": Out(stream.Signature(TAIL)),
                "failed": In(destination),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Fetch, look up, execute."""
        m = Module()
        program = self.program
        state = Signal(self.resume)
        repeats, repeating = Signal(REPEATS), Signal()
        tail_due = Signal()  # the range of this ABSORB is taken
        field = Signal(data.StructLayout(fields(program.counter_bits)))
        m.d.comb += field.eq(self._table(m, program.words, state.counter, len(field.as_value())))
        kind = {one: field.kind == one.value for one in InstructionKind}
        is_uniform = Signal()
        executes = Signal()  # but for what its kind waits for
        completes = Signal()
        m.d.comb += executes.eq(self.busy & ~repeating & (self.settled | ~field.settles))

        by_set = Cat(field.range, self.parameter_set)
        base = self._table(m, program.bases, by_set, self.address_bits - GROUP_BITS)
        seeds = self._table(m, program.seeds, by_set, SEEDS_BITS)
        destination = Signal(3)
        by_set = Cat(field.destination, self.parameter_set)
        m.d.comb += destination.eq(
            look_up(program.destinations, by_set, 3) | kind[InstructionKind.DRAW]
        )
        lengths = [output_words(row & 7, row >> 3 & 3, 1 + (row >> 5)) for row in range(64)]
        length = self._table(m, lengths, Cat(destination, repeats, seeds[0]), _OUTPUT_BITS)
        m.d.comb += [
            is_uniform.eq(destination == Destination.UNIFORM.value),
            self.commands.payload.function.eq(field.function),
            self.commands.payload.length.eq(length << 2),
            self.destinations.payload.destination.eq(destination),
            self.destinations.payload.base.eq(base),
            self.destinations.payload.repeats.eq(repeats),
            self.destinations.payload.resume.eq(state),
            self.ranges.payload.base.eq(base),
            self.ranges.payload.seeds.eq(seeds),
            self.ranges.payload.last.eq(field.last),
        ]
        skips = (self.present >> field.function[:2])[0]
        hashes, draws = executes & kind[InstructionKind.HASH], executes & kind[InstructionKind.DRAW]
        m.d.comb += [
            self.commands.valid.eq(hashes & self.destinations.ready),
            self.destinations.valid.eq((hashes & self.commands.ready) | (draws & ~skips)),
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
        after = (state.counter + 1)[: len(state.counter)]
        counters = [after, label, self.failed.resume.counter, self.entry]
        choice = Cat((jumps & ~self.fails) | self.start, self.fails | self.start)
        with m.If(self.commands.valid & self.commands.ready & is_uniform):
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
            m.d.sync += [one.eq(0) for one in (self.busy, repeats, repeating, tail_due)]
        with m.If(self.start):
            m.d.sync += [self.busy.eq(1), state.row.eq(0), state.column.eq(0), state.nonce.eq(0)]
        with m.If(completes | self.fails | self.start):
            m.d.sync += state.counter.eq(select_word(m, counters, choice, self.target))
        return m

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
        m.d.comb += jumps.eq(over == Over.ALWAYS.value)
        for which, (counter, counts) in counters.items():
            with m.If(over == which.value):
                more = counter != self._by_set(tuple(one - 1 for one in counts))
                m.d.comb += jumps.eq(more)
                with m.If(loops):
                    m.d.sync += counter.eq(Mux(more, counter + 1, 0))
        return jumps & loops

    def _tail(self, m: Module, state: data.View, kind: Value) -> None:
        """The bytes of a tail."""
        first, second = Signal(8), Signal(8)
        constant = self._by_set(self.program.constant)
        sources = [constant, state.nonce, state.column, state.row]
        for number, source in enumerate(sources):
            with m.If(kind == number):
                m.d.comb += first.eq(source)
        m.d.comb += [
            second.eq(Mux(kind == Tail.COLUMN_ROW.value, state.row, state.column)),
            self.tails.payload.data.eq(Cat(first, second)),
            self.tails.payload.bytes.eq(Mux(kind[1], 2, 1)),
        ]
