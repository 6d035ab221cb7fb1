"""The words of slots between DATA_WINDOW and an engine of byte strings."""

import enum

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus import registers
from coprime.bus.port import WORD_BITS
from coprime.calls.interface import WORD_BYTES, EngineInterface, Slot
from coprime.calls.ports import WORD, load_layout
from coprime.cells.tables import look_up
from coprime.engine.capabilities import ERROR_BITS, Error

PATIENCE_BITS = 10
"""An access of DATA_WINDOW waits for at most 2^PATIENCE_BITS - 1 cycles."""
NUMBER_BITS = registers.SLOT["NUMBER"].width
_MORE = registers.SLOT_LENGTH["MORE"].offset


class WordUse(enum.Enum):
    """What a word of DATA_WINDOW is."""

    NONE = 0
    LOAD = 1
    READ = 2


class SlotFacts:
    """What an interface says about each slot, as tables addressed by its number."""

    def __init__(self, interface: EngineInterface):
        self.interface = interface
        self._loaded = {name for call in interface.calls for name in call.takes}

    def _table(self, number: Value, chosen: list[Slot]) -> Value:
        numbers = {slot.number for slot in chosen}
        return look_up([int(k in numbers) for k in range(1 << len(number))], number, 1)

    def exists(self, number: Value) -> Value:
        """There is such a slot."""
        return self._table(number, list(self.interface.slots))

    def streamed(self, number: Value) -> Value:
        """It is streamed."""
        return self._table(number, [slot for slot in self.interface.slots if slot.streamed])

    def loadable(self, number: Value) -> Value:
        """A command takes it."""
        return self._table(
            number, [slot for slot in self.interface.slots if slot.name in self._loaded]
        )

    def readable(self, number: Value) -> Value:
        """It is not streamed, and can be read once it is complete."""
        return self._table(
            number, [slot for slot in self.interface.slots if slot.readable and not slot.streamed]
        )

    def length(self, number: Value, parameter_set: Value, width: int) -> Value:
        """Its bytes; 0 if it is streamed."""
        slots = {slot.number: slot for slot in self.interface.slots if not slot.streamed}
        sets = range(len(self.interface.parameter_sets))
        words = [
            slots[k].length(each) if k in slots else 0
            for each in sets
            for k in range(1 << len(number))
        ]
        return look_up(words, Cat(number, parameter_set) if len(sets) > 1 else number, width)


class SlotAccess(wiring.Component):
    """SLOT, SLOT_LENGTH and DATA_WINDOW: a word a cycle in either direction.

    A word that is written waits in a register until the engine takes it. A word that is read comes
    from the engine in the cycle of the access.

    Parameters
    ----------
    interface: that of the engine

    Members
    -------
    selects, announces, value: SLOT, or SLOT_LENGTH, is written
    writes, data: DATA_WINDOW is written; held until `written`
    reads, word: DATA_WINDOW is read; held until `given`, with the word
    written, given: the last cycle of the access
    busy: a command runs
    parameter_set, complete: as in CallSignature
    closed: an access was refused before: no word is taken or given
    deselect: a command begins; no slot is selected
    clear: a command ends; the same, and a word that was not taken is forgotten
    refused: why an access is refused in this cycle, or NONE
    left: bytes that are still to be written or read
    begins, loaded, slot: the slot is no longer complete, or is complete from now on
    held: the register has a word that the engine has not taken
    takes_word, has_word: a word that is written is taken at once; there is one to be read
    load, output, read_slot, read_restart: as in CallSignature
    """

    def __init__(self, interface: EngineInterface):
        self.interface = interface
        self.facts = SlotFacts(interface)
        longest = max(max(slot.lengths) for slot in interface.slots)
        streamed = any(slot.streamed for slot in interface.slots)
        self.length_bits = registers.SLOT_LENGTH["BYTES"].width if streamed else bits_for(longest)
        inputs = ("selects", "announces", "writes", "reads", "busy", "closed", "deselect", "clear")
        outputs = ("written", "given", "begins", "loaded", "held", "takes_word", "has_word")
        super().__init__(
            {
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys(outputs, Out(1)),
                **dict.fromkeys(("value", "data"), In(WORD_BITS)),
                "word": Out(WORD_BITS),
                "parameter_set": In(interface.set_bits),
                "complete": In(max(slot.number for slot in interface.slots) + 1),
                "refused": Out(ERROR_BITS),
                "left": Out(self.length_bits),
                "slot": Out(interface.slot_bits),
                "load": Out(stream.Signature(load_layout(interface))),
                "output": In(stream.Signature(WORD)),
                "read_slot": Out(interface.slot_bits),
                "read_restart": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        use, selected = Signal(WordUse), Signal()
        more = Signal()  # another part of the stream follows
        m.d.comb += self.read_slot.eq(self.slot)
        with m.If(self.load.ready):
            m.d.sync += self.load.valid.eq(0)
        m.d.comb += self.held.eq(self.load.valid)
        self._move(m, use, more)
        self._select(m, use, selected)
        self._announce(m, use, selected, more)
        with m.If(self.deselect | self.clear):
            m.d.sync += [use.eq(WordUse.NONE), selected.eq(0), self.left.eq(0)]
        with m.If(self.clear):
            m.d.sync += [self.load.valid.eq(0), self.load.payload.word.eq(0)]
        return m

    def _select(self, m: Module, use: Signal, selected: Signal) -> None:
        """A write to SLOT; a cycle later, whether the slot can be read."""
        number = self.value[:NUMBER_BITS]
        m.d.sync += self.read_restart.eq(0)
        with m.If(self.selects):
            with m.If(~self.facts.exists(number)):
                m.d.comb += self.refused.eq(Error.ADDRESS)
                m.d.sync += [selected.eq(0), use.eq(WordUse.NONE), self.left.eq(0)]
            with m.Elif(self.busy & ~self.facts.streamed(number)):
                m.d.comb += self.refused.eq(Error.BUSY)
            with m.Else():
                m.d.sync += [
                    self.slot.eq(number),
                    selected.eq(1),
                    self.read_restart.eq(1),
                    use.eq(WordUse.NONE),
                    self.left.eq(0),
                ]
        complete = self.complete.bit_select(self.slot, 1)
        with m.If(self.read_restart & complete & self.facts.readable(self.slot)):
            m.d.sync += [use.eq(WordUse.READ), self.left.eq(self._length())]

    def _length(self) -> Value:
        return self.facts.length(self.slot, self.parameter_set, self.length_bits)

    def _announce(self, m: Module, use: Signal, selected: Signal, more: Signal) -> None:
        """A write to SLOT_LENGTH."""
        size, follows = self.value[:_MORE], self.value[_MORE]
        loadable, streamed = self.facts.loadable(self.slot), self.facts.streamed(self.slot)
        word = self.load.payload.word
        is_empty = Signal()
        m.d.comb += is_empty.eq((size == 0) & ~follows)
        with m.If(self.announces & ~self.closed):
            with m.If(~selected | (self.busy != streamed) | (self.held & (~streamed | is_empty))):
                m.d.comb += self.refused.eq(Error.NOT_READY)
            with m.Elif(streamed & ~loadable):
                m.d.sync += [use.eq(WordUse.READ), self.left.eq(size)]
            with m.Elif(
                Mux(streamed, follows & size[:2].any(), ~loadable | (self.value != self._length()))
            ):
                m.d.comb += self.refused.eq(Error.SLOT_LENGTH)
            with m.Else():
                m.d.comb += self.begins.eq(~streamed)
                m.d.sync += [
                    use.eq(WordUse.LOAD),
                    self.left.eq(size),
                    self.load.payload.slot.eq(self.slot),
                    self.load.payload.index.eq(~0),
                    more.eq(follows),
                ]
                with m.If(is_empty):  # the end of a stream without another byte
                    m.d.sync += [self.load.valid.eq(1), word.data.eq(0), word.bytes.eq(0)]
                    m.d.sync += word.last.eq(1)

    def _move(self, m: Module, use: Signal, more: Signal) -> None:
        """A write to DATA_WINDOW, or a read."""
        loads = (use == WordUse.LOAD) & (self.left != 0) & ~self.closed
        reads = (use == WordUse.READ) & (self.left != 0) & ~self.closed
        room = ~self.held | self.load.ready
        found = self.output.valid & (self.busy | ~self.held)
        ends = Signal()  # with this word
        waited = Signal(PATIENCE_BITS)
        written, given = Signal(), Signal()  # a word moves
        m.d.comb += [
            self.takes_word.eq(loads & room),
            self.has_word.eq(reads & found),
            ends.eq(~self.left[2:].any() | (self.left == WORD_BYTES)),
            written.eq(self.writes & self.takes_word),
            given.eq(self.reads & self.has_word),
            self.written.eq(self.writes & (~loads | room | waited.all())),
            self.given.eq(self.reads & (~reads | found | waited.all())),
            self.output.ready.eq(given),
            self.word.eq(Mux(given, self.output.payload.data, 0)),
            self.loaded.eq(written & ends & ~self.facts.streamed(self.slot)),
        ]
        waits = (self.writes & ~self.written) | (self.reads & ~self.given)
        m.d.sync += waited.eq(Mux(waits, waited + 1, 0))
        with m.If((self.written & ~loads | self.given & ~reads) & ~self.closed):
            m.d.comb += self.refused.eq(Error.KEY_OVERRUN)
        with m.Elif(self.written & ~written & loads | self.given & ~given & reads):
            m.d.comb += self.refused.eq(Error.NOT_READY)
        with m.If(written | given):
            m.d.sync += self.left.eq(Mux(ends, 0, self.left - WORD_BYTES))
        load = self.load.payload
        with m.If(written):
            m.d.sync += [
                self.load.valid.eq(1),
                load.index.eq(load.index + 1),
                load.word.data.eq(self.data),
                load.word.bytes.eq(Mux(ends, self.left[:3], WORD_BYTES)),
                load.word.last.eq(ends & ~more),
            ]
