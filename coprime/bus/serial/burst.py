"""The bus end of the serial link: the words of a request, one access each."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.axi4_lite import AXI4LiteSignature
from coprime.bus.axi4_lite_master import AXI4LiteMaster
from coprime.bus.port import ADDRESS_BITS, WORD_BITS
from coprime.bus.serial.protocol import MAX_WORDS
from coprime.bus.serial.request import PLACE_BITS

_BYTES = WORD_BITS // 8


class Burst(wiring.Component):
    """Write stored words to registers, or store the words that registers show.

    A word takes 6 cycles, and what the bus takes. All words are accessed, also after a refused one.

    Members
    -------
    start (1 bit, in): for one cycle; `write` to `words` keep their values until `done`
    write (1 bit, in): 1: write to registers; 0: read
    fixed (1 bit, in): 1: all accesses are to one register; 0: to consecutive ones
    address (ADDRESS_BITS bits, in): number of the first register
    words (in): 0 to MAX_WORDS
    done (1 bit, out): for one cycle
    refused (1 bit, out): with `done`: at least one access was refused
    place (PLACE_BITS bits, out): number of a stored byte
    read_byte (8 bits, in): the byte at `place`, a cycle later
    store (1 bit, out): store `store_byte` at `place`
    store_byte (8 bits, out)
    axi : the bus
    """

    def __init__(self) -> None:
        ports = {
            **dict.fromkeys(("start", "write", "fixed"), In(1)),
            "address": In(ADDRESS_BITS),
            "words": In(range(MAX_WORDS + 1)),
            **dict.fromkeys(("done", "refused"), Out(1)),
            "place": Out(PLACE_BITS),
            "read_byte": In(8),
            "store": Out(1),
            "store_byte": Out(8),
            "axi": In(AXI4LiteSignature()),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """For each word: its bytes from the store, or into it, and the access."""
        m = Module()
        m.submodules.master = master = AXI4LiteMaster()
        wiring.connect(m, master.axi, wiring.flipped(self.axi))
        register = Signal(ADDRESS_BITS)
        left = Signal(range(MAX_WORDS + 1))
        word = Signal(WORD_BITS)
        step = Signal(range(_BYTES + 1))
        m.d.comb += [
            master.address.eq(Cat(Const(0, 2), register)),
            master.data.eq(word),
            master.strobes.eq(self.write.replicate(_BYTES)),
            self.store_byte.eq(word[:8]),
        ]
        with m.FSM():
            with m.State("REST"):
                m.d.sync += [
                    register.eq(self.address),
                    left.eq(self.words),
                    self.place.eq(0),
                    self.refused.eq(0),
                ]
                with m.If(self.start):
                    m.next = "NEXT"
            with m.State("NEXT"):
                m.d.sync += step.eq(0)
                with m.If(left == 0):
                    m.d.comb += self.done.eq(1)
                    m.next = "REST"
                with m.Elif(self.write):
                    m.next = "GATHER"
                with m.Else():
                    m.next = "ACCESS"
            with m.State("GATHER"):
                m.d.sync += [step.eq(step + 1), word.eq(Cat(word[8:], self.read_byte))]
                with m.If(step == _BYTES):
                    m.next = "ACCESS"
                with m.Else():
                    m.d.sync += self.place.eq(self.place + 1)
            with m.State("ACCESS"):
                m.d.comb += master.valid.eq(1)
                with m.If(master.ready):
                    m.d.sync += [
                        word.eq(master.answer),
                        self.refused.eq(self.refused | master.refused),
                        register.eq(register + ~self.fixed),
                        left.eq(left - 1),
                    ]
                    with m.If(self.write):
                        m.next = "NEXT"
                    with m.Else():
                        m.next = "SCATTER"
            with m.State("SCATTER"):
                m.d.comb += self.store.eq(1)
                m.d.sync += [step.eq(step + 1), word.eq(word >> 8), self.place.eq(self.place + 1)]
                with m.If(step == _BYTES - 1):
                    m.next = "NEXT"
        return m
