"""Rounds of placed LUTs do what the plain expressions do: proved by a solver, for all inputs.

And these are the model's steps: in simulation, on whole lanes.
"""

import random

import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.round_logic import (
    LATE_LANES,
    add_parities,
    chi_and_block,
    parities,
    select_words,
    signals,
)
from coprime.cells.target import Target
from coprime.flow.verilog import to_verilog
from coprime.model import keccak
from tests.combinational import Bench
from tests.netlists import proved_equal

SEED = 5


class Steps(wiring.Component):
    """Theta, chi with a block and a constant, and a selection; `wrong` must not be the same."""

    def __init__(self, width, target, *, wrong=False):
        self.width, self.target, self.wrong = width, target, wrong
        super().__init__(
            {
                "state": In(25 * width),
                "block": In(21 * width),
                **dict.fromkeys(("add", "constant"), In(1)),
                **dict.fromkeys(("theta", "chi", "selected"), Out(25 * width)),
                "late": Out(30 * width),
            }
        )

    def elaborate(self, platform):
        m = Module()
        width, target = self.width, self.target
        state, block = signals(width, "lane"), signals(width, "added", 21)
        m.d.comb += [Cat(state).eq(self.state), Cat(block).eq(self.block)]
        columns = parities(m, state, target)
        shifted = [column.rotate_left(1) for column in columns]
        early = {k: word for k, word in enumerate(block) if k not in LATE_LANES}
        chi = chi_and_block(m, state, early, self.add, {width - 1: self.constant}, target)
        late = [block[k] for k in LATE_LANES]
        late_columns = parities(m, state, target, late)
        m.d.comb += [
            self.theta.eq(Cat(add_parities(m, state, columns, shifted, target))),
            self.late.eq(
                Cat(*add_parities(m, state, columns, shifted, target, late), *late_columns)
            ),
            self.chi.eq(Cat(chi)),
            self.selected.eq(
                Cat(select_words(m, self.add ^ self.wrong, state[:21], block, target))
            ),
        ]
        return m


def verilog_of(width, target, name, **settings):
    return to_verilog(Steps(width, target, **settings), name)


@pytest.mark.route
@pytest.mark.parametrize("width", [4, pytest.param(8, marks=pytest.mark.proof)])
def test_placed_luts_are_the_plain_expressions(width):
    explicit = verilog_of(width, Target.XC7, "coprime_explicit")
    assert proved_equal(verilog_of(width, Target.GENERIC, "coprime_plain"), explicit)
    # Two bits each: theta, twice, the selection, and chi of the lanes that no block is added to, of
    # which one has no neighbour.
    assert explicit.count("LUT6_2 #") == width * (25 + 25 + 21 + 8) // 2
    assert explicit.count("LUT5 #") == width * (16 + 5) - 1
    assert explicit.count("LUT3 #") == width
    # Iota, and parities with a late word.
    assert explicit.count("LUT6 #") == 1 + width * 5


def test_the_proof_can_fail():
    explicit = verilog_of(4, Target.XC7, "coprime_explicit", wrong=True)
    assert not proved_equal(verilog_of(4, Target.GENERIC, "coprime_plain"), explicit)


def joined(lanes, width=64):
    return sum(lane << width * place for place, lane in enumerate(lanes))


@pytest.mark.matrix
def test_steps_are_the_model_s():
    generator = random.Random(SEED)
    states = [[generator.getrandbits(64) for _ in range(25)] for _ in range(20)]
    blocks = [[generator.getrandbits(64) for _ in range(21)] for _ in states]
    vectors, expected = [], []
    for number, (state, block) in enumerate(zip(states, blocks, strict=True)):
        add, constant = number % 2, number // 2 % 2
        vectors.append(joined(state) | joined(block) << 1600 | add << 2944 | constant << 2945)
        early = [*(0 if k in LATE_LANES else lane for k, lane in enumerate(block)), *[0] * 4]
        chi = [
            lane ^ (added if add else 0)
            for lane, added in zip(keccak.chi(state), early, strict=True)
        ]
        chi[0] ^= constant << 63
        selected = state[:21] if add else block
        with_late = [lane ^ (block[k] if k in LATE_LANES else 0) for k, lane in enumerate(state)]
        columns = [0] * 5
        for k, lane in enumerate(with_late):
            columns[k % 5] ^= lane
        plain = keccak.theta(state)
        late = [lane ^ with_late[k] ^ state[k] for k, lane in enumerate(plain)]
        expected.append(
            joined(plain)
            | joined(chi) << 1600
            | joined(selected) << 3200
            | joined([*late, *columns]) << 4800
        )
    (found,) = Bench([Steps(64, Target.GENERIC)]).run(vectors)
    assert found == expected
