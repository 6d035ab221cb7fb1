"""The bridge from a processor to an accelerator on AXI4, with a copy engine that makes bursts.

A processor without a cache, such as PicoRV32, makes accesses of one word. For a burst on its behalf
something must know how many words follow: here the copy engine, which moves a block between the
memory and the accelerator's registers as one burst.
"""

import enum

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.axi4 import ID_BITS, AXI4Signature
from coprime.bus.axi4_master import AXI4Master
from coprime.bus.port import WINDOW_BITS, WORD_BITS

BURST_WORDS = 256  # words of the longest burst

_BYTES = WORD_BITS // 8


class CopyRegister(enum.IntEnum):
    """The copy engine's registers, by their byte address; write-only, as whole words."""

    MEMORY = 0  # address in memory of the first word, a multiple of 4; not kept by a copy
    ACCELERATOR = 4  # address of the first of the accelerator's registers: 0 to 4092
    SEND = 8  # copies so many words, 1 to 256, from the memory to registers
    RECEIVE = 12  # copies so many words, 1 to 256, from registers to the memory


class BurstBridge(wiring.Component):
    """Passes a processor's accesses on to an accelerator, and copies blocks in bursts.

    A write to SEND or RECEIVE is answered when the copy is complete. The processor waits for this
    answer, so the copy engine uses the ports of its memory without arbitration, and the program
    needs no polling. An access is refused if the accelerator refuses it, or one word of the burst;
    if it is a read of the copy engine's registers or not of a whole word; if a number of words is
    out of its range or the block is not in the memory.

    A copy of n words that the accelerator takes without waiting occupies 2n + 3 cycles to send and
    3n + 3 to receive, from the processor's write to its answer: `send_cycles`, `receive_cycles`.

    Parameters
    ----------
    depth : words of the memory: a power of two

    Members
    -------
    valid (1 bit, in): requests an access; this and the next three keep their values until `ready`
    address (13 bits, in): below 4096 of the accelerator, above of the copy engine
    data (32 bits, in)
    strobes (4 bits, in): bytes to write; 0 is a read
    ready (1 bit, out): the access is answered in this cycle
    answer (32 bits, out): the data read; valid with `ready`
    refused (1 bit, out): with `ready`: the access is refused
    place (out): number of the memory's word to read or write
    fetch (1 bit, out): read it; `fetched` has it from the next cycle on until the next `fetch`
    fetched (32 bits, in)
    store (1 bit, out): write `answer` to it
    axi: the bus
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        ports = {
            "valid": In(1),
            "address": In(WINDOW_BITS + 1),
            "data": In(WORD_BITS),
            "strobes": In(_BYTES),
            "ready": Out(1),
            "answer": Out(WORD_BITS),
            "refused": Out(1),
            "place": Out(range(depth)),
            "fetch": Out(1),
            "fetched": In(WORD_BITS),
            "store": Out(1),
            "axi": In(AXI4Signature(ID_BITS)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Answer writes of the copy engine's registers, or let the master make an access."""
        m = Module()
        m.submodules.master = master = AXI4Master()
        wiring.connect(m, master.axi, wiring.flipped(self.axi))
        place = Signal(range(self.depth))
        register = Signal(WINDOW_BITS)  # the first one of a copy
        copying, sending = Signal(), Signal()
        to_copy = self.address[WINDOW_BITS]
        m.d.comb += [
            self.answer.eq(master.answers.payload),
            master.strobes.eq(Mux(copying, sending.replicate(_BYTES), self.strobes)),
            master.address.eq(Mux(copying, register, self.address)),
            master.beats.eq(Mux(copying, self.data - 1, 0)),
            master.words.payload.eq(Mux(copying, self.fetched, self.data)),
            master.words.valid.eq(1),
            self.place.eq(place),
        ]

        wanted = Signal(CopyRegister)
        copies, undefined = Signal(), Signal()
        m.d.comb += [
            wanted.eq(self.address),
            copies.eq((wanted == CopyRegister.SEND) | (wanted == CopyRegister.RECEIVE)),
            undefined.eq(~self.strobes.all() | self.address[len(wanted) : WINDOW_BITS].any()),
        ]
        count_fits = self.data.any() & (self.data <= BURST_WORDS)
        block_fits = count_fits & (place + self.data <= self.depth)
        aligned = ~self.data[:2].any() & (self.data < _BYTES * self.depth)
        with m.FSM():
            with m.State("ACCESS"):
                with m.If(self.valid & ~to_copy):
                    m.d.comb += [
                        master.valid.eq(1),
                        self.ready.eq(master.ready),
                        self.refused.eq(master.refused),
                    ]
                with m.Elif(self.valid & (undefined | (copies & ~block_fits))):
                    m.d.comb += [self.ready.eq(1), self.refused.eq(1)]
                with m.Elif(self.valid & copies):
                    m.d.sync += sending.eq(wanted == CopyRegister.SEND)
                    m.d.comb += self.fetch.eq(1)
                    m.d.sync += place.eq(place + (wanted == CopyRegister.SEND))
                    m.next = "COPY"
                with m.Elif(self.valid):
                    m.d.comb += self.ready.eq(1)
                    with m.If(wanted == CopyRegister.MEMORY):
                        m.d.comb += self.refused.eq(~aligned)
                        m.d.sync += place.eq(self.data[2:])
                    with m.Else():
                        m.d.comb += self.refused.eq(self.data >= 1 << WINDOW_BITS)
                        m.d.sync += register.eq(self.data)
            with m.State("COPY"):
                m.d.comb += [
                    copying.eq(1),
                    master.valid.eq(1),
                    self.ready.eq(master.ready),
                    self.refused.eq(master.refused),
                    self.fetch.eq(sending & master.words.ready),
                    self.store.eq(master.answers.valid),
                ]
                with m.If(self.fetch | self.store):
                    m.d.sync += place.eq(place + 1)
                with m.If(master.ready):
                    m.next = "ACCESS"
        return m


def send_cycles(words: int) -> int:
    """Cycles to copy words to registers that take them without waiting."""
    return 2 * words + 3


def receive_cycles(words: int) -> int:
    """Cycles to copy words from registers that give them without waiting."""
    return 3 * words + 3
