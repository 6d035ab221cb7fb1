"""The sponge side in Verilator with its memories, beside its twin: compared in every cycle."""

import random
from dataclasses import dataclass, field
from functools import cached_property

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.keccak.twin import BusWord, bus_words
from coprime.cells.target import Target
from coprime.lattice.memory.byte_memory import ByteMemory
from coprime.lattice.memory.sample_buffer import (
    BUFFER_WORDS,
    LANE_BITS,
    NUMBER,
    NUMBER_PAIR,
    NUMBERS,
    PAIRS,
    SampleBuffer,
)
from coprime.lattice.memory.semaphore import Semaphore
from coprime.lattice.memory.twins import SampleBufferTwin, SemaphoreTwin
from coprime.lattice.sponge_side.sponge_side import SpongeSide
from coprime.lattice.sponge_side.twin import SpongeSideTwin
from tests.combinational import Bench

LANES = 4
"""Of ML-DSA with `samples_pairs`."""
INPUTS = {
    "start": 1,
    "entry": 8,
    "parameter_set": 2,
    "present": 4,
    "random_valid": 1,
    "random": 8,
    "uses_port": 1,
    "release": 1,
    "address": 8,
    "posted": 1,
    "wipe": 1,
    "loads": 1,
    "load_address": 12,
    "load": 32,
    "reads": 1,
    "read_address": 12,
    # Of large programs.
    "rejected": 1,
    "stream_valid": 1,
    "stream": 36,
}
OUTPUTS = {
    "busy": 1,
    "done": 1,
    "waits": 1,
    "post": 1,
    "take": 1,
    "wiping": 1,
    "full": 4,
    "wrong": 1,
    "sampled": 1,
    "sample": NUMBER_PAIR.size,
    "wrote": 1,
    "written_address": 12,
    "written": 32,
    "word": 32,
    "oldest": LANES * NUMBER.width,
    # Of large programs.
    "streamed": 1,
    "computes": 1,
    "differs": 1,
    "agrees": 1,
    "compared": 5,
}


class Rig(wiring.Component):
    """The sponge side and its memories, with plain ports."""

    def __init__(self, slices, program, depth, target=Target.GENERIC, *, samples_pairs=False):
        self.slices, self.program, self.depth, self.target = slices, program, depth, target
        self.samples_pairs = samples_pairs
        super().__init__(
            {name: In(width) for name, width in INPUTS.items()}
            | {name: Out(width) for name, width in OUTPUTS.items()}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = ByteMemory(self.depth, self.target)
        large = self.program.large
        m.submodules.buffer = buffer = SampleBuffer(
            numbers=large,
            pairs=not large,
            lanes=LANES if self.samples_pairs else 1,
            target=self.target,
        )
        m.submodules.semaphore = semaphore = Semaphore()
        m.submodules.side = side = SpongeSide(
            *(self.slices, self.program, memory.address_bits, self.target),
            samples_pairs=self.samples_pairs,
        )
        wiring.connect(m, side.writes, memory.writes)
        wiring.connect(m, side.samples, buffer.samples)
        m.d.comb += [
            side.start.eq(self.start),
            side.entry.eq(self.entry),
            side.parameter_set.eq(self.parameter_set),
            side.present.eq(self.present),
            side.random.valid.eq(self.random_valid),
            side.random.payload.eq(self.random),
            side.word.eq(memory.word),
            side.at_last.eq(buffer.at_last),
            side.available.eq(semaphore.available),
            side.wipe.eq(self.wipe),
            memory.address.eq(side.address),
            memory.arithmetic.use.eq(self.uses_port),
            memory.host_reads.eq(self.reads | self.loads),
            memory.host_address.eq(self.read_address),
            memory.loads.valid.eq(self.loads),
            memory.loads.payload.address.eq(self.load_address),
            memory.loads.payload.data.eq(self.load),
            memory.wipe.eq(self.wipe),
            buffer.restart.eq(side.restart),
            buffer.release.eq(self.release),
            buffer.address.eq(self.address),
            buffer.wipe.eq(self.wipe),
            semaphore.post.eq(self.posted),
            semaphore.take.eq(side.take),
            semaphore.clear.eq(self.wipe),
            self.busy.eq(side.busy),
            self.done.eq(side.done),
            self.waits.eq(side.waits),
            self.post.eq(side.post),
            self.take.eq(side.take),
            self.wiping.eq(side.wiping | memory.wiping | buffer.wiping),
            self.full.eq(buffer.full),
            self.wrong.eq(memory.wrong),
            self.word.eq(memory.word),
            self.oldest.eq(buffer.word),
        ]
        sampled, wrote = buffer.samples, memory.writes
        m.d.comb += [
            self.sampled.eq(sampled.valid & sampled.ready),
            self.wrote.eq(wrote.valid & wrote.ready),
        ]
        if self.program.large:
            m.d.comb += [
                side.rejected.eq(self.rejected),
                side.stream.valid.eq(self.stream_valid),
                side.stream.payload.eq(self.stream),
                self.streamed.eq(side.stream.valid & side.stream.ready),
                self.computes.eq(side.computes),
                self.differs.eq(side.differs),
                self.agrees.eq(side.agrees),
                self.compared.eq(side.compared),
            ]
        with m.If(self.sampled):
            m.d.comb += self.sample.eq(sampled.payload.as_value())
        with m.If(self.wrote):
            words = wrote.payload
            m.d.comb += [
                self.written_address.eq(words.address),
                self.written.eq(words.data),
            ]
        return m


def pack(widths, values):
    """Fields as one number, in the order of the ports."""
    number = start = 0
    for name, width in widths.items():
        number |= int(values.get(name, 0)) << start
        start += width
    return number


def unpack(widths, number):
    found = {}
    for name, width in widths.items():
        found[name] = number & (1 << width) - 1
        number >>= width
    return found


def flat(numbers, width):
    """Numbers of so many bits side by side."""
    return sum((number & (1 << width) - 1) << width * k for k, number in enumerate(numbers))


def words_of(data):
    return [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]


def bus_word(number):
    """The fields of a word on the bus."""
    return BusWord(number & (1 << 32) - 1, number >> 32 & 7, bool(number >> 35))


@dataclass
class Call:
    """A call of the program, and what became of it.

    Attributes
    ----------
    loads : byte strings by their first word's address
    random : bytes that can be drawn
    message : that is streamed
    rejected : cycles from the start on in which there is a rejection
    polynomials : that were sampled
    memory : words afterwards
    cycles : from the start to the end
    times : cycle in which each polynomial was complete
    compared : what differs, agrees and compared were at the end
    """

    entry: str
    parameter_set: int = 0
    present: int = 0
    loads: dict = field(default_factory=dict)
    random: bytes = b""
    message: bytes | None = None
    rejected: int = 0
    polynomials: list = field(default_factory=list)
    memory: list = field(default_factory=list)
    cycles: int = 0
    times: list = field(default_factory=list)
    compared: tuple = ()


@dataclass(frozen=True)
class Pace:
    """Of 1,024 cycles those without a random byte, those in which the port is used where it can be,
    those in which no polynomial is released, those without a POST, and those without a word of the
    stream."""

    random: int = 0
    port: int = 0
    buffer: int = 0
    post: int = 0
    stream: int = 0


class SpongeBench:
    """Runs calls through twin and hardware."""

    def __init__(self, slices, program, depth, target=Target.GENERIC, *, samples_pairs=False):
        self.slices, self.program, self.depth, self.target = slices, program, depth, target
        self.samples_pairs = samples_pairs

    @cached_property
    def bench(self):
        rig = Rig(
            *(self.slices, self.program, self.depth, self.target),
            samples_pairs=self.samples_pairs,
        )
        return Bench([rig], latencies=[1])

    def predict(self, calls, pace=None, seed=0, wipes=()):
        """By the twin: inputs of all cycles, and of each the outputs that are defined.

        Calls end with a wipe at these cycles.
        """
        run = _Run(
            *(self.slices, self.program, self.depth, pace or Pace(), seed, set(wipes)),
            samples_pairs=self.samples_pairs,
        )
        run.wait_for_wipe()
        for call in calls:
            run.load(call)
            run.execute(call)
            run.read(call)
        return run.vectors, run.wanted

    def run(self, calls, pace=None, seed=0, wipes=()):
        """Assert that twin and hardware agree in every cycle."""
        vectors, wanted = self.predict(calls, pace, seed, wipes)
        (found,) = self.bench.run(vectors)
        for cycle, (number, outputs) in enumerate(zip(found, wanted[1:], strict=False), 1):
            seen = unpack(OUTPUTS, number)
            for name, value in outputs.items():
                assert seen[name] == value, f"cycle {cycle}: {name} {seen[name]:x}, not {value:x}"


class _Run:
    """Cycles of the twin."""

    def __init__(self, slices, program, depth, pace, seed, wipes, *, samples_pairs):
        self.program, self.pace, self.wipes = program, pace, wipes
        self.generator = random.Random(seed)
        self.memory = [0] * depth
        self.large = program.large
        self.joins = self.large and samples_pairs
        words = NUMBERS if self.large and not samples_pairs else PAIRS
        self.buffer = SampleBufferTwin(words, joined_for=LANES if self.joins else 0)
        self.words_read = NUMBERS // LANES if self.joins else words
        """Addresses of a polynomial's words."""
        self.semaphore = SemaphoreTwin()
        self.twin = SpongeSideTwin(
            slices, program, self.memory, self.buffer, samples_pairs=samples_pairs
        )
        self.vectors, self.wanted = [], []
        self.later = {}  # outputs of the next cycle

    def wait_for_wipe(self):
        """The bench shows nothing of the first cycle, and memories wipe themselves."""
        for _ in range(max(1 << bits_for(len(self.memory) - 1), BUFFER_WORDS) + 4):
            self.twin.tick()
            self.vectors.append(0)
            self.wanted.append({"busy": 0} if self.wanted else {})
        assert not self.twin.wiping

    def load(self, call):
        for address, data in call.loads.items():
            for k, word in enumerate(words_of(data)):
                self.cycle(loads=1, load_address=address + k, load=word)
                self.memory[address + k] = word

    def execute(self, call):
        chance, pace = self.generator.randrange, self.pace
        drawn, used = list(call.random), False
        words = [] if call.message is None else bus_words(call.message)
        held = {"parameter_set": call.parameter_set, "present": call.present}
        self.cycle(start=1, entry=self.program.entries[call.entry], **held)
        self.twin.start(call.entry, call.parameter_set, call.present)
        while self.twin.busy or self.buffer.full:
            used = not used and chance(1024) < pace.port
            inputs = held | {"uses_port": used, "address": chance(self.words_read)}
            inputs["rejected"] = call.cycles < call.rejected
            if words and chance(1024) >= pace.stream:
                inputs |= {"stream_valid": 1, "stream": words[0].value}
            if drawn and chance(1024) >= pace.random:
                inputs |= {"random_valid": 1, "random": drawn[0]}
            if self.buffer.full and chance(1024) >= pace.buffer:
                call.polynomials.append(self.buffer.oldest)
                inputs["release"] = 1
            if not self.semaphore.count and chance(1024) >= pace.post:
                inputs["posted"] = 1
            wiped = len(self.vectors) in self.wipes
            before, busy = self.buffer.full, self.twin.busy
            events = self.cycle(**inputs, wipe=wiped)
            call.cycles += busy
            if events.drew:
                drawn.pop(0)
            if events.streamed:
                words.pop(0)
            if self.buffer.full > before - inputs.get("release", 0):
                call.times.append(call.cycles)
            if wiped:
                self.buffer.clear()
                self.semaphore = SemaphoreTwin()
                self.memory[:] = [0] * len(self.memory)
                self.later = {}
                self.wait_for_wipe()

        call.compared = (self.twin.differs, self.twin.agrees, self.twin.compared)

    def read(self, call):
        """All words of the byte memory."""
        for address, word in enumerate(self.memory):
            self.cycle(reads=1, read_address=address)
            self.later["word"] = word
        call.memory = list(self.memory)

    def read_word(self, address):
        """Of the oldest polynomial: of several lanes of numbers a part of the list."""
        oldest = self.buffer.oldest
        return oldest[LANES * address :][:LANES] if self.joins else oldest[address]

    def flat(self, word):
        """A number, a pair, or numbers of several lanes."""
        numbers = [word] if isinstance(word, int) else word
        return flat(numbers, NUMBER.width if self.large else LANE_BITS)

    def cycle(self, **inputs):
        twin, buffer, semaphore = self.twin, self.buffer, self.semaphore
        if self.large:
            self.later |= {name: getattr(twin, name) for name in ("differs", "agrees", "compared")}
        wanted = self.later | {"busy": twin.busy, "full": buffer.full, "wrong": 0, "wiping": 0}
        self.later = {}
        if buffer.full and "address" in inputs:
            self.later["oldest"] = self.flat(self.read_word(inputs["address"]))
        if inputs.get("release"):
            buffer.release()
        if inputs.get("posted"):
            semaphore.post()
        events = twin.tick(
            available=semaphore.available,
            random=inputs["random"] if inputs.get("random_valid") else None,
            rejected=bool(inputs.get("rejected")),
            streamed=bus_word(inputs["stream"]) if inputs.get("stream_valid") else None,
            wipe=bool(inputs.get("wipe")),
        )
        if events.take:
            semaphore.take()
        buffer.tick()
        semaphore.tick()
        wanted |= {name: getattr(events, name) for name in ("done", "waits", "post", "take")}
        wanted |= {"sampled": events.sampled is not None, "wrote": events.wrote is not None}
        if self.large:
            wanted |= {name: getattr(events, name) for name in ("streamed", "computes")}
        if events.sampled is not None:
            wanted["sample"] = self.flat(events.sampled)
        if events.wrote is not None:
            wanted["written_address"], wanted["written"] = events.wrote
        self.vectors.append(pack(INPUTS, inputs))
        self.wanted.append({name: int(value) for name, value in wanted.items()})
        return events
