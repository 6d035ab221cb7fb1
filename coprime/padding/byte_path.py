"""The path of a byte, from the sources of a STREAM to its sinks, in hardware and integers."""

from collections.abc import Callable
from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.model.padding_formats import bytes_of

from .addressing import LENGTH_BITS, addresses
from .instructions import EXECUTION, ByteStep, Literal, Random, Trim


class BytePath(wiring.Component):
    """The exclusive or of all sources, and what of it is stored. `count_bits` is as in Addressing.

    Members
    -------
    now (EXECUTION)
    combined : the sources are complete: no random byte is missing
    modulus_length : as in PaddingUnit
    at : `addresses`
    read_data : the word of the buffer at `address[2:]`
    slot_byte : the byte of the slot
    random : stream of random bytes
    bad, length : as in Checks
    value : the byte, from the cycle after `combined`
    store_data : what of it is stored
    """

    def __init__(self, count_bits: int):
        ports = {
            "now": In(EXECUTION),
            "combined": Out(1),
            "modulus_length": In(LENGTH_BITS),
            "at": In(addresses(count_bits)),
            "read_data": In(32),
            "slot_byte": In(8),
            "random": In(stream.Signature(8)),
            "bad": In(1),
            "length": In(count_bits),
            **dict.fromkeys(("value", "store_data"), Out(8)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Sources, trimming, the register, and the release of a message."""
        m = Module()
        now, at, random = self.now, self.at, self.random
        step = now.step
        found = Signal(8)  # in the buffer
        value, old = Signal(8, reset_less=True), Signal(8, reset_less=True)
        beyond = Signal()
        literal = Signal(8)
        trim = Signal(8)
        top = (self.modulus_length - 2)[:3]  # the highest bit of PSS's encoded message
        kept = Cat(bit <= top for bit in range(8))
        m.d.comb += [
            beyond.eq(step.input & (at.address >= at.input_length)),
            found.eq(Mux(beyond, 0, self.read_data.word_select(at.address[:2], 8))),
            literal.eq(step.literal),
        ]
        with m.Switch(step.literal_kind):
            with m.Case(Literal.BLOCK):
                m.d.comb += literal.eq(at.block)
            with m.Case(Literal.SIZE_HIGH):
                m.d.comb += literal.eq(at.size >> 5)
            with m.Case(Literal.SIZE_LOW):
                m.d.comb += literal.eq(at.size << 3)
        with m.Switch(step.trim):
            with m.Case(Trim.KEEP):
                m.d.comb += trim.eq(kept)
            with m.Case(Trim.EXCESS):
                m.d.comb += trim.eq(~kept)
            with m.Default():
                m.d.comb += trim.eq(~0)
        sources = (
            literal
            ^ Mux(step.buffer, found, 0)
            ^ Mux(step.uses_slot, self.slot_byte, 0)
            ^ Mux(step.random != Random.NONE, random.payload, 0)
        )
        again = (step.random == Random.NONZERO) & (random.payload == 0)
        m.d.comb += [
            random.ready.eq(now.combine & (step.random != Random.NONE)),
            self.combined.eq(
                now.combine & ((step.random == Random.NONE) | (random.valid & ~again))
            ),
        ]
        with m.If(now.combine):
            m.d.sync += [value.eq(sources & trim), old.eq(found)]
        released = Mux(at.address < self.length, Mux(self.bad, value, old), 0)
        m.d.comb += [self.value.eq(value), self.store_data.eq(Mux(step.release, released, value))]
        return m


@dataclass
class BytePathTwin:
    """What BytePath does, in integers: `bits` are the modulus's, `random` draws the next byte."""

    bits: int
    random: Callable[[], int]

    def draw(self, step: ByteStep) -> tuple[int, int]:
        """The byte of the random source, and the number of discarded ones."""
        discarded = 0
        while (value := self.random() if step.random else 0) == 0 and step.random is Random.NONZERO:
            discarded += 1
        return value, discarded

    def combine(
        self, step: ByteStep, *, found: int, block: int, slot_byte: int, random: int
    ) -> int:
        """The value of a byte."""
        literal = {
            Literal.VALUE: step.literal,
            Literal.BLOCK: block,
            Literal.SIZE_HIGH: bytes_of(self.bits) >> 5 & 0xFF,
            Literal.SIZE_LOW: bytes_of(self.bits) << 3 & 0xFF,
        }[step.literal_kind]
        kept = 0xFF >> 8 * bytes_of(self.bits - 1) - (self.bits - 1)
        trim = {Trim.NONE: 0xFF, Trim.KEEP: kept, Trim.EXCESS: ~kept}[step.trim]
        return (literal ^ (found if step.buffer else 0) ^ slot_byte ^ random) & trim

    def stored(self, step: ByteStep, value: int, *, found: int, bad: bool, inside: bool) -> int:
        """What is stored of it; `inside` is whether its address is below the message's length."""
        if not step.release:
            return value
        return (value if bad else found) if inside else 0
