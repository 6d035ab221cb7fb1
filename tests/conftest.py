"""Fixtures for all tests."""

import gc
import os
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import pytest

from coprime.flow.cache import cache_folder
from coprime.flow.sources import sources
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import find_compiler
from tests.benches import Bench, open_bench
from tests.pqc.newer_openssl import build_newer_openssl

pytest_plugins = ["tests.suite.plugin"]

# A design is millions of small objects that live on: with Python's own thresholds the collector
# takes a tenth of the tests' time, and of the largest designs' tests two thirds.
gc.set_threshold(50_000, 20, 50)


def pytest_configure(config):
    """Most simulations take longer to compile than they run."""
    if not hasattr(config, "workerinput"):
        with suppress(ToolError):
            os.environ["CXX"] = shlex.join([*find_compiler().command, "-Og"])


@pytest.fixture(scope="session")
def fdfm() -> Iterator[Bench]:
    """The fdfm accelerator, simulated."""
    bench = open_bench("fdfm")
    yield bench
    bench.device.close()


@pytest.fixture(scope="session")
def karatsuba() -> Iterator[Bench]:
    """The karatsuba accelerator with its default parameters, simulated."""
    bench = open_bench("karatsuba")
    yield bench
    bench.device.close()


@pytest.fixture(scope="session")
def compact() -> Iterator[Bench]:
    """The compact accelerator for 2048 bits, simulated."""
    bench = open_bench("compact", max_bits=2048)
    yield bench
    bench.device.close()


@pytest.fixture(scope="session")
def ring() -> Iterator[Bench]:
    """The ring accelerator for 2048 bits, simulated."""
    bench = open_bench("ring", max_bits=2048)
    yield bench
    bench.device.close()


def pytest_itemcollected(item):
    """One worker opens each of these accelerators; a second one would wait while it is built."""
    callspec = getattr(item, "callspec", None)
    fixtures = {*getattr(item, "fixturenames", ())} - {*(callspec.params if callspec else ())}
    for name in sorted(fixtures & {"fdfm", "karatsuba", "compact", "ring"}):
        item.add_marker(pytest.mark.xdist_group(name))


@pytest.fixture
def no_measurements(tmp_path, monkeypatch):
    """A cache without measurements, in which what the tools built is still there."""
    built, fresh = cache_folder(), tmp_path / "cache"
    fresh.mkdir()
    for kind in ("mapping", "registers", "routing", "simulation", "unit_gate", "verilated"):
        (built / kind).mkdir(parents=True, exist_ok=True)
        (fresh / kind).symlink_to(built / kind)
    monkeypatch.setenv("COPRIME_CACHE", str(fresh))
    # Workers start anew in each test; the sources may have been edited since the last one.
    sources.cache_clear()


def pytest_terminal_summary(terminalreporter):
    """One line for each reason why tests were skipped, which says what to install."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {count} test{'s' * (count > 1)}: {reason}")


@pytest.fixture(scope="session")
def newer_openssl(tmp_path_factory):
    """OpenSSL's command with ML-KEM and ML-DSA. Its tests are in the group "token": built once."""
    return build_newer_openssl(tmp_path_factory)
