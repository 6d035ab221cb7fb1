"""The host's side of the byte memory: slots are loaded and read while the engine is idle."""

from collections.abc import Mapping
from math import gcd
from typing import NamedTuple

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.calls.interface import WORD_BYTES, EngineInterface
from coprime.calls.ports import WORD, load_layout
from coprime.cells.chains import add_table
from coprime.cells.luts import choose_word
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.lattice.memory.byte_memory import addressed_word
from coprime.lattice.memory.places import SEED_WORDS, BytePlace

_BySlot = dict[tuple[int, int], int]
"""Of a slot's number and a parameter set."""


class _SlotPlaces(NamedTuple):
    """Places and lengths of slots in units of `HostPort.unit_words`."""

    bases: _BySlot  # first unit
    last_units: _BySlot  # the last unit, counted from the first one
    last_words: _BySlot  # the last word in that unit
    last_bytes: _BySlot  # bytes of that word


class HostPort(wiring.Component):
    """Slots' words become words of the byte memory; words of a streamed slot are the sponge side's,
    while it takes them. A word is loaded in a cycle, and read in four: for its address, the memory,
    the parity, and to give it.

    A word with a wrong parity is not given, nor is any after it until everything was cleared: what
    was right when the call ended may have changed since.

    Parameters
    ----------
    interface (EngineInterface)
    places (dict of str to BytePlace): the slots' places by their names
    address_bits (int): of the byte memory

    Members
    -------
    load, output, read_slot, read_restart, parameter_set, complete : of CallSignature
    idle (1 bit, in): words are loaded and read
    loads (out), host_address (out), word, wrong (in): of ByteMemory
    spoilt (1 bit, out): a word was wrong that the host would have read
    clears (1 bit, in): everything is cleared

    With a slot `key` only:

    decided, altered (1 bit, in): it is that of a ciphertext, and of an altered one: it is not read
        unless that is decided

    With a streamed slot only:

    streams (1 bit, in), stream (out): its words are taken
    """

    def __init__(
        self,
        interface: EngineInterface,
        places: Mapping[str, BytePlace],
        address_bits: int,
        target: Target = Target.GENERIC,
    ):
        self.target = target
        self.interface, self.places = interface, places
        self.address_bits = address_bits
        stored = [places[slot.name] for slot in interface.slots if not slot.streamed]
        addresses = [address for place in stored for address in place.addresses]
        self.unit_words = gcd(SEED_WORDS, *addresses)
        """What all addresses are multiples of: a power of two."""
        self.streamed = [slot.number for slot in interface.slots if slot.streamed]
        self.has_key = "key" in interface.slot
        super().__init__(
            {
                "load": In(stream.Signature(load_layout(interface))),
                "output": Out(stream.Signature(WORD)),
                "read_slot": In(interface.slot_bits),
                "read_restart": In(1),
                "parameter_set": In(interface.set_bits),
                "complete": In(max(slot.number for slot in interface.slots) + 1),
                **dict.fromkeys(("idle", "wrong", "clears"), In(1)),
                "spoilt": Out(1),
                **(dict.fromkeys(("decided", "altered"), In(1)) if self.has_key else {}),
                **(
                    {"streams": In(1), "stream": Out(stream.Signature(WORD))}
                    if self.streamed
                    else {}
                ),
                "loads": Out(stream.Signature(addressed_word(address_bits))),
                "host_address": Out(address_bits),
                "word": In(8 * WORD_BYTES),
            }
        )

    def _slot_places(self) -> _SlotPlaces:
        """Where each slot is that is stored, and where its last byte is."""
        found = _SlotPlaces({}, {}, {}, {})
        for slot in [slot for slot in self.interface.slots if not slot.streamed]:
            place = self.places[slot.name]
            for parameter_set in range(len(self.interface.parameter_sets)):
                number = slot.number, parameter_set
                last = max(0, slot.length(parameter_set) - 1)
                last_word = last // WORD_BYTES
                found.bases[number] = place.addresses[parameter_set] // self.unit_words
                found.last_units[number] = last_word // self.unit_words
                found.last_words[number] = last_word % self.unit_words
                found.last_bytes[number] = last % WORD_BYTES + 1
        return found

    def _table(self, values: Mapping[tuple[int, int], int]) -> list[int]:
        """Values by slot's number and parameter set, as `_choice` selects them."""
        slots = range(1 << self.interface.slot_bits)
        sets = range(len(self.interface.parameter_sets))
        return [
            values.get((number, parameter_set), 0) for parameter_set in sets for number in slots
        ]

    def _choice(self, slot: Value) -> Value:
        return Cat(slot, self.parameter_set)

    def elaborate(self, platform: object) -> Module:
        """Add the place to the word's number."""
        m = Module()
        places = self._slot_places()
        low = bits_for(self.unit_words - 1)
        bits = self.address_bits - low
        loaded = self.load.payload
        index, ended = Signal(self.interface.index_bits), Signal()
        fetched, checks, checked = Signal(), Signal(), Signal()  # the word, and its parity
        last, allowed, taken = Signal(), Signal(), Signal()
        readable = sum(slot.readable << slot.number for slot in self.interface.slots)
        read = self._choice(self.read_slot)
        less = {number: -unit for number, unit in places.last_units.items()}
        past = add_table(m, Cat(index[low:], 0), self._table(less), read, self.target)
        at_last, before_last = ~past.any(), past[-1]
        # One address serves both: a word is not read in the cycles in which another one is loaded.
        loads, slot, number = Signal(), Signal.like(loaded.slot), Signal.like(loaded.index)
        seed = Cat(number[low:], Const(0, bits))[:bits]
        seed = add_table(m, seed, self._table(places.bases), self._choice(slot), self.target)
        address = Cat(number[:low], seed)
        is_whole = set(places.last_words.values()) == {self.unit_words - 1}
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
            self.host_address.eq(address),
            last.eq(
                at_last
                & (
                    index[:low].all()
                    if is_whole
                    else index[:low] == look_up(self._table(places.last_words), read, low)
                )
            ),
            allowed.eq(
                ((self.complete & readable) >> self.read_slot)[0]
                & self._decided()
                & (at_last | before_last)  # a bit of it that flips leads to no other slot
            ),
            self.output.valid.eq(checked & allowed & self.idle & ~self.read_restart & ~ended),
            self.output.payload.data.eq(self.word),
            self.output.payload.bytes.eq(
                WORD_BYTES
                if set(places.last_bytes.values()) == {WORD_BYTES}
                else look_up(self._table(places.last_bytes), read, bits_for(WORD_BYTES))
            ),
            self.output.payload.last.eq(last),
            taken.eq(self.output.valid & self.output.ready),
        ]
        self._take(m)
        self._select_key(m)
        stays = self.idle & ~taken & ~self.read_restart & ~loads  # the address
        m.d.sync += [
            fetched.eq(stays),
            checks.eq(stays & fetched),
            checked.eq(stays & checks & ~self.wrong & ~self.spoilt),
        ]
        with m.If(checks & self.wrong):
            m.d.sync += self.spoilt.eq(1)
        with m.If(self.clears):
            m.d.sync += self.spoilt.eq(0)
        with m.If(taken):
            m.d.sync += [index.eq(index + 1), ended.eq(last)]
        with m.If(self.read_restart):
            m.d.sync += [index.eq(0), ended.eq(0)]
        return m

    def _take(self, m: Module) -> None:
        """Words for the memory, and of the stream."""
        is_streamed = Signal()
        m.d.comb += [
            self.loads.valid.eq(self.load.valid & self.idle & ~is_streamed),
            self.load.ready.eq(self.loads.ready & self.idle & ~is_streamed),
        ]
        if self.streamed:
            (number,) = self.streamed
            m.d.comb += [
                is_streamed.eq(self.load.payload.slot == number),
                self.stream.payload.eq(self.load.payload.word),
                self.stream.valid.eq(self.load.valid & self.streams & is_streamed),
            ]
            with m.If(self.stream.ready & self.stream.valid):
                m.d.comb += self.load.ready.eq(1)

    def _is_key(self) -> Value:
        return self.read_slot == self.interface.slot["key"].number

    def _decided(self) -> Value:
        """The slot is no key, or one that was decided."""
        return ~self._is_key() | self.decided if self.has_key else Const(1)

    def _select_key(self, m: Module) -> None:
        """That of a refused ciphertext is at an address that differs in one bit."""
        if self.has_key:
            key, refusal = (self.places[name].addresses[0] for name in ("key", "refusal"))
            with m.If(self._is_key() & self.altered):
                m.d.comb += self.host_address[(key ^ refusal).bit_length() - 1].eq(1)
