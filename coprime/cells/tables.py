"""Small constant tables in logic."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Value

__all__ = ["look_up"]


def look_up(words: Sequence[int], address: Value, width: int) -> Value:
    """The word at an address; 0 beyond the last.

    Each bit of the word is a truth table of the address's bits, so that synthesis finds one LUT a
    bit where a comparison with every address would cost several.
    """
    columns = [
        sum((word >> bit & 1) << row for row, word in enumerate(words)) for bit in range(width)
    ]
    # A shifted table of which one bit is taken, and not bit_select(), which becomes an assignment
    # of the shifted table to a wire of one bit: Verilator 5.48 may then leave other bits in.
    return Cat((Const(column, 1 << len(address)) >> address)[0] for column in columns)
