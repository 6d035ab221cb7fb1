"""The padding unit: makes and removes paddings of RFC 8017 in a buffer, byte by byte.

What it does stands in `coprime.model.padding`, whose lists of steps are its program memory: a
handful of loops over bytes, with a hash unit, for all of PKCS #1 v1.5, OAEP and PSS. A state
machine for each padding would repeat those loops; a processor would be larger than all of this.
"""

from collections.abc import Collection

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.sha256 import Sha256
from coprime.model.padding import (
    DIGEST_BYTES,
    PKCS1_BYTES,
    PROGRAMS,
    Base,
    Check,
    Kind,
    Literal,
    Machine,
    Option,
    Random,
    Slot,
    Step,
    Task,
    Trim,
    bytes_of,
)

__all__ = ["LENGTH_BITS", "SLOT_WORDS", "PaddingUnit", "machine"]

LENGTH_BITS = 16
SALT_BITS = bits_for(DIGEST_BYTES)
SLOT_WORDS = DIGEST_BYTES // 4
MAX_BITS = 8 * DIGEST_BYTES * 255
"""The counter of MGF1's blocks has one byte."""

STEP = data.StructLayout(
    {
        "kind": Kind,
        "count": bits_for(DIGEST_BYTES),
        "literal": 8,
        "literal_kind": Literal,
        "base": Base,
        "blocks": 1,
        "buffer": 1,
        "input": 1,
        "uses_slot": 1,
        "slot": Slot,
        "random": Random,
        "trim": Trim,
        "check": Check,
        "store": 1,
        "keeps": 1,
        "keep": Slot,
        "hash": 1,
        "release": 1,
        "moves": 1,
        "bounded": 1,
        "option": Option,
        "sense": 1,
        "target": bits_for(sum(map(len, PROGRAMS.values()))),
    }
)


def _encode(step: Step, place: int) -> int:
    """A step at a place of the program memory as a word of it."""
    fields = {name: getattr(step, name) for name in step.__dataclass_fields__}
    fields |= {
        "literal": step.literal & 0xFF,
        "uses_slot": step.slot is not None,
        "slot": step.slot or Slot(0),
        "keeps": step.keep is not None,
        "keep": step.keep or Slot(0),
        "target": place + 1 + step.target,
    }
    encoded = STEP.const(fields)
    assert encoded.target == fields["target"] and encoded.count == step.count
    return int(encoded.as_bits())


def machine(bits: int, input_length: int, **settings: object) -> Machine:
    """The model with the unit's cycles, as `Machine`."""
    return Machine(
        bits,
        input_length,
        hash_start=Sha256.START_CYCLES,
        hash_block=Sha256.BLOCK_CYCLES,
        **settings,  # type: ignore[arg-type]
    )


class PaddingUnit(wiring.Component):
    """Do a task on a buffer of bytes; which cycles it takes, depends on no byte but random ones.

    A step takes three cycles, as does a byte of a STREAM: the memories are read, the sources are
    put together, the sinks take the byte. `Machine.cycles` tells the sum: a zero that is drawn
    again takes one more, and so does each cycle without a random byte.

    After a reset, and with `wipe`, all slots are cleared, a word a cycle.

    Parameters
    ----------
    tasks : collection of Task
        Those that there are; at least one.
    max_length : int
        Longest modulus in bits, 65 to MAX_BITS.

    Members
    -------
    start : begin `task`; only while `busy` is 0, as `wipe` and `slot_write`
    task, options, modulus_length, input_length, salt_length : sampled with `start`, or stay while
        busy; bit k of `options` is option k; the length of the modulus in bits, the others in bytes
    busy : 1 from the cycle after `start` to the last one, in which `done` is 1
    bad, length : valid from there on until the next start: whether anything was wrong, and bytes of
        the message found
    wipe : clear all slots
    slot_write, slot_address, slot_data : words of the first four slots, 8 each, the least
        significant first
    address, from_input, read_data : word of the buffer that `address[2:]` names, a cycle later; it
        must be software's input where `from_input` is 1, else the buffer in which the task works
    store, store_data : write a byte at `address`
    random : stream of random bytes
    """

    def __init__(self, tasks: Collection[Task], max_length: int):
        self.tasks = frozenset(Task(task) for task in tasks)
        if not self.tasks:
            raise ValueError("tasks must be one or more, and there is none")
        if not isinstance(max_length, int):
            raise TypeError(f"max_length must be an integer, not {max_length!r}")
        if not 65 <= max_length <= MAX_BITS:
            raise ValueError(
                f"padding needs a longest modulus of 65 to {MAX_BITS} bits, not {max_length}"
            )
        self.max_length = max_length
        self.address_bits = bits_for(4 * -(-max_length // 32) - 1)
        self.count_bits = bits_for(bytes_of(max_length) + 1)
        # No word counts that is read in the cycle in which it is written.
        self.slots = Memory(shape=32, depth=8 * SLOT_WORDS, init=[], attrs={"no_rw_check": 1})
        super().__init__(
            {
                "start": In(1),
                "task": In(Task),
                "options": In(len(Option)),
                "modulus_length": In(LENGTH_BITS),
                "input_length": In(self.count_bits),
                "salt_length": In(SALT_BITS),
                "busy": Out(1),
                "done": Out(1),
                "bad": Out(1),
                "length": Out(self.count_bits),
                "wipe": In(1),
                "slot_write": In(1),
                "slot_address": In(range(4 * SLOT_WORDS)),
                "slot_data": In(32),
                "address": Out(self.address_bits),
                "from_input": Out(1),
                "read_data": In(32),
                "store": Out(1),
                "store_data": Out(8),
                "random": In(stream.Signature(8)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Program memory, slots, the way of a byte, checks, and the state machine."""
        m = Module()
        m.submodules.sha256 = sha256 = Sha256(bits_for(bytes_of(self.max_length) + 128))

        # Program memory.
        words: list[int] = []
        entries: dict[Task, int] = {}
        for task in sorted(self.tasks):
            entries[task] = first = len(words)
            words += [_encode(step, first + k) for k, step in enumerate(PROGRAMS[task])]
        counter = Signal(range(len(words)))
        m.submodules.program = program = Memory(shape=STEP.size, depth=len(words), init=words)
        fetch_step = program.read_port()
        # A register of its own: block RAM is slow, and the way of a byte is long.
        step = Signal(STEP)
        fetches = Signal()
        m.d.comb += [fetch_step.addr.eq(counter), fetch_step.en.eq(fetches)]

        # Lengths, pointer, bound and block.
        size, encoded_size = Signal(self.count_bits), Signal(self.count_bits)
        input_length = Signal(self.count_bits)
        pointer, bound = Signal(self.count_bits), Signal(self.count_bits)
        block = Signal(8)
        base = Signal(self.count_bits)
        target = Signal(self.count_bits)
        below = Signal(self.count_bits)
        at_bound = Signal()
        with m.Switch(step.base):
            for name, value in (
                (Base.MODULUS, size),
                (Base.ENCODED, encoded_size),
                (Base.INPUT, input_length),
                (Base.SALT, self.salt_length),
            ):
                with m.Case(name):
                    m.d.comb += base.eq(value)
        blocks = Cat(Const(0, 5), Mux(step.blocks, block, 0))
        m.d.comb += [
            target.eq(base + step.literal.as_signed() - blocks),
            below.eq(pointer - 1),
            at_bound.eq(pointer == bound),
            self.address.eq(below),
            self.from_input.eq(step.input),
        ]
        m.d.sync += [
            size.eq((self.modulus_length + 7) >> 3),
            encoded_size.eq((self.modulus_length + 6) >> 3),
        ]

        # Slots: words, of which a byte is written, or the whole by software and the hash unit.
        m.submodules.slots = slots = self.slots
        fetch, put = slots.read_port(), slots.write_port(granularity=8)
        place = Signal(range(DIGEST_BYTES))
        clears = Signal()
        clear_address = Signal(range(8 * SLOT_WORDS))
        m.d.comb += fetch.addr.eq(Cat(place[2:], step.slot))

        # The way of a byte.
        found = Signal(8)  # in the buffer
        beyond = Signal()
        value, stays = Signal(8, reset_less=True), Signal(8, reset_less=True)
        literal = Signal(8)
        trim = Signal(8)
        top = (self.modulus_length - 2)[:3]  # the highest bit of PSS's encoded message
        kept = Cat(bit <= top for bit in range(8))
        m.d.comb += [
            beyond.eq(step.input & (below >= input_length)),
            found.eq(Mux(beyond, 0, self.read_data.word_select(below[:2], 8))),
            literal.eq(step.literal),
        ]
        with m.Switch(step.literal_kind):
            with m.Case(Literal.BLOCK):
                m.d.comb += literal.eq(block)
            with m.Case(Literal.SIZE_HIGH):
                m.d.comb += literal.eq(size >> 5)
            with m.Case(Literal.SIZE_LOW):
                m.d.comb += literal.eq(size << 3)
        with m.Switch(step.trim):
            with m.Case(Trim.KEEP):
                m.d.comb += trim.eq(kept)
            with m.Case(Trim.EXCESS):
                m.d.comb += trim.eq(~kept)
            with m.Default():
                m.d.comb += trim.eq(~0)
        combined = (
            literal
            ^ Mux(step.buffer, found, 0)
            ^ Mux(step.uses_slot, fetch.data.word_select(place[:2], 8), 0)
            ^ Mux(step.random != Random.NONE, self.random.payload, 0)
        )

        # What the bytes have told.
        separated = Signal()
        alternative = Signal(self.count_bits)
        upper = Signal(8)
        limit = Signal(self.count_bits)
        is_zero = value == 0
        candidate = Cat(value, upper)[: self.count_bits] & _ones_up_to(limit)
        acts = Signal()
        checks = Signal(Check)
        m.d.comb += [
            limit.eq(size - (PKCS1_BYTES - 1)),
            checks.eq(Mux(acts, step.check, Check.NONE)),
        ]
        searches = checks.matches(Check.FIND, Check.FIND_STRICTLY) & ~separated
        wrong = (
            ((checks == Check.ZERO) & ~is_zero)
            | ((checks == Check.NONZERO) & is_zero)
            | (searches & (checks == Check.FIND_STRICTLY) & (value[1:] != 0))
        )
        with m.If(wrong):
            m.d.sync += self.bad.eq(1)
        with m.If(searches & is_zero):
            m.d.sync += [separated.eq(1), self.length.eq(below)]
        with m.If(checks == Check.CANDIDATE):
            with m.If(place[0]):
                m.d.sync += upper.eq(value)
            with m.Elif(candidate < limit):
                m.d.sync += alternative.eq(candidate)

        # The sinks.
        left = Signal(STEP["count"].shape)
        released = Mux(below < self.length, Mux(self.bad, value, stays), 0)
        m.d.comb += [
            self.store.eq(acts & step.store),
            self.store_data.eq(Mux(step.release, released, value)),
            sha256.byte.eq(value),
            put.addr.eq(Cat(place[2:], step.keep)),
            put.data.eq(value.replicate(4)),
            put.en.eq(Mux(acts & step.keeps, Const(1) << place[:2], 0)),
        ]
        with m.If(sha256.digest_write):
            m.d.comb += [
                put.addr.eq(Cat(sha256.digest_index, Const(Slot.DIGEST, 3))),
                put.data.eq(sha256.digest_word),
                put.en.eq(~0),
            ]
        with m.If(self.slot_write):
            m.d.comb += [
                put.addr.eq(self.slot_address),
                put.data.eq(self.slot_data),
                put.en.eq(~0),
            ]
        with m.If(clears):
            m.d.comb += [put.addr.eq(clear_address), put.data.eq(0), put.en.eq(~0)]
            m.d.sync += clear_address.eq(clear_address + 1)
        with m.If(acts):
            m.d.sync += [place.eq(place - 1), left.eq(left - 1)]
            with m.If(step.moves):
                m.d.sync += pointer.eq(below)

        m.d.comb += self.busy.eq(1)
        with m.FSM(init="CLEAR"):
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.d.sync += [
                        input_length.eq(self.input_length),
                        block.eq(0),
                        self.bad.eq(0),
                        self.length.eq(0),
                        separated.eq(0),
                        alternative.eq(0),
                    ]
                    with m.Switch(self.task):
                        for task, entry in entries.items():
                            with m.Case(task):
                                m.d.sync += counter.eq(entry)
                    m.next = "FETCH"
                with m.Elif(self.wipe):
                    m.next = "CLEAR"
            with m.State("CLEAR"):
                m.d.comb += clears.eq(1)
                with m.If(clear_address.all()):
                    m.next = "IDLE"
            with m.State("FETCH"):
                m.d.comb += fetches.eq(1)
                m.d.sync += counter.eq(counter + 1)
                m.next = "TAKE"
            with m.State("TAKE"):
                m.d.sync += step.eq(fetch_step.data)
                m.next = "DECODE"
            with m.State("DECODE"):
                m.next = "FETCH"
                with m.Switch(step.kind):
                    with m.Case(Kind.END):
                        m.d.comb += self.done.eq(1)
                        m.next = "IDLE"
                    with m.Case(Kind.STREAM):
                        m.d.sync += [left.eq(step.count), place.eq(~0)]
                        m.next = "READ"
                    with m.Case(Kind.POINT):
                        m.d.sync += pointer.eq(target)
                    with m.Case(Kind.BOUND):
                        m.d.sync += bound.eq(target)
                    with m.Case(Kind.HASH_START):
                        m.d.comb += sha256.start.eq(1)
                    with m.Case(Kind.HASH_END):
                        m.d.comb += sha256.finish.eq(1)
                        m.next = "DECODE"
                        with m.If(sha256.ready):
                            m.next = "HASH"
                    with m.Case(Kind.LOOP):
                        with m.If(Mux(step.bounded, at_bound, (block + 1) == step.count)):
                            m.d.sync += block.eq(0)
                        with m.Else():
                            m.d.sync += [block.eq(block + 1), counter.eq(step.target)]
                    with m.Case(Kind.SKIP):
                        option = self.options.bit_select(step.option, 1)
                        with m.If(option == step.sense):
                            m.d.sync += counter.eq(step.target)
                    with m.Case(Kind.LENGTH):
                        m.d.sync += input_length.eq(step.literal)
                    with m.Case(Kind.JUDGE), m.If(self.bad | ~separated):
                        m.d.sync += [self.bad.eq(1), self.length.eq(alternative)]
            with m.State("HASH"), m.If(sha256.done):
                m.next = "FETCH"
            with m.State("READ"):
                m.next = "COMBINE"
                with m.If((step.bounded & at_bound) | (step.count.any() & (left == 0))):
                    m.next = "FETCH"
            with m.State("COMBINE"):
                m.d.comb += self.random.ready.eq(step.random != Random.NONE)
                m.d.sync += [value.eq(combined & trim), stays.eq(found)]
                again = (step.random == Random.NONZERO) & (self.random.payload == 0)
                with m.If((step.random == Random.NONE) | (self.random.valid & ~again)):
                    m.next = "ACT"
            with m.State("ACT"):
                m.d.comb += sha256.valid.eq(step.hash)
                with m.If(~step.hash | sha256.ready):
                    m.d.comb += acts.eq(1)
                    m.next = "READ"
        return m


def _ones_up_to(limit: Value) -> Value:
    """Ones up to the highest 1."""
    return Cat(limit[place:].any() for place in range(len(limit)))
