"""Memory requests of `ring`, and the words that it reads for the rings of X and Y."""

from collections.abc import Callable

from amaranth.hdl import Module, Mux, Signal, Value, ValueLike, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..contract import Role
from ..delays import past_value
from ..multiplication import READ_LATENCY
from .phases import LAST, PhaseSignature
from .products import AskedSignature, RequestSignature, UnderWaySignature
from .rings import WriteSignature
from .slot_signatures import RingSlotSignature

LOADING = READ_LATENCY + 1
"""Cycles from a word's request to its write to a ring."""


class WordRequests(wiring.Component):
    """Requests a factor's words, the first one at `first`, each further one at `others`.

    Parameters
    ----------
    place_bits : bits of a place

    Members
    -------
    first, others : the first word is needed from the next cycle on, or the next word
    restarts : places start again, although no first word is needed
    may : the port is free
    wants, asks, place : one or two words are needed; one is requested, and its place
    """

    def __init__(self, place_bits: int):
        flags = dict.fromkeys(("first", "others", "restarts", "may"), In(1))
        super().__init__({**flags, "wants": Out(1), "asks": Out(1), "place": Out(place_bits)})

    def elaborate(self, platform: object) -> Module:
        """Build the counters of needed words and of places."""
        m = Module()
        wanted = Signal(range(3))
        m.d.comb += [self.wants.eq(wanted != 0), self.asks.eq(self.wants & self.may)]
        # The first word may be needed as late as one cycle before the second one.
        m.d.sync += wanted.eq(wanted + (self.first | self.others) - self.asks)
        with m.If(self.first | self.restarts):
            m.d.sync += self.place.eq(0)
        with m.Elif(self.asks):
            m.d.sync += self.place.eq(self.place + 1)
        return m


class Loads(wiring.Component):
    """Reads X, M and c through port A, in their phases, and Y through port B, a word per step.

    X of a product that follows another one is read a word per step, too, unless it is the result of
    that product. A word is written to its ring `LOADING` cycles after its request. Words that are
    not in the memory are replaced by zeros and ones.

    Parameters
    ----------
    place_bits, count_bits, width : bits of a place, of a count of words, of a word
    beside_sums (bool): words are read even if they are not used, so that the cycles in which the
        ports are free do not depend on the operands
    earlier (bool): `asks_earlier` of `RingMultiplication`

    Members
    -------
    request, asked, under_way : of `Products`, in
    phase : of `Phases`, in
    slot : RingSlotSignature, in
    x_taken : as in `Results`: the ring of X will be written
    port_b_taken : port B writes, or is used by another component; nothing can be read
    wants_ports : a word is needed
    a_taken, a_role, a_index, a_of_next, a_data, b_index, b_of_next, b_data : as in
        `OverlappingMultiplierSignature`
    x, y : WriteSignature, out: for X's ring, and for Y's
    """

    def __init__(
        self,
        place_bits: int,
        count_bits: int,
        width: int,
        *,
        beside_sums: bool = False,
        earlier: bool = False,
    ):
        self.beside_sums, self.earlier = beside_sums, earlier
        write = Out(WriteSignature(width, place_bits))
        ports = {
            "request": In(RequestSignature(count_bits)),
            "asked": In(AskedSignature(place_bits)),
            "under_way": In(UnderWaySignature(place_bits)),
            "phase": In(PhaseSignature(place_bits)),
            "slot": In(RingSlotSignature()),
            **dict.fromkeys(("x_taken", "port_b_taken", "a_taken"), In(1)),
            "a_role": Out(Role),
            **dict.fromkeys(("a_index", "b_index"), Out(count_bits)),
            **dict.fromkeys(("a_of_next", "b_of_next", "wants_ports"), Out(1)),
            **dict.fromkeys(("a_data", "b_data"), In(width)),
            "x": write,
            "y": write,
        }
        self.words_of_x, self.words_of_y = WordRequests(place_bits), WordRequests(place_bits)
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Make the requests, and register the words."""
        m = Module()
        phase, under_way, asked = self.phase, self.under_way, self.asked

        def came(name: str, value: ValueLike) -> Signal:
            """The value at the request of the word that arrives now."""
            return past_value(m, name, value, READ_LATENCY, reset=True)

        # --- Port A: X, M or c ------------------------------------------------------------------
        next_of_x, next_of_y = self._wants_next(), self._wants_next()
        if self.earlier:  # two words, where no step D + 1 of another product comes before
            next_of_y |= past_value(m, "began", asked.begins, 1, reset=True)
        streamed = self._ask_for_x(m, next_of_x)
        place = Signal.like(phase.k, name="place_a")
        m.d.comb += [
            place.eq(Mux(streamed.asks, streamed.place, phase.k)),
            self.a_role.eq(Role.MULTIPLICAND),
            self.a_index.eq(place),
            self.a_of_next.eq(self.asked.is_next),
        ]
        with m.If(phase.load_m):
            m.d.comb += self.a_role.eq(Role.MODULUS)
        with m.If(phase.load_c):
            m.d.comb += self.a_role.eq(Role.INVERSE)
        one_is_x = phase.load_x & under_way.preparing
        takes_x = phase.load_x | streamed.asks & self.asked.takes_x
        came_x, came_m = came("asks_x", takes_x), came("asks_m", phase.asks_m)
        came_square = came("asks_square", phase.load_x & under_way.y_is_x)
        came_c, came_below = came("asks_c", phase.load_c), came("below", phase.below)
        asked_place = came("asked_place", place)
        beyond = came("beyond", (place >= under_way.inner) | phase.below | one_is_x)
        is_0 = came("is_0", one_is_x & (phase.k == 0))
        generated = beyond & ~came_c | phase.puts_one | phase.wipes
        word_a = Mux(generated, is_0 | phase.puts_one, self.a_data)
        place_a = Mux(phase.wipes, phase.k, asked_place)

        # --- Port B: Y --------------------------------------------------------------------------
        came_y, place_y, word_b = self._read_y(m, came, next_of_y)
        m.d.comb += self.wants_ports.eq(streamed.wants | self.words_of_y.wants)

        # --- A word that is read is valid late in its cycle, and is written in the next one ------
        shifted = place_a + Mux(came_x, under_way.shift, 0)
        other_place = Mux(came_c, LAST, Mux(phase.puts_one, under_way.count, shifted))
        others = came_m | came_square | came_c | phase.puts_one | phase.wipes
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

    def _ask_for_x(self, m: Module, next_one: Value) -> WordRequests:
        """Request the words of an X that is read a word per step."""
        asked = self.asked
        m.submodules.words_of_x = words = self.words_of_x
        m.d.comb += [
            words.first.eq(asked.joins & (asked.x_streams | self.beside_sums)),
            words.others.eq(next_one & (asked.takes_x | self.beside_sums)),
            # For an X that was loaded, words are requested that are not used.
            words.restarts.eq(asked.begins & self.beside_sums),
            words.may.eq(~self.a_taken & ~self.x_taken),
        ]
        return words

    def _wants_next(self) -> Value:
        """A step begins in which the next words are needed: 0 to D - 2 of the new product.

        If they are requested earlier: steps 0 to D - 3, those in which the old product has a
        column, and step D + 1 before it.
        """
        slot, under_way = self.slot, self.under_way
        if not self.earlier:
            return slot.begins & ~slot.closing & ~slot.is_last & under_way.new_exists
        of_new = slot.of_old & ~slot.closing & under_way.new_exists
        return slot.begins & (of_new | slot.closing & ~slot.is_turn & self.asked.is_next)

    def _read_y(
        self, m: Module, came: Callable[[str, ValueLike], Signal], next_one: Value
    ) -> tuple[Value, Value, Value]:
        """Request the next word of Y; return whether one arrives, its place, and the word."""
        request, under_way, asked = self.request, self.under_way, self.asked
        m.submodules.words_of_y = words = self.words_of_y
        place = words.place
        m.d.comb += [
            words.first.eq((asked.begins | asked.joins) & (asked.y_streams | self.beside_sums)),
            words.others.eq(next_one & (asked.takes_y | self.beside_sums)),
            words.may.eq(~self.port_b_taken),
            self.b_of_next.eq(asked.is_next),
        ]
        index = Signal(signed(len(place) + 1))  # below 0, Y has zeros
        m.d.comb += self.b_index.eq(index)
        with m.If(words.first):
            m.d.sync += index.eq(-asked.shift)
        with m.Elif(words.asks):
            m.d.sync += index.eq(index + 1)
        is_one = Mux(asked.is_next, request.multiplier_is_one, under_way.is_one)
        came_y, came_place = (
            came("asks_y", words.asks & asked.takes_y),
            came("asked_place_y", place),
        )
        generated = came("y_is_zero", (index < 0) | is_one)
        one = came("y_is_one", is_one & (index == 0))
        return came_y, came_place, Mux(generated, one, self.b_data)
