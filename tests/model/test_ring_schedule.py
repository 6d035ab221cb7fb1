import heapq
import itertools
import random
from collections import Counter, defaultdict

import pytest

from coprime.model.ring import descaled, pairs, product, products, scaled_modulus, to_words, words
from coprime.model.ring_schedule import RingPlan, Timing, least_step

WORD = 17
RINGS = [
    (ring, latency)
    for ring in (
        RingPlan(7, 0, 1, 8),
        RingPlan(12, 0, 1, 13),
        RingPlan(12, 1, 1, 14),
        RingPlan(12, 0, 2, 13),
        RingPlan(13, 1, 2, 15),
        RingPlan(13, 2, 2, 16),
        RingPlan(14, 1, 4, 16),
        RingPlan(15, 2, 4, 18),
    )
    for latency in (3, 10)
]


class Machine:
    """Squares x again and again modulo m, with words read and written when `timing` says so.

    A word that is read too early is that of the multiplication before, and one that has been
    overwritten is that of the next: the result is wrong then.
    """

    def __init__(self, timing, x, m):
        self.timing, self.ring = timing, timing.ring
        D = self.ring.count
        self.x, self.q = to_words(x, D, WORD), [0] * D
        self.m = to_words(scaled_modulus(m, WORD, self.ring.delay), D, WORD)
        self.diagonals = defaultdict(int)
        self.columns = defaultdict(int)
        self.running, self.carry, self.results = Counter(), Counter(), Counter()

    def run(self, squarings):
        events = []  # cycle, writes before reads, multiplication, what
        for number in range(squarings):
            begin = number * self.timing.period
            for column, cycle in enumerate(self.timing.written):
                events.append((begin + cycle, 0, number, column))
            for cycle, slot in self.timing.reads():
                events.append((begin + cycle, 1, number, slot))
        heapq.heapify(events)
        while events:
            _, reads, number, what = heapq.heappop(events)
            (self.multiply if reads else self.write)(number, what)
        return [self.results[number] for number in range(squarings)]

    def multiply(self, number, slot):
        a, b = (self.q, self.m) if slot.quotient else (self.x, self.x)
        if slot.i == slot.j:
            self.diagonals[number, slot.column] += a[slot.i] * b[slot.i]
        else:
            self.columns[number, slot.column] -= (a[slot.i] - a[slot.j]) * (b[slot.i] - b[slot.j])

    def write(self, number, column):
        D = self.ring.count
        gone = self.diagonals[number, column - D]
        self.running[number] += self.diagonals[number, column] - gone
        total = self.carry[number] + self.running[number] + self.columns[number, column]
        self.carry[number], word = divmod(total, 1 << WORD)
        if column < D:
            self.q[column] = word
        else:
            self.x[column - D] = word
            self.results[number] += word << WORD * (column - D)


def squares(timing, squarings=5):
    """Results of the machine, and those of integers."""
    D, delay = timing.ring.count, timing.ring.delay
    bits = WORD * (D - 1 - delay) - 2
    assert words(bits, WORD, delay) == D
    generator = random.Random(D)
    m = generator.getrandbits(bits) | 1 << bits - 1 | 1
    x = expected = generator.randrange(m)
    results = Machine(timing, x, m).run(squarings)
    for _ in range(squarings):
        expected = product(expected, expected, m, D, WORD, delay).value
    left = descaled(results[-1], m, D, WORD, delay)
    power = pow(x, 1 << squarings, m) * pow(2, -WORD * D * (1 << squarings), m) % m
    return left % m == power, results[-1] == expected


@pytest.mark.parametrize(("ring", "latency"), RINGS)
@pytest.mark.parametrize("equal", [True, False])
def test_squarings_in_a_row(ring, latency, equal):
    """With the least step, five squarings without a pause give a power."""
    timing = Timing.at_least(ring, least_step(ring, latency, equal=equal), latency)
    assert squares(timing) == (True, True)


@pytest.mark.parametrize(("ring", "latency"), RINGS)
def test_conflicts_are_wrong_results(ring, latency):
    """For every step from none to two more than the least: no conflict where the power is right."""
    least = least_step(ring, latency)
    wrong = 0
    for step in range(1, least + 3):
        timing = Timing.at_least(ring, step, latency)
        right, same = squares(timing)
        assert right == same == (not any(timing.conflicts()))
        wrong += not right
    assert wrong or least <= min(ring.slots)


@pytest.mark.parametrize("tiles", [1, 2, 4])
@pytest.mark.parametrize("delay", [0, 1, 2])
def test_every_product_once(tiles, delay):
    """Each column's pairs and diagonals as in the arithmetic, and no tile with two in a cycle."""
    for D in range(max(4, delay + 2), 24):
        ring = RingPlan(D, delay, tiles, D + max(1, delay))
        inner = D - 1 - delay
        expected = Counter()
        for c in range(2 * D):
            expected.update((c, False, i, j) for i, j in pairs(c, D, D))
            expected.update((c, True, i, j) for i, j in pairs(c - 1 - delay, D, inner))
        expected.update((c, False, c, c) for c in range(D))
        expected.update((k + 1 + delay, True, k, k) for k in range(inner))
        reads = list(Timing.at_least(ring, 1, 1).reads())
        assert Counter(tuple(slot) for _, slot in reads) == expected
        assert len(reads) == products(D, delay)
        cycles = Counter((cycle, tiles > 1 and slot.quotient) for cycle, slot in reads)
        assert max(cycles.values()) <= max(1, tiles // 2)
        period = sum(ring.slots)
        busy = Counter((c % period, tiles > 1 and slot.quotient) for c, slot in reads)
        assert max(busy.values()) <= max(1, tiles // 2)


@pytest.mark.parametrize("latency", [1, 10, 30])
def test_one_tile_without_delay(latency):
    """D^2 + D - 1 cycles, a product in each, where the latency is at most D - 1.

    Steps about D - 1 have one slot more or less than D, so equal steps take (D + 1)^2 cycles.
    """
    for D in (*range(3, 42), 62, 90):
        ring = RingPlan(D, 0, 1, D + 1)
        step = least_step(ring, latency)
        if latency < D:
            assert Timing.at_least(ring, step, latency).period == D * D + D - 1 == products(D, 0)
        assert step == (D - 1 if latency < D else latency + 1)
        assert least_step(ring, latency, equal=True) == max(D + 1, latency + 1)


@pytest.mark.parametrize(("delay", "extra"), [(0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (2, 3)])
def test_one_tile_has_a_product_in_every_cycle(delay, extra):
    for D in (*range(12, 42), 62, 90):
        ring = RingPlan(D, delay, 1, D + extra)
        assert Timing.at_least(ring, least_step(ring, 3), 3).period == products(D, delay)


@pytest.mark.parametrize(
    ("delay", "extra", "parity", "spare"),
    [(0, 1, 0, 1), (0, 2, 1, 1), (1, 1, 0, 0), (1, 1, 1, 0), (1, 2, 0, 1), (1, 2, 1, 1)],
)
def test_two_tiles(delay, extra, parity, spare):
    """Half of D^2 + D, and a cycle more at the most; without delay, P must be odd for that."""
    for D in (*range(12 + parity, 42, 2), 62 + parity, 88 + parity):
        ring = RingPlan(D, delay, 2, D + extra)
        assert Timing.at_least(ring, least_step(ring, 3), 3).period == (D * D + D) // 2 + spare


@pytest.mark.parametrize("tiles", [1, 2, 4])
def test_longer_latency_never_needs_a_shorter_step(tiles):
    for D, delay in itertools.product((6, 9, 22), (0, 1)):
        ring = RingPlan(D, delay, tiles, D + 2)
        steps = [least_step(ring, latency) for latency in range(1, 25)]
        assert steps == sorted(steps)


def test_delay_needs_places():
    """q_i is overwritten before its last read with too few places, however long the steps are."""
    with pytest.raises(ValueError, match="21 places are too few for 20 words and a delay of 2"):
        least_step(RingPlan(20, 2, 1, 21), 3)
    conflict = next(Timing.at_least(RingPlan(20, 2, 1, 21), 30, 3).conflicts())
    assert "overwritten" in conflict


def test_what_a_conflict_says():
    conflict = next(Timing.at_least(RingPlan(5, 0, 1, 6), 1, 9).conflicts())
    assert conflict.endswith("is not yet written")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 0, 1, 3), "count must be 3 or more, not 2"),
        ((5, 4, 1, 9), "delay must be 0 to 3, not 4"),
        ((5, 0, 3, 6), r"tiles must be one of \(1, 2, 4\), not 3"),
        ((5, 0, 1, 5), "places must be 6 to 10, not 5"),
        ((5, 0, 1, 11), "places must be 6 to 10, not 11"),
    ],
)
def test_wrong_rings(arguments, message):
    with pytest.raises(ValueError, match=message):
        RingPlan(*arguments)


@pytest.mark.parametrize(
    ("lengths", "latency", "message"),
    [
        ((6,) * 6, 0, "latency must be 1 or more, not 0"),
        ((6,) * 5, 1, "lengths must be 6, not 5"),
        ((6, 6, 6, 6, 5, 6), 1, "step 4 must have 6 cycles or more, not 5"),
    ],
)
def test_wrong_timings(lengths, latency, message):
    with pytest.raises(ValueError, match=message):
        Timing(RingPlan(5, 0, 1, 6), lengths, latency)
