"""The order of the slots of a step modulo 8380417 on several lanes."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.large_arithmetic import LAYERS, N

from .large_addresses import LargeAddresses
from .large_steps import (
    BY_NUMBER,
    FOLLOWS,
    PAIR_PREFETCH,
    SLOTS_OF,
    LargeKind,
    crosses_lanes,
    drain_of,
    large_step_layout,
)
from .number_packer import HINT_BITS, ML_DSA_WIDTHS
from .number_pairs import PAIR_BITS_A_CYCLE

_IN_ORDER = frozenset(LargeKind) - {LargeKind.TRANSFORM, LargeKind.INVERSE, LargeKind.LAST}


class ParallelLargeSlots(wiring.Component):
    """Counts a step's slots, as LargeSlots does. Word w of a polynomial is in lane w modulo their
    number, and a row is a word of each lane: a slot is of a row, or of a number or two of it.

    Two numbers are unpacked or packed at once, except places of hints, whenever `debts` of
    `large_steps` allows.

    Parameters
    ----------
    regions (int): polynomials in the memory
    lanes (int): 4 or 8

    Members
    -------
    step, next_kind, start, busy, done, valid, phase, is_upper, block_ends : of LargeSlots
    first_layer (1 bit, out): one of the slots of the first layer
    row (6 or 5 bits, out): the slot's
    by_number (1 bit, out), pairs (1 bit, out): the step is of one number after the other; of two
    place (out): the lane of the slot's number, or of the first one of two
    crosses (1 bit, out): the slot's butterflies are of words of one row; the slot is of another row
        than the one before, or after
    distance (out): the logarithm of the number of lanes from one of these words to the other one
    follows (1 bit, out): FOLLOWS cycles after the last slot of MULTIPLY: the next one, that adds to
        the same polynomial, may start from now on, before `done`
    """

    def __init__(self, regions: int, lanes: int):
        self.lanes, self.lane_bits = lanes, lanes.bit_length() - 1
        self.row_bits = LAYERS - self.lane_bits
        outputs = ("busy", "done", "valid", "is_upper", "first_layer", "block_ends", "by_number")
        super().__init__(
            {
                "step": In(large_step_layout(regions)),
                "next_kind": In(LargeKind),
                "start": In(1),
                **dict.fromkeys((*outputs, "pairs", "crosses", "follows"), Out(1)),
                "phase": Out(2),
                "row": Out(self.row_bits),
                "place": Out(self.lane_bits),
                "distance": Out(range(self.lane_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """FETCH of UNPACK, SLOTS, then DRAIN."""
        m = Module()
        kind = self.step.kind
        multiplies, product_drain = (
            kind == LargeKind.MULTIPLY,
            drain_of(LargeKind.MULTIPLY, self.lanes),
        )
        drains = [drain_of(step_kind, self.lanes) for step_kind in LargeKind]
        number, pause = Signal(range(2 * N)), Signal(range(max(drains)))
        drain = look_up([cycles - 1 for cycles in drains], kind, len(pause))
        final, waits = self._number(m, number)
        with m.FSM():
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [number.eq(0), pause.eq(PAIR_PREFETCH - 1)]
                m.next = "SLOTS"
                with m.If(self.next_kind == LargeKind.UNPACK):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.d.comb += self.busy.eq(1)
                m.d.sync += pause.eq(pause - 1)
                with m.If(pause == 0):
                    m.next = "SLOTS"
            with m.State("SLOTS"):
                m.d.comb += [self.busy.eq(1), self.valid.eq(~waits)]
                m.d.sync += pause.eq(drain)
                with m.If(self.valid):
                    m.d.sync += number.eq(number + 1)
                    with m.If(number == final):
                        m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.comb += [
                    self.busy.eq(1),
                    self.done.eq(pause == 0),
                    self.follows.eq(multiplies & (pause == product_drain - FOLLOWS)),
                ]
                m.d.sync += pause.eq(pause - 1)
                with m.If(self.done):
                    m.next = "IDLE"
                with m.If(multiplies & self.start):
                    m.d.sync += number.eq(0)
                    m.next = "SLOTS"
        return m

    def _number(self, m: Module, number: Signal) -> tuple[Value, Value]:
        """What a slot is by its number; the last one, and whether a slot waits."""
        kind, below = self.step.kind, self.lane_bits
        bytewise = (kind == LargeKind.UNPACK) | (kind == LargeKind.PACK)
        inverse, last = kind == LargeKind.INVERSE, kind == LargeKind.LAST
        m.submodules.addresses = addresses = LargeAddresses(self.row_bits)
        place = Mux(bytewise, Mux(self.pairs, number << 1, number), number[1:])
        row = Mux(self.by_number, place[below:LAYERS], number[1:])
        butterflies = inverse | last | (kind == LargeKind.TRANSFORM)
        layer_ends = self.valid & number[: self.row_bits].all() & ~last
        is_hint = self.step.width == ML_DSA_WIDTHS.index(HINT_BITS)
        m.d.comb += [
            self.by_number.eq(look_up([each in BY_NUMBER for each in LargeKind], kind, 1)),
            self.pairs.eq(bytewise & ~is_hint),
            self.is_upper.eq(number[0]),
            self.first_layer.eq(number[self.row_bits :] == 0),
            self.phase.eq(Mux(bytewise, 0, Mux(last, number[:2], number[0]))),
            addresses.ascends.eq(Mux(self.start, self.next_kind == LargeKind.INVERSE, inverse)),
            addresses.begin.eq(self.start),
            addresses.butterfly.eq(Mux(last, number[2:], number[1:])),
            # Where words cross, rows are one apart.
            addresses.next_layer.eq(layer_ends & ~(inverse & self.crosses)),
            self.block_ends.eq(addresses.block_ends),
            self.place.eq(place),
            self.row.eq(
                Mux(butterflies, Mux(self.is_upper, addresses.upper, addresses.lower), row)
            ),
        ]
        self._cross(m, number, inverse)
        counts = [
            SLOTS_OF[each] // (1 if each in BY_NUMBER else self.lanes) - 1 for each in LargeKind
        ]
        of_kind = look_up(counts, kind, len(number))
        return Mux(bytewise, Mux(self.pairs, N // 2 - 1, N - 1), of_kind), self._wait(m)

    def _cross(self, m: Module, number: Value, inverse: Value) -> None:
        """Whether the layer's words cross, and how far."""
        layer = number[self.row_bits :][: (LAYERS - 1).bit_length()]
        layers = inverse | (self.step.kind == LargeKind.TRANSFORM)
        rows = [
            crosses_lanes(kind, layer_number, self.lanes)
            for kind in (LargeKind.TRANSFORM, LargeKind.INVERSE)
            for layer_number in range(LAYERS)
        ]
        m.d.comb += [
            self.crosses.eq(layers & look_up(rows, Cat(layer, inverse), 1)),
            self.distance.eq(Mux(inverse, layer, ~layer)),
        ]

    def _wait(self, m: Module) -> Value:
        """Whether a pair of numbers waits for the byte memory."""
        debt = Signal(range(2 * max(ML_DSA_WIDTHS)))
        pair_bits = look_up([2 * width for width in ML_DSA_WIDTHS], self.step.width, len(debt))
        waits = self.pairs & (debt >= PAIR_BITS_A_CYCLE)
        total = Signal(range(2 * max(ML_DSA_WIDTHS) + PAIR_BITS_A_CYCLE))
        m.d.comb += total.eq(debt + Mux(self.valid & self.pairs, pair_bits, 0))
        m.d.sync += debt.eq(Mux(total >= PAIR_BITS_A_CYCLE, total - PAIR_BITS_A_CYCLE, 0))
        return waits
