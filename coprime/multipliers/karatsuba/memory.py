"""The memories of the Karatsuba multiplier, for the words of M and of S."""

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for


class WordMemory(wiring.Component):
    """The words of an operand, or of one for each of two interleaved multiplications.

    Parameters
    ----------
    width (int): w, bits of a word
    max_digits (int): words of the longest operand
    interleaved (bool): there are two multiplications
    layout (StructLayout): of a slot

    Members
    -------
    reads, read_word (in and out): the slot, and its word of w bits, in the same cycle
    writes, enable, write_word (in): with `enable`, this slot's word becomes `write_word`, w bits
    clears, clear_address (in): the word at this address becomes 0
    """

    def __init__(
        self, width: int, max_digits: int, *, interleaved: bool, layout: data.StructLayout
    ):
        self.width, self.max_digits, self.interleaved = width, max_digits, interleaved
        ports = {
            "reads": In(layout),
            "read_word": Out(width),
            "writes": In(layout),
            "enable": In(1),
            "write_word": In(width),
            "clears": In(1),
            "clear_address": In(layout["word"].width),
        }
        super().__init__(ports)

    @staticmethod
    def depth(max_digits: int, *, interleaved: bool) -> int:
        """Words of the memory, those between the operands included."""
        shared: int = 2 << bits_for(max_digits - 1)
        return shared if interleaved else max_digits

    def elaborate(self, platform: object) -> Module:
        """A memory in LUTs, with one port for each direction."""
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self.width,
            depth=self.depth(self.max_digits, interleaved=self.interleaved),
            init=[],
            attrs={"ram_style": "distributed"},
        )
        read, write = memory.read_port(domain="comb"), memory.write_port()
        m.d.comb += [
            read.addr.eq(self._address(self.reads)),
            self.read_word.eq(read.data),
            write.addr.eq(self._address(self.writes)),
            write.data.eq(self.write_word),
            write.en.eq(self.enable),
        ]
        with m.If(self.clears):
            m.d.comb += [write.addr.eq(self.clear_address), write.data.eq(0), write.en.eq(1)]
        return m

    def _address(self, slot: data.View) -> Value:
        if not self.interleaved:
            return slot.word
        return Cat(slot.word[: bits_for(self.max_digits - 1)], slot.turn)
