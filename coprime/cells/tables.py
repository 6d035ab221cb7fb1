"""Small constant tables in logic."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Instance, Module, Mux, Signal, Value

from .target import Target

_LUT_INPUTS = 6


def look_up(words: Sequence[int], address: Value, width: int) -> Value:
    """The word at an address; 0 beyond the last.

    Each bit of the word is a truth table of the address's bits, so that synthesis finds one LUT a
    bit where a comparison with every address would cost several. A table of more address
    bits than a LUT has inputs is split into halves, which synthesis would not find on its own.
    """
    if len(address) > _LUT_INPUTS:
        half = 1 << (len(address) - 1)
        low, high = (look_up(part, address[:-1], width) for part in (words[:half], words[half:]))
        return Mux(address[-1], high, low)
    columns = _columns(words, width)
    # A shifted table of which one bit is taken, and not bit_select(), which becomes an assignment
    # of the shifted table to a wire of one bit: Verilator 5.48 may then keep other bits.
    return Cat((Const(column, 1 << len(address)) >> address)[0] for column in columns)


def place_table(
    m: Module, words: Sequence[int], address: Value, width: int, target: Target
) -> Value:
    """As `look_up`; on XC7 of explicit LUTs, one a bit, if the address has 6 bits.

    Yosys weighs a LUT of 6 inputs as more than two of fewer, and uses several of these where timing
    allows it.
    """
    if target is not Target.XC7 or len(address) != _LUT_INPUTS:
        return look_up(words, address, width)
    found = Signal(width, name="found")
    for bit, column in enumerate(_columns(words, width)):
        inputs = {f"i_I{k}": address[k] for k in range(_LUT_INPUTS)}
        init = Const(column, 1 << _LUT_INPUTS)
        m.submodules[f"table_{bit}"] = Instance("LUT6", p_INIT=init, o_O=found[bit], **inputs)
    return found


def _columns(words: Sequence[int], width: int) -> list[int]:
    return [sum((word >> bit & 1) << row for row, word in enumerate(words)) for bit in range(width)]
