"""The hints of a signature: its last bytes, in a memory of their own."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.cells.wires import same_named
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from .hint_decoder import OMEGAS, HintDecoder

DEPTH = 128
"""Bytes: places, then counts, at most 80 + 4 or 75 + 8."""
MOST_ROWS = max(one.k for one in ML_DSA_SETS)


class HintMemory(wiring.Component):
    """Remembers the first bytes after `begin`, and decodes them as high parts are packed.

    Members
    -------
    parameter_set (2 bits, in): the number of a set, stable
    bytes (in): the first DEPTH of them are remembered
    begin, row, step, rest, hint, resting, refuses : of HintDecoder
    row_number (3 bits, in): with `row`
    wipe (1 bit, in): clear the memory, in DEPTH cycles
    wiping (1 bit, out): this is under way, as it is after a reset
    """

    def __init__(self) -> None:
        inputs = ("begin", "row", "step", "rest", "wipe")
        super().__init__(
            {
                "parameter_set": In(2),
                **dict.fromkeys(inputs, In(1)),
                "bytes": In(stream.Signature(8, always_ready=True)),
                "row_number": In(range(MOST_ROWS)),
                **dict.fromkeys(("hint", "resting", "refuses", "wiping"), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """A byte is read in the cycle in which it is needed."""
        m = Module()
        m.submodules.decoder = decoder = HintDecoder()
        m.submodules.memory = memory = Memory(
            shape=8, depth=DEPTH, init=[], attrs={"ram_style": "distributed"}
        )
        read, write = memory.read_port(domain="comb"), memory.write_port()
        used, loaded = Signal(range(DEPTH)), Signal(range(DEPTH + 1))
        wiping = Signal(init=1)
        omega = look_up(OMEGAS, self.parameter_set, len(used))
        m.d.comb += [
            read.addr.eq(Mux(self.row, omega + self.row_number, used)),
            write.addr.eq(loaded),
            write.en.eq((self.bytes.valid & ~loaded[-1]) | wiping),
            write.data.eq(Mux(wiping, 0, self.bytes.payload)),
            decoder.parameter_set.eq(self.parameter_set),
            *same_named(decoder, self, "begin", "row", "step", "rest"),
            *same_named(self, decoder, "hint", "resting", "refuses"),
            decoder.count.eq(read.data),
            decoder.bytes.payload.eq(read.data),
            decoder.bytes.valid.eq(1),
            self.wiping.eq(wiping),
        ]
        with m.If(decoder.bytes.ready):
            m.d.sync += used.eq(used + 1)
        with m.If(self.begin):
            m.d.sync += used.eq(0)
        with m.If(write.en):
            m.d.sync += loaded.eq(loaded + 1)
        with m.If(wiping & loaded[:-1].all()):
            m.d.sync += wiping.eq(0)
        with m.If(self.begin | self.wipe):
            m.d.sync += loaded.eq(0)
        with m.If(self.wipe):
            m.d.sync += wiping.eq(1)
        return m
