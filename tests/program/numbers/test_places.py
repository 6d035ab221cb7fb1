"""Places of numbers: no two that are needed at once share one, and what breaks that is found."""

from dataclasses import replace
from pathlib import Path

import pytest

from coprime.catalog import choose
from coprime.engine.layout import Banks
from coprime.program.numbers.liveness import Conflicts
from coprime.program.numbers.places import Allocation, BlockPlace, allocate
from coprime.program.operands import Core, Operand

DESIGNS = [
    *(("compact", {"blinding": one}) for one in ("none", "all")),
    *(("ring", {"dsp": one}) for one in ("1", "6", "12", "24")),
    ("ring", {"tile": "bal50", "blinding": "all"}),
    *((family, {"modexp2": "1"}) for family in ("compact", "ring")),
]
X, Y = (Core.ACCUMULATOR, 0), (Core.PART, 0)
BOTH = [(Core.RESULT, Core.SUM)]


@pytest.mark.parametrize(("family", "settings"), DESIGNS, ids=str)
def test_places_of_a_design(family, settings):
    layout = choose(family, settings).design.layout
    layout.places.check()
    assert layout.block_of(Core.RESULT) == layout.block_of(Core.SUM)
    assert layout.numbers[Operand.Q] == layout.numbers[Operand.P] | 1
    named = dict.fromkeys(
        name for row in layout.memory_map() for cell in row for name in cell.split(", ")
    )
    assert {one.name for one in Operand if one in layout.bases} <= set(named)


def test_32_blocks():
    """Which numbers may have in a deeper memory; a bank has as many blocks as the table needs."""
    design = choose("compact", {"max_bits": "1024"}).design
    design = replace(design, memory=replace(design.memory, entry_bits=5, block_bits=5))
    layout = design.layout
    layout.places.check()
    assert (layout.number_bits, layout.depth) == (6, 32 * layout.block)
    assert layout.lies_right(Operand.E)
    assert not layout.lies_right(Operand.X)
    with pytest.raises(ValueError, match="blocks of 5 bits and entries of 4"):
        Banks(4, 2, entry_bits=4, block_bits=5)


def test_numbers_that_are_needed_at_once():
    conflicts = Conflicts(apart={frozenset({X, Y})}, used={X, Y})
    with pytest.raises(AssertionError, match="are in one place"):
        Allocation({X[0]: BlockPlace(0, 3), Y[0]: BlockPlace(0, 3)}, conflicts).check()
    found = allocate(conflicts, {X[0]: {0}, Y[0]: {0}}, 2, same_block=BOTH)
    assert found.of[X[0]] != found.of[Y[0]]


def test_a_place_that_passes_on():
    """A step in place writes over its operand, but not beside its first digit."""
    conflicts = Conflicts(together={frozenset({X, Y})}, used={X, Y})
    Allocation({X[0]: BlockPlace(0, 3), Y[0]: BlockPlace(0, 3)}, conflicts).check()
    upper = (Core.PART, 1)
    conflicts = Conflicts(together={frozenset({X, upper})}, used={X, upper})
    with pytest.raises(AssertionError, match="is over"):
        Allocation({X[0]: BlockPlace(0, 3), Y[0]: BlockPlace(0, 2)}, conflicts).check()


def test_a_sum_that_would_wait():
    """It has another place than the factor that it waits for, if there is one."""
    waits = Conflicts(waits={frozenset({X, Y})}, used={X, Y})
    for blocks, share in ((1, True), (2, False)):
        found = allocate(waits, {X[0]: {0}, Y[0]: {0}}, blocks, same_block=[])
        assert (found.of[X[0]] == found.of[Y[0]]) is share


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("curves", ["montgomery", "weierstrass", "edwards"])
def test_no_sum_on_ring_waits_for_a_place(curves):
    places = choose("ring", {"curves": curves}).design.layout.places
    shared = {pair for pair in places.conflicts.waits if len(set(map(places.occupied, pair))) == 1}
    assert not shared


def test_numbers_that_do_not_fit():
    conflicts = Conflicts(apart={frozenset({X, Y})}, used={X, Y})
    with pytest.raises(ValueError, match="do not fit into two banks of 1 block"):
        allocate(conflicts, {X[0]: {0}, Y[0]: {0}}, 1, same_block=BOTH)


def test_an_operand_lies_apart_on_the_left():
    """What the lane only reads there has blocks that nothing of it writes."""
    m = (Operand.M, 0)
    conflicts = Conflicts(used={X, m})
    found = allocate(conflicts, {X[0]: {0}, Operand.M: {0}}, 4, same_block=BOTH)
    assert found.of[Operand.M] != found.of[X[0]]


def test_the_memory_map_of_the_page():
    page = (Path(__file__).parents[3] / "docs" / "compact.md").read_text(encoding="utf-8")
    for row in choose("compact", {"max_bits": "1024"}).design.layout.memory_map():
        assert f"| {' | '.join(row)} |" in page
