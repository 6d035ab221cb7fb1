"""A LargeSide in Verilator with its memories, beside its twin: compared in every cycle."""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.lattice.arithmetic.large_side import LargeSide
from coprime.lattice.arithmetic.large_twin import LargeTwin
from coprime.lattice.memory.byte_memory import ByteMemory
from coprime.lattice.memory.sample_buffer import SampleBuffer
from coprime.lattice.memory.twins import SampleBufferTwin
from coprime.model.lattice.large_arithmetic import NUMBER_BITS, N
from tests.combinational import Bench

INPUTS = {
    "start": 1,
    "entry": 8,
    "parameter_set": 2,
    "sampled": 1,
    "sample": 36,
    "loads": 1,
    "address": 12,
    "load": 32,
}
OUTPUTS = {
    "busy": 1,
    "done": 1,
    "post": 1,
    "exceeds": 1,
    "fault": 1,
    "wrong": 1,
    "release": 1,
    "wiping": 1,
    "cancels": 1,
    "word": 32,
}


class Rig(wiring.Component):
    """The side and its memories, with plain ports."""

    def __init__(self, program, depth, **options):
        self.program, self.depth, self.options = program, depth, options
        super().__init__(
            {name: In(width) for name, width in INPUTS.items()}
            | {name: Out(width) for name, width in OUTPUTS.items()}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = ByteMemory(self.depth)
        m.submodules.buffer = buffer = SampleBuffer(numbers=True, pairs=False)
        m.submodules.side = side = LargeSide(self.program, memory.address_bits, **self.options)
        wiring.connect(m, side.bytes, memory.arithmetic)
        pair = buffer.samples.payload
        m.d.comb += [
            side.start.eq(self.start),
            side.entry.eq(self.entry),
            side.parameter_set.eq(self.parameter_set),
            side.full.eq(buffer.full),
            side.sample.eq(buffer.word),
            buffer.address.eq(side.sample_address),
            buffer.release.eq(side.release),
            buffer.samples.valid.eq(self.sampled),
            Cat(pair.even, pair.odd).eq(self.sample),
            memory.loads.valid.eq(self.loads),
            memory.loads.payload.address.eq(self.address),
            memory.loads.payload.data.eq(self.load),
            memory.host_reads.eq(~side.busy),
            memory.host_address.eq(self.address),
            self.word.eq(memory.word),
            self.wrong.eq(memory.wrong),
            self.wiping.eq(side.wiping | buffer.wiping | memory.wiping),
            *(getattr(self, name).eq(getattr(side, name)) for name in _OF_SIDE),
        ]
        return m


_OF_SIDE = ("busy", "done", "post", "exceeds", "fault", "release", "cancels")


def pack(values):
    number = start = 0
    for name, width in INPUTS.items():
        number |= int(values.get(name, 0)) << start
        start += width
    return number


def unpack(number):
    found = {}
    for name, width in OUTPUTS.items():
        found[name] = number & (1 << width) - 1
        number >>= width
    return found


def words_of(data):
    return [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]


class LargeSideBench:
    """Runs calls through twin and hardware."""

    def __init__(self, program, depth, **options):
        self.program, self.depth = program, depth
        self.bench = Bench([Rig(program, depth, **options)], latencies=[1])

    def run(self, entry, number, loads, polynomials, cancels=None):
        """Load bytes by their words' addresses, and run a routine with these samples, which come
        one number a cycle, and whose checksum `cancels` or not. Asserts that twin and hardware
        agree in every cycle, and in all bytes. The twin, and its cycles."""
        memory, buffer = [0] * self.depth, SampleBufferTwin(N)
        twin = LargeTwin(self.program, memory, buffer)
        vectors, wanted = [], []

        def cycle(outputs=None, **inputs):
            vectors.append(pack(inputs | {"parameter_set": number}))
            wanted.append(outputs or {})

        for _ in range(max(1 << bits_for(self.depth - 1), self.program.regions * N, 1024) + 8):
            cycle()
        cycle({"wiping": 0})
        for address, data in loads.items():
            for k, word in enumerate(words_of(data)):
                cycle(loads=1, address=address + k, load=word)
                memory[address + k] = word
        numbers = iter([x for one in polynomials for x in one])
        entry_number = self.program.entries[entry]
        cycle({"busy": 0}, start=1, entry=entry_number)
        twin.start(entry, number)
        cycles = 0
        while twin.busy:
            inputs = {}
            x = next(numbers, None) if buffer.room else None
            if x is not None:
                buffer.take(x)
                inputs = {"sampled": 1, "sample": x & (1 << NUMBER_BITS) - 1}
            events = twin.tick()
            shown = {"busy": 1, "done": events.done, "post": events.post}
            cycle(shown | {"fault": 0, "wrong": 0}, **inputs)
            buffer.tick()
            cycles += 1
        assert next(numbers, None) is None
        ended = {"busy": 0, "exceeds": twin.exceeds}
        cycle(ended if cancels is None else ended | {"cancels": cancels})
        for address in range(self.depth):
            cycle({"word": memory[address - 1]} if address else {}, address=address)
        (found,) = self.bench.run(vectors)
        for k, (result, outputs) in enumerate(zip(found, wanted[1:], strict=False), 1):
            seen = unpack(result)
            for name, value in outputs.items():
                where = f"cycle {k} of {len(wanted)}: {name}"
                assert seen[name] == value, f"{where} {seen[name]:x}, not {value:x}"
        return twin, cycles
