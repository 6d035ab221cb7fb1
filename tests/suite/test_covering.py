"""What covers each combination of values, and takes what runs anyway."""

import itertools
import math

import pytest

from tests.suite.covering import covering, factors


def pairs(cases):
    return {
        pair for case in cases for pair in itertools.combinations(sorted(factors(case).items()), 2)
    }


def product(**values):
    return [dict(zip(values, one, strict=True)) for one in itertools.product(*values.values())]


@pytest.mark.parametrize(
    "values",
    [
        {"family": "abcde", "bits": range(9), "blinding": (False, True), "padding": "xyz"},
        {"family": "ab", "bits": range(3)},
        {"family": "ab", "bits": range(2), "bus": "xy", "target": "st", "how": "vw"},
    ],
)
def test_every_pair_occurs_in_few_cases(values):
    cases = product(**values)
    chosen = covering(cases, 2)
    assert pairs([cases[k] for k in chosen]) == pairs(cases)
    longest = sorted((len(one) for one in values.values()), reverse=True)
    least = math.prod(longest[:2])
    assert least <= len(chosen) <= max(least + 4, least * 1.3)
    assert len(chosen) < len(cases) or len(values) == 2


def test_every_value_occurs():
    cases = product(family="abcde", bits=range(9), blinding=(False, True))
    chosen = [cases[k] for k in covering(cases, 1)]
    assert len(chosen) == 9
    assert {case["family"] for case in chosen} == set("abcde")
    assert {case["blinding"] for case in chosen} == {False, True}


def test_what_runs_anyway_counts():
    cases = product(a=range(6), b=range(6), c=range(6))
    first = {k for k, case in enumerate(cases) if case["a"] == 0}
    chosen = covering(cases, 2, always=first.__contains__)
    assert first <= chosen
    assert pairs([cases[k] for k in chosen]) == pairs(cases)
    assert len(chosen - first) < 36


def test_only_combinations_that_occur():
    cases = [case for case in product(a=range(5), b=range(5), c="xy") if case["a"] <= case["b"]]
    assert pairs([cases[k] for k in covering(cases, 2)]) == pairs(cases)


def test_settings_are_taken_apart():
    given = {"bench": ("fdfm", {"max_bits": 96, "window": 4}), "e": 3}
    parts = {"bench.0": "fdfm", "bench.1.max_bits": 96, "bench.1.window": 4, "e": 3}
    assert factors(given) == parts


def test_values_without_a_hash():
    lists = [[1], [2], [3]]
    cases = product(a=lists, b=range(2), c=range(2))
    assert len(covering(cases, 1)) == 3


def test_one_and_true_differ():
    cases = product(a=[1, True, 0, False], b=[0])
    assert len(covering(cases, 1)) == 4


def test_tests_of_the_same_cases_share_them():
    """What one leaves out, another one runs: a configuration is not always the one left out."""
    cases = [{"bits": k % 4, "family": k % 5} for k in range(40)]
    names = [f"test_{k}" for k in range(40)]
    assert len(set().union(*(covering(cases, 1, name=name) for name in names))) > 20
    assert covering(cases, 1, name="a") == covering(cases, 1, name="a")


def test_no_cases():
    assert covering([], 2) == set()
