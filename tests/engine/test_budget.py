"""A budget of DSP slices picks the fastest design, by cycles that are those of real keys."""

import itertools
import math
import re
from pathlib import Path

import pytest

from coprime.catalog import FAMILIES, choose, family_named
from coprime.engine.contract import Command
from coprime.operations.lengths import Lengths
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers

RING = family_named("ring")
BUDGET = RING.budget
SLOW = pytest.mark.matrix
LIMITS = (1, 2, 3, 4, 5, 6, 11, 12, 17, 18, 24, BUDGET.parameter.maximum)


def private_cycles(choice):
    """Of RSA_PRIVATE with a key as long as the design takes."""
    bits = choice.values["max_bits"]
    operands = random_numbers(Command.RSA_PRIVATE, bits, seed=2)
    return predict_operation(choice.design, Command.RSA_PRIVATE, operands).cycles


@pytest.mark.parametrize("bits", [64, *(pytest.param(bits, marks=SLOW) for bits in (1023, 2048))])
def test_the_fastest_within_each_budget(bits):
    """Of every combination that the budget stands for, by predictions for a real key."""
    names = BUDGET.parameter.picks
    every = {}
    for values in itertools.product(*(BUDGET.choices[name] for name in names)):
        settings = dict(zip(names, map(str, values), strict=True))
        choice = RING.choose({"max_bits": str(bits), **settings})
        every[tuple(choice.values.items())] = private_cycles(choice)
    for limit in LIMITS:
        picked = RING.choose({"max_bits": str(bits), "dsp": str(limit)})
        within = {
            cycles for values, cycles in every.items() if BUDGET.slices(**dict(values)) <= limit
        }
        assert BUDGET.slices(**picked.values) <= limit
        assert every[tuple(picked.values.items())] == min(within)


def test_the_design_has_what_was_picked_and_no_budget():
    picked = RING.choose({"dsp": "2"})
    assert picked.values == RING.choose({"tile": "one17", "multipliers": "2"}).values
    assert "dsp" not in picked.command("build")


def test_what_is_given_stays():
    assert RING.choose({"dsp": "12", "multipliers": "1"}).values["multipliers"] == 1
    assert RING.choose({"dsp": "36", "tile": "one17"}).values["tile"] == "one17"
    with pytest.raises(ValueError, match="no such design has 5 DSP slices or less; the smallest"):
        RING.choose({"dsp": "5", "tile": "bal50"})


@pytest.mark.matrix
def test_the_size_follows_the_key():
    """And what is picked follows the size."""
    picked = RING.choose({"dsp": "6"}, Lengths(2000, 1000, 17))
    assert picked == RING.choose({"dsp": "6", "max_bits": "2048"})
    candidates = RING.within_budget({"dsp": "6"}, Lengths(2000, 1000, 17))
    assert candidates[0].values == picked.values
    assert [one.cycles for one in candidates] == sorted(one.cycles for one in candidates)


def test_the_largest_budget_is_the_largest_design():
    most = max(
        BUDGET.slices(**RING.choose({"tile": tile, "tiles": "2", "multipliers": "2"}).values)
        for tile in BUDGET.choices["tile"]
    )
    assert BUDGET.parameter.maximum == most


@pytest.mark.parametrize("bits", [64, 65, 1023])
def test_stand_in_numbers_are_coprime_and_take_the_cycles_of_a_key(bits):
    candidates = RING.within_budget({"dsp": "1", "max_bits": str(bits)})
    assert candidates[0].cycles == private_cycles(RING.choose({"dsp": "1", "max_bits": str(bits)}))
    assert math.gcd((1 << 512) - 1, (1 << 512) - 3) == 1


@pytest.mark.matrix
def test_blinded_designs_have_the_cycles_of_a_key():
    """For every budget."""
    settings = {"max_bits": "256", "blinding": "all"}
    picked = set()
    for limit in range(1, BUDGET.parameter.maximum + 1):
        first, *_ = RING.within_budget({**settings, "dsp": str(limit)})
        choice = RING.choose({**settings, "dsp": str(limit)})
        assert choice.values == first.values
        assert first.slices <= limit
        picked.add((choice, first.cycles))
    assert len(picked) > 3
    for choice, cycles in picked:
        assert choice.values["blinding"] == "all"
        assert private_cycles(choice) == cycles


def test_blinded_exponents_need_room_beside_a_prime():
    settings = {"max_bits": "64", "blinding": "all", "dsp": "36"}
    with pytest.raises(ValueError, match="primes of half the length of max_bits; set a larger"):
        RING.choose(settings)
    assert RING.choose({**settings, "max_bits": "128"})


def section():
    """Of the page: the one on budgets."""
    text = (Path(__file__).parents[2] / "docs" / "ring.md").read_text("utf-8")
    return text.partition("\n## A budget of DSP slices\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("column", "bits"),
    [(0, 1024), *(pytest.param(*one, marks=SLOW) for one in ((1, 2048), (2, 4096)))],
)
def test_the_page_tells_what_is_picked(column, bits):
    rows = re.findall(r"^\| (\d+) \| (.*) \| (.*) \| (.*) \|$", section(), re.MULTILINE)
    assert [int(limit) for limit, *_ in rows] == [1, 2, 3, 6, 12, 18, 24, 36]
    for limit, *picked in rows:
        values = RING.choose({"dsp": limit, "max_bits": str(bits)}).values
        text = f"{values['multipliers']} × {values['tiles']} `{values['tile']}`"
        assert picked[column] == text, (limit, bits)


def test_a_cluster_has_the_budget_of_its_engine():
    cluster = choose("cluster", {"engine": "ring", "dsp": "3", "cores": "2"})
    assert cluster.core == RING.choose({"dsp": "3"})


def test_refused():
    with pytest.raises(ValueError, match=r"dsp must be an integer in 1\.\.\d+, not '0'"):
        RING.choose({"dsp": "0"})
    with pytest.raises(ValueError, match="compact has no parameter 'dsp'"):
        FAMILIES["compact"].choose({"dsp": "1"})
    with pytest.raises(ValueError, match="ring is given no budget of DSP slices"):
        RING.within_budget({})
