"""The hints of a signature: its last bytes, in a memory of their own."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.cells.wires import same_named
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from .hint_decoder import OMEGAS, HintDecoder
from .hint_encoder import HintEncoder

DEPTH = 128
"""Bytes: places, then counts, at most 80 + 4 or 75 + 8."""
MOST_ROWS = max(parameter_set.k for parameter_set in ML_DSA_SETS)


class HintMemory(wiring.Component):
    """Bytes of hints, which are decoded as high parts are packed, or encoded as hints are found.

    Parameters
    ----------
    verify_only (bool): no hints are encoded
    pairs (bool): as of HintDecoder

    Members
    -------
    parameter_set (2 bits, in): the number of a set, stable
    begin (1 bit, in): a signature: the first DEPTH bytes that follow are remembered
    bytes (in): a stream of bytes to decode
    step, hint : of HintDecoder; row (1 bit, in): it has the row's count two cycles later, and the
        first `step` is in the third one or later; row_number (3 bits, in): a cycle before `row`
    found (in): a stream of hints to encode; 256 of them are a row
    rest, finish (1 bit, in): the bytes after the last hint are checked, or given: 1 as long as
        `waits` (1 bit, out) is, and a cycle more
    refuses (1 bit, out): a rule was broken, or there were too many hints
    packs (1 bit, in): from a cycle before the first pack_address (8 bits, in); packed (8 bits,
        out): a byte, a cycle after its address
    wipe (1 bit, in): clear the memory, in DEPTH cycles
    wiping (1 bit, out): this is under way, as it is after a reset
    """

    def __init__(self, *, verify_only: bool = False, pairs: bool = False):
        self.verify_only, self.pairs = verify_only, pairs
        inputs = ("begin", "row", "step", "rest", "finish", "packs", "wipe")
        super().__init__(
            {
                "parameter_set": In(2),
                **dict.fromkeys(inputs, In(1)),
                "bytes": In(stream.Signature(8, always_ready=True)),
                "found": In(stream.Signature(1, always_ready=True)),
                "row_number": In(range(MOST_ROWS)),
                "pack_address": In(8),
                "packed": Out(8),
                "hint": Out(1 + pairs),
                **dict.fromkeys(("waits", "refuses", "wiping"), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The byte of the next place waits in a register, and is read after the first ROW."""
        m = Module()
        m.submodules.decoder = decoder = HintDecoder(pairs=self.pairs)
        m.submodules.memory = memory = Memory(
            shape=8, depth=DEPTH, init=[], attrs={"ram_style": "distributed"}
        )
        read, write = memory.read_port(domain="comb"), memory.write_port()
        ahead, loaded = Signal(range(DEPTH)), Signal(range(DEPTH + 1))
        byte, is_there, row, moves = Signal(8), Signal(), Signal(), Signal()
        # What a decoder of instructions gives late in a cycle, or is known a cycle before.
        packs, count_address = Signal(), Signal.like(ahead)
        wiping = Signal(init=1)
        omega = look_up(OMEGAS, self.parameter_set, len(ahead))
        m.d.sync += [packs.eq(self.packs), count_address.eq(omega + self.row_number)]
        m.d.comb += [
            read.addr.eq(Mux(self.row, count_address, Mux(packs, self.pack_address, ahead))),
            write.addr.eq(loaded),
            write.en.eq((self.bytes.valid & ~loaded[-1]) | wiping),
            write.data.eq(Mux(wiping, 0, self.bytes.payload)),
            *same_named(decoder, self, "parameter_set", "begin", "step", "rest"),
            decoder.row.eq(row),
            decoder.count.eq(self.packed),
            decoder.bytes.payload.eq(byte),
            decoder.bytes.valid.eq(1),
            self.hint.eq(decoder.hint),
            self.waits.eq(self.rest & decoder.resting),
            self.refuses.eq(decoder.refuses),
            self.wiping.eq(wiping),
        ]
        m.d.comb += moves.eq(decoder.bytes.ready | (row & ~is_there))
        m.d.sync += [self.packed.eq(read.data), row.eq(self.row)]
        with m.If(moves):
            m.d.sync += [byte.eq(read.data), is_there.eq(1), ahead.eq(ahead + 1)]
        if self.pairs:
            after = memory.read_port(domain="comb")
            m.d.comb += [after.addr.eq(ahead + 1), decoder.following.eq(read.data)]
            with m.If(decoder.takes_both):
                m.d.sync += [byte.eq(after.data), ahead.eq(ahead + 2)]
        with m.If(self.begin):
            m.d.sync += [is_there.eq(0), ahead.eq(0)]
        with m.If(write.en):
            m.d.sync += loaded.eq(loaded + 1)
        with m.If(wiping & loaded[:-1].all()):
            m.d.sync += wiping.eq(0)
        with m.If(self.begin | self.wipe):
            m.d.sync += loaded.eq(0)
        with m.If(self.wipe):
            m.d.sync += [wiping.eq(1), byte.eq(0)]
        if not self.verify_only:
            m.submodules.encoder = encoder = HintEncoder()
            finishes = Signal()
            m.d.sync += finishes.eq(self.finish)
            m.d.comb += [
                *same_named(encoder, self, "parameter_set", "begin", "wipe"),
                encoder.step.eq(self.found.valid),
                encoder.hint.eq(self.found.payload),
                encoder.finish.eq(self.finish & ~finishes),
                encoder.bytes.ready.eq(1),
                self.refuses.eq(decoder.refuses | encoder.too_many),
                self.waits.eq(
                    (self.rest & decoder.resting) | (self.finish & (~finishes | encoder.busy))
                ),
            ]
            with m.If(encoder.bytes.valid):
                m.d.comb += [
                    write.en.eq(1),
                    write.data.eq(encoder.bytes.payload),
                ]
        return m
