"""The host's side of the byte memory: slots are loaded and read while the engine is idle."""

from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.calls.interface import WORD_BYTES, EngineInterface
from coprime.calls.ports import WORD, load_layout
from coprime.cells.chains import add_table
from coprime.cells.luts import choose_word
from coprime.cells.target import Target
from coprime.lattice.memory.byte_memory import addressed_word
from coprime.lattice.memory.places import SEED_WORDS, BytePlace


class HostPort(wiring.Component):
    """Slots' words become words of the byte memory. A word is loaded in a cycle, and read in two.

    Parameters
    ----------
    interface (EngineInterface)
    places (dict of str to BytePlace): the slots' places by their names: whole seeds
    address_bits (int): of the byte memory
    refusal_bit (int): the bit of the address in which the key of a refused ciphertext differs

    Members
    -------
    load, output, read_slot, read_restart, parameter_set, complete : of CallSignature
    idle (1 bit, in): words are loaded and read
    decided, altered (1 bit, in): slot `key` is that of a ciphertext, and of an altered one; it is
        not read unless that is decided
    loads (out), host_address (out), word (in): of ByteMemory
    """

    def __init__(
        self,
        interface: EngineInterface,
        places: Mapping[str, BytePlace],
        address_bits: int,
        refusal_bit: int,
        target: Target = Target.GENERIC,
    ):
        self.target = target
        self.interface, self.places, self.refusal_bit = interface, places, refusal_bit
        self.address_bits = address_bits
        super().__init__(
            {
                "load": In(stream.Signature(load_layout(interface))),
                "output": Out(stream.Signature(WORD)),
                "read_slot": In(interface.slot_bits),
                "read_restart": In(1),
                "parameter_set": In(interface.set_bits),
                "complete": In(max(one.number for one in interface.slots) + 1),
                "idle": In(1),
                "decided": In(1),
                "altered": In(1),
                "loads": Out(stream.Signature(addressed_word(address_bits))),
                "host_address": Out(address_bits),
                "word": In(8 * WORD_BYTES),
            }
        )

    def _table(self, values: Mapping[tuple[int, int], int]) -> list[int]:
        """Values by slot's number and parameter set, as `_choice` selects them."""
        slots = range(1 << self.interface.slot_bits)
        sets = range(len(self.interface.parameter_sets))
        return [values.get((number, one), 0) for one in sets for number in slots]

    def _choice(self, slot: Value) -> Value:
        return Cat(slot, self.parameter_set)

    def elaborate(self, platform: object) -> Module:
        """Add the place to the word's number."""
        m = Module()
        slots = self.interface.slots
        bases, lengths = {}, {}
        for slot in slots:
            place = self.places[slot.name]
            for one in range(len(self.interface.parameter_sets)):
                bases[slot.number, one] = place.addresses[one] // SEED_WORDS
                lengths[slot.number, one] = 1 - place.words[one] // SEED_WORDS
        low = bits_for(SEED_WORDS - 1)
        bits = self.address_bits - low
        loaded = self.load.payload
        index, fetched, ended = Signal(self.interface.index_bits), Signal(), Signal()
        last, allowed, taken = Signal(), Signal(), Signal()
        key = self.interface.slot["key"].number
        readable = sum(slot.readable << slot.number for slot in slots)
        # Less the number of the slot's last seed.
        past = add_table(
            *(m, Cat(index[low:], 0), self._table(lengths), self._choice(self.read_slot)),
            self.target,
        )
        at_last, before_last = ~past.any(), past[-1]
        # One address serves both: a word is not read in the cycles in which another one is loaded.
        loads, slot, number = Signal(), Signal.like(loaded.slot), Signal.like(loaded.index)
        seed = Cat(number[low:], Const(0, bits))[:bits]
        seed = add_table(m, seed, self._table(bases), self._choice(slot), self.target)
        address = Cat(number[:low], seed)
        m.d.comb += [
            loads.eq(self.load.valid),
            Cat(number, slot).eq(
                choose_word(
                    *(m, loads, Cat(loaded.index, loaded.slot), Cat(index, self.read_slot)),
                    self.target,
                )
            ),
            self.loads.payload.address.eq(address),
            self.loads.payload.data.eq(loaded.word.data),
            self.loads.valid.eq(self.load.valid & self.idle),
            self.load.ready.eq(self.loads.ready & self.idle),
            self.host_address.eq(address),
            last.eq(index[:low].all() & at_last),
            allowed.eq(
                ((self.complete & readable) >> self.read_slot)[0]
                & ((self.read_slot != key) | self.decided)
                & (at_last | before_last)  # a bit of it that flips leads to no other slot
            ),
            self.output.valid.eq(fetched & allowed & self.idle & ~self.read_restart & ~ended),
            self.output.payload.data.eq(self.word),
            self.output.payload.bytes.eq(WORD_BYTES),
            self.output.payload.last.eq(last),
            taken.eq(self.output.valid & self.output.ready),
        ]
        with m.If((self.read_slot == key) & self.altered):
            m.d.comb += self.host_address[self.refusal_bit].eq(1)
        m.d.sync += fetched.eq(self.idle & ~taken & ~self.read_restart & ~loads)
        with m.If(taken):
            m.d.sync += [index.eq(index + 1), ended.eq(last)]
        with m.If(self.read_restart):
            m.d.sync += [index.eq(0), ended.eq(0)]
        return m
