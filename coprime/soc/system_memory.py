"""The memory of a RISC-V system: the processor's, with a way in for the program and for copies."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out


class SystemMemory(wiring.Component):
    """Words of 32 bits in block RAM, with one read port and one write port and no wait states.

    The processor announces the address of a read a cycle ahead, so that the word is there with the
    access. Copies share the ports with it, while the processor waits for them.

    Parameters
    ----------
    depth : words

    Members
    -------
    read_ahead (1 bit, in): the processor reads `read_address`
    read_address (in): number of a word, as every address here
    read_data (32 bits, out): the word read last, by the processor or a copy
    strobes (4 bits, in): bytes that the processor writes to `address`
    address (in)
    data (32 bits, in)
    fetch (1 bit, in): a copy reads `place`
    store (1 bit, in): a copy writes `copied` to `place`
    place (in)
    copied (32 bits, in)
    load (1 bit, in): write `load_data` to `load_address`, from outside
    load_address (in)
    load_data (32 bits, in)
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        place = In(range(depth))
        ports = {
            **dict.fromkeys(("read_ahead", "fetch", "store", "load"), In(1)),
            **dict.fromkeys(("read_address", "address", "place", "load_address"), place),
            **dict.fromkeys(("data", "copied", "load_data"), In(32)),
            "read_data": Out(32),
            "strobes": In(4),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Let each of them have the ports."""
        m = Module()
        m.submodules.ram = ram = Memory(shape=32, depth=self.depth, init=[])
        read, write = ram.read_port(), ram.write_port(granularity=8)
        m.d.comb += [
            read.en.eq(self.read_ahead | self.fetch),
            read.addr.eq(self.read_address),
            self.read_data.eq(read.data),
        ]
        with m.If(self.fetch):
            m.d.comb += read.addr.eq(self.place)
        for wanted, address, data, strobes in (
            (self.load, self.load_address, self.load_data, 0b1111),
            (self.store, self.place, self.copied, 0b1111),
            (self.strobes.any(), self.address, self.data, self.strobes),
        ):
            with m.If(wanted):
                m.d.comb += [write.addr.eq(address), write.data.eq(data), write.en.eq(strobes)]
        return m
