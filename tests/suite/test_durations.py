"""Recorded durations: written, read, replaced by newer ones, and used where there are none."""

from tests.suite import durations
from tests.suite.durations import Recorded
from tests.suite.plugin import LIMITS, REASONS

ONE = Recorded(cases=4, seconds=20.0, longest=8.0, measured=True)
OLD = {("a.py::test_a", ""): ONE, ("a.py::test_gone", ""): ONE, ("b.py::test_b", "fdfm"): ONE}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "durations.csv"
    durations.write(OLD, path)
    assert durations.read(path) == OLD
    assert path.read_text().splitlines()[:2] == [
        "test,group,cases,seconds,longest,measured",
        "a.py::test_a,,4,20.0,8.0,yes",
    ]


def test_without_a_file(tmp_path):
    assert durations.read(tmp_path / "durations.csv") == {}


def test_a_case_takes_the_mean():
    more = OLD | {("b.py::test_b", "ring"): Recorded(1, 30.0, 30.0, True)}
    seconds_of = durations.expected(more)
    assert seconds_of("a.py::test_a", "", "matrix") == 5.0
    assert seconds_of("b.py::test_b", "fdfm", "matrix") == 5.0
    assert seconds_of("b.py::test_b", "compact", "matrix") == 10.0  # of all groups
    assert seconds_of("c.py::test_c", "", "route") == durations.UNKNOWN["route"]


def test_new_figures_replace_those_of_the_function():
    results = [
        ("a.py::test_a", "", 1.0),
        ("a.py::test_a", "", 3.0),
        ("b.py::test_b", "compact", 2.0),
        ("c.py::test_quick", "", 0.2),
    ]
    names = ["a.py::test_a", "b.py::test_b", "c.py::test_quick"]
    assert durations.measured(OLD, results, [*names, "a.py::test_gone"]) == {
        ("a.py::test_a", ""): Recorded(2, 4.0, 3.0, True),
        ("b.py::test_b", "compact"): Recorded(1, 2.0, 2.0, True),
        ("a.py::test_gone", ""): ONE,
    }
    assert ("a.py::test_gone", "") not in durations.measured(OLD, results, names)


def test_a_run_that_is_not_complete_replaces_no_figure_of_more_cases():
    results = [("a.py::test_a", "", 1.0), *[("b.py::test_b", "compact", 2.0)] * 4]
    assert durations.measured(OLD, results) == {
        ("a.py::test_a", ""): ONE,
        ("a.py::test_gone", ""): ONE,
        ("b.py::test_b", "compact"): Recorded(4, 8.0, 2.0, True),
    }


def test_every_reason_has_a_limit_and_an_estimate():
    assert set(LIMITS) == set(durations.UNKNOWN) == {"", *REASONS}


def test_no_case_is_near_its_limit():
    """The longest recorded case, on a free machine, takes at most half of what it may."""
    shortest = min(LIMITS.values())
    for key, one in durations.read().items():
        if one.measured and one.longest > shortest / 2:
            assert one.longest <= max(LIMITS.values()) / 2, key
