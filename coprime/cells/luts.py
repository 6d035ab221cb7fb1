"""Logic of explicit LUTs on XC7, where Yosys would use more than are needed.

ABC weighs a LUT of 6 inputs as more than two of fewer, and uses any number where that is faster.
On other targets synthesis maps the same logic.
"""

from collections.abc import Callable, Sequence

from amaranth.hdl import Array, Cat, Const, Instance, Module, Mux, Signal, Value

from .target import Target


def place_lut(m: Module, function: Callable[..., bool], *inputs: Value) -> Signal:
    """A `function` of up to 6 bits as a LUT of XC7."""
    rows = range(1 << len(inputs))
    ones = [function(*(row >> k & 1 for k in range(len(inputs)))) for row in rows]
    table = sum(bool(bit) << row for row, bit in zip(rows, ones, strict=True))
    found = Signal(name="found")
    pins = {f"i_I{k}": bit for k, bit in enumerate(inputs)}
    init = Const(table, len(rows))
    m.submodules += Instance(f"LUT{len(inputs)}", p_INIT=init, o_O=found, **pins)
    return found


def place_two_luts(
    m: Module, functions: Sequence[Callable[..., bool]], *inputs: Value
) -> tuple[Signal, Signal]:
    """Two `functions` of the same bits, up to 5, as one LUT6_2 of XC7."""
    rows = range(32)
    tables = [
        sum(bool(function(*(row >> k & 1 for k in range(len(inputs))))) << row for row in rows)
        for function in functions
    ]
    low, high = Signal(name="low"), Signal(name="high")
    bits = [*inputs, *[Const(0, 1)] * (5 - len(inputs)), Const(1, 1)]
    pins = {f"i_I{k}": bit for k, bit in enumerate(bits)}
    init = Const(tables[0] | tables[1] << 32, 64)
    m.submodules += Instance("LUT6_2", p_INIT=init, o_O5=low, o_O6=high, **pins)
    return low, high


def select_bit(m: Module, word: Value, index: Value, target: Target) -> Value:
    """The bit of a word at an index, which is not beyond its last bit.

    A LUT selects one of four bits, another one of four that were selected, and so on.
    """
    if target is not Target.XC7 or len(word) < 4:
        return (word >> index)[0]
    fours = [word[k : k + 4] for k in range(0, len(word), 4)]
    chosen = [
        place_lut(m, lambda *bits: bits[bits[4] + 2 * bits[5]], *four, *index[:2])
        if len(four) == 4
        else (four >> index[: (len(four) - 1).bit_length()])[0]
        for four in fours
    ]
    return select_bit(m, Cat(chosen), index[2:], target)


def select_word(m: Module, words: Sequence[Value], choice: Value, target: Target) -> Value:
    """One of four words of the same width, by a number of 2 bits: a LUT for each bit."""
    if target is not Target.XC7:
        return Array(words)[choice]
    return Cat(
        place_lut(m, lambda *bits: bits[bits[4] + 2 * bits[5]], *four, *choice)
        for four in zip(*words, strict=True)
    )


def choose_word(m: Module, choice: Value, one: Value, zero: Value, target: Target) -> Value:
    """`one` where `choice` is 1, else `zero`, of the same width: two bits a LUT."""
    if target is not Target.XC7:
        return Mux(choice, one, zero)

    def low(choice: int, one: int, zero: int, *_: int) -> bool:
        return bool(one if choice else zero)

    def high(choice: int, _: int, __: int, one: int, zero: int) -> bool:
        return bool(one if choice else zero)

    found: list[Value] = []
    for k in range(0, len(one) - 1, 2):
        bits = (one[k], zero[k], one[k + 1], zero[k + 1])
        found += place_two_luts(m, (low, high), choice, *bits)
    if len(one) % 2:
        found.append(place_lut(m, low, choice, one[-1], zero[-1]))
    return Cat(found)


def same(m: Module, a: Value, b: Value, target: Target) -> Value:
    """Whether a = b, of the same width. A LUT compares three bits; synthesis maps the rest."""
    if target is not Target.XC7:
        return a == b
    threes = len(a) // 3 * 3
    parts = [
        place_lut(m, lambda *bits: bits[:3] == bits[3:], *a[k : k + 3], *b[k : k + 3])
        for k in range(0, threes, 3)
    ]
    return Cat(parts, a[threes:] == b[threes:]).all()


def at_least(m: Module, a: Value, b: Value, target: Target) -> Value:
    """Whether a >= b, of 3 bits each or more: a LUT for three, then one for every two."""
    if target is not Target.XC7:
        return a >= b

    def weighed(bits: Sequence[int]) -> int:
        return sum(bit << k for k, bit in enumerate(bits))

    def three(*bits: int) -> bool:
        return weighed(bits[:3]) >= weighed(bits[3:])

    def next_two(below: int, *bits: int) -> bool:
        """The lower bits decide where these are equal."""
        half = len(bits) // 2
        return weighed((below, *bits[:half])) > weighed((0, *bits[half:]))

    found = place_lut(m, three, *a[:3], *b[:3])
    for k in range(3, len(a), 2):
        found = place_lut(m, next_two, found, *a[k : k + 2], *b[k : k + 2])
    return found
