"""What pytest does with the markers of slow tests, and the options --shard, --results and --done.

A slow test has one of `REASONS` as its marker, which implies `slow`, and a time limit. Of a test
with `covering(strength)`, only as many slow cases exist as cover each combination of that many
values; of one with `matrix` alone, as many as have each value. Of a test with `matrix(quick=2)`, or
another reason, the first two cases that nothing else makes slow are quick.

Tests of one group run on one worker; without `xdist_group`, those of a file that share a fixture.
"""

import json
import os
from pathlib import Path

import pytest

from tests.suite import durations
from tests.suite.covering import covering
from tests.suite.shards import cut, parse

REASONS = ("fuzz", "vectors", "proof", "route", "clients", "matrix")
"""Of a test with several, on a parameter and by itself, the first one here counts."""
LIMITS = {
    "": 300,
    "matrix": 900,
    "vectors": 1800,
    "proof": 1800,
    "route": 2400,
    "fuzz": 1800,
    "clients": 1200,
}
"""Seconds for a case with what it builds, four times what is expected on a busy machine; a test may
have another one as its marker `timeout`."""


QUICK = pytest.StashKey[bool]()
"""Of a case that is quick although its function has a reason."""

BEGIN = pytest.StashKey[float]()
"""The processor time when a test began."""


def pytest_addoption(parser):
    group = parser.getgroup("suite", "Parts of the suite")
    group.addoption("--shard", metavar="K/N", help="run the Kth of N parts of all tests")
    group.addoption("--results", metavar="FILE", help="append each result, a line of JSON")
    group.addoption("--done", metavar="FILE", help="leave out the tests in its lines")
    group.addoption(
        "--patience", metavar="N", type=float, default=1, help="multiply all time limits by N"
    )
    group.addoption(
        "--products", action="store_true", help="make the cases that `covering` leaves out, too"
    )


def pytest_configure(config):
    if config.option.shard:
        try:
            parse(config.option.shard)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
    if config.option.results and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(Path(config.option.results)), "suite results")


def function_of(item):
    """The test without its parameters."""
    return item.nodeid.partition("[")[0]


def group_of(item):
    """The simulated design; nothing, if the test does not say."""
    marker = item.get_closest_marker("xdist_group")
    if marker is None:
        return ""
    return str(marker.args[0] if marker.args else marker.kwargs["name"])


def unit_of(item):
    """What is not divided: a design, or else a file."""
    return group_of(item) or item.nodeid.partition("::")[0]


def shares(item):
    """Whether it uses what is made once for its file, as a simulated design."""
    made = item._fixtureinfo.name2fixturedefs.values()
    return any(one[-1].scope in ("class", "module") for one in made if one)


def reason_of(item):
    """Why the test is slow, or nothing. Raises pytest.UsageError if it is slow without a reason."""
    quick = item.stash.get(QUICK, False)
    names = {one.name for one in item.iter_markers() if not (quick and "quick" in one.kwargs)}
    reason = next((one for one in REASONS if one in names), "")
    if not reason and "slow" in names:
        raise pytest.UsageError(
            f"{item.nodeid} is marked slow: a slow test has its reason as a marker, "
            f"of {', '.join(REASONS)}"
        )
    return reason


def keep_quick(cases):
    """Let as many cases of a function be quick as its reason says."""
    marker = next((one for one in cases[0].iter_markers() if "quick" in one.kwargs), None)
    left = marker.kwargs["quick"] if marker else 0
    for case in cases:
        case.stash[QUICK] = left > 0
        if left and not reason_of(case):
            left -= 1
        else:
            case.stash[QUICK] = False


def strength_of(cases):
    """How many values are combined in the slow cases of a function; 0 if all of them run."""
    marker = cases[0].get_closest_marker("covering")
    if marker is not None:
        return marker.args[0]
    return int({reason_of(case) for case in cases} <= {"", "matrix"})


def covered(cases, strength):
    """Without the slow cases of a function that a cover does not need."""
    chosen = covering(
        [case.callspec.params for case in cases],
        strength,
        always=lambda k: not reason_of(cases[k]),
        name=function_of(cases[0]),
    )
    return [case for k, case in enumerate(cases) if k in chosen]


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector):
    """Here and not when all are collected, so that pytest does not count what is left out."""
    made = yield
    if isinstance(made, list) and made and isinstance(made[0], pytest.Function):
        keep_quick(made)
    if collector.config.option.products or not isinstance(made, list) or len(made) < 2:
        return made
    strength = strength_of(made) if hasattr(made[0], "callspec") else 0
    return covered(made, strength) if strength else made


def of_shard(items, text):
    """The items of the shard K/N."""
    number, count = parse(text)
    seconds_of, units = durations.expected(durations.read()), {}
    for item in items:
        seconds = seconds_of(function_of(item), group_of(item), reason_of(item))
        units[unit_of(item)] = units.get(unit_of(item), 0.0) + seconds
    names = set(cut(units, count)[number - 1])
    return [item for item in items if unit_of(item) in names]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        reason = reason_of(item)
        if reason:
            item.add_marker(pytest.mark.slow)
        limited = item.get_closest_marker("timeout")
        limit = limited.args[0] if limited else LIMITS[reason]
        item.add_marker(pytest.mark.timeout(config.option.patience * limit), append=False)
        item.user_properties += [
            ("test", item.nodeid),
            ("function", function_of(item)),
            ("group", group_of(item)),
            ("reason", reason),
        ]
        if not group_of(item) and shares(item):
            item.add_marker(pytest.mark.xdist_group(unit_of(item)))
    selected = list(items)
    if config.option.shard:
        selected = of_shard(selected, config.option.shard)
    if config.option.done:
        done = {*Path(config.option.done).read_text().splitlines()}
        selected = [item for item in selected if item.nodeid not in done]
    left = {*selected}
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = selected


def processor_time():
    """Seconds of this process and of the ones that it started and that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    item.stash[BEGIN] = processor_time()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What else the machine does changes how long a test takes, but not its processor time."""
    report = yield
    report.user_properties.append(("seconds", round(processor_time() - item.stash[BEGIN], 3)))
    return report


class Results:
    """Appends a line to the file as soon as a test has ended; an interruption loses none."""

    def __init__(self, path):
        self.path = path
        self.phases = {}

    def pytest_runtest_logreport(self, report):
        known = dict(report.user_properties)
        # A test that took its worker with it is reported by the name that xdist gave it.
        test = known.get("test", report.nodeid.partition("@")[0])
        phases = self.phases.setdefault(test, [])
        phases.append(report)
        if report.when not in ("setup", "call"):
            self.write(test, self.phases.pop(test))

    def write(self, test, phases):
        known = dict(phases[0].user_properties)
        failed = [one for one in phases if one.failed]
        skipped = [one for one in phases if one.skipped]
        why = ""
        if skipped and hasattr(skipped[0], "wasxfail"):
            why = f"expected to fail: {skipped[0].wasxfail}"
        elif skipped and isinstance(skipped[0].longrepr, tuple):
            why = skipped[0].longrepr[2].removeprefix("Skipped: ")
        line = {
            "test": test,
            "function": known.get("function", test.partition("[")[0]),
            "group": known.get("group", ""),
            "reason": known.get("reason", ""),
            "outcome": "failed" if failed else "skipped" if skipped else "passed",
            "crashed": phases[-1].when not in ("setup", "call", "teardown"),
            "seconds": dict(phases[-1].user_properties).get("seconds", 0.0),
            "clock": round(sum(one.duration for one in phases), 3),
            "why": why,
        }
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
