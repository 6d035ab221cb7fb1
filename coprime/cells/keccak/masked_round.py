"""The step mappings of a round on two shares: chi in both of them, theta in each one.

Source: `../../model/masked/keccak.py`. What differs: a block is added, too. No LUT takes bits of
both shares of a value, or of the one share and the products of the other: on XC7 they are placed.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import place_lut
from coprime.cells.target import Target
from coprime.model.keccak import CONSTANT_BITS, LANES, LARGEST_RATE
from coprime.model.masked.keccak import ROW_BITS, SHARES

from .round_logic import add_parities, chi_and_block, parities, row, signals


def cross_products(
    m: Module,
    own: Sequence[Value],
    other: Sequence[Value],
    masks: Sequence[Value],
    target: Target,
    *,
    inverts: bool,
) -> list[Value]:
    """The products of chi whose first factor is of this share and whose second one is of the other,
    each with its mask: a LUT a bit."""

    def bit(second: int, third: int, mask: int) -> bool:
        return bool((second ^ inverts) & third ^ mask)

    found: list[Value] = []
    for place in range(LANES):
        _, second, third = row(place)
        words = own[second], other[third], masks[place]
        if target is Target.XC7:
            found.append(Cat(place_lut(m, bit, *bits) for bits in zip(*words, strict=True)))
            continue
        first = ~own[second] if inverts else own[second]
        found.append(first & other[third] ^ masks[place])
    return found


def guards(lanes: Sequence[Value], fresh: Value) -> list[Value]:
    """Masks of products: share 0 of the next row at the same x; after the last row of the last
    slice of the words fresh bits."""
    return [
        lanes[place + ROW_BITS]
        if place + ROW_BITS < LANES
        else Cat(lanes[place % ROW_BITS][1:], fresh[place % ROW_BITS])
        for place in range(LANES)
    ]


class MaskedChi(wiring.Component):
    """Chi and iota of words of two shares after pi, and a block's words: a cycle later.

    What a share computes alone is a register, and what it computes with the other one is another:
    their sum is formed after them.

    Parameters
    ----------
    width (int): bits of a word of a share
    target (Target): LUTs are placed on xc7

    Members
    -------
    state (25 words of each share, in): after rho and pi
    block (21 words of each share, in), add (1 bit, in): added where `add` is 1
    constant (in): the round constant's bits of lane 0
    fresh (5 bits, in): random, new in every cycle
    mixed (25 words of each share, out): of the inputs of the cycle before
    """

    def __init__(self, width: int, target: Target = Target.GENERIC):
        self.width, self.target = width, target
        super().__init__(
            {
                "state": In(width).array(SHARES, LANES),
                "block": In(width).array(SHARES, LARGEST_RATE),
                "add": In(1),
                "constant": In(width),
                "fresh": In(ROW_BITS),
                "mixed": Out(width).array(SHARES, LANES),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Registers of both kinds for each share."""
        m = Module()
        masks = guards(list(self.state[0]), self.fresh)
        places = {bit % self.width for bit in CONSTANT_BITS}
        for share in range(SHARES):
            own, other = list(self.state[share]), list(self.state[1 - share])
            inverts = share == 0
            constant = {k: self.constant[k] for k in sorted(places)} if share == 0 else {}
            block = dict(enumerate(self.block[share]))
            alone = chi_and_block(
                *(m, own, block, self.add, constant, self.target), inverts=inverts
            )
            products = cross_products(m, own, other, masks, self.target, inverts=inverts)
            inner = signals(self.width, f"inner_{share}", reset_less=True)
            cross = signals(self.width, f"cross_{share}", reset_less=True)
            for place in range(LANES):
                m.d.sync += [inner[place].eq(alone[place]), cross[place].eq(products[place])]
                m.d.comb += self.mixed[share][place].eq(inner[place] ^ cross[place])
        return m


class ShareTheta(wiring.Component):
    """Theta of the words of one share, which are taken into registers first.

    Parameters
    ----------
    width (int): bits of a word
    target (Target): LUTs are placed on xc7

    Members
    -------
    mixed (25 words, in): after iota
    clear (1 bit, in): take zeros instead
    written (25 words, out): after theta, of the words of the cycle before; if those of two cycles
        before were the words before them in their lanes
    """

    def __init__(self, width: int, target: Target = Target.GENERIC):
        self.width, self.target = width, target
        super().__init__(
            {
                "mixed": In(width).array(LANES),
                "clear": In(1),
                "written": Out(width).array(LANES),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The columns' parities, and those of the last slice of the words before."""
        m = Module()
        words = signals(self.width, "mixed")
        with m.If(self.clear):
            m.d.sync += [word.eq(0) for word in words]
        with m.Else():
            m.d.sync += [word.eq(new) for word, new in zip(words, self.mixed, strict=True)]
        columns = parities(m, words, self.target)
        before = signals(1, "before", len(columns))
        m.d.sync += [old.eq(column[-1]) for old, column in zip(before, columns, strict=True)]
        shifted = [Cat(old, column[:-1]) for old, column in zip(before, columns, strict=True)]
        written = add_parities(m, words, columns, shifted, self.target)
        m.d.comb += [port.eq(word) for port, word in zip(self.written, written, strict=True)]
        return m
