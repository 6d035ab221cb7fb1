"""What `ring` asks of the memory, and the words that come for the rings of X and Y."""

from collections.abc import Callable

from amaranth.hdl import Module, Mux, Signal, Value, ValueLike, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..contract import READ_LATENCY, Role
from ..delays import history
from .phases import LAST, PhaseSignature
from .products import AskedSignature, RequestSignature, UnderWaySignature
from .rings import WriteSignature
from .slot_signatures import RingSlotSignature


class Loads(wiring.Component):
    """Reads X, M and c through port A, in their phases, and Y through port B, a word a step.

    A word goes to its ring `READ_LATENCY` + 1 cycles after it is asked for. In place of words that
    the memory does not have, zeros and ones go there.

    Parameters
    ----------
    place_bits, count_bits, width : bits of a place, of a count of words, of a word

    Members
    -------
    request, asked, under_way : of `Products`, in
    phase, begins : of `Phases`, in
    slot : RingSlotSignature, in
    port_b_taken : port B writes; nothing can be read
    a_role, a_index, a_data, b_index, b_of_next, b_data : as in `OverlappingMultiplierSignature`
    x, y : WriteSignature, out: for X's ring, and for Y's
    """

    def __init__(self, place_bits: int, count_bits: int, width: int):
        write = Out(WriteSignature(width, place_bits))
        ports = {
            "request": In(RequestSignature(count_bits)),
            "asked": In(AskedSignature(place_bits)),
            "under_way": In(UnderWaySignature(place_bits)),
            "phase": In(PhaseSignature(place_bits)),
            "slot": In(RingSlotSignature()),
            **dict.fromkeys(("begins", "port_b_taken"), In(1)),
            "a_role": Out(Role),
            **dict.fromkeys(("a_index", "b_index"), Out(count_bits)),
            "b_of_next": Out(1),
            **dict.fromkeys(("a_data", "b_data"), In(width)),
            "x": write,
            "y": write,
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Ask, and register what comes."""
        m = Module()
        phase, own = self.phase, self.under_way

        def came(name: str, value: ValueLike) -> Signal:
            """What was true as the word was asked for that comes now."""
            return history(m, name, value, READ_LATENCY, reset=True)[-1]

        # --- Port A: X, M or c ------------------------------------------------------------------
        m.d.comb += [self.a_role.eq(Role.MULTIPLICAND), self.a_index.eq(phase.k)]
        with m.If(phase.load_m):
            m.d.comb += self.a_role.eq(Role.MODULUS)
        with m.If(phase.load_c):
            m.d.comb += self.a_role.eq(Role.INVERSE)
        one_is_x = phase.load_x & own.preparing
        came_x, came_m = came("asks_x", phase.load_x), came("asks_m", phase.asks_m)
        came_c, came_below = came("asks_c", phase.load_c), came("below", phase.below)
        asked_place = came("asked_place", phase.k)
        beyond = came("beyond", (phase.k >= own.inner) | phase.below | one_is_x)
        is_0 = came("is_0", one_is_x & (phase.k == 0))
        generated = beyond & ~came_c | phase.puts_one | phase.wipes
        word_a = Mux(generated, is_0 | phase.puts_one, self.a_data)
        place_a = Signal.like(phase.k)
        m.d.comb += place_a.eq(Mux(phase.wipes, phase.k, asked_place))

        # --- Port B: Y --------------------------------------------------------------------------
        came_y, place_y, word_b = self._read_y(m, came)

        # --- What is read comes late in its cycle, and is written in the next one ---------------
        shifted = place_a + Mux(came_x, own.shift, 0)
        other_place = Mux(came_c, LAST, Mux(phase.puts_one, own.count, shifted))
        others = came_m | came_x & own.squaring | came_c | phase.puts_one | phase.wipes
        loaded_a, loaded_b = (
            Signal(len(self.x.word), name=f"loaded_{k}", reset_less=True) for k in "ab"
        )
        of_b = Signal(reset_less=True)
        m.d.sync += [
            loaded_a.eq(word_a),
            loaded_b.eq(word_b),
            of_b.eq(came_y),
            self.x.enable.eq(came_x & ~came_below | phase.wipes),
            self.x.place.eq(place_a),
            self.y.enable.eq(came_y | others),
            self.y.place.eq(Mux(came_y, place_y, other_place)),
        ]
        m.d.comb += [self.x.word.eq(loaded_a), self.y.word.eq(Mux(of_b, loaded_b, loaded_a))]
        return m

    def _read_y(
        self, m: Module, came: Callable[[str, ValueLike], Signal]
    ) -> tuple[Value, Value, Value]:
        """Ask for the next word of Y; whether one comes, for which place, and the word."""
        request, own, slot = self.request, self.under_way, self.slot
        wants, asks = Signal(), Signal()
        place = Signal.like(self.y.place)
        index = Signal(signed(len(place) + 1))  # below 0, Y has zeros
        m.d.comb += [
            asks.eq(wants & ~self.port_b_taken),
            self.b_index.eq(index),
            self.b_of_next.eq(place == 0),
        ]
        first_word = self.begins | self.asked.joins
        others = slot.begins & ~slot.closing & ~slot.is_last & own.new_exists & ~own.squaring
        with m.If(first_word & ~request.squares):
            m.d.sync += [wants.eq(1), place.eq(0), index.eq(-self.asked.shift)]
        with m.Elif(others):
            m.d.sync += wants.eq(1)
        with m.Elif(asks):
            m.d.sync += [wants.eq(0), place.eq(place + 1), index.eq(index + 1)]
        is_one = Mux(place == 0, request.multiplier_is_one, own.is_one)
        came_y, came_place = came("asks_y", asks), came("asked_place_y", place)
        generated = came("y_is_zero", (index < 0) | is_one)
        one = came("y_is_one", is_one & (index == 0))
        return came_y, came_place, Mux(generated, one, self.b_data)
