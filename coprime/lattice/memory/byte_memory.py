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

Where several lanes compute, two banks hold the even words and the odd ones, so that the arithmetic
side reads or writes two words at once. The others still have one.
"""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
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

    Parameters
    ----------
    address_bits (int)
    words (int): read or written at once, 1 or 2

    Members
    -------
    use (1 bit, out): this cycle reads or writes; never in two consecutive cycles
    address (out): of a word, or of two words
    write (1 bit, out), write_data (32 or 64 bits, out): it writes; only with `use`
    data (32 or 64 bits, in): what the cycle before read; undefined after any other one
    """

    def __init__(self, address_bits: int, words: int = 1):
        super().__init__(
            {
                "use": Out(1),
                "address": Out(address_bits),
                "write": Out(1),
                "write_data": Out(words * WORD_BITS),
                "data": In(words * WORD_BITS),
            }
        )


def addressed_word(address_bits: int) -> data.StructLayout:
    """A word to write."""
    return data.StructLayout({"address": address_bits, "data": WORD_BITS})


class ByteMemory(wiring.Component):
    """The byte memory.

    Parameters
    ----------
    depth (int): words; even with two banks
    banks (int): 1, or 2: of even words, and of odd ones
    target (Target): LUTs are placed on xc7

    Members
    -------
    address, word (in, out): what the sponge side reads; the word a cycle after its address
    writes (in): the sponge side's words of `addressed_word`
    arithmetic (in): ByteAccess, of a word of each bank
    host_reads (1 bit, in): the host reads instead of the sponge side, and loads; nobody else writes
    host_address (in): what it reads, `word` as well
    loads (in): the host's words of `addressed_word`; taken while the host reads
    wipe (1 bit, in): write zeros everywhere; whoever writes meanwhile waits, or is ignored
    wiping (1 bit, out): this is under way, as it is after a reset: a cycle for each address
    wiped (out): the address that is cleared
    wrong (1 bit, out): a word that was read through either port has another parity than it was
        written with; a cycle after the word
    """

    def __init__(self, depth: int, target: Target = Target.GENERIC, *, banks: int = 1):
        assert depth % banks == 0
        self.depth, self.target = depth, Target(target)
        self.banks = [
            ParityRam(
                *(WORD_BITS, depth // banks),
                streams=True,
                parities=True,
                target=self.target,
            )
            for _ in range(banks)
        ]
        self.bank_bits = bank_bits = banks - 1
        self.address_bits = bits = bits_for(depth - 1)
        super().__init__(
            {
                "address": In(bits),
                "word": Out(WORD_BITS),
                "writes": In(stream.Signature(addressed_word(bits))),
                "arithmetic": In(ByteAccess(bits - bank_bits, banks)),
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
        arithmetic, writes, loads = self.arithmetic, self.writes, self.loads
        wiping, cleared = Signal(init=1), self.wiped
        # A word that the sponge side has given, and whether it is written now.
        held, holds, stores = Signal.like(writes.payload), Signal(), Signal()
        host, below = self.host_reads, self.bank_bits
        address = choose_word(m, host, self.host_address, self.address, self.target)
        m.d.comb += [
            stores.eq(holds & ~(arithmetic.use | host | wiping)),
            writes.ready.eq(~holds | stores),
            loads.ready.eq(host & ~wiping),
            self.wiping.eq(wiping),
        ]
        with m.If(stores):
            m.d.sync += holds.eq(0)
        with m.If(writes.valid & writes.ready):
            m.d.sync += [holds.eq(1), held.eq(writes.payload)]
        with m.If(wiping):
            m.d.sync += [holds.eq(0), held.eq(0)]
        addresses = [loads.payload.address, held.address, cleared]
        addresses = [arithmetic.address, *(word_address[below:] for word_address in addresses)]
        # Whether there is a word to write comes late: addresses and words do not wait for it.
        choice = Cat(wiping | host, wiping | ~(host | arithmetic.use))
        for number, bank in enumerate(self.banks):
            m.submodules[f"bank_{number}" if below else "memory"] = bank
            written = arithmetic.write_data.word_select(number, WORD_BITS)
            words = [written, loads.payload.data, held.data, Const(0, WORD_BITS)]
            is_loaded = self._is_of(number, loads.valid, loads.payload.address)
            is_stored = self._is_of(number, holds, held.address)
            m.d.comb += [
                bank.a_address.eq(address[below:]),
                bank.b_write.eq(
                    wiping | Mux(host, is_loaded, Mux(arithmetic.use, arithmetic.write, is_stored))
                ),
                bank.b_address.eq(select_word(m, addresses, choice, self.target)),
                bank.b_write_data.eq(select_word(m, words, choice, self.target)),
                # Of each word before one is selected, which is three levels of logic earlier.
                bank.b_write_parity.eq(Cat(word.xor() for word in words).bit_select(choice, 1)),
            ]
        m.d.comb += [
            arithmetic.data.eq(Cat(bank.b_data for bank in self.banks)),
            self.wrong.eq(reduce(or_, (bank.wrong for bank in self.banks))),
            self.word.eq(self.banks[0].a_data),
        ]
        if below:
            is_odd = Signal()
            m.d.sync += is_odd.eq(address[0])
            with m.If(is_odd):
                m.d.comb += self.word.eq(self.banks[1].a_data)
        with m.If(wiping):
            m.d.sync += [cleared.eq(cleared + 1), wiping.eq(~cleared.all())]
        with m.If(self.wipe):
            m.d.sync += [wiping.eq(1), cleared.eq(0)]
        return m

    def _is_of(self, number: int, valid: Value, address: Value) -> Value:
        """Whether there is a word, of this address, for a bank."""
        return valid & (address[0] == number) if self.bank_bits else valid
