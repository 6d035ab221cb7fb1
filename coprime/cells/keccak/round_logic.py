"""The step mappings of a round as logic, for a few slices at once.

Source: FIPS 202, section 3.2. Words are parts of lanes, of the same bits in all 25 lanes; a list of
them is in the order of `model/keccak.py`. On XC7 LUTs are placed: synthesis would use a fifth more.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from amaranth.hdl import Cat, Module, Signal, Value

from coprime.cells.luts import choose_word, place_lut, place_two_luts
from coprime.cells.target import Target
from coprime.model.keccak import LANES


def signals(width: int, name: str, count: int = LANES, *, reset_less: bool = False) -> list[Signal]:
    """`count` words of a name."""
    return [Signal(width, name=f"{name}_{k}", reset_less=reset_less) for k in range(count)]


def row(place: int) -> tuple[int, int, int]:
    """The lanes that chi computes a lane from: itself and the next two of its row."""
    first = place // 5 * 5
    return place, first + (place + 1) % 5, first + (place + 2) % 5


def _chi_bit(inverted: int, own: int, second: int, third: int, *added: int) -> bool:
    """A bit of chi, with the block's bit and whether it is added, and a constant's bit."""
    block, add, constant = (*added, 0, 0, 0)[:3]
    return bool(own ^ (second ^ inverted) & third ^ block & add ^ constant)


def chi_and_block(
    m: Module,
    state: Sequence[Value],
    block: Mapping[int, Value],
    add: Value,
    constant: dict[int, Value],
    target: Target,
    *,
    inverts: bool = True,
) -> list[Value]:
    """Chi and iota of words after pi, and the block's words where `add` is 1.

    A LUT a bit; of lanes that no block is added to two neighbours of a row have one.

    Parameters
    ----------
    block : words by their lanes
    constant : the round constant's bits by their place in the word; the others are 0
    inverts : whether the first factor of each product is inverted
    """
    if target is not Target.XC7:
        found: list[Value] = []
        for place in range(LANES):
            own, second, third = (state[lane] for lane in row(place))
            word: Value = own ^ ((~second if inverts else second) & third)
            if place in block:
                word ^= block[place] & add.replicate(len(own))
            found.append(word)
        for bit, value in constant.items():
            found[0] = found[0] ^ (value << bit)[: len(state[0])]
        return found
    width = range(len(state[0]))
    bits: dict[int, list[Value]] = {}
    chi_bit = partial(_chi_bit, int(inverts))

    def second_bit(_: int, *bits: int) -> bool:
        return chi_bit(*bits)

    for place in range(LANES):
        if place in bits:
            continue
        if place not in block and place % 5 != 4 and place + 1 not in block:
            lanes = (*row(place), row(place + 1)[2])
            pairs = [
                place_two_luts(
                    m,
                    (lambda *bits: chi_bit(*bits[:3]), second_bit),
                    *(state[lane][bit] for lane in lanes),
                )
                for bit in width
            ]
            bits |= {place: [pair[0] for pair in pairs], place + 1: [pair[1] for pair in pairs]}
            continue
        bits[place] = [
            place_lut(
                m,
                chi_bit,
                *(state[lane][bit] for lane in row(place)),
                *([block[place][bit], add] if place in block else []),
                *([constant[bit]] if place == 0 and bit in constant else []),
            )
            for bit in width
        ]
    return [Cat(bits[place]) for place in range(LANES)]


LATE_ROW = 3
"""Of this row a block can be added a cycle later, with theta, which has LUT inputs to spare."""
LATE_LANES = range(5 * LATE_ROW, 5 * LATE_ROW + 5)


def parities(
    m: Module, state: Sequence[Value], target: Target, late: Sequence[Value] = ()
) -> list[Value]:
    """The columns' parities, a word for each x; `late` has words that are added to LATE_ROW."""

    def parity(*bits: Value) -> Value:
        if target is Target.XC7:
            return place_lut(m, _odd, *bits)
        total = bits[0]
        for bit in bits[1:]:
            total ^= bit
        return total

    width = len(state[0])
    return [
        Cat(
            parity(*(word[bit] for word in (*state[x::5], *late[x : x + 1])))
            for bit in range(width)
        )
        for x in range(5)
    ]


def _odd(*bits: int) -> bool:
    return bool(sum(bits) % 2)


def add_parities(
    m: Module,
    state: Sequence[Value],
    left: Sequence[Value],
    right: Sequence[Value],
    target: Target,
    late: Sequence[Value] = (),
) -> list[Value]:
    """Theta: `left[x - 1]` and `right[x + 1]` added to every word of x; two bits a LUT.

    Parameters
    ----------
    left : parities of columns
    right : the same, each of the slice before
    late : as of `parities`
    """
    places = range(LANES)
    if target is not Target.XC7:
        state = [
            word ^ late[k % 5] if late and k in LATE_LANES else word for k, word in enumerate(state)
        ]
        return [state[k] ^ left[(k + 4) % 5] ^ right[(k + 1) % 5] for k in places]
    width = len(state[0])
    found: dict[tuple[int, int], Value] = {}
    for x in range(5):
        for bit in range(width):
            for y in (0, 2):
                lanes = [x + 5 * y, x + 5 * (y + 1)]
                found.update(
                    _pair(
                        m,
                        [(lane, bit) for lane in lanes],
                        (lambda a, _, *c: _odd(a, *c[:2]), lambda _, *b: _odd(*b)),
                        *(state[lane][bit] for lane in lanes),
                        left[(x + 4) % 5][bit],
                        right[(x + 1) % 5][bit],
                        *(word[bit] for word in late[x : x + 1] if lanes[1] in LATE_LANES),
                    )
                )
            if bit % 2:
                # y = 4: this bit and the one before of x + 2 have a parity in common.
                other = (x + 2) % 5
                found.update(
                    _pair(
                        m,
                        [(x + 20, bit), (other + 20, bit - 1)],
                        (
                            lambda a, _, c, d, __: _odd(a, c, d),
                            lambda _, b, __, d, e: _odd(b, d, e),
                        ),
                        state[x + 20][bit],
                        state[other + 20][bit - 1],
                        left[(x + 4) % 5][bit],
                        left[(x + 1) % 5][bit - 1],
                        right[(x + 3) % 5][bit - 1],
                    )
                )
    return [Cat(found[place, bit] for bit in range(width)) for place in places]


def _pair(
    m: Module,
    places: Sequence[tuple[int, int]],
    functions: Sequence[Callable[..., bool]],
    *inputs: Value,
) -> dict[tuple[int, int], Value]:
    """Two bits of one LUT, by lane and bit."""
    return dict(zip(places, place_two_luts(m, functions, *inputs), strict=True))


def select_words(
    m: Module,
    choice: Value,
    ones: Sequence[Value],
    zeros: Sequence[Value],
    target: Target,
) -> list[Value]:
    """`ones` where `choice` is 1, else `zeros`: words of an even width, two bits a LUT."""
    if target is not Target.XC7:
        return [
            (one & choice.replicate(len(one))) | (zero & ~choice.replicate(len(zero)))
            for one, zero in zip(ones, zeros, strict=True)
        ]
    return [choose_word(m, choice, *pair, target) for pair in zip(ones, zeros, strict=True)]
