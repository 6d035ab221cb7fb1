"""The bytes of a signature's hints, as coefficients pass.

Source: FIPS 204, algorithm 20.
"""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from .hint_decoder import COUNT_BITS, OMEGAS, PLACES

ROWS = tuple(parameter_set.k for parameter_set in ML_DSA_SETS)
MOST_ROWS = max(ROWS)


class HintEncoder(wiring.Component):
    """Gives the place of each coefficient that has a hint, then zeros, then the counts of the rows.

    256 cycles with `step` are a row; between two rows at least a cycle without. After `finish`
    omega less the number of hints cycles give zeros, one gives nothing, and k give counts, if the
    taker is ready.

    Members
    -------
    parameter_set (2 bits, in): the number of a set, stable
    begin (1 bit, in): a signature: no hints so far
    step (1 bit, in), hint (1 bit, in): the next coefficient, and whether it has a hint
    finish (1 bit, in): all rows have passed
    bytes (out): a stream of bytes; the taker is ready in every cycle with `step`
    too_many (1 bit, out): there were more than omega hints since `begin`: the further ones are not
        given
    busy (1 bit, out): zeros and counts are given, or the counts are being cleared
    wipe (1 bit, in): clear the counts, in 8 cycles
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "parameter_set": In(2),
                **dict.fromkeys(("begin", "step", "hint", "finish"), In(1)),
                "bytes": Out(stream.Signature(8)),
                **dict.fromkeys(("too_many", "busy"), Out(1)),
                "wipe": In(1),
            }
        )

    @staticmethod
    def cycles(hints: int, parameter_set: int) -> int:
        """Busy cycles after `finish`."""
        return OMEGAS[parameter_set] - hints + 1 + ROWS[parameter_set]

    def elaborate(self, platform: object) -> Module:
        """COLLECT while rows pass, then PAD and COUNTS; CLEAR after a reset and a wipe."""
        m = Module()
        attributes = {"ram_style": "distributed"}
        m.submodules.counts = counts = Memory(
            shape=COUNT_BITS, depth=MOST_ROWS, init=[], attrs=attributes
        )
        read, write = counts.read_port(domain="comb"), counts.write_port()
        given, place, row = Signal(COUNT_BITS), Signal(range(PLACES)), Signal(range(MOST_ROWS))
        row_ends = Signal()
        omega = look_up(OMEGAS, self.parameter_set, COUNT_BITS)
        last_row = look_up([rows - 1 for rows in ROWS], self.parameter_set, len(row))
        full, moves = Signal(), Signal()
        m.d.comb += [
            full.eq(given == omega),
            moves.eq(self.bytes.valid & self.bytes.ready),
            read.addr.eq(row),
            write.addr.eq(row),
        ]
        with m.If(self.begin):
            m.d.sync += [given.eq(0), place.eq(0), row.eq(0), self.too_many.eq(0)]
        with m.FSM(init="CLEAR"):
            with m.State("COLLECT"):
                m.d.comb += [
                    self.bytes.valid.eq(self.step & self.hint & ~full),
                    self.bytes.payload.eq(place),
                    write.en.eq(row_ends),
                    write.data.eq(given),
                ]
                m.d.sync += row_ends.eq(self.step & place.all())
                with m.If(self.step):
                    m.d.sync += place.eq(place + 1)
                with m.If(moves):
                    m.d.sync += given.eq(given + 1)
                with m.If(self.step & self.hint & full):
                    m.d.sync += self.too_many.eq(1)
                with m.If(row_ends):
                    m.d.sync += row.eq(row + 1)
                with m.If(self.finish):
                    m.d.sync += row.eq(0)
                    m.next = "PAD"
                with m.If(self.wipe):
                    m.d.sync += row.eq(0)
                    m.next = "CLEAR"
            with m.State("PAD"):
                m.d.comb += [self.busy.eq(1), self.bytes.valid.eq(~full)]
                with m.If(moves):
                    m.d.sync += given.eq(given + 1)
                with m.If(full):
                    m.next = "COUNTS"
                with m.If(self.wipe):
                    m.next = "CLEAR"
            with m.State("COUNTS"):
                m.d.comb += [
                    self.busy.eq(1),
                    self.bytes.valid.eq(1),
                    self.bytes.payload.eq(read.data),
                ]
                with m.If(moves):
                    m.d.sync += row.eq(row + 1)
                with m.If(moves & (row == last_row)):
                    m.d.sync += row.eq(0)
                    m.next = "COLLECT"
                with m.If(self.wipe):
                    m.d.sync += row.eq(0)
                    m.next = "CLEAR"
            with m.State("CLEAR"):
                m.d.comb += [self.busy.eq(1), write.en.eq(1)]
                m.d.sync += [row.eq(row + 1), row_ends.eq(0)]
                with m.If(row.all()):
                    m.next = "COLLECT"
        return m
