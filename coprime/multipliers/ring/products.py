"""The products of `ring`: the requested one, the new one, and the old one."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..delays import history
from .multiplication import RingMultiplication
from .slot_signatures import RingSlotSignature


class RequestSignature(wiring.Signature):
    """Requests of the engine; members as in `OverlappingMultiplierSignature`, seen from it."""

    def __init__(self, count_bits: int):
        flags = (
            *("start", "prepare", "descale", "squares", "multiplier_is_one"),
            *("follows", "x_is_result", "y_is_result"),
        )
        counts = ("inner_digits", "rounds", "longest_digits")
        super().__init__({**dict.fromkeys(flags, Out(1)), **dict.fromkeys(counts, Out(count_bits))})


class AskedSignature(wiring.Signature):
    """The requested product or preparation, until it is taken.

    Members
    -------
    waits : there is one, from the cycle after `start` on
    ready : the same, `ASKING` cycles after `start`: its D and shift are known
    prepares : it is a preparation
    shift : places by which Y is shifted up
    begins, joins : in this cycle it begins, while nothing is in progress, or is found to follow the
        new product, in step D
    is_next : its words are being read, and it is not taken yet
    x_streams, y_streams : with `joins`, its X is read a word per step; with `joins`, or when it
        begins, its Y is
    takes_x, takes_y : the same of the product whose words are read
    """

    def __init__(self, place_bits: int):
        flags = ("waits", "ready", "prepares", "begins", "joins", "is_next")
        streams = ("x_streams", "y_streams", "takes_x", "takes_y")
        ports = {**dict.fromkeys((*flags, *streams), Out(1)), "shift": Out(place_bits)}
        super().__init__(ports)


class UnderWaySignature(wiring.Signature):
    """The products in progress.

    Members
    -------
    count, inner, preparing : D, words of the result; a preparation is in progress
    shift, is_one, descales : of the new product: places by which Y is shifted up; Y is 1; it ends
        modulo M
    x_streams : of the same: X is read a word per step, and is not the result before it
    y_is_x : words that LOAD_X reads for X's ring are written to Y's, too
    y_is_result : words of the result are written to Y's ring
    old_descales : of the old one
    new_exists, old_exists : there is one
    """

    def __init__(self, place_bits: int):
        flags = (
            *("preparing", "is_one", "descales", "old_descales"),
            *("x_streams", "y_is_x", "y_is_result"),
        )
        ports = {
            **dict.fromkeys(("count", "inner", "shift"), Out(place_bits)),
            **dict.fromkeys((*flags, "new_exists", "old_exists"), Out(1)),
        }
        super().__init__(ports)


class Products(wiring.Component):
    """Holds the requested product, and the properties of those in progress.

    A product that follows another one without a break has the same D and number of result words.

    Parameters
    ----------
    place_bits, count_bits : bits of a place in a ring, of a count of words

    Members
    -------
    request : RequestSignature, in
    wipe : the request is dropped
    slot : RingSlotSignature, in
    begins : the requested product begins, while nothing is in progress
    loaded : all words of its X have been requested, so that it is taken
    leaves : the new product's rounds modulo M are next
    asked : AskedSignature, out
    takes : the requested product becomes the new one
    under_way : UnderWaySignature, out
    """

    def __init__(self, place_bits: int, count_bits: int, multiplication: RingMultiplication):
        self.multiplication = multiplication
        ports = {
            "request": In(RequestSignature(count_bits)),
            "slot": In(RingSlotSignature()),
            **dict.fromkeys(("wipe", "begins", "loaded", "leaves"), In(1)),
            "asked": Out(AskedSignature(place_bits)),
            "takes": Out(1),
            "under_way": Out(UnderWaySignature(place_bits)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """The registers, and when they change."""
        m = Module()
        request, slot, asked, under_way = self.request, self.slot, self.asked, self.under_way
        count = self._ask(m)
        joined = Signal()  # the requested product follows the new one
        follows = Signal()
        y_is_result = Mux(request.squares, request.x_is_result, request.y_is_result)
        m.d.comb += [
            asked.begins.eq(self.begins),
            asked.joins.eq(
                slot.is_turn
                & asked.ready
                & request.follows
                & under_way.new_exists
                & ~under_way.descales
                & ~joined
            ),
            follows.eq(joined | asked.joins),
            asked.x_streams.eq(asked.joins & ~request.x_is_result),
            asked.y_streams.eq(~Mux(self.begins, request.squares, y_is_result)),
            self.takes.eq(self.loaded | slot.closes & follows),
        ]
        with m.If(self.begins | asked.joins):
            m.d.sync += [asked.takes_x.eq(asked.x_streams), asked.takes_y.eq(asked.y_streams)]
        with m.If(self.begins):
            m.d.sync += [
                under_way.count.eq(count),
                under_way.inner.eq(request.inner_digits),
                under_way.preparing.eq(asked.prepares),
                under_way.old_exists.eq(0),
                under_way.new_exists.eq(~asked.prepares),
            ]
        with m.If(slot.turns):
            m.d.sync += [
                under_way.old_exists.eq(under_way.new_exists),
                under_way.old_descales.eq(under_way.descales),
            ]
        with m.If(self.begins | slot.closes):
            m.d.sync += joined.eq(0)
        with m.Elif(asked.joins):
            m.d.sync += joined.eq(1)
        with m.If(self.takes):
            m.d.sync += asked.is_next.eq(0)
        with m.Elif(self.begins | asked.joins):
            m.d.sync += asked.is_next.eq(1)
        with m.If(slot.closes):
            m.d.sync += under_way.new_exists.eq(follows)
        # The result's first column ends with step D, which is not always the last one. Even if
        # nothing follows, its words are written to X's ring: a round modulo M has S there.
        with m.If(slot.is_turn & slot.ends_old):
            m.d.sync += [
                under_way.x_streams.eq(follows & ~request.x_is_result),
                under_way.y_is_result.eq(follows & y_is_result),
            ]
        with m.If(self.begins):
            m.d.sync += [under_way.x_streams.eq(0), under_way.y_is_result.eq(0)]
            m.d.sync += under_way.y_is_x.eq(request.squares)
        with m.If(self.begins | slot.closes & follows):
            m.d.sync += [
                under_way.descales.eq(request.descale & ~asked.prepares),
                under_way.is_one.eq(request.multiplier_is_one),
                under_way.shift.eq(Mux(asked.prepares, 0, asked.shift)),
            ]
        with m.If(self.leaves):  # M and c stay in Y's ring
            m.d.sync += under_way.y_is_result.eq(0)
        return m

    def _ask(self, m: Module) -> Signal:
        """Hold the request; its D is the greatest of the counts."""
        request, asked = self.request, self.asked
        least, ahead = self.multiplication.least, self.multiplication.ahead
        with m.If(request.start | request.prepare):
            m.d.sync += [asked.waits.eq(1), asked.prepares.eq(request.prepare)]
        with m.Elif(self.takes | self.wipe):
            m.d.sync += asked.waits.eq(0)
        greater = Signal.like(request.inner_digits)
        longest, count = (Signal.like(asked.shift, name=name) for name in ("longest", "count"))
        # The counts are valid late in their cycle, and are compared with `least` in the next one.
        m.d.sync += greater.eq(
            Mux(
                asked.prepares,
                request.longest_digits,
                Mux(request.rounds > request.inner_digits, request.rounds, request.inner_digits),
            )
        )
        waited = history(m, "waited", asked.waits, self.multiplication.ASKING - 1, reset=True)
        m.d.comb += [
            longest.eq(Mux(greater < least, least, greater)),
            asked.ready.eq(Cat(waited).all()),
        ]
        m.d.sync += [
            count.eq(longest),
            asked.shift.eq(longest - request.rounds + Mux(request.descale, ahead, 0)),
        ]
        return count
