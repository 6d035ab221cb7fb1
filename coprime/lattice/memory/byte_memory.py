"""Byte strings in a block RAM of 32-bit words with parity; who has which port in which cycle.

Port A only reads and port B reads or writes, as not every target has block RAM with two writing
ports. Port A is the sponge side's, or the host's while the engine is idle. Port B is the arithmetic
side's in every cycle in which it wants it; the sponge side writes in the other ones, and the host
loads while both sides are idle. So the arithmetic side never waits.

The rule that keeps both sides' cycles independent: the arithmetic side does not use port B in two
consecutive cycles. A word of the sponge side waits in a register, for one cycle or two, so that a
sponge side that offers a word at most every other cycle is never held up. Whichever side needs
bytes of the other one awaits its POST, which comes later than that: no word is read in the cycle in
which it is written.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.luts import choose_word, select_word
from coprime.cells.parity_ram import ParityRam
from coprime.cells.target import Target

WORD_BITS = 32
"""The first byte is the least significant."""


class ByteAccess(wiring.Signature):
    """The arithmetic side's port B, seen from the side.

    Members
    -------
    use (1 bit, out): this cycle reads or writes; never in two consecutive cycles
    address (out): of a word
    write (1 bit, out), write_data (32 bits, out): it writes; only with `use`
    data (32 bits, in): the word that the cycle before read; undefined after any other one
    """

    def __init__(self, address_bits: int):
        super().__init__(
            {
                "use": Out(1),
                "address": Out(address_bits),
                "write": Out(1),
                "write_data": Out(WORD_BITS),
                "data": In(WORD_BITS),
            }
        )


def addressed_word(address_bits: int) -> data.StructLayout:
    """A word to write."""
    return data.StructLayout({"address": address_bits, "data": WORD_BITS})


class ByteMemory(wiring.Component):
    """The byte memory.

    Parameters
    ----------
    depth (int): words
    target (Target): LUTs are placed on xc7

    Members
    -------
    address, word (in, out): what the sponge side reads; the word a cycle after its address
    writes (in): the sponge side's words of `addressed_word`
    arithmetic (in): ByteAccess
    host_reads (1 bit, in): the host reads instead of the sponge side, and loads; nobody else writes
    host_address (in): what it reads, `word` as well
    loads (in): the host's words of `addressed_word`; taken while the host reads
    wipe (1 bit, in): write zeros everywhere; whoever writes meanwhile waits, or is ignored
    wiping (1 bit, out): this is under way, as it is after a reset: a cycle for each address
    wiped (out): the address that is cleared
    wrong (1 bit, out): a word that was read through either port has another parity than it was
        written with; a cycle after the word
    """

    def __init__(self, depth: int, target: Target = Target.GENERIC):
        self.depth, self.target = depth, Target(target)
        self.memory = ParityRam(WORD_BITS, depth, streams=True, parities=True, target=self.target)
        self.address_bits = bits = bits_for(depth - 1)
        super().__init__(
            {
                "address": In(bits),
                "word": Out(WORD_BITS),
                "writes": In(stream.Signature(addressed_word(bits))),
                "arithmetic": In(ByteAccess(bits)),
                "host_reads": In(1),
                "host_address": In(bits),
                "loads": In(stream.Signature(addressed_word(bits))),
                "wipe": In(1),
                "wiping": Out(1),
                "wiped": Out(bits),
                "wrong": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Multiplex port B, and wipe."""
        m = Module()
        m.submodules.memory = memory = self.memory
        arithmetic, writes, loads = self.arithmetic, self.writes, self.loads
        wiping, cleared = Signal(init=1), self.wiped
        # A word that the sponge side has given, and whether it is written now.
        held, holds, stores = Signal.like(writes.payload), Signal(), Signal()
        host = self.host_reads
        m.d.comb += [
            stores.eq(holds & ~(arithmetic.use | host | wiping)),
            writes.ready.eq(~holds | stores),
            loads.ready.eq(host & ~wiping),
            memory.a_address.eq(choose_word(m, host, self.host_address, self.address, self.target)),
            memory.b_write.eq(
                wiping | Mux(host, loads.valid, Mux(arithmetic.use, arithmetic.write, holds))
            ),
            self.word.eq(memory.a_data),
            arithmetic.data.eq(memory.b_data),
            self.wiping.eq(wiping),
            self.wrong.eq(memory.wrong),
        ]
        with m.If(stores):
            m.d.sync += holds.eq(0)
        with m.If(writes.valid & writes.ready):
            m.d.sync += [holds.eq(1), held.eq(writes.payload)]
        with m.If(wiping):
            m.d.sync += [holds.eq(0), held.eq(0)]
        addresses = [arithmetic.address, loads.payload.address, held.address, cleared]
        words = [arithmetic.write_data, loads.payload.data, held.data, Const(0, WORD_BITS)]
        # Whether there is a word to write comes late: addresses and words do not wait for it.
        choice = Cat(wiping | host, wiping | ~(host | arithmetic.use))
        m.d.comb += [
            memory.b_address.eq(select_word(m, addresses, choice, self.target)),
            memory.b_write_data.eq(select_word(m, words, choice, self.target)),
            # Of each word before one is selected, which is three levels of logic earlier.
            memory.b_write_parity.eq(Cat(word.xor() for word in words).bit_select(choice, 1)),
        ]
        with m.If(wiping):
            m.d.sync += [cleared.eq(cleared + 1), wiping.eq(~cleared.all())]
        with m.If(self.wipe):
            m.d.sync += [wiping.eq(1), cleared.eq(0)]
        return m
