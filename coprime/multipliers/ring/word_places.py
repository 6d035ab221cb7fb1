"""Which word of the result, and of q, a column of `ring` has given."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["WordPlaces"]


class WordPlaces(wiring.Component):
    """Counts the columns as they end; a column's word is there a cycle later.

    Members
    -------
    clear : the next column is the first one of a product, or of a round
    in_columns : the new columns are those of a round, whose words are a result
    ends_old, ends_new, last_old : as in `SumSignature`
    quotient_ends, quotient_turns : `ends_new` and `turns` of the cycle before
    next_result : place of the result's next word; all ones before a round's first column, which
        gives none
    result, quotient : places of the word that is there
    """

    def __init__(self, place_bits: int):
        flags = ("clear", "in_columns", "ends_old", "ends_new", "last_old")
        super().__init__(
            {
                **dict.fromkeys((*flags, "quotient_ends", "quotient_turns"), In(1)),
                **dict.fromkeys(("next_result", "result", "quotient"), Out(place_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Two counters."""
        m = Module()
        counts = self.ends_old | self.in_columns & self.ends_new
        restarts = self.ends_old & self.last_old
        with m.If(self.clear):
            m.d.sync += [self.next_result.eq(-1), self.quotient.eq(0)]
        with m.Elif(counts):
            m.d.sync += self.next_result.eq(Mux(restarts, 0, self.next_result + 1))
        with m.If(self.quotient_ends):
            m.d.sync += self.quotient.eq(Mux(self.quotient_turns, 0, self.quotient + 1))
        m.d.sync += self.result.eq(self.next_result)
        return m
