"""A hash unit in Verilator beside its twin: every output compared in every cycle."""

import random
from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.hash_unit import HashUnit
from coprime.cells.keccak.twin import HashCommand, HashUnitTwin, bus_words
from coprime.cells.target import Target
from coprime.model.keccak import FUNCTIONS
from tests.combinational import Bench

LENGTH_BITS = 16
BUS_BITS = 32 + 3 + 1
INPUT_BITS = 7 + LENGTH_BITS + BUS_BITS
OUTPUT_BITS = 4 + BUS_BITS
"""Of ports that every hash unit has."""
SEEDED = 150
"""A cycle in which masks have had their seed."""


@dataclass
class Job:
    """A message to hash, and what became of it: cycles are counted from the first one."""

    number: int  # of its function
    message: bytes
    length: int
    taken: int = 0  # in which cycle its command was
    finished: int = 0  # in which cycle the last word of its output was
    output: bytes = b""

    @property
    def function(self):
        return FUNCTIONS[self.number]

    @property
    def command(self):
        return HashCommand(self.function, self.length)


@dataclass(frozen=True)
class Pace:
    """How many of 8 cycles each stream waits in; whether a command waits for the output before."""

    command: int = 0
    message: int = 0
    output: int = 0
    alone: bool = False


class FlatHashUnit(wiring.Component):
    """A hash unit with plain ports."""

    def __init__(self, unit):
        self.unit = unit
        masked = {"reseed": In(1), "random": In(8), "seeded": Out(1)}
        super().__init__(
            {
                "wipe": In(1),
                "output_ready": In(1),
                "command_valid": In(1),
                "function": In(3),
                "length": In(LENGTH_BITS),
                "message_valid": In(1),
                "message": In(BUS_BITS),
                "command_ready": Out(1),
                "message_ready": Out(1),
                "wiping": Out(1),
                "output_valid": Out(1),
                "output": Out(BUS_BITS),
                **(masked if unit.masked else {}),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = unit = self.unit
        m.d.comb += [
            unit.wipe.eq(self.wipe),
            unit.output.ready.eq(self.output_ready),
            unit.command.valid.eq(self.command_valid),
            unit.command.payload.function.eq(self.function),
            unit.command.payload.length.eq(self.length),
            unit.message.valid.eq(self.message_valid),
            unit.message.payload.eq(self.message),
            self.command_ready.eq(unit.command.ready),
            self.message_ready.eq(unit.message.ready),
            self.wiping.eq(unit.wiping),
            self.output_valid.eq(unit.output.valid),
            self.output.eq(unit.output.payload),
        ]
        if unit.masked:
            m.d.comb += [
                unit.reseed.eq(self.reseed),
                unit.random.valid.eq(1),
                unit.random.payload.eq(self.random),
                self.seeded.eq(unit.seeded),
            ]
        return m


def vector_of(job, word, ready, wipe):
    """Inputs of a cycle, in the order of the ports."""
    command = 1 | job.number << 1 | job.length << 4 if job else 0
    message = 1 | word.value << 1 if word else 0
    return wipe | ready << 1 | command << 2 | message << 6 + LENGTH_BITS


def row_of(found):
    """Outputs of a cycle as one number, in the order of the ports; without an output its word may
    be anything."""
    flags = found.command_ready | found.message_ready << 1 | found.wiping << 2
    return flags | (1 | found.output.value << 1) << 3 if found.output else flags


def predict(twin, jobs, pace=None, seed=0, wipes=(), begin=0):
    """Inputs and outputs of all cycles until all jobs are complete; nothing is offered before cycle
    `begin`.

    At the cycles of `wipes` everything is forgotten, and offered again from the first job on that
    is not complete.
    """
    pace = pace or Pace()
    generator = random.Random(seed)
    # The bench shows no outputs of the first cycle.
    vectors, rows = [0], [twin.tick(ready=False)]
    waiting = [*jobs]
    commands, words = [*jobs], [word for job in jobs for word in bus_words(job.message)]
    offers_command = offers_message = False
    while waiting:
        cycle = len(rows)
        if commands and not offers_command and cycle >= begin:
            free = not pace.alone or len(commands) == len(waiting)
            offers_command = free and generator.randrange(8) >= pace.command
        if words and not offers_message and cycle >= begin:
            offers_message = generator.randrange(8) >= pace.message
        ready = generator.randrange(8) >= pace.output
        wipe = cycle in wipes
        job = commands[0] if offers_command else None
        word = words[0] if offers_message else None
        row = twin.tick(job.command if job else None, word, ready=ready, wipe=wipe)
        vectors.append(vector_of(job, word, ready, wipe))
        rows.append(row)
        if job and row.command_ready:
            job.taken = cycle
            commands, offers_command = commands[1:], False
        if word and row.message_ready:
            words.pop(0)
            offers_message = False
        if row.output and ready:
            first = waiting[0]
            first.output += row.output.data.to_bytes(4, "little")[: row.output.bytes]
            if row.output.last:
                first.finished = cycle
                waiting.pop(0)
        if wipe:
            commands, words = [*waiting], []
            for job in waiting:
                job.output = b""
                words += bus_words(job.message)
            offers_command = offers_message = False
    return vectors, rows


class HashBench:
    """Runs jobs through twin and hardware."""

    def __init__(self, slices, blocks, target=Target.GENERIC, *, masked=False):
        self.slices, self.blocks, self.masked = slices, blocks, masked
        unit = HashUnit(slices, blocks, LENGTH_BITS, target, masked=masked)
        self.flat = FlatHashUnit(unit)
        self.bench = Bench([self.flat], latencies=[1])

    def run(self, jobs, pace=None, seed=0, wipes=()):
        """Assert that twin and hardware agree in every cycle, and that outputs are as expected."""
        twin = HashUnitTwin(self.slices, self.blocks, masked=self.masked)
        begin = SEEDED if self.masked else 0
        vectors, rows = predict(twin, jobs, pace, seed, wipes, begin)
        self._compare(self._with_masks(vectors, seed) if self.masked else vectors, rows)
        for job in jobs:
            wanted = HashCommand(job.function, job.length, job.message).output()
            assert job.output == wanted, (job.function.name, len(job.message), job.length)

    def _with_masks(self, vectors, seed):
        """The same inputs, with a seed of masks at the begin, and random bytes always."""
        generator = random.Random(f"{seed} masks")
        return [
            vector | ((cycle == 1) | generator.getrandbits(8) << 1) << INPUT_BITS
            for cycle, vector in enumerate(vectors)
        ]

    def _compare(self, vectors, rows):
        (found,) = self.bench.run(vectors)
        for cycle, (seen, row) in enumerate(zip(found, rows[1:], strict=False), 1):
            seen &= (1 << OUTPUT_BITS) - 1
            if not seen >> 3 & 1:
                seen &= 7
            assert seen == row_of(row), f"cycle {cycle}: {seen:x}, not {row_of(row):x}"
