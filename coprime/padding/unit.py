"""The padding unit: adds and removes the paddings of RFC 8017 in a buffer, byte by byte.

Its program memory holds the steps of all its tasks (`programs.py`): a handful of loops over bytes,
with a hash unit, for all of PKCS #1 v1.5, OAEP and PSS. A state machine for each padding would
repeat those loops; a processor would be larger than all of this.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import bits_for

from coprime.cells.sha256 import Sha256, Sha256Twin
from coprime.cells.wires import same_named
from coprime.model.padding_formats import DIGEST_BYTES, bytes_of

from .addressing import LENGTH_BITS, SALT_BITS, Addressing, AddressingTwin
from .byte_path import BytePath, BytePathTwin
from .checks import Checks, ChecksTwin
from .control import Control, ControlTwin
from .instructions import ByteStep, ByteStepKind, PaddingSlot
from .programs import PROGRAMS
from .slots import SLOT_WORDS, WRITABLE_SLOTS, Slots
from .tasks import Option, Task

MAX_BITS = 8 * DIGEST_BYTES * 255  # the counter of MGF1's blocks has one byte


class PaddingUnit(wiring.Component):
    """Execute a task on a buffer of bytes, in cycles that depend on no byte but random ones.

    `PaddingUnitModel.cycles` is the exact number: a zero that is discarded takes one more, and so
    does each cycle without a random byte.

    After a reset, and with `wipe`, all slots are cleared, a word a cycle.

    Raises TypeError or ValueError for `max_length` of another type or out of range, and ValueError
    for no tasks.

    Parameters
    ----------
    tasks (collection of Task): those that are built in; at least one
    max_length (int): longest modulus in bits, 65 to MAX_BITS

    Members
    -------
    start : begin `task`; only while `busy` is 0, as `wipe` and `slot_write`
    task, options, modulus_length, input_length, salt_length : `task` and `input_length` are sampled
        with `start`, the others stay while busy; bit k of `options` is option k; the length of the
        modulus is in bits, the others are in bytes
    busy : 1 from the cycle after `start` to the last one, in which `done` is 1
    bad, length : valid from there on until the next start: whether anything was wrong, and bytes of
        the message found
    wipe : clear all slots
    slot_write, slot_address, slot_data : words of the first four slots, 8 each, the least
        significant first
    address, from_input, read_data : word of the buffer that `address[2:]` selects, a cycle later;
        of software's input where `from_input` is 1, otherwise of the buffer that the task works in
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
                f"padding in hardware needs max_bits of 65 to {MAX_BITS}, not {max_length}"
            )
        self.max_length = max_length
        self.address_bits = bits_for(4 * -(-max_length // 32) - 1)
        self.count_bits = bits_for(bytes_of(max_length) + 1)
        self.slots = Slots()
        ports = {
            "start": In(1),
            "task": In(Task),
            "options": In(len(Option)),
            "modulus_length": In(LENGTH_BITS),
            "input_length": In(self.count_bits),
            "salt_length": In(SALT_BITS),
            **dict.fromkeys(("busy", "done", "bad"), Out(1)),
            "length": Out(self.count_bits),
            **dict.fromkeys(("wipe", "slot_write"), In(1)),
            "slot_address": In(range(WRITABLE_SLOTS * SLOT_WORDS)),
            "slot_data": In(32),
            "address": Out(self.address_bits),
            "from_input": Out(1),
            "read_data": In(32),
            "store": Out(1),
            "store_data": Out(8),
            "random": In(stream.Signature(8)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Connect the parts."""
        m = Module()
        programs = {task: PROGRAMS[task] for task in sorted(self.tasks)}
        m.submodules.control = control = Control(programs)
        m.submodules.addressing = addressing = Addressing(self.count_bits)
        m.submodules.slots = slots = self.slots
        starts = self.start & ~self.busy
        step, at = control.now.step, addressing.at
        m.submodules.byte_path = path = BytePath(self.count_bits)
        m.submodules.checks = checks = Checks(self.count_bits)
        m.submodules.sha256 = sha256 = Sha256(bits_for(bytes_of(self.max_length) + 128))
        connect(m, flipped(self.random), path.random)
        m.d.comb += [
            *(part.now.eq(control.now) for part in (addressing, slots, path, checks)),
            *(part.at.eq(at) for part in (path, checks)),
            *(part.start.eq(starts) for part in (addressing, checks)),
            *same_named(control, self, "start", "task", "options", "wipe"),
            *same_named(control, at, "at_bound", "repeat"),
            control.combined.eq(path.combined),
            *same_named(self, control, "busy", "done"),
            *same_named(addressing, self, "modulus_length", "salt_length"),
            addressing.given_length.eq(self.input_length),
            # The buffer.
            self.address.eq(at.address),
            self.from_input.eq(step.input),
            self.store.eq(control.now.act & step.store),
            *same_named(self, path, "store_data"),
            *same_named(path, self, "modulus_length", "read_data"),
            # The slots.
            slots.clear.eq(control.clear),
            control.cleared.eq(slots.cleared),
            *same_named(slots, self, "slot_write", "slot_address", "slot_data"),
            slots.value.eq(path.value),
            path.slot_byte.eq(slots.byte),
            # The hash unit.
            sha256.byte.eq(path.value),
            sha256.valid.eq(control.hash_valid),
            sha256.start.eq(control.hash_start),
            sha256.finish.eq(control.hash_finish),
            control.hash_ready.eq(sha256.ready),
            control.hash_done.eq(sha256.done),
            *same_named(slots, sha256, "digest_write", "digest_index", "digest_word"),
            # The checks.
            checks.value.eq(path.value),
            checks.upper.eq(slots.place[0]),
            *same_named(path, checks, "bad", "length"),
            *same_named(self, checks, "bad", "length"),
        ]
        return m


@dataclass
class PaddingUnitModel:
    """The unit in integers: the steps on bytes, with the cycles that the unit takes.

    Parameters
    ----------
    bits : length of the modulus in bits
    input_length, salt_length : bytes
    options : those that are set
    random : the next byte of the random source

    Attributes
    ----------
    input, output : bytes of the two buffers, byte 0 the least significant; encoding works in the
        first one, decoding in the second one
    slots : 32 bytes each
    bad : whether something was wrong
    length : bytes of the message that was found
    cycles : in which the unit is busy
    """

    bits: int
    input_length: int
    salt_length: int = 0
    options: frozenset[Option] = frozenset()
    random: Callable[[], int] = lambda: 0
    input: bytearray = field(default_factory=bytearray)
    output: bytearray = field(default_factory=bytearray)
    slots: dict[PaddingSlot, bytearray] = field(
        default_factory=lambda: {slot: bytearray(DIGEST_BYTES) for slot in PaddingSlot}
    )
    bad: bool = False
    length: int = 0
    cycles: int = 0

    def run(self, task: Task) -> None:
        """Execute a task's program."""
        self._work = self.output if task.decodes else self.input
        self._control = control = ControlTwin(PROGRAMS[task], self.options)
        self._addressing = AddressingTwin(self.bits, self.input_length, self.salt_length)
        self._path = BytePathTwin(self.bits, self.random)
        self._checks = ChecksTwin(self._addressing.size)
        self._hash = Sha256Twin()
        for step in control.steps():
            match step.kind:
                case ByteStepKind.STREAM:
                    for number in control.bytes(step, self._addressing.at_bound):
                        self._move(step, number)
                case ByteStepKind.HASH_START:
                    self._hash.start(control.cycles)
                case ByteStepKind.HASH_END:
                    control.cycles = self._hash.finish(control.cycles)
                    self.slots[PaddingSlot.DIGEST][:] = self._hash.digest
                case ByteStepKind.LOOP:
                    control.jump(step, self._addressing.repeat(step))
            self._addressing.execute(step)
            self._checks.execute(step)
        self.bad, self.length = self._checks.bad, self._checks.length
        self.cycles = control.cycles

    def _move(self, step: ByteStep, number: int) -> None:
        """One byte of a STREAM, counted from 0."""
        addressing, checks, place = self._addressing, self._checks, number % DIGEST_BYTES
        address = addressing.address
        found = 0
        if step.buffer or step.release:
            source = self.input if step.input else self._work
            beyond = step.input and address >= addressing.input_length
            found = 0 if beyond else source[address]
        slot_byte = self.slots[step.slot][place] if step.slot is not None else 0
        random, discarded = self._path.draw(step)
        self._control.cycles += discarded
        value = self._path.combine(
            step, found=found, block=addressing.block, slot_byte=slot_byte, random=random
        )
        inside = address < checks.length
        if step.store:
            self._work[address] = self._path.stored(
                step, value, found=found, bad=checks.bad, inside=inside
            )
        checks.act(step, value, address, upper=place % 2 == 0)
        if step.save is not None:
            self.slots[step.save][place] = value
        if step.hash:
            self._control.cycles = self._hash.take(value, self._control.cycles)
        addressing.act(step)
