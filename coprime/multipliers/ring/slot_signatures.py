"""The output of the schedules of `ring` in a cycle: its products, and the columns that they end."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out


class ProductSignature(wiring.Signature):
    """The product of a slot on a tile: the words that enter it in the next cycle.

    Members
    -------
    i, j : places
    of_q : of q and M', if one tile has both these and X and Y
    pair : (x_i - x_j) * (y_i - y_j), subtracted: the tile adds (x_j - x_i) * (y_i - y_j)
    diagonal : x_i * y_j with i = j, added
    crossed : x_i * y_j, added; if none of the three is 1, there is no product
    first : the sum begins with it
    of_old : it belongs to the old product
    """

    def __init__(self, place_bits: int):
        flags = ("of_q", "pair", "diagonal", "crossed", "first", "of_old")
        super().__init__(
            {"i": Out(place_bits), "j": Out(place_bits), **dict.fromkeys(flags, Out(1))}
        )


class RingSlotSignature(wiring.Signature):
    """The slot of a cycle and its step, seen from the schedule.

    Members
    -------
    begins : the first slot of a step
    of_old : the slot belongs to the old product's column, for the tile that ends it
    ends_old, ends_new : the last slot of the old product's column, of the new one's
    before, nothing_before : the next slot is the first diagonal one; it is the first of its sum
    makes_diagonal : the last diagonal one
    waits, is_missing : with `ends_old`, of two tiles: the first had its last slot of that column in
        the cycle before; it had none
    is_last, is_turn, closing : the step is D - 1; D; D or a later one
    last_old : the old product's last column, 2D - 1
    turns : the last slot of step D - 1; the new product becomes the old one
    closes : the last slot of the last step
    """

    def __init__(self) -> None:
        slot = ("begins", "of_old", "ends_old", "ends_new", "before", "nothing_before")
        old = ("makes_diagonal", "waits", "is_missing")
        step = ("is_last", "is_turn", "closing", "last_old", "turns", "closes")
        super().__init__(dict.fromkeys((*slot, *old, *step), Out(1)))


class RoundSignature(wiring.Signature):
    """The slot of a round modulo M, seen from the phases.

    Members
    -------
    exists : the cycle has one
    i, j, crossed, first : its product, as in `ProductSignature`
    ends : it ends a column
    gives_quotient, gives_result : the column's word is q, or one of the result
    """

    def __init__(self, place_bits: int):
        flags = ("exists", "crossed", "first", "ends", "gives_quotient", "gives_result")
        super().__init__(
            {"i": Out(place_bits), "j": Out(place_bits), **dict.fromkeys(flags, Out(1))}
        )


COLUMN = data.StructLayout(
    dict.fromkeys(
        (
            *("of_old", "ends_old", "ends_new", "turns", "last_old", "before", "nothing_before"),
            *("makes_diagonal", "waits", "is_missing", "gives_quotient", "gives_result"),
        ),
        1,
    )
)
"""A slot's column, in each stage from the slot through the tiles to the column's word.

of_old, ends_old, turns, last_old, before, nothing_before, makes_diagonal, waits, is_missing
    As in `RingSlotSignature`.
ends_new : the last slot of the column of the new product, or of a round
gives_quotient : its word is one of q, in a step
gives_result : its word is one of a result, or q of a round
"""
