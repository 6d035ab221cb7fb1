"""A ring's words, and two rings of which one is read at two places in every cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ..delays import history

__all__ = ["KeptWords", "Rings", "WordRing"]


class WordRing(wiring.Component):
    """Two words of a ring, in the cycle of their places; a third one is written: in LUTs.

    A word can be read in the cycle after its write.

    Parameters
    ----------
    width, depth : bits of a word; places

    Members
    -------
    i, j : places that are read
    at_i, at_j : their words
    write, place, word : `word` goes to `place`
    """

    def __init__(self, width: int, depth: int):
        self.width = width
        self.depth = depth
        place = bits_for(depth - 1)
        super().__init__(
            {
                "i": In(place),
                "j": In(place),
                "at_i": Out(width),
                "at_j": Out(width),
                "write": In(1),
                "place": In(place),
                "word": In(width),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Infer the memory; synthesis maps it to memories of LUTs."""
        m = Module()
        attributes = {"ram_style": "distributed", "no_rw_check": 1}
        m.submodules.memory = memory = Memory(
            shape=self.width, depth=self.depth, init=[], attrs=attributes
        )
        for place, data in ((self.i, self.at_i), (self.j, self.at_j)):
            port = memory.read_port(domain="comb")
            m.d.comb += [port.addr.eq(place), data.eq(port.data)]
        write = memory.write_port()
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(self.place),
            write.data.eq(self.word),
        ]
        return m


class KeptWords(wiring.Component):
    """One word, in the cycle after its place; another one is written.

    A word can be read in the cycle after its write.

    Parameters
    ----------
    width, depth : bits of a word; places
    in_block_ram : bool
        Else in LUTs.

    Members
    -------
    i : place that is read
    word_i : its word, a cycle later
    write, place, word : `word` goes to `place`
    """

    def __init__(self, width: int, depth: int, *, in_block_ram: bool):
        self.width = width
        self.depth = depth
        self.in_block_ram = in_block_ram
        place = bits_for(depth - 1)
        super().__init__(
            {
                "i": In(place),
                "word_i": Out(width),
                "write": In(1),
                "place": In(place),
                "word": In(width),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Infer the memory."""
        m = Module()
        style = "block" if self.in_block_ram else "distributed"
        attributes = {"ram_style": style, "no_rw_check": 1}
        m.submodules.memory = memory = Memory(
            shape=self.width, depth=self.depth, init=[], attrs=attributes
        )
        read, write = memory.read_port(), memory.write_port()
        m.d.comb += [
            read.addr.eq(self.i),
            self.word_i.eq(read.data),
            write.en.eq(self.write),
            write.addr.eq(self.place),
            write.data.eq(self.word),
        ]
        return m


class WriteSignature(wiring.Signature):
    """A word that goes to a ring's place, if `enable` is 1."""

    def __init__(self, width: int, place_bits: int):
        super().__init__({"enable": Out(1), "place": Out(place_bits), "word": Out(width)})


class Rings(wiring.Component):
    """Two words of one ring, or of one of two, some cycles after their places, or 0 in their stead.

    One ring takes a cycle, two take two. A word can be read in the cycle after its write, and not
    in the cycle of its write. Block RAM, in which two rings are one memory, has 0 where it is never
    written. It writes one word a cycle: where both rings are written, they are in turn.

    Parameters
    ----------
    width, depth : bits of a word; places of a ring
    count : 1 or 2 rings
    in_block_ram : bool
        Else in LUTs.

    Members
    -------
    i, j : places that are read
    ring : of which ring
    enters_i, enters_j : whether the words are wanted; else 0 comes
    at_i, at_j : out
    writes : WriteSignature for each ring, in
    """

    def __init__(self, width: int, depth: int, count: int, *, in_block_ram: bool):
        self.width = width
        self.depth = depth
        self.count = count
        self.in_block_ram = in_block_ram
        place = bits_for(depth - 1)
        super().__init__(
            {
                **dict.fromkeys(("ring", "enters_i", "enters_j"), In(1)),
                **dict.fromkeys(("i", "j"), In(place)),
                **dict.fromkeys(("at_i", "at_j"), Out(width)),
                "writes": In(WriteSignature(width, place)).array(count),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """A block RAM, and for two rings a register after it; or memories of LUTs, and for two
        one before."""
        m = Module()
        if self.in_block_ram:
            self._one_memory(m)
        else:
            self._memory_each(m)
        return m

    def _one_memory(self, m: Module) -> None:
        """In each half or quarter of the memory a ring, or nothing."""
        attributes = {"ram_style": "block", "no_rw_check": 1}
        m.submodules.memory = memory = Memory(
            shape=self.width, depth=2 * self.count << len(self.i), init=[], attrs=attributes
        )
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
        """With two rings, places are taken, and words are read a cycle later."""
        asked = {name: getattr(self, name) for name in ("i", "j", "ring", "enters_i", "enters_j")}
        if self.count > 1:
            asked = {name: history(m, name, one, 1)[-1] for name, one in asked.items()}
        rings = [WordRing(self.width, self.depth) for _ in self.writes]
        for k, (ring, write) in enumerate(zip(rings, self.writes, strict=True)):
            m.submodules[f"ring_{k}"] = ring
            m.d.comb += [
                ring.i.eq(asked["i"]),
                ring.j.eq(asked["j"]),
                ring.write.eq(write.enable),
                ring.place.eq(write.place),
                ring.word.eq(write.word),
            ]
        for name, enters in (("at_i", "enters_i"), ("at_j", "enters_j")):
            word = getattr(self, name)
            found = [getattr(ring, name) for ring in rings]
            m.d.sync += word.eq(Mux(asked["ring"], found[-1], found[0]))
            with m.If(~asked[enters]):
                m.d.sync += word.eq(0)
