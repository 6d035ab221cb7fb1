"""An AXI4 slave with bursts in front of the register port."""

import enum

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.axi4_lite import OKAY, SLVERR
from coprime.bus.port import WINDOW_BITS, RegisterSignature
from coprime.parameters import check_ranges

WORD = 2  # AxSIZE of a beat that carries a whole register
WRAP_BITS = 6  # width of a byte address in the longest wrapping burst: 16 beats of 4 bytes


ID_BITS = 4  # bits of an ID by default


Burst = enum.IntEnum("Burst", "FIXED INCR WRAP RESERVED", start=0)  # AxBURST


class AXI4Signature(wiring.Signature):
    """AXI4 with 12-bit addresses and 32-bit data, seen from the slave; AXI's own names.

    It has none of the optional lock, cache, quality of service, region and user signals. An
    exclusive access is answered like a plain one, which tells the master that it was not exclusive.
    """

    def __init__(self, id_width: int) -> None:
        def address(prefix: str) -> dict[str, wiring.Member]:
            return {
                f"{prefix}id": In(id_width),
                f"{prefix}addr": In(WINDOW_BITS),
                f"{prefix}len": In(8),
                f"{prefix}size": In(3),
                f"{prefix}burst": In(2),
                f"{prefix}prot": In(3),
                f"{prefix}valid": In(1),
                f"{prefix}ready": Out(1),
            }

        ports = {
            **address("aw"),
            "wdata": In(32),
            "wstrb": In(4),
            **dict.fromkeys(("wlast", "wvalid"), In(1)),
            "wready": Out(1),
            "bid": Out(id_width),
            "bresp": Out(2),
            "bvalid": Out(1),
            "bready": In(1),
            **address("ar"),
            "rid": Out(id_width),
            "rdata": Out(32),
            "rresp": Out(2),
            **dict.fromkeys(("rlast", "rvalid"), Out(1)),
            "rready": In(1),
        }
        super().__init__(ports)


class AXI4(wiring.Component):
    """Turn AXI4 bursts into accesses of the register port, beat by beat.

    One write burst and one read burst are processed at a time, of any type and length. A burst is
    answered with its ID before the next one in its direction begins, so responses are always in
    order. A write's data may arrive before its address: the first beat is accepted, the others
    wait. WLAST ends a write burst; AWLEN only determines where it wraps.

    A register is written as a whole: a beat with a strobe that is 0, or of a narrow burst, writes
    nothing. A burst with such a beat, or with one that the registers refuse, is answered with
    SLVERR; its other beats take effect. A read burst returns SLVERR in each beat that the registers
    refuse. A narrow read returns the whole register, of which the master uses some lanes. Bursts
    that AXI4 does not allow (the reserved type, beats wider than the bus) are answered with SLVERR
    and access nothing; a burst that crosses the end of the 4 KiB continues at their start. The
    protection bits and the two low address bits of writes are ignored.

    With a master that is always ready, a write burst of n beats takes 2n + 2 cycles and a read
    burst 3n + 2, from its address to its last response, plus the cycles for which the registers
    make it wait. The next burst's address is accepted in the cycle after that.

    Parameters
    ----------
    id_width: bits of an ID, 1 to 32

    Members
    -------
    axi: the bus
    registers: connects to the registers
    """

    def __init__(self, id_width: int = ID_BITS) -> None:
        check_ranges(id_width=(id_width, range(1, 33)))
        super().__init__(
            {"axi": Out(AXI4Signature(id_width)), "registers": In(RegisterSignature())}
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        self._write(m)
        self._read(m)
        return m

    def _write(self, m: Module) -> None:
        axi, port = self.axi, self.registers
        idle = Signal(init=1)  # no burst has begun
        address = Signal(WINDOW_BITS)
        length = Signal(4)
        burst = Signal(2)
        refused = Signal()  # no beat of the burst can be written
        error = Signal()  # a beat was not written
        # A beat of data; the address of its burst may arrive later.
        full = Signal()
        strobes = Signal(4)
        last = Signal()

        due = Signal()  # address and data are present
        ends = Signal()  # the beat has been written, or cannot be
        whole = strobes.all() & ~refused
        m.d.comb += [
            axi.awready.eq(idle),
            axi.wready.eq(~full | ends),
            due.eq(~idle & full & ~axi.bvalid),
            ends.eq(due & (port.write_ready | ~whole)),
            port.write.eq(due & whole),
            port.write_address.eq(address[2:]),
        ]
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [
                idle.eq(0),
                axi.bid.eq(axi.awid),
                address.eq(axi.awaddr),
                length.eq(axi.awlen),
                burst.eq(axi.awburst),
                refused.eq((axi.awsize != WORD) | (axi.awburst == Burst.RESERVED)),
                error.eq(0),
            ]
        with m.If(axi.wready):
            m.d.sync += full.eq(axi.wvalid)
        with m.If(axi.wvalid & axi.wready):
            m.d.sync += [port.write_data.eq(axi.wdata), strobes.eq(axi.wstrb), last.eq(axi.wlast)]
        failed = error | ~whole | port.write_error
        with m.If(ends):
            m.d.sync += [
                address.eq(next_address(address, Const(WORD), burst, length)),
                error.eq(failed),
                axi.bvalid.eq(last),
                axi.bresp.eq(Mux(failed, SLVERR, OKAY)),
            ]
        with m.If(axi.bvalid & axi.bready):
            m.d.sync += [axi.bvalid.eq(0), idle.eq(1)]

    def _read(self, m: Module) -> None:
        axi, port = self.axi, self.registers
        idle = Signal(init=1)
        address = Signal(WINDOW_BITS)
        size = Signal(2)
        length = Signal(4)
        burst = Signal(2)
        refused = Signal()
        left = Signal(8)  # beats after the one that is read next
        all_read = Signal()

        due = Signal()  # a beat is to be read, and its register is free or becomes free
        ends = Signal()
        m.d.comb += [
            axi.arready.eq(idle),
            due.eq(~idle & ~all_read & (~axi.rvalid | axi.rready)),
            ends.eq(due & (port.read_ready | refused)),
            port.read.eq(due & ~refused),
            port.read_address.eq(address[2:]),
        ]
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [
                idle.eq(0),
                axi.rid.eq(axi.arid),
                address.eq(axi.araddr),
                size.eq(axi.arsize),
                length.eq(axi.arlen),
                burst.eq(axi.arburst),
                refused.eq((axi.arsize > WORD) | (axi.arburst == Burst.RESERVED)),
                left.eq(axi.arlen),
                all_read.eq(0),
            ]
        # The register is cleared, since the data may be a secret that is wiped later.
        with m.If(axi.rvalid & axi.rready):
            m.d.sync += [axi.rvalid.eq(0), axi.rdata.eq(0), idle.eq(axi.rlast)]
        with m.If(ends):
            m.d.sync += [
                address.eq(next_address(address, size, burst, length)),
                left.eq(left - 1),
                all_read.eq(left == 0),
                axi.rvalid.eq(1),
                axi.rdata.eq(Mux(refused, 0, port.read_data)),
                axi.rresp.eq(Mux(refused | port.read_error, SLVERR, OKAY)),
                axi.rlast.eq(left == 0),
            ]


def next_address(address: Value, size: Value, burst: Signal, length: Value) -> Value:
    """Byte address of the beat after the one at `address`: AMBA AXI, "Burst address".

    `size` is AxSIZE, at most that of a word; `length` is AxLEN, at most 15 for a wrapping burst. An
    address that is not aligned to the size stays unaligned: the word that contains it is the right
    one.
    """
    following = (address + (Const(1, WORD + 1) << size))[: len(address)]
    # The bits that change in a wrapping burst: those of an offset within the bytes of the burst.
    changing = (Cat(Const((1 << WORD) - 1, WORD), length) << size)[WORD : WORD + WRAP_BITS]
    low = following & changing | address & ~changing
    wrapped = Cat(low[:WRAP_BITS], address[WRAP_BITS:])
    return Mux(burst == Burst.FIXED, address, Mux(burst == Burst.WRAP, wrapped, following))
