"""When products that overlap begin and end: the model alone, and beside the ring multiplier."""

import random
from dataclasses import dataclass, replace

import pytest

from coprime.engine.sequencer.overlap import OverlapModel, ProductUnderWay, SumUnderWay
from coprime.multipliers.multiplication import WRITES_LATER
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.program.operands import Context, Entry
from coprime.program.steps import StepKind
from tests.multipliers.ring.ring_bench import Product, run, tiny_tiles
from tests.multipliers.ring.test_multiplier import modulus_of
from tests.program.steps import linear, multiply

PLACES = list(Entry)[:6]
"""Of the bench's places 2 to 7."""
WORD, LATENCY = 8, 6
SHAPES = [(1, 0, False), (2, 0, False), (2, 1, False), (1, 0, True), (1, 1, True)]


@dataclass
class Counter:
    cycles: int = 0


def multiplication_of(tiles, delay, skewed):
    some = tiny_tiles(WORD, LATENCY, 9, tiles, skewed=skewed)
    latency = some[0].latency(holds=tiles == 2)
    return RingMultiplication(WORD, latency, tiles, delay, int(skewed))


def product_step(product):
    x, y, to = (PLACES[place - 2] for place in (product.x, product.y, product.to))
    step = multiply(to, x, y, Context.WHOLE, "")
    return replace(step, descale=product.descale)


def timeline(multiplication, products, inner):
    """Cycles of each `done`, the first idle one, and the products with whether they may follow."""
    lane = Counter(1)
    model = OverlapModel(lane, multiplication, None)
    model.prepare(inner)
    dones, asked = [lane.cycles - 1], []
    for product in products:
        step = product_step(product)
        follows = model._new is not None and model._may_follow(step, inner)
        start = model.idle if product.wait is None else dones[-1] + 1 + product.wait
        lane.cycles = max(start, dones[-1] + 1) + 1
        model.multiply(step, inner, inner)
        dones.append(lane.cycles - 1)
        asked.append(replace(product, follows=follows))
    return dones, model.idle, asked


def random_products(generator, count):
    for k in range(count):
        x, y, to = (generator.randrange(2, 8) for _ in range(3))
        if generator.random() < 0.3:
            y = x
        wait = generator.choice([0, 0, 0, 1, 2, 5, 20, None])
        yield Product(x, y, to, descale=k == count - 1 or generator.random() < 0.1, wait=wait)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("tiles", "delay", "skewed"),
    [pytest.param(*one, marks=[pytest.mark.matrix] * (one[2] or one[1])) for one in SHAPES],
)
def test_products_take_the_multipliers_cycles(tiles, delay, skewed):
    """Chains, waits in which one just follows or just does not, squares, and ends of chains."""
    multiplication = multiplication_of(tiles, delay, skewed)
    inner, generator = 9, random.Random(9)
    products = [*random_products(generator, 20)]
    dones, idle, asked = timeline(multiplication, products, inner)
    modulus = modulus_of(inner, WORD, generator, delay)
    operands = {place: generator.randrange(modulus) for place in range(2, 8)}
    some = tiny_tiles(WORD, LATENCY, inner, tiles, skewed=skewed)
    outcome = run(some, modulus, operands, asked, inner=inner, delay=delay)
    assert (outcome.dones, outcome.idle) == (dones, idle)
    assert sum(one.follows for one in asked) > 8


def under_way(multiplication, count, takes=100, follows=None, joins=0):
    step = multiply(PLACES[0], PLACES[1], PLACES[2], Context.WHOLE, "")
    return ProductUnderWay(multiplication, step, count, takes, follows, 0, joins)


@pytest.mark.parametrize(("tiles", "delay", "skewed"), SHAPES)
@pytest.mark.parametrize("count", [7, 9, 12])
def test_steps_of_a_product_are_in_order(tiles, delay, skewed, count):
    one = under_way(multiplication_of(tiles, delay, skewed), count)
    assert one.begins == sorted(set(one.begins))
    assert one.takes < one.turns <= one.joins_until <= one.closes
    assert one.writes == sorted(set(one.writes))
    assert one.writes[0] > one.turns
    assert not one.writes_of_last
    after = under_way(one.multiplication, count, one.closes, one, one.turns)
    assert after.writes_of_last[0] > one.turns
    # What it writes of the last one is written before its own result.
    assert max(after.writes_of_last) < min(after.writes)


@pytest.mark.parametrize(("tiles", "delay", "skewed"), SHAPES)
def test_a_sum_takes_no_cycle_of_a_products_ports(tiles, delay, skewed):
    """Its digits are asked for where no word is, and written where none is read or written."""
    product = under_way(multiplication_of(tiles, delay, skewed), 9)
    for first in range(60, 260, 7):
        check_sum(product, first)


def check_sum(product, first):
    before = SumUnderWay(first - 9, 3, [], None, set())
    before.advance(product, digits=3)
    one = SumUnderWay(before.ends + 1, 9, [], before, set())
    one.advance(product, digits=9)
    assert len(one.asked) == 9 and one.asked == sorted(set(one.asked))
    assert one.asked[0] >= before.ends + 1
    assert all(b - a >= 2 for a, b in zip(one.asked, one.asked[1:], strict=False))
    taken = {*product.writes}
    assert taken.isdisjoint(one.asked)
    assert taken.isdisjoint(one.writes)
    assert {*before.writes}.isdisjoint(one.asked)
    assert set(one.writes).isdisjoint(one.asked)
    assert one.writes == [at + WRITES_LATER for at in one.asked]
    alone = SumUnderWay(before.ends + 1, 9, [], None, set())
    alone.advance(None, digits=9)
    assert alone.asked == [alone.first + 2 * k for k in range(9)]
    assert one.ends >= alone.ends


def test_a_sum_waits_for_the_words_of_a_product_that_it_takes():
    multiplication = multiplication_of(2, 0, False)
    product = under_way(multiplication, 9)
    one = SumUnderWay(product.turns, 9, product.writes, None, set())
    one.advance(product, digits=9)
    assert all(at > made for at, made in zip(one.asked, product.writes, strict=False))


def test_in_parts_it_is_the_same_sum():
    """However far it was asked to go on before."""
    product = under_way(multiplication_of(2, 0, False), 9)
    whole = SumUnderWay(120, 9, [], None, set())
    whole.advance(product, digits=9)
    for cycle in range(115, 220, 3):
        parts = SumUnderWay(120, 9, [], None, set())
        for until in range(115, cycle, 4):
            parts.advance(product, digits=9, until=until)
        parts.advance(product, digits=4)
        parts.advance(product, digits=9)
        assert parts.asked == whole.asked


def test_what_waits():
    lane, multiplication = Counter(1), multiplication_of(2, 0, False)
    plain = OverlapModel(lane, multiplication, None)
    beside = OverlapModel(lane, multiplication, {one: k for k, one in enumerate(PLACES)})
    add = linear(StepKind.ADD, PLACES[0], PLACES[1], PLACES[2], Context.WHOLE, "")
    check = linear(StepKind.CHECK_BELOW, PLACES[0], PLACES[1], PLACES[2], Context.WHOLE, "")
    assert plain.waits(add) and plain.waits(check)
    assert beside.waits(check) and not beside.waits(add)


def test_a_sum_of_a_products_result_waits_for_its_turn():
    """A sum that reads what the product is to write, or writes what it reads, begins after."""
    multiplication = multiplication_of(2, 0, False)
    numbers = {one: k for k, one in enumerate(PLACES)}
    step = multiply(PLACES[0], PLACES[1], PLACES[2], Context.WHOLE, "")

    def ends(destination, x, y):
        lane = Counter(1)
        model = OverlapModel(lane, multiplication, numbers)
        model.prepare(9)
        lane.cycles += 1
        model.multiply(step, 9, 9)
        lane.cycles += 1
        model.add(linear(StepKind.ADD, destination, x, y, Context.WHOLE, ""), 9)
        assert model._new is not None and model._sum is not None
        return model._sum.asked[0], model._new

    early, product = ends(PLACES[3], PLACES[4], PLACES[5])
    assert early < product.turns
    for named in (
        (PLACES[3], PLACES[0], PLACES[5]),  # of its result
        (PLACES[1], PLACES[4], PLACES[5]),  # over a factor
    ):
        late, product = ends(*named)
        assert late > product.turns
