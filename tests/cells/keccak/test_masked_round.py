"""Chi's terms in two shares of placed LUTs are the plain expressions: proved by a solver."""

import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.masked_round import cross_products, guards
from coprime.cells.keccak.round_logic import chi_and_block, signals
from coprime.cells.target import Target
from coprime.flow.verilog import to_verilog
from tests.netlists import proved_equal

WIDTH = 4


class Terms(wiring.Component):
    """What enters the registers of chi; `wrong` must not be the same."""

    def __init__(self, target, *, wrong=False):
        self.target, self.wrong = target, wrong
        super().__init__(
            {
                "state": In(2 * 25 * WIDTH),
                "block": In(21 * WIDTH),
                **dict.fromkeys(("add", "constant"), In(1)),
                "fresh": In(5),
                **dict.fromkeys(("alone", "crossed"), Out(2 * 25 * WIDTH)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        shares = [signals(WIDTH, f"share_{share}") for share in range(2)]
        block = signals(WIDTH, "added", 21)
        m.d.comb += [Cat(*shares[0], *shares[1]).eq(self.state), Cat(block).eq(self.block)]
        masks = guards(shares[0], self.fresh)
        alone, crossed = [], []
        for share, own in enumerate(shares):
            inverts = (share == 0) ^ self.wrong
            constant = {WIDTH - 1: self.constant} if share == 0 else {}
            words = dict(enumerate(block))
            alone += chi_and_block(
                *(m, own, words, self.add, constant, self.target), inverts=inverts
            )
            crossed += cross_products(
                *(m, own, shares[1 - share], masks, self.target), inverts=share == 0
            )
        m.d.comb += [self.alone.eq(Cat(alone)), self.crossed.eq(Cat(crossed))]
        return m


@pytest.mark.route
def test_placed_luts_are_the_plain_expressions():
    explicit = to_verilog(Terms(Target.XC7), "coprime_explicit")
    assert proved_equal(to_verilog(Terms(Target.GENERIC), "coprime_plain"), explicit)
    # A LUT for each product: no two of them share one.
    assert explicit.count("LUT3 #") == 2 * 25 * WIDTH


@pytest.mark.route
def test_the_proof_can_fail():
    explicit = to_verilog(Terms(Target.XC7, wrong=True), "coprime_explicit")
    assert not proved_equal(to_verilog(Terms(Target.GENERIC), "coprime_plain"), explicit)
