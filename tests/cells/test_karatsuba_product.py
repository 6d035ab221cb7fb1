import itertools
import random

import pytest

from coprime.cells.facts import WIDTHS
from coprime.cells.karatsuba_product import KaratsubaProduct
from coprime.cells.target import Target
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from tests.cells.test_product import ecp5_cells, simulate
from tests.netlists import first_difference, xc7_library

SLICES = {16: 1, 32: 3, 64: 9, 128: 27}
ALL = [
    pytest.param(
        *(width, k),
        # Of the wide ones some: a simulation of theirs is long.
        marks=[] if width < 64 or (width, k) == (64, 6) else pytest.mark.matrix,
    )
    for width in WIDTHS
    for k in range(KaratsubaProduct.most(width) + 1)
]


def halves(width):
    """Every factor whose quarters are 0, 1, 0x7FFF, 0x8000 or 0xFFFF, or a choice of these."""
    words = [0, 1, 0x7FFF, 0x8000, 0xFFFF]
    values = [
        sum(word << 16 * place for place, word in enumerate(choice))
        for choice in itertools.product(words, repeat=width // 16)
    ]
    return values if len(values) <= 25 else random.Random(5).sample(values, 60)


def pairs_of(width):
    """The extremes of every difference and sum, then anything."""
    generator = random.Random(width)
    full = (1 << width) - 1
    upper = full >> width // 2 << width // 2
    ends = [0, 1, full, full - 1, upper, full ^ upper, 1 << width // 2, 1 << width - 1]
    pairs = list(itertools.product(ends, repeat=2))
    chosen = halves(width)
    pairs += [(x, y) for x in chosen for y in (*chosen[::7], generator.choice(chosen), full)]
    pairs += [(generator.getrandbits(width), generator.getrandbits(width)) for _ in range(300)]
    return pairs


@pytest.mark.parametrize(("width", "latency"), ALL)
def test_a_new_product_in_every_cycle(width, latency):
    dut = KaratsubaProduct(width, latency)
    pairs = pairs_of(width)

    async def bench(context):
        for cycle in range(len(pairs) + latency):
            x, y = pairs[min(cycle, len(pairs) - 1)]
            context.set(dut.x, x)
            context.set(dut.y, y)
            if cycle >= latency:
                x, y = pairs[cycle - latency]
                assert context.get(dut.product) == x * y, (hex(x), hex(y))
            await context.tick()

    simulate(dut, bench)


def test_slices_and_places():
    assert {width: KaratsubaProduct.dsp_slices(width) for width in WIDTHS} == SLICES
    assert {width: KaratsubaProduct.most(width) for width in WIDTHS} == {
        16: 3,
        32: 6,
        64: 9,
        128: 13,
    }


@pytest.mark.parametrize(("width", "latency"), ALL)
def test_registers_are_added_one_by_one(width, latency):
    """Another register leaves the others where they are."""
    own = KaratsubaProduct(width, latency)
    assert len(own.registers) == latency
    if latency:
        assert KaratsubaProduct(width, latency - 1).registers < own.registers


# --- Mapped -------------------------------------------------------------------------------------


def compare(mapped, width, latency, cells):
    gold = to_verilog(KaratsubaProduct(width, latency), "coprime_gold")
    gate = mapped.netlist + cells
    ports = {"x": width, "y": width}, {"product": 2 * width}
    return first_difference(gold, gate, *ports, cycles=20_000)


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.route)


@pytest.mark.parametrize(
    ("width", "latency"),
    list(
        zip(
            (16, *[32] * 5, *[64] * 5, 128, 128),
            (2, 1, 2, 3, 5, 6, 1, 2, 4, 6, 9, 6, 13),
            strict=True,
        )
    ),
)
@pytest.mark.route  # Yosys takes longer for XC7 than for ECP5
def test_xc7_netlist_agrees_with_twin(width, latency):
    mapped = map_design(
        Target.XC7, KaratsubaProduct(width, latency, target=Target.XC7), "coprime_gate"
    )
    assert mapped.dsp == SLICES[width]
    assert compare(mapped, width, latency, xc7_library()) is None


@pytest.mark.parametrize(("width", "latency"), [(16, 3), slow(32, 4), slow(64, 6)])
def test_ecp5_netlist_agrees_with_twin(width, latency):
    mapped = map_design(
        Target.ECP5, KaratsubaProduct(width, latency, target=Target.ECP5), "coprime_gate"
    )
    assert mapped.dsp == SLICES[width]
    assert compare(mapped, width, latency, ecp5_cells()) is None


# --- Parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [0, 8, 17, 48, 256])
def test_refused_width(width):
    with pytest.raises(ValueError, match=f"width must be one of 16, 32, 64, 128, not {width}"):
        KaratsubaProduct(width, 1)


@pytest.mark.parametrize(("width", "latency"), [(16, -1), (16, 4), (32, 7), (64, 10), (128, 14)])
def test_refused_latency(width, latency):
    most = KaratsubaProduct.most(width)
    with pytest.raises(ValueError, match=rf"latency must be in 0\.\.{most}, not {latency}"):
        KaratsubaProduct(width, latency)
