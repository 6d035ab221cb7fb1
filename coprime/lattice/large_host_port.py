"""The host's side of the byte memory of an engine of ML-DSA."""

from collections.abc import Mapping

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.calls.interface import WORD_BYTES, EngineInterface
from coprime.calls.ports import WORD, load_layout
from coprime.cells.tables import look_up
from coprime.lattice.memory.byte_memory import addressed_word
from coprime.lattice.memory.places import BytePlace
from coprime.lattice.programs.ml_dsa_places import UNIT_WORDS


class LargeHostPort(wiring.Component):
    """Slots' words become words of the byte memory, while the engine is idle; words of the streamed
    slot are the sponge side's, while it takes them. A word is loaded in a cycle, and read in two.

    Parameters
    ----------
    interface (EngineInterface)
    places (dict of str to BytePlace): the slots' places by their names
    address_bits (int): of the byte memory

    Members
    -------
    load, output, read_slot, read_restart, parameter_set, complete : of CallSignature
    idle (1 bit, in): words are loaded and read
    streams (1 bit, in), stream (out): words of the streamed slot are taken
    loads (out), host_address (out), word (in): of ByteMemory
    """

    def __init__(
        self, interface: EngineInterface, places: Mapping[str, BytePlace], address_bits: int
    ):
        self.interface, self.places, self.address_bits = interface, places, address_bits
        super().__init__(
            {
                "load": In(stream.Signature(load_layout(interface))),
                "output": Out(stream.Signature(WORD)),
                "read_slot": In(interface.slot_bits),
                "read_restart": In(1),
                "parameter_set": In(interface.set_bits),
                "complete": In(max(one.number for one in interface.slots) + 1),
                "idle": In(1),
                "streams": In(1),
                "stream": Out(stream.Signature(WORD)),
                "loads": Out(stream.Signature(addressed_word(address_bits))),
                "host_address": Out(address_bits),
                "word": In(8 * WORD_BYTES),
            }
        )

    def _row(self, values: Mapping[tuple[int, int], int], slot: Value, width: int) -> Value:
        """A value by slot's number and parameter set."""
        slots = 1 << self.interface.slot_bits
        sets = range(len(self.interface.parameter_sets))
        rows = [values.get((number, one), 0) for one in sets for number in range(slots)]
        return look_up(rows, Cat(slot, self.parameter_set), width)

    def elaborate(self, platform: object) -> Module:
        """Add the place to the word's number."""
        m = Module()
        slots = self.interface.slots
        bases, lasts, sizes = {}, {}, {}
        for slot in [one for one in slots if not one.streamed]:
            for number in range(len(self.interface.parameter_sets)):
                length = slot.length(number)
                bases[slot.number, number] = self.places[slot.name].addresses[number] // UNIT_WORDS
                lasts[slot.number, number] = (length - 1) // WORD_BYTES
                sizes[slot.number, number] = (length - 1) % WORD_BYTES + 1
        low = bits_for(UNIT_WORDS - 1)
        bits = self.address_bits - low

        def address(slot: Value, index: Value) -> Value:
            return Cat(index[:low], (self._row(bases, slot, bits) + index[low:])[:bits])

        loaded = self.load.payload
        streamed = next(one.number for one in slots if one.streamed)
        is_streamed = Signal()
        m.d.comb += [
            is_streamed.eq(loaded.slot == streamed),
            self.loads.payload.address.eq(address(loaded.slot, loaded.index)),
            self.loads.payload.data.eq(loaded.word.data),
            self.loads.valid.eq(self.load.valid & self.idle & ~is_streamed),
            self.stream.payload.eq(loaded.word),
            self.stream.valid.eq(self.load.valid & self.streams & is_streamed),
            self.load.ready.eq(
                (self.loads.ready & self.loads.valid) | (self.stream.ready & self.stream.valid)
            ),
        ]

        index, fetched, ended = Signal(self.interface.index_bits), Signal(), Signal()
        last, allowed, taken = Signal(), Signal(), Signal()
        readable = sum(slot.readable << slot.number for slot in slots)
        final = self._row(lasts, self.read_slot, len(index))
        m.d.comb += [
            self.host_address.eq(address(self.read_slot, index)),
            last.eq(index == final),
            allowed.eq(
                ((self.complete & readable) >> self.read_slot)[0]
                & (index <= final)  # a bit of it that flips leads to no other slot
            ),
            self.output.valid.eq(fetched & allowed & self.idle & ~self.read_restart & ~ended),
            self.output.payload.data.eq(self.word),
            self.output.payload.bytes.eq(self._row(sizes, self.read_slot, bits_for(WORD_BYTES))),
            self.output.payload.last.eq(last),
            taken.eq(self.output.valid & self.output.ready),
        ]
        m.d.sync += fetched.eq(self.idle & ~taken & ~self.read_restart)
        with m.If(taken):
            m.d.sync += [index.eq(index + 1), ended.eq(last)]
        with m.If(self.read_restart):
            m.d.sync += [index.eq(0), ended.eq(0)]
        return m
