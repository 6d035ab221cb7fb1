"""A true dual-port block RAM: two ports, each with its own address, on one clock."""

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory, MemoryData
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.parameters import check_least

from .target import Target


class BlockRam(wiring.Component):
    """A memory: in every cycle port A reads, and port B reads or writes.

    The data of an address given in cycle t is at the output in cycle t+1. A port's output is
    undefined in the cycle after it read an address that port B wrote, and so is port B's output
    after its own write: the user must not use it. In return the memory needs no bypass logic on any
    target. 2048 x 18 bits are one RAMB36E1 on xc7 and two DP16KD on ecp5.

    Raises ValueError for `write_a` on ecp5.

    Parameters
    ----------
    width, depth (int): bits of a word; number of words
    write_a (bool): port A writes too. Not on ecp5, where two writing ports are not inferred as
        block RAM.

    Members
    -------
    a_address, b_address (in)
    a_data, b_data (`width` bits, out)
    b_write (1 bit, in)
    b_write_data (`width` bits, in)
    a_write, a_write_data : the same of port A, with `write_a` only

    Attributes
    ----------
    data (MemoryData): the words, for simulations to look into
    """

    def __init__(
        self, width: int, depth: int, *, write_a: bool = False, target: Target = Target.GENERIC
    ):
        check_least(1, width=width, depth=depth)
        self.target = Target(target)
        if write_a and self.target is Target.ECP5:
            raise ValueError("write_a must be False for ecp5: use port B for writing")
        self.width, self.depth, self.write_a = width, depth, write_a
        self.data = MemoryData(shape=width, depth=depth, init=[])
        address = bits_for(depth - 1)
        ports = {
            "a_address": In(address),
            "a_data": Out(width),
            "b_address": In(address),
            "b_data": Out(width),
            "b_write": In(1),
            "b_write_data": In(width),
        }
        if write_a:
            ports |= {"a_write": In(1), "a_write_data": In(width)}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Infer the memory; synthesis maps it to block RAM."""
        m = Module()
        m.submodules.memory = memory = Memory(
            self.data,
            # No word is read while it is written, so no target needs to add bypass logic.
            attrs={"no_rw_check": 1, "ram_style": "block"},
        )
        self._read(m, memory, self.a_address, self.a_data)
        if self.write_a:
            self._write(m, memory, self.a_address, self.a_write, self.a_write_data)
        self._read(m, memory, self.b_address, self.b_data)
        self._write(m, memory, self.b_address, self.b_write, self.b_write_data)
        return m

    @staticmethod
    def _read(m: Module, memory: Memory, address: Value, word: Value) -> None:
        read = memory.read_port()
        m.d.comb += [read.addr.eq(address), word.eq(read.data)]

    @staticmethod
    def _write(m: Module, memory: Memory, address: Value, enable: Value, word: Value) -> None:
        write = memory.write_port()
        m.d.comb += [write.addr.eq(address), write.data.eq(word), write.en.eq(enable)]
