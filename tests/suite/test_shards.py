"""Shards have all tests once, and take equally long."""

import itertools
import random

import pytest

from tests.suite.shards import cut, parse


def test_each_unit_is_in_one_shard():
    generator = random.Random(1)
    units = {f"unit {k}": generator.expovariate(1 / 60) for k in range(200)}
    shards = cut(units, 12)
    assert sorted(itertools.chain(*shards)) == sorted(units)
    sums = [sum(units[name] for name in shard) for shard in shards]
    assert max(sums) < 1.02 * sum(sums) / 12


def test_the_longest_unit_is_alone():
    shards = cut({"long": 100.0, "a": 1.0, "b": 2.0, "c": 3.0}, 2)
    assert shards == [["long"], ["c", "b", "a"]]


def test_the_order_of_units_does_not_matter():
    units = {f"unit {k}": float(k % 5) for k in range(40)}
    assert cut(units, 7) == cut(dict(reversed(units.items())), 7)


def test_more_shards_than_units():
    assert cut({"a": 1.0}, 3) == [["a"], [], []]


def test_a_shard_is_read():
    assert parse("3/12") == (3, 12)
    assert parse("1/1") == (1, 1)


@pytest.mark.parametrize("text", ["0/12", "13/12", "3", "3/", "a/b", "-1/2", "1/2/3", "", "1/0"])
def test_what_is_no_shard(text):
    with pytest.raises(ValueError, match=r"a shard is K/N with K in 1..N, for example 3/12, not '"):
        parse(text)
