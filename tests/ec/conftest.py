"""The simulated accelerators that tests of curves share."""

import pytest

from tests.benches import open_bench

_ONCE = {"base_multiple": "once"}
_CONSTANT_TIME = {"exponentiator": "fixed-window"}
ONE_MEMORY = {
    "karatsuba": {},
    "karatsuba, words of 16 bits": {"word": 16, "multipliers": 1},
    "fdfm": {**_CONSTANT_TIME, "max_bits": 1088},
    "montgomery-r2": {**_CONSTANT_TIME, "multipliers": 1},
}
"""Designs with lanes of one memory by a name, which begins with the family's, that hold P-521."""
FAMILIES = [
    "compact",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("ring", *ONE_MEMORY)),
]


def bench_of(name, **settings):
    """A bench of the design with this name."""
    return open_bench(name.partition(",")[0], **{**settings, **ONE_MEMORY.get(name, {})})


@pytest.fixture(scope="session", params=FAMILIES)
def weierstrass(request):
    """The driver; mark tests with xdist_group("weierstrass"), so that one worker builds it."""
    bench = bench_of(request.param, max_bits=1024, curves="weierstrass")
    yield bench.accelerator
    bench.device.close()


@pytest.fixture(scope="session", params=FAMILIES)
def edwards(request):
    """The same of Edwards curves, with xdist_group("edwards")."""
    once = {} if request.param in ONE_MEMORY else _ONCE
    bench = bench_of(request.param, max_bits=1024, curves="edwards", **once)
    yield bench.accelerator
    bench.device.close()


@pytest.fixture(scope="session", params=FAMILIES)
def montgomery(request):
    """A bench of Montgomery curves, with xdist_group("montgomery")."""
    bench = bench_of(request.param, max_bits=512, curves="montgomery")
    yield bench
    bench.device.close()
