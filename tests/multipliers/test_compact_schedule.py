"""The slots of compact's columns, row by row of the table in the multiplier's docstring."""

import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import connect
from amaranth.sim import Simulator

from coprime.cells.target import Target
from coprime.multipliers.compact.multiplication import NEWEST_AFTER, CompactMultiplication
from coprime.multipliers.compact.schedule import SLOTS, ColumnCounter, PairIndices, SlotControl

COUNT_BITS = 5


def rows(inner, outer):
    """(slot, column, pair) of a multiplication; a slot that has no pair has None."""
    long = max(inner, outer)
    last = inner + outer + 1
    for k in range(-1, last + 1):
        yield "ahead", k, None
        xy = [(i, k - i) for i in range(max(0, k - long + 1), (k + 1) // 2)]
        yield from (("xy", k, pair) for pair in xy or [None])
        if k < 1:
            continue
        if k >= long:
            yield "drop", k, None
        if k == last:
            return
        qm = [(i, k - 1 - i) for i in range(max(1, k - long), k // 2)][::-1]
        yield from (("qm", k, pair) for pair in qm or [None])
        if k <= long:
            passed = 1 + (len(xy) or 1) + (k >= long) + (len(qm) or 1)
            yield from [("pad", k, None)] * (NEWEST_AFTER - passed)
            yield "diagonal", k, (0, k - 1)
            yield "newest", k, (0, k - 1)


def linear_rows(inner):
    """(slot, column) of a preparation."""
    yield from ((slot, -1) for slot in ("ahead", "xy", "qm", "pad", "diagonal", "newest"))
    yield from ((slot, 0) for slot in ("ahead", "xy", "drop", "qm", "diagonal", "newest"))
    for k in range(1, inner + 2):
        yield from ((slot, k) for slot in ("ahead", "xy", "drop", "qm"))
    yield from ((slot, inner + 2) for slot in ("ahead", "xy", "drop"))


def walk(inner, outer, command):
    """The rows that the hardware goes through."""
    m = Module()
    m.submodules.control = control = SlotControl(COUNT_BITS)
    m.submodules.columns = columns = ColumnCounter(COUNT_BITS, Target.GENERIC)
    m.submodules.pairs = pairs = PairIndices(COUNT_BITS, Target.GENERIC)
    connect(m, control.slot, columns.slot, pairs.slot)
    connect(m, columns.column, control.column, pairs.column)
    connect(m, pairs.pair, control.pair)
    slot, column = control.slot, columns.column
    asked = Signal(COUNT_BITS)
    m.d.sync += asked.eq(Mux(slot.ahead | slot.drop, column.ahead_index, pairs.pair.i))
    m.d.comb += [
        columns.inner_digits.eq(inner),
        columns.rounds.eq(outer),
        columns.beyond_inner.eq(asked >= column.inner),
        columns.beyond_outer.eq(asked >= column.outer),
    ]
    found = []

    async def bench(context):
        await context.tick()
        context.set(getattr(control, command), 1)
        await context.tick()
        context.set(getattr(control, command), 0)
        done = False
        while not done:
            assert len(found) < 10_000
            (name,) = (name for name in ("idle", *SLOTS) if context.get(getattr(slot, name)))
            k = context.get(column.k)
            k -= (k == (2 << COUNT_BITS) - 1) << (COUNT_BITS + 1)
            pair = context.get(pairs.pair.i), context.get(pairs.pair.j)
            found.append((name, k, pair))
            done = context.get(control.done)
            await context.tick()
        assert context.get(slot.idle)

    simulator = Simulator(m)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize(
    ("inner", "outer"), [(3, 2), (3, 3), (4, 4), (5, 5), (8, 8), (9, 9), (3, 9), (9, 3), (12, 2)]
)
def test_multiplication(inner, outer):
    expected = list(rows(inner, outer))
    assert len(expected) == CompactMultiplication().cycles(inner, outer)
    found = walk(inner, outer, "start")
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    for (_, _, pair), row in zip(found, expected, strict=True):
        assert row[2] in (None, pair), row


@pytest.mark.parametrize("inner", [3, 4, 9])
def test_preparation(inner):
    expected = list(linear_rows(inner))
    assert len(expected) == CompactMultiplication().prepare_cycles(inner)
    assert [row[:2] for row in walk(inner, inner, "prepare")] == expected
