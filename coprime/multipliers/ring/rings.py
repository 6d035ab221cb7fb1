"""The rings of words; one of them is read at two places in every cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ..delays import past_value


def small_memory(width: int, depth: int, style: str = "distributed") -> Memory:
    """A memory of which no word is read while it is written; in LUTs by default."""
    return Memory(shape=width, depth=depth, init=[], attrs={"ram_style": style, "no_rw_check": 1})


class WriteSignature(wiring.Signature):
    """A word that is written to a place of a ring, if `enable` is 1."""

    def __init__(self, width: int, place_bits: int):
        super().__init__({"enable": Out(1), "place": Out(place_bits), "word": Out(width)})


class Rings(wiring.Component):
    """Reads two words of one ring, or of one of two rings; or returns 0 instead.

    The words follow their places a cycle later with one ring, two with two. A word can be read in
    the cycle after its write, and not in the cycle of its write. Block RAM, in which two rings are
    one memory, has 0 where it is never written. It writes one word per cycle: if both rings are
    written, they are written in turn.

    Parameters
    ----------
    width, depth : bits of a word; places of a ring
    count : 1 or 2 rings
    in_block_ram (bool): else in LUTs

    Members
    -------
    i, j : places that are read
    ring : the ring that is read
    enters_i, enters_j : whether the words are returned, else 0
    at_i, at_j (out)
    writes (WriteSignature for each ring, in)
    """

    def __init__(self, width: int, depth: int, count: int, *, in_block_ram: bool):
        self.width, self.depth = width, depth
        self.count, self.in_block_ram = count, in_block_ram
        place = bits_for(depth - 1)
        ports = {
            **dict.fromkeys(("ring", "enters_i", "enters_j"), In(1)),
            **dict.fromkeys(("i", "j"), In(place)),
            **dict.fromkeys(("at_i", "at_j"), Out(width)),
            "writes": In(WriteSignature(width, place)).array(count),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """A block RAM, with a register after it for two rings; or memories of LUTs, with one before
        them for two rings."""
        m = Module()
        if self.in_block_ram:
            self._one_memory(m)
        else:
            self._memory_each(m)
        return m

    def _one_memory(self, m: Module) -> None:
        """A block RAM with a ring, or nothing, in each half or quarter."""
        depth = 2 * self.count << len(self.i)
        m.submodules.memory = memory = small_memory(self.width, depth, "block")
        which = [self.ring] if self.count > 1 else []
        for place, enters, word in (
            (self.i, self.enters_i, self.at_i),
            (self.j, self.enters_j, self.at_j),
        ):
            port = memory.read_port()
            m.d.comb += port.addr.eq(Cat(place, *which, ~enters))
            if which:
                m.d.sync += word.eq(port.data)
            else:
                m.d.comb += word.eq(port.data)
        write, first, second = memory.write_port(), self.writes[0], self.writes[-1]
        of_second = Signal()
        if which:
            turn = Signal()
            m.d.sync += turn.eq(first.enable & second.enable & ~turn)
            m.d.comb += of_second.eq(second.enable & (turn | ~first.enable))
        m.d.comb += [
            write.en.eq(first.enable | second.enable),
            write.addr.eq(Cat(Mux(of_second, second.place, first.place), of_second)),
            write.data.eq(Mux(of_second, second.word, first.word)),
        ]

    def _memory_each(self, m: Module) -> None:
        """With two rings, places are registered, and words are read a cycle later."""
        asked = {
            "i": self.i,
            "j": self.j,
            "ring": self.ring,
            "enters_i": self.enters_i,
            "enters_j": self.enters_j,
        }
        if self.count > 1:
            asked = {name: past_value(m, name, value, 1) for name, value in asked.items()}
        found: dict[str, list[Value]] = {"at_i": [], "at_j": []}
        for k, write in enumerate(self.writes):
            m.submodules[f"ring_{k}"] = memory = small_memory(self.width, self.depth)
            for name, place in (("at_i", "i"), ("at_j", "j")):
                read = memory.read_port(domain="comb")
                m.d.comb += read.addr.eq(asked[place])
                found[name].append(read.data)
            port = memory.write_port()
            m.d.comb += [
                *(port.en.eq(write.enable), port.addr.eq(write.place), port.data.eq(write.word))
            ]
        for word, of_rings, enters in (
            (self.at_i, found["at_i"], asked["enters_i"]),
            (self.at_j, found["at_j"], asked["enters_j"]),
        ):
            m.d.sync += word.eq(Mux(asked["ring"], of_rings[-1], of_rings[0]))
            with m.If(~enters):
                m.d.sync += word.eq(0)
