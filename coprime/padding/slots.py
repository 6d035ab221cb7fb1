"""The slots: memory for digests, keys and the salt, 32 bytes each.

In integers a slot is a `bytearray`, and the n-th byte of a STREAM is its byte n mod 32.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.model.padding_formats import DIGEST_BYTES

from .instructions import EXECUTION, ByteStepKind, PaddingSlot

SLOT_WORDS = DIGEST_BYTES // 4
WRITABLE_SLOTS = 4  # the first ones, which software can write


class Slots(wiring.Component):
    """Words of 32 bits, of which a STREAM reads and writes bytes, the most significant first.

    Members
    -------
    now : EXECUTION
    place : of a STREAM's byte in its slot; 0 is the least significant
    byte : of `step.slot`, a cycle after `place`
    value : the byte that goes to `step.save`
    digest_write, digest_index, digest_word : a word for the slot DIGEST
    slot_write, slot_address, slot_data : a word for one of the first slots
    clear, cleared : clear a word a cycle; `cleared` is 1 with the last one
    """

    def __init__(self) -> None:
        # A word is never used that is read in the cycle in which it is written.
        self.memory = Memory(shape=32, depth=8 * SLOT_WORDS, init=[], attrs={"no_rw_check": 1})
        ports = {
            "now": In(EXECUTION),
            "place": Out(range(DIGEST_BYTES)),
            "byte": Out(8),
            "value": In(8),
            "digest_write": In(1),
            "digest_index": In(range(SLOT_WORDS)),
            "digest_word": In(32),
            "slot_write": In(1),
            "slot_address": In(range(WRITABLE_SLOTS * SLOT_WORDS)),
            "slot_data": In(32),
            "clear": In(1),
            "cleared": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """A read port for bytes, and a write port for bytes and words."""
        m = Module()
        now, place = self.now, self.place
        step = now.step
        m.submodules.memory = memory = self.memory
        fetch, put = memory.read_port(), memory.write_port(granularity=8)
        clear_address = Signal(range(8 * SLOT_WORDS))
        m.d.comb += [
            fetch.addr.eq(Cat(place[2:], step.slot)),
            self.byte.eq(fetch.data.word_select(place[:2], 8)),
            self.cleared.eq(clear_address.all()),
            put.addr.eq(Cat(place[2:], step.save)),
            put.data.eq(self.value.replicate(4)),
            put.en.eq(Mux(now.act & step.saves, Const(1) << place[:2], 0)),
        ]
        with m.If(now.act):
            m.d.sync += place.eq(place - 1)
        with m.If(now.execute & (step.kind == ByteStepKind.STREAM)):
            m.d.sync += place.eq(~0)
        with m.If(self.digest_write):
            m.d.comb += [
                put.addr.eq(Cat(self.digest_index, Const(PaddingSlot.DIGEST, 3))),
                put.data.eq(self.digest_word),
                put.en.eq(~0),
            ]
        with m.If(self.slot_write):
            m.d.comb += [put.addr.eq(self.slot_address), put.data.eq(self.slot_data), put.en.eq(~0)]
        with m.If(self.clear):
            m.d.comb += [put.addr.eq(clear_address), put.data.eq(0), put.en.eq(~0)]
            m.d.sync += clear_address.eq(clear_address + 1)
        return m
