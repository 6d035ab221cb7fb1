"""Parallel prefix adders: carries of all places from generate and propagate, in few levels.

Source: COMPRESSION (Vassoler 2023), section 2.2.2, takes Brent and Kung's network ("A Regular
Layout for Parallel Adders", IEEE Transactions on Computers 31(3), 1982). Kogge and Stone's (1973)
and Sklansky's (1960) are here to compare. The end-around forms add one level, in which a carry-in
that is known late joins all places at once (R. Zimmermann, "Efficient VLSI Implementation of Modulo
(2^n +- 1) Addition and Multiplication", ARITH-14, 1999).

A place generates a carry if both bits are 1, and propagates one if exactly one is. A range of
places does the same as a whole: (G, P) = (G1 | P1 & G0, P1 & P0), of its upper and its lower part.
"""

from enum import Enum

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.parameters import check_least


class Network(Enum):
    """Which ranges are combined in which level."""

    BRENT_KUNG = "brent-kung"  # fewest nodes, about 2n; 2 log n - 1 levels
    SKLANSKY = "sklansky"  # log n levels, n/2 log n nodes; one node leads to up to n/2 others
    KOGGE_STONE = "kogge-stone"  # log n levels, n log n nodes; each leads to two others

    def levels(self, width: int) -> list[list[tuple[int, int]]]:
        """Nodes (upper, lower) of each level.

        The range that ends at place `upper` is joined by the one that ends at `lower`, which is
        adjacent below. After all levels every range extends down to place 0.
        """
        if self is Network.SKLANSKY:
            spans = [1 << level for level in range((width - 1).bit_length())]
            return [
                [(k, (k // span) * span - 1) for k in range(width) if k // span % 2]
                for span in spans
            ]
        if self is Network.KOGGE_STONE:
            spans = [1 << level for level in range((width - 1).bit_length())]
            return [[(k, k - span) for k in range(span, width)] for span in spans]
        spans = [1 << level for level in range(width.bit_length())]
        up = [[(k, k - span) for k in range(2 * span - 1, width, 2 * span)] for span in spans]
        down = [[(k, k - span) for k in range(3 * span - 1, width, 2 * span)] for span in spans]
        return [level for level in [*up, *reversed(down)] if level]


class EndAround(Enum):
    """What is fed back into the lowest place."""

    CARRY = "carry"
    """The carry-out, and also a carry if all places propagate: a + b modulo 2^n - 1, where only
    a = b = 2^n - 1 results in the modulus; all other sums are below it."""
    INVERTED = "inverted"
    """The inverted carry-out: a + b + 1 modulo 2^n + 1."""


def _generate(a: Signal, b: Signal, network: Network, m: Module) -> tuple[Signal, Signal]:
    """Place the network: (G, P) of the range from each place down to place 0."""
    width = len(a)
    generates, propagates = Signal(width, name="generate_0"), Signal(width, name="propagate_0")
    m.d.comb += [generates.eq(a & b), propagates.eq(a ^ b)]
    for number, nodes in enumerate(network.levels(width), start=1):
        below = dict(nodes)
        g, p = generates, propagates
        generates = Signal(width, name=f"generate_{number}")
        propagates = Signal(width, name=f"propagate_{number}")
        m.d.comb += [
            generates.eq(
                Cat(g[k] | (p[k] & g[below[k]]) if k in below else g[k] for k in range(width))
            ),
            propagates.eq(Cat(p[k] & p[below[k]] if k in below else p[k] for k in range(width))),
        ]
    return generates, propagates


class PrefixAdder(wiring.Component):
    """`sum` and `carry_out` are a + b + carry_in, combinational.

    Parameters
    ----------
    width (int): at least 1

    Members
    -------
    a, b (unsigned `width` bits, in)
    carry_in (in)
    sum (unsigned `width` bits, out)
    carry_out (out)
    """

    def __init__(self, width: int, *, network: Network = Network.BRENT_KUNG):
        check_least(1, width=width)
        self.width = width
        self.network = Network(network)
        ports = {
            **dict.fromkeys(("a", "b"), In(width)),
            "carry_in": In(1),
            "sum": Out(width),
            "carry_out": Out(1),
        }
        super().__init__(ports)

    @staticmethod
    def estimate(width: int, network: Network) -> tuple[int, int]:
        """Unit gates without the carry-in: (area, delay)."""
        levels = network.levels(width)
        nodes = sum(map(len, levels))
        return 3 * width + 3 * nodes + 2 * width, 2 + 2 * len(levels) + 2

    def elaborate(self, platform: object) -> Module:
        """The carry-in is one more place below all others."""
        m = Module()
        a, b = Signal(self.width + 1), Signal(self.width + 1)
        m.d.comb += [a.eq(Cat(self.carry_in, self.a)), b.eq(Cat(self.carry_in, self.b))]
        carries, _ = _generate(a, b, self.network, m)
        m.d.comb += Cat(self.sum, self.carry_out).eq(Cat(self.a ^ self.b, 0) ^ carries)
        return m


class EndAroundAdder(wiring.Component):
    """a + b modulo 2^width - 1, or a + b + 1 modulo 2^width + 1, combinational.

    Parameters
    ----------
    width (int): at least 1

    Members
    -------
    a, b (unsigned `width` bits, in): any numbers of these bits
    sum (unsigned `width` bits, or one more for INVERTED, out)
    """

    def __init__(self, width: int, kind: EndAround, *, network: Network = Network.BRENT_KUNG):
        check_least(1, width=width)
        self.width = width
        self.kind = EndAround(kind)
        self.network = Network(network)
        inverted = self.kind is EndAround.INVERTED
        super().__init__({"a": In(width), "b": In(width), "sum": Out(width + inverted)})

    @staticmethod
    def estimate(width: int, network: Network) -> tuple[int, int]:
        """Unit gates: (area, delay)."""
        area, delay = PrefixAdder.estimate(width, network)
        return area + 2 * width, delay + 2

    def elaborate(self, platform: object) -> Module:
        """Add the carry that is fed back to all places, after the network."""
        m = Module()
        generates, propagates = _generate(self.a, self.b, self.network, m)
        around = Signal()
        if self.kind is EndAround.CARRY:
            m.d.comb += around.eq(generates[-1] | propagates[-1])
        else:
            m.d.comb += around.eq(~generates[-1])
            # a + b = 2^n - 1: the sum is 2^n, and all lower bits are 0.
            m.d.comb += self.sum[-1].eq(propagates[-1])
        carries = generates | (propagates & around.replicate(self.width))
        m.d.comb += self.sum[: self.width].eq(self.a ^ self.b ^ Cat(around, carries[:-1]))
        return m
