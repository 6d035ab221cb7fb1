"""How long the steps of a ring are, against when each word is written and read."""

import pytest

from coprime.model.ring import products
from coprime.model.ring_schedule import RingPlan, Timing, least_step
from coprime.multipliers.ring.multiplication import RingMultiplication


@pytest.mark.parametrize(
    ("latency", "delay"), [(1, 0), (4, 0), (6, 0), (12, 0), (1, 1), (6, 1), (7, 1)]
)
def test_no_word_is_read_too_early_or_overwritten(latency, delay):
    multiplication = RingMultiplication(17, latency, 1, delay)
    for D in (*range(multiplication.least, 40), 62, 90):
        places = multiplication.places(D)
        lengths = tuple(multiplication.step(s, D) for s in range(places))
        timing = Timing(RingPlan(D, delay, 1, places), lengths, multiplication.loop)
        assert not list(timing.conflicts())
        assert timing.period == multiplication.period(D)


def test_delayed_q_is_faster_where_the_loop_is_longer_than_the_words():
    """Cycles of a product on `kara95`."""
    skewed = [RingMultiplication(95, 7, 1, delay, 1) for delay in (0, 1)]
    periods = [[one.period(D) for D in (6, 7, 8, 12)] for one in skewed]
    assert periods == [[82, 94, 106, 156], [49, 56, 70, 154]]


@pytest.mark.parametrize("latency", [4, 5, 6, 7])
def test_period_is_a_cycle_more_than_products(latency):
    """Where D is `loop` + 2 or more, no step waits for the newest word."""
    multiplication = RingMultiplication(17, latency)
    for D in range(multiplication.loop + 2, 90):
        assert multiplication.period(D) == D * D + D == products(D, 0) + 1
        assert multiplication.products(D, D) == products(D, 0)


@pytest.mark.parametrize("latency", [1, 4, 5, 6, 7, 12])
@pytest.mark.parametrize("delay", [0, 1])
def test_two_tiles_read_no_word_too_early(latency, delay):
    """The period is that of the shortest steps, and a few cycles more."""
    multiplication = RingMultiplication(17, latency, 2, delay)
    for D in (*range(multiplication.least, 40), 62, 90):
        ring = RingPlan(D, delay, 2, multiplication.places(D))
        lengths = tuple(multiplication.step(s, D) for s in range(ring.places))
        timing = Timing(ring, lengths, multiplication.loop)
        assert not list(timing.conflicts())
        assert timing.period == multiplication.period(D)
        if min(lengths) > multiplication.least_step:
            shortest = Timing.at_least(ring, least_step(ring, timing.latency), timing.latency)
            assert 0 < timing.period - shortest.period <= 2 + delay


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, 0), "tiles must be 1 or 2, not 4"),
        ((1, 2), "delay must be 0 or 1, not 2"),
        ((2, 0, 1), "skew must be 0 to 0, not 1"),
        ((1, 0, 2), "skew must be 0 to 1, not 2"),
    ],
)
def test_wrong_tiles_and_delays(arguments, message):
    with pytest.raises(ValueError, match=message):
        RingMultiplication(17, 6, *arguments)


def test_a_step_less_is_a_conflict():
    """The oracle sees what a loop that is a cycle longer than the multiplier's does."""
    multiplication, D = RingMultiplication(17, 6), 9
    lengths = tuple(multiplication.step(s, D) for s in range(D + 1))
    timing = Timing(RingPlan(D, 0, 1, D + 1), lengths, multiplication.loop + 2)
    assert next(timing.conflicts()).endswith("is not yet written")


def test_a_step_less_with_delayed_q_is_a_conflict():
    """With d = 1, two steps are longer than the loop."""
    multiplication, D = RingMultiplication(95, 7, 1, 1, 1), 6
    lengths = (multiplication.step(s, D) - (s == 4) for s in range(D + 2))
    timing = Timing(RingPlan(D, 1, 1, D + 2), tuple(lengths), multiplication.loop)
    assert list(timing.conflicts()) == ["column 4, cycle 27: q_2 is not yet written"]
