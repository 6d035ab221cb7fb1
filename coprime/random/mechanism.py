"""The mechanism of Hash_DRBG: a memory, a hash unit, an adder, and the steps that they execute.

Source: NIST SP 800-90A Rev. 1 (2015), section 10.1.1, with the SHA-256 of FIPS 180-4. What differs:
a request always has `REQUEST_BYTES`, so that its state is updated before its first byte is given:
who learns the state then learns no byte that was given before; requests have no additional input;
personalization strings and additional inputs of reseeding are part of the seed material.
"""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory, ReadPort, WritePort
from amaranth.lib.wiring import In, Out

from coprime.cells.sha256 import Sha256, Sha256Twin
from coprime.cells.tables import look_up
from coprime.model.hash_drbg import SEED_BYTES

from .programs import PROGRAMS, DrbgTask
from .steps import (
    DEPTH,
    DIGEST_WORDS,
    MATERIAL,
    NUMBER_WORDS,
    OUTPUT,
    REQUEST_BYTES,
    SEED_WORDS,
    STEP,
    WORD_BYTES,
    WORK,
    DrbgStep,
    DrbgStepKind,
    V,
)

COUNT_BITS = 32
_WORD_BITS = 8 * WORD_BYTES
_TOP_BITS = 8 * SEED_BYTES - _WORD_BITS * (NUMBER_WORDS - 1)  # of a number's first word
_PAD = WORD_BYTES * NUMBER_WORDS - SEED_BYTES  # bytes before a number in its words


@dataclass(frozen=True)
class _Parts:
    """What a step is executed with."""

    step: data.View  # STEP
    counter: Signal  # of its words or bytes
    sha: Sha256
    read: ReadPort
    write: WritePort


class DrbgMechanism(wiring.Component):
    """Execute a task: seed, generate a request, clear.

    `DrbgMechanism.cycles` is the exact number of busy cycles of a task; it depends on the number of
    words of seed material only.

    Members
    -------
    task, start : begin a task, while `busy` is 0
    seeded : seeding is again, and not the first time
    material_words : words of seed material
    count : reseed_counter of GENERATE: requests since the last seed, with this one
    busy : 1 from the cycle after `start`
    done : 1 in the last of these cycles
    load, load_index, load_word : write a word of seed material, while `busy` is 0
    output_index : a byte of the last request; `output` has it a cycle later, while `busy` is 0
    clear, clear_index : this word of the last request becomes 0, while `busy` is 0 and `load` is 0
    """

    def __init__(self) -> None:
        # No word is needed that is read in the cycle in which it is written.
        self.memory = Memory(shape=_WORD_BITS, depth=DEPTH, init=[], attrs={"no_rw_check": 1})
        super().__init__(
            {
                "task": In(DrbgTask),
                **dict.fromkeys(("start", "seeded"), In(1)),
                "material_words": In(range(SEED_WORDS + 1)),
                "count": In(COUNT_BITS),
                **dict.fromkeys(("busy", "done"), Out(1)),
                "load": In(1),
                "load_index": In(range(SEED_WORDS)),
                "load_word": In(_WORD_BITS),
                "output_index": In(range(REQUEST_BYTES)),
                "output": Out(8),
                "clear": In(1),
                "clear_index": In(range(OUTPUT.words)),
            }
        )

    @staticmethod
    def cycles(task: DrbgTask, *, seeded: bool = False, material_words: int = 0) -> int:
        """Busy cycles of a task."""
        now, sha = 1, Sha256Twin()  # the cycle in which a step is fetched
        for step in PROGRAMS[task]:
            if step.again and not seeded:
                now += 2
                continue
            match step.kind:
                case DrbgStepKind.BEGIN:
                    sha.start(now + 1)
                    now += 2
                case DrbgStepKind.BYTE:
                    now = sha.take(0, now + 1) + 1
                case DrbgStepKind.BYTES:
                    now += 2
                    for _ in range(_bytes_of(step, material_words)):
                        now = sha.take(0, now) + 1
                case DrbgStepKind.DIGEST:
                    now = sha.finish(now + 1) + 1
                case DrbgStepKind.SHIFT:
                    now += 2 + NUMBER_WORDS
                case DrbgStepKind.SUM:
                    now += 2 + 3 * NUMBER_WORDS
                case DrbgStepKind.FILL:
                    now += 1 + step.region.words
                case DrbgStepKind.END:
                    now += 1
        return now

    def elaborate(self, platform: object) -> Module:
        """Fetch steps and execute them."""
        m = Module()
        m.submodules.memory = memory = self.memory
        m.submodules.sha256 = sha = Sha256(count_bits=9)
        read, write = memory.read_port(), memory.write_port()
        words, entries = _assemble()
        index, step = Signal(range(len(words))), Signal(STEP)
        counter = Signal(range(WORD_BYTES * SEED_WORDS + 1))
        parts = _Parts(step, counter, sha, read, write)
        output_byte = Signal(range(WORD_BYTES))
        m.d.sync += output_byte.eq(self.output_index)
        m.d.comb += [
            self.busy.eq(1),
            self.output.eq(_byte(read.data, output_byte)),
            sha.byte.eq(step.value),
            write.en.eq(sha.digest_write),
            write.addr.eq(step.base + (DIGEST_WORDS - 1) - sha.digest_index),
            write.data.eq(sha.digest_word),
        ]
        with m.FSM():
            with m.State("IDLE"):
                self._idle(m, read, write)
                with m.If(self.start):
                    with m.Switch(self.task):
                        for task, entry in entries.items():
                            with m.Case(task):
                                m.d.sync += index.eq(entry)
                    m.next = "FETCH"
            with m.State("FETCH"):
                fetched = look_up(words, index, STEP.size)
                m.d.sync += [step.as_value().eq(fetched), index.eq(index + 1), counter.eq(0)]
                m.next = "EXECUTE"
            with m.State("EXECUTE"):
                with m.If(step.again & ~self.seeded):
                    m.next = "FETCH"
                with m.Else():
                    self._execute(m, parts)
            with m.State("AWAIT_DIGEST"), m.If(sha.done):
                m.next = "FETCH"
            self._feed(m, parts)
            self._shift(m, parts)
            self._sum(m, parts)
        return m

    def _idle(self, m: Module, read: ReadPort, write: WritePort) -> None:
        """The ports from outside."""
        m.d.comb += [
            self.busy.eq(0),
            read.addr.eq(OUTPUT.base + self.output_index[2:]),
            write.en.eq(self.load | self.clear),
            write.addr.eq(OUTPUT.base + self.clear_index),
            write.data.eq(0),
        ]
        with m.If(self.load):
            m.d.comb += [
                write.addr.eq(MATERIAL.base + self.load_index),
                write.data.eq(self.load_word),
            ]

    def _execute(self, m: Module, parts: _Parts) -> None:
        """A step's first cycle, or its only one."""
        step, counter, sha, write = parts.step, parts.counter, parts.sha, parts.write
        m.d.comb += parts.read.addr.eq(Mux(step.kind == DrbgStepKind.SHIFT, WORK.base, step.base))
        with m.Switch(step.kind):
            with m.Case(DrbgStepKind.END):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
            with m.Case(DrbgStepKind.BEGIN):
                m.d.comb += sha.start.eq(1)
                m.next = "FETCH"
            with m.Case(DrbgStepKind.BYTE):
                m.d.comb += sha.valid.eq(1)
                with m.If(sha.ready):
                    m.next = "FETCH"
            with m.Case(DrbgStepKind.BYTES):
                m.d.sync += counter.eq(Mux(step.material, 0, _PAD))
                m.next = "FEED"
            with m.Case(DrbgStepKind.DIGEST):
                m.d.comb += sha.finish.eq(1)
                with m.If(sha.ready):
                    m.next = "AWAIT_DIGEST"
            with m.Case(DrbgStepKind.SHIFT):
                m.next = "SHIFT"
            with m.Case(DrbgStepKind.SUM):
                m.d.sync += counter.eq(NUMBER_WORDS - 1)
                m.next = "SUM_READ"
            with m.Case(DrbgStepKind.FILL):
                m.d.sync += counter.eq(counter + 1)
                m.d.comb += [
                    write.en.eq(1),
                    write.addr.eq(step.base + counter),
                    write.data.eq(step.value.replicate(WORD_BYTES)),
                ]
                with m.If(counter == step.words - 1):
                    m.next = "FETCH"

    def _feed(self, m: Module, parts: _Parts) -> None:
        """BYTES: a byte a cycle, while the hash unit takes them."""
        step, place, sha = parts.step, parts.counter, parts.sha
        following, end = Signal.like(place), Signal.like(place)
        with m.State("FEED"):
            m.d.comb += [
                sha.byte.eq(_byte(parts.read.data, place[:2])),
                sha.valid.eq(1),
                following.eq(place + sha.ready),
                end.eq(Mux(step.material, self.material_words, step.words) << 2),
                parts.read.addr.eq(step.base + following[2:]),
            ]
            m.d.sync += place.eq(following)
            with m.If(following == end):
                m.next = "FETCH"

    def _shift(self, m: Module, parts: _Parts) -> None:
        """SHIFT: a word a cycle, a byte lower and two words higher than it was read."""
        place, read, write = parts.counter, parts.read, parts.write
        last = Signal(8)  # byte of the word before
        with m.State("SHIFT"):
            m.d.comb += [
                read.addr.eq(WORK.base + place + 1),
                write.en.eq(1),
                write.addr.eq(parts.step.base + place),
                write.data.eq(Cat(read.data[8:], Mux(place == 0, 0, last))),
            ]
            m.d.sync += [last.eq(read.data), place.eq(place + 1)]
            with m.If(place == NUMBER_WORDS - 1):
                m.next = "FETCH"

    def _sum(self, m: Module, parts: _Parts) -> None:
        """SUM: from the last word of V on, which is its least significant one."""
        step, place, read, write = parts.step, parts.counter, parts.read, parts.write
        skipped = NUMBER_WORDS - step.words  # words that only V has
        first, second = Signal(_WORD_BITS), Signal(_WORD_BITS)
        carry, total = Signal(), Signal(_WORD_BITS + 1)
        with m.State("SUM_READ"):
            m.d.comb += read.addr.eq(V.base + place)
            with m.If(place == NUMBER_WORDS - 1):
                m.d.sync += carry.eq(0)
            m.next = "SUM_READ_SECOND"
        with m.State("SUM_READ_SECOND"):
            m.d.comb += read.addr.eq((step.base + place - skipped)[: len(read.addr)])
            m.d.sync += first.eq(read.data)
            m.next = "SUM_WRITE"
        with m.State("SUM_WRITE"):
            with m.If(step.words.any()):
                m.d.comb += second.eq(Mux(place >= skipped, read.data, 0))
            with m.Elif(place == NUMBER_WORDS - 1):
                m.d.comb += second.eq(Mux(step.counts, self.count, step.value))
            m.d.comb += [
                total.eq(first + second + carry),
                write.en.eq(1),
                write.addr.eq(Mux(step.to_work, WORK.base, V.base) + place),
                write.data.eq(Mux(place == 0, total[:_TOP_BITS], total)),
            ]
            m.d.sync += [carry.eq(total[-1]), place.eq(place - 1)]
            m.next = "SUM_READ"
            with m.If(place == 0):
                m.next = "FETCH"


def _byte(word: Value, place: Value) -> Value:
    """A byte of a word, the first one most significant."""
    return word.word_select(~place, 8)


def _bytes_of(step: DrbgStep, material_words: int) -> int:
    """Bytes that a BYTES step hashes."""
    if step.material:
        return WORD_BYTES * material_words
    return WORD_BYTES * step.region.words - _PAD


def _assemble() -> tuple[list[int], dict[DrbgTask, int]]:
    """The program memory, and where each task begins."""
    words: list[int] = []
    entries = {}
    for task, steps in PROGRAMS.items():
        entries[task] = len(words)
        words += [step.word for step in steps]
    return words, entries
